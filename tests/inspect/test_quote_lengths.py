"""Cables of a quote in other lengths than those of the bill: each run has the cable that serves it best."""

from __future__ import annotations

import pytest

from fabopt.inspect.quote_audit import Planned, Quoted, _Counts
from fabopt.parts.quotes import QuoteLine

Lengths = dict[float, int]


def paired(planned: Lengths, quoted: Lengths) -> tuple[list[str], dict[float, int]]:
    """What is said of lengths, and the units of each that are missing."""
    counts = _Counts(
        {("jumper", m): Planned("fibre", "J", "", number, 100 * number) for m, number in planned.items()},
        {("jumper", m): Quoted((QuoteLine("CSV", 2, "matched"),), number, 1) for m, number in quoted.items()},
        (),
    )
    counts.pair_lengths()
    texts = [finding.text.split(" quoted")[0].replace(" x jumper of", " of") for finding in counts.findings]
    return texts, {m or 0: number for (_, m), number in counts.lacking().items()}


@pytest.mark.parametrize(
    ("planned", "quoted", "texts", "missing"),
    [
        ({10: 8, 20: 8}, {7: 8, 30: 8},
         ["8 of 20 m are planned, 30 m is", "8 of 10 m are planned, 7 m is"], {10: 8}),
        ({10: 8, 20: 8}, {15: 8, 30: 8},
         ["8 of 20 m are planned, 30 m is", "8 of 10 m are planned, 15 m is"], {}),
        ({5: 4, 10: 4}, {7: 2, 15: 6},
         ["4 of 10 m are planned, 15 m is", "2 of 5 m are planned, 7 m is", "2 of 5 m are planned, 15 m is"], {}),
        ({20: 4}, {5: 4}, ["4 of 20 m are planned, 5 m is"], {20: 4}),
    ],
)  # fmt: skip
def test_the_longest_run_has_the_shortest_cable_that_reaches(
    planned: Lengths, quoted: Lengths, texts: list[str], missing: Lengths
) -> None:
    assert paired(planned, quoted) == (texts, missing)


def test_a_cable_that_stands_for_two_lengths_is_counted_once() -> None:
    """Both findings had the price of all of them: $6 of $6, and $4 more."""
    counts = _Counts(
        {("jumper", m): Planned("fibre", "J", "", number, 100 * number) for m, number in {10.0: 2, 20.0: 4}.items()},
        {("jumper", 15.0): Quoted((QuoteLine("CSV", 2, "matched"),), 6, 1)},
        (),
    )
    counts.pair_lengths()
    assert [finding.usd for finding in counts.findings] == [2, 4]
    assert counts.lacking() == {("jumper", 20.0): 4}
