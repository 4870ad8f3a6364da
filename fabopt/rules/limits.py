"""Limits on spending, one record each: the key under ``limits``, where a problem has it, what it bounds, its words."""

from __future__ import annotations

from typing import Final, NamedTuple

from fabopt.units import usd, watts


class SpendingLimit(NamedTuple):
    """A limit on spending: its key in the case and in a problem's limits, its metric, and words for its figures."""

    key: str
    field: str
    metric: str
    unit: str
    least: str

    def of(self, limits: object) -> int | None:
        """The limit in whole units; None: any amount. ``limits``: those of a problem."""
        value: int | None = getattr(limits, self.field)
        return value

    def in_units(self, value: int | float) -> int | float:
        """Whole cents in dollars, thousandths in watts and rack units."""
        return usd(int(value)) if self.unit == "$" else watts(int(value))

    def said(self, value: int) -> str:
        """A figure with its unit."""
        shown = self.in_units(value)
        return f"${shown:,}" if self.unit == "$" else f"{shown:,} {self.unit}"


SPENDING_LIMITS: Final = (
    SpendingLimit("budget_usd", "capex_cents", "capex_usd", "$", "the cheapest design costs"),
    SpendingLimit("power_w", "power_mw", "power_w", "W", "the leanest design uses"),
    SpendingLimit("rack_units", "rack_milliunits", "rack_units", "U", "the smallest design takes"),
)
