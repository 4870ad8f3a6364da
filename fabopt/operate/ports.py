"""The ports of devices, and their names in each system.

Names of devices: the templates of the case, filled in; no two alike.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabopt.errors import Fault, fault
from fabopt.operate.model import SWITCHES, NamedPort, Numbered, numbered_devices
from fabopt.schema.base import parse_split
from fabopt.schema.case import Case
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.operate import NameTemplates
from fabopt.units import first_of, grouped, some
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

    def ends(self, wiring: Wiring, side: str) -> Iterator[NamedPort]:
        """The port at one side (``a`` or ``b``) of every link of a wiring, without its address."""
        links = wiring.links
        keys = ("", "_nic", "_nic_port", "_cage", "_lane", "_lanes")
        columns = [getattr(links, f"{side}{key}").tolist() for key in keys]
        own_names: dict[tuple[str, str, int, int, int, int], OwnName] = {}
        for design_name, row, nic, nic_port, cage, lane, lanes in zip(
            getattr(wiring, f"{side}_port"), *columns, strict=True
        ):
            if self.is_host(row):
                name = self._hcas.get((nic, nic_port), design_name) if nic != NOTHING else design_name
                yield NamedPort(row, design_name, name, max(0, nic), nic_port - 1, 1, "")
                continue
            key = self.systems[row], self.devices[row].product, self._most_lanes[row], cage, lane, lanes
            if key not in own_names:
                own_names[key] = self._named(design_name, *key)
            own = own_names[key]
            yield NamedPort(row, design_name, own.name, cage, lane, lanes, "", own.alias)

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


_LONGEST = 63
_END = re.compile(r"(\d{1,15})$")
_SHOWN = 3


def templated_names(design: Design, wiring: Wiring) -> dict[str, str]:
    """The design's name of each device by its name under the case's templates, in small letters.

    Empty where the templates are the defaults, or cannot name the devices.
    """
    case, faults = Embedded(design).case, list[Fault]()
    if case.operate.names == NameTemplates() and not _names_in_service(case):
        return {}
    names = names_of(case, numbered_devices(design, wiring), faults)
    return {} if faults else {name.lower(): own for name, own in zip(names, wiring.devices.name, strict=True)}


def names_of(case: Case, devices: Sequence[Numbered], faults: list[Fault]) -> list[str]:
    """The name of every device; devices that a template cannot name, and names given twice, are added to ``faults``.

    Those of what is in service are those of the plan that it is run by.
    """
    names, unknown, live, operate = [], defaultdict(list), _names_in_service(case), case.operate
    for device in devices:
        template = str(getattr(operate.names, device.role))
        name, lacking = _filled_template(template, device, operate.site)
        if device.device in live:
            name, lacking = live[device.device], []
        names.append(name)
        for field in lacking:
            unknown[device.role, field].append(device.device)
    for (role, field), lacking_devices in unknown.items():
        problem = f"{some(len(lacking_devices), 'device')} have no {field}: {first_of(lacking_devices, _SHOWN)}"
        faults.append(fault(case.name, f"operate.names.{role}", problem, str(getattr(operate.names, role))))
    if not unknown:
        faults += _faults(case.name, names, devices)
    return names


def _names_in_service(case: Case) -> dict[str, str]:
    """Names of devices by those of the design, where a plan of what is in service says them."""
    base = case.live
    if base is None or base.design is None:
        return {}
    if base.plan is not None:
        return {device["device"]: device["name"] for device in base.plan["devices"]}
    return _names_in_service(Case.model_validate_json(json.dumps(base.design["case"]["content"])))


def _filled_template(template: str, device: Numbered, site: str) -> tuple[str, list[str]]:
    """A template filled in, and its fields that the device lacks."""
    if template == "{name}":
        return device.device, []
    number = _END.search(device.device)
    values: dict[str, str | int] = {
        "name": device.device, "site": site, "fabric": device.fabric, "role": device.role,
        "number": int(number[1]) if number else 1, "plane": device.plane, "pod": device.pod, "group": device.group,
        "rail": device.rail, "rack": device.rack, "unit": device.unit or -1,
    }  # fmt: skip
    lacking = [key for key, value in values.items() if value in ("", -1) and f"{{{key}" in template]
    return ("" if lacking else template.format(**values)), lacking


def _faults(case: str, names: Sequence[str], devices: Sequence[Numbered]) -> Iterator[Fault]:
    by_name = grouped((name.lower(), device.device) for name, device in zip(names, devices, strict=True))
    twice = {name: called for name, called in by_name.items() if len(called) > 1}
    if twice:
        name, called = next(iter(twice.items()))
        problem = f"{some(len(twice), 'name')} of {some(sum(map(len, twice.values())), 'device')} collide"
        yield fault(case, "operate.names", f"{problem}: {name} is {first_of(called, _SHOWN)}")
    long = [name for name in names if max(map(len, name.split("."))) > _LONGEST]
    if long:
        problem = f"{some(len(long), 'name')} have more than {_LONGEST} letters between dots"
        yield fault(case, "operate.names", problem, long[0])
