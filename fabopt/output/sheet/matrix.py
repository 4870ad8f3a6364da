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
_ROW, _COLUMN, _NAMES = 5.2, 13.0, 34.0


def uneven(tree: FabricTree) -> Iterator[str]:
    """Yield the kinds of links of which pairs have different numbers."""
    for kind in (*_TIERS, *_EQUALS):
        own = tree.kind == KINDS.index(kind)
        if own.any() and len(np.unique(_pairs(tree, kind, own)[1])) > 1:
            yield kind


def draw_matrix(canvas: Canvas, kind: str, x: float, y: float, width: float, height: float) -> None:
    """Draw the table of a kind of links: rows and columns that are alike are one."""
    tree = canvas.tree
    ends, counts = _pairs(tree, kind, tree.kind == KINDS.index(kind))
    lows, highs = (np.unique(ends[:, side]) for side in (0, 1))
    table = np.zeros((len(lows), len(highs)), dtype=np.int64)
    table[np.searchsorted(lows, ends[:, 0]), np.searchsorted(highs, ends[:, 1])] = counts
    if kind in _EQUALS:
        lows = highs = np.union1d(lows, highs)
        square = np.zeros((len(lows), len(lows)), dtype=np.int64)
        square[tuple(np.searchsorted(lows, ends).T)] = counts
        table = square + square.T
    rows, columns = _alike(table), _alike(table.T)
    most = int((height - 12) / _ROW), int((width - _NAMES) / _COLUMN)
    left = [
        f"{count(len(runs) - limit)} more {word}"
        for runs, limit, word in ((rows, most[0], "rows"), (columns, most[1], "columns"))
        if len(runs) > limit
    ]
    cut = f"; {' and '.join(left)} are in cables.csv" if left else ""
    low, high = kind.split("-") if kind in _TIERS else ("group", "group")
    words = f"Number of {kind} links of each {low} (row) with each {high} (column); those alike are one{cut}."
    canvas.say(x, y, fitting(width, SMALL, words), SMALL, FADED)
    y += 8
    for index, run in enumerate(columns[: most[1]]):
        _cell(
            canvas,
            x + _NAMES + index * _COLUMN,
            y - 4,
            _COLUMN,
            _label(tree, kind, highs[run].tolist(), short=True),
            FADED,
        )
    for place, run in enumerate(rows[: most[0]]):
        top = y + place * _ROW + 1.2
        words = fitting(_NAMES - 2, SMALL, _label(tree, kind, lows[run].tolist(), short=False))
        canvas.say(x, top + 3.6, words, SMALL, FADED)
        for index, across in enumerate(columns[: most[1]]):
            number = int(table[run[0], across[0]])
            _cell(canvas, x + _NAMES + index * _COLUMN, top, _COLUMN, count(number) if number else "", INK)


def _cell(canvas: Canvas, x: float, y: float, width: float, words: str, fill: str) -> None:
    canvas.holders.append(Box(x, y, width, _ROW, PAPER, "#c9d1d9", "cell"))
    canvas.texts.append(Text(x + width / 2, y + 3.6, fitting(width - 1, SMALL, words), SMALL, fill, "middle"))


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


def _label(tree: FabricTree, kind: str, ends: Sequence[int], short: bool) -> str:
    if kind in _EQUALS:
        first, last = (int(end) % 1000000 for end in (ends[0], ends[-1]))
        return f"{first}" if first == last else f"{first}–{last}"
    name = tree.names([int(end) for end in ends])
    return name.partition("-")[2] if short else name
