"""The hardware of a Clos candidate, and the quantities of its links and cages.

Every function takes integers or integer arrays; symbols are those of ``fabopt.network.clos_shape``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.clos_shape import ClosShape, greater, lesser
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType, cages_beside
from fabopt.topology.link_parts import CrossedSets, Need, OwnCages, PeerLinks, Side, scaled_ceil
from fabopt.units import IntArray, Number, Truth, ceil_of

Ints = NDArray[np.int64]

TierCount = Literal[1, 2, 3]


class SwitchUse(NamedTuple):
    """A switch type with the use of its cages downwards, and of those upwards where it has such."""

    switch: SwitchType
    down: CageUse
    up: CageUse | None = None


@dataclass(frozen=True)
class Parts:
    """The hardware of a candidate: one choice of switches and of the use of their cages.

    ``last_leaf``: leaves of a differing last group, where they are of another type. Its cages take the same parts as
    those of ``leaf``.
    """

    protocol: str
    nic: NicOption
    leaf: SwitchType
    leaf_down: CageUse
    leaf_up: CageUse | None = None
    spine: SwitchType | None = None
    spine_down: CageUse | None = None
    spine_up: CageUse | None = None
    core: SwitchType | None = None
    core_down: CageUse | None = None
    last_leaf: SwitchUse | None = None

    @property
    def uplink(self) -> CageUse:
        """The use of a leaf's cages for links to other switches, where it has such."""
        assert self.leaf_up is not None
        return self.leaf_up

    @property
    def of_last(self) -> Parts:
        """The hardware with all leaves of the last group's type."""
        if self.last_leaf is None:
            return self
        switch, down, up = self.last_leaf
        return replace(self, leaf=switch, leaf_down=down, leaf_up=up, last_leaf=None)

    @property
    def tiers(self) -> TierCount:
        """Number of switch tiers."""
        if self.spine is None:
            return 1
        return 2 if self.core is None else 3

    @property
    def switches(self) -> tuple[SwitchType, ...]:
        """Types of the switches, from the leaves up."""
        last = None if self.last_leaf is None else self.last_leaf.switch
        return tuple(switch for switch in (self.leaf, last, self.spine, self.core) if switch is not None)

    @property
    def vendors(self) -> dict[str, frozenset[str]]:
        """Vendors of the switches of each tier."""
        of_last = () if self.last_leaf is None else (self.last_leaf.switch,)
        tiers = {"leaf": (self.leaf, *of_last), "spine": (self.spine,), "core": (self.core,)}
        return {
            role: frozenset(switch.item.sold_by.seller for switch in switches if switch is not None)
            for role, switches in tiers.items()
        }

    @property
    def reduces(self) -> bool:
        """Whether all switches support in-network reduction."""
        return all(switch.product.reduces for switch in self.switches)


@dataclass(frozen=True)
class Shape(ClosShape[Any]):
    """The numbers of a candidate (or of many, as arrays), and the quantities of its links."""

    @property
    def of_last(self) -> Shape:
        """The shape with all groups like a differing last one; only its links of leaves hold."""
        return replace(self, k=self.last_k, u=self.last_u, own_k=0, own_u=0)

    def server_leaf(
        self, nic: NicOption, leaf_ports: int, leaf_limit: Number, last_limit: Number | None = None
    ) -> Need:
        """Links between servers and leaves, attachments left out; ``last_limit``: of a leaf of a differing last
        group.
        """
        nics = nic.nics_per_server if nic.own_cages else 1
        own = OwnCages(nic.full_cages, nic.partial_cages, nic.partial_ports, nics, nic.ports_per_server // nics)
        together, last_together = nic.bundle(int(self.k)), nic.bundle(int(self.last_k))
        sets, last_sets = self.k // together, self.last_k // last_together
        leaves, last_leaves = self.planes * self.rails, self.planes * self.last_rails
        servers = [PeerLinks(self.servers, together, leaves * sets, 0)]
        if self.has_own_last:
            servers = [
                PeerLinks(self.servers - self.last_group, together, leaves * sets, 0),
                PeerLinks(self.last_group, last_together, last_leaves * last_sets, 0),
            ]
        rest = self.rest_group > 0
        full = PeerLinks((self.groups - 1 - rest) * leaves, together, self.g * sets, 0)
        last = PeerLinks(last_leaves, last_together, self.last_group * last_sets, 0, limit=last_limit)
        behind = PeerLinks(leaves * rest, together, self.rest_group * sets, 0)
        crossings = [
            CrossedSets(self.groups - 1 - rest, self.g * self.k, leaves),
            CrossedSets(1, self.last_group * self.last_k, last_leaves),
            CrossedSets(1 * rest, self.rest_group * self.k, leaves),
        ][: 3 if self.own_end else 2]
        return Need(
            Side(servers, nic.port.ports, nic.cage_limit, own),
            Side((full, last, behind)[: 3 if self.own_end else 2], leaf_ports, leaf_limit),
            tuple(crossings) if _crosses(nic, int(self.k)) and _crosses(nic, int(self.last_k)) else (),
        )

    def leaf_spine(
        self,
        leaf_ports: int,
        leaf_limit: Number,
        spine_ports: int,
        spine_limit: Number,
        last_limit: Number | None = None,
    ) -> Need:
        """Links between leaves and spines; ``last_limit``: cages of a leaf of a differing last group."""
        if self.has_own_last:
            ends = Side((), leaf_ports, leaf_limit), Side((), spine_ports, spine_limit)
            return self._leaf_spine_with_last(*ends, last_limit)
        links = self.links_per_pair
        more = self.u - links * self.spines
        leaf = PeerLinks(self.planes * self.leaves, links, self.spines - more, more)
        pods_per_rail = ceil_of(self.groups, self.groups_per_pod)
        kinds = self.planes * (1 + self.rail_pods * (self.rails - 1))
        last_leaves = self.last_pod_groups * self.leaves_of_a_group
        sets = ((pods_per_rail - 1, self.leaves_per_pod), (1, last_leaves))
        spines = [
            profile
            for pods, leaves in sets
            for profile in _spine_profiles(
                kinds * pods, leaves, self.spines, links, more, leaves // self.leaves_of_a_group if self.by_rail else 1
            )
        ]
        crossings = tuple(CrossedSets(kinds * pods, leaves, self.u) for pods, leaves in sets)
        return Need(Side((leaf,), leaf_ports, leaf_limit), Side(spines, spine_ports, spine_limit), crossings)

    def _leaf_spine_with_last(self, leaves: Side, spines: Side, last_limit: Number | None) -> Need:
        """Links between leaves and spines with a differing last group."""
        links, of_last = self.links_per_pair, self.last_links_per_pair
        of_leaves = (
            PeerLinks(self.planes * (self.leaves - self.last_rails), links, self.spines, 0),
            PeerLinks(self.planes * self.last_rails, of_last, self.spines, 0, limit=last_limit),
        )
        of_pods = self.planes * (1 + self.rail_pods * (self.rails - 1)) * self.spines
        full_pods = ceil_of(self.groups, self.groups_per_pod) - 1
        in_last_pod = (self.last_pod_groups - 1) * self.leaves_of_a_group
        of_spines = (
            PeerLinks(of_pods * full_pods, links, self.groups_per_pod * self.leaves_of_a_group, 0),
            PeerLinks(of_pods, links, in_last_pod, 0, self.leaves_of_last_group, of_last),
        )
        kinds = of_pods // self.spines
        crossings = (
            CrossedSets(kinds * full_pods, self.groups_per_pod * self.leaves_of_a_group, self.u),
            CrossedSets(kinds, in_last_pod, self.u),
            CrossedSets(kinds, self.leaves_of_last_group, self.own_u),
        )
        return Need(replace(leaves, profiles=of_leaves), replace(spines, profiles=of_spines), crossings)

    def spine_core(self, spine_ports: int, spine_limit: Number, core_ports: int, core_limit: Number) -> Need:
        """Links between spines and cores."""
        spine = PeerLinks(self.planes * self.pods * self.spines, self.m2, self.cores_per_group, 0)
        core = PeerLinks(self.planes * self.cores, self.m2, self.pods * self.q, 0)
        crossing = CrossedSets(self.planes * (self.spines // np.maximum(self.q, 1)), self.pods * self.q, self.x)
        return Need(Side((spine,), spine_ports, spine_limit), Side((core,), core_ports, core_limit), (crossing,))

    def take(self, index: Any) -> Shape:
        """The rows at an index."""

        # what has been worked out of it is of candidates too: it is taken along
        taken = object.__new__(Shape)
        known = self.__dict__.items()
        taken.__dict__.update({name: value[index] if getattr(value, "ndim", 0) else value for name, value in known})
        return taken

    def key(self, index: int) -> Hashable:
        """Key of one row."""
        return self.row(index)

    def row(self, index: int) -> Shape:
        """One candidate as a shape of plain numbers."""

        def plain(value: Any) -> int:
            return int(value[index]) if hasattr(value, "__len__") else int(value)

        return Shape(
            self.servers, self.ports, self.planes, plain(self.k), plain(self.g), plain(self.u), plain(self.spines),
            plain(self.groups_per_pod), bool(plain(self.rail_pods)), plain(self.x), plain(self.q), plain(self.m2),
            self.sizes, self.by_rail, plain(self.own_k), plain(self.own_u), self.own_end,
        )  # fmt: skip


def _crosses(nic: NicOption, k: int) -> bool:
    """Whether shuffles may join servers to leaves with ``k`` ports of each: a leaf takes one port of a connector."""
    alone = k == 1 or nic.dual or nic.ports_per_nic == nic.planes_per_nic
    return alone and (nic.ports_per_nic if nic.own_cages or k > 1 else nic.ports_per_server) % nic.port.ports == 0


def _spine_profiles(
    pods: Number, leaves: Number, spines: Number, links: Number, more: Number, alike: Number
) -> list[PeerLinks]:
    """Spines of equal pods: each leaf gives ``more`` of them one link more, in turn, ``alike`` leaves to the same ones.

    So loads of spines differ by at most ``alike`` links.
    """
    extra = leaves // greater(1, alike) * more
    least = extra // spines
    busier = extra - least * spines
    return [
        PeerLinks(pods * (spines - busier), links, leaves - alike * least, alike * least),
        PeerLinks(pods * busier, links, leaves - alike * (least + 1), alike * (least + 1)),
    ]


def most_endpoints(shape: Shape, attached: Sequence[int]) -> Number:
    """d: most server and attachment ports on any leaf. ``attached``: ports of attachments by the stage that adds them.

    A differing last group's leaves have ``last_endpoints``. Rule ``attachments_are_placed``: they go round the leaves,
    one each a round, those with the fewest servers first. In a cluster that grows, a stage's attachments go to the
    leaves with the fewest attachments, the first of equals: so the first leaf of all always has the most, and gets one
    more as soon as all have as many.
    """
    full: Number = shape.g * shape.k
    if not any(attached):
        return lesser(full, shape.servers * shape.k)
    if shape.sizes:
        most: Number = 0
        for size, ports in zip(shape.sizes, accumulate(attached), strict=False):
            leaves = shape.planes * replace(shape, servers=size).leaves
            most = greater(most, ceil_of(ports, leaves))
        return lesser(full, shape.servers * shape.k) + most
    on_full, on_last = attached_to_leaves(shape, sum(attached))
    if shape.has_own_last:
        return full + on_full
    only_last = shape.groups == 1
    return greater(np.where(only_last, 0, full + on_full), shape.last_group * shape.k + on_last)


def last_endpoints(shape: Shape, attached: Sequence[int]) -> Number:
    """d': most server and attachment ports on any leaf of a differing last group; ``attached``: as of
    ``most_endpoints``.
    """
    of_servers: Number = shape.last_group * shape.last_k
    return of_servers + attached_to_leaves(shape, sum(attached))[1]


def attached_to_leaves(shape: Shape, attachment_ports: int) -> tuple[Number, Number]:
    """Most attachment ports on a leaf of a full group, and of the last one.

    Leaves with fewer servers' ports come first; of equals in order, a differing last group after the others.
    """
    all_leaves, of_last = shape.planes * shape.leaves, shape.planes * shape.last_rails
    comes_first = last_is_emptier(shape)
    rounds = attachment_ports // all_leaves
    rest = attachment_ports - rounds * all_leaves
    before_full = np.where(comes_first, of_last, 0)
    before_last = np.where(comes_first, 0, all_leaves - of_last) if shape.has_own_last else 0
    return rounds + (rest > before_full), rounds + (rest > before_last)


def last_is_emptier(shape: Shape) -> Truth:
    """Whether leaves of the last group have fewer ports of servers than others."""
    of_last: Number = shape.last_group * shape.last_k
    of_others: Number = shape.g * shape.k
    return of_last < of_others


def up_cage_limit(down: CageUse, up: CageUse, down_ports: Number) -> Number:
    """Cages left for uplinks."""
    return cages_beside(up, down, ceil_of(down_ports, down.lane.ports))


def down_cage_limit(down: CageUse, up: CageUse, up_ports: Number) -> Number:
    """Cages left for down links."""
    return cages_beside(down, up, ceil_of(up_ports, up.lane.ports))


def usable_ports(use: CageUse, switch: SwitchType) -> int:
    """Most ports of one use of a switch's cages."""
    return min(use.cages * use.lane.ports, switch.max_ports)


def most_peers(use: CageUse, switch: SwitchType, together: int) -> int:
    """Most devices with a link each, if a cable of ``together`` ports of a cage goes to each; idle ports are not
    driven.
    """
    return min(use.cages * use.lane.ports // together, switch.max_ports)


def uplinks_that_fit(switch: SwitchType, down: CageUse, up: CageUse, down_ports: Number) -> IntArray:
    """Most uplinks beside ``down_ports`` down ports (an array); negative where the down ports alone do not fit.

    Rule ``ports_fit_radix``: cages face one way, and ports are no more than the switch can drive.
    """
    down_cages = ceil_of(down_ports, down.lane.ports)
    left = cages_beside(up, down, down_cages)
    room = np.minimum(left * up.lane.ports, switch.max_ports - down_ports)
    return np.where(down_cages <= down.cages, room, -1)


def most_down(switch: SwitchType, down: CageUse, up: CageUse, uplinks: int) -> int:
    """Most down ports of a switch beside ``uplinks`` uplinks."""
    ports = np.arange(usable_ports(down, switch) + 1)
    return int(ports[uplinks_that_fit(switch, down, up, ports) >= uplinks].max(initial=0))


def most_down_ports(switch: SwitchType, down: CageUse, up: CageUse, needed: Callable[..., Ints]) -> int:
    """Most down ports of a switch whose uplinks, ``needed``, still fit beside them."""
    ports = np.arange(1, usable_ports(down, switch) + 1)
    fits = np.flatnonzero(needed(ports, down, up) <= uplinks_that_fit(switch, down, up, ports))
    return int(fits[-1]) + 1 if fits.size else 0


def uplinks_needed(down_links: Number, down: CageUse, up: CageUse, most: Fraction) -> Ints:
    """Fewest uplinks of a switch (at least 1) for ``down_links`` down links at an oversubscription of ``most``.

    The result has the shape of ``down_links``. Rule ``uplinks_carry_demand``.
    """
    factor, divisor = down.lane.port_mbps * most.denominator, up.lane.port_mbps * most.numerator
    return np.asarray(np.maximum(1, scaled_ceil(down_links, factor, divisor)))


@cache
def divisors(number: int) -> tuple[int, ...]:
    """The divisors of a number, rising."""
    return tuple(divisor for divisor in range(1, number + 1) if number % divisor == 0)


def ranges(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Row and value of every whole number from ``first`` to ``last`` (inclusive) of each row.

    ``first`` and ``last`` have shape (rows,), both results shape (numbers of all rows,).
    """
    counts = np.maximum(0, last - first + 1)
    rows = np.repeat(np.arange(counts.size), counts)
    return rows, np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]


def chunks(order: Ints, first: int) -> Iterator[Ints]:
    """Slices of an order, shape (candidates,), each twice as long as the one before."""
    start, size = 0, first
    while start < order.size:
        yield order[start : start + size]
        start, size = start + size, size * 2
