"""Conflicts of procurement rules: each lifted alone, all else kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from fabopt.explain.demands import changed
from fabopt.explain.freedoms import ruled, unruled, value_of
from fabopt.explain.levers import advice
from fabopt.explain.what_if import Inquiry
from fabopt.problem.vendors import Shortage, shortages
from fabopt.program.settings import StoppedError
from fabopt.rules.buying import COUNTED, LISTS, PRICE_RULES, BuyingRule
from fabopt.schema.case import Case, Fabric
from fabopt.schema.design import Conflict, Needed
from fabopt.schema.last_group import what_keeps_groups_equal, what_keeps_leaves_alike
from fabopt.schema.procurement import SOURCE_TIERS, SourceWord

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


# -- conflicts of ``min_sources`` -------------------------------------------------------------------------------------
# Conflicts of ``min_sources``: tiers or kinds of parts that cannot have as many vendors as the case asks for.


# So many vendors more than the case allows are tried, one after the other.
MOST_MORE_VENDORS = 6


def source_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of vendors: the most that all short places can have together, and the key that allows a second leaf.

    No number is advised if the most vendors have no design either, or none was found in time.
    """
    short = list(shortages(inquiry.problem))
    for shortage in short:
        inquiry.tell(_limit(shortage))
    yield _fewer(inquiry, short)
    if any(shortage.place == "leaf" for shortage in short):
        for fabric in inquiry.case.fabrics:
            yield from _second_leaves(inquiry, fabric)


def _has_design(inquiry: Inquiry, fewer: Mapping[SourceWord, int]) -> bool:
    """Whether a design with the least vendors ``fewer`` was found; 0: no demand."""
    wanted = {**inquiry.case.procurement.min_sources, **fewer}
    kept = {place: number for place, number in wanted.items() if number}
    with suppress(StoppedError):
        return inquiry.design(ruled(inquiry.case, min_sources=kept)) is not None
    return False


def _limit(shortage: Shortage) -> str:
    return f"procurement.min_sources.{shortage.place}"


def _fewer(inquiry: Inquiry, short: Sequence[Shortage]) -> Conflict:
    first, detail = short[0], "; ".join(_told(inquiry.problem.case, one) for one in short)
    if not _has_design(inquiry, {one.place: one.most for one in short}):
        aside = f"{detail}; with no more than that something else stands in the way, or the time was over"
        return Conflict(limit=_limit(first), value=first.wanted, needed=None, detail=aside)
    conflict = advice(_limit(first), first.wanted, first.most, detail)
    changes = tuple(Needed(limit=_limit(one), needed=one.most) for one in short)
    return conflict.model_copy(update={"together": changes if len(changes) > 1 else ()})


def _told(case: Case, shortage: Shortage) -> str:
    place = shortage.place
    if len(shortage.sellers) == shortage.most:
        sellers = " and ".join(sorted(vendor or "no vendor" for vendor in shortage.sellers)) or "nobody"
        return f"what is on sale for {place} and may be used is of {sellers}"
    if place not in SOURCE_TIERS:
        return f"all tiers of all fabrics have {shortage.most} products of switches at the most"
    reasons = "; ".join(f"{fabric.name} has {_kept(case, fabric, place)}" for fabric in case.fabrics)
    return f"a {place} tier has no more vendors than products: {reasons}"


def _kept(case: Case, fabric: Fabric, tier: str) -> str:
    """The number of products that a tier of a fabric may have, in words, with the reason."""
    if tier != "leaf":
        return "one"
    if fabric.groups != "any":
        return f"one with `fabrics.{fabric.name}.groups: {fabric.groups}`"
    protocols = ("ethernet", "infiniband") if fabric.protocol == "any" else (fabric.protocol,)
    own = set(what_keeps_groups_equal(case, fabric))
    of_each: list[set[str]] = [{*own, *what_keeps_leaves_alike(case, protocol)} for protocol in protocols]
    # where one protocol allows two, so does the fabric
    reasons = set[str]().union(*of_each) if all(of_each) else set()
    return f"one {' and '.join(sorted(reasons))}" if reasons else "two at the most"


def _second_leaves(inquiry: Inquiry, fabric: Fabric) -> Iterator[Conflict]:
    """Conflicts of keys that keep a fabric's leaves of one product, where opening one gives a design."""
    if fabric.groups != "any":
        detail = "with groups: any there is a design: a leaf tier may then have two products"
        limit = f"fabrics.{fabric.name}.groups"
        yield from inquiry.opened(
            changed(inquiry.case, fabric, groups="any"),
            Conflict(limit=limit, value=fabric.groups, needed="any", detail=detail),
        )


def vendor_conflicts(inquiry: Inquiry, key: str, place: str) -> Iterator[Conflict]:
    """The conflict of a number of vendors, with the nearest number that gives a design."""
    given = getattr(inquiry.case.procurement, key)
    return inquiry.of_limit(f"procurement.{key}.{place}", given[place], _vendors(inquiry, key, place))


def _vendors(inquiry: Inquiry, key: str, place: str) -> Iterator[Conflict]:
    given = getattr(inquiry.case.procurement, key)
    limit, others = f"procurement.{key}.{place}", {name: number for name, number in given.items() if name != place}
    if inquiry.design(ruled(inquiry.case, **{key: others})) is None:
        return
    detail = f"without {key} of {place} there is a design"
    if key == "single_vendor":
        yield Conflict(limit=limit, value=given[place], needed="any", detail=detail)
        return
    most = given[place]
    numbers = range(most - 1, 0, -1) if key == "min_sources" else range(most + 1, most + 1 + MOST_MORE_VENDORS)
    nearest = inquiry.first_with_design(
        (number, ruled(inquiry.case, **{key: others | {place: number}})) for number in numbers
    )
    if nearest is None:
        yield Conflict(limit=limit, value=most, needed="any", detail=detail)
    else:
        yield advice(limit, most, nearest, f"the number of vendors of {place} nearest to it that gives a design")
