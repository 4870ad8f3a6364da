"""The parts of the default rule of resilience that a sized network keeps, and those that do not apply to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from fabopt.schema.design import StageStructure
from fabopt.schema.homing import CABLES_OF_PEER_LINK, FEATURE_OF_PAIRING, UNJOINED, Pairing
from fabopt.schema.resilience import PAIR, PAIRING, TWO_CORES, TWO_LEAVES, TWO_SPINES, TWO_SWITCHES
from fabopt.schema.structure import AnyStructure, Structure
from fabopt.topology.design import FilePart, NetworkDesign
from fabopt.units import gbps, some

TWO = 2
# What one tier of a switch, and of more, is in words.
ONE_TIER = {1: "a single switch", TWO: "one tier of switches that no link joins"}


class Standing(NamedTuple):
    """Whether a network keeps a part of the rule, None where it does not apply, and in words how far."""

    kept: bool | None
    detail: str


def standing(
    rule: str,
    design: NetworkDesign,
    growth: Sequence[StageStructure] = (),
    pairing: Pairing | None = None,
    ports: Mapping[str, int | None] = MappingProxyType({"": None}),
) -> Standing:
    """How a network keeps a part of the rule, at the stage that keeps it least. ``growth``: all its stages to which the
    part applies;

    ``pairing``: what joins its pairs of leaves, None where there are none; ``ports``: fabrics that the rule of pairs is
    about, the fabric itself without a name, and the ports of a server that logical ones have.
    """
    part = design.file_part()
    structure = part.structure
    if rule == PAIRING:
        return _of_pairs(part, pairing)
    if rule == TWO_SWITCHES and structure.has_switches:
        at_stages = [stage.leaves + stage.spines + stage.cores for stage in growth]
        switches = min(at_stages or [sum(tier.num_switches for tier in part.tiers)])
        return Standing(switches >= TWO, some(switches, "switch"))
    if rule == PAIR and structure.has_switches:
        switches, name = min(
            (_leaves_of_server(part, structure) if own is None else min(own, part.tiers[0].num_switches), name)
            for name, own in ports.items()
        )
        return Standing(switches >= TWO, f"every server{name and f' of {name}'} on {some(switches, 'switch')}")
    if not isinstance(structure, Structure):
        return Standing(None, f"a {structure.kind} is a direct network")
    if structure.tiers == 1:
        return Standing(None, ONE_TIER[min(TWO, part.tiers[0].num_switches)])
    if rule == TWO_LEAVES:
        return _of_leaves(part, structure)
    counts = list((_spines if rule == TWO_SPINES else _cores)(part, structure, growth))
    if not counts:
        return Standing(None, "no cores")
    words = {TWO_SPINES: some(min(counts), "spine") + " above every leaf", TWO_CORES: some(min(counts), "core")}
    return Standing(min(counts) >= TWO, words[rule])


def _of_pairs(part: FilePart, pairing: Pairing | None) -> Standing:
    if pairing is None or not part.tiers:
        return Standing(None, "no pairs of leaves")
    leaf, wanted = part.tiers[0].switch, FEATURE_OF_PAIRING.values()
    if pairing != UNJOINED:
        joined = "EVPN multihoming"
        if part.peers is not None:
            joined = f"{CABLES_OF_PEER_LINK} cables of {gbps(part.peers.lane.port_mbps):g} Gb/s"
        return Standing(True, f"{some(part.tiers[0].num_switches // TWO, 'pair')} of leaves, each with {joined}")
    if set(wanted).isdisjoint(leaf.product.features):
        return Standing(False, f"the catalog says neither {' nor '.join(wanted)} of {leaf.id}")
    return Standing(False, "the leaves are not in pairs")


def _of_leaves(part: FilePart, structure: Structure) -> Standing:
    nic = part.nic
    if nic.ports_in_all < TWO:
        return Standing(None, "NICs of one port")
    leaves = _leaves_of_server(part, structure)
    return Standing(leaves >= TWO, f"every server on {leaves} {'leaf' if leaves == 1 else 'leaves'}")


def _leaves_of_server(part: FilePart, structure: AnyStructure) -> int:
    """Fewest leaves that a server is on, over all planes."""
    leaves = part.planes * (structure.ports_per_server // structure.ports_per_server_per_leaf)
    last = structure.last_group if isinstance(structure, Structure) else None
    return leaves if last is None else min(leaves, part.nic.planes * last.leaves)


def _spines(part: FilePart, structure: Structure, growth: Sequence[StageStructure]) -> Iterator[int]:
    """Spines above a leaf over all planes, at every stage that has some."""
    stages = [stage.spines_per_pod for stage in growth if stage.spines] or [structure.spines_per_pod]
    yield from (part.nic.planes * spines for spines in stages)


def _cores(part: FilePart, structure: Structure, growth: Sequence[StageStructure]) -> Iterator[int]:
    """Cores over all planes, at every stage that has some."""
    if growth:
        yield from (stage.cores for stage in growth if stage.cores)
    else:
        yield from (tier.num_switches for tier in part.tiers if tier.role == "core")
