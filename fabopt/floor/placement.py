"""The rack and unit of every switch of a sized Clos in a layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabopt.floor.airflow import HallAir
from fabopt.floor.layouts import Layout
from fabopt.floor.loads import NO_LOAD, UNLIMITED, RackLoad
from fabopt.floor.policies import SwitchSize
from fabopt.floor.rack_rules import FEWEST_RACKS, NO_LIMIT, RackLimits
from fabopt.floor.racks import Ints, Mask, Positions, height_m
from fabopt.network.clos_links import ClosNumbers
from fabopt.units import ceil_div

# Servers of a group are in several racks.
SEVERAL = -1


@dataclass(frozen=True, eq=False)
class FreeSpace:
    """Space left for switches of a fabric in every rack, each of shape (racks,).

    ``units``: whole ones; ``load``: of each quantity, shape (quantities, racks); ``top_unit``: the highest free unit;
    ``installed``: number of switches; ``cable_ends``: at them; ``most``: limits of these two in each rack. ``row``: of
    each rack; ``row_mw``: heat to air in milliwatts that each row still takes, shape (rows,); None: any. ``beside``:
    whether a rack has servers; ``air``: the way in which racks of switches blow.
    """

    units: Ints
    load: Ints
    top_unit: Ints
    installed: Ints
    cable_ends: Ints
    most: tuple[Ints, Ints]
    limits: RackLimits
    row: Ints
    row_mw: Ints | None
    beside: Mask
    air: HallAir

    def times(self, load: RackLoad) -> Ints:
        """How often each rack, in a row by itself, takes a load, shape (racks,)."""
        most = np.full(len(self.units), UNLIMITED)
        for free, amount in zip(self.load, load, strict=True):
            if amount:
                most = np.minimum(most, free // amount)
        if self.row_mw is not None and load.air_mw:
            most = np.minimum(most, self.row_mw[self.row] // load.air_mw)
        return most

    def takes(self, racks: Ints, load: RackLoad) -> bool:
        """Whether rows take a load in each of ``racks``, shape (loads,), repeated for several."""
        if self.row_mw is None:
            return True
        counts = np.bincount(self.row[racks], minlength=len(self.row_mw))
        return bool((counts * load.air_mw <= self.row_mw).all())

    @property
    def is_overdrawn(self) -> bool:
        """Whether a rack or a row has more than it takes before any switch is there."""
        return bool((self.load < 0).any()) or (self.row_mw is not None and bool((self.row_mw < 0).any()))

    def switches(self, size: SwitchSize) -> Ints:
        """Number of further switches of a size that each rack holds, shape (racks,)."""
        most = self.limits.most_switches(self.units, self.installed, size.units)
        if any(size.load):
            most = np.minimum(most, self.times(size.load))
        if self.limits.switches < NO_LIMIT:
            most = np.minimum(most, self.most[0] - self.installed)
        if size.cable_ends:
            most = np.minimum(most, (self.most[1] - self.cable_ends) // size.cable_ends)
        # Rule ``racks_blow_one_way``
        if size.airflows:
            most = self.air.takes(size.airflows, self.beside) * most
        return np.asarray(np.maximum(0, most))

    def unit(self, racks: Ints, before: Ints, size: SwitchSize) -> Ints:
        """The lowest unit of a switch in each of ``racks``, below ``before`` others of its size, broadcast.

        The cable managers of a switch are below it.
        """
        managers = self.limits.managers
        installed = self.installed[racks]
        between = managers(installed + before) - managers(installed)
        return np.asarray(self.top_unit[racks] - (before + 1) * size.units - between + 1)

    def without(self, racks: Ints, size: SwitchSize) -> FreeSpace:
        """The space left with a switch in each of ``racks``.

        ``racks``: indices, shape (switches,), repeated for several switches.
        """
        counts = np.bincount(racks, minlength=len(self.units))
        installed = self.installed + counts
        taken = counts * size.units + self.limits.managers(installed) - self.limits.managers(self.installed)
        return replace(
            self,
            units=self.units - taken,
            load=self.load - np.outer(size.load, counts) if any(size.load) else self.load,
            top_unit=self.top_unit - taken,
            installed=installed,
            cable_ends=self.cable_ends + counts * size.cable_ends,
            row_mw=self._rows_without(racks, size.load),
        )

    def below(self, rack: int, units: int, load: RackLoad) -> FreeSpace:
        """The space left with one more device in a rack, which is no switch."""
        there = np.bincount([rack], minlength=len(self.units))
        return replace(
            self,
            units=self.units - units * there,
            load=self.load - np.outer(load, there),
            top_unit=self.top_unit - units * there,
            row_mw=self._rows_without(np.array([rack]), load),
        )

    def _rows_without(self, racks: Ints, load: RackLoad) -> Ints | None:
        if self.row_mw is None:
            return None
        return np.asarray(self.row_mw - np.bincount(self.row[racks], minlength=len(self.row_mw)) * load.air_mw)


def space_in(layout: Layout, nics: RackLoad = NO_LOAD) -> FreeSpace:
    """Space for a fabric in the racks of a layout before any switch is installed.

    ``nics``: load of its NICs in every rack of servers; ``load`` is negative where it exceeds what is free.
    """
    none, plan = np.zeros(len(layout.plan), dtype=np.int64), layout.plan
    load, row_mw = layout.free_load, layout.free_row_mw
    if any(nics):
        load = load - np.outer(nics, layout.servers_in_rack > 0)
    of_racks = layout.free_units, load, layout.top_unit, none, none, layout.most
    space = FreeSpace(*of_racks, plan.limits, plan.row, row_mw, layout.servers_in_rack > 0, layout.air)
    return replace(space, row_mw=space._rows_without(layout.server_racks, nics)) if any(nics) else space


class _Filling:
    """A layout whose racks are filled with switches, each rack from the top down.

    ``nics``: load of NICs in every rack of servers.
    """

    def __init__(self, layout: Layout, nics: RackLoad) -> None:
        self.layout = layout
        self.space = space_in(layout, nics)

    def install(self, racks: Ints, size: SwitchSize) -> Positions | None:
        """Install a switch in each of ``racks`` (repeated for several); None if a rack has no space."""
        counts = np.bincount(racks, minlength=len(self.space.units))
        # Rule ``boxes_fit_racks``
        if not len(racks) or (counts > self.space.switches(size)).any() or not self.space.takes(racks, size.load):
            return None
        order = np.argsort(racks, kind="stable")
        before = np.empty(len(racks), dtype=np.int64)
        before[order] = np.arange(len(racks)) - np.repeat(np.cumsum(counts) - counts, counts)
        unit = self.space.unit(racks, before, size)
        self.space = self.space.without(racks, size)
        return Positions(racks, unit, np.asarray(height_m(unit, size.height_u)))

    def leaves(self, numbers: ClosNumbers, size: SwitchSize) -> Positions | None:
        """Leaves in their servers' racks (top of rack), or in the nearest racks for switches."""
        # Rule ``boxes_fit_racks``
        if self.space.is_overdrawn:
            return None
        return self.install(_leaf_racks(self.layout, numbers, self.space.switches(size), self.rows(size)), size)

    def rows(self, size: SwitchSize) -> RowRoom:
        """How many switches of a size rows take beside what racks do."""
        if self.space.row_mw is None or not size.load.air_mw:
            return RowRoom()
        return RowRoom(self.space.row.tolist(), (self.space.row_mw // size.load.air_mw).tolist())

    def spines(self, numbers: ClosNumbers, size: SwitchSize, leaf_racks: Ints) -> Positions | None:
        """Spines of every pod of every plane, in racks nearest to their leaves on average."""
        leaf = np.arange(len(leaf_racks))
        pod = leaf // numbers.leaves * numbers.pods + (numbers.pod_of_leaf(leaf) if numbers.pods > 1 else 0)
        weights = np.zeros((len(self.layout.plan), numbers.planes * numbers.pods))
        np.add.at(weights, (leaf_racks, pod), 1.0)
        away = self.layout.tray_from_m(1) @ weights / weights.sum(axis=0)
        nearest = self.layout.racks_of(1)[np.argsort(np.round(away, 6), axis=0, kind="stable")]
        most = self.layout.most_together(numbers.spines, self.layout.plan.limits.spread_spines)
        orders = nearest.T.tolist()
        counts, at_most = [numbers.spines] * len(orders), [most] * len(orders)
        if numbers.pods == 1:
            orders, counts, at_most = _over_halls(self.layout, orders, counts, at_most)
        racks = _dealt(orders, counts, self.space.switches(size).tolist(), at_most, self.rows(size))
        return self.install(np.array(racks, dtype=np.int64), size)

    def cores(self, numbers: ClosNumbers, size: SwitchSize, spine_racks: Ints) -> Positions | None:
        """Install cores in the racks nearest to all spines on average, each rack filled before the next.

        Where they are spread, and a rack would have all cores of those spines of a pod that others hold, racks take
        them in turn instead, so that its loss does not cut the pod off.
        """
        count = numbers.planes * numbers.cores
        nearest = _for_cores(self.layout, spine_racks)
        most = self.layout.most_together(int(count), self.layout.plan.limits.spread_spines)
        dealt = _over_halls(self.layout, [nearest.tolist()], [int(count)], [most])
        racks = np.array(_dealt(*dealt[:2], self.space.switches(size).tolist(), dealt[2], self.rows(size)), np.int64)
        cuts = self.layout.plan.limits.spread_spines and not _outlive(numbers, spine_racks, racks)
        return self.install(_in_turn(racks) if cuts else racks, size)


def _outlive(numbers: ClosNumbers, spine_racks: Ints, core_racks: Ints) -> bool:
    """Whether every pod keeps a spine with a core after the loss of any one rack; racks in the order of numbers."""
    spines = spine_racks.reshape(numbers.planes, numbers.pods, numbers.spines)
    groups = core_racks.reshape(numbers.planes, -1, numbers.cores_per_group)
    group = np.arange(numbers.spines) // numbers.q
    return len(core_racks) < FEWEST_RACKS or all(
        bool(((spines != rack) & (groups != rack).any(axis=2)[:, None, group]).any(axis=2).all())
        for rack in np.unique(core_racks).tolist()
    )


def _in_turn(racks: Ints) -> Ints:
    """The same racks, each as often, in turn by their shares; shape (switches,)."""
    first, number = np.unique(racks, return_index=True, return_inverse=True)[1:]
    counts = np.bincount(number)
    before = np.zeros(len(racks))
    for rack in range(len(counts)):
        before[number == rack] = (np.arange(counts[rack]) + 0.5) / counts[rack]
    return np.asarray(racks[np.lexsort((first[number], before))])


def place(layout: Layout, numbers: ClosNumbers, sizes: tuple[SwitchSize, ...]) -> tuple[Positions, ...] | None:
    """Positions of leaves, spines and cores; ``sizes``: by tier from the leaves up. None if they do not fit."""
    filling = _Filling(layout, sizes[0].nics)
    leaves = filling.leaves(numbers, sizes[0])
    if leaves is None or not stays_in_halls(layout, numbers, 0, leaves.rack) or len(sizes) == 1:
        return None if leaves is None or len(sizes) > 1 else (leaves,)
    spines = filling.spines(numbers, sizes[1], leaves.rack)
    if spines is None or not stays_in_halls(layout, numbers, 1, spines.rack):
        return None
    if len(sizes) == 2:
        return leaves, spines
    cores = filling.cores(numbers, sizes[2], spines.rack)
    return None if cores is None or not stays_in_halls(layout, numbers, 2, cores.rack) else (leaves, spines, cores)


def place_leaves(layout: Layout, numbers: ClosNumbers, size: SwitchSize) -> Positions | None:
    """Positions of the leaves as of ``place``: they do not depend on spines and cores."""
    return _Filling(layout, size.nics).leaves(numbers, size)


def _leaf_racks(layout: Layout, numbers: ClosNumbers, space: Ints, rows: RowRoom) -> Ints:
    """Rack of every leaf in the order of numbers; empty if they do not fit.

    ``space``: leaves that each rack holds; ``rows``: that rows do.
    """
    leaf, spreads = np.arange(numbers.planes * numbers.leaves), layout.spreads_leaves
    plane, group, rail = leaf // numbers.leaves, numbers.group_of_leaf(leaf), numbers.rail_of_leaf(leaf)
    counts = np.bincount(group)
    if layout.has_leaves_with_servers:
        rails = counts[group] // numbers.planes
        over_planes = (rails == 1) & spreads
        place, leaves = np.where(over_planes, plane, rail), np.where(over_planes, numbers.planes, rails)
        return layout.in_server_racks(numbers.g, group, place, leaves)
    together = [layout.most_together(count, spreads) for count in counts.tolist()]
    own = _own_rack(layout, numbers)
    stays = np.isin(own, layout.racks_of(0)) & (space[own] >= counts)
    most = np.where(stays, counts, together).tolist()
    dealt = _dealt(layout.nearest_to_groups(numbers.g), counts.tolist(), space.tolist(), most, rows)
    racks = np.array(dealt, dtype=np.int64)
    return racks[np.argsort(np.lexsort((rail, plane, group)))] if racks.size else racks


def _own_rack(layout: Layout, numbers: ClosNumbers) -> Ints:
    """The rack that holds all servers of each group, shape (groups,); ``SEVERAL`` where there are several."""
    first = np.arange(numbers.groups) * numbers.g
    last = np.minimum(first + numbers.g, layout.servers) - 1
    own = layout.server_rack[first]
    return np.where(first // layout.per_rack < last // layout.per_rack, SEVERAL, own)


def _over_halls(
    layout: Layout, orders: list[list[int]], counts: list[int], most: list[int]
) -> tuple[list[list[int]], list[int], list[int]]:
    """Orders of racks with counts for the highest tier: where it is spread over halls, half of each in the nearest hall
    and half in the next.
    """
    if not layout.plan.limits.spread_halls or len(np.unique(layout.plan.hall_of[layout.server_racks])) == 1:
        return orders, counts, most
    hall_of = layout.plan.hall_of.tolist()
    racks, numbers, in_a_rack = list[list[int]](), list[int](), list[int]()
    for order, count, at_most in zip(orders, counts, most, strict=True):
        nearest = list(dict.fromkeys(hall_of[rack] for rack in order))
        for own, halls in ((ceil_div(count, 2), nearest[:1]), (count // 2, nearest[1:2])):
            racks.append([rack for rack in order if hall_of[rack] in halls])
            numbers.append(own)
            in_a_rack.append(at_most)
    return racks, numbers, in_a_rack


def stays_in_halls(layout: Layout, numbers: ClosNumbers, tier: int, racks: Ints) -> bool:
    """Whether groups and pods are in one hall each, and the highest tier in two, as far as switches of a tier (0:
    leaves) show it, where the case asks for it.

    ``racks``: of the switches in the order of their numbers, shape (switches,).
    """
    # Rule ``fabrics_keep_halls``
    if not layout.plan.limits.spread_halls:
        return True
    hall, leaf = layout.plan.hall_of[racks], np.arange(numbers.leaves)
    of_servers = layout.plan.hall_of[layout.server_rack]
    own = of_servers[np.arange(layout.servers) // numbers.g * numbers.g]
    of_leaf = of_servers[numbers.group_of_leaf(leaf) * numbers.g]
    if tier == 0:
        return bool((of_servers == own).all() and (hall == np.tile(of_leaf, numbers.planes)).all())
    if tier == 1 and numbers.pods > 1:
        pods = numbers.pod_of_leaf(leaf)
        of_pod = np.zeros(int(numbers.pods), dtype=np.int64)
        of_pod[pods] = of_leaf
        of_spine = np.tile(np.repeat(of_pod, numbers.spines), numbers.planes)
        return bool((of_pod[pods] == of_leaf).all() and (hall == of_spine).all())
    sets = hall.reshape(-1, numbers.spines) if tier == 1 else hall.reshape(1, -1)
    return len(np.unique(of_servers)) == 1 or bool((sets != sets[:, :1]).any(axis=1).all())


def is_spread(layout: Layout, numbers: ClosNumbers, tier: int, racks: Ints) -> bool:
    """Whether the switches of a tier (0: leaves) are in two racks at least where rule ``rack-spread`` asks for it.

    ``racks``: of the switches in the order of their numbers, shape (switches,).
    """
    # Rule ``devices_are_spread``
    if not stays_in_halls(layout, numbers, tier, racks):
        return False
    limits = layout.plan.limits
    if not (limits.spread_spines if tier else limits.spread_leaves):
        return True
    if tier == 0:
        group = numbers.group_of_leaf(np.arange(len(racks)))
        first = racks[np.unique(group, return_index=True)[1]]
        apart = np.bincount(group, weights=racks != first[group]) > 0
        at_home = first == _own_rack(layout, numbers)
        return bool((apart | at_home | (np.bincount(group) < FEWEST_RACKS)).all())
    sets = racks.reshape(-1, numbers.spines) if tier == 1 else racks.reshape(1, -1)
    return sets.shape[1] < FEWEST_RACKS or bool((sets != sets[:, :1]).any(axis=1).all())


class RowRoom:
    """``row``: of each rack; ``space``: how many switches of a size each row still takes. Empty where nothing limits
    rows.
    """

    def __init__(self, row: Sequence[int] = (), space: Sequence[int] = ()) -> None:
        self.row, self.space = row, list(space)

    def take(self, rack: int, wanted: int) -> int:
        """How many of ``wanted`` switches the row of a rack takes; they are in it from then on."""
        if not self.row:
            return wanted
        taken = min(wanted, self.space[self.row[rack]])
        self.space[self.row[rack]] -= taken
        return taken


def _dealt(orders: list[list[int]], counts: list[int], space: list[int], most: list[int], rows: RowRoom) -> list[int]:
    """Racks of ``counts`` switches by ``orders`` of racks, each rack filled before the next; empty if space ends.

    ``most``: switches of each order in one rack.
    """
    racks: list[int] = []
    for order, count, at_most in zip(orders, counts, most, strict=True):
        missing = count
        for rack in order:
            taken = min(missing, space[rack], at_most)
            taken = rows.take(rack, taken) if taken else 0
            if taken:
                space[rack] -= taken
                racks += [rack] * taken
                missing -= taken
                if not missing:
                    break
        if missing:
            return []
    return racks


def _for_cores(layout: Layout, served: Ints) -> Ints:
    """Racks for cores, the nearest on average to some racks first."""
    away = layout.tray_from_m(2) @ np.bincount(served, minlength=len(layout.plan)) / len(served)
    return np.asarray(layout.racks_of(2)[np.argsort(np.round(away, 6), kind="stable")])
