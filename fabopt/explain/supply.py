"""Conflicts of procurement rules: each lifted alone, all else kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabopt.explain.freedoms import ruled, unruled, value_of
from fabopt.explain.levers import advice
from fabopt.explain.sources import vendor_conflicts
from fabopt.explain.what_if import Inquiry
from fabopt.rules.buying import COUNTED, LISTS, PRICE_RULES, BuyingRule
from fabopt.schema.design import Conflict

# How many more part numbers of a kind are tried, one after the other.
MOST_MORE_PART_NUMBERS = 6


def buying_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of each procurement rule that alone prevents a design."""
    rules = inquiry.case.procurement
    for rule in (*LISTS, *PRICE_RULES):
        if rule.free != (value := value_of(inquiry.case, rule)):
            words = "true" if value is True else listed(value)
            yield from inquiry.of_limit(rule.path, words, _freed(inquiry, rule, value, words))
    for rule in COUNTED:
        for place in value_of(inquiry.case, rule):
            yield from vendor_conflicts(inquiry, rule.key, place)
    for kind, most in rules.max_part_numbers.items():
        yield from part_number_conflicts(inquiry, kind, most)


def _freed(inquiry: Inquiry, rule: BuyingRule, value: Any, words: str) -> Iterator[Conflict]:
    if inquiry.design(unruled(rule, inquiry.case)) is not None:
        needed = "any" if rule.free is None else "false" if rule.free is False else rule.free
        detail = f"without {rule.key} there is a design{_sparing(inquiry, rule.key, value)}"
        yield Conflict(limit=rule.path, value=words, needed=needed, detail=detail)


def listed(value: Sequence[str] | Mapping[str, Sequence[str]]) -> str:
    """The names that a rule of buying lists, in words."""
    if isinstance(value, Mapping):
        return "; ".join(f"{place}: {', '.join(names)}" for place, names in value.items())
    return ", ".join(value)


def _sparing(inquiry: Inquiry, key: str, value: Sequence[str] | Mapping[str, Sequence[str]]) -> str:
    """Words on the single entries of a list of forbidden names whose removal gives a design; else empty."""
    if not key.startswith("forbidden") or isinstance(value, Mapping) or len(value) < 2:
        return ""
    enough: list[str] = []
    for name in value:
        others = tuple(other for other in value if other != name)
        if inquiry.design(ruled(inquiry.case, **{key: others})) is not None:
            enough.append(name)
    return f"; to allow {' or '.join(enough)} would be enough" if enough else ""


def part_number_conflicts(inquiry: Inquiry, kind: str, most: int) -> Iterator[Conflict]:
    """The fewest part numbers of a kind, up to some more, that give a design."""
    limit = f"procurement.max_part_numbers.{kind}"
    return inquiry.of_limit(limit, most, _part_numbers(inquiry, kind, most, limit))


def _part_numbers(inquiry: Inquiry, kind: str, most: int, limit: str) -> Iterator[Conflict]:
    given = inquiry.case.procurement.max_part_numbers
    others = {str(word): number for word, number in given.items() if word != kind}
    if inquiry.design(ruled(inquiry.case, max_part_numbers=others)) is None:
        return
    numbers = range(most + 1, most + 1 + MOST_MORE_PART_NUMBERS)
    cases = ((more, ruled(inquiry.case, max_part_numbers=others | {kind: more})) for more in numbers)
    fewest = inquiry.first_with_design(cases)
    if fewest is not None:
        yield advice(limit, most, fewest, f"the fewest part numbers of kind {kind} that give a design")
        return
    detail = f"with any number of kind {kind} there is a design"
    yield Conflict(limit=limit, value=most, needed=None, detail=detail)
