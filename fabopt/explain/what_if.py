"""Questions about a case without a design: whether a changed case has a design, and the least change that gives one.

A question is asked of a changed copy of the case, all else kept, and answered by a search. ``StoppedError`` ends a line
of questions when the clock is over: unanswered questions are not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import gcd
from typing import NamedTuple, TypeVar

from fabopt.explain.relaxation import nearest
from fabopt.io.case import Inputs
from fabopt.io.keys import with_change
from fabopt.parts.finance import Weights
from fabopt.problem.demand import stages_of
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.limits import ExactLimits
from fabopt.problem.nic_rules import demand_met
from fabopt.problem.problem import Problem, problem_of, with_objective
from fabopt.problem.rules_kept import RulePart, without
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Sums, sums_of
from fabopt.program.settings import Clock, Settings, StoppedError, Work, unbroken
from fabopt.schema.case import EFFECTIVE, Case, Fabric
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Conflict, Needed, Number
from fabopt.schema.stages import Stage
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.rules_kept import relaxed
from fabopt.search.search import Search
from fabopt.topology.families import most_servers

# Designs of as many rack units tie by the thousand, so a unit is weighed against money: $10,000, in cents a milliunit.
CENTS_PER_MILLIUNIT = 1000
# How often fewer rack units are asked for: the search has no good bound on them.
MOST_OF_UNITS = 24
# What the search of any one question may do, counted as ``program.settings.Work``, so that no question takes the time
# of all others and the same questions are answered on every machine; seconds only end what hangs.
MOST_WORK = 40_000
# The same for all searches that tell which default rules no design of a question's case can keep.
MOST_OF_RULES = 200_000
DESIGN_SECONDS = 60.0
NO_SINGLE_CHANGE = "no single change to the case gives a design"
UNSETTLED_AT_ALL = "whether another value would do takes more work to tell than one question may"


Value = TypeVar("Value")


class Watch(Clock):
    """A clock that also stops with an outer clock, and after ``questions`` questions (None: any number)."""

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
    """Sums of a design found by minimizing one of them.

    ``is_least``: whether it is proven least; ``bound``: its lower bound over all designs.
    """

    sums: Sums
    is_least: bool
    bound: int | None = None


class SolvedChange(NamedTuple):
    """The solution of a changed case: its cents, and the words of its networks, equal for one choice in two keys."""

    cents: int
    choice: str


class Supposition(NamedTuple):
    """The changed case and catalog of a question."""

    case: Case
    catalog: Catalog


@dataclass
class Met:
    """The last design that was met: its problem, and the optimum in the objective of that."""

    problem: Problem
    optimum: Optimum


@dataclass(frozen=True)
class Inquiry:
    """The context of all questions. ``tell``: takes the current subject; ``report``: takes found conflicts.

    ``case``: unresolved, so that values derived from a key follow its new value. ``left_out``: default rules that no
    structure of the case can keep. ``met``: empty, or the last design; ``choices``: networks of changed words, each
    alone; ``priced``: solved changes.
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
    met: list[Met] = field(default_factory=list)
    choices: set[str] = field(default_factory=set)
    priced: set[object] = field(default_factory=set)

    def fabric(self, index: int) -> Fabric:
        """The unresolved fabric at an index of the problem."""
        name = self.problem.fabrics[index].name
        return next(fabric for fabric in self.case.fabrics if fabric.name == name)

    @property
    def fabrics(self) -> Iterator[tuple[int, Fabric, FabricProblem]]:
        """The designed fabrics: index in the problem, unresolved fabric, resolved fabric."""
        for index, meant in enumerate(self.problem.fabrics):
            yield index, self.fabric(index), meant

    @property
    def asked(self) -> Supposition:
        """The unchanged case and catalog."""
        return Supposition(self.case, self.catalog)

    def problem_asked(self, asked: Supposition) -> Problem:
        """The problem of a changed case and a changed catalog."""
        if asked.catalog is self.catalog:
            return self.problem_of(asked.case)
        return without(problem_of(asked.case, asked.catalog), self.left_out)

    def search_of(self, problem: Problem, clock: Clock) -> Search:
        """The search of a problem with the work limit of one question."""
        return search_of(problem, self._with_work(MOST_WORK), clock, context=self.context)

    def _with_work(self, most: int) -> Settings:
        return replace(self.settings, work=Work(most=most))

    def problem_of(self, case: Case) -> Problem:
        """The problem of a changed case, with the offering of the unchanged one.

        Servers of earlier stages are cut to those of the last.
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
        stopped: StoppedError | None = None
        self.clock.ask()
        try:
            optimum = self._design_of(problem, in_reach)
            if optimum is not None:
                return optimum
        except StoppedError as error:
            self.clock.look()
            stopped = error  # what structure keeps from every rule is sooner known than what limits do
        bound_less = relaxed(problem, self._with_work(MOST_OF_RULES), self.clock, self.context.beside())
        if bound_less is not None:
            return self._design_of(bound_less, in_reach)
        if stopped is not None:
            raise stopped
        return None

    def _design_of(self, problem: Problem, in_reach: bool) -> Optimum | None:
        watch = Watch(DESIGN_SECONDS, self.clock)
        if problem.limits.are_set:
            lean = _lean(problem)
            return self._noted(lean, self._answer(self.search_of(lean, watch).run(ties=False), watch))
        if not in_reach and problem.servers > most_servers(problem):
            return None
        return self._noted(problem, self._answer(self.search_of(problem, watch).any_design(), watch))

    def _noted(self, problem: Problem, optimum: Optimum | None) -> Optimum | None:
        if optimum is not None:
            self.met[:] = [Met(problem, optimum)]
        return optimum

    def answer_met(self) -> SolvedChange | None:
        """The solution of the last found design's problem; None where it is not known.

        The found design is itself the answer if it minimizes the case's objective.
        """
        if not self.met or self.case.objective == EFFECTIVE or self.case.growth.decide_by == "regret":
            return None
        (met,) = self.met
        problem, optimum = met.problem, met.optimum
        own = with_objective(problem, self.case.objective, problem.limits)
        if own.weights != problem.weights or not problem.limits.are_set:
            problem, optimum = own, Optimum("unknown")
            with suppress(StoppedError), self.clock.bounded():
                optimum = self.search_of(own, Watch(DESIGN_SECONDS, self.clock)).run(ties=False)
        if optimum.verdict != "optimal":
            return None
        with unbroken():
            networks = (candidate.design.file_part() for candidate, _ in optimum.picked)
            tiers = ((part.structure, [tier.switch.id for tier in part.tiers], part.nic.nic_id) for part in networks)
            return SolvedChange(sums_of(problem, optimum.picked).cents, repr(list(tiers)))

    def about(self, case: Case) -> Inquiry:
        """The questions about a changed case."""
        return replace(self, case=case, problem=self.problem_of(case))

    def settles(self, case: Case) -> bool | None:
        """Whether a changed case has a design; None if this exceeds the work limit of one question."""
        try:
            return self.design(case) is not None
        except StoppedError:
            self._look_for_more()
            return None

    def _look_for_more(self) -> None:
        """Raise ``StoppedError`` where no more questions can be asked."""
        if self.clock.is_over() or self.clock.questions_left == 0:
            raise StoppedError

    def of_limit(self, limit: str, value: Number | str | None, questions: Iterator[Conflict]) -> Iterator[Conflict]:
        """The conflicts of a limit's questions, or one unsettled conflict if a question ends without an answer.

        Questions about other limits go on.
        """
        self.tell(limit)
        is_told = False
        try:
            for conflict in questions:
                is_told = True
                yield conflict
        except StoppedError:
            self._look_for_more()
            if not is_told:
                yield Conflict(limit=limit, value=value, needed=None, minimal=False, detail=UNSETTLED_AT_ALL)

    def opened(self, case: Case, conflict: Conflict) -> Iterator[Conflict]:
        """The conflict of a key, if ``case``, with the key open, has a design; unsettled if this is not known."""
        questions = (conflict for _ in range(1) if self.design(case) is not None)
        return self.of_limit(conflict.limit, conflict.value, questions)

    def at_number(self, of: Callable[[int], Case]) -> Callable[[int], int | None]:
        """What takes a number and returns it where the case ``of`` that number has a design, None where it has none."""
        return lambda number: None if self.design(of(number)) is None else number

    def first_with_design(self, changes: Iterable[tuple[Value, Case]]) -> Value | None:
        """The first value whose changed case has a design; None if none has."""
        return next((value for value, case in changes if self.design(case) is not None), None)

    def least(self, metric: str, limits: ExactLimits) -> Least | None:
        """The design of the case that is least in a metric; None without any.

        Raises ``StoppedError`` if not even a design was found.
        """
        if metric == "rack_units":
            return self._fewest_units(limits)
        return self._sums(with_objective(self.problem, metric, limits), self.clock)

    def least_cents(self, problem: Problem) -> int | None:
        """Cost in cents of the cheapest design of a problem; None if there is none, or it was not proven."""
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
        """The least rack units of a design, by tightening the limit until there is none."""
        problem = replace(self.problem, weights=Weights(1, 0, CENTS_PER_MILLIUNIT, 1), limits=limits)
        few = self._sums(problem, self.clock)
        step = gcd(*(item.rack_milliunits for item in problem.item_table.items))
        watch, is_least = Watch(DESIGN_SECONDS, self.clock, MOST_OF_UNITS), True

        def ask(milliunits: int) -> Least | None:
            nonlocal is_least
            try:
                watch.ask()
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
    """The problem with a limited quantity as objective, where only feasibility matters: the limit
    is then easy to keep.
    """
    limits = problem.limits
    if limits.capex_cents is not None or limits.periods:
        return with_objective(problem, "capex_usd", limits)
    if limits.power_mw is not None:
        return with_objective(problem, "power_w", limits)
    return replace(problem, weights=Weights(1, 0, CENTS_PER_MILLIUNIT, 1))


def with_needed(inquiry: Inquiry, case: Case, changes: Iterable[Needed]) -> Case:
    """The case with values of dotted keys changed; raises ``InputError`` for invalid values."""
    return with_change(Inputs(case, inquiry.catalog, ""), {change.limit: change.needed for change in changes}).case


class Size(NamedTuple):
    """The size of a cluster by the key of its case: number of servers, or of GPUs."""

    limit: str
    number: int

    @property
    def needed(self) -> Needed:
        """The number as a change of its key."""
        return Needed(limit=self.limit, needed=self.number)


def size_of(inquiry: Inquiry, servers: int, stage: int = -1) -> Size:
    """The size of a stage (default: the last) with ``servers`` servers, in the case's unit: servers or GPUs."""
    stages = inquiry.case.stages
    said: Case | Stage = inquiry.case if stages is None else stages[stage]
    key, gpus = ("servers", 1) if said.gpus is None else ("gpus", inquiry.problem.server.gpus)
    return Size(key if stages is None else f"stages.{said.name}.{key}", servers * gpus)


def spent_of(problem: Problem, sums: Sums) -> dict[str, int]:
    """A design's spending by field of ``ExactLimits``; servers included if they count."""
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
    """The problem with only NICs in one fabric that meet a demand of ``least_mbps`` to ``most_mbps`` per GPU."""
    nics = {
        protocol: tuple(nic for nic in options if least_mbps <= int(demand_met(nic, problem.case.rules)) <= most_mbps)
        for protocol, options in fabric.nics.items()
    }
    changed = replace(fabric, nics=nics)
    return replace(problem, fabrics=tuple(changed if other is fabric else other for other in problem.fabrics))
