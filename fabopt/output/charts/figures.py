"""Quantities on axes and in words: the metrics of a front, and the keys that a sweep goes over."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.words import count, money, plain, power
from fabopt.schema.design import Number
from fabopt.schema.front import BUDGET_KEY, FrontPoint

_NAMES = {
    "capex_usd": "purchase price",
    "tco_usd": "total cost of ownership",
    "power_w": "power",
    "rack_units": "rack units",
    "gbps_per_gpu": "Gb/s per GPU",
    "bisection_gbps_per_gpu": "bisection, Gb/s per GPU",
    "headroom_servers": "servers that could still join",
    "least_gpu_utilization": "GPU utilization, at least",
    "gpu_utilization": "GPU utilization",
    "usd_per_effective_gpu": "cost per effective GPU",
    BUDGET_KEY: "budget",
}
_UNITS = ("usd", "w", "gbps", "m")


@dataclass(frozen=True)
class Quantity:
    """A metric or a key of the case, as people say it and as Vega-Lite labels it."""

    name: str

    @property
    def title(self) -> str:
        """``purchase price``; a key that has no name of its own is shown as it is."""
        if self.name in _NAMES or "." in self.name:
            return _NAMES.get(self.name, self.name)
        words = self.name.split("_")
        return " ".join(words[:-1] if len(words) > 1 and words[-1] in _UNITS else words)

    def words(self, value: Number | str) -> str:
        """Return a value with its unit: ``$1,250``, ``81.6 kW``, ``400``."""
        if isinstance(value, str):
            return value
        if self.name.endswith("_usd"):
            return money(value)
        if self.name.endswith("_w"):
            return power(value)
        return count(value) if isinstance(value, int) else plain(value)

    @property
    def short_title(self) -> str:
        """The title, of a key only its last word."""
        return self.title if self.name in _NAMES else self.title.rpartition(".")[2]

    @property
    def label_expression(self) -> str:
        """Return the Vega expression of an axis label: ``$2.5M``, ``64 kW``, ``1,024``."""
        if self.name.endswith("_usd"):
            return "replace(replace(format(datum.value, '$.3~s'), 'G', 'B'), 'k', 'K')"
        if self.name.endswith("_w"):
            return "replace(format(datum.value, '.3~s'), /([a-zA-Z]?)$/, ' $1W')"
        return "format(datum.value, ',~r')"


def value_of(point: FrontPoint, metric: str) -> Number | None:
    """Return a figure of the design at a point; None where there is no design or no such figure."""
    if metric in point.values:
        return point.values[metric]
    totals = point.totals
    if totals is not None and metric in type(totals).model_fields:
        return float(getattr(totals, metric))
    return point.objective.value if point.objective.metric == metric else None


def setting_of(point: FrontPoint, key: str) -> Number | str | None:
    """Return the value of a key of the case at a point."""
    return point.budget_usd if key == BUDGET_KEY and point.budget_usd is not None else point.over.get(key)
