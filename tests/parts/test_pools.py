"""Whether pools hold their headroom: verdicts of the makers' own script, and a leaf by hand."""

from __future__ import annotations

import pytest

from fabopt.parts.pools import LosslessPorts, pool_verdict, shortfall_text
from fabopt.schema.operate import BufferPool

SN5600 = BufferPool(size=158_229_504)
TOMAHAWK_5 = BufferPool(size=162_539_680, shared_headroom=33_374_584)


@pytest.mark.parametrize(
    ("metres", "priorities", "times_over", "left", "shared"),
    [
        (3, 1, None, 119_956_480, 0),
        (30, 1, None, 114_713_600, 0),
        (30, 2, None, 77_751_296, 0),
        (30, 2, 2, 111_567_872, 33_816_576),
        (300, 1, None, 62_415_872, 0),
        (300, 2, None, -26_844_160, 0),
    ],
)
def test_a_spectrum_pool_is_as_its_script_computes(
    metres: float, priorities: int, times_over: int | None, left: int, shared: int
) -> None:
    """128 ports of 400G of an SN5600 by sonic-swss e6b0c5b5, ``buffer_pool_mellanox.lua``, run there."""
    ports = [LosslessPorts(128, 400, metres, 4)]
    verdict = pool_verdict("Spectrum-4", SN5600, ports, priorities, times_over=times_over)
    assert verdict is not None and (verdict.left, verdict.shared_headroom, verdict.spare) == (left, shared, left)


def test_the_message_says_which_ports_and_how_much() -> None:
    ports = [LosslessPorts(128, 400, 300, 4)]
    verdict = pool_verdict("Spectrum-4 (51.2T)", SN5600, ports, 2)
    assert verdict is not None
    assert shortfall_text(ports, 2, verdict) == "128 x 400G at 300 m on two priorities: 26.8 MB short"


@pytest.mark.parametrize(
    ("metres", "priorities", "times", "fits"),
    [(30, 1, 1.52, True), (30, 2, 3.04, True), (300, 1, 2.30, True), (300, 2, 4.61, False)],
)
def test_headroom_of_a_tomahawk_is_shared_up_to_four_times(
    metres: float, priorities: int, times: float, fits: bool
) -> None:
    """64 x 400G at 3 m and 32 x 800G on a Micas 64OC, by rows of its table and lines between them."""
    ports = [LosslessPorts(64, 400, 3, 4), LosslessPorts(32, 800, metres, 8)]
    verdict = pool_verdict("Tomahawk 5", TOMAHAWK_5, ports, priorities)
    assert verdict is not None and (verdict.spare >= 0) == fits
    assert verdict.demand / 33_374_584 == pytest.approx(times, abs=0.02)
    if not fits:
        short = f"{(verdict.demand - 4 * 33_374_584) / 1e6:.1f} MB short of 4 times its shared headroom"
        assert shortfall_text(ports, priorities, verdict).endswith(f"at {metres:g} m on two priorities: {short}")


def test_private_memory_has_to_fit_the_pool() -> None:
    """One port at 5 m keeps 18,796 bytes a priority for itself (its table)."""
    ports = [LosslessPorts(1, 400, 5, 4)]
    tight = pool_verdict("Tomahawk 5", BufferPool(size=18_796, shared_headroom=10**9), ports, 1)
    over = pool_verdict("Tomahawk 5", BufferPool(size=18_795, shared_headroom=10**9), ports, 1)
    assert tight is not None and over is not None and (tight.spare, over.spare) == (0, -1)


def test_what_is_not_known_has_no_verdict() -> None:
    ports = [LosslessPorts(1, 400, 5, 4)]
    assert pool_verdict("Tomahawk 5", None, ports, 1) is None
    assert pool_verdict("Tomahawk 5", BufferPool(size=10**8), ports, 1) is None
    assert pool_verdict("Jericho 3", TOMAHAWK_5, ports, 1) is None
    assert pool_verdict("Spectrum-4", SN5600, [LosslessPorts(1, 1600, 5, 8)], 1) is None
