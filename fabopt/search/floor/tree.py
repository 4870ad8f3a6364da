"""Least-cost places of the switches of one candidate in any racks: branch and bound.

Switches are put into racks one by one: leaves, spines, cores, each in the order of their numbers, and every rack is
filled from the top down, so that the racks of earlier switches determine a switch's unit. Links of placed switches have
measured runs; every other link costs at least its cheapest class. See docs/formulation/floor.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.arrangements import InPlaces
from fabopt.floor.free_space import FreeSpace, space_in
from fabopt.floor.group_runs import classes_of_runs
from fabopt.floor.loads import added
from fabopt.floor.open_layouts import OpenLayout
from fabopt.floor.placement import is_spread
from fabopt.floor.policies import SwitchSize
from fabopt.floor.racks import Floats, Ints, Positions, height_m
from fabopt.network.clos_links import ClosNumbers, TierLinks
from fabopt.parts.switches import TIER_ROLES
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.search.coefficients import least_of
from fabopt.search.floor.attached import AttachedPlaces
from fabopt.search.floor.pairs import Pairs, pairs_of
from fabopt.topology.candidate import Candidate, over_stages
from fabopt.topology.clos.attached import least_attached
from fabopt.topology.clos.cabling import links_of, numbers_of
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.floor_runs import TooManyPlacesError
from fabopt.topology.clos.network import ClosNetwork, clos_of, devices_of, switches_added
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.rack_losses import RackDemand, rack_demand
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.stage_links import all_kinds_of, kinds_of
from fabopt.topology.clos.switch_sizes import switch_sizes
from fabopt.topology.family import Batch
from fabopt.topology.ways import purchasable_variants

# Switches put into a rack, over all candidates of a search, before it is content with layouts.
MOST_STEPS = 150_000
# Costs are sums of floating-point shares of whole numbers: nearer than this they are equal.
RELATIVE_ERROR = 1e-11
ABSOLUTE_ERROR = 1e-6


# Racks of the switches of a tier, and what has been spent with them.
_Chosen = tuple[list[int], float]


class StepBudget:
    """Counts the steps of a search."""

    def __init__(self) -> None:
        self._left = MOST_STEPS

    def take(self) -> None:
        """Count one step; raises ``TooManyPlacesError`` if the budget is spent."""
        self._left -= 1
        if self._left < 0:
            raise TooManyPlacesError


@dataclass(frozen=True, eq=False)
class Sized:
    """A candidate before its switches are placed.

    Its costs are at ``weights`` of the items, shape (items,).
    """

    problem: Problem
    fabric: FabricProblem
    batch: Batch[Parts, Shape]
    index: int
    prune: bool
    weights: Floats

    @property
    def open_layouts(self) -> tuple[OpenLayout, ...]:
        """The open layouts of the candidate."""
        assert isinstance(self.fabric.on_floor.arrangement, InPlaces)
        return self.fabric.on_floor.arrangement.layouts

    @cached_property
    def clos(self) -> ClosNetwork:
        """The hardware and numbers of the candidate."""
        return clos_of(self.fabric, self.batch.parts, self.batch.shape.row(self.index))

    @cached_property
    def fixed(self) -> float:
        """Cost of NICs and switches, and the least of links of attachments, which have no racks."""
        devices = over_stages(devices_of(self.problem, self.clos))
        of_devices = sum(float(self.weights[item.index]) * count for item, count in devices.items())
        return of_devices + least_attached(self.problem, self.fabric, self.clos, self.weights)

    @cached_property
    def floor(self) -> float:
        """The candidate's known lower bound with switches anywhere."""
        return self.batch.bound(self.index)

    @cached_property
    def sizes(self) -> tuple[SwitchSize, ...]:
        """The size of a switch, by tier."""
        return switch_sizes(self.problem, self.fabric, self.clos.parts)

    @cached_property
    def numbers(self) -> ClosNumbers:
        """The numbering that determines the links."""
        return numbers_of(self.clos.parts.nic, self.clos.shape)

    @cached_property
    def pairs(self) -> tuple[Pairs, ...]:
        """The links of the candidate as pairs, from the servers up."""
        kinds = kinds_of(self.clos)
        return tuple(pairs_of(self.problem, self.clos, self.numbers, kind, self.weights) for kind in kinds)

    @cached_property
    def links(self) -> list[tuple[str, TierLinks]]:
        """The links of the candidate one by one, each kind with its name."""
        return [(kind.name, links_of(self.numbers, kind, 1)[0]) for kind in all_kinds_of(self.clos)]

    @cached_property
    def met(self) -> set[tuple[bytes, ...]]:
        """Length classes of all links, kind by kind, of measured places: equal classes need equal parts."""
        return set()

    @cached_property
    def rack_demand(self) -> RackDemand | None:
        """The demand on the network without any one rack; None without such a demand."""
        return rack_demand(self.fabric, self.clos)

    @cached_property
    def beyond(self) -> list[float]:
        """The least cost of all links above each tier."""
        cheapest = int(classes_of_runs(self.problem.item_table.lengths_m, self.problem.floor.plan.least_m))
        return _sums_from(np.array([pair.least[:, cheapest].sum() for pair in self.pairs]))[1:]

    @cached_property
    def alike(self) -> list[list[bool]]:
        """Whether a switch may be exchanged with its predecessor at equal cost, by tier."""
        alike = []
        for tier, below in enumerate(self.pairs):
            same = below.alike(upper=True) if below.apart[1] else [False] * len(below.first_of_b)
            if tier == 0 and self.rack_demand is not None and self.clos.parts.nic.is_slowed:
                # two ports of a NIC in one rack take less than of two NICs: leaves of a group are not alike
                same = [False] * len(same)
            if tier == 0 and self.clos.parts.leaf.peers is not None:
                # only the two leaves of a pair stay as near each other
                same = [alike and place % 2 == 1 for place, alike in enumerate(same)]
            if tier + 1 < len(self.pairs):
                above = self.pairs[tier + 1]
                same = [a and b and above.apart[0] for a, b in zip(same, above.alike(upper=False), strict=True)]
            alike.append(same)
        return alike

    def has_room(self, layout: OpenLayout) -> bool:
        """Whether the switches of each tier alone fit a layout."""
        counts = (sum(switches_added(self.clos, role)) for role in TIER_ROLES)
        space = space_in(layout, self.sizes[0].nics)
        fits = (int(space.switches(size).sum()) >= count for size, count in zip(self.sizes, counts, strict=False))
        return not space.is_overdrawn and all(fits)

    def candidates(self, layout: OpenLayout, positions: tuple[Positions, ...]) -> list[tuple[float, Candidate]]:
        """Least costs and candidates with switches at ``positions``, the cheapest management first; empty if an earlier
        place had equal length classes.
        """
        placement = RackPlacement(layout, positions, self.numbers)
        clos = self.clos._replace(placement=placement)
        runs_m = [placement.runs_m(name, links) for name, links in self.links]
        if self.attached.buys_measured:
            if (attached_m := self.attached.runs_m(clos)) is None:
                return []
            runs_m.append(attached_m)
        classes = tuple(classes_of_runs(self.problem.item_table.lengths_m, run_m).tobytes() for run_m in runs_m)
        if classes in self.met:
            return []
        self.met.add(classes)
        candidates = candidates_of(self.problem, self.fabric, clos, self.prune)
        in_halls = self.fabric.ratios.hall is not None
        if (self.rack_demand is not None or self.attached.hosts or in_halls) and not candidates:
            # in other racks, as far away, more may be left or leave a hall, and hosts may have room
            self.met.discard(classes)
        managed = purchasable_variants(self.problem, self.fabric, candidates)
        return sorted(((least_of(one, self.weights), one) for one in managed), key=lambda one: one[0])

    @cached_property
    def attached(self) -> AttachedPlaces:
        """The attachments of the candidate, once its switches are placed."""
        return AttachedPlaces(self.problem, self.fabric, self.clos)


def best_place(sized: Sized, cutoff: float, steps: StepBudget) -> tuple[float, Candidate] | None:
    """The cheapest place of a candidate, and its cost; None if none costs ``cutoff`` or less. The first of equals."""
    if sized.floor > cutoff:
        return None
    best: tuple[float, Candidate] | None = None
    limit = cutoff
    trees = [_Tree(sized, layout, steps, cutoff) for layout in sized.open_layouts if sized.has_room(layout)]
    for tree in sorted(trees, key=lambda one: round(one.least, 6)):
        tree.limit = limit
        for positions in tree.places():
            placed = next(iter(sized.candidates(tree.layout, positions)), None)
            if placed is not None and placed[0] <= limit:
                best, limit = placed, placed[0] - _error(placed[0])
                tree.limit = limit
    return best


def all_places(sized: Sized, limit: float, steps: StepBudget, alike: bool) -> list[tuple[float, Candidate]]:
    """Every place of a candidate of cost ``limit`` or less; unless ``alike``, the first among equal needs."""
    by_needs: dict[Hashable, tuple[float, Candidate]] = {}
    for layout in filter(sized.has_room, sized.open_layouts):
        tree = _Tree(sized, layout, steps, limit)
        for positions in tree.places():
            for placed in sized.candidates(layout, positions):
                needs: Hashable = frozenset((choice.key, choice.count) for choice in placed[1].choices), placed[1].twins
                needs = (needs, placed[1].order) if alike else needs
                if placed[0] <= limit:
                    by_needs.setdefault(needs, placed)
    return list(by_needs.values())


def _error(cost: float) -> float:
    return RELATIVE_ERROR * abs(cost) + ABSOLUTE_ERROR


def _slots(space: FreeSpace, racks: Ints, size: SwitchSize, most: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Lowest units of ``most`` switches in each of ``racks``, from the top down, and whether they fit; both of shape
    (racks, most).
    """
    before = np.arange(most)
    return space.unit(racks[:, None], before, size), before < space.switches(size)[racks, None]


class _Tier:
    """The switches of one tier, with lower tiers in place. Racks are indices into ``racks``, slots units in a rack.

    ``cost[switch][rack][slot]``: of its links downwards; ``rest[i]``: least cost of the switches from the i-th on.
    """

    def __init__(
        self, layout: OpenLayout, sized: Sized, number: int, racks: Ints, below: Positions, space: FreeSpace
    ) -> None:
        self.racks, self.size, self.space = racks, sized.sizes[number], space
        pairs = sized.pairs[number]
        self.count = len(pairs.first_of_b)
        self.units, fits = _slots(space, racks, self.size, self.count)
        self.heights = np.asarray(height_m(self.units, self.size.height_u))
        run = layout.plan.run_m(
            below.rack[:, None, None], below.height_m[:, None, None], racks[None, :, None], self.heights[None, :, :]
        )
        classes = classes_of_runs(sized.problem.item_table.lengths_m, run)
        links = pairs.cost[np.arange(len(pairs.a))[:, None, None], classes[pairs.a]]
        table = np.where(fits, np.add.reduceat(links, pairs.first_of_b, axis=0), np.inf)
        self.cost: list[list[list[float]]] = table.tolist()
        cheapest = table.min(axis=2)
        self.order: list[list[int]] = np.argsort(np.round(cheapest, 6), axis=1, kind="stable").tolist()
        self.rest = _sums_from(cheapest.min(axis=1))
        self.alike = sized.alike[number]

    def rows_take(self, chosen: Sequence[int]) -> bool:
        """Whether rows take the switches in their chosen racks."""
        return self.space.row_mw is None or self.space.takes(self.racks[list(chosen)], self.size.load)

    def positions(self, chosen: Sequence[int]) -> Positions:
        """Positions of the switches in their chosen racks."""
        racks = np.array(chosen, dtype=np.int64)
        slot = np.array([chosen[:index].count(one) for index, one in enumerate(chosen)], dtype=np.int64)
        return Positions(self.racks[racks], self.units[racks, slot], self.heights[racks, slot])


class _Above:
    """Lower bounds on links between a tier and the next, with the lower tier partly placed.

    Every upper device is in one rack: at least the cheapest one for its links downwards.
    """

    def __init__(self, layout: OpenLayout, sized: Sized, number: int, racks: Ints, upper: Ints) -> None:
        pairs, plan = sized.pairs[number + 1], layout.plan
        self._rows = _rows_of(pairs.a)
        self._b, self._least = pairs.b, pairs.least
        self.none = np.zeros((len(pairs.first_of_b), len(upper)))
        tops = plan.floor.tray_height_m - height_m(layout.top_unit, 1)
        run = tops[racks, None] + tops[upper] + 2 * plan.floor.drop_m + plan.tray_m(racks[:, None], upper)
        run = plan.spared_m(np.where(racks[:, None] == upper, plan.limits.side_m, run))
        self._classes = classes_of_runs(sized.problem.item_table.lengths_m, np.round(run, 9))
        cheapest = int(classes_of_runs(sized.problem.item_table.lengths_m, plan.least_m))
        self.rest = _sums_from(np.array([self._least[rows, cheapest].sum() for rows in self._rows]))
        self._known: dict[tuple[int, int], Floats] = {}

    def with_one(self, before: Floats, switch: int, rack: int) -> Floats:
        """Costs of every upper device in every rack, shape (devices, racks), with one more lower one in place."""
        rows = self._rows[switch]
        if (switch, rack) not in self._known:
            self._known[switch, rack] = self._least[rows[:, None], self._classes[rack]]
        after = before.copy()
        after[self._b[rows]] += self._known[switch, rack]
        return after


class _Tree:
    """All places in one layout of cost ``limit`` or less; the limit may be lowered on the way."""

    def __init__(self, sized: Sized, layout: OpenLayout, steps: StepBudget, limit: float) -> None:
        self.sized, self.layout, self.limit = sized, layout, limit
        self._steps = steps
        counts = [len(pair.first_of_b) for pair in sized.pairs]
        above = list(zip(counts, sized.sizes, strict=True))[1:]
        units = sum(count * size.units for count, size in above)
        load = added(size.load.times(count) for count, size in above)
        nics = sized.sizes[0].nics
        upper = layout.racks_above(units, load, sum(counts[1:]))
        self._racks = [layout.leaf_racks, *(layout.pins.get(tier, upper) for tier in range(1, len(counts)))]
        self._leaves = _Tier(layout, sized, 0, self._racks[0], layout.server_positions, space_in(layout, nics))
        self.least = max(sized.floor, sized.fixed + self._leaves.rest[0] + sized.beyond[0])

    def places(self) -> Iterator[tuple[Positions, ...]]:
        """Places of the switches of all tiers."""
        if self.least <= self.limit and self.least < np.inf:
            yield from self._tier(0, self._leaves, self.sized.fixed, ())

    def _tier(
        self, number: int, tier: _Tier, spent: float, below: tuple[Positions, ...]
    ) -> Iterator[tuple[Positions, ...]]:
        """Positions of a tier and the tiers above it. ``spent``: cost of the tiers below."""
        above = None
        if number + 1 < len(self.sized.sizes):
            above = _Above(self.layout, self.sized, number, self._racks[number], self._racks[number + 1])
        for chosen, cost in self._chosen(number, tier, above, spent, below):
            positions = (*below, tier.positions(chosen))
            if not is_spread(self.layout, self.sized.numbers, number, positions[-1].rack):
                continue
            if above is None:
                if self.sized.attached.may_stand(self.layout.plan, tier.space, tier.size, positions):
                    yield positions
                continue
            space = tier.space.without(positions[-1].rack, tier.size)
            upper = _Tier(self.layout, self.sized, number + 1, self._racks[number + 1], positions[-1], space)
            least = cost + upper.rest[0] + self.sized.beyond[number + 1]
            if least <= self.limit and least < np.inf:
                yield from self._tier(number + 1, upper, cost, positions)

    def _chosen(
        self, number: int, tier: _Tier, above: _Above | None, spent: float, below: tuple[Positions, ...]
    ) -> Iterator[tuple[list[int], float]]:
        """Racks for all switches of a tier with the cost so far, depth first, the cheapest rack first."""
        chosen: list[int] = []
        later = self.sized.beyond[number + 1] if above is not None else 0.0

        def put(spent: float, so_far: Floats | None, rank: int) -> Iterator[_Chosen]:
            switch = len(chosen)
            if switch == tier.count:
                yield chosen, spent
                return
            start = rank if tier.alike[switch] else 0
            for position in range(start, len(tier.racks)):
                rack = tier.order[switch][position]
                cost = spent + tier.cost[switch][rack][chosen.count(rack)]
                if cost == np.inf or cost + tier.rest[switch + 1] > self.limit:
                    continue
                self._steps.take()
                known, links = so_far, 0.0
                if above is not None and known is not None:
                    known = above.with_one(known, switch, rack)
                    links = float(known.min(axis=1).sum()) + above.rest[switch + 1]
                least = cost + tier.rest[switch + 1] + links + later
                if max(least, self.sized.floor) <= self.limit and least < np.inf:
                    chosen.append(rack)
                    if tier.rows_take(chosen) and self._outlives(tier, chosen, below):
                        yield from put(cost, known, position)
                    chosen.pop()

        yield from put(spent, None if above is None else above.none, 0)

    def _outlives(self, tier: _Tier, chosen: list[int], below: tuple[Positions, ...]) -> bool:
        """Whether the demand may be met without the rack of the last placed switch of a tier."""
        demand = self.sized.rack_demand
        if demand is None:
            return True
        rack = int(tier.racks[chosen[-1]])
        there = np.concatenate([*(of_tier.rack for of_tier in below), tier.racks[chosen]])
        return demand.is_met(self.layout.server_rack == rack, tuple(np.flatnonzero(there == rack).tolist()))


def _rows_of(device: Ints) -> list[Ints]:
    """Rows of each device, by its number."""
    order = np.argsort(device, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(device[order])) + 1)


def _sums_from(values: Floats) -> list[float]:
    """The suffix sums; 0 past the last."""
    sums: list[float] = np.cumsum(values[::-1])[::-1].tolist()
    return [*sums, 0.0]
