"""What a fabric has of each part of the default rule of resilience, in words that follow from its numbers."""

from collections.abc import Collection

from fabopt.rules.defaults import PAIR, PAIRING, TWO_CORES, TWO_LEAVES, TWO_SPINES, TWO_SWITCHES
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.resilience import CABLES_OF_PEER_LINK, FEATURE_OF_PAIRING, PEER_LINK, UNJOINED
from fabopt.units import some

TWO = 2
# What one tier of a switch, and of more, is in words.
ONE_TIER = {1: "a single switch", TWO: "one tier of switches that no link joins"}


def standing_words(
    fabric: FabricDesign, rule: str, fewest: int | None, features: Collection[str], whose: str = ""
) -> str:
    """The detail of a part of the rule.

    Args:
        fabric: The fabric of the design file.
        rule: The part.
        fewest: The fewest switches that the part counts, at any stage; None where the part does not apply.
        features: What the catalog says of the leaf switch.
        whose: The logical fabric whose servers are on so few; empty for the fabric itself.
    """
    if rule == PAIRING:
        return _of_pairs(fabric, features)
    if fewest is not None:
        return {
            TWO_SWITCHES: some(fewest, "switch"),
            PAIR: f"every server{whose and f' of {whose}'} on {some(fewest, 'switch')}",
            TWO_LEAVES: f"every server on {fewest} {'leaf' if fewest == 1 else 'leaves'}",
            TWO_SPINES: f"{some(fewest, 'spine')} above every leaf",
            TWO_CORES: some(fewest, "core"),
        }[rule]
    if fabric.structure.is_direct:
        return f"a {fabric.structure.kind} is a direct network"
    if len(fabric.tiers) == 1:
        if fabric.peer_links is not None:
            return "one tier of switches that peer links alone join"
        return ONE_TIER[min(TWO, fabric.tiers[0].count)]
    return "NICs of one port" if rule == TWO_LEAVES else "no cores"


def _of_pairs(fabric: FabricDesign, features: Collection[str]) -> str:
    if fabric.joins_pairs is None:
        return "no pairs of leaves"
    leaf, wanted, peers = fabric.tiers[0], FEATURE_OF_PAIRING.values(), fabric.peer_links
    if fabric.pairing != UNJOINED:
        is_cabled = fabric.pairing == PEER_LINK and peers is not None
        joined = f"{CABLES_OF_PEER_LINK} cables of {peers.gbps:g} Gb/s" if is_cabled and peers else "EVPN multihoming"
        return f"{some(leaf.count // TWO, 'pair')} of leaves, each with {joined}"
    if set(wanted).isdisjoint(features):
        return f"the catalog says neither {' nor '.join(wanted)} of {leaf.id}"
    return "the leaves are not in pairs"
