"""Every candidate that may be worth it: those whose cost times step may come to so little.

What is asked of the space again and again, for a shorter step each time, is so asked of a few candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.expansion import Expansion
from fabopt.topology.batch import AnyBatch, Sizing
from fabopt.topology.clos.step_deadline import in_time
from fabopt.topology.cutoff import Cutoff
from fabopt.topology.family import Restriction
from fabopt.workload.deadline import Deadline


@dataclass(frozen=True)
class Shortlist:
    """Candidates of the only fabric of a problem: all with which the product of a design may be ``limit`` or less."""

    problem: Problem
    batches: tuple[AnyBatch, ...]
    limit: float
    sized: int

    def cheapest(
        self,
        settings: Settings,
        clock: Clock,
        deadline: Deadline,
        context: Context,
        lower_than: int | None,
        ties: bool,
    ) -> Optimum:
        """The cheapest design of these candidates that is in time; keys as those of ``search_of``."""
        fabric = self.problem.fabrics[0]
        assert fabric.figure_demands is not None
        hurried = replace(fabric, figure_demands=replace(fabric.figure_demands, deadline=deadline))
        search = search_of(self.problem, settings, clock, context=context, lower_than=lower_than)
        expansion = search.expansion

        def listed(slack: float, sizing: Sizing) -> Sizing:
            gpus = self.problem.server.gpus
            cutoff = Cutoff(expansion.caps, slack, True, sizing, lambda batch: in_time(hurried, batch, gpus))
            for batch in self.batches:
                cutoff.offer(batch)
            return cutoff.close()

        expansion.listed = listed
        return replace(search.run(ties), sized=self.sized)


def can_list(problem: Problem, settings: Settings) -> bool:
    """Whether what is left out of the space follows from the cost and the step of a candidate alone."""
    return problem.site.method == "sizes" and settings.prune and len(problem.fabrics) == 1


def shortlist_of(
    problem: Problem,
    deadline: Deadline,
    settings: Settings,
    clock: Clock,
    restrictions: Mapping[str, Restriction] | None,
    context: Context,
    most: int,
) -> Shortlist | None:
    """The candidates of a problem with a deadline by products, of designs of ``most`` or less in the objective.

    The products count what a design costs beside the objective. None where there are limits, or time was over.
    """
    expansion = Expansion(problem, settings, clock, restrictions or {}, context)
    if not expansion.is_alone:
        return None
    fixed = problem.fixed_objective
    for product in deadline.products:
        product.before += fixed - expansion.saving
    sizing = expansion.up_to(float(most - fixed))
    if sizing.stopped:
        return None
    # what was met early was held against less
    gpus = problem.server.gpus
    kept = ((batch, in_time(batch.fabric, batch, gpus)) for batch in sizing.batches)
    batches = tuple(batch.take(np.flatnonzero(worth)) for batch, worth in kept if worth.any())
    return Shortlist(problem, batches, deadline.products[0].limit, sizing.sized)
