"""Headroom against the tables that ship with SONiC: every row, and what lies between."""

from __future__ import annotations

import pytest

from fabopt.parts.headroom import headroom

# sonic-net/sonic-buildimage 086b03bd, ACS-SN5600/pg_profile_lookup.ini: Gb/s, metres, xon, xoff.
SN5600 = [
    (10, 5, 19456, 45056), (25, 5, 19456, 48128), (40, 5, 19456, 57344), (50, 5, 19456, 63488),
    (100, 5, 19456, 113664), (200, 5, 19456, 131072), (400, 5, 19456, 231424), (800, 5, 38912, 257024),
    (10, 40, 19456, 46080), (25, 40, 19456, 52224), (40, 40, 19456, 62464), (50, 40, 19456, 69632),
    (100, 40, 19456, 126976), (200, 40, 19456, 157696), (400, 40, 19456, 283648), (800, 40, 38912, 362496),
    (10, 300, 19456, 56320), (25, 300, 19456, 76800), (40, 300, 19456, 101376), (50, 300, 19456, 118784),
    (100, 300, 19456, 225280), (200, 300, 19456, 355328), (400, 300, 19456, 677888), (800, 300, 38912, 1150976),
]  # fmt: skip
# By hand from the rows for 800G and 400G of the Tomahawks.
TOMAHAWKS = [
    ("Tomahawk 5", 800, 5, 0, 729488, 18796), ("Tomahawk 5 (BCM78900)", 800, 300, 0, 1621536, 18796),
    ("Tomahawk 5", 400, 40, 0, 446024, 18796), ("Tomahawk 4", 400, 300, 9144, 817372, 9144),
    ("Tomahawk 4", 100, 5, 9144, 129032, 9144),
]  # fmt: skip


@pytest.mark.parametrize(("gbps", "metres", "xon", "xoff"), SN5600)
def test_rows_of_spectrum_4(gbps: int, metres: int, xon: int, xoff: int) -> None:
    room = headroom("Spectrum-4", gbps, metres, 8 if gbps == 800 else 4)
    assert room is not None and (room.xon, room.xoff) == (xon, xoff)


def test_sizes_of_spectrum_4() -> None:
    sizes = {(400, 5): 250880, (200, 40): 177152, (400, 300): 697344}
    for (gbps, metres), size in sizes.items():
        room = headroom("Spectrum-4", gbps, metres, 4)
        assert room is not None and room.size == size


@pytest.mark.parametrize(("asic", "gbps", "metres", "xon", "xoff", "size"), TOMAHAWKS)
def test_rows_of_tomahawks(asic: str, gbps: int, metres: int, xon: int, xoff: int, size: int) -> None:
    assert headroom(asic, gbps, metres, 8) == (xon, xoff, size)


def test_lengths_between_are_on_the_line() -> None:
    """800G on Tomahawk 5 needs 3,095 cells of 254 bytes more for 260 m more; so half of them for half the way."""
    near, half, far = (headroom("Tomahawk 5", 800, metres, 8) for metres in (40, 170, 300))
    assert near is not None and half is not None and far is not None
    assert far.xoff - near.xoff == 3095 * 254 and half.xoff == near.xoff + 3095 * 127


def test_what_is_not_known_is_not_guessed() -> None:
    assert headroom("Trident 4", 400, 5, 8) is None and headroom("Tomahawk 4", 800, 5, 8) is None
    assert headroom("Spectrum-4", 1600, 5, 8) is None


def test_a_longer_cable_never_needs_less() -> None:
    for asic in ("Spectrum-3", "Spectrum-6", "Tomahawk 5"):
        rooms = [headroom(asic, 400, metres, 4) for metres in (1, 5, 30, 60, 500)]
        xoff = [room.xoff for room in rooms if room is not None]
        assert len(xoff) == 5 and xoff == sorted(xoff)
