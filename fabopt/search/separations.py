"""Which separation costs least: every combination that a case leaves open is a problem of its own, and all are solved.

See docs/formulation/several-networks.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.separation import WAYS, combinations, reasons_against
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog, Server
from fabopt.search.choice import search_of
from fabopt.search.context import Context

PROVEN = ("optimal", "infeasible")


@dataclass(frozen=True)
class Tried:
    """A case with every separation said, and what the search made of it."""

    case: Case
    problem: Problem
    optimum: Optimum
    context: Context


def solved_ways(asked: Case, catalog: Catalog, settings: Settings, clock: Clock) -> list[Tried]:
    """Every combination of separations, solved; those of most separation first."""
    found: list[Tried] = []
    context = Context()
    for case in combinations(asked, _server(asked, catalog)):
        offering = found[0].problem.offering if found else None
        problem = problem_of(case, catalog, settings.prune, offering)
        words = words_of(asked, case)
        settings.progress(f"sizing candidates with {words}")
        optimum = search_of(problem, settings, clock, context=context).run()
        found.append(Tried(case, problem, optimum, context))
        context = context.beside()
    return found


def words_of(asked: Case, case: Case) -> str:
    """What a combination says of the fabrics that leave it open: ``storage logical, in-band shared``."""
    pairs = zip(asked.fabrics, case.fabrics, strict=True)
    return ", ".join(f"{one.name} {said.separation}" for one, said in pairs if one.separation == "any")


def cheapest(tried: Sequence[Tried]) -> Tried | None:
    """The best of all, of equals the first; optimal only if every other one is decided too. None without any."""
    made = [one for one in tried if one.optimum.value is not None]
    if not made:
        return None
    best = min(made, key=lambda one: one.optimum.value or 0)
    if all(one.optimum.verdict in PROVEN for one in tried):
        return best
    bounds = [one.optimum.bound for one in tried if one.optimum.verdict != "infeasible"]
    known = [bound for bound in bounds if bound is not None]
    bound = min(known) if len(known) == len(bounds) else None
    return replace(best, optimum=replace(best.optimum, verdict="feasible", bound=bound))


def without_design(tried: Sequence[Tried]) -> Optimum:
    """What is known where no combination has a design: infeasible only if all are."""
    proven = all(one.optimum.verdict == "infeasible" for one in tried)
    return replace(tried[0].optimum, verdict="infeasible" if proven else "unknown")


def _server(case: Case, catalog: Catalog) -> Server:
    return next(server for server in catalog.servers if server.id == case.server)


def choice_notes(asked: Case, catalog: Catalog, tried: Sequence[Tried], best: Tried | None) -> list[str]:
    """Which separation was picked for each fabric that leaves it open, what has no design, and what was left out."""
    notes = []
    if best is not None:
        notes.append(f"separation: {words_of(asked, best.case)}, the cheapest of {len(tried)} that are possible")
    for one in tried:
        if one.optimum.value is None:
            why = "no design" if one.optimum.verdict == "infeasible" else "no design found in time"
            notes.append(f"separation: {words_of(asked, one.case)}: {why}")
    for fabric in asked.fabrics:
        for way in WAYS if fabric.separation == "any" else ():
            reasons = reasons_against(fabric, asked, _server(asked, catalog), way)
            if reasons:
                notes.append(f"{fabric.name}: separation {way} left out: {reasons[0]}")
    return notes
