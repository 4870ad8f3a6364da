"""A Clos recounted from its few free choices, by classes of equal devices.

Nothing here reads the design file: the choices go in, every count comes out. Sizes grow with the number of
classes (full and ragged groups, full and ragged pods), never with the number of devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from fabopt.units import ceil_div
from fabopt.wiring.design_file import divide

Peers = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class EqualDevices:
    """``count`` equal devices, each joined to ``peers``: pairs of (how many peers, links to each)."""

    count: int
    peers: Peers

    @property
    def links(self) -> int:
        """Links of one device."""
        return sum(peers * links for peers, links in self.peers)

    def bundles(self, size: int) -> int:
        """Bundles of at most ``size`` links on one device, none shared by two peers."""
        return sum(peers * ceil_div(links, size) for peers, links in self.peers)


@dataclass(frozen=True)
class EqualLeaves:
    """``count`` leaves over all planes, each with ``servers`` servers and ``attached[i]`` ports of attachment i."""

    count: int
    servers: int
    attached: tuple[int, ...]


@dataclass(frozen=True)
class EqualPods:
    """``count`` pods over all planes, each with ``leaves`` leaves and ``endpoints`` server ports."""

    count: int
    leaves: int
    endpoints: int


@dataclass(frozen=True)
class ClosCounts:
    """The free choices of one fabric. Names in brackets are those of docs/formulation.md.

    ``servers`` N, ``server_ports`` over all planes, ``planes`` P, ``per_group`` g, ``per_leaf`` k, ``uplinks`` u,
    ``spines`` S per pod, ``groups_per_pod`` T, ``spine_uplinks`` x, ``spines_per_core_group`` q,
    ``links_per_core_pair`` m2. What a fabric of fewer tiers lacks is 0. ``sizes``: servers at each stage of a cluster
    that grows, else empty; ``adds``: what each stage adds of every attachment, empty if all of it is there at first.
    """

    tiers: int
    servers: int
    server_ports: int
    planes: int
    per_group: int
    per_leaf: int
    attached: tuple[int, ...]
    uplinks: int
    spines: int
    rail_pods: bool
    groups_per_pod: int
    spine_uplinks: int
    spines_per_core_group: int
    links_per_core_pair: int
    sizes: tuple[int, ...] = ()
    adds: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def ports_per_server(self) -> int:
        """R: ports of a server into one plane."""
        return divide(self.server_ports, self.planes, "planes share a server's ports evenly")

    @cached_property
    def groups(self) -> int:
        """G = ceil(N / g)."""
        return ceil_div(self.servers, self.per_group)

    @cached_property
    def last_group(self) -> int:
        """Servers of the last group."""
        return self.servers - (self.groups - 1) * self.per_group

    @cached_property
    def rails(self) -> int:
        """r = R / k: leaves of a group in one plane."""
        return divide(self.ports_per_server, self.per_leaf, "leaves of a group take a server's ports evenly")

    @cached_property
    def leaves(self) -> int:
        """Leaves of one plane."""
        return self.groups * self.rails

    @cached_property
    def leaf_classes(self) -> tuple[EqualLeaves, ...]:
        """Leaves by what they are linked to.

        Attachment port t is on leaf t mod (leaves), counted from the leaves with the fewest servers, so that those with
        the most free ports come first in every round; in a cluster that grows, see ``grown_leaves``.
        """
        ends = list(accumulate(self.attached, initial=0))
        if self.sizes and sum(self.attached):
            return tuple(self._grown_classes())
        leaves = self.planes * self.leaves
        ragged = self.planes * self.rails if self.last_group < self.per_group else 0
        cuts = sorted({0, ragged, leaves} | {end % leaves for end in ends})
        return tuple(
            EqualLeaves(
                upper - lower,
                self.last_group if lower < ragged else self.per_group,
                tuple(_hits(end, lower, leaves) - _hits(start, lower, leaves) for start, end in pairwise(ends)),
            )
            for lower, upper in pairwise(cuts)
        )

    def _grown_classes(self) -> Iterator[EqualLeaves]:
        """Classes of leaves of a cluster that grows."""
        kinds: Counter[tuple[int, tuple[int, ...]]] = Counter()
        for number, attached in enumerate(self.grown_leaves):
            last = number % self.leaves // self.rails == self.groups - 1
            kinds[self.last_group if last else self.per_group, attached] += 1
        for (servers, attached), count in kinds.items():
            yield EqualLeaves(count, servers, attached)

    @cached_property
    def grown_leaves(self) -> tuple[tuple[int, ...], ...]:
        """Ports of each attachment on every leaf, plane by plane, of a cluster that grows.

        Stage by stage, in the order of the attachments, every port goes to the leaf that is there with the fewest ports
        of all attachments, the first of such.
        """
        hosted = [[0] * len(self.attached) for _ in range(self.planes * self.leaves)]
        for stage, servers in enumerate(self.sizes):
            there = ceil_div(servers, self.per_group) * self.rails
            hosts = [number for number in range(len(hosted)) if number % self.leaves < there]
            for index, ports in enumerate(self.attached):
                adds = self.adds[index] if index < len(self.adds) and self.adds[index] else (ports,)
                self._spread(hosted, hosts, index, adds[stage] if stage < len(adds) else 0)
        return tuple(map(tuple, hosted))

    @staticmethod
    def _spread(hosted: list[list[int]], hosts: list[int], index: int, ports: int) -> None:
        """Put ports of an attachment on some of the leaves, level by level."""
        level = min((sum(hosted[number]) for number in hosts), default=0)
        while ports > 0 and hosts:
            for number in [one for one in hosts if sum(hosted[one]) == level][:ports]:
                hosted[number][index] += 1
                ports -= 1
            level += 1

    @cached_property
    def most_endpoints(self) -> int:
        """d: the most server and attachment ports on any leaf."""
        return max(leaf.servers * self.per_leaf + sum(leaf.attached) for leaf in self.leaf_classes)

    @cached_property
    def pods_per_rail(self) -> int:
        """ceil(G / T): pods that hold every group once."""
        return ceil_div(self.groups, self.groups_per_pod)

    @cached_property
    def pods(self) -> int:
        """Pods of one plane; 1 below three tiers."""
        return self.pods_per_rail * (self.rails if self.rail_pods else 1)

    @cached_property
    def leaves_per_pod(self) -> int:
        """Leaves of a full pod."""
        return self.groups_per_pod * (1 if self.rail_pods else self.rails)

    @cached_property
    def pod_classes(self) -> tuple[EqualPods, ...]:
        """Full pods, and the last one (of every rail, if pods are of one rail), which may have fewer groups."""
        copies = self.planes * (self.rails if self.rail_pods else 1)
        leaves, ports = (1, self.per_leaf) if self.rail_pods else (self.rails, self.ports_per_server)
        full = self.pods_per_rail - 1
        last_groups = self.groups - full * self.groups_per_pod
        last_servers = self.servers - full * self.groups_per_pod * self.per_group
        pods = [EqualPods(copies, last_groups * leaves, last_servers * ports)]
        if full:
            servers = self.groups_per_pod * self.per_group
            pods.append(EqualPods(copies * full, self.groups_per_pod * leaves, servers * ports))
        return tuple(pods)

    @cached_property
    def links_per_pair(self) -> int:
        """m: the fewest links between a leaf and a spine of its pod; 0 for one tier."""
        return self.uplinks // self.spines if self.tiers > 1 else 0

    @cached_property
    def spine_classes(self) -> tuple[EqualDevices, ...]:
        """Spines by their leaves.

        A leaf gives ``extra`` of its spines one link more, in rotation, so the extra links of a pod's leaves fall on
        its spines evenly, to within one.
        """
        base, extra = divmod(self.uplinks, self.spines)
        classes = []
        for pods in self.pod_classes:
            low, busier = divmod(pods.leaves * extra, self.spines)
            for spines, more in ((self.spines - busier, low), (busier, low + 1)):
                if spines:
                    classes.append(EqualDevices(pods.count * spines, ((more, base + 1), (pods.leaves - more, base))))
        return tuple(classes)

    @cached_property
    def leaf_uplinks(self) -> EqualDevices:
        """Every leaf, seen from above: its links to the spines of its pod."""
        base, extra = divmod(self.uplinks, self.spines)
        return EqualDevices(self.planes * self.leaves, ((extra, base + 1), (self.spines - extra, base)))

    @cached_property
    def most_spine_downlinks(self) -> int:
        """Down links of the busiest spine."""
        return max(spines.links for spines in self.spine_classes)

    @cached_property
    def cores_per_group(self) -> int:
        """C = x / m2."""
        return divide(self.spine_uplinks, self.links_per_core_pair, "a spine's uplinks meet its cores evenly")

    @cached_property
    def core_groups(self) -> int:
        """S / q: core groups of one plane."""
        return divide(self.spines, self.spines_per_core_group, "core groups share a pod's spines evenly")

    @cached_property
    def spine_uplink_devices(self) -> EqualDevices:
        """Every spine, seen from above: its links to the cores of its group."""
        return EqualDevices(self.planes * self.pods * self.spines, ((self.cores_per_group, self.links_per_core_pair),))

    @cached_property
    def core_devices(self) -> EqualDevices:
        """Every core: all pods (of all rails) of its plane meet in it, q spines of each."""
        cores = self.planes * self.cores_per_group * self.core_groups
        return EqualDevices(cores, ((self.pods * self.spines_per_core_group, self.links_per_core_pair),))

    def switches(self) -> Sequence[int]:
        """Switches of each tier over all planes."""
        spines = self.planes * self.pods * self.spines
        counts = [self.planes * self.leaves, spines, self.core_devices.count if self.tiers > 2 else 0]
        return counts[: self.tiers]


def _hits(ports: int, position: int, leaves: int) -> int:
    """How many of the attachment ports 0 .. ``ports``-1, dealt in rounds, fall on the leaf at ``position``."""
    return max(0, ceil_div(ports - position, leaves))
