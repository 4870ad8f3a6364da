"""Trunks of a route and panels of a rack cost the least that any cost: against every combination."""

from __future__ import annotations

import random
from itertools import product

import pytest

from fabopt.parts.items import Item, Offer
from fabopt.parts.trunks import Pieces, RackRoute, TrunkPiece, cover_of, least_trunking
from fabopt.schema.growth import PulledWord


def item(number: int, kind: str, cents: int) -> Item:
    """An item at a price in whole cents."""
    offers = (Offer((cents,), (cents,)),)
    return Item(index=number, kind=kind, id=f"{kind}-{number}", length_m=None, starts=(1,), offers=offers, power_mw=0)


def pieces(rng: random.Random, kind: str, number: int, most: int) -> tuple[TrunkPiece, ...]:
    """Random pieces that hold different numbers."""
    held = rng.sample(range(1, most + 1), number)
    priced = [(rng.randint(1, 40) + 5 * holds, holds) for holds in held]
    return tuple(TrunkPiece((cost,), holds, item(at, kind, cost)) for at, (cost, holds) in enumerate(priced))


def least(need: int, of: tuple[TrunkPiece, ...]) -> int:
    """The least cost over all numbers of each piece that hold so much."""
    counts = product(*(range(-(-need // piece.holds) + 1) for piece in of))
    return min(
        sum(number * piece.costs[0] for number, piece in zip(numbers, of, strict=True))
        for numbers in counts
        if sum(number * piece.holds for number, piece in zip(numbers, of, strict=True)) >= need
    )


def cost(of: tuple[TrunkPiece, ...], chosen: Pieces) -> tuple[int, int]:
    """What chosen pieces cost, and hold."""
    by_item = {piece.item: piece for piece in of}
    spent = sum(by_item[one].costs[stage] * n for stage, one, n in chosen)
    return spent, sum(by_item[one].holds * n for _, one, n in chosen)


@pytest.mark.parametrize("seed", range(20))
def test_trunks_and_panels_cost_the_least(seed: int) -> None:
    """Up to three of the routes between four zones, three types of trunk, two of panels."""
    rng = random.Random(seed)
    panels = pieces(rng, "panel", 2, 9)
    pairs = rng.sample([(0, 1), (0, 2), (1, 2), (2, 3)], rng.randint(1, 3))
    routes = [RackRoute(a, b, (rng.randint(1, 14),), pieces(rng, "trunk", 3, 6)) for a, b in pairs]
    chosen = least_trunking(routes, panels, "when_lit")
    assert chosen is not None
    for route, trunks in zip(routes, chosen.routes, strict=True):
        spent, holds = cost(route.trunks, trunks)
        assert spent == least(*route.legs, route.trunks) and holds >= route.legs[0]
    for rack, held in chosen.panels.items():
        legs = sum(route.legs[0] for route in routes if rack in (route.a, route.b))
        spent, holds = cost(panels, held)
        assert spent == least(legs, panels) and holds >= legs


def least_in_stages(needs: tuple[int, ...], of: tuple[TrunkPiece, ...], word: PulledWord) -> int:
    """The least cost over all numbers of each piece at each stage that are enough, and come when the word says."""
    costs, last = [], needs[-1]
    needed = (last,) * len(needs) if word == "ahead" else needs
    each = product(*(range(-(-last // piece.holds) + 1) for piece in of), repeat=len(needs))
    for numbers in each:
        there, spent, fits = 0, 0, True
        for stage, need in enumerate(needed):
            added = [(numbers[stage * len(of) + at], piece) for at, piece in enumerate(of)]
            there += sum(number * piece.holds for number, piece in added)
            spent += sum(number * piece.costs[stage] for number, piece in added)
            smallest = min((piece.holds for number, piece in added if number), default=None)
            fits &= there >= need and (word == "any" or smallest is None or there - smallest < need)
        if fits:
            costs.append(spent)
    return min(costs)


@pytest.mark.parametrize("seed", range(12))
def test_trunks_of_stages_cost_the_least(seed: int) -> None:
    """Two stages of three types, or three of two; what is cheaper later, dearer or as dear."""
    rng = random.Random(seed)
    stages, types = rng.choice([(2, 3), (2, 2), (3, 2)])
    of = tuple(
        TrunkPiece(tuple(rng.randint(1, 40) + 5 * holds for _ in range(stages)), holds, item(at, "trunk", at))
        for at, holds in enumerate(rng.sample(range(2, 7), types))
    )
    needs = (*sorted(rng.randint(0, 7) for _ in range(stages - 1)), rng.randint(7, 9))
    words: tuple[PulledWord, ...] = ("when_lit", "ahead", "any")
    found = {word: cover_of(needs, of, word) for word in words}
    for word, chosen in found.items():
        assert chosen is not None and cost(of, chosen)[0] == least_in_stages(needs, of, word), word
    least_of_all = [cost(of, chosen)[0] for chosen in found.values() if chosen is not None]
    assert least_of_all[2] == min(least_of_all)


def test_nothing_is_taken_where_none_is_long_enough() -> None:
    piece = TrunkPiece((1,), 1, item(0, "trunk", 1))
    assert cover_of((3,), (piece,)) == ((0, piece.item, 3),)
    assert least_trunking([RackRoute(0, 1, (1,), ())], (piece,), "any") is None
    assert least_trunking([RackRoute(0, 1, (1,), (piece,))], (), "any") is None
