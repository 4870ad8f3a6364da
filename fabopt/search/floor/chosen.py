"""The places of candidates on a small floor that the integer program has to know."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabopt.parts.items import CABLE_KINDS
from fabopt.problem.problem import Problem
from fabopt.search.context import Context, PlacedCandidates, PlacedKey
from fabopt.search.floor.tree import Sized, StepBudget, all_places, best_place
from fabopt.topology.batch import AnyBatch
from fabopt.topology.candidate import Candidate
from fabopt.topology.link_parts import Floats

LINK_PARTS = ("transceiver", *CABLE_KINDS)


class Placed:
    """Places candidates at least cost, or, with several limited metrics, in all places that may matter.

    ``table``: weights of the items, shape (metrics, items); row 0 is the objective, the others have limits.
    """

    def __init__(self, problem: Problem, table: Floats, prune: bool, context: Context) -> None:
        self.problem = problem
        self.prune = prune
        self.context = context
        self._steps = StepBudget()
        links = [item.index for item in problem.item_table.items if item.kind in LINK_PARTS]
        varies = any(problem.item_table.items[index].varies for index in links)
        # whether the cheapest place of a candidate is as good as any other one of it in all that is limited
        self._one_is_enough = not varies and all(_proportional(table[0, links], row[links]) for row in table[1:])
        # whether the cheapest of all candidates is the answer, so that no dearer one matters
        self._first_wins = (
            self._one_is_enough and prune and problem.prunes and len(table) == 1 and len(problem.fabrics) == 1
        )

    def candidates(self, sizes: Iterable[tuple[AnyBatch, int]], weights: Floats, limit: float) -> list[Candidate]:
        """Candidates of these sizes, the lowest bound first, that cost ``limit`` or less; and some that are near it.

        ``weights``: of the items, shape (items,).
        """
        candidates: list[Candidate] = []
        least = np.inf
        for batch, index in sizes:
            cutoff = np.inf if not self.prune else least if self._first_wins else max(limit, least)
            for cost, candidate in self.places(batch, index, weights, cutoff):
                least = min(least, cost)
                candidates.append(candidate)
        return candidates

    def places(self, batch: AnyBatch, index: int, weights: Floats, cutoff: float) -> list[tuple[float, Candidate]]:
        """Places of one size that may matter and cost ``cutoff`` or less, with their costs.

        ``weights``: of the items, shape (items,).
        """
        key = PlacedKey(batch.key(index), weights.tobytes())
        known = self.context.placed.get(key)
        if known is None or known.limit < cutoff:
            sized = Sized(self.problem, batch.fabric, batch, index, self.prune, weights)
            if self._one_is_enough:
                best = best_place(sized, cutoff, self._steps)
                # what is best at all is best below any other limit
                known = PlacedCandidates(cutoff, ()) if best is None else PlacedCandidates(np.inf, (best,))
            else:
                known = PlacedCandidates(cutoff, tuple(all_places(sized, cutoff, self._steps)))
            self.context.placed[key] = known
        return [place for place in known.places if place[0] <= cutoff]


def _proportional(weights: Floats, other: Floats) -> bool:
    """Whether two metrics are proportional, so that one place is least in both."""
    if not other.any():
        return True
    dearest = int(np.argmax(weights))
    return bool(weights[dearest] > 0 and np.allclose(other, weights * (other[dearest] / weights[dearest]), rtol=1e-12))
