"""Shapes and texts as they are put on a sheet, and which of them each device is drawn as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabopt.output.sheet.model import (
    FADED,
    INK,
    NORMAL,
    RAILS,
    ROLES,
    SMALL,
    Box,
    DrawnSheet,
    Stroke,
    Text,
    fitting,
    wrapped,
)
from fabopt.output.sheet.tree import FabricTree, Node, bundle
from fabopt.output.words import count, plain, printable
from fabopt.units import some
from fabopt.wiring.model import Ints

BOX_HEIGHT = 14.0
_PAD = 1.2
# Lower boxes have their lines nearer to each other.
_LOW = 18.0


class Canvas:
    """A sheet as it is drawn."""

    def __init__(self, tree: FabricTree) -> None:
        self.tree = tree
        self.holders: list[Box] = []
        self.lines: list[Stroke] = []
        self.boxes: list[Box] = []
        self.texts: list[Text] = []
        # Whether there was too little room for what cannot be folded.
        self.is_crowded = False
        # The box of each device of the design, below 0 where there is none, shape (devices,).
        self.box_of: Ints = np.full(len(tree.wiring.devices), -1)

    def sheet(self, title: str, width: float, height: float) -> DrawnSheet:
        """Return what was drawn."""
        links = self._links_of_boxes()
        boxes = (replace(box, about="; ".join([box.about, *links.get(box.node, ())])) for box in self.boxes)
        return DrawnSheet(title, width, height, tuple(self.holders), tuple(self.lines), tuple(boxes), tuple(self.texts))

    def _links_of_boxes(self) -> dict[int, list[str]]:
        """Links of each box with each other in words, with what cables they are and how long."""
        tree, cables = self.tree, self.tree.wiring.cables
        media = sorted(set(cables.medium))
        medium = np.array([*(media.index(name) for name in cables.medium), len(media)], dtype=np.int64)[tree.cable]
        length = np.append(cables.length_m, 0.0)[tree.cable]
        keys = np.column_stack([self.box_of[tree.a], self.box_of[tree.b], tree.gbps, medium])
        rows, where, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        shortest, longest = np.full(len(rows), np.inf), np.zeros(len(rows))
        np.minimum.at(shortest, where.ravel(), length)
        np.maximum.at(longest, where.ravel(), length)
        words: dict[int, list[str]] = {}
        media.append("")
        for (a, b, gbps, index), number, least, most in zip(
            rows.tolist(), counts.tolist(), shortest.tolist(), longest.tolist(), strict=True
        ):
            lengths = (
                "" if not most else f" {plain(most)} m" if least == most else f" {plain(least)} to {plain(most)} m"
            )
            own = f"{bundle({gbps: number})} {media[int(index)]}".rstrip() + lengths
            for end, other in {(int(a), int(b)), (int(b), int(a))}:
                if end >= 0 and other >= 0:
                    words.setdefault(end, []).append(f"{own} to {self.boxes[other].name}")
        return words

    def say(self, x: float, y: float, words: str, size: float = SMALL, fill: str = INK, bold: bool = False) -> None:
        """Put words that are known to fit."""
        self.texts.append(Text(x, y, printable(words), size, fill, "start", bold))

    def paragraph(self, x: float, y: float, room: float, words: str) -> float:
        """Put words on at most two lines below each other; return the next base line."""
        for line in wrapped(room, SMALL, words, 2):
            self.say(x, y, line, SMALL, FADED)
            y += SMALL * 1.35
        return y

    def holder(self, node: Node, x: float, y: float, width: float, height: float) -> None:
        """Draw what holds others, with its title."""
        later = self.later(node)
        words = (f"{node.title}, from {later}", node.title) if later else (node.title,)
        title = Text(
            x + 2, y + 4.2, fitting(width - 4, NORMAL, *words, bold=True), NORMAL, FADED, bold=True, ground="#fafbfc"
        )
        frame = Box(x, y, width, height, "#fafbfc", "#b8c2cc", "holder", (), dashed=bool(later))
        self.holders.append(frame)
        self.texts.append(title)

    def box(
        self, node: Node, x: float, y: float, width: float, height: float = BOX_HEIGHT, extra: Sequence[list[str]] = ()
    ) -> Box:
        """Draw a device, or what several are folded into; ``extra``: more lines in it, each in several ways."""
        tree, room, later = self.tree, width - 2 * _PAD, self.later(node)
        fill, edge = ROLES[node.role] if node.role else ("#f4f6f8", "#7b8794")
        lines = [*self._words(node, height, extra), self.place(node), [f"from {later}", later] if later else []]
        lines = [ways for ways in lines if ways]
        step = 3.6 if height <= _LOW else 4.6
        texts = [fitting(room, SMALL if index else NORMAL, *ways, bold=not index) for index, ways in enumerate(lines)]
        texts = [words for words in texts if words][: int((height - 1) / step)]
        top = y + (height - step * len(texts)) / 2 + step * 0.76
        looks = [(NORMAL, INK, "middle", True), *[(SMALL, FADED, "middle", False)] * len(texts)]
        written = [
            Text(x + width / 2, top + index * step, words, *look)
            for index, (words, look) in enumerate(zip(texts, looks, strict=False))
        ]
        self.box_of[list(node.devices)] = len(self.boxes)
        names = tree.wiring.devices.name
        name = names[node.devices[0]]
        name += f" to {names[node.devices[-1]]}" if len(node.devices) > 1 else ""
        about = f"{some(node.times, node.role)}: {name}, {self._product(node)}"
        if not node.role:
            about = f"{node.title}: {name}, {', '.join(tree.held(node))}"
        box = Box(
            *(x, y, width, height, fill, edge, node.role or "fold"),
            tuple(written), len(self.boxes), node.times > 1, bool(later), about, self._rail(node), name,
        )  # fmt: skip
        self.boxes.append(box)
        return box

    def _words(self, node: Node, height: float, extra: Sequence[list[str]]) -> list[list[str]]:
        """What is in a box, each line in a few ways."""
        tree, product, times = self.tree, self._product(node), count(node.times)
        if node.role == "attachment":
            names = [product] if node.times == 1 else [f"{times} × {product}", times]
            return [names, [self._ports(node), ""]]
        if node.role and node.times == 1:
            return [[node.title], [product, ""], *extra]
        if node.role:
            names = [node.title, node.title.rpartition("-")[2]]
            return [[some(node.times, node.role), f"{times} ×", times], names, [product, ""], *extra]
        held = tree.held(node)
        amounts = [[", ".join(held), held[0]]] if height <= BOX_HEIGHT else [[words] for words in held]
        return [[node.title], *[[f"{times} alike, each:", f"{times} alike"]] * (node.times > 1), *amounts]

    def _product(self, node: Node) -> str:
        """The product of a node's devices; of several how many."""
        names = {self.tree.product(row) for row in node.devices}
        return names.pop() if len(names) == 1 else f"{len(names)} products"

    def _ports(self, node: Node) -> str:
        """``48 × 100G``: the links of a node's devices."""
        tree = self.tree
        return tree.speeds(np.isin(tree.a, node.devices) | np.isin(tree.b, node.devices))

    def _rail(self, node: Node) -> str:
        """The colour of a leaf's rail; empty where there is one rail, or where a box is for several."""
        tree = self.tree
        rails = {int(tree.wiring.devices.rail[row]) for row in node.devices if node.role == "leaf"}
        return RAILS[(rails.pop() - 1) % len(RAILS)] if len(rails) == 1 and tree.fabric.rails > 1 else ""

    def later(self, node: Node) -> str:
        """The stage that installs a node's devices, where that is not the first."""
        stages = {int(self.tree.wiring.devices.stage[row]) for row in node.devices}
        first = min(stages)
        return self.tree.design.stages[first].name if first else ""

    def place(self, node: Node) -> list[str]:
        """Where a node's devices are, in a few ways; empty without a floor."""
        devices = self.tree.wiring.devices
        racks = list(dict.fromkeys(devices.rack[row] for row in node.devices if devices.rack[row]))
        if not racks:
            return []
        if len(racks) == 1:
            row = node.devices[0]
            unit = [f"{racks[0]} U{devices.unit[row]}"] if len(node.devices) == 1 else []
            return [*unit, racks[0]]
        return [f"{len(racks)} racks, {racks[0]} to {racks[-1]}", f"{len(racks)} racks", ""]
