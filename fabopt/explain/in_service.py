"""What is in service as the conflict, where designs that take it apart exist and none goes on from it as it is."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.what_if import Inquiry
from fabopt.schema.design import Conflict


def base_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The conflict of the base: whether there is a design with its parts, put together anew."""
    case = inquiry.case
    if case.base is None or case.stages is None:
        return
    anew = case.model_copy(update={"base": None, "stages": case.stages[1:]})
    detail = (
        "no design goes on from what is in service, with more of its parts, as no cable of it moves; put together "
        "anew, with its parts used first and free, there is a design (docs/formulation/outside.md)"
    )
    yield from inquiry.opened(anew, Conflict(limit="base", value=case.base.file, needed="none", detail=detail))
