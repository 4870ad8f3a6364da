"""A case solved again with named keys changed, beside its answer: what every row of *what else* is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fabopt.errors import InputError
from fabopt.io.keys import with_change
from fabopt.problem.problem import Problem
from fabopt.program.lexicographic import EXACT, Optimum
from fabopt.program.settings import Settings, Work
from fabopt.program.share_done import ShareDone
from fabopt.schema.base import Strict
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.question import Answers, DearerError, Question

# The way from a question to what its search comes to; see ``solution.optimize``.
Settled = Callable[[Question], tuple[Question, Answers]]
# Where less work is left, counted as ``program.settings.Work``, no row is begun.
LEAST_OF_ROW: Final = 500
# How many times what the answer took a row may take, if so much is left, and with how much less none is begun.
AS_THE_ANSWER: Final = 1.5
TOO_LITTLE: Final = 0.3
# A sketch of a fabric may take the inverse of this of what is left.
SKETCHES: Final = 8

Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a changed case comes to. ``finished``: it was solved to its end; then no ``answer``: it has no design."""

    answer: Answer | None
    finished: bool = True

    @property
    def is_infeasible(self) -> bool:
        """Whether it is proven that there is no design."""
        return self.finished and self.answer is None


NO_CASE: Final = Outcome(None)
UNFINISHED: Final = Outcome(None, finished=False)


class ChangedCases:
    """Cases that differ from an answered one in named keys, and the work that is left for solving them."""

    def __init__(self, asked: Question, answer: Answer, settled: Settled, work: int) -> None:
        """``asked``: the question as the user put it, with the settings of rows; ``work``: what all may do."""
        self.asked = asked
        self.answer = answer
        self.settled = settled
        self.left = work

    def solve(self, change: Keys, lower_than: int | None = None, share: float = 0.5) -> Outcome:
        """Solve the case with a change, in a share of the work that is left.

        A change with which there is no case has no design; neither has one all of whose designs have an objective that
        is not lower than is wanted. Raises ``StoppedError`` when the clock is over.
        """
        try:
            inputs = with_change(self.asked.inputs, change)
        except InputError:
            return NO_CASE
        self.asked.clock.look()
        of_answer = self.asked.settings.work.on_any_engine
        if self.left < max(LEAST_OF_ROW, TOO_LITTLE * of_answer):
            return UNFINISHED
        settings = self._settings(max(int(self.left * share), min(self.left, int(AS_THE_ANSWER * of_answer))))
        work = settings.work
        question = replace(
            self.asked,
            inputs=inputs,
            settings=settings,
            alternatives_s=0,
            known=self.answer,
            lower_than=None if any(one.separation == "any" for one in inputs.case.fabrics) else lower_than,
        )
        try:
            _, answers = self.settled(question)
        except DearerError:
            return NO_CASE
        finally:
            self.left -= min(self.left, work.in_all)
        self.asked.clock.look()
        return Outcome(answers.best, finished=not work.is_spent and answers.complete)

    def may_be_lower(self, problem: Problem) -> bool:
        """Whether any design of a problem may have a lower objective than the answer; True where it is not known."""
        value = self.answer.optimum.value
        if value is None or self.answer.ratio is not None:
            return True
        settings = self._settings(self.left)
        search = search_of(problem, settings, self.asked.clock, context=self.answer.context.beside())
        may = search.may_beat(value)
        self.left -= min(self.left, settings.work.in_all)
        return may

    def sketched(self, problem: Problem, lower_than: int | None = None) -> Optimum:
        """A best design of a problem that stands for another one, by what may be spent on sketches of the work left.

        ``lower_than``: none is wanted whose objective is not lower.
        """
        settings = self._settings(self.left // SKETCHES)
        context = self.answer.context.beside()
        search = search_of(problem, settings, self.asked.clock, context=context, lower_than=lower_than)
        optimum = search.run(ties=False)
        self.left -= min(self.left, settings.work.in_all)
        self.asked.clock.look()
        return optimum

    def _settings(self, most: int) -> Settings:
        return replace(self.asked.settings, engine=EXACT, work=Work(most=most), share=ShareDone())


def dumped(value: object) -> Any:
    """A value of a case as a change holds it: of JSON's types."""
    if isinstance(value, Strict):
        return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if isinstance(value, Mapping):
        return {key: dumped(inner) for key, inner in value.items()}
    return [dumped(inner) for inner in value] if isinstance(value, tuple | list) else value
