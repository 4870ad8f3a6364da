"""Gathering and adding up by a key."""

from __future__ import annotations

from fabopt.units import grouped, sets, summed

PAIRS = [("b", 2), ("a", 1), ("b", 1), ("b", 2)]


def test_values_of_a_key_stay_in_order_and_keys_as_they_come_first() -> None:
    assert list(grouped(PAIRS).items()) == [("b", [2, 1, 2]), ("a", [1])]
    assert list(sets(PAIRS).items()) == [("b", {1, 2}), ("a", {1})]
    assert list(summed(PAIRS).items()) == [("b", 5), ("a", 1)]


def test_a_sum_of_nothing_has_no_key_and_one_of_zero_has_its_key() -> None:
    assert dict(summed([])) == {}
    assert dict(summed([("a", 0)])) == {"a": 0}
