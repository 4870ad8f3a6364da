"""Fabrics as people write them down, drawn by seed, whole or with one known hole, in the forms that an audit reads."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import yaml

from fabopt.inspect.planned import PortName
from tests.samples.discoveries import discovery_text


class End(NamedTuple):
    """A port of a device."""

    device: str
    port: str


Link = tuple[End, End]


class Style(NamedTuple):
    """What people call servers, NICs, switches and ports of these."""

    server: str
    nic: str
    leaf: str
    spine: str
    core: str
    port: Callable[[int], str]


STYLES = (
    Style("dgx-{:03}", "mlx5_{}", "leaf-{:02}", "spine-{:02}", "core-{:02}", lambda port: f"swp{port + 1}"),
    Style("gpu{:02}", "eth{}", "su-leaf{}", "su-spine{}", "superspine{}", lambda port: f"Ethernet{port * 8}"),
    Style("node{:04}", "ib{}", "ib-leaf-{:02}", "ib-spine-{:02}", "ib-core-{:02}",
          lambda port: f"{port // 2 + 1}/{port % 2 + 1}"),
    Style("hgx-{}", "nic{}", "rack1-leaf-{}", "row1-spine-{}", "hall-core-{}", lambda port: f"et-0/0/{port}"),
    Style("server-{:02}", "enp{}s0", "tor{:02}-leaf", "agg{:02}-spine", "core{:02}",
          lambda port: f"Ethernet1/{port + 1}"),
)  # fmt: skip


@dataclass(frozen=True)
class HandFabric:
    """A fabric with rails. ``roles``: of every device; ``half``: ports of cables whose other end is missing.

    ``panels``: front ports of panels to their rear ports; ``products``: of devices, where they are said.
    """

    style: Style
    links: Sequence[Link]
    roles: Mapping[str, str]
    half: Sequence[End] = ()
    products: Mapping[str, str] = field(default_factory=dict)

    def of(self, role: str) -> list[str]:
        """Devices of a role."""
        return [name for name, own in self.roles.items() if own == role]

    def without(self, gone: Callable[[Link], bool]) -> HandFabric:
        """The fabric without some links; devices stay."""
        return replace(self, links=[link for link in self.links if not gone(link)])

    def free(self, device: str) -> End:
        """A port of a switch that no link has."""
        used = {end.port for link in self.links for end in link if end.device == device}
        return End(device, next(port for number in range(512) if (port := self.style.port(number)) not in used))


def drawn(seed: int, named: Style | None = None) -> HandFabric:
    """A whole fabric of two or three tiers: groups of servers with a leaf a rail, spines in pods, cores above."""
    chance = random.Random(seed)
    style = chance.choice(STYLES)
    style = named or style
    rails, group, groups = chance.choice([1, 2, 4, 8]), chance.choice([2, 4, 8]), chance.choice([2, 4])
    pods = chance.choice([1, 1, 2])
    spines, parallel = chance.choice([2, 4]), chance.choice([1, 2])
    ports: dict[str, int] = {}
    roles: dict[str, str] = {}
    links: list[Link] = []

    def switch(role: str, name: str) -> End:
        roles[name] = role
        ports[name] = ports.get(name, -1) + 1
        return End(name, style.port(ports[name]))

    for pod in range(pods):
        for own in range(groups):
            for place in range(group):
                server = style.server.format((pod * groups + own) * group + place + 1)
                roles[server] = "server"
                for rail in range(rails):
                    leaf = style.leaf.format((pod * groups + own) * rails + rail + 1)
                    links.append((End(server, style.nic.format(rail)), switch("leaf", leaf)))
        for leaf in range(groups * rails):
            for spine in range(spines):
                for _ in range(parallel):
                    near = switch("leaf", style.leaf.format(pod * groups * rails + leaf + 1))
                    links.append((near, switch("spine", style.spine.format(pod * spines + spine + 1))))
        for spine in range(spines if pods > 1 else 0):
            for core in range(2):
                near = switch("spine", style.spine.format(pod * spines + spine + 1))
                links.append((near, switch("core", style.core.format(core + 1))))
    return HandFabric(style, links, roles)


# -- forms ----------------------------------------------------------------------------------------------------------


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    stream = io.StringIO()
    csv.writer(stream).writerows([titles, *rows])
    return stream.getvalue()


def as_p2p(fabric: HandFabric) -> str:
    """A point-to-point sheet; a cable with one end has an empty far end."""
    kinds = {name: "Host" if role == "server" else "Switch" for name, role in fabric.roles.items()}
    rows = [[a.device, kinds[a.device], a.port, b.device, kinds[b.device], b.port] for a, b in fabric.links]
    rows += [[end.device, kinds[end.device], end.port, "", "", ""] for end in fabric.half]
    return _table(["A-Node Name", "A-Type", "A-Port", "Z-Node Name", "Z-Type", "Z-Port"], rows)


def as_dot(fabric: HandFabric) -> str:
    """A graph as programs that validate cabling read it."""
    about = {name: f', product="{product}"' for name, product in fabric.products.items()}
    nodes = [f'  "{name}" [function="{role}"{about.get(name, "")}];' for name, role in fabric.roles.items()]
    edges = [f'  "{a.device}":"{a.port}" -- "{b.device}":"{b.port}";' for a, b in fabric.links]
    return "\n".join(["graph fabric {", *nodes, *edges, "}"]) + "\n"


def as_hedgehog(fabric: HandFabric) -> str:
    """Objects of the Hedgehog fabric."""
    documents: list[dict[str, object]] = []
    for name, role in fabric.roles.items():
        kind = "Server" if role == "server" else "Switch"
        spec = {} if role == "server" else {"role": "server-leaf" if role == "leaf" else role,
                                            "profile": fabric.products.get(name, "")}  # fmt: skip
        documents.append({"kind": kind, "metadata": {"name": name}, "spec": spec})
    for number, (a, b) in enumerate(fabric.links):
        near, far = {"port": f"{a.device}/{a.port}"}, {"port": f"{b.device}/{b.port}"}
        link = {"server": near, "switch": far} if fabric.roles[a.device] == "server" else {"leaf": near, "spine": far}
        kind = "unbundled" if "server" in link else "fabric"
        spec = {kind: {"link": link} if kind == "unbundled" else {"links": [link]}}
        documents.append({"kind": "Connection", "metadata": {"name": f"c{number}"}, "spec": spec})
    return yaml.safe_dump_all(documents)


def as_clab(fabric: HandFabric) -> str:
    """A lab of containerlab."""
    nodes = {name: {"kind": "linux", "group": role} for name, role in fabric.roles.items()}
    links = [{"endpoints": [f"{a.device}:{a.port}", f"{b.device}:{b.port}"]} for a, b in fabric.links]
    return yaml.safe_dump({"name": "lab", "topology": {"nodes": nodes, "links": links}})


def as_topology(fabric: HandFabric) -> str:
    """An expected topology, each link of which both its ends name."""
    ends = [pair for link in fabric.links for pair in (link, link[::-1])]
    rows = [
        {"device": near.device, "interface": near.port, "role": fabric.roles[near.device],
         "peer": {"device": far.device, "interface": far.port}, "cable": {}}
        for near, far in ends
    ]  # fmt: skip
    return json.dumps({"topology": 1, "case": "by-hand", "interfaces": rows})


def as_netbox(fabric: HandFabric) -> str:
    """The table of cables that NetBox imports."""
    rows = [[a.device, "dcim.interface", a.port, b.device, "dcim.interface", b.port] for a, b in fabric.links]
    rows += [[end.device, "dcim.interface", end.port, "", "", ""] for end in fabric.half]
    titles = [f"side_{side}_{what}" for side in "ab" for what in ("device", "type", "name")]
    return _table(titles, rows)


def as_netbox_export(fabric: HandFabric) -> str:
    """The table of cables that NetBox exports."""
    rows = [[str(n), a.port, b.port, a.device, b.device, "Connected"] for n, (a, b) in enumerate(fabric.links)]
    rows += [[str(9000 + n), end.port, "", end.device, "", "Connected"] for n, end in enumerate(fabric.half)]
    return _table(["ID", "Termination A", "Termination B", "Device A", "Device B", "Status"], rows)


def lldp_files(fabric: HandFabric) -> dict[str, str]:
    """A file of ``lldpctl`` for every device, each with its ends of the links."""
    seen: dict[str, list[dict[str, object]]] = {}
    for link in fabric.links:
        for near, far in (link, link[::-1]):
            about = {
                "chassis": {far.device: {"id": {"type": "mac", "value": "00:11:22:33:44:55"}}},
                "port": {"id": {"type": "ifname", "value": far.port}},
            }
            seen.setdefault(near.device, []).append({near.port: about})
    return {device: json.dumps({"lldp": {"interface": ports}}) for device, ports in seen.items()}


def config_files(fabric: HandFabric) -> dict[str, str]:
    """A ``config_db.json`` of every switch."""
    files = {}
    for device in (name for name, role in fabric.roles.items() if role != "server"):
        ends = [pair for link in fabric.links for pair in (link, link[::-1]) if pair[0].device == device]
        hosts = {far.device for _, far in ends if fabric.roles[far.device] == "server"}
        about = {"hostname": device, "type": f"{fabric.roles[device].title()}Router"}
        files[device] = json.dumps({
            "DEVICE_METADATA": {"localhost": about},
            "PORT": {near.port: {"alias": near.port} for near, _ in ends},
            "DEVICE_NEIGHBOR": {near.port: {"name": far.device, "port": far.port} for near, far in ends},
            "DEVICE_NEIGHBOR_METADATA": {host: {"type": "Server"} for host in hosts},
        })  # fmt: skip
    return files


def as_ibnetdiscover(fabric: HandFabric) -> str:
    """What ``ibnetdiscover`` prints of the links; ports are numbered on each device."""
    numbers: dict[str, dict[str, int]] = {}
    for link in fabric.links:
        for end in link:
            own = numbers.setdefault(end.device, {})
            own.setdefault(end.port, len(own) + 1)

    def port(end: End) -> PortName:
        number = numbers[end.device][end.port]
        role = fabric.roles[end.device]
        return PortName(
            end.device if role == "server" else f"x-{role}-{end.device}",
            f"p{number}" if role == "server" else str(number),
        )

    return discovery_text([(port(a), port(b)) for a, b in fabric.links])


FORMS: Mapping[str, tuple[str, Callable[[HandFabric], str | dict[str, str]]]] = {
    "p2p": ("p2p", as_p2p), "dot": ("dot", as_dot), "hedgehog": ("hedgehog", as_hedgehog), "clab": ("clab", as_clab),
    "topology": ("topology", as_topology), "netbox": ("netbox", as_netbox),
    "netbox export": ("netbox", as_netbox_export), "lldp": ("lldp", lldp_files),
    "config_db": ("config_db", config_files), "ibnetdiscover": ("ibnetdiscover", as_ibnetdiscover),
}  # fmt: skip
