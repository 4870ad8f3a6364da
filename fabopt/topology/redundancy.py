"""Of what each part of the default rule of resilience counts, the fewest that a sized network has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fabopt.rules.defaults import PAIR, TWO_LEAVES, TWO_SPINES, TWO_SWITCHES
from fabopt.schema.design import StageStructure
from fabopt.schema.structure import AnyStructure, Structure
from fabopt.topology.design import FilePart, NetworkDesign

TWO = 2


class Fewest(NamedTuple):
    """Fewest switches at any stage, None where the part does not apply; ``whose``: the logical fabric whose servers
    have the fewest, empty for the fabric itself.
    """

    number: int | None
    whose: str = ""


def fewest_of(
    rule: str, design: NetworkDesign, growth: Sequence[StageStructure], ports: Mapping[str, int | None]
) -> Fewest:
    """Switches, leaves of a server, spines or cores that a part of the rule counts; ``pairing`` counts nothing.

    ``growth``: all its stages to which the part applies; ``ports``: whom the rule of pairs is about, the fabric itself
    without a name, and the ports of a server that logical ones have.
    """
    part = design.file_part()
    structure = part.structure
    if rule == TWO_SWITCHES and structure.has_switches:
        at_stages = [stage.leaves + stage.spines + stage.cores for stage in growth]
        return Fewest(min(at_stages or [sum(tier.num_switches for tier in part.tiers)]))
    if rule == PAIR and structure.has_switches:
        return min(
            Fewest(_leaves_of_server(part, structure) if own is None else min(own, part.tiers[0].num_switches), name)
            for name, own in ports.items()
        )
    if not isinstance(structure, Structure) or structure.tiers == 1:
        return Fewest(None)
    if rule == TWO_LEAVES:
        return Fewest(_leaves_of_server(part, structure) if part.nic.ports_in_all >= TWO else None)
    return Fewest(min((_spines if rule == TWO_SPINES else _cores)(part, structure, growth), default=None))


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
