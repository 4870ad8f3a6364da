"""Why a case has no design though parts join: lead times, supply, rules of buying.

Each is set free alone, all else kept; what a design then takes names the parts, and the dates when they were wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from fabopt.design.bill import order_date
from fabopt.explain.what_if import Inquiry
from fabopt.parts.items import Item
from fabopt.parts.procurement import order_month
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import all_uses, order_of
from fabopt.schema.base import Strict
from fabopt.schema.case import Case
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import Conflict
from fabopt.units import plain_fraction

KINDS_ON_SALE = ("switches", "nics", "transceivers", "cables", "fibres")
# Of parts that are short or late, so many are named.
MOST_PARTS = 6
# How many more part numbers of a kind are tried, one after the other.
MOST_MORE_PART_NUMBERS = 6
MONTH_DIGITS = 2
WEEKS_PER_MONTH = 52 / 12
Product = TypeVar("Product", bound=Strict)


def buying_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Lead times, then each rule of buying."""
    yield from _lead_times(inquiry)
    rules = inquiry.case.procurement
    for key in ("approved_vendors", "forbidden_vendors", "approved_parts", "forbidden_parts"):
        value, limit = getattr(rules, key), f"procurement.{key}"
        if value is not None:
            inquiry.tell(limit)
            if inquiry.design(_ruled(inquiry.case, **{key: None})) is not None:
                detail = f"without {key} there is a design"
                yield Conflict(limit=limit, value=", ".join(value), needed="any", detail=detail)
    for kind, most in rules.max_part_numbers.items():
        yield from _part_numbers(inquiry, kind, most)


def _ruled(case: Case, **changes: object) -> Case:
    return case.model_copy(update={"procurement": case.procurement.model_copy(update=changes)})


def _part_numbers(inquiry: Inquiry, kind: str, most: int) -> Iterator[Conflict]:
    """The fewest part numbers of a kind, up to some more, that give a design."""
    limit = f"procurement.max_part_numbers.{kind}"
    inquiry.tell(limit)
    given = inquiry.case.procurement.max_part_numbers
    others = {str(word): number for word, number in given.items() if word != kind}
    if inquiry.design(_ruled(inquiry.case, max_part_numbers=others)) is None:
        return
    numbers = range(most + 1, most + 1 + MOST_MORE_PART_NUMBERS)
    cases = ((more, _ruled(inquiry.case, max_part_numbers=others | {kind: more})) for more in numbers)
    fewest = inquiry.first_with_design(cases)
    detail = f"with any number of kind {kind} there is a design"
    if fewest is not None:
        detail = f"the fewest part numbers of kind {kind} that give a design"
    yield Conflict(limit=limit, value=most, needed=fewest, detail=detail)


# -- what comes too late, or is too little ------------------------------------------------------------------------


def _freed(inquiry: Inquiry, **terms: object) -> tuple[Problem, Optimum] | None:
    """A design with such terms of all parts in place of theirs; None if nothing changes, or there is none."""
    freed = {
        kind: tuple(_with_terms(product, terms) for product in getattr(inquiry.catalog, kind)) for kind in KINDS_ON_SALE
    }
    catalog: Catalog = inquiry.catalog.model_copy(update=freed)
    if catalog == inquiry.catalog:
        return None
    free = replace(inquiry, catalog=catalog, problem=problem_of(inquiry.case, catalog))
    optimum = free.design(inquiry.case)
    return None if optimum is None else (free.problem, optimum)


def _with_terms(product: Product, terms: dict[str, object]) -> Product:
    changes = {key: value for key, value in terms.items() if getattr(product, key, None) is not None}
    lengths = getattr(product, "lengths", ())
    if lengths:
        changes["lengths"] = tuple(_with_terms(length, terms) for length in lengths)
    return product.model_copy(update=changes)


def _lead_times(inquiry: Inquiry) -> Iterator[Conflict]:
    """Whether it is only that parts cannot be there in time: which, and by when they had to be ordered."""
    if not any(offer.late for item in inquiry.problem.item_table.items for offer in item.offers):
        return
    inquiry.tell("catalog.lead_time_weeks")
    freed = _freed(inquiry, lead_time_weeks=None)
    if freed is None:
        return
    problem, optimum = freed
    first = inquiry.case.procurement.order_from_month or 0
    real = {(item.id, item.length_m): item for item in inquiry.problem.item_table.items}
    named: set[Item] = set()
    for stage, taken in sorted(all_uses(problem, optimum.picked), key=lambda use: (use[0], use[1].key)):
        item = real[taken.id, taken.length_m]
        if not item.offers[stage].late or item in named or len(named) == MOST_PARTS:
            continue
        named.add(item)
        month, name = inquiry.problem.stages[stage].month, inquiry.problem.stages[stage].name
        due = _month(inquiry.case, month, item.lead_time_weeks)
        yield Conflict(
            limit=f"catalog.{item.id}.lead_time_weeks",
            value=item.lead_time_weeks,
            needed=round(max(0.0, (month - first) * WEEKS_PER_MONTH), 1),
            detail=f"{_called(item)} for stage {name} ({_month(inquiry.case, month)}) had to be ordered by {due}, and "
            f"orders can be placed from {_month(inquiry.case, first)} on; if all parts came in time there is a design",
        )


def _month(case: Case, month: int, weeks: float | None = None) -> str:
    """A month, or so many weeks before it, with the day where the case has a calendar."""
    day = order_date(case.start, month, weeks)
    return f"month {plain_fraction(order_month(month, weeks), MONTH_DIGITS)}{f', {day}' if day else ''}"


def supply_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Whether it is only the supply of parts that is short, and of which."""
    if not any(offer.most is not None for item in inquiry.problem.item_table.items for offer in item.offers):
        return
    inquiry.tell("catalog.supply")
    freed = _freed(inquiry, supply=None)
    if freed is None:
        return
    problem, optimum = freed
    bought = order_of(problem, optimum.picked).bought
    real = {(item.id, item.length_m): item for item in inquiry.problem.item_table.items}
    short: list[Conflict] = []
    for taken in dict.fromkeys(item for _, item in bought):
        for stage in range(len(problem.stages)):
            wanted = sum(bought.get((earlier, taken), 0) for earlier in range(stage + 1))
            most = real[taken.id, taken.length_m].offers[stage].most
            if most is not None and wanted > most:
                short.append(_short(taken, problem.stages[stage].month, most, wanted))
                break
    yield Conflict(
        limit="catalog.supply",
        value="as the catalog gives it",
        needed="unlimited",
        detail="; ".join(["with an unlimited supply of every part there is a design", *_short_parts(short)]),
    )
    yield from short[:MOST_PARTS]


def _short_parts(short: list[Conflict]) -> list[str]:
    """What is too little, in a word each."""
    parts = [conflict.limit.removeprefix("catalog.").removesuffix(".supply") for conflict in short[:MOST_PARTS]]
    return [f"too little there is of {', '.join(dict.fromkeys(parts))}"] if parts else []


def _short(item: Item, month: int, most: int, wanted: int) -> Conflict:
    detail = f"{most} x {_called(item)} can be had by month {month}; a design without limits of supply takes {wanted}"
    return Conflict(limit=f"catalog.{item.id}.supply", value=most, needed=wanted, detail=detail)


def _called(item: Item) -> str:
    return item.id if item.length_m is None else f"{item.id}, {item.length_m:g} m"
