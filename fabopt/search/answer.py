"""The best design of one problem, found by the search for its objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.search.choice import search_of
from fabopt.search.context import Context

if TYPE_CHECKING:
    from fabopt.search.cost_per_gpu import Ratio


@dataclass(frozen=True)
class Answer:
    """A problem and its optimum; ``ratio``: if the cost per effective GPU was minimized.

    ``context``: intermediate results of its search, for reuse.
    """

    problem: Problem
    optimum: Optimum
    ratio: Ratio | None = None
    context: Context = field(default_factory=Context)

    @property
    def has_design(self) -> bool:
        """Whether a design was found."""
        return self.optimum.value is not None

    @property
    def picked(self) -> list[Picked]:
        """The candidate of each fabric with its parts."""
        return [(candidate, units) for candidate, units in self.optimum.picked]


def answer_in(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Answer:
    """The optimum of the space of a problem in the objective of its case, or the proof that there is none."""
    if problem.case.objective == EFFECTIVE:
        from fabopt.search.decision import best_ratio

        ratio = best_ratio(problem, settings, clock, context)
        return Answer(ratio.held or problem, ratio.optimum, ratio, context)
    if problem.case.growth.decide_by == "regret":
        from fabopt.search.regret import least_regret

        return Answer(*least_regret(problem, settings, clock, context), context=context)
    return Answer(problem, search_of(problem, settings, clock, context=context).run(), context=context)
