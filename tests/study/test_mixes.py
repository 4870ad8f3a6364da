"""Mixes of parts on the links of one design: those that no other beats, all of them, and none else."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fabopt.study.front.mixes import EqualLinks, TooManyMixesError, mixes_of


def kind(count: int, *each: tuple[int, ...]) -> EqualLinks:
    return EqualLinks(count, np.array(each, dtype=np.int64))


def every(kinds: list[EqualLinks]) -> set[tuple[int, ...]]:
    """All mixes, unit by unit."""
    found = {(0,) * kinds[0].per_unit.shape[1]}
    for one in kinds:
        for _ in range(one.count):
            found = {
                tuple(a + b for a, b in zip(sums, row, strict=True)) for sums in found for row in one.per_unit.tolist()
            }
    return found


def front(found: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """What no other beats in the first two; of equal ones the least."""
    kept: list[tuple[int, ...]] = []
    for one in sorted(found):
        if not kept or one[1] < kept[-1][1]:
            kept.append(one)
    return kept


def sums(kinds: list[EqualLinks]) -> list[tuple[int, ...]]:
    return [tuple(row) for row in mixes_of(kinds).sums.tolist()]


def test_mixes_are_those_of_full_enumeration() -> None:
    for seed in range(60):
        dice = random.Random(seed)
        kinds = [
            kind(dice.randint(1, 5), *(tuple(dice.randint(0, 9) for _ in range(3)) for _ in range(dice.randint(1, 4))))
            for _ in range(dice.randint(1, 3))
        ]
        assert sums(kinds) == front(every(kinds)), seed


def test_units_make_the_sums() -> None:
    kinds = [kind(7, (1, 9), (4, 2), (2, 8)), kind(5, (0, 3), (2, 0))]
    found = mixes_of(kinds)
    assert (found.units @ np.vstack([one.per_unit for one in kinds]) == found.sums).all()
    assert (found.units[:, :3].sum(axis=1) == 7).all() and (found.units[:, 3:].sum(axis=1) == 5).all()


def test_two_options_make_a_run_of_equal_steps() -> None:
    # 8,192 links at 2,235 USD and 30.6 W each, or 2,610 USD and 30 W: every swap is a point
    found = sums([kind(8192, (223_500, 30_600), (261_000, 30_000))])
    assert found == [(8192 * 223_500 + n * 37_500, 8192 * 30_600 - n * 600) for n in range(8193)]


def test_a_dearer_swap_stands_between_the_steps_of_a_cheaper_one() -> None:
    # A step is (10, -6). A third option at (3, -1) fills it: once and twice and thrice cost less than a step; a fourth
    # time (12) would cost more than one and save less.
    found = sums([kind(10, (0, 100), (10, 94), (3, 99))])
    assert found[:6] == [(0, 1000), (3, 999), (6, 998), (9, 997), (10, 994), (13, 993)]


def test_equal_mixes_are_told_apart_by_the_other_sums() -> None:
    assert sums([kind(2, (1, 5, 9), (1, 5, 7), (2, 4, 0))]) == [(2, 10, 14), (3, 9, 7), (4, 8, 0)]


def test_sums_that_no_array_holds_are_not_listed() -> None:
    with pytest.raises(TooManyMixesError):
        mixes_of([kind(8, (2**60, 1), (2**60 + 1, 0))])


def test_too_many_mixes_are_not_listed() -> None:
    # two kinds whose swaps are worth the same: every pair of numbers is on the line
    with pytest.raises(TooManyMixesError):
        mixes_of([kind(5000, (0, 7), (7, 0)), kind(5000, (0, 11), (11, 0))])
