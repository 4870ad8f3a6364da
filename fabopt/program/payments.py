"""The part of the integer program that counts payments: budgets of quarters and years.

The part of the integer program that counts deliveries: the supply of makers by quarter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import floor

from fabopt.parts.items import Item
from fabopt.problem.limits import Delivery
from fabopt.program.naming import rule
from fabopt.program.purchases import PROCUREMENT, OfOrders, is_ordered


class Payments(OfOrders):
    """Payments for orders in each quarter or year."""

    @rule(PROCUREMENT)
    def payments_keep_budgets(self) -> None:
        """What is paid for orders in a quarter or a year is within its budget: both times what makes shares whole."""
        for budgets in self.problem.limits.periods:
            for period in sorted(set().union(*self.problem.shares_paid(budgets.months))):
                most = budgets.most(period)
                if most is not None:
                    price = partial(self._paid_in, budgets.months, period)
                    used = self.level("paid", partial(self._unordered, price), self.purchases.cost_at(price))
                    name = f"payments_keep_budgets_{budgets.months}_{period}".replace("-", "before_")
                    left = floor(self.problem.instalments.scale * most) - used.offset
                    if used.expression or left < 0:
                        self.lp += used.expression <= left, name

    def _paid_in(self, months: int, period: int, item: Item, stage: int) -> tuple[int, ...]:
        return self.problem.instalments.prices_in(item, stage, months, period)

    def _unordered(self, price: Callable[[Item, int], Sequence[int]], stage: int, item: Item) -> int:
        return 0 if is_ordered(self.problem, item) else price(item, stage)[0]


class Deliveries(OfOrders):
    """Deliveries of each quarter."""

    @rule(PROCUREMENT)
    def quarterly_supply_lasts(self) -> None:
        """No more of a maker's parts come in a quarter than it supplies in one: orders come in the month of their
        stage.
        """
        for number, delivery in enumerate(self.problem.deliveries):
            if delivery.most is not None:
                orders = [
                    (var, item.orders.pack)
                    for (item, stage, _), var in self.purchases.buy.items()
                    if _comes(delivery, stage, item)
                ]
                used = self.level("supplied", partial(self._unordered, delivery), orders)
                left = delivery.most - used.offset
                if used.expression or left < 0:
                    self.lp += used.expression <= left, f"quarterly_supply_lasts_{number}"

    def _unordered(self, delivery: Delivery, stage: int, item: Item) -> int:
        return int(_comes(delivery, stage, item) and not is_ordered(self.problem, item))


def _comes(delivery: Delivery, stage: int, item: Item) -> bool:
    return stage in delivery.stages and delivery.quota.holds(item.kind, item.sold_by.vendor)
