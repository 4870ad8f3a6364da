"""One cell of a sweep: the case with some keys set, and every budget in it. What is worked out once is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabopt.io.case import Inputs
from fabopt.parts.offering import Offering, offering_of
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.design import Conflict
from fabopt.schema.front import FrontPoint
from fabopt.search.context import Context
from fabopt.study.front.finder import Finder, GradedDesign
from fabopt.study.front.measures import MEASURES
from fabopt.study.front.points import Place, at_budget, budgeted, point_of, why_none, without_design
from fabopt.study.sweep.budgets import MostOfMetric, MostServers
from fabopt.study.sweep.keys import KeyPath, changed_inputs, content_of
from fabopt.units import cents, some, usd

# What `maximize` of a case says, by the name of the metric in a point's values.
MAXIMIZED = {"gbps_per_gpu": "gbps_per_gpu", "bisection": "bisection_gbps_per_gpu", "servers": "servers"}
BUDGET_KEY = "limits.budget_usd"


@dataclass(frozen=True)
class GridCell:
    """A place in the grid: the values of the swept keys, and the budgets that are still to be answered."""

    number: int
    values: Mapping[KeyPath, int | float]
    budgets: tuple[int | float, ...] = ()


@dataclass(frozen=True)
class SweepInputs:
    """What all cells of a sweep share. ``keys``: the swept ones as they were written, by their steps."""

    inputs: Inputs
    keys: Mapping[KeyPath, str]
    engine: str
    has_budgets: bool


class CellSolver:
    """Solves cells one after the other in one process."""

    def __init__(self, shared: SweepInputs, settings: Settings, clock: Clock) -> None:
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

    def points(self, cell: GridCell) -> Iterator[FrontPoint]:
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
        place = Place(inputs, inputs.case.objective, self.shared.engine, None, over)
        finder = Finder(problem, self.settings, self.clock, self._context.beside())
        graded = finder.best((MEASURES[inputs.case.objective],), {})
        if graded is None:
            return self._why_none(problem, place)
        return point_of(problem, graded, place)

    def _under_budgets(
        self, inputs: Inputs, problem: Problem, over: Mapping[str, int | float], budgets: Sequence[int | float]
    ) -> Iterator[FrontPoint]:
        metric = MAXIMIZED[inputs.case.maximize]
        if metric == "servers":
            buyer: MostOfMetric | MostServers = MostServers(problem, self.settings, self.clock, self._context)
        else:
            finder = Finder(problem, self.settings, self.clock, self._context.beside())
            buyer = MostOfMetric(finder, MEASURES[metric])
        known: dict[GradedDesign | None, FrontPoint] = {}
        for budget in sorted(budgets):
            place = Place(inputs, metric, self.shared.engine, budget, over)
            bought = buyer.buy(cents(budget))
            if bought.graded is not None:
                if bought.graded not in known:
                    known[bought.graded] = point_of(budgeted(bought.problem, budget), bought.graded, place)
                yield at_budget(known[bought.graded], budget)
            elif bought.cheapest is not None:
                yield _too_little(place, budget, bought.problem, bought.cheapest)
            else:
                if None not in known:
                    known[None] = self._why_none(problem, place)
                yield known[None].model_copy(update={"budget_usd": budget})

    def _why_none(self, problem: Problem, place: Place) -> FrontPoint:
        point = why_none(problem, place, self.clock)
        if self.clock.is_over():
            raise StoppedError
        return point


def _too_little(place: Place, budget_usd: int | float, problem: Problem, cheapest: GradedDesign) -> FrontPoint:
    """A point whose budget is below the cheapest design, or below the cheapest that was found where none is proven."""
    needed = usd(cheapest.grades["capex_usd"])
    what = "the cheapest design" if cheapest.is_proven else "the cheapest design that was found"
    if problem.case.maximize == "servers":
        what += f" for {some(problem.servers, 'server')}"
    detail = f"{what} costs ${needed:,}; the limit is ${budget_usd:,}"
    conflict = Conflict(limit=BUDGET_KEY, value=budget_usd, needed=needed, detail=detail)
    return without_design(place, (conflict,), "infeasible" if cheapest.is_proven else "unknown")
