"""Trunks of a route and panels of a rack cost the least that any cost: against every combination."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from fabopt.parts.items import Item, Offer
from fabopt.parts.trunks import Pieces, Routes, TrunkPiece, cover_of, least_trunking
from fabopt.schema.growth import PulledWord


def item(number: int, kind: str, cents: int) -> Item:
    """An item at a price in whole cents."""
    offers = (Offer((cents,), (cents,)),)
    return Item(index=number, kind=kind, id=f"{kind}-{number}", length_m=None, offers=offers, power_mw=0)


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


def routes(pairs: list[tuple[int, int]], legs: list[int]) -> Routes:
    """Routes between pairs of racks, as many links as legs on each."""
    there = np.array(legs)[:, np.newaxis]
    return Routes(np.array(pairs).T, there, there)


@pytest.mark.parametrize("seed", range(20))
def test_trunks_and_panels_cost_the_least(seed: int) -> None:
    """Up to three of the routes between four zones, three types of trunk, two of panels."""
    rng = random.Random(seed)
    panels = pieces(rng, "panel", 2, 9)
    pairs = rng.sample([(0, 1), (0, 2), (1, 2), (2, 3)], rng.randint(1, 3))
    legs_of = [rng.randint(1, 14) for _ in pairs]
    trunks, of_route = [pieces(rng, "trunk", 3, 6) for _ in range(2)], [rng.randrange(2) for _ in pairs]
    chosen = least_trunking(routes(pairs, legs_of), trunks, np.array(of_route), panels, "when_lit")
    assert chosen is not None
    for legs, which, found in zip(legs_of, of_route, chosen.trunks.by_row, strict=True):
        spent, holds = cost(trunks[which], found)
        assert spent == least(legs, trunks[which]) and holds >= legs
    for rack, held in zip(chosen.racks.tolist(), chosen.panels.by_row, strict=True):
        legs = sum(legs for legs, pair in zip(legs_of, pairs, strict=True) if rack in pair)
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
    one = routes([(0, 1)], [1]), [(piece,), ()]
    assert least_trunking(*one, np.array([0]), (piece,), "any") is not None
    assert least_trunking(*one, np.array([1]), (piece,), "any") is None
    assert least_trunking(*one, np.array([0]), (), "any") is None
