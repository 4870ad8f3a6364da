"""The plan port by port: peers, cables, and ports that share a connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from fabopt.wiring.model import Ints, Links, Wiring, at_stage

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
    """Everything that was planned. ``slots``: by port, where its connector has several."""

    links: Sequence[PlannedLink]
    devices: Mapping[str, PlannedDevice]
    slots: Mapping[PortName, Slot]

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
    number = list(range(len(wiring.devices)))

    def root(row: int) -> int:
        while number[row] != row:
            number[row] = row = number[number[row]]
        return row

    hosts = [role in HOSTS for role in wiring.devices.role]
    for a, b in zip(links.a[rows].tolist(), links.b[rows].tolist(), strict=True):
        if not hosts[a] or hosts[b]:
            low, high = sorted((root(a), root(b)))
            number[high] = low
    return [root(row) for row in range(len(number))]


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
