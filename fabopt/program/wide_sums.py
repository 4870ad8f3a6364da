"""Programs whose sums do not fit the integers of an engine, written in numbers of two words.

CP-SAT takes sums of up to 62 bits, and calls a program with larger ones invalid. Weights that have a common divisor are
divided by it. Where that is not enough, a weight ``c`` is split into ``unit W + R`` with ``0 <= R < unit``. The sum of
all ``R x`` is carried over: it is ``unit carry + low`` with ``0 <= low < unit``, so that ``high``, the sum of all ``W
x`` and the carry, and ``low`` are the words of the whole sum, and it is the least where ``high`` is the least and of
these ``low`` is. Nothing is rounded. The unit is the least that is enough: a bound on ``high`` then proves the most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd

from fabopt.program.libraries import pulp

# Twice as much is the largest number that CP-SAT knows; it asks for so much room in every sum.
MOST = 2**62 - 1
Term = tuple[pulp.LpVariable, int]


@dataclass(frozen=True)
class Words:
    """A sum, its constant aside: ``unit high + low``; ``low`` None: every weight is a multiple of the unit."""

    unit: int
    high: pulp.LpAffineExpression
    low: pulp.LpVariable | None


def is_wide(expression: pulp.LpAffineExpression) -> bool:
    """Whether a sum may exceed an engine's integers."""
    return abs(int(expression.constant)) + _most(expression.items()) > MOST


def _most(terms: Iterable[Term]) -> int:
    return sum(abs(int(weight)) * max(abs(int(var.lowBound)), abs(int(var.upBound))) for var, weight in terms)


def narrowed(lp: pulp.LpProblem) -> tuple[pulp.LpProblem, Words | None]:
    """The program with every wide row in two words, and its objective where that is wide, which is left to be set.

    The program itself where nothing is wide.
    """
    wide = [name for name, row in lp.constraints.items() if is_wide(row)]
    if not wide and not is_wide(lp.objective):
        return lp, None
    narrow = pulp.LpProblem(lp.name, lp.sense)
    narrow.addVariables(lp.variables())
    for name, row in lp.constraints.items():
        if name in wide:
            _add_row(narrow, name, row)
        else:
            narrow.constraints[name] = row
    if not is_wide(lp.objective):
        narrow.setObjective(lp.objective)
        return narrow, None
    return narrow, _words_of(narrow, "objective", lp.objective)


def _add_row(narrow: pulp.LpProblem, name: str, row: pulp.LpConstraint) -> None:
    """``unit high + low <= most``: below the high word of ``most`` or, up to its low word, at it."""
    is_equal = row.sense == pulp.LpConstraintEQ
    terms = -row if row.sense == pulp.LpConstraintGE else row
    words = _words_of(narrow, name, terms, -int(terms.constant))
    high, low = divmod(-int(terms.constant), words.unit)
    if words.low is None:
        narrow += words.high <= high, f"{name}_high"
        if is_equal:
            narrow += words.high >= high + (low > 0), f"{name}_least"
    elif is_equal:
        narrow += words.high == high, f"{name}_high"
        narrow += words.low == low, f"{name}_low"
    else:
        is_below = pulp.LpVariable(f"below_{name}", cat="Binary")
        narrow += words.high + is_below <= high, f"{name}_high"
        narrow += words.low - words.unit * is_below <= low, f"{name}_low"


def _words_of(narrow: pulp.LpProblem, name: str, expression: pulp.LpAffineExpression, beside: int = 0) -> Words:
    """The terms of a sum in two words, its constant left out; ``beside``: a number that has to fit the high word with
    them.
    """
    terms = [(var, int(weight)) for var, weight in expression.items()]
    unit = common = gcd(*(weight for _, weight in terms)) or 1
    while _most_of_high(terms, unit) + abs(beside // unit) > MOST:
        unit *= 2
    high = [(var, weight // unit) for var, weight in terms if weight // unit]
    if unit == common:
        return Words(unit, pulp.LpAffineExpression(high, constant=0), None)
    rests, (least, most) = _rests(terms, unit)
    carry = pulp.LpVariable(f"carry_{name}", least, most, cat="Integer")
    low = pulp.LpVariable(f"low_{name}", 0, unit - 1, cat="Integer")
    narrow += pulp.LpAffineExpression([*rests, (carry, -unit), (low, -1)], constant=0) == 0, f"{name}_carried"
    return Words(unit, pulp.LpAffineExpression([*high, (carry, 1)], constant=0), low)


def _most_of_high(terms: Iterable[Term], unit: int) -> int:
    """Upper bound of the high word, with the carry."""
    _, carried = _rests(terms, unit)
    return _most((var, weight // unit) for var, weight in terms) + max(map(abs, carried))


def _rests(terms: Iterable[Term], unit: int) -> tuple[list[Term], tuple[int, int]]:
    """Remainders of the weights by a unit, and the least and the most units of their sum."""
    rests = [(var, weight % unit) for var, weight in terms if weight % unit]
    least, most = (sum(rest * int(getattr(var, bound)) for var, rest in rests) for bound in ("lowBound", "upBound"))
    return rests, (least // unit, most // unit)
