"""Relaxing any one limit of a hall never raises its cost, nor takes its design away: fills, loads, lengths, budgets."""

from __future__ import annotations

import pytest

from tests.samples.relaxed_halls import dearer, without_limits

# 200 halls, ten in a test.
TENS = 20


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long
@pytest.mark.parametrize("ten", range(TENS))
def test_relaxing_one_limit_of_a_hall_never_costs_more(ten: int) -> None:
    assert [line for seed in range(10 * ten, 10 * ten + 10) for line in dearer(seed)] == []


def test_places_that_a_limit_parts_are_found_without_it() -> None:
    """Racks of 1,260 W part spine and leaf for $2,428, so that the manager of neither is too full. Racks of 1,890 W do
    not, and take the same places or cheaper ones, not thinner cables for $2,957.
    """
    design = without_limits(127)[1].solved(60, manager_fill=0.0287, rack_power_w=1890)
    assert design.totals is not None and design.objective.bound is not None
    assert (design.status, design.objective.bound < design.totals.capex_usd <= 2428) == ("feasible", True)
    assert any(note.startswith("in the cheapest places of switches managers would be") for note in design.notes)
