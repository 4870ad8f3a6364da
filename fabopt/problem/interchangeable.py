"""Default rule ``switches_are_interchangeable`` in a problem: which switches may stand in for those of a tier.

A tier has at most one product that can be had in any number and in time. Those that cannot may be beside it, or, where
there is no such product, beside each other. Offers of one product by several vendors are always beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fabopt.parts.interchangeable import are_alike, are_offers_of_one
from fabopt.parts.lookup import Lookup
from fabopt.parts.offering import Offering
from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.schema.case import Case, Fabric
from fabopt.schema.default_rules import INTERCHANGEABLE, is_kept

Switches = Mapping[str, Mapping[str, tuple[SwitchType, ...]]]


@dataclass(frozen=True, eq=False)
class InterchangeableSwitches:
    """The rule for one fabric. ``products``: of a tier and the id of its switch, all that the tier may have, by id."""

    products: Mapping[tuple[str, str], tuple[SwitchType, ...]]

    def of(self, role: str, switch: SwitchType) -> tuple[SwitchType, ...]:
        """The products that a tier of a switch may have; of one that nothing stands in for itself alone."""
        return self.products.get((role, switch.id), (switch,))

    def has(self, switch_id: str) -> bool:
        """Whether others may stand in for a switch in some tier."""
        return any(own == switch_id for _, own in self.products)


def stand_ins_of(case: Case, fabric: Fabric, switches: Switches, offering: Offering) -> InterchangeableSwitches | None:
    """The rule for a fabric; None where no switch stands in for another. Where it is off, only offers of one product
    by several vendors stand beside each other.
    """
    if any(what_keeps_one_product(case, fabric)):
        return None
    products = dict(_products(case, switches, is_kept(case.rules, INTERCHANGEABLE)))
    key = tuple((place, tuple(one.id for one in ways)) for place, ways in products.items())
    return _RULES.of(offering, key, InterchangeableSwitches, MappingProxyType(products)) if products else None


# One of each in an offering, so that fabrics under the same rule are known to be.
_RULES: Lookup[Offering, tuple[tuple[tuple[str, str], tuple[str, ...]], ...], InterchangeableSwitches] = Lookup()


def what_keeps_one_product(case: Case, fabric: Fabric) -> Iterator[str]:
    """Why a tier is of one product whatever can be had, in words."""
    if case.site.has_floor:
        yield "on a floor"
    if fabric.roce is not None:  # pools are weighed of switches that are all alike
        yield "with `roce`"


def _products(
    case: Case, switches: Switches, is_open: bool
) -> Iterator[tuple[tuple[str, str], tuple[SwitchType, ...]]]:
    """What every tier of every switch may have, where that is more than the switch; ``is_open``: the rule is kept."""
    rules = case.procurement
    for by_role in switches.values():
        for role in TIER_ROLES:
            if role in rules.max_vendors or role in rules.min_sources:
                continue  # whose switches a tier has is counted by what it is sized with
            for switch in by_role[role]:
                beside = [
                    one for one in by_role[role]
                    if are_offers_of_one(one, switch) or (is_open and one.item.is_short and are_alike(one, switch))
                ]  # fmt: skip
                both = {one.id: one for one in (switch, *beside)}
                if len(both) > 1:
                    yield (role, switch.id), tuple(both[id_] for id_ in sorted(both))
