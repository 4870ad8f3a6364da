"""What joins the two leaves of a pair in a problem: which switches can be in one, and what of the space is left.

Rule ``pairs_are_joined``. The two leaves of a pair can run MLAG over a peer link, or EVPN multihoming without one, as
far as the catalog says that they can. See docs/bandwidth.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabopt.parts.switches import SwitchType, with_peer_links
from fabopt.problem.generations import Switches
from fabopt.schema.homing import FEATURE_OF_PAIRING, MULTIHOMING, PEER_LINK, Pairing

CLOS = "clos"
ETHERNET = "ethernet"


class Unpaired(NamedTuple):
    """The families and the switches that a fabric may have where its leaves are in no pairs."""

    topologies: tuple[str, ...]
    switches: Switches


def in_pairs(space: Unpaired, pairing: Pairing | None) -> Unpaired:
    """The space of a fabric all of whose leaves are in pairs: joined so, or as their switches can be (None)."""
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
    """Whether the catalog says that a switch can be in such a pair."""
    return FEATURE_OF_PAIRING[pairing] in switch.product.features
