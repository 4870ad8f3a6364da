"""Positions of the switches of a Clos, and the runs of its links that follow.

Without a floor all links of a kind have one run and there are no racks (``FlatPlacement``); on a floor every switch has
its rack and unit (``RackPlacement``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

from fabopt.floor.layouts import Layout
from fabopt.floor.placement import place
from fabopt.floor.racks import Positions
from fabopt.network.clos_links import ClosNumbers, TierLinks
from fabopt.network.free_ports import HOST_TIERS, HostTier
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Place, Placement
from fabopt.topology.clos.cabling import Joins, LinkType, cabling_of, numbers_of
from fabopt.topology.clos.floor_links import FloorLinks
from fabopt.topology.clos.kind_links import FlatLinks, KindLinks
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.switch_sizes import switch_sizes
from fabopt.topology.link_parts import Floats

# Rank in ties: name of the layout, and racks of the switches of each tier.
PlacementRank = tuple[str, tuple[tuple[int, ...], ...]]


class ClosPlacement(Protocol):
    """Positions of a Clos's switches, as its design needs them."""

    @property
    def rank(self) -> PlacementRank:
        """Rank among candidates that are equal in all sums."""

    @property
    def server_racks(self) -> tuple[str, ...]:
        """Ids of the racks of servers, in the order in which they are filled."""

    @property
    def racks_of_hosts(self) -> Mapping[HostTier, Sequence[int]]:
        """The rack of every leaf and spine where ports of attachments are spread over racks; else empty."""

    def in_file(self) -> Placement | None:
        """The placement as the design file has it."""

    def links(self, problem: Problem, kind: LinkType, joins: Joins) -> KindLinks | None:
        """The links of a kind with their runs; None if nothing on sale is long enough for one of them."""


@dataclass(frozen=True, eq=False)
class FlatPlacement:
    """Switches without racks. ``runs_m``: runs in metres by kind of links."""

    runs_m: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    rank: PlacementRank = ("", ())
    server_racks: tuple[str, ...] = ()
    racks_of_hosts: Mapping[HostTier, Sequence[int]] = field(default_factory=lambda: MappingProxyType({}))

    def in_file(self) -> Placement | None:
        """Nothing: there is no floor."""
        return None

    def links(self, problem: Problem, kind: LinkType, joins: Joins) -> KindLinks | None:
        """Links of one run."""
        return FlatLinks(problem, kind, joins, self.runs_m[kind.name])


@dataclass(frozen=True, eq=False)
class RackPlacement:
    """Switches in racks of a layout.

    ``positions``: of leaves, spines and cores; ``numbers``: of the Clos, from which links follow; ``hosts``: places of
    the devices of attachments that stand with switches.
    """

    layout: Layout
    positions: tuple[Positions, ...]
    numbers: ClosNumbers
    hosts: Mapping[str, tuple[Place, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def rank(self) -> PlacementRank:
        """The layout, and the racks as indices of its plan."""
        return self.layout.name, tuple(tuple(of_tier.rack.tolist()) for of_tier in self.positions)

    @property
    def server_racks(self) -> tuple[str, ...]:
        """Ids of the layout's racks of servers."""
        return tuple(self.layout.plan.ids[rack] for rack in self.layout.server_racks.tolist())

    @cached_property
    def racks_of_hosts(self) -> Mapping[HostTier, Sequence[int]]:
        """The rack of every leaf and spine, as indices of the plan; empty if the case does not spread attachments."""
        if not self.layout.plan.limits.spread_attachments:
            return {}
        return {tier: of_tier.rack.tolist() for tier, of_tier in zip(HOST_TIERS, self.positions, strict=False)}

    def in_file(self) -> Placement | None:
        """Rack and lowest unit of every switch, and of the devices that stand with them."""
        leaf, spine, core = (*(self._places(of_tier) for of_tier in self.positions), (), ())[:3]
        return Placement(policy=self.layout.policy, leaf=leaf, spine=spine, core=core, attachments=dict(self.hosts))

    def _places(self, of_tier: Positions) -> tuple[Place, ...]:
        ids, units = self.layout.plan.ids, of_tier.unit.tolist()
        return tuple((ids[rack], unit) for rack, unit in zip(of_tier.rack.tolist(), units, strict=True))

    def links(self, problem: Problem, kind: LinkType, joins: Joins) -> KindLinks | None:
        """Links whose runs are measured."""
        cabling = cabling_of(problem, kind, self.numbers, lambda links: self.runs_m(kind.name, links))
        return None if cabling is None else FloorLinks(problem, cabling, joins)

    def runs_m(self, kind: str, links: TierLinks) -> Floats:
        """The run of every link of a kind, shape (links,)."""
        below, above = self.ends(kind)
        return self.layout.plan.run_m(
            below.rack[links.a], below.height_m[links.a], above.rack[links.b], above.height_m[links.b]
        )

    def ends(self, kind: str) -> tuple[Positions, Positions]:
        """Positions of the devices at both ends of a kind of links."""
        if kind == "leaf-leaf":
            return self.positions[0], self.positions[0]
        tiers = (self.layout.server_positions, *self.positions)
        below = ("server-leaf", "leaf-spine", "spine-core").index(kind)
        return tiers[below], tiers[below + 1]


def in_racks(
    problem: Problem, fabric: FabricProblem, layout: Layout, parts: Parts, shape: Shape
) -> RackPlacement | None:
    """The switches of a Clos in the racks of a layout; None if they do not fit."""
    numbers = numbers_of(parts.nic, shape)
    positions = place(layout, numbers, switch_sizes(problem, fabric, parts))
    return None if positions is None else RackPlacement(layout, positions, numbers)
