"""Default rule ``switches_are_interchangeable`` in a problem: which products a tier may mix.

A tier has at most one product of unlimited and timely supply. Products of limited supply may be added to it or, where
there is no such product, mixed with each other. Offers of one product by several vendors may always be mixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.interchangeable import are_alike
from fabopt.parts.lookup import Lookup
from fabopt.parts.offering import Offering
from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.rules.defaults import INTERCHANGEABLE, is_kept
from fabopt.schema.case import Case, Fabric
from fabopt.units import grouped

Switches = Mapping[str, Mapping[str, tuple[SwitchType, ...]]]


# Switches in service of each product of a tier, the one that it is named for first.
Standing = tuple[tuple[SwitchType, int], ...]


class TierInService(NamedTuple):
    """A tier in service: what is ``standing``, and ``ways``, each set of products of which one has all new switches."""

    standing: Standing
    ways: tuple[tuple[SwitchType, ...], ...]

    @property
    def new(self) -> tuple[SwitchType, ...]:
        """The products that new switches may be of, each once."""
        return tuple({one.id: one for way in self.ways for one in way}.values())


@dataclass(frozen=True, eq=False)
class InterchangeableSwitches:
    """The rule for one fabric. ``products``: by tier and id of its switch, the products that the tier may mix.

    ``beside``: by tier in service.
    """

    products: Mapping[tuple[str, str], tuple[SwitchType, ...]]
    beside: Mapping[str, TierInService] = field(default_factory=dict)

    def of(self, role: str, switch: SwitchType) -> tuple[SwitchType, ...]:
        """The products that a tier sized with a switch may mix; the switch alone if no product stands in for it."""
        return self.products.get((role, switch.id), (switch,))

    def has(self, switch_id: str) -> bool:
        """Whether other products may stand in for a switch in some tier."""
        return any(own == switch_id for _, own in self.products)


def interchangeable_switches(
    case: Case, fabric: Fabric, switches: Switches, offering: Offering
) -> InterchangeableSwitches | None:
    """The rule for a fabric; None where no switch stands in for another. Where it is off, only offers of one product by
    several vendors are mixed.
    """
    if any(what_keeps_one_product(case, fabric)):
        return None
    products = dict(_products(case, switches, is_kept(case.rules, INTERCHANGEABLE)))
    key = tuple((place, tuple(mixed.id for mixed in switches_of_tier)) for place, switches_of_tier in products.items())
    return _RULES.of(offering, key, InterchangeableSwitches, MappingProxyType(products)) if products else None


def beside_those_in_service(
    case: Case, fabric: Fabric, switches: Mapping[str, tuple[SwitchType, ...]], standing: Mapping[str, Standing]
) -> InterchangeableSwitches | None:
    """The rule beside what is in service, as there is no more of it than there is; None where all new is like it.

    ``switches``: of its protocol, by tier; ``standing``: those in service, by tier.
    """
    is_open = is_kept(case.rules, INTERCHANGEABLE) and not any(what_keeps_one_product(case, fabric))
    products = dict(_products(case, {"": switches}, is_open))
    beside = {role: TierInService(there, _ways(role, fabric, products, there)) for role, there in standing.items()}
    # on a floor only tiers with switches in service
    both = {} if case.site.has_floor else {at: mixed for at, mixed in products.items() if at[0] not in standing}
    if not both and all((len(there), ways) == (1, ((there[0][0],),)) for there, ways in beside.values()):
        return None
    for role, (there, ways) in beside.items():
        both[role, there[0][0].id] = tuple({one.id: one for way in (dict(there), *ways) for one in way}.values())
    return InterchangeableSwitches(MappingProxyType(both), MappingProxyType(beside))


def _ways(
    role: str, fabric: Fabric, products: Mapping[tuple[str, str], tuple[SwitchType, ...]], standing: Standing
) -> tuple[tuple[SwitchType, ...], ...]:
    """Each largest set of products of which one has all new switches of a tier; some with none that may be new."""
    asked, own = getattr(fabric.switches, role), [switch for switch, _ in standing]
    mixes = {mixed for (tier, _), mixed in products.items() if tier == role and {*own} & {*mixed}}
    mixes |= {(one,) for one in own}
    return tuple(
        tuple(one for one in mixed if one not in own or isinstance(asked, str) or one.product.is_among(asked))
        for mixed in sorted(mixes, key=lambda mixed: [one.id for one in mixed])
        if not any({*mixed} < {*other} for other in mixes)
    )


# One of each in an offering, so that fabrics under the same rule are known to be.
_RULES: Lookup[Offering, tuple[tuple[tuple[str, str], tuple[str, ...]], ...], InterchangeableSwitches] = Lookup()


def what_keeps_one_product(case: Case, fabric: Fabric) -> Iterator[str]:
    """Reasons in words why a tier is of one product whatever its supply."""
    if case.site.has_floor and case.base is None:
        yield "on a floor"
    if fabric.roce is not None:  # pools are weighed of switches that are all alike
        yield "with `roce`"
    if fabric.max_latency_us is not None:  # so are the times of paths
        yield "with `max_latency_us`"


def _products(
    case: Case, switches: Switches, is_open: bool
) -> Iterator[tuple[tuple[str, str], tuple[SwitchType, ...]]]:
    """The products that every tier sized with a switch may mix, if more than one; ``is_open``: the rule is kept."""
    rules = case.procurement
    for by_role in switches.values():
        for role in TIER_ROLES:
            if role in rules.max_vendors or role in rules.min_sources:
                continue  # whose switches a tier has is counted by what it is sized with
            offers = grouped((one.product.base_id, one) for one in by_role[role])
            short = [one for one in by_role[role] if is_open and one.item.is_short]
            for switch in by_role[role]:
                beside = (one for one in short if are_alike(one, switch))
                both = {one.id: one for one in (*offers[switch.product.base_id], *beside)}
                if len(both) > 1:
                    yield (role, switch.id), tuple(both[id_] for id_ in sorted(both))
