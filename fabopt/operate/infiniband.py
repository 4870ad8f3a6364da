"""Subnets of InfiniBand: networks of switches that share no link, and the routing engine of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from fabopt.errors import fault, refusal
from fabopt.inspect.ibnetdiscover import discovered
from fabopt.inspect.sightings import SeenEnd
from fabopt.io.faults import refuse_any
from fabopt.network.components import components
from fabopt.network.structure_links import tori_of
from fabopt.operate.model import SWITCHES, NamedDevice, NamedLink, NamedPort, OperationPlan
from fabopt.schema.design import Design, FabricDesign
from fabopt.units import first_of, grouped, sets, some
from fabopt.wiring.design_file import Embedded

# -- GUIDs of an InfiniBand fabric: made up from names until a discovery file has the real ones -----------------------


# Locally administered, so that no vendor's GUID is like them; the digits after it are of the name's hash.
MADE_UP = "02fab0"
_DIGITS = 16 - len(MADE_UP)
_SHOWN = 3
# A switch by its name; an adapter of a host by its name and its port.
Node = tuple[str, str]
NOBODY = SeenEnd("")


def made_up(nodes: Iterable[Node]) -> dict[Node, str]:
    """A GUID of sixteen digits for each node, by its name alone: the same at every stage, no two alike."""
    guids: dict[Node, str] = {}
    taken: set[str] = set()
    for node in nodes:
        text = "\n".join(node)
        while (guid := MADE_UP + sha256(text.encode()).hexdigest()[:_DIGITS]) in taken:
            text += "+"
        taken.add(guid)
        guids[node] = guid
    return guids


def nodes_of(plan: OperationPlan, links: Sequence[NamedLink]) -> list[Node]:
    """The switches and adapters of links, adapters first."""
    ends = [end for link in links for end in (link.a, link.b)]
    hosts = [(plan.device_at[end.device].device, end.port) for end in ends if not _is_switch(plan, end.device)]
    switches = [(plan.device_at[end.device].device, "") for end in ends if _is_switch(plan, end.device)]
    return list(dict.fromkeys([*hosts, *switches]))


def _is_switch(plan: OperationPlan, row: int) -> bool:
    return plan.device_at[row].role in SWITCHES


def discovered_guids(plan: OperationPlan, links: Sequence[NamedLink], text: str, file: str) -> dict[Node, str]:
    """The GUIDs seen by ``ibnetdiscover``: of switches by their names, of adapters by the switch port at their far end.

    ``InputError`` for nodes that it did not see, and for ports joined to a host of another name.
    """
    switches, joined = _discovered_nodes(text, file)
    guids: dict[Node, str] = {}
    lacking, other = [], []
    for link in links:
        for end, far in ((link.a, link.b), (link.b, link.a)):
            device, peer = plan.device_at[end.device], plan.device_at[far.device]
            if device.role in SWITCHES:
                guid = next((switches[name] for name in _announced_names(device) if name in switches), None)
                port = ""
            else:
                seen = next(
                    (joined[name, far.name] for name in _announced_names(peer) if (name, far.name) in joined), NOBODY
                )
                guid, port = seen.guid or None, end.port
                if guid and seen.device.lower() not in _announced_names(device):
                    other.append(f"{seen.device} is where {device.name} is to be, at {peer.name} {far.name}")
            if guid is None:
                lacking.append(device.name)
            else:
                guids[device.device, port] = guid
    _require(file, list(dict.fromkeys(lacking)), other)
    return guids


def _announced_names(device: NamedDevice) -> tuple[str, str]:
    """The names by which a device may announce itself, in small letters."""
    return device.name.lower(), device.device.lower()


def _discovered_nodes(text: str, file: str) -> tuple[dict[str, str], dict[tuple[str, str], SeenEnd]]:
    """GUIDs of switches by name, and the far end of each of their ports; names in small letters."""
    switches: dict[str, str] = {}
    joined: dict[tuple[str, str], SeenEnd] = {}
    for sighting in discovered(text, file).sightings:
        for near, far in ((sighting.near, sighting.far), (sighting.far, sighting.near)):
            if near.number is not None:
                switches[near.device.lower()] = near.node
                joined[near.device.lower(), str(near.number)] = far
    return switches, joined


def _require(file: str, lacking: Sequence[str], other: Sequence[str]) -> None:
    faults = []
    if lacking:
        problem = f"{some(len(lacking), 'device')} without a GUID there: {first_of(lacking, _SHOWN)}"
        faults.append(fault(file, "", problem, hint="`fabopt as-built` says what is cabled otherwise"))
    faults += [fault(file, "", problem) for problem in other[:_SHOWN]]
    refuse_any(faults)


# -- subnets of InfiniBand --------------------------------------------------------------------------------------------


TOPS = ("core", "spine")
# What torus-2QoS can route: rings of two or three dimensions.
_TORUS_DIMENSIONS = (2, 3)


class Adapter(NamedTuple):
    """A port of a host: its number, node description, GUID, and the switch port at its far end.

    ``number``: of the port, from 1, over all fabrics of InfiniBand.
    """

    host: NamedDevice
    port: NamedPort
    number: int
    description: str
    guid: str
    switch: NamedPort
    network: str


class Seed(NamedTuple):
    """The seed of a torus: its sides, and GUIDs of one switch and its neighbours up and down each dimension."""

    sides: tuple[int, ...]
    origin: str
    up: tuple[str, ...]
    down: tuple[str, ...]


@dataclass(frozen=True)
class Subnet:
    """A subnet. ``adapters``: hosts that manage come first. ``guids``: of switches, by row. ``is_real``: read from
    discovery.

    ``roots``: switches of its top tier; ``engine``: of OpenSM; ``seed``: of a torus.
    """

    name: str
    fabric: str
    switches: Sequence[NamedDevice]
    adapters: Sequence[Adapter]
    links: Sequence[NamedLink]
    guids: Mapping[int, str]
    is_real: bool
    engine: str
    roots: Sequence[NamedDevice]
    seed: Seed | None

    @property
    def hosts_above(self) -> bool:
        """Whether hosts are joined to switches above the leaves, so that compute adapters have to be named."""
        leaves = {device.row for device in self.switches if device.role == "leaf"}
        return any(adapter.switch.device not in leaves for adapter in self.adapters)


def subnets_of(design: Design, plan: OperationPlan, discovery: str | None) -> list[Subnet]:
    """All subnets of a design.

    ``InputError`` where it has none, or servers are joined to each other. ``discovery``: output of ``ibnetdiscover``,
    which then has every switch and adapter of the plan.
    """
    fabrics = [fabric for fabric in design.fabrics if fabric.protocol == "infiniband"]
    if not fabrics:
        called = ", ".join(fabric.name for fabric in design.fabrics)
        raise refusal(
            "--to opensm", "", f"OpenSM manages InfiniBand, and no fabric of this design is ({called}: ethernet)"
        )
    ringed = [fabric.name for fabric in fabrics if not fabric.structure.has_switches]
    if ringed:
        raise refusal(
            "--to opensm",
            "",
            f"the servers of {', '.join(ringed)} are joined to each other, and there is no switch to route",
        )
    return list(subnets_among(design, plan, fabrics, discovery))


def subnets_among(
    design: Design, plan: OperationPlan, fabrics: Sequence[FabricDesign], discovery: str | None
) -> Iterator[Subnet]:
    """The subnets of fabrics of InfiniBand that have switches; ``discovery`` as for ``subnets_of``."""
    names = {fabric.name for fabric in fabrics}
    links = [link for link in plan.links if link.fabric in names]
    guids = made_up(nodes_of(plan, links)) if discovery is None else discovered_guids(plan, links, discovery, "--guids")
    numbers = _numbers(plan, links)
    for fabric in fabrics:
        parts = _by_subnet(plan, [link for link in links if link.fabric == fabric.name])
        managing = {
            attachment.name
            for attachment in Embedded(design).wanted[fabric.name].attachments
            if attachment.kind == "management"
        }
        for number, part in enumerate(parts, 1):
            name = fabric.name if len(parts) == 1 else f"{fabric.name}-{number}"
            adapters = _adapters(plan, part, guids, numbers, managing)
            yield _subnet(plan, fabric, name, part, guids, adapters, discovery is not None)


def _subnet(
    plan: OperationPlan, fabric: FabricDesign, name: str, links: Sequence[NamedLink], guids: Mapping[Node, str],
    adapters: Sequence[Adapter], is_real: bool,
) -> Subnet:  # fmt: skip
    switches = [device for device in plan.at_ends(links) if device.role in SWITCHES and device.fabric == fabric.name]
    own = {device.row: guids[device.device, ""] for device in switches}
    roots = next((top for role in TOPS if (top := [device for device in switches if device.role == role])), [])
    seed = _seed(fabric, [own[device.row] for device in switches])
    return Subnet(name, fabric.name, switches, adapters, links, own, is_real, _engine(fabric, switches, seed),
                  roots if fabric.structure.kind == "clos" else [], seed)  # fmt: skip


def _engine(fabric: FabricDesign, switches: Sequence[NamedDevice], seed: Seed | None) -> str:
    """The routing engine of OpenSM by topology: none that leaves a loop of credits.

    Paths of least hops do in every network but a tree; between one switch's ports there are no others.
    """
    if len(switches) == 1:
        return "minhop"
    if fabric.structure.kind == "clos":
        return "ftree"
    return "torus-2QoS" if seed is not None else "dfsssp"


def _seed(fabric: FabricDesign, guids: Sequence[str]) -> Seed | None:
    for torus in tori_of(fabric.structure):
        sides = tuple(int(side) for side in torus.sides)
        if len(sides) in _TORUS_DIMENSIONS and len(guids) == torus.switches and min(sides) > 1:
            by_place = {tuple(place): guid for place, guid in zip(torus.coordinates.tolist(), guids, strict=True)}
            origin = (0,) * len(sides)
            up = tuple(by_place[_moved(origin, dimension, 1)] for dimension in range(len(sides)))
            down = tuple(by_place[_moved(origin, dimension, side - 1)] for dimension, side in enumerate(sides))
            return Seed(sides, by_place[origin], up, down)
    return None


def _moved(place: tuple[int, ...], dimension: int, steps: int) -> tuple[int, ...]:
    return (*place[:dimension], place[dimension] + steps, *place[dimension + 1 :])


def _by_subnet(plan: OperationPlan, links: Sequence[NamedLink]) -> list[list[NamedLink]]:
    """Links by connected network of switches."""
    between = [link for link in links if plan.device_at[link.a.device].role in SWITCHES]
    first = components(sorted(plan.device_at), ((link.a.device, link.b.device) for link in between))
    parts = grouped((first[link.b.device], link) for link in links)
    return [parts[key] for key in sorted(parts)]


def _numbers(plan: OperationPlan, links: Sequence[NamedLink]) -> dict[Node, int]:
    """Numbers of the ports of hosts, from 1, NIC by NIC."""
    ports = sets(
        (end.device, (end.cage, end.lane, end.port))
        for link in links
        for end in (link.a, link.b)
        if plan.device_at[end.device].role not in SWITCHES
    )
    return {
        (plan.device_at[row].device, port): number
        for row, own in ports.items() for number, (_, _, port) in enumerate(sorted(own), 1)
    }  # fmt: skip


def _adapters(
    plan: OperationPlan, links: Sequence[NamedLink], guids: Mapping[Node, str], numbers: Mapping[Node, int],
    managing: set[str],
) -> list[Adapter]:  # fmt: skip
    adapters = []
    for link in links:
        device = plan.device_at[link.a.device]
        if device.role not in SWITCHES:
            node = device.device, link.a.port
            description = f"{device.name} {f'HCA-{numbers[node]}' if link.a.name == link.a.port else link.a.name}"
            adapters.append(Adapter(device, link.a, numbers[node], description, guids[node], link.b, link.network))
    return sorted(adapters, key=lambda adapter: adapter.host.product not in managing)
