"""The most that a budget buys: bandwidth, or servers.

Bandwidth: the least capex for a given bandwidth is a step function, found once from the bottom up as far as the largest
budget reaches; every budget is a look-up. Servers: see ``MostServers``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fabopt.explain.relaxation import halfway, nearest
from fabopt.io.workload import runs_on, with_servers
from fabopt.parts.finance import weights_of
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.program.settings import Clock, Settings
from fabopt.search.coefficients import stock_value, weights_table
from fabopt.search.context import Context
from fabopt.search.rules_kept import relaxed
from fabopt.solution.trunks import NoRoomError
from fabopt.study.front.finder import PRICE, Finder, GradedDesign, climb
from fabopt.study.front.managed import ManagedFinder, may_lack_managers
from fabopt.study.front.measures import Measure
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.families import most_servers
from fabopt.topology.link_parts import Floats
from fabopt.units import some

# More servers than any case may have.
FAR_TOO_MANY = 10**9


@dataclass(frozen=True, eq=False)
class Bought:
    """The purchase of a budget: a design of a problem. ``cheapest``: the cheapest design, if the budget buys none."""

    problem: Problem
    graded: GradedDesign | None
    cheapest: GradedDesign | None = None


class MostOfMetric:
    """The most of a metric that budgets buy, at the least capex."""

    def __init__(self, finder: Finder, measure: Measure, start: int | float | None = None) -> None:
        """``start``: value of the metric that all budgets are known to buy."""
        self.finder = finder
        self.problem, self.clock = finder.problem, finder.clock
        self._climbed: list[GradedDesign] = []
        self._ended: NoRoomError | None = None
        self._climb = climb(finder.best, (PRICE,), measure, None if start is None else measure.grade(start))

    def buy(self, budget_cents: int) -> Bought:
        """The design with the most of the metric that costs no more, and the cheapest of these."""
        while self._ended is None and (not self._climbed or _capex(self._climbed[-1]) <= budget_cents):
            try:
                graded = next(self._climb, None)
            except NoRoomError as error:
                self._ended = error
                break
            if graded is None:
                break
            self._climbed.append(graded)
        within = [graded for graded in self._climbed if _capex(graded) <= budget_cents]
        if within and within[-1] is self._climbed[-1] and self._ended is not None:
            # what is better may have room for its panels
            optimum = replace(within[-1].optimum, verdict="feasible", bound=None)
            return Bought(self.finder.problem, replace(within[-1], optimum=optimum))
        if within:
            return Bought(self.finder.problem, within[-1])
        if self._ended is not None and not self._climbed:
            raise self._ended
        return Bought(self.finder.problem, None, self._climbed[0] if self._climbed else None)


class MostServers:
    """The most servers that budgets buy.

    Where a design for N servers gives one for N - 1 that takes no more of anything (docs/fronts.md), the largest number
    is found by halving. Elsewhere it is looked for downwards from an upper bound on servers within the budget.
    """

    def __init__(
        self, problem: Problem, settings: Settings, clock: Clock, context: Context | None = None, start: int = 0
    ) -> None:
        """``context``: of other problems with the same offering.

        ``start``: servers that all budgets are known to buy.
        """
        self.problem = problem
        self.context = Context() if context is None else context
        self.settings = settings
        self.clock = clock
        stages = problem.stages
        self.fewest = stages[-2].servers or 1 if len(stages) > 1 else 1
        self._known: dict[int, tuple[Problem, GradedDesign | None]] = {}
        self._last = start

    def buy(self, budget_cents: int) -> Bought:
        """The most servers with a design that costs no more, and the cheapest such design."""
        most = self._most(budget_cents)
        if (unmanaged := self._fewest_without_manager(most)) is not None:
            # hosts may cost less than managers of fewer servers, so each side shrinks by itself
            self._last, most = (
                (unmanaged, most) if self._affords(unmanaged, budget_cents) else (self._last, unmanaged - 1)
            )
        if shrinks(self.problem):
            halved = self._halved(budget_cents, most)
            self._last = self._last if halved is None else halved
            best = None if halved is None else next(filter(self._runs, range(halved, self.fewest - 1, -1)), None)
        else:
            best = self._downwards(budget_cents, most)
            self._last = self._last if best is None else best
        if best is not None:
            return Bought(*self.at(best))
        # in families that not every number of servers fits, the fewest may have no design though the case has one
        fewest = next(filter(self._runs, range(self.fewest, self.problem.servers)), self.problem.servers)
        sizes = (self.at(servers) for servers in (fewest, self.problem.servers))
        problem, cheapest = next((size for size in sizes if size[1] is not None), (self.problem, None))
        return Bought(problem, None, cheapest)

    def at(self, servers: int) -> tuple[Problem, GradedDesign | None]:
        """The cheapest design for a number of servers."""
        if servers not in self._known:
            problem = problem_of(
                with_servers(self.problem.case, servers), self.problem.catalog, offering=self.problem.offering
            )
            # demands are worked out for the servers of the case, and so are the notes on them
            limits = replace(problem.limits, capex_cents=None)
            problem = replace(problem, asked=self.problem.asked, limits=limits)
            self.settings.progress(f"looking at {some(servers, 'server')}")
            problem = bound_alike(problem, self.problem)
            finder = ManagedFinder(problem, self.settings, self.clock, self.context.beside())
            graded = finder.best((PRICE,), {})
            bound_less = None if graded else relaxed(problem, self.settings, self.clock, self.context.beside())
            if bound_less is not None:
                problem = bound_less
                graded = ManagedFinder(problem, self.settings, self.clock, self.context.beside()).best((PRICE,), {})
            self._known[servers] = problem, graded
        return self._known[servers]

    def _fewest_without_manager(self, most: int) -> int | None:
        """The fewest servers, above those known to be bought, that no switch may manage; None if there are none."""

        def at(servers: int) -> bool:
            case = with_servers(self.problem.case, servers)
            return may_lack_managers(problem_of(case, self.problem.catalog, offering=self.problem.offering))

        low, high = max(self._last, self.fewest), most
        if high <= low or at(low) or not at(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if at(middle) else (middle, high)
        return high

    def _affords(self, servers: int, budget_cents: int) -> bool:
        graded = self.at(servers)[1]
        return graded is not None and _capex(graded) <= budget_cents

    def _runs(self, servers: int) -> bool:
        return runs_on(self.problem.asked, self.problem.server, servers)

    def _halved(self, budget_cents: int, most: int) -> int | None:
        """The largest affordable number, given that smaller ones are affordable too (a single server aside)."""
        guesses = [self.problem.servers]

        def ask(servers: int) -> int | None:
            guesses.append(_guess(budget_cents, self.at(servers)[1], servers))
            return servers if self._affords(servers, budget_cents) else None

        def between(works: int, fails: int) -> int | None:
            # every other step halves what is left, so that guesses cannot creep
            is_guess = len(guesses) % 2 == 1 and works < guesses[-1] < fails
            return guesses[-1] if is_guess else halfway(works, fails)

        largest = nearest(self._last, most + 1, ask, between)
        if largest >= max(2, self.fewest):
            return largest
        return next((servers for servers in (2, 1) if self.fewest <= servers <= most
                     and self._affords(servers, budget_cents)), None)  # fmt: skip

    def _downwards(self, budget_cents: int, most: int) -> int | None:
        for servers in filter(self._runs, range(most, max(self._last, self.fewest) - 1, -1)):
            if self._affords(servers, budget_cents):
                return servers
        return self._last or None

    def _most(self, budget_cents: int) -> int:
        """An upper bound on the servers of designs within the budget."""
        least_cents = self._least_per_server
        saved = stock_value(self.problem)
        most = FAR_TOO_MANY if least_cents < 1 else int((budget_cents + saved) / least_cents * (1 + 1e-9))
        if most < 1:
            return 0
        large = problem_of(with_servers(self.problem.case, most), self.problem.catalog, offering=self.problem.offering)
        return min(most, most_servers(large))

    @cached_property
    def _least_per_server(self) -> float:
        """A lower bound on cost per server, in cents."""
        free = replace(self.problem, limits=replace(self.problem.limits, capex_cents=None))
        server = free.server_item.least_ever() if free.server_item is not None else 0
        cents = weights_of(PRICE.name, free.energy_cents_per_mw)
        table, caps = weights_table(replace(free, weights=cents))
        shares = (_least_share(free, fabric, BoundedCosts(table), caps) for fabric in free.fabrics)
        return server / free.server.sold_together + sum(shares)


def shrinks(problem: Problem) -> bool:
    """Whether a design for N > 2 servers gives one for N - 1 with no more of any sum."""
    runs_shrink = problem.site.groups is None or _longer_costs_more(problem)
    is_flat = problem.site.runs_are_alike and len(problem.stages) == 1
    return is_flat and runs_shrink and all(map(_is_plain, problem.fabrics))


def _longer_costs_more(problem: Problem) -> bool:
    """Whether no length of a cable or fibre costs less, or uses less power, than a shorter one of the same product."""
    by_length = sorted(
        (item for item in problem.item_table.items if item.length_m), key=lambda item: item.length_m or 0
    )
    sums: dict[str, tuple[int, ...]] = {}
    for item in by_length:
        before, own = sums.get(item.id), (*item.unit_cents, item.power_mw)
        if item.varies or (before is not None and any(a > b for a, b in zip(before, own, strict=True))):
            return False
        sums[item.id] = own
    return True


def _is_plain(fabric: FabricProblem) -> bool:
    """Whether fewer servers need no more of a fabric; in other families they need another network."""
    counts = bool(fabric.attachments) or fabric.per_switch is not None
    groups = fabric.leaf_groups
    return not counts and groups.servers is None and groups.is_even and fabric.shapes.topologies == ("clos",)


def _least_share(problem: Problem, fabric: FabricProblem, costs: BoundedCosts, caps: Floats) -> float:
    """A lower bound on a fabric's cost per server, in cents."""
    bounds = ClosSpace(problem, fabric, costs, caps).bounds
    least = np.inf
    for protocol in fabric.protocols:
        for nic in bounds.nics(protocol):
            for place, lower in enumerate(bounds.lowers(nic.port, protocol)):
                if 1 in fabric.shapes.tiers or fabric.shapes.topologies != ("clos",):
                    least = min(least, float(bounds.of_servers(nic, lower.share)[0]))
                if float(bounds.of_leaves(place, nic, protocol)[0]) >= least:
                    break
                for tiers in set(fabric.shapes.tiers) - {1}:
                    blocks = (Block(protocol, tiers, nic, lower.leaf, lower.down, up) for up in lower.leaf.uses)
                    least = min([least, *(float(bounds.of_block(block, tiers)[0]) for block in blocks)])
    return least / problem.servers if np.isfinite(least) else 0.0


def _guess(budget_cents: int, graded: GradedDesign | None, servers: int) -> int:
    """Servers that the budget would buy at the same cost per server; 0 without a design."""
    return servers * budget_cents // _capex(graded) if graded is not None and _capex(graded) else 0


def _capex(graded: GradedDesign) -> int:
    return graded.grades["capex_usd"]
