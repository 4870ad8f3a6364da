"""Values in cells of a quote: amounts in any notation, currencies, shares, counts, lengths.

Ambiguous texts are not read.

Sheets of a spreadsheet as cells by row and column, whatever kind of file they are from.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from fabopt.io.quote.currencies import REMEMBERED, agreed, signs_in, without_currencies
from fabopt.units import exact, grouped

# A quote has some hundred lines; what has many more is something else.
# What a CSV file calls its one sheet.
CSV_SHEET = "CSV"
MOST_ROWS = 20_000
MOST_CELLS = 1_000_000
MOST_SHEETS = 200
# Columns of one heading.
WIDEST = 100
# No text that is longer says what a line is.
LONGEST_TEXT = 2_000


class Cell(NamedTuple):
    """A cell. ``value``: None for a formula without a cached value; ``look``: its number format.

    ``struck``: whether it, or a part of its text, is struck through.
    """

    value: str | float | date | None
    look: str = ""
    struck: bool = False

    @property
    def text(self) -> str:
        """The value as text on one line: whole numbers without a point, dates as ISO writes them."""
        if isinstance(self.value, float):
            return f"{self.value:.0f}" if self.value.is_integer() else repr(self.value)
        return "" if self.value is None else str(self.value)


class Merge(NamedTuple):
    """Cells that are shown as one, first and last included; rows and columns count from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook, or a whole CSV file: its cells by row, then column, both from 1; empty ones are not there.

    ``hidden``, ``hidden_rows``, ``hidden_columns``: what nobody sees who opens it; ``encoding_note``: how its text was
    read, where that had to be found out.
    """

    name: str
    rows: Mapping[int, Mapping[int, Cell]]
    merges: tuple[Merge, ...] = ()
    hidden: bool = False
    hidden_rows: Collection[int] = ()
    hidden_columns: Collection[int] = ()
    encoding_note: str = ""

    @cached_property
    def _merged(self) -> dict[tuple[int, int], Merge]:
        """The merge of every cell in one that is higher than a row, in rows that have anything."""
        rows = sorted(self.rows)
        return {
            (row, merge.first_column): merge
            for merge in self.merges
            if merge.last_row > merge.first_row
            for row in rows[bisect_left(rows, merge.first_row) : bisect_right(rows, merge.last_row)]
        }

    @cached_property
    def _wide(self) -> dict[int, list[Merge]]:
        """Merges that are wider than a column, by the row in which they begin."""
        return grouped((merge.first_row, merge) for merge in self.merges if merge.last_column > merge.first_column)

    def cell(self, row: int, column: int) -> Cell | None:
        """The cell that is shown at a place: of several rows that are one, the first's."""
        own = self.rows.get(row, {}).get(column)
        merge = self._merged.get((row, column))
        return own if own is not None or merge is None else self.rows.get(merge.first_row, {}).get(column)

    def shared_rows(self, row: int, column: int) -> range:
        """The rows that share the cell at a place, this one included."""
        merge = self._merged.get((row, column))
        return range(row, row + 1) if merge is None else range(merge.first_row, merge.last_row + 1)

    def spread(self, row: int) -> dict[int, Cell]:
        """The cells of a row with those beside them that are shown as one."""
        cells = dict(self.rows.get(row, {}))
        for merge in self._wide.get(row, ()):
            first = cells.get(merge.first_column)
            columns = range(merge.first_column, min(merge.last_column, merge.first_column + WIDEST) + 1)
            cells |= {column: first for column in columns if first is not None and column not in cells}
        return cells

    def is_hidden(self, row: int) -> bool:
        """Whether a row is hidden in the saved sheet."""
        return self.hidden or row in self.hidden_rows

    def place(self, row: int, column: int) -> str:
        """A cell's name in messages: ``Sheet1!C7``."""
        return f"{self.name}!{letters(column)}{row}"


def letters(column: int) -> str:
    """The letters of a column, from 1: ``A``, ``Z``, ``AA``."""
    text = ""
    while column:
        column, place = divmod(column - 1, 26)
        text = chr(ord("A") + place) + text
    return text


# Letters, digits and marks as wide as a Chinese one, with the plain ones: U+FF01 to U+FF5E (Unicode 16, chapter 18.5).
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def plain_text(text: str) -> str:
    """Text on one line, without outer spaces and unprintable characters."""
    words = " ".join(text[:LONGEST_TEXT].translate(_FULL_WIDTH).split())
    return words if words.isprintable() else "".join(letter for letter in words if letter.isprintable())


# Of number formats: a currency with its language, and what is not shown.
_CURRENCY_OF_LOOK = re.compile(r"\[\$([^\]-]+)(?:-[^\]]*)?\]")
_NOT_SHOWN = re.compile(r"\[[^\]]*\]")
# A comma after the digits divides what is shown by a thousand (ECMA-376 part 1, 18.8.31).
_DIVIDED = re.compile(r"[0#?],+(?![0#?,])")

_RUN = re.compile(r"[0-9](?:[0-9.,'’ \u00a0\u202f]*[0-9])?")
_UNIT_WORDS = re.compile(
    r"(?:/|per|each|ea|pcs?|pieces?|units?|stk|stück|st|net|netto|incl|excl|\.|:|-{1,2}|,)+", re.IGNORECASE
)
_PERCENT = re.compile(r"%|\b(?:percent|per cent|pct|prozent|vh)\b", re.IGNORECASE)
_ONE_MARK = re.compile(r"[0-9]+([.,])([0-9]+)")
_THOUSANDS = 3
# As numbers are grouped in India, `27,50,000`.
_IN_LAKH = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}")


class Amount(NamedTuple):
    """A number as written, with the currency beside it: a code, a plain sign, or nothing."""

    value: Fraction
    currency: str = ""


def currency_of_look(look: str) -> str:
    """The currency that a number format shows, if it shows one."""
    named = signs_in(_words_of_look(look))
    return named[0] if len(named) == 1 else ""


def said_by_look(look: str) -> str:
    """What a number format shows beside a number as it is kept; empty where it divides it by thousands to show it."""
    return "" if _DIVIDED.search(look) else _words_of_look(look).replace('"', "").replace("\\", "")


def _words_of_look(look: str) -> str:
    return _NOT_SHOWN.sub("", _CURRENCY_OF_LOOK.sub(r" \1 ", look))


def decimal_mark(texts: Iterable[str]) -> str:
    """The mark before decimals that the clear ones of some numbers have; empty where none is clear or they differ."""
    marks = {mark for text in texts for run in _RUN.findall(text) if (mark := _mark_of(_joined(run)))}
    return marks.pop() if len(marks) == 1 else ""


def _joined(run: str) -> str:
    """A number without what parts thousands and can be nothing else."""
    return re.sub(r"(?<=[0-9])['’ \u00a0\u202f](?=[0-9]{3}(?![0-9]))", "", run)


def _mark_of(run: str) -> str:
    """The mark before the decimals of a number, where its own digits tell."""
    last = max(run.rfind("."), run.rfind(","))
    if last < 0:
        return ""
    mark, other = run[last], "," if run[last] == "." else "."
    if other in run:
        return mark
    if run.count(mark) > 1:
        return other
    return mark if len(run) - last - 1 != _THOUSANDS or run.startswith("0") else ""


def number_in(text: str, mark: str = "") -> Fraction | None:
    """The number of a text that has one; None where it has none, several, or one of two readings.

    ``mark``: before decimals elsewhere in the file. Three digits after a single mark are thousands, as no price has
    three decimals, unless that is the file's mark before decimals.
    """
    runs = _RUN.findall(text)
    if len(runs) != 1:
        return None
    run = _joined(runs[0])
    own = _mark_of(run)
    if not own and (single := _ONE_MARK.fullmatch(run)):
        if single.group(1) == mark:
            return None
        own = "," if single.group(1) == "." else "."
    whole, _, rest = run.partition(own) if own else (run, "", "")
    groups = re.split(r"[.,]", whole)
    in_threes = len(groups[0]) <= _THOUSANDS and all(len(group) == _THOUSANDS for group in groups[1:])
    if len(groups) > 1 and not in_threes and not _IN_LAKH.fullmatch(whole):
        return None
    digits = "".join(groups)
    if not digits.isdigit() or (rest and not rest.isdigit()) or len(digits) > 15:
        return None
    return exact(f"{digits}.{rest or 0}")


@lru_cache(maxsize=REMEMBERED)
def amount_of(cell: Cell, mark: str = "") -> Amount | None:
    """The amount of money that a cell states; None where it states none that is clear. It may be below zero."""
    if isinstance(cell.value, float):
        return Amount(exact(cell.value), currency_of_look(cell.look))
    if not isinstance(cell.value, str):
        return None
    named = agreed(signs_in(cell.value))
    text = without_currencies(cell.value) if named is not None else ""
    value = number_in(text, mark)
    rest = _UNIT_WORDS.sub("", re.sub(r"[\s()+−–-]", "", _RUN.sub("", text)))
    if value is None or rest or named is None:
        return None
    plain = signs_in(cell.value)
    return Amount(-value if _is_negative(text) else value, plain[0] if len(plain) == 1 else named)


def _is_negative(text: str) -> bool:
    text = text.strip()
    return text.startswith(("-", "−", "–", "(")) or re.search(r"[0-9][-−]$", text) is not None


@lru_cache(maxsize=REMEMBERED)
def count_of(cell: Cell, mark: str = "") -> int | None:
    """The whole number above zero that a cell states."""
    value = exact(cell.value) if isinstance(cell.value, float) else number_in(cell.text, mark)
    clear = value is not None and value.denominator == 1 and 0 < value <= 10**9
    return int(value) if clear and value is not None and not _is_negative(cell.text) else None


class Discount(NamedTuple):
    """A discount of a cell: a share of the price, or an amount."""

    share: Fraction = Fraction(0)
    amount: Fraction = Fraction(0)

    def off(self, price: Fraction) -> Fraction:
        """The price after the discount."""
        return price * (1 - self.share) - self.amount


# What is paid of a list price, in Chinese also in tenths (`8.5折`); what may be either that or what is taken off.
_PAID, _EITHER = re.compile(r"掛率|仕切率|(?P<tenths>[0-9]\s*折)"), re.compile(r"折扣率?|折率")


def discounts_of(cell: Cell, heading: str, mark: str = "") -> list[Discount]:
    """All that a discount may mean: without `%` or currency it may be in percent or an amount, below 1 a share."""
    number = exact(cell.value) if isinstance(cell.value, float) else number_in(cell.text, mark)
    if number is None:
        return []
    value = abs(number)
    if isinstance(cell.value, float) and "%" in cell.look:
        return [Discount(share=value)] if value < 1 else []
    texts = (cell.text, heading, cell.look)
    is_percent = any(_PERCENT.search(text) for text in texts)
    is_money = any(signs_in(text.upper()) for text in texts)
    shares = [value / 100, *([value] if value < 1 and "%" not in cell.text else [])]
    if paid := _PAID.search(f"{heading} {cell.text}"):
        shares = [1 - share for share in (*shares, *([value / 10] if paid["tenths"] else []))]
    elif _EITHER.search(heading):
        shares += [1 - share for share in shares]
    amounts = [] if is_percent or value < 1 else [value]
    return [Discount(share=share) for share in shares if share < 1 and (is_percent or not is_money)] + [
        Discount(amount=amount) for amount in amounts
    ]


# -- lengths --------------------------------------------------------------------------------------------------------

_LENGTH = re.compile(
    r"(?<![\w.,])(?:[0-9]+\s?(?P<span>[-–/]|to|bis|or)\s?)?([0-9]{1,4}(?:[.,][0-9]{1,2})?)\s?(m|cm|meters?|metres?|mètres?|metros?|metri|米)(?![\w²³/])",
    re.IGNORECASE,
)
_METRES_PER_CM = Fraction(1, 100)
# Headings of lengths that are not in metres: those that are no parts of one, and those that are.
_NOT_METRIC = re.compile(
    r"\b(?:ft|feet|foot|inch(?:es)?|yards?|yd|fuß|zoll|pieds?|pouces?|pies|pulgadas|piedi|pollici)\b|[(\[]\s*(?:in\.?|['\"])\s*[)\]]|英尺",
    re.IGNORECASE,
)
_SMALLER = ((re.compile(r"\bcm\b", re.IGNORECASE), 100), (re.compile(r"\bmm\b", re.IGNORECASE), 1000))


def lengths_in(text: str) -> set[float]:
    """All lengths that a text names, in metres; of a span, such as ``5-10 m``, none."""
    return {
        float(exact(number.replace(",", ".")) * (_METRES_PER_CM if unit.lower() == "cm" else 1))
        for span, number, unit in _LENGTH.findall(text)
        if not span
    }


def length_of(cell: Cell, heading: str = "") -> float | None:
    """The length that a cell of a column of lengths states, in metres where neither it nor the heading names a unit.

    None where it states none, or in feet or inches: makers round them in different ways.
    """
    named = lengths_in(cell.text) if isinstance(cell.value, str) else set()
    if len(named) == 1:
        return named.pop()
    if named or _NOT_METRIC.search(heading):
        return None
    number = exact(cell.value) if isinstance(cell.value, float) else None
    if number is None and re.fullmatch(r"[0-9]+(?:[.,][0-9]+)?", cell.text.strip()):
        number = number_in(cell.text, "." if "." in cell.text else ",")
    parts = next((parts for unit, parts in _SMALLER if unit.search(heading)), 1)
    return float(number / parts) if number is not None and number > 0 else None
