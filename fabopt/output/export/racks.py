"""Rack elevations: a list, a text, and drawings from the front and from behind, on A3 too.

Rack elevations as sheets, to scale: a rack unit and the 19 inches between the rails have their true proportion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fabopt.floor.rack_rules import KeptUnits
from fabopt.output.export.elevation import (
    Elevation,
    Rack,
    RackDevice,
    RackRow,
    elevation_of,
    is_over_power,
    loose_power_w,
    power_text,
    units_text,
    watts_text,
)
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.orders import code_of
from fabopt.output.export.sheets import csv_file
from fabopt.output.sheet.model import (
    ALARM,
    FADED,
    INK,
    NORMAL,
    PAPER,
    SMALL,
    WIDEST_MONO,
    Box,
    DrawnSheet,
    Stroke,
    Text,
)
from fabopt.output.sheet.pages import A3
from fabopt.output.sheet.pdf import pdf_bytes
from fabopt.output.sheet.svg import svg
from fabopt.output.words import printable
from fabopt.schema.design import Design
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

# Millimetres of a rack unit of 44.45 mm; with it the 482.6 mm of a front panel (IEC 60297) and a frame of 600 mm.
UNIT = 4.4
PANEL = UNIT * 482.6 / 44.45
FRAME = UNIT * 600 / 44.45
POST = (FRAME - PANEL) / 2
_MARGIN, _GAP = 13.0, 3.6
_HEAD, _ROW_TITLE, _RACK_TITLE, _LARGE = 26.0, 9.0, 11.0, 5.0
_NARROWEST = 200.0
# A vertical strip at the edge of a frame.
_STRIP, _STRIP_EDGE = 1.2, 0.3
_STRIPS = "vertical power strips, one a feed; their models, and vertical cable managers, are not in the catalog"
# Behind the name of a device: its ports are on the side that is seen, or on the other.
PORTS_HERE, PORTS_BEHIND = "(ports)", "(ports behind)"
_EDGE, _FREE = "#9fb3c8", "#f7f9fb"
_COLOURS = {"server": "#7b5e9e", "leaf": "#2a7f62", "spine": "#1d4e89", "core": "#9c4221", "panel": "#8a6d1b",
            "attachment": "#52606d"}  # fmt: skip


def pages(elevation: Elevation, name: str, mark: str = "") -> Iterator[DrawnSheet]:
    """Return a page of A3 for some racks of a row each that have devices, first all from the front."""
    most = int((A3[0] - 2 * _MARGIN + _GAP) / (FRAME + _GAP))
    for rear in (False, True):
        for row in elevation.rows:
            racks = [rack for rack in (reversed(row.racks) if rear else row.racks) if rack.devices]
            for first in range(0, len(racks), most):
                part = RackRow(row.name, tuple(racks[first : first + most]))
                yield _sheet(elevation, [part], f"{name}: {_view(rear)}", rear, mark, A3)


def drawing(elevation: Elevation, rows: Sequence[RackRow], name: str, rear: bool = False, mark: str = "") -> DrawnSheet:
    """Return rows of racks as one sheet, the racks of a row side by side, rows below each other.

    ``rear``: as who stands behind a row sees it, its last rack on the left.
    """
    seen = [RackRow(row.name, row.racks[::-1]) for row in rows] if rear else rows
    return _sheet(elevation, seen, f"{name}: {_view(rear)}", rear, mark)


def _view(rear: bool) -> str:
    return "rear view" if rear else "front view"


def _sheet(
    elevation: Elevation,
    rows: Sequence[RackRow],
    title: str,
    rear: bool,
    mark: str,
    size: tuple[float, float] = (0, 0),
) -> DrawnSheet:
    """Rows of racks from left to right; ``size``: of the sheet, if they have room on it."""
    row_height = _ROW_TITLE + _RACK_TITLE + elevation.rack_units * UNIT + _GAP
    width = 2 * _MARGIN + max(len(row.racks) for row in rows) * (FRAME + _GAP) - _GAP
    marks: list[Box | Stroke | Text] = [_text(_MARGIN, 14, title, _LARGE, bold=True), *_legend(rows)]
    if rear and elevation.strips:
        marks += [_strip(_MARGIN, 22.9, 3.4), _text(_MARGIN + 5.5, 25.8, _STRIPS, SMALL, FADED)]
    if mark:
        marks.append(_text(_MARGIN, 6, mark, SMALL, ALARM, bold=True))
    for index, row in enumerate(rows):
        top = _HEAD + index * row_height
        marks.append(_text(_MARGIN, top + 5, f"Row {row.name}", NORMAL * 1.3, bold=True))
        for place, rack in enumerate(row.racks):
            marks += _rack(rack, elevation, _MARGIN + place * (FRAME + _GAP), top + _ROW_TITLE, rear)
    return DrawnSheet(
        f"{title}: rack elevations", max(width, _NARROWEST, size[0]), max(_HEAD + len(rows) * row_height, size[1]),
        tuple(mark for mark in marks if isinstance(mark, Box) and not mark.name),
        tuple(mark for mark in marks if isinstance(mark, Stroke)),
        tuple(mark for mark in marks if isinstance(mark, Box) and mark.name),
        tuple(mark for mark in marks if isinstance(mark, Text)), mono=True,
    )  # fmt: skip


def _legend(rows: Sequence[RackRow]) -> Iterator[Box | Text]:
    devices = [device for row in rows for rack in row.racks for device in rack.devices]
    kept = dict.fromkeys(kept.what for row in rows for rack in row.racks for kept in rack.kept)
    roles = {device.role for device in devices}
    entries = [(role, colour, False) for role, colour in _COLOURS.items() if role in roles]
    entries += [(", ".join(kept), _EDGE, False)] if kept else []
    later = dict.fromkeys(device.later for device in devices if device.later)
    entries += [(f"later: {name}", PAPER, True) for name in later]
    x = _MARGIN
    for words, fill, dashed in entries:
        yield Box(x, 18.5, 4, 3.6, fill, INK if dashed else fill, "legend", dashed=dashed)
        yield _text(x + 5.5, 21.4, words, SMALL, FADED)
        x += 12 + len(words) * SMALL * WIDEST_MONO


def _rack(rack: Rack, elevation: Elevation, x: float, y: float, rear: bool) -> Iterator[Box | Stroke | Text]:
    top, units = y + _RACK_TITLE - 1.5, elevation.rack_units
    yield _text(x, y + 4, rack.id, NORMAL, bold=True)
    words = units_text(rack, elevation) if rack.devices else rack.state or "empty"
    yield _text(x + FRAME, y + 4, words, SMALL, FADED, "end")
    if rack.devices:
        colour = ALARM if is_over_power(rack) else FADED
        power = power_text(rack)
        yield _text(x + FRAME, y + 8, power, _fitting(power, FRAME), colour, "end")
    if rack.state != "blocked":
        yield from _frame(x, top, units, rear)
    if rear and rack.devices:
        places = (x + _STRIP_EDGE, x + FRAME - _STRIP_EDGE - _STRIP)[: elevation.strips]
        yield from (_strip(left, top + UNIT, (units - 2) * UNIT) for left in places)
    yield from (_kept(kept, x, top + units * UNIT) for kept in rack.kept)
    yield from (_device(device, x, top + units * UNIT, rear) for device in rack.devices)


def _frame(x: float, top: float, units: int, rear: bool) -> Iterator[Box | Stroke | Text]:
    """An empty rack: its frame, units and their numbers, which are on the left post from the front, so on the right one
    from behind.
    """
    yield Box(x, top, FRAME, units * UNIT, PAPER, _EDGE, "rack")
    yield Box(x + POST, top, PANEL, units * UNIT, _FREE, _EDGE, "rack")
    sides = (x + POST + 0.2, x + POST + PANEL - 0.2)
    # a line to and fro
    turns = ((sides[(unit + end) % 2], top + unit * UNIT) for unit in range(units) for end in (0, 1))
    yield Stroke(tuple(turns), _EDGE, 0.1)
    beside, anchor = (sides[1] + 0.8, "start") if rear else (sides[0] - 0.8, "end")
    for unit in range(1, units + 1):
        yield _text(beside, top + (units - unit) * UNIT + 3.1, str(unit), SMALL, FADED, anchor)


def _strip(x: float, y: float, height: float) -> Box:
    return Box(x, y, _STRIP, height, PAPER, FADED, "strip", dashed=True)


def _device(device: RackDevice, x: float, bottom: float, rear: bool) -> Box:
    """Return a device at its units, with its name, and its product and power where there is room for a second line.

    One of a later stage is an outline. Where its ports are on the other side, it says so.
    """
    height = device.height_u * UNIT
    y = bottom - (device.unit - 1) * UNIT - height
    power = watts_text(device.power_w)
    ports = device.faces.ports
    tip, second = f"U{device.unit} {device.name}: {device.product}, {power}", f"{device.product}  {power}"
    tip = f"{tip}, ports at the {ports}" if ports else tip
    fill, edge, ink = _COLOURS[device.role], PAPER, PAPER
    if device.later:
        tip, second = f"{tip}, of stage {device.later}", f"{second}  {device.later}"
        fill, edge, ink = PAPER, fill, INK
    seen_from = "rear" if rear else "front"
    sign = f" {PORTS_HERE if ports == seen_from else PORTS_BEHIND}" if ports else ""
    lines = [device.name + sign, second][: max(1, int(device.height_u))]
    first = y + height / 2 - (len(lines) - 1) * UNIT / 2 + SMALL * 0.36
    texts = tuple(
        _text(x + POST + 1.2, first + index * UNIT, line, _fitting(line, PANEL - 2), ink)
        for index, line in enumerate(lines)
    )
    return Box(x + POST, y, PANEL, height, fill, edge, device.role, texts, dashed=bool(device.later), name=tip)


def _kept(kept: KeptUnits, x: float, bottom: float) -> Box:
    """Return units kept for something else, with its name."""
    y, height = bottom - (kept.unit + kept.units - 1) * UNIT, kept.units * UNIT
    text = _text(x + POST + 1.2, y + height / 2 + SMALL * 0.36, kept.what, _fitting(kept.what, PANEL - 2))
    return Box(x + POST, y, PANEL, height, _EDGE, PAPER, "kept", (text,), name=f"U{kept.unit} {kept.what}")


def _fitting(words: str, room: float) -> float:
    """The size at which a text stands whole in a room, as names may differ in any letter."""
    return min(SMALL, int(room / (max(1, len(words)) * WIDEST_MONO) * 100) / 100)


def _text(
    x: float, y: float, words: str, size: float, fill: str = INK, anchor: str = "start", bold: bool = False
) -> Text:
    return Text(x, y, printable(words), size, fill, anchor, bold)


RACK_COLUMNS = (
    *("rack", "unit", "height_u", "device", "role", "fabric", "product", "part_number", "power_w"),
    *("ports_side", "air_intake"),
)
# Roles in the list of what is neither a server nor a switch nor attached: units that are kept, parts of a whole rack,
# and what is in no rack.
KEPT, PART, LOOSE = "kept", "rack", "loose"
# Drawings of more racks than this are too large to look at: one file a row then.
MOST_RACKS_A_DRAWING = 400
OWN_FILES = r"racks(-[A-Z]+)?(-rear)?\.svg"


def files_of(asked: Exported) -> Files:
    """``racks.csv``, ``racks.txt``, ``racks.svg`` and ``racks-rear.svg`` (``racks-A.svg`` ... if there are many),
    and ``racks.pdf``.
    """
    design, wiring, mark = asked.design, asked.wiring, asked.options.mark
    elevation = elevation_of(design, wiring)
    table = rack_list(design, elevation, loose_power_w(design, wiring).items())
    return {
        "racks.csv": csv_file(table),
        "racks.txt": elevation_lines(elevation, design.case.name),
        **dict(_drawings(design, elevation, mark)),
        "racks.pdf": pdf_bytes(list(pages(elevation, design.case.name, mark))),
    }


def _drawings(design: Design, elevation: Elevation, mark: str) -> Iterator[tuple[str, bytes]]:
    parts = {"racks": elevation.rows}
    if sum(len(row.racks) for row in elevation.rows) > MOST_RACKS_A_DRAWING:
        parts = {f"racks-{row.name}": (row,) for row in elevation.rows}
    for name, rows in parts.items():
        for ending, rear in (("", False), ("-rear", True)):
            yield f"{name}{ending}.svg", svg(drawing(elevation, rows, design.case.name, rear, mark)).encode()


def rack_list(design: Design, elevation: Elevation, loose: Iterable[tuple[str, float]]) -> Frame:
    """One row a device or a run of kept units, with ``RACK_COLUMNS``, rack by rack from the top down.

    Last, without a rack, the power of modules in attachments and of active cables: with them the power of all rows but
    attachments is that of the cluster. The heights of all rows but panels and those that are kept are its rack units.
    """
    places = {rack.id: place for place, rack in enumerate(rack for row in elevation.rows for rack in row.racks)}
    rows = [
        (
            rack.id,
            device.unit,
            device.height_u,
            device.name,
            device.role,
            device.fabric,
            device.product,
            number,
            device.power_w,
            *device.faces.words,
        )
        for row in elevation.rows
        for rack in row.racks
        for device in rack.devices
        for number in (code_of(design, device.product, None).code,)
    ]
    whole = set() if Embedded(design).server.rack is None else set(design.racks.server_racks)
    rows += [
        (rack.id, kept.unit, kept.units, kept.what, PART if rack.id in whole else KEPT, "", "", "", 0.0, "", "")
        for row in elevation.rows
        for rack in row.racks
        for kept in rack.kept
    ]
    rows.sort(key=lambda row: (places[row[0]], -row[1]))
    rows += [("", 0, 0.0, what, LOOSE, "", "", "", watts, "", "") for what, watts in loose]
    return frame_of(RACK_COLUMNS, rows)


# -- text -----------------------------------------------------------------------------------------------------------


def elevation_lines(elevation: Elevation, name: str) -> Iterator[str]:
    """Yield the racks as text, row by row, each from its top unit down."""
    racks = [rack for row in elevation.rows for rack in row.racks]
    devices = [device for rack in racks for device in rack.devices]
    widths = tuple(
        max(map(len, column)) for column in zip(*((device.name, device.product) for device in devices), strict=True)
    )
    filled = sum(bool(rack.devices) for rack in racks)
    yield f"{name}: {some(len(devices), 'device')} in {some(filled, 'rack')}, front view"
    for row in elevation.rows:
        yield from ("", f"Row {row.name}")
        for rack in row.racks:
            yield from _rack_lines(rack, elevation, widths)


def _rack_lines(rack: Rack, elevation: Elevation, widths: tuple[int, ...]) -> Iterator[str]:
    yield ""
    if not rack.devices:
        yield f"{rack.id}  {rack.state or 'empty'}"
        return
    yield f"{rack.id}  {units_text(rack, elevation)}, {power_text(rack)}"
    above = elevation.rack_units + 1
    for device in rack.devices:
        yield from _between(rack, device.top_unit + 1, above - 1)
        texts = (text.ljust(width) for text, width in zip((device.name, device.product), widths, strict=True))
        later = f"  {device.later}" if device.later else ""
        later = f"  ports {device.faces.ports}{later}" if device.faces.ports else later
        yield f"  {_units(device.unit, device.top_unit):7}  {'  '.join(texts)}  {watts_text(device.power_w):>7}{later}"
        above = device.unit
    yield from _between(rack, 1, above - 1)


def _between(rack: Rack, low: int, high: int) -> Iterator[str]:
    """Units without devices: those kept for something else, from the top down, and free ones."""
    for kept in rack.kept:
        if low <= kept.unit <= high:
            top = kept.unit + kept.units - 1
            yield from _free(top + 1, high)
            yield f"  {_units(kept.unit, top):7}  {kept.what}"
            high = kept.unit - 1
    yield from _free(low, high)


def _free(low: int, high: int) -> Iterator[str]:
    if low <= high:
        yield f"  {_units(low, high):7}  -"


def _units(low: int, high: int) -> str:
    return f"U{low}" if low == high else f"U{low}-{high}"
