"""Ends of price ranges of a case whose links may run through trunks: the designs met have room for their panels."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.search.answer import Answer, answer_in
from fabopt.search.context import Context
from fabopt.search.price_ends import STEPS, EndFinder, Indices, PricedDesign, Probe
from fabopt.solution.trunks import MetWay, TrunkedWays, as_best, proven_with_trunks
from fabopt.topology.clos.trunked import is_proven


def ends_of(base: Problem, answer: PricedDesign, proven: bool, settings: Settings, clock: Clock) -> EndFinder:
    """What finds the ends of ranges of prices within which an answer stays the cheapest."""
    if base.case.site.trunked:
        return _TrunkedEnds(base, answer, proven, settings, clock)
    return EndFinder(base, answer, proven, settings, clock)


def with_room_for_panels(answer: Answer, settings: Settings, clock: Clock) -> Answer:
    """The best answer to an answered problem whose racks have room for their panels; the same one without trunks.

    Raises ``NoRoomError``.
    """
    if not answer.problem.case.site.trunked:
        return answer

    def run(problem: Problem) -> MetWay[Answer] | None:
        own = answer if problem is answer.problem else answer_in(problem, settings, clock, Context())
        proven = replace(own, optimum=proven_with_trunks(problem, own.optimum))
        return MetWay(proven, (own.optimum.value,), proven) if own.has_design else None

    best = TrunkedWays(answer.problem, settings.prune).best(run, settings.progress)
    if best is None:
        return answer
    met, is_best, _ = best
    return replace(met.answer, optimum=as_best(met.of_study.optimum, is_best))


class _TrunkedEnds(EndFinder):
    """As ``EndFinder``, over all problems whose designs a case with trunks has."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._ways = TrunkedWays(self.base, self.settings.prune)

    def _best(self, base: Problem, indices: Indices, step: int, ties: bool, is_known: bool = True) -> Probe:
        """The best design at a step that has room for its panels, as the answer has."""

        def run(problem: Problem) -> MetWay[Probe] | None:
            probe = super(_TrunkedEnds, self)._best(problem, indices, step, ties, is_known=False)
            return _met(problem, probe)

        cents, most = self.answer.line(indices).at(Fraction(step, STEPS)), base.limits.capex_cents
        own_probe = Probe(step, self.answer, base, cents, is_proven=True)
        known = None if most is not None and cents > most else _met(base, own_probe)
        best = self._ways.best(run, self.settings.progress, known)
        if best is None:
            return Probe(step, None, None, None, is_proven(base))
        own, is_best, _ = best
        return own.of_study._replace(is_proven=is_best)


def _met(problem: Problem, probe: Probe) -> MetWay[Probe] | None:
    """The best of a problem at a step; None where there is none."""
    if probe.priced is None:
        return None
    proven = probe.is_proven and is_proven(problem)
    return MetWay.of(problem, probe.priced.picked, proven, probe.cents, probe)
