"""Shares of the stock on hand that a bound counts as saved, chosen to maximize the bound.

Purchases of an item cost price x max(0, use - stock), at least share x price x (use - stock) for every share from 0 to
1. With share 1 the bound subtracts the whole stock, even if the best design uses none; with share 0 the item is free.
The best shares come from a master program over the designs met so far, as prices of limits do
(``fabopt.search.limit_prices``).
"""

from __future__ import annotations

import numpy as np

from fabopt.search.coefficients import first_of_each, stage_weights, stock_weights, uses_of
from fabopt.search.expansion import Expanded, Expansion
from fabopt.search.limit_prices import Master, Point
from fabopt.topology.family import Ints

# Each round is a search. They stop when the bound is within the share of what it could become.
MOST_ROUNDS = 8
CLOSE_ENOUGH = 2e-3


def with_stock_shared(expansion: Expansion, expanded: Expanded) -> Expanded:
    """The fabrics searched with the shares of the best bound; unchanged where stock does not matter."""
    saved = stock_weights(expansion.problem)
    places = np.flatnonzero(saved)
    if not places.size or not shares_stock(expansion) or expanded.is_empty:
        return expanded
    best, shares = expanded, expansion.counted
    no_prices, master = np.zeros(len(expansion.caps) - 1), Master(saved[places], most=1.0)
    for _ in range(MOST_ROUNDS):
        master.add(_point(expansion, expanded, places))
        tried, hoped = master.prices()
        if hoped - best.bound <= CLOSE_ENOUGH * abs(best.bound):
            break
        counted = np.ones(len(saved))
        counted[places] = np.clip(tried, 0.0, 1.0)
        expansion.count_stock(counted)
        expanded = expansion.expand(no_prices)
        if expanded.stopped or not np.isfinite(expanded.bound):
            break
        if expanded.bound > best.bound:
            best, shares = expanded, counted
    expansion.count_stock(shares)
    return best


def shares_stock(expansion: Expansion) -> bool:
    """Whether shares are looked for: floors and counted ports have their own means."""
    return expansion.problem.site.runs_are_alike and not (expansion.counts or expansion.listed)


def _point(expansion: Expansion, expanded: Expanded, places: Ints) -> Point:
    """The cost of the cheapest design without items in stock, and its use of these, shape (places,)."""
    weights, whole = expansion.table[0], stage_weights(expansion.problem).min(axis=0)
    table = np.zeros((len(places), len(weights)))
    table[np.arange(len(places)), places] = whole[places]
    used = np.zeros(len(places))
    for candidate in first_of_each(expansion.candidates(expanded, 1)):
        used += uses_of(candidate, table, weights)
    return Point(expanded.bound + expansion.saving - float(expansion.counted[places] @ used), used)
