"""The best design of one problem, found by the search for its objective.

The cheapest separation: every combination of open separations is a problem, and all are solved.

A case without open separations is its only combination. See docs/formulation/several-networks.md.

Reuse of unchanged fabrics of an answered problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fabopt.parts.offering import Offering
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.separation import WAYS, combinations, is_open, reasons_against
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE, Case, Fabric
from fabopt.schema.catalog import Catalog
from fabopt.schema.server import Server
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


PROVEN = ("optimal", "infeasible")


def problems_of(
    asked: Case, catalog: Catalog, prune: bool = True, offering: Offering | None = None
) -> Iterator[Problem]:
    """A problem for every combination of separations, the strictest first; they share one offering.

    ``offering``: of another case, as of ``problem_of``.
    """
    for case in combinations(asked, _server(asked, catalog)):
        problem = problem_of(case, catalog, prune, offering)
        offering = offering or problem.offering
        yield problem


def words_of(asked: Case, case: Case) -> str:
    """The server of several, and separations of fabrics that leave it open, in words: ``storage logical, in-band
    shared``; else empty.
    """
    pairs = zip(asked.fabrics, case.fabrics, strict=True)
    words = [f"{fabric.name} {said.separation}" for fabric, said in pairs if fabric.separation == "any"]
    return ", ".join([case.server_id, *words] if asked.server != case.server else words)


def cheapest(answers: Sequence[Answer]) -> Answer | None:
    """The best answer, the first among equals; optimal only if every other one is decided too. None
    without a design.
    """
    best = min(
        (answer for answer in answers if answer.has_design), key=lambda answer: answer.optimum.value or 0, default=None
    )
    if best is None or all(answer.optimum.verdict in PROVEN for answer in answers):
        return best
    bounds = [answer.optimum.bound for answer in answers if answer.optimum.verdict != "infeasible"]
    known = [bound for bound in bounds if bound is not None]
    bound = min(known) if len(known) == len(bounds) else None
    return replace(best, optimum=bounded_by(best.optimum, bound))


def bounded_by(optimum: Optimum, bound: int | None) -> Optimum:
    """The best of several optima, some undecided: optimal if their least ``bound`` is not below it."""
    assert optimum.value is not None
    if bound is not None and bound >= optimum.value:
        return replace(optimum, verdict="optimal", bound=optimum.value)
    return replace(optimum, verdict="feasible", bound=bound)


def without_design(answers: Sequence[Answer]) -> Optimum:
    """The optimum where no combination has a design: infeasible only if all are, else unknown with
    their least bound.
    """
    optimum, bounds = (
        answers[0].optimum,
        [answer.optimum.bound for answer in answers if answer.optimum.verdict != "infeasible"],
    )
    known = [bound for bound in bounds if bound is not None]
    bound = min(known) if known and len(known) == len(bounds) else None
    return replace(optimum, verdict="unknown" if bounds else "infeasible", bound=bound)


def _server(case: Case, catalog: Catalog) -> Server:
    return next(server for server in catalog.servers if server.id == case.server_id)


def choice_notes(asked: Case, answers: Sequence[Answer], best: Answer | None) -> Iterator[str]:
    """Notes on open separations: the chosen one, those without a design, and those left out."""
    if not is_open(asked):
        return
    server = answers[0].problem.server
    if best is not None and (picked := words_of(asked, best.problem.asked)):
        yield f"separation: {picked}, the cheapest of {len(answers)} that are possible"
    for answer in answers:
        words = words_of(asked, answer.problem.asked)
        if words and not answer.has_design:
            why = "no design" if answer.optimum.verdict == "infeasible" else "no design found in time"
            yield f"separation: {words}: {why}"
    for fabric in asked.fabrics:
        for way in WAYS if fabric.separation == "any" else ():
            reasons = reasons_against(fabric, asked, server, way)
            if reasons:
                yield f"{fabric.name}: separation {way} left out: {reasons[0]}"


def reusing_unchanged_fabrics(problem: Problem, answer: Answer, in_same_layouts: bool = True) -> Problem | None:
    """A problem with the same fabric objects as an answered one where the case is equal, at the same site.

    The context of the answer then has cached results of them; ``in_same_layouts``: all are searched in the answer's
    layouts. None if the cases differ beyond fabrics or in devices placed on the floor, or the answer is bound to other
    default rules.
    """
    before = answer.problem
    if problem.offering is not before.offering or not _is_alike(problem, before):
        return None
    if not in_same_layouts and list(map(_placed, problem.case.fabrics)) != list(map(_placed, before.case.fabrics)):
        return None
    pairs = zip(problem.case.fabrics, before.case.fabrics, problem.fabrics, before.fabrics, strict=True)
    fabrics = tuple(was if asked == asked_before else now for asked, asked_before, now, was in pairs)
    layouts = answer.context.layouts
    if in_same_layouts and before.fabrics in layouts:
        layouts[fabrics] = layouts[before.fabrics]
    return replace(problem, site=before.site, fabrics=fabrics)


def _is_alike(problem: Problem, before: Problem) -> bool:
    """Whether two problems differ only in the demands of fabrics of the same names and rules."""
    cases = (one.case.model_copy(update={"fabrics": ()}) for one in (problem, before))
    return next(cases) == next(cases) and list(map(_bound, problem.fabrics)) == list(map(_bound, before.fabrics))


def _placed(fabric: Fabric) -> tuple[object, ...]:
    """Keys of a fabric that place devices other than switches on a floor."""
    return fabric.attachments, fabric.racks, fabric.oob, fabric.group_by


def _bound(fabric: FabricProblem) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return fabric.name, fabric.rules.kept, fabric.rules.left_out
