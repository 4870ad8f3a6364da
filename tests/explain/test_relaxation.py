"""The nearest value that works: against looking at all of them, and in how few questions."""

from __future__ import annotations

from hypothesis import given, strategies as st

from fabopt.explain.relaxation import halfway, nearest


@given(size=st.integers(0, 300), last=st.integers(-1, 299), reach=st.integers(0, 40))
def test_halving_finds_the_last_that_works(size: int, last: int, reach: int) -> None:
    """Positions up to the last one work; a design may reach some positions further than was asked for."""
    last = min(last, size - 1)
    asked: list[int] = []

    def ask(position: int) -> int | None:
        asked.append(position)
        return min(position + reach, last) if position <= last else None

    assert nearest(-1, size, ask, halfway) == last
    assert len(asked) == len(set(asked)) <= size.bit_length()


@given(most=st.integers(0, 50), first=st.integers(0, 50))
def test_steps_end_at_the_first_that_fails(most: int, first: int) -> None:
    """From some design up one by one, until none is better."""
    first = min(first, most)

    def next_better(works: int, fails: int) -> int | None:
        return None if works + 1 == fails else works + 1

    assert nearest(first, -1, lambda value: value if value <= most else None, next_better) == most


def test_what_is_near_enough_is_not_asked_for() -> None:
    def between(works: float, fails: float) -> float | None:
        return (works + fails) / 2 if fails - works > 0.5 else None

    longest = nearest(0.5, 30.0, lambda metres: metres if metres <= 12.3 else None, between)
    assert 12.3 - 0.5 <= longest <= 12.3


def test_halfway_is_a_whole_number_strictly_between() -> None:
    assert [halfway(3, 4), halfway(4, 3), halfway(3, 5), halfway(-1, 6), halfway(7, 2)] == [None, None, 4, 2, 4]
