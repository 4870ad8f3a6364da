"""The choice of a design by cost per effective GPU: by the mean over scenarios or by regret, and by robustness.

The criterion is the mean step over the scenarios of the case, or with ``decide_by: regret`` the scenario farthest from
its own best design. The model has a relative error of ``ERROR``: among all designs within it of the least, the one of
least cost under stress is chosen (rule ``robust-designs``). All are exact: (S + C) times a step that never grows with
bandwidth, among designs below a cap on another such product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Final

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.limits import tighter
from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import lifted
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.rules.defaults import MOST_ROBUST_RATIO, ROBUST_DESIGNS, is_asked_for, is_kept
from fabopt.schema.case import Fabric
from fabopt.schema.objective import DecidedBy, Number
from fabopt.schema.workload import PROFILES
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import Cap, Ratio, RatioSearch, cents_per_effective_gpu
from fabopt.search.step_time import KBPS_PER_MBPS
from fabopt.topology.design import NetworkDesign
from fabopt.units import exact, plain_fraction, rounded, usd
from fabopt.workload.deadline import Deadline
from fabopt.workload.needs import stressed_runs
from fabopt.workload.pace import AnyPace, Pace, WorstPace, pace_of_run
from fabopt.workload.stages import MEASURED_BAND

# How far apart two networks are that the model can tell apart: what it is off by from one measured run to another.
ERROR: Final = MEASURED_BAND


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
    """The mean over runs of steps under stress (``fabopt.workload.needs``)."""
    parts = tuple(part._replace(pace=stressed(part.pace)) for part in pace.parts)
    return Pace(pace.workload, stressed_runs(pace.runs), parts)


@dataclass(frozen=True)
class _Decider:
    """Searches of one problem by different criteria. ``pace``: of the case's own scenarios."""

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
        """The design of least worst regret over the scenarios."""
        alone: list[Ratio] = []
        for number, (_, run) in self.settings.share.over([*enumerate(self.pace.runs)]):
            self.settings.progress(f"looking for the best design for scenario {number + 1} alone")
            alone.append(self._beside(alone, pace_of_run(run)).run(ties=False))
        least = [one.cents for one in alone if one.cents is not None]
        if len(least) < len(alone):
            # what bounds one scenario bounds no regret
            return replace(next(one for one in alone if one.cents is None), bound=None)
        worst = WorstPace(
            self.pace.workload,
            tuple((1 / cents, pace_of_run(run)) for cents, (_, run) in zip(least, self.pace.runs, strict=True)),
        )
        self.settings.progress("looking for the least regret")
        best = self._beside(alone, worst).run()
        if not all(one.is_proven for one in alone) and best.optimum.value is not None:
            best = best.unproven
        cents = Fraction(cents_per_effective_gpu(self.problem, list(best.optimum.picked)))
        return replace(best, cents=cents, bound=None, decision=DecidedBy(by="regret"), least=tuple(map(rounded, least)))

    def _beside(self, others: Sequence[Ratio], pace: AnyPace) -> RatioSearch:
        """A search of all designs by a pace, knowing the designs that searches by other paces met."""
        of_all = self.problem, self.settings, self.clock
        met = tuple(optimum for other in others for optimum in other.met)
        least_cents = max((cost for other in others for step_s, cost in other.floors if step_s == inf), default=0)
        return RatioSearch(*of_all, context=self.context, pace=pace, known=met, least_cents=least_cents)

    def most_robust(self, least: Ratio) -> Ratio:
        """Among designs within the error of the least, the one of least cost under stress.

        Among those with at most ``MOST_ROBUST_RATIO`` at any boundary; if none is so near the least, among those within
        the error of the least of these. If limits exclude such designs, there is none; if structure does, that part of
        the rule is left out. Rule ``robust_choice_is_recounted``.
        """
        assert least.cents is not None and least.pace is not None
        held = self._held_to(Fraction(MOST_ROBUST_RATIO))
        own = self.search(least.pace)
        base, of_ratio = least, None
        robust = held.near(least)
        if robust.optimum.verdict == "infeasible":
            self.settings.progress(f"looking for the least of designs with no more than {MOST_ROBUST_RATIO}:1")
            of_ratio = replace(held.search(least.pace).run(), decision=least.decision)
            if of_ratio.optimum.value is not None:
                base = of_ratio
                robust = held.near(of_ratio) if of_ratio.is_proven else of_ratio
            elif of_ratio.optimum.verdict == "infeasible" and self._may_be_left_out(held):
                held, of_ratio, robust = self, None, self.near(least)
            else:
                return replace(of_ratio, bound=least.bound, held=held.problem)
        if robust.optimum.value is None:
            # out of time: what is known is the least
            return least
        if robust.is_proven:
            robust = held.unbeaten(robust, base)
        cents = cents_per_effective_gpu(self.problem, list(robust.optimum.picked))
        decision = held.told(own, least, base, robust, held is not self)
        if of_ratio is not None:
            of_held = cents_per_effective_gpu(self.problem, list(of_ratio.optimum.picked))
            decision = decision.model_copy(update={"least_in_ratio_usd": usd(rounded(of_held))})
        sized = max(least.optimum.sized, robust.optimum.sized)
        optimum = replace(robust.optimum, sized=sized)
        robust = replace(robust, optimum=optimum, cents=cents, bound=least.bound, decision=decision)
        return replace(robust, pace=least.pace, least=least.least)

    def near(self, least: Ratio) -> Ratio:
        """Among designs within the error of the least, the one of least cost under stress."""
        assert least.pace is not None
        most = self.search(least.pace).product_of(least.optimum) * (1 + ERROR)
        return self._below(Cap(least.pace, most, least.floors), [one for one in least.met if self._keeps_ratios(one)])

    def unbeaten(self, robust: Ratio, least: Ratio) -> Ratio:
        """The design; if dominated in cost, objective and bisection, the dominating one of least objective.

        That one is undominated: among designs of no higher cost and no less bisection it has the least objective, then
        the least cost, then the most bisection.
        """
        assert least.pace is not None
        known, design = self.search(least.pace), robust.optimum
        better = self._no_worse_than(design).search(least.pace, known=[design]).run()
        if not better.is_proven:
            return robust.unproven
        if known.product_of(better.optimum) < known.product_of(design):
            robust, design = replace(better, met=(*robust.met, *better.met)), better.optimum
        while (more := self._with_more_bisection(design, least.pace)) is not None:
            robust, design = replace(robust, optimum=more, met=(*robust.met, more)), more
        return robust.unproven if self.clock.is_over() else robust

    def _no_worse_than(self, design: Optimum, more: int = 0) -> _Decider:
        """The decider among designs of no higher cost and no less bisection, or ``more`` kb/s more."""
        cents = sums_of(self.problem, list(design.picked)).cents
        limits = replace(self.problem.limits, capex_cents=tighter(self.problem.limits.capex_cents, cents))
        least = Fraction(self._bisection_kbps(design) + more, KBPS_PER_MBPS)
        fabrics = tuple(
            _with_bisection(fabric, least) if self._computes(fabric) else fabric for fabric in self.problem.fabrics
        )
        return replace(self, problem=replace(self.problem, limits=limits, fabrics=fabrics))

    def _with_more_bisection(self, design: Optimum, pace: AnyPace) -> Optimum | None:
        """A design of no higher cost, no longer step and more bisection; None if there is none, or no time."""
        better = self._no_worse_than(design, more=1)
        if self.clock.is_over() or not all(any(fabric.nics.values()) for fabric in better.problem.fabrics):
            return None
        search = better.search(pace)
        more = search.cheapest_in_time(Deadline(pace, search.step_s(design)), None, ties=False)
        return None if more is None or more.value is None else more

    def _bisection_kbps(self, design: Optimum) -> int:
        """Bisection per GPU of the compute fabric in kb/s, rounded down, as in files."""
        return int(self._network(design).figures(self.problem.gpus).bisection * KBPS_PER_MBPS)

    def _may_be_left_out(self, held: _Decider) -> bool:
        """Whether no design keeps the ratios of the rule with every limit lifted, and nobody asks for it by name."""
        if is_asked_for(self.problem.case.rules, ROBUST_DESIGNS):
            return False
        free = search_of(lifted(held.problem), self.settings, self.clock, context=self.context.beside())
        return free.run(ties=False).verdict == "infeasible"

    def told(self, own: RatioSearch, least: Ratio, base: Ratio, robust: Ratio, is_held: bool) -> DecidedBy:
        """The record of the choice for the design file.

        ``base``: the least of the eligible designs; ``is_held``: whether these keep the rule's ratio.
        """
        assert least.cents is not None and robust.optimum.value is not None
        product = own.product_of(base.optimum)
        most, met = product * (1 + ERROR), {}
        leaner = own.leaner(most, robust.optimum) if robust.is_proven else ()
        for optimum in (*base.met, *robust.met, *leaner):
            cents = cents_per_effective_gpu(self.problem, list(optimum.picked))
            if own.product_of(optimum) < most and self._keeps_ratios(optimum):
                ratios = self._ratios(optimum)
                met[optimum.value, cents, *ratios.values()] = ratios
        # products of regret are each over the least of its scenario
        by_regret = least.decision is not None
        stress = self.search(stressed(self.pace))
        return DecidedBy(
            by="regret" if by_regret else "robustness",
            least_usd=None if by_regret else usd(rounded(least.cents)),
            least_regret=plain_fraction(own.per_gpu(own.product_of(least.optimum)) - 1) if by_regret else None,
            stressed_usd=usd(rounded(stress.per_gpu(stress.product_of(robust.optimum)))),
            error=plain_fraction(ERROR),
            most_oversubscription=MOST_ROBUST_RATIO if is_held else None,
            designs=len(met),
            leaf_oversubscription=_band(met.values(), "leaf"),
            spine_oversubscription=_band(met.values(), "spine"),
        )

    def _below(self, cap: Cap, known: Sequence[Optimum]) -> Ratio:
        """Among designs below a cap, the one of least cost under stress; for a model without network traffic the ratios
        of its task's profile hold first, if any such design is below the cap.
        """
        pace, usual = stressed(self.pace), self._usual_ratio
        if usual is not None:
            held = self._held_to(usual)
            robust = held.search(pace, cap, [one for one in known if held._keeps_ratios(one)]).run()
            if robust.optimum.value is not None:
                return robust
        return self.search(pace, cap, known).run()

    def _held_to(self, most: Fraction) -> _Decider:
        """The decider among designs with at most a ratio at boundaries that the case leaves open."""
        assert self.problem.needs is not None
        sets = self.problem.needs.sets
        open_ones = {name: most for name in ("leaf", "spine") if f"max_oversubscription.{name}" in sets}
        fabrics = tuple(
            replace(fabric, ratios=fabric.ratios.at_most(**open_ones)) if self._computes(fabric) else fabric
            for fabric in self.problem.fabrics
        )
        return replace(self, problem=replace(self.problem, fabrics=fabrics))

    def _keeps_ratios(self, design: Optimum) -> bool:
        """Whether a design has no more than the ratios of the fabric that GPUs compute over."""
        fabric = next(fabric for fabric in self.problem.fabrics if self._computes(fabric))
        most = {"leaf": fabric.ratios.leaf, "spine": fabric.ratios.spine}
        return all(ratio <= most[boundary] for boundary, ratio in self._ratios(design).items())

    @property
    def _usual_ratio(self) -> Fraction | None:
        """The profile's oversubscription for a model without network traffic; None: the case states it, or there is
        traffic.
        """
        workload = self.pace.workload
        asked = next(fabric for fabric in self.problem.asked.fabrics if self._computes(fabric))
        if asked.max_oversubscription is not None or workload.leaves_domains:
            return None
        profile = "inference" if workload.model.task == "inference" else "fine-tuning"
        return exact(PROFILES[profile].max_oversubscription)

    def _computes(self, fabric: FabricProblem | Fabric) -> bool:
        assert self.problem.needs is not None
        return fabric.name == self.problem.needs.fabric

    def _ratios(self, optimum: Optimum) -> dict[str, Fraction]:
        """The oversubscription at every boundary of the compute fabric; empty for a single tier."""
        return self._network(optimum).least_ratios(self.problem.gpus)

    def _network(self, optimum: Optimum) -> NetworkDesign:
        """The fabric that GPUs compute over."""
        index = next(number for number, one in enumerate(self.problem.fabrics) if self._computes(one))
        candidate, _ = list(optimum.picked)[index]
        return candidate.design


def _with_bisection(fabric: FabricProblem, least_mbps: Fraction) -> FabricProblem:
    """A fabric with at least ``least_mbps`` of bisection per GPU demanded."""
    own = fabric.demanded
    nics = {
        protocol: tuple(option for option in options if option.crosses_any_cut >= least_mbps)
        for protocol, options in fabric.nics.items()
    }
    demands = replace(own, bisection=max(own.bisection, least_mbps))
    return replace(fabric, figure_demands=demands, nics=nics)


def _band(known: Iterable[dict[str, Fraction]], boundary: str) -> tuple[Number, Number] | None:
    """The range of ratios of designs at a boundary; None if no design has it."""
    ratios = [ratios[boundary] for ratios in known if boundary in ratios]
    return (plain_fraction(min(ratios)), plain_fraction(max(ratios))) if ratios else None
