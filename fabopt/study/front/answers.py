"""The questions of a front with their answers; those answered by an earlier run are not asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import unbroken
from fabopt.schema.front import FrontAnswer, FrontPoint
from fabopt.study.front.finder import Demands, Finder, GradedDesign
from fabopt.study.front.journal import PointJournal
from fabopt.study.front.measures import Measure


class KeptAnswers:
    """Answers of a finder, each written to a journal at once, with its point. ``given``: all answers so far."""

    def __init__(self, finder: Finder, journal: PointJournal, point_of: Callable[[GradedDesign], FrontPoint]) -> None:
        """``point_of``: the point of a design."""
        self.given: list[FrontAnswer] = list(journal.known.answers) if journal.known is not None else []
        self._finder = finder
        self._journal = journal
        self._point_of = point_of
        self._known = {_question(answer.best, answer.demands): _without_candidates(answer) for answer in self.given}
        self._listed = {
            _sums(answer.grades): answer.point for answer in self.given if answer.grades and not answer.best
        }

    def best(self, measures: Sequence[Measure], demands: Demands) -> GradedDesign | None:
        """The design that is best in the metrics under demands, as the finder's."""
        names = tuple(measure.name for measure in measures)
        question = _question(names, demands)
        if question not in self._known:
            graded = self._finder.best(measures, demands)
            with unbroken():
                point = None if graded is None else self._point_of(graded)
                self._keep(names, demands, graded, point)
                self._known[question] = None if graded is None else replace(graded, point=point)
        return self._known[question]

    def listed(self, graded: GradedDesign) -> FrontPoint | None:
        """The point of a design found by listing the whole front, if an earlier run made it."""
        return self._listed.get(_sums(graded.grades))

    def keep_listed(self, graded: GradedDesign, point: FrontPoint) -> None:
        """Keep the point of a design found by listing.

        One that is not proven, as time was over, is looked for again.
        """
        if graded.is_proven:
            self._keep((), {}, graded, point)

    def _keep(
        self, best: tuple[str, ...], demands: Demands, graded: GradedDesign | None, point: FrontPoint | None
    ) -> None:
        grades = None if graded is None else dict(graded.grades)
        answer = FrontAnswer(best=best, demands=dict(demands), grades=grades, point=point)
        self._journal.keep([answer])
        self.given.append(answer)


def _question(best: Sequence[str], demands: Demands) -> tuple[tuple[str, ...], frozenset[tuple[str, int]]]:
    return tuple(best), frozenset(demands.items())


def _sums(grades: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset(grades.items())


def _without_candidates(answer: FrontAnswer) -> GradedDesign | None:
    """An answer without its picked candidates: its point has their design."""
    if answer.point is None or answer.grades is None:
        return None
    return GradedDesign(Optimum(answer.point.status), answer.grades, answer.point)
