"""A case solved again with named keys changed, beside its answer: what every row of *what else* is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fabopt.errors import InputError
from fabopt.io.keys import with_change
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rack_parts import rack_parts_left_out
from fabopt.problem.rules_kept import left_out_of_fabrics
from fabopt.program.lexicographic import EXACT, Optimum
from fabopt.program.settings import Settings, StoppedError, Work
from fabopt.program.share_done import ProgressShare
from fabopt.schema.base import Strict
from fabopt.schema.left_out import RuleLeftOut
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.designs import design_of
from fabopt.solution.question import Answers, DearerError, Question
from fabopt.solution.rules_kept import rules_left_out

# The way from a question to what its search comes to; see ``solution.optimize``.
Settled = Callable[[Question], tuple[Question, Answers]]
# Where less work is left, counted as ``program.settings.Work``, no row is begun.
LEAST_OF_ROW: Final = 500
# How many times what the answer took a row may take at the most, and with how much less none is begun.
AS_THE_ANSWER: Final = 1.5
TOO_LITTLE: Final = 0.1
# So much more may it take; a sketch or a bound may take this share of what is left, inversed.
BESIDE: Final = 1000
LOOKS: Final = 4
# What is made of a case before it is searched takes about as long as so much work.
OF_A_CASE: Final = 100

Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a changed case comes to. ``finished``: it was solved to its end; then no ``answer``: it has no design.

    ``rules_left_out``: as in its design file.
    """

    answer: Answer | None
    finished: bool = True
    rules_left_out: tuple[RuleLeftOut, ...] = ()


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

    def solve(self, change: Keys, lower_than: int | None = None) -> Outcome:
        """Solve the case with a change, in what is left of the work and little more than the answer took.

        A change with which there is no case has no design; neither has one all of whose designs have an objective that
        is not lower than is wanted. Raises ``StoppedError`` when the clock is over.
        """
        try:
            inputs = with_change(self.asked.inputs, change)
        except InputError:
            return NO_CASE
        self.asked.clock.look()
        of_answer = self.asked.settings.work.on_any_engine
        was_tried = any(answer.problem.asked == inputs.case for answer in self.asked.tried)
        if self.left < max(LEAST_OF_ROW, TOO_LITTLE * of_answer) and not was_tried:
            return UNFINISHED
        settings = self._settings(min(self.left, int(AS_THE_ANSWER * of_answer) + BESIDE))
        work = settings.work
        work.or_nothing = True
        question = replace(
            self.asked,
            inputs=inputs,
            settings=settings,
            alternatives_s=0,
            known=self.answer,
            lower_than=None if any(one.separation == "any" for one in inputs.case.fabrics) else lower_than,
        )
        try:
            question, answers = self.settled(question)
        except DearerError:
            return NO_CASE
        except StoppedError:
            self.asked.clock.look()
            return UNFINISHED
        finally:
            self._spend(work)
        self.asked.clock.look()
        is_finished = not work.is_spent and answers.complete
        return Outcome(answers.best, is_finished, _left_out(question, answers) if is_finished else ())

    def problem_of(self, change: Keys) -> Problem | None:
        """What a changed case means, nothing attached to it; None if there is no case, or it may be put in more ways
        than one, or the answer cannot be compared with what is a part of it.
        """
        answer = self.answer
        is_uncertain = answer.ratio is not None or answer.problem.case.is_uncertain
        if is_uncertain or any(left_out_of_fabrics(answer.problem)):
            return None
        try:
            inputs = with_change(self.asked.inputs, change)
        except InputError:
            return None
        if any(fabric.separation == "any" for fabric in inputs.case.fabrics):
            return None
        return problem_of(inputs.case, inputs.catalog, self.asked.settings.prune, answer.problem.offering)

    def may_be_lower(self, problem: Problem, value: int) -> bool:
        """Whether any design of a problem may have an objective that is lower than so much, by bounds alone; True where
        a search for one tells that as soon.
        """
        settings = self._settings(self.left // LOOKS)
        search = search_of(problem, settings, self.asked.clock, context=self.answer.context.beside())
        if search.expansion.tells_at_once:
            return True
        may = search.may_beat(value)
        self._spend(settings.work)
        return may

    def sketched(self, problem: Problem, lower_than: int | None = None) -> Optimum:
        """A best design of a problem that stands for another one, or is a part of it, by little of the work left.

        ``lower_than``: none is wanted whose objective is not lower.
        """
        settings = self._settings(self.left // LOOKS)
        settings.work.or_nothing = True
        context = self.answer.context.beside()
        search = search_of(problem, settings, self.asked.clock, context=context, lower_than=lower_than)
        optimum = search.run(ties=False)
        self._spend(settings.work)
        self.asked.clock.look()
        return optimum

    def _spend(self, work: Work) -> None:
        """Count what was done for a case as done."""
        self.left -= min(self.left, OF_A_CASE + work.in_all)

    def _settings(self, most: int) -> Settings:
        return replace(self.asked.settings, engine=EXACT, work=Work(most=most), share=ProgressShare())


def _left_out(question: Question, answers: Answers) -> tuple[RuleLeftOut, ...]:
    """The rules that the best design of a case is without; nothing is made of it where it keeps all for certain."""
    best = answers.best
    if best is None:
        return ()
    is_open = any(fabric.left_out or fabric.managers is not None for fabric in best.problem.fabrics)
    if not is_open and not rack_parts_left_out(best.problem, question.inputs.case):
        return ()
    return rules_left_out(question, best.problem, design_of(best, question.settings.engine, 0.0))


def dumped(value: object) -> Any:
    """A value of a case as a change holds it: of JSON's types."""
    if isinstance(value, Strict):
        return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if isinstance(value, Mapping):
        return {key: dumped(inner) for key, inner in value.items()}
    return [dumped(inner) for inner in value] if isinstance(value, tuple | list) else value
