"""When packets are marked, by hand."""

from __future__ import annotations

from fabopt.parts.marking import marking, pool_share, round_trip_ns


def test_a_round_trip_by_hand() -> None:
    """100 m in all, three switches of 700 ns and two NICs of 600 ns: 500 + 2,100 + 1,200, twice."""
    assert round_trip_ns(100, 3, 700) == 7600
    assert round_trip_ns(100, 3, None) == 2 * (500 + 3000 + 1200)


def test_the_share_of_a_port_when_all_are_full() -> None:
    """Each of three ports takes a quarter of what is free: 4/7 of 700 is free then, so each has 100."""
    assert pool_share(700, 3, -2) == 100


def test_thresholds_lie_between_the_path_and_the_pool() -> None:
    """400G for 8 us is 400,000 bytes, in whole KiB 400,384; ten times that where the pool has room for it."""
    roomy, tight, tiny, unknown = (marking(400, 8000, share) for share in (10**7, 2_000_000, 500_000, None))
    assert (roomy.least, roomy.most) == (400_384, 4_003_840)
    assert (tight.least, tight.most) == (400_384, 1_999_999) and "is met before" in tight.reason
    assert (tiny.least, tiny.most) == (249_999, 499_999) and "more than half" in tiny.reason
    assert (unknown.least, unknown.most) == (400_384, 4_003_840) and "not proven" in unknown.reason
