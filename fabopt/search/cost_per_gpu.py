"""The least of servers and network over GPUs that work, exactly: ``usd_per_effective_gpu`` as an objective.

With S the servers, C the network and T the step, (S + C) / (GPUs x utilization) is (S + C) T times a constant. The
cheapest design whose step takes less than t is a step of the front of C and T. Let R be the least (S + C) T met, and c
a cost below which no design takes less than t. What beats R then takes less than R / (S + c): that is the next t. It
ends where t is no more than the least step of any network, or nothing is in time. See docs/workloads.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import NamedTuple

from fabopt.errors import NoAnswerError
from fabopt.parts.finance import weights_of
from fabopt.problem.other_choices import with_equal_groups
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked, sums_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.objective import DecidedBy
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.shortlist import Shortlist, can_list, shortlist_of
from fabopt.search.step_time import in_time, pace_of, prediction_of, some_reduce
from fabopt.topology.family import Restriction
from fabopt.units import rounded, usd
from fabopt.workload.deadline import CostTimesStep, Deadline
from fabopt.workload.pace import AnyPace, work_s
from fabopt.workload.prediction import cluster_cents
from fabopt.workload.timing import FabricBandwidth

# Steps between the fastest and the slowest network that are tried before the proof, each farther from the fastest.
SAMPLES = 8
NEARER = 3
# How near to the least what is on a shortlist has to be at first.
NEAR_ENOUGH = 0.0003
# How many times the least step of any network one is that says little of what is worth it.
FAR = Fraction(11, 10)
# How often a leaner design is looked for, to see how far designs are apart that are about as good.
LEANEST = 2


@dataclass(frozen=True)
class Ratio:
    """The best design found. ``bound``: least cents per effective GPU of any design; None if unknown.

    ``met``: designs met on the way. ``pace``: of the comparison. ``decision``: the criterion of the choice, if not
    least cents; ``least``: cents per effective GPU of the best design for each scenario alone; ``floors``: cost bounds
    by step at the search's own pace; ``held``: the stricter problem without a design, if the ratio is of one.
    """

    optimum: Optimum
    cents: Fraction | None = None
    bound: Fraction | None = None
    met: tuple[Optimum, ...] = ()
    pace: AnyPace | None = None
    decision: DecidedBy | None = None
    least: tuple[int, ...] = ()
    floors: Floors = ()
    held: Problem | None = None

    @property
    def is_proven(self) -> bool:
        """Whether the design is proven best."""
        return self.optimum.verdict == "optimal" and self.optimum.value is not None

    @property
    def unproven(self) -> Ratio:
        """The design without a proof that none is better; the bound of its cost is none of a ratio."""
        return replace(self, optimum=replace(self.optimum, verdict="feasible", bound=None))


# Pairs (t, c): no design whose step takes less than t costs less than c. Infinite t: any; infinite c: there is none.
Floors = Sequence[tuple[Fraction | float, int | float]]


class Cap(NamedTuple):
    """A cap on designs: (S + C) T below ``most`` cents x seconds, with T at a pace.

    ``floors``: at the same pace.
    """

    pace: AnyPace
    most: Fraction
    floors: Floors = ()


def cents_per_effective_gpu(problem: Problem, picked: Sequence[Picked]) -> Fraction:
    """Servers and network over GPUs times utilization, of a design of a problem with a model and priced servers."""
    prediction = prediction_of(problem, picked, sums_of(problem, picked).cents)
    assert prediction is not None and prediction.cents is not None
    return prediction.cents / (problem.gpus * prediction.utilization)


class RatioSearch:
    """The search for one problem with a model and priced servers, or for a restricted part of its space.

    ``pace``: of the steps that (S + C) is multiplied by; None: that of the case's scenarios. ``cap``: on eligible
    designs. ``known``: designs met elsewhere, one of them below the cap; ``least_cents``: lower bound on the cost of
    any design.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        clock: Clock,
        restrictions: Mapping[str, Restriction] | None = None,
        context: Context | None = None,
        pace: AnyPace | None = None,
        cap: Cap | None = None,
        known: Sequence[Optimum] = (),
        least_cents: int | float = 0,
    ) -> None:
        self.problem = replace(problem, weights=weights_of(EFFECTIVE, problem.energy_cents_per_mw))
        # what designs in time cost is not what is looked for
        self.settings = replace(settings, bracket=settings.quiet.bracket)
        self.clock = clock
        self.restrictions = restrictions
        self.context = Context() if context is None else context
        self.pace = pace_of(problem) if pace is None else pace
        self.cap = cap
        self.known = known
        self._best = Optimum("unknown")
        self._best_step_s = Fraction(0)
        self._met: list[Optimum] = []
        least: int | float = max(least_cents, self.problem.fixed_objective)
        self._floors: list[tuple[Fraction | float, int | float]] = [(inf, least)]
        # of what may be better than the best, once good designs are known
        self._shortlist: Shortlist | None = None
        self._sized = 0

    def run(self, ties: bool = True) -> Ratio:
        """The best design, the cheapest among equals; ``ties``: broken in the documented order."""
        try:
            with self.clock.bounded():
                return self._run(ties)
        except StoppedError:
            return self._cut_short("")
        except (NoAnswerError, MemoryError) as error:
            if self._best.value is None:
                raise
            ended = str(error) or "memory ended"
        return self._cut_short(ended)

    def _cut_short(self, ended_by: str) -> Ratio:
        """The best design met, if any, with the bound of the fastest step at the least cost."""
        least = self._floor_at(inf)
        bound = None if least == inf else self.per_gpu(self._spent(int(least)) * self._least_step_s)
        if self._best.value is None:
            return Ratio(self._best, bound=bound)
        incumbent = replace(self._best, sized=self._sized, ended_by=ended_by)
        return Ratio(incumbent, self.per_gpu(self._product), bound, met=tuple(self._met), pace=self.pace).unproven

    def _run(self, ties: bool) -> Ratio:
        for optimum in self.known:
            self._offer(optimum, as_good=False)
        if self.cap is not None:
            self._floors.append((inf, self._least_below(self.cap)))
        if self._best.value is None or not self._can_list:
            first = self._cheapest(None)
            if self._best.value is None:
                return Ratio(first) if first.verdict == "infeasible" else self._cut_short("")
        if not self.known and not self._can_list:
            self._sample(self._best_step_s)
        elif self._can_list and self._best_step_s > FAR * self._least_step_s:
            # a shortlist is long where all that is known is a design with next to no uplinks
            self._cheapest(Deadline(self.pace, FAR * self._least_step_s))
        floors = tuple(self._floors)
        if (bound := self._prove_by_shortlist() if self._can_list else None) is None:
            bound, floors = self._prove(), tuple(self._floors)
        proven = bound == self._product
        if ties and proven and not self.clock.is_over():
            self._cheapest(Deadline(self.pace, self._best_step_s), ties=True)
        optimum = replace(self._best, verdict="optimal", sized=self._sized)
        figures = self.per_gpu(self._product), self.per_gpu(bound)
        best = Ratio(optimum, *figures, met=tuple(self._met), pace=self.pace, floors=floors)
        return best if proven else best.unproven

    def leaner(self, most: Fraction, answer: Optimum) -> Iterator[Optimum]:
        """Designs cheaper than an answer whose (S + C) T is below ``most``, as its own is.

        Only designs with equal leaf groups, which are few; no proof.
        """
        assert answer.value is not None
        fabrics, cents = tuple(map(with_equal_groups, self.problem.fabrics)), answer.value
        alike = RatioSearch(replace(self.problem, fabrics=fabrics), self.settings, self.clock, context=self.context)
        for _ in range(LEANEST):
            if self.clock.is_over():
                return
            # what costs less in so much time is below it too
            deadline = Deadline(self.pace, most / self._spent(cents))
            lower_than = cents if self.problem.site.method == "sizes" else None
            lean = alike.cheapest_in_time(deadline, lower_than, ties=False)
            if lean is None or lean.value is None:
                return
            yield lean
            cents = lean.value

    def _sample(self, slowest: Fraction) -> None:
        """Meet good designs to shorten the proof: with steps rising up to one with which no design is better."""
        least = self._least_step_s
        for number in range(SAMPLES, 0, -1):
            most = least + (slowest - least) / NEARER**number
            if self._total(self._floor_at(inf)) * most >= self._product or self.clock.is_over():
                return
            if self._cheapest(Deadline(self.pace, most)).value is None:
                return

    @property
    def _can_list(self) -> bool:
        return can_list(self.problem, self.settings)

    def _prove_by_shortlist(self) -> Fraction | None:
        """As ``_prove``, over a shortlist of candidates; None without a shortlist.

        Cost bounds by step hold for one shortlist alone. The first is of designs with equal leaf groups: these are few,
        and the best of them is a good incumbent for the others.
        """
        known = list(self._floors)
        if any(fabric.last_may_differ for fabric in self.problem.fabrics):
            alike = tuple(map(with_equal_groups, self.problem.fabrics))
            self._shortlist = self._listed(replace(self.problem, fabrics=alike), NEAR_ENOUGH)
            if self._shortlist is not None:
                self._prove()
        for spare in (NEAR_ENOUGH, inf):
            self._floors = list(known)
            self._shortlist = self._listed(self.problem, spare)
            if self._shortlist is None:
                return None
            bound = self._prove()
            if bound < self._product:
                return min(bound, Fraction(self._shortlist.limit))
            if float(bound) <= self._shortlist.limit:
                return bound
        return bound

    def _listed(self, problem: Problem, spare: float) -> Shortlist | None:
        """Candidates of a problem with a product near the least (``spare``), up to that of the best design."""
        before, spent = float(self._spent(0)), max(Fraction(1), self._spent(int(self._floor_at(inf))))
        capped, most = None, self._product / self._least_step_s
        if self.cap is not None:
            of_cap = CostTimesStep(before, float(self.cap.most))
            capped = Deadline(self.cap.pace, self.cap.most / spent, less=True, product=of_cap)
            most = min(most, self.cap.most / self._least_step_of(self.cap.pace))
        own = CostTimesStep(before, float(self._product), spare)
        deadline = Deadline(self.pace, self._product / spent, also=capped, product=own)
        hurried = in_time(problem, deadline)
        if hurried is None:
            return None
        most_cents = int(most - self._spent(0)) + 2
        return shortlist_of(hurried, deadline, self.settings, self.clock, self.restrictions, self.context, most_cents)

    def _prove(self) -> Fraction:
        """Search all designs that could be better; return the lower bound of (S + C) T."""
        floor = self._floor_at(inf)
        while self._total(floor) * self._least_step_s < self._product:
            spent, before = max(Fraction(1), self._spent(int(floor))), self._product
            most = before / spent
            if self._floor_at(most) == floor:
                if not self.clock.is_over():
                    self._cheapest(Deadline(self.pace, most, less=True))
                if self._floor_at(most) == floor and self._product == before:
                    # a search that proved nothing, on a large floor or out of time
                    return spent * self._least_step_s
            floor = max(floor, self._floor_at(self._product / spent))
        return self._product

    def _cheapest(self, deadline: Deadline | None, ties: bool = False) -> Optimum:
        """The cheapest design in time; keep its cost bound by step, and the design if it is the best."""
        most_s = inf if deadline is None else deadline.most_s
        while True:
            within, wanted = self._below_cap(deadline, self._floor_at(most_s)), self._lower_than
            optimum = self.cheapest_in_time(within, wanted, ties)
            floor = inf if optimum is None else self._floor_of(optimum, wanted)
            optimum = optimum or Optimum("infeasible")
            self._sized = max(self._sized, optimum.sized)
            is_higher = floor > self._floor_at(most_s)
            self._floors.append((most_s, floor))
            if optimum.value is not None:
                self._met.append(optimum)
                self._offer(optimum, ties)
            # one above the cap says that designs cost more, and so must be faster to be below it
            if not is_higher or optimum.value is None or self._is_below_cap(optimum) or self.clock.is_over():
                return optimum

    def cheapest_in_time(self, deadline: Deadline | None, lower_than: int | None, ties: bool) -> Optimum | None:
        """The cheapest design within a deadline, on the shortlist if there is one; None: no NIC is fast enough."""
        if self._shortlist is not None and deadline is not None:
            return self._shortlist.cheapest(self.settings, self.clock, deadline, self.context, lower_than, ties)
        problem = self.problem if deadline is None else in_time(self.problem, deadline)
        if problem is None:
            return None
        of_problem = problem, self.settings, self.clock, self.restrictions, None
        return search_of(*of_problem, self.context, lower_than).run(ties)

    @property
    def _lower_than(self) -> int | None:
        """The cost in cents from which no design is better than the best met; None: unknown, or on a floor, whose
        search has its own cutoff.
        """
        if self._best.value is None or self.problem.site.method != "sizes":
            return None
        return int(self._product / self._least_step_s - self._spent(0)) + 2

    def _floor_of(self, optimum: Optimum, lower_than: int | None) -> int | float:
        """The least cost of any design by a search that wanted only designs below ``lower_than``."""
        if optimum.verdict == "infeasible":
            return inf if lower_than is None else lower_than
        return (optimum.value if optimum.verdict == "optimal" else optimum.bound) or 0

    def _below_cap(self, deadline: Deadline | None, floor: int | float) -> Deadline | None:
        """A deadline, tightened by the cap for designs of cost ``floor`` or more."""
        if self.cap is None or floor == inf:
            return deadline
        capped = Deadline(self.cap.pace, self.cap.most / max(Fraction(1), self._spent(int(floor))), less=True)
        return capped if deadline is None else replace(deadline, also=capped)

    def _least_below(self, cap: Cap) -> int | float:
        """The least cost of designs below a cap: one of cost c has a step shorter than the cap over S + c."""
        least: int | float = 0
        while least < inf:
            most_s = cap.most / max(Fraction(1), self._spent(int(least)))
            higher = max((cost for step_s, cost in cap.floors if step_s >= most_s), default=0)
            if higher <= least:
                break
            least = higher
        return least

    def _is_below_cap(self, optimum: Optimum) -> bool:
        if self.cap is None:
            return True
        assert optimum.value is not None
        return self._spent(optimum.value) * self.step_s(optimum, self.cap.pace) < self.cap.most

    def _offer(self, optimum: Optimum, as_good: bool) -> None:
        if not self._is_below_cap(optimum) or optimum.value is None:
            return
        step_s = self.step_s(optimum)
        product = self._spent(optimum.value) * step_s
        if self._best.value is None or product < self._product or (as_good and product == self._product):
            self._best, self._best_step_s = optimum, step_s
            per_gpu = usd(rounded(self.per_gpu(product)))
            self.settings.progress(f"${per_gpu:,} per effective GPU so far, looking for better")

    def _floor_at(self, most_s: Fraction | float) -> int | float:
        """The least cost of designs with a step below ``most_s``."""
        return max((cost for most, cost in self._floors if most >= most_s), default=0)

    @cached_property
    def _least_step_s(self) -> Fraction:
        """No design has a faster step."""
        return self._least_step_of(self.pace)

    def _least_step_of(self, pace: AnyPace) -> Fraction:
        """The least step of any network, in seconds, at another pace."""
        assert self.problem.needs is not None
        fabric = next(fabric for fabric in self.problem.fabrics if fabric.name == self.problem.needs.fabric)
        rates = {option.injection for options in fabric.nics.values() for option in options}
        gpus, reduces = self.problem.gpus, some_reduce(fabric)
        return min(pace.step_s(FabricBandwidth(rate, rate, rate, gpus, gpus, reduces)) for rate in rates)

    def product_of(self, optimum: Optimum) -> Fraction:
        """(S + C) T of a design, in cents and seconds."""
        assert optimum.value is not None
        return self._spent(optimum.value) * self.step_s(optimum)

    def step_s(self, optimum: Optimum, pace: AnyPace | None = None) -> Fraction:
        """Seconds of a step on a design, at the pace of the search or another one."""
        prediction = prediction_of(self.problem, optimum.picked, 0)
        assert prediction is not None
        return (pace or self.pace).step_s(prediction.network)

    @property
    def _product(self) -> Fraction:
        """(S + C) T of the best design, in cents and seconds."""
        assert self._best.value is not None
        return self._spent(self._best.value) * self._best_step_s

    def _total(self, capex_cents: int | float) -> Fraction | float:
        """Servers and network, in cents; infinite without a network."""
        return inf if capex_cents == inf else self._spent(int(capex_cents))

    def _spent(self, capex_cents: int) -> Fraction:
        case, server = self.problem.case, self.problem.server
        total = cluster_cents(capex_cents, case.include_servers, server, self.problem.servers)
        assert total is not None
        return Fraction(total)

    def per_gpu(self, product: Fraction) -> Fraction:
        """Cents per effective GPU of a product: over the GPUs and the utilization, which is a constant over T."""
        workload = self.pace.workload
        return product / work_s(workload)
