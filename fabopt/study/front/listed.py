"""The whole front of two sums, listed: designs that could be on it, and all mixes of their links.

Where every unit of an item costs, uses and counts the same, a design's metrics are sums over its devices and units of
links. Between two known neighbours, a point of the front is in the corner that they make; so it is below that corner by
any weights of the two sums. Every candidate whose least is below the highest corner is expanded (``Search.below``), and
all its undominated mixes are listed (``fabopt.study.front.mixes``). Ends far apart are first parted where a design lies
below the line between them, so that corners are low. This is the two-phase method: E. Ulungu, J. Teghem, *The two
phases method*, Foundations of Computing and Decision Sciences 20 (1995).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import NamedTuple, overload

import numpy as np

from fabopt.parts.finance import Weights, weights_of
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Picked, energy_of, order_of, stage_uses
from fabopt.program.settings import StoppedError
from fabopt.rules.limits import SPENDING_LIMITS
from fabopt.search.coefficients import tolerance
from fabopt.study.front.finder import Finder, GradedDesign, asked
from fabopt.study.front.measures import Measure, grades
from fabopt.study.front.mixes import Ints, JointCandidate, Mixes, TradedSums, joint_candidates, mixes_of, undominated
from fabopt.topology.candidate import Candidate
from fabopt.units import rounded, some

SUMS = {"capex_usd", "tco_usd", "power_w", "rack_units", "switches", "cables"}


def can_be_listed(problem: Problem, first: Measure, second: Measure) -> bool:
    """Whether both are sums to which every unit of an item adds the same, and no other limit binds mixes."""
    traded = {first.name, second.name}
    limited = {limit.metric for limit in SPENDING_LIMITS if limit.of(problem.limits) is not None}
    plain = problem.prunes and problem.site.runs_are_alike and not any(stage.limits.are_set for stage in problem.stages)
    plain = plain and not problem.limits.periods and not (problem.labour.open_visits or problem.labour.in_service)
    priced = traded != {"capex_usd", "tco_usd"} or all(
        offer.cents == offer.present for item in problem.item_table.items for offer in item.offers
    )
    return plain and priced and traded <= SUMS and limited <= traded | {"rack_units"}


def weighed(problem: Problem, first: Measure, second: Measure, weights: tuple[int, int]) -> Weights:
    """Weights of a search that minimizes a weighted sum of the two metrics; ``weights``: of the first and
    the second.
    """
    both = [weights_of(measure.name, problem.energy_cents_per_mw) for measure in (first, second)]

    def of(values: Sequence[int]) -> int:
        return sum(weight * value for weight, value in zip(weights, values, strict=True))

    paid = any(alone.energy for alone in both)
    stages = range(len(problem.stages)) if paid else ()
    return Weights(
        of([alone.per_cent for alone in both]),
        0 if paid else of([alone.per_mw for alone in both]),
        of([alone.per_unit for alone in both]),
        1,
        tuple(of([alone.of_mw(stage) for alone in both]) for stage in stages),
        of([alone.per_switch for alone in both]),
        of([alone.per_cable for alone in both]),
    )


class Corner(NamedTuple):
    """A point by its two sums."""

    first: int
    second: int


class _Segment(NamedTuple):
    """Two points with no design below the line between them. ``least``: of any design, weighed as the line is."""

    left: Corner
    right: Corner
    least: float


class Listing:
    """The known part of the front of two sums of a problem, and the corners where points may be missing."""

    def __init__(self, finder: Finder, first: Measure, second: Measure) -> None:
        self.finder = finder
        self.problem = finder.problem
        self.traded = (first, second)
        self.sums = TradedSums(self.problem, first.name, second.name)
        self._joint: list[JointCandidate] = []
        # of the mixes of each
        self._part_numbers: list[Ints] = []
        self._seen: set[Hashable] = set()
        self._mixes: dict[Hashable, Mixes] = {}
        # the known front: sums; and of each row the number of its candidates, and the place of its mix
        self._rows: Ints = np.zeros((0, len(self.sums.names)), dtype=np.int64)
        self._from: Ints = np.zeros((0, 2), dtype=np.int64)

    def proven(self) -> Iterator[Listed]:
        """The proven part of the front, in the order of the first sum: no point is missing before its last.

        Raises ``StoppedError`` if the clock stops it, ``TooManyMixesError`` if there is too much to list.
        """
        first, second = self.traded
        ends = [self.finder.best(order, {}) for order in ((first, second), (second, first))]
        designs = [end.optimum.picked for end in ends if end is not None]
        if len(designs) < 2:
            return
        for picked in designs:
            self._add([[candidate] for candidate, _ in picked])
        self._graded = _Grades(self.problem, designs[0], self._sums_of(designs[0]), self.sums.names)
        corners = [Corner(*self._sums_of(picked)[:2]) for picked in designs]
        yield self._listed([corners[0]])
        done = [corners[0]]
        for edge in list(self._edges(*corners)):
            self._fill(edge)
            done.append(edge.right)
            yield self._listed(done)

    def _sums_of(self, picked: Sequence[Picked]) -> list[int]:
        return [sum(column) for column in zip(*(self.sums.of(stage_uses(choice)) for choice in picked), strict=True)]

    # -- points that may be missing ----------------------------------------------------------------------------------

    def _edges(self, left: Corner, right: Corner) -> Iterator[_Segment]:
        """Split the line between two points where a design lies below it, until none does."""
        if left.first >= right.first:
            return
        weights = _line(left, right)
        least, candidates = self._search(left, right, weights, 0.0)
        self._add(candidates)
        inside = (self._rows[:, 0] > left.first) & (self._rows[:, 0] < right.first)
        heights = self._rows[inside, :2].astype(object) @ weights
        if len(heights) and min(heights) < left.first * weights[0] + left.second * weights[1]:
            lowest = self._rows[inside][int(np.argmin(heights))]
            corner = Corner(int(lowest[0]), int(lowest[1]))
            yield from self._edges(left, corner)
            yield from self._edges(corner, right)
        else:
            yield _Segment(left, right, least)

    def _fill(self, edge: _Segment) -> None:
        """Expand all candidates that could have a point between two ends with no design below their line."""
        weights = _line(edge.left, edge.right)
        inside = (self._rows[:, 0] > edge.left.first) & (self._rows[:, 0] < edge.right.first)
        # the ends too if something has come to beat them since: corners are higher with them, never lower
        known = np.vstack([edge.left, self._rows[inside, :2], edge.right])
        corners = np.column_stack([known[1:, 0] - 1, known[:-1, 1] - 1]).astype(object) @ weights
        highest = float(max(corners))
        slack = highest - edge.least + 2 * tolerance(highest)
        if slack > 0:
            self._add(self._search(edge.left, edge.right, weights, slack)[1])

    def _search(
        self, left: Corner, right: Corner, weights: tuple[int, int], slack: float
    ) -> tuple[float, list[list[Candidate]]]:
        """Candidates by fabric within ``slack`` of the least weighed sum, between two points."""
        first, second = self.traded
        self.finder.settings.progress(f"{some(len(self._rows), 'point')} known, looking for more between them")
        demands = {
            first.name: self._graded.grade(first.name, right.first),
            second.name: self._graded.grade(second.name, left.second),
        }
        problem = asked(self.problem, demands)
        assert problem is not None
        problem = replace(problem, weights=weighed(problem, first, second, weights), then=())
        least, candidates = self.finder.search_of(problem).below(slack)
        self.finder.context.forget_bounds()
        if self.finder.clock.is_over():
            raise StoppedError
        return least, [
            [candidate for candidate in candidates if candidate.fabric == fabric.name] for fabric in problem.fabrics
        ]

    # -- known points ----------------------------------------------------------------------------------------

    def _add(self, by_fabric: Sequence[Sequence[Candidate]]) -> None:
        """Add all mixes of some candidates to the known front."""
        fresh: dict[Hashable, list[JointCandidate]] = {}
        for joint in joint_candidates(self.problem, by_fabric, self.sums):
            key = (joint.rank, joint.signature)
            if key not in self._seen:
                self._seen.add(key)
                fresh.setdefault(joint.signature, []).append(joint)
        rows, places = [self._rows], [self._from]
        for signature, alike in fresh.items():
            if signature not in self._mixes:
                self._mixes[signature] = mixes_of(alike[0].kinds(self.sums))
            mixed = np.delete(self._mixes[signature].sums, -2, axis=1)
            for joint in _undominated(alike):
                rows.append(mixed + np.array(joint.fixed, dtype=np.int64))
                places.append(np.column_stack([np.full(len(mixed), len(self._joint)), np.arange(len(mixed))]))
                self._joint.append(joint)
                self._part_numbers.append(joint.part_numbers(self._mixes[signature].units))
        self._keep(np.vstack(rows), np.vstack(places))

    def _keep(self, rows: Ints, places: Ints) -> None:
        """Keep undominated rows; of equal points the first by tie-breakers, then by devices.

        Of equal mixes of one candidate, only the one with the first names is here.
        """
        order = sorted(range(len(self._joint)), key=lambda number: self._joint[number].rank)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        ties = [(*joint.after_capex, *joint.evenness[:2]) for joint in self._joint]
        even = np.array(ties, dtype=np.int64).reshape(-1, 4)[places[:, 0]]
        first_mix = np.cumsum([0, *map(len, self._part_numbers)])[places[:, 0]]
        parts = np.concatenate([np.zeros(0, dtype=np.int64), *self._part_numbers])[first_mix + places[:, 1]]
        kept = undominated(
            np.column_stack([rows[:, :3], even[:, :2], rows[:, 3:-1], even[:, 2:], parts, rank[places[:, 0]]])
        )
        self._rows, self._from = rows[kept], places[kept]

    def _listed(self, corners: Sequence[Corner]) -> Listed:
        """The points up to the last of some corners of the front, each once in grades."""
        rows = np.flatnonzero(self._rows[:, 0] <= corners[-1].first)
        firsts, seconds = (
            self._graded.column(measure.name, self._rows[rows, place]) for place, measure in enumerate(self.traded)
        )
        kept = np.ones(len(rows), dtype=bool)
        kept[:-1] &= firsts[:-1] < firsts[1:]
        kept[1:] &= seconds[1:] < seconds[:-1]
        turns = np.isin(self._rows[rows, 0], [corner.first for corner in corners])
        return Listed(self, rows[kept], np.flatnonzero(turns[kept]), seconds[kept])

    def kinds(self, rows: Ints) -> Ints:
        """The number of the candidates of every row, shape of ``rows``."""
        return np.asarray(self._from[rows, 0])

    def graded(self, row: int) -> GradedDesign:
        """The design of a row."""
        owner, place = self._from[row].tolist()
        joint = self._joint[owner]
        picked = joint.picked(self._mixes[joint.signature].units[place].tolist())
        return GradedDesign(Optimum("optimal", picked), self._graded.all(self._rows[row].tolist(), joint, picked))


class Listed(Sequence[GradedDesign]):
    """Points of a listing, made when they are looked at.

    ``rows``: row of every point in the listing, shape (points,); ``corners``: places where the front turns, shape
    (corners,); ``seconds``: the second sum of every point, shape (points,).
    """

    def __init__(self, listing: Listing, rows: Ints, corners: Ints, seconds: Ints) -> None:
        self._listing = listing
        self._rows = rows
        self._corners = corners
        self._seconds = seconds

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> GradedDesign: ...
    @overload
    def __getitem__(self, place: slice) -> list[GradedDesign]: ...
    def __getitem__(self, place: int | slice) -> GradedDesign | list[GradedDesign]:
        if isinstance(place, slice):
            return [self._listing.graded(int(row)) for row in self._rows[place]]
        return self._listing.graded(int(self._rows[place]))

    def of_each_kind(self) -> list[GradedDesign]:
        """One point of each combination of candidates."""
        kinds = self._listing.kinds(self._rows)
        return [self[int(place)] for place in np.unique(kinds, return_index=True)[1]]

    def spread(self, most: int) -> list[GradedDesign]:
        """The points, at most ``most``: the corners of the front, the others evenly spread over the second sum."""
        if len(self) <= most:
            return self[:]
        wanted = np.linspace(self._seconds[0], self._seconds[-1], most - len(self._corners))
        rising = self._seconds[::-1]
        near = len(self) - 1 - np.searchsorted(rising, wanted).clip(0, len(self) - 1)
        return [self[int(place)] for place in np.union1d(near, self._corners)]


def _line(left: Corner, right: Corner) -> tuple[int, int]:
    """Weights that make two points equal."""
    less, more = left.second - right.second, right.first - left.first
    shared = gcd(less, more)
    return less // shared, more // shared


def _undominated(alike: Sequence[JointCandidate]) -> list[JointCandidate]:
    """Of candidates with links that mix alike, those whose devices are undominated; of equals the first."""
    kept: list[JointCandidate] = []
    for joint in sorted(alike, key=_place):
        if not kept or joint.fixed[1] < kept[-1].fixed[1]:
            kept.append(joint)
    return kept


def _place(joint: JointCandidate) -> tuple[object, ...]:
    return joint.fixed[:3], joint.after_capex, joint.fixed[3:-1], joint.evenness, joint.rank


class _Grades:
    """Grades of rows of sums: fixed parts are added, cents of tco are rounded; rates are those of the devices."""

    def __init__(self, problem: Problem, picked: Sequence[Picked], sums: Sequence[int], names: Sequence[str]) -> None:
        self.problem = problem
        self.names = names
        self.scale = weights_of("tco_usd", problem.energy_cents_per_mw).scale
        known = grades(problem, picked)
        exact = order_of(problem, picked).cents(None, True) + energy_of(problem, picked)
        self._added: dict[str, Fraction | int] = {
            name: (exact * self.scale if name == "tco_usd" else known[name]) - value
            for name, value in zip(names, sums, strict=True)
        }
        self._rates: dict[JointCandidate, Mapping[str, int]] = {}

    def column(self, name: str, values: Ints) -> Ints:
        """Grades of many sums."""
        whole = values + int(self._added[name])
        return (2 * whole + self.scale) // (2 * self.scale) if name == "tco_usd" else whole

    def grade(self, name: str, value: int) -> int:
        """The grade of a sum."""
        whole = value + self._added[name]
        return rounded(Fraction(whole, self.scale)) if name == "tco_usd" else int(whole)

    def all(self, row: Sequence[int], joint: JointCandidate, picked: Sequence[Picked]) -> dict[str, int]:
        """Every metric of a design."""
        if joint not in self._rates:
            self._rates[joint] = grades(self.problem, picked)
        grades_of_sums = {name: self.grade(name, value) for name, value in zip(self.names, row, strict=True)}
        return {**self._rates[joint], **grades_of_sums}
