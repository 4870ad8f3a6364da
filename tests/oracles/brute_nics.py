"""Default rules about the NICs of a server by hand. Nothing of fabopt is imported.

``cards``, ``division``: of ``tests.oracles.brute_force``: NICs with the ports in use, and how these are dealt over
networks.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from tests.oracles.brute_endpoints import card_gbps, demand_gbps

PAIRING, ONE_PORT, SLOT_SPEED, TESTED = "nic-pairing", "one-port", "slot-speed", "tested-nics"
# In the order in which they are kept, where not all can be.
RULES = (TESTED, SLOT_SPEED, ONE_PORT, PAIRING)


def keeps_all(space: Any, cards: Any, division: Any) -> bool:
    """Whether NICs keep all rules that the space is bound to; those that are built in always do."""
    return cards.built_in or all(keeps(rule, space, cards, division) for rule in RULES if rule in space.kept_rules)


def keeps(rule: str, space: Any, cards: Any, division: Any) -> bool:
    fabric, server = space.fabric, space.server
    if rule == TESTED:
        ids = {one if isinstance(one, str) else one["id"] for one in server.get("nics_tested", []) if is_compute(one)}
        applies = fabric.get("role", "compute") == "compute" and is_open(fabric, "nics") and ids
        return not applies or cards.id in ids
    moved, ports = card_gbps(space.catalog, server, cards), Fraction(cards.ports * cards.cage.speed, 1000)
    if rule == SLOT_SPEED:
        return not is_open(fabric, "nics") or moved == ports
    if not is_open(fabric, "nics_per_server"):
        return True
    if rule == PAIRING:
        return pairs(max(1, server["gpus"]), cards.number)
    networks = division.planes // cards.number if division.topology == "rail-only" else division.planes
    if networks > 1 or fabric.get("homing", "any") != "any" or not server["gpus"]:
        return True
    return min(moved, Fraction(cards.cage.speed, 1000)) >= demand_gbps(space.case, fabric)


def is_compute(tested: Any) -> bool:
    return isinstance(tested, str) or tested.get("role", "compute") == "compute"


def is_open(fabric: Any, key: str) -> bool:
    return bool(fabric.get(key, "any") == "any")


def pairs(gpus: int, number: int) -> bool:
    """Whether every GPU of a server has as many cards, or every card as many GPUs."""
    by_cards = Counter(place % number for place in range(gpus))
    by_gpus = Counter(place % gpus for place in range(number))
    return len(set(by_cards.values())) == 1 and len(set(by_gpus.values())) == 1
