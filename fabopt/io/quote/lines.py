"""One line of a quote after the other: what each row of a table says, and what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile

from fabopt.errors import Fault, fault
from fabopt.io.quote.conditions import OF_ONE, is_yes, why_not_of_one
from fabopt.io.quote.facts import SCALED
from fabopt.io.quote.headings import IDENTITY, OTHER_PRICES, PRICES, SHARE, Header
from fabopt.io.quote.matching import MatchedLine, NamedLine, labelled_in, matched
from fabopt.io.quote.names import QuotedNames
from fabopt.io.quote.prices import MOST_USD, HeadedPrice, NetPrice, StatedPrice, net_price
from fabopt.io.quote.row_words import INCLUDED, SUM, SUM_AT_END
from fabopt.io.quote.sheets import CSV_SHEET, Cell, Sheet, letters
from fabopt.io.quote.times import day_of, wait_of
from fabopt.io.quote.values import (
    CURRENCIES,
    DOLLAR,
    HOME,
    Discount,
    agreed_sign,
    amount_of,
    count_of,
    discounts_of,
    is_sign,
    length_of,
    said_by_look,
    signs_in,
)
from fabopt.parts.quotes import CHARGE_REMARK, QuoteLine

# Two cells that are one number, parted at the comma before its thousands.
_PARTED = re.compile(r"(?:.*\D)?\d{1,3},\d{3}(?!\d)", re.DOTALL)
_MINUS = ("-", "−", "–", "(")
_TERMS = ("lead", "validity", "minimum", "pack", "stock")
_NUMBERS = {"minimum": "minimum_order", "pack": "pack_size", "stock": "in_stock"}


@dataclass(frozen=True)
class QuoteReading:
    """What holds for all lines of a quote: names, the mark before decimals, a currency where none stands, rates.

    ``scales``, ``taxed``, ``recurring``, ``bulk``: by sheet what says that its prices are in thousands, with tax, for a
    time, or for several; ``faults``: gathers what makes the file unfit to be read; ``assumed``: rows of whose currency
    nothing was said.
    """

    file: str
    names: QuotedNames
    mark: str
    currency: str
    rates: Mapping[str, Fraction]
    scales: Mapping[str, str] = field(default_factory=dict)
    taxed: Mapping[str, str] = field(default_factory=dict)
    recurring: Mapping[str, str] = field(default_factory=dict)
    bulk: Mapping[str, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    assumed: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class RowReader:
    """Reads the rows of one table."""

    sheet: Sheet
    header: Header
    reading: QuoteReading

    # -- cells ------------------------------------------------------------------------------------------------------

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
        """What the row calls its product in columns for that."""
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
        """Whether what the row names, counts or asks for is struck through."""
        return any(cell.struck for _, cell in self.cells(row, *IDENTITY, "quantity", *PRICES))

    def is_included(self, row: int) -> bool:
        """Whether a row says in place of a price that it is in another one."""
        return any(INCLUDED.match(cell.text) for _, cell in self.cells(row, *PRICES))

    def own_texts(self, row: int) -> list[str]:
        """All texts of a row that are its own, from the left."""
        cells = self.sheet.rows.get(row, {})
        return [cells[column].text for column in sorted(cells) if isinstance(cells[column].value, str)]

    def _text_beside(self, row: int) -> str:
        """The first text of a row in a column that is not read, such as that of the numbers of lines."""
        read = {column for column, heading in self.header.headings.items() if heading.role}
        cells = self.sheet.rows.get(row, {})
        own = (cells[column] for column in sorted(cells) if column not in read)
        return next((cell.text for cell in own if isinstance(cell.value, str)), "")

    def _label(self, row: int) -> str:
        """What stands in a column of prices before an amount, as names of charges below a table do."""
        cells = [cell for _, cell in self.cells(row, *PRICES)]
        if all(amount_of(cell, self.reading.mark) is None for cell in cells):
            return ""
        return next((cell.text for cell in cells if cell.text and not any(map(str.isdigit, cell.text))), "")

    # -- what a row is ----------------------------------------------------------------------------------------------

    def line(self, row: int) -> QuoteLine:
        """The row as a line of the quote, a sum, or a note."""
        names = [name for name in self.names(row) if name]
        description = self.text(row, "description") or ("" if names else self._text_beside(row) or self._label(row))
        known = matched(self._named(row, names, description), self.reading.names)
        base = QuoteLine(self.sheet.name, row, "note", " / ".join(dict.fromkeys(names)), description)
        texts = self.own_texts(row)
        if not known.id and any(text.startswith(CHARGE_REMARK) for text in texts):
            return self._charge(row, base)
        is_sum = any(SUM.match(text) for text in texts)
        if self._quantity(row) is None:
            is_sum = is_sum or any(SUM_AT_END.match(text) for text in texts)
        if not known.id and is_sum:
            return _changed(base, status="subtotal", reason="a sum or a tax, no price of a part")
        if not self.is_priced(row, bool(names or description)):
            return self._without_price(row, base, known)
        if not names and not description:
            if self._is_alone(row):
                return _changed(base, status="subtotal", reason="a sum without a name")
            return self._priced(row, base, MatchedLine(reason="a price without a part number"))
        return self._priced(row, base, known)

    def _charge(self, row: int, base: QuoteLine) -> QuoteLine:
        """A charge that a design asks for, with its price; unpriced where none is stated."""
        if not self.is_priced(row, True):
            return self._without_price(row, base, MatchedLine(reason="a charge"))
        line = self._priced(row, base, MatchedLine())
        return _changed(line, status="charge") if line.status == "matched" else line

    def _named(self, row: int, names: Sequence[str], description: str) -> NamedLine:
        lengths = [length for column, cell in self.cells(row, "length")
                   if (length := length_of(cell, self.header.headings[column].text)) is not None]  # fmt: skip
        length, named = next(iter(lengths), None), self.text(row, "length")
        texts = self.own_texts(row)
        texts += [self.header.headings[c].text for c, cell in self.cells(row, "option") if is_yes(cell.text)]
        labelled = labelled_in(texts, self._texts_below(row)) if self._has_figures(row) else []
        return NamedLine(
            names, description, self.text(row, "vendor"), length, "" if lengths else named, texts, labelled
        )

    def _has_figures(self, row: int) -> bool:
        """Whether a row has anything in a column of quantities or prices."""
        return any(True for _ in self.cells(row, "quantity", SHARE, *PRICES, *OTHER_PRICES))

    def _texts_below(self, row: int) -> Iterator[str]:
        """Texts of the rows right below a line that say more of it."""
        below = takewhile(lambda row: row in self.sheet.rows and not self._has_figures(row), range(row + 1, row + 6))
        return (text for row in below for text in self.own_texts(row))

    def _is_alone(self, row: int) -> bool:
        """Whether a number stands alone in its row, as sums below a column do."""
        return len(self.sheet.rows.get(row, {})) == 1

    def _without_price(self, row: int, base: QuoteLine, known: MatchedLine) -> QuoteLine:
        """A row that states no price: a line if it has a product or a quantity, else a note."""
        shown = next((cell.text for _, cell in self.cells(row, *PRICES) if cell.text), "")
        for column, cell in self.cells(row, *OTHER_PRICES):
            if amount_of(cell, self.reading.mark):
                heading = self.header.headings[column]
                why = f"its price is with tax: `{cell.text}`; ask for the one without it"
                if heading.role == "recurring":
                    why = f"its price is for a time, as rents are: `{heading.text}`"
                elif heading.role == "bulk":
                    why = f"its price is not that of one alone: `{heading.text}`"
                return _changed(
                    base, status="left over", reason=known.reason or why, suggestion=known.suggestion or known.id
                )
        if not (known.id or shown or (base.part and any(True for _ in self.cells(row, "quantity")))):
            return base
        reason = f"its price is `{shown}`" if shown else "no price is stated"
        line = _changed(base, status="unpriced", id=known.id, length_m=known.length_m, quantity=self._quantity(row))
        if known.id:
            return _changed(line, reason=reason, remarks=known.remarks)
        return _changed(line, reason=f"{known.reason}; {reason}", suggestion=known.suggestion)

    # -- lines with a price -----------------------------------------------------------------------------------------

    def _priced(self, row: int, base: QuoteLine, known: MatchedLine) -> QuoteLine:
        """A line with its price and its terms: matched, or left over with the first reason against it."""
        currency, unclear = self._currency(row)
        net = self._net(row, bool(known.id))
        quantity = self._quantity(row)
        is_once = not known.id and net.value is None and quantity is None
        price = self._amount(row, "total") if is_once else net.value
        line = _changed(base, quantity=quantity, unit_price=price, currency=currency, **self._terms(row))
        reason = known.reason or unclear or net.reason or self._why_not(row, net.value, currency)
        if net.value == 0 and not known.id:
            return _changed(line, status="unpriced", reason=f"{reason}; its price is 0", suggestion=known.suggestion)
        if reason:
            return _changed(line, status="left over", reason=reason, suggestion=known.suggestion or known.id)
        remarks = (*known.remarks, *net.remarks, *line.remarks)
        return _changed(line, status="matched", id=known.id, length_m=known.length_m, remarks=remarks)

    def _why_not(self, row: int, price: Fraction | None, currency: str) -> str:
        """Why a price that is clear is not taken all the same; what no price can be is a fault of the file."""
        if self._is_parted(row):
            return "more cells than headings: a number with a comma, without quotation marks around it?"
        if price is None:
            shown = next((cell.text for _, cell in self.cells(row, *PRICES)), "")
            return f"its price cannot be read: `{shown}`"
        if any(cell.text.startswith(_MINUS) for _, cell in self.cells(row, "quantity")):
            return "its quantity is below zero: a credit or a return, no offer"
        if reason := why_not_of_one({role: self.text(row, role) for role in OF_ONE}):
            return reason
        if scale := self._scale(row):
            return f"its price is not in units of a currency: `{scale}`; write it out"
        if taxed := self.reading.taxed.get(self.sheet.name):
            return f"its price is with tax, as the quote says: `{taxed}`; ask for the one without it"
        if bulk := self.reading.bulk.get(self.sheet.name):
            return f"its price is not that of one, as the quote says: `{bulk}`"
        if recurring := self.reading.recurring.get(self.sheet.name):
            return f"its price is for a time, as the quote says: `{recurring}`"
        if any(self._names_others(row, column) for column, _ in self.cells(row, *PRICES)):
            return "one price for several lines: what each of them costs is not said"
        if currency not in self.reading.rates:
            return f"there is no rate for {currency}: pass `--rate {currency}=...`, dollars for one {currency}"
        if not 0 <= price <= MOST_USD:
            column = next(column for column, _ in self.cells(row, *PRICES))
            self._refuse(
                row, column, "no price of a unit is so low or high", float(price), allowed=f"0 to {MOST_USD:g}"
            )
        return "a price of 0 would make any number of them free" if price == 0 else ""

    def _scale(self, row: int) -> str:
        """What says that the prices of a row are in thousands: a heading, or a text on the sheet; else empty."""
        shown = [text for column, cell in self.cells(row, *PRICES)
                 for text in (self.header.headings[column].text, said_by_look(cell.look))]  # fmt: skip
        return next((text for text in shown if SCALED.search(text)), self.reading.scales.get(self.sheet.name, ""))

    def _is_parted(self, row: int) -> bool:
        """Whether a line of a CSV file is longer than its heading, and two cells beside each other may be a number."""
        cells = self.sheet.rows[row]
        if self.sheet.name != CSV_SHEET or max(cells) <= max(self.header.headings):
            return False
        texts = [(cells[column].text, cells[column + 1].text) for column in cells if column + 1 in cells]
        return any(_PARTED.match(f"{left},{right}") for left, right in texts)

    def _names_others(self, row: int, column: int) -> bool:
        """Whether the cell of a price is that of other products too."""
        others = [other for other in self.sheet.shared_rows(row, column) if other != row]
        return any(self.sheet.rows.get(other, {}).get(own) is not None for other in others
                   for role in (*IDENTITY, "quantity") for own in self.header.columns(role))  # fmt: skip

    def _refuse(self, row: int, column: int, problem: str, *value: object, allowed: str = "", hint: str = "") -> None:
        place = self.sheet.place(row, column)
        self.reading.faults.append(fault(self.reading.file, place, problem, *value, allowed=allowed, hint=hint))

    def _currency(self, row: int) -> tuple[str, str]:
        """The currency of a line, and why it is not known; a word that is no currency is a fault."""
        named = [self.header.headings[column].currency for column, _ in self.cells(row, *PRICES)]
        amounts = [amount_of(cell, self.reading.mark) for _, cell in self.cells(row, *PRICES)]
        named += [amount.currency for amount in amounts if amount is not None]
        for column, cell in self.cells(row, "currency"):
            signs = signs_in(cell.text.upper()) or signs_in(cell.text)
            if not signs and cell.text:
                allowed = ", ".join(sorted(CURRENCIES))
                self._refuse(row, column, "unknown currency", cell.text, allowed=allowed)
            named += signs
        own = agreed_sign(named)
        if own is None:
            return "", f"its currency is not clear: {', '.join(dict.fromkeys(filter(None, named)))}"
        for wider in (self.header.currency, self.reading.currency):
            if not own or is_sign(own):
                own = agreed_sign((own, wider)) or own
        if not own:
            self.reading.assumed.append(row)
        if own in ("", DOLLAR):
            return HOME, ""
        return (
            (own, f"`{own}` is the sign of several currencies: `--currency` says which is meant")
            if is_sign(own)
            else (own, "")
        )

    def _net(self, row: int, is_known: bool) -> NetPrice:
        stated = StatedPrice(
            self._amounts(row, "unit", is_known),
            self._amount(row, "list"),
            self._amounts(row, "total", False),
            self._quantity(row),
            self._discounts(row),
        )
        if not stated.units and stated.list is None and is_known:
            self._amounts(row, "total", True)
        return net_price(stated)

    def _amounts(self, row: int, role: str, is_needed: bool) -> list[HeadedPrice]:
        """The amounts of a role. A formula without a value is a fault where the amount is needed."""
        amounts: list[HeadedPrice] = []
        for column, cell in self.cells(row, role):
            if cell.value is None and is_needed:
                hint = "open the file in a spreadsheet program and save it, so that values are kept"
                self._refuse(row, column, "a formula without its value, which is not computed here", hint=hint)
            amount = amount_of(cell, self.reading.mark)
            if amount is not None:
                heading = f"{letters(column)} `{self.header.headings[column].text}`"
                amounts.append(HeadedPrice(heading, amount.value))
        return amounts

    def _amount(self, row: int, role: str) -> Fraction | None:
        """The first amount of a role."""
        return next((price for _, price in self._amounts(row, role, False)), None)

    def _quantity(self, row: int) -> int | None:
        if any(True for _ in self.cells(row, SHARE)):
            return self._shared(row)
        return next((count_of(cell, self.reading.mark) for _, cell in self.cells(row, "quantity")), None)

    def _shared(self, row: int) -> int | None:
        """The sum of quantities in several columns, as of sites, where price and total say that it is the quantity."""
        counts = [count_of(cell, self.reading.mark) or 0 for _, cell in self.cells(row, SHARE)]
        unit, total = self._amount(row, "unit"), self._amount(row, "total")
        return sum(counts) if unit and total and unit * sum(counts) == total else None

    def _discounts(self, row: int) -> list[list[Discount]]:
        """What each cell for discounts may mean; an empty list where that is nothing that can be read."""
        return [
            discounts_of(cell, self.header.headings[column].text, self.reading.mark)
            for column, cell in self.cells(row, "discount")
            if cell.value is None or any(map(str.isdigit, cell.text))
        ]

    # -- terms of sale ----------------------------------------------------------------------------------------------

    def _terms(self, row: int) -> dict[str, object]:
        """Lead time, end, minimum, pack and vendor's stock of a line; what cannot be read of them is a remark."""
        remarks: list[str] = []
        if (quantity := self._quantity(row)) is None:
            remarks += [self._not_read(column, cell) for column, cell in self.cells(row, "quantity")][:1]
        if shares := [self.header.headings[column].text for column, _ in self.cells(row, SHARE)]:
            outcome = "its quantity is not said" if quantity is None else f"their sum, {quantity:,}, makes the total"
            remarks.append(f"of the quantities {', '.join(shares)}: {outcome}")
        terms: dict[str, object] = {}
        for role in _TERMS:
            for column, cell in list(self.cells(row, role))[:1]:
                terms |= self._term(role, column, cell, remarks)
        minimum, pack = terms.get("minimum_order"), terms.get("pack_size")
        if isinstance(minimum, int) and isinstance(pack, int) and minimum > 1 and minimum % pack:
            remarks.append(
                f"the minimum of {minimum:,} is no whole number of packs of {pack:,}, and is rounded up to one"
            )
        return terms | {"remarks": tuple(remarks)}

    def _term(self, role: str, column: int, cell: Cell, remarks: list[str]) -> dict[str, object]:
        if role == "lead":
            wait = wait_of(cell, self.header.headings[column].text)
            if wait is not None:
                remarks += [wait.remark] if wait.remark else []
                return {"lead_time_weeks": wait.weeks}
        elif role == "validity":
            end = day_of(cell)
            if end is not None:
                if isinstance(cell.value, float):
                    remarks.append(f"`{cell.text}` is read as the day that it is in a spreadsheet, {end.isoformat()}")
                return {"valid_until": end.isoformat()}
        elif (number := count_of(cell, self.reading.mark)) is not None:
            return {_NUMBERS[role]: number}
        remarks.append(self._not_read(column, cell))
        return {}

    def _not_read(self, column: int, cell: Cell) -> str:
        return f"`{self.header.headings[column].text}` is not read: `{cell.text}` is not clear"


def _changed(line: QuoteLine, **changes: object) -> QuoteLine:
    """The line with other fields."""
    return QuoteLine(**{**line.__dict__, **changes})
