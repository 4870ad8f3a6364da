"""What a design costs in each future of a growth that may end, beside plans that count on one future alone.

The best of a future is that of a case whose growth ends there for certain. A plan for one future is the best of a case
in which all that comes later weighs next to nothing: it still has to be able to grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike, managed_by_switches
from fabopt.program.orders import Picked, all_uses, order_of
from fabopt.program.settings import StoppedError
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.futures import Future, Futures, OneFuturePlan
from fabopt.schema.stages import PARTS_OF_ONE, reached
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.solution.question import Answers, Question
from fabopt.units import cents, plain_fraction, rounded, usd

# What comes after the future that a plan is made for weighs so much.
NEXT_TO_NOTHING = 1 / PARTS_OF_ONE
# Cents by the stage that growth ends with.
Spent = Mapping[int, Fraction]


def ends(case: Case) -> list[tuple[int, Fraction]]:
    """The stages with which growth may end, by their numbers, and how likely."""
    chances = (*reached(case.stages or ()), Fraction(0))
    return [
        (number, chance - chances[number + 1])
        for number, chance in enumerate(chances[:-1])
        if chance > chances[number + 1]
    ]


def with_futures(question: Question, answers: Answers, design: Design) -> Design:
    """The design with what it costs in each future; as it is where growth is certain, or there is none."""
    answer = answers.best
    if answer is None or not answer.problem.case.is_uncertain:
        return design
    return design.model_copy(update={"futures": _futures(question, answer, design)})


def _futures(question: Question, answer: Answer, design: Design) -> Futures:
    problem = answer.problem
    likely = ends(problem.case)
    spent = _spent_by(problem, answer.picked)
    plans, best = _compared(question, problem, likely)
    for plan in (spent, *plans.values()):
        best = {number: min(cents, plan[number]) for number, cents in best.items()}
    futures = tuple(_future(design, number, chance, spent, best) for number, chance in likely)
    if not best:
        return Futures(futures=futures)
    return Futures(
        futures=futures,
        hedge_usd=_usd(_expected(spent, likely) - _expected(best, likely)),
        regret_usd=_regret(spent, best),
        plans=tuple(
            OneFuturePlan(
                made_for=design.stages[number].name,
                expected_tco_usd=_usd(_expected(plan, likely)),
                regret_usd=_regret(plan, best),
                tco_usd=tuple(_usd(plan[end]) for end, _ in likely),
            )
            for number, plan in plans.items()
        ),
    )


def _future(design: Design, number: int, chance: Fraction, spent: Spent, best: Spent) -> Future:
    stage = design.stages[number]
    return Future(
        ends_after=stage.name,
        probability=plain_fraction(chance),
        servers=stage.servers,
        capex_usd=usd(sum(cents(one.capex_usd) for one in design.stages[: number + 1])),
        tco_usd=_usd(spent[number]),
        best_tco_usd=_usd(best[number]) if best else None,
        regret_usd=_usd(spent[number] - best[number]) if best else None,
    )


def _usd(cents: Fraction) -> int | float:
    return usd(rounded(cents))


def _expected(spent: Spent, likely: Sequence[tuple[int, Fraction]]) -> Fraction:
    return sum((chance * spent[number] for number, chance in likely), Fraction(0))


def _regret(spent: Spent, best: Spent) -> int | float:
    return _usd(max(spent[number] - least for number, least in best.items()))


def _spent_by(problem: Problem, picked: Sequence[Picked]) -> dict[int, Fraction]:
    """The total cost of ownership if growth ends with each stage, in cents."""
    order, uses, total = order_of(problem, picked), all_uses(problem, picked), Fraction(0)
    spent = {}
    for stage, energy in enumerate(problem.energy_cents_per_mw):
        added = sum(item.power_mw * count for (at, item), count in uses.items() if at == stage)
        total += order.worth_cents(stage) + added * energy
        spent[stage] = total
    return spent


def _compared(
    question: Question, problem: Problem, likely: Sequence[tuple[int, Fraction]]
) -> tuple[dict[int, Spent], Spent]:
    """What plans for each future cost in all, and the best for it alone, by its last stage; none if time is over."""
    plans: dict[int, Spent] = {}
    best: dict[int, Fraction] = {}
    question.settings.progress("comparing with plans for one future")
    try:
        with question.clock.bounded():
            for number, _ in likely:
                plans[number] = _least(question, problem, _counting_on(problem.case, number))
                best[number] = _least(question, problem, _ending_with(problem.case, number))[number]
    except StoppedError:
        return {}, {}
    return plans, best


def _counting_on(case: Case, number: int) -> Case:
    """The case in which growth is sure to come to a stage, and to go on after it next to never."""
    chances = [NEXT_TO_NOTHING if at == number + 1 else 1 for at in range(len(case.stages or ()))]
    return _with_chances(case, chances)


def _ending_with(case: Case, number: int) -> Case:
    """The case whose growth ends with a stage, for certain."""
    return _with_chances(case, [1] * (number + 1))


def _with_chances(case: Case, chances: Sequence[float]) -> Case:
    stages = zip(case.stages or (), chances, strict=False)
    return case.model_copy(
        update={"stages": tuple(stage.model_copy(update={"probability": chance}) for stage, chance in stages)}
    )


def _least(question: Question, problem: Problem, case: Case) -> dict[int, Fraction]:
    """What the best design of another case costs if growth ends with each of its stages.

    Raises ``StoppedError`` where none is proven.
    """
    other = managed_by_switches(bound_alike(problem_of(case, problem.catalog), problem), question.managed)
    quiet = replace(question.settings, progress=lambda text: None)
    optimum = search_of(other, quiet, question.clock).run()
    if optimum.verdict != "optimal":
        raise StoppedError
    return _spent_by(other, optimum.picked)
