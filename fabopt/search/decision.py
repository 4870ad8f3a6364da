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

from fabopt.problem.fabric import FabricProblem, FigureDemands
from fabopt.problem.lifted import lifted
from fabopt.problem.limits import tighter
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import Fabric
from fabopt.schema.default_rules import MOST_ROBUST_RATIO, ROBUST_DESIGNS, is_asked_for, is_kept
from fabopt.schema.objective import DecidedBy, Number
from fabopt.schema.workload import PROFILES
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import Cap, Ratio, RatioSearch, cents_per_effective_gpu
from fabopt.search.step_time import KBPS_PER_MBPS
from fabopt.topology.design import NetworkDesign
from fabopt.units import exact, plain_fraction, rounded, usd
from fabopt.workload.deadline import AnyPace, Deadline, Pace, WorstPace, pace_of_run
from fabopt.workload.stages import MEASURED_BAND
from fabopt.workload.stress import stressed_runs

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
    """The mean over runs of steps under stress (``fabopt.workload.stress``)."""
    return Pace(pace.workload, stressed_runs(pace.runs))


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
            # what bounds one scenario bounds no regret
            return replace(next(one for one in alone if one.cents is None), bound=None)
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
        met = tuple(optimum for other in others for optimum in other.met)
        least_cents = max((cost for other in others for step_s, cost in other.floors if step_s == inf), default=0)
        return RatioSearch(*of_all, context=self.context, pace=pace, known=met, least_cents=least_cents)

    def most_robust(self, least: Ratio) -> Ratio:
        """Of designs that are within the error of the least, the one that costs least under stress.

        Of those with no more than ``MOST_ROBUST_RATIO`` at any boundary; where none is so near to the least, of those
        within the error of the least of these. Where limits leave no such design, there is none; where nothing else
        does, that part of the rule is left out. Rule ``robust_choice_is_recounted``.
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
        """Of designs within the error of the least, the one that costs least under stress."""
        assert least.pace is not None
        most = self.search(least.pace).product_of(least.optimum) * (1 + ERROR)
        return self._below(Cap(least.pace, most, least.floors), [one for one in least.met if self._keeps_ratios(one)])

    def unbeaten(self, robust: Ratio, least: Ratio) -> Ratio:
        """The design; if others beat it in cost, objective and bisection at once, that with the least objective.

        Nothing beats that one: of designs that cost no more and have no less bisection it has the least objective, of
        these it is the cheapest, and of these no other one has more bisection.
        """
        assert least.pace is not None
        known, design = self.search(least.pace), robust.optimum
        better = self._no_worse_than(design).search(least.pace, known=[design]).run()
        if not better.is_proven:
            return robust
        if known.product_of(better.optimum) < known.product_of(design):
            robust, design = replace(better, met=(*robust.met, *better.met)), better.optimum
        while (more := self._with_more_bisection(design, least.pace)) is not None:
            robust, design = replace(robust, optimum=more, met=(*robust.met, more)), more
        return robust

    def _no_worse_than(self, design: Optimum, more: int = 0) -> _Decider:
        """The decider among designs that cost no more and have no less bisection, in kb/s, or so much ``more``."""
        cents = sums_of(self.problem, list(design.picked)).cents
        limits = replace(self.problem.limits, capex_cents=tighter(self.problem.limits.capex_cents, cents))
        least = Fraction(self._bisection_kbps(design) + more, KBPS_PER_MBPS)
        fabrics = tuple(
            _with_bisection(fabric, least) if self._computes(fabric) else fabric for fabric in self.problem.fabrics
        )
        return replace(self, problem=replace(self.problem, limits=limits, fabrics=fabrics))

    def _with_more_bisection(self, design: Optimum, pace: AnyPace) -> Optimum | None:
        """A design that costs no more, takes no longer and has more bisection; None if there is none, or no time."""
        better = self._no_worse_than(design, more=1)
        if self.clock.is_over() or not all(any(fabric.nics.values()) for fabric in better.problem.fabrics):
            return None
        search = better.search(pace)
        more = search.cheapest_in_time(Deadline(pace, search.step_s(design)), None, ties=False)
        return None if more is None or more.value is None else more

    def _bisection_kbps(self, design: Optimum) -> int:
        """What a GPU has of the worst cut of the fabric that it computes over, rounded as in files, down."""
        return int(self._network(design).figures(self.problem.gpus).bisection * KBPS_PER_MBPS)

    def _may_be_left_out(self, held: _Decider) -> bool:
        """Whether no design keeps the ratios of the rule with every limit lifted, and nobody asks for it by name."""
        if is_asked_for(self.problem.case.rules, ROBUST_DESIGNS):
            return False
        free = search_of(lifted(held.problem), self.settings, self.clock, context=self.context.beside())
        return free.run(ties=False).verdict == "infeasible"

    def told(self, own: RatioSearch, least: Ratio, base: Ratio, robust: Ratio, is_held: bool) -> DecidedBy:
        """What a file says of the choice.

        ``base``: the least of the designs that it was made among; ``is_held``: whether these keep the rule's ratio.
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
        """Of designs below a cap the one that costs least under stress; a model that sends nothing over the network
        says nothing of it, so that there the ratios of its task's profile hold, if any such design is below the cap.
        """
        pace, usual = stressed(self.pace), self._usual_ratio
        if usual is not None:
            held = self._held_to(usual)
            robust = held.search(pace, cap, [one for one in known if held._keeps_ratios(one)]).run()
            if robust.optimum.value is not None:
                return robust
        return self.search(pace, cap, known).run()

    def _held_to(self, most: Fraction) -> _Decider:
        """The decider among designs with no more than a ratio at boundaries of which the case says none."""
        assert self.problem.needs is not None
        leaf, spine = (f"max_oversubscription.{name}" in self.problem.needs.sets for name in ("leaf", "spine"))
        fabrics = tuple(
            replace(
                fabric,
                oversubscription_leaf=min(fabric.oversubscription_leaf, most) if leaf else fabric.oversubscription_leaf,
                oversubscription_spine=min(fabric.oversubscription_spine, most)
                if spine
                else fabric.oversubscription_spine,
            )
            if self._computes(fabric)
            else fabric
            for fabric in self.problem.fabrics
        )
        return replace(self, problem=replace(self.problem, fabrics=fabrics))

    def _keeps_ratios(self, design: Optimum) -> bool:
        """Whether a design has no more than the ratios of the fabric that GPUs compute over."""
        fabric = next(fabric for fabric in self.problem.fabrics if self._computes(fabric))
        most = {"leaf": fabric.oversubscription_leaf, "spine": fabric.oversubscription_spine}
        return all(ratio <= most[boundary] for boundary, ratio in self._ratios(design).items())

    @property
    def _usual_ratio(self) -> Fraction | None:
        """The most oversubscription of networks for the task of a model to which all networks are as good; None: the
        case says it, or the model sends something.
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
        """The oversubscription at every boundary of the fabric that GPUs compute over; nothing of a single tier."""
        return self._network(optimum).least_ratios(self.problem.gpus)

    def _network(self, optimum: Optimum) -> NetworkDesign:
        """The fabric that GPUs compute over."""
        index = next(number for number, one in enumerate(self.problem.fabrics) if self._computes(one))
        candidate, _ = list(optimum.picked)[index]
        return candidate.design


def _with_bisection(fabric: FabricProblem, least_mbps: Fraction) -> FabricProblem:
    """A fabric that gives so much bisection bandwidth per GPU at the least."""
    own = fabric.figure_demands or FigureDemands(fabric.oversubscription_leaf)
    nics = {
        protocol: tuple(option for option in options if option.crosses_any_cut >= least_mbps)
        for protocol, options in fabric.nics.items()
    }
    demands = replace(own, bisection=max(own.bisection, least_mbps))
    return replace(fabric, figure_demands=demands, nics=nics)


def _band(known: Iterable[dict[str, Fraction]], boundary: str) -> tuple[Number, Number] | None:
    """Between which ratios designs are at a boundary; None if no design has it."""
    ratios = [ratios[boundary] for ratios in known if boundary in ratios]
    return (plain_fraction(min(ratios)), plain_fraction(max(ratios))) if ratios else None
