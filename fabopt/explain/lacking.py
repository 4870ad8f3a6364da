"""Conflicts of listed products that lack only a price, a power figure or a split, where these give a design."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.freedoms import MOST_PRODUCTS, Freedom, lacking_freedoms
from fabopt.explain.gaps import gap_of
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.problem.lifted import unlimited
from fabopt.program.orders import all_uses
from fabopt.schema.design import Conflict

# What an unknown price is taken for: more than any other, so that only what is needed is bought at it.
UNKNOWN_USD = 1e7


def lacking_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each figure that products lack, if a design would use them; figures that fill a gap are told with
    it.

    None with limits on spending, as an unknown price cannot be judged.
    """
    if unlimited(inquiry.case) == inquiry.case and not any(
        gap_of(inquiry.problem, fabric) for fabric in inquiry.problem.fabrics
    ):
        for freedom in lacking_freedoms(inquiry, UNKNOWN_USD):
            yield from inquiry.of_limit(f"catalog.{freedom.key}", None, _with_figures(inquiry, freedom))


def _with_figures(inquiry: Inquiry, freedom: Freedom) -> Iterator[Conflict]:
    problem = inquiry.problem_asked(Supposition(inquiry.case, freedom.catalog))
    optimum = inquiry.design_of(problem)
    if optimum is None:
        return
    bought = {*(item.id for _, item in all_uses(problem, optimum.picked))}
    lacking = freedom.lacking(inquiry, sorted(bought))
    inquiry.met.clear()  # its price rests on figures that nobody knows
    if lacking:
        detail = f"there would be a design with {freedom.says(lacking[:MOST_PRODUCTS])}"
        yield Conflict(limit=f"catalog.{lacking[0]}.{freedom.key}", value=None, needed=None, detail=detail)
