"""Exact units: money in integer cents, power in integer milliwatts, speed in integer Mb/s.

Every physical or commercial number that is optimized is an integer from the moment it is read, so that
sums, comparisons and proofs are exact. Conversion goes through the decimal text of the number. What is added up,
or gathered, by a key is so here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import chain, count
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload
from unicodedata import combining, normalize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Whole numbers of many candidates, one a row.
IntArray: TypeAlias = "NDArray[np.int64]"
# One candidate's whole number, or those of many: formulas hold for both. A union, not a type variable: in one shape
# that the search looks at some numbers are of all candidates and others of each, so that no variable stands for both.
Number: TypeAlias = "int | NDArray[np.int64]"
# Whether something holds, of one candidate or of many.
Truth: TypeAlias = "bool | NDArray[np.bool_]"

CENTS_PER_USD = 100
MILLIWATTS_PER_WATT = 1000
MBPS_PER_GBPS = 1000
HOURS_PER_YEAR = 8760
NS_PER_US = 1000
# Numbers whose exact values are kept: more than a catalog has prices.
MOST_KNOWN = 4096

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Amount = TypeVar("Amount", int, float)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key; keys and values in the order of the pairs."""
    values: dict[Key, list[Value]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return values


def sets(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, set[Value]]:
    """The different values of each key; keys in the order of the pairs."""
    return {key: set(values) for key, values in grouped(pairs).items()}


@overload
def summed(pairs: Iterable[tuple[Key, int]]) -> Counter[Key]: ...
@overload
def summed(pairs: Iterable[tuple[Key, Fraction]]) -> dict[Key, Fraction]: ...
def summed(pairs: Iterable[tuple[Key, Any]]) -> Any:
    """The sum of the numbers of each key; keys in the order of the pairs."""
    sums: Counter[Key] = Counter()
    for key, number in pairs:
        sums[key] += number
    return sums


def largest(pairs: Iterable[tuple[Key, Amount]]) -> dict[Key, Amount]:
    """The largest of the numbers of each key; keys in the order of the pairs."""
    most: dict[Key, Amount] = {}
    for key, number in pairs:
        most[key] = max(most.get(key, number), number)
    return most


@lru_cache(MOST_KNOWN)
def exact(number: float | int | str) -> Fraction:
    """Return the number that its shortest decimal text denotes: ``exact(0.1) == Fraction(1, 10)``."""
    return Fraction(Decimal(str(number)))


def rounded(number: Fraction) -> int:
    """Round half up to an integer (0.5 -> 1, -0.5 -> -1), exactly."""
    whole = (2 * abs(number.numerator) + number.denominator) // (2 * number.denominator)
    return whole if number >= 0 else -whole


@lru_cache(MOST_KNOWN)
def cents(usd: float | int) -> int:
    """Dollars to whole cents, rounding half up."""
    return rounded(exact(usd) * CENTS_PER_USD)


def whole_shares(amounts: Sequence[int | Fraction], unit: int) -> list[int]:
    """Amounts in whole units, which add up to their rounded sum: those with the largest remainders are rounded up."""
    missing = rounded(Fraction(sum(amounts), unit)) - sum(int(amount // unit) for amount in amounts)
    order = sorted(range(len(amounts)), key=lambda place: -(amounts[place] % unit))
    up = set(order[:missing])
    return [int(amount // unit) + (place in up) for place, amount in enumerate(amounts)]


@lru_cache(MOST_KNOWN)
def milliwatts(watts: float | int) -> int:
    """Watts to whole milliwatts, rounding half up."""
    return rounded(exact(watts) * MILLIWATTS_PER_WATT)


def mbps(gbps: float | int | str) -> int:
    """Gb/s to whole Mb/s, rounding half up."""
    return rounded(exact(gbps) * MBPS_PER_GBPS)


def plain(numerator: int, denominator: int) -> int | float:
    """Return ``numerator / denominator`` as an int where it is whole, else as the nearest float."""
    whole, rest = divmod(numerator, denominator)
    return whole if rest == 0 else numerator / denominator


def usd(amount_cents: int) -> int | float:
    """Whole cents to dollars, with at most two decimals."""
    return plain(amount_cents, CENTS_PER_USD)


def watts(amount_mw: int) -> int | float:
    """Whole milliwatts to watts."""
    return plain(amount_mw, MILLIWATTS_PER_WATT)


def gbps(amount_mbps: int) -> int | float:
    """Whole Mb/s to Gb/s."""
    return plain(amount_mbps, MBPS_PER_GBPS)


def plain_fraction(value: Fraction, digits: int = 6) -> int | float:
    """A ratio as an int where it is whole, else as a float rounded to ``digits`` decimals."""
    if value.denominator == 1:
        return value.numerator
    return round(value.numerator / value.denominator, digits)


def ceil_div(numerator: int, denominator: int) -> int:
    """Return the ceiling of an integer quotient."""
    return -(-numerator // denominator)


@overload
def ceil_of(numerator: int, denominator: int) -> int: ...
@overload
def ceil_of(numerator: IntArray, denominator: Number) -> IntArray: ...
@overload
def ceil_of(numerator: Number, denominator: IntArray) -> IntArray: ...
@overload
def ceil_of(numerator: Number, denominator: Number) -> Number: ...
def ceil_of(numerator: Number, denominator: Number) -> Number:
    """Ceiling of a quotient, of integers or arrays."""
    return -(-numerator // denominator)


def beats(numbers: Sequence[float], others: Sequence[float]) -> bool:
    """Whether numbers are unlike others and none of them is higher."""
    return numbers != others and all(own <= other for own, other in zip(numbers, others, strict=True))


def ceil_decimetres(metres: float) -> float:
    """A length in whole decimetres, up."""
    return ceil(round(metres * 10, 6)) / 10


def free_name(stem: str, is_taken: Callable[[str], bool]) -> str:
    """``stem``, or the first of ``stem-2``, ``stem-3`` and so on that is free."""
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(name for name in names if not is_taken(name))


def as_name(text: str) -> str:
    """A text as part of an id or of a file's name: small letters without accents, digits and hyphens."""
    plain_letters = "".join(letter for letter in normalize("NFKD", text.casefold()) if not combining(letter))
    return re.sub(r"[^a-z0-9]+", "-", plain_letters).strip("-")


def some(number: float, noun: str) -> str:
    """A number of things in words: ``1 switch``, ``2 leaves``, ``1,024 servers``, ``1.5 units``."""
    shown = int(number) if number == int(number) else number
    return f"{shown:,} {noun if number == 1 else plural(noun)}"


def first_of(words: Sequence[str], most: int) -> str:
    """Some words, of more than so many the first, and how many more there are: ``a, b and 3 more``."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def plural(noun: str) -> str:
    """The plural of a noun: ``leaves``, ``switches``, ``assemblies``, ``entries``, ``servers``."""
    if noun.endswith("leaf"):
        return noun.removesuffix("f") + "ves"
    if noun.endswith(("ch", "x", "s")):
        return noun + "es"
    return noun.removesuffix("y") + "ies" if noun.endswith(("ly", "ry")) else noun + "s"
