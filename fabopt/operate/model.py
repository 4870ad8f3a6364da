"""The plan: devices, ports and links of a stage with their names, numbers and addresses.

Devices of a wiring with the numbers that fill names and autonomous systems; servers have those of their compute
leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from fabopt.schema.design import Design
from fabopt.schema.operate import Operate, Queues
from fabopt.wiring.model import KINDS, OF_PEERS, Ints, Wiring

SWITCHES = ("leaf", "spine", "core")
INFINIBAND, HOST = "infiniband", "host"


@dataclass(frozen=True)
class Numbered:
    """A device of the wiring, row by row; numbers are -1 where they do not apply. ``device``: the design's name."""

    device: str
    role: str
    product: str
    fabric: str
    plane: int
    pod: int
    group: int
    rail: int
    rack: str
    unit: int
    stage: int


@dataclass(frozen=True)
class NamedDevice(Numbered):
    """A device with its assigned numbers. Texts are empty where they do not apply or are not known; ``asn`` 0 likewise.

    row         of the wiring's devices; name: by the case's template
    system      cumulus, sonic or eos; infiniband; host
    management  its address in the management network; loopback: of a switch that routes
    """

    row: int
    name: str
    system: str
    management: str
    loopback: str
    asn: int


class NamedPort(NamedTuple):
    """A port in use. ``port``: its name in the design; ``name``: its name in the system, ``alias`` too (SONiC).

    ``cage`` from 1, ``lane`` from 0, ``lanes`` that the cage is split into; of a host NIC from 1 (0: none), port, 1.
    ``address``: its own, empty for a port without one.
    """

    device: int
    port: str
    name: str
    cage: int
    lane: int
    lanes: int
    address: str
    alias: str = ""


class NamedLink(NamedTuple):
    """A link of a network; ``a`` is nearer the servers. ``subnet``: of both ends, empty for a link without addresses.

    ``row``: of the wiring's links; ``length_m``: bought, 0 where no cable is.
    """

    row: int
    fabric: str
    network: str
    kind: str
    a: NamedPort
    b: NamedPort
    gbps: float
    cable: str
    medium: str
    length_m: float
    subnet: str


# Ports of a device, each with the one that it is joined to, and their link.
Ends: TypeAlias = Sequence[tuple[NamedPort, NamedPort, NamedLink]]


class NamedNetwork(NamedTuple):
    """A fabric, or a logical fabric on its switches. ``vlan`` 0 and ``vrf`` empty where it has none.

    ``routed``: whether its switches route; ``subnets``: of leaves, by the leaf's row, where hosts share one.
    """

    name: str
    fabric: str
    role: str
    protocol: str
    vlan: int
    vrf: str
    routed: bool
    subnets: Mapping[int, str]


class PoolUse(NamedTuple):
    """Use of a pool: ``used`` of ``size`` places."""

    key: str
    pool: str
    used: int
    size: int


@dataclass(frozen=True)
class OperationPlan:
    """The plan of a stage.

    ``case``, ``sha256``: of the case; ``stage``: its name; number: from 0. ``vrf_links``: links between switches as
    each VRF has them, tagged with its VLAN.
    """

    case: str
    sha256: str
    stage: str
    number: int
    operate: Operate
    devices: Sequence[NamedDevice]
    links: Sequence[NamedLink]
    vrf_links: Sequence[NamedLink]
    networks: Sequence[NamedNetwork]
    pools: Sequence[PoolUse]
    notes: Sequence[str]

    @property
    def queues(self) -> Queues:
        """Traffic classes and their queues."""
        return self.operate.queues

    @cached_property
    def device_at(self) -> Mapping[int, NamedDevice]:
        """Devices by their row in the wiring."""
        return {device.row: device for device in self.devices}

    @cached_property
    def network_of(self) -> Mapping[str, NamedNetwork]:
        """Networks by name."""
        return {network.name: network for network in self.networks}

    @cached_property
    def ports_at(self) -> Mapping[int, Sequence[tuple[NamedPort, NamedLink]]]:
        """Ports with their links by the device's row, in the order of links."""
        return {row: [(port, link) for port, _, link in ends] for row, ends in self._by_device(self.links).items()}

    @cached_property
    def configured_ports(self) -> Mapping[int, Ends]:
        """Ports in the configuration of a switch, by the device's row: those of peer links are left out."""
        return self._by_device([link for link in self.links if link.kind != KINDS[OF_PEERS]])

    @cached_property
    def vrf_ports_at(self) -> Mapping[int, Ends]:
        """Subinterfaces of VRFs by the switch's row, in the order of links."""
        return self._by_device(self.vrf_links)

    def _by_device(self, links: Sequence[NamedLink]) -> Mapping[int, Ends]:
        ports: dict[int, list[tuple[NamedPort, NamedPort, NamedLink]]] = {device.row: [] for device in self.devices}
        for link in links:
            ports[link.a.device].append((link.a, link.b, link))
            ports[link.b.device].append((link.b, link.a, link))
        return ports

    def vrfs_of(self, switch: NamedDevice) -> list[NamedNetwork]:
        """Networks on a switch that have a VRF there."""
        return [network for network in self.networks if network.vrf and network.routed
                and network.fabric == switch.fabric]  # fmt: skip

    def other(self, port: NamedPort, link: NamedLink) -> NamedPort:
        """The port at the other end of a link."""
        return link.b if port is link.a else link.a

    def is_in_subnet(self, port: NamedPort, link: NamedLink) -> bool:
        """Whether a port of a leaf is a port to hosts that shares a subnet: its address is not the port's own."""
        return bool(link.subnet) and self.network_of[link.network].subnets.get(port.device) == link.subnet

    def at_ends(self, links: Sequence[NamedLink]) -> list[NamedDevice]:
        """Devices at the ends of links, in the order of the design."""
        rows = {end.device for link in links for end in (link.a, link.b)}
        return [device for device in self.devices if device.row in rows]

    def switches(self, *fabrics: str) -> list[NamedDevice]:
        """Switches of fabrics, in the order of the design."""
        return [device for device in self.devices if device.role in SWITCHES and device.fabric in fabrics]

    @property
    def servers(self) -> list[NamedDevice]:
        """The servers, in the order of the design."""
        return [device for device in self.devices if device.role == "server"]


def numbered_devices(design: Design, wiring: Wiring) -> list[Numbered]:
    """All devices, in the wiring's order."""
    devices = wiring.devices
    columns = [getattr(devices, key).tolist() for key in ("plane", "pod", "group", "rail")]
    rows = zip(devices.name, devices.role, devices.product, devices.fabric, *columns, devices.rack,
               devices.unit.tolist(), devices.stage.tolist(), strict=True)  # fmt: skip
    numbered = [Numbered(*row) for row in rows]
    for server, leaf in _first_leaves(design, wiring):
        numbered[server] = replace(numbered[server], pod=numbered[leaf].pod, group=numbered[leaf].group)
    return numbered


def _first_leaves(design: Design, wiring: Wiring) -> Iterator[tuple[int, int]]:
    """Each server with its first leaf in the first compute fabric, else in the first fabric."""
    roles = {fabric.name: fabric.role for fabric in design.fabrics}
    order = sorted(range(len(wiring.fabrics)), key=lambda index: roles[wiring.fabrics[index]] != "compute")
    links = wiring.links
    rows = np.flatnonzero((links.kind == KINDS.index("server-leaf")) & (links.fabric == order[0]))
    servers, first = np.unique(links.a[rows], return_index=True)
    yield from zip(servers.tolist(), links.b[rows[first]].tolist(), strict=True)


def system_kind(role: str, protocol: str) -> str:
    """``infiniband`` or ``host``; empty for a switch whose system has a choice."""
    if role not in SWITCHES:
        return HOST
    return INFINIBAND if protocol == "infiniband" else ""


def stage_order(stages: Ints) -> list[int]:
    """Rows of devices in the order of stages, then as they are; shape (rows,)."""
    order: list[int] = np.argsort(stages, kind="stable").tolist()
    return order
