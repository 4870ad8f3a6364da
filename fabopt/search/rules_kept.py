"""Default rules never leave a case without a design: what no design keeps is given up.

Where no design keeps all of them, the optimum without them is taken, and each part is taken up again in turn, fabric by
fabric in the order of the case, ``REDUNDANCY`` in its order before ``nic-pairing``, ``one-generation`` and
``subnet-manager``, if some design keeps it beside all those before.
So nothing that is given up could be kept beside what is, and the answer is the optimum among designs that keep the
rest.
"""

from __future__ import annotations

from collections.abc import Callable

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.rack_parts import parts_to_give_up
from fabopt.problem.rules_kept import RulePart, is_bound, parts_given_up, taken_up, without_rules
from fabopt.problem.subnet_manager import INFINIBAND
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.catalog import Switch
from fabopt.schema.default_rules import NIC_PAIRING, ONE_GENERATION, SUBNET_MANAGER
from fabopt.search.answer import Answer
from fabopt.search.context import Context
from fabopt.search.racks import answer_in_racks, rules_out
from fabopt.topology.candidate import Candidate
from fabopt.topology.redundancy import standing

Solve = Callable[[Problem], Answer]


def best_answer(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Answer:
    """The optimum of a problem among designs that keep as much of the rules as any does, or the proof of none.

    Where there is no design without the rules either, the answer is about the space without them.
    """
    answer = answer_in_racks(problem, settings, clock, context)
    if not is_bound(problem) or not rules_out(answer, clock):
        return answer
    settings.progress("no design keeps the default rules: looking without some of them")

    def solve(other: Problem) -> Answer:
        return answer_in_racks(other, settings, clock, context.beside())

    best = solve(without_rules(problem))
    if not best.has_design:
        return best
    try:
        for part in tuple(parts_given_up(best.problem)):
            with clock.bounded():
                best = _with_part(best, part, solve)
    except StoppedError:
        return best
    return best


def relaxed(problem: Problem, settings: Settings, clock: Clock, context: Context) -> Problem | None:
    """The problem bound to as much of the rules as some design keeps; None if it has none that is bound to less.

    Raises ``StoppedError`` if time runs out.
    """
    if not is_bound(problem) and not parts_to_give_up(problem):
        return None
    answer = best_answer(problem, settings, clock, context)
    if clock.is_over():
        raise StoppedError
    return answer.problem if answer.has_design and answer.problem is not problem else None


def _with_part(best: Answer, part: RulePart, solve: Solve) -> Answer:
    """The answer with one more part of the rule, if there is one: itself where its design keeps it already."""
    problem = taken_up(best.problem, part)
    if len(problem.stages) == 1 and _keeps(problem.fabrics[part.fabric], best.picked[part.fabric][0], part.rule):
        return Answer(problem, best.optimum, best.ratio, best.context)
    answer = solve(problem)
    return answer if answer.has_design else best


def _keeps(fabric: FabricProblem, candidate: Candidate, rule: str) -> bool:
    """Whether a candidate keeps a rule, or has nothing to which it applies."""
    if rule == NIC_PAIRING:
        return candidate.design.nic.pairs and all(one.nic is None or one.nic.pairs for one in candidate.equipment)
    if rule == ONE_GENERATION:
        switches: dict[str, Switch] = {tier.role: tier.switch.product for tier in candidate.design.file_part().tiers}
        return fabric.generations is None or fabric.generations.clash(switches) is None
    if rule == SUBNET_MANAGER:
        return candidate.design.protocol != INFINIBAND
    return standing(rule, candidate.design).kept is not False
