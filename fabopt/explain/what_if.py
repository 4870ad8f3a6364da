"""Questions about a case without a design: would a changed one have a design, and how little would do?

A question is asked of a changed copy of the case, all else kept, and answered by a search. ``StoppedError`` ends a
line of questions that the clock does not let finish: what was not answered is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import gcd
from typing import NamedTuple, TypeVar

from fabopt.explain.relaxation import nearest
from fabopt.parts.finance import Weights
from fabopt.problem.demand import stages_of
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import Problem, problem_of, with_objective
from fabopt.problem.rack_parts import without
from fabopt.problem.rules_kept import RulePart
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Sums, sums_of
from fabopt.program.settings import Clock, Settings, StoppedError, unbroken
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Conflict
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.rules_kept import relaxed
from fabopt.search.search import Search
from fabopt.topology.families import most_servers

# Designs of as many rack units tie by the thousand, so a unit is weighed against money: $10,000, in cents a milliunit.
CENTS_PER_MILLIUNIT = 1000
# How long fewer rack units are looked for: the search has no good bound on them.
UNITS_SECONDS = 4.0
# How long any one design is looked for, so that no question takes the time of all others.
DESIGN_SECONDS = 8.0


Value = TypeVar("Value")


class Watch(Clock):
    """A clock of its own that also stops when another one does, and after so many questions (None: any number)."""

    def __init__(self, seconds: float, outer: Clock, questions: int | None = None) -> None:
        super().__init__(seconds)
        self._outer = outer
        self.questions_left = questions

    def ask(self) -> None:
        """Count a question; raises ``StoppedError`` if there have been as many as there may be."""
        if self.questions_left is not None:
            if self.questions_left == 0:
                raise StoppedError
            self.questions_left -= 1

    def over_at(self) -> float | None:
        """The time at which either clock rings; None if neither does."""
        ends = (super().over_at(), self._outer.over_at())
        return min((end for end in ends if end is not None), default=None)


class Least(NamedTuple):
    """A design's sums, of which one was asked to be the least.

    ``is_least``: whether no design has less of it; ``bound``: what every design has of it at least.
    """

    sums: Sums
    is_least: bool
    bound: int | None = None


class Supposition(NamedTuple):
    """What a question is about: a changed case, and a changed catalog."""

    case: Case
    catalog: Catalog


@dataclass(frozen=True)
class Inquiry:
    """What all questions share. ``tell`` says what is being looked at; ``report`` takes what has been found.

    ``left_out``: of the default rules, what structure allows no design of the case to keep.
    """

    case: Case
    catalog: Catalog
    problem: Problem
    settings: Settings
    clock: Watch
    tell: Callable[[str], None]
    context: Context
    report: Callable[[Conflict | None], None]
    left_out: tuple[RulePart, ...] = ()

    @property
    def asked(self) -> Supposition:
        """The case and the catalog as they are."""
        return Supposition(self.case, self.catalog)

    def problem_asked(self, asked: Supposition) -> Problem:
        """The problem of a changed case and a changed catalog."""
        if asked.catalog is self.catalog:
            return self.problem_of(asked.case)
        return without(problem_of(asked.case, asked.catalog), self.left_out)

    def search_of(self, problem: Problem, clock: Clock) -> Search:
        """The search of the case's problem or of a changed one."""
        return search_of(problem, self.settings, clock, context=self.context)

    def problem_of(self, case: Case) -> Problem:
        """A changed case, with the parts of the catalog as they were found for the case itself.

        Where it has fewer servers at its last stage, no stage before has more.
        """
        if case.stages is not None:
            stages = stages_of(case, self.problem.server)
            most = stages[-1].servers or 0
            fewer = [stage.model_copy(update={"servers": min(stage.servers or 0, most)}) for stage in stages]
            case = case.model_copy(update={"stages": tuple(fewer)})
        return without(problem_of(case, self.catalog, offering=self.problem.offering), self.left_out)

    def design(self, case: Case) -> Optimum | None:
        """A design of a changed case under its limits, None if there is none; raises ``StoppedError``."""
        return self.design_of(self.problem_of(case))

    def design_of(self, problem: Problem, in_reach: bool = False) -> Optimum | None:
        """A design of a problem under its limits, None if there is none; raises ``StoppedError``.

        ``in_reach``: arithmetic is known not to rule out its number of servers.
        """
        optimum = self._design_of(problem, in_reach)
        if optimum is not None:
            return optimum
        bound_less = relaxed(problem, self.settings, self.clock, self.context.beside())
        return None if bound_less is None else self._design_of(bound_less, in_reach)

    def _design_of(self, problem: Problem, in_reach: bool) -> Optimum | None:
        self.clock.ask()
        watch = Watch(DESIGN_SECONDS, self.clock)
        if problem.limits.are_set:
            return self._answer(self.search_of(_lean(problem), watch).run(ties=False), watch)
        if not in_reach and problem.servers > most_servers(problem):
            return None
        return self._answer(self.search_of(problem, watch).any_design(), watch)

    def first_with_design(self, changes: Iterable[tuple[Value, Case]]) -> Value | None:
        """The first of some values of a limit whose changed case has a design; None if none has."""
        return next((value for value, case in changes if self.design(case) is not None), None)

    def least(self, metric: str, limits: ExactLimits) -> Least | None:
        """The design of the case that is least in a metric; None without any.

        Raises ``StoppedError`` if not even a design was found.
        """
        if metric == "rack_units":
            return self._fewest_units(limits)
        return self._sums(with_objective(self.problem, metric, limits), self.clock)

    def least_cents(self, problem: Problem) -> int | None:
        """What the cheapest design of a problem costs; None if there is none, or it was not proven to be."""
        self.clock.ask()
        watch = Watch(DESIGN_SECONDS, self.clock)
        least = self._sums(problem, watch)
        return None if least is None or not least.is_least else least.sums.cents

    def _sums(self, problem: Problem, clock: Clock) -> Least | None:
        optimum = self._answer(self.search_of(problem, clock).run(ties=False), clock)
        if optimum is None:
            return None
        with unbroken():
            return Least(sums_of(problem, optimum.picked), optimum.verdict == "optimal", optimum.bound)

    def _fewest_units(self, limits: ExactLimits) -> Least | None:
        """A design of few rack units, then ever fewer, until there is none."""
        problem = replace(self.problem, weights=Weights(1, 0, CENTS_PER_MILLIUNIT, 1), limits=limits)
        few = self._sums(problem, self.clock)
        step = gcd(*(item.rack_milliunits for item in problem.item_table.items))
        watch, is_least = Watch(UNITS_SECONDS, self.clock), True

        def ask(milliunits: int) -> Least | None:
            nonlocal is_least
            try:
                return self._sums(replace(problem, limits=replace(limits, rack_milliunits=milliunits)), watch)
            except StoppedError:
                is_least = False
                return None

        def next_fewer(works: Least, fails: int) -> int | None:
            fewer = works.sums.rack_milliunits - step
            return fewer if fewer > fails else None

        return None if few is None else Least(nearest(few, -1, ask, next_fewer).sums, is_least)

    @staticmethod
    def _answer(optimum: Optimum, clock: Clock) -> Optimum | None:
        if optimum.picked:
            return optimum
        if optimum.verdict != "infeasible" or clock.is_over():
            raise StoppedError
        return None


def _lean(problem: Problem) -> Problem:
    """A problem that minimizes what is limited, when only feasibility matters: then that limit costs no effort."""
    limits = problem.limits
    if limits.capex_cents is not None or limits.periods:
        return with_objective(problem, "capex_usd", limits)
    if limits.power_mw is not None:
        return with_objective(problem, "power_w", limits)
    return replace(problem, weights=Weights(1, 0, CENTS_PER_MILLIUNIT, 1))


def sized(case: Case, servers: int) -> Case:
    """The case with another number of servers at its last stage."""
    stages = case.stages
    if stages is None:
        return case.model_copy(update={"servers": servers, "gpus": None})
    last = stages[-1].model_copy(update={"servers": servers, "gpus": None})
    return case.model_copy(update={"stages": (*stages[:-1], last)})


def spent_of(problem: Problem, sums: Sums) -> dict[str, int]:
    """What a design takes of each limit on spending, by its name in ``ExactLimits``; servers included if they count."""
    return {
        "capex_cents": sums.cents,
        "power_mw": sums.power_mw + problem.fixed_power_mw,
        "rack_milliunits": sums.rack_milliunits,
    }


def share_of_limits(problem: Problem, optimum: Optimum) -> float:
    """The share of the scarcest limit that a design uses; 0 without limits."""
    spent = spent_of(problem, sums_of(problem, optimum.picked))
    uses = ((use, getattr(problem.limits, field)) for field, use in spent.items())
    return max((use / most for use, most in uses if most), default=0.0)


def narrowed(problem: Problem, fabric: FabricProblem, least_mbps: int, most_mbps: int) -> Problem:
    """The problem with those NICs in one fabric that give each GPU so much bandwidth."""
    nics = {
        protocol: tuple(nic for nic in options if least_mbps <= int(nic.injection) <= most_mbps)
        for protocol, options in fabric.nics.items()
    }
    changed = replace(fabric, nics=nics)
    return replace(problem, fabrics=tuple(changed if other is fabric else other for other in problem.fabrics))
