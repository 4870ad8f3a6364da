"""The sheets of a design: a page of A3 for each fabric, with its legend and title block; or a part of a web page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabopt.output.sheet.canvas import Canvas
from fabopt.output.sheet.lattice import draw_lattice
from fabopt.output.sheet.matrix import Matrix, uneven
from fabopt.output.sheet.model import (
    ALARM,
    FADED,
    HUGE,
    INK,
    LINE,
    NORMAL,
    PAPER,
    RAILS,
    ROLES,
    SMALL,
    Box,
    DrawnSheet,
    Stroke,
    Text,
    fitting,
    width_of,
)
from fabopt.output.sheet.ring import draw_ring
from fabopt.output.sheet.tiers import Tiers
from fabopt.output.sheet.tree import FabricTree
from fabopt.output.terminal.answer import fabric_line
from fabopt.output.words import printable
from fabopt.schema.design import Design
from fabopt.schema.structure import LatticeStructure
from fabopt.schema.version import VERSION
from fabopt.wiring.model import Wiring

A3 = (420.0, 297.0)
_EDGE, _INSIDE, _TOP = 7.0, 13.0, 28.0
_FOOT = 27.0
# Millimetres that are kept below a drawing for tables.
_MOST_KEPT = 60.0
_BLOCK = 168.0
# Of a part of a web page: as wide as its column in millimetres, at a size of text that is read there; one of two.
COLUMN, HALF_COLUMN, _COLUMN_HEIGHT = 262.0, 170.0, 120.0
_WIDER = 46.0
_STATUS = {"optimal": "proven optimal", "feasible": "best found, not proven"}


@dataclass(frozen=True)
class TitleBlock:
    """What a title block says beside the design: date and revision (empty: left for the hand), and a mark in red."""

    date: str = ""
    revision: str = ""
    mark: str = ""


def sheets(design: Design, wiring: Wiring, block: TitleBlock) -> list[DrawnSheet]:
    """Return the drawings of a design: a page a fabric, and links of which not all pairs have as many as tables."""
    width, height = A3
    bottom = height - _EDGE - _FOOT - 5
    pages: list[tuple[str, Canvas]] = []
    for fabric in design.fabrics:
        tree = FabricTree(design, wiring, fabric)
        canvas = _headed(tree, fabric_line(fabric))
        tables = [Matrix(tree, kind) for kind in uneven(tree)]
        kept = sum(table.height + 6 for table in tables)
        room = bottom - _TOP - (kept if kept < _MOST_KEPT else 0)
        end = draw(canvas, _INSIDE, _TOP, width - 2 * _INSIDE, room)
        _legend(canvas, _INSIDE, bottom + 9, width - _EDGE - _BLOCK - _INSIDE - 4)
        pages.append((fabric.name, canvas))
        for table in tables:
            if end + table.height > bottom - 6:
                canvas, end = _headed(tree, f"{table.kind} links by pair"), _TOP
                pages.append((f"{fabric.name}, {table.kind}", canvas))
            end = table.draw(canvas, _INSIDE, end + 6, width - 2 * _INSIDE, bottom - end - 6)
    for number, (_, canvas) in enumerate(pages, start=1):
        _title_block(canvas, block, f"{number} of {len(pages)}", width - _EDGE - _BLOCK, height - _EDGE - _FOOT)
        canvas.holders.insert(0, Box(_EDGE, _EDGE, width - 2 * _EDGE, height - 2 * _EDGE, PAPER, INK, "frame"))
    return [canvas.sheet(f"{design.case.name}, fabric {title}", width, height) for title, canvas in pages]


def _headed(tree: FabricTree, about: str) -> Canvas:
    """A new page with its title."""
    canvas, room = Canvas(tree), A3[0] - 2 * _INSIDE
    title = fitting(room, HUGE, f"Fabric {tree.fabric.name}", bold=True)
    canvas.say(_INSIDE, _INSIDE + 4, title, HUGE, bold=True)
    canvas.say(_INSIDE, _INSIDE + 9, fitting(room, NORMAL, about), NORMAL, FADED)
    return canvas


def in_column(design: Design, wiring: Wiring, width: float = COLUMN) -> dict[str, DrawnSheet]:
    """Return the drawing of each fabric, by its name, as wide as a column of a web page, in millimetres.

    It is wider where it would be crowded, but not wider than a whole column.
    """
    return {fabric.name: _column(FabricTree(design, wiring, fabric), width) for fabric in design.fabrics}


def _column(tree: FabricTree, width: float) -> DrawnSheet:
    canvas = Canvas(tree)
    bottom = draw(canvas, 1, 2, width - 3, _COLUMN_HEIGHT)
    if canvas.is_crowded and width < COLUMN:
        return _column(tree, width + _WIDER)
    bottom = _legend(canvas, 1, bottom + 6, width - 2)
    return canvas.sheet(f"Topology of fabric {tree.fabric.name}", width, bottom)


def boxes_in_column(design: Design, wiring: Wiring, fabric: str) -> list[int]:
    """Return the box of every device in the drawing of a fabric in a whole column; below 0: none."""
    tree = FabricTree(design, wiring, next(drawn for drawn in design.fabrics if drawn.name == fabric))
    canvas = Canvas(tree)
    draw(canvas, 1, 2, COLUMN - 3, _COLUMN_HEIGHT)
    return [int(box) for box in canvas.box_of]


def draw(canvas: Canvas, x: float, y: float, width: float, height: float) -> float:
    """Draw a fabric as what it is; return where it ends."""
    structure = canvas.tree.fabric.structure
    if structure.is_direct:
        draw_joined = draw_lattice if isinstance(structure, LatticeStructure) else draw_ring
        return draw_joined(canvas, x, y, width, height)
    return Tiers(canvas, x, y, width, height).draw(canvas.tree.root)


# -- what stands below ------------------------------------------------------------------------------------------------


def _legend(canvas: Canvas, x: float, y: float, width: float) -> float:
    """Draw what colours and lines mean, in rows from a first base line; return where it ends."""
    left, step = x, 4.6
    for sort, words in _entries(canvas):
        room = width_of(words, SMALL) + 12
        if left + room > x + width and left > x:
            left, y = x, y + step
        if isinstance(sort, Stroke):
            canvas.lines.append(Stroke(((left, y - 0.9), (left + 7, y - 0.9)), sort.colour, sort.width, sort.dashed))
        else:
            canvas.holders.append(Box(left, y - 2.6, 7, 3.2, sort.fill, sort.edge, "legend", dashed=sort.dashed))
        canvas.say(left + 8.5, y, words, SMALL, FADED)
        left += room
    return y + 3


def _entries(canvas: Canvas) -> Iterator[tuple[Box | Stroke, str]]:
    """A sample of each look that is on the sheet, and what it means."""

    def sample(fill: str, edge: str, dashed: bool = False) -> Box:
        return Box(0, 0, 0, 0, fill, edge, "legend", dashed=dashed)

    layers = dict.fromkeys(box.layer for box in canvas.boxes)
    yield from ((sample(*ROLES[role]), role) for role in ROLES if role in layers)
    if any(box.stacked for box in canvas.boxes):
        yield sample("#f4f6f8", "#7b8794"), "edge behind a box: several alike"
    rails = sorted({box.rail for box in canvas.boxes if box.rail}, key=RAILS.index)
    yield from ((Stroke((), rail, 1.4), f"rail {RAILS.index(rail) + 1}") for rail in rails)
    if any(box.dashed for box in canvas.boxes) or any(line.dashed for line in canvas.lines):
        stages = ", ".join(stage.name for stage in canvas.tree.design.stages[1:])
        yield (
            Stroke((), LINE, 0.4, dashed=True),
            fitting(90, SMALL, f"dashed: of a later stage ({stages})", "dashed: of a later stage"),
        )


def _title_block(canvas: Canvas, block: TitleBlock, page: str, x: float, y: float) -> None:
    design = canvas.tree.design
    gpus = f"{design.stages[-1].gpus:,} GPUs in {design.stages[-1].servers:,} servers" if design.stages else ""
    canvas.holders.append(Box(x, y, _BLOCK, _FOOT, PAPER, INK, "block"))
    canvas.say(x + 3, y + 7, fitting(_BLOCK - 6, HUGE, printable(design.case.name), bold=True), HUGE, bold=True)
    canvas.say(x + 3, y + 12, fitting(_BLOCK - 6, NORMAL, f"Network of {gpus}" if gpus else "Network"), NORMAL, FADED)
    status = _STATUS.get(design.status, design.status)
    cells = [("date", block.date, 24), ("revision", block.revision, 20), ("page", page, 18), ("status", status, 38)]
    cells += [("design", design.case.sha256[:12], 34), ("made by", f"fabopt {VERSION}", 34)]
    left = x
    for name, value, width in cells:
        canvas.holders.append(Box(left, y + 15.5, width, _FOOT - 15.5, PAPER, INK, "block"))
        canvas.say(left + 1.5, y + 19, name, SMALL, FADED)
        canvas.say(left + 1.5, y + 24, fitting(width - 3, NORMAL, value), NORMAL)
        left += width
    if block.mark:
        canvas.texts.append(
            Text(_EDGE + 2, _EDGE + 4, fitting(A3[0] - 18, NORMAL, block.mark, bold=True), NORMAL, ALARM, bold=True)
        )
