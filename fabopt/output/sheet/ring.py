"""Dragonfly and dragonfly+: its groups in a ring, each joined to each, and the first group as it is inside."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin

import numpy as np

from fabopt.output.sheet.canvas import BOX_HEIGHT, Canvas
from fabopt.output.sheet.model import FADED, LINE, SMALL, Stroke, fitting
from fabopt.output.sheet.tiers import Tiers
from fabopt.output.sheet.tree import Node, bundle, folded
from fabopt.wiring.model import KINDS

_MOST, _BOX = 16, 36.0
_INSIDE = 0.54


def draw_ring(canvas: Canvas, x: float, y: float, width: float, height: float) -> float:
    """Draw it; return where it ends."""
    tree, root = canvas.tree, canvas.tree.root
    if tree.fabric.planes > 1:
        root = root.rows[0][0]
    groups = [node for row in root.rows for node in row if node.rows]
    left, room = x + _INSIDE * width + 4, (1 - _INSIDE) * width - 4
    across, down = (room - _BOX) / 2, (min(height, 0.9 * room) - BOX_HEIGHT - 8) / 2
    most = next(size for size in range(_MOST, 0, -1) if size < 3 or _are_apart(_round(size, across, down)))
    shown = folded(groups, most - 1, tree.fold)
    shown = shown if len(shown) <= most else [*shown[: most - 1], tree.fold(shown[most - 1 :])]
    first = len(canvas.boxes)
    for node, (right, below) in zip(shown, _round(len(shown), across, down), strict=True):
        canvas.box(Node(node.title, "", node.devices, node.kind, (), node.times), left + right, y + 8 + below, _BOX)
    pairs = _joined(canvas, first)
    most_links = max(pairs.values(), default=1)
    for (a, b), number in pairs.items():
        ends = tuple((box.x + box.width / 2, box.y + box.height / 2) for box in (canvas.boxes[a], canvas.boxes[b]))
        canvas.lines.append(Stroke(ends, LINE, 0.2 + 0.7 * number / most_links, a=a, b=b))
    canvas.say(left, y + 3, fitting(room, SMALL, f"Groups: {_words(canvas, groups)}"), SMALL, FADED)
    own = np.array(groups[0].devices)
    beside = np.setdiff1d(tree.a[np.isin(tree.b, own)], np.array([row for node in groups for row in node.devices]))
    rows = ((groups[0],), tuple(tree.folded_hosts(beside.tolist())))
    inside = Node("", "", groups[0].devices, 0, tuple(row for row in rows if row))
    bottom = Tiers(canvas, x, y, _INSIDE * width, height).draw(inside)
    return max(bottom, y + 16 + 2 * down + BOX_HEIGHT)


def _round(size: int, across: float, down: float) -> list[tuple[float, float]]:
    """Places on an ellipse, clockwise from the top."""
    angles = (2 * pi * index / size - pi / 2 for index in range(size))
    return [(across * (1 + cos(angle)), down * (1 + sin(angle))) for angle in angles]


def _are_apart(places: list[tuple[float, float]]) -> bool:
    """Whether boxes at neighbouring places do not touch."""
    around = pairwise([*places, places[0]])
    return all(abs(x - u) > _BOX + 2 or abs(y - v) > BOX_HEIGHT + 2 for (x, y), (u, v) in around)


def _joined(canvas: Canvas, first: int) -> dict[tuple[int, int], int]:
    """Links between the boxes of groups."""
    tree = canvas.tree
    near, far = canvas.box_of[tree.a], canvas.box_of[tree.b]
    own = (near != far) & (near >= first) & (far >= first)
    ends = np.sort(np.column_stack([near, far])[own], axis=1)
    rows, counts = np.unique(ends, axis=0, return_counts=True)
    return {(a, b): number for (a, b), number in zip(rows.tolist(), counts.tolist(), strict=True)}


def _words(canvas: Canvas, groups: list[Node]) -> str:
    """How many links two groups have."""
    tree = canvas.tree
    group_of = np.full(len(tree.wiring.devices), -1)
    for index, node in enumerate(groups):
        group_of[list(node.devices)] = index
    own = tree.kind == KINDS.index("global")
    ends = np.sort(np.column_stack([group_of[tree.a[own]], group_of[tree.b[own]]]), axis=1)
    ends = ends[ends[:, 0] >= 0]
    counts = np.unique(ends, axis=0, return_counts=True)[1].tolist()
    if not counts:
        return "not joined"
    gbps = float(tree.gbps[own].max())
    least = f"{min(counts)} or " if min(counts) != max(counts) else ""
    pairs = len(groups) * (len(groups) - 1) // 2
    which = "each two" if len(counts) == pairs else f"{len(counts)} of {pairs} pairs"
    return f"{which} joined by {least}{bundle({gbps: max(counts)})}"
