"""A plot of dots for terminals: each character is two dots wide and four high."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

BLANK = chr(0x2800)
STEPS = 200
# The bit of each dot of a character, by row and column (Unicode, chapter "Braille patterns").
_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_ROWS, _COLUMNS = len(_BITS), len(_BITS[0])


def dots(points: Sequence[tuple[float, float]], width: int, height: int) -> list[str]:
    """Lines of a plot, the largest y on top; both axes over the ``span`` of their values.

    ``width``, ``height``: in characters.
    """
    cells = [[ord(BLANK)] * width for _ in range(height)]
    across = _scaled([x for x, _ in points], width * _COLUMNS - 1)
    up = _scaled([y for _, y in points], height * _ROWS - 1)
    for column, above in zip(across, up, strict=True):
        row = height * _ROWS - 1 - above
        cells[row // _ROWS][column // _COLUMNS] |= _BITS[row % _ROWS][column % _COLUMNS]
    return ["".join(map(chr, line)) for line in cells]


def stairs(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points joined by steps: a point's y holds until the next x, as the design for a budget does."""
    drawn: list[tuple[float, float]] = []
    rising = sorted(points)
    for (x, y), (next_x, next_y) in pairwise(rising):
        drawn += [(x + (next_x - x) * step / STEPS, y) for step in range(STEPS)]
        drawn += [(next_x, y + (next_y - y) * step / STEPS) for step in range(STEPS)]
    return [*drawn, *rising[-1:]]


def span(values: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends: at 0 where that is no farther than the values reach, else at the least."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return (0.0 if 0 <= low < high - low else low), high


def _scaled(values: Sequence[float], most: int) -> list[int]:
    """Whole steps from 0 to ``most`` over the span of the values."""
    low, high = span(values)
    return [round((value - low) / (high - low) * most) if high > low else 0 for value in values]
