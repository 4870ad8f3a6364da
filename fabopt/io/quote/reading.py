"""A quote in a file, read against a catalog: every row of its tables is a line, a sum or a note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from fabopt.errors import Fault, cut, fault, refusal
from fabopt.io.faults import refuse_any
from fabopt.io.library import read_bytes, shown
from fabopt.io.quote.currencies import ALLOWED, HOME, is_currency, signs_in
from fabopt.io.quote.delimited import read_delimited
from fabopt.io.quote.facts import (
    FactRow,
    QuoteFacts,
    bulk_of,
    facts_of,
    is_doubtful,
    is_of_prices,
    recurring_of,
    said_of_all,
    scales_of,
    taxed_of,
    unknown_currencies,
)
from fabopt.io.quote.headings import PRICES, Header, headers_of
from fabopt.io.quote.line_words import why_of_title
from fabopt.io.quote.lines import RowReader
from fabopt.io.quote.matching import KIT
from fabopt.io.quote.names import QuotedNames
from fabopt.io.quote.prices import plain, with_minimums, with_tiers
from fabopt.io.quote.proven import with_proven_prices
from fabopt.io.quote.row_cells import QuoteReading
from fabopt.io.quote.sums import vendor_asked, with_awards, with_sums
from fabopt.io.quote.values import Sheet, currency_of_look, decimal_mark
from fabopt.io.quote.workbook import OLE, ZIP, read_workbook
from fabopt.parts.quotes import (
    BAND,
    NO_BAND,
    SHEETS_OF_A_BILL,
    WIDTHS,
    PriceBand,
    Quote,
    QuoteColumns,
    QuoteLine,
    band_in,
)
from fabopt.schema.catalog import Catalog
from fabopt.units import exact, grouped, sets, some

# Of hidden rows, so many are named.
_MOST_NAMED = 10
_WORDS_OF_A_TITLE = 6
ENDINGS = (".xlsx", ".csv", ".tsv", ".txt")
_HIDDEN = "{what} is hidden: if this is offered, show it and read the file again"
_STRUCK = "it is struck through: if this is offered, take the line away and read the file again"
_RATE = re.compile(r"([A-Z]{3})=([0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})")
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|table|meta|\?xml)\b", re.IGNORECASE)
_ALLOWED = (
    "a row with a heading for part numbers or descriptions and one for prices, such as `Part number` and `Unit price`"
)


@dataclass(frozen=True)
class QuoteOptions:
    """Options of reading a quote. ``rates``: dollars for a unit of a currency; ``currency``: of prices that name none.

    ``asked``: of a sheet that was made to ask several vendors, the one whose columns are read, from 1; ``band``: of
    known prices within which a price is believed, None for any.
    """

    rates: Mapping[str, Fraction]
    currency: str = ""
    asked: int = 1
    band: PriceBand | None = BAND


def quote_options(rates: Sequence[str], currency: str | None, asked: int, band: str = WIDTHS) -> QuoteOptions:
    """Read options such as ``EUR=1.09``; ``InputError`` with all that is wrong with them."""
    faults: list[Fault] = []
    known: dict[str, Fraction] = {HOME: Fraction(1)}
    for text in rates:
        match = _RATE.fullmatch(text.replace(" ", "").upper())
        if match is None or not is_currency(match.group(1)) or exact(match.group(2)) <= 0:
            allowed = f"a currency and dollars for one of it, as in EUR=1.09: {ALLOWED}"
            faults.append(fault("--rate", "", "not a rate", text, allowed=allowed))
        elif match.group(1) in known:
            faults.append(fault("--rate", "", "a currency has one rate, and a dollar is one dollar", text))
        else:
            known[match.group(1)] = exact(match.group(2))
    if currency is not None and not is_currency(currency.upper()):
        faults.append(fault("--currency", "", "unknown currency", currency, allowed=ALLOWED))
    if not 1 <= asked <= 8:
        faults.append(fault("--asked", "", "not a number of a vendor", asked, allowed="1 to 8"))
    widths: PriceBand | None = BAND
    try:
        widths = band_in(band)
    except ValueError:
        allowed = f"percent of what is paid, and of list prices, as in {WIDTHS}; or {NO_BAND}"
        faults.append(fault("--band", "", "not a band of prices", band, allowed=allowed))
    refuse_any(faults)
    return QuoteOptions(MappingProxyType(known), (currency or "").upper(), asked, widths)


def read_quote(path: str, catalog: Catalog, options: QuoteOptions) -> tuple[Quote, list[Fault]]:
    """Return a quote with every row classified, and faults of single cells; ``InputError`` for other files.

    With faults no book may be made of it.
    """
    file = shown(Path(path))
    names = QuotedNames(catalog)
    sheets = read_sheets(Path(path), "a quote")
    tables = _tables(sheets, options.asked, lambda text: bool(names.called(text)))
    if not any(headers for _, headers in tables):
        hint = "; ".join(f"{sheet.encoding_note}: save it as UTF-8" for sheet, _ in tables if sheet.encoding_note)
        raise refusal(file, "", "no table of prices was found in any sheet", allowed=_ALLOWED, hint=hint)
    proven = [with_proven_prices(sheet, headers, decimal_mark(_price_texts(tables))) for sheet, headers in tables]
    tables = [(sheet, headers) for (sheet, _), (headers, _) in zip(tables, proven, strict=True)]
    outside = list(_outside(tables))
    facts, mark = facts_of(outside, [sheet.name for sheet, _ in tables]), decimal_mark(_price_texts(tables))
    scales, taxed, recurring, bulk = (
        _of_sheets(tables, said(outside)) for said in (scales_of, taxed_of, recurring_of, bulk_of)
    )
    options = replace(options, currency=options.currency or _only_rate(tables, facts, options))
    reading = QuoteReading(file, names, mark, facts, options.currency, options.rates, scales, taxed, recurring, bulk)
    is_all = sum(bool(headers) for _, headers in tables) == 1
    held = [with_sums(sheet, _lines(sheet, headers, reading), mark, is_all) for sheet, headers in tables]
    lines = with_awards(with_minimums(with_tiers(tuple(line for sums in held for line in sums.lines))))
    if second := list(_two_prices(lines, file)):
        reading.faults.extend(second)
        lines = _without_contradictions(lines)
    titles = list(_titles(outside))
    notes = (*facts.notes, *(note for note, _ in titles), *(note for sums in held for note in sums.notes),
             *(note for _, said in proven for note in said))  # fmt: skip
    quote = _quote(reading, lines, tables, replace(facts, notes=notes), options)
    doubts = [*unknown_currencies(outside), *(note for note, is_doubt in titles if is_doubt)]
    doubts += [doubt for sums in held for doubt in sums.doubts]
    quote = replace(quote, doubts=tuple(doubts), vendor=vendor_asked(sheets))
    if reading.assumed and not facts.currency:
        word = options.currency or HOME
        note = f"prices beside which no currency stands are taken for {word} (`--currency` says another)"
        quote = replace(quote, notes=(*quote.notes, note))
    return quote, reading.faults


def read_sheets(path: Path, what: str) -> list[Sheet]:
    """Return the sheets of a workbook, or a CSV file as one; ``InputError`` names ``what`` is read."""
    file, ending = shown(path), path.suffix.lower()
    if ending not in ENDINGS:
        raise refusal(
            file,
            "",
            f"{what} is not read from such a file",
            ending,
            allowed=".xlsx or .csv",
            hint="save it as a workbook (.xlsx) without macros" if ending.startswith((".xl", ".od")) else "",
        )
    if not (data := read_bytes(path)):
        raise refusal(file, "", "the file is empty")
    if _WEB_PAGE.match(data[:1000]):
        raise refusal(
            file,
            "",
            "this is a web page under another name",
            allowed=".xlsx or .csv",
            hint="open it in a spreadsheet program and save it as a workbook (.xlsx)",
        )
    is_workbook = data.startswith((ZIP, OLE))
    if is_workbook != (ending == ".xlsx"):
        raise refusal(
            file,
            "",
            "this is a workbook under another name" if is_workbook else "this is not a workbook (.xlsx)",
            allowed="a name that ends as the file is: .xlsx or .csv",
        )
    return read_workbook(data, file) if is_workbook else read_delimited(data, file)


_Tables = Sequence[tuple[Sheet, Sequence[Header]]]


def _tables(sheets: Sequence[Sheet], asked: int, is_part: Callable[[str], bool]) -> _Tables:
    """Sheets with the headers of their tables; where one was made to be filled in, those of it only."""
    tables = [(sheet, headers_of(sheet, asked, is_part)) for sheet in sheets]
    if any(header.is_quoted for _, headers in tables for header in headers):
        return [(sheet, [header for header in headers if header.is_quoted]) for sheet, headers in tables
                if sheet.name not in SHEETS_OF_A_BILL]  # fmt: skip
    return tables


def _rows(sheet: Sheet, headers: Sequence[Header]) -> Iterator[tuple[int, Header | None]]:
    """Rows of a sheet but headers, each with the header above it."""
    above: Header | None = None
    firsts = {row: header for header in headers for row in range(header.first, header.last + 1)}
    for row in sorted(sheet.rows):
        if row in firsts:
            above = firsts[row]
        else:
            yield row, above


def _outside(tables: _Tables) -> Iterator[FactRow]:
    """Rows without a price, whose texts may be on all lines."""
    for sheet, headers in tables:
        for row, header in _rows(sheet, headers):
            cells = sheet.rows[row]
            if header is None or not any(column in cells for role in PRICES for column in header.columns(role)):
                texts = tuple(cells[column].text for column in sorted(cells))
                yield FactRow(sheet.name, f"{sheet.name} row {row}", texts, header is None)


def _titles(outside: Sequence[FactRow]) -> Iterator[tuple[str, bool]]:
    """Notes of texts that may make the lines below them something else, such as a title over used parts.

    With each, whether it makes prices doubtful; of a long text, as terms of sale are, only what is said of all prices.
    """
    for row in outside:
        said = next((text for text in row.texts if said_of_all(text)), "")
        if said:
            is_doubt = is_doubtful(said) and (len(said.split()) <= _WORDS_OF_A_TITLE or is_of_prices(said))
            yield f"{row.place} says `{cut(said, 60)}`: lines are read as they stand", is_doubt


def _of_sheets(tables: _Tables, said: dict[str, str]) -> dict[str, str]:
    """By sheet what is said of its prices; what a sheet without a table says is said of all."""
    of_all = [said[sheet.name] for sheet, headers in tables if not headers and sheet.name in said]
    return {**{sheet.name: text for sheet, _ in tables for text in of_all}, **said}


def _only_rate(tables: _Tables, facts: QuoteFacts, options: QuoteOptions) -> str:
    """The one currency that a rate is given for, where the quote names none at all; else empty."""
    foreign = [currency for currency in options.rates if currency != HOME]
    if len(foreign) != 1 or facts.currency or facts.currencies:
        return ""
    for sheet, headers in tables:
        for row, header in _rows(sheet, headers):
            columns = [] if header is None else [c for role in (*PRICES, "currency") for c in header.columns(role)]
            cells = [cell for c in columns if (cell := sheet.rows[row].get(c)) is not None]
            if (header and header.currency) or any(
                signs_in(cell.text) or currency_of_look(cell.look) for cell in cells
            ):
                return ""
    return foreign[0]


def _price_texts(tables: _Tables) -> Iterator[str]:
    for sheet, headers in tables:
        for row, header in _rows(sheet, headers):
            columns = [] if header is None else [column for role in PRICES for column in header.columns(role)]
            cells = (sheet.rows[row].get(column) for column in columns)
            yield from (cell.value for cell in cells if cell is not None and isinstance(cell.value, str))


def _lines(sheet: Sheet, headers: Sequence[Header], reading: QuoteReading) -> list[tuple[QuoteLine, Header]]:
    """The rows of a sheet as lines, with the header above each."""
    readers = {header.first: RowReader(sheet, header, reading) for header in headers}
    lines: list[QuoteLine] = []
    above: list[Header] = []
    title = ""
    for row, header in _rows(sheet, headers):
        if header is not None:
            reader = readers[header.first]
            reason = _HIDDEN if sheet.is_hidden(row) else _STRUCK if reader.is_struck(row) else ""
            line = reader.line(row) if not reason else _unseen(sheet, header, reading, row, reason)
            if line.status == "unpriced" and line.id and reader.is_included(row):
                _leave_over(lines, line)
            elif line.status == "left over" and line.unit_price == 0 and line.suggestion in reading.names.products:
                _with_remark(lines, line)
            title = _title(sheet, line) or title
            if line.status == "matched" and (what := why_of_title(title)):
                doubt = f"it stands below `{cut(title, 60)}`: its price may be {what}"
                line = replace(line, remarks=(*line.remarks, doubt), doubts=(*line.doubts, doubt))
            lines.append(line)
            above.append(header)
    return list(zip(lines, above, strict=True))


def _title(sheet: Sheet, line: QuoteLine) -> str:
    """The text of a title row above lines: a single short text; else empty."""
    texts = [cell.text for cell in sheet.rows.get(line.row, {}).values()]
    is_title = line.status == "note" and len(texts) == 1 and len(texts[0].split()) <= _WORDS_OF_A_TITLE
    return texts[0] if is_title else ""


def _leave_over(lines: list[QuoteLine], included: QuoteLine) -> None:
    """Leave over the last line with a price: it is that of a product below it too."""
    index = next((i for i in reversed(range(len(lines))) if lines[i].status in ("matched", "left over")), None)
    if index is not None and lines[index].status == "matched":
        line = lines[index]
        reason = f"its price may be for {included.id} of row {included.row} too, which has none of its own"
        lines[index] = replace(line, status="left over", id="", length_m=None, reason=reason, suggestion=line.id)


def _with_remark(lines: list[QuoteLine], free: QuoteLine) -> None:
    """Say of the last line that is matched that its price may be for a product below it too, whose own price is 0."""
    matched = (
        i for i in reversed(range(len(lines))) if lines[i].status == "matched" or lines[i].reason.startswith(KIT)
    )
    index = next(matched, None)
    if index is not None and lines[index].status == "matched":
        count = "" if free.quantity is None else f"{free.quantity:,} x "
        remark = f"row {free.row} has a price of 0: this one may be for {count}{free.suggestion} too"
        lines[index] = replace(lines[index], remarks=(*lines[index].remarks, remark))


def _unseen(sheet: Sheet, header: Header, reading: QuoteReading, row: int, reason: str) -> QuoteLine:
    """A row that is not offered: listed, and its price not taken; what is wrong with it does not spoil the file."""
    line = RowReader(sheet, header, replace(reading, faults=[], assumed=[])).line(row)
    if line.status not in ("matched", "charge", "left over"):
        return line
    reason = reason.format(what=f"sheet {sheet.name}" if sheet.hidden else "the row")
    return replace(line, status="left over", id="", length_m=None, reason=reason, suggestion=line.id or line.suggestion)


def _without_contradictions(lines: Sequence[QuoteLine]) -> tuple[QuoteLine, ...]:
    """The lines, with those of products with several prices left over."""
    offers = sets(
        (line.key, (line.unit_price, line.currency)) for line in lines if line.status == "matched" and not line.breaks
    )
    reason = "the quote has several prices for it, and does not say which holds"
    return tuple(
        replace(line, status="left over", id="", length_m=None, reason=reason, suggestion=line.id)
        if line.status == "matched" and len(offers.get(line.key, ())) > 1 else line for line in lines
    )  # fmt: skip


def _two_prices(lines: Sequence[QuoteLine], file: str) -> Iterator[Fault]:
    """A fault for each product, or length of it, with two prices."""
    first: dict[tuple[str, float | None], QuoteLine] = {}
    for line in lines:
        if line.status != "matched" or line.breaks:
            continue
        earlier = first.setdefault(line.key, line)
        assert line.unit_price is not None and earlier.unit_price is not None
        if (earlier.unit_price, earlier.currency) != (line.unit_price, line.currency):
            length = "" if line.length_m is None else f" in {line.length_m:g} m"
            before = f"{earlier.currency} {plain(earlier.unit_price)} in row {earlier.row} of {earlier.sheet}"
            now = f"{line.currency} {plain(line.unit_price)}"
            hint = "keep the one that holds; or say from how many on each of them does, in a column such as `Qty from`"
            yield fault(
                file,
                f"{line.sheet} row {line.row}",
                f"a second price for {line.id}{length}: {before}, {now} here",
                hint=hint,
            )


def _quote(
    reading: QuoteReading, lines: tuple[QuoteLine, ...], tables: _Tables, facts: QuoteFacts, options: QuoteOptions
) -> Quote:
    worded = grouped(((name, row), column) for name, row, column in reading.worded)
    columns = tuple(
        QuoteColumns(
            sheet.name,
            header.first,
            MappingProxyType({role: tuple(places) for role, places in header.as_read().items()}),
            tuple(header.not_read(worded.get((sheet.name, header.first), ()))),
        )
        for sheet, headers in tables
        for header in headers
    )
    return Quote(
        reading.file,
        lines,
        options.rates,
        facts.dated.isoformat() if facts.dated else None,
        facts.valid_until.isoformat() if facts.valid_until else None,
        tuple(_notes(lines, tables, facts, options)),
        columns,
    )


def _notes(lines: Sequence[QuoteLine], tables: _Tables, facts: QuoteFacts, options: QuoteOptions) -> Iterator[str]:
    yield from facts.notes
    for sheet, headers in tables:
        if sheet.encoding_note:
            yield sheet.encoding_note
        yield from (note for header in headers for note in header.found_parts(sheet.name))
        if not headers and sheet.rows:
            yield f"sheet {sheet.name}: no table of prices, {some(len(sheet.rows), 'row')} not read"
        if sheet.hidden and headers:
            yield f"sheet {sheet.name} is hidden: its prices are left over"
        elif sheet.hidden_rows and headers:
            rows = sorted(sheet.hidden_rows)
            named = ", ".join(map(str, rows[:_MOST_NAMED])) + (", ..." if len(rows) > _MOST_NAMED else "")
            are = f"row {named} is" if len(rows) == 1 else f"rows {named} are"
            yield f"sheet {sheet.name}: {are} hidden: prices there are left over, what else stands there is read"
    used = {line.currency for line in lines if line.status == "matched"}
    for currency in sorted(used - {HOME}):
        yield f"1 {currency} is taken for {float(options.rates[currency]):g} USD"
