"""Rule ``one-generation``: the InfiniBand switches of a fabric are of one generation, by their ASIC.

Between two tiers whose switches the case names by their ids it does not hold. What the catalog says no ASIC of goes
with all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Switch
from fabopt.schema.default_rules import ONE_GENERATION, is_asked_for, is_kept

# Switches that a fabric may have, by protocol and tier.
Switches = Mapping[str, Mapping[str, tuple[SwitchType, ...]]]


@dataclass(frozen=True)
class Generations:
    """The rule for one fabric. ``pairs``: tiers between which it holds; ``is_asked_for``: by its name."""

    pairs: frozenset[tuple[str, str]]
    is_asked_for: bool

    def clash(self, switches: Mapping[str, Switch]) -> tuple[str, str] | None:
        """Two tiers whose switches, of which there is one by tier, break the rule; None if none do."""
        pairs = sorted(pair for pair in self.pairs if switches.keys() >= set(pair))
        return next((pair for pair in pairs if not switches[pair[0]].goes_with(switches[pair[1]])), None)


def generations_of(case: Case, fabric: Fabric, switches: Switches) -> Generations | None:
    """The rule for a fabric; None where it is off, or leaves out none of its switches."""
    if not is_kept(case.rules, ONE_GENERATION):
        return None
    pairs = [(low, high) for low, high in _judged(fabric) if _differ(switches, low, high)]
    return Generations(frozenset(pairs), is_asked_for(case.rules, ONE_GENERATION)) if pairs else None


def _judged(fabric: Fabric) -> Iterator[tuple[str, str]]:
    """Pairs of tiers between which the rule holds: those of which the case does not name the switches of both."""
    named = [role for role in TIER_ROLES if getattr(fabric.switches, role) != "any"]
    return ((low, high) for low, high in combinations(TIER_ROLES, 2) if low not in named or high not in named)


def _differ(switches: Switches, low: str, high: str) -> bool:
    for roles in switches.values():
        below, above = ({one.product.generation for one in roles[role]} - {None} for role in (low, high))
        if any(one != other for one in below for other in above):
            return True
    return False
