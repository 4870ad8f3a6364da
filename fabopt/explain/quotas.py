"""Levers of makers' quotas in a quarter, where these prevent a design."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.levers import Lever
from fabopt.explain.what_if import Inquiry, Supposition
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import order_of
from fabopt.schema.case import Case
from fabopt.schema.design import Number
from fabopt.schema.procurement import Quota
from fabopt.units import some


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
            sum(n for (at, item), n in bought if at in delivery.stages and quota.holds(item.kind, item.vendor))
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
