"""Expanding the space: every candidate of all fabrics below a cutoff, at some prices of the limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isinf

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.logical_fabrics import nics_of
from fabopt.problem.problem import Problem, alone
from fabopt.program.lexicographic import optimum_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.coefficients import (
    beyond_limits,
    stage_steps,
    stage_weights,
    stock_weights,
    tolerance,
    weights_table,
    without_dear_switches,
    without_unfit_devices,
)
from fabopt.search.context import Context, SearchKey
from fabopt.search.out_of_band import OutOfBandSearch
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.attachment_bounds import least_of_attachments
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.families import space_of
from fabopt.topology.family import RELATIVE_SLACK, AnyBatch, Restriction, Sizing, Space, SpaceRequest, candidates_in
from fabopt.topology.link_parts import Costs, Floats

# Candidates of one search that are taken as columns for the program while prices are sought.
MOST_SAMPLED = 8

# A cutoff that met no design rises by this share of the bound, then fourfold.
FIRST_RISE = 0.002
RISE = 4.0
# So many are kept at the most where they are quick to make: more are a matter of memory.
MOST_KEPT = 5_000

# Work of a size whose links run through trunks: as many bounds take as long.
WORK_OF_TRUNKS = 60
# A size of a batch, by its place.
Size = tuple[AnyBatch, int]


@dataclass
class Expanded:
    """The fabrics searched at some prices of the limits.

    ``bound``: no design has a lower objective; ``weights``: of the items at these prices, shape (items,).
    """

    sizings: list[Sizing]
    bound: float
    weights: Floats
    slack: float

    @property
    def stopped(self) -> bool:
        """Whether the clock stopped the search of a fabric."""
        return any(sizing.stopped for sizing in self.sizings)

    @property
    def sized(self) -> int:
        """Number of sizes of all fabrics that were searched."""
        return sum(sizing.sized for sizing in self.sizings)

    @property
    def is_empty(self) -> bool:
        """Whether no candidate was found within the slack."""
        return not any(sizing.batches for sizing in self.sizings)


class Expansion:
    """The space of a problem, or of a restricted part of it, expanded up to a slack.

    ``table``: weights of items by metric, shape (metrics, items); ``caps``: limits of these, shape (metrics,);
    ``sized``: candidates with a computed cost; ``left_out``: whether the clock or a maximum number left candidates out.
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
        # the shares of their prices that what is in stock counts with, shape (items,), and what stock then saves
        self.counted = np.ones(len(problem.item_table.items))
        self.saving = float(stock_weights(problem).sum())
        self.sized, self.work, self.most_work = 0, 0, inf
        self.together = OutOfBandSearch(problem, self.context, self._searched, self.space, self.candidates_at)
        self.left_out = False
        # by weights and fabric: how far above its least size its first candidate is
        self._none_below: dict[tuple[BoundedCosts, FabricProblem], float] = {}
        self.most_cents: int | None = None
        # the most that is wanted of the objective, the servers aside
        self.most = np.inf
        # by fabric: finds candidates at weights of the metrics, shape (metrics,), and up to some slack among those that
        # were all expanded before
        self.listed: dict[str, Callable[[Floats, float], Sizing]] = {}

    def expand(self, prices: Floats, slack: float = 0.0, objective: float = 1.0, first: bool = False) -> Expanded:
        """Search every fabric at prices of the limits, shape (metrics - 1,)."""
        costs = self._costs_at(prices, objective)
        if self.counts:
            sizings = self.together.expand(costs, slack)
            slack = self.together.slack
        else:
            weights = np.concatenate([[objective], prices])
            sizings = [
                self.listed[fabric.name](weights, slack)
                if fabric.name in self.listed
                else self._above_what_is_none(costs, fabric, slack, first)
                for fabric in self.problem.fabrics
            ]
        self.sized = max(self.sized, sum(sizing.sized for sizing in sizings))
        least = sum(sizing.least for sizing in sizings)
        if self.counts:
            least += self.together.attached(costs)
        bound = least - objective * self.saving - float(prices @ self.caps[1:])
        return Expanded(sizings, bound, costs.table[0], slack)

    def _costs_at(self, prices: Floats, objective: float = 1.0) -> BoundedCosts:
        table = self.table.copy()
        table[0] = objective * self.table[0] + prices @ self.table[1:]
        return self.context.costs_at(self.problem.offering, table, objective * self.steps)

    def raise_least(self, expanded: Expanded, prices: Floats) -> bool:
        """Raise the bound of each of several fabrics to the cost of its best design alone; return whether any rose.

        Cheaper sizes of it are in no design, and the slack for finding them would widen the search of all others.
        Floors and counted ports have their own means. ``prices``: shape (metrics - 1,).
        """
        if self.counts or len(self.problem.fabrics) == 1 or not self.problem.site.runs_are_alike:
            return False
        costs, before = self._costs_at(prices), len(self._none_below)
        is_apart = self.problem.prunes and not self.problem.best_alone and not prices.any()
        for fabric, sizing in zip(self.problem.fabrics, expanded.sizings, strict=True):
            if fabric.name in self.listed or fabric.logical_fabrics or (costs, fabric) in self._none_below:
                continue
            least = sizing.least
            met = self._least_alone(fabric, costs, sizing, expanded.slack, is_apart)
            if least < met < inf:
                self._none_below[costs, fabric] = met - least
        return len(self._none_below) > before

    def _least_alone(
        self, fabric: FabricProblem, costs: BoundedCosts, sizing: Sizing, slack: float, is_apart: bool
    ) -> float:
        """The least cost of a fabric in any design; its bound, if no design is near it or time was over.

        ``sizing``: found within ``slack``; ``is_apart``: whether its cost is independent of other fabrics.
        """
        least, of_any = sizing.least, self._least_design if is_apart else self._least_candidate
        while not sizing.stopped:
            met = of_any(fabric, sizing)
            if self.clock.is_over() or (isinf(met) and slack >= least):
                break
            if met - least <= slack + tolerance(least):
                return met
            slack = met - least if isfinite(met) else max(RISE * slack, FIRST_RISE * least)
            sizing = self._searched(costs, fabric, slack)
        return least

    def _least_design(self, fabric: FabricProblem, sizing: Sizing) -> float:
        """The cost of the best design of one fabric from a sizing; infinite if there is none."""
        candidates = self._in_time(self._sizes(sizing, None, in_order=False))
        problem = alone(self.problem, fabric)
        return optimum_of(problem, candidates, self.settings.quiet, self.clock).least_above(problem.fixed_objective)

    def _least_candidate(self, fabric: FabricProblem, sizing: Sizing) -> float:
        """The cost of the first size, by cost, that is a candidate; infinite if none is."""
        sizes = self._sizes(sizing, None, in_order=True)
        return next((float(batch.cost[0][index]) for batch, index in sizes if self.candidates_at(batch, index)), inf)

    def _above_what_is_none(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool) -> Sizing:
        """A fabric searched so far above its first candidate, where that is known."""
        higher = self._none_below.get((costs, fabric), 0.0)
        sizing = self._searched(costs, fabric, slack + higher, first)
        return replace(sizing, least=sizing.least + higher) if higher else sizing

    def least(self) -> float:
        """No design has a lower objective, the servers aside; infinite if a fabric has none, -inf if time was over."""
        costs = self.costs_of(0)
        return self.together.least(costs) + (self.together.attached(costs) if self.counts else 0.0) - self.saving

    def may_cost(self, most: float) -> bool:
        """Whether any design may have so low an objective, the servers aside; True where that is not quickly known."""
        fabric = self.problem.fabrics[0]
        if len(self.problem.fabrics) > 1 or fabric.logical_fabrics or self.counts:
            return True
        costs = self.context.costs_at(self.problem.offering, self.table, self.steps)
        sizing = self._bounding(fabric, costs).search(0.0, Sizing(least=most + self.saving))
        return bool(sizing.batches) or sizing.stopped

    @property
    def most_of_sizes(self) -> float:
        """The highest wanted cost of sizes of one fabric without limits; else infinite."""
        return self.most + self.saving if self.is_alone else np.inf

    @property
    def is_alone(self) -> bool:
        """Whether there is one fabric only, without limits or logical fabrics."""
        alone = len(self.problem.fabrics) == 1 == len(self.caps) and not self.problem.fabrics[0].logical_fabrics
        return alone and not self.counts

    @property
    def tells_at_once(self) -> bool:
        """Whether expanding decides as fast as ``may_cost`` that no design is as cheap as wanted."""
        return self.is_alone

    def up_to(self, fabric: FabricProblem, most: float) -> Sizing:
        """Every candidate of a fabric that may have so low an objective."""
        costs = self.context.costs_at(self.problem.offering, self.table, self.steps)
        return space_of(self.problem, fabric, self._request(fabric, costs)).search(most, Sizing(least=0.0))

    def least_beside(self, fabric: FabricProblem) -> float:
        """The least objective of the other fabrics together; infinite if there is none, -inf if time was over."""
        costs = self.context.costs_at(self.problem.offering, self.table, self.steps)
        sizings = [self._searched(costs, other, 0.0) for other in self.problem.fabrics if other is not fabric]
        return -np.inf if any(sizing.stopped for sizing in sizings) else sum(sizing.least for sizing in sizings)

    def _bounding(self, fabric: FabricProblem, costs: BoundedCosts) -> Space:
        """A space of a fabric with lower bounds of cost."""
        return space_of(self.problem, fabric, self._request(fabric, costs))

    def _searched(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool = False) -> Sizing:
        """Search a fabric, cached; with ``first`` up to its first candidate, which is no bound for later searches."""
        if fabric.logical_fabrics:
            return self._as_host(costs, fabric, slack, first)
        known, part = self.context.sizings, self.restrictions.get(fabric.name)
        key = SearchKey(fabric, part, costs, self.caps.tobytes(), self.settings.prune, slack)
        if key in known:
            return known[key]
        space = replace(space_of(self.problem, fabric, self._request(fabric, costs)), visit=self.settings.share.over)
        if first:
            return space.any_candidate()
        sizing = space.search(slack, Sizing(least=self.most_of_sizes))
        if (self.counts or len(self.problem.fabrics) > 1) and not sizing.stopped:
            known[key] = sizing
        return sizing

    def _as_host(self, costs: BoundedCosts, fabric: FabricProblem, slack: float, first: bool) -> Sizing:
        """Search a fabric with every choice of NICs for the logical ones on it, all below one cutoff."""
        sizing, looked = Sizing(), []
        for choice in self.context.equipped(self.problem, fabric, self.settings.prune):
            attached = least_of_attachments(self.space(choice, costs).bounds)
            aside = _least_aside(self.problem, choice, costs, attached)
            of_choice = self._searched(costs, choice, 0.0, first)
            sizing.stopped |= of_choice.stopped
            sizing.least = min(sizing.least, of_choice.least + float(aside[0]))
            looked.append((choice, aside, of_choice))
        for choice, aside, of_choice in looked:
            spare = sizing.least + slack - of_choice.least - float(aside[0])
            if spare < -RELATIVE_SLACK * abs(sizing.least) and self.settings.prune:
                continue
            if spare > 0 and not first:
                of_choice = self._searched(costs, choice, spare)
            sizing.stopped |= of_choice.stopped
            sizing.sized += of_choice.sized
            sizing.batches += [replace(batch, cost=batch.cost + aside[:, np.newaxis]) for batch in of_choice.batches]
        return sizing

    def _request(self, fabric: FabricProblem, costs: BoundedCosts) -> SpaceRequest:
        restriction = self.restrictions.get(fabric.name, Restriction())
        return SpaceRequest(costs, self.caps, restriction, self.settings.prune, self._is_enough)

    def _is_enough(self, work: int) -> bool:
        """Count the work of a batch of bounds; return whether time or work (of ``most_work``) is over."""
        self.work += work
        return self.work > self.most_work or self.settings.work.is_enough_with(work) or self.clock.is_over()

    def costs_of(self, row: int) -> BoundedCosts:
        """Costs with one metric of the table as objective."""
        table = self.table.copy()
        table[0] = self.table[row]
        return self.context.costs_at(self.problem.offering, table)

    def space(self, fabric: FabricProblem, costs: BoundedCosts) -> ClosSpace:
        """The Clos candidates of a fabric."""
        return ClosSpace(self.problem, fabric, *self._request(fabric, costs))

    def candidates(self, expanded: Expanded, most: int | None = None) -> list[Candidate]:
        """The expanded candidates, or the best ``most``.

        Without candidates whose switches do not reach the price breaks of their bound.
        """
        candidates: list[Candidate] = []
        for fabric, sizing in zip(self.problem.fabrics, expanded.sizings, strict=True):
            # of what has to suit the others' candidates, all
            most_of_it = most if fabric.per_switch is None else None
            candidates += self._candidates_of(sizing, expanded, most_of_it, in_order=most is not None)
        return candidates

    def _candidates_of(self, sizing: Sizing, expanded: Expanded, most: int | None, in_order: bool) -> list[Candidate]:
        """Candidates of a fabric, ``most`` at the most; ``in_order``: the cheapest first."""
        if self.settings.prune and expanded.slack:
            sizing = without_dear_switches(self.problem, sizing, expanded.slack, self.most_cents, self.counted)
            sizing = without_unfit_devices(self.problem, sizing)
        return self._in_time(self._sizes(sizing, most, in_order))

    def _sizes(self, sizing: Sizing, most: int | None, in_order: bool) -> list[Size]:
        """The sizes found, or the cheapest ``most``."""
        by_cost = [
            (float(cost), number, index)
            for number, batch in enumerate(sizing.batches)
            for index, cost in enumerate(batch.cost[0])
        ]
        if in_order:
            self.left_out |= most is not None and len(by_cost) > most
            by_cost = sorted(by_cost)[:most]
        return [(sizing.batches[number], index) for _, number, index in by_cost]

    def _in_time(self, sizes: Sequence[Size]) -> list[Candidate]:
        """Candidates of sizes; when time is over, those built by then."""
        candidates: list[Candidate] = []
        for size in self.settings.share.over(sizes):
            if candidates and self.clock.is_over():
                self.left_out = True
                break
            candidates += self.candidates_at(*size)
        return candidates

    def candidates_at(self, batch: AnyBatch, index: int) -> tuple[Candidate, ...]:
        """Candidates of one size with their exact needs, cached: they depend on no limit, and on weights only where
        these choose trunks.
        """
        problem, prune, known = self.problem, self.settings.prune, self.context.candidates
        weights = problem.weights if problem.case.site.trunked else None
        key = batch.key(index), problem.item_table, problem.links, problem.site, problem.sizes, prune, weights
        candidates = known.get(key)
        if candidates is None:
            self.settings.work.is_enough_with(WORK_OF_TRUNKS if problem.case.site.trunked else 0)
            candidates = candidates_in(problem, batch, index, prune)
            if self.keeps_candidates or len(known) < MOST_KEPT:
                known[key] = candidates
        return candidates

    @property
    def keeps_candidates(self) -> bool:
        """Whether any number of candidates is cached, as they are slow to build."""
        return self.counts

    @property
    def certain(self) -> float:
        """The part of the slack that some fabric surely needs, as far as known."""
        return self.together.certain if self.counts and np.isfinite(self.together.certain) else 0.0

    def ceiling(self, bound: float) -> float:
        """The slack beyond which no design is within a limit on the objective itself."""
        return beyond_limits(self.table, self.caps, bound)

    @property
    def counts(self) -> bool:
        """Whether switches are counted, for their ports of management."""
        return any(fabric.per_switch is not None for fabric in self.problem.fabrics)

    def weigh_up_to(self, value: int) -> bool:
        """Bound only designs up to the cost of a met one: they reach fewer breaks. False if no bound changes."""
        if self.listed or not self.problem.weights.per_cent:
            return False
        most = (value - self.problem.fixed_objective) // self.problem.weights.per_cent
        if (stage_weights(self.problem, None, most, self.counted).min(axis=0) == self.table[0]).all():
            return False
        self.most_cents = most
        self.count_stock(self.counted)
        return True

    def count_stock(self, shares: Floats) -> None:
        """Set the counted shares of prices and of savings of items in stock, shape (items,)."""
        of_prices = self.problem, self.most_cents, shares
        self.counted, self.steps = shares, stage_steps(*of_prices)
        self.table[0] = stage_weights(self.problem, None, self.most_cents, shares).min(axis=0)
        self.saving = float(shares @ stock_weights(self.problem, self.most_cents))


def _least_aside(problem: Problem, fabric: FabricProblem, costs: Costs, attached: float) -> Floats:
    """The least that a choice of NICs for logical fabrics adds to every candidate, shape (metrics,): the NICs, and in
    the objective the links of all attachments (``attached``), which the search excludes.
    """
    total = np.zeros(costs.table.shape[0])
    for item, count in nics_of(problem, fabric.attachments).items():
        total = total + costs.of(item) * count
    total[0] += attached
    return np.asarray(total)
