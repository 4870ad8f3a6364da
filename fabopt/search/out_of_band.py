"""Candidates of an out-of-band fabric for the numbers of switches of the other fabrics' candidates.

The number of management ports depends on the chosen designs, so that fabric has a space for every number of switches
(at each stage). A candidate for n switches with ``own`` of its own goes with others of n - own. See
docs/formulation/several-networks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, product

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.out_of_band import ByStage
from fabopt.problem.problem import Problem
from fabopt.search.coefficients import is_there_in_time, least_of
from fabopt.search.context import Context
from fabopt.search.fewest_switches import (
    fewest_own_switches,
    has_no_end,
    in_service,
    own_numbers,
    plus,
    with_fewest,
)
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.attachment_bounds import least_of_attachments
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.family import RELATIVE_SLACK, AnyBatch, Sizing

# So many switches of its own are tried where their price sets no bound; then the search counts as stopped.
MOST_OWN = 200
# Where nothing suits that is as cheap as is asked for, dearer ones are looked at: first up to this share of the bound
# above it, then so many times as far, and again; at last whatever they cost.
FIRST_DEARER, DEARER, MOST_DEARER = 1 / 64, 4, 7
# What is left for others is this share of the bound of a fabric where it is found how much that takes for certain.
FIRST_BESIDE = 1 / 500
# So often the number of its own switches is guessed where nothing has to be proven.
MOST_GUESSES = 6


@dataclass
class OutOfBandSearch:
    """The search of all fabrics of a problem in which one is out-of-band.

    ``look(costs, fabric, slack)`` searches one, ``space`` has its bounds, ``sized`` are the candidates of a size;
    ``measures``: whether candidates are built at once to know their excess over the bound. ``above_bound``: this excess
    by fabric; infinite where no candidate is in time. ``slack``: of the last search, ``certain``: its part that the
    fabrics surely need.
    """

    problem: Problem
    context: Context
    look: Callable[[BoundedCosts, FabricProblem, float], Sizing]
    space: Callable[[FabricProblem, BoundedCosts], ClosSpace]
    sized: Callable[[AnyBatch, int], Sequence[Candidate]]
    above_bound: dict[str, float] = field(default_factory=dict)
    measures: bool = True
    slack: float = 0.0
    certain: float = 0.0

    def expand(self, costs: BoundedCosts, slack: float) -> list[Sizing]:
        """Search every fabric, out-of-band ones last, for the others' numbers of switches.

        ``slack`` is of all fabrics together: the part that one surely needs, as its candidates exceed their bound, is
        not left for later ones. If that part grows, all are searched to a smaller slack (``self.slack``).
        """
        sizings: dict[str, Sizing] = {}
        self.slack, self.certain, left = slack, 0.0, slack
        for fabric in sorted(self.problem.fabrics, key=self._turn):
            if fabric.per_switch is not None:
                counted = self._counted(fabric, costs)
                is_open = np.isfinite(self.certain)
                sizings[fabric.name] = counted.expand([*sizings.values()], left) if is_open else counted.fewest()
                continue
            sizings[fabric.name] = self.look(costs, fabric, left)
            if self.measures:
                was_open = self.above_bound.get(fabric.name) == np.inf
                certain = self._certain(sizings[fabric.name], fabric, costs)
                self.certain += certain
                left -= min(left, certain) if np.isfinite(certain) else left
                if was_open and np.isfinite(certain) and np.isfinite(slack):
                    left = min(left, FIRST_BESIDE * abs(sizings[fabric.name].least))
        if np.isfinite(self.certain):
            self.slack = min(slack, self.certain + left)
        return [sizings[fabric.name] for fabric in self.problem.fabrics]

    def least(self, costs: BoundedCosts) -> float:
        """No design costs less, links of attachments aside; infinite if a fabric has none, -inf if time was over."""
        sizings = [
            self.look(costs, fabric, 0.0) if fabric.per_switch is None else self._counted(fabric, costs).fewest()
            for fabric in self.problem.fabrics
        ]
        return -np.inf if any(sizing.stopped for sizing in sizings) else sum(sizing.least for sizing in sizings)

    def attached(self, costs: BoundedCosts) -> float:
        """Least cost of the links of attachments, without out-of-band fabrics, whose search counts them."""
        return sum(self.attached_to(costs, fabric) for fabric in self.problem.fabrics if fabric.per_switch is None)

    def _turn(self, fabric: FabricProblem) -> tuple[bool, float]:
        """Sort key: out-of-band last; the largest excess over the bound first."""
        return fabric.per_switch is not None, -self.above_bound.get(fabric.name, 0.0)

    def _certain(self, sizing: Sizing, fabric: FabricProblem, costs: BoundedCosts) -> float:
        """The excess of the cheapest candidate in time over the bound of its fabric."""
        if sizing.stopped or not sizing.batches:
            return 0.0
        attached, sizes = (
            self.attached_to(costs, fabric),
            ((batch, i) for batch in sizing.batches for i in range(len(batch))),
        )
        sized = ((one, batch.bound(i) + attached) for batch, i in sizes for one in self.sized(batch, i))
        # its parts at the least price of any stage, or its size at those of the stages that add it
        known = (max(least_of(one, costs.table[0]), bound) for one, bound in sized if is_there_in_time(one))
        self.above_bound[fabric.name] = max(0.0, min(known, default=np.inf) - sizing.least - attached)
        return self.above_bound[fabric.name]

    def attached_to(self, costs: BoundedCosts, fabric: FabricProblem) -> float:
        """Least cost of the links of a fabric's attachments that its search excludes."""
        if fabric.logical_fabrics:
            # its search has counted them, as they depend on the NICs of the logical fabrics
            return 0.0
        return least_of_attachments(self.space(fabric, costs).bounds)

    def _counted(self, fabric: FabricProblem, costs: BoundedCosts) -> Counted:
        switches = (one.item for roles in fabric.switches.values() for of_role in roles.values() for one in of_role)
        switch = min((float(costs.of(item)[0]) for item in switches), default=0.0)
        look, attached = partial(self.look, costs), partial(self.attached_to, costs)
        return Counted(self.problem, self.context, fabric, look, attached, self.sized, switch)


@dataclass
class _Added:
    """The result for a number of switches: the least cost of any design, and whether one suits the others."""

    least: float
    suits: bool = False

    def is_within(self, limit: float) -> bool:
        """Whether there is a design within a cost limit."""
        return np.isfinite(self.least) and self.least <= limit


@dataclass
class Counted:
    """The search for one out-of-band fabric. Rule ``oob_covers_boxes``: it has ports for exactly the installed
    switches.

    ``look(fabric, slack)`` searches its space for a number of switches. ``attached(fabric)``: least cost of links of
    its attachments, which that search excludes. ``sized``: the candidates of a size, ``switch``: least cost of a
    switch.
    """

    problem: Problem
    context: Context
    fabric: FabricProblem
    look: Callable[[FabricProblem, float], Sizing]
    attached: Callable[[FabricProblem], float]
    sized: Callable[[AnyBatch, int], Sequence[Candidate]]
    switch: float

    def expand(self, others: Sequence[Sizing], slack: float) -> Sizing:
        """Every candidate of cost at most ``least + slack`` that suits the others' numbers of switches.

        ``least`` bounds all designs: it is for the fewest switches, and more ports never cost less. The cheapest for
        every number of switches is included for a first answer; if none of these suits, dearer ones are, so that the
        result is empty only if no candidate suits.
        """
        sizing = self.fewest()
        totals = sums_of_switches([self._numbers(sizing) for sizing in others], len(self.problem.stages))
        if not np.isfinite(sizing.least) or not totals:
            return sizing
        is_all, first = np.isinf(slack), abs(sizing.least) * FIRST_DEARER
        slack = abs(sizing.least) if is_all else slack
        self._add_suiting(sizing, totals, slack)
        if not (sizing.batches or sizing.stopped):
            self._add_guessed(sizing, totals)
        dearer = max(slack, self._least_beside(totals) - sizing.least)
        for wider in (*(dearer + first * DEARER**rise for rise in range(MOST_DEARER)), np.inf):
            if sizing.batches or sizing.stopped:
                break
            self._add_suiting(sizing, totals, wider)
        # of all there is some are a first answer, but none is a proof
        sizing.stopped |= is_all and bool(sizing.batches)
        return sizing

    def _add_suiting(self, sizing: Sizing, totals: set[ByStage], slack: float) -> None:
        """Add suiting candidates by number of own switches, from the fewest that hold all ports and are there."""
        limit, added = sizing.least + slack, dict[ByStage, _Added]()
        first = self._first_number(totals)
        if len(self.problem.stages) == 1:
            self._add_each(sizing, totals, limit, first)
            return
        fewest = max(first[-1] - min(total[-1] for total in totals), in_service(self.fabric))
        for own in count(fewest):
            if own >= fewest + MOST_OWN:
                sizing.stopped = True
            if own >= fewest + MOST_OWN or own * self.switch > limit * (1 + RELATIVE_SLACK):
                return
            if np.isinf(slack) and sizing.batches:
                # whatever it costs, it is a first answer, which says how far to look
                return
            numbers = {plus(total, mine) for total in totals for mine in own_numbers(self.problem, self.fabric, own)}
            if not self._add_below(sizing, numbers, totals, limit, added):
                return
        raise AssertionError("counting has no end")

    def _first_number(self, totals: set[ByStage]) -> ByStage:
        """The fewest switches with any candidates of the others."""
        # how many ports there are in the end follows from the switches of the last stage
        least_others = min(totals, key=lambda total: total[-1])
        own = fewest_own_switches(self.problem, self.context, self.fabric, least_others)
        return plus(least_others, (*[0] * (len(least_others) - 1), own))

    def _least_beside(self, totals: set[ByStage]) -> float:
        """Least cost with the others' numbers, for one stage (else -inf); infinite if there is no design."""
        if len(self.problem.stages) > 1:
            return -np.inf
        numbered = self.context.numbered(self.fabric, self._first_number(totals))
        return float(self.look(numbered, 0.0).least + self.attached(numbered))

    def _add_each(self, sizing: Sizing, totals: set[ByStage], limit: float, fewest: ByStage) -> None:
        """Add suiting candidates of cost ``limit`` at most, for one stage.

        A candidate with ports for a number of switches has ports for fewer at no higher cost: so its own number is that
        of a candidate for the ``fewest`` within the limit.
        """
        left, added = totals, dict[ByStage, _Added]()
        for own in sorted(self._own_within(sizing, fewest, limit)):
            if not left or (np.isinf(limit) and sizing.batches):
                return
            for total in left:
                number = plus(total, own)
                if number not in added:
                    added[number] = self._add(sizing, number, totals, limit)
            left = {total for total in left if added[plus(total, own)].is_within(limit * (1 + RELATIVE_SLACK))}

    def _own_within(self, sizing: Sizing, number: ByStage, limit: float) -> set[ByStage]:
        """Own numbers of switches of candidates with ports for ``number`` of cost ``limit`` at most."""
        numbered = self.context.numbered(self.fabric, number)
        room = limit - self.look(numbered, 0.0).least - self.attached(numbered)
        # sums of large numbers differ by less
        if not room >= -RELATIVE_SLACK * abs(limit):
            return set()
        within = self.look(numbered, max(0.0, room))
        sizing.stopped |= within.stopped
        return self._numbers(within)

    def _add_below(
        self,
        sizing: Sizing,
        numbers: set[ByStage],
        totals: set[ByStage],
        limit: float,
        added: dict[ByStage, _Added],
    ) -> bool:
        """Add suiting candidates within a cost limit, the fewest switches first; return whether any is within it.

        More ports at any stage never cost less, so numbers above one that is too dear or infeasible are skipped. If all
        are, so are larger own numbers: each is above a smaller one.
        """
        limit *= 1 + RELATIVE_SLACK
        dear = [number for number, known in added.items() if not known.is_within(limit)]
        is_any = False
        for number in sorted(numbers, key=lambda number: (sum(number), number)):
            if any(all(few <= many for few, many in zip(past, number, strict=True)) for past in dear):
                continue
            if number not in added:
                added[number] = self._add(sizing, number, totals, limit)
            if added[number].is_within(limit):
                is_any = True
            else:
                dear.append(number)
        return is_any

    def _add_guessed(self, sizing: Sizing, totals: set[ByStage]) -> None:
        """Add candidates whose own best number of switches agrees with the counted one: a first answer, as a cutoff."""
        guessed: set[ByStage] = set()
        fewest = self._first_number(totals)[-1] - min(total[-1] for total in totals)
        for total in sorted(totals):
            own: ByStage = (in_service(self.fabric) or 1,) * len(total) if len(total) > 1 else (fewest,)
            for _ in range(MOST_GUESSES):
                number = plus(total, own)
                if number in guessed:
                    break
                guessed.add(number)
                if self._add(sizing, number, totals, -np.inf).suits:
                    return
                best = self.look(self.context.numbered(self.fabric, number), 0.0)
                ways = set().union(*(place for batch in best.batches for place in self._by_place(batch)))
                if not ways:
                    break
                own = min(ways, key=lambda way: (way[-1], way))

    def fewest(self) -> Sizing:
        """The bound of all designs, without candidates; infinite if there is no design."""
        if has_no_end(self.fabric):
            return Sizing()
        numbered = with_fewest(self.problem, self.context, self.fabric)
        first = self.look(numbered, 0.0)
        least = first.least + self.attached(numbered)
        return Sizing(least=least, sized=first.sized, stopped=first.stopped)

    def _add(self, sizing: Sizing, number: ByStage, totals: set[ByStage], limit: float) -> _Added:
        """Add suiting candidates for ``number`` switches of all fabrics at each stage."""
        numbered = self.context.numbered(self.fabric, number)
        of_number, attached = self.look(numbered, 0.0), self.attached(numbered)
        least = of_number.least + attached
        if limit > least:
            of_number = self.look(numbered, limit - least)
        added = _Added(float(least))
        at_last = {number[-1] - total[-1] for total in totals}
        for batch in of_number.batches:
            numbers = enumerate(self._by_place(batch, at_last))
            kept = [place for place, many in numbers if totals.intersection(minus(number, own) for own in many)]
            if kept:
                added.suits = True
                sizing.batches.append(batch.take(np.array(kept)))
        sizing.sized += of_number.sized
        sizing.stopped |= of_number.stopped
        return added

    def _numbers(self, sizing: Sizing) -> set[ByStage]:
        """Numbers of switches by stage of the candidates found."""
        return set().union(*(each for batch in sizing.batches for each in self._by_place(batch)))

    def _by_place(self, batch: AnyBatch, at_last: Container[int] | None = None) -> Iterator[set[ByStage]]:
        """Numbers of switches by stage for every size of a batch: several ways to grow lead to one last number. Empty
        for sizes with a last number outside ``at_last``, to save time.
        """
        is_staged = len(self.problem.stages) > 1
        for index, number in enumerate(batch.num_switches().tolist()):
            if at_last is not None and number not in at_last:
                yield set()
            else:
                yield {by_stage(one, self.problem) for one in self.sized(batch, index)} if is_staged else {(number,)}


def by_stage(candidate: Candidate, problem: Problem) -> ByStage:
    """Switches of a candidate that are installed at each stage."""
    return tuple(candidate.switches(stage) for stage in range(len(problem.stages)))


def suiting(
    problem: Problem,
    context: Context,
    fabric: FabricProblem,
    others: Sequence[Candidate],
    likely: Callable[[FabricProblem], Sequence[Candidate]],
) -> Iterator[Candidate]:
    """Candidates of an out-of-band fabric with ports for the others' candidates, without proof.

    ``likely``: the best candidates of a fabric. It is repeated for every sum of the others, with the own number of the
    last best, until number and ports agree.
    """
    names = dict.fromkeys(other.fabric for other in others)
    totals = sums_of_switches(
        [{by_stage(other, problem) for other in others if other.fabric == name} for name in names], len(problem.stages)
    )
    for total in sorted(totals):
        own: ByStage = (in_service(fabric) or 1,) * len(total)
        for _ in range(MOST_GUESSES):
            candidates = likely(context.numbered(fabric, plus(total, own)))
            fitting = [candidate for candidate in candidates if by_stage(candidate, problem) == own]
            yield from fitting
            if fitting or not candidates:
                break
            own = by_stage(candidates[0], problem)


def minus(numbers: ByStage, some: ByStage) -> ByStage:
    """The difference of numbers, stage by stage."""
    return tuple(a - b for a, b in zip(numbers, some, strict=True))


def sums_of_switches(numbers_of_each: Sequence[set[ByStage]], stages: int) -> set[ByStage]:
    """Sums of switches over one candidate of each fabric; empty if a fabric has no candidate.

    Without fabrics a single sum, 0 at every stage.
    """
    totals: set[ByStage] = {(0,) * stages}
    for numbers in numbers_of_each:
        totals = {plus(*pair) for pair in product(totals, numbers)}
    return totals
