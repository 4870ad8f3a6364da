"""The cells of a row of a quote by role: names, amounts, quantities, discounts, and its currency."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from fabopt.errors import Fault, fault
from fabopt.io.quote.currencies import (
    ALLOWED,
    DOLLAR,
    HOME,
    agreed_sign,
    alternatives,
    is_sign,
    may_mean,
    signs_in,
    signs_in_words,
)
from fabopt.io.quote.facts import QuoteFacts
from fabopt.io.quote.headings import IDENTITY, OWN, PRICES, SHARE, Header
from fabopt.io.quote.line_words import is_of_service
from fabopt.io.quote.names import QuotedNames
from fabopt.io.quote.prices import HeadedPrice, from_of
from fabopt.io.quote.understood import is_aside
from fabopt.io.quote.values import Cell, Discount, Sheet, amount_of, count_of, discounts_of, letters

# Columns whose words may say something of the price of their line; those that are not read have no role.
_SPEAKING = ("", "description", "remarks", "lead", "validity", "stock", "minimum", "pack")
_LETTER = re.compile(r"[^\W\d_]")
# In place of a price.
_INCLUDED = re.compile(rf"\W*(?:{alternatives('included_cell')})\b", re.IGNORECASE)


@dataclass(frozen=True)
class QuoteReading:
    """What holds for all lines of a quote: names, the mark before decimals, what it says of all, a currency where none
    is named, rates.

    ``scales``, ``taxed``, ``recurring``, ``bulk``: by sheet what says that its prices are in thousands, with tax, for a
    time, or for several; ``faults``: gathers what makes the file unfit to be read; ``assumed``: rows of whose currency
    nothing was said; ``worded``: by sheet and first row of the table the columns of which words were read.
    """

    file: str
    names: QuotedNames
    mark: str
    facts: QuoteFacts
    currency: str
    rates: Mapping[str, Fraction]
    scales: Mapping[str, str] = field(default_factory=dict)
    taxed: Mapping[str, str] = field(default_factory=dict)
    recurring: Mapping[str, str] = field(default_factory=dict)
    bulk: Mapping[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    assumed: list[int] = field(default_factory=list)
    worded: set[tuple[str, int, int]] = field(default_factory=set)


@dataclass(frozen=True)
class RowCells:
    """Reads the cells of one table."""

    sheet: Sheet
    header: Header
    reading: QuoteReading

    def cells(self, row: int, *roles: str) -> Iterator[tuple[int, Cell]]:
        """Cells of a row that have something in them, by the roles of their columns, from the left."""
        for role in roles:
            for column in self.header.columns(role):
                cell = self.sheet.cell(row, column)
                if cell is not None:
                    yield column, cell

    def text(self, row: int, role: str) -> str:
        """The text of the first column of a role that has any."""
        return next((cell.text for _, cell in self.cells(row, role)), "")

    def names(self, row: int) -> list[str]:
        """Names of the product in the row's columns of names."""
        return [cell.text for _, cell in self.cells(row, *IDENTITY)]

    def is_priced(self, row: int, is_named: bool) -> bool:
        """Whether a cell for prices has an amount, or a formula that should have one; in a line, any figures."""
        return any(
            cell.value is None
            or amount_of(cell, self.reading.mark) is not None
            or (is_named and any(letter.isdigit() for letter in cell.text))
            for _, cell in self.cells(row, *PRICES)
        )

    def is_struck(self, row: int) -> bool:
        """Whether a name, quantity or price of the row is struck through."""
        return any(cell.struck for _, cell in self.cells(row, *IDENTITY, "quantity", *PRICES))

    def is_included(self, row: int) -> bool:
        """Whether a row says in place of a price that it is in another one."""
        return any(_INCLUDED.match(cell.text) for _, cell in self.cells(row, *PRICES))

    def own_texts(self, row: int) -> list[str]:
        """All texts of a row that are its own and not the buyer's, from the left."""
        cells, asked = self.sheet.rows.get(row, {}), self.header.columns(OWN)
        kept = (column for column in sorted(cells) if column not in asked)
        return [cells[column].text for column in kept if isinstance(cells[column].value, str)]

    def words(self, row: int) -> list[str]:
        """Texts of a row in columns of words: those of descriptions, of remarks, and of what is not read."""
        cells = self.sheet.rows.get(row, {})
        roles = {column: heading.role for column, heading in self.header.headings.items()}
        kept = (column for column in sorted(cells) if roles.get(column, "") in ("", "description", "remarks"))
        return [cells[column].text for column in kept if isinstance(cells[column].value, str)]

    def remarks(self, row: int) -> list[str]:
        """Texts of a row in columns of words that are not headed as terms of sale; its description aside."""
        cells = self.sheet.rows.get(row, {})
        texts = {column: cells[column].text for column in sorted(cells) if isinstance(cells[column].value, str)}
        roles = {column: heading.role for column, heading in self.header.headings.items()}
        kept = (column for column in texts if roles.get(column, "") in ("", "remarks", "description"))
        own = self.text(row, "description")
        return [
            texts[c]
            for c in kept
            if (not is_of_service(self.header.headings[c].text) if c in roles else texts[c] != own)
        ]

    def said(self, row: int) -> Iterator[tuple[str, str]]:
        """Texts of a row that may say something of its price, each after the heading of its column."""
        own = self.text(row, "description")
        for column, cell in sorted(self.sheet.rows.get(row, {}).items()):
            heading = self.header.headings.get(column)
            text, role = (heading.text, heading.role) if heading else (letters(column), "")
            if role in _SPEAKING and isinstance(cell.value, str) and cell.text != own and not is_aside(text):
                if _LETTER.search(cell.text):
                    self.reading.worded.add((self.sheet.name, self.header.first, column))
                yield text, cell.text

    def text_beside(self, row: int) -> str:
        """The first text of a row in a column that is not read, such as that of the numbers of lines."""
        read = {column for column, heading in self.header.headings.items() if heading.role}
        cells = self.sheet.rows.get(row, {})
        own = (cells[column] for column in sorted(cells) if column not in read)
        return next((cell.text for cell in own if isinstance(cell.value, str)), "")

    def label(self, row: int) -> str:
        """What stands in a column of prices before an amount, as names of charges below a table do."""
        cells = [cell for _, cell in self.cells(row, *PRICES)]
        if all(amount_of(cell, self.reading.mark) is None for cell in cells):
            return ""
        return next((cell.text for cell in cells if cell.text and not any(map(str.isdigit, cell.text))), "")

    def refuse(self, row: int, column: int, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        """Note a fault of a cell; its line is left over."""
        place = self.sheet.place(row, column)
        self.reading.faults.append(fault(self.reading.file, place, problem, *value, allowed=allowed, hint=hint))

    def currency(self, row: int) -> tuple[str, str]:
        """The currency of a line, and why it is not known; a word that is no currency is a fault."""
        named = [self.header.headings[column].currency for column, _ in self.cells(row, *PRICES)]
        amounts = [amount_of(cell, self.reading.mark) for _, cell in self.cells(row, *PRICES)]
        named += [amount.currency for amount in amounts if amount is not None]
        for column, cell in self.cells(row, "currency"):
            signs = signs_in(cell.text) or signs_in(cell.text.upper())
            if not signs and cell.text:
                self.refuse(row, column, "unknown currency", cell.text, allowed=ALLOWED)
                return "", f"its currency is not known: `{cell.text}`"
            named += signs
        own = agreed_sign(named)
        if own is None:
            return "", f"its currency is not clear: {', '.join(dict.fromkeys(filter(None, named)))}"
        facts = self.reading.facts
        possible = [code for code in facts.currencies if may_mean(own, code)] if not own or is_sign(own) else []
        if len(possible) > 1:
            return "", f"its currency is not clear: the quote names {', '.join(possible)}"
        for wider in (self.header.currency, *possible, facts.currency, self.reading.currency):
            if not own or is_sign(own):
                both = agreed_sign((own, wider))
                if both is None and wider == facts.currency and not facts.is_aside:
                    return "", f"its currency is not clear: {own} beside it, {wider} for the whole quote"
                own = both or own
        others = [sign for text in self.words(row) for sign in signs_in_words(text) if not may_mean(sign, own or HOME)]
        if others:
            return "", f"its currency is not clear: `{others[0]}` stands on the line"
        if not own:
            self.reading.assumed.append(row)
        if own in ("", DOLLAR):
            return HOME, ""
        return (
            (own, f"`{own}` is the sign of several currencies: `--currency` says which is meant")
            if is_sign(own)
            else (own, "")
        )

    def amounts(self, row: int, role: str, is_needed: bool) -> list[HeadedPrice]:
        """The amounts of a role. A formula without a value is a fault where the amount is needed."""
        amounts: list[HeadedPrice] = []
        for column, cell in self.cells(row, role):
            if cell.value is None and is_needed:
                hint = "open the file in a spreadsheet program and save it, so that values are kept"
                self.refuse(row, column, "a formula without its value, which is not computed here", hint=hint)
            amount = amount_of(cell, self.reading.mark)
            if amount is not None:
                heading = f"{letters(column)} `{self.header.headings[column].text}`"
                amounts.append(HeadedPrice(heading, amount.value))
        return amounts

    def amount(self, row: int, role: str) -> Fraction | None:
        """The first amount of a role."""
        return next((price for _, price in self.amounts(row, role, False)), None)

    def quantity(self, row: int) -> int | None:
        """The quantity of a line; of sites in columns of their own the sum, where it makes the total."""
        if any(True for _ in self.cells(row, SHARE)):
            return self._shared(row)
        return next((count_of(cell, self.reading.mark) for _, cell in self.cells(row, "quantity")), None)

    def tier_from(self, row: int) -> int | None:
        """The least quantity of the price of a row, by its column or a range in the column of quantities."""
        for _, cell in self.cells(row, "from"):
            return from_of(cell.text) or count_of(cell, self.reading.mark)
        return next((from_of(cell.text) for _, cell in self.cells(row, "quantity")), None)

    def awarded(self, row: int) -> int | None:
        """The units that the buyer gives to the vendor; 0 where none are; None where the sheet has no such column."""
        if not self.header.columns("award"):
            return None
        return next((count_of(cell, self.reading.mark) for _, cell in self.cells(row, "award")), None) or 0

    def _shared(self, row: int) -> int | None:
        """The sum of quantities in several columns, as of sites, where price and total say that it is the quantity."""
        counts = [count_of(cell, self.reading.mark) or 0 for _, cell in self.cells(row, SHARE)]
        unit, total = self.amount(row, "unit"), self.amount(row, "total")
        return sum(counts) if unit and total and unit * sum(counts) == total else None

    def discounts(self, row: int) -> list[list[Discount]]:
        """Possible meanings of each discount cell; an empty list for an unreadable one."""
        return [
            discounts_of(cell, self.header.headings[column].text, self.reading.mark)
            for column, cell in self.cells(row, "discount")
            if cell.value is None or any(map(str.isdigit, cell.text))
        ]
