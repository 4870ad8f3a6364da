"""A figure that is known exactly, or to lie between two numbers, and how."""

from __future__ import annotations

from typing import NamedTuple

# Loads are sums in floating point of some millions of shares.
SAME = 1e-9


class Range(NamedTuple):
    """Mb/s of every endpoint: ``lower`` can be had, ``upper`` cannot be passed. ``how``: what says so."""

    lower: float
    upper: float
    how: str

    @property
    def is_exact(self) -> bool:
        """Whether both are the same number."""
        return self.lower >= self.upper * (1 - SAME)

    def allows(self, claimed: float) -> bool:
        """Whether a claimed figure is not outside, to within what six decimals of Gb/s leave open."""
        return self.lower * (1 - SAME) - LAST_DIGIT <= claimed <= self.upper * (1 + SAME) + LAST_DIGIT


# Half of the last of six decimals of a figure in Gb/s, in Mb/s.
LAST_DIGIT = 0.0005


def narrowest(lower: float, uppers: dict[str, float], most: float, how: str) -> Range:
    """The range below the least of several upper bounds; ``most``: what nothing passes, as the port's speed."""
    name = min(uppers, key=lambda one: uppers[one]) if uppers else ""
    upper = uppers[name] if uppers else most
    if lower >= most * (1 - SAME):
        return Range(most, most, "the ports' own speed")
    if upper > most:
        return Range(min(lower, most), most, f"{how}; the ports' own speed")
    return Range(min(lower, upper), upper, f"{how}; {name}")
