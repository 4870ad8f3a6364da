"""Lines of a quote in turn: the content and the kind of each row of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import takewhile

from fabopt.io.quote.currencies import alternatives, pattern
from fabopt.io.quote.facts import OF_ONE, is_yes, why_not_of_one
from fabopt.io.quote.headings import IDENTITY, OTHER_PRICES, PRICES, SHARE
from fabopt.io.quote.matching import MatchedLine, NamedLine, labelled_in, matched
from fabopt.io.quote.prices import MOST_USD, NetPrice, StatedPrice, net_price, plain
from fabopt.io.quote.row_cells import RowCells
from fabopt.io.quote.times import day_of, wait_of
from fabopt.io.quote.values import CSV_SHEET, Cell, amount_of, count_of, length_of, letters, said_by_look
from fabopt.parts.quotes import BILL_COLUMNS, CHARGE_REMARK, QuoteLine

# Two cells that are one number, parted at the comma before its thousands.
_PARTED = re.compile(r"(?:.*\D)?\d{1,3},\d{3}(?!\d)", re.DOTALL)
_SUM = re.compile(rf"\W*(?:{alternatives('sum')})(?![\w-]*[0-9])(?!\w)", re.IGNORECASE)
_SUM_AT_END = re.compile(r".*\b(?:sub-?total|total|gesamt|summe)\W*$", re.IGNORECASE)
_MINUS = ("-", "−", "–", "(")
_RETURN = "its quantity is below zero: a credit or a return, no offer"
_LEAST_OF_LIST = Fraction(1, 5)
_TERMS = ("lead", "validity", "minimum", "pack", "stock")
_NUMBERS = {"minimum": "minimum_order", "pack": "pack_size", "stock": "in_stock"}


class RowReader(RowCells):
    """Reads the rows of one table."""

    # -- what a row is ----------------------------------------------------------------------------------------------

    def line(self, row: int) -> QuoteLine:
        """The row as a line of the quote, a sum, or a note."""
        names = [name for name in self.names(row) if name]
        description = self.text(row, "description") or ("" if names else self.text_beside(row) or self.label(row))
        known = matched(self._named(row, names, description), self.reading.names)
        part = " / ".join(dict.fromkeys(names))
        base = QuoteLine(self.sheet.name, row, "note", part, description, awarded=self.awarded(row))
        texts = self.own_texts(row)
        if not known.id and (self._is_of_bill(row) or any(text.startswith(CHARGE_REMARK) for text in texts)):
            return self._charge(row, base)
        is_sum = any(_SUM.match(text) for text in texts)
        if self.quantity(row) is None:
            is_sum = is_sum or any(_SUM_AT_END.match(text) for text in texts)
        if not known.id and is_sum:
            return _changed(base, status="subtotal", reason="a sum or a tax, no price of a part")
        if not self.is_priced(row, bool(names or description)):
            return self._without_price(row, base, known)
        if not names and not description:
            if self._is_alone(row):
                return _changed(base, status="subtotal", reason="a sum without a name")
            return self._priced(row, base, MatchedLine(reason="a price without a part number"))
        return self._priced(row, base, known)

    def _is_of_bill(self, row: int) -> bool:
        """Whether a row is a charge of a bill that fabopt wrote as a table."""
        columns = {heading.text: column for column, heading in self.header.headings.items()}
        cells = self.sheet.rows[row]
        return all(name in columns for name in BILL_COLUMNS) and columns[BILL_COLUMNS[0]] in cells

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
            names,
            description,
            self.text(row, "vendor"),
            length,
            "" if lengths else named,
            texts,
            self.remarks(row),
            [cell.text for _, cell in self.cells(row, *PRICES)],
            labelled,
            list(self.said(row)),
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
        line = _changed(base, status="unpriced", id=known.id, length_m=known.length_m, quantity=self.quantity(row))
        if known.id:
            return _changed(line, reason=reason, remarks=known.remarks)
        return _changed(line, reason=f"{known.reason}; {reason}", suggestion=known.suggestion)

    # -- lines with a price -----------------------------------------------------------------------------------------

    def _priced(self, row: int, base: QuoteLine, known: MatchedLine) -> QuoteLine:
        """A line with its price and its terms: matched, or left over with the first reason against it."""
        currency, unclear = self.currency(row)
        net = self._net(row, bool(known.id))
        quantity = self.quantity(row)
        is_once = not known.id and net.value is None and quantity is None
        price = self.amount(row, "total") if is_once else net.value
        line = _changed(base, quantity=quantity, unit_price=price, currency=currency, **self._terms(row))
        is_return = any(cell.text.startswith(_MINUS) for _, cell in self.cells(row, "quantity"))
        reason = _RETURN if is_return else known.reason or unclear or net.reason
        reason = reason or self._why_not(row, net.value, currency)
        if net.value == 0 and not known.id:
            return _changed(line, status="unpriced", reason=f"{reason}; its price is 0", suggestion=known.suggestion)
        if reason:
            return _changed(line, status="left over", reason=reason, suggestion=known.suggestion or known.id)
        beside = tuple(self._unread_prices(row, net.value))
        remarks = (*known.remarks, *net.remarks, *beside, *line.remarks)
        doubts = (*known.doubts, *net.doubts, *beside)
        return _changed(
            line,
            status="matched",
            id=known.id,
            length_m=known.length_m,
            remarks=remarks,
            doubts=doubts,
            tier_from=self.tier_from(row),
            breaks=net.breaks,
        )

    def _why_not(self, row: int, price: Fraction | None, currency: str) -> str:
        """The reason why a readable price is not taken, else empty; impossible prices are faults of the file."""
        if self._is_parted(row):
            return "more cells than headings: a number with a comma, without quotation marks around it?"
        if price is None:
            shown = next((cell.text for _, cell in self.cells(row, *PRICES)), "")
            return f"its price cannot be read: `{shown}`"
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
            self.refuse(row, column, "no price of a unit is so low or high", float(price), allowed=f"0 to {MOST_USD:g}")
            return f"no price of a unit is so low or high as {plain(price)}"
        return "a price of 0 would make any number of them free" if price == 0 else ""

    def _unread_prices(self, row: int, net: Fraction | None) -> Iterator[str]:
        """Amounts between a fifth of the list price and it, in columns that are not read, where no other price is."""
        stated = self.amount(row, "list")
        if stated is None or net is None or self.amounts(row, "unit", False) or self.amounts(row, "total", False):
            return
        for column, heading in self.header.headings.items():
            cell = self.sheet.cell(row, column)
            amount = amount_of(cell, self.reading.mark) if cell is not None and not heading.role else None
            if amount is not None and _LEAST_OF_LIST * stated <= amount.value < stated and amount.value != net:
                shown = f"{letters(column)} `{heading.text}`"
                yield f"{shown}, which is not read, has {plain(amount.value)}: is that its price?"

    def _scale(self, row: int) -> str:
        """The heading or text by which the prices of a row are in thousands; else empty."""
        shown = [text for column, cell in self.cells(row, *PRICES)
                 for text in (self.header.headings[column].text, said_by_look(cell.look))]  # fmt: skip
        of_all = self.reading.scales.get(self.sheet.name, "")
        return next(filter(pattern("scaled").search, shown), of_all)

    def _is_parted(self, row: int) -> bool:
        """Whether a line of a CSV file is longer than its heading, and two cells beside each other may be a number."""
        cells = self.sheet.rows[row]
        if self.sheet.name != CSV_SHEET or max(cells) <= max(self.header.headings):
            return False
        texts = [(cells[column].text, cells[column + 1].text) for column in cells if column + 1 in cells]
        return any(_PARTED.match(f"{left},{right}") for left, right in texts)

    def _names_others(self, row: int, column: int) -> bool:
        """Whether the cell of a price is shared with other products."""
        others = [other for other in self.sheet.shared_rows(row, column) if other != row]
        return any(self.sheet.rows.get(other, {}).get(own) is not None for other in others
                   for role in (*IDENTITY, "quantity") for own in self.header.columns(role))  # fmt: skip

    def _net(self, row: int, is_known: bool) -> NetPrice:
        stated = StatedPrice(
            self.amounts(row, "unit", is_known),
            self.amount(row, "list"),
            self.amounts(row, "total", False),
            self.quantity(row),
            self.discounts(row),
        )
        if not stated.units and stated.list is None and is_known:
            self.amounts(row, "total", True)
        return net_price(stated)

    # -- terms of sale ----------------------------------------------------------------------------------------------

    def _terms(self, row: int) -> dict[str, object]:
        """Lead time, end, minimum, pack and vendor's stock of a line; what cannot be read of them is a remark."""
        remarks: list[str] = []
        if (quantity := self.quantity(row)) is None:
            remarks += [self._not_read(column, cell) for column, cell in self.cells(row, "quantity")][:1]
        if shares := [self.header.headings[column].text for column, _ in self.cells(row, SHARE)]:
            outcome = "its quantity is not said" if quantity is None else f"their sum, {quantity:,}, makes the total"
            remarks.append(f"of the quantities {', '.join(shares)}: {outcome}")
        terms: dict[str, object] = {}
        for role in _TERMS:
            for column, cell in list(self.cells(row, role))[:1]:
                terms |= self._term(role, column, cell, remarks)
        if "minimum_order" not in terms and (least := self._minimum_said(row)):
            terms["minimum_order"] = least
            remarks.append(f"{least:,} is read as its smallest order, as a text on the line says")
        minimum, pack = terms.get("minimum_order"), terms.get("pack_size")
        if isinstance(minimum, int) and isinstance(pack, int) and minimum > 1 and minimum % pack:
            remarks.append(
                f"the minimum of {minimum:,} is no whole number of packs of {pack:,}, and is rounded up to one"
            )
        return terms | {"remarks": tuple(remarks)}

    def _minimum_said(self, row: int) -> int:
        """The smallest order that a text on the line says; 0 where none does."""
        said = (match for text in self.words(row) if (match := pattern("minimum").search(text)))
        return next((int(re.sub(r"\D", "", match[match.lastindex or 0])) for match in said), 0)

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
