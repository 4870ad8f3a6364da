"""The exact search: candidates below a threshold, the integer program over them, and the proof that none was missed.

The program's optimum V over the candidates below a threshold is the optimum of all if every candidate above it costs at
least V by its bound. So: solve; if a cut candidate might still be cheaper, raise the threshold to V and solve again.
Limits are priced into the bound (``fabopt.multipliers``), so that little has to be opened when they bind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fabopt.clock import Clock, Settings
from fabopt.multipliers import Master, Point
from fabopt.optimum import Optimum, optimum_of
from fabopt.places.apart import nothing_joins, obstacle, too_far_apart
from fabopt.places.chosen import Placed
from fabopt.places.estimates import ESTIMATES_WITHIN, likely
from fabopt.places.variants import variants_of, wanted_variants
from fabopt.problem import FabricProblem, Problem, estimating, in_layouts_only
from fabopt.slots import slots_are_short
from fabopt.tally import Together
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.floor_bounds import TooManyPlacesError
from fabopt.topology.clos.space import ClosSpace, Restriction
from fabopt.topology.clos.threshold import RELATIVE_SLACK, Batch, Found
from fabopt.topology.clos.variants import anywhere, spread
from fabopt.topology.needs import Costs, Floats
from fabopt.weighing import (
    beyond_limits,
    distinct,
    first_of_each,
    least_of,
    stage_steps,
    stock_value,
    tolerance,
    uses_of,
    weights_table,
)

# The threshold rises by this share of the bound, then fourfold, while the program over what is below is infeasible.
FIRST_RISE = 0.002
RISE = 4.0
FIRST_RISE_ON_FLOOR = 0.05
MOST_RISES = 12
# Rounds of prices on limits; each is a search. They stop when the bound is within the share of what it could become.
MOST_ROUNDS = 16
CLOSE_ENOUGH = 2e-4
# Candidates of one search that are taken as columns for the program while prices are sought.
MOST_SAMPLED = 8


@dataclass
class _Opened:
    """All fabrics searched at some prices of the limits. ``bound``: no design has a lower objective."""

    found: list[Found]
    bound: float
    weights: Floats
    slack: float

    @property
    def stopped(self) -> bool:
        return any(one.stopped for one in self.found)


class Search:
    """The search for one problem, or for a restricted part of its space."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction] | None = None,
        near: int | None = None,
    ) -> None:
        """``near``: on a floor where estimates will do, the objective of a design to compare with; no bound then."""
        self.near = near
        self.problem = problem
        self.settings = settings
        self.clock = clock
        self.restrictions = restrictions or {}
        self.table, self.caps = weights_table(problem)
        self.steps = stage_steps(problem)
        self.saving = problem.weights.per_cent * stock_value(problem, bool(problem.weights.energy))
        self.fixed = problem.fixed_objective
        self.sized = 0
        self.together = Together(problem, self._open_one, self._space, self._sized)
        self.placed = Placed(problem, self.table, settings.prune)

    # -- opening the space ------------------------------------------------------------------------------------

    def _open(self, prices: Floats, slack: float = 0.0, objective: float = 1.0, first: bool = False) -> _Opened:
        """Search every fabric at prices of the limits, shape (metrics - 1,)."""
        table = self.table.copy()
        table[0] = objective * self.table[0] + prices @ self.table[1:]
        steps = objective * self.steps
        key = (table.tobytes(), steps.tobytes())
        costs: Costs = self.problem.shelf.worked_out.setdefault(key, Costs(table, steps))
        found = self._open_all(costs, slack, first)
        self.sized = max(self.sized, sum(one.sized for one in found))
        least = sum(one.least for one in found)
        if self._counts:
            least += self.together.attached(costs)
        bound = least - objective * self.saving - float(prices @ self.caps[1:])
        return _Opened(found, bound, table[0], slack)

    def _open_all(self, costs: Costs, slack: float, first: bool) -> list[Found]:
        if self._counts:
            return self.together.open(costs, slack)
        fabrics = self.problem.fabrics
        if first and self.problem.plan is None:
            return [self._space(fabric, costs).any_candidate() for fabric in fabrics]
        return [self._open_one(costs, fabric, slack) for fabric in fabrics]

    def _open_one(self, costs: Costs, fabric: FabricProblem, slack: float) -> Found:
        """Search a fabric; where ports are counted that is asked for again and again, so what was found is kept."""
        if self.problem.plan is not None:
            return self._open_floor(fabric, costs, slack)
        known, part = self.problem.opened, self.restrictions.get(fabric.name)
        key = (fabric, part, costs, self.caps.tobytes(), self.settings.prune, slack)
        if key in known:
            again: Found = known[key]
            return again
        found = self._space(fabric, costs).search(slack)
        if self._counts and not found.stopped:
            known[key] = found
        return found

    def _space(self, fabric: FabricProblem, costs: Costs) -> ClosSpace:
        restriction = self.restrictions.get(fabric.name, Restriction())
        return ClosSpace(self.problem, fabric, costs, self.caps, restriction, self.settings.prune, self.clock.is_over)

    def _open_floor(self, fabric: FabricProblem, costs: Costs, slack: float) -> Found:
        """Search a fabric in every layout of the floor."""
        found = Found()
        for variant in self._wanted(fabric, costs):
            self._space(variant, costs).search(slack, found)
        return found

    def _wanted(self, fabric: FabricProblem, costs: Costs) -> list[FabricProblem]:
        """The fabric in the forms that are in the part of the space that is searched."""
        part = self.restrictions.get(fabric.name, Restriction())
        return wanted_variants(self.problem, fabric, part, partial(self._free, costs))

    def _free(self, costs: Costs, fabric: FabricProblem) -> ClosSpace:
        return ClosSpace(self.problem, fabric, costs, self.caps, Restriction(), self.settings.prune)

    def _candidates(self, opened: _Opened, most: int | None = None) -> list[Candidate]:
        made: list[Candidate] = []
        for fabric, one in zip(self.problem.fabrics, opened.found, strict=True):
            places = _places(one)
            if most is not None or self.problem.stands_anywhere:
                # of what has to suit the others' candidates, all
                places = sorted(places)[: most if fabric.per_switch is None else None]
            if self.problem.stands_anywhere:
                limit = (one.least + opened.slack) * (1 + RELATIVE_SLACK)
                mine = self.placed.candidates(((one.batches[b], i) for _, b, i in places), opened.weights, limit)
            else:
                mine = self._sized_in_time([(one.batches[b], index) for _, b, index in places])
            made += mine if self.problem.plan is None else self._near(mine, opened, one)
        return made

    def _sized_in_time(self, places: Sequence[tuple[Batch, int]]) -> list[Candidate]:
        """Those of some places that can be made; when the time is over, what has been made by then."""
        mine: list[Candidate] = []
        for place in places:
            mine += () if mine and self.clock.is_over() else self._sized(*place)
        return mine

    def _sized(self, batch: Batch, index: int) -> tuple[Candidate, ...]:
        """One candidate with its exact needs; where that takes a while, or is asked for often, worked out once."""
        assert batch.fabric is not None
        if self.problem.plan is None and not self._counts:
            return candidates_of(self.problem, batch.fabric, batch, index, self.settings.prune)
        key = (batch.fabric, batch.parts, batch.shape.row(index))
        known = self.problem.standing
        if key not in known:
            known[key] = candidates_of(self.problem, batch.fabric, batch, index, self.settings.prune)
        candidates: tuple[Candidate, ...] = known[key]
        return candidates

    def _near(self, candidates: list[Candidate], opened: _Opened, found: Found) -> list[Candidate]:
        """Those whose exact least is below the threshold too; a few of the best while that is the bound itself.

        In a layout the cost of a batch is a bound, as runs are known only once switches stand.
        """
        least = [least_of(candidate, opened.weights) for candidate in candidates]
        order = sorted(range(len(least)), key=least.__getitem__)
        if not self.settings.prune:
            return candidates
        limit = (found.least + opened.slack) * (1 + RELATIVE_SLACK)
        near = sum(1 for value in least if value <= limit)
        return [candidates[place] for place in order[: max(near, MOST_SAMPLED)]]

    # -- the loop ---------------------------------------------------------------------------------------------

    def run(self, ties: bool = True) -> Optimum:
        """The optimum; ``ties``: broken in the documented order, else any."""
        if slots_are_short(self.problem):
            return Optimum("infeasible")
        if self.problem.plan is not None and len(self.problem.fabrics) > 1 and not self._in_one_layout:
            return self._layout_by_layout(ties)
        if self.problem.estimates_floor:
            return self._estimate(ties)
        try:
            return self._prove(ties)
        except TooManyPlacesError:
            if self.problem.stands_anywhere:
                self.settings.progress("too many places for the switches on this floor: looking at layouts")
                return Search(in_layouts_only(self.problem), self.settings, self.clock, self.restrictions).run(ties)
            self.settings.progress("too many sizes could be the best on this floor: measuring the likely ones")
            return Search(estimating(self.problem), self.settings, self.clock, self.restrictions).run(ties)

    @property
    def _counts(self) -> bool:
        return any(one.per_switch is not None for one in self.problem.fabrics)

    @property
    def _in_one_layout(self) -> bool:
        return any(one.layout is not None for one in self.restrictions.values())

    def _layout_by_layout(self, ties: bool) -> Optimum:
        """Several fabrics stand around the same servers: the best of the layouts, each searched for all of them."""
        first = self.problem.fabrics[0]
        found: list[Optimum] = []
        for number in range(len(variants_of(self.problem, first, partial(self._free, Costs(self.table))))):
            part = {
                fabric.name: replace(self.restrictions.get(fabric.name, Restriction()), layout=number)
                for fabric in self.problem.fabrics
            }
            found.append(Search(self.problem, self.settings, self.clock, part).run(ties))
        made = [one for one in found if one.value is not None]
        if not made:
            proven = all(one.verdict == "infeasible" for one in found)
            return Optimum("infeasible" if proven else "unknown", sized=self.sized)
        best = min(made, key=lambda one: one.value or 0)
        if all(one.verdict in ("optimal", "infeasible") for one in found):
            return best
        bounds = [one.bound for one in found if one.verdict != "infeasible"]
        known = [bound for bound in bounds if bound is not None]
        return replace(best, verdict="feasible", bound=min(known) if len(known) == len(bounds) else None)

    def _prove(self, ties: bool) -> Optimum:
        prices = np.zeros(len(self.caps) - 1)
        opened = self._open(prices)
        if not np.isfinite(opened.bound):
            return Optimum("unknown" if opened.stopped else "infeasible", sized=self.sized)
        slack, best, known = 0.0, Optimum("unknown"), -np.inf if opened.stopped else opened.bound
        if len(prices) and self.settings.prune:
            priced = self._price_limits(opened)
            if priced is None:
                return Optimum("infeasible", sized=self.sized)
            prices, bound, best = priced
            slack = 0.0 if best.value is None else self._above(best.value, bound)
            opened = self._open(prices, slack) if slack or prices.any() else opened
        for rise in range(MOST_RISES + 1):
            outcome = self._better(self._solve(self._candidates(opened), ties), best)
            complete = not opened.stopped and not self.clock.is_over()
            if outcome.value is not None:
                needed = self._above(outcome.value, opened.bound)
                if needed <= slack + tolerance(opened.bound) or not self.settings.prune or not complete:
                    return self._finished(outcome, known if opened.stopped else opened.bound, complete)
                slack = needed if self.problem.plan is None else self._next(slack, needed, opened.bound)
            elif slack >= beyond_limits(self.table, self.caps, opened.bound) or not complete or not self.settings.prune:
                verdict = "infeasible" if complete and outcome.verdict == "infeasible" else "unknown"
                return Optimum(verdict, sized=self.sized, in_program=outcome.in_program)
            else:
                slack = max(slack * RISE, abs(opened.bound) * FIRST_RISE, 1.0) if rise < MOST_RISES - 1 else np.inf
                slack = min(slack, beyond_limits(self.table, self.caps, opened.bound))
            share = 100 * slack / max(1.0, abs(opened.bound))
            self.settings.progress(f"opening candidates up to {share:.2g}% above the bound")
            known, opened = opened.bound, self._open(prices, slack)
        raise AssertionError("the threshold was infinite and the program undecided")

    def _estimate(self, ties: bool) -> Optimum:
        """The best of what looks best in every layout of a large floor, and a bound for any place of the switches."""
        costs = self._costs_of(0)
        least = sum(self._least_anywhere(costs)) if self.near is None else np.nan
        if np.isinf(least):
            return Optimum("unknown" if self.clock.is_over() else "infeasible", sized=self.sized)
        made = self._likely(costs)
        outcome = self._solve(made, ties)
        if outcome.value is None and made and self.near is None:
            # within the limits may be what needs little of them, rather than what costs least
            lean = [candidate for row in range(1, len(self.table)) for candidate in self._likely(self._costs_of(row))]
            outcome = self._solve(distinct([*made, *lean]), ties)
        if outcome.value is None:
            verdict = "infeasible" if self.near is None and self._cannot_be() else "unknown"
            return Optimum(verdict, sized=self.sized, in_program=outcome.in_program)
        return self._finished(replace(outcome, verdict="feasible"), least - self.saving, not self.clock.is_over())

    def _costs_of(self, row: int) -> Costs:
        """Weights with one metric of the table as what is minimized."""
        table = self.table.copy()
        table[0] = self.table[row]
        costs: Costs = self.problem.shelf.worked_out.setdefault(table.tobytes(), Costs(table))
        return costs

    def _likely(self, costs: Costs) -> list[Candidate]:
        made: list[Candidate] = []
        for fabric in self.problem.fabrics:
            variants = self._wanted(fabric, costs)
            around = self.near or self._space(anywhere(self.problem, fabric), costs).search().least
            found = [self._space(one, costs).search(ESTIMATES_WITHIN * around) for one in variants]
            self.sized += sum(one.sized for one in found)
            made += likely(found, self._measured, costs.table[0])
        return made

    def _measured(self, batch: Batch, index: int) -> tuple[Candidate, ...]:
        return () if self.clock.is_over() else self._sized(batch, index)

    def obstacles(self) -> list[str]:
        """What keeps the likeliest candidate out of every layout of the floor."""
        costs, found = self._costs_of(0), []
        for fabric in self.problem.fabrics:
            for variant in self._wanted(fabric, costs):
                batches = self._space(variant, costs).search().batches
                found.append(obstacle(self.problem, variant, batches[0], 0) if batches else nothing_joins(variant))
        return list(dict.fromkeys(found))

    def _cannot_be(self) -> bool:
        """Whether no place of the switches can help: a limit is below what is needed anywhere, or a run too long."""
        for row, cap in enumerate(self.caps):
            if np.isfinite(cap) and sum(self._least_anywhere(self._costs_of(row))) > cap + tolerance(cap):
                return True
        return too_far_apart(self.problem) is not None

    def _least_anywhere(self, costs: Costs) -> list[float]:
        """What every fabric costs at least, wherever its switches stand; infinite if it cannot be made."""
        found = [self._space(spread(self.problem, one), costs).search() for one in self.problem.fabrics]
        return [one.least if one.batches else np.inf for one in found]

    def _next(self, slack: float, needed: float, bound: float) -> float:
        """The next threshold on a floor: not at once the one that proves, for a better design may lower that."""
        return min(needed, max(slack * RISE, abs(bound) * FIRST_RISE_ON_FLOOR, 1.0))

    def _better(self, outcome: Optimum, before: Optimum) -> Optimum:
        """A design met before, if the last program found none or a dearer one (its time was over)."""
        if before.value is not None and (outcome.value is None or before.value < outcome.value):
            return replace(before, verdict="feasible")
        return outcome

    def of_one(self, candidate: Candidate | None) -> Optimum:
        """The best purchase for one candidate."""
        return Optimum("infeasible") if candidate is None else self._solve([candidate], ties=False)

    def any_design(self) -> Optimum:
        """Some design under no limits: enough to say that there is one."""
        if slots_are_short(self.problem):
            return Optimum("infeasible")
        opened = self._open(np.zeros(len(self.caps) - 1), first=True)
        if not np.isfinite(opened.bound):
            return Optimum("unknown" if opened.stopped else "infeasible", sized=self.sized)
        outcome = self._solve(self._candidates(opened), ties=False)
        return outcome if outcome.picked else self.run(ties=False)

    def _above(self, value: int, bound: float) -> float:
        return max(0.0, value - self.fixed - bound)

    def _finished(self, outcome: Optimum, bound: float, complete: bool) -> Optimum:
        assert outcome.value is not None
        if complete and outcome.verdict == "optimal":
            return replace(outcome, bound=outcome.value, sized=self.sized)
        lower = min(outcome.value, int(np.floor(bound)) + self.fixed) if np.isfinite(bound) else None
        return replace(outcome, verdict="feasible", bound=lower, sized=self.sized)

    # -- limits -----------------------------------------------------------------------------------------------

    def _price_limits(self, opened: _Opened) -> tuple[Floats, float, Optimum] | None:
        """Prices of the limits, the bound that they give, and the best design met on the way; None: proven infeasible.

        Any design within the limits costs at least min(objective + prices x use) - prices x limits. The best prices
        come from a master program over the designs met so far (Kelley's cutting planes).
        """
        zero = np.zeros(len(self.caps) - 1)
        pool = self._candidates(opened, MOST_SAMPLED)
        outcome = self._solve(pool, ties=False)
        if outcome.value is not None and self._above(outcome.value, opened.bound) <= tolerance(opened.bound):
            return zero, opened.bound, outcome
        master = Master(self.caps[1:])
        freest = self._point(opened, zero, 1.0)
        if self._counts and not (freest.uses > self.caps[1:]).any():
            # what is above the bound are ports of management, which prices of limits do not lower
            return zero, opened.bound, outcome
        master.add(freest)
        for metric in np.flatnonzero(freest.uses > self.caps[1:]):
            alone = np.zeros(len(zero))
            alone[metric] = 1.0
            leanest = self._open(alone, objective=0.0)
            if leanest.stopped:
                return zero, opened.bound, self._solve(distinct(pool), ties=False)
            if leanest.bound > tolerance(self.caps[metric + 1]) or not np.isfinite(leanest.bound):
                return None
            pool += self._candidates(leanest, MOST_SAMPLED)
            master.add(self._point(leanest, alone, 0.0))
        best_prices, best_bound = zero, opened.bound
        for _ in range(MOST_ROUNDS):
            if self.clock.is_over():
                break
            prices, hoped = master.prices()
            if hoped - best_bound <= CLOSE_ENOUGH * abs(best_bound):
                break
            tried = self._open(prices)
            if tried.stopped:
                break
            if not np.isfinite(tried.bound):
                return None
            if self._never_fits(prices, tried.bound, opened.bound):
                return None
            if tried.bound > best_bound:
                best_prices, best_bound = prices, tried.bound
            pool += self._candidates(tried, MOST_SAMPLED)
            master.add(self._point(tried, prices, 1.0))
        return best_prices, best_bound, self._solve(distinct(pool), ties=False)

    def _never_fits(self, prices: Floats, bound: float, free: float) -> bool:
        """Whether the priced uses alone are past the priced limits in every design: then none fits."""
        if bound <= 2 * abs(free) or not prices.any():
            return False
        scaled = prices / float(prices @ self.caps[1:])
        priced = self._open(scaled, objective=0.0)
        return priced.bound > 1e-9 and not priced.stopped

    def _point(self, opened: _Opened, prices: Floats, objective: float) -> Point:
        """Objective and uses of the design that is least at some prices."""
        weights = objective * self.table[0] + prices @ self.table[1:]
        total = np.zeros(len(self.caps))
        for candidate in first_of_each(self._candidates(opened, 1)):
            total += uses_of(candidate, self.table, weights)
        return Point(float(total[0]) - self.saving, total[1:])

    def _solve(self, candidates: Sequence[Candidate], ties: bool) -> Optimum:
        found = optimum_of(self.problem, candidates, self.settings, self.clock, ties)
        return replace(found, sized=self.sized) if found.picked else found


def _places(found: Found) -> list[tuple[float, int, int]]:
    """(cost, number of the batch, place in it) of every candidate found."""
    return [(float(cost), b, i) for b, batch in enumerate(found.batches) for i, cost in enumerate(batch.cost[0])]
