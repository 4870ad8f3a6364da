"""All ways to order some items over stages whose uses are given: the truth that stage-indexed purchases are tested by.

Plain loops over every quantity at every stage; nothing of fabopt is imported. An item is the plain Python of its entry
in a catalog, of kind ``kind``, with ``uses`` (what each stage adds). Declines are such that prices need no rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import floor
from typing import NamedTuple

from tests.oracles.brute_parts import Json, ceil_div, exact, whole


class Plan(NamedTuple):
    """Orders by item and stage; what they cost, and what ties are broken by."""

    objective: int
    capex: int
    units: int
    early: int
    orders: tuple[tuple[int, ...], ...]


def price(item: Json, case: Json, stage: int, step: int) -> tuple[int, int]:
    """(cents, present cents) of a unit at a break of a stage."""
    month = case["stages"][stage].get("month", 0)
    finance = case.get("finance", {})
    given = item["price_usd"]
    cents = whole(given[step]["usd"] if isinstance(given, list) else given, 100)
    decline = exact(finance.get("price_decline", {}).get(item["kind"], 0))
    now = rounded(cents * (1 - decline) ** (month // 12))
    if waits(item, case, stage) == "expedited":
        now += whole(item["expedite"]["price_usd"], 100)
    return now, rounded(now / (1 + exact(finance.get("discount_rate", 0))) ** (month // 12))


def waits(item: Json, case: Json, stage: int) -> str:
    """Whether an order for a stage is in time, expedited, or too late."""
    month = case["stages"][stage].get("month", 0)
    first = case.get("procurement", {}).get("order_from_month")
    if first is None and month == 0:
        return "in time"
    for word, saved in (("in time", 0), ("expedited", item.get("expedite", {}).get("weeks", 0))):
        if month - exact(item.get("lead_time_weeks", 0) - saved) * 12 / 52 >= (first or 0):
            return word
    return "too late"


def rounded(number: Fraction) -> int:
    """Half up."""
    return int(number + Fraction(1, 2))


def order_cents(item: Json, case: Json, stage: int, units: int) -> tuple[int, int]:
    """(cents, present cents) of one order, unit by unit."""
    given = item["price_usd"]
    starts = [step["from"] for step in given] if isinstance(given, list) else [1]
    total = present = 0
    for unit in range(1, units + 1):
        at = unit if item.get("price_breaks") == "incremental" else units
        step = max(index for index, start in enumerate(starts) if start <= at)
        cents, worth = price(item, case, stage, step)
        total, present = total + cents, present + worth
    return total, present


def plans(item: Json, case: Json, most: int) -> Iterator[tuple[int, ...]]:
    """Every legal sequence of orders that covers what is used and kept."""
    stages = range(len(case["stages"]))
    sizes = [n for n in range(most + 1) if n == 0 or legal(item, n)]
    for orders in product(sizes, repeat=len(stages)):
        if all(covers(item, case, orders, stage) for stage in stages):
            yield orders


def legal(item: Json, units: int) -> bool:
    return units >= item.get("minimum_order", 1) and units % item.get("pack_size", 1) == 0


def kept(item: Json, case: Json, used: int) -> int:
    rule = case.get("procurement", {}).get("spares", {}).get(item["kind"])
    if rule is None or used == 0:
        return 0
    share = exact(rule.get("fraction", 0)) * used
    return max(rule.get("minimum", 0), ceil_div(share.numerator, share.denominator))


def covers(item: Json, case: Json, orders: tuple[int, ...], stage: int) -> bool:
    """Whether stock and orders up to a stage are enough, can be had by then, and come in time."""
    used, bought = sum(item["uses"][: stage + 1]), sum(orders[: stage + 1])
    month = case["stages"][stage].get("month", 0)
    supply = item.get("supply")
    if isinstance(supply, list):
        supply = max((one["quantity"] for one in supply if one["from_month"] <= month), default=0)
    enough = item.get("stock", 0) + bought >= used + kept(item, case, used)
    return enough and (supply is None or bought <= supply) and in_time(item, case, orders, stage)


def in_time(item: Json, case: Json, orders: tuple[int, ...], stage: int) -> bool:
    """What late stages take is expedited, of what the vendor has, or in stock."""
    stages = range(len(case["stages"]))
    late = [at for at in stages if waits(item, case, at) != "in time"]
    needs = [sum(item["uses"][: at + 1]) + kept(item, case, sum(item["uses"][: at + 1])) for at in stages]
    left = item.get("stock", 0)
    for at in late:
        left += orders[at] - needs[at] + (needs[at - 1] if at else 0)
        if left < 0:
            return False
    return sum(orders[at] for at in late if waits(item, case, at) == "too late") <= item.get("in_stock", 0)


class Priced(NamedTuple):
    """Orders of one item with what they cost at each stage."""

    orders: tuple[int, ...]
    spent: tuple[int, ...]
    worth: int


def priced(item: Json, case: Json, most: int) -> list[Priced]:
    """Every plan of one item with its costs."""
    stages = range(len(case["stages"]))
    costs = [[order_cents(item, case, stage, units) for units in range(most + 1)] for stage in stages]
    found = []
    for orders in plans(item, case, most):
        paid = [costs[stage][units] for stage, units in enumerate(orders)]
        found.append(Priced(orders, tuple(cents for cents, _ in paid), sum(present for _, present in paid)))
    return found


def within_budgets(items: list[Json], case: Json, spent: list[tuple[int, ...]]) -> bool:
    """Whether what is paid in every quarter and year, month by month, is within its budget. Items have no charges."""
    terms = case.get("finance", {}).get("payment") or {"on_delivery": 1}
    first = case.get("start", "0000-01")
    before = 12 * int(first[:4]) + int(first[5:]) - 1
    for key, length in (("quarterly_budget_usd", 3), ("yearly_budget_usd", 12)):
        budgets = case.get("limits", {}).get(key)
        if budgets is None:
            continue
        by_period: dict[int, Fraction] = {}
        for item, of_stages in zip(items, spent, strict=True):
            lead = Fraction(round(100 * exact(item.get("lead_time_weeks", 0)) * 12 / 52), 100)
            for stage, cents in zip(case["stages"], of_stages, strict=True):
                month = stage.get("month", 0)
                for due, share in (
                    (floor(month - lead), terms.get("on_order", 0)),
                    (month, terms.get("on_delivery", 0)),
                    (month + terms.get("acceptance_months", 1), terms.get("on_acceptance", 0)),
                ):
                    period = (due + before) // length - before // length
                    by_period[period] = by_period.get(period, Fraction(0)) + exact(share) * cents
        for period, paid in by_period.items():
            most = budgets[max(0, min(period, len(budgets) - 1))] if isinstance(budgets, list) else budgets
            if most is not None and paid > 100 * exact(most):
                return False
    return True


def within_supply(items: list[Json], case: Json, orders: list[tuple[int, ...]]) -> bool:
    """Whether no more of a maker's parts come in a quarter than it supplies, each order in the month of its stage."""
    before = int(case.get("start", "0000-01")[5:]) - 1
    for vendor, given in case.get("procurement", {}).get("quarterly_supply", {}).items():
        for kind, units in given.items() if isinstance(given, dict) else [(None, given)]:
            by_quarter: dict[int, int] = {}
            for item, own in zip(items, orders, strict=True):
                if item.get("vendor") == vendor and kind in (None, item["kind"]):
                    for stage, ordered in zip(case["stages"], own, strict=True):
                        quarter = (stage.get("month", 0) + before) // 3 - before // 3
                        by_quarter[quarter] = by_quarter.get(quarter, 0) + ordered
            for quarter, bought in by_quarter.items():
                most = units[min(quarter, len(units) - 1)] if isinstance(units, list) else units
                if most is not None and bought > most:
                    return False
    return True


def cheapest(items: list[Json], case: Json, most: int) -> Plan | None:
    """The best orders of all items together, under the budgets of stages; None if there are none."""
    last = len(case["stages"]) - 1
    budgets = [(stage.get("limits") or {}).get("budget_usd") for stage in case["stages"]]
    best: Plan | None = None
    for chosen in product(*(priced(item, case, most) for item in items)):
        spent = [sum(column) for column in zip(*(one.spent for one in chosen), strict=True)]
        if any(limit is not None and cents > limit * 100 for cents, limit in zip(spent, budgets, strict=True)):
            continue
        if not within_budgets(items, case, [one.spent for one in chosen]):
            continue
        if not within_supply(items, case, [one.orders for one in chosen]):
            continue
        value = sum(one.worth for one in chosen) if case.get("objective") == "tco_usd" else sum(spent)
        if best is not None and value > best.objective:
            continue
        orders = tuple(one.orders for one in chosen)
        early = sum((last - stage) * units for own in orders for stage, units in enumerate(own))
        plan = Plan(value, sum(spent), sum(map(sum, orders)), early, orders)
        best = plan if best is None else min(best, plan)
    return best
