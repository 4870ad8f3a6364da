"""Every candidate that may be worth it: those whose cost times step may come to so little.

What is asked of the space again and again, for a shorter step each time, is so asked of a few candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fabopt.problem.fabric import FabricProblem
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
from fabopt.topology.link_parts import Floats
from fabopt.workload.deadline import Deadline


@dataclass(frozen=True)
class Shortlist:
    """Candidates of the fabric that a model computes over: all with which the product of a design may be ``limit`` or
    less. ``batches`` have their costs by metric, those of limits too; ``sized``: candidates that were looked at.
    """

    problem: Problem
    fabric: FabricProblem
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
        assert self.fabric.figure_demands is not None
        demands = replace(self.fabric.figure_demands, deadline=deadline)
        hurried, gpus = replace(self.fabric, figure_demands=demands), self.problem.server.gpus
        search = search_of(self.problem, settings, clock, context=context, lower_than=lower_than)
        caps = search.expansion.caps

        def listed(weights: Floats, slack: float) -> Sizing:
            cutoff = Cutoff(caps, slack, True, admits=lambda batch: in_time(hurried, batch, gpus))
            for batch in self.batches:
                # each metric is at its least, and so is their weighted sum
                cutoff.offer(replace(batch, cost=np.vstack([weights @ batch.cost, batch.cost[1:]])))
            return cutoff.close()

        search.expansion.listed[self.fabric.name] = listed
        return replace(search.run(ties), sized=self.sized)


def can_list(problem: Problem, settings: Settings) -> bool:
    """Whether what is left out of the space follows from the cost and the step of a candidate alone."""
    is_plain = all(not one.logical_fabrics and one.per_switch is None for one in problem.fabrics)
    return problem.site.method == "sizes" and settings.prune and is_plain


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

    The products count what a design costs beside the objective, and other fabrics at the least. None where there is no
    design, or time was over.
    """
    assert problem.needs is not None
    fabric = next(one for one in problem.fabrics if one.name == problem.needs.fabric)
    expansion = Expansion(problem, settings, clock, restrictions or {}, context)
    beside = expansion.least_beside(fabric) - expansion.saving
    if not np.isfinite(beside):
        return None
    fixed = problem.fixed_objective
    for product in deadline.products:
        product.before += fixed + beside
    sizing = expansion.up_to(fabric, float(most - fixed) - beside)
    if sizing.stopped:
        return None
    # what was met early was held against less
    gpus = problem.server.gpus
    kept = ((batch, in_time(batch.fabric, batch, gpus)) for batch in sizing.batches)
    batches = tuple(batch.take(np.flatnonzero(worth)) for batch, worth in kept if worth.any())
    return Shortlist(problem, fabric, batches, deadline.products[0].limit, sizing.sized)
