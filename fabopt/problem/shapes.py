"""The networks that are looked at, and how servers and links of one lie on its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from fabopt.schema.product import Protocol
from fabopt.schema.topologies import TIERED

NODES: Final = ("switches", "servers")


@dataclass(frozen=True)
class Shapes:
    """The families that are looked at, the tiers of a Clos, the most switches on a path of another one (None: any), and
    what may be at the points of a torus.
    """

    topologies: tuple[str, ...] = ("clos",)
    tiers: tuple[int, ...] = (1, 2, 3)
    most_hops: int | None = None
    torus_nodes: tuple[str, ...] = ("switches",)

    def only(self, family: str, tiers: Sequence[int]) -> Shapes:
        """The shapes of one family with these numbers of tiers."""
        topologies = tuple(name for name in self.topologies if name == family)
        return replace(self, topologies=topologies, tiers=tuple(number for number in self.tiers if number in tiers))

    @property
    def have_tiered(self) -> bool:
        """Whether some are of leaves with switches above them."""
        return any(name in TIERED for name in self.topologies)

    @property
    def have_direct(self) -> bool:
        """Whether some are of switches, or servers, that are joined to each other."""
        return any(name not in TIERED for name in self.topologies)

    @property
    def tallest(self) -> int:
        """The most tiers of a Clos; 0 if there is none."""
        return max(self.tiers, default=0)


@dataclass(frozen=True)
class LastGroups:
    """Whether the last leaf group may be unlike the others.

    ``spread``: but not with all ports of a server on one leaf; ``on``: on which numbers of tiers; ``own_leaf``:
    protocols in which its leaves may be of a type of their own.
    """

    kind: Literal["equal", "spread", "any"] = "equal"
    on: tuple[int, ...] = (2,)
    own_leaf: tuple[Protocol, ...] = ()

    @property
    def may_be_one_leaf(self) -> bool:
        """Whether all ports of a server may be on one leaf of it, where they are on several of the others."""
        return self.kind == "any"

    def tiers_of(self, tiers: Sequence[int]) -> tuple[int, ...]:
        """Numbers of tiers, of some, on which the last group may be unlike the others."""
        return () if self.kind == "equal" else tuple(number for number in tiers if number in self.on)


EQUAL_GROUPS = LastGroups()


@dataclass(frozen=True)
class LeafGroups:
    """Groups of leaves with equal servers. ``servers``: of every group but the last; None: any number.

    ``aligned``: whether each rail is on a leaf of its own; ``striping``: how links of leaves go to spines: ``even``, or
    alike on all leaves of a ``rail``, or ``any``; ``last``: whether the last group may be unlike the others.
    """

    servers: int | None = None
    aligned: bool = True
    striping: Literal["even", "rail", "any"] = "even"
    last: LastGroups = EQUAL_GROUPS

    @property
    def is_even(self) -> bool:
        """Whether every leaf has equal links to all its spines."""
        return self.striping == "even"

    @property
    def by_rail(self) -> bool:
        """Whether stripes that are not even are alike on all leaves of a rail."""
        return self.striping == "rail"

    def with_equal(self) -> LeafGroups:
        """The groups where the last one is as the others."""
        return replace(self, last=EQUAL_GROUPS)

    def may_share(self, k: int) -> bool:
        """Whether ``k`` ports of a server may be on one leaf of several groups. Rule ``rails_are_aligned``."""
        return k == 1 or not self.aligned

    def may_have(self, servers: int) -> bool:
        """Whether groups may have so many servers."""
        return self.servers in (None, servers)

    def at_most(self, servers: int) -> int:
        """The servers of a group that has room for ``servers``."""
        return servers if self.servers is None else min(self.servers, servers)
