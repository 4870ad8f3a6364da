"""Headroom against the tables that ship with SONiC: every row, and what lies between."""

from __future__ import annotations

import pytest

from fabopt.parts.headroom import headroom

# sonic-net/sonic-buildimage 086b03bd, pg_profile_lookup.ini of ACS-SN5600, Micas M2-W6940-64OC and Dell Z9664F: Gb/s,
# metres, xon, xoff, size.
SPECTRUM_4 = [
    (10, 5, 19456, 45056, 64512), (25, 5, 19456, 48128, 67584), (40, 5, 19456, 57344, 75776),
    (50, 5, 19456, 63488, 82944), (100, 5, 19456, 113664, 133120), (200, 5, 19456, 131072, 150528),
    (400, 5, 19456, 231424, 250880), (800, 5, 38912, 257024, 304128), (10, 40, 19456, 46080, 65536),
    (25, 40, 19456, 52224, 71680), (40, 40, 19456, 62464, 81920), (50, 40, 19456, 69632, 89088),
    (100, 40, 19456, 126976, 146432), (200, 40, 19456, 157696, 177152), (400, 40, 19456, 283648, 303104),
    (800, 40, 38912, 362496, 410624), (10, 300, 19456, 56320, 75776), (25, 300, 19456, 76800, 96256),
    (40, 300, 19456, 101376, 120832), (50, 300, 19456, 118784, 138240), (100, 300, 19456, 225280, 244736),
    (200, 300, 19456, 355328, 374784), (400, 300, 19456, 677888, 697344), (800, 300, 38912, 1150976, 1198080),
]  # fmt: skip
TOMAHAWK_5 = [
    (10, 5, 0, 91440, 18796), (25, 5, 0, 91440, 18796), (40, 5, 0, 106934, 18796), (50, 5, 0, 106934, 18796),
    (100, 5, 0, 147066, 18796), (200, 5, 0, 229362, 18796), (400, 5, 0, 393192, 18796), (800, 5, 0, 729488, 18796),
    (10, 40, 0, 94742, 18796), (25, 40, 0, 94742, 18796), (40, 40, 0, 113538, 18796), (50, 40, 0, 113538, 18796),
    (100, 40, 0, 160274, 18796), (200, 40, 0, 255778, 18796), (400, 40, 0, 446024, 18796),
    (800, 40, 0, 835406, 18796), (10, 300, 0, 258572, 18796), (25, 300, 0, 258572, 18796),
    (40, 300, 0, 258572, 18796), (50, 300, 0, 258572, 18796), (100, 300, 0, 258572, 18796),
    (200, 300, 0, 452374, 18796), (400, 300, 0, 839216, 18796), (800, 300, 0, 1621536, 18796),
]  # fmt: skip
TOMAHAWK_4 = [
    (10, 5, 9144, 75438, 9144), (25, 5, 9144, 75438, 9144), (40, 5, 9144, 91694, 9144), (50, 5, 9144, 91694, 9144),
    (100, 5, 9144, 129032, 9144), (200, 5, 9144, 214122, 9144), (400, 5, 9144, 371348, 9144),
    (10, 40, 9144, 78740, 9144), (25, 40, 9144, 78740, 9144), (40, 40, 9144, 98298, 9144),
    (50, 40, 9144, 98298, 9144), (100, 40, 9144, 142240, 9144), (200, 40, 9144, 240792, 9144),
    (400, 40, 9144, 424434, 9144), (10, 300, 9144, 103378, 9144), (25, 300, 9144, 103378, 9144),
    (40, 300, 9144, 147574, 9144), (50, 300, 9144, 147574, 9144), (100, 300, 9144, 240538, 9144),
    (200, 300, 9144, 437134, 9144), (400, 300, 9144, 817372, 9144),
]  # fmt: skip
# Three sizes that ship are a step of 1,024 less, as with an MTU of 9,100; every xoff is that of 9,216.
OF_MTU_9100 = {(40, 5), (800, 5), (800, 300)}
TABLES = [
    *(("Spectrum-4 (51.2T)", row) for row in SPECTRUM_4),
    *(("Tomahawk 5 (BCM78900)", row) for row in TOMAHAWK_5),
    *(("Tomahawk 4", row) for row in TOMAHAWK_4),
]


def test_every_row_of_the_shipped_tables() -> None:
    for asic, row in TABLES:
        gbps, metres, xon, xoff, size = row
        room = headroom(asic, gbps, metres, 8 if gbps == 800 else 4)
        older = 1024 if row in SPECTRUM_4 and (gbps, metres) in OF_MTU_9100 else 0
        assert room is not None and (room.xon, room.xoff, room.size - older) == (xon, xoff, size), (asic, row)


@pytest.mark.parametrize("asic", ["Tomahawk 5", "Tomahawk 4"])
def test_lengths_between_rows_are_within_a_percent(asic: str) -> None:
    """What goes both ways in a cable, as smallest packets of 84 bytes in cells of 254: 10 ns a metre."""
    for gbps in (100, 200, 400, 800) if asic == "Tomahawk 5" else (200, 400):
        near = headroom(asic, gbps, 40, 8)
        assert near is not None
        for metres in (60, 100, 150, 250):
            room = headroom(asic, gbps, metres, 8)
            by_rate = near.xoff + (metres - 40) * 10 * gbps / 8 / 84 * 254
            assert room is not None and room.xoff == pytest.approx(by_rate, rel=0.01)


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
