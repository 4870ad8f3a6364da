"""Answers of a part of the space, as what they are in the whole of it: proven where they reach its bound."""

from __future__ import annotations

from dataclasses import replace

from fabopt.program.lexicographic import Optimum
from fabopt.search.answer import Answer, bounded_by
from fabopt.solution.question import Answers


def bounded(answers: Answers, bound: int | None) -> Answers:
    """Answers to a narrower question as those to the question itself, which no answer of is below a bound."""
    tried = (
        replace(one, optimum=_unknown(one) if one.optimum.value is None else bounded_by(one.optimum, bound))
        for one in answers.tried
    )
    return Answers(tuple(tried), complete=False, bound=bound)


def without_design(answers: Answers, bound: int | None) -> Answers:
    """Answers none of which is one to the question itself, which does not prove that it has none."""
    tried = (replace(one, optimum=_unknown(one)) for one in answers.tried)
    return Answers(tuple(tried), complete=False, bound=bound)


def _unknown(answer: Answer) -> Optimum:
    return Optimum("unknown", sized=answer.optimum.sized)
