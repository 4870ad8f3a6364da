"""Alternatives (*what else*): cases that differ from the answered one in named keys, each solved as by itself.

Rows are computed in two lanes, in parallel where the process can be forked. A lane's work is counted and not clocked,
so that equal inputs have equal rows on every machine, however busy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from fabopt.program.copies import Job, Tell, beside_each_other, copies_beside
from fabopt.program.settings import Settings, StoppedError
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.solution.changed import ChangedCases, Settled
from fabopt.solution.changes import changes_of, redundancy_of
from fabopt.solution.cliff import MOST_SOLVES, cliffs_of
from fabopt.solution.question import Question, finishing_s
from fabopt.solution.rows import QUICK, USUAL, CaseChange, Rows
from fabopt.solution.servers import other_servers

# Work of a lane for each second of building and proving the answer, added to the work of its search: with uncounted
# work a lane takes about as long as the answer.
WORK_PER_S = 9_500
LANES = 2


class _Told(NamedTuple):
    """A message on a place of the table: a row, or None at its end."""

    place: int
    alternative: Alternative | None


class _RowLook(NamedTuple):
    """The producer of the rows of a place of the table, its number of cases, and the effort of each
    (``CaseChange``).
    """

    rows: Callable[[Rows], Iterator[Alternative]]
    effort: int
    cases: int = 1


def compare(asked: Question, answer: Answer, settled: Settled, take: Callable[[Alternative], None]) -> bool:
    """Pass alternatives to ``take``, most valuable first; return whether all were solved.

    ``asked``: the question as the user put it; ``settled``: the way from a question to its answers.
    Raises ``StoppedError`` when the clock is over.
    """
    looks = list(_looks(asked, answer))
    settings, table = asked.settings, _Table(asked.settings, len(looks), take)
    try:
        with settings.still():
            jobs = [_job(asked, answer, settled, looks, lane) for lane in range(LANES)]
            beside_each_other(jobs, asked.clock, table.hear, copies_beside(settings.work.done))
    except StoppedError:
        table.close()
        raise
    asked.clock.look()
    return True


def _looks(asked: Question, answer: Answer) -> Iterator[_RowLook]:
    """All places of the table, most valuable first: other servers, redundancy, ratio and other cliffs,
    structure, generations.
    """
    inputs, first = asked.inputs, chain(other_servers(asked, answer), redundancy_of(asked.inputs.case))
    yield from (_RowLook(partial(_row, change), change.effort) for change in first)
    effort = QUICK if _is_of_several_on_a_floor(answer) else USUAL
    yield from (_RowLook(cliffs, effort, MOST_SOLVES) for cliffs in cliffs_of(inputs.case, answer))
    yield from (_RowLook(partial(_row, change), change.effort) for change in changes_of(inputs, answer))


def _is_of_several_on_a_floor(answer: Answer) -> bool:
    """Whether rows are of several fabrics on a floor, where few are finished and cliffs are looked for first."""
    return len(answer.problem.fabrics) > 1 and not answer.problem.site.runs_are_alike


def _row(change: CaseChange, rows: Rows) -> Iterator[Alternative]:
    return rows.of(change)


def _job(asked: Question, answer: Answer, settled: Settled, looks: Sequence[_RowLook], lane: int) -> Job[str | _Told]:
    """The job that computes the rows of a lane, from a copy of the answer's context."""

    def look(tell: Tell[str | _Told]) -> None:
        work = asked.settings.work.on_any_engine + int(WORK_PER_S * finishing_s(answer.problem))
        beside = replace(answer, context=answer.context.copied())
        quiet = replace(asked, settings=asked.settings.quiet)
        rows = Rows(ChangedCases(quiet, beside, settled, work), tell)
        for place in _lanes(looks, asked.inputs.case.objective == EFFECTIVE)[lane]:
            try:
                for alternative in looks[place].rows(rows):
                    tell(_Told(place, alternative))
            except StoppedError:
                raise
            except Exception as error:  # of one look, where its rows do not see to that themselves
                tell(f"what else there is could not be looked at: {type(error).__name__}: {error}")
            tell(_Told(place, None))

    return look


def _lanes(looks: Sequence[_RowLook], all_take_long: bool) -> list[list[int]]:
    """The places of the table by lane, in order of work: balanced loads, short ones first."""
    lanes, loads = [list[int]() for _ in range(LANES)], [0] * LANES
    order = range(len(looks))
    for place in order if all_take_long else sorted(order, key=lambda place: looks[place].effort):
        least = loads.index(min(loads))
        lanes[least].append(place)
        loads[least] += looks[place].cases * (1 + looks[place].effort)
    return lanes


class _Table:
    """Rows in the order of their places, whoever finds his first."""

    def __init__(self, settings: Settings, places: int, take: Callable[[Alternative], None]) -> None:
        self.settings, self.take = settings, take
        self.found: defaultdict[int, list[Alternative]] = defaultdict(list)
        self.left = list(range(places))
        self.ended: set[int] = set()
        self.count = settings.share.over(tuple(self.left))
        next(self.count, None)

    def hear(self, told: str | _Told) -> None:
        """Pass on rows in the order of the table, and words of progress at once."""
        if isinstance(told, str):
            self.settings.progress(told)
            return
        if told.alternative is None:
            self.ended.add(told.place)
            next(self.count, None)
        else:
            self.found[told.place].append(told.alternative)
        while self.left:
            self._hand_on(self.left[0])
            if self.left[0] not in self.ended:
                return
            self.left.pop(0)

    def close(self) -> None:
        """Pass on rows that wait for places that will not end."""
        for place in self.left:
            self._hand_on(place)

    def _hand_on(self, place: int) -> None:
        for alternative in self.found.pop(place, ()):
            self.take(alternative)
