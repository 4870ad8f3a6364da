"""The ports of devices, and their names in each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabopt.errors import Fault, fault
from fabopt.operate.model import SWITCHES, NamedPort, Numbered
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.units import some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.hca_names import NicPort, hca_names, hcas_by_port, nic_ports
from fabopt.wiring.model import NOTHING, Wiring
from fabopt.wiring.port_names import Namer, OwnName, most_lanes, namer_of


@dataclass(frozen=True)
class PortPlan:
    """Names of ports. ``systems``: of every device; names that a system or the case cannot give become faults."""

    embedded: Embedded
    wiring: Wiring
    devices: Sequence[Numbered]
    systems: Sequence[str]
    faults: list[Fault]

    def is_host(self, row: int) -> bool:
        """Whether a device is a server or an attachment."""
        return self.devices[row].role not in SWITCHES

    def most_ports(self, row: int) -> int:
        """The most ports of a switch; 1 of a host, whose links are not shared."""
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
        return most_lanes(self.wiring)

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
        return [network for network, names in hca_names(self.embedded).items() if not names]

    @cached_property
    def _hcas(self) -> Mapping[NicPort, str]:
        """Names of RDMA devices by NIC and port of a server."""
        case, ports = self.embedded.design.case.name, nic_ports(self.embedded)
        for network, names in hca_names(self.embedded).items():
            if names and len(names) != len(ports[network]):
                problem = f"a server has {some(len(ports[network]), 'port')} there, so as many names"
                self.faults.append(fault(case, f"operate.hcas.{network}", problem, list(names)))
        hcas = hcas_by_port(self.embedded)
        called = list(hcas.values())
        twice = sorted({name for name in called if called.count(name) > 1})
        if twice:
            problem = f"{some(len(twice), 'name')} of RDMA devices twice on a server: {', '.join(twice)}"
            self.faults.append(fault(case, "operate.hcas", problem))
        return hcas
