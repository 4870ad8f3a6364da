"""Default rules in a problem that can be left out, part by part, where no design keeps them.

These are the rules of ``YIELDING``: see ``fabopt.rules.defaults``.

All parts of default rules that may yield, rack rules among them, and problems without some of them.

A problem with every limit lifted: only catalog, servers and the demanded shape of the network bind it.

Limits lifted: money, power and rack units, of the case and of its stages; supply and lead times; counts of vendors and
part numbers; and the number of racks on a floor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from operator import is_not
from typing import Final, NamedTuple

from fabopt.floor.rack_rules import parts_of, rule_of, without_parts
from fabopt.floor.racks import racks_needed
from fabopt.problem.attachments import INFINIBAND, LogicalFabric
from fabopt.problem.demand import most_open_ratio
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.limits import ExactLimits
from fabopt.problem.nic_rules import parted, together
from fabopt.problem.problem import Problem, problem_of
from fabopt.rules.defaults import (
    MOST_ROBUST_RATIO,
    NIC_RULES,
    ONE_GENERATION,
    RACK_SPREAD,
    REDUNDANCY,
    SUBNET_MANAGER,
    YIELDING,
    is_asked_for,
)
from fabopt.schema.case import MAX_RACKS, MAX_ROWS, Case, CaseLimits, Limits
from fabopt.schema.catalog import KINDS, CableLength, Catalog
from fabopt.schema.product import Product, Purchasable
from fabopt.schema.rack_rules import SPREAD
from fabopt.units import ceil_div

# Rules that can be left out: those of NICs, that of generations and that of subnet managers.
OF_NICS: Final = frozenset(NIC_RULES)
OF_INFINIBAND: Final = frozenset({ONE_GENERATION, SUBNET_MANAGER})


class RulePart(NamedTuple):
    """A default rule, or a part of one, that may yield.

    ``fabric``: name of the bound fabric, None: the case; ``key``: of ``site.rack_rules``, for a part of a rack rule.
    """

    rule: str
    fabric: str | None = None
    key: str | None = None

    @property
    def path(self) -> str:
        """The dotted key of the case that turns it off."""
        return f"rules.{self.rule}" if self.key is None else f"site.rack_rules.{self.key}"


def holds_mix(problem: Problem) -> bool:
    """Whether rule ``robust-designs`` limits ratios of jobs beside each other."""
    needs, pace = problem.needs, problem.pace
    if needs is None or pace is None or most_open_ratio(problem.case, pace.workload) > MOST_ROBUST_RATIO:
        return False
    return any(key.startswith("max_oversubscription") for key in needs.sets)


def is_bound(problem: Problem, rules: frozenset[str]) -> bool:
    """Whether any of some rules holds that may leave a design out."""
    return any(_is_bound(fabric, rules) for fabric in problem.fabrics)


def _is_bound(fabric: FabricProblem, rules: frozenset[str]) -> bool:
    if rules <= OF_INFINIBAND and not any(fabric.nics.get(INFINIBAND, ())):
        return False
    return any(rule in rules and fabric.is_bound_by(rule) for rule in fabric.rules.kept)


def parts_of_fabrics(problem: Problem) -> Iterator[RulePart]:
    """Rule parts that bind fabrics and may yield, in the order of ``YIELDING``; of one rule, fabrics from the last of
    the case to the first.
    """
    for rule in YIELDING:
        for fabric in reversed(problem.fabrics):
            asked = is_asked_for(problem.case.rules, rule)
            if rule in fabric.rules.kept and not asked and _is_bound(fabric, frozenset({rule})):
                yield RulePart(rule, fabric.name)


def without_parts_of_fabrics(problem: Problem, parts: Collection[RulePart]) -> Problem:
    """Return the problem without some rules of its fabrics; fabrics that keep all are the same objects."""
    own = {fabric.name: {part.rule for part in parts if part.fabric == fabric.name} for fabric in problem.fabrics}
    fabrics = (
        _bound_to(fabric, set(fabric.rules.kept) - own[fabric.name]) if own[fabric.name] else fabric
        for fabric in problem.fabrics
    )
    return replace(problem, fabrics=tuple(fabrics))


def left_out_of_fabrics(problem: Problem) -> Iterator[RulePart]:
    """Default rules that fabrics leave out, in the order of ``YIELDING``."""
    for rule in YIELDING:
        yield from (RulePart(rule, fabric.name) for fabric in problem.fabrics if rule in fabric.rules.left_out)


def _with_fabric(problem: Problem, index: int, fabric: FabricProblem) -> Problem:
    return replace(problem, fabrics=(*problem.fabrics[:index], fabric, *problem.fabrics[index + 1 :]))


def managed_by_switches(problem: Problem, names: frozenset[str]) -> Problem:
    """The problem in which switches of the fabrics ``names`` manage their subnets, at any cost."""
    for index, fabric in enumerate(problem.fabrics):
        managers = fabric.rules.managers
        if fabric.name in names and managers is not None:
            kept = tuple(rule for rule in fabric.rules.kept if rule != SUBNET_MANAGER)
            rules = replace(fabric.rules, managers=replace(managers, is_asked_for=True), kept=kept)
            problem = _with_fabric(problem, index, replace(fabric, rules=rules))
    return problem


def bound_alike(problem: Problem, other: Problem) -> Problem:
    """Return a problem bound to the rules that the fabrics of another one, in the same order, keep."""
    fabrics = (
        _bound_to(fabric, set(like.rules.kept)) for fabric, like in zip(problem.fabrics, other.fabrics, strict=True)
    )
    return replace(problem, fabrics=tuple(fabrics))


def _bound_to(fabric: FabricProblem, kept: set[str]) -> FabricProblem:
    """The fabric bound to some of the rules that it can give up."""
    known = {*fabric.rules.kept, *fabric.rules.left_out}
    rules = [rule for rule in dict.fromkeys((*REDUNDANCY, *YIELDING)) if rule in known]
    bound = fabric.keeping(
        tuple(rule for rule in rules if rule in kept), tuple(rule for rule in rules if rule not in kept)
    )
    if OF_NICS.isdisjoint(set(bound.rules.kept) ^ set(fabric.rules.kept)):
        return bound
    nics = parted(together(fabric.nics, fabric.other_nics.by_rules), kept)
    others, logical = replace(fabric.other_nics, by_rules=nics.left_out), fabric.logical_fabrics
    able = tuple(_with_nics(one, kept) for one in logical)
    return replace(bound, nics=nics.kept, other_nics=others, logical_fabrics=able)


def _with_nics(logical: LogicalFabric, kept: Collection[str]) -> LogicalFabric:
    """A logical fabric with the NICs that keep all of ``kept`` rules."""
    nics = parted(together(logical.nics, logical.left_out_nics), kept)
    return replace(logical, nics=nics.kept, left_out_nics=nics.left_out)


def parts_that_yield(problem: Problem) -> tuple[RulePart, ...]:
    """Rule parts that bind a problem and may yield, in the order of yielding: rule ``rack-spread`` first."""
    case = problem.case
    keys = [] if is_asked_for(case.rules, RACK_SPREAD) else [key for key in SPREAD if key in parts_of(case)]
    racks = (RulePart(RACK_SPREAD, key=key) for key in reversed(keys))
    return (*racks, *parts_of_fabrics(problem))


def without(problem: Problem, parts: Collection[RulePart]) -> Problem:
    """The problem of the same case without some parts of default rules; itself without any."""
    keys = tuple(part.key for part in parts if part.key is not None)
    problem = without_rack_parts(problem, keys) if keys else problem
    return without_parts_of_fabrics(problem, parts) if any(part.fabric for part in parts) else problem


def rack_parts_left_out(problem: Problem, asked: Case) -> tuple[RulePart, ...]:
    """Parts of rack rules that a case asks for and its problem leaves out, in the order of yielding."""
    keys = (key for key in reversed(parts_of(asked)) if key not in parts_of(problem.case))
    return tuple(RulePart(rule_of(key), key=key) for key in keys)


def without_rack_parts(problem: Problem, keys: tuple[str, ...]) -> Problem:
    """The problem of the same case with some keys of ``site.rack_rules`` turned off."""
    case = without_parts(problem.case, keys)
    other = bound_alike(problem_of(case, problem.catalog, offering=problem.offering), problem)
    asked, site = without_parts(problem.asked, keys), other.site.with_method(problem.site.method)
    return replace(problem, asked=asked, case=other.case, site=site, fabrics=other.fabrics)


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
