"""The rack and unit of every switch of a sized Clos in a layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fabopt.floor.free_space import FreeSpace, space_beside
from fabopt.floor.layouts import Layout
from fabopt.floor.policies import SwitchSize
from fabopt.floor.rack_rules import FEWEST_RACKS
from fabopt.floor.racks import Ints, Positions, height_m
from fabopt.floor.standing import NONE_STAY, StandingSwitches
from fabopt.network.clos_links import ClosNumbers
from fabopt.units import ceil_div

# Servers of a group are in several racks.
SEVERAL = -1


class _Filling:
    """A layout whose racks are filled with switches, each rack from the top down, around those in service.

    ``sizes``: of the switches of each tier, as far as they are known; ``staying``: switches of tiers that stay.
    """

    def __init__(self, layout: Layout, sizes: Sequence[SwitchSize], staying: Sequence[StandingSwitches] = ()) -> None:
        self.layout = layout
        self.space = space_beside(layout, sizes[0].nics)
        self.staying = staying
        if layout.standing is not None:
            of_tiers = (*sizes, *layout.standing.sizes[len(sizes) :])
            self.space = self.space.around([*zip(staying, of_tiers, strict=False)])

    def stay(self, tier: int) -> StandingSwitches:
        """The switches of a tier that stay."""
        return self.staying[tier] if tier < len(self.staying) else NONE_STAY

    def install(self, tier: int, racks: Ints, size: SwitchSize) -> Positions | None:
        """Install a switch of a tier in each of ``racks`` (repeated for several), beside those that stay; None if a
        rack has no space.
        """
        counts = np.bincount(racks, minlength=len(self.space.units))
        # Rule ``boxes_fit_racks``
        if (counts > self.space.switches(size)).any() or not self.space.takes(racks, size.load):
            return None
        order = np.argsort(racks, kind="stable")
        before = np.empty(len(racks), dtype=np.int64)
        before[order] = np.arange(len(racks)) - np.repeat(np.cumsum(counts) - counts, counts)
        unit = self.space.unit(racks, before, size)
        self.space = self.space.without(racks, size)
        stay = self.stay(tier)
        racks, unit = _beside(stay, stay.rack, racks), _beside(stay, stay.unit, unit)
        return Positions(racks, unit, np.asarray(height_m(unit, size.height_u)))

    def leaves(self, numbers: ClosNumbers, size: SwitchSize) -> Positions | None:
        """Leaves in their servers' racks (top of rack), or in the nearest racks for switches."""
        # Rule ``boxes_fit_racks``
        if self.space.is_overdrawn:
            return None
        stay, space = self.stay(0), self.space.switches(size)
        racks = _leaf_racks(self.layout, numbers, space, self.rows(size), stay)
        return None if racks is None else self.install(0, racks, size)

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
        orders, stay = nearest.T.tolist(), self.stay(1)
        there = _by_order(stay, stay.number // numbers.spines, len(orders))
        counts, at_most = [numbers.spines - own.total() for own in there], [most] * len(orders)
        if numbers.pods == 1:
            orders, counts, at_most = _over_halls(self.layout, orders, counts, at_most)
        racks = _dealt(orders, counts, self.space.switches(size).tolist(), at_most, self.rows(size), there)
        return None if racks is None else self.install(1, racks, size)

    def cores(self, numbers: ClosNumbers, size: SwitchSize, spine_racks: Ints) -> Positions | None:
        """Install cores in the racks nearest to all spines on average, each rack filled before the next.

        Where they are spread, and a rack would have all cores of those spines of a pod that others hold, racks take
        them in turn instead, so that its loss does not cut the pod off.
        """
        count = numbers.planes * numbers.cores
        nearest = _for_cores(self.layout, spine_racks)
        most = self.layout.most_together(int(count), self.layout.plan.limits.spread_spines)
        stay = self.stay(2)
        dealt = _over_halls(self.layout, [nearest.tolist()], [int(count) - len(stay.number)], [most])
        there = _by_order(stay, 0 * stay.number, len(dealt[0]))
        racks = _dealt(*dealt[:2], self.space.switches(size).tolist(), dealt[2], self.rows(size), there)
        if racks is None:
            return None
        whole = _beside(stay, stay.rack, racks)
        cuts = self.layout.plan.limits.spread_spines and not _outlive(numbers, spine_racks, whole)
        return self.install(2, _in_turn(racks) if cuts else racks, size)


def _beside(stay: StandingSwitches, there: Ints, new: Ints) -> Ints:
    """What ``there`` says of switches that stay, and ``new`` of the others, in the order of their numbers."""
    if not len(there):
        return new
    is_new = np.ones(len(there) + len(new), dtype=np.bool_)
    is_new[stay.number] = False
    whole = np.empty(len(is_new), dtype=np.int64)
    whole[stay.number], whole[is_new] = there, new
    return whole


def _by_order(stay: StandingSwitches, order: Ints, orders: int) -> list[Counter[int]]:
    """Switches that stay, by rack, of each of the ``orders`` by which switches are dealt; ``order``: of each."""
    there = [Counter[int]() for _ in range(orders)]
    for own, rack in zip(order.tolist(), stay.rack.tolist(), strict=True):
        there[own][rack] += 1
    return there


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
    """Positions of leaves, spines and cores; ``sizes``: by tier from the leaves up. None if they do not fit, or are not
    those in service with others.
    """
    filling = _filling(layout, numbers, sizes)
    leaves = None if filling is None else filling.leaves(numbers, sizes[0])
    if filling is None or leaves is None or not _may_be(layout, numbers, 0, leaves.rack):
        return None
    if len(sizes) == 1:
        return (leaves,)
    spines = filling.spines(numbers, sizes[1], leaves.rack)
    if spines is None or not _may_be(layout, numbers, 1, spines.rack):
        return None
    if len(sizes) == 2:
        return leaves, spines
    cores = filling.cores(numbers, sizes[2], spines.rack)
    return None if cores is None or not _may_be(layout, numbers, 2, cores.rack) else (leaves, spines, cores)


def space_left(
    layout: Layout, numbers: ClosNumbers, sizes: tuple[SwitchSize, ...], positions: Sequence[Positions]
) -> FreeSpace:
    """What switches leave in every rack that ``place`` has put there."""
    filling = _filling(layout, numbers, sizes)
    assert filling is not None, "switches in service have places"
    space = filling.space
    for tier, (of_tier, size) in enumerate(zip(positions, sizes, strict=True)):
        space = space.without(np.delete(of_tier.rack, filling.stay(tier).number), size)
    return space


def _may_be(layout: Layout, numbers: ClosNumbers, tier: int, racks: Ints) -> bool:
    """Whether the switches of a tier may be in their racks; those that are dealt are spread, but for what stays."""
    return (stays_in_halls if layout.standing is None else is_spread)(layout, numbers, tier, racks)


def place_leaves(layout: Layout, numbers: ClosNumbers, size: SwitchSize) -> Positions | None:
    """Positions of the leaves as of ``place``: they do not depend on spines and cores."""
    filling = _filling(layout, numbers, (size,))
    return None if filling is None else filling.leaves(numbers, size)


def _filling(layout: Layout, numbers: ClosNumbers, sizes: Sequence[SwitchSize]) -> _Filling | None:
    """The racks before any new switch is there; None where other switches are in service than the first ones."""
    if layout.standing is None:
        return _Filling(layout, sizes)
    staying = layout.standing.staying(numbers, len(sizes))
    return None if staying is None else _Filling(layout, sizes, staying)


def _leaf_racks(
    layout: Layout, numbers: ClosNumbers, space: Ints, rows: RowRoom, stay: StandingSwitches
) -> Ints | None:
    """Rack of every new leaf in the order of numbers, beside those that stay; None if they do not fit.

    ``space``: leaves that each rack holds; ``rows``: that rows do.
    """
    spreads, leaf = layout.spreads_leaves, np.delete(np.arange(numbers.planes * numbers.leaves), stay.number)
    plane, group = leaf // numbers.leaves, numbers.group_of_leaf(leaf)
    rail = leaf % numbers.leaves - numbers.first_leaves(group)
    counts = np.bincount(group, minlength=int(numbers.groups))
    if layout.has_leaves_with_servers:
        rails = counts[group] // numbers.planes
        over_planes = (rails == 1) & spreads
        place, leaves = np.where(over_planes, plane, rail), np.where(over_planes, numbers.planes, rails)
        return layout.in_server_racks(numbers.g, group, place, leaves)
    together = [layout.most_together(count, spreads) for count in counts.tolist()]
    own = _own_rack(layout, numbers)
    stays = np.isin(own, layout.racks_of(0)) & (space[own] >= counts)
    most = np.where(stays, counts, together).tolist()
    racks = _dealt(layout.nearest_to_groups(numbers.g), counts.tolist(), space.tolist(), most, rows)
    return None if racks is None else racks[np.argsort(np.lexsort((rail, plane, group)))]


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


def _dealt(
    orders: list[list[int]],
    counts: list[int],
    space: list[int],
    most: list[int],
    rows: RowRoom,
    there: Sequence[Mapping[int, int]] = (),
) -> Ints | None:
    """Racks of ``counts`` switches by ``orders`` of racks, each rack filled before the next; None if space ends.

    ``most``: switches of each order in one rack, with those that are ``there``, by rack.
    """
    racks: list[int] = []
    held = (*there, *({},) * (len(orders) - len(there)))
    for order, count, at_most, own in zip(orders, counts, most, held, strict=True):
        missing = count
        for rack in order if missing else ():
            taken = min(missing, space[rack], at_most - own.get(rack, 0))
            taken = rows.take(rack, taken) if taken > 0 else 0
            if taken:
                space[rack] -= taken
                racks += [rack] * taken
                missing -= taken
                if not missing:
                    break
        if missing:
            return None
    return np.array(racks, dtype=np.int64)


def _for_cores(layout: Layout, served: Ints) -> Ints:
    """Racks for cores, the nearest on average to some racks first."""
    away = layout.tray_from_m(2) @ np.bincount(served, minlength=len(layout.plan)) / len(served)
    return np.asarray(layout.racks_of(2)[np.argsort(np.round(away, 6), kind="stable")])
