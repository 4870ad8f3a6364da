"""A design in a few words."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.topology.design import FilePart
from fabopt.units import gbps


def summary_of(part: FilePart) -> str:
    """A fabric in one line: counts and switches by tier, port speeds."""
    words = [f"{tier.num_switches} x {tier.switch.id}" for tier in part.tiers] or ["no switch"]
    speed = gbps(part.nic.port.lane.port_mbps)
    return f"{' + '.join(words)}, {part.nic.ports_per_server} x {speed}G a server, {part.protocol}"


def summaries_of(problem: Problem, picked: Sequence[Picked]) -> str:
    """Every fabric of a design in one line, by name where there are several."""
    texts = [summary_of(candidate.design.file_part()) for candidate, _ in picked]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{fabric.name}: {text}" for fabric, text in zip(problem.fabrics, texts, strict=True))
