"""Why limits on money, power or rack units leave no design: what each would have to be with the others kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from fabopt.explain.supply import unlimited
from fabopt.explain.what_if import Inquiry, Least
from fabopt.problem.limits import Limits
from fabopt.problem.problem import Problem
from fabopt.program.orders import Sums
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Conflict
from fabopt.units import usd, watts


class _Limit(NamedTuple):
    """A limit on spending: its key in the case and in a problem's limits, its metric, and how its figures are said."""

    key: str
    field: str
    metric: str
    unit: str
    least: str


LIMITS = (
    _Limit("budget_usd", "capex_cents", "capex_usd", "$", "the cheapest design costs"),
    _Limit("power_w", "power_mw", "power_w", "W", "the leanest design draws"),
    _Limit("rack_units", "rack_milliunits", "rack_units", "U", "the smallest design takes"),
)


def _set(limits: Limits) -> list[_Limit]:
    return [one for one in LIMITS if getattr(limits, one.field) is not None]


def spending(inquiry: Inquiry) -> Iterator[Conflict]:
    """What each limit would have to be with the others kept."""
    limits = inquiry.problem.limits
    for one in _set(limits):
        inquiry.tell(f"limits.{one.key}")
        try:
            found = inquiry.least(one.metric, replace(limits, **{one.field: None}))
        except StoppedError:
            continue
        if found is not None:
            needed = _amount(inquiry.problem, one, found.sums)
            text = (
                f"{one.least} {_said(one, needed)}" if found.is_least else _open_question(inquiry.problem, one, found)
            )
            yield _spent(inquiry.problem, one, needed, text)


def _open_question(problem: Problem, one: _Limit, found: Least) -> str:
    """What is known of the least where it is not."""
    needed = _said(one, _amount(problem, one, found.sums))
    if found.bound is None:
        return f"whether less would do was not settled in time: a design takes {needed}"
    fixed = problem.fixed_power_mw if one.metric == "power_w" else 0
    bound = _said(one, _in_units(one, found.bound + fixed))
    return f"no design takes less than {bound}, and the least that was found takes {needed}"


def together(inquiry: Inquiry) -> Iterator[Conflict]:
    """What every design takes, where no limit alone can be changed."""
    limits = _set(inquiry.problem.limits)
    if len(limits) < 2 or inquiry.design(unlimited(inquiry.case)) is None:
        return
    for one in limits:
        inquiry.tell(f"limits.{one.key} with the other limits")
        text = "other limits stand in the way too"
        try:
            found = inquiry.least(one.metric, Limits())
        except StoppedError:
            found = None
        if found is not None and found.is_least:
            text = f"{one.least} {_said(one, _amount(inquiry.problem, one, found.sums))}, but {text}"
        yield _spent(inquiry.problem, one, None, text)


def _spent(problem: Problem, one: _Limit, needed: float | None, text: str) -> Conflict:
    value = _in_units(one, getattr(problem.limits, one.field))
    detail = f"{text}; the limit is {_said(one, value)}"
    return Conflict(limit=f"limits.{one.key}", value=value, needed=needed, detail=detail)


def _amount(problem: Problem, one: _Limit, sums: Sums) -> int | float:
    """What a design takes of a limit, servers included where they count."""
    taken = {
        "capex_cents": sums.cents,
        "power_mw": sums.power_mw + problem.fixed_power_mw,
        "rack_milliunits": sums.rack_milliunits,
    }
    return _in_units(one, taken[one.field])


def _in_units(one: _Limit, value: int) -> int | float:
    return usd(value) if one.unit == "$" else watts(value)


def _said(one: _Limit, value: int | float) -> str:
    return f"${value:,}" if one.unit == "$" else f"{value:,} {one.unit}"


def share_of(found: list[Conflict]) -> float:
    """How much of what is needed may be spent, by the limit that is furthest off; 0 if that is not known."""
    shares = [
        one.value / one.needed
        for one in found
        if isinstance(one.value, int | float) and isinstance(one.needed, int | float) and one.needed
    ]
    return min(shares, default=0.0)
