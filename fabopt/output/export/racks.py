"""Rack elevations: a list, a text, and drawings from the front and from behind, on A3 too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fabopt.output.export.elevation import (
    Elevation,
    Rack,
    elevation_of,
    loose_power_w,
    power_text,
    units_text,
    watts_text,
)
from fabopt.output.export.elevation_sheet import drawing, pages
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.order_codes import code_of
from fabopt.output.export.sheets import csv_file
from fabopt.output.sheet.pdf import pdf_bytes
from fabopt.output.sheet.svg import svg
from fabopt.schema.design import Design
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

if TYPE_CHECKING:
    import pandas as pd

RACK_COLUMNS = ("rack", "unit", "height_u", "device", "role", "fabric", "product", "part_number", "power_w")
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
        "racks.pdf": pdf_bytes(pages(elevation, design.case.name, mark)),
    }


def _drawings(design: Design, elevation: Elevation, mark: str) -> Iterator[tuple[str, bytes]]:
    parts = {"racks": elevation.rows}
    if sum(len(row.racks) for row in elevation.rows) > MOST_RACKS_A_DRAWING:
        parts = {f"racks-{row.name}": (row,) for row in elevation.rows}
    for name, rows in parts.items():
        for ending, rear in (("", False), ("-rear", True)):
            yield f"{name}{ending}.svg", svg(drawing(elevation, rows, design.case.name, rear, mark)).encode()


def rack_list(design: Design, elevation: Elevation, loose: Iterable[tuple[str, float]]) -> pd.DataFrame:
    """One row a device or a run of kept units, with ``RACK_COLUMNS``, rack by rack from the top down.

    Last, without a rack, the power of modules in attachments and of active cables: with them the power of all rows but
    attachments is that of the cluster. The heights of all rows but those that are kept are its rack units.
    """
    import pandas as pd

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
        )
        for row in elevation.rows
        for rack in row.racks
        for device in rack.devices
        for number in (code_of(design, device.product, None).code,)
    ]
    whole = set() if Embedded(design).server.rack is None else set(design.racks.server_racks)
    rows += [
        (rack.id, kept.unit, kept.units, kept.what, PART if rack.id in whole else KEPT, "", "", "", 0.0)
        for row in elevation.rows
        for rack in row.racks
        for kept in rack.kept
    ]
    rows.sort(key=lambda row: (places[row[0]], -row[1]))
    rows += [("", 0, 0.0, what, LOOSE, "", "", "", watts) for what, watts in loose]
    return pd.DataFrame(rows, columns=list(RACK_COLUMNS))


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
    yield f"{rack.id}  {units_text(rack, elevation)}, {power_text(rack, elevation)}"
    above = elevation.rack_units + 1
    for device in rack.devices:
        yield from _between(rack, device.top_unit + 1, above - 1)
        texts = (text.ljust(width) for text, width in zip((device.name, device.product), widths, strict=True))
        later = f"  {device.later}" if device.later else ""
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
