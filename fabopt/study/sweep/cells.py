"""A cell of a sweep: the case with some keys set, and every budget in it. Common work is done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fabopt.design.build import case_record
from fabopt.io.case import Inputs
from fabopt.io.keys import KeyPath, changed_inputs, content_of
from fabopt.parts.offering import Offering, offering_of
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import parts_that_yield
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import BUDGET_KEY, Conflict, FrontPoint
from fabopt.schema.left_out import NearestDesign
from fabopt.search.answer import Answer
from fabopt.search.context import Context
from fabopt.search.rules_kept import relaxed
from fabopt.solution.designs import build
from fabopt.solution.optimize import settled, with_managers
from fabopt.solution.question import Answers
from fabopt.solution.summaries import summaries_of
from fabopt.solution.trunks import NoRoomError
from fabopt.study.front.finder import Finder, GradedDesign
from fabopt.study.front.managed import ManagedFinder
from fabopt.study.front.measures import MEASURES, grades
from fabopt.study.front.points import Place, at_budget, budgeted, point_of, why_none, without_design
from fabopt.study.sweep.budgets import MostOfMetric, MostServers
from fabopt.units import cents, some, usd, watts

# What `maximize` of a case says, by the name of the metric in a point's values.
MAXIMIZED = {"gbps_per_gpu": "gbps_per_gpu", "bisection": "bisection_gbps_per_gpu", "servers": "servers"}

# Of rules that a point below the least design keeps: what each costs is a search of its own.
RULES_ARE_PRICED = "; default rules are kept, and what turning one off would do, `fabopt solve` tells with this budget"


@dataclass(frozen=True)
class GridCell:
    """A cell of the grid: the values of the swept keys, and the budgets still to be answered, rising.

    ``bought``: the point of a lower budget, from which the search for these goes on.
    """

    number: int
    values: Mapping[KeyPath, int | float]
    budgets: tuple[int | float, ...] = ()
    bought: FrontPoint | None = None

    def steps(self) -> list[GridCell]:
        """The cell as points to be answered one after the other."""
        return [replace(self, budgets=(budget,)) for budget in self.budgets] or [self]

    def after(self, points: Sequence[FrontPoint]) -> GridCell:
        """The cell, given points of lower budgets."""
        return replace(self, bought=next((point for point in reversed(points) if point.totals is not None), None))


@dataclass(frozen=True)
class SweepInputs:
    """Inputs common to all cells of a sweep. ``keys``: the swept ones as they were written, by their steps."""

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
        # of the last cell: its budgets may come one at a time
        self._last: BudgetAnswers | None = None

    @cached_property
    def _content(self) -> dict[str, Any]:
        return content_of(self.shared.inputs.case)

    @cached_property
    def _offering(self) -> Offering:
        return offering_of(self.shared.inputs.case, self.shared.inputs.catalog)

    def prepare(self) -> None:
        """Compute now what all cells share."""
        problem_of(self.shared.inputs.case, self.shared.inputs.catalog, offering=self._offering)

    def points(self, cell: GridCell) -> Iterator[FrontPoint]:
        """The cell's points, budgets from the lowest up. Raises ``StoppedError`` if time runs out."""
        if not self.shared.has_budgets:
            problem, place = self._at(cell)
            case = problem.case
            chooses_cables = case.length_limits.are_set or case.fill_limits or case.site.trunked or case.deals_ducts
            yield self._as_solved(place) if chooses_cables else self._best(problem, place)
        else:
            answers = self._answers(cell)
            for budget in cell.budgets:
                yield answers.at(budget)
        self._context.forget_bounds()

    def _at(self, cell: GridCell) -> tuple[Problem, Place]:
        """The problem and the place of a cell."""
        shared = self.shared
        inputs = changed_inputs(shared.inputs, self._content, cell.values) if cell.values else shared.inputs
        problem = problem_of(inputs.case, inputs.catalog, offering=self._offering)
        over = {shared.keys[steps]: value for steps, value in cell.values.items()}
        metric = MAXIMIZED[inputs.case.maximize] if shared.has_budgets else inputs.case.objective
        return problem, Place(inputs, metric, shared.engine, None, over)

    def _best(self, problem: Problem, place: Place) -> FrontPoint:
        """The best design of the case in a cell, as a point."""
        finder = Finder(problem, self.settings, self.clock, self._context.beside())
        graded = finder.decided() if place.metric == EFFECTIVE else finder.best((MEASURES[place.metric],), {})
        if graded is not None:
            managed = self._with_managers(problem, graded, place)
            return why_not(problem, place, self.clock) if managed is None else point_of(*managed)
        bound_less = relaxed(problem, self.settings, self.clock, self._context.beside())
        return why_not(problem, place, self.clock) if bound_less is None else self._best(bound_less, place)

    def _as_solved(self, place: Place) -> FrontPoint:
        """The point of a case that limits lengths of cables, or what they fill, or whose links may run through
        trunks, as ``fabopt solve`` chooses them.
        """
        question, answers = settled(place.question(None, self.clock))
        if self.clock.is_over():
            raise StoppedError
        best = answers.best
        if best is None:
            none = build(question, answers)
            return without_design(place, none.case, none.conflicts, none.status, none.notes)
        graded = GradedDesign(best.optimum, grades(best.problem, best.optimum.picked))
        notes = (*question.inputs.notes, *question.notes)
        return point_of(best.problem, graded, replace(place, inputs=question.inputs, notes=notes))

    def _with_managers(
        self, problem: Problem, graded: GradedDesign, place: Place
    ) -> tuple[Problem, GradedDesign, Place] | None:
        """The best design with a manager in every subnet, as ``fabopt solve`` finds it; unchanged where it has them.

        None where limits allow none.
        """
        if place.metric == EFFECTIVE:
            return problem, graded, place
        question, own = place.question(None, self.clock), Answer(problem, graded.optimum)
        question, answers = with_managers(question, Answers((own,)))
        if self.clock.is_over():
            raise StoppedError
        best = answers.best
        if best is None:
            return None
        if best.problem is problem:
            return problem, graded, place
        managed = GradedDesign(best.optimum, grades(best.problem, best.optimum.picked))
        return best.problem, managed, replace(place, inputs=question.inputs, notes=question.inputs.notes)

    def _answers(self, cell: GridCell) -> BudgetAnswers:
        if self._last is None or self._last.number != cell.number or self._last.reached > min(cell.budgets):
            problem, place = self._at(cell)
            buyer = self._buyer(budgeted(problem, None), place, cell.bought)
            self._last = BudgetAnswers(cell.number, buyer, place, self._bound_less)
        return self._last

    def _bound_less(self, problem: Problem, place: Place) -> MostOfMetric | MostServers | None:
        """The buyer for a problem with fewer default rules, where no design keeps all of them at any budget; None if
        that is not the reason.
        """
        bound_less = relaxed(problem, self.settings, self.clock, self._context.beside())
        return None if bound_less is None else self._buyer(bound_less, place, None)

    def _buyer(self, problem: Problem, place: Place, bought: FrontPoint | None) -> MostOfMetric | MostServers:
        # an unproven point may differ if the search begins elsewhere
        start = bought.values[place.metric] if bought is not None and bought.status == "optimal" else None
        if place.metric == "servers":
            return MostServers(problem, self.settings, self.clock, self._context, int(start or 0))
        finder = ManagedFinder(problem, self.settings, self.clock, self._context.beside())
        return MostOfMetric(finder, MEASURES[place.metric], start)


class BudgetAnswers:
    """Points of one cell by their budgets, which rise. ``reached``: the last point."""

    def __init__(
        self,
        number: int,
        buyer: MostOfMetric | MostServers,
        place: Place,
        bound_less: Callable[[Problem, Place], MostOfMetric | MostServers | None],
    ) -> None:
        """``bound_less``: returns the buyer with fewer default rules, if there is one."""
        self.number = number
        self.bound_less = bound_less
        self.reached: int | float = 0
        self.buyer = buyer
        self.place = place
        # whether it was looked for who buys with less of the default rules
        self._looked_for = False
        self._known: dict[GradedDesign | None, FrontPoint] = {}

    def at(self, budget: int | float) -> FrontPoint:
        """The point of a budget."""
        self.reached = budget
        place = replace(self.place, budget_usd=budget)
        try:
            return self._bought(budget, place)
        except NoRoomError as error:
            case = case_record(budgeted(self.buyer.problem, budget))
            return without_design(place, case, (error.conflict,), "unknown")

    def _bought(self, budget: int | float, place: Place) -> FrontPoint:
        bought = self.buyer.buy(cents(budget))
        if bought.graded is None and bought.cheapest is None and not self._looked_for:
            self._looked_for = True
            self.buyer = self.bound_less(self.buyer.problem, place) or self.buyer
            bought = self.buyer.buy(cents(budget))
        if bought.graded is not None:
            if bought.graded not in self._known:
                self._known[bought.graded] = point_of(budgeted(bought.problem, budget), bought.graded, place)
            return at_budget(self._known[bought.graded], budget)
        if bought.cheapest is not None:
            return _too_little(place, budget, bought.problem, bought.cheapest)
        if None not in self._known:
            self._known[None] = why_not(self.buyer.problem, place, self.buyer.clock)
        return at_budget(self._known[None], budget)


def why_not(problem: Problem, place: Place, clock: Clock) -> FrontPoint:
    """A point without a design, with its conflicts; ``StoppedError`` if time runs out."""
    point = why_none(problem, place, clock)
    if clock.is_over():
        raise StoppedError
    return point


def _too_little(place: Place, budget_usd: int | float, problem: Problem, cheapest: GradedDesign) -> FrontPoint:
    """A point whose budget is below the cheapest design, or below the cheapest found where none is proven."""
    needed = usd(cheapest.grades["capex_usd"])
    what = "the cheapest design" if cheapest.is_proven else "the cheapest design that was found"
    if problem.case.maximize == "servers":
        what += f" for {some(problem.servers, 'server')}"
    detail = f"{what} costs ${needed:,}; the limit is ${budget_usd:,}"
    if any(parts_that_yield(problem)):
        detail += RULES_ARE_PRICED
    conflict = Conflict(limit=BUDGET_KEY, value=budget_usd, needed=needed, detail=detail)
    case = case_record(budgeted(problem, budget_usd))
    if not cheapest.is_proven:
        return without_design(place, case, (conflict,), "unknown")
    nearest = NearestDesign(
        capex_usd=needed,
        power_w=watts(cheapest.grades["power_w"]),
        rack_units=watts(cheapest.grades["rack_units"]),
        switches=cheapest.grades["switches"],
        summary=summaries_of(problem, list(cheapest.optimum.picked)),
    )
    return without_design(place, case, (conflict,), nearest=nearest)
