"""Problems of the same growth in which one future is certain, or futures have other probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike, managed_by_switches
from fabopt.schema.case import Case
from fabopt.schema.scenarios import GrowthScenario
from fabopt.schema.stages import Stage


def only_future(problem: Problem, number: int) -> Problem:
    """The problem in which one future is certain: without the stages that it does not reach."""
    future = problem.case.futures[number]
    first, *later = problem.case.stages or ()
    own = [
        stage.model_copy(update={"month": future.months[stage.name]}) for stage in later if stage.name in future.months
    ]
    return _with(problem, (first, *own), [future.model_copy(update={"probability": 1})])


def weighed(problem: Problem, chances: Sequence[Fraction]) -> Problem:
    """The problem with other probabilities of its futures."""
    futures = [
        future.model_copy(update={"probability": float(chance)})
        for future, chance in zip(problem.case.futures, chances, strict=True)
    ]
    return _with(problem, problem.case.stages or (), futures)


def _with(problem: Problem, stages: Sequence[Stage], futures: Sequence[GrowthScenario]) -> Problem:
    """The problem with other stages and scenarios, bound to the same default rules."""
    certain = tuple(stage.model_copy(update={"probability": 1}) for stage in stages)
    case: Case = problem.case.model_copy(update={"stages": certain, "scenarios": tuple(futures)})
    managed = (
        fabric.name for fabric in problem.fabrics if (asked := fabric.rules.managers) is not None and asked.is_asked_for
    )
    return managed_by_switches(bound_alike(problem_of(case, problem.catalog), problem), frozenset(managed))
