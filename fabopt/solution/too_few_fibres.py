"""Routes out of a hall that have fewer fibres than any design needs: a proven no, before any search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Conflict
from fabopt.schema.floor import Campus
from fabopt.search.answer import Answer, problems_of
from fabopt.solution.designs import design_of
from fabopt.solution.question import Answers, Question
from fabopt.topology.clos.between_halls import fibres_needed
from fabopt.verify.halls import fibres_on_routes
from fabopt.wiring.build import wiring_of

Settle = Callable[[Question], tuple[Question, Answers]]


def with_too_few_fibres(asked: Question, settle: Settle) -> tuple[Question, Answers] | None:
    """The question without a design where routes between halls have too few fibres; None where a search has to tell.

    ``settle``: the answers to a question with wider routes.
    """
    if "route" not in asked.inputs.case.fill_limits:
        return None
    problems = list(problems_of(asked.inputs.case, asked.inputs.catalog, asked.settings.prune))
    conflicts = [[*_too_few(problem)] for problem in problems]
    if not all(conflicts):
        return None
    # with a ratio between halls it takes long to tell how many are enough
    is_slow = any(fabric.hall_ratio is not None for fabric in asked.inputs.case.fabrics)
    told = tuple(conflict if is_slow else _enough(asked, route, conflict, settle) for route, conflict in conflicts[0])
    none = Answers(tuple(Answer(problem, Optimum("infeasible")) for problem in problems))
    return replace(asked, conflicts=told), none


def _enough(asked: Question, route: int, conflict: Conflict, settle: Settle) -> Conflict:
    """The conflict of a route with the fibres that the answer without its limit has on it, if there is one in time."""
    site = asked.inputs.case.site
    free = site.routes[route].model_copy(update={"fibres": None})
    wide = site.on(Campus.of(site.halls, (*site.routes[:route], free, *site.routes[route + 1 :])))
    inputs = replace(asked.inputs, case=asked.inputs.case.model_copy(update={"site": wide}))
    try:
        _, answers = settle(replace(asked, inputs=inputs, known=None, lower_than=None, tried=()))
    except StoppedError:
        return conflict
    if answers.best is None:
        return conflict
    design = design_of(answers.best, "", 0.0)
    needed = fibres_on_routes(design, wiring_of(design)).get(route, Counter()).total()
    capex_usd = None if design.totals is None else design.totals.capex_usd
    return conflict.model_copy(update={"needed": needed, "minimal": needed == conflict.needed, "capex_usd": capex_usd})


def _too_few(problem: Problem) -> Iterator[tuple[int, Conflict]]:
    """The first route out of each hall whose routes have less room together than any design needs, each route once, by
    its number.
    """
    met = set[int]()
    for hall, needed in sorted(fibres_needed(problem).items(), key=lambda pair: -pair[1]):
        out = [(number, route) for number, route in enumerate(problem.case.site.routes) if hall in route.between]
        room = [route.fibres for _, route in out if route.fibres is not None]
        if len(room) == len(out) and needed > sum(room) and out[0][0] not in met:
            (number, _), own = out[0], room[0]
            met.add(number)
            together = f"routes out of {hall} have room for {sum(room):,} fibres together" if len(room) > 1 else ""
            detail = f"what `max_oversubscription` asks for takes {needed:,} fibres out of {hall} at least"
            yield number, Conflict(
                limit=f"site.routes[{number}].fibres", value=own, needed=own + needed - sum(room), direction="up",
                minimal=False, detail=f"{detail}; {together}" if together else detail,
            )  # fmt: skip
