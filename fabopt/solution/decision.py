"""Notes on the choice among designs that are equal within the uncertainty of the model."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.rules.defaults import DEFAULT_RULES, MOST_ROBUST_RATIO, ROBUST_DESIGNS, is_kept
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.design import Design
from fabopt.schema.objective import DecidedBy
from fabopt.units import some

RULE = DEFAULT_RULES[ROBUST_DESIGNS]


def decision_notes(case: Case, design: Design) -> Iterator[str]:
    """The number of designs as good as the least, their ranges of ratios, and the robust choice; or that time was too
    short for it.
    """
    decision = design.objective.decision
    if case.objective == EFFECTIVE and design.fabrics and (decision is None or decision.designs is None):
        if is_kept(case.rules, ROBUST_DESIGNS):
            why = "not finished in time" if design.status == "optimal" else "not begun, as the least is not proven"
            yield f"rule `{ROBUST_DESIGNS}`: the robust choice was {why}: this is the least met ({RULE.anchor})"
        return
    if decision is None or decision.designs is None:
        return
    bands = {"at the leaves": decision.leaf_oversubscription, "above pods": decision.spine_oversubscription}
    told = [f"{_ratios(*band)} {where}" for where, band in bands.items() if band is not None]
    between = f", {' and '.join(told)}," if told else ""
    verb = "was" if decision.designs == 1 else "were"
    within = f"within {100 * (decision.error or 0):g} % of the least"
    base = decision.least_in_ratio_usd or decision.least_usd
    least = f"cost {within}, ${base:,.2f}" if decision.by == "robustness" else _regrets(decision, within)
    if decision.least_in_ratio_usd is not None:
        least += f" with no more than {MOST_ROBUST_RATIO}:1; with more it is ${decision.least_usd:,.2f}"
    if decision.most_oversubscription is None:
        least += f"; no design has {MOST_ROBUST_RATIO}:1 or less at every boundary, so that more is allowed"
    met = f"{some(decision.designs, 'design')} that {verb} met{between}"
    yield RULE.note(f"{met} {least}")


def _regrets(decision: DecidedBy, within: str) -> str:
    return f"cost in their worst scenario {within}, whose regret is {100 * (decision.least_regret or 0):.2g} %"


def _ratios(low: float, high: float) -> str:
    return f"from {low:g}:1 to {high:g}:1" if high > low else f"at {low:g}:1"
