"""What is ordered when, for uses that are given: by hand, and against every other way to order."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from fabopt.design.bill import bill
from fabopt.parts.items import Item
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.orders import Picked, order_of, sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.topology.candidate import Candidate
from fabopt.topology.design import NetworkDesign
from tests.oracles.brute_orders import Plan, cheapest
from tests.samples.small import Json, case, catalog, inputs

KINDS = {"transceiver": ("dr4", "dr4-hot"), "switch": ("small",)}
YEARS = [{"name": "first", "servers": 2}, {"name": "second", "month": 12, "servers": 4}]


def module(uses: tuple[int, ...], number: int = 0, **terms: Any) -> Json:
    """A transceiver with uses and terms of sale."""
    return {"kind": "transceiver", "id": KINDS["transceiver"][number], "uses": uses, "price_usd": 100} | terms


@cache
def some_design() -> NetworkDesign:
    """Any network; what is ordered hangs on uses alone."""
    given = inputs(case())
    found = search_of(problem_of(given.case, given.catalog), Settings(), Clock(None)).run()
    return found.picked[0][0].design


def set_up(items: list[Json], **keys: Any) -> tuple[Problem, list[Picked]]:
    """A problem in which a fabric uses just these items, and the fabric as it is picked."""
    parts = catalog()
    for item in items:
        sold = next(one for kind in parts.values() for one in kind if one["id"] == item["id"])
        sold.update({key: value for key, value in item.items() if key not in ("kind", "id", "uses")})
        sold["power_w"] = 0
    given = inputs(case(stages=keys.pop("stages", YEARS), **keys), parts)
    problem = problem_of(given.case, given.catalog)
    item_table: list[Item] = problem.item_table.items
    boxes = {
        (stage, next(one for one in item_table if one.id == item["id"])): count
        for item in items
        for stage, count in enumerate(item["uses"])
    }
    return problem, [(Candidate("compute", "clos", some_design(), boxes, (), ()), [])]


def planned(items: list[Json], **keys: Any) -> Plan:
    """What fabopt orders, in the words of the brute force."""
    problem, picked = set_up(items, **keys)
    order, stages = order_of(problem, picked), range(len(problem.stages))
    by_id = {(stage, item.id): units for (stage, item), units in order.bought.items()}
    orders = tuple(tuple(by_id.get((stage, item["id"]), 0) for stage in stages) for item in items)
    early = sum((len(stages) - 1 - stage) * units for own in orders for stage, units in enumerate(own))
    sums = sums_of(problem, picked)
    value = sums.objective // problem.weights.scale
    return Plan(value, sums.cents, sum(map(sum, orders)), early, orders)


def agreed(items: list[Json], most: int = 14, **keys: Any) -> Plan:
    """The plan, after the brute force was seen to find none that is better."""
    content = case(stages=keys.get("stages", YEARS), **{key: value for key, value in keys.items() if key != "stages"})
    mine, best = planned(items, **keys), cheapest(items, content, most)
    assert best is not None
    assert mine[:4] == best[:4]
    if len(items) == 1:
        assert mine.orders == best.orders
    return mine


def test_what_falls_in_price_is_bought_when_it_is_used() -> None:
    # 3 at 100, then 4 at 80: 620 USD
    falls = {"finance": {"price_decline": {"transceiver": 0.2}}}
    assert agreed([module((3, 4))], **falls)[:2] == (62_000, 62_000)


def test_a_break_is_worth_buying_early() -> None:
    # 3 + 4 at 100 are 700; 7 at once at 70 are 490. If prices fall by half in the year, 3 at 100 and 4 at 50 are 500.
    steps = [{"from": 1, "usd": 100}, {"from": 7, "usd": 70}]
    assert agreed([module((3, 4), price_usd=steps)]).orders == ((7, 0),)
    halved = {"finance": {"price_decline": {"transceiver": 0.5}}}
    assert agreed([module((3, 4), price_usd=steps)], **halved).capex == 49_000
    # at 75 the break comes to 525 and loses
    steps[1]["usd"] = 75
    assert agreed([module((3, 4), price_usd=steps)], **halved).orders == ((3, 4),)


def test_discounting_puts_a_purchase_off() -> None:
    # 7 at 90 now are 630; 3 at 100 now and 4 at 100 in a year 700, but worth 300 + 4 x 80 = 620 at 25 % a year.
    steps = [{"from": 1, "usd": 100}, {"from": 7, "usd": 90}]
    worth = {"finance": {"discount_rate": 0.25}}
    assert agreed([module((3, 4), price_usd=steps)], **worth).orders == ((7, 0),)
    later = agreed([module((3, 4), price_usd=steps)], objective="tco_usd", **worth)
    assert later.orders == ((3, 4),) and (later.objective, later.capex) == (62_000, 70_000)


def test_the_budget_of_a_later_stage_moves_purchases_forward() -> None:
    # 250 USD in the second year buy 2 of 4; the others are bought before.
    short = [YEARS[0], {**YEARS[1], "limits": {"budget_usd": 250}}]
    assert agreed([module((3, 4))], stages=short).orders == ((5, 2),)
    assert agreed([module((3, 4))]).orders == ((3, 4),)


def test_supply_grows_with_time() -> None:
    # 4 by the first month, 9 by the twelfth: stock covers what lacks at first.
    by_date = [{"from_month": 0, "quantity": 4}, {"from_month": 12, "quantity": 9}]
    assert agreed([module((5, 5), supply=by_date, stock=1)]).orders == ((4, 5),)


def test_a_smallest_order_is_placed_once() -> None:
    # Orders are of 5 at least: 3 and 4 are covered by one of 7; by packs of 3, one of 9 or 6 and 6.
    assert agreed([module((3, 4), minimum_order=5)]).orders == ((7, 0),)
    assert agreed([module((3, 4), pack_size=3, minimum_order=6)]).orders == ((9, 0),)


def test_what_comes_too_late_is_taken_from_stock() -> None:
    # 60 weeks are 13.8 months: nothing can be ordered for month 12, and 4 of the 5 in stock are kept for it.
    assert agreed([module((3, 4), lead_time_weeks=60, stock=5)]).orders == ((2, 0),)
    assert agreed([module((3, 4), lead_time_weeks=50, stock=5)]).orders == ((0, 2),)


def test_what_the_vendor_has_in_stock_is_never_late() -> None:
    # the second stage is too late for orders: its 4 are the vendor's, at the price of then; with a pack of 3, 6 are,
    # though 1 of the first order is left over, which was not meant for it
    terms = {"lead_time_weeks": 60, "in_stock": 4}
    finance = {"price_decline": {"transceiver": 0.5}}
    assert agreed([module((2, 4), **terms)], finance=finance).orders == ((2, 4),)
    assert agreed([module((2, 4), **terms | {"in_stock": 6, "pack_size": 3})], finance=finance).orders == ((3, 6),)
    # one's own comes first: it is free
    assert agreed([module((2, 4), **terms, stock=3)], finance=finance).orders in (((2, 1),), ((0, 3),))


def test_what_comes_too_late_is_expedited() -> None:
    # 60 weeks are too long for month 12, and 50 are not: 2 at 100 now, 4 at 50 + 30 then
    terms = {"lead_time_weeks": 60, "expedite": {"weeks": 10, "price_usd": 30}}
    finance = {"price_decline": {"transceiver": 0.5}}
    found = agreed([module((2, 4), **terms)], finance=finance)
    assert (found.capex, found.orders) == (20_000 + 4 * 8_000, ((2, 4),))
    # one's own is used where a unit costs most: first 100 now, with a surcharge of 70 the 120 of then
    assert agreed([module((2, 4), **terms, stock=1)], finance=finance).capex == 10_000 + 4 * 8_000
    dear = terms | {"expedite": {"weeks": 10, "price_usd": 70}}
    assert agreed([module((2, 4), **dear, stock=1)], finance=finance).capex == 20_000 + 3 * 12_000
    # at 25 % a year the 32,000 cents of then are worth 25,600
    worth = {"objective": "tco_usd", "finance": finance | {"discount_rate": 0.25}}
    assert agreed([module((2, 4), **terms)], **worth).objective == 20_000 + 25_600
    # the surcharge has no breaks: 4 at 40 + 30 instead of three at 50 + 30 and more
    steps = [{"from": 1, "usd": 100}, {"from": 4, "usd": 80}]
    assert agreed([module((2, 4), **terms, price_usd=steps)], finance=finance).capex == 20_000 + 4 * 7_000


def test_no_more_spares_are_kept_to_save_a_surcharge() -> None:
    # of 2 one spare is kept, of 6 two: the second is bought for the second stage, with the 4
    terms = {"lead_time_weeks": 60, "expedite": {"weeks": 10, "price_usd": 900}}
    for rule in ({"fraction": 0.3}, {"fraction": 0.3, "minimum": 1}, {"fraction": 0.3, "minimum": 1, "per": "site"}):
        rules = {"procurement": {"spares": {"transceiver": rule}}}
        found = planned([module((2, 4), **terms)], **rules)
        assert (found.orders, found.capex) == (((3, 5),), 30_000 + 5 * 100_000)
    agreed([module((0, 4), **terms)], procurement={"spares": {"transceiver": {"minimum": 2}}})


def test_spares_grow_with_what_is_in_use() -> None:
    # ceil(0.4 x 3) = 2 and ceil(0.4 x 7) = 3
    rules = {"procurement": {"spares": {"transceiver": {"fraction": 0.4, "minimum": 1}}}}
    assert agreed([module((3, 4))], **rules).orders == ((5, 5),)


def test_spares_of_a_site_are_of_the_cheapest_part_in_use() -> None:
    # 2 + 3 in use: ceil(0.4 x 5) = 2 spares, both of the part for 60.
    rules = {"procurement": {"spares": {"transceiver": {"fraction": 0.4, "per": "site"}}}}
    found = planned([module((2,)), module((3,), 1, price_usd=60)], stages=[{"name": "all", "servers": 2}], **rules)
    assert found.orders == ((2,), (5,))


def test_spares_of_a_site_may_be_of_a_part_that_grows_no_more() -> None:
    # 4 of the part for 60 at first, 5 of the other later: ceil(0.25 x 4) = 1 spare, then ceil(0.25 x 9) = 3, all at 60.
    rules = {"procurement": {"spares": {"transceiver": {"fraction": 0.25, "per": "site"}}}}
    assert planned([module((0, 5)), module((4, 0), 1, price_usd=60)], **rules).orders == ((0, 5), (5, 2))


def test_what_is_bought_early_has_a_line_of_no_fabric() -> None:
    # Nothing may be spent in the second year, so its 4 are bought in the first.
    stages = [YEARS[0], {**YEARS[1], "limits": {"budget_usd": 0}}]
    problem, picked = set_up([module((0, 4))], stages=stages)
    rows = [(row.stage, row.fabric, row.quantity, row.in_use, row.total_usd) for row in bill(problem, picked)]
    assert rows == [("first", "", 4, 0, 400), ("second", "compute", 0, 4, 0)]


def random_item(dice: random.Random, number: int) -> Json:
    item = module((dice.randint(1, 4), dice.randint(0, 4)), number)
    if dice.random() < 0.6:
        steps = [{"from": 1, "usd": 100}, {"from": dice.randint(2, 6), "usd": dice.randint(60, 95)}]
        item |= {"price_usd": steps, "price_breaks": dice.choice(["all-units", "incremental"])}
    if dice.random() < 0.4:
        item["pack_size"] = dice.randint(2, 3)
    if dice.random() < 0.4:
        item["minimum_order"] = item.get("pack_size", 1) * dice.randint(1, 2)
    if dice.random() < 0.3:
        item["stock"] = dice.randint(1, 3)
    if dice.random() < 0.3:
        item["supply"] = [{"from_month": 0, "quantity": dice.randint(10, 12)}, {"from_month": 12, "quantity": 12}]
    return item


@pytest.mark.long(but=("2", "10", "14", "16"))
@pytest.mark.parametrize("seed", range(20))
def test_no_other_orders_of_what_is_late_are_better(seed: int) -> None:
    """Three stages, for two of which orders come too late, but for what the vendor has in stock."""
    dice = random.Random(f"late-{seed}")
    item = random_item(dice, 0) | {"lead_time_weeks": 110, "in_stock": dice.randint(7, 12)}
    item.pop("supply", None)
    item["uses"] = (dice.randint(1, 3), dice.randint(0, 3), dice.randint(1, 2))
    keys: Json = {"finance": {"price_decline": {"transceiver": dice.choice([0, 0.2, 0.5])}}}
    if dice.random() < 0.4:
        keys["procurement"] = {"spares": {"transceiver": {"minimum": dice.randint(1, 2)}}}
    agreed([item], most=12, stages=[*YEARS, {"name": "third", "month": 24, "servers": 5}], **keys)


def hurried_item(dice: random.Random) -> tuple[Json, Json]:
    """An item that is expedited for one or two of three stages, or too late even so, and the rules of its case."""
    item = random_item(dice, 0) | {"lead_time_weeks": dice.choice([60, 110]), "stock": dice.randint(0, 6)}
    item |= {"expedite": {"weeks": dice.choice([10, 60, 110]), "price_usd": dice.randint(0, 90)}}
    item["expedite"]["weeks"] = min(item["expedite"]["weeks"], item["lead_time_weeks"])
    item.pop("supply", None)
    item["uses"] = (dice.randint(1, 3), dice.randint(0, 3), dice.randint(1, 3))
    keys: Json = {"finance": {"price_decline": {"transceiver": dice.choice([0, 0.2, 0.5])}}}
    if dice.random() < 0.4:
        keys |= {"objective": "tco_usd", "finance": keys["finance"] | {"discount_rate": 0.25}}
    if dice.random() < 0.5:
        rule = {"minimum": dice.randint(1, 2), "fraction": dice.choice([0, 0.3, 0.5])}
        keys["procurement"] = {"spares": {"transceiver": rule}}
    return item, keys


@pytest.mark.long(but=("4", "6", "28"))
@pytest.mark.parametrize("seed", range(30))
def test_no_other_orders_of_what_is_expedited_are_better(seed: int) -> None:
    """Three stages with stock, breaks, packs and spares; where the brute force has no orders there are none."""
    dice = random.Random(f"expedite-{seed}")
    item, keys = hurried_item(dice)
    stages = [*YEARS, {"name": "third", "month": 24, "servers": 5}]
    if cheapest([item], case(stages=stages, **keys), 14) is None:
        with pytest.raises(AssertionError, match="cannot be bought"):
            planned([item], stages=stages, **keys)
        return
    found = agreed([item], stages=stages, **keys)
    # more weeks saved, or a lower surcharge, is never dearer
    offer = item["expedite"]
    for easier in (offer | {"weeks": item["lead_time_weeks"]}, offer | {"price_usd": offer["price_usd"] // 2}):
        assert planned([item | {"expedite": easier}], stages=stages, **keys).objective <= found.objective


def test_a_yearly_budget_moves_purchases_forward() -> None:
    # 3 are 300 USD now and 4 are 400 in a year.
    assert agreed([module((3, 4))], limits={"yearly_budget_usd": [400, 300]}).orders == ((4, 3),)
    assert agreed([module((3, 4))], limits={"quarterly_budget_usd": [900, 0]}).orders == ((7, 0),)
    assert agreed([module((3, 4))], limits={"yearly_budget_usd": [None, 100]}).orders == ((6, 1),)


def test_a_deposit_counts_when_the_order_is_placed() -> None:
    # 26 weeks are 6 months: half of the second stage's order is paid in month 6, in the first year, half in the second
    late = module((3, 4), lead_time_weeks=26)
    keys: Json = {
        "finance": {"payment": {"on_order": 0.5, "on_delivery": 0.5}},
        "procurement": {"order_from_month": -12},
    }
    # months -6 (150, counted to the year before), 0 (150), 6 (200) and 12 (200)
    assert agreed([late], limits={"yearly_budget_usd": 350}, **keys).orders == ((3, 4),)
    assert agreed([late], limits={"yearly_budget_usd": [350, 150]}, **keys).orders == ((4, 3),)
    # with month 0 in July both halves of an order are paid in one year of the calendar, 3 are 300 USD and 4 are 400
    assert agreed([late], limits={"yearly_budget_usd": 400}, start="2026-07", **keys).orders == ((3, 4),)
    assert agreed([late], limits={"yearly_budget_usd": [400, 300]}, start="2026-07", **keys).orders == ((4, 3),)


@pytest.mark.long(but=("10", "16", "20"))
@pytest.mark.parametrize("seed", range(24))
def test_no_other_orders_within_budgets_are_better(seed: int) -> None:
    """Two items with lead times, paid in shares, under budgets of quarters or years that often decide."""
    dice = random.Random(f"budgets-{seed}")
    items = [random_item(dice, number) | {"lead_time_weeks": dice.choice([0, 7, 13.5, 30])} for number in range(2)]
    shares = dice.choice([(0.3, 0.6, 0.1), (1, 0, 0), (0.335, 0, 0.665), (0.5, 0.5, 0)])
    payment = dict(zip(("on_order", "on_delivery", "on_acceptance"), shares, strict=True))
    keys: Json = {
        "finance": {
            "price_decline": {"transceiver": dice.choice([0, 0.2, 0.5])},
            "payment": payment | {"acceptance_months": dice.choice([1, 4])},
        },
        "limits": {
            dice.choice(["quarterly_budget_usd", "yearly_budget_usd"]): dice.choice(
                [[dice.randint(3, 9) * 100, dice.randint(1, 5) * 100], dice.randint(3, 9) * 100]
            )
        },
        "procurement": {"order_from_month": -24},
        "stages": YEARS,
    }
    if dice.random() < 0.5:
        keys["start"] = f"2026-{dice.randint(1, 12):02d}"
    best = cheapest(items, case(**keys), 10)
    if best is not None:
        assert planned(items, **keys)[:4] == best[:4]
        freer = planned(items, **{key: value for key, value in keys.items() if key != "limits"})
        assert freer.objective <= best.objective
    else:
        with pytest.raises(AssertionError, match="cannot be bought"):
            planned(items, **keys)


@pytest.mark.long(but=("20", "9"))
@pytest.mark.parametrize("seed", range(25))
def test_no_other_orders_are_better(seed: int) -> None:
    """Two items, all terms at random, under a budget of the second stage that decides now and then."""
    dice = random.Random(seed)
    items = [random_item(dice, number) for number in range(2)]
    keys: Json = {"finance": {"price_decline": {"transceiver": dice.choice([0, 0.2, 0.5])}}}
    if dice.random() < 0.4:
        keys |= {"objective": "tco_usd", "finance": keys["finance"] | {"discount_rate": 0.25}}
    if dice.random() < 0.4:
        keys["procurement"] = {"spares": {"transceiver": {"minimum": dice.randint(1, 2)}}}
    if dice.random() < 0.4:
        keys["stages"] = [YEARS[0], {**YEARS[1], "limits": {"budget_usd": dice.randint(1, 5) * 100}}]
    content = case(stages=keys.get("stages", YEARS), **{key: value for key, value in keys.items() if key != "stages"})
    best = cheapest(items, content, 12)
    assert best is not None
    assert planned(items, **keys)[:4] == best[:4]
