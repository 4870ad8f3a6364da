"""The default rule of racks in a problem: keys of it can be given up, where no design keeps them."""

from __future__ import annotations

from dataclasses import replace

from fabopt.floor.rack_rules import parts_of, rule_of, without_parts
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.schema.default_rules import is_asked_for
from fabopt.schema.resilience import FEED, survives_loss_of


def parts_to_give_up(problem: Problem) -> tuple[str, ...]:
    """Keys of the rule that hold and that the case does not ask for by the name of the rule.

    Nor the power that one of two feeds gives, where a fabric has to do with one. Rule ``feeds_carry_racks``.
    """
    case = problem.case
    on_one_feed = any(survives_loss_of(case.resilience_of(fabric), FEED) for fabric in case.fabrics)
    keys = tuple(key for key in parts_of(case) if not is_asked_for(case.rules, rule_of(key)))
    return tuple(key for key in keys if key != "power" or not on_one_feed)


def without_rack_parts(problem: Problem, keys: tuple[str, ...]) -> Problem:
    """The problem of the same case with some keys of the rule turned off."""
    case = without_parts(problem.case, keys)
    other = bound_alike(problem_of(case, problem.catalog, offering=problem.offering), problem)
    asked, site = without_parts(problem.asked, keys), other.site.searched_by(problem.site.method)
    return replace(problem, asked=asked, case=other.case, site=site, fabrics=other.fabrics)
