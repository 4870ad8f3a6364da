"""The choice of search for a problem, by its site."""

from __future__ import annotations

from collections.abc import Mapping

from fabopt.problem.problem import Problem
from fabopt.problem.site import Method
from fabopt.program.settings import Clock, Settings
from fabopt.search.context import Context
from fabopt.search.floor.search import EstimateSearch, FloorSearch, PlaceSearch
from fabopt.search.search import Search
from fabopt.topology.family import Restriction

_SEARCHES: Mapping[Method, type[Search]] = {
    search.method: search for search in (Search, PlaceSearch, FloorSearch, EstimateSearch)
}


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
    return _SEARCHES[problem.site.method](problem, settings, clock, restrictions, known_value, context, lower_than)
