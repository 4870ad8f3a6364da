"""What is in service as the conflict, where designs that take it apart exist and none goes on from it as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fabopt.explain.demands import changed
from fabopt.explain.structures import shape_conflicts
from fabopt.explain.what_if import Inquiry
from fabopt.io.moves import faults_of_moves
from fabopt.parts.price_books import products
from fabopt.parts.stock import without_base
from fabopt.problem.problem import problem_of
from fabopt.problem.rules_kept import without
from fabopt.schema.case import Case
from fabopt.schema.catalog import ByLength
from fabopt.schema.design import Conflict, Needed
from fabopt.schema.in_service import Base, MovePrices
from fabopt.schema.installed import base_of, fabric_at, switches_in_service
from fabopt.schema.product import Purchasable
from fabopt.units import some

# Moves of all kinds at no price, as a case writes them.
FREE = "{cable: 0, device: 0}"


def base_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of the base: whether there is a design with more of its switches, or with its parts, put together
    anew.
    """
    case, base = inquiry.case, inquiry.case.base
    if base is None:
        return
    if base.move is not None:
        yield from _held(inquiry, base)
        return
    if case.stages is None:
        return
    stays = "no device or cable" if case.site.has_floor else "no cable"
    goes_on = f"no design goes on from what is in service, with more of its parts, where {stays} of it moves"
    why = "; ".join([goes_on, *_full_tiers(inquiry), *_shorter_runs(inquiry), *_sold_no_more(inquiry)])
    anew = put_together_anew(case)
    if _may_price_moves(anew, base):
        free = base.model_copy(update={"move": MovePrices(cable=0, device=0)})
        detail = f"{why}; where all of it may move, priced at nothing here, there is a design: give your own prices"
        conflict = Conflict(limit="base.move", value=None, needed=FREE, detail=detail)
        yield from inquiry.opened(anew.model_copy(update={"base": free}), conflict)
        return
    detail = f"{why}; put together anew, with nothing in service, there is a design (`have` counts parts on hand)"
    conflict = Conflict(limit="base", value=base.file, needed="null", detail=detail)
    # without what is in service none of its parts is on hand
    problem = without(problem_of(anew, without_base(inquiry.catalog, case)), inquiry.left_out)
    questions = (conflict for _ in range(1) if inquiry.design_of(problem) is not None)
    yield from inquiry.of_limit(conflict.limit, conflict.value, questions)


def put_together_anew(case: Case) -> Case:
    """A case that goes on from what is in service, which stays, with nothing in service."""
    at_once = tuple(fabric.model_copy(update={"attachments": tuple(
        one.model_copy(update={"adds": ()}) for one in fabric.attachments)}) for fabric in case.fabrics)  # fmt: skip
    return case.model_copy(update={"base": None, "stages": (case.stages or ())[1:], "fabrics": at_once})


def shapes_beside_base(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of keys of switches and shapes, with which there is a design beside what is in service."""
    case, base = inquiry.case, inquiry.case.base
    if base is None or base.move is not None or case.stages is None:
        return
    yield from _named(inquiry, base)
    for conflict in shape_conflicts(inquiry):
        detail = f"all that is in service stays as it is; {conflict.detail}"
        yield conflict.model_copy(update={"detail": detail})


def pod_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of what a pod joins: whether there is a design with spines of its own, apart from those."""
    case, joins = inquiry.case, inquiry.case.joins
    if joins is None:
        return
    free = " and ".join(
        f"{some(one.per_plane * one.planes, one.role)} of {one.fabric} with {some(sum(one.cages), 'cage')} free on each"
        for one in joins.switches
    )
    apart = tuple(
        fabric
        if joins.of(fabric.name) is None
        else fabric.model_copy(update={"switches": fabric.switches.model_copy(update={"spine": "any", "core": "any"})})
        for fabric in case.fabrics
    )
    words = " and ".join(dict.fromkeys(f"{one.role}s" for one in joins.switches))
    detail = f"it joins {free}; with {words} of its own, apart from those, there is a design"
    conflict = Conflict(limit="joins", value=joins.file, needed="null", detail=detail)
    yield from inquiry.opened(case.model_copy(update={"joins": None, "fabrics": apart}), conflict)


def _full_tiers(inquiry: Inquiry) -> Iterator[str]:
    """Sentences on the tiers in service without a free port."""
    base, design = inquiry.case.base, base_of(inquiry.case)
    cages = {switch.id: sum(group.count for group in switch.cages) for switch in inquiry.catalog.switches}
    if base is None or design is None:
        return
    for whole in design.fabrics:
        fabric = fabric_at(whole, base.stage)
        for tier in fabric.tiers:
            used = sum(row.to_cages for row in fabric.links if row.to == tier.role)
            used += sum(row.from_cages for row in fabric.links if row.from_ == tier.role)
            if used == tier.count * cages.get(tier.id, 0):
                yield f"no {tier.role} of {fabric.name} in service has a free port"


def _shorter_runs(inquiry: Inquiry) -> Iterator[str]:
    """Sentences on links that the case says run less far than those in service, which shorter cables then make."""
    said, design = inquiry.case.site.distances_m, base_of(inquiry.case)
    runs_m = {} if said is None else said.model_dump(exclude_none=True, by_alias=True)
    for fabric in () if design is None else design.fabrics:
        for kind, length_m in {f"{row.from_}-{row.to}": row.length_m for row in fabric.links}.items():
            if kind in runs_m and runs_m[kind] < length_m:
                told = f"{kind} links of {fabric.name} run {runs_m[kind]:g} m by `site.distances_m`"
                yield f"{told}, and those in service {length_m:g} m"


def _sold_no_more(inquiry: Inquiry) -> Iterator[str]:
    """Sentences on parts in service of which there are no more to buy."""
    owned = {} if inquiry.case.base is None else inquiry.case.base.owned
    for product in products(inquiry.catalog):
        sold = product.lengths if isinstance(product, ByLength) else (product,)
        if product.id in owned and all(isinstance(one, Purchasable) and one.supply == 0 for one in sold):
            yield f"{product.id} is in service, and there is no more of it"


def _may_price_moves(anew: Case, base: Base) -> bool:
    """Whether ``base.move`` goes with a case, which is given without its base, and with what is in service."""
    free = base.model_copy(update={"move": MovePrices(cable=0, device=0)})
    case = anew.model_copy(update={"base": free})
    design = base_of(case)
    assert design is not None
    there = Case.model_validate_json(json.dumps(design.case.content))
    return not any(faults_of_moves(case, there, [fabric_at(one, base.stage) for one in design.fabrics], ""))


def _named(inquiry: Inquiry, base: Base) -> Iterator[Conflict]:
    """The conflict of switches that a case names, and none of which goes with those in service in their tier."""
    for fabric in inquiry.case.fabrics:
        for role, id_ in switches_in_service(inquiry.case, fabric.name):
            named = fabric.switches.model_dump()[role]
            if named != "any" and id_ not in named:
                more = fabric.switches.model_copy(update={role: (*named, id_)})
                detail = (
                    f"beside {id_} in service there may be switches with its ports alone (rule `interchangeable`); "
                    "with more of it there is a design"
                )
                limit, value = f"fabrics.{fabric.name}.switches.{role}", ", ".join(named)
                conflict = Conflict(limit=limit, value=value, needed=", ".join((*named, id_)), detail=detail)
                yield from inquiry.opened(changed(inquiry.case, fabric, switches=more), conflict)


def _held(inquiry: Inquiry, base: Base) -> Iterator[Conflict]:
    """The conflict of what never moves, at the price of a design in which all may, for nothing."""
    if base.holds:
        free = base.model_copy(update={"move": MovePrices(cable=0, device=0), "keep": ()})
        detail = "no design keeps in its place what never moves; where all of it may, for nothing, there is a design"
        changes = (
            Needed(limit="base.move", needed=FREE),
            *(Needed(limit="base.keep", needed=()) for _ in base.keep[:1]),
        )
        conflict = Conflict(
            limit="base.move", value=None, needed=FREE, detail=detail, together=changes if base.keep else ()
        )
        yield from inquiry.opened(inquiry.case.model_copy(update={"base": free}), conflict)
