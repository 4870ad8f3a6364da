"""Topology files of ibdiagnet and its kin: the links of a subnet, and each kind of system that they join.

Formats: ibdm-topo-file(1) and ibdm-ibnl-file(1) of ibutils. A host is named after the first word of its adapters' node
description, an adapter ``Un`` after the number of ``HCA-n``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from fabopt.operate.infiniband import Adapter, Subnet
from fabopt.operate.model import SWITCHES, NamedDevice, NamedPort, OperationPlan
from fabopt.output.export.ends import part_text
from fabopt.output.export.opensm import ports_of
from fabopt.schema.design import Design

# Devices as the shipped definitions of Mellanox's systems name them; a program reads only that there is one.
_SWITCH_CHIP, _ADAPTER_CHIP = "MT54002", "MT4129"
_UNFIT = re.compile(r"[^A-Za-z0-9]+")


def system_name(design: Design, device: NamedDevice) -> str:
    """Name of a device's system type: its part number, else its id, in letters and digits."""
    name = _UNFIT.sub("", part_text(design, device.product, "part_number") or device.product)
    return name if name[:1].isalpha() else f"X{name}"


def topo_lines(design: Design, plan: OperationPlan, subnet: Subnet) -> Iterator[str]:
    """Yield a section for each switch, with all ports joined to it; links between switches are in the first one's."""
    rows: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for adapter in subnet.adapters:
        far = f"{system_name(design, adapter.host)} {adapter.host.name} P{adapter.number}"
        rows[adapter.switch.device].append((int(adapter.switch.name), far))
    for link in subnet.links:
        if plan.device_at[link.a.device].role in SWITCHES:
            rows[link.a.device].append((int(link.a.name), _far(design, plan, link.b)))
    for device in subnet.switches:
        yield f"{system_name(design, device)} {device.name}"
        yield from (f"   P{number} -> {far}" for number, far in sorted(rows[device.row]))
        yield ""


def _far(design: Design, plan: OperationPlan, port: NamedPort) -> str:
    device = plan.device_at[port.device]
    return f"{system_name(design, device)} {device.name} P{port.name}"


def system_files(design: Design, subnets: Sequence[Subnet]) -> dict[str, list[str]]:
    """The definition of every kind of system in subnets, by the name of its file."""
    switches = {device.product: device for subnet in subnets for device in subnet.switches}
    adapters: dict[str, Adapter] = {}
    for adapter in (adapter for subnet in subnets for adapter in subnet.adapters):
        known = adapters.get(adapter.host.product)
        if known is None or known.number < adapter.number:
            adapters[adapter.host.product] = adapter
    files = {}
    for product, device in switches.items():
        ports = range(1, ports_of(design, product) + 1)
        lines = [f"NODE SW {len(ports)} {_SWITCH_CHIP} U1", *(f"   {port} -> P{port}" for port in ports)]
        files[system_name(design, device)] = lines
    for adapter in adapters.values():
        nodes = ([f"NODE CA 1 {_ADAPTER_CHIP} U{n}", f"   1 -> P{n}"] for n in range(1, adapter.number + 1))
        files[system_name(design, adapter.host)] = [line for node in nodes for line in (*node, "")]
    return {f"{name}.ibnl": [f"TOPSYSTEM {name}", "", *lines] for name, lines in files.items()}
