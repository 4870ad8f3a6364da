"""A Clos recounted from its few free choices: its leaves and spines one by one, with the ports of attachments.

The design file is not read here: the choices go in, every count comes out. Links are counted at each device, as
``fabopt.network.clos_links`` deals them; what the explicit wiring has is compared with it, and with what is demanded.

Leaves of attachments' ports that are dealt over leaves: round by round, or stage by stage; then racks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress, cycle, pairwise
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import ClosNumbers, Ints, downlinks_of_spines
from fabopt.schema.attachment import HostPort
from fabopt.units import ceil_div
from fabopt.wiring.design_file import divide

LEAF, TWO = "leaf", 2
# The number of an attachment, and the leaf of one of its ports.
AttachedPort = tuple[int, int]


def dealt_round(ends: Sequence[int], place: int, leaves: int) -> tuple[int, ...]:
    """Ports of each attachment on the leaf at a place of the round; ``ends``: 0, and the running total of each
    attachment's ports.
    """
    return tuple(_hits(end, place, leaves) - _hits(start, place, leaves) for start, end in pairwise(ends))


def _hits(ports: int, place: int, leaves: int) -> int:
    """The number of the first ``ports`` ports that fall on the leaf at a place."""
    return max(0, ceil_div(ports - place, leaves))


class LeafKind(NamedTuple):
    """A leaf: servers of its group at each stage, their ports on it at last, and whether it is of a last group unlike
    the others. Leaves of equal kind may be exchanged.
    """

    servers: tuple[int, ...]
    ports: int
    is_of_last: bool


def dealt_over_leaves(
    leaves: Sequence[LeafKind], adds: Sequence[Sequence[int]], grows: bool, racks: Sequence[str], in_pairs: bool
) -> Iterator[tuple[int, ...]]:
    """Ports of each attachment on every leaf.

    ``adds``: by attachment, the ports that each stage adds, all at once unless the cluster ``grows``; ``racks``: of
    every leaf, where ports are spread over racks.
    """
    order = sorted(range(len(leaves)), key=lambda number: leaves[number][1:])
    if not (grows or racks):
        ends = list(accumulate(map(sum, adds), initial=0))
        place_of = {number: place for place, number in enumerate(order)}
        yield from (dealt_round(ends, place_of[number], len(leaves)) for number in range(len(leaves)))
        return
    ports = _as_it_grows(leaves, adds) if grows else _in_turn(adds, order)
    other = Exchanged({LEAF: racks} if racks else {}, {LEAF: leaves}, TWO if in_pairs else 1)
    hosted = [[0] * len(adds) for _ in leaves]
    for owner, number in ports:
        hosted[other.of((LEAF, number), owner)[1]][owner] += 1
    yield from map(tuple, hosted)


def _in_turn(adds: Sequence[Sequence[int]], order: Sequence[int]) -> Iterator[AttachedPort]:
    """Every port of the attachments, one a leaf and round; ``order``: of the leaves."""
    owners = (owner for owner, own in enumerate(adds) for _ in range(sum(own)))
    yield from zip(owners, cycle(order), strict=False)


def _as_it_grows(leaves: Sequence[LeafKind], adds: Sequence[Sequence[int]]) -> Iterator[AttachedPort]:
    """Every port of the attachments, stage by stage, in the order of the attachments: each on the existing leaf with
    the fewest ports of all attachments, the first of such.
    """
    hosted = [0] * len(leaves)
    for stage in range(len(leaves[0].servers)):
        there = [number for number, leaf in enumerate(leaves) if leaf.servers[stage]]
        for owner, own in enumerate(adds):
            for number in _emptiest(hosted, there, own[stage] if stage < len(own) else 0):
                hosted[number] += 1
                yield owner, number


def _emptiest(hosted: Sequence[int], hosts: Sequence[int], ports: int) -> Iterator[int]:
    """Leaves for ``ports`` more ports, level by level."""
    level = min((hosted[number] for number in hosts), default=0)
    while ports > 0 and hosts:
        lowest = [number for number in hosts if hosted[number] == level][:ports]
        yield from lowest
        ports -= len(lowest)
        level += 1


class Exchanged:
    """Exchanges of equal switches, so that ports of attachments are in different racks.

    ``racks``, ``kinds``: of every switch of a tier; no racks: no exchange.
    """

    def __init__(
        self, racks: Mapping[str, Sequence[str]], kinds: Mapping[str, Sequence[Hashable]], size: int = 1
    ) -> None:
        self._racks = racks
        self._kinds = kinds
        self._size = size
        # unexchanged switches, in their order
        self._left: dict[tuple[str, Hashable], list[int]] = defaultdict(list)
        for tier, of_tier in kinds.items():
            for number in range(0, len(of_tier), size):
                self._left[tier, of_tier[number]].append(number)
        self._other: dict[tuple[str, int], int] = {}
        self._taken: Counter[str] = Counter()
        self._own: dict[int, Counter[str]] = defaultdict(Counter)

    def of(self, place: tuple[str, int], owner: int) -> tuple[str, int]:
        """The switch of an attachment's next port; ``place``: its switch before exchange.

        The unexchanged switch of its kind in the rack with the fewest ports of the attachment, then of all, then the
        first; the same one for every port at that place.
        """
        tier, number = place
        if not self._racks:
            return place
        racks, own, size = self._racks[tier], self._own[owner], self._size
        lowest = tier, number // size * size
        if lowest not in self._other:
            left = self._left[tier, self._kinds[tier][number]]

            def ports(other: int, of: Counter[str]) -> int:
                return sum(of[rack] for rack in racks[other : other + size])

            self._other[lowest] = min(left, key=lambda other: (ports(other, own), ports(other, self._taken), other))
            left.remove(self._other[lowest])
        other = self._other[lowest] + number % size
        own[racks[other]] += 1
        self._taken[racks[other]] += 1
        return tier, other


# Far more leaves or spines than any fabric has; a damaged file may state any number.
_MOST_SWITCHES = 10**7


@dataclass(frozen=True)
class EqualLeaves:
    """``count`` leaves over all planes, each with ``ports`` of servers and ``attached[i]`` ports of attachment i.

    ``per_leaf``: ports of each of its servers; ``uplinks``: of the leaf; ``is_of_last``: of a last group unlike others.
    """

    count: int
    ports: int
    attached: tuple[int, ...]
    per_leaf: int
    uplinks: int
    is_of_last: bool


@dataclass(frozen=True, kw_only=True)
class ClosCounts(ClosNumbers):
    """The free choices of one fabric; one tier has no spines, two have no cores.

    ``adds``: ports of every attachment that each stage adds, empty if all are there at first. ``attached``: ports of
    every attachment that are dealt over all leaves; ``free``: switches of attachments on free ports; ``counted``:
    whether each counts in oversubscription, empty if all do. ``leaf_racks``: of every leaf, where ports of attachments
    are spread over racks; ``paired``: whether every server is on two leaves.
    """

    tiers: int
    attached: tuple[int, ...]
    adds: tuple[tuple[int, ...], ...] = ()
    free: tuple[tuple[HostPort, ...], ...] = ()
    counted: tuple[bool, ...] = ()
    leaf_racks: tuple[str, ...] = ()
    paired: bool = False

    @cached_property
    def leaf_ports(self) -> Ints:
        """Server ports of every leaf, plane by plane, shape (leaves,)."""
        return np.asarray(self._servers[-1] * np.where(self._of_last, self.own_k, self.k), dtype=np.int64)

    @cached_property
    def _servers(self) -> Ints:
        """Servers of every leaf at each stage, shape (stages, leaves)."""
        group = self.group_of_leaf(_numbered(self.planes * self.leaves))
        return np.array([self.servers_of_groups(group, servers) for servers in self.sizes or (self.servers,)])

    @cached_property
    def _of_last(self) -> list[bool]:
        of_last: list[bool] = self.is_of_last(_numbered(self.planes * self.leaves)).tolist()
        return of_last

    @cached_property
    def leaf_classes(self) -> tuple[EqualLeaves, ...]:
        """Leaves by their links."""
        on_free = [Counter(number for tier, number in places if tier == "leaf") for places in self.free]
        on_free += [Counter()] * (len(self.attached) - len(on_free))
        kinds: Counter[tuple[int, tuple[int, ...], bool]] = Counter()
        for number, ((ports, attached), of_last) in enumerate(zip(self.dealt_leaves, self._of_last, strict=True)):
            hosted = tuple(dealt + free[number] for dealt, free in zip(attached, on_free, strict=True))
            kinds[ports, hosted, of_last] += 1
        own = {False: (self.k, self.u), True: (self.own_k, self.own_u)}
        return tuple(
            EqualLeaves(count, ports, attached, *own[of_last], of_last)
            for (ports, attached, of_last), count in kinds.items()
        )

    @cached_property
    def dealt_leaves(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """Server ports of every leaf, plane by plane, and the ports of every attachment dealt to it."""
        ports: list[int] = self.leaf_ports.tolist()
        leaves = list(map(LeafKind, map(tuple, self._servers.T.tolist()), ports, self._of_last))
        later = self.adds + ((),) * (len(self.attached) - len(self.adds))
        adds = [own or (ports,) for own, ports in zip(later, self.attached, strict=True)]
        in_pairs = self.paired and not (self.rails % 2 or self.last_rails % 2)
        dealt = dealt_over_leaves(leaves, adds, bool(self.sizes), self.leaf_racks, in_pairs)
        return tuple(zip(ports, dealt, strict=True))

    @property
    def dealt_ports(self) -> list[int]:
        """Ports of every leaf, plane by plane: of servers, and of attachments dealt over all leaves."""
        return [ports + sum(attached) for ports, attached in self.dealt_leaves]

    @cached_property
    def most_endpoints(self) -> int:
        """d: the most server and attachment ports on any leaf that count in its oversubscription.

        Leaves of a last group unlike the others have ``last_endpoints``.
        """
        return self.most_occupied(False, self._counts)

    @cached_property
    def last_endpoints(self) -> int:
        """d': the same for the leaves of a last group unlike the others; 0 where there is none."""
        return self.most_occupied(True, self._counts)

    def most_occupied(self, of_last: bool, counts: tuple[bool, ...] = ()) -> int:
        """Most ports of servers, and of attachments that count (empty: all), on leaves of the last group or of the
        others.
        """
        return max(
            (
                leaf.ports + sum(compress(leaf.attached, counts or (True,) * len(leaf.attached)))
                for leaf in self.leaf_classes
                if leaf.is_of_last == of_last
            ),
            default=0,
        )

    def most_dealt(self, of_last: bool) -> int:
        """The most of ``most_occupied`` without attachments on free ports."""
        return max(compress(self.dealt_ports, (own == of_last for own in self._of_last)), default=0)

    @property
    def _counts(self) -> tuple[bool, ...]:
        return self.counted or (True,) * len(self.attached)

    @cached_property
    def pod_ports(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Of every pod of a plane: (server ports of a leaf, leaves that have as many)."""
        pods: dict[int, Counter[int]] = {}
        leaf = _numbered(self.leaves)
        for pod, ports in zip(self.pod_of_leaf(leaf).tolist(), self.leaf_ports[: self.leaves].tolist(), strict=True):
            pods.setdefault(pod, Counter())[ports] += 1
        return tuple(tuple(sorted(of_pod.items())) for of_pod in pods.values())

    @property
    def links_per_pair(self) -> int:
        """m: the fewest links between a leaf and a spine of its pod; 0 for one tier."""
        return int(self.links_to_each(self.u).min()) if self.tiers > 1 else 0

    def links_to_most(self, uplinks: int, spines: int) -> int:
        """Links of a leaf with ``uplinks`` uplinks to the ``spines`` spines with most of them."""
        return int(np.sort(self.links_to_each(uplinks))[::-1][:spines].sum())

    @cached_property
    def spine_downlinks(self) -> Ints:
        """Down links of every spine, plane by plane and pod by pod, shape (spines,)."""
        _numbered(self.planes * self.pods * self.spines)
        return downlinks_of_spines(self)

    @property
    def most_spine_downlinks(self) -> int:
        """Down links of the busiest spine."""
        return int(self.spine_downlinks.max())

    @cached_property
    def most_spine_ports(self) -> int:
        """d_S: the most down links and attachment ports on any spine that count in its oversubscription."""
        most = self.spine_downlinks.copy()
        for places in compress(self.free, self._counts):
            np.add.at(most, [number for tier, number in places if tier == "spine" and 0 <= number < len(most)], 1)
        return int(most.max())

    @property
    def cores_per_group(self) -> int:
        """C = x / m2."""
        return divide(self.x, self.m2, "a spine's uplinks meet its cores evenly")

    @property
    def core_groups(self) -> int:
        """S / q: core groups of one plane."""
        return divide(self.spines, self.q, "core groups share a pod's spines evenly")

    def switches(self) -> list[int]:
        """Switches of each tier over all planes."""
        cores = self.cores_per_group * self.core_groups if self.tiers > 2 else 0
        return [self.planes * count for count in (self.leaves, self.pods * self.spines, cores)][: self.tiers]


def _numbered(switches: int) -> Ints:
    """Numbers of switches from 0, shape (switches,); raises ``ValueError`` for more than a fabric can have."""
    if switches > _MOST_SWITCHES:
        raise ValueError(f"{switches} switches of a tier, {_MOST_SWITCHES} are counted at the most")
    return np.arange(switches)
