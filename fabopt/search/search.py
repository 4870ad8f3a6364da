"""The exact search: candidates below a cutoff, the integer program over them, and the proof that none was missed.

The program's optimum V over the candidates below a cutoff is the optimum of all if every candidate above it costs at
least V by its bound. So: solve; if a cut candidate might still be cheaper, raise the cutoff to V and solve again.
Limits are priced into the bound (``fabopt.search.limit_prices``), so that little has to be expanded when they bind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, inf, isfinite

import numpy as np

from fabopt.errors import NoAnswerError
from fabopt.problem.problem import Problem
from fabopt.problem.ruled_out import is_ruled_out
from fabopt.problem.site import Method
from fabopt.program.lexicographic import Optimum, optimum_of, without_ties
from fabopt.program.settings import Clock, Settings, StoppedError, unbroken
from fabopt.search.coefficients import tolerance
from fabopt.search.context import Context
from fabopt.search.expansion import FIRST_RISE, RISE, Expanded, Expansion
from fabopt.search.fewest_switches import with_fewest
from fabopt.search.limit_prices import LimitPrices
from fabopt.search.stock_shares import shares_stock, with_stock_shared
from fabopt.topology.candidate import Candidate
from fabopt.topology.family import Restriction
from fabopt.topology.link_parts import Floats

# The cutoff rises while the program over what is below is infeasible; after so many rises, to 33 times the bound, no
# further where the last one met nothing that is dearer.
MOST_RISES = 12
FAR_RISES = 8
# The slack over a bound, as a share of it, in which a better design is sought before twice as much or more is expanded.
# Of what is to be expanded at last it is no less than such a share, so that few steps are taken.
FIRST_STEP = 0.05
LEAST_STEP = RISE**-3
MOST_STEPS = 4
# Where all of a design is in stock, so many bounds of others that may be too are worked out; of more no tie is broken.
MOST_TIED = 5_000
# Families in which all servers are on leaves.
LEAFY = {"clos", "rail-only"}


class Search:
    """The search for one problem, or for a restricted part of its space."""

    method: Method = "sizes"
    _expansion: type[Expansion] = Expansion

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction] | None = None,
        known_value: int | None = None,
        context: Context | None = None,
        lower_than: int | None = None,
    ) -> None:
        """``known_value``: the objective of a known design within all limits, which bounds the expansion.
        ``lower_than``: only designs with a lower objective are wanted; there may be none.
        ``context``: cached results of other searches of the problem, extended by this one.
        """
        assert problem.site.method == self.method, "another search is for such a site: see ``search_of``"
        self.known_value = known_value if lower_than is None else lower_than
        self.lower_than = lower_than
        self.problem = problem
        self.settings = settings
        self.clock = clock
        self.fixed = problem.fixed_objective
        self.expansion = self._expansion(problem, settings, clock, restrictions or {}, context)
        self.context = self.expansion.context
        if lower_than is not None:
            self.expansion.most = float(lower_than - 1 - self.fixed)
        # it suffices to prove that no design has an objective below this
        self.wanted_below = np.inf if lower_than is None else float(lower_than)
        # the best design met so far, and the known bound: the outcome if the clock ends the search
        self.incumbent = Optimum("unknown")
        self._known_bound = -np.inf

    # -- the loop ---------------------------------------------------------------------------------------------

    def run(self, ties: bool = True) -> Optimum:
        """The optimum; ``ties``: broken in the documented order, else any. Out of time: the best design met.

        So too where memory ends or an engine fails once a design was met; before, ``MemoryError``, ``NoAnswerError``.
        """
        if is_ruled_out(self.problem):
            return Optimum("infeasible")
        try:
            with self.clock.bounded():
                return self._with_bound(self._best(ties))
        except StoppedError:
            return self._with_bound(self._cut_short())
        except (NoAnswerError, MemoryError) as error:
            if self.incumbent.value is None:
                raise
            ended = str(error) or "memory ended"
        return self._with_bound(replace(self._cut_short(), ended_by=ended))

    def _with_bound(self, optimum: Optimum) -> Optimum:
        """The outcome of an ended search with its lower bound: at least that of leaves alone."""
        if optimum.bound is not None or optimum.verdict not in ("unknown", "feasible"):
            return optimum
        with unbroken():
            bound = self._known_bound if isfinite(self._known_bound) else self._bound_at_once()
        known = min(bound + self.fixed, self.wanted_below)
        if not isfinite(known):
            return optimum
        return replace(optimum, bound=floor(known if optimum.value is None else min(known, optimum.value)))

    def _bound_at_once(self) -> float:
        """Lower bound of the objective without servers, by the leaves of every fabric alone."""
        costs = self.expansion.costs_of(0)
        fabrics = [with_fewest(self.problem, self.context, fabric) for fabric in self.problem.fabrics]
        # of other families nothing is known, nor of NICs that logical fabrics have yet to choose
        leafy = [fabric for fabric in fabrics if set(fabric.shapes.topologies) <= LEAFY and not fabric.logical_fabrics]
        lowest = (self.expansion.space(one, costs).lowest_bound for one in leafy)
        return sum(bound for bound in lowest if isfinite(bound)) - self.expansion.saving

    def _best(self, ties: bool) -> Optimum:
        if self._none_is_wanted:
            return Optimum("infeasible", sized=self.expansion.sized)
        return self._prove(ties)

    @property
    def _none_is_wanted(self) -> bool:
        """Whether it is quickly proven that no design is wanted.

        Not tried for a single fabric, whose expansion decides as fast.
        """
        wanted = self.lower_than
        return wanted is not None and not self.expansion.tells_at_once and not self.may_be_below(wanted)

    def _cut_short(self) -> Optimum:
        """The best design met, if any."""
        if self.incumbent.value is None:
            return Optimum("unknown", sized=self.expansion.sized)
        return self._finished(self.incumbent, self._known_bound, complete=False)

    def _meet(self, outcome: Optimum) -> Optimum:
        """Record an outcome as incumbent if it is the best so far."""
        best = self.incumbent.value
        if outcome.value is not None and (best is None or outcome.value < best):
            self.incumbent = outcome
            self._tell()
        return outcome

    def _tell(self) -> None:
        """Report the incumbent and the known bound."""
        best, known, weights = self.incumbent.value, self._known_bound, self.problem.weights
        bound = weights.in_metric(floor(known) + self.fixed) if isfinite(known) else None
        self.settings.bracket(None if best is None else weights.in_metric(best), bound)
        self.settings.met(self.problem, self.incumbent)

    def _prove(self, ties: bool) -> Optimum:
        prices = np.zeros(len(self.expansion.caps) - 1)
        expanded = self._expanded_first(prices)
        if self._has_nothing(expanded):
            return Optimum("unknown" if expanded.stopped else "infeasible", sized=self.expansion.sized)
        owned = self._owned(expanded, ties)
        return self._proven(self._with_stock_shared(expanded), prices, ties) if owned is None else owned

    def _proven(self, expanded: Expanded, prices: Floats, ties: bool) -> Optimum:
        """The optimum, from what was first searched on: its cutoff rises until none is missed."""
        slack, best, known, below = expanded.slack, Optimum("unknown"), self._known_bound, 0
        if len(prices) and self.settings.prune:
            priced = self._at_prices(expanded)
            if priced is None:
                return Optimum("infeasible", sized=self.expansion.sized)
            prices, expanded, best = priced
            slack = expanded.slack
        for rise in range(MOST_RISES + MOST_STEPS + 1):
            self.expansion.left_out = False
            solved = self._solve(self.expansion.candidates(expanded))
            best = outcome = self._better(solved, best)
            self._known_bound = known = max(known, self._bound_of(solved, expanded))
            self._tell()
            complete = not expanded.stopped and not self.expansion.left_out and not self.clock.is_over()
            if complete and self._excludes_wanted(known):
                return replace(outcome, verdict="feasible", bound=int(self.wanted_below), sized=self.expansion.sized)
            if outcome.value is not None:
                needed = self._above(outcome.value, expanded.bound)
                if needed <= slack + tolerance(expanded.bound) or self._is_whole or not complete:
                    self._proven_within(needed)
                    return self._finished(self._tied(outcome, ties and complete), known, complete)
                if not rise and self.expansion.raise_least(expanded, prices):
                    needed = 0.0
                elif self.expansion.weigh_up_to(outcome.value):
                    expanded = self.expansion.expand(prices)
                    needed = self._above(outcome.value, expanded.bound)
                slack = self._next_slack(slack, needed, expanded.bound)
            elif slack >= self.expansion.ceiling(expanded.bound) or not complete or self._is_settled(rise):
                verdict = "infeasible" if complete and outcome.verdict == "infeasible" else "unknown"
                return Optimum(verdict, sized=self.expansion.sized, in_program=outcome.in_program)
            elif rise or not self.expansion.raise_least(expanded, prices):
                slack, below = self._risen(slack, expanded, rise, below), expanded.sized
            expanded = self._expanded_up_to(slack, expanded.bound, prices)
            slack = expanded.slack
        raise AssertionError("the cutoff was infinite and the program undecided")

    def _has_nothing(self, expanded: Expanded) -> bool:
        """Whether a first search found no candidate, or none of a wanted design."""
        is_unwanted = not expanded.stopped and self._excludes_wanted(expanded.bound)
        return is_unwanted or not np.isfinite(expanded.bound) or expanded.is_empty

    def _excludes_wanted(self, bound: float) -> bool:
        """Whether no design above a bound (without servers) is wanted."""
        return bound + self.fixed > self.wanted_below - 1 + tolerance(0.0)

    def _at_prices(self, free: Expanded) -> tuple[Floats, Expanded, Optimum] | None:
        """Prices of the limits, the fabrics searched at them, the best design met by then; None: proven infeasible."""
        priced = LimitPrices(self.expansion, self._solve, self._slack_to_wanted(0.0)).of_free(free)
        if priced is None:
            return None
        prices, bound, best = priced
        # without prices each of several fabrics is looked at by itself first
        is_free = len(self.problem.fabrics) > 1 and not prices.any()
        slack = 0.0 if best.value is None or is_free else self._above(best.value, bound)
        return prices, self.expansion.expand(prices, slack) if slack or prices.any() else free, best

    def _expanded_up_to(self, slack: float, bound: float, prices: Floats) -> Expanded:
        """The fabrics searched up to a slack over a bound."""
        above = 100 * slack / max(1.0, abs(bound))
        self.settings.progress(f"expanding candidates up to {above:{'.2g' if above < 10 else ',.0f'}}% above the bound")
        return self.expansion.expand(prices, slack)

    def _expanded_first(self, prices: Floats) -> Expanded:
        """The fabrics searched before any program; sets the known bound in case the clock ends the first one."""
        expanded = self.expansion.expand(prices, self._first_slack)
        self._known_bound = -np.inf if expanded.stopped else expanded.bound
        return expanded

    @property
    def _first_slack(self) -> float:
        """The first slack over the least bound: in layouts, for one fabric without limits, that of the proof of a
        similar problem; else 0.
        """
        is_usual = self._in_all_layouts and self.settings.prune
        return self.context.proven_within.get(self.method, 0.0) if is_usual else 0.0

    def _proven_within(self, slack: float) -> None:
        """Record the slack of the best design over the least bound."""
        if self._in_all_layouts and self.lower_than is None:
            self.context.proven_within.setdefault(self.method, slack)

    @property
    def _in_all_layouts(self) -> bool:
        parts = self.expansion.restrictions.values()
        return self.method == "layouts" and self.expansion.is_alone and all(part.layout is None for part in parts)

    def _owned(self, expanded: Expanded, ties: bool) -> Optimum | None:
        """The optimum where all of a design that is met at once is in stock: none costs less than nothing.

        At full prices all such designs cost no more than the stock, so ties are among what is below that, if few are.
        """
        if not (self.settings.prune and expanded.bound <= 0 < self.expansion.saving and shares_stock(self.expansion)):
            return None
        met = self._solve(self.expansion.candidates(expanded))
        if met.value != self.fixed:
            return None
        self._known_bound = 0.0
        if ties:
            self.expansion.most_work = self.expansion.work + MOST_TIED
            wider = self.expansion.expand(np.zeros(len(self.expansion.caps) - 1), -expanded.bound)
            self.expansion.most_work = inf
            if not wider.stopped and wider.sized <= MOST_TIED:
                met = self._better(self._solve(self.expansion.candidates(wider)), met)
        return self._finished(self._tied(met, ties), self._known_bound, complete=True)

    def _with_stock_shared(self, expanded: Expanded) -> Expanded:
        """The fabrics searched with the shares of stock that maximize the bound."""
        if self.settings.prune:
            expanded = with_stock_shared(self.expansion, expanded)
            self._known_bound = max(self._known_bound, -np.inf if expanded.stopped else expanded.bound)
        return expanded

    def _is_settled(self, rise: int) -> bool:
        """Whether the search is exhausted without a design: all was expanded, or there is no room for any."""
        return not self.settings.prune or (rise == 0 and self._is_out_of_room())

    @property
    def _is_whole(self) -> bool:
        """Whether no cutoff excludes candidates; fabrics that count ports always have one."""
        return not self.settings.prune and not self.expansion.counts

    def _is_out_of_room(self) -> bool:
        """Whether it is quickly proven that there is no room for any design."""
        return False

    def _next_slack(self, slack: float, needed: float, bound: float) -> float:
        """The slack that proves the best design met, or that of a known one if lower and not expanded yet; at most the
        slack that proves that no design is wanted. A far one is reached in steps, to meet a better design on the way.
        """
        needed = min(needed, self._slack_to_wanted(bound))
        known = needed if self.known_value is None else self._above(self.known_value, bound)
        wanted = known if slack < known < needed else needed
        step = max(RISE * slack, FIRST_STEP * abs(bound), LEAST_STEP * wanted)
        return wanted if wanted <= 2 * step else step

    def _risen(self, slack: float, expanded: Expanded, rise: int, below: int) -> float:
        """A higher slack where no design was found, growing above the certain part, infinite at last.

        ``below``: number of sizes of the rise before.
        """
        bound, certain = expanded.bound, self.expansion.certain
        higher = certain + max((slack - certain) * RISE, abs(bound) * FIRST_RISE, 1.0)
        # of fabrics of management those that suit the others are looked for rise by rise
        is_all = rise >= FAR_RISES and expanded.sized == below and not self.expansion.counts
        is_last = is_all or rise >= MOST_RISES - 1
        return min(np.inf if is_last else higher, self.expansion.ceiling(bound), self._slack_to_wanted(bound))

    def _slack_to_wanted(self, bound: float) -> float:
        """The slack over a bound that proves that no design is wanted."""
        return max(0.0, self.wanted_below - self.fixed - bound)

    def _better(self, outcome: Optimum, before: Optimum) -> Optimum:
        """A design met before, if the last program found none or a dearer one (its time was over)."""
        if before.value is not None and (outcome.value is None or before.value < outcome.value):
            return replace(before, verdict="feasible")
        return outcome

    def below(self, slack: float = 0.0) -> tuple[float, list[Candidate]]:
        """Every candidate that could cost at most the least bound plus ``slack``, and that bound; no limit is priced.

        Empty if the clock stopped it. The bound leaves out the servers.
        """
        expanded = self.expansion.expand(np.zeros(len(self.expansion.caps) - 1), slack)
        candidates = [] if expanded.stopped or not np.isfinite(expanded.bound) else self.expansion.candidates(expanded)
        return expanded.bound, candidates

    def parts(self) -> Sequence[Search]:
        """Sub-searches whose candidates of all fabrics combine freely; the whole space is one of them."""
        return [self]

    def may_be_below(self, value: int) -> bool:
        """Whether a design may have an objective below ``value``; True where not quickly decided."""
        return self.expansion.may_cost(value - 1 - self.fixed)

    def any_design(self) -> Optimum:
        """A design without limits, to decide whether there is one."""
        if is_ruled_out(self.problem):
            return Optimum("infeasible")
        try:
            with self.clock.bounded():
                expanded = self.expansion.expand(np.zeros(len(self.expansion.caps) - 1), first=True)
                if not np.isfinite(expanded.bound):
                    return Optimum("unknown" if expanded.stopped else "infeasible", sized=self.expansion.sized)
                outcome = self._solve(self.expansion.candidates(expanded))
        except StoppedError:
            return self._cut_short()
        return outcome if outcome.picked else self.run(ties=False)

    def _bound_of(self, solved: Optimum, expanded: Expanded) -> float:
        """Lower bound of the objective: the program's, or the cutoff for candidates not in it."""
        if expanded.stopped or self.expansion.left_out or not self.settings.prune:
            return -np.inf if expanded.stopped else expanded.bound
        return max(expanded.bound, min(solved.least_above(self.fixed), expanded.bound + expanded.slack))

    def _above(self, value: int, bound: float) -> float:
        return max(0.0, value - self.fixed - bound)

    def _finished(self, outcome: Optimum, bound: float, complete: bool) -> Optimum:
        """The outcome as an answer: optimal if all was looked at, or if none is below it, wherever a search stopped."""
        assert outcome.value is not None
        lower = min(outcome.value, floor(bound) + self.fixed) if isfinite(bound) else None
        if (complete and outcome.verdict == "optimal") or lower == outcome.value:
            return replace(outcome, verdict="optimal", bound=outcome.value, sized=self.expansion.sized)
        return replace(outcome, verdict="feasible", bound=lower, sized=self.expansion.sized)

    def _solve(self, candidates: Sequence[Candidate]) -> Optimum:
        optimum = optimum_of(self.problem, candidates, self.settings, self.clock)
        return self._meet(replace(optimum, sized=self.expansion.sized) if optimum.picked else optimum)

    def _tied(self, optimum: Optimum, ties: bool) -> Optimum:
        matters = optimum.value is not None and optimum.value < self.wanted_below
        return without_ties(optimum, self.settings, self.clock) if ties and matters else optimum
