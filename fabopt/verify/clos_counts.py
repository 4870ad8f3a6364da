"""A Clos recounted from its few free choices, by classes of equal devices.

The design file is not read here: the choices go in, every count comes out. Sizes grow with the number of classes (full
and ragged groups, full and ragged pods), never with the number of devices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, compress, pairwise

from fabopt.schema.attachment import HostPort
from fabopt.units import ceil_div
from fabopt.verify.attached_leaves import LeafKind, dealt_over_leaves, dealt_round
from fabopt.verify.equal_devices import EqualDevices, EqualLeaves, EqualPods, Peers, in_proportion, stripes_of
from fabopt.wiring.design_file import divide


@dataclass(frozen=True)
class ClosCounts:
    """The free choices of one fabric. Names in brackets are those of docs/formulation.md.

    ``servers`` N, ``server_ports`` over all planes, ``planes`` P, ``per_group`` g, ``per_leaf`` k, ``uplinks`` u,
    ``spines`` S per pod, ``groups_per_pod`` T, ``spine_uplinks`` x, ``spines_per_core_group`` q,
    ``links_per_core_pair`` m2. Numbers of missing tiers are 0. ``sizes``: servers at each stage of a cluster that
    grows, else empty; ``adds``: ports of every attachment that each stage adds, empty if all are there at first.
    ``attached``: ports of every attachment that are dealt over all leaves; ``free``: switches of attachments on free
    ports; ``counted``: whether each counts in oversubscription, empty if all do. ``by_rail``: leaves of a rail have
    their extra links to the same spines. ``last_per_leaf``, ``last_uplinks``: k' and u' of a last group that is unlike
    the others, else 0. ``mixed``: (spines, links of a leaf to each) of both types of spines. ``leaf_racks``: of every
    leaf, where ports of attachments are spread over racks; ``paired``: whether every server is on two leaves.
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
    free: tuple[tuple[HostPort, ...], ...] = ()
    counted: tuple[bool, ...] = ()
    by_rail: bool = False
    last_per_leaf: int = 0
    last_uplinks: int = 0
    mixed: Peers = ()
    leaf_racks: tuple[str, ...] = ()
    paired: bool = False

    @property
    def has_own_last(self) -> bool:
        """Whether the last group is unlike the others."""
        return self.last_per_leaf > 0

    @cached_property
    def last_leaves(self) -> EqualLeaves:
        """The leaves of the last group, over all planes, where it is unlike the others; without attachments."""
        rails = divide(self.ports_per_server, self.last_per_leaf, "leaves of the last group share ports evenly")
        none = (0,) * len(self.attached)
        return EqualLeaves(self.planes * rails, self.last_group, none, self.last_per_leaf, self.last_uplinks, True)

    @cached_property
    def last_rails(self) -> int:
        """r': leaves of the last group in one plane."""
        return self.last_leaves.count // self.planes if self.has_own_last else self.rails

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
        return (self.groups - 1) * self.rails + self.last_rails

    @cached_property
    def leaf_classes(self) -> tuple[EqualLeaves, ...]:
        """Leaves by their links.

        Attachment port t is on leaf t mod (leaves), counted from the leaves with the fewest ports of servers, of equals
        those of a last group unlike the others last, so that leaves with the most free ports come first in every round.
        In a cluster that grows, and where racks matter, see ``dealt_leaves``.
        """
        ends = list(accumulate(self.attached, initial=0))
        if any(self.free) or (self.sizes and sum(self.attached)):
            return tuple(self._classes_leaf_by_leaf())
        (first, second), leaves = self._by_ports, self.planes * self.leaves
        cuts = sorted({0, first.count, leaves} | {end % leaves for end in ends})
        classes = []
        for lower, upper in pairwise(cuts):
            like = first if lower < first.count else second
            classes.append(replace(like, count=upper - lower, attached=dealt_round(ends, lower, leaves)))
        return tuple(classes)

    @property
    def _by_ports(self) -> tuple[EqualLeaves, EqualLeaves]:
        """Leaves of a last group that is not full or unlike the others, and the other leaves; fewest ports of servers
        first.
        """
        leaves, none = self.planes * self.leaves, (0,) * len(self.attached)
        if self.has_own_last:
            last = self.last_leaves
        else:
            ragged = self.planes * self.rails if self.last_group < self.per_group else 0
            last = EqualLeaves(ragged, self.last_group, none, self.per_leaf, self.uplinks)
        others = EqualLeaves(leaves - last.count, self.per_group, none, self.per_leaf, self.uplinks)
        return (last, others) if last.ports < others.ports else (others, last)

    def _classes_leaf_by_leaf(self) -> Iterator[EqualLeaves]:
        """Classes of leaves of a cluster that grows, or with attachments on free ports."""
        on_free = [Counter(number for tier, number in places if tier == "leaf") for places in self.free]
        on_free += [Counter()] * (len(self.attached) - len(on_free))
        kinds: Counter[tuple[int, tuple[int, ...], bool]] = Counter()
        for number, (ports, attached) in enumerate(self.dealt_leaves):
            hosted = tuple(dealt + free[number] for dealt, free in zip(attached, on_free, strict=True))
            kinds[ports, hosted, self.is_of_last_group(number)] += 1
        for (ports, attached, is_of_last), count in kinds.items():
            like = self.last_leaves if is_of_last else EqualLeaves(0, 0, (), self.per_leaf, self.uplinks)
            yield replace(like, count=count, servers=ports // like.per_leaf, attached=attached)

    def is_of_last_group(self, number: int) -> bool:
        """Whether a leaf, counted plane by plane, is of a last group unlike the others."""
        return self.has_own_last and number % self.leaves >= self.leaves - self.last_rails

    @cached_property
    def dealt_leaves(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Server ports of every leaf, plane by plane, and the ports of every attachment dealt to it."""
        leaves = [self._leaf_kind(number) for number in range(self.planes * self.leaves)]
        later = self.adds + ((),) * (len(self.attached) - len(self.adds))
        adds = [own or (ports,) for own, ports in zip(later, self.attached, strict=True)]
        in_pairs = self.paired and not (self.rails % 2 or self.last_rails % 2)
        dealt = dealt_over_leaves(leaves, adds, bool(self.sizes), self.leaf_racks, in_pairs)
        return tuple((leaf.ports, hosted) for leaf, hosted in zip(leaves, dealt, strict=True))

    def _leaf_kind(self, number: int) -> LeafKind:
        """A leaf, counted plane by plane, by its servers."""
        before = min(number % self.leaves // self.rails, self.groups - 1) * self.per_group
        servers = tuple(max(0, min(size - before, self.per_group)) for size in self.sizes or (self.servers,))
        is_of_last = self.is_of_last_group(number)
        return LeafKind(servers, servers[-1] * (self.last_per_leaf if is_of_last else self.per_leaf), is_of_last)

    @property
    def dealt_ports(self) -> list[int]:
        """Ports of every leaf, plane by plane: of servers, and of attachments dealt over all leaves."""
        return [ports + sum(attached) for ports, attached in self.dealt_leaves]

    @cached_property
    def most_endpoints(self) -> int:
        """d: the most server and attachment ports on any leaf that count in its oversubscription.

        Leaves of a last group unlike the others have ``last_endpoints``.
        """
        return self._most(False, self._counts)

    @cached_property
    def last_endpoints(self) -> int:
        """d': the same for the leaves of a last group unlike the others; 0 where there is none."""
        return self._most(True, self._counts)

    @cached_property
    def most_occupied(self) -> int:
        """The most server and attachment ports on any leaf, but for a last group unlike the others."""
        return self._most(False)

    @cached_property
    def last_occupied(self) -> int:
        """The most server and attachment ports on the leaves of a last group unlike the others."""
        return self._most(True)

    def _most(self, is_of_last: bool, counts: Sequence[bool] = ()) -> int:
        """Most ports of servers, and of attachments that count (empty: all), on leaves of the last group or of the
        others.
        """
        return max(
            (
                leaf.ports + sum(compress(leaf.attached, counts or (True,) * len(leaf.attached)))
                for leaf in self.leaf_classes
                if leaf.is_of_last == is_of_last
            ),
            default=0,
        )

    @cached_property
    def most_dealt(self) -> int:
        """The most of ``most_occupied`` without attachments on free ports."""
        return self._most_dealt(False) if any(self.free) else self.most_occupied

    @cached_property
    def last_dealt(self) -> int:
        """The most of ``last_occupied`` without attachments on free ports."""
        return self._most_dealt(True) if any(self.free) else self.last_occupied

    def _most_dealt(self, is_of_last: bool) -> int:
        ports = enumerate(self.dealt_ports)
        return max((own for number, own in ports if self.is_of_last_group(number) == is_of_last), default=0)

    @property
    def _counts(self) -> tuple[bool, ...]:
        return self.counted or (True,) * len(self.attached)

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
        """Leaves of a full pod; of two tiers, all."""
        return self.pod_classes[-1].leaves

    @property
    def leaves_of_a_group(self) -> int:
        """Leaves of a group in one pod."""
        return 1 if self.rail_pods else self.rails

    @cached_property
    def pod_classes(self) -> tuple[EqualPods, ...]:
        """Full pods, and the last one (of every rail, if pods are of one rail), which may have fewer groups."""
        copies = self.planes * (self.rails if self.rail_pods else 1)
        leaves, full = self.leaves_of_a_group, self.pods_per_rail - 1
        ports = self.per_leaf if self.rail_pods else self.ports_per_server
        last_groups = self.groups - full * self.groups_per_pod
        last_servers = self.servers - full * self.groups_per_pod * self.per_group
        of_last = (1 if self.rail_pods else self.last_rails) * self.has_own_last
        pods = [EqualPods(copies, (last_groups - self.has_own_last) * leaves + of_last, last_servers * ports, of_last)]
        if full:
            groups = self.groups_per_pod
            pods.append(EqualPods(copies * full, groups * leaves, groups * self.per_group * ports))
        return tuple(pods)

    @cached_property
    def links_per_pair(self) -> int:
        """m: the fewest links between a leaf and a spine of its pod; 0 for one tier."""
        return min(links for _, links in self.peers_of(self.uplinks)) if self.tiers > 1 else 0

    def peers_of(self, uplinks: int) -> Peers:
        """(Spines, links to each of them) of a leaf with ``uplinks`` uplinks."""
        return in_proportion(self.mixed, uplinks, self.uplinks) if self.mixed else stripes_of(uplinks, self.spines)

    @cached_property
    def spine_classes(self) -> tuple[EqualDevices, ...]:
        """Spines by their leaves.

        A leaf gives ``extra`` of its spines one link more, in rotation, so the extra links of a pod's leaves (by rail:
        of a group, which has leaves like those of every other) fall on its spines evenly, to within one.
        """
        if self.has_own_last or self.mixed:
            pods_of = ((pods.count, spines) for pods in self.pod_classes for spines in self._in_proportion(pods))
            return tuple(replace(spines, count=pods * spines.count) for pods, spines in pods_of)
        base, extra = divmod(self.uplinks, self.spines)
        classes = []
        for pods in self.pod_classes:
            alike = pods.leaves // self.leaves_of_a_group if self.by_rail else 1
            low, busier = divmod(pods.leaves // alike * extra, self.spines)
            for spines, more in ((self.spines - busier, alike * low), (busier, alike * (low + 1))):
                if spines:
                    classes.append(EqualDevices(pods.count * spines, ((more, base + 1), (pods.leaves - more, base))))
        return tuple(classes)

    def _in_proportion(self, pods: EqualPods) -> tuple[EqualDevices, ...]:
        """The spines of one of these pods, with a last group or spines unlike the others."""
        return pods.spines(self.peers_of(self.uplinks), self.peers_of(self.last_uplinks or self.uplinks))

    @property
    def all_uplinks(self) -> int:
        """Links of all leaves to spines."""
        last = self.last_leaves.count if self.has_own_last else 0
        return (self.planes * self.leaves - last) * self.uplinks + last * self.last_uplinks

    @cached_property
    def most_spine_downlinks(self) -> int:
        """Down links of the busiest spine."""
        return max(spines.links for spines in self.spine_classes)

    @cached_property
    def spine_downlinks(self) -> tuple[int, ...]:
        """Down links of every spine, plane by plane and pod by pod.

        Leaf j of a pod gives one link more to ``extra`` spines from the (j x extra)-th on, round and round.
        """
        if self.has_own_last or self.mixed:
            in_pods = (self._in_proportion(pod) * (pod.count // self.planes) for pod in reversed(self.pod_classes))
            return self.planes * tuple(own.links for spines in in_pods for own in spines for _ in range(own.count))
        base, extra = divmod(self.uplinks, self.spines)
        links = []
        for pod in range(self.pods):
            before = (pod // self.rails if self.rail_pods else pod) * self.groups_per_pod
            leaves = min(self.groups_per_pod, self.groups - before) * self.leaves_of_a_group
            for spine in range(self.spines):
                turns = [leaf % self.leaves_of_a_group if self.by_rail else leaf for leaf in range(leaves)]
                more = sum((spine - turn * extra) % self.spines < extra for turn in turns) if extra else 0
                links.append(leaves * base + more)
        return tuple(links) * self.planes

    @cached_property
    def most_spine_ports(self) -> int:
        """d_S: the most down links and attachment ports on any spine that count in its oversubscription."""
        counted = (places for counts, places in zip(self._counts, self.free, strict=False) if counts)
        attached = Counter(number for places in counted for tier, number in places if tier == "spine")
        if not attached:
            return self.most_spine_downlinks
        return max(links + attached[number] for number, links in enumerate(self.spine_downlinks))

    @cached_property
    def cores_per_group(self) -> int:
        """C = x / m2."""
        return divide(self.spine_uplinks, self.links_per_core_pair, "a spine's uplinks meet its cores evenly")

    @cached_property
    def core_groups(self) -> int:
        """S / q: core groups of one plane."""
        return divide(self.spines, self.spines_per_core_group, "core groups share a pod's spines evenly")

    @property
    def core_downlinks(self) -> int:
        """Down links of every core: all pods (of all rails) of its plane meet in it, q spines of each."""
        return self.pods * self.spines_per_core_group * self.links_per_core_pair

    def switches(self) -> Sequence[int]:
        """Switches of each tier over all planes."""
        cores = self.cores_per_group * self.core_groups if self.tiers > 2 else 0
        return [self.planes * count for count in (self.leaves, self.pods * self.spines, cores)][: self.tiers]
