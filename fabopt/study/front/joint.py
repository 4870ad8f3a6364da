"""Candidates of all fabrics together as rows of sums: those of their devices, and links whose parts are still open."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fabopt.parts.finance import weights_of
from fabopt.parts.items import Item
from fabopt.problem.problem import Problem, of_item
from fabopt.program.formulation import PART_KINDS
from fabopt.program.orders import Picked
from fabopt.study.front.mixes import MOST_SUM, EqualLinks, Ints, TooManyMixesError
from fabopt.topology.candidate import Candidate, Choice, Option, Uses
from fabopt.units import grouped

# What breaks ties between points with the same two sums, in the order of docs/formulation/search.md, where last groups
# of their own come after the first; then designs, then parts.
TIES = ("capex_usd", "power_w", "rack_units", "switches", "cables")
TCO = "tco_usd"
# Designs of all fabrics together that are looked at at once; more are found one by one.
MOST_TOGETHER = 50_000


class TradedSums:
    """Sums over uses of items: the two that are traded, then those that break ties, then tco."""

    def __init__(self, problem: Problem, first: str, second: str) -> None:
        self.names = (first, second, *TIES, TCO)
        self._weights = [weights_of(name, problem.energy_cents_per_mw) for name in self.names]
        self._known: dict[tuple[int, Item], list[int]] = {}

    def of(self, uses: Uses) -> list[int]:
        """The sums of some uses. Raises ``TooManyMixesError`` where they are too large for an array."""
        total = [0] * len(self.names)
        for key, count in uses.items():
            for place, of_unit in enumerate(self._of_item(key)):
                total[place] += count * of_unit
        if max(map(abs, total)) > MOST_SUM:
            raise TooManyMixesError
        return total

    def _of_item(self, key: tuple[int, Item]) -> list[int]:
        if key not in self._known:
            stage, item = key
            self._known[key] = [
                weights.per_cent * (item.cost(stage, 1, is_worth) + item.work_cents(stage, is_worth))
                + of_item(weights, stage, item)
                for weights in self._weights
                for is_worth in (bool(weights.energy),)
            ]
        return self._known[key]


class LinkChoices(NamedTuple):
    """Equal units of links of a fabric, each made by one of some options. ``key``: equal where options are equal."""

    fabric: int
    key: Hashable
    number: int
    options: tuple[Option, ...]


@dataclass(frozen=True, eq=False)
class JointCandidate:
    """A candidate for every fabric. ``fixed``: sums of their devices."""

    candidates: tuple[Candidate, ...]
    links: tuple[LinkChoices, ...]
    fixed: tuple[int, ...]

    @cached_property
    def rank(self) -> tuple[Any, ...]:
        """A tie-breaking key: of two with equal sums the lower one is taken."""
        return tuple(candidate.order for candidate in self.candidates)

    @cached_property
    def after_capex(self) -> tuple[int, int]:
        """Tie-breakers after capex: bandwidth lost without a switch, and last groups unlike the others."""
        pairs = [(candidate.evenness.lacking_mbps, candidate.evenness.own_last) for candidate in self.candidates]
        return sum(lacking for lacking, _ in pairs), sum(own_last for _, own_last in pairs)

    @cached_property
    def evenness(self) -> tuple[int, int, int]:
        """Tie-breakers of devices where sums are equal: spread of groups, racks cut, part numbers."""
        spread = sum(candidate.evenness.spread for candidate in self.candidates)
        cut_racks = sum(candidate.evenness.cut_racks for candidate in self.candidates)
        return spread, cut_racks, len(_part_numbers(candidate.devices for candidate in self.candidates))

    def part_numbers(self, units: Ints) -> Ints:
        """Part numbers of a design, shape (mixes,), by its units of every option, shape (mixes, options)."""
        columns = grouped(
            (item, column)
            for column, option in enumerate(chain.from_iterable(links.options for links in self.links))
            for item in _part_numbers([option.uses])
        )
        used = [(units[:, places] > 0).any(axis=1) for places in columns.values()]
        of_devices = self.evenness[-1]
        return of_devices + np.sum(used, axis=0, dtype=np.int64) + np.zeros(len(units), dtype=np.int64)

    @property
    def signature(self) -> Hashable:
        """Equal for candidates whose links can be mixed in the same ways."""
        return tuple((links.fabric, links.key, links.number) for links in self.links)

    def kinds(self, sums: TradedSums) -> list[EqualLinks]:
        """Sums of a unit of each kind of links by option; before tco the rank of the option by its name."""
        names = sorted({option.name for links in self.links for option in links.options})
        rank = {name: number for number, name in enumerate(names)}
        kinds = []
        for links in self.links:
            rows = [sums.of(option.uses) for option in links.options]
            ranked = [[*row[:-1], rank[option.name], row[-1]] for row, option in zip(rows, links.options, strict=True)]
            kinds.append(EqualLinks(links.number, np.array(ranked, dtype=np.int64)))
        return kinds

    def picked(self, units: Sequence[int]) -> list[Picked]:
        """The candidates with their links' options; ``units``: of every option of all links, in turn."""
        by_fabric: list[list[tuple[Option, int]]] = [[] for _ in self.candidates]
        left = iter(units)
        for links in self.links:
            for option in links.options:
                count = int(next(left))
                if count:
                    by_fabric[links.fabric].append((option, count))
        return list(zip(self.candidates, by_fabric, strict=True))


def _part_numbers(uses: Iterable[Uses]) -> set[Item]:
    return {item for used in uses for _, item in used if item.kind in PART_KINDS}


def joint_candidates(
    problem: Problem, by_fabric: Sequence[Sequence[Candidate]], sums: TradedSums
) -> Iterator[JointCandidate]:
    """Every way to take one candidate of each fabric within NIC slots and rack units."""
    if prod(map(len, by_fabric)) > MOST_TOGETHER:
        raise TooManyMixesError
    with_sums = [
        [(candidate, sums.of(candidate.devices), candidate.nic_slots) for candidate in some] for some in by_fabric
    ]
    racks = sums.names.index("rack_units")
    for together in product(*with_sums):
        fixed = tuple(map(sum, zip(*(row for _, row, _ in together), strict=True)))
        most = problem.limits.rack_milliunits
        if (most is not None and fixed[racks] > most) or sum(slots for *_, slots in together) > problem.nic_slots:
            continue
        candidates = tuple(candidate for candidate, *_ in together)
        for links in product(*(_links(number, candidate) for number, candidate in enumerate(candidates))):
            yield JointCandidate(candidates, tuple(chain.from_iterable(links)), fixed)


def _links(fabric: int, candidate: Candidate) -> Iterator[tuple[LinkChoices, ...]]:
    """The links of a candidate; once for each choice between clashing cables, which is then fixed."""
    choices = _merged(candidate)
    clashing = dict.fromkeys(key for clash in candidate.clashes for key, _ in clash)
    barred = {frozenset(clash) for clash in candidate.clashes}
    for places in product(*(range(len(choices[key].options)) for key in clashing)):
        taken = dict(zip(clashing, places, strict=True))
        if not any(pair <= set(taken.items()) for pair in barred):
            yield tuple(_link(fabric, choice, taken) for choice in choices.values())


def _merged(candidate: Candidate) -> Mapping[Hashable, Choice]:
    """Choices by key, their counts added."""
    merged: dict[Hashable, Choice] = {}
    for choice in candidate.choices:
        count = choice.count + (merged[choice.key].count if choice.key in merged else 0)
        merged[choice.key] = Choice(choice.key, count, choice.options)
    return merged


def _link(fabric: int, choice: Choice, taken: Mapping[Hashable, int]) -> LinkChoices:
    if choice.key not in taken:
        return LinkChoices(fabric, choice.key, choice.count, choice.options)
    place = taken[choice.key]
    return LinkChoices(fabric, (choice.key, place), choice.count, (choice.options[place],))
