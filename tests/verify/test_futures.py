"""What a file says of futures is counted again: no figure of them can be changed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mutations import NOT_READ, changes, document_of, name_of, outcome
from tests.samples.growth_samples import eight, grown, solved
from tests.solution.test_futures import uncertain

Json = dict[str, Any]
ABOUT = {"futures", "expected_tco_usd", "probability", "scenarios"}


def in_scenarios() -> Json:
    """A case in two scenarios with prices of their own."""
    case = grown(4, 8, objective="tco_usd")
    dear = {"name": "dear", "probability": 0.5, "months": {"stage-2": 6}, "price_change": {"nic": 0.5}}
    return case | {"scenarios": [{**dear, "energy_change": 0.25}, {"name": "end", "probability": 0.5}]}


@pytest.mark.parametrize(
    ("case", "step"),
    [
        (uncertain(0.5, 4, 8), 11),
        pytest.param(uncertain(0.5, 4, 8), 1, marks=pytest.mark.long),
        pytest.param(in_scenarios(), 1, marks=pytest.mark.long),
    ],
    ids=["some", "all", "all of scenarios"],
)
def test_a_changed_figure_is_caught(case: Json, step: int) -> None:
    """``step``: of how many changes one is made."""
    design = solved(eight(), case)
    document = document_of(design)
    passing = [
        (name_of(change.place), change.how)
        for change in [
            one
            for one in changes(document)
            if not NOT_READ.fullmatch(name_of(one.place)) and "asked" not in one.place and ABOUT & set(one.place)
        ][::step]
        if outcome(change.applied(document), design) == "passes"
    ]
    assert passing == []
