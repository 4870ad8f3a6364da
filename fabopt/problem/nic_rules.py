"""Default rules about NICs: which of those that give what is asked for a case leaves to a fabric.

They are ``tested-nics``, ``slot-speed``, ``one-port`` and ``nic-pairing``; ``NicOption.breaks`` has those that leave a
way to equip servers out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import NamedTuple

from fabopt.parts.nics import NicOption
from fabopt.schema.default_rules import NIC_RULES, ONE_PORT, Rules, is_asked_for, is_kept

Nics = Mapping[str, tuple[NicOption, ...]]


class NicsByRules(NamedTuple):
    """NICs by protocol: those that keep all rules of a case, and those that it may have if some are given up."""

    kept: Nics
    left_out: Nics


def rules_on_nics(rules: Rules) -> frozenset[str]:
    """The rules about NICs that a case does not turn off."""
    return frozenset(rule for rule in NIC_RULES if is_kept(rules, rule))


def by_rules(nics: Nics, rules: Rules) -> NicsByRules:
    """The NICs of a fabric by what the rules of its case say of them; what it asks for by name is never given up."""
    asked = frozenset(rule for rule in NIC_RULES if is_asked_for(rules, rule))
    return parted(keeping(nics, asked), rules_on_nics(rules))


def parted(nics: Nics, kept: Collection[str]) -> NicsByRules:
    """NICs that keep some rules, and the others."""
    rules = frozenset(kept)
    others = {protocol: tuple(one for one in options if one.breaks & rules) for protocol, options in nics.items()}
    return NicsByRules(keeping(nics, rules), others)


def keeping(nics: Nics, rules: frozenset[str]) -> Nics:
    """The NICs that keep some rules."""
    return {protocol: tuple(one for one in options if not one.breaks & rules) for protocol, options in nics.items()}


def together(nics: Nics, others: Nics) -> Nics:
    """The NICs of two spaces of the same protocols."""
    return {protocol: (*options, *others.get(protocol, ())) for protocol, options in nics.items()}


def demand_met(nic: NicOption, rules: Rules, left_out: Collection[str] = ()) -> Fraction:
    """The most Mb/s of a GPU that NICs do for: what they inject, by rule ``one-port`` no more than a port carries."""
    alone = is_kept(rules, ONE_PORT) and ONE_PORT not in left_out and not nic.shares_ports
    return min(nic.injection, nic.flow_mbps) if alone else nic.injection


def broken_by(nics: Nics) -> frozenset[str]:
    """The rules that any of some NICs break."""
    return frozenset(rule for options in nics.values() for one in options for rule in one.breaks)
