"""Rule ``one-generation``: the InfiniBand switches of a fabric are of one generation, by their ASIC.

It does not hold between two tiers whose switches the case names by their ids. Switches without an ASIC in the catalog
are compatible with all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.rules.defaults import ONE_GENERATION, is_asked_for, is_kept
from fabopt.schema.case import Case, Fabric
from fabopt.schema.catalog import Switch

# Switches that a fabric may have, by protocol and tier.
Switches = Mapping[str, Mapping[str, tuple[SwitchType, ...]]]


@dataclass(frozen=True)
class Generations:
    """The rule for one fabric. ``pairs``: tiers between which it holds; ``is_asked_for``: whether the case names it."""

    pairs: frozenset[tuple[str, str]]
    is_asked_for: bool

    def clash(self, switches: Mapping[str, Switch]) -> tuple[str, str] | None:
        """The first two tiers whose switches break the rule; None if all keep it. ``switches``: by tier."""
        pairs = sorted(pair for pair in self.pairs if switches.keys() >= set(pair))
        return next((pair for pair in pairs if not switches[pair[0]].goes_with(switches[pair[1]])), None)


def generations_of(case: Case, fabric: Fabric, switches: Switches) -> Generations | None:
    """The rule for a fabric; None where it is off, or excludes none of its switches."""
    if not is_kept(case.rules, ONE_GENERATION):
        return None
    pairs = [(low, high) for low, high in _judged(fabric) if _differ(switches, low, high)]
    return Generations(frozenset(pairs), is_asked_for(case.rules, ONE_GENERATION)) if pairs else None


def _judged(fabric: Fabric) -> Iterator[tuple[str, str]]:
    """Pairs of tiers between which the rule holds: all but pairs whose switches the case names in both tiers."""
    named = [role for role in TIER_ROLES if getattr(fabric.switches, role) != "any"]
    return ((low, high) for low, high in combinations(TIER_ROLES, 2) if low not in named or high not in named)


def _differ(switches: Switches, low: str, high: str) -> bool:
    for roles in switches.values():
        below, above = ({switch.product.generation for switch in roles[role]} - {None} for role in (low, high))
        if any(generation != other for generation in below for other in above):
            return True
    return False
