"""Files for OpenSM, the subnet manager: routing and partitions of each subnet; and the fabric for ibsim."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fabopt.operate.infiniband import Adapter, Subnet, subnets_of
from fabopt.operate.model import NamedPort, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded

FOLDER = "opensm"
NET, ROOTS, PARTITIONS, CONF, NAMES = "net.txt", "root_guids.txt", "partitions.conf", "opensm.conf", "node_names.txt"
TORUS, COMPUTE = "torus-2QoS.conf", "cn_guids.txt"
OWN_FILES = rf"([^/]+/)?({'|'.join(map(re.escape, (NET, ROOTS, PARTITIONS, CONF, NAMES, TORUS, COMPUTE)))})"
_DEFAULT_KEY, _FIRST_KEY = 0x7FFF, 0x0001
# Parallel links, or hosts of a switch, that torus-2QoS takes unless it is told otherwise.
_TORUS_PORTS = 16


def files_of(asked: Exported) -> Files:
    """Return ``opensm/``; where there are several subnets, a folder for each in it."""
    design, plan = asked.design, asked.plan
    subnets = subnets_of(design, plan, asked.options.discovery)
    return {
        f"{subnet.name}/{name}" if len(subnets) > 1 else name: lines
        for subnet in subnets
        for name, lines in subnet_files(design, plan, subnet).items()
    }


def subnet_files(design: Design, plan: OperationPlan, subnet: Subnet) -> dict[str, Iterable[str]]:
    """The lines of each file of a subnet, by its name."""
    files: dict[str, Iterable[str]] = {
        NET: _net(design, subnet),
        ROOTS: [_number(subnet.guids[device.row]) for device in subnet.roots],
        PARTITIONS: _partitions(plan, subnet),
        CONF: _conf(plan, subnet),
        NAMES: _names(subnet),
    }
    if subnet.engine == "torus-2QoS":
        files[TORUS] = _torus(subnet)
    if subnet.hosts_above:
        files[COMPUTE] = [_number(adapter.guid) for adapter in subnet.adapters if adapter.host.role == "server"]
    return files


def _number(guid: str) -> str:
    return f"0x{guid}"


def _origin(subnet: Subnet) -> str:
    """Where the GUIDs come from, as a comment."""
    if subnet.is_real:
        return "# GUIDs as ibnetdiscover saw them."
    return "# GUIDs are made up from the names: write the files again with --guids and the output of ibnetdiscover."


def _conf(plan: OperationPlan, subnet: Subnet) -> Iterator[str]:
    yield f"# OpenSM for the subnet {subnet.name} of {plan.case}, stage {plan.stage}: opensm --config {CONF}"
    yield _origin(subnet)
    yield f"routing_engine {subnet.engine}"
    if subnet.engine == "ftree":
        yield f"root_guid_file {ROOTS}"
        if subnet.hosts_above:
            yield f"cn_guid_file {COMPUTE}"
    if subnet.engine == "torus-2QoS":
        yield f"torus_config {TORUS}"
        yield "qos TRUE"
    yield f"partition_config_file {PARTITIONS}"
    yield f"node_name_map_name {NAMES}"
    yield "# Adaptive routing and SHARP are of NVIDIA's own subnet manager; nothing here can prove these lines:"
    if subnet.engine == "ftree":
        yield "# routing_engine ar_updn"
    yield "# sharp_enabled 2"


def _partitions(plan: OperationPlan, subnet: Subnet) -> Iterator[str]:
    yield _origin(subnet)
    yield f"Default=0x{_DEFAULT_KEY:04x}, ipoib, defmember=full : ALL, ALL_SWITCHES=full, SELF=full;"
    members = grouped((adapter.network, _number(adapter.guid)) for adapter in subnet.adapters)
    names = [network.name for network in plan.networks]
    for network, guids in members.items():
        key = _FIRST_KEY + names.index(network)
        yield f"{network}=0x{key:04x}, ipoib, defmember=full :"
        yield from (f"  {guid}," for guid in guids[:-1])
        yield f"  {guids[-1]};"


def _names(subnet: Subnet) -> Iterator[str]:
    yield from (f'{_number(subnet.guids[device.row])} "{device.name}"' for device in subnet.switches)
    yield from (f'{_number(adapter.guid)} "{adapter.description}"' for adapter in subnet.adapters)


def _torus(subnet: Subnet) -> Iterator[str]:
    assert subnet.seed is not None
    seed = subnet.seed
    yield _origin(subnet)
    sides = [f"{side}{'m' if side == 2 else ''}" for side in seed.sides]
    yield " ".join(["torus", *sides, *["1"] * (3 - len(sides))])
    for axis, side, up, down in zip("xyz", seed.sides, seed.up, seed.down, strict=False):
        yield f"{axis}p_link {_number(seed.origin)} {_number(up)}"
        if side > 2:
            yield f"{axis}m_link {_number(seed.origin)} {_number(down)}"
        yield f"{axis}_dateline 0"
    most = max(_hosts(subnet))
    if most > _TORUS_PORTS:
        yield f"portgroup_max_ports {most}"


def _hosts(subnet: Subnet) -> Iterator[int]:
    rows = [adapter.switch.device for adapter in subnet.adapters]
    yield from (rows.count(device.row) for device in subnet.switches)


def _net(design: Design, subnet: Subnet) -> Iterator[str]:
    """The fabric as ibsim reads it: the subnet manager sits at the first adapter."""
    yield _origin(subnet)
    yield ""
    for adapter in subnet.adapters:
        yield from _adapter(subnet, adapter)
    joined: dict[int, list[tuple[int, str]]] = {device.row: [] for device in subnet.switches}
    for adapter in subnet.adapters:
        joined[adapter.switch.device].append((int(adapter.switch.name), f'"H-{adapter.guid}"[1]'))
    for link in subnet.links:
        if link.a.device in joined:
            for end, far in ((link.a, link.b), (link.b, link.a)):
                joined[end.device].append((int(end.name), _port(subnet, far)))
    for device in subnet.switches:
        guid = subnet.guids[device.row]
        yield f"switchguid=0x{guid}(0x{guid})"
        ports = max(ports_of(design, device.product), *(number for number, _ in joined[device.row]))
        yield f'Switch\t{ports} "S-{guid}"\t\t# "{device.name}" base port 0 lid 0 lmc 0'
        yield from (f"[{number}]\t{peer}" for number, peer in sorted(joined[device.row]))
        yield ""


def _adapter(subnet: Subnet, adapter: Adapter) -> Iterator[str]:
    guid = adapter.guid
    yield from ("vendid=0x2c9", "devid=0x1021", f"sysimgguid=0x{guid}", f"caguid=0x{guid}")
    yield f'Ca\t1 "H-{guid}"\t\t# "{adapter.description}"'
    yield f"[1](0x{guid})\t{_port(subnet, adapter.switch)}"
    yield ""


def _port(subnet: Subnet, port: NamedPort) -> str:
    return f'"S-{subnet.guids[port.device]}"[{port.name}]'


def ports_of(design: Design, product: str) -> int:
    """Ports of a switch of InfiniBand, as the switch numbers them."""
    cages = Embedded(design).part(product, Switch).cages
    return sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in cages)
