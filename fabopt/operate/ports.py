"""The ports of devices, and what each system calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabopt.errors import Fault, fault
from fabopt.operate.model import SWITCHES, NamedPort, Numbered
from fabopt.operate.port_names import Namer, OwnName, namer_of
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.units import some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import NOTHING, Wiring
from fabopt.wiring.numbers import Numbers, logical_before, nics_before


@dataclass(frozen=True)
class PortPlan:
    """Names of ports. ``systems``: of every device; names that a system or the case cannot give become faults."""

    embedded: Embedded
    wiring: Wiring
    devices: Sequence[Numbered]
    systems: Sequence[str]
    faults: list[Fault]

    def is_host(self, row: int) -> bool:
        """Whether a device is no switch."""
        return self.devices[row].role not in SWITCHES

    def most_ports(self, row: int) -> int:
        """PortPlan that a device can have; 1 of a host, whose links are not shared."""
        if self.is_host(row):
            return 1
        return self._most_by_product[self.devices[row].product]

    @cached_property
    def _most_by_product(self) -> dict[str, int]:
        most = {}
        for product in {device.product for device in self.devices if device.role in SWITCHES}:
            switch = self.embedded.part(product, Switch)
            cages = sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in switch.cages)
            most[product] = min(cages, switch.max_ports or cages)
        return most

    @cached_property
    def without_numbers(self) -> list[str]:
        """Products with SONiC whose numbering is not known."""
        sonic = {device.product for device, system in zip(self.devices, self.systems, strict=True) if system == "sonic"}
        return sorted(product for product in sonic if self._namer("sonic", product, 1) is None)

    @cached_property
    def _most_lanes(self) -> list[int]:
        """The most ports that a cage in use has, by device, over all stages."""
        links = self.wiring.links
        most = np.ones(len(self.devices), dtype=np.int64)
        for side in "ab":
            np.maximum.at(most, getattr(links, side), getattr(links, f"{side}_lanes"))
        lanes: list[int] = most.tolist()
        return lanes

    def _namer(self, system: str, product: str, most_lanes: int) -> Namer | None:
        return namer_of(system, self.embedded.part(product, Switch), most_lanes)

    def ends(self, wiring: Wiring, side: str) -> list[NamedPort]:
        """The port at one side (``a`` or ``b``) of every link of a wiring, without its address."""
        links = wiring.links
        keys = ("", "_nic", "_nic_port", "_cage", "_lane", "_lanes")
        columns = [getattr(links, f"{side}{key}").tolist() for key in keys]
        own_names: dict[tuple[str, str, int, int, int, int], OwnName] = {}
        ports = []
        for design_name, row, nic, nic_port, cage, lane, lanes in zip(
            getattr(wiring, f"{side}_port"), *columns, strict=True
        ):
            if self.is_host(row):
                name = self._hcas.get((nic, nic_port), design_name) if nic != NOTHING else design_name
                ports.append(NamedPort(row, design_name, name, max(0, nic), nic_port - 1, 1, ""))
                continue
            key = self.systems[row], self.devices[row].product, self._most_lanes[row], cage, lane, lanes
            if key not in own_names:
                own_names[key] = self._named(design_name, *key)
            own = own_names[key]
            ports.append(NamedPort(row, design_name, own.name, cage, lane, lanes, "", own.alias))
        return ports

    def _named(
        self, design_name: str, system: str, product: str, most_lanes: int, cage: int, lane: int, lanes: int
    ) -> OwnName:
        namer = self._namer(system, product, most_lanes)
        if namer is None:
            return OwnName(design_name)
        try:
            return namer(cage, lane, lanes)
        except ValueError as error:
            where = f"operate.systems.{product}"
            self.faults.append(fault(self.embedded.design.case.name, where, f"{error}; cage {cage}", system))
            return OwnName(design_name)

    @cached_property
    def without_hcas(self) -> list[str]:
        """Networks whose RDMA devices have no known names."""
        return [name for name in self._ports_by_network if not self._known_hcas(name)]

    @cached_property
    def _hcas(self) -> Mapping[tuple[int, int], str]:
        """Names of RDMA devices by NIC and port of a server, both from 1."""
        hcas: dict[tuple[int, int], str] = {}
        for name, ports in self._ports_by_network.items():
            known = self._known_hcas(name)
            if known and len(known) != len(ports):
                problem = f"a server has {some(len(ports), 'port')} there, so as many names"
                self.faults.append(
                    fault(self.embedded.design.case.name, f"operate.hcas.{name}", problem, list(known))
                )  # fmt: skip
            hcas |= dict(zip(ports, known, strict=False))
        called = list(hcas.values())
        twice = sorted({name for name in called if called.count(name) > 1})
        if twice:
            problem = f"{some(len(twice), 'name')} of RDMA devices twice on a server: {', '.join(twice)}"
            self.faults.append(fault(self.embedded.design.case.name, "operate.hcas", problem))
        return hcas

    def _known_hcas(self, network: str) -> tuple[str, ...]:
        said = self.embedded.case.operate.hcas.get(network)
        if said is not None:
            return said
        fabric = next((fabric for fabric in self.embedded.design.fabrics if fabric.name == network), None)
        if fabric is None or not fabric.nic.built_in:
            return ()
        return tuple(name for nic in self.embedded.server.nics if nic.role == fabric.role for name in nic.hcas)

    @cached_property
    def _ports_by_network(self) -> dict[str, list[tuple[int, int]]]:
        """NIC and port, both from 1, of the ports of a server, network by network."""
        fabrics = [Numbers(self.embedded, fabric) for fabric in self.embedded.design.fabrics]
        ports = {}
        for numbers, before in zip(fabrics, nics_before(fabrics), strict=True):
            nic = numbers.fabric.nic
            ports[numbers.fabric.name] = _nic_ports(before.nics, nic.per_server, nic.ports_per_nic)
        before_logical = logical_before(fabrics)
        for numbers in fabrics:
            for name, logical in numbers.logical.items():
                nic = logical.nic
                ports[name] = _nic_ports(before_logical[name].nics, nic.per_server, nic.ports_per_nic)
        return ports


def _nic_ports(before: int, nics: int, ports: int) -> list[tuple[int, int]]:
    return [(before + nic + 1, port + 1) for nic in range(nics) for port in range(ports)]
