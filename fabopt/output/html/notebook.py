"""A design as notebooks show it: the first screen and the bill."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.output.html.answer import STATUS_WORDS
from fabopt.output.html.bill import bill_view
from fabopt.output.html.rendering import fragment
from fabopt.schema.design import Design


def notebook_html(design: Design, screen: Sequence[tuple[str, str]]) -> str:
    """Return markup without scripts, links or style sheets. ``screen``: labels and sentences of the first screen."""
    bill = bill_view(design) if design.fabrics else []
    titles = ["part number", "part", *(cell.column for cell in bill[0].cells)] if bill else []
    return fragment(
        "notebook.html", design=design, status=STATUS_WORDS[design.status], screen=screen, bill=bill, titles=titles
    )
