"""What quotes leave open: prices side by side, cells that cannot be read, words around a part number, look-alikes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.io.catalog import named_catalogs
from fabopt.io.quote.headings import role_of
from fabopt.io.quote.names import NameMatch, QuotedNames
from fabopt.io.quote.times import wait_of
from fabopt.io.quote.values import Cell
from tests.io.test_quotes import HEAD, JUMPER, QM, SR8, prices, read, told, whole
from tests.samples.quote_samples import Book

pytestmark = pytest.mark.usefixtures("desk")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_two_offers_beside_each_other_are_left_to_the_reader() -> None:
    """Genuine and compatible modules in two columns; where both cost the same there is nothing to choose."""
    book = Book().rows(
        [None, None, None, "Option A: genuine", None, "Option B: compatible", None],
        ["Item", "Part", "Qty", "Unit USD", "Total USD", "Unit USD", "Total USD"],
        [1, "MMA4Z00-NS", 384, 700, 268800, 389, 149376],
        [2, "MFP7E10-N010", 384, 112, 43008, 112, 43008],
        [3, "MQM9700-NS2F", 4, 31000, 124000, None, None],
    ).merged("D1:E1", "F1:G1")  # fmt: skip
    quote = whole(book.saved())
    assert prices(quote) == {(JUMPER, 10): 112, (QM, None): 31000}
    (line,) = quote.with_status("left over")
    reason = "it has several prices of a unit: 700 in D `Unit USD`, 389 in F `Unit USD`"
    assert (line.suggestion, line.reason) == (SR8, reason)


def test_of_prices_by_quantity_the_total_says_which() -> None:
    """A Spanish quote: the total of 384 modules is at the price from 100 on, that of four switches at the other; all
    are breaks, also where there is no total.
    """
    book = Book().rows(
        ["Cotización 45 - Fecha: 2026-10-10 - Vigencia: 30 días - Moneda: EUR"],
        ["Código", "Descripción", "Cantidad", "Precio unitario (1-99)", "Precio unitario (100+)", "Importe"],
        ["MMA4Z00-NS", "Transceptor", 384, 720, 690, 264960],
        ["MQM9700-NS2F", "Conmutador", 4, 31000, 30500, 124000],
        ["MFP7E10-N010", "Fibra", 384, 115, 108, None],
    )
    quote = whole(book.saved(), "EUR=1")
    assert prices(quote) == {(SR8, None): 690, (QM, None): 31000, (JUMPER, 10): 108}
    breaks = [((1, 720), (100, 690)), ((1, 31000), (100, 30500)), ((1, 115), (100, 108))]
    assert [line.breaks for line in quote.lines] == breaks
    assert {remark for line in quote.with_status("matched") for remark in line.remarks} == {
        "of the prices 720 and 690 the total is that of 690",
        "of the prices 31,000 and 30,500 the total is that of 31,000",
        "its prices by quantity are from 1, 100 on",
    }
    assert quote.valid_until == "2026-11-09"


def test_a_quantity_that_is_not_one_number_is_told() -> None:
    quote = whole(
        Book().rows(HEAD, ["MMA4Z00-NS", "", "2 x 128", 700, 179200], ["MQM9700-NS2F", "", 0, 31000, 0]).saved()
    )
    assert [(line.quantity, line.remarks) for line in quote.with_status("matched")] == [
        (None, ("`Qty` is not read: `2 x 128` is not clear",)), (None, ("`Qty` is not read: `0` is not clear",))
    ]  # fmt: skip


def test_a_part_number_with_its_description_in_one_cell() -> None:
    """It counts if the cell begins with it and goes on as the catalog describes the product, and the remark says so."""
    book = Book().rows(
        ["Item", "Qty", "Price each"],
        ["MMA4Z00-NS - NVIDIA twin-port OSFP module", 384, 700],
        ["NVIDIA MMA4Z00-NS: Twin-port SR8", 10, 700],
        ["MMA4Z00-NS twin-port, compatible", 10, 300],
        ["MMA4Z00-NS twin-port, 3 years of support", 10, 50],
        ["MMA4Z00-NS, dust cap", 10, 5],
        ["MMA4Z00-NS twin-port or OSFP-800G-DR8=", 10, 800],
        ["Fan for MMA4Z00-NS twin-port", 10, 5],
        ["MFP7E10-N007\nMFP7E10-N010", 10, 120],
        ["Twin-port 800G SR8, 50 m", 10, 700],
    )
    quote = whole(book.saved())
    assert [line.row for line in quote.with_status("matched")] == [2, 3, 10]
    assert quote.lines[0].remarks == (
        "`MMA4Z00-NS` at the beginning of its cell is the part number; the other words are as the catalog has them",
    )
    assert [reason for _, status, reason in told(quote) if status == "left over"] == [
        "other words stand in the cell of its part number",
        "other words stand in the cell of its part number",
        "other words stand in the cell of its part number",
        "a kit of several products (cisco-dr8, fs-dr8, nvidia-mma4z00-ns): what each of them costs is not said",
        "other words stand in the cell of its part number",
        "several part numbers of nvidia-mfp7e10: what each of them costs is not said",
    ]


@pytest.mark.parametrize(
    ("code", "near"),
    [("MQM97O0-NS2F", "MQM9700-NS2F (nvidia-qm9700)"), ("MQM979O-NS2F", "MQM9790-NS2F (nvidia-qm9790)"),
     ("MMA4ZOO-N5", "MMA4Z00-NS (nvidia-mma4z00-ns)"), ("MFP7E1O-N0l0", "MFP7E10-Nxxx (nvidia-mfp7e10)")],
)  # fmt: skip
def test_letters_for_digits_that_look_alike_are_what_is_meant(code: str, near: str) -> None:
    assert QuotedNames(named_catalogs(["reference"])).nearest(code) == near


@pytest.mark.parametrize(
    ("heading", "role"),
    [("Código", "part"), ("Cód.", "part"), ("Cant.", "quantity"), ("Precio unit.", "unit"), ("Dto.", "discount"),
     ("Precio total", "total"), ("Plazo de entrega", "lead"), ("Best.-Nr.", "part"), ("G-Preis", "total"),
     ("Code article", "part"), ("Prix net", "unit"), ("Prix total HT", "total"), ("Codice", "part"),
     ("Prezzo unitario", "unit"), ("Quantità", "quantity"), ("Aantal", "quantity"), ("Omschrijving", "description"),
     ("Herst.-Nr.", "part"), ("Prix unitaire HT", "unit"), ("Montant HT", "total"), ("Net Unit", "unit"),
     ("Ships in", "lead"), ("Qty Ordered", "quantity"),
     ("Preiseinheit", "per"), ("Offer B total", "total"), ("Prix unitaire TTC", "taxed")],
)  # fmt: skip
def test_headings_of_further_languages(heading: str, role: str) -> None:
    assert role_of(heading) == role


@pytest.mark.parametrize(
    ("text", "weeks"),
    [("auf Lager", 0), ("vorrätig", 0), ("disponible", 0), ("2 Wo.", 2), ("inmediato", 0), ("nicht auf Lager", None),
     ("not in stock", None), ("KW 48", None)],
)  # fmt: skip
def test_words_for_what_is_in_stock(text: str, weeks: float | None) -> None:
    wait = wait_of(Cell(text), "Lieferzeit")
    assert (wait and wait.weeks) == weeks


def test_a_heading_over_two_columns_whose_parts_are_below_it() -> None:
    """`Artikel` over `Herst.-Nr.` and `Bezeichnung`, `Preis` over `Einzel` and `Gesamt`: the words below say which."""
    book = Book().rows(
        ["Pos.", "Artikel", None, "Menge", "Preis", None, "Lieferzeit"],
        [None, "Herst.-Nr.", "Bezeichnung", None, "Einzel", "Gesamt", None],
        [1, "MQM9700-NS2F", "Switch", 4, 28500, 114000, "6 Wochen"],
        [2, "MMA4Z00-NS", "Modul", 10, 700, None, "4 Wochen"],
    ).merged("B1:C1", "E1:F1")  # fmt: skip
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 28500, (SR8, None): 700}
    assert [(line.quantity, line.lead_time_weeks) for line in quote.with_status("matched")] == [(4, 6), (10, 4)]


@pytest.mark.parametrize(("per", "is_read"), [(1, True), ("1 EA", True), (None, True), (10, False), ("100 St.", False)])
def test_a_price_for_several_units_is_left_over(per: object, is_read: bool) -> None:
    """As order systems write it: a price, and for how many it is."""
    quote = whole(Book().rows(["Material no", "Qty", "Net price", "Per"], ["MMA4Z00-NS", 100, 7000, per]).saved())
    assert (prices(quote) == {(SR8, None): 7000}) == is_read
    reasons = [line.reason for line in quote.with_status("left over")]
    assert reasons == ([] if is_read else [f"its price is for `{per}`, not for one"])


def test_offers_side_by_side_by_their_names() -> None:
    head = ["Part", "Qty", "Offer A unit USD", "Offer A total", "Offer B unit USD", "Offer B total"]
    quote = whole(Book().rows(head, ["MMA4Z00-NS", 10, 700, 7000, 650, 6500]).saved())
    assert prices(quote) == {}
    (line,) = quote.with_status("left over")
    assert line.reason == "it has several prices of a unit: 700 in C `Offer A unit USD`, 650 in E `Offer B unit USD`"


def test_what_is_hidden_is_listed_and_not_taken() -> None:
    """A filtered row, a folded one and one without height; among them a second price for a part and a word that is no
    currency, which would be refused; the seller's own prices in a hidden column; a hidden sheet.
    """
    book = Book().rows(
        ["Part number", "Net price", "Qty", "Unit price", "Currency"],
        ["MQM9700-NS2F", 21000, 40, 32000, "USD"], ["MMA4Z00-NS", 500, 10, 690, "USD"],
        ["MQM9700-NS2F", 20000, 40, 31000, "USD"], ["MCP4Y10-N001", 90, 8, 150, "Zorkmid"],
            ["Freight", None, 1, 9, "USD"],
    )  # fmt: skip
    book.sheet.row_dimensions[3].hidden = True
    book.sheet.row_dimensions[4].outlineLevel, book.sheet.row_dimensions[4].hidden = 1, True
    book.sheet.row_dimensions[5].height = 0.1
    book.sheet.column_dimensions["B"].hidden = True
    other = book.book.create_sheet("Internal")
    other.append(["Part number", "Unit price"])
    other.append(["MFP7E10-N007", 77])
    other.sheet_state = "hidden"
    quote = whole(book.saved())
    unseen = "the row is hidden: if this is offered, show it and read the file again"
    assert told(quote) == [
        (2, "matched", "nvidia-qm9700"), (3, "left over", unseen), (4, "left over", unseen), (5, "left over", unseen),
        (6, "left over", "a charge or a discount, not a product of the catalog"),
        (2, "left over", unseen.replace("the row", "sheet Internal")),
    ]  # fmt: skip
    assert [line.suggestion for line in quote.lines][1:4] == ["nvidia-mma4z00-ns", "nvidia-qm9700", "nvidia-mcp4y10"]
    assert quote.tables[0].not_read == ("B `Net price (hidden)`",)
    assert [note for note in quote.notes if "hidden" in note] == [
        "sheet Quote: rows 3, 4, 5 are hidden: prices there are left over, what else stands there is read",
        "sheet Internal is hidden: its prices are left over",
    ]


@pytest.mark.parametrize(
    ("heading", "note", "is_read"),
    [
        ("Unit price (kUSD)", "", False), ("Preis in T€", "", False), ("Price $k", "", False),
        ("Unit price ('000 USD)", "", False), ("Prix en milliers", "", False),
        ("Unit price", "All prices in k USD", False), ("Unit price", "(in thousands of US dollars)", False),
        ("Price", "Alle Preise in TEUR", False),
        ("Unit price", "Prices are in USD. We serve millions of customers.", True), ("Unit price", "TK 4711", True),
    ],
)  # fmt: skip
def test_a_price_in_thousands_is_left_over(heading: str, note: str, is_read: bool) -> None:
    """30.5 would be the price of a switch otherwise; a sheet that says nothing of the kind is read."""
    book = Book().rows([note], ["Part number", "Qty", heading], ["MQM9700-NS2F", 4, 30.5])
    other = book.book.create_sheet("Optics")
    for row in (["Part number", "Price USD"], ["MMA4Z00-NS", 700]):
        other.append(row)
    quote, _ = read(book.saved(), "EUR=1.1")
    switch, module = quote.lines
    assert (switch.status, module.status) == ("matched" if is_read else "left over", "matched")
    assert is_read or (switch.reason == f"its price is not in units of a currency: `{note or heading}`; write it out")


@pytest.mark.parametrize(("total", "kept"), [(None, 30000), (120000, 30000), (160000, 40000), (110000, None)])
def test_a_unit_price_beside_the_one_less_the_discount(total: int | None, kept: int | None) -> None:
    """A fourth off, with and without a total; one that is that of the price before it, or of neither."""
    head = ("Part number", "Qty", "Unit price", "Disc %", "Net unit", "Total USD")
    (line,) = whole(Book().rows(head, ["MQM9700-NS2F", 4, 40000, 25, 30000, total]).saved()).lines
    assert line.unit_price == kept if line.status == "matched" else kept is None


def test_a_length_is_found_by_either_of_its_numbers() -> None:
    """NVIDIA's pages print MCP7Y00-N01A beside 980-9I926-00N01A, which quotes have; that one names no family."""
    names = QuotedNames(named_catalogs(["reference"]))
    of_one_length = {NameMatch("nvidia-mcp7y00", 1.5)}
    assert names.called("980-9I926-00N01A") == names.called("MCP7Y00-N01A") == of_one_length
