"""The net price of one unit, as the cells of a line state it together: list, discount, unit, total, quantity.

Arithmetic decides among readings; prices that it leaves open are not taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import chain, pairwise, product
from typing import NamedTuple

from fabopt.io.quote.values import Discount
from fabopt.parts.quotes import QuoteLine
from fabopt.units import CENTS_PER_USD, grouped

# -- prices by quantity, in columns beside each other or in rows below each other, as breaks of one price -------------


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
    groups = grouped((line.key, line) for line in lines if line.status == "matched")
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


# -- the net price of one unit, as the cells of a line state it together ----------------------------------------------


MOST_USD = 10**12
# Headings that say that a discount is in the price already.
_NET = re.compile(r"\b(?:net|netto|your|quoted|discounted|special|offer|customer|sell|nettopreis)\b", re.IGNORECASE)

_UNCLEAR = "its discount cannot be read"


class HeadedPrice(NamedTuple):
    """A price, and its column with the heading of that."""

    heading: str
    price: Fraction


@dataclass(frozen=True)
class StatedPrice:
    """The statements of a line on its price, by column. ``discounts``: the possible meanings of each."""

    units: Sequence[HeadedPrice] = ()
    list: Fraction | None = None
    totals: Sequence[HeadedPrice] = ()
    quantity: int | None = None
    discounts: Sequence[Sequence[Discount]] = ()

    @property
    def total(self) -> Fraction | None:
        """The total; of several the first one."""
        return self.totals[0].price if self.totals else None

    @property
    def is_clear(self) -> bool:
        """Whether every discount that is stated can be read."""
        return all(self.discounts)

    def less(self, price: Fraction) -> Sequence[Fraction]:
        """Possible prices after discounts: several repeat one, or apply one after the other."""
        if not self.discounts or not self.is_clear:
            return []
        alone = [[discount.off(price) for discount in meant] for meant in self.discounts]
        agreed = set.intersection(*map(set, alone))
        if agreed:
            return [net for net in alone[0] if net in agreed and net >= 0]
        chained = [reduce(lambda net, discount: discount.off(net), row, price) for row in product(*self.discounts)]
        return [net for net in dict.fromkeys((*chain(*alone), *chained)) if net >= 0]


@dataclass(frozen=True)
class NetPrice:
    """The net price of a unit, or the reason why there is none.

    ``remarks``: how it was worked out; ``doubts``: those of them that question it; ``breaks``: prices by quantity.
    """

    value: Fraction | None = None
    reason: str = ""
    remarks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    breaks: tuple[Tier, ...] = ()


def net_price(stated: StatedPrice) -> NetPrice:
    """The price of a unit that all that is stated agrees with."""
    if _differ(stated.units):
        return _of_several(stated)
    if stated.units:
        return _of_unit(stated, stated.units[0])
    if _differ(stated.totals):
        return NetPrice(reason=f"it has several totals: {_headed(stated.totals)}")
    if stated.list is not None:
        return _of_list(stated, stated.list)
    return NetPrice() if stated.total is None else _of_total(stated)


def _differ(prices: Sequence[HeadedPrice]) -> bool:
    return len({price for _, price in prices}) > 1


def _headed(prices: Sequence[HeadedPrice]) -> str:
    return ", ".join(f"{plain(price)} in {heading}" for heading, price in prices)


def _of_several(stated: StatedPrice) -> NetPrice:
    """Of prices of a unit beside each other, as offers to choose from or by quantity, the one that makes the total."""
    shown = " and ".join(plain(price) for _, price in stated.units)
    if (less := _less_discount(stated)) is not None:
        return less
    tiers = tiers_of(stated.units)
    kept: list[NetPrice] = []
    if stated.total is not None and stated.quantity is not None and not _differ(stated.totals):
        kept = [net for unit in stated.units if (net := _of_unit(stated, unit)).value is not None]
    if len(kept) != 1 and tiers and stated.total is None:
        remark = f"its prices by quantity are from {', '.join(f'{start:,}' for start, _ in tiers)} on"
        return NetPrice(price_at(tiers, stated.quantity), remarks=(remark,), breaks=_from_one(tiers))
    if len(kept) != 1:
        return NetPrice(reason=f"it has several prices of a unit: {_headed(stated.units)}")
    (net,) = kept
    assert net.value is not None
    remarks = (*net.remarks, f"of the prices {shown} the total is that of {plain(net.value)}")
    doubts = net.doubts
    if tiers and (due := price_at(tiers, stated.quantity)) != net.value:
        doubts = (*doubts, f"the total is not at {plain(due)}, which is the price of {stated.quantity:,}")
    return replace(net, remarks=(*remarks, *doubts), doubts=doubts, breaks=_from_one(tiers))


def _from_one(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    """Prices by quantity, the first one from quantity 1 on."""
    return ((1, tiers[0][1]), *tiers[1:]) if tiers else ()


def _less_discount(stated: StatedPrice) -> NetPrice | None:
    """The lower of two prices of a unit, where it is the higher one less the discount, and makes the total if any."""
    prices = sorted({price for _, price in stated.units})
    if len(prices) != 2 or not _agreeing(stated, prices[:1]):
        return None
    net, gross = prices
    if not any(less != gross and _is_close(less, net, 1) for less in stated.less(gross)):
        return None
    return NetPrice(net, remarks=(f"unit price {plain(gross)} less the discount is {plain(net)}",))


def _of_unit(stated: StatedPrice, headed: HeadedPrice) -> NetPrice:
    unit = headed.price
    if stated.list is not None and unit > stated.list:
        return NetPrice(reason=f"its unit price {plain(unit)} is above its list price {plain(stated.list)}")
    is_net = stated.list is not None or bool(_NET.search(headed.heading))
    if not is_net and not stated.is_clear and stated.total is None:
        return NetPrice(reason=_UNCLEAR)
    readings = [unit] if is_net else [unit, *stated.less(unit)]
    kept = _agreeing(stated, readings)
    if not kept and stated.list is None:
        kept = _agreeing(stated, stated.less(unit))
    if not kept:
        return NetPrice(reason=_contradiction(stated, unit))
    if len(set(kept)) > 1:
        return NetPrice(reason="whether the discount is in the unit price already is not said, and no total tells")
    if kept[0] == unit:
        said = _of_discount(stated, unit)
        return NetPrice(unit, remarks=said, doubts=() if stated.totals and stated.quantity else said)
    remark = f"unit price {plain(unit)} less the discount is {plain(kept[0])}, as the total says"
    return NetPrice(kept[0], remarks=(remark,))


def _of_discount(stated: StatedPrice, unit: Fraction) -> tuple[str, ...]:
    """Remarks if list price, discount and unit price disagree; the total decides for the unit price."""
    if stated.list is None or not stated.discounts:
        return ()
    if any(_is_close(less, unit, 1) for less in stated.less(stated.list)):
        return ()
    return (f"list price {plain(stated.list)} less the discount is not the unit price {plain(unit)}, which is taken",)


def _of_list(stated: StatedPrice, price: Fraction) -> NetPrice:
    if not stated.is_clear:
        return NetPrice(reason=_UNCLEAR)
    readings = stated.less(price) or [price]
    kept = _agreeing(stated, readings)
    if not kept:
        return NetPrice(reason=_contradiction(stated, readings[0]))
    if len(set(kept)) > 1:
        shown = " or ".join(plain(net) for net in dict.fromkeys(kept))
        return NetPrice(reason=f"its discount can be read in several ways, and no total tells: {shown} for one")
    if stated.discounts:
        return NetPrice(kept[0], remarks=(f"list price {plain(price)} less the discount is {plain(kept[0])}",))
    return NetPrice(kept[0], remarks=("the list price is taken: no discount and no other price is stated",))


def _of_total(stated: StatedPrice) -> NetPrice:
    assert stated.total is not None
    if stated.quantity is None:
        return NetPrice(reason="a total without a quantity: the price of one is not known")
    unit = stated.total / stated.quantity
    return NetPrice(
        unit, remarks=(f"the total {plain(stated.total)} for {stated.quantity:,} is {plain(unit)} for one",)
    )


def _agreeing(stated: StatedPrice, readings: Sequence[Fraction]) -> list[Fraction]:
    """Readings that make a total, where one is stated: of several it may be the one with or without tax."""
    if not stated.totals or stated.quantity is None:
        return list(readings)
    units = stated.quantity
    return [unit for unit in readings if any(_is_close(unit * units, total, units) for _, total in stated.totals)]


def _is_close(amount: Fraction, other: Fraction, units: int) -> bool:
    """Whether two amounts differ by no more than cents that were rounded, one a unit and one in all."""
    return abs(amount - other) <= Fraction(units + 2, 2 * CENTS_PER_USD)


def _contradiction(stated: StatedPrice, unit: Fraction) -> str:
    assert stated.total is not None and stated.quantity is not None
    product = unit * stated.quantity
    return f"{stated.quantity:,} x {plain(unit)} is {plain(product)}, but the total says {plain(stated.total)}"


def plain(amount: Fraction) -> str:
    """An amount as people read it: ``1,234.50``; no decimals where there are none."""
    return f"{float(amount):,.0f}" if amount.denominator == 1 else f"{float(amount):,.2f}"
