"""Default rules that a design does not keep, and what would keep all of them where a limit leaves no design."""

from __future__ import annotations

from fabopt.schema.base import Strict
from fabopt.schema.conflict import Number


class RuleLeftOut(Strict):
    """A default rule, or a part of one, that no design of the case keeps with every limit lifted.

    ``part``: the dotted key of the case that turns it off; ``fabric``: which it is about, None: the whole case.
    """

    rule: str
    part: str
    fabric: str | None = None
    why: str

    @property
    def name(self) -> str:
        """The key, and the fabric, if it is about one."""
        return f"{self.part} of {self.fabric}" if self.fabric else self.part


class NearestDesign(Strict):
    """The cheapest design that keeps every rule, with the limits on spending lifted that leave none."""

    capex_usd: Number
    power_w: Number
    rack_units: Number
    switches: int
    summary: str
