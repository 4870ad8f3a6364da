"""Conflicts of optical links that would lose more than their standard allows: the margin, and rule ``optic-loss``."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.levers import advice
from fabopt.explain.relaxation import closest, halfway
from fabopt.explain.what_if import Inquiry
from fabopt.problem.problem import Problem
from fabopt.rules.defaults import DEFAULT_RULES, OPTIC_LOSS, is_kept, without
from fabopt.schema.case import Case
from fabopt.schema.design import Conflict

# A margin is told to a hundredth of a dB, which is what testers show.
STEPS_PER_DB = 100
MARGIN = "site.optical_margin_db"


def loss_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The largest margin with a design, and the rule, where links lose too much for what the case asks."""
    case = inquiry.case
    if not is_kept(case.rules, OPTIC_LOSS) or not _leaves_out(inquiry.problem):
        return
    margin_db = case.site.optical_margin_db
    if margin_db:
        yield from inquiry.of_limit(MARGIN, margin_db, _margin(inquiry, margin_db))
    off = case.model_copy(update={"rules": without(case.rules, OPTIC_LOSS)})
    detail = f"without the rule that {DEFAULT_RULES[OPTIC_LOSS].sentence} there is a design"
    yield from inquiry.opened(off, Conflict(limit=f"rules.{OPTIC_LOSS}", value="true", needed="false", detail=detail))


def _leaves_out(problem: Problem) -> bool:
    """Whether some module reaches less far over some fibre that it is plugged into than it would without losses."""
    limits, offered = problem.links.limits, problem.offering.offered
    free = limits._replace(optics=None)
    return any(
        limits.reach_m(fibre, module, standard) < free.reach_m(fibre, module, standard)
        for module in offered.transceivers
        for standard in module.standard_by_split.values()
        for fibre in offered.fibres
        if fibre.fibre == module.fibre and any(end.connector.endswith(module.connector) for end in fibre.both_ends)
    )


def _margin(inquiry: Inquiry, margin_db: float) -> Iterator[Conflict]:
    def ask(steps: int) -> int | None:
        return None if inquiry.design(_with_margin(inquiry.case, steps)) is None else steps

    if ask(0) is not None:
        most, is_most = closest(0, -int(-margin_db * STEPS_PER_DB // 1), ask, halfway)
        detail = "dB that every optical link keeps below the budget of its standard"
        yield advice(MARGIN, margin_db, most / STEPS_PER_DB, detail, is_most)


def _with_margin(case: Case, steps: int) -> Case:
    site = case.site.model_copy(update={"optical_margin_db": steps / STEPS_PER_DB})
    return case.model_copy(update={"site": site})
