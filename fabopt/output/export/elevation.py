"""The devices in every rack with their power, and the rack's units and power in use.

The side of a rack that a device has its ports on, and the one at which it takes air in.

Racks take air in at the front. Servers are put in so; a switch beside them has its ports on their side, a switch in a
rack without servers is put in so that it takes air in at the front. What the catalog does not say is unknown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from fabopt.errors import refusal
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import KeptUnits, in_whole_rack, kept_places, rack_limits
from fabopt.output.export.orders import code_of
from fabopt.output.words import power
from fabopt.schema.catalog import Nic, Panel, Switch, Transceiver
from fabopt.schema.design import Design
from fabopt.schema.product import Airflow
from fabopt.schema.server import PortsSide, Server
from fabopt.units import MILLIWATTS_PER_WATT, grouped, milliwatts
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Floats, Mask, Wiring
from fabopt.wiring.structured import panel_name

UNKNOWN: Final = "unknown"
_OTHER: Final[dict[PortsSide, PortsSide]] = {"front": "rear", "rear": "front"}
_SWITCHES: Final = ("leaf", "spine", "core")


class Faces(NamedTuple):
    """Sides of a rack, None where they are not known: of the ports of a device, and of its intake of air."""

    ports: PortsSide | None = None
    intake: PortsSide | None = None

    @property
    def words(self) -> tuple[str, str]:
        """Both sides as tables have them."""
        return self.ports or UNKNOWN, self.intake or UNKNOWN


NO_FACES: Final = Faces()


def faces_of(design: Design, wiring: Wiring) -> Iterator[Faces]:
    """The faces of every device; none of attachments."""
    devices, embedded = wiring.devices, Embedded(design)
    side = embedded.server.ports_side
    with_servers = {rack for role, rack in zip(devices.role, devices.rack, strict=True) if role == "server"}
    ways = {product: _way(design, embedded, product) for product in set(_switches(wiring))}
    for role, product, rack in zip(devices.role, devices.product, devices.rack, strict=True):
        if role == "server":
            yield Faces(side, "front" if side else None)
        elif role in _SWITCHES:
            yield _of_switch(ways[product], side if rack in with_servers else None, rack in with_servers)
        else:
            yield NO_FACES


def _switches(wiring: Wiring) -> list[str]:
    devices = wiring.devices
    return [product for role, product in zip(devices.role, devices.product, strict=True) if role in _SWITCHES]


def _way(design: Design, embedded: Embedded, product: str) -> Airflow | None:
    """The airflow that a switch is ordered in: by its code, or the only one that it is sold with."""
    sold = embedded.part(product, Switch).airflows
    code = code_of(design, product, None).code
    ways = [way for way, own in sold.items() if len(sold) == 1 or (own is not None and own == code)]
    return ways[0] if ways else None


def _of_switch(way: Airflow | None, ports: PortsSide | None, beside_servers: bool) -> Faces:
    if ports is None and not beside_servers and way is not None:
        ports = "front" if way == "port-side-intake" else "rear"
    if ports is None or way is None:
        return Faces(ports)
    return Faces(ports, ports if way == "port-side-intake" else _OTHER[ports])


# The role of a panel among devices: jumpers end in front of it, trunks behind it.
PANEL = "panel"
# What is bought and is in no device of the design.
MODULES, CABLES = "modules in attachments", "active cables"


@dataclass(frozen=True)
class RackDevice:
    """A device in a rack, or a panel.

    ``unit``: the lowest that it fills; ``power_w`` with its modules, NaN where unknown. ``most_w``: maximum power as
    its maker states it, 0 where that is not known. ``later``: the stage that installs it, empty for the first.
    ``faces``: the sides of its ports and of its intake of air.
    """

    unit: int
    height_u: float
    name: str
    role: str
    fabric: str
    product: str
    power_w: float
    most_w: float = 0.0
    later: str = ""
    faces: Faces = NO_FACES

    @property
    def top_unit(self) -> int:
        """The highest unit that it fills."""
        return self.unit + max(1, math.ceil(self.height_u)) - 1


@dataclass(frozen=True)
class Rack:
    """A rack and its devices, from the top down. ``state``: empty text, ``blocked`` or ``reserved``.

    ``kept``: units kept for something else by rule ``rack-rules``; ``limit_w``: power that it is given, None: any.
    """

    id: str
    state: str
    devices: tuple[RackDevice, ...]
    kept: tuple[KeptUnits, ...] = ()
    limit_w: float | None = None

    @property
    def used_units(self) -> int:
        """Units that are filled."""
        return sum(device.top_unit - device.unit + 1 for device in self.devices)

    @property
    def kept_units(self) -> int:
        """Units kept for something else."""
        return sum(kept.units for kept in self.kept)

    @property
    def power_w(self) -> float:
        """Power of its devices, NaN where one device's is unknown."""
        return sum(device.power_w for device in self.devices)

    @property
    def most_w(self) -> float:
        """Maximum power of its devices as makers state it, at least their own; NaN where one device's is unknown."""
        return sum(
            device.power_w if math.isnan(device.power_w) else max(device.power_w, device.most_w)
            for device in self.devices
        )


@dataclass(frozen=True)
class RackRow:
    """A row of racks, in order."""

    name: str
    racks: tuple[Rack, ...]


@dataclass(frozen=True)
class Elevation:
    """The rows that have devices. ``rack_units``: of each rack.

    ``strips``: vertical power strips of a rack, one for each feed where strips take no units.
    """

    rows: tuple[RackRow, ...]
    rack_units: int
    strips: int = 0


def elevation_of(design: Design, wiring: Wiring) -> Elevation:
    """Return the racks of a design; ``InputError`` for one without a floor plan."""
    embedded = Embedded(design)
    floor = embedded.case.site.floor
    later = ["", *(stage.name for stage in design.stages[1:])]
    faces = list(faces_of(design, wiring))
    devices = _devices_by_rack(wiring, device_power_w(embedded, wiring), _most_w(embedded, wiring), later, faces)
    if floor is None or not devices:
        raise refusal(
            design.case.name,
            "site.floor",
            "there are no racks to draw: the case has no floor plan",
            hint="`site.floor` in the case says where racks are; solve it again with one",
        )
    for rack, panel in _panels(embedded):
        devices[rack].append(panel)
    plan = FloorPlan(floor)
    rows = []
    for row, name in enumerate(plan.row_names):
        racks = tuple(_rack(embedded, plan, index, devices) for index in np.flatnonzero(plan.row == row).tolist())
        if any(rack.devices for rack in racks):
            rows.append(RackRow(name, racks))
    rules = embedded.case.site.rack_rules
    strips = 0 if rules.pdu_units or embedded.server.rack is not None else rules.feeds
    return Elevation(tuple(rows), floor.rack_units, strips)


def _rack(embedded: Embedded, plan: FloorPlan, index: int, devices: dict[str, list[RackDevice]]) -> Rack:
    state = "blocked" if plan.blocked[index] else "reserved" if plan.reserved[index] else ""
    installed = sorted(devices.get(plan.ids[index], ()), key=lambda device: (-device.unit, device.name))
    limit_w = plan.floor.part_of(plan.ids[index]).usable_power_w
    return Rack(plan.ids[index], state, tuple(installed), tuple(_kept(embedded, plan, installed)), limit_w)


def _panels(embedded: Embedded) -> Iterator[tuple[str, RackDevice]]:
    """Each panel with its rack."""
    for fabric in embedded.design.fabrics:
        for kind in fabric.structured:
            for place in kind.panels:
                names = panel_name(place), PANEL, fabric.name, place.id
                yield place.rack, RackDevice(place.unit, embedded.part(place.id, Panel).rack_units, *names, 0.0)


def _kept(embedded: Embedded, plan: FloorPlan, installed: Sequence[RackDevice]) -> Iterator[KeptUnits]:
    """Units of a rack kept for something else, if it has servers or switches; panels fill those kept for some."""
    own = [device for device in installed if device.role not in ("attachment", PANEL)]
    if embedded.server.rack is not None and any(device.role == "server" for device in own):
        filled = {unit for device in installed for unit in range(device.unit, device.top_unit + 1)}
        yield from in_whole_rack(embedded.server, filled)
        return
    switches = grouped(
        (device.fabric, (device.unit, device.top_unit - device.unit + 1)) for device in own if device.role != "server"
    )
    panels = {unit for panel in installed if panel.role == PANEL for unit in range(panel.unit, panel.top_unit + 1)}
    for kept in kept_places(embedded.case, plan.floor, switches) if own else ():
        free = [unit for unit in range(kept.unit, kept.unit + kept.units) if unit not in panels]
        yield from (KeptUnits(low, high - low + 1, kept.what) for low, high in _runs(free))


def _runs(units: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of units that follow each other, each from its lowest to its highest, from the top down."""
    starts = [unit for unit in units if unit - 1 not in units]
    ends = [unit for unit in units if unit + 1 not in units]
    yield from reversed(list(zip(starts, ends, strict=True)))


def _devices_by_rack(
    wiring: Wiring, power_w: Floats, most_w: Sequence[float], later: Sequence[str], faces: Sequence[Faces]
) -> dict[str, list[RackDevice]]:
    devices = wiring.devices
    units, heights, stages = devices.unit.tolist(), devices.height_u.tolist(), devices.stage.tolist()
    by_rack: dict[str, list[RackDevice]] = defaultdict(list)
    for row, rack in enumerate(devices.rack):
        if rack:
            names = devices.name[row], devices.role[row], devices.fabric[row], devices.product[row]
            watts, stage = (float(power_w[row]), most_w[row]), later[stages[row]]
            device = RackDevice(units[row], heights[row], *names, *watts, stage, faces[row])
            by_rack[rack].append(device)
    return by_rack


# -- words ----------------------------------------------------------------------------------------------------------


def units_text(rack: Rack, elevation: Elevation) -> str:
    """Units in use as text: ``34 of 48 U``, and how many more are kept: ``34 of 48 U, 2 U kept``."""
    kept = f", {rack.kept_units} U kept" if rack.kept else ""
    return f"{rack.used_units} of {elevation.rack_units} U{kept}"


def power_text(rack: Rack) -> str:
    """``41.3 kW of 44 kW``; without a limit ``41.3 kW``; where makers state more, ``41.3 kW, up to 42 kW of 44 kW``."""
    limit = "" if rack.limit_w is None else f" of {power(rack.limit_w)}"
    over = ", over the limit" if is_over_power(rack) else ""
    most = f", up to {power(rack.most_w)}" if rack.most_w > rack.power_w else ""
    return f"{watts_text(rack.power_w)}{most}{limit}{over}"


def is_over_power(rack: Rack) -> bool:
    """Whether a rack's known maximum power is above its limit."""
    return rack.limit_w is not None and rack.most_w > rack.limit_w


def watts_text(watts: float) -> str:
    """``1.35 kW``; ``? W`` where it is not known."""
    return "? W" if math.isnan(watts) else power(watts)


# -- power ----------------------------------------------------------------------------------------------------------


def device_power_w(embedded: Embedded, wiring: Wiring) -> Floats:
    """Return the power of every device in watts, shape (devices,): its own, that of its NICs, and of the modules in it.

    NaN where the catalog or the case does not know it; 0 for attachments that have no rack. The servers of a rack-scale
    system share the one power of its rack. Parts in no device of the design are in ``loose_power_w``.
    """
    devices = wiring.devices
    keys = list(zip(devices.role, devices.product, devices.fabric, strict=True))
    own = {key: _own_power_w(embedded, *key) for key in dict.fromkeys(keys)}
    total = np.array([own[key] for key in keys], dtype=float)
    total += _shares_of_whole_racks(embedded, wiring)
    return total + np.where(_is_attachment(wiring), 0.0, _modules_w(embedded, wiring))


def _modules_w(embedded: Embedded, wiring: Wiring) -> Floats:
    """Power of the modules in every device, in watts, shape (devices,)."""
    modules, total = wiring.modules, np.zeros(len(wiring.devices.role))
    watts = {part: _known(embedded.part(part, Transceiver).power_w) for part in dict.fromkeys(modules.part)}
    np.add.at(total, modules.device, np.array([watts[part] for part in modules.part], dtype=float))
    return total


def _is_attachment(wiring: Wiring) -> Mask:
    return np.array([role == "attachment" for role in wiring.devices.role], dtype=np.bool_)


def _most_w(embedded: Embedded, wiring: Wiring) -> list[float]:
    """Maximum power of devices in watts as makers state it of switches, if rule ``rack-rules`` counts it; else 0."""
    devices, counts = wiring.devices, rack_limits(embedded.case).largest_power
    switches = {
        product: (embedded.part(product, Switch).power_max_w or 0.0) if counts else 0.0
        for role, product in set(zip(devices.role, devices.product, strict=True))
        if role in ("leaf", "spine", "core")
    }
    return [switches.get(product, 0.0) for product in devices.product]


def _own_power_w(embedded: Embedded, role: str, product: str, fabric: str) -> float:
    if role == "attachment":
        attached = next(attached for attached in embedded.wanted[fabric].attachments if attached.name == product)
        return 0.0 if attached.rack_units is None else _known(attached.power_w)
    if role != "server":
        return _known(embedded.part(product, Switch).power_w)
    fabrics = embedded.design.fabrics
    nics = [nic for built in fabrics for nic in (built.nic, *(logical.nic for logical in built.logical))]
    bought = sum(nic.per_server * _known(embedded.part(nic.id, Nic).power_w) for nic in nics if not nic.built_in)
    server = embedded.part(product, Server)
    return bought if server.rack is not None else _known(server.power_w) + bought


def _shares_of_whole_racks(embedded: Embedded, wiring: Wiring) -> Floats:
    """Each server's share of the power of its rack-scale system, in watts, exact to the milliwatt, shape (devices,); 0
    of others.

    A partly filled rack uses its whole power. Without a floor racks are filled one after the other.
    """
    devices, server = wiring.devices, embedded.server
    shares = np.zeros(len(devices.role))
    if server.rack is None:
        return shares
    by_rack = grouped(
        (rack, row) for row, (role, rack) in enumerate(zip(devices.role, devices.rack, strict=True)) if role == "server"
    )
    if server.power_w is None:
        shares[[row for rows in by_rack.values() for row in rows]] = np.nan
        return shares
    for rows in by_rack.values():
        whole = server.sold_for(len(rows)) * milliwatts(server.power_w)
        ends = np.arange(len(rows) + 1) * whole // len(rows)
        shares[rows] = np.diff(ends) / MILLIWATTS_PER_WATT
    return shares


def loose_power_w(design: Design, wiring: Wiring) -> dict[str, float]:
    """Power in watts of parts bought that are in no device of the design, by kind; without zeros."""
    in_modules = float(_modules_w(Embedded(design), wiring)[_is_attachment(wiring)].sum())
    in_cables = sum(row.power_w for row in design.bom if row.kind == "cable")
    return {what: watts for what, watts in ((MODULES, in_modules), (CABLES, in_cables)) if watts}


def _known(watts: float | None) -> float:
    return float("nan") if watts is None else watts
