"""The exact search: candidates below a threshold, the integer program over them, and the proof that none was missed.

The program's optimum V over the candidates below a threshold is the optimum of all if every candidate above it costs at
least V by its bound. So: solve; if a cut candidate might still be cheaper, raise the threshold to V and solve again.
Limits are priced into the bound (``fabopt.multipliers``), so that little has to be opened when they bind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fabopt.clock import Clock, Settings
from fabopt.errors import NoAnswerError
from fabopt.formulation import Level, Program, value_of
from fabopt.multipliers import Master, Point
from fabopt.ordering import sums_of
from fabopt.problem import FabricProblem, Problem, estimating
from fabopt.solvers import Solution, solve
from fabopt.topology.candidate import Candidate, Option
from fabopt.topology.clos.candidates import candidate_of
from fabopt.topology.clos.floor_bounds import TooManyPlacesError
from fabopt.topology.clos.shape import Parts, Shape
from fabopt.topology.clos.space import ClosSpace, Restriction
from fabopt.topology.clos.threshold import RELATIVE_SLACK, Batch, Found
from fabopt.topology.clos.variants import anywhere, in_layouts, switch_sums
from fabopt.topology.needs import Costs, Floats
from fabopt.weighing import distinct, first_of_each, least_of, stock_value, tolerance, weights_table

# The threshold rises by this share of the bound, then fourfold, while the program over what is below is infeasible.
FIRST_RISE = 0.002
RISE = 4.0
FIRST_RISE_ON_FLOOR = 0.05
# On a floor too large for proofs: how far from the best estimate candidates are looked at, and how many in a layout.
ESTIMATES_WITHIN = 0.02
MOST_MEASURED = 12
MOST_RISES = 12
# Rounds of prices on limits; each is a search. They stop when the bound is within the share of what it could become.
MOST_ROUNDS = 16
CLOSE_ENOUGH = 2e-4
# Candidates of one search that are taken as columns for the program while prices are sought.
MOST_SAMPLED = 8


@dataclass
class Optimum:
    """A search's result. ``value``, ``bound``: objective integers (see ``Weights``); ``picked`` with its parts."""

    verdict: str
    picked: list[tuple[Candidate, list[tuple[Option, int]]]] = field(default_factory=list)
    value: int | None = None
    bound: int | None = None
    sized: int = 0
    in_program: int = 0
    program: Program | None = None


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
    ) -> None:
        self.problem = problem
        self.settings = settings
        self.clock = clock
        self.restrictions = restrictions or {}
        self.table, self.caps = weights_table(problem)
        self.saving = problem.weights.per_cent * stock_value(problem, bool(problem.weights.energy))
        self.fixed = problem.fixed_objective
        self.sized = 0

    # -- opening the space ------------------------------------------------------------------------------------

    def _open(self, prices: Floats, slack: float = 0.0, objective: float = 1.0, first: bool = False) -> _Opened:
        """Search every fabric at prices of the limits, shape (metrics - 1,)."""
        table = self.table.copy()
        table[0] = objective * self.table[0] + prices @ self.table[1:]
        costs: Costs = self.problem.shelf.worked_out.setdefault(table.tobytes(), Costs(table))
        found = []
        for fabric in self.problem.fabrics:
            if self.problem.plan is None:
                space = self._space(fabric, costs)
                found.append(space.any_candidate() if first else space.search(slack))
            else:
                found.append(self._open_floor(fabric, costs, slack))
        self.sized = max(self.sized, sum(one.sized for one in found))
        bound = sum(one.least for one in found) - objective * self.saving - float(prices @ self.caps[1:])
        return _Opened(found, bound, table[0], slack)

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
        """The fabric in the layouts that are in the part of the space that is searched."""
        part = self.restrictions.get(fabric.name, Restriction())
        return [
            variant
            for number, variant in enumerate(self._variants(fabric, costs))
            if variant.layout is not None
            and part.policy in (None, variant.layout.policy)
            and part.layout in (None, number)
        ]

    def _variants(self, fabric: FabricProblem, costs: Costs) -> tuple[FabricProblem, ...]:
        """The fabric in the layouts that are looked at: with room for the switches that all would have anywhere."""
        known = self.problem.variants
        if fabric not in known:
            sketches = [self._sketch(one, costs) for one in self.problem.fabrics]
            sums = [switch_sums(*one) for one in sketches if one is not None]
            if len(sums) < len(sketches):
                return ()
            units, power_mw = (sum(column) for column in zip(*sums, strict=True))
            known[fabric] = in_layouts(self.problem, fabric, units, power_mw)
        return known[fabric]

    def _sketch(self, fabric: FabricProblem, costs: Costs) -> tuple[Parts, Shape] | None:
        """What a fabric would be made of if its switches could stand anywhere; None if nothing joins its servers."""
        free = ClosSpace(
            self.problem, anywhere(self.problem, fabric), costs, self.caps, Restriction(), self.settings.prune
        ).search()
        if not free.batches:
            return None
        batch = min(free.batches, key=lambda one: float(one.cost[0].min()))
        return batch.parts, batch.shape.row(int(np.argmin(batch.cost[0])))

    def _candidates(self, opened: _Opened, most: int | None = None) -> list[Candidate]:
        made: list[Candidate] = []
        for one in opened.found:
            places = _places(one) if most is None else sorted(_places(one))[:most]
            mine = self._sized_in_time([(one.batches[b], index) for _, b, index in places])
            made += mine if self.problem.plan is None else self._near(mine, opened, one)
        return made

    def _sized_in_time(self, places: Sequence[tuple[Batch, int]]) -> list[Candidate]:
        """Those of some places that can be made; when the time is over, what has been made by then."""
        mine: list[Candidate] = []
        for place in places:
            candidate = None if mine and self.clock.is_over() else self._sized(*place)
            mine += [] if candidate is None else [candidate]
        return mine

    def _sized(self, batch: Batch, index: int) -> Candidate | None:
        """One candidate with its exact needs; on a floor, where that takes a while, worked out once."""
        assert batch.fabric is not None
        if self.problem.plan is None:
            return candidate_of(self.problem, batch.fabric, batch, index, self.settings.prune)
        key = (batch.fabric, batch.parts, batch.shape.row(index))
        known = self.problem.standing
        if key not in known:
            known[key] = candidate_of(self.problem, batch.fabric, batch, index, self.settings.prune)
        candidate: Candidate | None = known[key]
        return candidate

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
        if self.problem.plan is not None and len(self.problem.fabrics) > 1 and not self._in_one_layout:
            return self._layout_by_layout(ties)
        if self.problem.estimates_floor:
            return self._estimate(ties)
        try:
            return self._prove(ties)
        except TooManyPlacesError:
            self.settings.progress("too many sizes could be the best on this floor: measuring the likely ones")
            return Search(estimating(self.problem), self.settings, self.clock, self.restrictions).run(ties)

    @property
    def _in_one_layout(self) -> bool:
        return any(one.layout is not None for one in self.restrictions.values())

    def _layout_by_layout(self, ties: bool) -> Optimum:
        """Several fabrics stand around the same servers: the best of the layouts, each searched for all of them."""
        first = self.problem.fabrics[0]
        found: list[Optimum] = []
        for number in range(len(self._variants(first, Costs(self.table)))):
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
            elif slack == np.inf or not complete or not self.settings.prune:
                verdict = "infeasible" if complete and outcome.verdict == "infeasible" else "unknown"
                return Optimum(verdict, sized=self.sized, in_program=outcome.in_program)
            else:
                slack = max(slack * RISE, abs(opened.bound) * FIRST_RISE, 1.0) if rise < MOST_RISES - 1 else np.inf
            share = 100 * slack / max(1.0, abs(opened.bound))
            self.settings.progress(f"opening candidates up to {share:.2g}% above the bound")
            known, opened = opened.bound, self._open(prices, slack)
        raise AssertionError("the threshold was infinite and the program undecided")

    def _estimate(self, ties: bool) -> Optimum:
        """The best of what looks best in every layout of a large floor, and a bound for any place of the switches."""
        costs = Costs(self.table)
        bound, made = 0.0, []
        for fabric in self.problem.fabrics:
            free = self._space(anywhere(self.problem, fabric), costs).search()
            if not free.batches:
                return Optimum("unknown" if free.stopped else "infeasible", sized=self.sized)
            bound += free.least
            measured: list[tuple[float, int, Candidate]] = []
            for variant in self._wanted(fabric, costs):
                found = self._space(variant, costs).search(ESTIMATES_WITHIN * free.least)
                self.sized += found.sized
                measured += self._measured(found, len(measured))
            made += [candidate for *_, candidate in sorted(measured)[:MOST_SAMPLED]]
        outcome = self._solve(made, ties)
        if outcome.value is None:
            return Optimum("unknown", sized=self.sized, in_program=outcome.in_program)
        known = -np.inf if self.clock.is_over() else bound - self.saving
        return self._finished(replace(outcome, verdict="feasible"), known, np.isfinite(known))

    def _measured(self, found: Found, start: int) -> list[tuple[float, int, Candidate]]:
        """(cost, number from ``start`` on, candidate) of what looks best in a layout, with switches in place."""
        measured: list[tuple[float, int, Candidate]] = []
        for _, number, index in sorted(_places(found))[:MOST_MEASURED]:
            candidate = None if self.clock.is_over() else self._sized(found.batches[number], index)
            if candidate is not None:
                measured.append((least_of(candidate, self.table[0]), start + len(measured), candidate))
        return measured

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
            for item, count in candidate.fixed.items():
                total += self.table[:, item.index] * count
            for choice in candidate.choices:
                sums = [
                    np.sum([self.table[:, item.index] * n for item, n in option.items.items()], axis=0)
                    if option.items
                    else np.zeros(len(self.caps))
                    for option in choice.options
                ]
                costs = [sum(weights[item.index] * n for item, n in option.items.items()) for option in choice.options]
                total += sums[int(np.argmin(costs))] * choice.count
        return Point(float(total[0]) - self.saving, total[1:])

    # -- the program ------------------------------------------------------------------------------------------

    def _solve(self, candidates: Sequence[Candidate], ties: bool) -> Optimum:
        present = {candidate.fabric for candidate in candidates}
        if len(present) < len(self.problem.fabrics):
            return Optimum("infeasible")
        self.settings.progress(f"solving a program of {len(candidates)} candidates")
        program = Program(self.problem, candidates)
        levels = program.levels() if ties else program.levels()[:1]
        values, verdict, value = self._by_levels(program, levels)
        if values is None or value is None:
            return Optimum(verdict, in_program=len(candidates), program=program)
        picked = [(one, program.units(values, one)) for one in program.picked(values)]
        if program.purchases.buy:
            value = sums_of(self.problem, picked).objective + self.problem.fixed_energy
        return Optimum(verdict, picked, value, None, self.sized, len(candidates), program)

    def _by_levels(self, program: Program, levels: Sequence[Level]) -> tuple[Mapping[str, int] | None, str, int | None]:
        """Minimize each level in turn, holding those before it at their least."""
        values: Mapping[str, int] | None = None
        verdict, value = "unknown", None
        for number, level in enumerate(levels):
            if values is not None and (program.is_settled or not level.expression):
                continue
            program.lp.setObjective(level.expression)
            solution = self._engine(program, values)
            if not solution.values:
                if values is None:
                    return None, solution.verdict, None
                break
            if number == 0:
                verdict = solution.verdict
                value = value_of(level.expression, solution.values) + level.offset
            values = solution.values
            held = value_of(level.expression, values)
            if solution.verdict != "optimal" or self.clock.is_over():
                break
            if number + 1 < len(levels):
                program.lp += level.expression <= held, f"level_{number}"
        return values, verdict, value

    def _engine(self, program: Program, hint: Mapping[str, int] | None) -> Solution:
        solution = solve(program.lp, self.settings.engine, self.clock.left(), hint)
        if solution.verdict == "unknown" and not self.clock.is_over():
            raise NoAnswerError(f"engine {self.settings.engine} returned no usable answer; try another with --engine")
        return solution


def _places(found: Found) -> list[tuple[float, int, int]]:
    """(cost, number of the batch, place in it) of every candidate found."""
    return [(float(cost), b, i) for b, batch in enumerate(found.batches) for i, cost in enumerate(batch.cost[0])]
