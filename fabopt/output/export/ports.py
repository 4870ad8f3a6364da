"""The port map: every cage of every switch, its module, its far end, and ports kept free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import NamedTuple

from fabopt.output.export.ends import HOSTS, part_numbers, taken, units_of
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.sheets import csv_file, workbook_file
from fabopt.schema.base import Lane, parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, TierUse
from fabopt.schema.product import Cage
from fabopt.schema.structure import LastGroup
from fabopt.units import gbps, grouped, mbps
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import KINDS, NOTHING, Wiring, port_name

PORT_COLUMNS = (
    *("fabric", "rack", "unit", "device", "product", "cage", "form_factor", "port", "gbps", "state"),
    *("peer_device", "peer_port", "cable", "module"),
)
USED, FREE, RESERVED = "used", "free", "reserved"
# Up to here every switch has a sheet of its own.
MOST_SHEETS = 50


def files_of(asked: Exported) -> Files:
    """Return the port map as CSV and XLSX."""
    table = port_map(asked.design, asked.wiring)
    sheets = {"ports": table}
    if 0 < table["device"].nunique() <= MOST_SHEETS:
        sheets = {str(device): rows for device, rows in table.groupby("device", sort=False)}
    book = workbook_file(f"{asked.design.case.name}: ports", sheets, asked.options.mark)
    return {"ports.csv": csv_file(table), "ports.xlsx": book}


def port_map(design: Design, wiring: Wiring) -> Frame:
    """One row a port of a switch with ``PORT_COLUMNS``, switch by switch, cage by cage."""
    ports = _Ports(design, wiring)
    rows = (port for row, role in enumerate(wiring.devices.role) if role not in HOSTS for port in ports.of_switch(row))
    table = frame_of(PORT_COLUMNS, rows)
    return table.assign(module=part_numbers(design, table["module"].tolist()))


def kept_ports(design: Design, wiring: Wiring) -> dict[tuple[int, int], list[tuple[str, float]]]:
    """Names and Gb/s of the ports of split cages in which some are kept free and none is used, by device and cage."""
    ports = _Ports(design, wiring)
    rows = [row for row, role in enumerate(wiring.devices.role) if role not in HOSTS]
    return {(row, cage): kept for row in rows for cage, kept in ports.kept(row).items()}


class _PortEnd(NamedTuple):
    """An end of a link at a switch, and the port at its far end. ``lanes``: ports that its cage is split into."""

    port: str
    lanes: int
    gbps: float
    up: bool
    peer: str
    peer_port: str
    cable: str


@dataclass(frozen=True)
class _Ports:
    """All ports of the switches of a design."""

    design: Design
    wiring: Wiring

    @cached_property
    def _embedded(self) -> Embedded:
        return Embedded(self.design)

    @cached_property
    def _tiers(self) -> dict[tuple[str, str], TierUse]:
        return {(fabric.name, tier.role): tier for fabric in self.design.fabrics for tier in fabric.tiers}

    def _tier(self, row: int) -> TierUse:
        """The tier of a switch, with the ports of its type, or of the last group where that is unlike the others."""
        devices = self.wiring.devices
        fabric, role = devices.fabric[row], devices.role[row]
        tier = self._tiers[fabric, role]
        own = next((own for own in tier.types if own.id == devices.product[row]), tier)
        number, last = self._last_groups.get(fabric, (NOTHING, None))
        if last is None or role != "leaf" or devices.group[row] != number:
            return own
        return own.model_copy(update={"reserved_ports": last.reserved_ports})

    @cached_property
    def _last_groups(self) -> dict[str, tuple[int, LastGroup | None]]:
        """Number and structure of the leaf group of each Clos that may be unlike others, by fabric; None where it is
        like them.
        """
        trees = (fabric for fabric in self.design.fabrics if not fabric.structure.is_direct)
        return {fabric.name: (fabric.clos.number_of_own, fabric.clos.last_group) for fabric in trees}

    @cached_property
    def _protocols(self) -> dict[str, str]:
        return dict(zip(self.wiring.fabrics, self.wiring.protocols, strict=True))

    @cached_property
    def _units(self) -> list[float]:
        units: list[float] = units_of(self.wiring.devices).tolist()
        return units

    @cached_property
    def _modules(self) -> dict[tuple[int, int], str]:
        modules = self.wiring.modules
        return dict(zip(zip(modules.device.tolist(), modules.cage.tolist(), strict=True), modules.part, strict=True))

    @cached_property
    def _ends(self) -> dict[int, dict[tuple[int, int], _PortEnd]]:
        """Ends of links by device, then by cage and lane; those of hosts too, which are never looked up."""
        wiring, links = self.wiring, self.wiring.links
        by_device: dict[int, dict[tuple[int, int], _PortEnd]] = defaultdict(dict)
        cables = taken(wiring.cables.name, links.cable)
        sides = (
            (links.a, links.a_cage, links.a_lane, links.a_lanes, wiring.a_port, links.b, wiring.b_port, True),
            (links.b, links.b_cage, links.b_lane, links.b_lanes, wiring.b_port, links.a, wiring.a_port, False),
        )
        for own, cage, lane, lanes, ports, peers, peer_ports, up in sides:
            columns = (own.tolist(), cage.tolist(), lane.tolist(), ports, lanes.tolist(), links.gbps.tolist())
            others = (taken(wiring.devices.name, peers), peer_ports, cables)
            for row, at_cage, at_lane, port, of, speed, *other in zip(*columns, *others, strict=True):
                by_device[row][at_cage, at_lane] = _PortEnd(port, of, speed, up, *other)
        return by_device

    def kept(self, row: int) -> dict[int, list[tuple[str, float]]]:
        """Ports of a switch's split cages in which some are kept free and none is used."""
        tier, ends = self._tier(row), self._ends.get(row, {})
        if not tier.reserved_ports:
            return {}
        ports = list(_ports_of(self._embedded.part(self.wiring.devices.product[row], Switch), tier, ends))
        cages = {port.cage for port in ports if port.reserved} - {cage for cage, _ in ends}
        return grouped(
            (port.cage, (self._name(row, port), float(gbps(port.split.port_mbps))))
            for port in ports
            if port.cage in cages and port.split.ports > 1
        )

    def _name(self, row: int, port: _Port) -> str:
        """Name of a port without a link."""
        protocol = self._protocols[self.wiring.devices.fabric[row]]
        return port_name(protocol, len(KINDS), port.cage, port.lane, port.split.ports)

    def of_switch(self, row: int) -> Iterator[tuple[object, ...]]:
        """Yield every port of a switch with the values of ``PORT_COLUMNS``."""
        devices = self.wiring.devices
        fabric, product = devices.fabric[row], devices.product[row]
        switch, tier = self._embedded.part(product, Switch), self._tier(row)
        head = (fabric, devices.rack[row], self._units[row], devices.name[row], product)
        for port in _ports_of(switch, tier, self._ends.get(row, {})):
            shown = (port.cage, port.form_factor)
            module = self._modules.get((row, port.cage), "")
            if port.end is not None:
                end = port.end
                yield *head, *shown, end.port, end.gbps, USED, end.peer, end.peer_port, end.cable, module
            else:
                state = RESERVED if port.reserved else FREE
                yield *head, *shown, self._name(row, port), gbps(port.split.port_mbps), state, "", "", "", module


class _Port(NamedTuple):
    """A port of a switch: its cage from 1, that cage's form factor and split, lane from 0, and the end of its link."""

    cage: int
    form_factor: str
    split: Lane
    lane: int
    reserved: bool
    end: _PortEnd | None


def _ports_of(switch: Switch, tier: TierUse, ends: dict[tuple[int, int], _PortEnd]) -> Iterator[_Port]:
    """Yield every port of a switch. A free cage is not split more than it must be."""
    used = {cage: Lane(end.lanes, mbps(end.gbps)) for (cage, _), end in ends.items()}
    reserved = _reserved(switch, tier, ends)
    kept = dict.fromkeys((cage for cage, _ in reserved), parse_split(tier.down.split))
    for cage, _, kind in _cages(switch):
        split = (
            used.get(cage)
            or kept.get(cage)
            or min(map(parse_split, kind.splits), key=lambda split: (split.ports, -split.port_mbps))
        )
        for lane in range(split.ports):
            place = cage, lane
            yield _Port(cage, kind.form_factor, split, lane, place in reserved, ends.get(place))


def _reserved(switch: Switch, tier: TierUse, ends: dict[tuple[int, int], _PortEnd]) -> set[tuple[int, int]]:
    """Return the down ports (cage, lane) that the case keeps free: those after the last one in use."""
    if not tier.reserved_ports:
        return set()
    up = {cage for (cage, _), end in ends.items() if end.up}
    last = max((place for place, end in ends.items() if not end.up), default=(0, 0))
    lanes = range(parse_split(tier.down.split).ports)
    down = [cage for cage, group, _ in _cages(switch) if group == tier.down.cage_group and cage not in up]
    open_ = [(cage, lane) for cage in down for lane in lanes if (cage, lane) not in ends]
    return set(sorted(open_, key=lambda place: (place < last, place))[: tier.reserved_ports])


def _cages(switch: Switch) -> Iterator[tuple[int, int, Cage]]:
    """Yield every cage of a switch: its number from 1, its group, its kind."""
    number = count(1)
    for group, kind in enumerate(switch.cages):
        yield from ((next(number), group, kind) for _ in range(kind.count))
