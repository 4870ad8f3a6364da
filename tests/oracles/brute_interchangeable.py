"""Tiers whose switches are of several products with the same ports: every shape, mix and order, by plain loops.

Servers of one port on two leaves or more, spines above them, 1:1, even stripes, equal groups, one or two stages.
Nothing of fabopt is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

# Switches that two stages add.
Added = tuple[int, int]


class Product(NamedTuple):
    """A switch as it is sold. ``breaks``: (from, usd); ``supply``: by the first and the second stage, None: any number;
    ``late``: whether an order for a stage comes too late.
    """

    breaks: tuple[tuple[int, int], ...]
    supply: tuple[int | None, int | None] = (None, None)
    late: tuple[bool, bool] = (False, False)
    stock: int = 0

    @property
    def is_short(self) -> bool:
        return self.stock > 0 or any(self.late) or any(most is not None for most in self.supply)

    def usd(self, units: int) -> int:
        return units * next((usd for start, usd in reversed(self.breaks) if units >= start), 0)


@cache
def order_usd(sold: Product, used: Added) -> int | None:
    """What so many of a product cost, ordered for either stage; None: they cannot be had."""
    late_use = sum(count for count, late in zip(used, sold.late, strict=True) if late)
    if late_use > sold.stock:
        return None
    most = max(sum(used), *(start for start, _ in sold.breaks))
    costs = []
    for first, second in product(range(most + 1), repeat=2):
        bought = (first, first + second)
        if (first and sold.late[0]) or (second and sold.late[1]):
            continue
        if any(limit is not None and units > limit for units, limit in zip(bought, sold.supply, strict=True)):
            continue
        if first + sold.stock >= used[0] and first + second + sold.stock >= sum(used):
            costs.append(sold.usd(first) + sold.usd(second))
    return min(costs, default=None)


def splits(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to have a number in so many parts."""
    if parts == 1:
        yield (number,)
        return
    for first in range(number + 1):
        yield from ((first, *rest) for rest in splits(number - first, parts - 1))


def mixes(products: tuple[Product, ...], added: Added, mixed: bool) -> Iterator[tuple[Added, ...]]:
    """What a tier may have of each product: one that can be had in any number at most; if not mixed, one of all."""
    for first, second in product(*(list(splits(count, len(products))) for count in added)):
        uses = tuple(zip(first, second, strict=True))
        there = [sold for sold, use in zip(products, uses, strict=True) if sum(use)]
        if (mixed and sum(not sold.is_short for sold in there) <= 1) or len(there) <= 1:
            yield uses


def tiers_usd(products: tuple[Product, ...], tiers: tuple[Added, ...], mixed: bool = True) -> int | None:
    """The least that the switches of some tiers cost together; None: they cannot be had."""
    ways = {
        tuple((sum(use[0] for use in uses), sum(use[1] for use in uses)) for uses in zip(*chosen, strict=True))
        for chosen in product(*(set(mixes(products, added, mixed)) for added in tiers))
    }
    costs = []
    for uses in ways:
        orders = [order_usd(sold, use) for sold, use in zip(products, uses, strict=True)]
        if None not in orders:
            costs.append(sum(order for order in orders if order is not None))
    return min(costs, default=None)


def least_usd(
    products: tuple[Product, ...], ports: int, servers: int, near: int, far: int, mixed: bool = True
) -> int | None:
    """The least for one stage. ``near``: a server with its NIC and link; ``far``: a link between leaf and spine."""
    costs = []
    for g in range(1, min(servers, ports) + 1):
        leaves = -(-servers // g)
        for u in range(g, ports - g + 1) if leaves > 1 else ():
            for spines in (one for one in range(1, u + 1) if u % one == 0 and leaves * u // one <= ports):
                switches = tiers_usd(products, ((leaves, 0), (spines, 0)), mixed)
                if switches is not None:
                    costs.append(servers * near + leaves * u * far + switches)
    return min(costs, default=None)
