"""Conflicts of links that have to run through trunks: as leads they may have a design."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.what_if import Inquiry
from fabopt.schema.design import Conflict

IN_RACKS = "with panels in the racks of their devices, so that no rack is kept for them, there is a design"


def cabling_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """The key that wants trunks, where leads from port to port give a design."""
    case = inquiry.case
    kinds = [kind for kind, word in case.site.trunked.items() if word == "structured"]
    if not kinds:
        return
    if case.site.zones == "rows":
        racks = case.site.model_copy(update={"cabling": case.site.kinds_cabled(zones="racks")})
        conflict = Conflict(limit="site.cabling.zones", value="rows", needed="racks", detail=IN_RACKS)
        yield from inquiry.opened(case.model_copy(update={"site": racks}), conflict)
    leads = case.model_copy(update={"site": case.site.model_copy(update={"cabling": "direct"})})
    detail = f"with leads from port to port for {' and '.join(kinds)} there is a design: modules, jumpers, trunks and "
    detail += "panels that go together and stand the loss of two more pairs of plugs may be missing"
    yield from inquiry.opened(leads, Conflict(limit="site.cabling", value="structured", needed="direct", detail=detail))
