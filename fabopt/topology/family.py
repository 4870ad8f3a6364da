"""The protocol of a family of topologies, as the search sees it.

A family is an object with these methods, a line in ``fabopt.topology.families`` and one in
``fabopt.schema.topologies``, which states what it cannot do. Its space finds batches of candidates
(``fabopt.topology.batch``), a batch makes candidates, and a candidate's design has figures, failures, and its part of
the file (``fabopt.topology.design``). Wiring and proof start from the structure in the file, which names its family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.batch import Sizing
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.link_parts import Floats


@dataclass(frozen=True)
class Restriction:
    """A part of the space: the number of a layout of the floor, and a family. None: any."""

    layout: int | None = None
    topology: str | None = None


ANYTHING = Restriction()


class Space(Protocol):
    """The candidates of one fabric in a family."""

    def search(self, slack: float = 0.0, sizing: Sizing | None = None) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: of other spaces,
        added to.
        """

    def any_candidate(self) -> Sizing:
        """Some candidate, if there is any."""


@dataclass(frozen=True)
class Spaces:
    """Several spaces as one: the cutoff met in one cuts the next. ``visit``: the order to search them in."""

    spaces: tuple[Space, ...]
    visit: Callable[[Sequence[Space]], Iterable[Space]] = iter

    def search(self, slack: float = 0.0, sizing: Sizing | None = None) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: of other spaces,
        added to.
        """
        sizing = Sizing() if sizing is None else sizing
        for space in self.visit(self.spaces):
            sizing = space.search(slack, sizing)
        return sizing

    def any_candidate(self) -> Sizing:
        """Some candidate, if there is any."""
        sizing = Sizing()
        for space in self.spaces:
            if not sizing.batches and not sizing.stopped:
                sizing = space.any_candidate()
        return sizing


class SpaceRequest(NamedTuple):
    """Input of a search: weights of items by metric, limits on metrics, and the part of the space.

    ``costs`` keeps the bounds that all families share. ``caps`` has shape (metrics,), infinite where there is no limit.
    ``should_stop`` takes the work since the last call, 1 for a block and ``OF_SIZES`` for sizes of one, and is called
    once for each batch of bounds that is held against the cutoff.
    """

    costs: BoundedCosts
    caps: Floats
    restriction: Restriction = ANYTHING
    prune: bool = True
    should_stop: Callable[[int], bool] = lambda work: False


class Family(Protocol):
    """A family of topologies."""

    @property
    def name(self) -> str:
        """The family as in the case and the design file."""

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Space:
        """The candidates of a fabric in this family."""

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """An upper bound of the servers of any design of this family, whatever it costs."""
