"""Tiers from top to bottom: pods and groups as holders, like things folded where there is no room for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from fabopt.output.sheet.canvas import BOX_HEIGHT, Canvas
from fabopt.output.sheet.model import (
    BEHIND,
    FADED,
    LARGE,
    LINE,
    NORMAL,
    PAPER,
    SMALL,
    Box,
    Stroke,
    Text,
    fitting,
    width_of,
)
from fabopt.output.sheet.tree import Node, bundle, folded
from fabopt.output.words import count, plain
from fabopt.units import grouped, plural, sets, some
from fabopt.wiring.model import KINDS, NOTHING, Mask

GUTTER = 56.0
# Room above and below what a holder has: its title, and the links of the first row.
_TITLE, _LABEL, _FOOT, _BETWEEN = 6.5, 4.5, 5.0, 1.6
_LEAST_GAP, _MOST_GAP = 14.0, 58.0
_NARROWEST, _WIDEST, _FOLD, _HOLDER = 13.0, 34.0, 36.0, 60.0
_HOSTS = ("server", "attachment")
# More lines than this between boxes that are all joined are drawn as a bar; of those to boxes at the side fewer.
_MOST_LINES, _MOST_ASLANT = 40, 4
_MOST_FIRST, _MOST_PRODUCTS = 40, 3


class Tiers:
    """A tree in a space of a canvas, with words on its tiers at the left."""

    def __init__(self, canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
        self.canvas, self.x, self.y, self.width, self.height = canvas, x, y, width, height
        self.gap = _MOST_GAP
        self.first = len(canvas.boxes)

    def draw(self, root: Node) -> float:
        """Draw it; return where it ends."""
        fixed, gaps = self._rows_height(root)
        self.gap = min(_MOST_GAP, max(_LEAST_GAP, (self.height - fixed) / max(1, gaps)))
        self._rows(root, self.x + GUTTER, self.y, self.width - GUTTER)
        self._links()
        self._gutter()
        return self.y + fixed + gaps * self.gap

    # -- places --------------------------------------------------------------------------------------------------------

    def _rows_height(self, node: Node) -> tuple[float, int]:
        heights = [self._tallest(row) for row in node.rows]
        return sum(fixed for fixed, _ in heights), sum(gaps for _, gaps in heights) + len(heights) - 1

    def _tallest(self, row: Sequence[Node]) -> tuple[float, int]:
        """Millimetres of the tallest node of a row, and gaps between rows to add to them."""
        heights = [(BOX_HEIGHT, 0)]
        for fixed, gaps in (self._rows_height(node) for node in row if node.rows):
            heights.append((_TITLE + _LABEL + fixed + _FOOT, gaps))
        return max(heights, key=lambda pair: pair[0] + 20 * pair[1])

    def _rows(self, node: Node, x: float, y: float, width: float) -> None:
        for row in node.rows:
            fixed, gaps = self._tallest(row)
            height = fixed + gaps * self.gap
            beside = [node for node in row if node.role in _HOSTS] if any(node.rows for node in row) else []
            room = width - self._row_need(beside)
            nodes = [*self._chosen([node for node in row if node not in beside], room), *beside]
            self._row(nodes, x, y, width, height)
            y += height + self.gap

    def _row(self, nodes: Sequence[Node], x: float, y: float, width: float, height: float) -> None:
        needs = [self._need(node) for node in nodes]
        grows = [bool(node.rows) or node.role in _HOSTS for node in nodes]
        grows = grows if any(grows) else [True] * len(nodes)
        least, weights = needs, [need * grow for need, grow in zip(needs, grows, strict=True)]
        if sum(needs) + _BETWEEN * len(nodes) > width:
            # only what can fold more of what it holds gives way
            least = [min(need, _HOLDER) for need in needs]
            weights = [need - small for need, small in zip(needs, least, strict=True)]
            weights = weights if any(weights) else least
        spare = width - sum(least) - _BETWEEN * len(nodes)
        self.canvas.is_crowded |= spare < 0
        lower = _TITLE + _LABEL if any(node.rows for node in nodes) else 0
        for node, small, weight in zip(nodes, least, weights, strict=True):
            slot = small + spare * weight / max(1.0, sum(weights))
            if node.rows:
                self.canvas.holder(node, x, y, slot, height)
                self._rows(node, x + 2, y + _TITLE + _LABEL, slot - 4)
            elif node.role in _HOSTS:
                # beside what holds servers in a line with these
                self.canvas.box(node, x, y + height - _FOOT - BOX_HEIGHT if lower else y, slot)
            elif node.role:
                own = min(slot, _WIDEST)
                self.canvas.box(node, x + (slot - own) / 2, y + lower, own)
            else:
                own = min(slot, 2 * _WIDEST)
                self.canvas.box(node, x + (slot - own) / 2, y, own, height)
            x += slot + _BETWEEN

    def _need(self, node: Node) -> float:
        """Width that a node is given at least."""
        if node.rows:
            fold = self.canvas.tree.fold
            return 5 + max(self._row_need(folded(row, 8 if len(row) <= 12 else 3, fold)) for row in node.rows)
        if not node.role:
            return _FOLD
        words = max(width_of(node.title, NORMAL, bold=True), width_of("16×400G", SMALL)) + 3
        return min(_WIDEST, max(_NARROWEST, words))

    def _row_need(self, nodes: Sequence[Node]) -> float:
        return sum(self._need(node) for node in nodes) + _BETWEEN * len(nodes)

    def _chosen(self, row: Sequence[Node], width: float) -> list[Node]:
        """The nodes of a row, as many as there is room for, the others folded."""
        nodes = list(row)
        for first in range(min(len(row), _MOST_FIRST), 0, -1):
            nodes = folded(row, first, self.canvas.tree.fold)
            if self._row_need(nodes) <= width:
                return nodes
        if len(nodes) == 1 or sum(min(self._need(node), _HOLDER) + _BETWEEN for node in nodes) <= width:
            return nodes
        if not any(node.rows for node in row):
            return [self.canvas.tree.fold(row)]
        most = min(len(nodes) - 1, max(1, int((width - _FOLD) / (_HOLDER + _BETWEEN))))
        return [*nodes[:most], self.canvas.tree.fold(nodes[most:])]

    # -- links ---------------------------------------------------------------------------------------------------------

    def _links(self) -> None:
        canvas, tree = self.canvas, self.canvas.tree
        low, high = canvas.box_of[tree.a], canvas.box_of[tree.b]
        own = (low != high) & (low >= self.first) & (high >= self.first)
        keys = np.column_stack([low, high, tree.kind, tree.gbps])[own]
        rows, where, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        first = np.full(len(rows), len(tree.design.stages))
        np.minimum.at(first, where.ravel(), tree.stage[own])
        pairs: dict[tuple[int, int], dict[float, int]] = {}
        later: dict[tuple[int, int], bool] = {}
        for (a, b, _, gbps), number, stage in zip(rows.tolist(), counts.tolist(), first.tolist(), strict=True):
            pair = (int(a), int(b)) if canvas.boxes[int(a)].y >= canvas.boxes[int(b)].y else (int(b), int(a))
            speeds = pairs.setdefault(pair, {})
            speeds[gbps] = speeds.get(gbps, 0) + number
            later[pair] = later.get(pair, True) and stage > 0
        self._draw(pairs, later)
        self._label(pairs)

    def _draw(self, pairs: dict[tuple[int, int], dict[float, int]], later: dict[tuple[int, int], bool]) -> None:
        boxes = self.canvas.boxes
        most = max((sum(gbps * n for gbps, n in speeds.items()) for speeds in pairs.values()), default=1.0)
        beside = [pair for pair in pairs if abs(boxes[pair[0]].y - boxes[pair[1]].y) < 1]
        above = sets(pair for pair in pairs if pair not in beside)
        alike = grouped((tuple(sorted(ups)), low) for low, ups in above.items())
        bars, drawn = 0, list[tuple[int, int]]()
        for highs, lows in alike.items():
            lines = len(lows) * len(highs)
            if lines > (_MOST_ASLANT if self._are_aside(lows, highs) else _MOST_LINES):
                self._bar(lows, highs, bars)
                bars += 1
                continue
            drawn += [(low, high) for low in lows for high in highs]
        for pair in drawn:
            share = sum(gbps * n for gbps, n in pairs[pair].items()) / most
            self._line(pair, 0.2 + 0.7 * share, later[pair], drawn)
        joined = sorted({index for pair in beside for index in pair}, key=lambda index: boxes[index].x)
        if len(joined) > 3 and len(beside) == len(joined) * (len(joined) - 1) // 2:
            top = boxes[joined[0]].y - 3
            middles = [_middle(boxes[index]) for index in joined]
            self.canvas.lines.append(Stroke(((middles[0], top), (middles[-1], top)), LINE, 1.0))
            self.canvas.lines += [
                Stroke(((x, top), (x, top + 3)), LINE, 0.5, b=index) for x, index in zip(middles, joined, strict=True)
            ]
            return
        for index, (low, high) in enumerate(beside):
            self._beside(boxes[low], boxes[high], index, later[low, high])

    def _are_aside(self, lows: Sequence[int], highs: Sequence[int]) -> bool:
        """Whether hosts stand beside all that they are joined to."""
        boxes = self.canvas.boxes
        right = max(boxes[high].x + boxes[high].width for high in highs)
        return all(boxes[low].layer in _HOSTS and boxes[low].x >= right for low in lows)

    def _line(self, pair: tuple[int, int], width: float, dashed: bool, drawn: Sequence[tuple[int, int]]) -> None:
        low, high = (self.canvas.boxes[index] for index in pair)
        at_low, at_high = _middle(low), _middle(high)
        above = [other for own, other in drawn if own == low.node]
        middles = [_middle(self.canvas.boxes[other]) for other in above]
        if low.layer in _HOSTS and low.x + 2 <= min(middles) and max(middles) <= low.x + low.width - 2:
            at_low = at_high
        elif low.layer == "fold" or low.layer in _HOSTS:
            at_low = self._spread(low, above, high.node)
        if high.layer == "fold":
            at_high = self._spread(high, [other for other, own in drawn if own == high.node], low.node)
        ends: tuple[tuple[float, float], ...] = (at_low, low.y), (at_high, high.y + high.height)
        if _reaches_beside(high, low):
            y = low.y - 3 - 1.4 * above.index(high.node)
            ends = ((at_low, low.y), (at_low, y), (high.x + high.width, y))
        self.canvas.lines.append(Stroke(ends, high.rail or low.rail or LINE, width, dashed, low.node, high.node))

    def _spread(self, box: Box, others: Sequence[int], other: int) -> float:
        """Where the line to one of several others ends, side by side in the order of these."""
        order = sorted(others, key=lambda index: _middle(self.canvas.boxes[index]))
        return box.x + box.width * (order.index(other) + 1) / (len(order) + 1)

    def _bar(self, lows: Sequence[int], highs: Sequence[int], index: int) -> None:
        """All of two rows joined to each other, as a bar that each has a line to."""
        boxes, lines = self.canvas.boxes, self.canvas.lines
        top = min(boxes[low].y for low in lows)
        over = [high for high in highs if not _reaches_beside(boxes[high], boxes[lows[0]])]
        foot = max((boxes[high].y + boxes[high].height for high in over), default=top - _LEAST_GAP)
        y = foot + 0.45 * (top - foot) + 1.4 * index
        # beside the lines to what is below
        share = 0.8 - 0.1 * (index % 3) if self._are_aside(lows, highs) else 0.5
        above = {high: boxes[high].x + share * boxes[high].width for high in over}
        ends = [_middle(boxes[low]) for low in lows] + list(above.values())
        ends += [boxes[high].x + boxes[high].width for high in highs if high not in above]
        lines.append(Stroke(((min(ends), y), (max(ends), y)), LINE, 1.0))
        for low in lows:
            lines.append(Stroke(((_middle(boxes[low]), boxes[low].y), (_middle(boxes[low]), y)), LINE, 0.4, a=low))
        for high, x in above.items():
            lines.append(Stroke(((x, y), (x, boxes[high].y + boxes[high].height)), LINE, 0.4, b=high))

    def _beside(self, box: Box, other: Box, index: int, dashed: bool) -> None:
        """Links of two boxes of a row: between neighbours, or over those between them."""
        left, right = sorted((box, other), key=lambda side: side.x)
        ends = left.x + left.width, right.x
        middle = left.y + left.height / 2
        is_next = not any(
            ends[0] <= between.x < right.x and abs(between.y - left.y) < 1
            for between in self.canvas.boxes[self.first :]
        )
        top = left.y - 1.5 - 0.7 * (index % 4)
        over = ((_middle(left), left.y), (_middle(left), top), (_middle(right), top), (_middle(right), right.y))
        points = ((ends[0], middle), (ends[1], middle)) if is_next else over
        self.canvas.lines.append(Stroke(points, LINE, 0.4, dashed, left.node, right.node))

    def _label(self, pairs: dict[tuple[int, int], dict[float, int]]) -> None:
        """Links upwards over each switch, those of hosts under it."""
        up: dict[int, dict[float, int]] = {}
        down: dict[int, dict[float, int]] = {}
        boxes = self.canvas.boxes
        for (low, high), speeds in pairs.items():
            if abs(boxes[low].y - boxes[high].y) < 1:
                continue
            is_down = boxes[low].layer in _HOSTS
            if is_down and _reaches_beside(boxes[high], boxes[low]):
                continue
            total = (down if is_down else up).setdefault(high if is_down else low, {})
            for gbps, number in speeds.items():
                total[gbps] = total.get(gbps, 0) + number
        for where, is_up in ((up, True), (down, False)):
            for index, speeds in where.items():
                box, words = boxes[index], bundle(speeds)
                short = fitting(box.width, SMALL, words, words.replace(" ", ""))
                if short and not short.endswith("…"):
                    y = box.y - 1.4 if is_up else box.y + box.height + 3.4 + (BEHIND if box.stacked else 0)
                    self.canvas.texts.append(Text(_middle(box), y, short, SMALL, FADED, "middle", ground=PAPER))

    # -- words on tiers ------------------------------------------------------------------------------------------------

    def _gutter(self) -> None:
        canvas, tree = self.canvas, self.canvas.tree
        roles, tops = tree.wiring.devices.role, dict[str, float]()
        for box in canvas.boxes[self.first :]:
            if box.layer != "fold":
                tops.setdefault(box.layer, box.y)
        tiers = sorted(tops.items(), key=lambda pair: pair[1])
        for index, (role, y) in enumerate(tiers):
            rows = [row for row in tree.devices if roles[row] == role]
            if role == "attachment" and abs(tops.get("server", 0) - y) < 1:
                continue
            say_tier(canvas, role, rows, self.x, y)
            below = y + BOX_HEIGHT + 4
            for line in self._between(role, [name for name, _ in tiers[index + 1 : index + 3]]):
                below = canvas.paragraph(self.x, below, GUTTER - 3, line)

    def _between(self, role: str, below: Sequence[str]) -> Iterator[str]:
        """Links of a tier with each other, and with those below it."""
        tree = self.canvas.tree
        for name in ("leaf-leaf", "local", "global"):
            own = tree.kind == KINDS.index(name)
            if own.any() and tree.wiring.devices.role[tree.a[own][0]] == role:
                what = "between the leaves of pairs" if name == "leaf-leaf" else f"{name} links"
                yield f"{tree.speeds(own)} {what}"
                yield f"{self._per_pair(own)} a pair of switches"
        for lower in below:
            name = f"{lower}-{role}"
            if name not in KINDS or not (own := tree.kind == KINDS.index(name)).any():
                continue
            yield f"{tree.speeds(own)} to {plural(lower)}"
            cables = tree.wiring.cables
            used = np.unique(tree.cable[own & (tree.cable != NOTHING)])
            shuffles = int((np.minimum(cables.a_connectors, cables.b_connectors)[used] > 1).sum())
            if shuffles:
                yield f"through {some(shuffles, 'shuffle')}"
            if lower not in _HOSTS:
                pairs = np.unique(np.column_stack([tree.a[own], tree.b[own]]), axis=0)
                is_whole = len(pairs) == len(np.unique(tree.a[own])) * len(np.unique(tree.b[own]))
                which = f"from each {lower} to each {role}" if is_whole else f"for each {lower}-{role} pair"
                yield f"{self._per_pair(own)} {which}"
                ratio = tree.fabric.oversubscription.get(lower)
                if ratio is not None:
                    yield f"oversubscription {plain(ratio)}:1"

    def _per_pair(self, own: Mask) -> str:
        tree = self.canvas.tree
        counts = np.unique(np.column_stack([tree.a[own], tree.b[own]]), axis=0, return_counts=True)[1]
        return f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"


def say_tier(canvas: Canvas, role: str, rows: Sequence[int], x: float, y: float) -> float:
    """Say how many devices of a role there are, of which products; return where that ends."""
    room = GUTTER - 3
    products = Counter(canvas.tree.product(row, has_maker=True) for row in rows)
    canvas.say(x, y + 4, fitting(room, LARGE, some(len(rows), role), bold=True), LARGE, bold=True)
    below = y + 8
    lines = [name if len(products) == 1 else f"{count(number)} × {name}" for name, number in products.items()]
    if len(lines) > _MOST_PRODUCTS:
        lines[_MOST_PRODUCTS - 1 :] = [f"and {len(lines) - _MOST_PRODUCTS + 1} more products"]
    for line in lines:
        canvas.say(x, below, fitting(room, SMALL, line), SMALL, FADED)
        below += 3.4
    return below


def _reaches_beside(high: Box, low: Box) -> bool:
    """Whether a box for what holds servers stands beside what its switches are joined to."""
    return high.y + high.height > low.y


def _middle(box: Box) -> float:
    return box.x + box.width / 2
