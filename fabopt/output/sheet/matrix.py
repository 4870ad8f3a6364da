"""Links by pair as a table, where lines between boxes would not say how many each pair has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from fabopt.output.sheet.canvas import Canvas
from fabopt.output.sheet.model import FADED, INK, PAPER, SMALL, Box, Text, fitting
from fabopt.output.sheet.tree import FabricTree
from fabopt.output.words import count
from fabopt.wiring.model import KINDS, Ints, Mask

# Between tiers, and between switches that are alike.
_TIERS, _EQUALS = ("leaf-spine", "spine-core"), ("global",)
_ROW, _COLUMN, _NAMES, _HEAD = 5.2, 17.0, 34.0, 11.0


def uneven(tree: FabricTree) -> Iterator[str]:
    """Yield the kinds of links of which pairs have different numbers."""
    for kind in (*_TIERS, *_EQUALS):
        own = tree.kind == KINDS.index(kind)
        if own.any() and len(np.unique(_pairs(tree, kind, own)[1])) > 1:
            yield kind


class Matrix:
    """The table of a kind of links: rows and columns that are alike are one."""

    def __init__(self, tree: FabricTree, kind: str) -> None:
        self.tree, self.kind = tree, kind
        ends, counts = _pairs(tree, kind, tree.kind == KINDS.index(kind))
        if kind in _EQUALS:
            ends, counts = np.concatenate([ends, ends[:, ::-1]]), np.concatenate([counts, counts])
        self.lows, self.highs = (np.unique(ends[:, side]) for side in (0, 1))
        self.table = np.zeros((len(self.lows), len(self.highs)), dtype=np.int64)
        self.table[np.searchsorted(self.lows, ends[:, 0]), np.searchsorted(self.highs, ends[:, 1])] = counts
        self.rows, self.columns = _first_parts(self.table, _alike(self.table), _alike(self.table.T))
        self.height = _HEAD + len(self.rows) * _ROW

    def draw(self, canvas: Canvas, x: float, y: float, width: float, height: float) -> float:
        """Draw as much of it as there is room for; return where it ends."""
        tree, kind = self.tree, self.kind
        rows, columns = self.rows[: int((height - _HEAD) / _ROW + 0.1)], self.columns[: int((width - _NAMES) / _COLUMN)]
        cut = "; the others are in cables.csv" if (rows, columns) != (self.rows, self.columns) else ""
        low, high = kind.split("-") if kind in _TIERS else ("group", "group")
        words = (
            f"Number of {kind} links of each {low} (row) with each {high} (column); those alike are one, pods too{cut}."
        )
        canvas.say(x, y + 3, fitting(width, SMALL, words), SMALL, FADED)
        y += _HEAD
        for index, run in enumerate(columns):
            left, label = x + _NAMES + index * _COLUMN, _label(tree, kind, self.highs[run].tolist(), short=True)
            _cell(canvas, left, y - _ROW, label, FADED)
        for place, run in enumerate(rows):
            top = y + place * _ROW
            label = _label(tree, kind, self.lows[run].tolist(), short=False)
            canvas.say(x, top + 3.6, fitting(_NAMES - 2, SMALL, label), SMALL, FADED)
            for index, across in enumerate(columns):
                number = int(self.table[run[0], across[0]])
                _cell(canvas, x + _NAMES + index * _COLUMN, top, count(number) if number else "", INK)
        return y + len(rows) * _ROW


def _cell(canvas: Canvas, x: float, y: float, words: str, fill: str) -> None:
    canvas.holders.append(Box(x, y, _COLUMN, _ROW, PAPER, "#c9d1d9", "cell"))
    canvas.texts.append(Text(x + _COLUMN / 2, y + 3.6, fitting(_COLUMN - 1, SMALL, words), SMALL, fill, "middle"))


def _pairs(tree: FabricTree, kind: str, own: Mask) -> tuple[Ints, Ints]:
    """Both ends of the pairs of a kind of links, shape (pairs, 2), and how many links each has, shape (pairs,)."""
    ends = np.column_stack([tree.a[own], tree.b[own]])
    if kind in _EQUALS:
        ends = np.sort(tree.wiring.devices.pod[ends] + 1000000 * tree.wiring.devices.plane[ends], axis=1)
    return np.unique(ends, axis=0, return_counts=True)


def _alike(table: Ints) -> list[list[int]]:
    """Runs of equal rows."""
    runs = groupby(range(len(table)), key=lambda row: table[row].tobytes())
    return [list(run) for _, run in runs]


def _first_parts(
    table: Ints, rows: list[list[int]], columns: list[list[int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Rows and columns of parts without a link between them, of each sort of part the first."""
    small = table[np.ix_([run[0] for run in rows], [run[0] for run in columns])]
    part = np.arange(len(rows))
    for column in small.T > 0:
        joined = np.isin(part, part[column])
        part[joined] = part[joined].min(initial=len(rows))
    sorts: dict[tuple[object, ...], tuple[list[int], list[int]]] = {}
    for number in np.unique(part):
        own = np.flatnonzero(part == number)
        across = np.flatnonzero(small[own].any(axis=0))
        sizes = [len(rows[row]) for row in own], [len(columns[column]) for column in across]
        sort = (*map(tuple, sizes), small[np.ix_(own, across)].tobytes())
        sorts.setdefault(sort, (own.tolist(), across.tolist()))
    kept = [sorted(index for pair in sorts.values() for index in pair[side]) for side in (0, 1)]
    return [rows[index] for index in kept[0]], [columns[index] for index in kept[1]]


def _label(tree: FabricTree, kind: str, ends: Sequence[int], short: bool) -> str:
    if kind in _EQUALS:
        first, last = (int(end) % 1000000 for end in (ends[0], ends[-1]))
        return f"{first}" if first == last else f"{first}–{last}"
    name = tree.names([int(end) for end in ends])
    return name.partition("-")[2] if short else name
