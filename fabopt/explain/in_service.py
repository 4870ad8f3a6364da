"""What is in service as the conflict, where designs that take it apart exist and none goes on from it as it is."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.what_if import Inquiry
from fabopt.schema.design import Conflict
from fabopt.schema.in_service import Base, MovePrices


def base_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of the base: whether there is a design with its parts, put together anew."""
    case, base = inquiry.case, inquiry.case.base
    if base is None:
        return
    if base.move is not None:
        yield from _held(inquiry, base)
        return
    if case.stages is None:
        return
    anew = case.model_copy(update={"base": None, "stages": case.stages[1:]})
    detail = (
        "no design goes on from what is in service, with more of its parts, as no cable of it moves (`base.move` "
        "prices that); put together anew, with its parts used first and free, there is a design"
    )
    yield from inquiry.opened(anew, Conflict(limit="base", value=base.file, needed="none", detail=detail))


def _held(inquiry: Inquiry, base: Base) -> Iterator[Conflict]:
    """The conflict of what never moves, at the price of a design in which all may, for nothing."""
    if base.holds:
        free = base.model_copy(update={"move": MovePrices(cable=0, device=0), "keep": ()})
        detail = "no design keeps in its place what never moves; where all of it may, for nothing, there is a design"
        conflict = Conflict(limit="base.move", value=base.file, needed="any", detail=detail)
        yield from inquiry.opened(inquiry.case.model_copy(update={"base": free}), conflict)
