"""Integer codes of rows and words, so that equal ones are found at once.

Arrays of columns and of their numbers have shape (rows,).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np

from fabopt.wiring.model import Ints

_MOST_NUMBERS = 2**31  # two factors below it have a product that still fits
Word = TypeVar("Word", bound=Hashable)


def combined(*columns: Ints) -> Ints:
    """A number for each row of columns of whole numbers; equal rows, and only they, have equal numbers."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns if len(code) else ():
        low, high = int(column.min()), int(column.max())
        if high - low >= _MOST_NUMBERS:
            column, low, high = _ranked(column), 0, len(column)
        if int(code.max()) >= _MOST_NUMBERS:
            code = _ranked(code)
        code = code * (high - low + 1) + (column - low)
    return code


def _ranked(column: Ints) -> Ints:
    """Ranks of a column's values: equal for equal values, from 0."""
    return np.unique(column, return_inverse=True)[1].ravel().astype(np.int64)


def distinct(code: Ints) -> Ints:
    """The different numbers in rising order, by sorting: many times as fast as the hash table of ``np.unique``."""
    ordered: Ints = np.sort(code)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]


def repeated(code: Ints) -> int:
    """Rows that repeat an earlier one."""
    return len(code) - len(distinct(code))


def counts_of(code: Ints) -> Ints:
    """Counts of each different number, shape (different numbers,)."""
    return np.unique(code, return_counts=True)[1]


def coded(words: Iterable[Word]) -> tuple[Ints, list[Word]]:
    """(Number of every word, the words by number)."""
    number: dict[Word, int] = {}
    numbers = [number.setdefault(word, len(number)) for word in words]
    return np.array(numbers, dtype=np.int64), list(number)
