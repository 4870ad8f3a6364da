"""The topology for programs that check cabling: ibdiagnet, UFM, PTM; and as JSON with a published schema."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from fabopt.operate.infiniband import Adapter, Subnet, subnets_among
from fabopt.operate.model import SWITCHES, NamedDevice, NamedLink, NamedPort, OperationPlan
from fabopt.output.export.cables import POINT_TO_POINT_COLUMNS
from fabopt.output.export.dot import quoted
from fabopt.output.export.ends import part_text
from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.lines import json_rows
from fabopt.output.export.opensm import ports_of
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.schema.design import Design
from fabopt.schema.expected import EXPECTED_FORMAT

FOLDER = "topo"
OWN_FILES = r"[^/]*\.topo|ibnl/[^/]*\.ibnl|topology\.dot|expected-topology\.json|point-to-point\.csv|hca-mapping\.csv"
EXPECTED, DOT = "expected-topology.json", "topology.dot"
POINTS, ADAPTERS = "point-to-point.csv", "hca-mapping.csv"


def files_of(asked: Exported) -> Files:
    """Return ``topo/``: the JSON; of InfiniBand a file a subnet and UFM's tables; of Ethernet ``topology.dot``."""
    design, plan = asked.design, asked.plan
    files: dict[str, Content] = {EXPECTED: expected_lines(plan)}
    ethernet = {network.name for network in plan.networks if network.protocol == "ethernet"}
    if ethernet:
        files[DOT] = dot_lines(plan, [link for link in plan.links if link.network in ethernet])
    switched = [
        fabric for fabric in design.fabrics if fabric.protocol == "infiniband" and fabric.structure.has_switches
    ]
    if switched:
        subnets = list(subnets_among(design, plan, switched, None))
        files |= {f"{subnet.name}.topo": topo_lines(design, plan, subnet) for subnet in subnets}
        files |= {f"ibnl/{name}": lines for name, lines in system_files(design, subnets).items()}
        files[POINTS] = _points(plan, subnets)
        if names := _names(subnets):
            files[ADAPTERS] = csv_bytes(("port", "hca-name"), sorted(names.items()))
    return files


# -- JSON -----------------------------------------------------------------------------------------------------------


def expected_lines(plan: OperationPlan) -> Iterator[str]:
    """Yield the expected topology, a line for each port in use."""
    head = {"topology": EXPECTED_FORMAT, "case": plan.case, "sha256": plan.sha256, "stage": plan.stage}
    yield "{"
    yield from (f"{json.dumps(key)}: {json.dumps(value)}," for key, value in head.items())
    yield '"interfaces": ['
    rows = [_interface(plan, port, link) for ports in plan.ports_at.values() for port, link in ports]
    yield from json_rows(rows)
    yield "]}"


def _interface(plan: OperationPlan, port: NamedPort, link: NamedLink) -> dict[str, object]:
    device, other = plan.device_at[port.device], plan.other(port, link)
    rails = [rail for end in (link.a, link.b) if (rail := plan.device_at[end.device].rail) > 0]
    cable = {"label": link.cable, "medium": link.medium, "length_m": link.length_m} if link.length_m else None
    return {
        "device": device.name, "interface": port.name, "role": device.role, "fabric": link.fabric,
        "network": link.network, "rail": rails[0] if rails else None, "speed_gbps": link.gbps,
        "peer": {"device": plan.device_at[other.device].name, "interface": other.name}, "cable": cable,
    }  # fmt: skip


# -- PTM ------------------------------------------------------------------------------------------------------------


def dot_lines(plan: OperationPlan, links: Iterable[NamedLink]) -> Iterator[str]:
    """Yield links as Cumulus' PTM compares them with LLDP's neighbours: by names of hosts and interfaces."""
    yield "graph network {"
    yield '  LLDP="match_type=ifname, match_hostname=hostname";'
    for link in links:
        far, near = ((quoted(plan.device_at[end.device].name), quoted(end.name)) for end in (link.b, link.a))
        yield f"  {far[0]}:{far[1]} -- {near[0]}:{near[1]};"
    yield "}"


# -- UFM ------------------------------------------------------------------------------------------------------------


def _points(plan: OperationPlan, subnets: Iterable[Subnet]) -> bytes:
    """Return the links of InfiniBand as UFM's cable validation takes them; ports of hosts are numbers of adapters."""
    rows: list[tuple[object, ...]] = []
    for subnet in subnets:
        for adapter in subnet.adapters:
            rows.append((adapter.host.name, "Host", adapter.number, *_switch(plan, adapter.switch)))
        for link in subnet.links:
            if plan.device_at[link.a.device].role in SWITCHES:
                rows.append((*_switch(plan, link.a), *_switch(plan, link.b)))
    return csv_bytes(POINT_TO_POINT_COLUMNS, rows)


def _switch(plan: OperationPlan, port: NamedPort) -> tuple[str, str, str]:
    return plan.device_at[port.device].name, "Switch", port.port


def _names(subnets: Iterable[Subnet]) -> dict[int, str]:
    """Names of servers' adapters by their numbers, where they are known; all servers are alike."""
    adapters = [adapter for subnet in subnets for adapter in subnet.adapters if adapter.host.role == "server"]
    return {adapter.number: adapter.port.name for adapter in adapters if adapter.port.name != adapter.port.port}


# -- topology files of ibdiagnet and its kin --------------------------------------------------------------------------
# Topology files of ibdiagnet and its kin: the links of a subnet, and each kind of system that they join.
#
# Formats: ibdm-topo-file(1) and ibdm-ibnl-file(1) of ibutils. A host is named after the first word of its adapters'
# node description, an adapter ``Un`` after the number of ``HCA-n``.


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
