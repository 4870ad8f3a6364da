"""What must hold for every case: bounds, monotony in limits, choice, prices and demand, and that verify accepts.

Cases are small, drawn by hypothesis without chance: every run tests the same ones.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings, strategies as st

from fabopt.schema.design import Design
from tests.paths import few_or_many
from tests.samples.small import Json, assert_proven, case, catalog, product, solved

pytestmark = pytest.mark.drawn_longer
RATIOS = [1, 1.2, 1.5, 2, 3, 4]
EXAMPLES = few_or_many(4, 10)
SWITCHES, MODULES = ("large", "lean", "small"), ("dr4", "dr4-hot")

fabrics = st.fixed_dictionaries(
    {"min_gbps_per_gpu": st.sampled_from([50, 100, 200]), "max_oversubscription": st.sampled_from(RATIOS)},
    optional={
        "tiers": st.sampled_from([2, [1, 2], 3]),
        "rails": st.just("any"),
        "striping": st.just("any"),
        "reserve_ports": st.sampled_from([0.1, 0.25]),
    },
)
sizes = st.integers(min_value=2, max_value=14)
metrics = st.sampled_from(["capex_usd", "power_w", "tco_usd"])


def value(design: Design) -> float:
    """The objective; infinite if there is no design."""
    if design.status == "infeasible":
        return math.inf
    assert_proven(design)
    assert design.objective.value is not None
    return float(design.objective.value)


def capex(design: Design) -> float:
    return math.inf if design.totals is None else float(design.totals.capex_usd)


@settings(max_examples=EXAMPLES)
@given(fabrics, sizes, metrics)
def test_bound_and_proof(fabric: Json, servers: int, metric: str) -> None:
    design = solved(case(fabric, servers=servers, objective=metric))
    if design.status == "infeasible":
        assert design.conflicts
        return
    assert_proven(design)
    assert design.objective.bound is not None and design.objective.value is not None
    assert design.objective.bound <= design.objective.value
    assert design.totals is not None
    assert round(sum(row.total_usd for row in design.bom), 2) == design.totals.capex_usd


@settings(max_examples=EXAMPLES)
@given(fabrics, sizes, st.sampled_from(RATIOS))
def test_more_oversubscription_never_costs_more(fabric: Json, servers: int, other: float) -> None:
    low, high = sorted([fabric["max_oversubscription"], other])
    strict = solved(case({**fabric, "max_oversubscription": low}, servers=servers))
    loose = solved(case({**fabric, "max_oversubscription": high}, servers=servers))
    assert value(loose) <= value(strict)


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(fabrics, sizes)
def test_less_demand_never_costs_more(fabric: Json, servers: int) -> None:
    less = solved(case({**fabric, "min_gbps_per_gpu": fabric["min_gbps_per_gpu"] / 2}, servers=servers))
    assert value(less) <= value(solved(case(fabric, servers=servers)))


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(fabrics, sizes, st.floats(min_value=0.05, max_value=0.95))
def test_more_power_never_costs_more(fabric: Json, servers: int, share: float) -> None:
    """From the leanest design's power to the cheapest's the price falls."""
    free = solved(case(fabric, servers=servers))
    lean = solved(case(fabric, servers=servers, objective="power_w"))
    if free.totals is None or lean.totals is None:
        assert free.status == lean.status
        return
    middle = lean.totals.power_w + share * (free.totals.power_w - lean.totals.power_w)
    limit = max(lean.totals.power_w, round(middle, 1))
    limited = solved(case(fabric, servers=servers, limits={"power_w": limit}))
    least = solved(case(fabric, servers=servers, limits={"power_w": lean.totals.power_w}))
    assert value(free) <= value(limited) <= value(least) <= capex(lean)
    assert limited.totals is not None
    assert limited.totals.power_w <= limit


@pytest.mark.long
@settings(max_examples=EXAMPLES)
@given(fabrics, sizes, st.floats(min_value=0, max_value=1))
def test_more_budget_never_draws_more(fabric: Json, servers: int, share: float) -> None:
    """The least power under a budget falls as the budget grows; at the cheapest design's price there is one."""
    free = solved(case(fabric, servers=servers))
    lean = solved(case(fabric, servers=servers, objective="power_w"))
    if free.totals is None:
        return
    budget = round(capex(free) + share * (capex(lean) - capex(free)), 2)
    limited = solved(case(fabric, servers=servers, objective="power_w", limits={"budget_usd": budget}))
    assert value(lean) <= value(limited) <= free.totals.power_w
    assert capex(limited) <= budget


@settings(max_examples=EXAMPLES)
@given(fabrics, sizes, metrics, st.sampled_from([*SWITCHES, *MODULES, "dac", "splitter", "aoc", "nic-200"]))
def test_more_choice_never_costs_more(fabric: Json, servers: int, metric: str, removed: str) -> None:
    fewer = {kind: [one for one in entries if one["id"] != removed] for kind, entries in catalog().items()}
    content = case(fabric, servers=servers, objective=metric)
    assert value(solved(content)) <= value(solved(content, fewer))


@settings(max_examples=EXAMPLES)
@given(fabrics, sizes, st.sampled_from([*SWITCHES, *MODULES, "nic-400"]), st.floats(min_value=1.01, max_value=2))
def test_dearer_parts_never_cost_less(fabric: Json, servers: int, raised: str, factor: float) -> None:
    """And never more than the same design at the new price."""
    parts = catalog()
    before = product(parts, raised)["price_usd"]
    product(parts, raised)["price_usd"] = round(before * factor, 2)
    content = case(fabric, servers=servers)
    old, new = solved(content), solved(content, parts)
    if old.totals is None:
        assert new.totals is None
        return
    quantity = sum(row.quantity for row in old.bom if row.id == raised)
    assert capex(old) <= capex(new) <= round(capex(old) + quantity * (round(before * factor, 2) - before), 2)


@settings(max_examples=EXAMPLES)
@given(fabrics, sizes)
def test_same_case_same_design(fabric: Json, servers: int) -> None:
    """Every order of the catalog gives the same optimum and the same figures."""
    content = case(fabric, servers=servers)
    turned = {kind: list(reversed(entries)) for kind, entries in catalog().items()}
    one, other = solved(content), solved(content, turned)
    assert (one.totals, one.fabrics, one.bom) == (other.totals, other.fabrics, other.bom)


def test_ratios_and_shares_with_all_their_digits() -> None:
    """A third, as a computer writes it, is a third: nothing overflows, and 7:3 written so is enough for 7:3."""
    design = solved(case({"max_oversubscription": 7 / 3, "reserve_ports": 1 / 3}))
    assert_proven(design)
    rounded = solved(case({"max_oversubscription": 2.333333, "reserve_ports": 0.333333}))
    assert design.totals is not None and rounded.totals is not None
    assert design.totals.capex_usd <= rounded.totals.capex_usd
