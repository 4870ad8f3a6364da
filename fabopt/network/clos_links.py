"""Who is linked to whom in a Clos, and at which place of each device: arithmetic on arrays, one row a link.

Numbering is such that a cluster that grows by whole groups keeps every cable where it is: groups, leaves, pods and
spines are counted in the order in which they are added, and the port of a link depends on the place of its device in
its group or pod only. Parallel links are next to each other; leaf j of a group is its j-th rail.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.units import ceil_div

Ints = NDArray[np.int64]
NO_GROUP = -1


class TierLinks(NamedTuple):
    """Links of one kind. ``a``, ``b``: number of the device in its role, from 0. Slots count its ports on that side
    from 0; where cables carry several links of a pair, every pair starts at a multiple of that.
    """

    a: Ints
    a_slot: Ints
    b: Ints
    b_slot: Ints


class ServerLinks(NamedTuple):
    """Links of servers: ``nic`` and ``port`` (of the NIC) from 0; ``a_slot`` within the NIC, or the server."""

    links: TierLinks
    nic: Ints
    port: Ints


@dataclass(frozen=True)
class ClosNumbers:
    """The numbers of a Clos; symbols as in docs/formulation.md.

    servers N, planes P, nics of a server, ports of a NIC (over all planes), group g, per_leaf k; uplinks u and
    spines S (of a pod); pod_groups T (all groups below three tiers); core_spines q, core_links m2, group_cores C.
    ``shared_cages``: a server's NICs share its cages. ``sizes``: servers at each stage, whose leaves take the
    attachments that it adds; empty where there is one stage. ``apart``: each of the planes is of one NIC (its rail)
    only; NIC j of c has its first ports in plane j, its next ones in plane c + j. ``dual``: the first ports of all
    NICs in a plane come before the second ones, so that no leaf has both of one NIC.

    Raises ``ValueError`` where planes and leaves do not share a server's ports evenly.
    """

    servers: int
    planes: int
    nics: int
    ports: int
    shared_cages: bool
    group: int
    per_leaf: int
    uplinks: int = 0
    spines: int = 0
    pod_groups: int = 0
    rail_pods: bool = False
    core_spines: int = 0
    core_links: int = 0
    group_cores: int = 0
    sizes: tuple[int, ...] = ()
    apart: bool = False
    dual: bool = False

    def __post_init__(self) -> None:
        """Divide a server's ports."""
        if self.apart:
            _require_even(self.planes, self.nics, "rails have planes of their own")
        _require_even(self.ports, self.nic_planes, "planes share a NIC's ports evenly")
        _require_even(
            self.nics * self.ports // self.planes, self.per_leaf, "leaves of a group take a server's ports evenly"
        )

    @property
    def groups(self) -> int:
        """G."""
        return ceil_div(self.servers, self.group)

    @property
    def nic_planes(self) -> int:
        """Planes that one NIC has ports in."""
        return self.planes // self.nics if self.apart else self.planes

    @property
    def plane_ports(self) -> int:
        """Ports of a NIC in each of these planes."""
        return self.ports // self.nic_planes

    @property
    def rails(self) -> int:
        """r: leaves of a group in a plane."""
        return (1 if self.apart else self.nics) * self.plane_ports // self.per_leaf

    @property
    def leaves(self) -> int:
        """Leaves of one plane."""
        return self.groups * self.rails

    @property
    def together(self) -> int:
        """Ports of a server that one cable may carry to a leaf: of one NIC (of any, where they share cages)."""
        if self.dual:
            return 1
        if self.shared_cages:
            return self.per_leaf if self.nic_planes == 1 else 1
        if self.per_leaf % self.plane_ports == 0:
            return self.plane_ports
        return self.per_leaf if self.plane_ports % self.per_leaf == 0 else 1

    @property
    def pods(self) -> int:
        """Pods of one plane."""
        return ceil_div(self.groups, self.pod_groups) * (self.rails if self.rail_pods else 1)

    @property
    def cores(self) -> int:
        """Cores of one plane; 0 below three tiers."""
        return self.group_cores * (self.spines // self.core_spines) if self.core_spines else 0

    def pod_of_leaf(self, leaf: Ints) -> Ints:
        """Pod, from 0 in its plane, of leaves counted over all planes."""
        group, rail = leaf % self.leaves // self.rails, leaf % self.rails
        block = group // self.pod_groups
        return np.asarray(block * self.rails + rail if self.rail_pods else block)

    def pods_of(self, role: str, number: Ints) -> Ints:
        """Pod, from 0, of switches of a plane; ``NO_GROUP`` of cores, and below three tiers."""
        if not self.core_spines or role == "core":
            return np.full(len(number), NO_GROUP)
        return self.pod_of_leaf(number) if role == "leaf" else number // self.spines


def _require_even(number: int, divisor: int, what: str) -> None:
    if divisor < 1 or number < 1 or number % divisor:
        raise ValueError(f"{what}: {divisor} does not divide {number}")


def padded(links: int, per_cable: int) -> int:
    """Slots of so many links of a pair when cables carry several."""
    return ceil_div(links, per_cable) * per_cable


def server_leaf(n: ClosNumbers, per_cable: int) -> ServerLinks:
    """Every used port of every server to its group's leaves; sorted by server, NIC and port."""
    server = np.repeat(np.arange(n.servers), n.nics * n.ports)
    nic = np.tile(np.repeat(np.arange(n.nics), n.ports), n.servers)
    port = np.tile(np.arange(n.ports), n.servers * n.nics)
    plane, place = port // n.plane_ports, port % n.plane_ports
    if n.apart:
        plane = plane * n.nics + nic
    else:
        place = place * n.nics + nic if n.dual else nic * n.plane_ports + place
    leaf = plane * n.leaves + server // n.group * n.rails + place // n.per_leaf
    slots, within = padded(n.together, per_cable), place % n.per_leaf
    sets = server % n.group * (n.per_leaf // n.together) + within // n.together
    of_holder = nic * n.ports + port if n.shared_cages else port
    a_slot = of_holder // n.together * slots + of_holder % n.together
    return ServerLinks(TierLinks(server, a_slot, leaf, sets * slots + within % n.together), nic, port)


def leaf_spine(n: ClosNumbers, per_cable: int) -> TierLinks:
    """Every uplink of every leaf; of u links to S spines some get one more, in rotation from leaf to leaf."""
    base, extra = divmod(n.uplinks, n.spines)
    place = np.arange(n.pod_groups * (1 if n.rail_pods else n.rails))
    more = (np.arange(n.spines)[None, :] - place[:, None] * extra) % n.spines < extra
    counts = base + more
    slots = -(-counts // per_cable) * per_cable
    up_start, down_start = (np.cumsum(slots, axis=axis) - slots for axis in (1, 0))
    below, spine = (axis.ravel() for axis in np.indices(counts.shape))
    pair = np.repeat(np.arange(counts.size), counts.ravel())
    within = np.arange(len(pair)) - np.repeat(np.cumsum(counts.ravel()) - counts.ravel(), counts.ravel())
    up, down = up_start.ravel()[pair] + within, down_start.ravel()[pair] + within
    links = []
    for plane in range(n.planes):
        for pod in range(n.pods):
            leaf = plane * n.leaves + _leaves_of_pod(n, pod)
            inside = below[pair] < len(leaf)
            a = leaf[below[pair][inside]]
            b = (plane * n.pods + pod) * n.spines + spine[pair][inside]
            links.append(TierLinks(a, up[inside], b, down[inside]))
    return _sorted(links)


def _leaves_of_pod(n: ClosNumbers, pod: int) -> Ints:
    block, rail = divmod(pod, n.rails) if n.rail_pods else (pod, 0)
    first, last = block * n.pod_groups, min((block + 1) * n.pod_groups, n.groups)
    if n.rail_pods:
        return np.arange(first, last) * n.rails + rail
    return np.arange(first * n.rails, last * n.rails)


def spine_core(n: ClosNumbers, per_cable: int) -> TierLinks:
    """Every uplink of every spine, to the cores of its group."""
    slots, uplinks = padded(n.core_links, per_cable), n.group_cores * n.core_links
    spine = np.repeat(np.arange(n.planes * n.pods * n.spines), uplinks)
    up = np.tile(np.arange(uplinks), n.planes * n.pods * n.spines)
    plane, pod, index = spine // (n.pods * n.spines), spine // n.spines % n.pods, spine % n.spines
    core, within = up // n.core_links, up % n.core_links
    b = plane * n.cores + index // n.core_spines * n.group_cores + core
    b_slot = (pod * n.core_spines + index % n.core_spines) * slots + within
    return _sorted([TierLinks(spine, core * slots + within, b, b_slot)])


def _sorted(links: list[TierLinks]) -> TierLinks:
    whole = TierLinks(*(np.concatenate(column) for column in zip(*links, strict=True)))
    order = np.lexsort((whole.a_slot, whole.a))
    return TierLinks(*(column[order] for column in whole))


def dealt(adds: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """(Attachment, stage) of every port in the order in which they are dealt. ``adds``: of each, what a stage adds."""
    stages = range(max(map(len, adds), default=0))
    return [
        (index, stage)
        for stage in stages
        for index, ports in enumerate(adds)
        for _ in range(ports[stage] if stage < len(ports) else 0)
    ]


def attached_leaves(n: ClosNumbers, attached: Sequence[int]) -> list[int]:
    """The leaf of every attachment port, dealt one a leaf and round, leaves with the fewest servers first.

    In a cluster that grows, the ports that a stage adds (``attached``: how many) go to the leaves that are there then,
    those with the fewest attachments first, in their order.
    """
    if n.sizes:
        return _as_it_grows(n, attached)
    ports = sum(attached)
    ragged = n.servers - (n.groups - 1) * n.group < n.group
    last = [plane * n.leaves + (n.groups - 1) * n.rails + rail for plane in range(n.planes) for rail in range(n.rails)]
    first = last if ragged else []
    rest = [leaf for leaf in range(n.planes * n.leaves) if leaf not in set(first)]
    order = first + rest
    return [order[place % len(order)] for place in range(ports)]


def _as_it_grows(n: ClosNumbers, attached: Sequence[int]) -> list[int]:
    """The emptiest leaf for one port after the other; leaves that come later are empty."""
    leaves: list[int] = []
    queue: list[tuple[int, int]] = []
    there = 0
    for size, ports in zip(n.sizes, attached, strict=False):
        settled = ceil_div(size, n.group) * n.rails
        for plane in range(n.planes):
            for leaf in range(there, settled):
                heapq.heappush(queue, (0, plane * n.leaves + leaf))
        there = settled
        for _ in range(ports):
            load, leaf = queue[0]
            heapq.heapreplace(queue, (load + 1, leaf))
            leaves.append(leaf)
    return leaves
