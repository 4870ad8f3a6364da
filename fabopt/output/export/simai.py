"""A topology for SimAI: every GPU with its NVSwitch and its NIC's leaf, switches, every link.

The first line has nodes, GPUs of an NVLink domain, NVSwitches, switches, links and the kind of GPU; the second the
numbers of NVSwitches and switches (aliyun/SimAI, ``inputs/topo/gen_Topo_Template.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabopt.errors import refusal
from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.simulated import SimulatedFabric, link_line, simulated_fabrics
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.schema.server import Server
from fabopt.units import some
from fabopt.wiring.design_file import Embedded

FOLDER = "simai"
OWN_FILES = r"[^/]*(\.topo|-nodes\.csv)"
# Kinds of GPUs that SimAI knows, and how long a signal takes to an NVSwitch in its own topologies.
KINDS = ("A100", "A800", "H100", "H800", "H20")
NVLINK_MS = "0.000025ms"


@dataclass(frozen=True)
class _Nodes:
    """Numbers: GPUs server by server from 0, then an NVSwitch for each domain, then switches."""

    server: Server
    fabric: SimulatedFabric

    @property
    def gpus(self) -> int:
        return len(self.fabric.servers) * self.server.gpus

    @property
    def domains(self) -> int:
        return self.gpus // self.domain_gpus

    @property
    def domain_gpus(self) -> int:
        assert self.server.scale_up is not None
        return self.server.scale_up.domain_gpus

    @property
    def switches(self) -> Mapping[int, int]:
        first = self.gpus + self.domains
        return {device.row: first + index for index, device in enumerate(self.fabric.switches)}


def files_of(asked: Exported) -> Files:
    """Return for each compute fabric ``FABRIC.topo`` and ``FABRIC-nodes.csv``; ``InputError`` for a fabric the format
    cannot hold.
    """
    server = Embedded(asked.design).server
    files: dict[str, Content] = {}
    for fabric in simulated_fabrics(asked.design, asked.plan, FOLDER):
        _require(fabric, server)
        name, nodes = fabric.fabric.name, _Nodes(server, fabric)
        files[f"{name}.topo"] = topology_lines(nodes)
        files[f"{name}-nodes.csv"] = csv_bytes(("node", "device", "part"), _rows(nodes))
    return files


def _require(fabric: SimulatedFabric, server: Server) -> None:
    """Refuse fabrics and servers that the format has no words for."""
    nics = fabric.fabric.nic.per_server
    problem = ""
    if server.scale_up is None:
        problem = f"SimAI joins the GPUs of a server by NVLink, and the catalog knows none of {server.id}"
    elif any(fabric.roles[link.b.device] == "server" for link in fabric.links):
        problem = f"SimAI joins GPUs to switches, and the servers of {fabric.fabric.name} are joined to each other"
    elif len(fabric.servers) * server.gpus % server.scale_up.domain_gpus:
        whole = some(server.scale_up.domain_gpus, "GPU")
        problem = (
            f"SimAI takes whole domains of NVLink ({whole}), and {some(len(fabric.servers), 'server')} do not fill them"
        )
    elif nics % server.gpus:
        problem = f"SimAI gives each GPU NICs of its own, and {some(server.gpus, 'GPU')} share {some(nics, 'NIC')}"
    if problem:
        raise refusal("--to simai", "", problem)


def topology_lines(nodes: _Nodes) -> Iterator[str]:
    """Yield the head, the numbers of switches, the links of NVLink, and those of the fabric without attachments."""
    assert nodes.server.scale_up is not None
    links = nodes.fabric.own_links
    switches, own = nodes.switches, nodes.server.gpus
    total = nodes.gpus + nodes.domains + len(switches)
    kind = next((kind for kind in KINDS if kind.lower() in nodes.server.id.split("-")), "NONE")
    yield f"{total} {nodes.domain_gpus} {nodes.domains} {len(switches)} {nodes.gpus + len(links)} {kind}"
    yield " ".join(map(str, range(nodes.gpus, total)))
    for gpu in range(nodes.gpus):
        speed = f"{nodes.server.scale_up.gbps_per_gpu:g}Gbps"
        yield f"{gpu} {nodes.gpus + gpu // nodes.domain_gpus} {speed} {NVLINK_MS} 0"
    place = {device.row: index * own for index, device in enumerate(nodes.fabric.servers)}
    first = min((link.a.cage for link in links if link.a.device in place), default=1)
    shared = nodes.fabric.fabric.nic.per_server // own
    for link in links:
        near = switches.get(link.a.device)
        if near is None:
            near = place[link.a.device] + (link.a.cage - first) // shared
        yield link_line(near, switches[link.b.device], link)


def _rows(nodes: _Nodes) -> Iterator[tuple[object, ...]]:
    """Names and roles by node number; attachments have no number, as the topology leaves them out."""
    own = nodes.server.gpus
    for index, device in enumerate(nodes.fabric.servers):
        yield from ((index * own + gpu, device.name, f"gpu {gpu}") for gpu in range(own))
    yield from ((nodes.gpus + domain, "", f"nvswitch {domain + 1}") for domain in range(nodes.domains))
    yield from ((nodes.switches[device.row], device.name, device.role) for device in nodes.fabric.switches)
    yield from (("", device.name, "left out: no GPU") for device in nodes.fabric.attachments)
