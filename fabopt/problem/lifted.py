"""A problem with every limit lifted: only catalog, servers and the demanded shape of the network bind it.

Limits lifted: money, power and rack units, of the case and of its stages; supply and lead times; counts of vendors and
part numbers; and the number of racks on a floor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import is_not

from fabopt.floor.racks import racks_needed
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.schema.case import MAX_RACKS, MAX_ROWS, Case, CaseLimits, Limits
from fabopt.schema.catalog import KINDS, CableLength, Catalog
from fabopt.schema.product import Product, Purchasable
from fabopt.units import ceil_div

# Rules of buying that count, with what they are where they count nothing.
COUNTS: dict[str, object] = {
    "max_part_numbers": {},
    "max_vendors": {},
    "min_sources": {},
    "single_vendor": {},
    "quarterly_supply": {},
    "order_from_month": None,
}
# Beside as many racks again as servers fill: two for each tier of two networks, and for what is attached.
RACKS_OF_SWITCHES = 14
# What a part has to be there in number and in time.
TERMS: dict[str, object] = {"supply": None, "lead_time_weeks": None, "in_stock": None, "expedite": None}


def lifted(problem: Problem) -> Problem:
    """The problem without limits but its floor's, bound to the same default rules; itself if it has no limits.

    Its fabrics are the same objects where no procurement rule and no part is limited.
    """
    case, rules = lifted_case(problem.case), problem.case.procurement
    is_dated = len(problem.stages) > 1 or rules.order_from_month is not None
    catalog = lifted_catalog(problem.catalog, is_dated)
    stages = tuple(replace(stage, limits=ExactLimits()) for stage in problem.stages)
    if catalog is problem.catalog and case.procurement == problem.case.procurement:
        if not problem.limits.are_set and not any(stage.limits.are_set for stage in problem.stages):
            return problem
        return replace(problem, case=case, limits=ExactLimits(), stages=stages)
    other = bound_alike(problem_of(case, catalog), problem)
    return replace(other, asked=problem.asked)


def unlimited(case: Case) -> Case:
    """A case without limits on spending, of its own and of its stages."""
    stages = case.stages and tuple(stage.model_copy(update={"limits": Limits()}) for stage in case.stages)
    return case.model_copy(update={"limits": CaseLimits(), "stages": stages})


def purchased(case: Case) -> Case:
    """The case with capex as objective and every stage certain."""
    stages = case.stages and tuple(stage.model_copy(update={"probability": 1}) for stage in case.stages)
    growth = case.growth.model_copy(update={"decide_by": "mean"})
    return case.model_copy(update={"objective": "capex_usd", "stages": stages, "scenarios": (), "growth": growth})


def lifted_case(case: Case) -> Case:
    """The case without limits on spending, and without counts of vendors and part numbers."""
    return unlimited(case).model_copy(update={"procurement": case.procurement.model_copy(update=COUNTS)})


def lifted_catalog(catalog: Catalog, is_dated: bool) -> Catalog:
    """The catalog with unlimited supply and, if ``is_dated``, no lead times; itself if it has no such limits."""

    def is_limited(sold: Purchasable) -> bool:
        return sold.supply is not None or (is_dated and sold.lead_time_weeks is not None)

    def plenty(product: Product) -> Product:
        changes = dict(TERMS) if isinstance(product, Purchasable) and is_limited(product) else {}
        lengths: tuple[CableLength, ...] = getattr(product, "lengths", ())
        if any(map(is_limited, lengths)):
            changes["lengths"] = tuple(length.model_copy(update=TERMS) for length in lengths)
        return product.model_copy(update=changes) if changes else product

    before = {kind: getattr(catalog, kind) for kind in KINDS}
    after = {kind: tuple(map(plenty, products)) for kind, products in before.items()}
    changed = {kind: new for kind, new in after.items() if any(map(is_not, new, before[kind]))}
    return catalog.model_copy(update=changed) if changed else catalog


def with_more_racks(problem: Problem) -> Iterator[Problem]:
    """The problem on larger floors, the smaller one first; none without a floor, or on the largest."""
    for case in on_larger_floors(problem.case, problem):
        other = bound_alike(problem_of(case, problem.catalog, offering=problem.offering), problem)
        yield replace(other, asked=problem.asked, limits=problem.limits, stages=problem.stages)


def on_larger_floors(case: Case, problem: Problem) -> Iterator[Case]:
    """A case on floors with more rows: twice the rows and one, and twice the racks of servers with
    ``RACKS_OF_SWITCHES`` more. ``problem``: of the case, with a floor or without.
    """
    if problem.site.runs_are_alike:
        return
    floor, per_rack = problem.floor.plan.floor, problem.floor.servers_per_rack
    enough = ceil_div(2 * racks_needed(problem.servers, per_rack) + RACKS_OF_SWITCHES, floor.racks_per_row)
    twice = 2 * floor.rows + 1
    for wanted in (twice, *([floor.rows + enough] if floor.rows + enough > twice else [])):
        rows = min(MAX_ROWS, MAX_RACKS // floor.racks_per_row, wanted)
        if rows <= floor.rows:
            return
        larger = floor.with_more_rows(rows - floor.rows)
        site = case.site.on(larger).model_copy(update={"servers_per_rack": per_rack})
        yield case.model_copy(update={"site": site})
