"""Parts of links that no optimum uses, because orders of others could take the place of every order of them.

With price breaks two parts cannot be compared by the piece: one may be the cheaper for few, the other for many. But
once candidates are known, so is an upper bound of the quantity of a part. If for every number up to that, at every
stage, there is another part that could be used instead and costs less, then any design that buys the first one can be
bought for less: replace each of its orders by one of the part that is cheaper at that size. Where that part is ordered
already, one large order is no dearer than two, as prices do not rise with the quantity. The dominance of products that
needs no candidates is in ``fabopt.parts.dominance``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.dominance import is_plain
from fabopt.parts.items import Item
from fabopt.problem.problem import Problem
from fabopt.program.part_bounds import most_used
from fabopt.program.purchases import is_ordered
from fabopt.topology.candidate import Candidate, Option

Numbers = NDArray[np.int64]
Options = Mapping[tuple[str, Hashable], Sequence[Option]]
# The kind of links, when and how often an item is in an option, and all else that is in it.
Place = tuple[Hashable, Hashable, frozenset[tuple[tuple[int, Item], int]]]
# Costs are compared as 64-bit integers.
MOST_CENTS = 2**62


def without_dominated_parts(problem: Problem, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The candidates without the options that no optimum takes; unchanged under another objective than the expected
    cost.
    """
    if problem.best_alone:
        return candidates
    options = {
        (candidate.fabric, choice.key): choice.options for candidate in candidates for choice in candidate.choices
    }
    items = {item for of_kind in options.values() for option in of_kind for item in option.items}
    # clashes name options by their place
    if not any(is_ordered(problem, item) for item in items) or any(candidate.clashes for candidate in candidates):
        return candidates
    dominated = _dominated(problem, options, items, most_used(problem, candidates))
    if not dominated:
        return candidates
    kept = {
        key: tuple(option for option in of_kind if dominated.isdisjoint(option.items))
        for key, of_kind in options.items()
    }
    return [
        replace(
            candidate,
            choices=tuple(replace(choice, options=kept[candidate.fabric, choice.key]) for choice in candidate.choices),
        )
        for candidate in candidates
    ]


def _dominated(problem: Problem, options: Options, items: Iterable[Item], most: Mapping[Item, int]) -> set[Item]:
    """Dominated items: by a single other one, where all of a unit have to be alike; else by some other one at each
    size.
    """
    one_by_one, at_once = _Places(_one_by_one(options)), _Places(_at_once(options))
    market = _Market(problem, most)
    return {
        item
        for item in sorted(items, key=lambda item: item.index)
        if item.supply.stock == 0
        and item.spares is None
        and not item.sold_by.counted
        and not item.sold_by.sourced
        and not item.lead.matters
        and (
            market.dominated(item, one_by_one.others(item), together=True)
            or market.dominated(item, at_once.others(item), together=False)
        )
    }


# -- items that fit the same places --------------------------------------------------------------------------------


def _one_by_one(options: Options) -> Iterator[tuple[Item, Place]]:
    """The places in which a single unit of each item is used."""
    for key, of_kind in options.items():
        for option in of_kind:
            for (stage, item), count in option.uses.items():
                rest = dict(option.uses)
                rest[stage, item] = count - 1
                yield item, (key, stage, frozenset(use for use in rest.items() if use[1]))


def _at_once(options: Options) -> Iterator[tuple[Item, Place]]:
    """The places in which all units of an item in an option are used."""
    for key, of_kind in options.items():
        for option in of_kind:
            for item in option.items:
                counts = tuple(sorted((stage, count) for (stage, used), count in option.uses.items() if used is item))
                yield item, (key, counts, frozenset(use for use in option.uses.items() if use[0][1] is not item))


class _Places:
    """The items that fit each place of links."""

    def __init__(self, places: Iterable[tuple[Item, Place]]) -> None:
        self._places: dict[Item, list[Place]] = {}
        self._items: dict[Place, set[Item]] = {}
        for item, place in places:
            self._places.setdefault(item, []).append(place)
            self._items.setdefault(place, set()).add(item)

    def others(self, item: Item) -> list[Item]:
        """Items that can be bought in any quantity, use no more power, and fit wherever the item is used."""
        first, *rest = self._places[item]
        fitting = set(self._items[first])
        for place in rest:
            if len(fitting) == 1:
                return []
            fitting &= self._items[place]
        return sorted(
            (
                other
                for other in fitting
                if other is not item
                and other.kind == item.kind
                and other.labour.unit is item.labour.unit
                and is_plain(other)
                and other.power_mw <= item.power_mw
                and other.spares is None
                and not other.sold_by.counted
                and not other.sold_by.sourced
                and not other.lead.matters
            ),
            key=lambda item: item.index,
        )


# -- costs of items --------------------------------------------------------------------------------------------


class _Bids(NamedTuple):
    """Costs of orders of ``sizes`` units at a stage, shape (items, sizes), in cents and in their present values, linear
    between neighbouring sizes.
    """

    sizes: Numbers
    cents: Numbers
    present: Numbers


class _Market:
    """Costs of items at every stage. ``most``: upper bound of the units of an item in any design."""

    def __init__(self, problem: Problem, most: Mapping[Item, int]) -> None:
        self.stages = range(len(problem.stages))
        self.most = most
        self._bids_of: dict[tuple[tuple[Item, ...], int], _Bids] = {}

    def dominated(self, item: Item, others: Sequence[Item], together: bool) -> bool:
        """Whether others cost less at every size of an order and every stage.

        ``together``: another one may be cheaper at each size; else it is the same at all.
        """
        group = tuple(sorted({item, *others}, key=lambda item: item.index))
        if not others or self._most_cents(group) > MOST_CENTS:
            return False
        row = group.index(item)
        always = np.arange(len(group)) != row
        for stage in self.stages:
            bids = self._bids(group, stage)
            small = bids.sizes <= self.most[item]
            cheaper = (bids.cents < bids.cents[row]) & (bids.present < bids.present[row])
            # at both ends of every stretch, and so in between, for costs are straight there
            stretch = (cheaper[:, :-1] & cheaper[:, 1:])[:, small[1:]]
            cheaper_at_one = cheaper[:, :1]
            if not (stretch.any(axis=0).all() and cheaper_at_one.any()):
                return False
            always &= stretch.all(axis=1) & cheaper_at_one[:, 0]
        return together or bool(always.any())

    def _most_cents(self, group: Sequence[Item]) -> int:
        """Upper bound of the cents of any order of these items."""
        return max(max(member.unit_cents) * max(self.most[member], *member.orders.starts) for member in group)

    def _bids(self, group: tuple[Item, ...], stage: int) -> _Bids:
        """Bids of a group, at all sizes at which the slope of some cost changes, and at the most units of each item."""
        key = group, stage
        if key not in self._bids_of:
            limit = max(self.most[item] for item in group)
            kinks = {1, *(self.most[item] for item in group)}
            for item in group:
                for present in (False, True):
                    kinks.update(_kinks(item, stage, present))
            sizes = np.array(sorted(size for size in kinks if 1 <= size <= limit), dtype=np.int64)
            cents, present_cents = (
                np.array([_least_costs(item, stage, sizes, present) for item in group]) for present in (False, True)
            )
            self._bids_of[key] = _Bids(sizes, cents, present_cents)
        return self._bids_of[key]


def _kinks(item: Item, stage: int, present: bool) -> Iterator[int]:
    """Sizes between which the least cost is linear: ends of breaks, and where the next break is as cheap."""
    for price_break, start in enumerate(item.orders.starts):
        yield from (start - 1, start)
        later = [item.cost(stage, more, present) for more in item.orders.starts[price_break + 1 :]]
        price = item.price(stage, price_break, present)
        if later and price > 0:
            as_cheap = start + (min(later) - item.cost(stage, start, present)) // price
            yield from (as_cheap, as_cheap + 1)


def _least_costs(item: Item, stage: int, sizes: Numbers, present: bool) -> Numbers:
    """Least cost of orders of ``sizes`` units, shape (sizes,); more may be ordered where the next break makes it
    cheaper.
    """
    starts = np.array(item.orders.starts)
    at_start = np.array([item.cost(stage, start, present) for start in item.orders.starts])
    slope = np.array([item.price(stage, index, present) for index in range(len(starts))])
    later = np.append(np.minimum.accumulate(at_start[:0:-1])[::-1], MOST_CENTS)
    reached = np.searchsorted(starts, sizes, "right") - 1
    return np.asarray(np.minimum(at_start[reached] + slope[reached] * (sizes - starts[reached]), later[reached]))
