"""The search on a floor: layout by layout where fabrics share it, and without proof on large floors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from fabopt.floor.rack_rules import NO_LIMIT
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem, estimating, in_layouts_only
from fabopt.problem.site import Method
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.search.coefficients import distinct, tolerance
from fabopt.search.expansion import RISE
from fabopt.search.fewest_switches import with_fewest
from fabopt.search.floor.apart import nothing_joins, obstacle, too_far_apart
from fabopt.search.floor.expansion import FloorExpansion, PlaceExpansion
from fabopt.search.floor.variants import ESTIMATES_WITHIN, MOST_MEASURED, likely
from fabopt.search.out_of_band import suiting
from fabopt.search.search import Search
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.candidates import on_each_tier
from fabopt.topology.clos.floor_runs import TooManyPlacesError
from fabopt.topology.clos.layouts import spread
from fabopt.topology.family import AnyBatch, Restriction, Sizing

# The cutoff rises by this share of the bound, then fourfold, until it proves the best design met.
FIRST_RISE_ON_FLOOR = 0.05
ALMOST = 1.2  # what is within so many times of a step is reached at once
# Where switches are counted, so much of all fabrics is a large part of the one that counts them.
FIRST_RISE_COUNTING = 0.0002
# A first design is looked for among those that cost at most so many times what all do at least.
FIRST_WANTED = 2


class FloorSearch(Search):
    """The search in layouts of a floor with a rule for every switch."""

    method: Method = "layouts"
    _expansion = FloorExpansion
    expansion: FloorExpansion
    # what no design costs less than, once that was asked
    _own_bound: float | None = None

    def _best(self, ties: bool) -> Optimum:
        if self._none_is_wanted:
            return Optimum("infeasible", sized=self.expansion.sized)
        several = len(self.problem.fabrics) > 1
        if (several or self.clock.over_at() is not None) and not self._in_one_layout:
            # before anything else, as the clock may end that
            self._know(self._bound_at_once() + self.fixed)
            self._know(self._bound_anywhere())
        if several and not self._in_one_layout:
            return self._layout_by_layout(ties)
        return self._in_layouts(ties)

    def _know(self, bound: float) -> None:
        """Raise the known bound of the objective; ignore infinity and NaN."""
        if np.isfinite(bound):
            self._known_bound = max(self._known_bound, bound - self.fixed)

    def any_design(self) -> Optimum:
        """A design without limits; if the first sizes have too many places, one of the whole search."""
        try:
            return super().any_design()
        except TooManyPlacesError:
            return self.run(ties=False)

    def _prove(self, ties: bool) -> Optimum:
        """As the base class; first try bounds by the fabrics' own best designs against the wanted objective."""
        self.expansion.place_own_best()
        is_asked = self.expansion.by_own_best and not self.expansion.counts and np.isfinite(self.wanted_below)
        if is_asked and any(map(self._excludes_wanted, self.expansion.least_by_own_best())):
            return Optimum("infeasible", sized=self.expansion.sized)
        return super()._prove(ties)

    def _in_layouts(self, ties: bool) -> Optimum:
        try:
            return self._prove(ties)
        except TooManyPlacesError:
            self.settings.progress("too many sizes could be the best on this floor")
            # from the bound on fewer may be; else the likely ones are measured
            other = (FloorSearch, self.problem) if self._first_slack else (EstimateSearch, estimating(self.problem))
            return self._instead(*other, ties)

    def _instead(self, search: type[FloorSearch], problem: Problem, ties: bool) -> Optimum:
        """The optimum of another search in the same part of the space."""
        parts, context = self.expansion.restrictions, replace(self.context.beside(), proven_within={})
        return self._meet(search(problem, self.settings, self.clock, parts, context=context).run(ties))

    @property
    def _in_one_layout(self) -> bool:
        return any(part.layout is not None for part in self.expansion.restrictions.values())

    def _layout_by_layout(self, ties: bool) -> Optimum:
        """The best of the layouts, each searched for all fabrics, since several share the racks of servers.

        Layouts come in order of their bounds; those that cannot beat the best design met are skipped.
        """
        visits = self._first_met()
        searches = visits.searches
        visits.want_better()
        visits.bounds = self._bounds_of(searches, visits.bounds)
        self._know(min(visits.bounds, default=np.inf))
        for number in self.settings.share.over(sorted(range(len(searches)), key=visits.bounds.__getitem__)):
            visits.look(number)
        optima = list(visits.optima.values())
        if not visits.has_design:
            proven = all(optimum.verdict == "infeasible" for optimum in optima)
            return Optimum("infeasible" if proven else "unknown", sized=self.expansion.sized)
        return self._best_of(optima, visits.optima[visits.best[1]], ties)

    def _first_met(self) -> _Visits:
        """Visit layouts in order up to the first with a design: first with one close to the known bound.

        A layout without a design would have no end to its search without a cutoff.
        """
        bound = self._known_bound + self.fixed
        capped = [np.floor(FIRST_WANTED * bound)] if self.method == "layouts" and 0 < bound < np.inf else []
        for most in [*capped, np.inf]:
            visits = _Visits([self._of_layout(number) for number in range(self._number_of_layouts)], self._meet)
            # a design before any layout has a bound of its own
            visits.bounds = [bound] * len(visits.searches)
            visits.best = most, len(visits.searches)
            if np.isfinite(most) or self.clock.over_at() is not None:
                visits.first()
            if visits.has_design:
                break
        return visits

    def _best_of(self, optima: list[Optimum], best: Optimum, ties: bool) -> Optimum:
        """The best of some layouts, its ties broken; optimal if no other layout can be better."""
        assert best.value is not None
        open_ = [one for one in optima if not _is_decided(one, best.value)]
        if not open_:
            return self._tied(replace(best, verdict="optimal", bound=best.value), ties)
        bounds = [one.bound for one in open_]
        known = [bound for bound in bounds if bound is not None]
        if not self._bounds_all(known, bounds):
            anywhere = _least_value(self._bound_anywhere())
            known = [min(best.value, int(anywhere))] if np.isfinite(anywhere) else []
        return replace(best, verdict="feasible", bound=min(known, default=None))

    def parts(self) -> Sequence[Search]:
        """One sub-search for every layout, if several fabrics share the racks."""
        if len(self.problem.fabrics) == 1 or self._in_one_layout:
            return [self]
        parts = [self._of_layout(number) for number in range(self._number_of_layouts)]
        for part in parts:
            part.expansion.place_own_best()
        return parts

    @property
    def _number_of_layouts(self) -> int:
        return len(self.expansion.variants(self.problem.fabrics[0], self.expansion.costs_of(0)))

    def _of_layout(self, number: int) -> FloorSearch:
        """The search of one layout."""
        restrictions = self.expansion.restrictions
        part = {
            fabric.name: replace(restrictions.get(fabric.name, Restriction()), layout=number)
            for fabric in self.problem.fabrics
        }
        return type(self)(self.problem, self.settings, self.clock, part, context=self.context)

    def _bounds_of(self, searches: Sequence[FloorSearch], known: Sequence[float]) -> list[float]:
        """Lower bounds of the objective by layout; ``known``: earlier ones."""
        pairs = self.settings.share.over([*zip(known, searches, strict=True)])
        return [max(before, search.least_bound()) for before, search in pairs]

    def least_bound(self) -> float:
        """Lower bound of the objective by the least cost of each fabric; -inf if left open."""
        if self._own_bound is None:
            try:
                with self.clock.bounded():
                    self._own_bound = self._least() + self.fixed
            except StoppedError:
                return -np.inf
        return self._own_bound

    def _least(self) -> float:
        try:
            return self.expansion.least()
        except TooManyPlacesError:
            return self.expansion.least_before_placing()

    def _bound_anywhere(self) -> float:
        """No design has a lower objective, wherever servers and switches are; -inf if time leaves that open."""
        try:
            with self.clock.bounded():
                return sum(self._least_anywhere(self.expansion.costs_of(0))) - self.expansion.saving + self.fixed
        except StoppedError:
            return -np.inf

    def _bound_at_once(self) -> float:
        """As the base class, with the least spread of servers."""
        costs = self.expansion.costs_of(0)
        fabrics = [with_fewest(self.problem, self.context, fabric) for fabric in self.problem.fabrics]
        placed = (on_each_tier(self.problem, fabric) for fabric in fabrics)
        spaces = ((self.expansion.space(spread(one), costs) for one in of_fabric) for of_fabric in placed)
        lowest = (min(space.lowest_bound for space in of_fabric) for of_fabric in spaces)
        return sum(lowest) - self.expansion.saving

    def _least_anywhere(self, costs: BoundedCosts) -> list[float]:
        """The least cost of every fabric with switches anywhere: infinite if it has no size, -inf if its search was
        stopped.
        """
        fabrics = [with_fewest(self.problem, self.context, fabric) for fabric in self.problem.fabrics]
        sizings = [self.expansion.anywhere(fabric, costs) for fabric in fabrics]
        if any(of_fabric.stopped for of_fabric in sizings):
            return [-np.inf] * len(sizings)
        return [of_fabric.least if of_fabric.batches else np.inf for of_fabric in sizings]

    def _cannot_be(self) -> bool:
        """Whether no design exists with switches anywhere: a limit is below the least use, or a run is too long.

        False if time leaves that open.
        """
        needed = {row: sum(self._least_anywhere(self.expansion.costs_of(row))) for row in self._limited}
        if self.clock.is_over():
            return False
        caps = self.expansion.caps
        is_beyond = any(least > caps[row] + tolerance(caps[row]) for row, least in needed.items())
        return is_beyond or too_far_apart(self.problem) is not None

    def _is_out_of_room(self) -> bool:
        """Whether the fewest switches of any designs of the fabrics are more than all racks may have."""
        plan = self.problem.floor.plan
        if plan.limits.switches == NO_LIMIT:
            return False
        table = np.zeros_like(self.expansion.table)
        table[0] = [item.kind == "switch" for item in self.problem.item_table.items]
        fewest = sum(self._least_anywhere(self.context.costs_at(self.problem.offering, table)))
        most = plan.limits.switches * plan.usable_racks
        return fewest > most + tolerance(most)

    @property
    def _limited(self) -> list[int]:
        """Rows of metrics with a limit, without NIC slots, which were checked before."""
        nics = np.array([item.kind == "nic" for item in self.problem.item_table.items])
        return [row for row in range(1, len(self.expansion.table)) if self.expansion.table[row][~nics].any()]

    def _bounds_all(self, known: list[int], bounds: list[int | None]) -> bool:
        """Whether the least bound that is known bounds the designs of all layouts."""
        return bool(known) and len(known) == len(bounds)

    def _next_slack(self, slack: float, needed: float, bound: float) -> float:
        """The next slack, in steps up to the one that proves, as a better design may lower that."""
        needed = min(needed, self._slack_to_wanted(bound))
        first = FIRST_RISE_COUNTING if self.expansion.counts else FIRST_RISE_ON_FLOOR
        step = max(slack * RISE, abs(bound) * first, 1.0)
        return needed if needed <= ALMOST * step else step


class _Visits:
    """Layouts of a floor that were searched, and the best design met in them; ``bounds``: of all, by number."""

    def __init__(self, searches: Sequence[FloorSearch], meet: Callable[[Optimum], Optimum]) -> None:
        self.searches = searches
        self.meet = meet
        self.bounds = [-np.inf] * len(searches)
        self.optima: dict[int, Optimum] = {}
        # its objective, and the number of its layout: of equals the first
        self.best = (np.inf, len(searches))

    def look(self, number: int) -> None:
        """Search a layout, if that was not done and a design in it may be better than the best met."""
        if number in self.optima or (_least_value(self.bounds[number]), number) >= self.best:
            return
        search = self.searches[number]
        search.wanted_below = self.best[0] + (number < self.best[1])
        search.expansion.most = min(search.expansion.most, self.best[0] - search.fixed)
        optimum = self.meet(search.run(ties=False))
        self.optima[number] = _bounded_from(optimum, self.bounds[number])
        self.best = min(self.best, (np.inf if optimum.value is None else optimum.value, number))

    def first(self) -> None:
        """Search layouts in their order until there is a design."""
        for number in range(len(self.searches)):
            if not self.has_design:
                self.look(number)

    @property
    def has_design(self) -> bool:
        """Whether the best is a design that was met."""
        return self.best[1] in self.optima and self.optima[self.best[1]].value is not None

    def want_better(self) -> None:
        """Limit layouts not yet searched to the cost of the best design."""
        for number, search in enumerate(self.searches):
            if number not in self.optima:
                search.expansion.most = min(search.expansion.most, self.best[0] - search.fixed)


def _least_value(bound: float) -> float:
    """The least whole number that an objective above a bound may be."""
    return float(np.ceil(bound - tolerance(bound))) if np.isfinite(bound) else bound


def _bounded_from(optimum: Optimum, bound: float) -> Optimum:
    """An optimum with a bound that was known before, if it has none."""
    if optimum.bound is not None or not np.isfinite(bound):
        return optimum
    return replace(optimum, bound=int(_least_value(bound)))


def _is_decided(optimum: Optimum, value: int) -> bool:
    """Whether a layout is proven, or no better than ``value``."""
    return optimum.verdict in ("optimal", "infeasible") or (optimum.bound is not None and optimum.bound >= value)


class PlaceSearch(FloorSearch):
    """The search on a small floor, every switch in any rack."""

    method = "places"
    _expansion = PlaceExpansion

    def _in_layouts(self, ties: bool) -> Optimum:
        return self._prove(ties)

    def _best(self, ties: bool) -> Optimum:
        if self._in_one_layout:
            return self._in_layouts(ties)
        try:
            return super()._best(ties)
        except TooManyPlacesError:
            self.settings.progress("too many places for the switches on this floor: looking at layouts")
            return self._open_elsewhere(self._instead(FloorSearch, in_layouts_only(self.problem), ties))

    def _open_elsewhere(self, in_layouts: Optimum) -> Optimum:
        """The outcome of layouts; infeasible becomes unknown where other places may have a design."""
        if in_layouts.verdict != "infeasible" or self._cannot_be():
            return in_layouts
        return replace(in_layouts, verdict="unknown")


class EstimateSearch(FloorSearch):
    """The search on a large floor: only the likeliest sizes of a layout have their switches placed."""

    method = "estimates"

    def _in_layouts(self, ties: bool) -> Optimum:
        """The best of the likeliest candidates of every layout, with a bound over all layouts."""
        costs = self.expansion.costs_of(0)
        least = sum(self._least_anywhere(costs))
        if least == np.inf:
            return Optimum("infeasible", sized=self.expansion.sized)
        candidates = self._likely(costs)
        outcome = self._solve(candidates)
        if outcome.value is not None and outcome.value < self.wanted_below:
            outcome = self._tied(outcome, ties)
        if outcome.value is None and candidates:
            # within the limits may be what needs little of them, rather than what costs least
            lean = [candidate for row in self._limited for candidate in self._likely(self.expansion.costs_of(row))]
            outcome = self._tied(self._solve(distinct([*candidates, *lean])), ties)
        if outcome.value is None:
            verdict = "infeasible" if self._cannot_be() else "unknown"
            return Optimum(verdict, sized=self.expansion.sized, in_program=outcome.in_program)
        bound = max(least - self.expansion.saving, self.least_bound() - self.fixed)
        return self._finished(replace(outcome, verdict="feasible"), bound, not self.clock.is_over())

    def _least(self) -> float:
        return self.expansion.least_before_placing()

    def _likely(self, costs: BoundedCosts) -> list[Candidate]:
        """The likeliest candidates; management ports are counted from the other fabrics' candidates."""
        candidates: list[Candidate] = []
        for fabric in sorted(self.problem.fabrics, key=lambda one: one.per_switch is not None):
            if fabric.per_switch is None:
                candidates += self._likely_of(costs, fabric)
            else:
                candidates += suiting(self.problem, self.context, fabric, candidates, partial(self._likely_of, costs))
        return candidates

    def _likely_of(self, costs: BoundedCosts, fabric: FabricProblem) -> list[Candidate]:
        variants = self.expansion.wanted(fabric, costs)
        around = self.expansion.anywhere(fabric, costs, measured=False).least
        near = ESTIMATES_WITHIN * around
        spaces = [self.expansion.space(variant, costs) for variant in variants]
        # what costs more than is wanted need not be measured
        least = self.expansion.most_of_sizes - near
        sizings = [space.search(near, Sizing(least=least, enough=MOST_MEASURED)) for space in spaces]
        self.expansion.sized += sum(of_layout.sized for of_layout in sizings)
        return likely(sizings, self._measured, costs.table[0])

    def _measured(self, batch: AnyBatch, index: int) -> tuple[Candidate, ...]:
        return () if self.clock.is_over() else self.expansion.candidates_at(batch, index)

    def obstacles(self) -> Iterator[str]:
        """Words on the obstacle of the likeliest candidate of every fabric in each layout."""
        costs = self.expansion.costs_of(0)
        for fabric in self.problem.fabrics:
            for variant in self.expansion.wanted(fabric, costs):
                batches = self.expansion.space(variant, costs).search().batches
                yield obstacle(self.problem, variant, batches[0], 0) if batches else nothing_joins(variant)
