"""The protocol of a family of topologies, as the search sees it, and its batches of candidates.

A family is an object with these methods, a line in ``fabopt.topology.families`` and one in
``fabopt.schema.topologies``, which states what it cannot do. Its space finds batches of candidates,
a batch makes candidates, and a candidate's design has figures, failures, and its part of
the file (``fabopt.topology.design``). Wiring and proof start from the structure in the file, which names its family.

The cutoff: the cost below which a search goes on expanding candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.link_parts import Floats
from fabopt.topology.ways import purchasable_variants
from fabopt.units import Number

# -- batches: many candidates of a family with the same hardware, and the result of sizing a fabric -------------------


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
    if len(batch.fabric.shapes.topologies) == 1:
        return candidates
    rank = batch.fabric.shapes.topologies.index(batch.family)
    return tuple(replace(candidate, order=(rank, *candidate.order)) for candidate in candidates)


# -- the protocol of a family -----------------------------------------------------------------------------------------


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


# Bounds are floating-point sums of whole numbers; a candidate is cut only when it is past the cutoff by more.
RELATIVE_SLACK = 1e-9
# What a batch of sizes takes beside the bound of a block.
OF_SIZES = 3


class Cutoff:
    """Keeps the candidates that cost at most the least cost met plus ``slack``, or the number of cheapest ones that is
    wanted.

    Arrays of costs have shape (metrics, size): row 0 is the objective, the others those that ``caps``, shape
    (metrics,), limits. Without ``prune`` the objective cuts nothing. ``sizing``: of other parts of the space, which is
    added to. ``admits``: mask over a batch of candidates that may be kept at all, shape (size,); None: all. Once
    ``should_stop`` returns True no more are within, if any was met or there is a cost to beat. Raises
    ``ArithmeticError`` for a cost that is not a number.
    """

    def __init__(
        self,
        caps: Floats,
        slack: float,
        prune: bool,
        sizing: Sizing | None = None,
        admits: Callable[[AnyBatch], NDArray[np.bool_]] | None = None,
        should_stop: Callable[[int], bool] = lambda work: False,
    ) -> None:
        self.sizing = Sizing() if sizing is None else sizing
        self._caps = [(metric, cap * (1 + RELATIVE_SLACK)) for metric, cap in enumerate(caps) if np.isfinite(cap)]
        self._slack = slack
        self._prune = prune
        self._admits = admits
        self._should_stop = should_stop

    @property
    def limit(self) -> float:
        """Most cost of a candidate that is kept, given the candidates met so far."""
        if not self._prune:
            return inf
        best = min(self.sizing.least + self._slack, self.sizing.most)
        return best * (1 + RELATIVE_SLACK) + RELATIVE_SLACK if isfinite(best) else inf

    def within(self, cost: Floats) -> NDArray[np.bool_]:
        """Whether each of these costs (or bounds) is below the cutoff and the caps, shape (size,)."""
        if self._should_stop(OF_SIZES) and isfinite(self.sizing.least):
            self.sizing.stopped = True
            return np.zeros(cost.shape[1:], dtype=np.bool_)
        return self._is_kept(cost)

    def _is_kept(self, cost: Floats) -> NDArray[np.bool_]:
        limit = self.limit
        inside = cost[0] <= limit if isfinite(limit) else np.isfinite(cost[0])
        return self._under_caps(cost, inside)

    def possible(self, cost: Floats) -> NDArray[np.bool_]:
        """Whether each of these bounds is finite and below the caps, the objective aside, shape (size,)."""
        return self._under_caps(cost, np.isfinite(cost[0]))

    def _under_caps(self, cost: Floats, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if np.isnan(cost).any():  # it is below no limit, so that what it bounds would be lost without a word
            raise ArithmeticError("a bound of the search is not a number")
        for metric, cap in self._caps:
            inside = inside & (cost[metric] <= cap)
        return inside

    def offer(self, batch: AnyBatch) -> None:
        """Keep the candidates below the cutoff, and lower it to the least cost among them."""
        self.sizing.sized += len(batch)
        kept = self._cut(batch)
        if kept is not None and self._admits is not None:
            kept = _some(kept, self._admits(kept))
        if kept is not None:
            self.sizing.keep(kept)

    def close(self) -> Sizing:
        """The kept candidates, without those that the cutoff has fallen below since."""
        self.sizing.batches = [kept for batch in self.sizing.batches if (kept := self._cut(batch)) is not None]
        return self.sizing

    def _cut(self, batch: AnyBatch) -> AnyBatch | None:
        return _some(batch, self._is_kept(batch.cost))


def _some(batch: AnyBatch, inside: NDArray[np.bool_]) -> AnyBatch | None:
    """Some candidates of a batch; None if there are none."""
    if inside.all():
        return batch
    kept = np.flatnonzero(inside)
    return batch.take(kept) if kept.size else None
