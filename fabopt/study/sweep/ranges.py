"""Ranges of values on the command line: ``2M:10M:9`` (start, stop, count) or ``1,1.5,2``; suffixes K and M."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from fabopt.errors import Fault, fault
from fabopt.io.quantities import MONEY, MeasuredText, quantity_under
from fabopt.units import exact, plain_fraction

# What one command solves at the most; more than that is nearly always a slip of the keyboard.
MOST_POINTS = 100_000
# Ratios of a case have at most six decimals, and so do steps of a range.
DIGITS = 6
# Dollars below this without a suffix are taken for a forgotten M or K.
LEAST_BUDGET_USD = 1000
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)([KkM]?)")
_SUFFIXES = {"": 1, "K": 1000, "k": 1000, "M": 1_000_000}
_ONE_AMOUNT = re.compile(r"\s*\$\s*[0-9]{1,3}(?:,[0-9]{3})+\s*")
RANGE_FORM = "start:stop:count such as 2:10:9, or a list such as 1,1.5,2; suffixes K and M"
BUDGET_FORM = "start:stop:count such as 2M:10M:9, or a list such as 2M,4.5M; suffixes K and M"


class _WrongError(ValueError):
    """The problem of a range, and the remedy."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.hint = hint


def budgets(text: str) -> list[int | float] | Fault:
    """Budgets in dollars, each once, in the order given; or their fault."""
    return _parsed("--budget", text, text, BUDGET_FORM, _budget, 2)


def values(key: str, text: str) -> list[int | float] | Fault:
    """Values of a key of the case, each once, in the order given; or their fault."""
    quantities = (quantity_under(word) for word in reversed(key.split(".")))
    measured = next((quantity for quantity in quantities if quantity is not None), None)
    return _parsed("--over", f"{key}={text}", text, RANGE_FORM, partial(_number, measured=measured), DIGITS)


def _parsed(
    option: str, whole: str, text: str, form: str, number: Callable[[str], Fraction], digits: int
) -> list[int | float] | Fault:
    try:
        points = _points(text.strip(), number)
    except _WrongError as error:
        return fault(option, "", str(error), whole, allowed=form, hint=error.hint)
    return list(dict.fromkeys(plain_fraction(point, digits) for point in points))


def _points(text: str, number: Callable[[str], Fraction]) -> Sequence[Fraction]:
    if not text:
        raise _WrongError("there are no values")
    if _ONE_AMOUNT.fullmatch(text):
        return [number(text)]
    if ":" not in text:
        return [number(word) for word in text.split(",")]
    words = text.split(":")
    if len(words) != 3:
        raise _WrongError("a range has three parts")
    start, stop, count = number(words[0]), number(words[1]), _count(words[2])
    if start > stop:
        raise _WrongError("the range is reversed: it starts above its end", _forgotten_suffix(words))
    if count == 1 and start != stop:
        raise _WrongError("a range of one value has the same start and end")
    return [start + (stop - start) * index / max(1, count - 1) for index in range(count)]


def _forgotten_suffix(words: Sequence[str]) -> str:
    """A hint where only the start has a suffix K or M."""
    first, last = words[0].strip(), words[1].strip()
    return f"did you mean `{last}{first[-1]}`?" if first[-1:] in "KM" and last[-1:] not in "KM" else ""


def _count(text: str) -> int:
    text = text.strip()
    if not text.isascii() or not text.isdigit():
        raise _WrongError("how many values is a whole number")
    count = int(text) if len(text) <= len(str(MOST_POINTS)) else MOST_POINTS + 1
    if count == 0:
        raise _WrongError("the range is empty")
    if count > MOST_POINTS:
        raise _WrongError(f"a range has at most {MOST_POINTS:,} values")
    return count


def _number(text: str, measured: MeasuredText | None = None) -> Fraction:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        quantity = None if measured is None else measured.read(text)
        if quantity is not None:
            return quantity
        raise _WrongError(f"`{text.strip()}` is not a number" if text.strip() else "a value is missing")
    return exact(match.group(1)) * _SUFFIXES[match.group(2)]


def _budget(text: str) -> Fraction:
    usd = _number(text, MONEY)
    if usd < LEAST_BUDGET_USD and text.strip()[-1].isdigit():
        word = text.strip()
        raise _WrongError(f"`{word}` has no unit", f"write {word}M or {word}K; dollars are written in full: 2000000")
    return usd
