"""What every family of topologies gives to the search: one small protocol.

A family is an object with these methods, a line in ``fabopt.topology.families`` and one in
``fabopt.schema.topologies``, which says what it cannot do. Its space finds batches of candidates
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
    """The candidates of one fabric that a family has."""

    def search(self, slack: float = 0.0, sizing: Sizing | None = None) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: met elsewhere, added to."""

    def any_candidate(self) -> Sizing:
        """Some candidate, if there is any."""


@dataclass(frozen=True)
class Spaces:
    """Several spaces as one: what has been found in one cuts the next. ``visit``: goes through them."""

    spaces: tuple[Space, ...]
    visit: Callable[[Sequence[Space]], Iterable[Space]] = iter

    def search(self, slack: float = 0.0, sizing: Sizing | None = None) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: met elsewhere, added to."""
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
    """What a space is searched for: weights of items by metric, limits on metrics, and the part that is wanted.

    ``costs`` keeps the bounds that all families share. ``caps`` has shape (metrics,), infinite where there is no limit.
    ``should_stop`` counts each batch of bounds that is held against the cutoff, and is asked at no other time: 1 for a
    block, ``OF_SIZES`` for sizes of one.
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
        """The candidates of a fabric that are of this family."""

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """An upper bound of the servers of any design of this family, whatever it costs."""
