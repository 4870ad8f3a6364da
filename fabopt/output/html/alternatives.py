"""Designs of other kinds that lost, against the answer."""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.output.terminal.answer import metric_name
from fabopt.output.words import money, signed_money, signed_power
from fabopt.schema.design import Alternative, Design


@dataclass(frozen=True)
class AlternativeRow:
    """One design that lost. ``length``: its extra cost against the largest, of 100; 0 where it is cheaper."""

    what: str
    summary: str
    cost: str
    more_cost: str
    more_power: str
    more_objective: str
    length: float


def alternative_rows(design: Design) -> list[AlternativeRow]:
    """Return the alternatives, in the order of the design file."""
    most = max((one.capex_delta_usd for one in design.alternatives), default=0)
    return [_row(one, max(0.0, 100 * one.capex_delta_usd / most) if most > 0 else 0.0) for one in design.alternatives]


def objective_column(design: Design) -> str:
    """Return the title of a column for the objective, where neither cost nor power is it; else empty."""
    metric = design.objective.metric
    return "" if metric in ("capex_usd", "power_w") else f"more {metric_name(metric)}"


def _row(alternative: Alternative, length: float) -> AlternativeRow:
    return AlternativeRow(
        f"{alternative.what}: {alternative.value}" if alternative.value else alternative.what,
        alternative.summary,
        money(alternative.capex_usd),
        signed_money(alternative.capex_delta_usd),
        signed_power(alternative.power_delta_w),
        signed_money(alternative.objective_delta),
        round(length, 2),
    )
