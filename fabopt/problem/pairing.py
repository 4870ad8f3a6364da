"""Pairs of leaves in a problem: whether servers are on two, what joins these, and the space that is left.

Rules ``homing_is_kept``, ``pairs_are_joined``. The two leaves of a pair run MLAG over a peer link, or EVPN multihoming
without one, if the catalog lists the feature. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fabopt.parts.switches import SwitchType, with_peer_links
from fabopt.problem.generations import Switches
from fabopt.rules.defaults import NO_RULES, PAIR, PAIRING, is_asked_for
from fabopt.schema.case import Case, Fabric
from fabopt.schema.resilience import (
    FEATURE_OF_PAIRING,
    MULTIHOMING,
    PEER_LINK,
    UNJOINED,
    Homing,
    Pairing,
    asks_for_pair,
    may_be_pairs,
)

CLOS = "clos"
ETHERNET = "ethernet"


class Unpaired(NamedTuple):
    """The families and the switches that a fabric may have where its leaves are in no pairs."""

    topologies: tuple[str, ...]
    switches: Switches


@dataclass(frozen=True)
class LeafPairs:
    """How ports of servers lie on leaves, and what joins the two leaves of a server.

    ``homing``, ``pairing``: by the words of the case, of which default rules are no part; ``asked``: whether it asks
    that something joins them, by key or by the name of the rule; ``own``: whether the rule of pairs is about the
    fabric's own NICs, or only about those of logical fabrics; ``opens``: whether its servers may be on two switches
    without a link where no rule asks for it, as everywhere but in the bare space; ``kept``: the default rules on pairs
    that hold; ``free``: families and switches without pairs.
    """

    homing: Homing | None = None
    pairing: Pairing | None = None
    asked: bool = False
    own: bool = True
    opens: bool = False
    kept: frozenset[str] = frozenset()
    free: Unpaired | None = field(default=None, compare=False)

    def under(self, rules: Collection[str]) -> LeafPairs:
        """Pairs of the same fabric where these default rules hold."""
        return replace(self, kept=frozenset(rules) & {PAIR, PAIRING})

    @property
    def are_wanted(self) -> bool:
        """Whether every server is on two switches: by the words of the case, or by the default rule of pairs."""
        by_rule = PAIR in self.kept and self.own
        return self.homing == "pair" or by_rule or (self.homing is None and self.asked)

    @property
    def exist(self) -> bool:
        """Whether every server, or every NIC of it, is on two leaves."""
        return self.are_wanted or self.homing == "dual"

    @property
    def may_be_apart(self) -> bool:
        """Whether two switches that no link joins may be a plane of one tier, every server on both."""
        return self.are_wanted or self.opens

    @property
    def are_joined(self) -> bool:
        """Whether the two leaves of every server are joined: by a key of the case, or by the default rule."""
        return self.asked or (PAIRING in self.kept and self.exist)

    def within(self, space: Unpaired) -> Unpaired:
        """The families and switches of ``space`` that the rules leave."""
        return in_pairs(space, self.pairing) if self.are_joined else space

    def homing_of(self, tiers: object) -> Homing:
        """The homing of a design, with switches in ``tiers`` or with none."""
        return "pair" if self.are_wanted and tiers else self.homing or "any"

    def pairing_of(self, peer_links: object) -> Pairing | None:
        """What joins the leaves of pairs in a design with peer links or with None; None where there are no pairs."""
        if not self.are_joined:
            return UNJOINED if self.exist else None
        return MULTIHOMING if peer_links is None else PEER_LINK


NO_PAIRS = LeafPairs()


def pairs_of(fabric: Fabric, case: Case, kept_rules: Collection[str]) -> LeafPairs:
    """The pairs of a fabric of a case."""
    by_name = PAIRING in kept_rules and is_asked_for(case.rules, PAIRING)
    pairs = LeafPairs(
        fabric.homing,
        fabric.pairing,
        asked=by_name or fabric.pairing in FEATURE_OF_PAIRING,
        own=fabric.shares_pairs or asks_for_pair(fabric.role, fabric.homing),
        opens=case.rules != NO_RULES and may_be_pairs(fabric.role, fabric.homing),
    )
    return pairs.under(kept_rules)


def in_pairs(space: Unpaired, pairing: Pairing | None) -> Unpaired:
    """The space of a fabric with all leaves in pairs, joined by ``pairing`` or, with None, by any that their switches
    support.
    """
    switches = {
        protocol: {**roles, "leaf": tuple(_leaves(roles, pairing) if protocol == ETHERNET else ())}
        for protocol, roles in space.switches.items()
    }
    return Unpaired(tuple(family for family in space.topologies if family == CLOS), switches)


def is_empty(space: Unpaired) -> bool:
    """Whether it has no family, or no leaf."""
    return not space.topologies or not any(roles["leaf"] for roles in space.switches.values())


def _leaves(roles: Mapping[str, tuple[SwitchType, ...]], pairing: Pairing | None) -> Iterator[SwitchType]:
    for leaf in roles["leaf"]:
        if pairing != PEER_LINK and can_pair(leaf, MULTIHOMING):
            yield leaf
        elif pairing != MULTIHOMING and can_pair(leaf, PEER_LINK):
            yield from with_peer_links(leaf)


def can_pair(switch: SwitchType, pairing: Pairing) -> bool:
    """Whether the catalog lists the feature of a pairing for a switch."""
    return FEATURE_OF_PAIRING[pairing] in switch.product.features
