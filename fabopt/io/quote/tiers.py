"""Prices by quantity, in columns beside each other or in rows below each other, as breaks of one price."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from fabopt.parts.quotes import QuoteLine

Tier = tuple[int, Fraction]
_NUMBER = r"([0-9]{1,3}(?:[., ][0-9]{3}){1,4}|[0-9]{1,15})"
_ENDS = r"(?![0-9.,]*[0-9]|\s?%)"
# From how many on: the number itself, the one after it, or one where only the end is said.
_FROM = re.compile(
    rf"(?:\bfrom|\bab|\bà partir de|\bdès|\bdesde|\ba partir de|\bda|[≥@]|>=|=>|\bmin\.?|\bqty|"
    rf"\bmenge)\s*{_NUMBER}{_ENDS}|"
    rf"(?<![0-9.,]){_NUMBER}\s*(?:pcs?|pieces?|units?|ea|stk|stück|uds?|个|個|件|只|枚|台|本)?\s*"
    rf"(?:\+|(?:and|or) (?:up|more|above)|& up|et plus|ou plus|o más|y más|und mehr|oder mehr|"
    rf"[-–—~～〜至]|\.\.|\b(?:to|bis|à|a|through)\b|以上|起)",
    re.IGNORECASE,
)
_ABOVE = re.compile(rf"(?:>|\b(?:above|over|more than|über|mehr als|plus de|más de))\s*{_NUMBER}{_ENDS}", re.IGNORECASE)
_BELOW = re.compile(
    rf"(?:<=?|≤|\b(?:up to|under|below|less than|bis(?: zu)?|unter|jusqu['’]à|moins de|hasta|menos de))\s*{_NUMBER}|"
    rf"(?<![0-9]){_NUMBER}\s?(?:个|個|台)?(?:以下|未満|以内)",
    re.IGNORECASE,
)


def from_of(text: str) -> int | None:
    """The least quantity of a price, by a text such as ``100-499``, ``ab 500`` or ``up to 99``."""
    if match := _ABOVE.search(text):
        return _count(match[1]) + 1
    if match := _FROM.search(text):
        return _count(match[1] or match[2])
    return 1 if _BELOW.search(text) else None


def _count(text: str) -> int:
    return int(re.sub(r"[., ]", "", text))


def tiers_of(headed: Sequence[tuple[str, Fraction]]) -> tuple[Tier, ...]:
    """Prices by quantity of headings that say from how many, one of them perhaps not: from one on.

    None where several do not say it, or where prices rise.
    """
    starts = [(from_of(heading), price) for heading, price in headed]
    unsaid = sum(start is None for start, _ in starts)
    tiers = sorted((start or 1, price) for start, price in starts)
    return tuple(tiers) if unsaid <= 1 < len(tiers) and _fall(tiers) else ()


def _fall(tiers: Sequence[Tier]) -> bool:
    return all(lower[0] < upper[0] and lower[1] >= upper[1] for lower, upper in pairwise(tiers))


def price_at(tiers: Sequence[Tier], quantity: int | None) -> Fraction:
    """The unit price at an order quantity; for an unknown quantity the first tier's."""
    return next((price for start, price in reversed(tiers) if quantity is not None and start <= quantity), tiers[0][1])


def with_tiers(lines: Sequence[QuoteLine]) -> tuple[QuoteLine, ...]:
    """The lines, with rows of one product that each state a least quantity merged as breaks of its price."""
    groups: dict[tuple[str, float | None], list[QuoteLine]] = {}
    for line in lines:
        if line.status == "matched":
            groups.setdefault(line.key, []).append(line)
    breaks = {key: tiers for key, group in groups.items() if (tiers := _tiers_of_rows(group))}
    return tuple(
        _with_breaks(line, breaks[line.key]) if line.status == "matched" and line.key in breaks else line
        for line in lines
    )


def _tiers_of_rows(group: Sequence[QuoteLine]) -> tuple[Tier, ...]:
    """Prices of rows by the quantity from which they hold, or by the smallest order that they ask for."""
    prices = {(line.unit_price, line.currency) for line in group}
    if len({line.currency for line in group}) > 1 or any(line.breaks for line in group):
        return ()
    starts = [line.tier_from for line in group]
    if None in starts and len(prices) > 1:
        starts = [line.minimum_order or 1 for line in group]
    tiers = sorted(
        (start, line.unit_price) for start, line in zip(starts, group, strict=True)
        if start is not None and line.unit_price is not None
    )  # fmt: skip
    is_one = len(tiers) == 1 and tiers[0][0] == 1
    return tuple(tiers) if len(tiers) == len(group) and not is_one and _fall(tiers) else ()


def _with_breaks(line: QuoteLine, tiers: Sequence[Tier]) -> QuoteLine:
    least = max(tiers[0][0], line.minimum_order or 1) if line.tier_from else tiers[0][0]
    minimum = least if least > 1 else None
    remark = f"one of {len(tiers)} prices by quantity, that of {line.tier_from or line.minimum_order or 1:,} and more"
    breaks = ((1, tiers[0][1]), *tiers[1:]) if len(tiers) > 1 else ()
    return replace(line, breaks=breaks, minimum_order=minimum, remarks=(*line.remarks, remark))


def with_minimums(lines: Sequence[QuoteLine]) -> tuple[QuoteLine, ...]:
    """The lines, with a doubt on each whose smallest order is more than it offers."""
    return tuple(map(_with_minimum, lines))


def _with_minimum(line: QuoteLine) -> QuoteLine:
    least, offered = line.minimum_order, line.quantity
    if line.status != "matched" or least is None or offered is None or least <= offered:
        return line
    doubt = f"its smallest order, {least:,}, is more than the {offered:,} that are offered"
    return replace(line, remarks=(*line.remarks, doubt), doubts=(*line.doubts, doubt))
