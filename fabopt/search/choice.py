"""The choice of search for a problem, by its site."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from fabopt.problem.problem import Problem
from fabopt.problem.site import Method
from fabopt.program.settings import Clock, Settings
from fabopt.search.context import Context
from fabopt.search.search import Search
from fabopt.topology.family import Restriction


@cache
def _kind_of(method: Method) -> type[Search]:
    """The kind of search; what places switches on a floor is imported where one is searched."""
    if method == "sizes":
        return Search
    from fabopt.search.floor.search import EstimateSearch, FloorSearch, PlaceSearch

    return {"places": PlaceSearch, "layouts": FloorSearch, "estimates": EstimateSearch}[method]


def search_of(
    problem: Problem,
    settings: Settings,
    clock: Clock,
    restrictions: Mapping[str, Restriction] | None = None,
    known_value: int | None = None,
    context: Context | None = None,
    lower_than: int | None = None,
) -> Search:
    """The search for a problem, or for a restricted part of its space; keys as those of ``Search``."""
    kind = _kind_of(problem.site.method)
    return kind(problem, settings, clock, restrictions, known_value, context, lower_than)
