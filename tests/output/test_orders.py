"""Orders by date and vendor, and offers side by side: formulas are worked out here again, as a spreadsheet would."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import datetime
from typing import Any

import openpyxl
import pandas as pd
import pytest

from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.orders import order_lines
from fabopt.output.html.bill import bill_view
from fabopt.output.terminal.answer import spares_line
from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.samples.small import bought, case, catalog, product, solved

REFERENCE = re.compile(r"(?:(RFQ)!)?\$?([A-Z]+)\$?(\d+)?(?::\$?([A-Z]+)\$?(\d+))?(?![(A-Z])")


@pytest.fixture(scope="module")
def design() -> Design:
    """Two stages with a calendar, stock, packs, spares, lead times and vendors."""
    parts = catalog()
    product(parts, "dr4-hot").update(stock=3, pack_size=4, vendor="Optic")
    product(parts, "dac").update(vendor="Wire")
    for length in product(parts, "mpo")["lengths"]:
        length["pack_size"] = 7
    for one in parts["switches"]:
        one.update(vendor="Acme", lead_time_weeks=26)
    stages = [{"name": "day-1", "month": 7, "servers": 3}, {"name": "later", "month": 18, "servers": 6}]
    content = case({"nics": ["nic-400"], "nics_per_server": 2}, stages=stages, start="2026-03")
    content["procurement"] = {"spares": {"transceiver": {"fraction": 0.1}}}
    return solved(content, parts)


class Book:
    """A workbook whose formulas are worked out when their cells are asked for."""

    def __init__(self, data: bytes) -> None:
        self.book = openpyxl.load_workbook(io.BytesIO(data))

    def value(self, sheet: str, cell: str) -> Any:
        content = self.book[sheet][cell].value
        if not isinstance(content, str) or not content.startswith("="):
            return content
        expression = REFERENCE.sub(lambda match: self._reference(sheet, match), content[1:])
        expression = re.sub(r"(?<![<>=])=(?!=)", "==", expression)
        return eval(expression, {"at": self.value, "span": self.span, **FUNCTIONS})

    def span(self, sheet: str, first: str, last: str) -> list[Any]:
        return [self.value(sheet, cell.coordinate) for row in self.book[sheet][f"{first}:{last}"] for cell in row]

    @staticmethod
    def _reference(sheet: str, match: re.Match[str]) -> str:
        name, column, row, to_column, to_row = match.groups()
        if row is None:
            return match.group(0)
        where = name or sheet
        if to_row is None:
            return f"at({where!r}, '{column}{row}')"
        return f"span({where!r}, '{column}{row}', '{to_column}{to_row}')"


def numbers(*cells: Any) -> list[float]:
    flat = [one for cell in cells for one in (cell if isinstance(cell, list) else [cell])]
    return [one for one in flat if isinstance(one, int | float)]


FUNCTIONS = {
    "IF": lambda test, then, other: then if test else other,
    "COUNT": lambda *cells: len(numbers(*cells)),
    "MIN": lambda *cells: min(numbers(*cells), default=0),
    "SUM": lambda *cells: sum(numbers(*cells)),
    "SUMPRODUCT": lambda left, right: sum(a * b for a, b in zip(left, right, strict=True) if a and b),
    "COUNTIF": lambda cells, wanted: sum(cell == wanted for cell in cells),
    "SUMIF": lambda cells, wanted, sums: sum(b for a, b in zip(cells, sums, strict=True) if a == wanted),
}


def rows_of(book: Book, sheet: str) -> list[dict[str, Any]]:
    """The lines of a sheet up to the first that is empty, by heading."""
    heads, *lines = [[cell.value for cell in row] for row in book.book[sheet].iter_rows()]
    end = next((number for number, line in enumerate(lines) if line[1] is None and line[0] is None), len(lines))
    return [dict(zip(heads, line, strict=True)) for line in lines[:end]]


def test_orders_are_by_date_and_vendor(design: Design) -> None:
    book = Book(bill_bytes(design, ".xlsx"))
    rows = rows_of(book, "Orders")
    keys = [(row["Order by month"], row["Vendor"]) for row in rows]
    assert keys == sorted(keys) and len({row["Order by"] for row in rows}) == 3
    assert all(isinstance(row["Order by"], datetime) and isinstance(row["Arrives by"], datetime) for row in rows)
    # month 7 from March 2026 on is October; 26 weeks before the first of it is the second of April
    switches = next(row for row in rows if row["Kind"] == "switch")
    assert (switches["Order by"], switches["Arrives by"]) == (datetime(2026, 4, 2), datetime(2026, 10, 1))
    ordered: dict[str, int] = {}
    for row in rows:
        ordered[row["Id"]] = ordered.get(row["Id"], 0) + row["Order"]
    assert ordered == {part: number for part, number in bought(design).items() if number}


def test_what_is_there_already_is_taken_once(design: Design) -> None:
    """Three modules in stock, which the first stage takes; nothing else was there."""
    taken = {(line.row.stage, line.row.id): line.from_stock for line in order_lines(design) if line.from_stock}
    assert taken == {("day-1", "dr4-hot"): 3}


def test_orders_add_up(design: Design) -> None:
    """Sums of vendors and of all, worked out again, are what the design costs to the cent."""
    assert design.totals is not None
    book = Book(bill_bytes(design, ".xlsx"))
    sheet = book.book["Orders"]
    sums = {row[2].value: book.value("Orders", row[12].coordinate) for row in sheet.iter_rows() if row[12].value}
    vendors = {line.vendor for line in order_lines(design)}
    assert sums["all orders"] == pytest.approx(design.totals.capex_usd, abs=0.001)
    assert sum(sums[vendor] for vendor in vendors) == pytest.approx(design.totals.capex_usd, abs=0.001)
    shown = openpyxl.load_workbook(io.BytesIO(bill_bytes(design, ".xlsx")), data_only=True)["Orders"]
    assert max(row[12].value for row in shown.iter_rows(min_row=2) if row[12].value) == design.totals.capex_usd


def test_offers_of_three_vendors_pick_the_cheapest(design: Design) -> None:
    """Each line by the least price of those who quote it; sums of what is won are the cheapest set."""
    book = Book(bill_bytes(design, ".xlsx"))
    sheet = book.book["RFQ"]
    heads = [cell.value for cell in sheet[1]]
    columns = [heads.index("Quoted unit price USD" + more) + 1 for more in ("", " (2)", " (3)")]
    quantity, lines = heads.index("Quantity") + 1, range(2, sheet.max_row + 1)
    quotes = {(line, offer): 100 + (7 * line + 31 * offer) % 50 for line in lines for offer in (1, 2, 3)}
    del quotes[2, 1], quotes[3, 1], quotes[3, 2], quotes[3, 3]
    for (line, offer), price in quotes.items():
        sheet.cell(line, columns[offer - 1], price)
    won = {1: 0, 2: 0, 3: 0}
    for line in lines:
        offers = [(quotes[line, offer], offer) for offer in (1, 2, 3) if (line, offer) in quotes]
        price, best = min(offers, default=("", ""))
        assert (book.value("Offers", f"H{line}"), book.value("Offers", f"I{line}")) == (price, best)
        if best:
            won[best] += price * sheet.cell(line, quantity).value
    end = sheet.max_row
    assert book.value("Offers", f"J{end + 2}") == sum(won.values())
    for offer in (1, 2, 3):
        row = end + 4 + offer
        total = sum(price * sheet.cell(line, quantity).value for (line, one), price in quotes.items() if one == offer)
        assert book.value("Offers", f"C{row}") == total and book.value("Offers", f"E{row}") == won[offer]


def test_an_offer_that_comes_too_late_does_not_win(design: Design) -> None:
    """Switches are needed in month 7, within 30 and a third weeks: the cheapest of three offers takes 31."""
    book = Book(bill_bytes(design, ".xlsx"))
    sheet = book.book["RFQ"]
    heads = [cell.value for cell in sheet[1]]
    kinds, stages = heads.index("Kind"), heads.index("Quantity day-1")
    line = next(row[0].row for row in sheet.iter_rows(min_row=2) if row[kinds].value == "switch" and row[stages].value)
    for more, price, weeks in (("", 120, 30), (" (2)", 100, 31), (" (3)", 110, "30 or so"), (" (4)", "none", 4)):
        sheet.cell(line, heads.index("Quoted unit price USD" + more) + 1, price)
        sheet.cell(line, heads.index("Quoted lead time weeks" + more) + 1, weeks)
    shown = [book.value("Offers", f"{column}{line}") for column in "HIKL"]
    assert shown == [110, 3, pytest.approx(7 * 52 / 12), 1]
    sheet.cell(line, heads.index("Quoted unit price USD (3)") + 1).value = None
    assert [book.value("Offers", f"{column}{line}") for column in "HIL"] == [120, 1, 1]
    sheet.cell(line, heads.index("Quoted unit price USD") + 1).value = None
    assert [book.value("Offers", f"{column}{line}") for column in "HIJL"] == ["", "", 0, 1]


def test_spares_stock_and_packs_have_columns_that_add_up(design: Design) -> None:
    """What is bought and what comes out of stock is in use, spare or left over; the screen says the same."""
    rows = {(row["Id"], row["Length m"]): row for row in rows_of(Book(bill_bytes(design, ".xlsx")), "RFQ")}
    spares, left = 0, 0
    for (id_, length_m), row in rows.items():
        of_part = [one for one in design.bom if (one.id, one.length_m) == (id_, length_m)]
        used, kept = sum(one.in_use for one in of_part), sum(one.spares for one in of_part)
        assert row["Of these spares"] == kept
        assert row["Quantity"] + row["From own stock"] == used + kept + row["Of these left over"], id_
        assert row["From own stock"] <= (3 if id_ == "dr4-hot" else 0)
        spares, left = spares + kept, left + row["Of these left over"]
    ordered = sum(line.from_stock for line in order_lines(design))
    assert ordered == sum(row["From own stock"] for row in rows.values()) == 3 and spares and left
    assert spares_line(design) == (
        f"spares among these: {spares} of the transceivers; left over from packs and breaks: {left} of the "
        "fibres; from own stock besides: 3 of the transceivers"
    )


def test_planned_prices_add_up(design: Design) -> None:
    assert design.totals is not None
    book = Book(bill_bytes(design, ".xlsx"))
    end = book.book["RFQ"].max_row
    assert book.value("Offers", f"G{end + 2}") == pytest.approx(design.totals.capex_usd, abs=0.001)
    assert book.value("Offers", f"J{end + 2}") == 0


# -- one rule of where units come from, wherever they are shown -----------------------------------------------------


@pytest.fixture(scope="module")
def shared() -> Design:
    return shared_orders()


def shared_orders() -> Design:
    """Two fabrics in two stages: stock that covers spares, packs that leave some over, a break that buys early."""
    parts = catalog()
    product(parts, "dr4-hot").update(stock=5, pack_size=7)
    product(parts, "dac")["lengths"][1].update(stock=4, price_usd=[{"from": 1, "usd": 150}, {"from": 12, "usd": 90}])
    for length in product(parts, "mpo")["lengths"]:
        length["pack_size"] = 5
    stages = [{"name": "day-1", "month": 0, "servers": 3}, {"name": "later", "month": 18, "servers": 6}]
    fabric = {"min_gbps_per_gpu": 100, "max_oversubscription": 1, "nics": ["nic-400"], "nics_per_server": 1, "tiers": 2}
    content = case(stages=stages, fabrics=[{"name": name, **fabric} for name in ("compute", "storage")])
    content["procurement"] = {"spares": {"cable": {"minimum": 2}, "transceiver": {"fraction": 0.1}}}
    return solved(content, parts)


def test_every_place_says_the_same_of_stock_spares_and_what_is_left(shared: Design) -> None:
    """Recounted from use, spares and orders alone; bill as CSV, JSON, sheet and page, RFQ, orders and the summary."""
    assert [check.detail for check in shared.checks if not check.ok] == []
    totals = {"from_stock": 0, "from_earlier": 0, "beyond_need": 0}
    for part in {(row.id, row.length_m) for row in shared.bom if row.kind != "other"}:
        ahead = 0
        for stage in ("day-1", "later"):
            rows = [row for row in shared.bom if (row.id, row.length_m, row.stage) == (*part, stage)]
            lack = sum(row.in_use + row.spares - row.quantity for row in rows)
            earlier, stock = min(ahead, max(0, lack)), max(0, lack) - min(ahead, max(0, lack))
            told = tuple(sum(getattr(row, key) for row in rows) for key in totals)
            assert told == (stock, earlier, max(0, -lack)), (part, stage)
            ahead += max(0, -lack) - earlier
            for key, units in zip(totals, told, strict=True):
                totals[key] += units
    assert min(totals.values()) > 0
    titles = {"from_stock": "From own stock", "from_earlier": "From earlier orders", "beyond_need": "Beyond need"}
    book = Book(bill_bytes(shared, ".xlsx"))
    rows = json.loads(bill_bytes(shared, ".json"))["rows"]
    lines = list(csv.DictReader(io.StringIO(bill_bytes(shared, ".csv").decode("utf-8-sig"))))
    bill = [row for row in rows_of(book, "Bill") if row["Line"]]
    page = bill_view(shared)
    frame = pd.DataFrame(rows)
    for key, total in totals.items():
        assert frame[key].sum() == sum(int(line[key]) for line in lines) == total
        assert sum(row[titles[key]] or 0 for row in bill) == total
        assert sum(cell.order for row in page for cell in row.cells if cell.column == titles[key]) == total
    asked = rows_of(book, "RFQ")
    left = totals["beyond_need"] - totals["from_earlier"]
    assert sum(line.from_stock for line in order_lines(shared)) == totals["from_stock"]
    assert sum(row["Of these left over"] for row in asked) == left
    bought = {row.id for row in shared.bom if row.quantity}
    assert sum(row["From own stock"] for row in asked) == sum(r.from_stock for r in shared.bom if r.id in bought)
    spares = sum(max(0, row.spares - row.from_stock - row.from_earlier) for row in shared.bom)
    assert sum(row["Of these spares"] for row in asked) == spares
    said = spares_line(shared) or ""
    numbers_said = {
        words: sum(map(int, re.findall(r"(\d+) of the", said.split(words)[1].split(";")[0])))
        for words in ("left over from packs and breaks:", "from own stock besides:")
    }
    assert list(numbers_said.values()) == [left, totals["from_stock"]]


@pytest.mark.parametrize("key", ["from_stock", "from_earlier", "beyond_need"])
def test_a_bill_that_says_otherwise_fails(shared: Design, key: str) -> None:
    at = next(number for number, row in enumerate(shared.bom) if getattr(row, key))
    rows = list(shared.bom)
    rows[at] = rows[at].model_copy(update={key: getattr(rows[at], key) - 1})
    changed = shared.model_copy(update={"bom": tuple(rows)})
    assert not next(check for check in verify(changed) if check.name == "purchases_cover_use").ok
