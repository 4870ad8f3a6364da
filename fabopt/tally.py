"""Candidates of an out-of-band fabric for the numbers of switches that the other fabrics' candidates have.

How many ports of management there are is decided by what is picked, so that fabric has a space of its own for every
number of switches. A candidate for n switches with ``own`` of them its own goes with others that have n - own. See
docs/formulation.md, "Out-of-band".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, product

import numpy as np

from fabopt.fabric import FabricProblem
from fabopt.problem import Problem
from fabopt.schema.topologies import TIERED
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.shape import usable_ports
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.direct.serverspace import options_of
from fabopt.topology.families import switches_of
from fabopt.topology.needs import Costs, ceil_of
from fabopt.topology.threshold import RELATIVE_SLACK, Batch, Found
from fabopt.weighing import least_of

# So many switches of its own are tried where their price sets no bound; then the search counts as stopped.
MOST_OWN = 200


@dataclass
class Together:
    """The search of all fabrics of a problem in which one is out-of-band.

    ``look(costs, fabric, slack)`` searches one, ``space`` has its bounds, ``sized`` are the candidates of a place.
    """

    problem: Problem
    look: Callable[[Costs, FabricProblem, float], Found]
    space: Callable[[FabricProblem, Costs], ClosSpace]
    sized: Callable[[Batch, int], Sequence[Candidate]]
    above_bound: dict[str, float] = field(default_factory=dict)

    def open(self, costs: Costs, slack: float) -> list[Found]:
        """Search every fabric, out-of-band ones last, for what the others have found.

        ``slack`` is of all fabrics together: what one takes for certain, as no candidate comes down to its bound, is
        not left for those after it.
        """
        found: dict[str, Found] = {}
        for fabric in sorted(self.problem.fabrics, key=self._turn):
            if fabric.per_switch is not None:
                found[fabric.name] = self._counted(fabric, costs).open(list(found.values()), slack)
            else:
                found[fabric.name] = self.look(costs, fabric, slack)
                if not self.problem.stands_anywhere:
                    slack -= min(slack, self._certain(found[fabric.name], fabric, costs))
        return [found[fabric.name] for fabric in self.problem.fabrics]

    def attached(self, costs: Costs) -> float:
        """The least that the links of attachments cost, out-of-band ones aside: their search counts them."""
        return sum(self._attached(costs, one) for one in self.problem.fabrics if one.per_switch is None)

    def _turn(self, fabric: FabricProblem) -> tuple[bool, float]:
        """Out-of-band last; those whose candidates were furthest from their bound first."""
        return fabric.per_switch is not None, -self.above_bound.get(fabric.name, 0.0)

    def _certain(self, found: Found, fabric: FabricProblem, costs: Costs) -> float:
        """By how much the cheapest candidate found is above the bound of its fabric."""
        if found.stopped or not found.batches:
            return 0.0
        sized = (one for batch in found.batches for i in range(batch.cost.shape[1]) for one in self.sized(batch, i))
        least = min((least_of(one, costs.table[0]) for one in sized), default=np.inf)
        self.above_bound[fabric.name] = max(0.0, least - found.least - self._attached(costs, fabric))
        return self.above_bound[fabric.name]

    def _attached(self, costs: Costs, fabric: FabricProblem) -> float:
        if fabric.guests:
            # its search has counted them, as they depend on the cards of the logical fabrics
            return 0.0
        return self.space(fabric, costs).bounds.attached()

    def _counted(self, fabric: FabricProblem, costs: Costs) -> Counted:
        leaves = [leaf.item for roles in fabric.switches.values() for leaf in roles["leaf"]]
        switch = min((float(costs.of(item)[0]) for item in leaves), default=0.0)
        return Counted(self.problem, fabric, partial(self.look, costs), partial(self._attached, costs), switch)


@dataclass
class Counted:
    """The search for one out-of-band fabric.

    ``look(fabric, slack)``: its space with some number of switches. ``attached(fabric)``: the least that links of its
    attachments cost, which that search leaves aside. ``switch``: the least that a switch costs.
    """

    problem: Problem
    fabric: FabricProblem
    look: Callable[[FabricProblem, float], Found]
    attached: Callable[[FabricProblem], float]
    switch: float

    def open(self, others: Sequence[Found], slack: float) -> Found:
        """Every candidate that suits what the others have found and costs at most ``least + slack``.

        ``least`` bounds all designs: it is for the fewest switches that any have, and more ports never cost less. The
        cheapest for every number of switches are there too, so that there is a first answer.
        """
        found = self._fewest(others)
        totals = sums_of_switches(others)
        if not np.isfinite(found.least) or not totals:
            return found
        if np.isinf(slack):
            found.stopped, slack = True, abs(found.least)
        limit, met = found.least + slack, set[int]()
        for own in count(1):
            if own > MOST_OWN:
                found.stopped = True
            if own > MOST_OWN or own * self.switch > limit * (1 + RELATIVE_SLACK):
                return found
            for number in {total + own for total in totals} - met:
                least = self._add(found, number, totals, found.least + slack)
                limit = max(limit, least) if own == 1 else limit
                met.add(number)
        raise AssertionError("counting has no end")

    def _fewest(self, others: Sequence[Found]) -> Found:
        """The bound of all designs, without candidates."""
        fabrics = [one for one in self.problem.fabrics if one is not self.fabric]
        fewest = 1 + sum(fewest_switches(self.problem, one) for one in fabrics)
        numbered = self.problem.beside(self.fabric, fewest)
        first = self.look(numbered, 0.0)
        least = first.least + self.attached(numbered)
        return Found(least=least, sized=first.sized, stopped=first.stopped)

    def _add(self, found: Found, number: int, totals: set[int], limit: float) -> float:
        """Add what suits with so many switches; the least cost of any with so many is returned."""
        numbered = self.problem.beside(self.fabric, number)
        one, attached = self.look(numbered, 0.0), self.attached(numbered)
        least = one.least + attached
        if limit > least:
            one = self.look(numbered, limit - least)
        found.batches += [kept for batch in one.batches if (kept := _suiting(batch, number, totals)) is not None]
        found.sized += one.sized
        found.stopped |= one.stopped
        return float(least)


def _suiting(batch: Batch, number: int, totals: set[int]) -> Batch | None:
    kept = np.flatnonzero(np.isin(number - switches_of(batch), list(totals)))
    return batch._replace(shape=batch.shape.take(kept), cost=batch.cost[:, kept]) if kept.size else None


def sums_of_switches(found: Iterable[Found]) -> set[int]:
    """Numbers of switches that one candidate of each can have together; empty if one has none."""
    each = [set(np.concatenate([switches_of(batch) for batch in one.batches]).tolist()) for one in found if one.batches]
    if len(each) < len(list(found)):
        return set()
    totals = {0}
    for numbers in each:
        totals = {sum(pair) for pair in product(totals, numbers)}
    return totals


def fewest_switches(problem: Problem, fabric: FabricProblem) -> int:
    """No design of a fabric has fewer switches: leaves by their ports, and a spine where a Clos has no single tier."""
    if "torus" in fabric.topologies and any(options_of(problem, fabric)):
        return 0
    ports = min((one.ports_per_server for many in fabric.nics.values() for one in many), default=0)
    room = max(
        (usable_ports(use, leaf) for roles in fabric.switches.values() for leaf in roles["leaf"] for use in leaf.uses),
        default=1,
    )
    leaves = max(1, int(ceil_of(problem.servers * ports + fabric.attachment_ports, room)))
    flat = 1 in fabric.tiers or not set(TIERED).issuperset(fabric.topologies)
    return leaves if flat else max(2, leaves) + 1
