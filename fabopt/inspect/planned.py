"""The plan port by port: peers, cables, and ports that share a connector.

Names of ports as switches and hosts report them, mapped to the plan's.

A switch may run another system than planned: of all naming schemes the one by which most seen names are ports holds. An
adapter of a host is ``mlx5_N``, from 0, or ``HCA-N``, from 1, in the order of its ports unless the catalog or the case
names its RDMA devices.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from fabopt.network.components import components
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.units import sets
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.hca_names import NicPort, hcas_by_port
from fabopt.wiring.model import KINDS, Ints, Links, Wiring, at_stage, port_name
from fabopt.wiring.port_names import cumulus, makers_own, most_lanes, places_by_name, spelled_out, splits_of, ways_of

HOSTS = ("server", "attachment")


class PortName(NamedTuple):
    """A port by the names of its device and its own, as ``point-to-point.csv`` has them."""

    device: str
    port: str


NO_PORT = PortName("", "")
# What one connector of a cable is plugged into: the ports of a cage or a part of it, in order.
Slot = tuple[PortName, ...]


@dataclass(frozen=True)
class PlannedLink:
    """A link: its ends, ``a`` nearer the servers; speed; label of its cable, empty if none is bought.

    ``network``: number shared by the links of switches that reach each other; ``fabric``: name; ``protocol``: of the
    link.
    """

    a: PortName
    b: PortName
    gbps: float
    cable: str
    network: int
    fabric: str
    protocol: str

    def other(self, port: PortName) -> PortName:
        """The end that is not this one."""
        return self.b if port == self.a else self.a


@dataclass(frozen=True)
class PlannedDevice:
    """A device: role, rail (0: none), protocol of its fabric (empty for servers), row of the wiring.

    ``ports``: names of its ports by cage from 1 and lane from 0, of a host by NIC and port; ``lanes``: ports that each
    cage in use is split into.
    """

    role: str
    rail: int
    protocol: str
    row: int
    ports: Mapping[tuple[int, int], str]
    lanes: Mapping[int, int]

    @property
    def is_host(self) -> bool:
        """Whether it is a server or an attachment."""
        return self.role in HOSTS


@dataclass(frozen=True)
class CablePlan:
    """Everything that was planned. ``slots``: by port, where its connector has several; ``was``: links in service that
    are not planned to stay.
    """

    links: Sequence[PlannedLink]
    devices: Mapping[str, PlannedDevice]
    slots: Mapping[PortName, Slot]
    was: Sequence[PlannedLink] = ()

    @cached_property
    def link_at(self) -> dict[PortName, int]:
        """The row of the planned link of each port."""
        return {port: row for row, link in enumerate(self.links) for port in (link.a, link.b)}

    @cached_property
    def spelled(self) -> dict[str, str]:
        """Names of devices by their small letters."""
        return {name.lower(): name for name in self.devices}

    def slot(self, port: PortName) -> Slot:
        """The ports that share a connector with a port, itself among them."""
        return self.slots.get(port, (port,))

    @cached_property
    def _cages(self) -> dict[PortName, tuple[str, int]]:
        return {
            PortName(name, port): (name, cage)
            for name, device in self.devices.items()
            for (cage, _), port in device.ports.items()
        }

    def cage(self, port: PortName) -> tuple[str, int | str]:
        """The device and the cage number (of a host the NIC) of a port; the port's name without a cage."""
        return self._cages.get(port, (port.device, port.port))

    def peer(self, port: PortName) -> PortName:
        """The planned peer of a port; ``NO_PORT`` for a free one."""
        row = self.link_at.get(port)
        return NO_PORT if row is None else self.links[row].other(port)

    def links_of(self, port: PortName) -> list[PlannedLink]:
        """The planned link of a port, then the one that was there; none of a free one."""
        row = self.link_at.get(port)
        was = self._was_at.get(port)
        return [link for link in (None if row is None else self.links[row], was) if link is not None]

    @cached_property
    def _was_at(self) -> dict[PortName, PlannedLink]:
        return {port: link for link in self.was for port in (link.a, link.b)}


def plan_of(wiring: Wiring, stage: int) -> CablePlan:
    """The plan of a wiring at a stage, from 0."""
    wiring = replace(wiring, links=at_stage(wiring, stage))
    links, a_ports, b_ports = wiring.links, wiring.a_port, wiring.b_port
    rows = np.flatnonzero(links.stage <= stage)
    names, numbers = wiring.devices.name, _networks(wiring, links, rows)
    labels = [*wiring.cables.name, ""]
    planned = [
        PlannedLink(PortName(names[a], a_ports[row]), PortName(names[b], b_ports[row]), gbps, labels[cable], numbers[b],
                    wiring.fabrics[fabric], wiring.protocols[fabric])
        for row, a, b, gbps, cable, fabric in zip(
            rows.tolist(), *(getattr(links, key)[rows].tolist() for key in ("a", "b", "gbps", "cable", "fabric")),
            strict=True)
    ]  # fmt: skip
    return CablePlan(planned, _devices(wiring, links, rows, planned), _slots(wiring, links, rows, planned))


def _networks(wiring: Wiring, links: Links, rows: Ints) -> list[int]:
    """A number for each device: the least row of the switches that it reaches over switches, of its fabric.

    Where servers are joined to each other, each fabric of them is one network; ``rows``: of links, shape (links,).
    """
    hosts = [role in HOSTS for role in wiring.devices.role]
    ends = zip(links.a[rows].tolist(), links.b[rows].tolist(), strict=True)
    passed = ((a, b) for a, b in ends if not hosts[a] or hosts[b])
    return [*components(range(len(wiring.devices)), passed).values()]


def _devices(wiring: Wiring, links: Links, rows: Ints, planned: Sequence[PlannedLink]) -> dict[str, PlannedDevice]:
    devices, protocols = wiring.devices, dict(zip(wiring.fabrics, wiring.protocols, strict=True))
    ports: list[dict[tuple[int, int], str]] = [{} for _ in devices.name]
    lanes: list[dict[int, int]] = [{} for _ in devices.name]
    for side in "ab":
        keys = (f"{side}", f"{side}_cage", f"{side}_lane", f"{side}_lanes", f"{side}_nic", f"{side}_nic_port")
        columns = (getattr(links, key)[rows].tolist() for key in keys)
        for link, device, cage, lane, split, nic, nic_port in zip(planned, *columns, strict=True):
            name = getattr(link, side).port
            if devices.role[device] in HOSTS:
                ports[device][nic, nic_port] = name
            else:
                ports[device][cage, lane] = name
                lanes[device][cage] = split
    return {
        name: PlannedDevice(devices.role[row], max(0, int(devices.rail[row])), protocols.get(devices.fabric[row], ""),
                            row, ports[row], lanes[row])
        for row, name in enumerate(devices.name)
    }  # fmt: skip


def _slots(wiring: Wiring, links: Links, rows: Ints, planned: Sequence[PlannedLink]) -> dict[PortName, Slot]:
    """The slots of connectors that carry several links, by each of their ports."""
    slots: dict[PortName, Slot] = {}
    cables = wiring.cables
    order = sorted((row for row in range(len(planned)) if planned[row].cable), key=lambda row: planned[row].cable)
    for _, group in groupby(order, key=lambda row: planned[row].cable):
        members = list(group)
        cable = int(links.cable[rows[members[0]]])
        both = int(cables.a_connectors[cable]), int(cables.b_connectors[cable])
        for side, connectors in zip("ab", both, strict=True):
            ports = sorted((_lane_of(links, int(rows[row]), side), getattr(planned[row], side)) for row in members)
            for slot in _plugs(ports, min(both)) if min(both) > 1 else _shared([port for _, port in ports], connectors):
                slots |= dict.fromkeys(slot, slot)
    return slots


def _lane_of(links: Links, row: int, side: str) -> tuple[int, ...]:
    return tuple(int(getattr(links, key)[row]) for key in (side, f"{side}_cage", f"{side}_lane"))


def _plugs(ports: Sequence[tuple[tuple[int, ...], PortName]], size: int) -> Iterable[Slot]:
    """Ports by the connectors of a shuffle, which have ``size`` lanes each."""
    for _, plug in groupby(ports, key=lambda port: (*port[0][:2], port[0][2] // size)):
        yield tuple(port for _, port in plug)


def _shared(ports: Sequence[PortName], connectors: int) -> Iterable[Slot]:
    """Ports dealt to connectors in order, where each has several."""
    share = len(ports) // max(1, connectors)
    if share < 2 or share * connectors != len(ports):
        return ()
    return (tuple(ports[start : start + share]) for start in range(0, len(ports), share))


_ADAPTER = re.compile(r"([a-z]+\d*)_(\d{1,15})|HCA-(\d{1,15})")
# A slash after the number of an InfiniBand adapter with two ports says which.
_TWIN = re.compile(r"(.+)/([12])")
# Ways whose names can be of no other way.
_SURE = (cumulus, makers_own)
# Planned ports by what they may be called, each by one way.
NamedPorts = Mapping[str, str]


@dataclass(frozen=True)
class SystemNames:
    """Names of the ports of a design's devices, by system; ``base``: of what is in service."""

    design: Design
    wiring: Wiring
    base: SystemNames | None = None
    _tables: dict[tuple[object, ...], list[NamedPorts]] = field(default_factory=dict)

    def hcas(self, server: str) -> Mapping[NicPort, str]:
        """Names of a server's RDMA devices by NIC and port."""
        return self._hcas if self.base is None or server in self._rows else self.base.hcas(server)

    @cached_property
    def _hcas(self) -> Mapping[NicPort, str]:
        return hcas_by_port(self._embedded)

    @cached_property
    def _embedded(self) -> Embedded:
        return Embedded(self.design)

    @cached_property
    def _most_lanes(self) -> list[int]:
        return most_lanes(self.wiring)

    def ports(self, devices: Mapping[str, PlannedDevice], seen: Mapping[str, Collection[str]]) -> dict[str, NamedPorts]:
        """The ports of switches by name; ``seen``: reported names by switch.

        The naming scheme of a switch is the one by which most of its seen names are ports; among several the one by
        which most names of all switches of its product are planned ports.
        """
        theirs = {name: device for name, device in devices.items() if name not in self._rows}
        if self.base is not None and theirs:
            own = {name: device for name, device in devices.items() if name in self._rows}
            return self.ports(own, seen) | self.base.ports(theirs, seen)
        names = {name: {spelled_out(port) for port in seen.get(name, ())} for name in devices}
        hits: dict[str, Counter[int]] = defaultdict(Counter)
        for name, device in devices.items():
            hits[self._product(name)].update(planned_by_way(self._ways(name, device), device, names[name]))
        return {
            name: likeliest_ports(self._ways(name, device), names[name], hits[self._product(name)])
            for name, device in devices.items()
        }

    def _most_lanes_of(self, name: str) -> int:
        """Most ports of a cage of a switch, those in service among them; 0 where it is not there."""
        own = self._most_lanes[self._rows[name]] if name in self._rows else 0
        return own if self.base is None else max(own, self.base._most_lanes_of(name))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.wiring.devices.name)}

    def _product(self, name: str) -> str:
        return self.wiring.devices.product[self._rows[name]]

    def _ways(self, name: str, device: PlannedDevice) -> list[NamedPorts]:
        product, most = self._product(name), self._most_lanes_of(name)
        key = product, device.protocol, most, tuple(sorted(device.lanes.items()))
        if key not in self._tables:
            is_ib = device.protocol == "infiniband"
            system = "infiniband" if is_ib else self._embedded.case.operate.systems.get(product, "")
            self._tables[key] = ports_by_way(device, self._embedded.part(product, Switch), system, most)
        return self._tables[key]


def ports_by_way(device: PlannedDevice, switch: Switch, system: str, most: int) -> list[NamedPorts]:
    """Ports of a switch by name, by naming scheme, the likeliest first; unmistakable schemes last.

    ``most``: the most ports of a cage in use.
    """
    splits = splits_of(switch, device.lanes)
    return [
        {name: port_name(device.protocol, len(KINDS), *place) for name, place in places_by_name(way, splits).items()}
        for way in (*ways_of(system, switch, most), *_SURE)
    ]


def planned_by_way(ways: Sequence[NamedPorts], device: PlannedDevice, names: Collection[str]) -> Counter[int]:
    """Number of names that are planned ports, by index of the naming scheme."""
    planned = frozenset(device.ports.values())
    return Counter({way: sum(ports.get(name) in planned for name in names) for way, ports in enumerate(ways)})


def likeliest_ports(ways: Sequence[NamedPorts], names: Collection[str], hits: Mapping[int, int]) -> NamedPorts:
    """Ports by the first naming scheme if it knows all names, else by the one that knows most, then with most hits."""

    def likelihood(way: int) -> tuple[bool, int, int]:
        known = sum(name in ways[way] for name in names)
        return way == 0 and known == len(names), known, hits[way]

    best = ways[max(range(len(ways)), key=likelihood)]
    return {name: port for ports in (*reversed(ways[-len(_SURE) :]), best) for name, port in ports.items()}


def switch_port(name: str, device: PlannedDevice, ports: NamedPorts) -> str:
    """The plan's name of a switch port; empty for a name without a cage."""
    return name if name in device.ports.values() else ports.get(spelled_out(name), "")


def adapter_of(name: str) -> tuple[str, int] | None:
    """Style and number, from 0, of an adapter's name: ``mlx5_3`` is 3, ``HCA-3`` is 2; None for another name.

    Of an adapter with two ports, ``mlx5_1/1`` is 2 and ``mlx5_1/2`` is 3.
    """
    twin = _TWIN.fullmatch(name)
    match = _ADAPTER.fullmatch(twin[1] if twin else name)
    if match is None:
        return None
    style, number = ("HCA", int(match[3]) - 1) if match[3] else (match[1], int(match[2]))
    return (f"{style}/", 2 * number + int(twin[2]) - 1) if twin else (style, number)


class HostPorts(NamedTuple):
    """Planned ports of a host in order: all of a protocol, and those in the networks of the files.

    ``hcas``: known names of RDMA devices, each with its port.
    """

    of_protocol: tuple[str, ...]
    of_networks: tuple[str, ...]
    hcas: tuple[tuple[str, str], ...] = ()


class AdapterOrder(NamedTuple):
    """The host port of each adapter. ``ports``: by style of name and ports of the host, then by number."""

    ports: Mapping[tuple[str, HostPorts], Mapping[int, str]]

    def port(self, name: str, ports: HostPorts) -> str:
        """The port of a host that an adapter is; empty where that is not known."""
        adapter = adapter_of(name)
        return "" if adapter is None else self.ports.get((adapter[0], ports), {}).get(adapter[1], "")


def adapter_order(seen: Iterable[tuple[HostPorts, str]]) -> AdapterOrder:
    """The order of adapters by all that was seen, as pairs of a planned host's ports and the name of an adapter.

    Hosts with the same ports are taken to be alike. Known names of RDMA devices hold where all of those in the networks
    that files are of are seen, or nothing else is. Of others: where no number goes beyond the ports of the protocol
    they are the ports; where as many numbers are seen as there are such ports, or ports in the networks that files are
    of, they are these in order. Else nothing is known of them.
    """
    adapters = ((adapter_of(name), ports) for ports, name in seen)
    numbers = sets(((adapter[0], ports), adapter[1]) for adapter, ports in adapters if adapter is not None)
    return AdapterOrder({key: _ordered(*key, used) for key, used in numbers.items()})


def _ordered(style: str, ports: HostPorts, used: set[int]) -> dict[int, str]:
    told = {name: adapter_of(name) for name, _ in ports.hcas}
    known = {adapter[1]: port for name, port in ports.hcas if (adapter := told[name]) and adapter[0] == style}
    expected = {number for number, port in known.items() if port in ports.of_networks}
    if known and (expected <= used or used <= known.keys()):
        of_protocol, of_networks = (tuple(port for port in order if port not in known.values()) for order in ports[:2])
        others = HostPorts(of_protocol, of_networks)
        return {**known, **_in_order(others, used - known.keys(), counts_all=False)}
    return _in_order(ports, used)


def _in_order(ports: HostPorts, used: set[int], counts_all: bool = True) -> dict[int, str]:
    """Ports by the order of numbers. ``counts_all``: whether numbers may count all ports of the protocol."""
    if counts_all and max(used) < len(ports.of_protocol):
        return {number: ports.of_protocol[number] for number in used}
    for order in ports[:2]:
        if len(order) == len(used):
            return dict(zip(sorted(used), order, strict=True))
    return {}
