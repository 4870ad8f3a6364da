"""The mixes of parts for the links of one design, where two sums are traded: which parts on how many links.

Links come in kinds of ``count`` equal units, each made by one option (see ``fabopt.topology.candidate.Choice``). The
sums of a mix of options add up over units, so the lower hull of all mixes is known at once: from every unit at its
least of the first sum, units of one kind after the other are swapped for the next option, the cheapest swap first. All
swaps of one kind lie on one edge of the hull, one step after the other. A mix that beats, or fits between, two steps is
above the edge by less than the corner between these steps; all such mixes are listed, and dominated ones are dropped.

Candidates of all fabrics together as rows of sums: those of their devices, and links whose parts are still open.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, reduce
from itertools import chain, pairwise, product
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.finance import weights_of
from fabopt.parts.items import Item
from fabopt.problem.problem import Problem, of_item
from fabopt.program.formulation import PART_KINDS
from fabopt.program.orders import Picked
from fabopt.topology.candidate import Candidate, Choice, Option, Uses
from fabopt.units import grouped

Ints = NDArray[np.int64]
# Rows of one step of the work; more than that is left to the slower way of looking for points one by one.
MOST_ROWS = 4_000_000
MOST_SUM = 2**62


class TooManyMixesError(Exception):
    """There are too many ways to mix parts, or too large sums, to list them."""


class Mixes(NamedTuple):
    """Mixes, one a row. ``sums``: their sums, shape (rows, sums); ``units``: of every option of every kind."""

    sums: Ints
    units: Ints


@dataclass(frozen=True, eq=False)
class EqualLinks:
    """``count`` equal units of links. ``per_unit``: sums of a unit by option, shape (options, sums)."""

    count: int
    per_unit: Ints


class _Swaps(NamedTuple):
    """Swaps of one kind, from an option to the next of the hull.

    ``step``: change of the two traded sums by one swap.
    """

    kind: int
    option: int
    step: tuple[int, int]

    @property
    def slope(self) -> Fraction:
        """The cost in the first sum of one less of the second."""
        return Fraction(self.step[0], -self.step[1])


class _Near(NamedTuple):
    """Mixes of some kinds, and their weight above the lightest."""

    sums: Ints
    units: Ints
    excess: Ints


def undominated(sums: Ints) -> Ints:
    """Rows of ``sums``, shape (mixes, sums), that no other beats in the first two sums, in rising order of the first.

    Of equal rows the one with the least other sums is taken; the result has shape (rows kept,).
    """
    order = np.lexsort(sums.T[::-1])
    second = sums[order, 1]
    kept = np.ones(len(order), dtype=bool)
    kept[1:] = second[1:] < np.minimum.accumulate(second)[:-1]
    return np.asarray(order[kept])


def mixes_of(kinds: Sequence[EqualLinks]) -> Mixes:
    """The undominated mixes of all kinds of links. Raises ``TooManyMixesError``."""
    if sum(kind.count * int(np.abs(kind.per_unit).max(initial=0)) for kind in kinds) > MOST_SUM:
        raise TooManyMixesError
    work = _Mixing(kinds)
    chosen = [useful[0] for useful in work.useful]
    corner = work.all_of(chosen)
    mixes = [corner]
    for edge in sorted(work.edges(), key=lambda swaps: swaps.slope):
        chosen[edge.kind] = edge.option
        next_corner = work.all_of(chosen)
        mixes += [next_corner, work.along(edge, int(corner.sums[0, 0]), int(next_corner.sums[0, 0]))]
        corner = next_corner
    sums, units = np.vstack([mix.sums for mix in mixes]), np.vstack([mix.units for mix in mixes])
    rows = undominated(sums)
    return Mixes(sums[rows], units[rows])


class _Mixing:
    """Kinds of links with their useful options, and their columns in a row of units."""

    def __init__(self, kinds: Sequence[EqualLinks]) -> None:
        self.kinds = kinds
        self.first = np.cumsum([0, *(len(kind.per_unit) for kind in kinds)]).tolist()
        # options that no other beats: in no mix would another one do worse
        self.useful = [undominated(kind.per_unit).tolist() for kind in kinds]

    def edges(self) -> Iterator[_Swaps]:
        """The lower hull of the options of every kind."""
        for number, (kind, useful) in enumerate(zip(self.kinds, self.useful, strict=True)):
            options = {tuple(kind.per_unit[option, :2].tolist()): option for option in useful}
            for before, after in pairwise(lower_hull(list(options))):
                step = (after[0] - before[0], after[1] - before[1])
                yield _Swaps(number, options[after], step)

    def all_of(self, options: Sequence[int]) -> Mixes:
        """A mix of one option for all units of every kind."""
        units = np.zeros((1, self.first[-1]), dtype=np.int64)
        sums = np.zeros((1, self.kinds[0].per_unit.shape[1]), dtype=np.int64)
        for kind, first, option in zip(self.kinds, self.first, options, strict=False):
            units[0, first + option] = kind.count
            sums += kind.count * kind.per_unit[option]
        return Mixes(sums, units)

    def along(self, edge: _Swaps, least: int, most: int) -> Mixes:
        """The mixes near an edge that may be undominated, the first sum being between its ends."""
        dearer, less = edge.step[0], -edge.step[1]
        shared = gcd(dearer, less)
        weights = (less // shared, dearer // shared)
        # the corner between a step and the next one is (dearer - 1, -1) from the first of them
        above = max(0, weights[0] * (dearer - 1) - weights[1])
        near = [self._near(number, weights, above) for number in range(len(self.kinds))]
        near.sort(key=lambda mixes: len(mixes.excess))
        sums, units, _ = reduce(partial(_joined, above=above), near)
        kept = (sums[:, 0] >= least) & (sums[:, 0] <= most)
        return Mixes(sums[kept], units[kept])

    def _near(self, number: int, weights: tuple[int, int], above: int) -> _Near:
        """Mixes of one kind whose weight is at most ``above`` that of its lightest."""
        kind, first = self.kinds[number], self.first[number]
        weighed = [(weights[0] * f + weights[1] * h, option) for option in self.useful[number]
                   for f, h in [kind.per_unit[option, :2].tolist()]]  # fmt: skip
        lightest, rest = min(weighed)
        units = np.zeros((1, self.first[-1]), dtype=np.int64)
        excess = np.zeros(1, dtype=np.int64)
        for weight, option in sorted(weighed, reverse=True):
            over = weight - lightest
            if option != rest and over <= above:
                most = kind.count if over == 0 else min(kind.count, above // over)
                units, excess = _with_more(units, excess, first + option, over, most)
                kept = (units.sum(axis=1) <= kind.count) & (excess <= above)
                units, excess = units[kept], excess[kept]
        units[:, first + rest] = kind.count - units.sum(axis=1)
        sums = units[:, first : self.first[number + 1]] @ kind.per_unit
        return _thinned(_Near(sums, units, excess))


def lower_hull(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Corners of the lower hull of points that rise in the first number and fall in the second."""
    hull: list[tuple[int, int]] = []
    for point in points:
        while len(hull) > 1 and not _is_corner(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _is_corner(first: tuple[int, int], second: tuple[int, int], third: tuple[int, int]) -> bool:
    """Whether the second of three points is below the line between the others."""
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0]) > 0


def _with_more(units: Ints, excess: Ints, place: int, over: int, most: int) -> tuple[Ints, Ints]:
    """Every row with 0, 1, ... units of one more option; ``over``: excess weight of a unit."""
    if len(units) * (most + 1) > MOST_ROWS or most * over > MOST_SUM:
        raise TooManyMixesError
    number = np.tile(np.arange(most + 1, dtype=np.int64), len(units))
    units, excess = np.repeat(units, most + 1, axis=0), np.repeat(excess, most + 1) + number * over
    units[:, place] = number
    return units, excess


def _joined(mixes: _Near, other: _Near, above: int) -> _Near:
    """Every mix of some kinds with every mix of another one, without dominated mixes and those too heavy."""
    if len(mixes.excess) * len(other.excess) > MOST_ROWS:
        raise TooManyMixesError
    excess = np.add.outer(mixes.excess, other.excess)
    row, other_row = np.nonzero(excess <= above)
    return _thinned(
        _Near(
            mixes.sums[row] + other.sums[other_row], mixes.units[row] + other.units[other_row], excess[row, other_row]
        )
    )


def _thinned(near: _Near) -> _Near:
    rows = undominated(near.sums)
    return _Near(near.sums[rows], near.units[rows], near.excess[rows])


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
