"""What a search has found, and the threshold below which it goes on looking."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.problem.fabric import FabricProblem
from fabopt.topology.link_parts import Floats

# Bounds are floating-point sums of whole numbers; a candidate is cut only when it is past the threshold by more.
RELATIVE_SLACK = 1e-9


class Batch(NamedTuple):
    """Candidates of a family with the same hardware; ``cost`` has shape (metrics, size).

    ``parts`` and ``shape`` are the family's own; a shape has ``take(places)``, ``row(place)`` and ``key(place)``, which
    tells it apart from others of the family. ``fabric``: as it is in some layout.
    """

    parts: Any
    shape: Any
    cost: Floats
    fabric: FabricProblem | None = None
    family: str = "clos"

    def key(self, index: int) -> Hashable:
        """What tells a candidate apart from all others."""
        return self.family, self.fabric, self.parts, self.shape.key(index)


@dataclass
class Found:
    """Result of a search. ``least``: least objective met; ``sized``: candidates whose cost was worked out."""

    batches: list[Batch] = field(default_factory=list)
    least: float = np.inf
    sized: int = 0
    stopped: bool = False


class Cutoff:
    """Keeps the candidates that cost at most the least cost met plus ``slack``, and says what may still be kept.

    Costs have shape (metrics, size): row 0 is the objective, the others those that ``caps`` limits. Without
    ``prune`` the objective cuts nothing. ``found``: what other parts of the space have given, which is added to.
    ``admits``: which candidates of a batch may be kept at all; None: all.
    """

    def __init__(
        self,
        fabric: FabricProblem,
        caps: Floats,
        slack: float,
        prune: bool,
        found: Found | None = None,
        admits: Callable[[Batch], NDArray[np.bool_]] | None = None,
    ) -> None:
        self.found = Found() if found is None else found
        self._fabric = fabric
        self._caps = [(metric, cap * (1 + RELATIVE_SLACK)) for metric, cap in enumerate(caps) if np.isfinite(cap)]
        self._slack = slack
        self._prune = prune
        self._admits = admits

    @property
    def limit(self) -> float:
        """What a candidate may cost at the most to be kept, given what has been met."""
        if not self._prune:
            return np.inf
        best = self.found.least + self._slack
        return best * (1 + RELATIVE_SLACK) + RELATIVE_SLACK if np.isfinite(best) else np.inf

    def within(self, cost: Floats) -> NDArray[np.bool_]:
        """Which of these costs (or bounds) are below the threshold and the caps."""
        limit = self.limit
        inside = cost[0] <= limit if np.isfinite(limit) else np.isfinite(cost[0])
        return self._under_caps(cost, inside)

    def possible(self, cost: Floats) -> NDArray[np.bool_]:
        """Which of these bounds are finite and below the caps, whatever the objective has come to."""
        return self._under_caps(cost, np.isfinite(cost[0]))

    def _under_caps(self, cost: Floats, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
        for metric, cap in self._caps:
            inside = inside & (cost[metric] <= cap)
        return inside

    def offer(self, batch: Batch) -> None:
        """Keep what is below the threshold, and lower it to the least cost that is offered."""
        self.found.sized += batch.cost.shape[1]
        kept = self._cut(batch)
        if kept is not None and self._admits is not None:
            kept = _some(kept, self._admits(kept))
        if kept is not None:
            self.found.batches.append(kept._replace(fabric=self._fabric))
            self.found.least = min(self.found.least, float(kept.cost[0].min()))

    def close(self) -> Found:
        """What was found, without what the threshold has fallen below since."""
        self.found.batches = [kept for batch in self.found.batches if (kept := self._cut(batch)) is not None]
        return self.found

    def _cut(self, batch: Batch) -> Batch | None:
        return _some(batch, self.within(batch.cost))


def _some(batch: Batch, inside: NDArray[np.bool_]) -> Batch | None:
    """Some candidates of a batch; None if there are none."""
    if inside.all():
        return batch
    kept = np.flatnonzero(inside)
    return batch._replace(shape=batch.shape.take(kept), cost=batch.cost[:, kept]) if kept.size else None
