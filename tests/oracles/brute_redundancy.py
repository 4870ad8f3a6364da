"""The default rule of resilience by hand: who is linked to whom, device by device. Nothing of fabopt is imported.

``structure``: of ``tests.oracles.brute_force``, one point of the space; its counts are per plane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.oracles.lifted import lifted

RULES = ("two-spines", "two-cores", "two-leaves", "pair", "pairing")
Device = tuple[int, ...]
Json = dict[str, Any]


def rules_of(fabric: Any) -> tuple[str, ...]:
    """The parts of the rule that a fabric's role has."""
    if fabric.get("role") not in ("storage", "in-band"):
        return RULES[:2]
    paired = RULES[:3] if fabric.get("homing") else RULES[:4]
    joined = fabric["role"] == "in-band" and "pairing" not in fabric and fabric.get("homing") in (None, "pair", "dual")
    return (*paired, "pairing") if joined else paired


def keeps(structure: Any, rule: str) -> bool:
    """Whether a structure keeps a part of the rule, or has nothing to which it applies."""
    if rule == "pair":
        return len(leaves_of_server(structure)) > 1
    if structure.tiers == 1:
        return True
    if rule == "two-spines":
        return all(len(spines) > 1 for spines in spines_of_leaves(structure))
    if rule == "two-cores":
        return structure.tiers < 3 or len(set(cores_of(structure))) > 1
    cards = structure.cards
    ports = cards.cages * cards.cage.ports * (1 if cards.shared else cards.number)
    return ports < 2 or len(leaves_of_server(structure)) > 1


def spines_of_leaves(structure: Any) -> Iterator[set[Device]]:
    """Of each leaf in turn the spines that it has uplinks to, and those of the leaf of the same number elsewhere."""
    for leaf in range(structure.leaves):
        yield {
            (plane, pod_of(structure, leaf), uplink % structure.spines_per_pod)
            for plane in range(structure.planes)
            for uplink in range(structure.u)
        }


def pod_of(structure: Any, leaf: int) -> int:
    rails = structure.leaves // structure.groups
    group, rail = divmod(leaf, rails)
    if structure.tiers < 3:
        return 0
    pod = group // structure.groups_per_pod
    return pod * rails + rail if structure.pod_of == "rail" else pod


def cores_of(structure: Any) -> Iterator[Device]:
    """The cores that spines have uplinks to: every spine to those of its own group."""
    for plane in range(structure.planes):
        for spine in range(structure.spines_per_pod):
            for uplink in range(structure.x):
                yield plane, spine // structure.q, uplink // structure.m2


def leaves_of_server(structure: Any) -> set[Device]:
    ports = structure.cards.number * structure.cards.ports // structure.planes
    return {(plane, port // structure.k) for plane in range(structure.planes) for port in range(ports)}


def best_kept(
    solve: Callable[[Json, Json, tuple[str, ...]], Any], parts: Json, wanted: Json, rules: tuple[str, ...]
) -> tuple[Any, tuple[str, ...]]:
    """The best design that keeps what some design keeps with every limit lifted, and which rules these are.

    ``solve``: the best of a space. Without limits each rule in turn is kept that can be beside those before; where no
    design has none of them, all are.
    """
    best = solve(parts, wanted, rules)
    if best is not None:
        return best, rules
    free = lifted(parts, wanted)
    if solve(*free, rules) is not None or solve(*free, ()) is None:
        return None, rules
    kept: tuple[str, ...] = ()
    for rule in rules:
        kept = (*kept, rule) if solve(*free, (*kept, rule)) is not None else kept
    return solve(parts, wanted, kept), kept
