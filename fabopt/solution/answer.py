"""A solved problem, and its design in a few words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from fabopt.parts.finance import Weights
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import Ratio
from fabopt.topology.candidate import Candidate
from fabopt.topology.design import FilePart
from fabopt.units import gbps, rounded, usd, watts


@dataclass(frozen=True)
class Answer:
    """A solved problem: the exact optimum with the candidates that make it; ``ratio``: where that was minimized;
    ``context``: what its search has worked out.
    """

    problem: Problem
    optimum: Optimum
    ratio: Ratio | None = None
    context: Context = field(default_factory=Context)

    @property
    def picked(self) -> list[Picked]:
        """One candidate with its parts for each fabric."""
        return [(candidate, units) for candidate, units in self.optimum.picked]


def in_metric(value: int, weights: Weights) -> int | float:
    """An objective integer in dollars or watts."""
    if weights.per_cent:
        return usd(rounded(Fraction(value, weights.scale)))
    return watts(rounded(Fraction(value, weights.scale)))


def part_of(fabric: FabricProblem, candidate: Candidate) -> FilePart:
    """What the design file says of a candidate and its family."""
    return candidate.design.file_part()


def summary_of(part: FilePart) -> str:
    """A candidate in one line: counts and switches by tier, port speeds."""
    words = [f"{tier.num_switches} x {tier.switch.id}" for tier in part.tiers] or ["no switch"]
    speed = gbps(part.nic.port.lane.port_mbps)
    return f"{' + '.join(words)}, {part.nic.ports_per_server} x {speed}G a server, {part.protocol}"


def summaries_of(problem: Problem, picked: Sequence[Picked]) -> str:
    """Every fabric of a design in one line, by name where there are several."""
    parts = [part_of(fabric, candidate) for fabric, (candidate, _) in zip(problem.fabrics, picked, strict=True)]
    texts = [summary_of(part) for part in parts]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{fabric.name}: {text}" for fabric, text in zip(problem.fabrics, texts, strict=True))
