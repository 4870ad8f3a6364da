"""Dragonfly and dragonfly+, recounted from the few numbers of their structure, by the definition of the family.

Leaves of a plane are its first switches, group by group; then come the spines of a dragonfly+ in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from fabopt.schema.structure import DragonflyPlusStructure, DragonflyStructure
from fabopt.units import ceil_div
from fabopt.verify.mesh_counts import Mask, MeshCounts, MeshLinks, Role, half, require
from fabopt.wiring.model import Ints


@dataclass(frozen=True)
class DragonflyCounts(MeshCounts):
    """One plane of a dragonfly, recounted from its structure.

    Arrays of switches have shape (switches asked,), masks of ``halves`` shape (switches,).
    """

    structure: DragonflyStructure

    @property
    def devices(self) -> tuple[tuple[Role, int], ...]:
        """The switches, all of which may have servers."""
        return (("leaf", self.structure.switches_per_group * self.structure.switch_groups),)

    @cached_property
    def scopes(self) -> tuple[MeshLinks, ...]:
        """Local and global links.

        A local link carries its own pair; traffic of its ends over the other's global links; and incoming traffic
        likewise.
        """
        numbers = self.structure
        a, groups, outside = numbers.switches_per_group, numbers.switch_groups, numbers.global_links_per_group
        require(min(a, groups) >= 2 and numbers.links_per_local_pair >= 1, "groups of 2 switches, 2 groups at least")
        require(outside >= groups - 1, f"{outside} global links a group do not reach {groups - 1} others")
        of_pair = outside // (groups - 1)
        local = (1 + Fraction(2 * a * ceil_div(outside, a), of_pair)) / numbers.links_per_local_pair
        return (
            MeshLinks(
                "local",
                ((self.switches, (a - 1) * numbers.links_per_local_pair),),
                groups * a * (a - 1) // 2,
                numbers.links_per_local_pair,
                local,
            ),
            global_scope(a, groups, outside, Fraction(a * a, of_pair)),
        )

    @property
    def smallest(self) -> bool:
        """Whether fewer groups would lack switches for all servers."""
        return self.structure.switches_per_group * (self.structure.switch_groups - 1) < self.used_leaves

    @property
    def hops(self) -> tuple[int, int]:
        """Fewest and most switches on a longest path, which takes at most a local, a global and a local link."""
        return 3, 4

    @property
    def halves(self) -> tuple[tuple[str, Mask], ...]:
        """Two ways to part a plane: half of the groups, and half of every group."""
        switch, size = np.arange(self.switches), self.structure.switches_per_group
        return (
            ("half of the groups", half(self.group_of(switch), self.structure.switch_groups)),
            ("half of every group", half(switch % size, size)),
        )

    @property
    def groups(self) -> int:
        """Groups of switches."""
        return self.structure.switch_groups

    def group_of(self, switch: Ints) -> Ints:
        """Number of the group of each switch, from 0."""
        return np.asarray(switch // self.structure.switches_per_group)

    def are_neighbours(self, scope: str, a: Ints, b: Ints) -> Mask:
        """Whether a link may join two switches: a local link within a group, a global link between two."""
        same = self.group_of(a) == self.group_of(b)
        return np.asarray(same & (a != b) if scope == "local" else ~same)


@dataclass(frozen=True)
class DragonflyPlusCounts(MeshCounts):
    """One plane of a dragonfly+, recounted from its structure.

    Spines are joined to each other; ``scopes`` are of their links only. Arrays of devices have shape (devices asked,),
    masks of ``halves`` shape (devices,).
    """

    structure: DragonflyPlusStructure

    @property
    def devices(self) -> tuple[tuple[Role, int], ...]:
        """Leaves and spines."""
        groups, numbers = self.structure.switch_groups, self.structure
        return ("leaf", groups * numbers.leaves_per_group), ("spine", groups * numbers.spines_per_group)

    @cached_property
    def scopes(self) -> tuple[MeshLinks, ...]:
        """Global links, which are all on spines."""
        numbers = self.structure
        require(numbers.leaves_per_group >= 2 and numbers.switch_groups >= 2, "groups of 2 leaves, 2 groups at least")
        require(min(numbers.spines_per_group, numbers.links_per_pair) >= 1, "a spine, and a link of every leaf to it")
        load = Fraction(numbers.leaves_per_group**2, numbers.global_links_per_group // (numbers.switch_groups - 1) or 1)
        return (global_scope(numbers.spines_per_group, numbers.switch_groups, numbers.global_links_per_group, load),)

    @property
    def uplinks(self) -> int:
        """Links of a leaf to the spines of its group."""
        return self.structure.spines_per_group * self.structure.links_per_pair

    def up_ports(self, role: Role) -> int:
        """Uplinks of a leaf; global links of the busiest spine."""
        return self.uplinks if role == "leaf" else self.most_ports

    def down_ports(self) -> tuple[tuple[Role, int], ...]:
        """Links of a spine to the leaves of its group."""
        return (("spine", self.structure.leaves_per_group * self.structure.links_per_pair),)

    @property
    def spines_of_leaf(self) -> tuple[int, int]:
        """Spines of a leaf, those of its group, and links to each of them."""
        return self.structure.spines_per_group, self.structure.links_per_pair

    @property
    def groups(self) -> int:
        """Groups of switches."""
        return self.structure.switch_groups

    def group_of(self, switch: Ints) -> Ints:
        """Number of the group of each leaf or spine, from 0."""
        numbers = self.structure
        spine = (switch - self.leaves) // numbers.spines_per_group
        return np.where(switch < self.leaves, switch // numbers.leaves_per_group, spine)

    @property
    def smallest(self) -> bool:
        """Whether fewer groups would lack leaves for all servers."""
        return self.structure.leaves_per_group * (self.structure.switch_groups - 1) < self.used_leaves

    @property
    def hops(self) -> tuple[int, int]:
        """Leaf, spine, spine, leaf."""
        return 4, 4

    @property
    def halves(self) -> tuple[tuple[str, Mask], ...]:
        """Two ways to part a plane: half of the groups, and half of the leaves and of the spines of every group."""
        numbers, switch = self.structure, np.arange(self.switches)
        spine = (switch - self.leaves) % numbers.spines_per_group
        return (
            ("half of the groups", half(self.group_of(switch), numbers.switch_groups)),
            (
                "half of every group",
                np.where(
                    switch < self.leaves,
                    half(switch % numbers.leaves_per_group, numbers.leaves_per_group),
                    half(spine, numbers.spines_per_group),
                ),
            ),
        )

    def are_neighbours(self, scope: str, a: Ints, b: Ints) -> Mask:
        """Whether a global link may join two devices: they are spines of two groups."""
        return np.asarray((np.minimum(a, b) >= self.leaves) & (self.group_of(a) != self.group_of(b)))

    @cached_property
    def _streams(self) -> Fraction:
        """Load of the busiest link between a leaf and a spine from one-to-one streams of all leaves, times m.

        Streams to other groups go over the spines by their global links; those within the group fill up the rest.
        """
        numbers = self.structure
        outward = Fraction(numbers.leaves_per_group * self.most_ports, self._of_groups)
        return max(outward, Fraction(self.leaves - 1, numbers.spines_per_group))

    @property
    def _of_groups(self) -> int:
        """The fewest global links between two groups."""
        return self.structure.global_links_per_group // (self.structure.switch_groups - 1)

    def _between(self, speeds: Sequence[int]) -> Fraction:
        """Mb/s of every ordered pair of leaves over the links of their two groups."""
        return speeds[1] / self.scopes[0].load

    def spread(self, ports: int, endpoints: int, speeds: Sequence[int]) -> Fraction:
        """Uniform all-to-all, Mb/s of a port: see the family in docs/formulation/direct-networks.md."""
        inside = self.structure.links_per_pair * speeds[0] / self._streams
        return min(self._between(speeds), inside) * max(1, endpoints - 1) / ports**2

    def cut(self, ports: int, speeds: Sequence[int]) -> Fraction:
        """Bisection, Mb/s of a port: one half sends, over every leaf's links and the links between groups."""
        of_leaf = Fraction(self._of_groups, ceil_div(self._of_groups, self.structure.spines_per_group))
        inside = self.structure.links_per_pair * speeds[0] * max(of_leaf, self.leaves / (2 * self._streams))
        return min(inside, self._between(speeds) * self.leaves / 2) / ports

    def ratios(self, down_mbps: int, speeds: Sequence[int]) -> dict[str, Fraction]:
        """Ratio of a leaf, and of the spines of a group together."""
        numbers, (up, out) = self.structure, speeds
        inside = self.uplinks * up
        return {
            "leaf": Fraction(down_mbps, inside),
            "spine": Fraction(numbers.leaves_per_group * inside, numbers.global_links_per_group * out),
        }


def global_scope(switches: int, groups: int, outside: int, load: Fraction) -> MeshLinks:
    """Links between groups, each of which has ``outside`` on ``switches`` switches; raises ``ValueError`` for none."""
    require(outside >= groups - 1, f"{outside} global links a group do not reach {groups - 1} others")
    require(outside * groups % 2 == 0, f"{groups} groups of {outside} links each: one would have no other end")
    few, busier = divmod(outside, switches)
    holders = ((groups * (switches - busier), few), (groups * busier, few + 1))
    return MeshLinks("global", holders, groups * outside // 2, 1, load)
