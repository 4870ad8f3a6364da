"""What else there is: the best design of each other kind, against the one that was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.program.copies import Job, Tell, beside_each_other, can_fork, processors
from fabopt.program.lexicographic import EXACT
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.program.share_done import ShareDone
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.solution.group_rows import GroupRows
from fabopt.solution.kind_rows import KindRows
from fabopt.solution.rivals import Rivals
from fabopt.solution.row_searches import RowSearches
from fabopt.solution.rule_rows import RuleRows
from fabopt.solution.setting_rows import SettingRows

# Candidates that are compared for a design of another kind, where its proof would take more.
MOST_OF_A_KIND = 200
# An answer that took less, counted as ``program.settings.Work``, has its rows sooner than copies of the process start.
LITTLE = 100


class _Part(NamedTuple):
    """Rows that need nothing of the others: who looks, where each of its looks stands in the table, and its weight
    in what all rows may do.
    """

    rows: type[Rivals]
    places: tuple[int, ...]
    weight: int


# What matters most stands first: time may be over before the end.
PARTS = (
    _Part(RuleRows, (0, 2, 3, 4), 2),
    _Part(SettingRows, (1, 5), 10),
    _Part(GroupRows, (8, 9), 1),
    _Part(KindRows, (6, 7), 4),
)


class _Row(NamedTuple):
    """What was told of a place of the table: a row, or that there is no more."""

    place: int
    alternative: Alternative | None


def compare(answer: Answer, settings: Settings, clock: Clock, take: Callable[[Alternative], None]) -> None:
    """Look for the best design of each kind that lost: other protocol, tier count, port speed, leaf switch, other
    settings, without rules; on a floor (where they are the best that were found) other places of the switches, and what
    flat runs would have cost. ``take`` gets them in the order of the table, as they are found.

    Raises ``StoppedError`` when the clock is over.
    """
    table = _Table(settings, take)
    try:
        with settings.still():
            at_once = processors() if settings.work.done > LITTLE and can_fork() else 1
            # beside each other what takes longest is begun first, and that stands last
            parts = PARTS if at_once == 1 else PARTS[::-1]
            beside_each_other([_job(part, answer, settings, clock) for part in parts], clock, table.hear, at_once)
    except StoppedError:
        table.close()
        raise
    clock.look()


def _job(part: _Part, answer: Answer, settings: Settings, clock: Clock) -> Job[str | _Row]:
    """What looks for the rows of a part, from what is known of the answer alone."""

    def look(tell: Tell[str | _Row]) -> None:
        own = replace(settings, engine=EXACT, progress=tell, work=replace(settings.work), share=ShareDone())
        beside = replace(answer, context=answer.context.copied())
        rows = part.rows(
            beside,
            replace(own, most_candidates=MOST_OF_A_KIND),
            clock,
            RowSearches(answer.problem, own, clock, Fraction(part.weight, sum(one.weight for one in PARTS))),
        )
        for place, looks in zip(part.places, rows.looks(), strict=True):
            for rows_of in looks:
                for alternative in rows_of():
                    tell(_Row(place, alternative))
            tell(_Row(place, None))

    return look


class _Table:
    """Rows in the order of their places, whoever finds his first."""

    def __init__(self, settings: Settings, take: Callable[[Alternative], None]) -> None:
        self.settings, self.take = settings, take
        self.found: defaultdict[int, list[Alternative]] = defaultdict(list)
        self.left = sorted(place for part in PARTS for place in part.places)
        self.ended: set[int] = set()
        self.count = settings.share.over(tuple(self.left))
        next(self.count)

    def hear(self, told: str | _Row) -> None:
        """Hand on a row once it is its turn; and words of what is being done."""
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
        """Hand on what waits for rows that will not come."""
        for place in self.left:
            self._hand_on(place)

    def _hand_on(self, place: int) -> None:
        for alternative in self.found.pop(place, ()):
            self.take(alternative)
