"""From a design found to a point of a file: the design, proven again without the solver, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from fabopt.design.bill import KIND_ORDER
from fabopt.design.points import Sharing
from fabopt.io.case import Inputs
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked, sums_of
from fabopt.program.settings import Clock, Settings, unbroken
from fabopt.schema.design import BomRow, CaseRecord, Conflict, Design, FrontAnswer, FrontPoint, Objective, Status
from fabopt.schema.hashes import sha256_of
from fabopt.schema.left_out import NearestDesign
from fabopt.schema.prediction import WorkloadUse
from fabopt.search.answer import Answer
from fabopt.solution.designs import bound_of_proven
from fabopt.solution.optimize import answered, proven
from fabopt.solution.question import Question, SameHardware
from fabopt.solution.summaries import summaries_of
from fabopt.study.front.finder import Demands, Finder, GradedDesign, Managed
from fabopt.study.front.journal import PointJournal
from fabopt.study.front.measures import Measure, shown
from fabopt.units import cents, milliwatts, usd

# What a point has of its design, as its file has it.
OF_DESIGN = (
    "case", "parts", "parts_sha256", "floor", "fabrics", "single_points_of_failure", "worst_rack", "stages", "bom",
    "workload", "serving", "rules_left_out",
)  # fmt: skip
# Seconds to write a file and its summary, and seconds more for every point.
WRITING_S = 0.8
WRITING_S_PER_POINT = 0.0005


@dataclass(frozen=True)
class Place:
    """The place of a point: the case there, the metric minimized or maximized, the budget, and the values of swept
    keys.
    """

    inputs: Inputs
    metric: str
    engine: str
    budget_usd: int | float | None = None
    over: Mapping[str, int | float] | None = None
    # of this place alone
    notes: tuple[str, ...] = ()
    # fabrics whose managers were searched for
    managed: frozenset[str] = frozenset()

    def question(self, problem: Problem | None, clock: Clock, twin: SameHardware | None = None) -> Question:
        """The question to solve at this place; notes on all inputs are the file's."""
        inputs = replace(self.inputs, notes=self.notes)
        return Question(inputs, Settings(self.engine), clock, twin=twin, managed=self.managed, problem=problem)


def points_of(
    problem: Problem,
    designs: Sequence[GradedDesign],
    place: Place,
    settings: Settings,
    clock: Clock,
    answers: KeptAnswers | None = None,
) -> list[FrontPoint]:
    """Points with their designs. Of points that differ only in the numbers of links with each part, only the ends are
    proven.

    ``answers``: points made before, and where new ones are kept. When the clock is over only a first point is made.
    """
    ends: dict[Hashable, list[int]] = {}
    for number, graded in enumerate(designs):
        parts = frozenset(id(option) for _, units in graded.optimum.picked for option, _ in units)
        ends.setdefault((tuple(id(candidate) for candidate, _ in graded.optimum.picked), parts), []).append(number)
    first = {number: numbers[0] for numbers in ends.values() for number in numbers[1:-1]}
    points, sharing = dict[int, FrontPoint](), Sharing()
    for number, graded in enumerate(designs):
        settings.progress(f"proving the designs: {number + 1:,} of {len(designs):,} points")
        point = graded.point if answers is None else graded.point or answers.listed(graded)
        if point is None and points and clock.is_over():
            continue
        if point is None:
            twin = points.get(first.get(number, -1))
            point = sharing.of(point_of(problem, graded, place, twin))
            if answers is not None:
                answers.keep_listed(graded, point)
            clock.reserve(WRITING_S + WRITING_S_PER_POINT * number)
        points[number] = point
    return list(points.values())


def point_of(problem: Problem, graded: GradedDesign, place: Place, twin: SameHardware | None = None) -> FrontPoint:
    """A point with its design. ``problem``: that of the case at this place.

    ``twin``: a proven point of the same hardware in other numbers. Raises ``AssertionError`` if the design does not
    stand the proof, which only a fault of fabopt can cause.
    """
    if graded.managed is not None:
        problem, place = _as_managed(graded.managed, problem, place)
    answer = _answer(problem, graded)
    design = _design(answer, graded, place, twin)
    values = {**shown(graded.grades), "servers": problem.servers, **_predicted(design.workload)}
    value = values[place.metric] if place.metric in values else getattr(design.sums, place.metric)
    decision = design.objective.decision
    bound, gap = bound_of_proven(value, decision) if graded.is_proven else (None, None)
    return FrontPoint(
        budget_usd=place.budget_usd,
        over=dict(place.over or {}),
        status="optimal" if graded.is_proven else "feasible",
        summary=summaries_of(problem, list(graded.optimum.picked)),
        values=values,
        objective=Objective(
            metric=place.metric,
            value=value,
            bound=bound,
            gap=gap,
            engine=place.engine,
            decision=decision,
        ),
        totals=design.totals,
        capex_by_kind=_by_kind(design.bom),
        notes=design.notes,
        **{name: getattr(design, name) for name in OF_DESIGN},
    )


def _as_managed(managed: Managed, problem: Problem, place: Place) -> tuple[Problem, Place]:
    """The problem of a design with other managers, under the study's limits, and the place with its hosts."""
    case, notes = place.inputs.case, (*place.notes, *(host.note for host in managed.hosts), *managed.notes)
    for host in managed.hosts:
        case = host.attached(case)
    own = managed.problem.case.model_copy(update={"limits": problem.case.limits})
    place = replace(place, inputs=replace(place.inputs, case=case), notes=notes, managed=managed.decided)
    return replace(managed.problem, case=own, limits=problem.limits), place


def _answer(problem: Problem, graded: GradedDesign) -> Answer:
    picked: list[Picked] = list(graded.optimum.picked)
    value = sums_of(problem, picked).objective + problem.fixed_energy
    return Answer(problem, Optimum("feasible", graded.optimum.picked, value), graded.ratio)


def _design(answer: Answer, graded: GradedDesign, place: Place, twin: SameHardware | None) -> Design:
    """The design of an answer; its objective is stated by the point, not by the design."""
    design = proven(replace(place.question(answer.problem, Clock(None), twin), answer=answer))
    totals = design.sums
    if (cents(totals.capex_usd), milliwatts(totals.power_w)) != (graded.grades["capex_usd"], graded.grades["power_w"]):
        raise AssertionError(f"the bill of a point of a front is not what was found: {totals}, {graded.grades}")
    return design


def _predicted(use: WorkloadUse | None) -> dict[str, int | float]:
    """Figures of a step of the case's model, of several jobs those of all; empty for a case without a model."""
    names = ["gpu_utilization", "usd_per_effective_gpu"]
    names += [] if use is None or use.jobs else ["exposed_communication", "step_s"]
    figures = {} if use is None else {name: getattr(use, name) for name in names}
    return {name: value for name, value in figures.items() if value is not None}


def why_none(problem: Problem, place: Place, clock: Clock) -> FrontPoint:
    """A point without a design, with its conflicts."""
    design = answered(place.question(problem, clock))
    if design.fabrics:
        # the case solved alone looks for managers of its subnets, and limits leave none
        design = answered(place.question(None, clock))
    nearest = design.nearest and design.nearest.model_copy(update={"design": None})
    return without_design(place, design.case, design.conflicts, design.status, design.notes, nearest)


def without_design(
    place: Place,
    case: CaseRecord,
    conflicts: tuple[Conflict, ...],
    status: Status = "infeasible",
    notes: tuple[str, ...] = (),
    nearest: NearestDesign | None = None,
) -> FrontPoint:
    """A point without a design, with its conflicts; ``unknown``: none was found, and none ruled out."""
    return FrontPoint(
        budget_usd=place.budget_usd,
        over=dict(place.over or {}),
        status=status,
        objective=Objective(metric=place.metric, engine=place.engine),
        case=case,
        conflicts=conflicts,
        nearest=nearest,
        notes=notes,
    )


def at_budget(point: FrontPoint, budget_usd: int | float) -> FrontPoint:
    """Return a point as the answer to a budget, which its case then has."""
    assert point.case is not None and (point.totals is None or cents(point.totals.capex_usd) <= cents(budget_usd))
    # a case has it as a float, and hashes tell 90000.0 from 90000
    limits = {**point.case.content["limits"], "budget_usd": float(budget_usd)}
    content = {**point.case.content, "limits": limits}
    case = point.case.model_copy(update={"content": content, "sha256": sha256_of(content)})
    return point.model_copy(update={"budget_usd": budget_usd, "case": case})


def budgeted(problem: Problem, budget_usd: int | float | None) -> Problem:
    """The problem with another budget; None: without one."""
    budget = None if budget_usd is None else float(budget_usd)
    limits = problem.case.limits.model_copy(update={"budget_usd": budget})
    most = None if budget_usd is None else cents(budget_usd)
    case = problem.case.model_copy(update={"limits": limits})
    return replace(problem, case=case, limits=replace(problem.limits, capex_cents=most))


def _by_kind(rows: Sequence[BomRow]) -> dict[str, int | float]:
    """Dollars by kind of row, without zeros."""
    amounts = {kind: sum(cents(row.total_usd) for row in rows if row.kind == kind) for kind in KIND_ORDER}
    return {kind: usd(amount) for kind, amount in amounts.items() if amount}


# -- the questions of a front with their answers ----------------------------------------------------------------------
# The questions of a front with their answers; those answered by an earlier run are not asked again.


class KeptAnswers:
    """Answers of a finder, each written to a journal at once, with its point. ``given``: all answers so far."""

    def __init__(self, finder: Finder, journal: PointJournal, point_of: Callable[[GradedDesign], FrontPoint]) -> None:
        """``point_of``: the point of a design."""
        self.given: list[FrontAnswer] = list(journal.known.answers) if journal.known is not None else []
        self._finder = finder
        self._journal = journal
        self.point_of = point_of
        self._known = {_question(answer.best, answer.demands): _without_candidates(answer) for answer in self.given}
        self._listed = {
            _sums(answer.grades): answer.point for answer in self.given if answer.grades and not answer.best
        }

    def best(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        """The design that is best in the metrics under demands, as the finder's."""
        names = tuple(measure.name for measure in measures)
        question = _question(names, demands)
        if question not in self._known:
            graded = self._finder.best(measures, demands)
            with unbroken():
                point = None if graded is None else self.point_of(graded)
                self._keep(names, demands, graded, point)
                self._known[question] = None if graded is None else replace(graded, point=point)
        return self._known[question]

    def listed(self, graded: GradedDesign) -> FrontPoint | None:
        """The point of a design found by listing the whole front, if an earlier run made it."""
        return self._listed.get(_sums(graded.grades))

    def keep_listed(self, graded: GradedDesign, point: FrontPoint) -> None:
        """Keep the point of a design found by listing.

        One that is not proven, as time was over, is looked for again.
        """
        if graded.is_proven:
            self._keep((), {}, graded, point)

    def _keep(
        self, best: tuple[str, ...], demands: Demands, graded: GradedDesign | None, point: FrontPoint | None
    ) -> None:
        grades = None if graded is None else dict(graded.grades)
        self.take(FrontAnswer(best=best, demands=dict(demands), grades=grades, point=point))

    def take(self, answer: FrontAnswer) -> None:
        """Keep an answer, and do not ask its question again."""
        self._journal.keep([answer])
        self.given.append(answer)
        if answer.best:
            self._known[_question(answer.best, answer.demands)] = _without_candidates(answer)

    def designs(self) -> list[GradedDesign]:
        """All designs of the answers."""
        return [graded for graded in self._known.values() if graded is not None]

    def is_known(self, best: Sequence[str], demands: Demands) -> bool:
        """Whether a question has its answer."""
        return _question(best, demands) in self._known


def _question(best: Sequence[str], demands: Demands) -> tuple[tuple[str, ...], frozenset[tuple[str, int]]]:
    return tuple(best), frozenset(demands.items())


def _sums(grades: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset(grades.items())


def _without_candidates(answer: FrontAnswer) -> GradedDesign | None:
    """An answer without its picked candidates: its point has their design."""
    if answer.point is None or answer.grades is None:
        return None
    return GradedDesign(Optimum(answer.point.status), answer.grades, answer.point)
