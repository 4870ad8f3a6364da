"""Topology of NVIDIA's Launch Kit for Kubernetes: the links of hosts to leaves by plane, rail, unit and pod.

The kit gives each host an address a rail, or a rail and plane, by what the file says of its link. Source:
github.com/NVIDIA/k8s-launch-kit, its pages user/spectrum-x and reference/configuration (2026-10), and what
``pkg/networkoperatorplugin/spectrumx/addressing.go`` asks of a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from fabopt.errors import refusal
from fabopt.operate.model import OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.lines import json_rows
from fabopt.output.export.simulated import SimulatedFabric, simulated_fabrics
from fabopt.schema.catalog import Nic
from fabopt.schema.design import Design
from fabopt.schema.structure import Structure
from fabopt.units import sets, some
from fabopt.wiring.design_file import Embedded, networks_of

FOLDER = "launch-kit"
OWN_FILES = r"[^/]*(-topology\.json|-profile\.yaml)"
MAKER: Final = "NVIDIA"
SCHEMES: Final = {2: "2-tier", 3: "3-tier"}
# Numbers of planes that ``numberOfPlanes`` takes.
PLANES: Final = (1, 2, 4)
# Most of each that has room in an address: of IPv4 by scheme, of planes routed apart; of IPv6 bytes.
_FIELDS: Final = ("rail", "pod", "su", "host")
_IPV4: Final = {"2-tier": (8, 1, 64, 128), "3-tier": (8, 32, 64, 128)}
_IPV6: Final = {"2-tier": (256, 1, 256, 256), "3-tier": (256, 256, 256, 256)}


class LaunchKitError(Exception):
    """Why the kit cannot be told of a fabric."""


class HostLink(NamedTuple):
    """A link of a host to a leaf, with its interfaces; numbers from 0."""

    host: str
    leaf: str
    host_port: str
    leaf_port: str
    plane: int
    rail: int
    unit: int
    pod: int


def files_of(asked: Exported) -> Files:
    """Return ``FABRIC-topology.json`` and ``FABRIC-profile.yaml`` of each compute fabric into ``launch-kit``.

    ``InputError`` for a fabric that the kit has no words or addresses for.
    """
    design, plan = asked.design, asked.plan
    files: dict[str, Iterator[str]] = {}
    for fabric in simulated_fabrics(design, plan, FOLDER):
        name = fabric.fabric.name
        try:
            planes, scheme = _planes(design, fabric), _scheme(fabric)
            links = list(_host_links(fabric, planes, scheme))
            version = ip_version(links, scheme)
        except LaunchKitError as error:
            raise refusal(f"--to {FOLDER}", "", f"{name} cannot be said to the kit: {error}") from None
        files[f"{name}-topology.json"] = topology_lines(fabric, links)
        files[f"{name}-profile.yaml"] = profile_lines(plan, name, links, (planes, scheme, version))
    return files


def topology_lines(fabric: SimulatedFabric, links: Sequence[HostLink]) -> Iterator[str]:
    """Yield the topology, a node or a link a line: hosts and leaves, as the kit reads no other links."""
    systems = {device.name: device.system for device in fabric.switches}
    nodes = [{"name": name, "role": "host", "type": "default"} for name in dict.fromkeys(link.host for link in links)]
    nodes += [{"name": name, "role": "leaf", "type": systems[name]} for name in sorted({link.leaf for link in links})]
    rails = sets((link.leaf, link.rail) for link in links)
    yield '{"nodes": ['
    yield from json_rows(nodes)
    yield '], "links": ['
    yield from json_rows([_ends(link, sorted(rails[link.leaf])) for link in links])
    yield "]}"


def _ends(link: HostLink, rails: Sequence[int]) -> list[object]:
    place = {"pod": link.pod, "su": link.unit}
    leaf = {"role": "leaf", "plane": link.plane, **place, "rail_group": rails}
    return [
        {"node": link.leaf, "interface": link.leaf_port, "attributes": leaf},
        {"node": link.host, "interface": link.host_port, "attributes": {"role": "host", "rail": link.rail, **place}},
    ]


def profile_lines(
    plan: OperationPlan, name: str, links: Sequence[HostLink], said: tuple[int, str, str]
) -> Iterator[str]:
    """Yield the values of ``profile`` in the kit's ``cluster-config.yaml`` that go with the topology."""
    planes, scheme, version = said
    units, rails = len({(link.pod, link.unit) for link in links}), len({link.rail for link in links})
    yield f"# {plan.case}, fabric {name}, stage {plan.stage}: {some(planes, 'plane')}, {some(rails, 'rail')} a host,"
    yield f"# {some(units, 'unit')} (su: servers on the same leaves). Values for `profile` of cluster-config.yaml."
    yield "# Nodes of Kubernetes have to have the names of its hosts. Spines are left out: the kit asks for none."
    yield "profile:"
    yield from ("  fabric: ethernet", f"  multirail: {str(rails > 1).lower()}", "  spectrumX:", "    enable: true")
    mode = "none" if planes == 1 else "swplb"
    yield f"    multiplaneMode: {mode}{'  # or hwplb' * (planes > 1)}"
    yield from (f"    numberOfPlanes: {planes}", f"    topologyType: {scheme}", f"    ipVersion: {version}")
    yield f"    topologyFile: ./{name}-topology.json"


# -- what the kit takes ---------------------------------------------------------------------------------------------


def _planes(design: Design, fabric: SimulatedFabric) -> int:
    """Planes of a NIC, where the kit knows as many: planes that are rails are one."""
    designed, embedded = fabric.fabric, Embedded(design)
    wanted = next(one for one in embedded.case.fabrics if one.name == designed.name)
    vendor = embedded.part(designed.nic.id, Nic).vendor
    if designed.protocol != "ethernet":
        raise LaunchKitError("its topologies are of Ethernet, and this is InfiniBand")
    if vendor not in (None, MAKER):
        raise LaunchKitError(f"it sets up NICs of {MAKER}, and {designed.nic.id} is of {vendor}")
    apart = networks_of(designed, wanted).apart and designed.topology != "rail-only"
    planes = 1 if apart else designed.planes
    if planes not in PLANES:
        raise LaunchKitError(f"it takes 1, 2 or 4 planes, and there are {planes}")
    if designed.nic.ports_per_nic != planes:
        ports = designed.nic.ports_per_nic // planes
        raise LaunchKitError(f"it gives a NIC one address a plane, and there are {ports} ports in each")
    return planes


def _scheme(fabric: SimulatedFabric) -> str:
    structure, tiers = fabric.fabric.structure, len(fabric.fabric.tiers)
    if not isinstance(structure, Structure) or tiers not in SCHEMES:
        raise LaunchKitError("its schemes are of two and three tiers of leaves, spines and cores")
    if structure.pod_of == "rail" and tiers > 2:
        raise LaunchKitError("a host is in one pod of its scheme, and pods are of one rail each")
    return SCHEMES[tiers]


def _host_links(fabric: SimulatedFabric, planes: int, scheme: str) -> Iterator[HostLink]:
    """Links of servers in the order of the design, with numbers from 0; rails count the NICs of the fabric."""
    devices = {device.row: device for device in (*fabric.servers, *fabric.switches)}
    of_servers = [
        (link, devices[link.a.device], devices[link.b.device])
        for link in fabric.links
        if link.network == fabric.fabric.name and fabric.roles[link.a.device] == "server"
    ]
    rails = {nic: rail for rail, nic in enumerate(sorted({link.a.cage for link, _, _ in of_servers}))}
    pods = {pod: number for number, pod in enumerate(sorted({leaf.pod for _, _, leaf in of_servers}))}
    units: dict[int, dict[int, int]] = {}
    for pod, group in sorted({(leaf.pod, leaf.group) for _, _, leaf in of_servers}):
        of_pod = units.setdefault(pod if scheme == SCHEMES[3] else 0, {})
        of_pod[group] = len(of_pod)
    for link, server, leaf in of_servers:
        plane, rail = max(0, leaf.plane - 1) if planes > 1 else 0, rails[link.a.cage]
        in_pods = scheme == SCHEMES[3]
        port = f"eth_r{rail}" + f"_p{plane}" * (planes > 1)
        yield HostLink(
                server.name.lower(), leaf.name, port, link.b.name, plane, rail,
                units[leaf.pod if in_pods else 0][leaf.group], pods[leaf.pod] if in_pods else 0,
            )  # fmt: skip


def ip_version(links: Sequence[HostLink], scheme: str) -> str:
    """The first version whose addresses have room for all numbers."""
    hosts = sets(((link.pod, link.unit), link.host) for link in links)
    numbers = (
        1 + max(link.rail for link in links), 1 + max(link.pod for link in links),
        1 + max(link.unit for link in links), max(map(len, hosts.values())),
    )  # fmt: skip
    for version, rooms in (("ipv4", _IPV4), ("ipv6", _IPV6)):
        if all(number <= room for number, room in zip(numbers, rooms[scheme], strict=True)):
            return version
    field, number, room = next(
        (field, number, room)
        for field, number, room in zip(_FIELDS, numbers, _IPV6[scheme], strict=True)
        if number > room
    )
    words = {"rail": "rails", "pod": "pods", "su": "units of servers", "host": "servers in a unit"}[field]
    raise LaunchKitError(f"its addresses have room for {room} {words}, and there are {number}")
