"""Many candidates of one family with the same hardware, and what a search has found of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.link_parts import Floats
from fabopt.topology.ways import in_every_way
from fabopt.units import Number

Ints = NDArray[np.int64]


class ShapeArrays(Protocol):
    """The numbers of many candidates."""

    def take(self, index: Any) -> Self:
        """The numbers of some candidates, by their places."""

    def key(self, index: int) -> Hashable:
        """A key that tells a candidate apart from others of the family."""


AnyParts = TypeVar("AnyParts", bound=Hashable)
AnyShape = TypeVar("AnyShape", bound=ShapeArrays)


@dataclass(frozen=True, eq=False)
class Batch(ABC, Generic[AnyParts, AnyShape]):
    """Candidates with the same hardware, ``parts``; ``cost`` has shape (metrics, size).

    ``fabric``: as it is in some layout.
    """

    fabric: FabricProblem
    parts: AnyParts
    shape: AnyShape
    cost: Floats

    @property
    @abstractmethod
    def family(self) -> str:
        """Name of the family, as in the case and the design file."""

    def __len__(self) -> int:
        """How many candidates."""
        return int(self.cost.shape[1])

    def key(self, index: int) -> Hashable:
        """What tells a candidate apart from all others."""
        return self.family, self.fabric, self.parts, self.shape.key(index)

    def take(self, places: Ints) -> Self:
        """Some candidates of the batch; ``places``: their numbers, shape (taken,)."""
        return replace(self, shape=self.shape.take(places), cost=self.cost[:, places])

    @abstractmethod
    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate with its exact needs, in every form that it has; none if it cannot be made after all."""

    @abstractmethod
    def switch_counts(self) -> Mapping[Item, Number]:
        """Switches of every candidate by type, over all planes."""

    def leaves_by(self, servers: int) -> Mapping[Item, Number]:
        """The fewest leaves that a stage of so many servers has, where that is told without making the candidate."""
        return {}

    def num_switches(self) -> Ints:
        """Number of switches of every candidate, shape (size,)."""
        return np.zeros(len(self), dtype=np.int64) + sum(self.switch_counts().values())

    def bound(self, index: int) -> float:
        """The least that a candidate costs in the first metric."""
        return float(self.cost[0, index])


# A batch of whatever family.
AnyBatch = Batch[Any, Any]


@dataclass
class Sizing:
    """Result of a search. ``least``: least objective met; ``sized``: candidates whose cost was worked out.

    ``aside``: what every candidate costs at least beside what ``least`` counts. ``enough``: so many of the cheapest are
    all that is wanted; None: all. ``cheapest``: the costs of these, rising. ``highest``: what costs more is not wanted.
    """

    batches: list[AnyBatch] = field(default_factory=list)
    least: float = np.inf
    sized: int = 0
    stopped: bool = False
    aside: float = 0.0
    enough: int | None = None
    cheapest: list[float] = field(default_factory=list)
    highest: float = np.inf

    def keep(self, batch: AnyBatch) -> None:
        """Add candidates."""
        self.batches.append(batch)
        self.least = min(self.least, float(batch.cost[0].min()))
        if self.enough is not None:
            self.cheapest = sorted([*self.cheapest, *batch.cost[0].tolist()])[: self.enough]

    @property
    def most(self) -> float:
        """What costs more is not wanted, or not among so many as are."""
        is_full = self.enough is not None and len(self.cheapest) == self.enough
        return min(self.highest, self.cheapest[-1]) if is_full else self.highest


def candidates_in(problem: Problem, batch: AnyBatch, index: int, prune: bool) -> tuple[Candidate, ...]:
    """A candidate of a batch with its exact needs; of equals, the families of a fabric win in their order."""
    candidates = in_every_way(problem, batch.fabric, batch.candidates(problem, index, prune))
    if len(batch.fabric.topologies) == 1:
        return candidates
    rank = batch.fabric.topologies.index(batch.family)
    return tuple(replace(candidate, order=(rank, *candidate.order)) for candidate in candidates)
