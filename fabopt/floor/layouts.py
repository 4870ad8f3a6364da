"""Layouts: the racks of servers, the racks of switches, and the space left in each.

A layout is fixed before any fabric is sized, so that runs can be bounded from below while sizes are searched. See
docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np

from fabopt.floor.airflow import ANY_AIR, HallAir
from fabopt.floor.loads import NO_LOAD, UNLIMITED, RackLoad
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import WHOLE, Part, Policy, Share, in_halls, switch_racks_of
from fabopt.floor.rack_rules import FEWEST_RACKS, RackLimits, empty_racks
from fabopt.floor.racks import UNIT_M, Floats, Ints, Positions, height_m, racks_needed
from fabopt.floor.server_racks import racks_of_servers
from fabopt.floor.standing import Neighbours, StandingFabric
from fabopt.units import ceil_div

# In these the racks of leaves follow from the racks of their servers, not from the racks for switches.
BESIDE_SERVERS: Policy = "top-of-rack"
IN_SERVER_RACKS: tuple[Policy, ...] = (BESIDE_SERVERS,)
FAR_AWAY_M = 1e6
# Which quantity of a load rows are limited in.
AIR = RackLoad._fields.index("air_mw")
Amount = TypeVar("Amount", int, Ints)


# Indices of racks, shape (racks named,), by the tier that is pinned to them.
Pins = Mapping[int, Ints]


@dataclass(frozen=True)
class ServerSize:
    """Units and load of the servers of a full rack.

    ``height_u``: of one server. ``places``: the lowest unit of each, from 1, shape (servers of a rack,). ``units``:
    from the bottom, reserved for servers. ``load``: of all. ``is_whole``: they are sold as a whole rack, which
    contains its own management and power units.
    """

    height_u: float
    places: Ints
    units: int
    load: RackLoad = NO_LOAD
    is_whole: bool = False


@dataclass(frozen=True, eq=False)
class Layout:
    """Servers in place, and the racks in which switches may be installed, the first choice first.

    ``per_rack`` servers fill each of ``server_racks`` in turn, bottom up. ``server_racks`` and ``switch_racks`` are
    indices of the plan's racks, each of shape (racks listed,). ``share``: the fabric's part of a rack's space for
    switches. ``spread_over``: least racks for the spines of a pod, cores, and leaves of a group of several racks; None:
    two, where rule ``rack-spread`` holds. ``pins``: by tier (0: leaves), the racks that the case names, in place of
    ``switch_racks``. ``air``: the way in which racks of switches blow. ``standing``: what is in service, in racks that
    are among these; None without a base. ``neighbours``: where several fabrics are in service, which share the room
    below all of them; else None. ``keeps_panels``: switches leave room for the panels of their links.
    """

    plan: FloorPlan
    policy: Policy
    servers: int
    per_rack: int
    server_size: ServerSize
    server_racks: Ints
    switch_racks: Ints
    share: Share = WHOLE
    spread_over: int | None = None
    pins: Pins = field(default_factory=dict)
    air: HallAir = ANY_AIR
    standing: StandingFabric | None = None
    neighbours: Neighbours | None = None
    keeps_panels: bool = False

    @cached_property
    def name(self) -> str:
        """The policy, the number of racks for switches only, and ``spread_over`` if set; whether they stand apart, and
        with room for panels.
        """
        alone = len(set(self.switch_racks.tolist()) - set(self.server_racks.tolist()))
        spread = f"-over-{self.spread_over}" if self.spread_over else ""
        return f"{self.policy}-{alone}{spread}{self._apart}"

    @property
    def _apart(self) -> str:
        return ("" if self.air.beside_servers else "-apart") + "-panels" * self.keeps_panels

    @property
    def key(self) -> Hashable:
        """Equal for layouts that are."""
        return self.plan, self.key_on_plan

    @cached_property
    def key_on_plan(self) -> Hashable:
        """A key that equal layouts of one plan share."""
        pins = tuple((tier, racks.tobytes()) for tier, racks in sorted(self.pins.items()))
        size, racks = self.server_size, (self.server_racks.tobytes(), self.switch_racks.tobytes())
        of_size = size.height_u, size.places.tobytes(), size.units, size.load, size.is_whole
        stands = None if self.standing is None else self.standing.key
        fixed = self.policy, self.servers, self.per_rack, of_size, racks, self.share, self.spread_over, pins
        return *fixed, self.air, self.keeps_panels, stands, None if self.neighbours is None else self.neighbours.key

    @property
    def spreads_leaves(self) -> bool:
        """Whether leaves of a group of several racks are in two of them at least."""
        return self.spread_over is not None or self.plan.limits.spread_leaves

    def most_together(self, count: int, spreads: bool) -> int:
        """The most in one rack of ``count`` redundant switches; ``spreads``: whether ``rack-spread`` holds for them."""
        return max(1, ceil_div(count, self.spread_racks(spreads)))

    def spread_racks(self, spreads: bool) -> int:
        """The fewest racks of many redundant switches; ``spreads``: as of ``most_together``."""
        return self.spread_over or (FEWEST_RACKS if spreads else 1)

    @cached_property
    def server_rack(self) -> Ints:
        """Rack of every server, shape (servers,)."""
        return self.server_racks[np.arange(self.servers) // self.per_rack]

    @cached_property
    def server_height_m(self) -> Floats:
        """Height of every server's ports above the floor, shape (servers,)."""
        return height_m(self._server_unit, self.server_size.height_u)

    @cached_property
    def _server_unit(self) -> Ints:
        """The lowest unit of every server, from 1, shape (servers,)."""
        return np.asarray(self.server_size.places[np.arange(self.servers) % self.per_rack])

    @property
    def server_positions(self) -> Positions:
        """Where the servers are installed."""
        return Positions(self.server_rack, self._server_unit, self.server_height_m)

    @cached_property
    def servers_in_rack(self) -> Ints:
        """Servers in each rack, shape (racks,)."""
        return np.bincount(self.server_rack, minlength=len(self.plan))

    @cached_property
    def top_unit(self) -> Ints:
        """The highest unit of each rack for this fabric, shape (racks,)."""
        return np.asarray(self._top - self._by_rack("units", Part.start, self._units_above_servers))

    @cached_property
    def free_units(self) -> Ints:
        """Units of each rack for this fabric, shape (racks,); 0 in unusable racks."""
        return np.where(self.plan.usable, self._by_rack("units", Part.of, self._units_above_servers), 0)

    def _by_rack(self, what: str, part_of: Callable[[Part, Ints], Ints], amounts: Ints) -> Ints:
        """The fabric's parts of ``amounts`` of racks, shape (racks,), by the share with servers or without."""
        beside, alone = (part_of(getattr(room, what), amounts) for room in (self.share.beside, self.share.alone))
        return np.where(self.servers_in_rack > 0, beside, alone)

    @cached_property
    def _units_above_servers(self) -> Ints:
        """Units of each rack not reserved for servers, shape (racks,).

        Any rack of servers reserves the units of a full one, so that a cluster may grow.
        """
        for_servers = np.where(self.servers_in_rack > 0, self.server_size.units, 0)
        return np.asarray(np.maximum(0, self._top - for_servers))

    @property
    def _top(self) -> int:
        """The highest unit below the kept units of every rack."""
        return self.plan.floor.rack_units - self.plan.limits.kept_units

    @cached_property
    def most(self) -> tuple[Ints, Ints]:
        """The most switches, and cable ends at them, of this fabric in each rack, both of shape (racks,)."""
        switches, ends = (
            np.full(len(self.plan), most) for most in (self.plan.limits.switches, self.plan.limits.cable_ends)
        )
        return self._by_rack("switches", Part.of, switches), self._by_rack("cable_ends", Part.of, ends)

    @cached_property
    def free_load(self) -> Ints:
        """What each rack takes of this fabric, of each quantity of a load, shape (quantities, racks)."""
        has_servers = self.servers_in_rack > 0
        free = np.full((len(NO_LOAD), len(self.plan)), UNLIMITED)
        beside, alone = self.share.beside.load, self.share.alone.load
        with_servers, without = self.plan.most_by_rack, self.plan.most_by_rack_alone
        for row, servers in enumerate(self.server_size.load):
            if (with_servers[row] < UNLIMITED).any() or (without[row] < UNLIMITED).any():
                left = np.maximum(0, with_servers[row] - servers)
                free[row] = np.where(has_servers, own_part(beside[row], left), own_part(alone[row], without[row]))
        return free

    @cached_property
    def free_row_mw(self) -> Ints | None:
        """Heat to air in milliwatts that each row takes of this fabric, shape (rows,); negative where servers are too
        hot; None: any. Of fabrics whose shares differ beside servers and elsewhere, the middle of the two.
        """
        if self.plan.row_air_mw is None:
            return None
        racks = np.bincount(self.plan.row[self.server_racks], minlength=self.plan.floor.rows)
        left = self.plan.row_air_mw - racks * self.server_size.load.air_mw
        beside, alone = (own_part(room.load[AIR], left) for room in (self.share.beside, self.share.alone))
        return beside if (left < 0).any() or self.share.beside == self.share.alone else (beside + alone) // 2

    def racks_of(self, tier: int) -> Ints:
        """Racks for switches of a tier (0: leaves) that are not with servers, the first choice first, shape (racks,).

        Rule ``named_racks_are_kept``.
        """
        return self.pins.get(tier, self.switch_racks)

    @property
    def has_leaves_with_servers(self) -> bool:
        """Whether leaves are in the racks of their servers."""
        return self.policy in IN_SERVER_RACKS and 0 not in self.pins

    @cached_property
    def leaf_racks(self) -> Ints:
        """Racks in which leaves may be installed, in the order of the plan, shape (racks found,)."""
        racks = self.server_racks if self.has_leaves_with_servers else self.racks_of(0)
        return np.unique(racks) if self.standing is None else np.union1d(racks, self.standing.racks_of(0))

    @cached_property
    def nearest_leaf_m(self) -> Floats:
        """A run in metres for every server that none of its links is shorter than, shape (servers,)."""
        racks = self.leaf_racks[self.free_units[self.leaf_racks] > 0]
        if not racks.size:
            return np.full(self.servers, np.inf)
        server_racks, rack_of_server = np.unique(self.server_rack, return_inverse=True)
        tray = self.plan.tray_m(server_racks[:, None], racks[None, :])
        up = self.plan.floor.tray_height_m - self.server_height_m
        down = self.plan.floor.tray_height_m - float(np.max(height_m(self.top_unit[racks], 1)))
        apart = np.where(server_racks[:, None] == racks[None, :], np.inf, tray).min(axis=1)[rack_of_server]
        run = self.plan.spared_m(up + down + 2 * self.plan.floor.drop_m + apart)
        has_leaves = np.isin(server_racks, racks)[rack_of_server]
        to_top = np.abs(height_m(self.top_unit[self.server_rack], 1) - self.server_height_m)
        in_rack = np.maximum(0.0, to_top - self.free_units[self.server_rack] * UNIT_M)
        beside = self.plan.spared_m(in_rack + self.plan.limits.side_m)
        return np.asarray(np.where(has_leaves, np.minimum(run, beside), run))

    def in_server_racks(self, g: int, group: Ints, place: Ints, leaves: Ints) -> Ints:
        """Racks of leaves, spread evenly over those of their group's g servers; all arrays have shape (leaves asked,).

        ``place``: of a leaf, from 0, among the ``leaves`` of its group that are spread together.
        """
        first = group * g // self.per_rack
        last = (np.minimum((group + 1) * g, self.servers) - 1) // self.per_rack
        return np.asarray(self.server_racks[first + (2 * place + 1) * (last - first + 1) // (2 * leaves)])

    def tray_from_m(self, tier: int) -> Floats:
        """Metres along trays from every rack for switches of a tier to every rack, shape (racks of the tier, racks); a
        large number without a way.
        """
        return self._trays_from_m.get(tier, self._tray_from_switches_m)

    @cached_property
    def _trays_from_m(self) -> dict[int, Floats]:
        return {tier: self._tray_m(racks) for tier, racks in self.pins.items()}

    @cached_property
    def _tray_from_switches_m(self) -> Floats:
        return self._tray_m(self.switch_racks)

    def _tray_m(self, racks: Ints) -> Floats:
        tray = self.plan.tray_m(racks[:, None], np.arange(len(self.plan))[None, :])
        return np.asarray(np.nan_to_num(tray, posinf=FAR_AWAY_M))

    @cached_property
    def _tray_sums_m(self) -> Floats:
        """Tray distances from every rack for leaves to the first i racks of servers together, shape (racks for leaves,
        server racks + 1).
        """
        tray = self.tray_from_m(0)[:, self.server_racks]
        return np.concatenate([np.zeros((len(tray), 1)), np.cumsum(tray, axis=1)], axis=1)

    def nearest_to_groups(self, g: int) -> list[list[int]]:
        """Racks for leaves of every group of g servers, the nearest to its racks on average first."""
        first = np.arange(0, self.servers, g) // self.per_rack
        last = (np.minimum(np.arange(0, self.servers, g) + g, self.servers) - 1) // self.per_rack
        away = (self._tray_sums_m[:, last + 1] - self._tray_sums_m[:, first]) / (last - first + 1)
        order = np.argsort(np.round(away, 6), axis=0, kind="stable")
        nearest: list[list[int]] = self.racks_of(0)[order].T.tolist()
        return nearest

    @cached_property
    def least_to_servers_m(self) -> Floats:
        """Runs that no link from a leaf to a server is shorter than, in metres, by the rack of the leaf; infinite where
        that has no room.

        Shape (racks of leaves, servers), racks in the order of the plan.
        """
        racks, floor = self.leaf_racks[:, None], self.plan.floor
        top_m, server_m = height_m(self.top_unit[racks], 1), self.server_height_m
        trays = 2 * (floor.tray_height_m + floor.drop_m) - server_m - top_m
        run = self.plan.spared_m(trays + self.plan.tray_m(racks, self.server_rack))
        in_rack = np.maximum(0.0, np.abs(top_m - server_m) - self.free_units[racks] * UNIT_M)
        beside = self.plan.spared_m(in_rack + self.plan.limits.side_m)
        return np.where(self.free_units[racks] > 0, np.where(racks == self.server_rack, beside, run), np.inf)

    @cached_property
    def typical_runs_m(self) -> dict[str, float]:
        """Middle runs of every kind of link: servers to their nearest leaves, switches to switches of all racks."""
        above = self.plan.floor.tray_height_m - float(np.median(height_m(self.top_unit[self.switch_racks], 1)))
        between = 2 * above + 2 * self.plan.floor.drop_m
        near = self.tray_from_m(1)[:, self.leaf_racks].min(axis=0)
        beside = self.plan.floor.rack_units * UNIT_M / 2 + self.plan.limits.side_m
        return {
            "server-leaf": float(np.median(self.nearest_leaf_m)),
            "leaf-spine": self._spared_m(beside if not near.any() else between + float(np.median(near))),
            "spine-core": self._spared_m(between + float(np.median(self.tray_from_m(2)[:, self.racks_of(1)]))),
        }

    def _spared_m(self, way_m: float) -> float:
        return float(self.plan.spared_m(way_m))

    @cached_property
    def least_switch_m(self) -> float:
        """A run that no link from a leaf to a switch above it is shorter than."""
        racks = np.unique(self.racks_of(1))
        run = self.least_to_switches_m[:, self.free_units[racks] > 0]
        return float(run.min(initial=np.inf))

    @cached_property
    def least_to_switches_m(self) -> Floats:
        """Runs that no link from a leaf to a switch above it is shorter than, by their racks, in metres.

        Shape (racks of leaves, racks for spines), both in the order of the plan.
        """
        racks, leaves = np.unique(self.racks_of(1)), self.leaf_racks
        free = racks[self.free_units[racks] > 0]
        tops = 2 * (self.plan.floor.tray_height_m - float(np.max(height_m(self.top_unit[free], 1), initial=0.0)))
        run = self.plan.spared_m(tops + 2 * self.plan.floor.drop_m + self.plan.tray_m(leaves[:, None], racks[None, :]))
        return np.where(leaves[:, None] == racks[None, :], self.plan.least_in_rack_m, run)


def own_part(part: Part, amount: Amount) -> Amount:
    """A part of an amount that may be unlimited, rounded down."""
    return amount // part.whole * part.own


def racks_for(units: int, load: RackLoad, plan: FloorPlan, limits: RackLimits, switches: int) -> int:
    """Fewest empty racks for switches: by their rack units, their load and the most switches in a rack."""
    needed = empty_racks(units, switches, plan.floor.rack_units, limits)
    most_of_each = zip(load, plan.most_without_servers, strict=True)
    by_load = (ceil_div(amount, max(1, most)) for amount, most in most_of_each if amount)
    return max(1, needed, *by_load)


def leaves_kept_units(plan: FloorPlan, server_size: ServerSize) -> bool:
    """Whether a rack full of servers has the units left that every rack keeps."""
    return server_size.is_whole or server_size.units <= plan.floor.rack_units - plan.limits.kept_units


def reachable(plan: FloorPlan) -> Ints:
    """Usable racks that trays join, as indices, shape (racks found,)."""
    lost = {plan.rack_index(id_) for id_ in plan.cut_off()}
    return np.array([rack for rack in np.flatnonzero(plan.usable).tolist() if rack not in lost], dtype=np.int64)


def layouts(
    plan: FloorPlan,
    servers: int,
    per_rack: int,
    server_size: ServerSize,
    wanted: int,
    share_in: Callable[[Policy], Share] = lambda policy: WHOLE,
    spread_over: int | None = None,
    pins: Pins | None = None,
    airs: Sequence[HallAir] = (ANY_AIR,),
) -> list[Layout]:
    """Promising layouts for switches that fill about ``wanted`` racks.

    ``share_in``: the fabric's share of every rack, by policy; ``spread_over``, ``pins``: as in ``Layout``, pins each of
    shape (racks named,); racks to which any fabric pins switches have servers only if others are too few. ``airs``:
    each makes layouts of its own.

    Empty if the floor has too few racks for the servers, or these leave a rack too few units to keep.
    """
    needed, usable = racks_needed(servers, per_rack), reachable(plan)
    if len(usable) < needed or not leaves_kept_units(plan, server_size):
        return []
    worth_it: list[Layout] = []
    heat_mw, free = server_size.load.air_mw, len(usable) - needed
    anywhere = ((policy, racks, usable) for policy, racks in switch_racks_of(plan, needed, wanted, free))
    for policy, racks, among in chain(in_halls(plan, needed, wanted), anywhere):
        for server_racks in racks_of_servers(plan, usable[np.isin(usable, among)], racks, needed, heat_mw):
            switch_racks = racks
            if len(racks) < wanted:
                nearest = plan.from_centre(server_racks)
                switch_racks = np.concatenate([racks, nearest[np.isin(nearest, server_racks)]])
            in_racks = (servers, per_rack, server_size, server_racks, switch_racks)
            worth_it.append(Layout(plan, policy, *in_racks, share_in(policy), spread_over, pins or {}))
    return [layout if air == ANY_AIR else replace(layout, air=air) for air in airs for layout in worth_it]
