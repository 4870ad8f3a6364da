"""Programs whose sums do not fit the whole numbers of an engine, written in numbers of two words.

CP-SAT takes sums of up to 62 bits, and says of others that the program is invalid. A weight ``c`` is then split into
``HIGH_UNIT W + R`` with ``0 <= R < HIGH_UNIT``. The sum of all ``R x`` is carried over: it is ``HIGH_UNIT carry + low``
with ``0 <= low < HIGH_UNIT``, so that ``high``, the sum of all ``W x`` and the carry, and ``low`` are the words of the
whole sum, and it is the least where ``high`` is the least and of these ``low`` is. Nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabopt.program.libraries import pulp

# Twice as much is the largest number that CP-SAT knows; it asks for so much room in every sum.
MOST = 2**62 - 1
HIGH_UNIT = 2**30


@dataclass(frozen=True)
class Words:
    """A sum in two words: ``HIGH_UNIT high + low``."""

    high: pulp.LpAffineExpression
    low: pulp.LpVariable


def is_wide(expression: pulp.LpAffineExpression) -> bool:
    """Whether a sum may come to more than an engine takes."""
    return abs(int(expression.constant)) + sum(map(_most, expression.items())) > MOST


def _most(term: tuple[pulp.LpVariable, int]) -> int:
    var, weight = term
    return abs(int(weight)) * max(abs(int(var.lowBound)), abs(int(var.upBound)))


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
    """``HIGH_UNIT high + low <= most``: below the high word of ``most`` or, up to its low word, at it."""
    if row.sense == pulp.LpConstraintEQ:
        high, low = divmod(-int(row.constant), HIGH_UNIT)
        words = _words_of(narrow, name, row)
        narrow += words.high == high, f"{name}_high"
        narrow += words.low == low, f"{name}_low"
        return
    terms = row if row.sense == pulp.LpConstraintLE else -row
    high, low = divmod(-int(terms.constant), HIGH_UNIT)
    words = _words_of(narrow, name, terms)
    is_below = pulp.LpVariable(f"below_{name}", cat="Binary")
    narrow += words.high + is_below <= high, f"{name}_high"
    narrow += words.low - HIGH_UNIT * is_below <= low, f"{name}_low"


def _words_of(narrow: pulp.LpProblem, name: str, expression: pulp.LpAffineExpression) -> Words:
    """The terms of a sum in two words, its constant aside."""
    parts = [(var, *divmod(int(weight), HIGH_UNIT)) for var, weight in expression.items()]
    rests = [(var, rest) for var, _, rest in parts if rest]
    least, most = (sum(rest * int(bound(var)) for var, rest in rests) for bound in (_low_bound, _up_bound))
    carry = pulp.LpVariable(f"carry_{name}", least // HIGH_UNIT, most // HIGH_UNIT, cat="Integer")
    low = pulp.LpVariable(f"low_{name}", 0, HIGH_UNIT - 1, cat="Integer")
    narrow += pulp.LpAffineExpression([*rests, (carry, -HIGH_UNIT), (low, -1)], constant=0) == 0, f"{name}_carried"
    high = pulp.LpAffineExpression([*((var, weight) for var, weight, _ in parts if weight), (carry, 1)], constant=0)
    return Words(high, low)


def _low_bound(var: pulp.LpVariable) -> int:
    return int(var.lowBound)


def _up_bound(var: pulp.LpVariable) -> int:
    return int(var.upBound)
