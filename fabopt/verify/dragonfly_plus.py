"""A dragonfly+, recounted from the few numbers of its structure, by the definition of the family.

Leaves of a plane are its first switches, group by group, then come the spines in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from fabopt.schema.structure import DragonflyPlusStructure
from fabopt.units import ceil_div
from fabopt.verify.clos_counts import Boxes
from fabopt.verify.direct_counts import Equals, Mesh, Role, Scope, global_scope, rails_of, require
from fabopt.wiring.model import Ints


@dataclass(frozen=True)
class Groups(Mesh):
    """One plane. Spines are joined to each other; ``scopes`` are of their links only."""

    structure: DragonflyPlusStructure

    role: ClassVar[Equals] = "spine"

    @property
    def tiers(self) -> tuple[tuple[Role, int], ...]:
        """Leaves and spines."""
        one = self.structure
        return ("leaf", one.switch_groups * one.leaves_per_group), ("spine", one.switch_groups * one.spines_per_group)

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """Global links, which are all on spines; raises ``ValueError`` where the numbers are none of the family's."""
        one = self.structure
        require(one.leaves_per_group >= 2 and one.switch_groups >= 2, "groups of 2 leaves, 2 groups at least")
        require(min(one.spines_per_group, one.links_per_pair) >= 1, "a spine, and a link of every leaf to it")
        load = Fraction(one.leaves_per_group**2, one.global_links_per_group // (one.switch_groups - 1) or 1)
        return (global_scope(one.spines_per_group, one.switch_groups, one.global_links_per_group, load),)

    @property
    def uplinks(self) -> int:
        """Links of a leaf to the spines of its group."""
        return self.structure.spines_per_group * self.structure.links_per_pair

    def up_ports(self, role: Role) -> int:
        """Uplinks of a leaf; global links of the busiest spine."""
        return self.uplinks if role == "leaf" else self.most_ports

    def boxes(self, planes: int) -> tuple[Boxes, Boxes]:
        """Leaves by their links to spines, spines by those to leaves, of all planes."""
        one, (leaves, spines) = self.structure, (planes * count for _, count in self.tiers)
        return (
            Boxes(leaves, ((one.spines_per_group, one.links_per_pair),)),
            Boxes(spines, ((one.leaves_per_group, one.links_per_pair),)),
        )

    def group_of(self, switch: Ints) -> Ints:
        """Number of the group, from 0, of switches by their numbers in a plane."""
        one = self.structure
        spine = (switch - self.leaves) // one.spines_per_group
        return np.where(switch < self.leaves, switch // one.leaves_per_group, spine)

    @property
    def smallest(self) -> bool:
        """Whether fewer groups would not have had leaves for all servers."""
        one = self.structure
        return one.leaves_per_group * (one.switch_groups - 1) < one.groups * rails_of(one)

    @cached_property
    def _streams(self) -> Fraction:
        """What the busiest link between a leaf and a spine carries of one-to-one streams of all leaves, times m.

        Those to other groups go over the spines by their global links; those within the group fill up the rest.
        """
        one, each = self.structure, self._each
        outward = Fraction(one.leaves_per_group * self.most_ports, each)
        return max(outward, Fraction(self.leaves - 1, one.spines_per_group))

    @property
    def _each(self) -> int:
        """Global links of two groups, the fewest."""
        return self.structure.global_links_per_group // (self.structure.switch_groups - 1)

    def _between(self, speeds: Sequence[int]) -> Fraction:
        """Mb/s of every ordered pair of leaves over the links of their two groups."""
        return speeds[1] / self.scopes[0].load

    def spread(self, ports: int, endpoints: int, speeds: Sequence[int]) -> Fraction:
        """Uniform all-to-all, Mb/s of a port: see the family in docs/formulation/direct-networks.md."""
        inside = self.structure.links_per_pair * speeds[0] / self._streams
        return min(self._between(speeds), inside) * max(1, endpoints - 1) / ports**2

    def cut(self, ports: int, speeds: Sequence[int]) -> Fraction:
        """Bisection, Mb/s of a port: one half sends, over every leaf's links and those between groups."""
        of_leaf = Fraction(self._each, ceil_div(self._each, self.structure.spines_per_group))
        inside = self.structure.links_per_pair * speeds[0] * max(of_leaf, self.leaves / (2 * self._streams))
        return min(inside, self._between(speeds) * self.leaves / 2) / ports

    def ratios(self, down_mbps: int, speeds: Sequence[int]) -> dict[str, Fraction]:
        """Of a leaf, and of the spines of a group together."""
        one, (up, out) = self.structure, speeds
        inside = self.uplinks * up
        return {
            "leaf": Fraction(down_mbps, inside),
            "spine": Fraction(one.leaves_per_group * inside, one.global_links_per_group * out),
        }
