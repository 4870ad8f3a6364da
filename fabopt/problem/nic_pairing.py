"""Rule ``nic-pairing``: the NICs of a server divide its GPUs or are a multiple of them, or the case names a number."""

from __future__ import annotations

from collections.abc import Mapping

from fabopt.parts.nics import NicOption
from fabopt.schema.default_rules import NIC_PAIRING, Rules, is_asked_for, is_kept

Nics = Mapping[str, tuple[NicOption, ...]]


def by_pairing(nics: Nics, rules: Rules) -> tuple[Nics, Nics]:
    """The NICs, by protocol, that a case leaves to a fabric, and those that it could have if the rule were given up."""
    if not is_kept(rules, NIC_PAIRING):
        return nics, {}
    unpaired = {protocol: tuple(one for one in options if not one.pairs) for protocol, options in nics.items()}
    return paired(nics), {} if is_asked_for(rules, NIC_PAIRING) else unpaired


def paired(nics: Nics) -> Nics:
    """The NICs that keep the rule."""
    return {protocol: tuple(one for one in options if one.pairs) for protocol, options in nics.items()}


def with_unpaired(nics: Nics, unpaired: Nics) -> Nics:
    """The NICs with those that the rule leaves out."""
    return {protocol: (*options, *unpaired.get(protocol, ())) for protocol, options in nics.items()}
