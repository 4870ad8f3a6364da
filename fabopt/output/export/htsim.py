"""A fat tree for htsim: leaves alike, each with as many links to every spine of its pod.

Keys and what fits together are those of Broadcom/csg-htsim, ``sim/datacenter/fat_tree_topology.cpp``: a node has one
port, so every port of a server is a node; all links below a tier are of one speed and one latency; ratios are whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabopt.errors import refusal
from fabopt.operate.model import NamedLink, OperationPlan
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.simulated import NS_PER_METRE, SimulatedFabric, simulated_fabrics
from fabopt.units import sets, some

FOLDER = "htsim"
OWN_FILES = r"[^/]*\.topo"
_BELOW = {"leaf": "server", "spine": "leaf", "core": "spine"}


class _UnsayableError(Exception):
    """Why a fabric is no fat tree of htsim."""


@dataclass(frozen=True)
class TreeTier:
    """Links below a tier: speed; links of a switch down and up (0: the top); links of a pair of switches; shortest and
    longest run.
    """

    gbps: float
    down: int
    up: int
    bundle: int
    metres: tuple[float, float]


def files_of(asked: Exported) -> Files:
    """Return ``htsim/FABRIC.topo`` of each compute fabric; ``InputError`` for a fabric that is no such tree."""
    plan = asked.plan
    files = {}
    for fabric in simulated_fabrics(asked.design, plan, "htsim"):
        try:
            files[f"{fabric.fabric.name}.topo"] = list(topology_lines(plan, fabric))
        except _UnsayableError as error:
            raise refusal("--to htsim", "", f"{fabric.fabric.name} cannot be said in htsim's words: {error}") from None
    return files


def topology_lines(plan: OperationPlan, fabric: SimulatedFabric) -> Iterator[str]:
    """Yield the tree. Nodes are numbered leaf by leaf, as the links of each leaf are."""
    below = _links_below(fabric)
    tiers = [_tier(fabric, below, role) for role in _BELOW if role in below]
    pods = _pods(below["spine"])
    if "core" not in below and pods > 1:
        raise _UnsayableError(f"it is {pods} networks that share no switch, and htsim knows one")
    nodes = len(below["leaf"])
    if nodes % pods:
        raise _UnsayableError("pods have different numbers of ports of servers")
    if "core" in below:
        _require_planes(below)
    left_out = len(fabric.links) - sum(map(len, below.values()))
    yield f"# {plan.case}, fabric {fabric.fabric.name}, stage {plan.stage}. A node is a port of a server, leaf by leaf."
    if left_out:
        yield f"# Left out: {some(left_out, 'link')} of attachments and logical fabrics."
    yield from (f"Nodes {nodes}", f"Tiers {len(tiers)}", f"Podsize {nodes // pods}")
    for number, tier in enumerate(tiers):
        over = _ratio(tier, tiers[number + 1]) if tier.up else 0
        yield ""
        yield f"# lengths of {tier.metres[0]:g} to {tier.metres[1]:g} m: the longest is the latency of all"
        yield f"Tier {number}"
        yield from (f"Downlink_speed_Gbps {tier.gbps:g}", f"Radix_Down {tier.down}")
        yield from [f"Radix_Up {tier.up}", f"Oversubscribed {over}"] if tier.up else []
        yield from (f"Bundle {tier.bundle}", f"Downlink_Latency_ns {max(1, round(tier.metres[1] * NS_PER_METRE))}")
        yield "Switch_Latency_ns 0"


def _links_below(fabric: SimulatedFabric) -> dict[str, list[NamedLink]]:
    """Links of the fabric's own network by the role of their upper end; every link goes one tier up."""
    below: dict[str, list[NamedLink]] = defaultdict(list)
    for link in fabric.own_links:
        near, far = fabric.roles[link.a.device], fabric.roles[link.b.device]
        if _BELOW.get(far) != near:
            raise _UnsayableError(f"it has links from {near} to {far}, and htsim knows those of a tree")
        below[far].append(link)
    if "spine" not in below:
        raise _UnsayableError("it has one tier of switches, and htsim knows two or three")
    return below


def _tier(fabric: SimulatedFabric, below: Mapping[str, Sequence[NamedLink]], role: str) -> TreeTier:
    """The tier, all of whose switches are alike."""
    links = below[role]
    down = Counter(link.b.device for link in links)
    above = next((upper for upper, lower in _BELOW.items() if lower == role and upper in below), "")
    up = Counter(link.a.device for link in below[above]) if above else Counter({0: 0})
    pairs = Counter((link.a.device, link.b.device) for link in links) if role != "leaf" else Counter({(0, 0): 1})
    speeds = {link.gbps for link in links}
    differing: dict[str, set[int] | set[float]] = {
        f"numbers of links below a {role}": set(down.values()), f"numbers of links above a {role}": set(up.values()),
        f"numbers of links between a {role} and a switch below": set(pairs.values()), f"speeds below a {role}": speeds,
    }  # fmt: skip
    for what, values in differing.items():
        if len(values) > 1:
            raise _UnsayableError(f"{what} differ ({', '.join(f'{value:g}' for value in sorted(values))})")
    switches = sum(1 for device in fabric.switches if device.role == role)
    if len(down) != switches or (above and len(up) != switches):
        raise _UnsayableError(f"not every {role} has links both ways")
    lengths = [link.length_m for link in links]
    return TreeTier(
        max(speeds), max(down.values()), max(up.values()), max(pairs.values()), (min(lengths), max(lengths))
    )


def _pods(links: Sequence[NamedLink]) -> int:
    """Pods made by links from leaves to spines; each leaf of a pod is joined to each spine of it."""
    spines = sets((link.a.device, link.b.device) for link in links)
    pods = {frozenset(joined) for joined in spines.values()}
    if sum(map(len, pods)) != len(frozenset().union(*pods)) or len(set(map(len, pods))) > 1:
        raise _UnsayableError("leaves of a pod are joined to different spines")
    return len(pods)


def _require_planes(below: Mapping[str, Sequence[NamedLink]]) -> None:
    """Refuse cores that are not joined to one spine of every pod, the same places in all pods."""
    cores = sets((link.a.device, link.b.device) for link in below["core"])
    groups = {frozenset(joined) for joined in cores.values()}
    spines_of_pod = len({link.b.device for link in below["spine"]}) // _pods(below["spine"])
    if len(groups) != spines_of_pod or sum(map(len, groups)) != len(frozenset().union(*groups)):
        raise _UnsayableError("cores are not joined to one spine of each pod")


def _ratio(tier: TreeTier, upper: TreeTier) -> int:
    """The oversubscription of a tier, whole and at one speed, as htsim takes it."""
    ratio = tier.down * tier.gbps / (tier.up * upper.gbps)
    if ratio != tier.down // tier.up or ratio < 1:
        raise _UnsayableError(
            f"{tier.down} links of {tier.gbps:g} Gb/s below a switch and {tier.up} of {upper.gbps:g} Gb/s above it; "
            f"it takes whole ratios of links of one speed"
        )
    return round(ratio)
