"""From an answer to a point of a file: the design, proven again without the solver, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from fabopt.design.bill import KIND_ORDER, bill, totals_of
from fabopt.design.build import fabric_design
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked, sums_of
from fabopt.schema.design import BomRow, Conflict, Design, Objective
from fabopt.schema.front import FrontPoint
from fabopt.schema.prediction import WorkloadUse
from fabopt.search.step_time import use_on
from fabopt.solution.answer import Answer, summaries_of
from fabopt.solution.optimize import design_of
from fabopt.study.front.finder import Met
from fabopt.study.front.measures import shown
from fabopt.units import cents, milliwatts, usd
from fabopt.verify import verify


@dataclass(frozen=True)
class Place:
    """Where a point is: what is best there, the budget, and keys of the case as they are."""

    metric: str
    engine: str
    budget_usd: int | float | None = None
    over: Mapping[str, int | float] | None = None


def point_of(problem: Problem, met: Met, place: Place) -> FrontPoint:
    """A point with its design. ``problem``: that of the case as it is there.

    Raises ``AssertionError`` if the design does not stand the proof, which only a fault of fabopt can cause.
    """
    proven(problem, met, place)
    return unchecked_point(problem, met, place)


def points_of(
    problem: Problem, found: Sequence[Met], place: Place, progress: Callable[[str], None] = lambda text: None
) -> list[FrontPoint]:
    """Points with their designs. Of those that differ only in how many links have which parts, the ends are proven."""
    ends: dict[Hashable, list[int]] = {}
    for number, met in enumerate(found):
        parts = frozenset(id(option) for _, units in met.optimum.picked for option, _ in units)
        ends.setdefault((tuple(id(one) for one, _ in met.optimum.picked), parts), []).append(number)
    checked = {number for numbers in ends.values() for number in (numbers[0], numbers[-1])}
    made: list[FrontPoint] = []
    for number, met in enumerate(found):
        progress(f"proving the designs: {number + 1:,} of {len(found):,} points")
        made.append((point_of if number in checked else unchecked_point)(problem, met, place))
    return made


def unchecked_point(problem: Problem, met: Met, place: Place) -> FrontPoint:
    """A point with its design, whose boxes and parts have been proven to go together in other numbers."""
    picked: list[Picked] = list(met.optimum.picked)
    rows = bill(problem, picked)
    totals = totals_of(problem, picked, rows)
    if (cents(totals.capex_usd), milliwatts(totals.power_w)) != (met.grades["capex_usd"], met.grades["power_w"]):
        raise AssertionError(f"the bill of a point of a front is not what was found: {totals}, {met.grades}")
    values = {name: value for name, value in shown(met.grades).items() if value is not None}
    values["servers"] = problem.servers
    values |= _predicted(use_on(problem, picked, cents(totals.capex_usd)))
    value = getattr(totals, place.metric) if place.metric not in values else values[place.metric]
    return FrontPoint(
        budget_usd=place.budget_usd,
        over=dict(place.over or {}),
        status="optimal" if met.is_proven else "feasible",
        summary=summaries_of(problem, picked),
        values=values,
        objective=Objective(
            metric=place.metric,
            value=value,
            bound=value if met.is_proven else None,
            gap=0 if met.is_proven else None,
            engine=place.engine,
        ),
        totals=totals,
        capex_by_kind=_by_kind(rows),
        fabrics=tuple(fabric_design(problem, *one) for one in zip(problem.fabrics, picked, strict=True)),
    )


def _predicted(use: WorkloadUse | None) -> dict[str, int | float]:
    """What a step of the case's model takes; nothing for a case without a model."""
    names = ("gpu_utilization", "exposed_communication", "step_s", "usd_per_effective_gpu")
    found = {} if use is None else {name: getattr(use, name) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def without_design(place: Place, conflicts: tuple[Conflict, ...], notes: tuple[str, ...] = ()) -> FrontPoint:
    """A point at which there is proven to be no design, and why."""
    return FrontPoint(
        budget_usd=place.budget_usd,
        over=dict(place.over or {}),
        status="infeasible",
        objective=Objective(metric=place.metric, engine=place.engine),
        conflicts=conflicts,
        notes=notes,
    )


def proven(problem: Problem, met: Met, place: Place) -> Design:
    """The design of an answer after every check; what it minimizes is said of the point, not of the design."""
    picked: list[Picked] = list(met.optimum.picked)
    sums = sums_of(problem, picked)
    value = sums.objective + problem.fixed_energy
    optimum = Optimum("feasible", list(met.optimum.picked), value)
    design = design_of(Answer(problem, optimum), place.engine, 0.0, (), ())
    failed = [check for check in verify(design) if not check.ok]
    if failed:
        raise AssertionError(f"a design of a front fails its check {failed[0].name}: {failed[0].detail}")
    return design


def at_budget(point: FrontPoint, budget_usd: int | float) -> FrontPoint:
    """The same design as the answer to a budget."""
    assert point.totals is not None and cents(point.totals.capex_usd) <= cents(budget_usd)
    return point.model_copy(update={"budget_usd": budget_usd})


def budgeted(problem: Problem, budget_usd: int | float | None) -> Problem:
    """The problem with another budget; None: with any."""
    limits = problem.case.limits.model_copy(update={"budget_usd": budget_usd})
    most = None if budget_usd is None else cents(budget_usd)
    case = problem.case.model_copy(update={"limits": limits})
    return replace(problem, case=case, limits=replace(problem.limits, capex_cents=most))


def _by_kind(rows: Sequence[BomRow]) -> dict[str, int | float]:
    """Dollars by kind of row, kinds without any left out."""
    found = {kind: sum(cents(row.total_usd) for row in rows if row.kind == kind) for kind in KIND_ORDER}
    return {kind: usd(amount) for kind, amount in found.items() if amount}
