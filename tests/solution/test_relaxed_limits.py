"""Relaxing any one limit of a case never raises its cost: random cases of every family, each with one limit relaxed."""

from __future__ import annotations

import os

import pytest

from tests.samples.random_cases import FAMILIES
from tests.samples.relaxed import a_pair, cost

# 60 pairs; eight times as many with FABOPT_ORACLE_SEEDS=8. The others are of `make long`.
SEEDS, FEW = 6 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1")), 2


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long(but=("1000-limited", "1000-attached", "1001-rails", "1001-planes"))
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "seed",
    [pytest.param(1000 + seed, marks=[] if seed < FEW else [pytest.mark.long]) for seed in range(SEEDS)],
)
def test_relaxing_one_limit_never_costs_more(family: str, seed: int) -> None:
    pair = a_pair(family, seed)
    assert pair.costs_no_more(), pair.relaxed


def test_rows_of_fibres_to_modules_that_are_there() -> None:
    """Attachments with modules of their own on two sorts of fibre: each row has the fibres of its own links."""
    given = a_pair("hosted", 1011).given
    assert cost(*given) == 15225.11


@pytest.mark.long
def test_a_ratio_of_many_digits_leaves_switches_without_uplinks_open() -> None:
    """Ports of attachments on spines that have no uplinks take nothing of them, however fine the units are."""
    catalog, wider = a_pair("hosted", 1004).wider
    costs = []
    for ratio in (1.79, 1.7999999999999998, 1.8):
        wider["fabrics"][0]["max_oversubscription"] = {"leaf": ratio}
        costs.append(cost(catalog, wider))
    assert costs == [7892.36] * 3
