"""Trunks of a route and panels of a rack cost the least that any cost: against every combination."""

from __future__ import annotations

import random
from itertools import product

import pytest

from fabopt.parts.items import Item, Offer
from fabopt.parts.trunks import RackRoute, TrunkPiece, cover_of, least_trunking


def item(number: int, kind: str, cents: int) -> Item:
    """An item at a price in whole cents."""
    offers = (Offer((cents,), (cents,)),)
    return Item(index=number, kind=kind, id=f"{kind}-{number}", length_m=None, starts=(1,), offers=offers, power_mw=0)


def pieces(rng: random.Random, kind: str, number: int, most: int) -> tuple[TrunkPiece, ...]:
    """Random pieces that hold different numbers."""
    held = rng.sample(range(1, most + 1), number)
    priced = [(rng.randint(1, 40) + 5 * holds, holds) for holds in held]
    return tuple(TrunkPiece(cost, holds, item(at, kind, cost)) for at, (cost, holds) in enumerate(priced))


def least(need: int, of: tuple[TrunkPiece, ...]) -> int:
    """The least cost over all numbers of each piece that hold so much."""
    counts = product(*(range(-(-need // piece.holds) + 1) for piece in of))
    return min(
        sum(number * piece.cost for number, piece in zip(numbers, of, strict=True))
        for numbers in counts
        if sum(number * piece.holds for number, piece in zip(numbers, of, strict=True)) >= need
    )


def cost(of: tuple[TrunkPiece, ...], chosen: tuple[tuple[Item, int], ...]) -> tuple[int, int]:
    """What chosen pieces cost, and hold."""
    by_item = {piece.item: piece for piece in of}
    return sum(by_item[one].cost * n for one, n in chosen), sum(by_item[one].holds * n for one, n in chosen)


@pytest.mark.parametrize("seed", range(20))
def test_trunks_and_panels_cost_the_least(seed: int) -> None:
    """Up to three of the routes between four zones, three types of trunk, two of panels."""
    rng = random.Random(seed)
    panels = pieces(rng, "panel", 2, 9)
    pairs = rng.sample([(0, 1), (0, 2), (1, 2), (2, 3)], rng.randint(1, 3))
    routes = [RackRoute(a, b, rng.randint(1, 14), pieces(rng, "trunk", 3, 6)) for a, b in pairs]
    chosen = least_trunking(routes, panels)
    assert chosen is not None
    for route, trunks in zip(routes, chosen.routes, strict=True):
        spent, holds = cost(route.trunks, trunks)
        assert spent == least(route.legs, route.trunks) and holds >= route.legs
    for rack, held in chosen.panels.items():
        legs = sum(route.legs for route in routes if rack in (route.a, route.b))
        spent, holds = cost(panels, held)
        assert spent == least(legs, panels) and holds >= legs


def test_nothing_is_taken_where_none_is_long_enough() -> None:
    piece = TrunkPiece(1, 1, item(0, "trunk", 1))
    assert cover_of(3, (piece,)) == ((piece.item, 3),)
    assert least_trunking([RackRoute(0, 1, 1, ())], (piece,)) is None
    assert least_trunking([RackRoute(0, 1, 1, (piece,))], ()) is None
