"""Opening the space: every candidate of all fabrics below a threshold, at some prices of the limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.logical_fabrics import nics_of
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.search.coefficients import (
    beyond_limits,
    least_of,
    stage_steps,
    stage_weights,
    stock_weight,
    weights_table,
    without_dear_switches,
)
from fabopt.search.context import Context, SearchKey
from fabopt.search.floor.chosen import Placed
from fabopt.search.floor.variants import wanted_variants
from fabopt.search.out_of_band import Together
from fabopt.topology.batch import AnyBatch, Found, candidates_in
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.cutoff import RELATIVE_SLACK
from fabopt.topology.families import space_of
from fabopt.topology.family import Quest, Restriction
from fabopt.topology.link_parts import Costs, Floats

# Candidates of one search that are taken as columns for the program while prices are sought.
MOST_SAMPLED = 8


@dataclass
class Expanded:
    """All fabrics searched at some prices of the limits. ``bound``: no design has a lower objective."""

    found: list[Found]
    bound: float
    weights: Floats
    slack: float

    @property
    def stopped(self) -> bool:
        """Whether the clock stopped one of them."""
        return any(one.stopped for one in self.found)


class Expansion:
    """The space of a problem, or of a restricted part of it, opened as far as is asked for.

    ``table`` weighs items by metric, ``caps`` are the limits on these; ``sized``: candidates whose cost was worked out;
    ``left_out``: whether the clock, or a number that was asked for, left candidates out.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction],
        context: Context | None = None,
    ) -> None:
        self.problem = problem
        self.settings = settings
        self.clock = clock
        self.restrictions = restrictions
        self.context = Context() if context is None else context
        self.table, self.caps = weights_table(problem)
        self.steps = stage_steps(problem)
        self.saving = stock_weight(problem)
        self.sized = 0
        self.together = Together(problem, self.context, self._one, self.space, self.sized_at)
        self.left_out = False
        self.most_cents: int | None = None
        self.placed = Placed(problem, self.table, settings.prune, self.context)

    def open(self, prices: Floats, slack: float = 0.0, objective: float = 1.0, first: bool = False) -> Expanded:
        """Search every fabric at prices of the limits, shape (metrics - 1,)."""
        table = self.table.copy()
        table[0] = objective * self.table[0] + prices @ self.table[1:]
        steps = objective * self.steps
        costs = self.context.costs_at(self.problem.offering, table, steps)
        if self.counts:
            found = self.together.open(costs, slack)
        else:
            found = [self._one(costs, fabric, slack, first) for fabric in self.problem.fabrics]
        self.sized = max(self.sized, sum(one.sized for one in found))
        least = sum(one.least for one in found)
        if self.counts:
            least += self.together.attached(costs)
        bound = least - objective * self.saving - float(prices @ self.caps[1:])
        return Expanded(found, bound, table[0], slack)

    def _one(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool = False) -> Found:
        """Search a fabric; where ports are counted that is asked for again and again, so what was found is kept."""
        if self.problem.plan is not None:
            return self._on_floor(fabric, costs, slack)
        if fabric.logical_fabrics:
            return self._as_host(costs, fabric, slack, first)
        known, part = self.context.found, self.restrictions.get(fabric.name)
        key = SearchKey(fabric, part, costs, self.caps.tobytes(), self.settings.prune, slack)
        if key in known:
            return known[key]
        space = space_of(self.problem, fabric, self._quest(fabric, costs))
        found = space.any_candidate() if first else space.search(slack)
        if self.counts and not found.stopped:
            known[key] = found
        return found

    def _as_host(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool) -> Found:
        """Search a fabric with every choice of cards for the logical ones on it, all below one threshold."""
        found, looked = Found(), []
        for choice in self.context.equipped(self.problem, fabric, self.settings.prune):
            aside = _least_aside(self.problem, choice, costs, self.space(choice, costs).bounds.attached())
            one = self._one(costs, choice, 0.0, first)
            found.stopped |= one.stopped
            found.least = min(found.least, one.least + float(aside[0]))
            looked.append((choice, aside, one))
        for choice, aside, one in looked:
            spare = found.least + slack - one.least - float(aside[0])
            if spare < -RELATIVE_SLACK * abs(found.least) and self.settings.prune:
                continue
            if spare > 0 and not first:
                one = self._one(costs, choice, spare)
            found.stopped |= one.stopped
            found.sized += one.sized
            found.batches += [replace(batch, cost=batch.cost + aside[:, np.newaxis]) for batch in one.batches]
        return found

    def _quest(self, fabric: FabricProblem, costs: BoundedCosts) -> Quest:
        restriction = self.restrictions.get(fabric.name, Restriction())
        return Quest(costs, self.caps, restriction, self.settings.prune, self.clock.is_over)

    def costs_of(self, row: int) -> BoundedCosts:
        """Weights with one metric of the table as what is minimized."""
        table = self.table.copy()
        table[0] = self.table[row]
        return self.context.costs_at(self.problem.offering, table)

    def space(self, fabric: FabricProblem, costs: BoundedCosts) -> ClosSpace:
        """What can stand on a floor: a Clos."""
        return ClosSpace(self.problem, fabric, *self._quest(fabric, costs))

    def _on_floor(self, fabric: FabricProblem, costs: BoundedCosts, slack: float) -> Found:
        """Search a fabric in every layout of the floor."""
        found = Found()
        for variant in self.wanted(fabric, costs):
            self.space(variant, costs).search(slack, found)
        return found

    def wanted(self, fabric: FabricProblem, costs: BoundedCosts) -> list[FabricProblem]:
        """The fabric in the forms that are in the part of the space that is searched."""
        part = self.restrictions.get(fabric.name, Restriction())
        return wanted_variants(self.problem, self.context.variants, fabric, part, partial(self.free, costs))

    def free(self, costs: BoundedCosts, fabric: FabricProblem) -> ClosSpace:
        """What can stand on a floor, whatever part of the space is searched."""
        return ClosSpace(self.problem, fabric, costs, self.caps, Restriction(), self.settings.prune)

    def candidates(self, expanded: Expanded, most: int | None = None) -> list[Candidate]:
        """Those that were opened, or so many of the best; not those whose switches do not reach the breaks for it."""
        made: list[Candidate] = []
        for fabric, one in zip(self.problem.fabrics, expanded.found, strict=True):
            if self.settings.prune and self.problem.plan is None and expanded.slack:
                one = without_dear_switches(self.problem, one, expanded.slack, self.most_cents)
            places = _places(one)
            if most is not None or self.problem.stands_anywhere:
                # of what has to suit the others' candidates, all
                kept = most if fabric.per_switch is None else None
                self.left_out |= kept is not None and len(places) > kept
                places = sorted(places)[:kept]
            if self.problem.stands_anywhere:
                limit = (one.least + expanded.slack) * (1 + RELATIVE_SLACK)
                mine = self.placed.candidates(((one.batches[b], i) for _, b, i in places), expanded.weights, limit)
            else:
                mine = self._sized_in_time([(one.batches[b], index) for _, b, index in places])
            made += mine if self.problem.plan is None else self._near(mine, expanded, one)
        return made

    def _sized_in_time(self, places: Sequence[tuple[AnyBatch, int]]) -> list[Candidate]:
        """Those of some places that can be made; when the time is over, what has been made by then."""
        mine: list[Candidate] = []
        for place in places:
            if mine and self.clock.is_over():
                self.left_out = True
                break
            mine += self.sized_at(*place)
        return mine

    def sized_at(self, batch: AnyBatch, index: int) -> tuple[Candidate, ...]:
        """One candidate with its exact needs; where that takes a while, or is asked for often, worked out once."""
        if self.problem.plan is None and not self.counts:
            return candidates_in(self.problem, batch, index, self.settings.prune)
        known, key = self.context.candidates, batch.key(index)
        if key not in known:
            known[key] = candidates_in(self.problem, batch, index, self.settings.prune)
        return known[key]

    def _near(self, candidates: list[Candidate], expanded: Expanded, found: Found) -> list[Candidate]:
        """Those whose exact least is below the threshold too; a few of the best while that is the bound itself.

        In a layout the cost of a batch is a bound, as runs are known only once switches stand.
        """
        least = [least_of(candidate, expanded.weights) for candidate in candidates]
        order = sorted(range(len(least)), key=least.__getitem__)
        if not self.settings.prune:
            return candidates
        limit = (found.least + expanded.slack) * (1 + RELATIVE_SLACK)
        near = sum(1 for value in least if value <= limit)
        return [candidates[place] for place in order[: max(near, MOST_SAMPLED)]]

    def ceiling(self, bound: float) -> float:
        """The slack beyond which no design is within the limits: that of a limit on the objective itself."""
        return beyond_limits(self.table, self.caps, bound)

    @property
    def counts(self) -> bool:
        """Whether switches are counted, for their ports of management."""
        return any(one.per_switch is not None for one in self.problem.fabrics)

    def weigh_up_to(self, value: int) -> bool:
        """Bound only designs no dearer than one that was met: they reach fewer breaks. False if no bound changes."""
        if not self.problem.weights.per_cent or self.problem.plan is not None:
            return False
        most = (value - self.problem.fixed_objective) // self.problem.weights.per_cent
        weights = stage_weights(self.problem, None, most).min(axis=0)
        if (weights == self.table[0]).all():
            return False
        self.table[0], self.most_cents = weights, most
        self.steps, self.saving = stage_steps(self.problem, most), stock_weight(self.problem, most)
        return True


def _places(found: Found) -> list[tuple[float, int, int]]:
    """(cost, number of the batch, place in it) of every candidate found."""
    return [(float(cost), b, i) for b, batch in enumerate(found.batches) for i, cost in enumerate(batch.cost[0])]


def _least_aside(problem: Problem, fabric: FabricProblem, costs: Costs, attached: float) -> Floats:
    """What a choice of cards for logical fabrics adds at least to every candidate, shape (metrics,): the cards, and of
    the objective the links of all attachments (``attached``), which the search leaves aside.
    """
    total = np.zeros(costs.table.shape[0])
    for item, count in nics_of(problem, fabric.attachments).items():
        total = total + costs.of(item) * count
    total[0] += attached
    return np.asarray(total)
