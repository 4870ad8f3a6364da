"""What a design costs in each future of a growth that may end, beside plans that count on one future alone.

The best of a future is that of a case whose growth ends there for certain. A plan for one future is the best of a case
in which all that comes later weighs next to nothing: it still has to be able to grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fabopt.errors import NoAnswerError
from fabopt.problem.problem import Problem, future_energy, problem_of
from fabopt.problem.rules_kept import bound_alike, managed_by_switches
from fabopt.program.orders import Picked, all_uses, order_of
from fabopt.program.settings import StoppedError
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.futures import Future, Futures, OneFuturePlan
from fabopt.schema.scenarios import GrowthScenario
from fabopt.schema.stages import Stage
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.question import Answers, Question
from fabopt.units import exact, plain_fraction, rounded, usd

# What comes after the future that a plan is made for weighs so much.
NEXT_TO_NOTHING = Fraction(1, 1000)
# The longest look at plans for one future.
MOST_SECONDS = 10.0
# Cents in each future.
Spent = Sequence[Fraction]


def with_futures(question: Question, answers: Answers, design: Design) -> Design:
    """The design with what it costs in each future; as it is where growth is certain, or there is none."""
    answer = answers.best
    if answer is None or not answer.problem.case.is_uncertain:
        return design
    futures = _futures(question, answer)
    is_whole = design.alternatives_complete and bool(futures.plans)
    return design.model_copy(update={"futures": futures, "alternatives_complete": is_whole})


def _futures(question: Question, answer: Answer) -> Futures:
    problem = answer.problem
    likely = [exact(future.probability) for future in problem.case.futures]
    spent = _spent(problem, answer.picked)
    plans, best = _compared(question, problem)
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


def _spent(problem: Problem, picked: Sequence[Picked]) -> list[Fraction]:
    """The total cost of ownership in each future, in cents."""
    bought, uses, terms = order_of(problem, picked).bought, all_uses(problem, picked), problem.offering.terms
    spent = []
    for number, future in enumerate(terms.futures):
        worth = future_energy(terms, future)
        orders = sum(item.future_cents(number, stage, units, present=True) for (stage, item), units in bought.items())
        energy = sum((item.power_mw * count * worth[stage] for (stage, item), count in uses.items()), Fraction(0))
        spent.append(orders + energy)
    return spent


def _compared(question: Question, problem: Problem) -> tuple[list[Spent], list[Fraction]]:
    """What plans for each future cost in all, and the best for it alone; none where time ends or sums are too large."""
    plans: list[Spent] = []
    best: list[Fraction] = []
    futures = range(len(problem.case.futures))
    question.settings.progress("comparing with plans for one future")
    try:
        with question.clock.shortened(MOST_SECONDS), question.clock.bounded():
            for number in futures:
                best += _least(question, problem, _alone(problem.case, number))
            for number in futures:
                plans.append(_least(question, problem, _counting_on(problem.case, number)))
    except (StoppedError, NoAnswerError):
        return [], best if len(best) == len(futures) else []
    return plans, best


def _counting_on(case: Case, number: int) -> Case:
    """The case in which one future is nearly certain, and all others next to impossible."""
    rest = (len(case.futures) - 1) * NEXT_TO_NOTHING
    chances = [1 - rest if at == number else NEXT_TO_NOTHING for at in range(len(case.futures))]
    futures = [
        future.model_copy(update={"probability": float(chance)})
        for future, chance in zip(case.futures, chances, strict=True)
    ]
    return _with(case, case.stages or (), futures)


def _alone(case: Case, number: int) -> Case:
    """The case in which one future comes for certain: without stages that it does not come to."""
    future = case.futures[number]
    first, *later = case.stages or ()
    own = [
        stage.model_copy(update={"month": future.months[stage.name]}) for stage in later if stage.name in future.months
    ]
    return _with(case, (first, *own), [future.model_copy(update={"probability": 1})])


def _with(case: Case, stages: Sequence[Stage], futures: Sequence[GrowthScenario]) -> Case:
    certain = tuple(stage.model_copy(update={"probability": 1}) for stage in stages)
    return case.model_copy(update={"stages": certain, "scenarios": tuple(futures)})


def _least(question: Question, problem: Problem, case: Case) -> list[Fraction]:
    """What the best design of another case costs in each of its futures.

    Raises ``StoppedError`` where none is proven.
    """
    other = managed_by_switches(bound_alike(problem_of(case, problem.catalog), problem), question.managed)
    quiet = question.settings.quiet
    optimum = search_of(other, quiet, question.clock).run()
    if optimum.verdict != "optimal":
        raise StoppedError
    return _spent(other, optimum.picked)
