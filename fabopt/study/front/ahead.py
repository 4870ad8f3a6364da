"""A front in several processes: its climb answered ahead, from several of its points at a time.

A climb asks for the best beyond one point after the other. A process that has nothing to do halves the largest part of
the front that is not known: the best beyond its middle is a point as well, from which it climbs on. All that one
process would ask is asked, and answered alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from fabopt.program.copies import in_processes, start_as_copy
from fabopt.program.settings import StoppedError
from fabopt.schema.design import FrontAnswer
from fabopt.study.front.finder import Demands, Finder, GradedDesign
from fabopt.study.front.measures import OVERSUBSCRIPTION, PER_RATIO, Measure, kbps, measured
from fabopt.study.front.points import KeptAnswers
from fabopt.units import some

# Of the whole, the part that is not halved any more.
LEAST_PART = 64
# Grades that no design is better than.
BEST = {"rack_units": 0, "cables": 0, "switches": 0, OVERSUBSCRIPTION: PER_RATIO}
SPEEDS = ("gbps_per_gpu", "bisection_gbps_per_gpu")


@dataclass(eq=False)
class _Part:
    """A part of a front that is not known, in the worth of its second metric, of which less is better.

    ``least``: what is to be asked next, None for any; ``known``: that of a point found from here on, None if there is
    no bound. ``climbs``, ``halves``: whether such a question is under way.
    """

    least: int | None
    known: int | None
    climbs: bool = False
    halves: bool = False


class _Asked(NamedTuple):
    """A question for the best in metrics, at a worth of the second or any; where it came from, None: for the end."""

    best: tuple[Measure, ...]
    demands: Demands
    worth: int | None
    part: _Part | None
    is_middle: bool = False


class Ahead:
    """The questions of a climb. ``measures``: what each is for the best in; ``second``: the metric of its demand."""

    def __init__(
        self,
        finder: Finder,
        answers: KeptAnswers,
        measures: tuple[Measure, ...],
        second: Measure,
    ) -> None:
        self._finder, self._answers = finder, answers
        self._measures, self._second = measures, second
        self._parts = [_Part(None, _best_worth(finder, second))]
        self._doing, self._whole = "", 0
        self._asks_end = second.is_price

    def answer(self, processes: int) -> bool:
        """Answer the questions in processes that are copies of this one; False if the clock stopped it."""
        self._doing = f"looking for points in {processes} processes"
        self._finder.settings.progress(self._doing)
        try:
            return in_processes(
                processes, _start, self, _answered, lambda there: self._more(processes - there), self._take,
                self._finder.clock,
            )  # fmt: skip
        except StoppedError:
            return False

    def answered(self, asked: _Asked) -> FrontAnswer:
        """Return the answer to a question, worked out here."""
        graded = self._finder.best(asked.best, asked.demands)
        return FrontAnswer(
            best=tuple(measure.name for measure in asked.best),
            demands=dict(asked.demands),
            grades=None if graded is None else dict(graded.grades),
            point=None if graded is None else self._answers.point_of(graded),
        )

    def quiet(self) -> None:
        """Report no progress from here."""
        self._finder.settings = self._finder.settings.quiet

    def _more(self, idle: int) -> list[_Asked] | None:
        """Return questions for idle processes; None once all parts are known."""
        new: list[_Asked] = []
        while len(new) < idle and (asked := self._next()) is not None:
            names = tuple(measure.name for measure in asked.best)
            if self._answers.is_known(names, asked.demands):
                self._follow(asked, self._answers.best(asked.best, asked.demands))
            else:
                new.append(asked)
        return new if self._parts else None

    def _next(self) -> _Asked | None:
        second = self._second
        if self._asks_end:
            self._asks_end = False
            return _Asked((second, *(one for one in self._measures if one is not second)), {}, None, None)
        part = next((part for part in self._parts if not part.climbs), None)
        if part is not None:
            part.climbs = True
            demands = {} if part.least is None else {second.name: second.worth(part.least)}
            return _Asked(self._measures, demands, part.least, part)
        self._whole = max(self._whole, *map(_width, self._parts), 0)
        least = max(1, self._whole // LEAST_PART)
        wide = [(width, part) for part in self._parts if not part.halves and (width := _width(part)) > least]
        if not wide:
            return None
        width, part = max(wide, key=lambda pair: pair[0])
        assert part.known is not None
        part.halves, middle = True, part.known + width // 2
        return _Asked(self._measures, {second.name: second.worth(middle)}, middle, part, is_middle=True)

    def _take(self, asked: _Asked, answer: FrontAnswer) -> None:
        self._answers.take(answer)
        self._finder.settings.progress(f"{self._doing}, {some(len(self._answers.designs()), 'point')} so far")
        self._follow(asked, self._answers.best(asked.best, asked.demands))

    def _follow(self, asked: _Asked, graded: GradedDesign | None) -> None:
        """Mark what is known by an answer."""
        part, worth = asked.part, None if graded is None else self._second.worth(graded.grades[self._second.name])
        if part is None:
            for known in self._parts:
                known.known = worth
        elif not asked.is_middle:
            part.climbs = False
            if worth is None or (part.known is not None and worth <= part.known):
                self._parts.remove(part)
            part.least = None if worth is None else worth - 1
        elif part in self._parts and part.known is not None and part.least is not None:
            part.halves = False
            # otherwise the climb has come by
            if worth is None or worth <= part.least:
                if worth is not None and worth > part.known:
                    self._parts.append(_Part(worth - 1, part.known))
                part.known = asked.worth


def _width(part: _Part) -> int:
    return 0 if part.least is None or part.known is None else part.least - part.known


def _best_worth(finder: Finder, second: Measure) -> int | None:
    """Return the worth that no design is better than, None where none is known."""
    problem = finder.problem
    if second.name in SPEEDS:
        fabrics = [fabric for fabric in problem.fabrics if fabric.name in measured(problem)]
        most = (
            max((nic.injection for nics in one.nics.values() for nic in nics), default=Fraction()) for one in fabrics
        )
        return second.worth(kbps(min(most)))
    return second.worth(BEST[second.name]) if second.name in BEST else None


_own: list[Ahead] = []


def _start(ahead: Ahead) -> None:
    """Make a process ready to answer."""
    start_as_copy()
    ahead.quiet()
    _own.append(ahead)


def _answered(asked: _Asked) -> FrontAnswer:
    return _own[0].answered(asked)
