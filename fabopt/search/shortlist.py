"""Shortlists: all candidates whose product of cost and step may be low enough.

Repeated searches with ever shorter steps then run over a few candidates instead of the space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.expansion import Expansion
from fabopt.topology.clos.step_deadline import in_time, steps_of
from fabopt.topology.family import AnyBatch, Cutoff, Restriction, Sizing
from fabopt.topology.link_parts import Floats
from fabopt.workload.deadline import MARGIN, Deadline
from fabopt.workload.pace import AnyPace


@dataclass(frozen=True)
class Shortlist:
    """Candidates of the compute fabric: all with which the product of a design may be ``limit`` or less. ``batches``:
    with costs by metric, limited ones too; ``sized``: number of searched candidates.
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
        """The cheapest design of these candidates within a deadline; keys as those of ``search_of``."""
        assert self.fabric.figure_demands is not None
        demands = replace(self.fabric.figure_demands, deadline=deadline)
        hurried, gpus = replace(self.fabric, figure_demands=demands), self.problem.server.gpus
        search = search_of(self.problem, settings, clock, context=context, lower_than=lower_than)
        in_turn = self._maybe_in_time(deadline)
        caps = search.expansion.caps

        def listed(weights: Floats, slack: float) -> Sizing:
            cutoff = Cutoff(caps, slack, True, admits=lambda batch: in_time(hurried, batch, gpus))
            # each metric is at its least, and so is their weighted sum
            costs = [weights @ batch.cost for batch in in_turn]
            for place in np.argsort([cost.min() for cost in costs], kind="stable").tolist():
                cutoff.offer(replace(in_turn[place], cost=np.vstack([costs[place], in_turn[place].cost[1:]])))
            return cutoff.close()

        search.expansion.listed[self.fabric.name] = listed
        return replace(search.run(ties), sized=self.sized)

    def _maybe_in_time(self, deadline: Deadline) -> list[AnyBatch]:
        """The candidates within a deadline or so near that they must be timed exactly."""
        inside = [np.ones(len(batch), dtype=np.bool_) for batch in self.batches]
        wanted: Deadline | None = deadline
        while wanted is not None:
            most = float(wanted.most_s) * (1 + MARGIN)
            inside = [kept & (steps <= most) for kept, steps in zip(inside, self._steps_of(wanted), strict=True)]
            wanted = wanted.also
        pairs = zip(self.batches, inside, strict=True)
        return [batch if kept.all() else batch.take(np.flatnonzero(kept)) for batch, kept in pairs if kept.any()]

    def _steps_of(self, deadline: Deadline) -> list[Floats]:
        """Step times of all candidates at the pace of a deadline, cached."""
        if deadline.pace not in self._steps:
            gpus = self.problem.server.gpus
            self._steps[deadline.pace] = [steps_of(batch.fabric, batch, deadline, gpus) for batch in self.batches]
        return self._steps[deadline.pace]

    @cached_property
    def _steps(self) -> dict[AnyPace, list[Floats]]:
        return {}


def can_list(problem: Problem, settings: Settings) -> bool:
    """Whether the cost and the step of a candidate alone decide whether it may be left out."""
    is_plain = all(not fabric.logical_fabrics and fabric.per_switch is None for fabric in problem.fabrics)
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
    """The candidates of a problem with a deadline by products, for designs with an objective of ``most`` or less.

    The products count costs outside the objective, and the least of other fabrics. None without a design, or if time
    was over.
    """
    assert problem.needs is not None
    fabric = next(fabric for fabric in problem.fabrics if fabric.name == problem.needs.fabric)
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
