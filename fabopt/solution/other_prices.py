"""What would be chosen at other prices: whether guessed prices decide, and up to which price of a switch it stays."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import floor
from typing import NamedTuple

from fabopt.errors import NoAnswerError
from fabopt.parts.offering import offering_of
from fabopt.parts.price_basis import is_guessed
from fabopt.problem.problem import Problem, problem_of
from fabopt.problem.rules_kept import bound_alike
from fabopt.program.copies import Tell, beside_each_other, copies_beside
from fabopt.program.settings import StoppedError, Work
from fabopt.schema.catalog import KINDS
from fabopt.schema.design import Design
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.search.price_ends import MOST_STEPS, STEPS, Line, at_factor, priced_design
from fabopt.solution.question import Question
from fabopt.solution.summaries import named_beside
from fabopt.solution.trunked_ends import ends_of
from fabopt.solution.trunks import MetWay, TrunkedWays
from fabopt.topology.clos.trunked import is_proven
from fabopt.units import CENTS_PER_USD, cents, rounded

# The relative change of guessed prices, up and down, and the most seconds for the designs that are then best.
MOVE = Fraction(3, 10)
MOST_SECONDS = 10.0
# Work of the search at one factor, in units of ``program.settings.Work``.
WORK_PER_FACTOR = 2_500
# Work of all searches for the price up to which an answer stays.
MOST_WORK_OF_ENDS = 20_000
# What is moved together.
GUESSES = "estimated and derived prices"


def until(question: Question, answer: Answer, design: Design, id_: str) -> str:
    """Words on the price of a switch up to which the answer stays.

    Where that takes too long to find, a row of *what else* without the switch bounds it.
    """
    seconds = min(MOST_SECONDS, question.alternatives_s)
    try:
        with question.clock.shortened(seconds), question.clock.bounded():
            base, settings = _whole(question, answer), question.settings.quiet
            settings = replace(settings, work=Work(most=MOST_WORK_OF_ENDS))
            own, proven = priced_design(base, answer.problem, answer.picked), answer.optimum.verdict == "optimal"
            indices = frozenset(item.index for item in base.item_table.items if item.id == id_)
            now = own.line(indices).at(Fraction(1))
            others = [Line(now + delta, Fraction(0)) for delta in _deltas_without(design, id_, keeping=True)]
            end = ends_of(base, own, proven, settings, question.clock).last(indices, 1, others)
    except (StoppedError, NoAnswerError):
        return _at_the_latest(design, id_)
    if end.next is None:
        return f"; with {id_} at {MOST_STEPS // STEPS} times that {_stays(end.is_proven)}"
    most = floor(_price_usd(design, id_) * end.step / STEPS)
    return f"; {_above(design, id_, most)} another design is {'the cheapest' if end.is_proven else 'cheaper'}"


def _above(design: Design, id_: str, most_usd: int) -> str:
    """Words for prices of a switch, alone, above one that is at least its own."""
    return f"{f'above ${most_usd:,}' if most_usd > _price_usd(design, id_) else 'at any higher price'} for {id_} alone"


def verdict(question: Question, answer: Answer) -> str:
    """Words on whether the choice is stable under other guesses."""
    seconds = min(MOST_SECONDS, question.alternatives_s)
    try:
        with question.clock.shortened(seconds), question.clock.bounded():
            return "; " + _what_changes(question, answer)
    except (StoppedError, NoAnswerError):
        return f"; what else would be chosen at other estimates was not found within {seconds:g} s"


def _price_usd(design: Design, id_: str) -> float:
    return next(row.unit_price_usd for row in design.bom if row.id == id_)


def _at_the_latest(design: Design, id_: str) -> str:
    """The price of a switch above which the best design without it costs less, if a row has that."""
    without = _deltas_without(design, id_)
    if not without:
        return f"; the price above which another design than with {id_} is the cheapest takes more work to tell"
    units = sum(row.quantity for row in design.bom if row.id == id_)
    most = floor(_price_usd(design, id_) + Fraction(without[0], CENTS_PER_USD * units))
    latest = " at the latest" if most > _price_usd(design, id_) else ""
    return f"; {_above(design, id_, most)}{latest} another design is cheaper"


def _deltas_without(design: Design, id_: str, keeping: bool = False) -> list[int]:
    """Cents by which rows without a switch cost more than the answer; ``keeping``: of those that keep all rules."""
    return [
        cents(row.capex_delta_usd)
        for row in design.alternatives
        if row.capex_delta_usd is not None
        and id_ in row.change.get("procurement.forbidden_parts", ())
        and not (keeping and row.rules_left_out)
    ]


def _whole(question: Question, answer: Answer) -> Problem:
    """The answered problem with dominated products, which other prices may favour."""
    problem, prune = answer.problem, question.settings.prune
    offering = offering_of(problem.case, problem.catalog, prune, whole=True)
    whole = bound_alike(problem_of(problem.case, problem.catalog, prune, offering), problem)
    return replace(whole, site=problem.site)


def _what_changes(question: Question, answer: Answer) -> str:
    base = _whole(question, answer)
    guessed, rivals = _guessed_items(base), dict[str, _Rival]()

    def look(tell: Tell[tuple[str, _Rival]], factor: Fraction, words: str) -> None:
        if not any(rival.saves for rival in rivals.values()):
            tell((words, _cheaper(question, answer, base, guessed, factor)))

    with question.settings.still():
        jobs = [partial(look, factor=1 - MOVE, words="lower"), partial(look, factor=1 + MOVE, words="higher")]
        copies = copies_beside(question.settings.work.done)
        beside_each_other(jobs, question.clock, lambda told: rivals.update([told]), copies)
    for words, rival in sorted(rivals.items(), reverse=True):  # lower prices first
        if rival.saves:
            best = "the cheapest" if rival.is_proven else "cheaper"
            saved = f"by ${rounded(Fraction(rival.saves, CENTS_PER_USD)):,}"
            return (
                f"with {GUESSES} {round(100 * MOVE)} % {words} another design would be {best}, {saved}: {rival.words}"
            )
    proven = all(rival.is_proven for rival in rivals.values())
    return f"with {GUESSES} {round(100 * MOVE)} % lower or higher {_stays(proven)}"


def _stays(is_proven: bool) -> str:
    """Words for an answer that no other design beats at other prices."""
    return f"this design stays the cheapest{'' if is_proven else ' that was found'}"


def _guessed_items(problem: Problem) -> frozenset[int]:
    """Indices of the items with guessed prices."""
    parts = {product.id: product for kind in KINDS[:-1] for product in getattr(problem.catalog, kind)}
    items = problem.item_table.items
    return frozenset(item.index for item in items if item.id in parts and is_guessed(parts[item.id], item.length_m))


class _Rival(NamedTuple):
    """What is cheapest at other prices: the cents that it saves, 0 for the answer itself; its words; whether proven."""

    saves: int
    words: str
    is_proven: bool


def _cheaper(question: Question, answer: Answer, base: Problem, guessed: frozenset[int], factor: Fraction) -> _Rival:
    """The cheapest design met with guessed prices multiplied by ``factor``, with room for its panels."""
    priced = priced_design(base, answer.problem, answer.picked)
    own, settings = priced.line(guessed).at(factor), replace(question.settings.quiet, work=Work(most=WORK_PER_FACTOR))
    none_below: list[bool] = []

    def run(problem: Problem) -> MetWay[_Rival] | None:
        scaled = at_factor(problem, guessed, factor, question.settings.prune)
        most, proven = scaled.value(own), is_proven(problem)
        rival = search_of(scaled.problem, settings, question.clock, lower_than=most).run(ties=False)
        question.clock.look()
        if rival.value is None or scaled.cents(rival.value) >= own:
            none_below.append(proven and rival.has_none_below(most))
            return None
        cents, words = scaled.cents(rival.value), named_beside(scaled.problem, rival.picked, answer.picked)
        cheaper = _Rival(rounded(Fraction(own - cents)), words, proven and rival.verdict == "optimal")
        return MetWay.of(problem, rival.picked, cheaper.is_proven, cents, cheaper)

    if not base.case.site.trunked:
        best = run(base)
        return _Rival(0, "", all(none_below)) if best is None else best.of_study
    known = MetWay.of(base, priced.picked, True, own, _Rival(0, "", True))
    met = TrunkedWays(base, question.settings.prune).best(run, settings.progress, known)
    assert met is not None
    return met[0].of_study._replace(is_proven=met[1] and all(none_below))
