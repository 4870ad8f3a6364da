"""Batches: many candidates of one family with the same hardware, and the result of sizing one fabric."""

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
from fabopt.topology.ways import purchasable_variants
from fabopt.units import Number

Ints = NDArray[np.int64]


class ShapeArrays(Protocol):
    """Sizes of many candidates of one family, as arrays with a row each."""

    def take(self, index: Any) -> Self:
        """The rows at an index."""

    def key(self, index: int) -> Hashable:
        """Key of one row, unique within its hardware."""


AnyParts = TypeVar("AnyParts", bound=Hashable)
AnyShape = TypeVar("AnyShape", bound=ShapeArrays)


@dataclass(frozen=True, eq=False)
class Batch(ABC, Generic[AnyParts, AnyShape]):
    """Candidates with the same hardware, ``parts``; ``cost`` has shape (metrics, size).

    ``fabric``: the fabric in the layout that they were sized for.
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
        """Number of candidates."""
        return int(self.cost.shape[1])

    def key(self, index: int) -> Hashable:
        """Key of a candidate, unique over all batches."""
        return self.family, self.fabric, self.parts, self.shape.key(index)

    def take(self, places: Ints) -> Self:
        """The candidates at ``places``, their row numbers, shape (taken,)."""
        return replace(self, shape=self.shape.take(places), cost=self.cost[:, places])

    @abstractmethod
    def candidates(self, problem: Problem, index: int, prune: bool) -> tuple[Candidate, ...]:
        """A candidate with exact quantities, in every variant that can be bought; empty if its links cannot be made."""

    @abstractmethod
    def switch_counts(self) -> Mapping[Item, Number]:
        """Switches of every candidate by type, over all planes."""

    def leaves_by(self, servers: int) -> Mapping[Item, Number]:
        """Fewest leaves by item at a stage of ``servers``; empty where only an expanded candidate tells."""
        return {}

    def num_switches(self) -> Ints:
        """Number of switches of every candidate, shape (size,)."""
        return np.zeros(len(self), dtype=np.int64) + sum(self.switch_counts().values())

    def bound(self, index: int) -> float:
        """Lower bound of a candidate's cost in the first metric."""
        return float(self.cost[0, index])


# A batch of whatever family.
AnyBatch = Batch[Any, Any]


@dataclass
class Sizing:
    """Result of sizing a fabric. ``least``: least objective met; ``sized``: candidates whose cost was worked out.

    ``aside``: lower bound of the costs of every candidate that ``least`` does not count. ``enough``: number of cheapest
    candidates wanted, None: all; ``cheapest``: their costs, rising. ``highest``: cost above which none is wanted.
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
        """Add the candidates of a batch."""
        self.batches.append(batch)
        self.least = min(self.least, float(batch.cost[0].min()))
        if self.enough is not None:
            self.cheapest = sorted([*self.cheapest, *batch.cost[0].tolist()])[: self.enough]

    @property
    def most(self) -> float:
        """Cost above which a candidate is not wanted, or is not among the ``enough`` cheapest."""
        is_full = self.enough is not None and len(self.cheapest) == self.enough
        return min(self.highest, self.cheapest[-1]) if is_full else self.highest


def candidates_in(problem: Problem, batch: AnyBatch, index: int, prune: bool) -> tuple[Candidate, ...]:
    """A candidate of a batch with exact quantities; ties go to the family that the fabric names first."""
    candidates = purchasable_variants(problem, batch.fabric, batch.candidates(problem, index, prune))
    if len(batch.fabric.topologies) == 1:
        return candidates
    rank = batch.fabric.topologies.index(batch.family)
    return tuple(replace(candidate, order=(rank, *candidate.order)) for candidate in candidates)
