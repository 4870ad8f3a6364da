"""Labels for both ends of every cable, on sheets that are sold: where each end goes, and a QR code.

Text is in lines of ``LETTERS`` letters, folded where it is longer and never cut: names that differ at their end only
are told apart. The QR code has the cable, its end and the design, for whoever looks it up in ``cables.csv``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.paper import PAPERS, POINT, Paper, page, paged_files, text, warning
from fabopt.output.export.pulls import Visit, named, visits
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.output.sheet.model import WIDEST_MONO, Code, DrawnSheet, Text
from fabopt.output.sheet.qr import QrPath, qr_path
from fabopt.parts.polarity import far_ports
from fabopt.schema.design import Design
from fabopt.schema.operate import NameTemplates
from fabopt.schema.passive import CassetteBack, Panel, Trunk
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from fabopt.wiring.panel_places import panels_of
from fabopt.wiring.structured import BEHIND, panel_name

LETTERS = 20
COLUMNS = ("order", "stage", "cable", "end", "rack", "unit", "line_1", "line_2", "code")
FOLDER = "labels"
OWN_FILES = r"(L7651|L7654|5167|5160)(-\d{1,9})?\.(html|pdf)"
_LAST_NUMBER = re.compile(r"[0-9]{1,4}$")
# A lane of a shuffle: its legs at both ends.
_LANE = re.compile(r"(?P<from>[0-9]{1,4})-(?P<to>[0-9]{1,4}) of ")
# Millimetres: from the edge of a label, between code and text (four modules: ISO/IEC 18004), of the largest code and
# letters; the share of a label's width for its code; lines to letters.
_EDGE, _GAP, _LARGEST_CODE, _LARGEST_TEXT, _CODE_SHARE, _LEADING = 1.2, 1.6, 12.0, 3.4, 0.22, 1.16


@dataclass(frozen=True)
class LabelSheet:
    """Labels on a sheet, in millimetres: how many across and down, their size, where the first is, the steps to the
    next.
    """

    code: str
    paper: Paper
    across: int
    down: int
    width: float
    height: float
    left: float
    top: float
    step_x: float
    step_y: float


@dataclass(frozen=True)
class CableLabel:
    """A label: its cable and end (``A1``: the first connector nearer the servers), its two texts, its code.

    ``cells``: order, stage, cable, end, rack and unit for the list.
    """

    cells: tuple[object, ...]
    title: str
    near: str
    far: str
    code: str

    @cached_property
    def path(self) -> QrPath:
        """The QR code of a label, the same on every sheet."""
        return qr_path(self.code)


_A4, _US = PAPERS
_INCH = 25.4
# Avery's codes. Measures are those of gLabels 4 (templates/avery-iso-templates.xml: 8651 and L4770 with what is alike,
# templates/avery-us-templates.xml: 5167, 5160), in points of 1/72 inch, millimetres and inches.
SHEETS = (
    LabelSheet("L7651", _A4, 5, 13, *(points * POINT for points in (108, 60.09, 13.32, 30.9, 115.09, 60.09))),
    LabelSheet("L7654", _A4, 4, 10, 45.7, 25.4, 10.0, 22.0, 48.5, 25.4),
    LabelSheet("5167", _US, 4, 20, *(inches * _INCH for inches in (1.75, 0.5, 0.28125, 0.5, 2.0625, 0.5))),
    LabelSheet("5160", _US, 3, 10, *(inches * _INCH for inches in (2.625, 1, 0.15625, 0.5, 2.78125, 1))),
)


def files_of(asked: Exported) -> Files:
    """Return ``labels/labels.csv``, and each sheet chosen as HTML and PDF, in parts if there are many pages."""
    design = asked.design
    labels = list(labels_of(design, visits(design, called(design, asked.wiring), asked.options.stage)))
    rows = ([*label.cells, label.near, label.far, label.code] for label in labels)
    files: dict[str, Content] = {"labels.csv": csv_bytes(COLUMNS, rows)}
    for sheet in (sheet for sheet in SHEETS if sheet.code in asked.options.sheets):
        pages = list(_pages(sheet, labels, asked.options.mark))
        files |= paged_files(sheet.code, f"{design.case.name}: labels on {sheet.code}", pages)
    return files


def called(design: Design, wiring: Wiring) -> Wiring:
    """The wiring with devices called as on labels: by the case's templates, else, on a floor, by rack and unit.

    Elsewhere switches of the only fabric are called without its name.
    """
    devices = wiring.devices
    fabric = f"{design.fabrics[0].name}-" if len(design.fabrics) == 1 else ""
    if Embedded(design).case.operate.names != NameTemplates():
        return named(design, wiring)
    places = zip(devices.name, devices.rack, devices.unit.tolist(), strict=True)
    names = [f"{rack}-U{unit}" if rack else name.removeprefix(fabric) for name, rack, unit in places]
    return replace(wiring, devices=replace(devices, name=names))


def labels_of(design: Design, work: Iterable[Visit]) -> Iterator[CableLabel]:
    """Yield the labels of all connectors of cables, in the order of pulling; of moved cables new ones."""
    revision = design.case.sha256[:8].upper()
    embedded, order = Embedded(design), 0
    panels = {panel_name(place): embedded.part(place.id, Panel) for place in panels_of(design.fabrics)}
    for visit in work:
        for rows in (visit.moved, *(pair.rows for pair in visit.pairs)):
            legs = grouped((str(row.cable), row) for row in rows.itertuples(index=False))
            legs.pop("", None)
            for cable, ends in legs.items():
                order += 1
                is_trunk = design.parts[str(ends[0].part)]["kind"] == "trunk"
                for side, letter in (("from", "A"), ("to", "B")):
                    yield from _ends(ends, side, (order, visit.stage, cable), letter, revision, is_trunk)
                if is_trunk:
                    trunk = embedded.part(str(ends[0].part), Trunk)
                    yield from _ports(ends, (order, visit.stage), revision, panels, trunk)


def _ports(
    legs: Sequence[Any], known: tuple[int, str], revision: str, panels: Mapping[str, Panel], trunk: Trunk
) -> Iterator[CableLabel]:
    """The labels of the ports of panels before the legs of a trunk: each leads to the port at the other end. A leg
    behind a cassette has a port there, and its positions several in front.
    """
    order, stage = known
    for side, other in (("from", "to"), ("to", "from")):
        for leg in legs:
            panel, own, unit = (getattr(leg, f"{side}_{key}") for key in ("device", "port", "unit"))
            if unit == unit:
                there, far = (getattr(leg, f"{other}_{key}") for key in ("device", "port"))
                for port, positions, far_port in _fronts(own, far, panels[panel].back, trunk):
                    cells = order, stage, panel, port, getattr(leg, f"{side}_rack"), int(unit)
                    code = f"{panel}/{port}/{revision}".upper()
                    near = f"{leg.cable} leg {leg.leg}{positions}"
                    yield CableLabel(cells, f"{panel} {port}", near, f">{there} {far_port}", code)


def _fronts(near: str, far: str, back: CassetteBack | None, trunk: Trunk) -> Iterator[tuple[str, str, str]]:
    """A port behind a panel and that at the other end of its leg; of a cassette then those in front, with positions."""
    yield near, "", far
    numbers = () if back is None else far_ports(back, trunk.polarity) or ()
    for place, number in enumerate(numbers if len(numbers) > 1 else ()):
        before, beyond = ((int(port.removeprefix(BEHIND)) - 1) * len(numbers) for port in (near, far))
        positions = "+".join(map(str, back.positions[place])) if back is not None else ""
        yield str(before + place + 1), f" {positions}", str(beyond + number)


def _ends(
    legs: Sequence[Any], side: str, known: tuple[int, str, str], letter: str, revision: str, is_trunk: bool
) -> Iterator[CableLabel]:
    """The labels of the connectors of a cable at a side; those of a trunk have the numbers of its legs."""
    order, stage, cable = known
    connectors = {getattr(leg, f"{side}_label"): leg for leg in legs}
    for number, (words, leg) in enumerate(connectors.items(), start=1):
        lane = _LANE.match(leg.leg)
        own = lane.group(side) if lane is not None else number if len(connectors) > 1 else ""
        own = leg.leg.partition(" ")[0] if is_trunk else own
        end = f"{letter}{own}"
        own_end, _, far = words.partition(" > ")
        device, _, ports = own_end.rpartition(" ")
        near, code = f"{device} {_run(ports)}", f"{cable}/{end}/{revision}".upper()
        unit = getattr(leg, f"{side}_unit")
        cells = order, stage, cable, end, getattr(leg, f"{side}_rack"), int(unit) if unit == unit else ""
        yield CableLabel(cells, f"{cable} {end}", near, f">{far}", code)


def _run(ports: str) -> str:
    """Ports of one cage that follow each other: ``swp1s0-3``."""
    first, *others = ports.split("+")
    number = _LAST_NUMBER.search(first)
    if number is None:
        return ports
    names = [f"{first[: number.start()]}{int(number[0]) + step}" for step in range(1, len(others) + 1)]
    return f"{first}-{int(number[0]) + len(others)}" if others and names == others else ports


# -- sheets ---------------------------------------------------------------------------------------------------------


def lines_of(label: CableLabel) -> list[str]:
    """The text of a label, in lines of at most ``LETTERS`` letters."""
    ends = (label.near, label.far)
    return [label.title, *(line for end in ends for line in ([end] if len(end) <= LETTERS else wrap(end, LETTERS)))]


def letter_size(sheet: LabelSheet, lines: int) -> float:
    """Millimetres of letters with which lines of ``LETTERS`` letters have room on a label."""
    width = sheet.width - 2 * _EDGE - _GAP - _code_size(sheet)
    return min(_LARGEST_TEXT, width / (LETTERS * WIDEST_MONO), (sheet.height - 2 * _EDGE) / (lines * _LEADING))


def _code_size(sheet: LabelSheet) -> float:
    return min(_LARGEST_CODE, sheet.height - 2 * _EDGE, _CODE_SHARE * sheet.width)


def _pages(sheet: LabelSheet, labels: Sequence[CableLabel], mark: str) -> Iterator[DrawnSheet]:
    most = sheet.across * sheet.down
    for first in range(0, len(labels), most):
        parts: list[Text | Code] = [*warning(sheet.paper, mark)]
        for place, label in enumerate(labels[first : first + most]):
            x = sheet.left + place % sheet.across * sheet.step_x
            y = sheet.top + place // sheet.across * sheet.step_y
            parts += _label(sheet, label, x, y)
        yield page(sheet.paper, f"Labels {first + 1} to {min(first + most, len(labels))}", parts)


def _label(sheet: LabelSheet, label: CableLabel, x: float, y: float) -> Iterator[Text | Code]:
    side, lines = _code_size(sheet), lines_of(label)
    yield Code(x + _EDGE, y + (sheet.height - side) / 2, side, label.path)
    size = letter_size(sheet, len(lines))
    base = y + (sheet.height - len(lines) * size * _LEADING) / 2 + size * 0.9
    for number, line in enumerate(lines):
        yield text(x + _EDGE + side + _GAP, base + number * size * _LEADING, line, size / POINT)
