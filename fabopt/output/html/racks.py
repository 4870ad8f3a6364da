"""The floor as a map, and the devices of every rack as data, from which the page draws the chosen rack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.output.export.elevation import (
    PANEL,
    Elevation,
    Rack,
    elevation_of,
    is_over_power,
    power_text,
    units_text,
    watts_text,
)
from fabopt.output.export.racks import KEPT
from fabopt.output.export.trays import tray_table
from fabopt.output.terminal.floor import floor_lines
from fabopt.output.words import count, plain
from fabopt.schema.design import Design
from fabopt.schema.floor import Route
from fabopt.units import grouped, some
from fabopt.verify.halls import fibres_on_routes
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring

_STATES = ("servers", "network", "mixed", "attachments", "empty", "blocked", "reserved")


@dataclass(frozen=True)
class RackCell:
    """A rack on the map. ``use``: one of the words of the legend, by the devices in it; ``exits``: numbers of the
    routes to other halls that begin above it.
    """

    id: str
    use: str
    words: str
    exits: str = ""


@dataclass(frozen=True)
class HallMap:
    """The rows of a hall, whose name is empty where there is one floor alone; ``width``: racks of the longest."""

    name: str
    rows: tuple[tuple[str, tuple[RackCell, ...]], ...]

    @property
    def width(self) -> int:
        """Racks of the longest row."""
        return max(len(row) for _, row in self.rows)


@dataclass(frozen=True)
class FloorView:
    """The map row by row, the words that it uses, and the devices of every rack for the page's script. ``routes``: a
    sentence on each route between halls, by its number on the map from 1.
    """

    lines: tuple[str, ...]
    rows: tuple[tuple[str, tuple[RackCell, ...]], ...]
    routes: tuple[str, ...]
    uses: tuple[tuple[str, int], ...]
    first: str
    data: dict[str, Any]

    @property
    def halls(self) -> tuple[HallMap, ...]:
        """The map hall by hall; rows are named without their hall."""
        return tuple(
            HallMap(name, tuple((row.removeprefix(f"{name}-"), cells) for row, cells in rows))
            for name, rows in grouped((row.rpartition("-")[0], (row, cells)) for row, cells in self.rows).items()
        )


def floor_view(design: Design, wiring: Wiring) -> FloorView | None:
    """Return the floor; None without a floor plan."""
    if design.floor is None:
        return None
    elevation = elevation_of(design, wiring)
    ways = _ways(design)
    exits = grouped((end, str(number)) for number, route in enumerate(ways, 1) for end in route.ends)
    rows = tuple(
        (row.name, tuple(_cell(rack, elevation, exits.get(rack.id, ())) for rack in row.racks))
        for row in elevation.rows
    )
    cells = [cell for _, row in rows for cell in row]
    uses = tuple((use, number) for use in _STATES if (number := sum(cell.use == use for cell in cells)))
    return FloorView(
        tuple(floor_lines(design)),
        rows,
        tuple(_routes(design, wiring)) if ways else (),
        uses,
        _first(cells),
        rack_data(elevation),
    )


def _first(cells: list[RackCell]) -> str:
    """Return the rack shown at first: one with switches, else one with servers, else the first."""
    for uses in (("mixed", "network"), ("servers",)):
        for cell in cells:
            if cell.use in uses:
                return cell.id
    return cells[0].id


def _ways(design: Design) -> tuple[Route, ...]:
    """The routes between the halls of a design."""
    return Embedded(design).case.site.routes


def _routes(design: Design, wiring: Wiring) -> Iterator[str]:
    """What each route between halls is called, where it begins and ends, how long it is, and what lies in it."""
    trays, fibres = tray_table(design, wiring), fibres_on_routes(design, wiring)
    laid = dict(zip(trays["segment"], trays["cables"], strict=True))
    for number, route in enumerate(_ways(design)):
        used = some(fibres[number].total() if number in fibres else 0, "fibre")
        room = "" if route.fibres is None else f" of {count(route.fibres)}"
        cables = some(int(laid.get(route.name, 0)), "cable")
        duct = "" if route.duct is None else f"duct {route.duct}, "
        near, far = route.ends
        yield f"{duct}from above {near} to above {far}, {plain(route.m)} m: {cables}, {used}{room}"


def _cell(rack: Rack, elevation: Elevation, exits: Sequence[str]) -> RackCell:
    use, ways = _use(rack), ", ".join(exits)
    leave = f"; cables leave the hall above it, by route {ways}" if exits else ""
    if not rack.devices:
        return RackCell(rack.id, use, f"{rack.id}: {use}{leave}", ways)
    number = some(len(rack.devices), "device")
    over = ", over its power" if is_over_power(rack) else ""
    return RackCell(
        rack.id,
        use,
        f"{rack.id}: {number}, {units_text(rack, elevation)}, {watts_text(rack.power_w)}{over}{leave}",
        ways,
    )


def _use(rack: Rack) -> str:
    if not rack.devices:
        return rack.state or "empty"
    roles = [device.role for device in rack.devices if device.role != PANEL]
    if all(role == "attachment" for role in roles):
        return "attachments"
    servers = roles.count("server")
    return "servers" if servers == len(roles) else "mixed" if servers else "network"


# -- data -----------------------------------------------------------------------------------------------------------


def rack_data(elevation: Elevation) -> dict[str, Any]:
    """Return devices and kept units as [lowest unit, height, name, index of a kind].

    A kind is [role, product, power, the later stage that installs it or nothing].

    Devices of a kind are alike but for their names: so a hall of thousands of servers stays small.
    """
    kinds: dict[tuple[str, ...], int] = {}
    racks = {rack.id: _rack(rack, elevation, kinds) for row in elevation.rows for rack in row.racks if rack.devices}
    return {"units": elevation.rack_units, "kinds": [list(kind) for kind in kinds], "racks": racks}


def _rack(rack: Rack, elevation: Elevation, kinds: dict[tuple[str, ...], int]) -> list[Any]:
    """Return a rack's sentence on units and power, then its devices and kept units, from the top down."""
    entries = [
        (device.unit, device.top_unit - device.unit + 1, device.name, kind)
        for device in rack.devices
        for kind in ((device.role, device.product, watts_text(device.power_w), device.later),)
    ]
    entries += [(kept.unit, kept.units, kept.what, (KEPT, "", "", "")) for kept in rack.kept]
    entries.sort(key=lambda entry: -entry[0])
    devices = [[*entry[:3], kinds.setdefault(entry[3], len(kinds))] for entry in entries]
    return [f"{units_text(rack, elevation)}, {power_text(rack)}", devices]
