"""What an answer says of the choice among designs that the model cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.schema.default_rules import DEFAULT_RULES, ROBUST_DESIGNS
from fabopt.schema.design import Design
from fabopt.schema.objective import DecidedBy
from fabopt.units import some

RULE = DEFAULT_RULES[ROBUST_DESIGNS]


def decision_notes(design: Design) -> Iterator[str]:
    """Say how many designs are as good as the least, between which ratios, and that the most robust was picked."""
    decision = design.objective.decision
    if decision is None or decision.designs is None:
        return
    bands = {"at the leaves": decision.leaf_oversubscription, "above pods": decision.spine_oversubscription}
    told = [f"{_ratios(*band)} {where}" for where, band in bands.items() if band is not None]
    between = f", {' and '.join(told)}," if told else ""
    verb = "was" if decision.designs == 1 else "were"
    within = f"within {100 * (decision.error or 0):g} % of the least"
    least = f"cost {within}, ${decision.least_usd:,.2f}" if decision.by == "robustness" else _regrets(decision, within)
    met = f"{some(decision.designs, 'design')} that {verb} met{between}"
    yield f"rule `{ROBUST_DESIGNS}`: {RULE.sentence}: {met} {least} ({RULE.anchor})"


def _regrets(decision: DecidedBy, within: str) -> str:
    return f"cost in their worst scenario {within}, whose regret is {100 * (decision.least_regret or 0):.2g} %"


def _ratios(low: float, high: float) -> str:
    return f"from {low:g}:1 to {high:g}:1" if high > low else f"at {low:g}:1"
