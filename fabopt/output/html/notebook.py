"""A design as notebooks show it: the first screen, the drawings and the bill."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from fabopt.output.html.answer import STATUS_WORDS
from fabopt.output.html.bill import bill_view
from fabopt.output.html.rendering import fragment
from fabopt.output.sheet.pages import TitleBlock, sheets
from fabopt.output.sheet.svg import svg
from fabopt.schema.design import Design
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.build import wiring_of


def notebook_html(design: Design, screen: Sequence[tuple[str, str]]) -> str:
    """Return markup without scripts, links or style sheets. ``screen``: labels and sentences of the first screen."""
    bill = bill_view(design) if design.fabrics else []
    titles = ["part number", "part", *(cell.column for cell in bill[0].cells)] if bill else []
    return fragment(
        "notebook.html",
        design=design,
        status=STATUS_WORDS[design.status],
        screen=screen,
        pictures=_pictures(design),
        bill=bill,
        titles=titles,
    )


def _pictures(design: Design) -> list[str]:
    """The pages of the drawing as data of SVG images; none of a design that is too large to be wired."""
    if sum(row.count for fabric in design.fabrics for row in fabric.links) > MOST_LINKS:
        return []
    pages = sheets(design, wiring_of(design), TitleBlock())
    return [base64.b64encode(svg(page).encode()).decode() for page in pages]
