"""What is in service as the conflict, where designs that take it apart exist and none goes on from it as it is."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.demands import changed
from fabopt.explain.what_if import Inquiry
from fabopt.schema.design import Conflict
from fabopt.schema.in_service import Base, MovePrices


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
    yield from _named(inquiry, base)
    anew = case.model_copy(update={"base": None, "stages": case.stages[1:]})
    stays = "no device or cable" if case.site.has_floor else "no cable"
    priced = "" if case.site.has_floor else " (`base.move` prices that)"
    detail = (
        f"no design goes on from what is in service, with more of its parts, as {stays} of it moves{priced}; put "
        "together anew, with its parts used first and free, there is a design"
    )
    yield from inquiry.opened(anew, Conflict(limit="base", value=base.file, needed="none", detail=detail))


def _named(inquiry: Inquiry, base: Base) -> Iterator[Conflict]:
    """The conflict of switches that a case names, and none of which goes with those in service in their tier."""
    for fabric in inquiry.case.fabrics:
        for role, id_ in base.tiers_of(fabric.name):
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
        conflict = Conflict(limit="base.move", value=base.file, needed="any", detail=detail)
        yield from inquiry.opened(inquiry.case.model_copy(update={"base": free}), conflict)
