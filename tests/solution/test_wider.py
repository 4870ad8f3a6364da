"""Wider is never dearer: random cases of every family, each with one key narrow and wide."""

from __future__ import annotations

import pytest

from tests.samples.widened import FAMILIES, SECONDS, UnprovenError, a_pair

QUICK, ALL = 62, 560
# Of the first ones these take longer than a quick test may.
SLOW = frozenset({17, 35})


def costs_no_more(number: int) -> None:
    pair = a_pair(FAMILIES[number % len(FAMILIES)], number // len(FAMILIES))
    try:
        narrow, wide = pair.costs(SECONDS)
    except UnprovenError:
        pytest.skip(f"{pair.name}: not proven in {SECONDS} s")
    assert wide <= narrow, pair.name


@pytest.mark.long(but_every=2)
@pytest.mark.long("2", "30")
@pytest.mark.parametrize("number", [number for number in range(QUICK) if number not in SLOW])
def test_a_wider_space_is_never_dearer(number: int) -> None:
    costs_no_more(number)


@pytest.mark.long
@pytest.mark.parametrize("number", [*sorted(SLOW), *range(QUICK, ALL)])
def test_many_wider_spaces_are_never_dearer(number: int) -> None:
    costs_no_more(number)
