"""The searches for rows of what else there is: all together do as much as the one for the answer, and a little.

What they do is counted, in batches of bounds held against a cutoff, and not clocked: equal inputs have equal rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import inf

from fabopt.problem.other_choices import with_equal_groups
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.topology.family import Restriction

# What all rows may do beside as much as the answer took: about a second; more where it has three tiers, of which there
# are more designs.
BESIDE_THE_ANSWER = 10_000
BESIDE_THREE_TIERS = 40_000
# What each row may do of its own for each fabric, and the share of what is left that it may do besides, 1 : this; rows
# about default rules, which come early, do less.
LEAST_OF_ROW = 500
# What that for half the switches may do besides: of designs with few of them the cheapest is met late.
OF_FEWER_SWITCHES = 6_000
SHARE = 2
SHARE_OF_RULES = 8
# Where the answer took more, rows of one fabric are looked at with equal groups first, which takes less and meets as
# good designs; of several fabrics those that a row leaves as they are would be searched anew.
MUCH = 1_000


class RowSearches:
    """Searches beside an answer, and what is left for them to do."""

    def __init__(self, settings: Settings, clock: Clock, fabrics: int = 1, tall: bool = False) -> None:
        """``settings``: with the work that the answer took; ``fabrics``: how many each row searches; ``tall``: whether
        the answer has three tiers.
        """
        self.settings = settings.quiet
        self.clock = clock
        self.work = settings.work
        self.is_large = self.work.done > MUCH
        self.left = self.work.done + (BESIDE_THREE_TIERS if tall else BESIDE_THE_ANSWER)
        self.least = LEAST_OF_ROW * fabrics

    def best(
        self,
        problem: Problem,
        restrictions: Mapping[str, Restriction],
        context: Context,
        near: int | None = None,
        lower_than: int | None = None,
        share: int = SHARE,
    ) -> Optimum:
        """The best design of a part of a space, as far as a row's share of the work goes; the rest as ``Search``."""
        with self.of_row(share):
            alike = self._with_equal_groups(problem) if self.is_large and problem.site.runs_are_alike else None
            if alike is not None:
                best = self._search(alike, restrictions, context, near, lower_than)
                if best.value is not None:
                    return self._better(best, self._search(problem, restrictions, context, near, best.value))
            return self._search(problem, restrictions, context, near, lower_than)

    @contextmanager
    def of_row(self, share: int = SHARE, more: int = 0) -> Iterator[None]:
        """Within, searches are for one row: they end once it has done its share, and so much ``more``."""
        before, own = self.work.done, self.least + more
        self.work.most = before + more + self.allowed(share)
        try:
            yield
        finally:
            self.left -= max(0, min(self.left, self.work.done - before - own))
            self.work.most = inf

    def allowed(self, share: int) -> int:
        """What the next row may do, whatever it is about."""
        return self.least + self.left // share

    def _search(
        self,
        problem: Problem,
        restrictions: Mapping[str, Restriction],
        context: Context,
        near: int | None,
        lower_than: int | None,
    ) -> Optimum:
        search = search_of(
            problem, self.settings, self.clock, restrictions, near, context=context, lower_than=lower_than
        )
        return search.run()

    @staticmethod
    def _with_equal_groups(problem: Problem) -> Problem | None:
        """The part of a space in which leaf groups are alike; None where it is all of it."""
        if len(problem.fabrics) > 1 or not problem.fabrics[0].may_be_odd:
            return None
        return replace(problem, fabrics=tuple(map(with_equal_groups, problem.fabrics)))

    @staticmethod
    def _better(known: Optimum, lower: Optimum) -> Optimum:
        """Of the best design of a part and of what a search for a lower one met in all: the better one."""
        assert known.value is not None
        if lower.value is not None and lower.value < known.value:
            return lower
        if lower.has_none_below(known.value):
            return replace(known, verdict="optimal", bound=known.value)
        return replace(known, verdict="feasible", bound=lower.bound)
