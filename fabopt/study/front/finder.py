"""The best design of a problem under demands on its metrics: one step of the epsilon-constraint method.

Prices (capex, tco, power) are minimized by the search itself, the other sums being limits of the program. Counts and
maximized metrics are driven to their best by steps: the cheapest design that is better by one grade, until there is
none, which is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from fabopt.explain.relaxation import halfway, nearest
from fabopt.parts.finance import weights_of
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.limits import ExactLimits
from fabopt.problem.nic_rules import demand_met
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.rules.limits import SPENDING_LIMITS
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Conflict, FrontPoint
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import Ratio, RatioSearch
from fabopt.search.decision import best_ratio
from fabopt.search.search import Search
from fabopt.search.step_time import in_time, least_bisection_kbps, ratio_deadline, useful_deadline
from fabopt.solution.subnet_hosts import Host
from fabopt.solution.trunks import MetWay, NoRoomError, TrunkedWays, as_best, proven_with_trunks
from fabopt.study.front.measures import (
    LATENCY,
    MEASURES,
    OVERSUBSCRIPTION,
    PER_RATIO,
    PREDICTED,
    UTILIZATION,
    Measure,
    grades,
    least_mbps,
    measured,
    most_ratio,
    within_latency,
)

# The worst grade that is allowed, by metric.
Demands = Mapping[str, int]
# The design that is best in metrics, in their order, under demands.
Best = Callable[[Sequence[Measure], Demands], "GradedDesign | None"]
_Key = tuple[tuple[str, ...], tuple[tuple[str, int], ...]]
PRICE = MEASURES["capex_usd"]
# Demands that are limits on spending, by the problem's limit.
SPENDING = {
    **{limit.metric: limit.field for limit in SPENDING_LIMITS},
    "switches": "switches",
    "cables": "cables",
    "tco_usd": "tco_scaled",
}


# Worse than any: the first grade that is asked for is never this.
NO_GRADE = -1


class Managed(NamedTuple):
    """The problem of a design whose subnets are managed unlike the study's, with hosts, or by its own switches at
    whatever cost; or whose racks leave more room for panels. ``decided``: fabrics for which both ways were searched.
    """

    problem: Problem
    decided: frozenset[str] = frozenset()
    hosts: tuple[Host, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GradedDesign:
    """The best design under some demands, and its grades.

    ``point``: as in a file, if it was made; ``ratio``: the cost of a working GPU that it was picked for, if the case
    decides by that.
    """

    optimum: Optimum
    grades: Mapping[str, int]
    point: FrontPoint | None = None
    managed: Managed | None = None
    ratio: Ratio | None = None

    @property
    def is_proven(self) -> bool:
        """Whether no design is better; floors of many servers are estimated."""
        return self.optimum.verdict == "optimal"


class Finder:
    """Answers for one problem, each computed once."""

    def __init__(self, problem: Problem, settings: Settings, clock: Clock, context: Context | None = None) -> None:
        """``context``: bounds and candidates known from elsewhere, which this finder adds to."""
        self.problem = problem
        self.context = Context() if context is None else context
        self.settings = settings
        self.clock = clock
        # the best of the search that the clock ended
        self.unproven: Optimum | None = None
        # why the best design is not known, where its racks have no room for panels
        self.conflict: Conflict | None = None
        self._trunked = TrunkedWays(problem, settings.prune)
        self._beside: dict[Problem, Finder] = {problem: self}
        self._known: dict[_Key, GradedDesign | None] = {}
        self._solved: dict[_Key, GradedDesign | None] = {}

    def best(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        """The design that is best in the metrics, in their order, under demands; None if there is proven to be none.

        Ties are broken in the documented order. Raises ``StoppedError`` if time runs out.
        """
        key = _key(measures, demands)
        if key not in self._known:
            self._known[key] = self._best(measures, dict(demands))
        return self._known[key]

    def _best(self, measures: Sequence[Measure], demands: dict[str, int]) -> GradedDesign | None:
        graded: GradedDesign | None = None
        left = list(measures)
        while left:
            first = left.pop(0)
            together = [first]
            if first.name == EFFECTIVE:
                # designs with the same ratio are told apart by the next demand
                return self._least_ratio(demands)
            while first.is_price and left and left[0].sense == "minimize" and left[0].name != EFFECTIVE:
                together.append(left.pop(0))
            graded = self._least(together, demands) if first.is_price else self._most(first, demands)
            if graded is None:
                return None
            demands.update({measure.name: graded.grades[measure.name] for measure in together})
        return graded

    def _most(self, measure: Measure, demands: dict[str, int]) -> GradedDesign | None:
        """The best design in a metric that the search does not minimize, at the least capex of equally good ones."""
        cheapest = self._least([PRICE], demands)

        def ask(grade: int) -> GradedDesign | None:
            return self._least([PRICE], {**demands, measure.name: grade})

        def next_better(graded: GradedDesign, fails: int) -> int | None:
            grade = better(measure, graded)
            return None if grade == fails else grade

        def between(graded: GradedDesign, fails: int) -> int | None:
            return halfway(graded.grades[measure.name], fails)

        if cheapest is None:
            return None
        if measure.name == OVERSUBSCRIPTION and (full := ask(PER_RATIO)) is not None:
            return full
        if measure.name in (UTILIZATION, PREDICTED):
            # there are many steps up to the most of a share
            return nearest(cheapest, measure.per_unit + 1, ask, between)
        return nearest(cheapest, NO_GRADE, ask, next_better)

    def _least(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        """The design with the least of a price, then of other sums."""
        if EFFECTIVE in demands:
            return self._within_ratio(demands)
        key = _key(measures, demands)
        if key not in self._solved:
            self._solved[key] = self._solve(measures, demands)
        return self._solved[key]

    def _within_ratio(self, demands: Demands) -> GradedDesign | None:
        """The cheapest design whose ratio meets a demand on it, and the other demands.

        With R that ratio and c a lower bound on cost, a step takes less than R / (S + c).
        """
        others = {name: grade for name, grade in demands.items() if name != EFFECTIVE}
        problem, graded = asked(self.problem, others), self._least([PRICE], others)
        while problem is not None and graded is not None and graded.grades[EFFECTIVE] > demands[EFFECTIVE]:
            hurried = in_time(problem, ratio_deadline(problem, demands[EFFECTIVE], graded.grades[PRICE.name]))
            graded = None if hurried is None else self._searched(hurried, [PRICE])
        return None if problem is None else graded

    def _least_ratio(self, demands: Demands) -> GradedDesign | None:
        """The design with the least cost of servers and network over effective GPUs."""
        problem = asked(self.problem, demands)
        if problem is None:
            return None
        optimum = RatioSearch(problem, self.settings, self.clock, context=self.context).run().optimum
        return self._graded(problem, optimum)

    def decided(self) -> GradedDesign | None:
        """The design picked by cost of an effective GPU, as ``fabopt solve`` does."""
        ratio = best_ratio(self.problem, self.settings, self.clock, self.context)
        graded = self._graded(self.problem, ratio.optimum)
        return None if graded is None else replace(graded, ratio=ratio)

    def lacks_managers(self, designs: Iterable[GradedDesign]) -> bool:
        """Whether managers of subnets would change some designs of a listing."""
        return False

    def left_over(self) -> list[GradedDesign]:
        """Designs known when the clock ends the first step: ends of the front, or a design that is not proven."""
        ends = [graded for graded in self._known.values() if graded is not None]
        optimum = self.unproven
        return ends or ([] if optimum is None else [GradedDesign(optimum, grades(self.problem, optimum.picked))])

    def _solve(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        """As ``solve`` has it: with room for panels where links may run through trunks."""
        if not self.problem.case.site.trunked:
            return self._anyhow(measures, demands)

        def run(problem: Problem) -> MetWay[GradedDesign] | None:
            if problem not in self._beside:
                self._beside[problem] = Finder(problem, self.settings, self.clock, self.context.beside())
            graded = self._beside[problem]._anyhow(measures, demands)
            if graded is None:
                return None
            rank = tuple(measure.worth(graded.grades[measure.name]) for measure in measures)
            return MetWay.of(problem, graded.optimum.picked, graded.is_proven, rank, graded)

        try:
            best = self._trunked.best(run, self.settings.progress)
        except NoRoomError as error:
            self.conflict = error.conflict
            raise
        if best is None:
            return None
        met, is_best, notes = best
        managed = Managed(met.answer.problem, notes=notes)
        return replace(met.of_study, optimum=as_best(met.of_study.optimum, is_best), managed=managed)

    def _anyhow(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        """The best design, with room for its panels or without."""
        problem = asked(self.problem, demands)
        if problem is None:
            return None
        return self._searched(problem, measures)

    def _searched(self, problem: Problem, measures: Sequence[Measure]) -> GradedDesign | None:
        first, *others = (measure.name for measure in measures)
        weights = weights_of(first, problem.energy_cents_per_mw)
        problem = replace(problem, weights=weights, then=tuple(others))
        return self._graded(problem, proven_with_trunks(problem, self.search_of(problem).run()))

    def search_of(self, problem: Problem) -> Search:
        """The search of the problem under other limits, weights or demands."""
        return search_of(problem, self.settings, self.clock, context=self.context)

    def _graded(self, problem: Problem, optimum: Optimum) -> GradedDesign | None:
        # on large floors nothing is proven, and no design found means none
        if self.clock.is_over() or (optimum.verdict == "unknown" and problem.site.settles):
            if optimum.value is not None:
                self.unproven = replace(optimum, verdict="feasible")
            raise StoppedError
        return None if optimum.value is None else GradedDesign(optimum, grades(problem, optimum.picked))


def climb(
    best: Best, measures: Sequence[Measure], measure: Measure, start: int | None = None
) -> Iterator[GradedDesign]:
    """The best in the metrics for every demand on another metric that changes it, from the lowest up.

    ``start``: the first grade demanded.
    """
    graded = best(measures, {} if start is None else {measure.name: start})
    while graded is not None:
        yield graded
        graded = best(measures, {measure.name: better(measure, graded)})


def _key(measures: Sequence[Measure], demands: Demands) -> _Key:
    return tuple(measure.name for measure in measures), tuple(sorted(demands.items()))


def better(measure: Measure, graded: GradedDesign) -> int:
    """The worst grade that is better than a design's."""
    return graded.grades[measure.name] + (1 if measure.sense == "maximize" else -1)


def asked(problem: Problem, demands: Demands) -> Problem | None:
    """The problem with demands on its metrics beside its own; None where no NIC can meet them."""
    limits = problem.limits
    for name, grade in demands.items():
        if name in SPENDING:
            if grade < 0:
                return None
            limits = _limited(problem, limits, name, grade)
    wanted = {name: grade for name, grade in demands.items() if name not in SPENDING}
    if wanted.get(OVERSUBSCRIPTION, PER_RATIO) < PER_RATIO:
        return None
    useful = least_bisection_kbps(problem, wanted[UTILIZATION]) if UTILIZATION in wanted else 0
    if useful is None:
        return None
    fabrics = tuple(_with_demands(problem, fabric, wanted, useful) for fabric in problem.fabrics)
    if any(not any(fabric.nics.values()) for fabric in fabrics):
        return None
    problem = replace(problem, limits=limits, fabrics=fabrics)
    if OVERSUBSCRIPTION in wanted:
        problem = _within_ratio(problem, most_ratio(wanted[OVERSUBSCRIPTION]))
    if LATENCY in wanted:
        problem = within_latency(problem, wanted[LATENCY])
    return in_time(problem, useful_deadline(problem, wanted[PREDICTED])) if PREDICTED in wanted else problem


def _within_ratio(problem: Problem, most: Fraction) -> Problem:
    """The problem with no more oversubscription at any boundary of the fabrics whose bandwidth counts, at any stage."""
    names = measured(problem)
    fabrics = tuple(
        replace(fabric, ratios=fabric.ratios.at_most(most, most), figure_demands=fabric.demanded)
        if fabric.name in names
        else fabric
        for fabric in problem.fabrics
    )
    stages = tuple(
        replace(
            stage,
            oversubscription={
                name: (min(most, leaf), min(most, spine)) if name in names else (leaf, spine)
                for name, (leaf, spine) in stage.oversubscription.items()
            },
        )
        for stage in problem.stages
    )
    return replace(problem, fabrics=fabrics, stages=stages)


def _limited(problem: Problem, limits: ExactLimits, name: str, grade: int) -> ExactLimits:
    most = grade
    if name == "power_w":
        most = grade + problem.fixed_power_mw
    elif name == "tco_usd":
        # the most that rounds to this grade: below half a cent more
        scale = weights_of(name, problem.energy_cents_per_mw).scale
        most = -(-(2 * grade + 1) * scale // 2) - 1
    field = SPENDING[name]
    before = getattr(limits, field)
    changed: dict[str, Any] = {field: most if before is None else min(most, before)}
    return replace(limits, **changed)


def _with_demands(problem: Problem, fabric: FabricProblem, wanted: Demands, useful_kbps: int) -> FabricProblem:
    """A fabric with only NICs that meet the demands, and with its other demands.

    ``useful_kbps``: bisection in kb/s that the demanded utilization needs of the model's fabric.
    """
    speeds = wanted if fabric.name in measured(problem) else {}
    useful = useful_kbps if problem.needs is not None and problem.needs.fabric == fabric.name else 0
    bisection = least_mbps(max(speeds.get("bisection_gbps_per_gpu", 0), useful))
    demand = least_mbps(speeds.get("gbps_per_gpu", 0))
    injection = max(bisection, demand)
    room = wanted.get("headroom_servers", 0)
    if injection <= 0 and not room:
        return fabric
    nics = {
        protocol: tuple(
            nic
            for nic in options
            if nic.injection >= injection
            and nic.crosses_any_cut >= bisection
            and demand_met(nic, problem.case.rules, fabric.rules.left_out) >= demand
        )
        for protocol, options in fabric.nics.items()
    }
    own = fabric.demanded
    changed = replace(
        fabric, nics=nics, figure_demands=replace(own, bisection=max(bisection, own.bisection), headroom=room)
    )
    return _tightened(changed, [nic for options in nics.values() for nic in options]) if bisection > 0 else changed


def _tightened(fabric: FabricProblem, nics: Sequence[NicOption]) -> FabricProblem:
    """A fabric with the least ratios that the bisection allows for any NIC, which makes bounds better."""
    assert fabric.figure_demands is not None
    most = max((nic.injection for nic in nics), default=Fraction(1)) / fabric.figure_demands.bisection
    most = max(most, Fraction(1))
    return replace(fabric, ratios=fabric.ratios.at_most(most, most))
