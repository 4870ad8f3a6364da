"""What every family of topologies gives to the search and to the design file: one small protocol.

A family is a module with an object that has these methods, a line in ``fabopt.topology.families`` and one in
``fabopt.schema.topologies``, which says what it cannot do. Bandwidth figures come from ``fabopt.topology.figures``, the
wiring from ``fabopt.wiring``, the rules that prove it from ``fabopt.verify``; each tells families apart by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.topologies import TIERED
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.cutoff import Batch, Found
from fabopt.topology.link_parts import Floats, Number


@dataclass(frozen=True)
class Restriction:
    """A part of the space: what the best design of another kind may be made of. None: anything.

    ``tiers``: of leaves and spines, so that no other family is in it. ``policy``, ``layout``: on a floor, how switches
    stand, and the number of the layout. ``nodes``: what the boxes of a torus are.
    """

    protocol: str | None = None
    tiers: int | None = None
    port_mbps: int | None = None
    not_leaf: str | None = None
    policy: str | None = None
    layout: int | None = None
    topology: str | None = None
    nodes: str | None = None

    def allows(self, topology: str) -> bool:
        """Whether a family has a part in it."""
        if self.nodes is not None and topology != "torus":
            return False
        return self.topology in (None, topology) and (self.tiers is None or topology in TIERED)


ANYTHING = Restriction()


class Space(Protocol):
    """The candidates of one fabric that a family has."""

    def search(self, slack: float = 0.0, found: Found | None = None) -> Found:
        """Every candidate that costs at most the least cost met plus ``slack``; ``found``: met elsewhere, added to."""

    def any_candidate(self) -> Found:
        """Some candidate, if there is any."""


class Quest(NamedTuple):
    """What a space is searched for: weights of items by metric, limits on metrics, and the part that is wanted."""

    costs: BoundedCosts
    caps: Floats
    restriction: Restriction = ANYTHING
    prune: bool = True
    should_stop: Callable[[], bool] = lambda: False


class Family(Protocol):
    """One family of topologies."""

    @property
    def name(self) -> str:
        """As in the case and the design file."""

    def space(self, problem: Problem, fabric: FabricProblem, quest: Quest) -> Space:
        """What of it a fabric may be."""

    def candidates(
        self, problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool
    ) -> tuple[Candidate, ...]:
        """One of a batch with its exact needs, in every form that it has; none if it cannot be made after all."""

    def switches(self, batch: Batch) -> Number:
        """Switches of every candidate of a batch, over all planes."""

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """No design of this family has more servers than this, whatever it costs."""
