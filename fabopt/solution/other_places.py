"""The cheapest design in other places, where what is full in the cheapest places of all is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import Optimum, optimum_of
from fabopt.program.settings import Clock, Settings, StoppedError, Work
from fabopt.search.choice import search_of
from fabopt.search.search import Search
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.floor_runs import TooManyPlacesError

# The most designs that are looked at, on small floors and on others; the work to list them; and by what share of the
# bound they are dearer at most, where no design is known.
MOST_DESIGNS, MOST_ON_LARGE_FLOORS = 200, 8
MOST_WORK = 20_000
WITHIN = 0.5


def most_designs(problem: Problem) -> Iterator[int]:
    """Numbers for the designs that are looked at in other places."""
    return iter(range(MOST_DESIGNS if problem.site.method == "places" else MOST_ON_LARGE_FLOORS))


def elsewhere(
    problem: Problem, below: int | None, settings: Settings, clock: Clock, keeps: Callable[[Optimum], bool],
    numbers: Iterator[int],
) -> Optimum | None:  # fmt: skip
    """The cheapest design that keeps something, of those with the cheapest parts for each place of all switches.

    Each in turn from the cheapest on, without the places of those that do not keep it; None: none was met.
    ``below``: only those with a lower objective are wanted; ``numbers``: of those that may be looked at.
    """
    cheapest = None
    wide = replace(settings.quiet, alike_places=True, work=Work(most=MOST_WORK, or_nothing=True))
    for part in search_of(problem, wide, clock, lower_than=below).parts():
        try:
            left = _within(part, below)
        except (TooManyPlacesError, StoppedError):
            clock.look()
            continue
        for _ in numbers:
            clock.look()
            optimum = optimum_of(problem, left, settings.quiet, clock)
            if optimum.value is None or (below is not None and optimum.value >= below):
                break
            if keeps(optimum):
                cheapest, below = optimum, optimum.value
                break
            full = {id(candidate) for candidate, _ in optimum.picked}
            left = [candidate for candidate in left if id(candidate) not in full]
    return cheapest


def _within(part: Search, below: int | None) -> list[Candidate]:
    bound, _ = part.below()
    return part.below(max(0.0, bound * WITHIN if below is None else below - 1 - part.fixed - bound))[1]
