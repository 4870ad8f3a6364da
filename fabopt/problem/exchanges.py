"""Devices, some units of which may be exchanged for other products once a network is sized.

Switches for managed twins and for stand-ins, NICs for other vendors' offers of the same product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple

from fabopt.parts.items import Item
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem

# What may be where a device is, by the id of that.
InPlaceOf = Mapping[str, frozenset[Item]]


class Pool(NamedTuple):
    """Items that networks are sized with, and all items that may take their places."""

    sized: tuple[Item, ...]
    products: frozenset[Item]


def exchanged(fabric: FabricProblem) -> Iterator[tuple[str, list[Item]]]:
    """Ids of exchangeable devices, each with the items that may take its place."""
    managers, others = fabric.rules.binding_managers, fabric.interchangeable
    for id_, twin in () if managers is None else managers.twins.items():
        yield id_, [twin.item]
    for (_, id_), products in () if others is None else others.products.items():
        yield id_, [product.item for product in products]
    of_nics = {option.nic_id: option.offers for options in fabric.nics.values() for option in options if option.offers}
    for id_, offers in of_nics.items():
        yield id_, list(offers)


def is_exchanged(fabric: FabricProblem, item: Item) -> bool:
    """Whether units of a device may be exchanged for other products."""
    return any(device_id == item.id for device_id, _ in exchanged(fabric))


def in_place_of(problem: Problem, fabric: FabricProblem) -> InPlaceOf:
    """By id of each exchangeable device, all items that may take its place, itself among them."""
    own = {id_: problem.item_table.item(id_) for id_, _ in exchanged(fabric)}
    products = {id_: frozenset([] if item is None else [item]) for id_, item in own.items()}
    for id_, items in exchanged(fabric):
        products[id_] |= {*items}
    return products


def most_together(items: Iterable[Item], stage: int) -> float:
    """The most units of some items together that can be there by a stage; infinite: as many as are wanted."""
    most = [item.most_by(stage) for item in items]
    return inf if None in most else sum(units for units in most if units is not None)


def pooled(items: Iterable[Item], others: InPlaceOf) -> list[Pool]:
    """Items in pools with disjoint sets of products."""
    pools: list[Pool] = []
    for item in items:
        pool = Pool((item,), others.get(item.id, frozenset([item])))
        for other in [earlier for earlier in pools if earlier.products & pool.products]:
            pools.remove(other)
            pool = Pool((*other.sized, *pool.sized), other.products | pool.products)
        pools.append(pool)
    return pools
