"""The page of decisions on a case: both sides of each question, to be shown to those who decide."""

from __future__ import annotations

from fabopt.inspect.decisions.decide import Decisions
from fabopt.output.decisions import differences_of
from fabopt.output.html.rendering import render
from fabopt.output.terminal.decide import rent_lines, tip_lines, verdict_words
from fabopt.schema.version import VERSION


def decisions_page(decisions: Decisions) -> bytes:
    """Return the page as HTML, the same bytes for the same input."""
    return render(
        "decide.html",
        version=VERSION,
        name=decisions.best.case.name,
        decisions=[
            (
                decision.question,
                verdict_words(decision),
                [side.name for side in decision.sides],
                differences_of(decision),
                list(tip_lines(decision)),
            )
            for decision in decisions.decisions
        ],
        rent=list(rent_lines(decisions.rent)) if decisions.rent is not None else [],
    )
