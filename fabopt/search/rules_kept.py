"""Default rules yield to structure and never to a limit.

A part of a rule is left out only if no design of the case keeps it with every limit lifted. Parts that can be kept
singly but not together yield in the order of ``YIELDING``: starting from none, each is added, the last to yield first,
if some design without limits keeps it with those added before. So no omitted part could be kept with the others. If
only a limit prevents a design, the case has none.

Rule ``left_out_rules_are_broken``; of racks, rule ``left_out_spread_is_broken``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabopt.problem.problem import Problem
from fabopt.problem.rules_kept import RulePart, lifted, parts_that_yield, with_more_racks, without
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.search.answer import Answer, answer_in
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.topology.families import most_servers


def best_answers(
    problems: Sequence[Problem], answers: Sequence[Answer], settings: Settings, clock: Clock
) -> list[Answer]:
    """The optima of all combinations of a case, bound to as many default rules as structure allows.

    ``answers``: the optima bound to all rules; returned unchanged if one has a design or work is spent. Raises
    ``StoppedError`` if time ends before the yielding parts are known.
    """
    is_open = not all(rules_out(answer, clock) for answer in answers)
    if any(answer.has_design for answer in answers) or is_open or settings.work.is_spent:
        return list(answers)
    bound_less = bound_by_structure(problems, settings, clock, answers[0].context)
    if bound_less is None:
        return list(answers)
    settings.progress("no design keeps the default rules, whatever the limits: looking without what none keeps")
    return [answer_in(problem, settings, clock, answers[0].context.beside()) for problem in bound_less]


def best_answer(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Answer:
    """The optimum of a problem, bound to as much of the default rules as structure allows, or the proof of none."""
    answer = answer_in(problem, settings, clock, context)
    try:
        with clock.bounded():
            return best_answers([problem], [answer], settings, clock)[0]
    except StoppedError:
        return replace(answer, optimum=replace(answer.optimum, verdict="unknown"))


def rules_out(answer: Answer, clock: Clock) -> bool:
    """Whether there is no design, as far as a search can tell: on large floors, if none was found."""
    if answer.has_design:
        return False
    return answer.optimum.verdict == "infeasible" or not (answer.problem.site.settles or clock.is_over())


def relaxed(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Problem | None:
    """The problem without rule parts that structure forbids; None if it must keep all, or has no design anyway.

    Raises ``StoppedError`` if time runs out.
    """
    bound_less = bound_by_structure([problem], settings, clock, context)
    return None if bound_less is None else bound_less[0]


def bound_by_structure(
    problems: Sequence[Problem], settings: Settings, clock: Clock, context: Context
) -> list[Problem] | None:
    """All combinations of an infeasible case, without the parts of default rules that no design keeps with every limit
    lifted.

    None if some design keeps all of them, or there is none without them either. ``context``: of a search of the first.
    Raises ``StoppedError`` if time runs out.
    """
    parts = tuple(dict.fromkeys(part for problem in problems for part in parts_that_yield(problem)))
    if not parts:
        return None
    settings.progress("no design keeps the default rules: looking whether it is a limit that is in the way")
    free = [lifted(problem) for problem in problems]
    probe = _Probe(problems[0], settings, clock, context)
    is_limited = any(one is not other for one, other in zip(free, problems, strict=True))
    if is_limited and probe.any_keeps(free, ()):
        return None
    larger = [more for problem in free for more in with_more_racks(problem)]
    if probe.any_keeps(larger, ()):
        return None
    # of floors too large to look at all places less is found, so the case's own are still looked at
    free = [*larger, *free]
    if not probe.any_keeps(free, parts):
        return None
    left_out = list(parts)
    for part in reversed(parts):
        others = [other for other in left_out if other != part]
        if probe.any_keeps(free, others):
            left_out = others
    return [without(problem, left_out) for problem in problems] if left_out else None


class _Probe:
    """Asks whether there is a design at all."""

    def __init__(self, known: Problem, settings: Settings, clock: Clock, context: Context) -> None:
        """``context``: of a search of the problem ``known``."""
        self._known, self._settings, self._clock, self._context = known, settings.quiet, clock, context

    def any_keeps(self, problems: Sequence[Problem], left_out: Sequence[RulePart]) -> bool:
        """Whether any of some problems has a design without some parts of the rules."""
        return any(self._has_design(without(problem, left_out)) for problem in problems)

    def _has_design(self, problem: Problem) -> bool:
        if problem.servers > most_servers(problem):
            return False
        is_known = problem.fabrics is self._known.fabrics and problem.site is self._known.site
        context = self._context if is_known else self._context.beside()
        optimum = search_of(problem, self._settings, self._clock, context=context).any_design()
        if optimum.picked:
            return True
        is_open = optimum.verdict != "infeasible" and problem.site.settles
        if is_open or self._clock.is_over() or self._settings.work.is_spent:
            raise StoppedError
        return False
