"""Where labels of points are in a chart, so that none covers another or a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Mean width of a letter against its height, of a sans.
_LETTER = 0.52
_GAP = 4.0


@dataclass(frozen=True)
class Spot:
    """A point in pixels from the chart's upper left corner; ``urgent`` ones are labelled first."""

    x: float
    y: float
    text: str
    urgent: bool


@dataclass(frozen=True)
class Label:
    """Where a text goes, against the middle of its point. ``align``: ``left``, ``right`` or ``center``."""

    dx: float
    dy: float
    align: str


@dataclass(frozen=True)
class _Area:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Area) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def is_within(self, other: _Area) -> bool:
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def placed(
    spots: Sequence[Spot], width: float, height: float, size: float, radius: float, rising: bool
) -> list[Label | None]:
    """Return a place for the label of each point, or None where there is no room for it.

    Urgent points come first, then the others in order; a point without a text has no label. ``size``: of the letters;
    ``radius``: of the points, pixels. ``rising``: a line through the points goes up, so that labels are best below it
    to the right.
    """
    chart = _Area(0, 0, width, height)
    taken = [_Area(spot.x - radius, spot.y - radius, spot.x + radius, spot.y + radius) for spot in spots]
    placed: list[Label | None] = [None] * len(spots)
    for index in sorted(range(len(spots)), key=lambda index: (not spots[index].urgent, index)):
        own = taken[index]
        if not spots[index].text:
            continue
        for label, area in _candidates(spots[index], size, radius, rising):
            if area.is_within(chart) and not any(area.meets(other) for other in taken if other is not own):
                placed[index] = label
                taken.append(area)
                break
    return placed


def _candidates(spot: Spot, size: float, radius: float, rising: bool) -> Iterator[tuple[Label, _Area]]:
    width, away, beside = len(spot.text) * size * _LETTER, radius + _GAP, radius * 0.6
    down = radius + size * 0.8 if rising else -radius - size * 0.8
    for dx, dy, align in (
        (beside, down, "left"),
        (-beside, -down, "right"),
        (0.0, down, "center"),
        (0.0, -down, "center"),
        (beside, -down, "left"),
        (-beside, down, "right"),
        # last, as a line to the next point may be level
        (away, 0.0, "left"),
        (-away, 0.0, "right"),
    ):
        left = spot.x + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
        middle = spot.y + dy
        yield Label(dx, dy, align), _Area(left, middle - size * 0.7, left + width, middle + size * 0.7)
