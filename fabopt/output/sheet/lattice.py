"""Torus and HyperX: switches, or servers, at the points of a lattice, each with its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from fabopt.output.sheet.canvas import BOX_HEIGHT, Canvas
from fabopt.output.sheet.model import FADED, RAILS, SMALL, Box, Stroke, fitting
from fabopt.output.sheet.tiers import GUTTER, say_tier
from fabopt.output.sheet.tree import Node, bundle
from fabopt.schema.structure import LatticeStructure
from fabopt.units import some
from fabopt.wiring.model import KINDS

_COLUMN, _ROW, _NARROWEST, _WIDEST, _LAYER = 27.0, 29.0, 22.0, 40.0, 40.0
# How far links that go round stand off from boxes.
_OFF = 3.2


def draw_lattice(canvas: Canvas, x: float, y: float, width: float, height: float) -> float:
    """Draw the first layer of a lattice, and the others as one; return where it ends."""
    tree, structure = canvas.tree, canvas.tree.fabric.structure
    assert isinstance(structure, LatticeStructure)
    sides = (*structure.sides, 1, 1)[:3]
    role = "leaf" if structure.has_switches else "server"
    points = [row for row in tree.devices if tree.wiring.devices.role[row] == role]
    bottom = say_tier(canvas, role, points, x, y)
    bottom = _say_dimensions(canvas, structure, x, bottom + 3)
    if tree.fabric.planes > 1:
        canvas.say(x, bottom, f"plane 1 of {tree.fabric.planes}, which are alike", SMALL, FADED)
    left, room = x + GUTTER, width - GUTTER - (_LAYER if sides[2] > 1 else 0)
    columns, rows = _shown(sides[0], int((room - 12) / _COLUMN)), _shown(sides[1], int((height - 16) / _ROW))
    across, down = min((room - 12) / len(columns), 2.4 * _WIDEST), min((height - 16) / len(rows), 2.2 * _ROW)
    own_width = min(across - 9, _WIDEST)
    canvas.is_crowded |= own_width < _NARROWEST
    frame = 14 + across * (len(columns) - 1) + own_width, 20 + down * (len(rows) - 1) + BOX_HEIGHT
    if sides[2] > 1:
        _other_layers(canvas, points, sides, left, y, *frame)
    boxes = []
    for row, run in enumerate(rows):
        devices = [[points[i + sides[0] * j] for j in run for i in of_column] for of_column in columns]
        places = ((left + 8 + across * column, y + 13 + down * row) for column in range(len(columns)))
        boxes.append([_point(canvas, own, *place, own_width) for own, place in zip(devices, places, strict=True)])
    rings = structure.has_rings
    for line in boxes:
        canvas.lines += _along(line, RAILS[0], rings and sides[0] > 2, across=True, full=not rings and sides[0] > 2)
    for line in map(list, zip(*boxes, strict=True)):
        canvas.lines += _along(line, RAILS[1], rings and sides[1] > 2, across=False, full=not rings and sides[1] > 2)
    return max(bottom, y + frame[1])


def _other_layers(
    canvas: Canvas, points: Sequence[int], sides: Sequence[int], x: float, y: float, width: float, height: float
) -> None:
    """Draw the frame of the first layer, and the others as one box beside it."""
    of_layer = sides[0] * sides[1]
    canvas.holder(Node(f"layer 1 of {sides[2]}", "", tuple(points[:of_layer]), 0), x, y, width, height)
    title = f"layers 2–{sides[2]}" if sides[2] > 2 else "layer 2"
    others = Node(title, "", tuple(points[of_layer : of_layer * sides[2]]), 0, (), sides[2] - 1)
    fold = canvas.box(others, x + width + 8, y, _LAYER - 10, height)
    ends = (x + width, y + height / 2), (fold.x, y + height / 2)
    canvas.lines.append(Stroke(ends, RAILS[2], 0.9, b=fold.node))


def _shown(side: int, most: int) -> tuple[tuple[int, ...], ...]:
    """The places along a side: all, or the first ones, a run of others, and the last."""
    most = max(3, most)
    if side <= most:
        return tuple((place,) for place in range(side))
    first = tuple((place,) for place in range(most - 2))
    return *first, tuple(range(most - 2, side - 1)), (side - 1,)


def _point(canvas: Canvas, rows: Sequence[int], x: float, y: float, width: float) -> Box:
    """A point of the lattice with the hosts on it, or several."""
    tree = canvas.tree
    hosts = np.unique(tree.a[np.isin(tree.b, np.array(rows)) & (tree.kind == KINDS.index("server-leaf"))])
    node = tree.fold([Node(tree.name(row), tree.wiring.devices.role[row], (row,), 0) for row in rows])
    extra = [[some(len(hosts), "server")]] if len(hosts) else []
    return canvas.box(node, x, y, width, BOX_HEIGHT + (2 if extra else 0), extra)


def _along(line: Sequence[Box], colour: str, ring: bool, across: bool, full: bool) -> Iterator[Stroke]:
    """Links along a line of boxes: to neighbours, round from the last to the first, or of all to all."""
    if full:
        # a bar beside the line, with a stub to each
        stubs = [_edge(box, across, 0.35) for box in line]
        bar = [(x, y - _OFF) if across else (x - _OFF, y) for x, y in stubs]
        yield Stroke((bar[0], bar[-1]), colour, 0.9)
        for box, *ends in zip(line, stubs, bar, strict=True):
            yield Stroke(tuple(ends), colour, 0.5, a=box.node)
        return
    for box, other in pairwise(line):
        start, end = (box.x + box.width / 2, box.y + box.height), (other.x + other.width / 2, other.y)
        if across:
            start, end = (box.x + box.width, box.y + box.height / 2), (other.x, other.y + other.height / 2)
        yield Stroke((start, end), colour, 0.6, a=box.node, b=other.node)
    if ring:
        yield Stroke(_round(line[0], line[-1], across), colour, 0.4, a=line[-1].node, b=line[0].node)


def _round(first: Box, last: Box, across: bool) -> tuple[tuple[float, float], ...]:
    """Points of the way from the last box of a line back to the first: over a row, or left of a column."""
    if across:
        low, top = first.y + first.height / 2 + 2, first.y - _OFF
        right, left = last.x + last.width, first.x
        out, back = right + 2.2, left - 2.2
        return (right, low), (out, low), (out, top), (back, top), (back, low), (left, low)
    side, middle = first.x - _OFF - 1.4, first.x + first.width / 2 + 3
    foot, top = last.y + last.height, first.y
    return (middle, foot), (middle, foot + 2), (side, foot + 2), (side, top - 2), (middle, top - 2), (middle, top)


def _edge(box: Box, across: bool, share: float) -> tuple[float, float]:
    """A point at the upper edge of a box, or at its left one."""
    return (box.x + share * box.width, box.y) if across else (box.x, box.y + share * box.height)


def _say_dimensions(canvas: Canvas, structure: LatticeStructure, x: float, y: float) -> float:
    tree, rings = canvas.tree, structure.has_rings
    for index, (side, links) in enumerate(zip(structure.sides, structure.links_per_pair, strict=True)):
        own = tree.kind == KINDS.index(f"dim-{index + 1}")
        speeds = dict.fromkeys(tree.gbps[own][:1].tolist(), links)
        form = "pair" if side == 2 else "ring" if rings else "all joined"
        canvas.lines.append(Stroke(((x, y - 1), (x + 7, y - 1)), RAILS[index], 0.9))
        canvas.say(x + 8.5, y, fitting(GUTTER - 11, SMALL, f"dimension {index + 1}: {side}, {form}"))
        canvas.say(x + 8.5, y + 3.4, fitting(GUTTER - 11, SMALL, f"{bundle(speeds)} for each pair"), SMALL, FADED)
        y += 9
    return y
