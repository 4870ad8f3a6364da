"""Positions of the switches of a Clos, and the runs of its links that follow.

Without a floor all links of a kind have one run and there are no racks (``FlatPlacement``); on a floor every switch has
its rack and unit (``RackPlacement``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

import numpy as np

from fabopt.floor.group_runs import classes_of_runs
from fabopt.floor.layouts import Layout
from fabopt.floor.placement import place
from fabopt.floor.racks import Positions
from fabopt.network.clos_links import ClosNumbers, TierLinks
from fabopt.network.free_ports import HOST_TIERS, HostTier
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Place, Placement
from fabopt.topology.candidate import Choice, Option, PartUse, RowShare, undominated
from fabopt.topology.clos.cabling import (
    Cabling,
    FlatLinks,
    Joins,
    KindKey,
    KindLinks,
    LinkType,
    cable_at,
    cables_of_classes,
    cabling_of,
    numbers_of,
)
from fabopt.topology.clos.shape import Ints, Parts, Shape
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


# -- links of one kind on a floor -------------------------------------------------------------------------------------
# Links of one kind on a floor: every link has a run of its own.
#
# Runs count by *length class*: the shortest length on sale that covers them. Links of one cage are chosen for
# together, each cable of the length that its own links need. See docs/formulation/floor.md.


# What may be bought for a cage of a kind of links whose runs are of these classes.
_UNIT_OPTIONS: Lookup[LinkTable, tuple[KindKey, tuple[int, ...]], tuple[Option, ...]] = Lookup()


class FloorLinks(KindLinks):
    """Links whose runs have been measured."""

    flat_m = None

    def __init__(self, problem: Problem, cabling: Cabling, joins: Joins) -> None:
        super().__init__(problem, cabling.kind, joins)
        self._cabling = cabling
        self._lengths_m = problem.item_table.lengths_m
        self._classes: list[int] = np.unique(cabling.classes).tolist()
        self.longest_m = float(self._lengths_m[cabling.longest])

    def joins(self, run_m: float, all_: bool) -> Sequence[Assembly]:
        """The assemblies over a run."""
        return self._joins(run_m, all_)

    def cabling(self, numbers: ClosNumbers) -> Cabling | None:
        """The links with their runs, as measured."""
        return self._cabling

    def noted_runs_m(self, runs_m: tuple[float, ...]) -> tuple[float, ...] | None:
        """The runs themselves, in metres."""
        return runs_m

    def named(self, assembly: Assembly) -> Assembly:
        """An assembly with the length of the longest run."""
        return assembly._replace(length_m=self.longest_m)

    def breakout(self, assembly: Assembly) -> Item | str:
        """The id of an assembly's cable, whose length follows from its own links."""
        return assembly.cable.id

    def cables(self, assembly: Assembly) -> Sequence[Item]:
        """The cable of an assembly in the length for each class of runs."""
        return [cable_at(self.problem, assembly, length_class) for length_class in self._classes]

    def in_lengths(self, option: Option, shared: Sequence[int], run_m: float) -> Option:
        """An option with every cable in the length that its links need."""
        servers, *others = option.rows
        assert servers.assembly is not None
        longest = self._cabling.longest_of_cables(
            servers.assembly, shared, int(classes_of_runs(self._lengths_m, run_m))
        )
        return Option((self._whole_row(servers.assembly, servers.near_cages, servers.far_cages, longest), *others))

    def choices(self, prune: bool) -> Sequence[Choice] | None:
        """Cage by cage where one end has single-port cages or whole cages meet, else everything at once."""
        by_cage = self.kind.need.one_sided or self.kind.mixes
        choices = list(self._unit_choices()) if by_cage else [self._whole_choice()]
        return None if any(not choice.options for choice in choices) else tuple(choices)

    # -- cage by cage ---------------------------------------------------------------------------------------------

    def _unit_choices(self) -> Iterable[Choice]:
        """Choices for the cages of the end with several ports each (bundles between two such): equal ones together."""
        for classes, count in _units(self._cabling, len(self._lengths_m)):
            options = _UNIT_OPTIONS.of(self.problem.links, (self.kind.key, classes), self._unit_options, classes)
            yield Choice((*self.kind.key, "floor", classes), count, options)

    def _unit_options(self, classes: tuple[int, ...]) -> tuple[Option, ...]:
        runs_m = tuple(float(self._lengths_m[length_class]) for length_class in classes)
        near_cages, far_cages = self._cages(len(classes))
        options = []
        for assembly in self.joins(max(runs_m), len(set(classes)) > 1):
            parts = _parts(assembly, near_cages, self._unit_cables(assembly, classes), far_cages)
            row = RowShare(*self.kind.ends, None, assembly, len(classes), near_cages, far_cages, parts, runs_m)
            options.append(Option((row,)))
        return undominated(options)

    def _cages(self, ports: int) -> tuple[int, int]:
        """Cages of a unit at both ends."""
        near, far = self.kind.ports
        if near.ports > 1 and far.ports > 1:
            return 1, 1
        return (1, ports) if near.ports > 1 else (ports, 1)

    def _unit_cables(self, assembly: Assembly, classes: Sequence[int]) -> dict[Item, int]:
        """Cables of an assembly for the links of one cage, each as long as its own links need."""
        per_cable = 1 if assembly.mode is Mode.LINK else assembly.ports_per_cable
        cables = Counter(
            cable_at(self.problem, assembly, max(classes[start : start + per_cable]))
            for start in range(0, len(classes), per_cable)
        )
        return dict(sorted(cables.items(), key=lambda pair: pair[0].length_m or 0))

    # -- all at once ----------------------------------------------------------------------------------------------

    def _whole_choice(self) -> Choice:
        """A choice of one assembly for every link, in the lengths that its cables need."""
        options = []
        for assembly in self.joins(self.longest_m, True):
            parts = self.kind.need.quantities(assembly)
            if parts.fits:
                longest = self._cabling.longest_of_cables(assembly)
                options.append(Option((self._whole_row(assembly, int(parts.near), int(parts.far), longest),)))
        kept = undominated(options)
        return Choice((*self.kind.key, "whole", tuple(option.rows for option in kept)), 1, kept)

    def _whole_row(self, assembly: Assembly, near: int, far: int, classes: Ints) -> RowShare:
        """A row of all links by one assembly; ``near``, ``far``: occupied cages.

        ``classes`` of cables, shape (cables,).
        """
        parts = _parts(assembly, near, cables_of_classes(self.problem, assembly, classes), far)
        links = len(self._cabling.classes)
        return RowShare(*self.kind.ends, None, self.named(assembly), links, near, far, parts, ())


def _units(cabling: Cabling, classes: int) -> Iterable[tuple[tuple[int, ...], int]]:
    """The length classes of the links of every kind of cage, and the number of such cages. ``classes``: in all."""
    near, far = cabling.kind.ports
    size = max(near.ports, far.ports)
    device, slot = (
        (cabling.near_device, cabling.links.a_slot) if near.ports > 1 else (cabling.links.b, cabling.links.b_slot)
    )
    order = np.lexsort((slot, device))
    cage = slot[order] // size
    first = np.flatnonzero(np.append(True, (np.diff(device[order]) != 0) | (np.diff(cage) != 0)))
    links_of_cage = np.diff(np.append(first, len(order)))
    units = np.full((len(first), size), -1)
    lane = np.arange(len(order)) - np.repeat(first, links_of_cage)
    units[np.repeat(np.arange(len(first)), links_of_cage), lane] = cabling.classes[order]
    code = (units + 1) @ (classes + 1) ** np.arange(size, dtype=np.int64)
    _, first_of, counts = np.unique(code, return_index=True, return_counts=True)
    for unit, count in zip(units[first_of].tolist(), counts.tolist(), strict=True):
        yield tuple(length_class for length_class in unit if length_class >= 0), count


def _parts(assembly: Assembly, near: int, cables: dict[Item, int], far: int) -> tuple[PartUse, ...]:
    parts = [PartUse(assembly.near, near, "from")] if assembly.near is not None else []
    parts += [PartUse(item, count, None) for item, count in cables.items()]
    return tuple([*parts, PartUse(assembly.far, far, "to")] if assembly.far is not None else parts)
