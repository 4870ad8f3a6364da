"""The cutoff: the cost below which a search goes on expanding candidates."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from fabopt.topology.family import AnyBatch, Sizing
from fabopt.topology.link_parts import Floats

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
