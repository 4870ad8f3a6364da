"""The problem of a case without rules of whose parts are used, to say what each of them costs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.schema.case import Case
from fabopt.search.answer import Answer

# What alternatives without such a rule are called.
SOURCING = "sourcing"
_LISTS = ("approved_asics", "forbidden_asics", "qualified")
_BY_PLACE = ("approved_vendors", "forbidden_vendors")
_COUNTED = ("max_vendors", "min_sources", "single_vendor", "quarterly_supply")


class SourcingRule(NamedTuple):
    """A rule of vendors, ASICs, supply or pairs: its key of ``procurement``, and its place there if it is by place."""

    key: str
    place: str | None = None

    @property
    def name(self) -> str:
        """The path of its key in a case."""
        return ".".join(("procurement", self.key, *([] if self.place is None else [self.place])))


def sourcing_rules(case: Case) -> list[SourcingRule]:
    """All rules of whose parts a case uses."""
    rules: list[SourcingRule] = []
    for key in (*_LISTS, *_BY_PLACE, *_COUNTED):
        given = getattr(case.procurement, key)
        if isinstance(given, dict) and key not in _LISTS:
            rules += [SourcingRule(key, place) for place in given]
        elif given is not None:
            rules.append(SourcingRule(key))
    return rules


def without_sources(answer: Answer, rules: Iterable[SourcingRule]) -> Problem:
    """The problem of an answer without some of these rules."""
    problem = answer.problem
    return bound_alike(problem_of(reduce(_without, rules, problem.case), problem.catalog), problem)


def _without(case: Case, rule: SourcingRule) -> Case:
    kept = None
    if rule.place is not None:
        given = getattr(case.procurement, rule.key)
        others = {place: value for place, value in given.items() if place != rule.place}
        kept = others or ({} if rule.key in _COUNTED else None)
    return case.model_copy(update={"procurement": case.procurement.model_copy(update={rule.key: kept})})
