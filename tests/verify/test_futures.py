"""What a file says of futures is counted again: no figure of them can be changed."""

from __future__ import annotations

from tests.mutations import NOT_READ, changes, document_of, name_of, outcome
from tests.samples.growth_samples import eight, solved
from tests.solution.test_futures import uncertain


def test_a_changed_figure_is_caught() -> None:
    design = solved(eight(), uncertain(0.5, 4, 8))
    document = document_of(design)
    passing = [
        (name_of(change.place), change.how)
        for change in changes(document)
        if not NOT_READ.fullmatch(name_of(change.place))
        and ("futures" in change.place or "expected_tco_usd" in change.place or "probability" in change.place)
        and outcome(change.applied(document), design) == "passes"
    ]
    assert passing == []
