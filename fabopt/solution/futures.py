"""Costs of a design in each future of uncertain growth, beside plans that count on one future alone.

The best of a future is the optimum of the case in which it is certain. A plan for one future is the optimum of the case
in which other futures weigh next to nothing: it must still be able to grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from fabopt.errors import NoAnswerError
from fabopt.problem.one_future import only_future, weighed
from fabopt.problem.problem import Problem
from fabopt.program.orders import order_of, spent_in_futures
from fabopt.program.settings import StoppedError
from fabopt.schema.design import Design
from fabopt.schema.futures import Future, Futures, OneFuturePlan
from fabopt.schema.objective import DecidedBy
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.question import Answers, Question
from fabopt.units import exact, plain_fraction, rounded, usd

# The weight of the other futures in a plan for one future.
NEXT_TO_NOTHING = Fraction(1, 1000)
# The most seconds for plans for one future.
MOST_SECONDS = 20.0
# Cents in each future.
Spent = Sequence[Fraction]


def with_futures(question: Question, answers: Answers, design: Design) -> Design:
    """The design with its costs in each future; unchanged where growth is certain, or there is no answer."""
    answer = answers.best
    if answer is None or not answer.problem.case.is_uncertain:
        return design
    futures = _futures(question, answer)
    is_whole = design.alternatives_complete and bool(futures.plans)
    design = design.model_copy(update={"futures": futures, "alternatives_complete": is_whole})
    return _with_decision(design, futures) if answer.problem.best_alone else design


def _with_decision(design: Design, futures: Futures) -> Design:
    """The design, chosen by regret, with its regret."""
    decision = DecidedBy(by="regret", regret_usd=futures.regret_usd)
    return design.model_copy(update={"objective": design.objective.model_copy(update={"decision": decision})})


def _futures(question: Question, answer: Answer) -> Futures:
    problem = answer.problem
    likely = [exact(future.probability) for future in problem.case.futures]
    spent = spent_in_futures(problem, answer.picked)
    plans, best = _compared(question, problem)
    if problem.best_alone and any(plan[number] < least for plan in plans for number, least in enumerate(best)):
        plans = []  # they are better than what the least regret is measured against
    best = [min(least, spent[number], *(plan[number] for plan in plans)) for number, least in enumerate(best)]
    futures = tuple(_future(answer, number, spent, best) for number in range(len(likely)))
    if not best:
        return Futures(futures=futures)
    return Futures(
        futures=futures,
        hedge_usd=_usd(_expected(spent, likely) - _expected(best, likely)),
        regret_usd=_regret(spent, best),
        plans=tuple(
            OneFuturePlan(
                made_for=future.name,
                expected_tco_usd=_usd(_expected(plan, likely)),
                regret_usd=_regret(plan, best),
                tco_usd=tuple(map(_usd, plan)),
            )
            for future, plan in zip(problem.case.futures, plans, strict=False)
        ),
    )


def _future(answer: Answer, number: int, spent: Spent, best: Spent) -> Future:
    problem = answer.problem
    future = problem.case.futures[number]
    last = max(stage for stage, month in enumerate(future.months_of(problem.case.stages or ())) if month is not None)
    bought = order_of(problem, answer.picked).bought.items()
    capex = sum(item.future_cents(number, stage, units, present=False) for (stage, item), units in bought)
    return Future(
        ends_after=problem.stages[last].name,
        scenario=future.name if problem.case.scenarios else None,
        probability=plain_fraction(exact(future.probability)),
        servers=problem.stages[last].servers,
        capex_usd=usd(capex),
        tco_usd=_usd(spent[number]),
        best_tco_usd=_usd(best[number]) if best else None,
        regret_usd=_usd(spent[number] - best[number]) if best else None,
    )


def _usd(cents: Fraction) -> int | float:
    return usd(rounded(cents))


def _expected(spent: Spent, likely: Sequence[Fraction]) -> Fraction:
    return sum((chance * cents for chance, cents in zip(likely, spent, strict=True)), Fraction(0))


def _regret(spent: Spent, best: Spent) -> int | float:
    return _usd(max(cents - least for cents, least in zip(spent, best, strict=True)))


def _compared(question: Question, problem: Problem) -> tuple[list[Spent], list[Fraction]]:
    """Costs in every future of the plan for each, and each future's best cost; empty if time ends or sums are too
    large.
    """
    plans: list[Spent] = []
    best, known = list[Fraction](), problem.best_alone
    futures = range(len(problem.case.futures))
    question.settings.progress("comparing with plans for one future")
    try:
        with question.clock.shortened(MOST_SECONDS), question.clock.bounded():
            for counts_on_it, number in question.settings.share.over([*product((False, True), futures)]):
                if counts_on_it:
                    plans.append(_least(question, _counting_on(problem, number)))
                else:
                    best += _least(question, only_future(problem, number)) if not known else [known[number].cents]
    except (StoppedError, NoAnswerError):
        return [], best if len(best) == len(futures) else []
    return plans, best


def _counting_on(problem: Problem, number: int) -> Problem:
    """The problem in which one future is nearly certain, and all others nearly impossible."""
    futures = range(len(problem.case.futures))
    rest = (len(futures) - 1) * NEXT_TO_NOTHING
    return weighed(problem, [1 - rest if at == number else NEXT_TO_NOTHING for at in futures])


def _least(question: Question, problem: Problem) -> list[Fraction]:
    """Costs of the best design of a problem in each of its futures.

    Raises ``StoppedError`` where none is proven.
    """
    optimum = search_of(problem, question.settings.quiet, question.clock).run()
    if optimum.verdict != "optimal":
        raise StoppedError
    return spent_in_futures(problem, optimum.picked)
