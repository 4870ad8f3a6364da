"""A design in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.topology.design import FilePart
from fabopt.units import gbps, some


def summary_of(part: FilePart) -> str:
    """A fabric in one line: counts and switches by tier, port speeds."""
    words = [f"{number} x {switch.id}" for tier in part.tiers for switch, number in tier.counts] or ["no switch"]
    speed = gbps(part.nic.port.lane.port_mbps)
    return f"{' + '.join(words)}, {part.nic.ports_per_server} x {speed}G a server, {part.protocol}"


def summaries_of(problem: Problem, picked: Sequence[Picked]) -> str:
    """Every fabric of a design in one line, by name where there are several."""
    texts = [summary_of(candidate.design.file_part()) for candidate, _ in picked]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{fabric.name}: {text}" for fabric, text in zip(problem.fabrics, texts, strict=True))


def summaries_beside(problem: Problem, other: Sequence[Picked], best: Sequence[Picked]) -> str:
    """``summaries_of`` another design; if equal to the best one's, words on other differences."""
    summary = summaries_of(problem, other)
    if len(other) != len(best) or summary != summaries_of(problem, best):
        return summary
    for (theirs, _), (ours, _) in zip(other, best, strict=True):
        structure, own = theirs.design.file_part().structure, ours.design.file_part().structure
        if structure.servers_per_group != own.servers_per_group:
            return f"the same devices in groups of up to {some(structure.servers_per_group, 'server')}"
        if structure != own:
            return "the same devices with other links between switches"
    return "the same devices with other cables and optics"
