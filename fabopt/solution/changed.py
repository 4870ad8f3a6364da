"""Cases solved again with named keys changed, beside their answer: the source of every row of *what else*."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fabopt.errors import InputError
from fabopt.io.keys import with_change
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import left_out_of_fabrics, rack_parts_left_out
from fabopt.program.lexicographic import EXACT, Optimum
from fabopt.program.settings import ProgressShare, Settings, StoppedError, Work
from fabopt.schema.base import Strict
from fabopt.schema.left_out import RuleLeftOut
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.designs import design_of
from fabopt.solution.question import Answers, DearerError, Question
from fabopt.solution.rules_kept import rules_left_out

# The path from a question to its answers; see ``solution.optimize``.
Settled = Callable[[Question], tuple[Question, Answers]]
# The least work left, in units of ``program.settings.Work``, with which a row is begun.
LEAST_WORK_PER_ROW: Final = 500
# The most work of a row as a multiple of the answer's; the least work left, likewise, with which a row is begun.
ROW_WORK_PER_ANSWER_WORK: Final = 1.5
LEAST_WORK_PER_ANSWER_WORK: Final = 0.1
# Added to the most work of a row; the fraction of the work left for one sketch or bound, inverted.
EXTRA_WORK_PER_ROW: Final = 1000
SKETCHES_PER_WORK_LEFT: Final = 4
# The work that corresponds to the time of resolving a case before its search.
WORK_PER_CASE: Final = 100

Keys = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a changed case. ``finished``: it was solved to its end; then no ``answer`` means no design.

    ``rules_left_out``: as in its design file.
    """

    answer: Answer | None
    finished: bool = True
    rules_left_out: tuple[RuleLeftOut, ...] = ()


NO_CASE: Final = Outcome(None)
UNFINISHED: Final = Outcome(None, finished=False)


class ChangedCases:
    """Cases that differ from an answered one in named keys, with the work left for solving them."""

    def __init__(self, asked: Question, answer: Answer, settled: Settled, work: int) -> None:
        """``asked``: the user's question, with the settings of rows; ``work``: budget of all cases,
        in units of work.
        """
        self.asked = asked
        self.answer = answer
        self.settled = settled
        self.left = work

    def solve(self, change: Keys, lower_than: int | None = None, own_work: int = 0) -> Outcome:
        """Solve the case with a change, within the work left and little more than the answer's work; or within
        ``own_work`` and little more, and spend none of the work left.

        An invalid change has no design; nor has a case without an objective below ``lower_than``. Raises
        ``StoppedError`` when the clock is over.
        """
        left = self.left
        self.left += own_work
        try:
            return self._solve(change, lower_than, own_work)
        finally:
            self.left = left if own_work else self.left

    def _solve(self, change: Keys, lower_than: int | None, own_work: int) -> Outcome:
        of_server = self.asked.inputs_changed_to(change)
        try:
            inputs = of_server or with_change(self.asked.inputs, change)
        except InputError:
            return NO_CASE
        self.asked.clock.look()
        of_answer = self.asked.settings.work.on_any_engine
        was_tried = any(answer.problem.asked == inputs.case for answer in self.asked.tried)
        if self.left < max(LEAST_WORK_PER_ROW, LEAST_WORK_PER_ANSWER_WORK * of_answer) and not was_tried:
            return UNFINISHED
        most = int(ROW_WORK_PER_ANSWER_WORK * of_answer) + EXTRA_WORK_PER_ROW + own_work
        settings = self._settings(min(self.left, most))
        work = settings.work
        work.or_nothing = True
        question = replace(
            self.asked,
            inputs=inputs,
            settings=settings,
            alternatives_s=0,
            known=None if of_server else self.answer,
            lower_than=None if any(fabric.separation == "any" for fabric in inputs.case.fabrics) else lower_than,
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
        """The problem of a changed case, without attached hosts and ports; None if the change is invalid, separations
        are open, or the answer's objective cannot be compared with a part's.
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
        """Whether, by bounds alone, a design of a problem may have an objective below ``value``; True where a search
        decides that as fast.
        """
        settings = self._settings(self.left // SKETCHES_PER_WORK_LEFT)
        search = search_of(problem, settings, self.asked.clock, context=self.answer.context.beside())
        if search.expansion.tells_at_once:
            return True
        may = search.may_be_below(value)
        self._spend(settings.work)
        return may

    def sketched(self, problem: Problem, lower_than: int | None = None) -> Optimum:
        """The best design of a simplified or partial problem, by a small part of the work left.

        ``lower_than``: only designs with a lower objective are wanted.
        """
        settings = self._settings(self.left // SKETCHES_PER_WORK_LEFT)
        settings.work.or_nothing = True
        context = self.answer.context.beside()
        search = search_of(problem, settings, self.asked.clock, context=context, lower_than=lower_than)
        optimum = search.run(ties=False)
        self._spend(settings.work)
        self.asked.clock.look()
        return optimum

    def _spend(self, work: Work) -> None:
        """Subtract the work of a case from the work left."""
        self.left -= min(self.left, WORK_PER_CASE + work.in_all)

    def _settings(self, most: int) -> Settings:
        return replace(self.asked.settings, engine=EXACT, work=Work(most=most), share=ProgressShare())


def _left_out(question: Question, answers: Answers) -> tuple[RuleLeftOut, ...]:
    """The default rules that the best design of a case leaves out; no design is built where it surely keeps all."""
    best = answers.best
    if best is None:
        return ()
    is_open = any(fabric.rules.left_out or fabric.rules.managers is not None for fabric in best.problem.fabrics)
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
