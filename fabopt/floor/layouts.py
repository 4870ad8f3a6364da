"""Layouts: which racks hold servers, which hold switches, and what room is left in each.

A layout is fixed before any fabric is sized, so that runs can be bounded from below while sizes are searched. See
docs/formulation.md, "Floor".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from fabopt.floor.plan import UNIT_M, Floats, FloorPlan, Ints, height_m
from fabopt.units import ceil_div

Policy = Literal["top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks", "anywhere"]
# Layouts with a rule for every switch; ``anywhere`` has none.
POLICIES: tuple[Policy, ...] = ("top-of-rack", "middle-of-row", "end-of-row", "network-row", "listed-racks")
# Where the leaves of these stand is decided by the racks of their servers, not by the racks of switches.
IN_SERVER_RACKS: tuple[Policy, ...] = ("top-of-rack",)
FAR_AWAY_M = 1e6
UNLIMITED = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class ServerBox:
    """What a server takes of a rack: whole units, its true height, milliwatts."""

    units: int
    height_u: float
    power_mw: int


@dataclass(frozen=True, eq=False)
class Layout:
    """Servers in place, and the racks in which switches may stand, the first choice first.

    ``per_rack`` servers fill each of ``server_racks`` in turn, bottom up. ``band``: (index, fabrics): of the room that
    a rack has for switches a fabric gets an equal part, counted from the top.
    """

    plan: FloorPlan
    policy: Policy
    servers: int
    per_rack: int
    box: ServerBox
    server_racks: Ints
    switch_racks: Ints
    band: tuple[int, int] = (0, 1)

    @cached_property
    def name(self) -> str:
        """The policy, and how many racks are for switches only."""
        alone = len(set(self.switch_racks.tolist()) - set(self.server_racks.tolist()))
        return f"{self.policy}-{alone}"

    @cached_property
    def server_rack(self) -> Ints:
        """Rack of every server."""
        return self.server_racks[np.arange(self.servers) // self.per_rack]

    @cached_property
    def server_height_m(self) -> Floats:
        """Height of every server's ports above the floor."""
        unit = 1 + np.arange(self.servers) % self.per_rack * self.box.units
        return np.asarray(height_m(unit, self.box.height_u))

    @cached_property
    def _held(self) -> Ints:
        """Servers in each rack."""
        return np.bincount(self.server_rack, minlength=len(self.plan))

    @cached_property
    def top_unit(self) -> Ints:
        """The highest unit of each rack that this fabric may use."""
        index, fabrics = self.band
        room = self.plan.floor.rack_units - self._reserved_units
        return np.asarray(self.plan.floor.rack_units - room * index // fabrics)

    @cached_property
    def room_units(self) -> Ints:
        """Units of each rack that this fabric may use; none where nothing may stand."""
        index, fabrics = self.band
        room = self.plan.floor.rack_units - self._reserved_units
        mine = room * (index + 1) // fabrics - room * index // fabrics
        return np.where(self.plan.usable, mine, 0)

    @cached_property
    def _reserved_units(self) -> Ints:
        """Units for servers: for a full rack of them wherever some stand, so that a growing cluster finds room."""
        return np.asarray(np.where(self._held > 0, self.per_rack * self.box.units, 0))

    @cached_property
    def room_mw(self) -> Ints:
        """Power of each rack that this fabric may draw."""
        limit = self.plan.floor.rack_power_w
        if limit is None:
            return np.full(len(self.plan), UNLIMITED)
        taken = np.where(self._held > 0, self.per_rack * self.box.power_mw, 0)
        return np.asarray(np.maximum(0, int(limit * 1000) - taken) // self.band[1])

    # -- what runs cannot be shorter than -----------------------------------------------------------------------------

    @cached_property
    def _leaf_racks(self) -> Ints:
        """Racks in which leaves may stand."""
        return np.unique(self.server_racks) if self.policy in IN_SERVER_RACKS else np.unique(self.switch_racks)

    @cached_property
    def nearest_leaf_m(self) -> Floats:
        """For every server a run that none of its links is shorter than."""
        racks = self._leaf_racks[self.room_units[self._leaf_racks] > 0]
        if not racks.size:
            return np.full(self.servers, np.inf)
        first, place = np.unique(self.server_rack, return_inverse=True)
        tray = self.plan.tray_m(first[:, None], racks[None, :])
        up = self.plan.floor.tray_height_m - self.server_height_m
        down = self.plan.floor.tray_height_m - float(np.max(height_m(self.top_unit[racks], 1)))
        apart = np.where(first[:, None] == racks[None, :], np.inf, tray).min(axis=1)[place]
        run = up + down + 2 * self.plan.floor.drop_m + apart + self.plan.floor.slack_m
        here = np.isin(first, racks)[place]
        beside = np.abs(height_m(self.top_unit[self.server_rack], 1) - self.server_height_m)
        lowest = np.maximum(0.0, beside - self.room_units[self.server_rack] * UNIT_M)
        return np.asarray(np.where(here, np.minimum(run, lowest + self.plan.floor.slack_m), run))

    def in_server_racks(self, g: int, rails: int) -> Ints:
        """Rack of every leaf of one plane, spread evenly over the racks of its group's g servers, rail by rail."""
        groups = ceil_div(self.servers, g)
        group, rail = np.repeat(np.arange(groups), rails), np.tile(np.arange(rails), groups)
        first = group * g // self.per_rack
        last = (np.minimum((group + 1) * g, self.servers) - 1) // self.per_rack
        return np.asarray(self.server_racks[first + (2 * rail + 1) * (last - first + 1) // (2 * rails)])

    @cached_property
    def tray_from_switches_m(self) -> Floats:
        """Tray distances from every rack for switches to every rack; a large number where there is no way."""
        tray = self.plan.tray_m(self.switch_racks[:, None], np.arange(len(self.plan))[None, :])
        return np.asarray(np.nan_to_num(tray, posinf=FAR_AWAY_M))

    @cached_property
    def _tray_sums_m(self) -> Floats:
        """Tray distances from every rack for switches to the first i racks of servers together."""
        tray = self.tray_from_switches_m[:, self.server_racks]
        return np.concatenate([np.zeros((len(self.switch_racks), 1)), np.cumsum(tray, axis=1)], axis=1)

    def nearest_to_groups(self, g: int) -> list[list[int]]:
        """For every group of g servers the racks for switches, those nearest its racks on average first."""
        first = np.arange(0, self.servers, g) // self.per_rack
        last = (np.minimum(np.arange(0, self.servers, g) + g, self.servers) - 1) // self.per_rack
        away = (self._tray_sums_m[:, last + 1] - self._tray_sums_m[:, first]) / (last - first + 1)
        order = np.argsort(np.round(away, 6), axis=0, kind="stable")
        nearest: list[list[int]] = self.switch_racks[order].T.tolist()
        return nearest

    @cached_property
    def switch_rank_m(self) -> Floats:
        """The run that the link from a leaf to the i-th nearest switch above it is not shorter than, one unit each."""
        racks = self.switch_racks[self.room_units[self.switch_racks] > 0]
        leaves = self._leaf_racks
        if not racks.size or not leaves.size:
            return np.array([])
        tray = self.plan.tray_m(leaves[:, None], racks[None, :])
        tops = 2 * (self.plan.floor.tray_height_m - float(np.max(height_m(self.top_unit[racks], 1))))
        run = tops + 2 * self.plan.floor.drop_m + tray + self.plan.floor.slack_m
        run = np.where(leaves[:, None] == racks[None, :], self.plan.floor.slack_m, run)
        order = np.argsort(run, axis=1, kind="stable")
        ranked = np.take_along_axis(run, order, axis=1)
        room = self.room_units[racks][order]
        most = int(room.sum(axis=1).max())
        least = np.full(most, np.inf)
        for row, units in zip(ranked, room, strict=True):
            np.minimum(least[: int(units.sum())], np.repeat(row, units), out=least[: int(units.sum())])
        return least

    @cached_property
    def typical_runs_m(self) -> dict[str, float]:
        """Middle runs of every kind of link: servers to their nearest leaves, switches to switches of all racks."""
        above = self.plan.floor.tray_height_m - float(np.median(height_m(self.top_unit[self.switch_racks], 1)))
        between = 2 * above + 2 * self.plan.floor.drop_m + self.plan.floor.slack_m
        near = self.tray_from_switches_m[:, self._leaf_racks].min(axis=0)
        beside = self.plan.floor.rack_units * UNIT_M / 2 + self.plan.floor.slack_m
        return {
            "server-leaf": float(np.median(self.nearest_leaf_m)),
            "leaf-spine": beside if not near.any() else between + float(np.median(near)),
            "spine-core": between + float(np.median(self.tray_from_switches_m[:, self.switch_racks])),
        }

    @cached_property
    def least_switch_m(self) -> float:
        """The least run between two switches."""
        return float(self.switch_rank_m.min(initial=np.inf))


def racks_for(units: int, power_mw: int, plan: FloorPlan) -> int:
    """Empty racks that hold so many units and so much power of switches."""
    floor = plan.floor
    needed = ceil_div(units, floor.rack_units)
    if floor.rack_power_w:
        needed = max(needed, ceil_div(power_mw, max(1, int(floor.rack_power_w * 1000))))
    return max(1, needed)


def reachable(plan: FloorPlan) -> Ints:
    """Usable racks that trays join."""
    lost = {plan.rack_index(id_) for id_ in plan.cut_off()}
    return np.array([rack for rack in np.flatnonzero(plan.usable).tolist() if rack not in lost], dtype=np.int64)


def layouts(
    plan: FloorPlan,
    servers: int,
    per_rack: int,
    box: ServerBox,
    units: int,
    power_mw: int,
    band: tuple[int, int] = (0, 1),
) -> list[Layout]:
    """Layouts worth looking at for switches of about so many units and so much power together.

    None if the floor has too few racks for the servers.
    """
    needed = ceil_div(servers, per_rack)
    usable = reachable(plan)
    free = len(usable) - needed
    if free < 0:
        return []
    wanted = racks_for(units, power_mw, plan)
    counts = sorted({min(free, count) for count in (wanted, 2 * wanted) if free})
    asked = plan.floor.network_racks
    made: list[tuple[Policy, Ints]] = []
    if asked in ("any", "row"):
        made += [("network-row", racks) for racks in _own_rows(plan, needed, wanted)]
    if asked in ("any", "middle", "end"):
        made += [
            (policy, racks)
            for policy, racks in _along_rows(plan, needed, wanted)
            if asked in ("any", policy.partition("-")[0])
        ]
    if isinstance(asked, tuple):
        listed = plan.network_racks()
        made.append(("listed-racks", listed))
        made.append(("top-of-rack", listed))
    elif asked in ("middle", "end"):
        made += [
            ("top-of-rack", racks) for policy, racks in _along_rows(plan, needed, wanted) if policy.startswith(asked)
        ]
    else:
        made += [("top-of-rack", plan.from_centre()[:count]) for count in counts]
    if free < wanted:
        made.append(("top-of-rack", np.array([], dtype=np.int64)))
    found: list[Layout] = []
    for policy, racks in made:
        server_racks = usable[~np.isin(usable, racks)][:needed]
        if len(server_racks) < needed:
            continue
        switch_racks = racks
        if len(racks) < wanted:
            near = plan.from_centre(server_racks)
            switch_racks = np.concatenate([racks, near[np.isin(near, server_racks)]])
        found.append(Layout(plan, policy, servers, per_rack, box, server_racks, switch_racks, band))
    return found


def _own_rows(plan: FloorPlan, needed: int, wanted: int) -> list[Ints]:
    """Racks of rows without servers: the middle one of the rows in use, and more around it if one is too short."""
    rows = plan.floor.rows
    for used in range(2, rows + 1):
        middle = (used - 1) / 2
        order = sorted(range(used), key=lambda row: (abs(row - middle), row))
        own: list[int] = []
        for row in order:
            own.append(row)
            racks = np.concatenate([plan.racks_of(one) for one in own])
            rest = sum(len(plan.racks_of(one)) for one in range(used) if one not in own)
            if len(racks) >= wanted:
                break
        if len(racks) >= wanted and rest >= needed:
            centre = plan.from_centre()
            return [centre[np.isin(centre, racks)]]
    return []


def _along_rows(plan: FloorPlan, needed: int, wanted: int) -> list[tuple[Policy, Ints]]:
    """Racks in the middle or at the end of every row in use."""
    made: list[tuple[Policy, Ints]] = []
    for used in range(1, plan.floor.rows + 1):
        each = ceil_div(wanted, used)
        rest = sum(max(0, len(plan.racks_of(row)) - each) for row in range(used))
        if rest < needed:
            continue
        middle = np.concatenate([plan.middle([row])[:each] for row in range(used)])
        ends = np.concatenate([plan.ends([row])[:each] for row in range(used)])
        made += [("middle-of-row", middle), ("end-of-row", ends)]
        break
    return made
