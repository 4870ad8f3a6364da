"""Upper bounds of each item's units over a program's candidates, in all and from one stage to another.

The bounds of the variables of orders follow from these: no design that the program can build uses more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from fabopt.parts.items import Item
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate, Choice, by_fabric
from fabopt.units import largest, summed


def most_used(problem: Problem, candidates: Sequence[Candidate]) -> dict[Item, int]:
    """Upper bounds of the units of each item in use: over fabrics the sum, over candidates the most."""
    total = summed(
        (item, count)
        for of_fabric in by_fabric(candidates).values()
        for item, count in largest(_used(of_fabric.values())).items()
    )
    server = problem.server_item
    if server is not None:
        total[server] = total.get(server, 0) + sum(problem.server_adds)
    return total


def _used(candidates: Iterable[Candidate]) -> Iterator[tuple[Item, int]]:
    """The most units of each item in each of the candidates of a fabric."""
    of_unit: dict[Hashable, Mapping[Item, int]] = {}
    for candidate in candidates:
        used = Counter(candidate.fixed)
        for choice in candidate.choices:
            if choice.key not in of_unit:
                of_unit[choice.key] = largest(pair for option in choice.options for pair in option.items.items())
            for item, count in of_unit[choice.key].items():
                used[item] += count * choice.count
        yield from used.items()


# At [first][last]: most units that these stages and those between add.
Ranges = Sequence[Sequence[int]]


def most_between(problem: Problem, candidates: Sequence[Candidate], items: frozenset[Item]) -> dict[Item, Ranges]:
    """Upper bounds on the units of some items that any design adds from one stage to another."""
    stages = range(len(problem.stages))
    total = {item: [[0 for _ in stages] for _ in stages] for item in items}
    for of_fabric in by_fabric(candidates).values():
        for item, added in _added_by(of_fabric.values(), items, len(stages)).items():
            for first in stages:
                sums = [list(accumulate(row[first:])) for row in added]
                for last in stages[first:]:
                    total[item][first][last] += max(row[last - first] for row in sums)
    server = problem.server_item
    if server is not None and server in total:
        until = [0, *accumulate(problem.server_adds)]
        total[server] = [[max(0, until[last + 1] - until[first]) for last in stages] for first in stages]
    return dict(total)


def _added_by(candidates: Iterable[Candidate], items: frozenset[Item], stages: int) -> dict[Item, set[tuple[int, ...]]]:
    """Most units of some items that each stage adds, once for every distinct candidate of a fabric."""
    added_by: dict[Item, set[tuple[int, ...]]] = {}
    of_unit: dict[Hashable, dict[tuple[int, Item], int]] = {}
    for candidate in candidates:
        added: dict[Item, list[int]] = {}
        for (stage, item), count in candidate.devices.items():
            if item in items:
                added.setdefault(item, [0] * stages)[stage] += count
        for choice in candidate.choices:
            if choice.key not in of_unit:
                of_unit[choice.key] = _most_at_stages(choice, items)
            for (stage, item), count in of_unit[choice.key].items():
                added.setdefault(item, [0] * stages)[stage] += count * choice.count
        for item, counts in added.items():
            added_by.setdefault(item, set()).add(tuple(counts))
    return added_by


def _most_at_stages(choice: Choice, items: frozenset[Item]) -> dict[tuple[int, Item], int]:
    uses = (pair for option in choice.options for pair in option.uses.items())
    return largest((key, count) for key, count in uses if key[1] in items)
