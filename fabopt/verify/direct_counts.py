"""Networks of equal switches, recounted from the few numbers of their structure, by the definition of the family.

Nothing here reads anything but the structure: it goes in, every count comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import ClassVar, Literal

from fabopt.schema.structure import DirectStructure, DragonflyStructure, HyperxStructure, TorusStructure
from fabopt.units import ceil_div

# A ring of two would join one pair twice, and one switch has no neighbour; the longest is that of the family.
SHORTEST_RING = 3
Role = Literal["leaf", "spine"]
Equals = Literal["leaf", "spine", "server"]
LONGEST_RING = 1024


@dataclass(frozen=True)
class Scope:
    """Links of one kind, of one plane.

    ``holders``: (switches, links of each); ``pairs``: joined pairs with ``each`` links side by side; ``load``: ordered
    pairs of switches that the busiest link carries on minimal routes, their traffic being spread evenly.
    """

    name: str
    holders: tuple[tuple[int, int], ...]
    pairs: int
    each: int
    load: Fraction

    @property
    def links(self) -> int:
        """Every link is at two switches."""
        return sum(switches * links for switches, links in self.holders) // 2

    @property
    def most(self) -> int:
        """Links at the busiest switch."""
        return max(links for switches, links in self.holders if switches)

    def cages(self, ports: int) -> int:
        """Cages of so many ports that hold them, over all switches: a cage has links of one kind only."""
        return sum(switches * ceil_div(links, ports) for switches, links in self.holders)


@dataclass(frozen=True)
class Mesh:
    """One plane."""

    structure: DirectStructure
    # the boxes that are joined to each other
    role: ClassVar[Equals] = "leaf"

    @property
    def tiers(self) -> tuple[tuple[Role, int], ...]:
        """How many switches of each role: those with servers first."""
        return (("leaf", self._volume),)

    @cached_property
    def leaves(self) -> int:
        """Q: switches that can have servers, the first of all."""
        return self.tiers[0][1]

    @cached_property
    def switches(self) -> int:
        """All of them."""
        return sum(count for _, count in self.tiers)

    @property
    def _volume(self) -> int:
        one = self.structure
        if isinstance(one, HyperxStructure | TorusStructure):
            return prod(one.sides)
        assert isinstance(one, DragonflyStructure)
        return one.switches_per_group * one.switch_groups

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """Its kinds of links; raises ``ValueError`` where the numbers are none of the family's."""
        one = self.structure
        if isinstance(one, HyperxStructure):
            return self._hyperx(one)
        if isinstance(one, TorusStructure):
            return self._torus(one)
        assert isinstance(one, DragonflyStructure)
        return self._dragonfly(one)

    @cached_property
    def flow(self) -> Fraction:
        """Traffic that every ordered pair of switches can have at once, in units of a link's speed."""
        return min(1 / scope.load for scope in self.scopes)

    def cut(self, ports: int, speeds: Sequence[int]) -> Fraction:
        """Bisection, Mb/s of a port with at most so many on a switch, by the speeds of links that go up from a tier.

        Any x of Q switches have links of ``flow x (Q - x)`` to the others, for at most d x ports.
        """
        return self.flow * speeds[0] * self.leaves / (2 * ports)

    def spread(self, ports: int, endpoints: int, speeds: Sequence[int]) -> Fraction:
        """Uniform all-to-all, Mb/s of a port: two switches have at most d^2 of the E (E - 1) ordered pairs of ports."""
        return self.flow * speeds[0] * max(1, endpoints - 1) / ports**2

    def ratios(self, down_mbps: int, speeds: Sequence[int]) -> dict[str, Fraction]:
        """Speed of the server ports of the busiest switch over that of its links to others, by tier."""
        return {"leaf": Fraction(down_mbps, self.most_ports * speeds[0])}

    def up_ports(self, role: Role) -> int:
        """Links of the busiest switch of a tier to others of its tier or of the next."""
        return self.most_ports

    def most_cages(self, ports: int) -> int:
        """Cages for links to other switches on the busiest switch."""
        return sum(ceil_div(scope.most, ports) for scope in self.scopes)

    @property
    def most_ports(self) -> int:
        """Links to other switches on the busiest switch."""
        return sum(scope.most for scope in self.scopes)

    @property
    def smallest(self) -> bool:
        """Whether no shorter side (or fewer groups) would have held as many switches with servers."""
        one, leaves = self.structure, self.structure.groups * rails_of(self.structure)
        if isinstance(one, HyperxStructure | TorusStructure):
            return all(self.switches // side * (side - 1) < leaves for side in one.sides)
        assert isinstance(one, DragonflyStructure)
        return one.switches_per_group * (one.switch_groups - 1) < leaves

    def _hyperx(self, one: HyperxStructure) -> tuple[Scope, ...]:
        """In a line of S switches each has a link to S - 1 others; Q / S ordered pairs change that coordinate there."""
        require(len(one.sides) == len(one.links_per_pair) >= 1, "a multiplicity for every side")
        require(min(one.sides) >= 2 and min(one.links_per_pair) >= 1, f"sides {one.sides}: 2 or more")
        return tuple(
            Scope(
                f"dim-{number}",
                ((self.switches, (side - 1) * links),),
                self.switches * (side - 1) // 2,
                links,
                Fraction(self.switches, side * links),
            )
            for number, (side, links) in enumerate(zip(one.sides, one.links_per_pair, strict=True), 1)
        )

    def _torus(self, one: TorusStructure) -> tuple[Scope, ...]:
        """Every switch has a link to the next and from the one before. Distances in a ring of k add up to
        floor(k^2 / 4), over two ways round.
        """
        require(len(one.sides) == len(one.links_per_pair) >= 2, "a multiplicity for every side")
        require(min(one.links_per_pair) >= 1, "links of every ring")
        shortest, longest = min(one.sides), max(one.sides)
        require(
            shortest >= SHORTEST_RING and longest <= LONGEST_RING,
            f"sides {one.sides}: {SHORTEST_RING} to {LONGEST_RING}; a ring of two joins one pair twice",
        )
        found = []
        for number, (side, links) in enumerate(zip(one.sides, one.links_per_pair, strict=True), 1):
            steps = sum(min(step, side - step) for step in range(side))
            load = Fraction(self.switches * steps, side * 2 * links)
            found.append(Scope(f"dim-{number}", ((self.switches, 2 * links),), self.switches, links, load))
        return tuple(found)

    def _dragonfly(self, one: DragonflyStructure) -> tuple[Scope, ...]:
        """A local link carries its own pair; what its ends send out over the other's global links; what comes in so."""
        a, groups, outside = one.switches_per_group, one.switch_groups, one.global_links_per_group
        require(min(a, groups) >= 2 and one.links_per_local_pair >= 1, "groups of 2 switches, 2 groups at least")
        require(outside >= groups - 1, f"{outside} global links a group do not reach {groups - 1} others")
        each = outside // (groups - 1)
        local = (1 + Fraction(2 * a * ceil_div(outside, a), each)) / one.links_per_local_pair
        return (
            Scope(
                "local",
                ((self.switches, (a - 1) * one.links_per_local_pair),),
                groups * a * (a - 1) // 2,
                one.links_per_local_pair,
                local,
            ),
            global_scope(a, groups, outside, Fraction(a * a, each)),
        )


@dataclass(frozen=True)
class Servers(Mesh):
    """Servers in place of switches: each is one endpoint, whose rates are those of a server."""

    role: ClassVar[Equals] = "server"

    @property
    def tiers(self) -> tuple[tuple[Role, int], ...]:
        """There is no switch."""
        return ()

    @cached_property
    def leaves(self) -> int:
        """Q: all servers."""
        return self._volume

    @cached_property
    def switches(self) -> int:
        """The boxes that are joined."""
        return self._volume

    def ratios(self, down_mbps: int, speeds: Sequence[int]) -> dict[str, Fraction]:
        """Nothing without switches."""
        return {}


def global_scope(switches: int, groups: int, outside: int, load: Fraction) -> Scope:
    """Links between groups, each of which has ``outside`` on so many switches; raises ``ValueError`` for none."""
    require(outside >= groups - 1, f"{outside} global links a group do not reach {groups - 1} others")
    require(outside * groups % 2 == 0, f"{groups} groups of {outside} links each: one would have no other end")
    few, busier = divmod(outside, switches)
    holders = ((groups * (switches - busier), few), (groups * busier, few + 1))
    return Scope("global", holders, groups * outside // 2, 1, load)


def require(condition: bool, otherwise: str) -> None:
    """Raise ``ValueError`` unless a structure has what its family asks for."""
    if not condition:
        raise ValueError(otherwise)


def rails_of(structure: DirectStructure) -> int:
    """Switches of a server group in one plane."""
    return structure.ports_per_server // structure.ports_per_server_per_leaf
