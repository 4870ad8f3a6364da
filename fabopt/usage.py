"""How much of each item some candidates can take at the most."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from fabopt.goods import Item
from fabopt.problem import Problem
from fabopt.topology.candidate import Candidate, Choice


def most_used(problem: Problem, candidates: Sequence[Candidate]) -> dict[Item, int]:
    """An upper bound on the use of each item: over fabrics the sum, over candidates the most."""
    total: dict[Item, int] = {}
    for fabric in dict.fromkeys(candidate.fabric for candidate in candidates):
        mine = [candidate for candidate in candidates if candidate.fabric == fabric]
        for item, count in _most_of_any(mine).items():
            total[item] = total.get(item, 0) + count
    server = problem.server_item
    if server is not None:
        total[server] = total.get(server, 0) + problem.servers
    return total


def _most_of_any(candidates: Sequence[Candidate]) -> dict[Item, int]:
    """The most of each item that any of the candidates of a fabric takes."""
    most: dict[Item, int] = {}
    units: dict[Hashable, Mapping[Item, int]] = {}
    for candidate in candidates:
        mine = dict(candidate.fixed)
        for choice in candidate.choices:
            if choice.key not in units:
                units[choice.key] = _most_of_a_unit(choice)
            for item, count in units[choice.key].items():
                mine[item] = mine.get(item, 0) + count * choice.count
        for item, count in mine.items():
            most[item] = max(most.get(item, 0), count)
    return most


def _most_of_a_unit(choice: Choice) -> dict[Item, int]:
    each: dict[Item, int] = {}
    for option in choice.options:
        for item, count in option.items.items():
            each[item] = max(each.get(item, 0), count)
    return each
