"""The problem of a case without each of its rules of whose parts are used, to say what the rule costs."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.problem.other_choices import with_one_product
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.schema.case import Case
from fabopt.schema.default_rules import INTERCHANGEABLE
from fabopt.search.answer import Answer

# What alternatives without such a rule are called.
SOURCING = "sourcing"
_LISTS = ("approved_asics", "forbidden_asics", "qualified")
_BY_PLACE = ("approved_vendors", "forbidden_vendors")
_COUNTED = ("max_vendors", "min_sources", "single_vendor", "quarterly_supply")


def without_sources(answer: Answer) -> Iterator[tuple[str, Problem]]:
    """Every rule of vendors, ASICs, supply and pairs, by its key, or key and place; the problem without it.

    Rule ``switches_are_interchangeable`` too, where switches of the answer stand in for others.
    """
    problem = answer.problem
    if any(candidate.stand_ins for candidate, _ in answer.picked):
        yield f"rules.{INTERCHANGEABLE}", with_one_product(problem)
    for key, case in _cases(problem.case):
        yield f"procurement.{key}", bound_alike(problem_of(case, problem.catalog), problem)


def _cases(case: Case) -> Iterator[tuple[str, Case]]:
    rules = case.procurement
    for key in (*_LISTS, *_BY_PLACE, *_COUNTED):
        given = getattr(rules, key)
        if isinstance(given, dict) and key not in _LISTS:
            for place in given:
                others = {name: value for name, value in given.items() if name != place}
                yield f"{key}.{place}", _with(case, key, others or ({} if key in _COUNTED else None))
        elif given is not None:
            yield key, _with(case, key, None)


def _with(case: Case, key: str, value: object) -> Case:
    return case.model_copy(update={"procurement": case.procurement.model_copy(update={key: value})})
