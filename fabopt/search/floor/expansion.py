"""Expanding the space on a floor: every fabric in every layout that is wanted, its candidates with switches placed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import ceil, frexp, isfinite, ldexp

import numpy as np

from fabopt.parts.items import CABLE_KINDS
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.search.coefficients import least_of
from fabopt.search.context import AnywhereKey, BoundKey, Context, OwnBest, PlacedCandidates, PlacedKey, SearchKey
from fabopt.search.expansion import MOST_SAMPLED, Expanded, Expansion
from fabopt.search.fewest_switches import with_fewest
from fabopt.search.floor.apart import layout_of
from fabopt.search.floor.tree import Sized, StepBudget, all_places, best_place
from fabopt.search.floor.variants import layouts_for
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.candidates import ClosBatch, on_each_tier
from fabopt.topology.clos.layouts import before_placing, in_layouts, in_places, spread
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.family import RELATIVE_SLACK, AnyBatch, Restriction, Sizing, Spaces
from fabopt.topology.link_parts import Floats

# The slack in which the best design of a fabric is looked for rises by this share of its bound, then fourfold.
FIRST_OWN_RISE = 0.05
OWN_RISE = 4.0
MOST_OWN_RISES = 8
# What a fabric may cost at the most is rounded up to so many parts of the power of two above it.
STEPS_OF_MOST = 64


class FloorExpansion(Expansion):
    """The space of a problem in the layouts of a floor."""

    # Whether each fabric is bounded by its own best design with its switches placed: then what the links of one cost
    # above their bound widens the search of no other.
    by_own_best = False

    def place_own_best(self) -> None:
        """From now on, bound each of several fabrics by its own best design."""
        self.by_own_best = self.settings.prune and len(self.problem.fabrics) > 1
        self.together.measures = self.together.measures and not self.by_own_best

    def _searched(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool = False) -> Sizing:
        """Search a fabric in every layout, with the bound of its own best design if enabled.

        Fabrics that count switches have no such bound: they are small, and searched for every number of switches.
        """
        if not self.by_own_best or fabric.per_switch is not None:
            return self._bounded(costs, fabric, slack)
        own = self._own_best(costs, fabric)
        aside = self.together.attached_to(costs, fabric) if self.counts else 0.0
        above = max(0.0, own.least - aside - own.bound) if np.isfinite(own.bound) else 0.0
        sizing = self._bounded(costs, fabric, slack + above)
        return replace(sizing, least=sizing.least + above, aside=aside)

    def _bounded(self, costs: BoundedCosts, fabric: FabricProblem, slack: float) -> Sizing:
        """Sizes with a bound of at most the least bound in any layout plus ``slack``, cached."""
        most = self._most_of(costs, fabric)
        known, key = self.context.sizings, self._key(costs, fabric, slack)._replace(most=most)
        if key in known:
            return known[key]
        least_met, without = self.context.least_met, key._replace(slack=0.0)
        sizing = Sizing(least=min(most, least_met.get(without, most)), highest=most)
        spaces = [self.space(variant, costs) for variant in self.wanted(fabric, costs)]
        # what is cheap is met early: then less is looked at in the others
        for space in self.settings.share.over(sorted(spaces, key=lambda space: space.lowest_bound)):
            space.search(slack, sizing)
        if not sizing.stopped:
            least_met[without] = sizing.least
        if (self.counts or self.is_alone) and not sizing.stopped:
            known[key] = sizing
        return sizing

    def _most_of(self, costs: BoundedCosts, fabric: FabricProblem) -> float:
        """The highest cost of a fabric with which all together are wanted; infinite if unknown, with limits, or if it
        counts switches.
        """
        if self.is_alone or not np.isfinite(self.most):
            return self.most_of_sizes
        if fabric.per_switch is not None or not np.array_equal(costs.table[0], self.table[0]):
            return np.inf
        others = (with_fewest(self.problem, self.context, one) for one in self.problem.fabrics if one is not fabric)
        sizings = [self.anywhere(other, costs) for other in others]
        left = self.most + self.saving - sum(sizing.least for sizing in sizings)
        return np.inf if np.isnan(left) or any(sizing.stopped for sizing in sizings) else _rounded_up(left)

    def _key(self, costs: BoundedCosts, fabric: FabricProblem, slack: float) -> SearchKey:
        part = self.restrictions.get(fabric.name)
        return SearchKey(fabric, part, costs, self.caps.tobytes(), self.settings.prune, slack)

    def least_by_own_best(self) -> Iterator[float]:
        """Rising bounds of all designs: fabric by fabric with its own best design, the others with
        their least bound.
        """
        costs = self.costs_of(0)
        least = [self.anywhere(fabric, costs).least for fabric in self.problem.fabrics]
        for place, fabric in enumerate(self.problem.fabrics):
            least[place] = max(least[place], self._own_best(costs, fabric).least)
            yield sum(least) - self.saving

    def _own_best(self, costs: BoundedCosts, fabric: FabricProblem) -> OwnBest:
        """The own best of a fabric; worked out once."""
        most = self._most_of(costs, fabric)
        known, key = self.context.own_best, self._key(costs, fabric, 0.0)._replace(most=most)
        if key not in known:
            known[key] = self._own_best_within(costs, fabric, most)
        return known[key]

    def _own_best_within(self, costs: BoundedCosts, fabric: FabricProblem, most: float) -> OwnBest:
        """The least bound of a fabric, and a lower bound on its best design with switches placed.

        The second is the bound itself if left open, by the clock or as no size near the bound can be placed; ``most``
        if none up to it can.
        """
        slack, bound = 0.0, np.inf
        for _ in range(MOST_OWN_RISES):
            sizing = self._bounded(costs, fabric, slack)
            bound = min(bound, sizing.least)
            least = self._least_placed(sizing, costs.table[0], most)
            if sizing.stopped or self.clock.is_over() or not sizing.batches:
                break
            if least - bound <= slack:
                return OwnBest(bound, least)
            if bound + slack > most:
                return OwnBest(bound, most)
            slack = least - bound if np.isfinite(least) else max(slack * OWN_RISE, abs(bound) * FIRST_OWN_RISE)
        return OwnBest(bound, bound)

    def _least_placed(self, sizing: Sizing, weights: Floats, most: float) -> float:
        """The least cost of any candidate of a sizing with switches placed, at most ``most``, as far as time allows.

        ``weights``: of the items, shape (items,).
        """
        best, placed = most, dict[Hashable, int]()
        for batch, index in self.settings.share.over(self._sizes(sizing, None, in_order=True)):
            if batch.bound(index) >= best or self.clock.is_over():
                break
            if isinstance(batch, ClosBatch) and (alike := batch.but_for_uplinks(index)) is not None:
                others, uplinks = alike
                if placed.setdefault(others, uplinks) < uplinks:
                    # wherever its switches are it has all links of one that was placed, and more
                    continue
            best = min([best, *self._costs_placed(batch, index, weights, best)])
        return best

    def _costs_placed(self, batch: AnyBatch, index: int, weights: Floats, most: float) -> Iterator[float]:
        """The least costs of a size with its switches placed; may be empty above ``most``."""
        yield from (least_of(candidate, weights) for candidate in self.candidates_at(batch, index))

    def anywhere(self, fabric: FabricProblem, costs: BoundedCosts, measured: bool = True) -> Sizing:
        """The least sizes of a fabric with switches anywhere on the floor; computed once for all layouts.

        ``measured``: with the least runs on the floor, else with the case's.
        """
        known, part = self.context.anywhere, replace(self.restrictions.get(fabric.name, Restriction()), layout=None)
        search = SearchKey(fabric, part, costs, self.caps.tobytes(), self.settings.prune, 0.0)
        key = AnywhereKey(search, self.problem.floor.plan, measured)
        if key not in known:
            sizing = Sizing()
            for placed in on_each_tier(self.problem, fabric):
                self.space(spread(placed) if measured else placed, costs).search(0.0, sizing)
            if sizing.stopped:
                return sizing
            known[key] = sizing
        return known[key]

    def wanted(self, fabric: FabricProblem, costs: BoundedCosts) -> list[FabricProblem]:
        """The fabric in each layout of the searched part of the space, with its attachments on each possible tier."""
        part = self.restrictions.get(fabric.name, Restriction())
        return [
            placed
            for number, variant in enumerate(self.variants(fabric, costs))
            if part.layout in (None, number)
            for placed in on_each_tier(self.problem, variant)
        ]

    def least_before_placing(self) -> float:
        """The least cost in the searched part of the space, by bounds before any spine is placed."""
        costs = self.costs_of(0)
        fabrics = [with_fewest(self.problem, self.context, fabric) for fabric in self.problem.fabrics]
        return sum(self._least_before_placing(fabric, costs) for fabric in fabrics) - self.saving

    def _least_before_placing(self, fabric: FabricProblem, costs: BoundedCosts) -> float:
        """The least cost of a fabric, by bounds before any spine is placed, cached; -inf if the clock stopped it."""
        variants = self.wanted(fabric, costs)
        key = BoundKey(self._key(costs, fabric, 0.0), tuple(map(layout_of, variants)))
        if key in self.context.before_placing:
            return self.context.before_placing[key]
        sizing = Sizing()
        for variant, layout in zip(variants, key.layouts, strict=True):
            self.space(before_placing(self.problem, variant, layout), costs).search(0.0, sizing)
        if sizing.stopped:
            return -np.inf
        self.context.before_placing[key] = sizing.least
        return sizing.least

    def variants(self, fabric: FabricProblem, costs: BoundedCosts) -> tuple[FabricProblem, ...]:
        """The fabric in all layouts; worked out once."""
        known, key = self.context.variants, (self.problem.fabrics, fabric)
        if key not in known:
            known[key] = self._variants(fabric, costs)
        return known[key]

    def _variants(self, fabric: FabricProblem, costs: BoundedCosts) -> tuple[FabricProblem, ...]:
        known = self.context.layouts.setdefault(self.problem.fabrics, {})
        if not known:
            for name, worth_it in layouts_for(self.problem, self.context, partial(self._whole, costs)).items():
                known[name] = [self.context.layout(one) for one in worth_it]
        return in_layouts(self.problem, fabric, known[fabric.name])

    def _whole(self, costs: BoundedCosts, fabric: FabricProblem) -> ClosSpace:
        """The Clos candidates of a fabric, whatever part of the space is searched."""
        return ClosSpace(self.problem, fabric, costs, self.caps, Restriction(), self.settings.prune)

    @property
    def tells_at_once(self) -> bool:
        """No: it looks at layout after layout."""
        return False

    def _bounding(self, fabric: FabricProblem, costs: BoundedCosts) -> Spaces:
        """Its switches wherever they cost least."""
        return Spaces(tuple(self.space(spread(placed), costs) for placed in on_each_tier(self.problem, fabric)))

    def _candidates_of(self, sizing: Sizing, expanded: Expanded, most: int | None, in_order: bool) -> list[Candidate]:
        return self._near(self._in_time(self._sizes(sizing, most, in_order)), expanded, sizing)

    @property
    def keeps_candidates(self) -> bool:
        """True, as placing switches is slow."""
        return True

    def _near(self, candidates: list[Candidate], expanded: Expanded, sizing: Sizing) -> list[Candidate]:
        """Candidates with an exact cost below the cutoff, and at least the best few.

        In a layout the cost of a batch is a bound, as runs are known only once switches are placed.
        """
        if not self.settings.prune:
            return candidates
        least = [least_of(candidate, expanded.weights) for candidate in candidates]
        order = sorted(range(len(least)), key=least.__getitem__)
        limit = _limit(sizing, expanded)
        below = sum(1 for value in least if value <= limit)
        return [candidates[index] for index in order[: max(below, MOST_SAMPLED)]]

    def weigh_up_to(self, value: int) -> bool:
        """False: bounds of layouts are not recomputed."""
        return False


class PlaceExpansion(FloorExpansion):
    """The space of a problem on a small floor, every switch in any rack."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction],
        context: Context | None = None,
    ) -> None:
        super().__init__(problem, settings, clock, restrictions, context)
        self.together.measures = False
        self.placed = Placed(problem, self.table, settings, self.context)

    def _variants(self, fabric: FabricProblem, costs: BoundedCosts) -> tuple[FabricProblem, ...]:
        return in_places(self.problem, fabric)

    def least_before_placing(self) -> float:
        """-inf: no bound."""
        return -np.inf

    def _candidates_of(self, sizing: Sizing, expanded: Expanded, most: int | None, in_order: bool) -> list[Candidate]:
        limit = _limit(sizing, expanded)
        sizes = self._sizes(sizing, most, in_order=True)
        return self._near(self.placed.candidates(sizes, expanded.weights, limit), expanded, sizing)

    def _costs_placed(self, batch: AnyBatch, index: int, weights: Floats, most: float) -> Iterator[float]:
        yield from (cost for cost, _ in self.placed.places(batch, index, weights, most))


def _rounded_up(cost: float) -> float:
    """A cost rounded up by 1/32 at most, so that near costs share cached results."""
    share, exponent = frexp(cost)
    return ldexp(ceil(share * STEPS_OF_MOST), exponent) / STEPS_OF_MOST if isfinite(cost) else cost


def _limit(sizing: Sizing, expanded: Expanded) -> float:
    """The highest cost of a candidate of a design below the cutoff."""
    return (sizing.least + sizing.aside + expanded.slack) * (1 + RELATIVE_SLACK)


# -- the places of candidates on a small floor that the integer program has to know -----------------------------------


LINK_PARTS = ("transceiver", *CABLE_KINDS)


class Placed:
    """Places candidates at least cost, or, with several limited metrics, in all places that may matter.

    ``table``: weights of the items, shape (metrics, items); row 0 is the objective, the others have limits.
    """

    def __init__(self, problem: Problem, table: Floats, settings: Settings, context: Context) -> None:
        self.problem = problem
        self.prune = prune = settings.prune
        self.alike = settings.alike_places
        self.context = context
        self._steps = StepBudget()
        links = [item.index for item in problem.item_table.items if item.kind in LINK_PARTS]
        varies = any(problem.item_table.items[index].varies for index in links)
        # whether the cheapest place of a candidate is as good as any other one of it in all that is limited
        self._one_is_enough = (
            not self.alike and not varies and all(_proportional(table[0, links], row[links]) for row in table[1:])
        )
        # whether the cheapest of all candidates is the answer, so that no dearer one matters
        self._first_wins = (
            self._one_is_enough and prune and problem.prunes and len(table) == 1 and len(problem.fabrics) == 1
        )

    def candidates(self, sizes: Iterable[tuple[AnyBatch, int]], weights: Floats, limit: float) -> list[Candidate]:
        """Candidates of these sizes, the lowest bound first, that cost ``limit`` or less; and some that are near it.

        ``weights``: of the items, shape (items,).
        """
        candidates: list[Candidate] = []
        least = np.inf
        for batch, index in sizes:
            cutoff = np.inf if not self.prune else least if self._first_wins else max(limit, least)
            for cost, candidate in self.places(batch, index, weights, cutoff):
                least = min(least, cost)
                candidates.append(candidate)
        return candidates

    def places(self, batch: AnyBatch, index: int, weights: Floats, cutoff: float) -> list[tuple[float, Candidate]]:
        """Places of one size that may matter and cost ``cutoff`` or less, with their costs.

        ``weights``: of the items, shape (items,).
        """
        key = PlacedKey(batch.key(index), weights.tobytes())
        known = self.context.placed.get(key)
        if known is None or known.limit < cutoff:
            sized = Sized(self.problem, batch.fabric, batch, index, self.prune, weights)
            if self._one_is_enough:
                best = best_place(sized, cutoff, self._steps)
                # what is best at all is best below any other limit
                known = PlacedCandidates(cutoff, ()) if best is None else PlacedCandidates(np.inf, (best,))
            else:
                known = PlacedCandidates(cutoff, tuple(all_places(sized, cutoff, self._steps, self.alike)))
            self.context.placed[key] = known
        return [place for place in known.places if place[0] <= cutoff]


def _proportional(weights: Floats, other: Floats) -> bool:
    """Whether two metrics are proportional, so that one place is least in both."""
    if not other.any():
        return True
    dearest = int(np.argmax(weights))
    return bool(weights[dearest] > 0 and np.allclose(other, weights * (other[dearest] / weights[dearest]), rtol=1e-12))
