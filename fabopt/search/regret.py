"""The design of least worst regret over the futures of growth.

The regret of a design in a future is its cost beyond the best plan for that future alone; these are proven first. With
weights of the futures that add up to 1 the mean of a design's regrets is at most its worst one. So the least weighted
cost, proven by an ordinary search, is a bound; the weights of the best bound come from a master program over the
designs met so far, as prices of limits do (``fabopt.search.limit_prices``). Then all candidates below the cutoff of the
best design met, at these weights, are given to the program, which holds all futures at once; where several fabrics
share a floor, layout by layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.errors import NoAnswerError
from fabopt.problem.one_future import only_future, weighed
from fabopt.problem.problem import BestAlone, Problem
from fabopt.program.lexicographic import Optimum, optimum_of, without_ties
from fabopt.program.orders import spent_in_futures, sums_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.search.choice import search_of
from fabopt.search.coefficients import tolerance
from fabopt.search.context import Context
from fabopt.search.search import Search
from fabopt.topology.clos.floor_runs import TooManyPlacesError
from fabopt.units import exact

# Weights are multiples of this, so that every future weighs something and sums stay small.
STEP = Fraction(1, 1000)
# Rounds of weights; each is a search. They stop when no weights can raise the bound by more than the share.
MOST_ROUNDS = 12
CLOSE_ENOUGH = Fraction(1, 1000)


class Regretted(NamedTuple):
    """A problem with its optimum; if proven, the problem has the best cost of each future alone."""

    problem: Problem
    optimum: Optimum


def least_regret(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Regretted:
    """The design with the least worst regret; if time is over before, that with the least expected cost, unproven."""
    first = search_of(problem, settings, clock, context=context).run()
    if first.verdict != "optimal":
        return Regretted(problem, first)
    try:
        with clock.bounded():
            return _Regrets(problem, settings, clock, context, first).least()
    except (StoppedError, TooManyPlacesError):
        return Regretted(problem, replace(first, verdict="feasible", bound=None))
    except (NoAnswerError, MemoryError) as error:
        ended = str(error) or "memory ended"
    return Regretted(problem, replace(first, verdict="feasible", bound=None, ended_by=ended))


class _Proven(NamedTuple):
    """The design of least worst regret, proven at some weights of the futures. ``part``: of the space, its number."""

    part: int
    problem: Problem
    optimum: Optimum


@dataclass
class _Weighed:
    """Futures at some weights: the problem, its optimum, and no design's worst regret is below ``bound`` (in cents)."""

    weights: list[Fraction]
    problem: Problem
    optimum: Optimum
    bound: Fraction


@dataclass
class _Regrets:
    """Searches for one problem. ``first``: its design with the least expected cost."""

    problem: Problem
    settings: Settings
    clock: Clock
    context: Context
    first: Optimum
    best: tuple[BestAlone, ...] = ()
    met: list[list[Fraction]] = field(default_factory=list)

    def least(self) -> Regretted:
        """The least worst regret of all designs, ties going to less expected cost, then in the documented order."""
        likely = [exact(future.probability) for future in self.problem.case.futures]
        self.best = tuple(
            BestAlone(chance, self._cents_alone(number))
            for number, chance in self.settings.share.over([*enumerate(likely)])
        )
        self.settings.progress("looking for the least regret")
        self._meet(self.problem, self.first)
        return self._in_problem(self._proven(self._best_weights(likely)))

    def _cents_alone(self, number: int) -> Fraction:
        self.settings.progress(f"looking for the best plan for future {number + 1} alone")
        problem = only_future(self.problem, number)
        search = search_of(problem, self.settings.quiet, self.clock)
        (spent,) = spent_in_futures(problem, _optimum(search).picked)
        return spent

    def _search(self, problem: Problem) -> Search:
        """The search of a problem with other weights, on a floor in the same layouts."""
        context = self.context.in_same_layouts(self.problem.fabrics, problem.fabrics)
        return search_of(problem, self.settings.quiet, self.clock, context=context)

    def _meet(self, problem: Problem, optimum: Optimum) -> list[Fraction]:
        """The regrets of a design, recorded in ``met``."""
        spent = spent_in_futures(problem, optimum.picked)
        self.met.append([cents - one.cents for cents, one in zip(spent, self.best, strict=True)])
        return self.met[-1]

    @property
    def _least_met(self) -> Fraction:
        return min(max(Fraction(0), *regrets) for regrets in self.met)

    # -- weights ----------------------------------------------------------------------------------------------

    def _best_weights(self, likely: list[Fraction]) -> _Weighed:
        """The weights of the best bound that was found, the probabilities being tried first."""
        chosen = self._weighed(likely)
        tried = [likely]
        for _ in range(MOST_ROUNDS):
            weights, hoped = self._next_weights()
            if weights in tried or hoped - chosen.bound <= CLOSE_ENOUGH * abs(self._least_met):
                break
            tried.append(weights)
            other = self._weighed(weights)
            chosen = other if other.bound > chosen.bound else chosen
        return chosen

    def _weighed(self, weights: list[Fraction]) -> _Weighed:
        problem = weighed(self.problem, weights)
        optimum = _optimum(self._search(problem))
        regrets = self._meet(problem, optimum)
        return _Weighed(weights, problem, optimum, _mean(weights, regrets))

    def _next_weights(self) -> tuple[list[Fraction], Fraction]:
        """The weights that maximize the least mean regret of the designs met, and that regret."""
        from ortools.linear_solver import pywraplp

        solver = pywraplp.Solver.CreateSolver("GLOP")
        least = float(STEP)
        shares = [solver.NumVar(least, 1.0, f"weight_{number}") for number in range(len(self.best))]
        height = solver.NumVar(-solver.infinity(), solver.infinity(), "height")
        solver.Add(sum(shares) == 1.0)
        unit = max(1.0, *(abs(float(regret)) for regrets in self.met for regret in regrets))
        for regrets in self.met:
            line = sum(float(regret) / unit * share for regret, share in zip(regrets, shares, strict=True))
            solver.Add(height <= line)
        solver.Maximize(height)
        solver.Solve()
        weights = [max(STEP, round(share.solution_value() / least) * STEP) for share in shares]
        weights[weights.index(max(weights))] += 1 - sum(weights)
        return weights, min(_mean(weights, regrets) for regrets in self.met)

    # -- the proof --------------------------------------------------------------------------------------------

    def _proven(self, chosen: _Weighed) -> _Proven:
        """The least worst regret, over all candidates that could have it at some weights."""
        problem = replace(chosen.problem, best_alone=self.best, most_regret=self._least_met)
        best: _Proven | None = None
        for number, part in enumerate(self._search(problem).parts()):
            optimum = self._proven_in(part, chosen.weights)
            if optimum.value is None:
                continue
            least = without_ties(optimum, self.settings.quiet, self.clock)
            proven = _Proven(number, problem, least)
            best = proven if best is None or self._rank(proven) < self._rank(best) else best
        if best is None:
            raise StoppedError
        return best

    def _rank(self, proven: _Proven) -> tuple[float, Fraction]:
        """Sort key: the worst regret of a design, then its expected cost."""
        assert proven.optimum.value is not None
        return proven.optimum.value, self._expected(spent_in_futures(proven.problem, proven.optimum.picked))

    def _expected(self, spent: Sequence[Fraction]) -> Fraction:
        return _mean([one.probability for one in self.best], spent)

    def _proven_in(self, part: Search, weights: Sequence[Fraction]) -> Optimum:
        """The optimum of worst regret in a part of the space; infeasible where others are known to have less."""
        problem, slack = part.problem, 0.0
        while True:
            bound, candidates = part.below(slack)
            outcome = optimum_of(problem, candidates, self.settings.quiet, self.clock)
            if outcome.verdict == "optimal":
                self._meet(problem, outcome)
            elif outcome.verdict != "infeasible":
                raise StoppedError
            beyond = self._least_met + _mean(weights, [one.cents for one in self.best])
            needed = self._slack(problem, problem.weights.scale * beyond, bound)
            if needed <= slack:
                return outcome
            slack = needed

    def _slack(self, problem: Problem, most: Fraction, bound: float) -> float:
        """The slack over a bound that covers objectives up to ``most``."""
        return max(0.0, float(most) - problem.fixed_objective - bound) + 2 * tolerance(float(most))

    def _in_problem(self, proven: _Proven) -> Regretted:
        """The same design with the items of the problem itself, found again below its expected cost.

        Its program is that of the proof.
        """
        picked = proven.optimum
        problem = replace(self.problem, best_alone=self.best, most_regret=self._least_met)
        spent = spent_in_futures(proven.problem, picked.picked)
        search = self._search(problem).parts()[proven.part]
        wanted = {(one.fabric, one.order) for one, _ in picked.picked}
        bound, _ = search.below()
        _, candidates = search.below(self._slack(problem, self._expected(spent) * problem.weights.scale, bound))
        same = [candidate for candidate in candidates if (candidate.fabric, candidate.order) in wanted]
        optimum = without_ties(optimum_of(problem, same, self.settings.quiet, self.clock), self.settings, self.clock)
        if optimum.verdict != "optimal" or self.clock.is_over():
            raise StoppedError
        value = sums_of(problem, optimum.picked).objective + problem.fixed_energy
        sized = max(self.first.sized, search.expansion.sized)
        optimum = replace(optimum, program=picked.program, in_program=picked.in_program)
        return Regretted(problem, replace(optimum, value=value, bound=None, sized=sized))


def _optimum(search: Search) -> Optimum:
    """The proven optimum of a search. Raises ``StoppedError`` where none is proven."""
    optimum = search.run(ties=False)
    if optimum.verdict != "optimal":
        raise StoppedError
    return optimum


def _mean(weights: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((weight * value for weight, value in zip(weights, values, strict=True)), Fraction(0))
