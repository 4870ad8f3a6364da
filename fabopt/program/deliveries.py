"""The part of the integer program that counts deliveries: the supply of makers by quarter."""

from __future__ import annotations

from functools import partial

from fabopt.parts.items import Item
from fabopt.problem.quotas import Delivery
from fabopt.program.naming import rule
from fabopt.program.purchases import PROCUREMENT, OfOrders, is_ordered


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
                    (var, item.pack_size)
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
    return stage in delivery.stages and delivery.quota.holds(item.kind, item.vendor)
