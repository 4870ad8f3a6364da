"""Coefficients of the search: what is weighed before candidates are made is never more than they cost.

The case that most of these change has four servers of two ports: two leaves of four down ports and four uplinks, and
one spine of eight ports; three switches ``small``, or three ``lean``, with the same links.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.coefficients import (
    is_there_in_time,
    stage_weights,
    switch_surcharge,
    without_dear_switches,
    without_short_devices,
)
from fabopt.search.expansion import Expansion
from fabopt.topology.clos.shape import Shape
from fabopt.topology.family import AnyBatch, Sizing, candidates_in
from tests.samples.random_cases import generate
from tests.samples.small import Json, case, catalog, comparable, inputs, product, solved

ONE_CARD: Json = {"nics": ["nic-400"], "nics_per_server": 2}
SMALL_ONLY: Json = {"switches": {"leaf": ["small"], "spine": ["small"]}}
DOLLAR = 100


def problem(fabric: Json | None = None, parts: Json | None = None, **changes: Any) -> Problem:
    """Four servers with two cards each."""
    given = inputs(case({**ONE_CARD, **(fabric or {})}, **{"servers": 4, **changes}), parts)
    return problem_of(given.case, given.catalog)


def expansion(made: Problem, prune: bool = True) -> Expansion:
    return Expansion(made, Settings(prune=prune), Clock(None), {})


def priced(**prices: Any) -> Json:
    """The catalog with prices of some switches changed."""
    parts = catalog()
    for name, price in prices.items():
        product(parts, name)["price_usd"] = price
    return parts


def breaks(*steps: tuple[int, int]) -> list[Json]:
    return [{"from": start, "usd": usd} for start, usd in steps]


def batch_of(made: Problem, leaf: str, spine: str, prune: bool = True) -> AnyBatch:
    """Everything with these switches."""
    found = expansion(made, prune).expand(np.zeros(0), slack=1e12).sizings[0]
    return next(
        one
        for one in found.batches
        if one.parts.spine is not None and (one.parts.leaf.item.id, one.parts.spine.item.id) == (leaf, spine)
    )


def least_surcharge(made: Problem, leaf: str, spine: str, most: int | None = None) -> float:
    """Dollars, for the candidate of a batch that has the fewest switches."""
    batch = batch_of(made, leaf, spine)
    assert isinstance(batch.shape, Shape)
    fewest = int(np.argmin(batch.shape.leaves + batch.shape.spines))
    assert int(batch.shape.leaves[fewest] + batch.shape.spines[fewest]) == 3
    return float(switch_surcharge(made, batch, most)[fewest]) / (made.weights.per_cent * DOLLAR)


# -- breaks out of reach ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most_usd", "price"), [(399_999, 16_000), (400_000, 4_000), (None, 4_000)])
def test_a_break_counts_if_its_first_order_is_not_dearer_than_all(most_usd: int | None, price: int) -> None:
    # From 100 on a switch costs 4,000: the smallest such order is 400,000.
    made = problem(parts=priced(small=breaks((1, 16_000), (100, 4_000))))
    small = made.item_table.item("small")
    assert small is not None
    weights = stage_weights(made, None, None if most_usd is None else most_usd * DOLLAR)
    assert weights[0, small.index] == price * DOLLAR * made.weights.per_cent


def test_bounds_rise_when_a_design_is_met_that_reaches_no_break() -> None:
    # Three switches, 4,000 each by the break, 16,000 without it; a design that costs 399,999 cannot order 100 of them.
    made = problem(SMALL_ONLY, priced(small=breaks((1, 16_000), (100, 4_000))))
    space, scale = expansion(made), made.weights.per_cent * DOLLAR
    before = space.expand(np.zeros(0)).bound
    assert not space.weigh_up_to(400_000 * scale)
    assert space.expand(np.zeros(0)).bound == before
    assert space.weigh_up_to(399_999 * scale)
    assert space.expand(np.zeros(0)).bound == before + 3 * 12_000 * scale
    assert not space.weigh_up_to(399_999 * scale)


def test_bounds_on_power_do_not_rise() -> None:
    parts = priced(small=breaks((1, 16_000), (100, 4_000)))
    assert not expansion(problem(SMALL_ONLY, parts, objective="power_w")).weigh_up_to(1)


# -- switches that do not reach a break ---------------------------------------------------------------------------


def test_three_switches_cost_what_four_at_the_break_do() -> None:
    # Three at 16,000 are 48,000; four at 8,000 are 32,000: 8,000 more than three at 8,000. A cent each is for rounding.
    parts = priced(small=breaks((1, 16_000), (4, 8_000)))
    assert least_surcharge(problem(parts=parts), "small", "small") == pytest.approx(8_000 - 0.03)


def test_three_switches_cost_their_own_price_where_four_are_dearer() -> None:
    # Three at 10,000 are 30,000: 6,000 more than three at 8,000, and less than four at 8,000.
    parts = priced(small=breaks((1, 10_000), (4, 8_000)))
    assert least_surcharge(problem(parts=parts), "small", "small") == pytest.approx(6_000 - 0.03)


def test_a_break_that_is_reached_costs_nothing_more() -> None:
    parts = priced(small=breaks((1, 16_000), (3, 8_000)))
    assert least_surcharge(problem(parts=parts), "small", "small") == 0


@pytest.mark.parametrize("terms", [{"stock": 1}, {"price_breaks": "incremental"}], ids=["stock", "incremental"])
def test_where_it_is_not_as_simple_nothing_is_added(terms: Json) -> None:
    parts = priced(small=breaks((1, 16_000), (4, 8_000)))
    product(parts, "small").update(terms)
    assert least_surcharge(problem(parts=parts), "small", "small") == 0


def test_what_its_switches_make_too_dear_is_left_out() -> None:
    # 8,000 above the least: a cutoff of 7,999 above it leaves nothing, one of 8,000 above leaves the candidate.
    made = problem(SMALL_ONLY, priced(small=breaks((1, 16_000), (4, 8_000))))
    scale = made.weights.per_cent * DOLLAR
    found = expansion(made).expand(np.zeros(0)).sizings[0]
    assert not without_dear_switches(made, found, 7_999 * scale, None).batches
    assert without_dear_switches(made, found, 8_000 * scale, None).batches


# -- devices that cannot be there ---------------------------------------------------------------------------------

GROWING: Json = {"stages": [{"name": "now", "month": 2, "servers": 2}, {"name": "then", "month": 14, "servers": 4}]}
TWO_TIERS: Json = {"protocol": "ethernet", "tiers": 2}
HALF_A_YEAR = 26


def kept(leaf: str, spine: str, **terms: Json) -> int:
    """How many candidates with these switches are left where products have such terms."""
    parts = catalog()
    for name, changes in terms.items():
        product(parts, name.replace("_", "-")).update(changes)
    made = problem(parts=parts, servers=None, **GROWING)
    sizing = Sizing([batch_of(made, leaf, spine, prune=False)])
    return sum(map(len, without_short_devices(made, sizing).batches))


@pytest.mark.parametrize(
    ("leaf", "spine", "terms", "stays"),
    [
        ("small", "small", {"small": {"supply": 2}}, False),
        ("small", "small", {"small": {"supply": 2, "stock": 1}}, True),
        ("small", "large", {"small": {"supply": 2}}, True),
        ("small", "large", {"small": {"supply": [{"from_month": 12, "quantity": 9}]}}, False),
        ("small", "large", {"small": {"lead_time_weeks": HALF_A_YEAR}}, False),
        ("small", "large", {"small": {"lead_time_weeks": HALF_A_YEAR, "stock": 2}}, True),
        ("small", "large", {"small": {"lead_time_weeks": HALF_A_YEAR, "in_stock": 2}}, True),
        ("small", "large", {"nic_400": {"supply": 7}}, False),
        ("small", "large", {"nic_400": {"supply": 8}}, True),
        ("small", "large", {"nic_400": {"lead_time_weeks": HALF_A_YEAR, "in_stock": 3}}, False),
        ("small", "large", {"nic_400": {"lead_time_weeks": HALF_A_YEAR, "in_stock": 4}}, True),
    ],
)
def test_what_has_more_devices_than_can_be_there_is_left_out(leaf: str, spine: str, terms: Json, stays: bool) -> None:
    # A leaf group of two servers has two leaves from the first stage on; two servers have four NICs.
    assert (kept(leaf, spine, **terms) > 0) == stays


def with_twin(parts: Json) -> Json:
    """The catalog with a second switch that is like ``small``."""
    parts["switches"].append({**product(parts, "small"), "id": "small-b", "price_usd": 17_000})
    return parts


@pytest.mark.long("own3-other3-True")
@pytest.mark.parametrize(
    ("own", "other", "stays"),
    [
        ({"supply": 2}, {"supply": 1}, True),
        ({"supply": 1}, {"supply": 1}, False),
        ({"supply": 1}, {}, True),
        ({"lead_time_weeks": HALF_A_YEAR}, {"supply": 3}, True),
        # the two leaves of the first stage
        ({"lead_time_weeks": HALF_A_YEAR}, {"lead_time_weeks": HALF_A_YEAR, "stock": 1}, False),
        ({"lead_time_weeks": HALF_A_YEAR, "stock": 1}, {"lead_time_weeks": HALF_A_YEAR, "stock": 1}, True),
    ],
)
def test_switches_that_stand_in_for_each_other_are_as_many_as_both_can_be(own: Json, other: Json, stays: bool) -> None:
    # Two leaves of four servers, both there from the first stage on, and one spine.
    parts = with_twin(catalog())
    product(parts, "small").update(own)
    product(parts, "small-b").update(other)
    fabric = {"switches": {"leaf": ["small", "small-b"], "spine": ["small", "small-b"]}, **TWO_TIERS}
    made = problem(fabric, parts, servers=None, **GROWING)
    sizing = expansion(made, prune=False).expand(np.zeros(0), slack=1e12).sizings[0]
    assert (sum(map(len, without_short_devices(made, sizing).batches)) > 0) == stays


@pytest.mark.parametrize(
    ("terms", "stays"),
    [
        ({}, True),
        ({"supply": 2}, False),
        ({"supply": 3}, True),
        ({"lead_time_weeks": HALF_A_YEAR, "in_stock": 2}, False),
        ({"lead_time_weeks": HALF_A_YEAR, "in_stock": 3}, True),
    ],
)
def test_a_candidate_is_there_if_all_its_devices_are(terms: Json, stays: bool) -> None:
    # Two leaves and the spine between them, all from the first stage on.
    parts = catalog()
    product(parts, "small").update(terms)
    made = problem({"resilience": "none", **TWO_TIERS}, parts, servers=None, **GROWING)
    batch = batch_of(made, "small", "small", prune=False)
    fewest = int(np.argmin(batch.num_switches()))
    candidates = candidates_in(made, batch, fewest, prune=False)
    assert [is_there_in_time(one) for one in candidates] == [stays] * len(candidates) and candidates


def test_sizes_with_more_leaves_than_can_be_there_are_not_given_spines() -> None:
    parts = with_twin(catalog())
    for id_ in ("small", "small-b"):
        product(parts, id_).update(lead_time_weeks=HALF_A_YEAR)
    made = problem({"switches": {"leaf": ["small", "small-b"]}, **TWO_TIERS}, parts, servers=None, **GROWING)
    found = expansion(made).expand(np.zeros(0), slack=1e12)
    assert (found.is_empty, found.sizings[0].sized) == (True, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", [seed for seed in range(12) if seed != 7])  # 7: two minutes for the whole program
def test_none_is_left_out_that_is_a_design(seed: int) -> None:
    """With and without pruning a growing cluster whose switches are short or late has the same least cost, or none."""
    dice = np.random.default_rng(seed)
    parts = with_twin(catalog()) if seed % 2 else catalog()
    for name in ("small", "large", "lean", "nic-400", *(["small-b"] if seed % 2 else [])):
        terms: Json = {
            "supply": int(dice.integers(1, 13)),
            "lead_time_weeks": int(dice.choice([4, HALF_A_YEAR, 80])),
            "stock": int(dice.integers(0, 3)),
        }
        product(parts, name).update({key: value for key, value in terms.items() if dice.random() < 0.6})
    content = case({**ONE_CARD, "tiers": [1, 2]}, servers=None, **GROWING)
    pruned, whole = (solved(content, parts, prune=prune) for prune in (True, False))
    assert (pruned.status, pruned.objective.value) == (whole.status, whole.objective.value)
    assert pruned.status in ("optimal", "infeasible")


# -- spares and part numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        # two spares of the cheapest in use
        ({"minimum": 2, "per": "site"}, 2 * 16_000),
        # half of three, two at least
        ({"minimum": 1, "fraction": 0.5, "per": "site"}, 1.5 * 16_000),
        # two of each part number: two leaves of 16,000 and a spine of 24,000
        ({"minimum": 2}, 2 * 16_000 + 2 * 24_000),
        # half of two leaves is one, which their weight has; half of one spine is a half, so half a one more
        ({"minimum": 1, "fraction": 0.5}, 0.5 * 24_000),
    ],
    ids=["site", "site-fraction", "sku", "sku-fraction"],
)
def test_spares_are_weighed(rule: Json, more: float) -> None:
    made = problem(procurement={"spares": {"switch": rule}})
    assert least_surcharge(made, "small", "large") == pytest.approx(more)


def test_spares_of_other_kinds_are_not() -> None:
    made = problem(procurement={"spares": {"transceiver": {"minimum": 2}}})
    assert least_surcharge(made, "small", "large") == 0


def test_two_part_numbers_are_too_many_where_one_is_allowed() -> None:
    one, two = (problem(procurement={"max_part_numbers": {"switch": most}}) for most in (1, 2))
    mixed, alike = batch_of(two, "small", "large"), batch_of(two, "small", "small")
    assert (switch_surcharge(one, mixed, None) == np.inf).all()
    assert (switch_surcharge(one, alike, None) == 0).all()
    assert (switch_surcharge(two, mixed, None) == 0).all()


def test_spines_are_of_their_leaves_model_where_one_is_allowed() -> None:
    for most, models in ((1, {1}), (2, {1, 2})):
        made = problem(procurement={"max_part_numbers": {"switch": most}})
        batches = expansion(made).expand(np.zeros(0), slack=1e12).sizings[0].batches
        assert {len({one.parts.leaf.item.id, one.parts.spine.item.id}) for one in batches} == models


# -- a design that is known --------------------------------------------------------------------------------------


def deceiving() -> Json:
    """``small`` looks like 24,000 by its break and comes to 32,000; ``lean`` looks like 27,000 and is."""
    return priced(small=breaks((1, 16_000), (4, 8_000)), lean=9_000, large=90_000)


def test_a_known_design_changes_no_answer() -> None:
    plain = search_of(problem(parts=deceiving()), Settings(), Clock(None)).run()
    assert plain.value is not None
    for above in (0, 1, 10**9):
        known = search_of(problem(parts=deceiving()), Settings(), Clock(None), known_value=plain.value + above).run()
        assert (known.verdict, known.value, known.bound) == ("optimal", plain.value, plain.bound)


# -- against everything -------------------------------------------------------------------------------------------


@pytest.mark.long(but=("9",))
@pytest.mark.parametrize("seed", (0, 1, 2, 3, 4, 6, 7, 8, 9, 11))
def test_random_rules_for_switches_agree_with_no_pruning(seed: int) -> None:
    parts, content = generate("ruled", seed)
    spares = {"minimum": 1 + seed % 2, "fraction": (0, 0.25)[seed // 2 % 2], "per": ("site", "sku")[seed // 4 % 2]}
    content["procurement"] = {"spares": {"switch": spares}}
    if seed % 3:
        content["procurement"]["max_part_numbers"] = {"switch": seed % 3}
    cheapest = min((one for one in parts["switches"] if one.get("price_usd")), key=lambda one: str(one["price_usd"]))
    if isinstance(cheapest["price_usd"], int | float):
        cheapest["price_usd"] = [
            {"from": 1, "usd": cheapest["price_usd"]},
            {"from": 4, "usd": round(cheapest["price_usd"] * 0.6, 2)},
        ]
    pruned, whole = solved(content, parts), solved(content, parts, prune=False)
    assert pruned.status in ("optimal", "infeasible")
    assert comparable(pruned) == comparable(whole)
