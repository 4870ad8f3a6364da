"""Headroom in bytes that a lossless port needs after it asked its neighbour to pause, by ASIC, speed and length.

Spectrum: the formula of sonic-net/sonic-swss e6b0c5b5 (2026-08), ``cfgmgr/buffer_headroom_mellanox.lua``, constants of
sonic-net/sonic-buildimage 086b03bd, ``platform/mellanox/asic_table.j2``. Tomahawk: ``pg_profile_lookup.ini`` there, of
Micas M2-W6940-64OC (Tomahawk 5) and Dell Z9664F (Tomahawk 4), which lie on lines, so lengths between are on them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import NamedTuple

_KIB = 1024
_CELL_OF_SMALLEST = 64
# Metres a second in a cable, as the formula has it.
_LIGHT_M_PER_S = 198_000_000
_TILE_BYTES_PER_GBPS = 15
WIDE_LANES = 8


class Headroom(NamedTuple):
    """Bytes of a port: below ``xon`` it sends again, ``xoff`` is kept for data in flight, ``size`` is both."""

    xon: int
    xoff: int
    size: int


class _Spectrum(NamedTuple):
    cell: int
    pipeline_kib: int
    has_tiles: bool = False
    extra_xoff: int = 0


_MAC_PHY_BYTES = 0.8 * _KIB
_SPECTRUM: Mapping[str, _Spectrum] = {
    "Spectrum": _Spectrum(96, 19),
    "Spectrum-2": _Spectrum(144, 19),
    "Spectrum-3": _Spectrum(144, 19),
    "Spectrum-4": _Spectrum(192, 19, has_tiles=True),
    "Spectrum-5": _Spectrum(192, 19, has_tiles=True),
    "Spectrum-6": _Spectrum(256, 42, extra_xoff=18432),
}
# Time that a neighbour takes to stop, in pauses of 64 bytes, by Gb/s.
_QUANTA = {800: 905, 400: 905, 200: 453, 100: 394, 50: 147, 40: 118, 25: 80, 10: 67}
_METRES = (5, 40, 300)
# By ASIC and Gb/s: xoff at each of these lengths.
_TOMAHAWK: Mapping[str, Mapping[int, tuple[int, int, int]]] = {
    "Tomahawk 5": {
        10: (91440, 94742, 258572), 25: (91440, 94742, 258572), 40: (106934, 113538, 258572),
        50: (106934, 113538, 258572), 100: (147066, 160274, 258572), 200: (229362, 255778, 452374),
        400: (393192, 446024, 839216), 800: (729488, 835406, 1621536),
    },
    "Tomahawk 4": {
        10: (75438, 78740, 103378), 25: (75438, 78740, 103378), 40: (91694, 98298, 147574), 50: (91694, 98298, 147574),
        100: (129032, 142240, 240538), 200: (214122, 240792, 437134), 400: (371348, 424434, 817372),
    },
}  # fmt: skip
# Limit of one priority of a port in a shared pool: two to this power times the bytes still free. Of Spectrum the
# default of SONiC, of Tomahawks the lowest in the tables of Micas M2-W6940-64OC and Dell Z9664F.
_THRESHOLD = {"Tomahawk 5": -2, "Tomahawk 4": 0}
# How far below ``xoff`` a port sends again.
_XON_OFFSET = {"Tomahawk 5": 3556, "Tomahawk 4": 9144}
# Of these: xon and size, whatever the speed and length.
_TOMAHAWK_XON_SIZE = {"Tomahawk 5": (0, 18796), "Tomahawk 4": (9144, 9144)}


def headroom(asic: str, gbps: float, length_m: float, lanes: int, mtu: int = 9216) -> Headroom | None:
    """The headroom of a port with a cable of ``length_m`` metres; None for an unknown ASIC or speed.

    ``lanes``: signalling lanes of the port, which Spectrum's pipeline depends on. ``mtu``: the port's, in bytes.
    """
    name = asic_name(asic)
    if name in _SPECTRUM:
        return _of_spectrum(_SPECTRUM[name], gbps, length_m, lanes, mtu)
    return _of_tomahawk(name, gbps, length_m) if name in _TOMAHAWK else None


def asic_name(asic: str) -> str:
    """The name of an ASIC without a catalog's remark in brackets."""
    return asic.partition(" (")[0]


def threshold(asic: str) -> int | None:
    """The dynamic threshold of a lossless priority as a power of two; None for an unknown ASIC."""
    name = asic_name(asic)
    return 0 if name in _SPECTRUM else _THRESHOLD.get(name)


def xon_offset(asic: str) -> int:
    """Bytes below its limit at which a priority is sent again; 0 where ``xon`` alone is the limit."""
    return _XON_OFFSET.get(asic_name(asic), 0)


def pipeline_bytes(asic: str) -> int | None:
    """Bytes of a port of up to four lanes in Spectrum's pipeline; None for another ASIC."""
    spectrum = _SPECTRUM.get(asic_name(asic))
    return spectrum and spectrum.pipeline_kib * _KIB


def _of_spectrum(asic: _Spectrum, gbps: float, length_m: float, lanes: int, mtu: int) -> Headroom | None:
    speed = next((known for known in sorted(_QUANTA) if known >= gbps), None)
    if speed is None:
        return None
    cable = 2 * length_m * gbps * 10**9 / 8 / _LIGHT_M_PER_S
    tiles = gbps * _TILE_BYTES_PER_GBPS if asic.has_tiles else 0
    under_way = mtu + cable + _MAC_PHY_BYTES + _QUANTA[speed] * _CELL_OF_SMALLEST + tiles
    xoff = _up(_KIB + under_way * _worst(asic.cell)) + asic.extra_xoff
    wide = lanes >= WIDE_LANES
    xon = _up(asic.pipeline_kib * _KIB * (2 if wide else 1))
    return Headroom(xon, xoff, _up(xoff + xon + (mtu if wide else 0)))


def _worst(cell: int) -> int:
    """Bytes of cells that the worst sizes of packets fill, for each byte under way."""
    if cell > 2 * _CELL_OF_SMALLEST:
        return ceil(cell / _CELL_OF_SMALLEST)
    return ceil(2 * cell / (1 + cell))


def _up(number: float) -> int:
    return ceil(number / _KIB) * _KIB


def _of_tomahawk(asic: str, gbps: float, length_m: float) -> Headroom | None:
    """The headroom on the lines between the table's rows of a speed, or of the next higher one; shorter cables as the
    shortest.
    """
    rows = _TOMAHAWK[asic]
    speed = next((known for known in sorted(rows) if known >= gbps), None)
    if speed is None:
        return None
    short, middle, long = _METRES
    at_short, at_middle, at_long = rows[speed]
    if length_m <= middle:
        xoff = at_short + max(0.0, length_m - short) * (at_middle - at_short) / (middle - short)
    else:
        xoff = at_middle + (length_m - middle) * (at_long - at_middle) / (long - middle)
    xon, size = _TOMAHAWK_XON_SIZE[asic]
    return Headroom(xon, ceil(xoff), size)
