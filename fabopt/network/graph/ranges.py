"""A figure that is known exactly, or to lie between two numbers, with its method."""

from __future__ import annotations

from typing import NamedTuple

# Loads are sums in floating point of some millions of shares.
SAME = 1e-9


class Range(NamedTuple):
    """Mb/s of every endpoint: ``lower`` is feasible, ``upper`` a bound. ``how``: the methods of both."""

    lower: float
    upper: float
    how: str

    @property
    def is_exact(self) -> bool:
        """Whether both bounds are equal, within rounding."""
        return self.lower >= self.upper * (1 - SAME)

    def allows(self, claimed: float) -> bool:
        """Whether a claimed figure is within the bounds, to the rounding of six decimals of Gb/s."""
        return self.lower * (1 - SAME) - LAST_DIGIT <= claimed <= self.upper * (1 + SAME) + LAST_DIGIT


# Half of the last of six decimals of a figure in Gb/s, in Mb/s.
LAST_DIGIT = 0.0005


def narrowest(lower: float, uppers: dict[str, float], most: float, how: str) -> Range:
    """The range below the least of several upper bounds; ``most``: another one, as the port's speed."""
    name = min(uppers, key=lambda bound_name: uppers[bound_name]) if uppers else ""
    upper = uppers[name] if uppers else most
    if lower >= most * (1 - SAME):
        return Range(most, most, "the ports' own speed")
    if upper > most:
        return Range(min(lower, most), most, f"{how}; the ports' own speed")
    return Range(min(lower, upper), upper, f"{how}; {name}")
