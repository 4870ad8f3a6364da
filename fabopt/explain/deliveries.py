"""Conflicts of supply and lead times: parts that are short or late, and the changes that give a design.

Levers are the supply and the lead time of each part, the month of a stage, and the month from which orders can be
placed. Each is moved alone; if no single one gives a design, all of one kind together, then both kinds.

Levers of makers' quotas in a quarter, where these prevent a design.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain

from fabopt.design.bill import order_date
from fabopt.explain.freedoms import KINDS_ON_SALE
from fabopt.explain.levers import Lever, halfway_whole, move_each_alone, move_together
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.parts.instalments import calendar_month
from fabopt.parts.items import Item
from fabopt.parts.procurement import is_late, lead_months, order_month, soonest_weeks, supply_by
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import purchased, unlimited
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import order_of
from fabopt.program.settings import StoppedError
from fabopt.schema.case import Case
from fabopt.schema.catalog import KINDS, CableLength
from fabopt.schema.design import Conflict, Needed, Number
from fabopt.schema.procurement import Quota
from fabopt.schema.product import Product, Purchasable, Supply, SupplyFrom
from fabopt.schema.stages import QUARTER
from fabopt.units import CENTS_PER_USD, exact, plain_fraction, some


def quota_levers(inquiry: Inquiry) -> Iterator[Lever]:
    """Levers of each maker's quota in a quarter, one for each entry."""
    for quota in inquiry.case.procurement.quotas:
        for entry, units in enumerate(quota.units):
            if units is not None:
                yield _quota_lever(quota, entry, units)


def _quota_lever(quota: Quota, entry: int, value: int) -> Lever:
    def applied(asked: Supposition, most: Number | None) -> Supposition:
        return asked._replace(case=_supplied(asked.case, quota, entry, None if most is None else int(most)))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        bought = order_of(problem, optimum.picked).bought.items()
        come = (
            sum(n for (at, item), n in bought if at in delivery.stages and quota.holds(item.kind, item.sold_by.vendor))
            for delivery in problem.deliveries
            if delivery.entry == entry and (delivery.quota.vendor, delivery.quota.kind) == (quota.vendor, quota.kind)
        )
        return max(value, max(come, default=0))

    place = [quota.vendor, *([quota.kind] if quota.kind else []), *([str(entry)] if len(quota.units) > 1 else [])]
    parts = some(value, quota.kind or "part")
    words = f"{quota.vendor} supplies {parts} a quarter; so many in one quarter would do, all else kept"
    return Lever(f"procurement.quarterly_supply.{'.'.join(place)}", value, words, applied, taken)


def _supplied(case: Case, quota: Quota, entry: int, most: int | None) -> Case:
    """The case with the quota ``most`` of a maker in the quarters of an entry."""
    given = case.procurement.quarterly_supply
    (now,) = (one for one in case.procurement.quotas if (one.vendor, one.kind) == (quota.vendor, quota.kind))
    units = (*now.units[:entry], most, *now.units[entry + 1 :])
    of_vendor = given[quota.vendor]
    changed = {**of_vendor, quota.kind: units} if isinstance(of_vendor, dict) and quota.kind else units
    rules = case.procurement.model_copy(update={"quarterly_supply": given | {quota.vendor: changed}})
    return case.model_copy(update={"procurement": rules})


# Of parts that are short or late, so many are tried alone.
MOST_PARTS = 6
MONTH_DIGITS = 2
WEEKS_PER_MONTH = Fraction(52, 12)
# Weeks are rounded down to a thousandth, so that a part that takes as long is there in time.
WEEK_DIGITS = 3
LAST_MONTH = 1200
# So long after the last stage quarters are looked at in which makers could supply more.
MOST_MONTHS = 36
FREE: dict[str, object] = {"price_usd": 0.0}
DOLLAR: dict[str, object] = {"price_usd": 1.0}
Key = tuple[str, float | None]
Update = Callable[[Key, Purchasable], dict[str, object]]


def delivery_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of late and short parts and of dates, where these alone prevent a design."""
    late, short = _late(inquiry), _short(inquiry)
    told = 0
    for levers in (late, short):
        for conflict in _relieved(inquiry, levers):
            told += 1
            yield conflict
    if not told and late and short:
        with suppress(StoppedError):
            yield from move_together(inquiry, [*late, *short])
    if late or inquiry.problem.deliveries or any(isinstance(sold.supply, tuple) for _, sold in _terms(inquiry)):
        yield from move_each_alone(inquiry, list(_dates(inquiry)))


def date_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of dates, where spending depends on them: budgets of quarters and years, declining prices."""
    if inquiry.problem.limits.periods or inquiry.case.finance.price_decline:
        yield from move_each_alone(inquiry, list(_dates(inquiry)))


def _relieved(inquiry: Inquiry, levers: list[Lever]) -> Iterator[Conflict]:
    """Conflicts of each lever of a kind moved alone; if no single one gives a design, of all together."""
    told = 0
    for conflict in move_each_alone(inquiry, levers[:MOST_PARTS]):
        told += 1
        yield conflict
    if not told and len(levers) > 1:
        with suppress(StoppedError), inquiry.clock.bounded():
            yield from move_together(inquiry, levers)


# -- terms of parts -----------------------------------------------------------------------------------------------


def _terms(inquiry: Inquiry) -> Iterator[tuple[Key, Purchasable]]:
    """Purchasable products, and each length of cables and fibres, with their terms of sale."""
    offered = inquiry.problem.offering.offered
    kinds = KINDS if inquiry.case.include_servers else KINDS_ON_SALE
    products: Iterable[Product] = chain.from_iterable(getattr(offered, kind) for kind in kinds)
    for product in products:
        if isinstance(product, Purchasable):
            yield (product.id, None), product
        for length in getattr(product, "lengths", ()):
            yield (product.id, length.m), length


def _changed(asked: Supposition, update: Update) -> Supposition:
    """The supposition with the terms of parts, or of their lengths, updated."""

    def updated(product: Product) -> Product:
        changes = dict(update((product.id, None), product)) if isinstance(product, Purchasable) else {}
        lengths: tuple[CableLength, ...] = getattr(product, "lengths", ())
        if lengths:
            changes["lengths"] = tuple(
                length.model_copy(update=update((product.id, length.m), length)) for length in lengths
            )
        return product.model_copy(update=changes) if changes else product

    kinds = {kind: tuple(map(updated, getattr(asked.catalog, kind))) for kind in KINDS}
    return asked._replace(catalog=asked.catalog.model_copy(update=kinds))


def _of(key: Key, changes: dict[str, object]) -> Update:
    """Replace the terms of one part (or one cable length)."""
    return lambda other, sold: changes if other == key else {}


def _limit(key: Key, term: str) -> str:
    return ".".join(["catalog", key[0], *([] if key[1] is None else [f"lengths.{key[1]:g}"]), term])


def _called(key: Key) -> str:
    return key[0] if key[1] is None else f"{key[0]}, {key[1]:g} m"


def _bought(problem: Problem, optimum: Optimum, key: Key) -> dict[int, int]:
    """Units of a part that a design buys, by stage."""
    bought = order_of(problem, optimum.picked).bought
    return {stage: units for (stage, item), units in bought.items() if _key(item) == key and units}


def _key(item: Item) -> Key:
    return item.id, item.length_m


# -- too late -----------------------------------------------------------------------------------------------------


def _late(inquiry: Inquiry) -> list[Lever]:
    """Levers: the lead time of each part that is late for some stage, the longest first."""
    levers = [
        _lead_time(inquiry, key, sold)
        for key, sold in _terms(inquiry)
        if sold.lead_time_weeks is not None
        and sold.price_usd is not None
        and _late_for(inquiry, soonest_weeks(sold) or 0)
    ]
    return sorted(levers, key=lambda lever: -lever.value)


def _late_for(inquiry: Inquiry, weeks: float) -> list[int]:
    """Numbers of the stages for which a lead time is too long."""
    first, stages = inquiry.case.procurement.order_from_month, inquiry.problem.stages
    return [number for number, stage in enumerate(stages) if is_late(stage.month, weeks, first)]


def _weeks_until(case: Case, month: int) -> Number:
    """The longest lead time, in weeks rounded down, of a part that arrives by a month."""
    weeks = max(Fraction(0), (month - (case.procurement.order_from_month or 0)) * WEEKS_PER_MONTH)
    return plain_fraction(Fraction(math.floor(weeks * 10**WEEK_DIGITS), 10**WEEK_DIGITS), WEEK_DIGITS)


def _lead_time(inquiry: Inquiry, key: Key, sold: Purchasable) -> Lever:
    weeks, soonest = sold.lead_time_weeks or 0, soonest_weeks(sold) or 0
    late = _late_for(inquiry, soonest)
    until = {_weeks_until(inquiry.case, inquiry.problem.stages[number].month) for number in late}
    saved = exact(weeks) - exact(soonest)
    enough = sorted({*until, *(plain_fraction(exact(value) + saved, WEEK_DIGITS) for value in until)})
    stage = inquiry.problem.stages[late[0]]

    def applied(asked: Supposition, value: Number | None) -> Supposition:
        return _changed(asked, _of(key, {"lead_time_weeks": None if value is None else float(value)}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        enough_for = (
            exact(_weeks_until(problem.case, problem.stages[number].month))
            + (0 if item.offers[number].time.expedite_cents is None else saved)
            for (number, item), units in order_of(problem, optimum.picked).bought.items()
            if _key(item) == key and units and number in late
        )
        return plain_fraction(min(enough_for, default=exact(weeks)), WEEK_DIGITS)

    def between(works: Number, fails: Number) -> Number | None:
        return max((value for value in enough if works < value < fails), default=None)

    due = _month(inquiry.case, stage.month, soonest) + (", even expedited" if saved else "")
    words = (
        f"{_called(key)} for stage {stage.name} ({_month(inquiry.case, stage.month)}) had to be ordered by {due}, and "
        f"orders can be placed from {_month(inquiry.case, inquiry.case.procurement.order_from_month or 0)} on"
    )
    return Lever(_limit(key, "lead_time_weeks"), weeks, words, applied, taken, between)


def _month(case: Case, month: int, weeks: float | None = None) -> str:
    """A month, or the time ``weeks`` before it, in words, with the day where the case has a calendar."""
    day = order_date(case.start, month, weeks)
    return f"month {plain_fraction(order_month(month, weeks), MONTH_DIGITS)}{f', {day}' if day else ''}"


# -- too few ------------------------------------------------------------------------------------------------------


def _short(inquiry: Inquiry) -> list[Lever]:
    """Levers: the quotas of makers, and the supply of each part with a limit."""
    return [
        *quota_levers(inquiry),
        *(
            _supply(inquiry, key, sold.supply)
            for key, sold in _terms(inquiry)
            if sold.supply is not None and sold.price_usd is not None
        ),
    ]


def _supply(inquiry: Inquiry, key: Key, supply: Supply) -> Lever:
    months = [stage.month for stage in inquiry.problem.stages]
    most = [supply_by(supply, month) or 0 for month in months]

    def applied(asked: Supposition, value: Number | None) -> Supposition:
        return _changed(asked, _of(key, {"supply": None if value is None else raised(supply, int(value))}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        bought, total, wanted = _bought(problem, optimum, key), 0, most[0]
        for number, there in enumerate(most):
            total += bought.get(number, 0)
            wanted = max(wanted, total) if total > there else wanted
        return wanted

    def least(inquiry: Inquiry, asked: Supposition) -> Number | None:
        return _least_of(inquiry, _changed(asked, _of(key, {"supply": None})), key) if len(set(most)) == 1 else None

    words = f"{most[-1]} x {_called(key)} can be had by month {months[-1]}; so many in all, from the start on, would do"
    return Lever(_limit(key, "supply"), most[0], words, applied, taken, least=least)


def _least_of(inquiry: Inquiry, asked: Supposition, key: Key) -> int | None:
    """The fewest units of a part that any design buys; None with limits on spending, or where it is not proven.

    They are the cost of the cheapest design when a unit costs a dollar and all else is free.
    """
    if unlimited(asked.case) != asked.case:
        return None
    priced = _changed(asked, lambda other, sold: {} if sold.price_usd is None else DOLLAR if other == key else FREE)
    case = purchased(asked.case).model_copy(update={"include_servers": False})
    least = inquiry.least_cents(problem_of(case, priced.catalog))
    return None if least is None else least // CENTS_PER_USD


def raised(supply: Supply, least: int) -> Supply:
    """The supply raised to ``least`` units at any time."""
    if not isinstance(supply, tuple):
        return max(supply, least)
    first = max(least, supply_by(supply, 0) or 0)
    later = (step for step in supply if step.quantity > first and step.from_month > 0)
    return (SupplyFrom(from_month=0, quantity=first), *later)


# -- other dates --------------------------------------------------------------------------------------------------


def _dates(inquiry: Inquiry) -> Iterator[Lever]:
    """Levers of dates: the first month of orders, earlier, and the month of each stage, later."""
    case, terms = inquiry.case, [sold for _, sold in _terms(inquiry)]
    first = case.procurement.order_from_month or 0
    weeks = {weeks for sold in terms for weeks in (sold.lead_time_weeks, soonest_weeks(sold)) if weeks}
    takes = {math.ceil(lead_months(week)) for week in weeks}
    earlier = {stage.month - months for stage in inquiry.problem.stages for months in takes}
    if any(month < first for month in earlier):
        yield _orders_from(case, sorted(month for month in earlier if month < first))
    steps = (sold.supply for sold in terms if isinstance(sold.supply, tuple))
    there = {first + months for months in takes} | {step.from_month for supply in steps for step in supply}
    there |= set(_quarters(inquiry.problem))
    for number, stage in enumerate(case.stages or ()):
        later = sorted(month for month in there if stage.month < month <= LAST_MONTH)
        if later:
            yield _stage_month(case, number, later)


def _quarters(problem: Problem) -> Iterator[int]:
    """The first months of quarters after the first stage, up to some after the last, where makers' supply counts."""
    calendar, stages = calendar_month(problem.case.start), problem.stages
    for month in range(stages[0].month + 1, stages[-1].month + MOST_MONTHS + 1 if problem.deliveries else 0):
        if (month + calendar) % QUARTER == 0:
            yield month


def _among(months: Sequence[int]) -> Callable[[Number, Number], Number | None]:
    """A function for the middle one of ``months`` between two others: only these change which parts are in time."""

    def between(works: Number, fails: Number) -> Number | None:
        inside = [month for month in months if min(works, fails) < month < max(works, fails)]
        return inside[len(inside) // 2] if inside else None

    return between


def _orders_from(case: Case, earlier: Sequence[int]) -> Lever:
    first = case.procurement.order_from_month or 0

    def applied(asked: Supposition, value: Number | None) -> Supposition:
        month = earlier[0] if value is None else int(value)
        rules = asked.case.procurement.model_copy(update={"order_from_month": month})
        return asked._replace(case=asked.case.model_copy(update={"procurement": rules}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        return problem.case.procurement.order_from_month or 0

    words = f"orders can be placed from {_month(case, first)} on; earlier ones would be in time"
    return Lever("procurement.order_from_month", first, words, applied, taken, _among(earlier))


def _stage_month(case: Case, number: int, later: Sequence[int]) -> Lever:
    stages = case.stages or ()
    stage = stages[number]

    def applied(asked: Supposition, value: Number | None) -> Supposition:
        month = later[-1] if value is None else int(value)
        moved = (
            other.model_copy(update={"month": max(other.month, month)}) if index >= number else other
            for index, other in enumerate(asked.case.stages or ())
        )
        return asked._replace(case=asked.case.model_copy(update={"stages": tuple(moved)}))

    def taken(problem: Problem, optimum: Optimum) -> Number:
        return problem.stages[number].month

    def along(value: Number) -> tuple[Needed, ...]:
        behind = (other for other in stages[number + 1 :] if other.month < value)
        return tuple(Needed(limit=f"stages.{other.name}.month", needed=value) for other in behind)

    words = f"stage {stage.name} is planned for {_month(case, stage.month)}; later, parts are there"
    between = halfway_whole if case.finance.price_decline and unlimited(case) != case else _among(later)
    return Lever(f"stages.{stage.name}.month", stage.month, words, applied, taken, between, along=along)
