"""One cell of a sweep: the case with some keys set, and every budget in it. What is worked out once is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fabopt.explain.conflicts import conflicts_of
from fabopt.io.case import Inputs
from fabopt.parts.offering import Offering, offering_of
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Conflict
from fabopt.schema.front import FrontPoint
from fabopt.search.context import Context
from fabopt.study.front.finder import Finder, Met, StoppedError
from fabopt.study.front.measures import MEASURES
from fabopt.study.front.points import Place, at_budget, budgeted, point_of, without_design
from fabopt.study.sweep.budgets import Bought, Sizes, Steps
from fabopt.study.sweep.keys import Steps as KeySteps
from fabopt.study.sweep.keys import changed_inputs, content_of
from fabopt.units import cents, usd

# What `maximize` of a case says, by the name of the metric in a point's values.
MAXIMIZED = {"gbps_per_gpu": "gbps_per_gpu", "bisection": "bisection_gbps_per_gpu", "servers": "servers"}
BUDGET_KEY = "limits.budget_usd"


@dataclass(frozen=True)
class Cell:
    """A place in the grid: the values of the swept keys, and the budgets that are still to be answered."""

    number: int
    values: Mapping[KeySteps, int | float]
    budgets: tuple[int | float, ...] = ()


@dataclass(frozen=True)
class Shared:
    """What all cells of a sweep share. ``keys``: the swept ones as they were written, by their steps."""

    inputs: Inputs
    keys: Mapping[KeySteps, str]
    engine: str
    has_budgets: bool


class Cells:
    """Solves cells one after the other in one process."""

    def __init__(self, shared: Shared, settings: Settings, clock: Clock) -> None:
        self.shared = shared
        self.settings = settings
        self.clock = clock
        self._context = Context()

    @cached_property
    def _content(self) -> dict[str, Any]:
        return content_of(self.shared.inputs.case)

    @cached_property
    def _offering(self) -> Offering:
        return offering_of(self.shared.inputs.case, self.shared.inputs.catalog)

    def prepare(self) -> None:
        """Work out now what all cells share."""
        problem_of(self.shared.inputs.case, self.shared.inputs.catalog, offering=self._offering)

    def points(self, cell: Cell) -> Iterator[FrontPoint]:
        """The cell's points, budgets from the lowest up. Raises ``StoppedError`` if time runs out."""
        shared = self.shared
        inputs = changed_inputs(shared.inputs, self._content, cell.values) if cell.values else shared.inputs
        problem = problem_of(inputs.case, inputs.catalog, offering=self._offering)
        over = {shared.keys[steps]: value for steps, value in cell.values.items()}
        if shared.has_budgets:
            yield from self._under_budgets(inputs, budgeted(problem, None), over, cell.budgets)
        else:
            yield self._best(inputs, problem, over)
        self._context.forget_bounds()

    def _best(self, inputs: Inputs, problem: Problem, over: Mapping[str, int | float]) -> FrontPoint:
        """The best design of the case as it is there."""
        place = Place(inputs.case.objective, self.shared.engine, None, over)
        finder = Finder(problem, self.settings, self.clock, self._context.beside())
        met = finder.best((MEASURES[inputs.case.objective],), {})
        if met is None:
            return without_design(place, self._conflicts(inputs, problem))
        return point_of(problem, met, place)

    def _under_budgets(
        self, inputs: Inputs, problem: Problem, over: Mapping[str, int | float], budgets: Sequence[int | float]
    ) -> Iterator[FrontPoint]:
        metric = MAXIMIZED[inputs.case.maximize]
        if metric == "servers":
            buyer: Steps | Sizes = Sizes(problem, self.settings, self.clock, self._context)
        else:
            finder = Finder(problem, self.settings, self.clock, self._context.beside())
            buyer = Steps(finder, MEASURES[metric])
        made: dict[Met, FrontPoint] = {}
        hopeless: tuple[Conflict, ...] | None = None
        for budget in sorted(budgets):
            place = Place(metric, self.shared.engine, budget, over)
            bought = buyer.buy(cents(budget))
            if bought.met is not None:
                if bought.met not in made:
                    made[bought.met] = point_of(budgeted(bought.problem, budget), bought.met, place)
                yield at_budget(made[bought.met], budget)
            elif bought.needed_cents is not None:
                yield without_design(place, (_too_little(budget, bought),))
            else:
                hopeless = self._conflicts(inputs, problem) if hopeless is None else hopeless
                yield without_design(place, hopeless)

    def _conflicts(self, inputs: Inputs, problem: Problem) -> tuple[Conflict, ...]:
        settings = replace(self.settings, progress=lambda text: None)
        found = conflicts_of(problem.case, inputs.catalog, problem, settings, self.clock)
        if self.clock.is_over():
            raise StoppedError
        return found


def _too_little(budget_usd: int | float, bought: Bought) -> Conflict:
    assert bought.needed_cents is not None
    needed = usd(bought.needed_cents)
    what = "the cheapest design costs"
    if bought.problem.case.maximize == "servers":
        what = f"the cheapest design for {bought.problem.servers:,} servers costs"
    detail = f"{what} ${needed:,}; the limit is ${budget_usd:,}"
    return Conflict(limit=BUDGET_KEY, value=budget_usd, needed=needed, detail=detail)
