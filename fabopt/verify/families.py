"""The counts of every family of direct networks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar

import numpy as np

from fabopt.schema.design import Metrics
from fabopt.schema.structure import DirectStructure, LatticeStructure, SwitchlessStructure
from fabopt.verify.dragonfly_counts import DragonflyCounts, DragonflyPlusCounts
from fabopt.verify.mesh_counts import Mask, MeshCounts, MeshLinks, Role, half, require
from fabopt.wiring.model import Ints

# -- hyperX and torus, of switches or of servers, recounted: devices at the points of a lattice -----------------------


# A ring of two would join one pair twice, and one switch has no neighbour; the longest is that of the family.
SHORTEST_RING = 3
LONGEST_RING = 1024


@dataclass(frozen=True)
class LatticeCounts(MeshCounts):
    """One plane of a lattice, recounted from its structure.

    Links lead from a point to others of its line in one dimension. Arrays of points have shape (points asked,), masks
    of ``halves`` shape (points,).
    """

    structure: LatticeStructure
    shortest: ClassVar[int] = 1

    @property
    def devices(self) -> tuple[tuple[Role, int], ...]:
        """The switches, all of which may have servers."""
        return (("leaf", prod(self.sides)),)

    @property
    def sides(self) -> tuple[int, ...]:
        """Points of a line, by dimension."""
        return self.structure.sides

    @property
    def smallest(self) -> bool:
        """Whether no shorter side, where one is allowed, would hold as many switches with servers."""
        longer = [side for side in self.sides if side > self.shortest]
        return all(self.switches // side * (side - 1) < self.used_leaves for side in longer)

    @property
    def halves(self) -> tuple[tuple[str, Mask], ...]:
        """A mask for each dimension: the first half of the plane along it."""
        places = enumerate(self._coordinates(np.arange(self.switches)))
        return tuple((f"half of dimension {number + 1}", half(place, self.sides[number])) for number, place in places)

    def are_neighbours(self, scope: str, a: Ints, b: Ints) -> Mask:
        """Whether points differ in the coordinate of the scope alone, and a line joins them."""
        dimension = int(scope.removeprefix("dim-")) - 1
        joined = np.ones(len(a), dtype=np.bool_)
        for number, (x, y) in enumerate(zip(self._coordinates(a), self._coordinates(b), strict=True)):
            joined = joined & (self._joined(x, y, self.sides[number]) if number == dimension else x == y)
        return joined

    def _coordinates(self, switch: Ints) -> list[Ints]:
        coordinates = []
        for side in self.sides:
            coordinates.append(switch % side)
            switch = switch // side
        return coordinates

    @abstractmethod
    def _joined(self, x: Ints, y: Ints, side: int) -> Mask:
        """Whether points of a line of ``side`` points are joined."""


@dataclass(frozen=True)
class HyperxCounts(LatticeCounts):
    """A lattice in which all points of a line are joined."""

    @cached_property
    def scopes(self) -> tuple[MeshLinks, ...]:
        """In a line of S switches each has a link to S - 1 others; Q / S ordered pairs change that coordinate there."""
        sides, links_per_pair = self.sides, self.structure.links_per_pair
        require(len(sides) == len(links_per_pair) >= 1, "a multiplicity for every side")
        require(min(sides) >= 2 and min(links_per_pair) >= 1, f"sides {sides}: 2 or more")
        return tuple(
            MeshLinks(
                f"dim-{number}",
                ((self.switches, (side - 1) * links),),
                self.switches * (side - 1) // 2,
                links,
                Fraction(self.switches, side * links),
            )
            for number, (side, links) in enumerate(zip(sides, links_per_pair, strict=True), 1)
        )

    @property
    def hops(self) -> tuple[int, int]:
        """A step in every dimension."""
        steps = 1 + len(self.sides)
        return steps, steps

    def _joined(self, x: Ints, y: Ints, side: int) -> Mask:
        return np.asarray(x != y)


@dataclass(frozen=True)
class TorusCounts(LatticeCounts):
    """Every line is a ring."""

    shortest = SHORTEST_RING

    @cached_property
    def scopes(self) -> tuple[MeshLinks, ...]:
        """Every switch has a link to the next and one from the previous.

        Distances in a ring of k add up to floor(k^2 / 4), over two ways round.
        """
        sides, links_per_pair = self.sides, self.structure.links_per_pair
        require(len(sides) == len(links_per_pair) >= 2, "a multiplicity for every side")
        require(min(links_per_pair) >= 1, "links of every ring")
        require(
            min(sides) >= SHORTEST_RING and max(sides) <= LONGEST_RING,
            f"sides {sides}: {SHORTEST_RING} to {LONGEST_RING}; a ring of two joins one pair twice",
        )
        scopes = []
        for number, (side, links) in enumerate(zip(sides, links_per_pair, strict=True), 1):
            steps = sum(min(step, side - step) for step in range(side))
            load = Fraction(self.switches * steps, side * 2 * links)
            scopes.append(MeshLinks(f"dim-{number}", ((self.switches, 2 * links),), self.switches, links, load))
        return tuple(scopes)

    @property
    def hops(self) -> tuple[int, int]:
        """Half way round every ring, of the dimensions in which devices with endpoints differ."""
        coordinates = self._coordinates(np.arange(self.used_leaves))
        steps = 1 + sum(side // 2 for side, place in zip(self.sides, coordinates, strict=True) if place.any())
        return steps, steps

    def _joined(self, x: Ints, y: Ints, side: int) -> Mask:
        return np.asarray((np.abs(x - y) == 1) | (np.abs(x - y) == side - 1))


@dataclass(frozen=True)
class ServerTorusCounts(TorusCounts):
    """Servers in place of switches: each is one endpoint, whose rates are those of a server."""

    structure: SwitchlessStructure

    @property
    def devices(self) -> tuple[tuple[Role, int], ...]:
        """The servers, each an endpoint."""
        return (("server", prod(self.sides)),)

    @property
    def tiers(self) -> tuple[tuple[Role, int], ...]:
        """No tiers: there are no switches."""
        return ()

    def hops_claimed(self, metrics: Metrics) -> int:
        """Servers passed on the longest path, and both ends, by the file's figures."""
        return 2 + (-1 if metrics.max_nic_hops is None else metrics.max_nic_hops)

    def ratios(self, down_mbps: int, speeds: Sequence[int]) -> dict[str, Fraction]:
        """No ratios: there are no switches."""
        return {}


# -- the counts of every family of direct networks --------------------------------------------------------------------


COUNTS: Mapping[str, type[MeshCounts]] = {
    "hyperx": HyperxCounts,
    "torus": TorusCounts,
    "server-torus": ServerTorusCounts,
    "dragonfly": DragonflyCounts,
    "dragonfly+": DragonflyPlusCounts,
}


def counts_of(structure: DirectStructure) -> MeshCounts:
    """The counts of a structure, by its kind."""
    return COUNTS[structure.kind](structure)
