"""A case that lists several servers: each is a question of its own, and the cheapest of their answers is the case's.

All that holds for a case of one server, such as rules that yield and hosts of managers, holds for each question by
itself, so that the answer is the best of the cases of single servers. Servers whose own price is the least come first;
another is left once a bound shows that no design with it is cheaper than the best one met. Of equal ones the first of
the list is taken. See docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from fabopt.io.servers import cases_of_servers
from fabopt.problem.demand import gpus_at_work
from fabopt.problem.problem import Problem
from fabopt.program.settings import Settings, StoppedError
from fabopt.schema.servers import DEARER, SERVER, SETTLED, Number, ServerCompared
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.solution.question import Answers, Question, keys_of_server
from fabopt.solution.rows import CaseChange, RowsShown
from fabopt.solution.server_notes import name_of
from fabopt.units import some

# Work for what the whole costs with another server: some six seconds.
WORK_OF_SERVER: Final = 60_000
Settle = Callable[[Question], tuple[Question, Answers]]
Prepare = Callable[[Question], Iterable[Problem]]


@dataclass(eq=False)
class _Contender:
    """A server of a list, by its ``place`` there. ``asked``: the case of it alone, as a question; then its answers."""

    place: int
    asked: Question
    problems: tuple[Problem, ...]
    settled: Question | None = None
    answers: Answers | None = None
    # what no design with it is below, where it was left for that
    left_at: int | None = None

    @property
    def id(self) -> str:
        """The id of the server."""
        return self.problems[0].server.id

    @cached_property
    def fixed(self) -> int:
        """The objective that servers and charges alone come to."""
        return min(problem.fixed_objective for problem in self.problems)

    @property
    def best(self) -> Answer | None:
        """The cheapest answer with the server; None without a design, or before its question is answered."""
        return None if self.answers is None else self.answers.best

    @property
    def value(self) -> int | None:
        """The least objective with the server."""
        return None if self.best is None else self.best.optimum.value

    @property
    def status(self) -> str:
        """What came of the server, as a design file says it."""
        if self.left_at is not None:
            return DEARER
        return "unknown" if self.answers is None else self.answers.optimum.verdict

    @property
    def bound(self) -> int:
        """What no design with it is below: rules that yield may allow less than a search without an answer knows of."""
        known = self.left_at if self.best is None else self.best.optimum.bound
        return self.fixed if known is None else max(known, self.fixed)

    def compared(self) -> ServerCompared:
        """The entry of the server in a design file."""
        problem, value = self.problems[0], self.value
        shown = problem.weights.in_metric
        at_work = gpus_at_work(problem.case, problem.server)
        ends = self.status != "infeasible"
        return ServerCompared.model_validate(
            {
                "id": self.id,
                "servers": problem.servers,
                "gpus": problem.gpus,
                "gpus_at_work": at_work if at_work < problem.gpus else None,
                "status": self.status,
                "objective": None if value is None else shown(value),
                "bound": shown(self.bound) if ends else None,
            }
        )


def cheapest_of_servers(asked: Question, settle: Settle, prepare: Prepare) -> tuple[Question, Answers]:
    """The question of the server whose answer is the cheapest of all that a case lists, and its answers.

    Rule ``server_is_of_the_list``. Without a design the question as it was asked, with the answers of all servers.
    Raises ``StoppedError`` if time was over before any was answered.
    """
    inputs = asked.inputs
    singles = tuple(replace(inputs, case=case) for case in cases_of_servers(inputs.case, inputs.catalog))
    questions = [replace(asked, inputs=single) for single in singles]
    contenders = [_Contender(place, one, tuple(prepare(one))) for place, one in enumerate(questions)]
    in_turn = sorted(contenders, key=lambda contender: contender.fixed)
    for contender in in_turn:
        _settle(contender, contenders, settle)
    answered = [one for one in in_turn if one.answers is not None]
    if not answered:
        raise StoppedError
    compared = tuple(one.compared() for one in contenders)
    tried = tuple(answer for one in answered if one.answers is not None for answer in one.answers.tried)
    best = _best(contenders)
    if best is None or best.settled is None or best.answers is None:
        whole = len(answered) == len(contenders) and all(one.answers and one.answers.complete for one in answered)
        return replace(asked, listed=inputs.case, compared=compared), Answers(tried, complete=whole)
    question = replace(best.settled, settings=asked.settings, listed=inputs.case, servers=singles, compared=compared)
    question = replace(question, tried=tried)
    if all(one.status in SETTLED for one in contenders):
        return question, best.answers
    bound = min(one.bound for one in contenders if one.status != "infeasible")
    return question, replace(best.answers, complete=False, bound=bound)


def _best(contenders: Sequence[_Contender]) -> _Contender | None:
    """The contender with the least objective, the first of equal ones; None without a design."""
    with_design = [one for one in contenders if one.value is not None]
    return min(with_design, key=lambda one: (one.value, one.place), default=None)


def _settle(contender: _Contender, others: Sequence[_Contender], settle: Settle) -> None:
    """Answer the question of a server, unless no design with it is better than the best one met, or time is over."""
    asked, best = contender.asked, _best(others)
    settings = _telling(contender, others)
    try:
        if best is not None and best.value is not None:
            wanted = best.value + (contender.place < best.place)
            if _has_none_below(contender, wanted, settings):
                contender.left_at = wanted
                return
        asked.clock.look()
        contender.settled, contender.answers = settle(replace(asked, settings=settings))
    except StoppedError:
        return


def _telling(contender: _Contender, others: Sequence[_Contender]) -> Settings:
    """Settings that say which server is looked at, and what is known of all."""
    settings, best, weights = contender.asked.settings, _best(others), contender.problems[0].weights
    values = [] if best is None or best.value is None else [weights.in_metric(best.value)]
    bounds = [weights.in_metric(one.bound) for one in others if one is not contender and one.status != "infeasible"]

    def bracket(value: Number | None, bound: Number | None) -> None:
        least = None if bound is None else min([bound, *bounds])
        settings.bracket(min([*values, *([] if value is None else [value])], default=None), least)

    return replace(settings, progress=lambda text: settings.progress(f"{contender.id}: {text}"), bracket=bracket)


def _has_none_below(contender: _Contender, wanted: int, settings: Settings) -> bool:
    """Whether no design with a server has a lower objective than is wanted: its own price tells it, or a search.

    A search tells it of designs that keep all default rules, so that there has to be one: else some may yield.
    """
    if contender.fixed >= wanted:
        return True
    clock, quiet = contender.asked.clock, settings.quiet
    settings.progress("looking whether it may be cheaper")
    context, keeps_rules = Context(), False
    for problem in contender.problems:
        optimum = search_of(problem, quiet, clock, context=context, lower_than=wanted).run(ties=False)
        if not optimum.has_none_below(wanted):
            return False
        keeps_rules = keeps_rules or bool(search_of(problem, quiet, clock, context=context).any_design().picked)
        context = context.beside()
    return keeps_rules


# -- what else --------------------------------------------------------------------------------------------------------


def other_servers(question: Question, answer: Answer) -> Iterator[CaseChange]:
    """Changes to every other server that the case lists."""
    for inputs, entry in zip(question.servers, question.compared, strict=True):
        if entry.id != answer.problem.server.id:
            number = f"{some(entry.servers, 'server')} of {name_of(inputs.catalog, entry.id)}"
            keys = keys_of_server(inputs.case)
            yield CaseChange(SERVER, number, keys, RowsShown.ALWAYS, own_work=WORK_OF_SERVER)
