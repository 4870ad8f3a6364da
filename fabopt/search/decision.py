"""Which design is picked for its cost of a working GPU: by the mean over scenarios or by regret, and by robustness.

What counts is the mean step over the scenarios of the case, or with ``decide_by: regret`` the scenario that is farthest
from what is best for it alone. The model tells two networks apart no better than ``ERROR``: so of all designs within it
of the least, the one is picked that costs least under stress (rule ``robust-designs``). All are exact: (S + C) times a
step that gets no longer with bandwidth, among designs below a cap on another such product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Final

from fabopt.problem.demand import at_speed
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import Fabric
from fabopt.schema.default_rules import ROBUST_DESIGNS, is_kept
from fabopt.schema.objective import DecidedBy, Number
from fabopt.schema.workload import PROFILES, QueuePairs, Within
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import Cap, Ratio, RatioSearch, cents_per_effective_gpu
from fabopt.units import exact, plain_fraction, rounded, usd
from fabopt.workload.deadline import AnyPace, Pace, WorstPace, pace_of_run
from fabopt.workload.spreading import uplink_share
from fabopt.workload.stages import MEASURED_BAND
from fabopt.workload.timing import ModelRun

# How far apart two networks are that the model can tell apart: what it is off by from one measured run to another.
ERROR: Final = MEASURED_BAND
# Under stress: queue pairs of a sender whose flows are hashed, and how much faster GPUs are.
STRESS_QUEUE_PAIRS: Final = 4
STRESS_SPEED: Final = Fraction(5, 4)


def best_ratio(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Ratio:
    """The design of a problem that its case decides for."""
    wanted, pace = problem.case.workload, problem.pace
    assert wanted is not None and pace is not None
    decider = _Decider(problem, settings, clock, context, pace)
    least = decider.least_regret() if wanted.decide_by == "regret" else decider.search().run()
    if not is_kept(problem.case.rules, ROBUST_DESIGNS) or not least.is_proven:
        return least
    settings.progress("looking for the most robust of the designs that the model cannot tell apart")
    return decider.most_robust(least)


def stressed(pace: Pace) -> Pace:
    """The mean over runs, ranks scattered, of steps where flows are hashed, a spine is lost or GPUs are faster.

    Traffic may change its rail between servers, as collectives do unless they are told not to, so that leaves which
    hold all servers need uplinks too. Jobs that a scheduler keeps within pods stay there: only where they do not,
    do links above pods carry all.
    """
    weights: dict[object, tuple[Fraction, ModelRun]] = {}
    for weight, run in pace.runs:
        stresses = _under_stress(run)
        for stress in stresses:
            # scenarios that differ in the placement alone are alike under stress
            alike = stress.placing, stress.speed, stress.utilization
            known, of_run = weights.get(alike, (Fraction(0), stress))
            weights[alike] = known + weight / len(stresses), of_run
    return Pace(pace.workload, tuple(weights.values()))


def _under_stress(workload: ModelRun) -> tuple[ModelRun, ...]:
    """The runs that a run is stressed by, which weigh alike."""
    own = workload.placing
    placing = own if isinstance(own.placement, Within) and own.holds("pod") else replace(own, placement="scattered")
    placing = replace(placing, crosses_rails=True)
    hashed = placing.uplinks * uplink_share(QueuePairs(queue_pairs=STRESS_QUEUE_PAIRS), 0)
    return (
        replace(workload, placing=replace(placing, uplinks=hashed)),
        replace(workload, placing=replace(placing, loses_spine=True)),
        at_speed(replace(workload, placing=placing), STRESS_SPEED),
    )


@dataclass(frozen=True)
class _Decider:
    """Searches of one problem whose designs are compared in different ways. ``pace``: of the case's own scenarios."""

    problem: Problem
    settings: Settings
    clock: Clock
    context: Context
    pace: Pace

    def search(self, pace: AnyPace | None = None, cap: Cap | None = None, known: Sequence[Optimum] = ()) -> RatioSearch:
        """A search of all designs, or of those below a cap, by the case's pace or another one."""
        of_all = self.problem, self.settings, self.clock
        return RatioSearch(*of_all, context=self.context, pace=pace or self.pace, cap=cap, known=known)

    def least_regret(self) -> Ratio:
        """The design whose worst scenario is nearest to the best design for it."""
        alone: list[Ratio] = []
        for number, (_, run) in self.settings.share.over([*enumerate(self.pace.runs)]):
            self.settings.progress(f"looking for the best design for scenario {number + 1} alone")
            alone.append(self._beside(alone, pace_of_run(run)).run(ties=False))
        least = [one.cents for one in alone if one.cents is not None]
        if len(least) < len(alone):
            return next(one for one in alone if one.cents is None)
        worst = WorstPace(
            self.pace.workload,
            tuple((1 / cents, pace_of_run(run)) for cents, (_, run) in zip(least, self.pace.runs, strict=True)),
        )
        self.settings.progress("looking for the least regret")
        best = self._beside(alone, worst).run()
        if not all(one.is_proven for one in alone) and best.optimum.value is not None:
            best = replace(best, optimum=replace(best.optimum, verdict="feasible"))
        cents = Fraction(cents_per_effective_gpu(self.problem, list(best.optimum.picked)))
        return replace(best, cents=cents, bound=None, decision=DecidedBy(by="regret"), least=tuple(map(rounded, least)))

    def _beside(self, others: Sequence[Ratio], pace: AnyPace) -> RatioSearch:
        """A search of all designs by a pace, which knows what others by other paces have met."""
        of_all = self.problem, self.settings, self.clock
        met = tuple(optimum for one in others for optimum in one.met)
        least_cents = max((cost for one in others for step_s, cost in one.floors if step_s == inf), default=0)
        return RatioSearch(*of_all, context=self.context, pace=pace, known=met, least_cents=least_cents)

    def most_robust(self, least: Ratio) -> Ratio:
        """Of designs that are within the error of the least, the one that costs least under stress."""
        assert least.cents is not None and least.optimum.value is not None and least.pace is not None
        own = self.search(least.pace)
        product = own.product_of(least.optimum)
        most = product * (1 + ERROR)
        robust = self._below(Cap(least.pace, most, least.floors), least.met)
        met = {}
        leaner = own.leaner(most, robust.optimum) if robust.is_proven else ()
        for optimum in (*least.met, *robust.met, *leaner):
            cents = cents_per_effective_gpu(self.problem, list(optimum.picked))
            if own.product_of(optimum) < most:
                ratios = self._ratios(optimum)
                met[optimum.value, cents, *ratios.values()] = ratios
        # products of regret are each over the least of its scenario
        by_regret = least.decision is not None
        decision = DecidedBy(
            by="regret" if by_regret else "robustness",
            least_usd=None if by_regret else usd(rounded(least.cents)),
            least_regret=plain_fraction(own.per_gpu(product) - 1) if by_regret else None,
            error=plain_fraction(ERROR),
            designs=len(met),
            leaf_oversubscription=_band(met.values(), "leaf"),
            spine_oversubscription=_band(met.values(), "spine"),
        )
        cents = cents_per_effective_gpu(self.problem, list(robust.optimum.picked))
        robust = replace(robust, cents=cents, bound=least.bound, decision=decision)
        return replace(robust, pace=least.pace, least=least.least)

    def _below(self, cap: Cap, known: Sequence[Optimum]) -> Ratio:
        """Of designs below a cap the one that costs least under stress; a model that sends nothing over the network
        says nothing of it, so that there the ratios of its task's profile hold, if any such design is below the cap.
        """
        pace, usual = stressed(self.pace), self._usual_ratio
        if usual is not None:
            fabrics = tuple(
                replace(one, oversubscription_leaf=usual, oversubscription_spine=usual) if self._computes(one) else one
                for one in self.problem.fabrics
            )
            held = replace(self, problem=replace(self.problem, fabrics=fabrics))
            within = [one for one in known if max(self._ratios(one).values(), default=usual) <= usual]
            robust = held.search(pace, cap, within).run()
            if robust.optimum.value is not None:
                return robust
        return self.search(pace, cap, known).run()

    @property
    def _usual_ratio(self) -> Fraction | None:
        """The most oversubscription of networks for the task of a model to which all networks are as good; None: the
        case says it, or the model sends something.
        """
        workload = self.pace.workload
        asked = next(one for one in self.problem.asked.fabrics if self._computes(one))
        if asked.max_oversubscription is not None or workload.leaves_domains:
            return None
        profile = "inference" if workload.model.task == "inference" else "fine-tuning"
        return exact(PROFILES[profile].max_oversubscription)

    def _computes(self, fabric: FabricProblem | Fabric) -> bool:
        assert self.problem.needs is not None
        return fabric.name == self.problem.needs.fabric

    def _ratios(self, optimum: Optimum) -> dict[str, Fraction]:
        """The oversubscription at every boundary of the fabric that GPUs compute over; nothing of a single tier."""
        assert self.problem.needs is not None
        index = [fabric.name for fabric in self.problem.fabrics].index(self.problem.needs.fabric)
        candidate, _ = list(optimum.picked)[index]
        return candidate.design.least_ratios(self.problem.gpus)


def _band(known: Iterable[dict[str, Fraction]], boundary: str) -> tuple[Number, Number] | None:
    """Between which ratios designs are at a boundary; None if no design has it."""
    ratios = [ratios[boundary] for ratios in known if boundary in ratios]
    return (plain_fraction(min(ratios)), plain_fraction(max(ratios))) if ratios else None
