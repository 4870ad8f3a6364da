"""Default rules about NICs: the NICs that they leave to a fabric, of all that meet its demand.

They are ``tested-nics``, ``slot-speed``, ``one-port`` and ``nic-pairing``; ``NicOption.breaks`` names the rules that
exclude an option.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from fabopt.parts.nics import NicOption
from fabopt.rules.defaults import NIC_RULES, ONE_PORT, Rules, is_asked_for, is_kept

Nics = Mapping[str, tuple[NicOption, ...]]


class NicsByRules(NamedTuple):
    """NICs by protocol: those that keep all rules of a case, and those allowed only if some rules yield."""

    kept: Nics
    left_out: Nics


@dataclass(frozen=True)
class OtherNics:
    """NICs that a fabric does not have: by protocol those that rules leave out which may yield, and why no more are
    able, in words.
    """

    by_rules: Nics = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_rules", MappingProxyType(dict(self.by_rules)))


NO_OTHER_NICS = OtherNics()


def rules_on_nics(rules: Rules) -> frozenset[str]:
    """The rules about NICs that a case does not turn off."""
    return frozenset(rule for rule in NIC_RULES if is_kept(rules, rule))


def by_rules(nics: Nics, rules: Rules) -> NicsByRules:
    """The NICs of a fabric, divided by the rules of its case; rules that the case asks for by name never yield."""
    asked = frozenset(rule for rule in NIC_RULES if is_asked_for(rules, rule))
    return parted(keeping(nics, asked), rules_on_nics(rules))


def parted(nics: Nics, kept: Collection[str]) -> NicsByRules:
    """NICs that keep all of ``kept`` rules, and the others."""
    rules = frozenset(kept)
    others = {
        protocol: tuple(option for option in options if option.breaks & rules) for protocol, options in nics.items()
    }
    return NicsByRules(keeping(nics, rules), others)


def keeping(nics: Nics, rules: frozenset[str]) -> Nics:
    """The NICs that keep some rules."""
    return {
        protocol: tuple(option for option in options if not option.breaks & rules) for protocol, options in nics.items()
    }


def together(nics: Nics, others: Nics) -> Nics:
    """The NICs of two spaces of the same protocols."""
    return {protocol: (*options, *others.get(protocol, ())) for protocol, options in nics.items()}


def demand_met(nic: NicOption, rules: Rules, left_out: Collection[str] = ()) -> Fraction:
    """The largest demand per GPU, in Mb/s, that NICs meet: their injection, by rule ``one-port`` at most one port's
    rate.
    """
    alone = is_kept(rules, ONE_PORT) and ONE_PORT not in left_out and not nic.shares_ports
    return min(nic.injection, nic.flow_mbps) if alone else nic.injection


def broken_by(nics: Nics) -> frozenset[str]:
    """The rules that any of some NICs break."""
    return frozenset(rule for options in nics.values() for option in options for rule in option.breaks)
