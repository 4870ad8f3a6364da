"""The default rule of racks never leaves a case without a design: keys of it that no design keeps are given up.

Where no design keeps all of them, the optimum without any is taken, and each is taken up again in turn, in the order of
``OFF``, if some design keeps it beside those before.
"""

from __future__ import annotations

from dataclasses import replace

from fabopt.problem.problem import Problem
from fabopt.problem.rack_parts import parts_to_give_up, without_rack_parts
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.search.answer import Answer, answer_in
from fabopt.search.context import Context


def rules_out(answer: Answer, clock: Clock) -> bool:
    """Whether there is no design, as far as a search can say it: on large floors none found is none."""
    if answer.has_design:
        return False
    return answer.optimum.verdict == "infeasible" or not (answer.problem.site.settles or clock.is_over())


def answer_in_racks(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Answer:
    """The optimum of a problem among designs that keep as much of the rule as any does, or the proof of none."""
    answer = answer_in(problem, settings, clock, context)
    keys = parts_to_give_up(problem)
    if not keys or not rules_out(answer, clock):
        return answer
    settings.progress("no design keeps the rule of racks: looking without parts of it")

    def without(given_up: tuple[str, ...]) -> Answer:
        return answer_in(without_rack_parts(problem, given_up), settings, clock, context.beside())

    best = without(keys)
    if not best.has_design:
        return replace(answer, optimum=best.optimum)
    given_up = keys
    try:
        for key in keys if len(keys) > 1 else ():
            with clock.bounded():
                fewer = tuple(one for one in given_up if one != key)
                other = without(fewer)
                if other.has_design:
                    best, given_up = other, fewer
    except StoppedError:
        return best
    return best
