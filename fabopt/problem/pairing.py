"""Pairing of two leaves in a problem: the switches that can be paired, and the space that is left.

Rule ``pairs_are_joined``. The two leaves of a pair run MLAG over a peer link, or EVPN multihoming without one, if the
catalog lists the feature. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabopt.parts.switches import SwitchType, with_peer_links
from fabopt.problem.generations import Switches
from fabopt.schema.resilience import FEATURE_OF_PAIRING, MULTIHOMING, PEER_LINK, Pairing

CLOS = "clos"
ETHERNET = "ethernet"


class Unpaired(NamedTuple):
    """The families and the switches that a fabric may have where its leaves are in no pairs."""

    topologies: tuple[str, ...]
    switches: Switches


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
