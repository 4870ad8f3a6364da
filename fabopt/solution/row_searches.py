"""The searches for rows of what else there is: all together do as much as the one for the answer, and a little.

What they do is counted, by the bounds that are held against a cutoff, and not clocked: equal inputs have equal rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from math import inf

from fabopt.problem.other_choices import with_equal_groups
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.topology.family import Restriction

# What all rows may do beside as much as the answer took: about two seconds. On a floor, and of several fabrics, what is
# counted takes two to three times as long.
BESIDE_THE_ANSWER = 42_500
BESIDE_SLOWER_ONES = 37_000
# What each row may do of its own for each fabric; that for half the switches may do more: of designs with few of them
# the cheapest is met late.
LEAST_OF_ROW = 500
OF_FEWER_SWITCHES = 3_000
# The share of what is left that each row may do besides. Those of other kinds are of designs that cost more; of rails,
# which come last of the settings, there are the most designs.
ALL = Fraction(1)
SHARE = Fraction(1, 3)
SHARE_OF_RAILS = Fraction(4, 5)
SHARE_OF_KINDS = Fraction(1, 5)
# Where the answer took more, the likeliest designs of a row are looked at first: those with equal groups, and of each
# block (NIC, leaf, use of its cages) so many batches of the sizes with the lowest bounds. The rest of its space has a
# share of what is left. Of several fabrics those that a row leaves as they are would be searched anew.
MUCH = 2_000
PATIENCE = 60
SHARE_OF_REST = Fraction(1, 10)


class RowSearches:
    """Searches beside an answer, and what is left for them to do."""

    def __init__(
        self, problem: Problem, settings: Settings, clock: Clock, share: Fraction = ALL, left: int | None = None
    ) -> None:
        """``settings``: with the work that the answer took; ``left``: what all rows may do beside what is their own,
        None: about as much as the answer took. ``share``: of that what these may do.
        """
        self.settings = settings.quiet
        self.clock = clock
        self.work = settings.work
        self.is_large = self.work.done > MUCH
        beside = BESIDE_THE_ANSWER if self._is_quick(problem) else BESIDE_SLOWER_ONES
        self.left = int(share * (self.work.done + beside if left is None else left))
        self.least = LEAST_OF_ROW * len(problem.fabrics)

    @property
    def hasty(self) -> Settings:
        """Settings of a search for the likeliest designs, where the answer took much."""
        return replace(self.settings, patience=PATIENCE) if self.is_large else self.settings

    def likeliest(self, problem: Problem) -> Problem:
        """The part of a space in which a hasty search looks: that of equal leaf groups, without a floor."""
        if not self._looks_twice(problem):
            return problem
        return replace(problem, fabrics=tuple(map(with_equal_groups, problem.fabrics)))

    def _looks_twice(self, problem: Problem) -> bool:
        return self.is_large and self._is_quick(problem)

    @staticmethod
    def _is_quick(problem: Problem) -> bool:
        """Whether bounds are quick to work out: of one fabric, without a floor."""
        return problem.site.runs_are_alike and len(problem.fabrics) == 1

    def best(
        self,
        problem: Problem,
        restrictions: Mapping[str, Restriction],
        context: Context,
        near: int | None = None,
        lower_than: int | None = None,
        share: Fraction = SHARE,
        ties: bool = True,
    ) -> Optimum:
        """The best design of a part of a space, as far as a row's share of the work goes; the rest as ``Search``."""
        with self.of_row(share):
            return self._looked_at(problem, restrictions, context, near, lower_than, ties)

    def _looked_at(
        self,
        problem: Problem,
        restrictions: Mapping[str, Restriction],
        context: Context,
        near: int | None,
        lower_than: int | None,
        ties: bool,
    ) -> Optimum:
        """The likeliest designs first, then all below what that met."""

        def search(part: Problem, settings: Settings, least: int | None) -> Optimum:
            of_part = part, settings, self.clock, restrictions, near
            return search_of(*of_part, context=context, lower_than=least).run(ties)

        if not self._looks_twice(problem):
            return search(problem, self.settings, lower_than)
        before, most = self.work.done, self.work.most
        likely = search(self.likeliest(problem), self.hasty, lower_than)
        left = self.left - (self.work.done - before)
        self.work.most = min(most, self.work.done + self.least + int(max(0, left) * SHARE_OF_REST))
        if likely.value is None:
            return search(problem, self.settings, lower_than)
        return self._better(likely, search(problem, self.settings, likely.value))

    @contextmanager
    def of_row(self, share: Fraction = SHARE, more: int = 0) -> Iterator[None]:
        """Within, searches are for one row: they end once it has done its share, and so much ``more``."""
        before, own = self.work.done, self.least + more
        self.work.most = before + more + self.allowed(share)
        try:
            yield
        finally:
            self.left -= max(0, min(self.left, self.work.done - before - own))
            self.work.most = inf

    def allowed(self, share: Fraction) -> int:
        """What the next row may do, whatever it is about."""
        return self.least + int(self.left * share)

    @staticmethod
    def _better(known: Optimum, lower: Optimum) -> Optimum:
        """Of the best design of a part and of what a search for a lower one met in all: the better one."""
        assert known.value is not None
        if lower.value is not None and lower.value < known.value:
            return lower
        if lower.has_none_below(known.value):
            return replace(known, verdict="optimal", bound=known.value)
        return replace(known, verdict="feasible", bound=lower.bound)
