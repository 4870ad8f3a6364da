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


@pytest.mark.long("case1")
@pytest.mark.parametrize("case", [uncertain(0.5, 4, 8), in_scenarios()])
def test_a_changed_figure_is_caught(case: Json) -> None:
    design = solved(eight(), case)
    document = document_of(design)
    passing = [
        (name_of(change.place), change.how)
        for change in changes(document)
        if not NOT_READ.fullmatch(name_of(change.place))
        and "asked" not in change.place
        and ABOUT & set(change.place)
        and outcome(change.applied(document), design) == "passes"
    ]
    assert passing == []
