"""Quotes as vendors write them: every row is matched, or listed with the reason; nothing is guessed."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest

from fabopt.errors import Fault
from fabopt.io.catalog import read_catalog
from fabopt.io.quote.headings import role_of
from fabopt.io.quote.reading import quote_options, read_quote
from fabopt.io.quote.times import date_in, wait_of
from fabopt.io.quote.values import Cell, amount_of, lengths_in
from fabopt.parts.quotes import Quote
from tests.samples.quote_samples import Book, write_catalog, write_csv

QM, SR8, JUMPER, DAC = "nvidia-qm9700", "nvidia-mma4z00-ns", "nvidia-mfp7e10", "nvidia-mcp4y10"
CHARGE = "a charge or a discount, not a product of the catalog"
HEAD = ("Part number", "Description", "Qty", "Unit price", "Total")


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, *rates: str, currency: str | None = None, asked: int = 1) -> tuple[Quote, list[Fault]]:
    catalog = read_catalog([write_catalog()], Path())
    return read_quote(name, catalog, quote_options(rates, currency, asked))


def whole(name: str, *rates: str, currency: str | None = None) -> Quote:
    quote, faults = read(name, *rates, currency=currency)
    assert faults == []
    return quote


def prices(quote: Quote) -> dict[tuple[str, float | None], float | None]:
    return {line.key: quote.unit_usd(line) for line in quote.with_status("matched")}


def told(quote: Quote) -> list[tuple[int, str, str]]:
    """Row, status and what became of it: the product, or the reason."""
    return [(line.row, line.status, line.id if line.status == "matched" else line.reason) for line in quote.lines]


# -- ten quotes -----------------------------------------------------------------------------------------------------


def test_1_letterhead_subtotals_and_a_second_table() -> None:
    book = Book().rows(
        ["ACME Networks"], ["Quotation", "Q-4711"], ["Date:", datetime(2026, 10, 15)], ["Valid for 30 days"], [],
        ["#", "MPN", "Description", "Qty", "Unit Price (USD)", "Ext. Price (USD)", "Lead time"],
        ["Switches"],
        [1, "MQM9700-NS2F", "Quantum-2, incl. rail kit", 40, 32000, 1280000, "8-10 weeks"],
        ["", "", "Subtotal", None, None, 1280000],
        ["Cabling"],
        ["#", "MPN", "Description", "Qty", "Unit Price (USD)", "Ext. Price (USD)", "Lead time"],
        [2, "MFP7E10-N007", "Jumper", 1280, 120.5, 154240, "30 days"],
        ["", "", "Subtotal", None, None, 154240],
        ["", "", "Grand total", None, None, 1434240],
            ["", "", "Cabling total", None, None, 154240],
        ["", "", "VAT 19 %", None, None, 272505.6],
        ["All prices in USD, ex works."],
    ).merged("A1:G1")  # fmt: skip
    book.sheet["C3"].number_format = "yyyy-mm-dd"
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 32000, (JUMPER, 7): 120.5}
    assert (quote.date, quote.valid_until) == ("2026-10-15", "2026-11-14")
    assert [line.status for line in quote.lines] == [
        "note", "matched", "subtotal", "note", "matched", "subtotal", "subtotal", "subtotal", "subtotal", "note",
    ]  # fmt: skip
    assert [line.lead_time_weeks for line in quote.with_status("matched")] == [10, 4.29]
    assert len(quote.tables) == 2 and not any("no currency" in note for note in quote.notes)


def test_2_german_euro_with_points_and_commas() -> None:
    name = write_csv(
        "Angebot 2026-77;;;;;\nDatum: 01.10.2026;;;;;\nGültig bis 31.12.2026;;;;;\n\n"
        "Pos;Artikel-Nr.;Bezeichnung;Menge;E-Preis;Gesamtpreis;Lieferzeit\n"
        "10;MQM9700-NS2F;Switch;2;29.900,00 €;59.800,00 €;6 Wochen\n"
        "20;MMA4Z00-NS;Modul;1.280;650,50 €;832.640,00 €;ab Lager\n"
        ";;Zwischensumme;;;892.440,00 €;\n;;zzgl. 19% MwSt;;;169.563,60 €;\n",
        encoding="cp1252",
    )
    quote = whole(name, "EUR=1.10")
    assert prices(quote) == {(QM, None): 32890, (SR8, None): 715.55}
    assert [line.quantity for line in quote.with_status("matched")] == [2, 1280]
    assert [line.lead_time_weeks for line in quote.with_status("matched")] == [6, 0]
    assert (quote.date, quote.valid_until) == ("2026-10-01", "2026-12-31")
    assert [line.status for line in quote.lines] == ["matched", "matched", "subtotal", "subtotal"]
    assert "1 EUR is taken for 1.1 USD" in quote.notes


def test_3_a_currency_without_a_rate_is_left_over_and_says_what_to_pass() -> None:
    book = Book().rows(HEAD, ["MMA4Z00-NS", "", 10, 650, 6500], ["MQM9700-NS2F", "", 1, 30000, 30000])
    book.look(D2="#,##0.00 [$€-407]", E2="#,##0.00 [$€-407]", D3='"$"#,##0.00', E3='"$"#,##0.00')
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 30000}
    assert told(quote)[0] == (2, "left over", "there is no rate for EUR: pass `--rate EUR=...`, dollars for one EUR")


def test_4_missing_and_contradicting_lengths() -> None:
    book = Book().rows(
        ["Item", "Description", "Length (m)", "QTY", "Price each"],
        ["MFP7E10-Nxxx", "Jumper", 7, 100, 120],
        ["MFP7E10-Nxxx", "Jumper", None, 100, 130],
        ["MFP7E10", "Jumper 10 m", None, 100, 140],
        ["MFP7E10-N0XX", "Jumper 10 m", None, 100, 140],
        ["MFP7E10-N005", "Jumper 7m", None, 100, 110],
        ["MFP7E10-N008", "Jumper", None, 100, 125],
        ["MCP4Y10-N00A", "Half a metre", None, 8, 150],
        ["MCP4Y10-N01A", "", 1.5, 8, 210],
        [68017, "Trunk", None, 4, 75],
        [30962, "Trunk", "10 m", 4, 95],
    )
    quote = whole(book.saved())
    assert prices(quote) == {
        (JUMPER, 7): 120,
        (JUMPER, 10): 140,
        (DAC, 0.5): 150,
        (DAC, 1.5): 210,
        ("fs-trunk", 5): 75,
        ("fs-trunk", 10): 95,
    }
    assert [line for line in told(quote) if line[1] == "left over"] == [
        (3, "left over", "its length is missing: nvidia-mfp7e10 is sold in 5, 7, 10 m"),
        (5, "left over", "the catalog has no product with this part number"),
        (6, "left over", "it names different lengths: 5, 7 m"),
        (
            7,
            "left over",
            "nvidia-mfp7e10 is not sold in 8 m in the catalog, but in 5, 7, 10 m; a catalog of your own may add it",
        ),
    ]


def test_5_a_typing_error_a_kit_and_charges_are_listed() -> None:
    book = Book().rows(
        HEAD,
        ["MMA4Z00-N5", "Twin-port optics", 10, 700, 7000],
        ["KIT-42", "Spine kit: MQM9700-NS2F with 64x MMA4Z00-NS", 2, 90000, 180000],
        ["MMA4Z00-NS", "Bundle with two jumpers", 5, 800, 4000],
        ["MMA4Z00-NS", "4-pack", 5, 2800, 14000],
        ["SUP-3Y", "3 years support for MQM9700-NS2F", 1, 9000, 9000],
        [None, "Freight and insurance", 1, 1200, 1200],
        [None, "Project discount", None, None, -5000],
        ["OSFP-800G-DR8", "", 4, 900, 3600],
    )
    quote = whole(book.saved())
    assert prices(quote) == {}
    assert [(line.reason, line.suggestion) for line in quote.lines] == [
        ("the catalog has no product with this part number", "MMA4Z00-NS (nvidia-mma4z00-ns)"),
        ("a kit of several products (nvidia-mma4z00-ns, nvidia-qm9700): what each of them costs is not said", ""),
        ("a kit: its price is for more than the one product", SR8),
        ("the price may be of a pack, not of one", SR8),
        ("a service, not a product of the catalog", ""),
        ("a charge or a discount, not a product of the catalog", ""),
        ("a charge or a discount, not a product of the catalog", ""),
        ("several products have this name: cisco-dr8, fs-dr8", "cisco-dr8, fs-dr8"),
    ]
    assert {line.status for line in quote.lines} == {"left over"}


def test_6_list_prices_discounts_and_totals() -> None:
    head = ["Vendor", "SKU", "Qty", "List price", "Discount %", "Unit price", "Total"]
    book = Book().rows(
        head,
        ["NVIDIA", "MQM9700-NS2F", 2, 40000, 25, None, 60000],
        ["NVIDIA", "MMA4Z00-NS", 10, None, 30, 1000, 7000],
        ["Cisco", "OSFP-800G-DR8", 10, 8000, 0.5, 4000, 40000],
        ["FS", "OSFP-800G-DR8", 10, None, 20, 1000, None],
        ["NVIDIA", "MFP7E10-N007", 10, None, None, 125, 1300],
        ["NVIDIA", "MFP7E10-N010", 3, None, None, None, 400],
        ["NVIDIA", "MCP4Y10-N001", 3, 185, None, None, None],
        ["Arista", "DCS-7060X6-64PE", 3, 50000, 40, None, 100000],
    )
    book.look(E4="0%")
    quote = whole(book.saved())
    assert prices(quote) == {
        (QM, None): 30000, (SR8, None): 700, ("cisco-dr8", None): 4000, (JUMPER, 10): 133.33, (DAC, 1): 185,
    }  # fmt: skip
    assert [line[2] for line in told(quote) if line[1] == "left over"] == [
        "whether the discount is in the unit price already is not said, and no total tells",
        "10 x 125 is 1,250, but the total says 1,300",
        "3 x 30,000 is 90,000, but the total says 100,000",
    ]
    remarks = {line.id: line.remarks for line in quote.with_status("matched")}
    assert remarks[SR8] == ("unit price 1,000 less the discount is 700, as the total says",)
    assert remarks[DAC] == ("the list price is taken: no discount and no other price is stated",)


def test_7_headings_of_two_rows_and_merged_cells() -> None:
    book = Book().rows(
        ["QUOTE", None, None, None, None, None],
        ["Hardware", None, "Price in US$", None, "Delivery", "Currency"],
        ["Part", "Pieces", "Unit", "Total", "(weeks)", None],
        ["MQM9700-NS2F", 2, 30000, 60000, 12, "USD"],
        ["MMA4Z00-NS", 10, 700, 7000, None, None],
        ["MFP7E10-N007", 10, 5000, 5000, None, None],
        ["MFP7E10-N010", 10, None, None, None, None],
    ).merged("A1:F1", "A2:B2", "C2:D2", "F2:F3", "E4:E5", "F4:F7", "C6:C7", "D6:D7")  # fmt: skip
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 30000, (SR8, None): 700}
    assert [line.lead_time_weeks for line in quote.with_status("matched")] == [12, 12]
    assert told(quote)[2:] == [
        (6, "left over", "10 x 5,000 is 50,000, but the total says 5,000"),
        (7, "left over", "10 x 5,000 is 50,000, but the total says 5,000"),
    ]


def test_8_names_in_other_spellings_and_terms_of_sale() -> None:
    book = Book().rows(
        ["Mfr", "Mfr. Part Number", "Our SKU", "MOQ", "Pack size", "Net price", "CCY", "Valid until"],
        ["Mellanox", "Mellanox MQM9700 NS2F", "X-1", 1, 1, 30000, "USD", "2026-12-31"],
        ["NVIDIA", "mma4z00ns", "X-2", 30, 20, 700, "USD", "03/04/2026"],
        ["Arista Networks", "Arista DCS-7060X6-64PE", "X-3", None, None, "45k", "USD", None],
        ["FS.COM", "OSFP-800G-DR8", "X-4", None, None, "call", "USD", None],
        ["", "nvidia-mfp7e10", "MFP7E10-N005", None, None, 99, "USD", None],
        ["", "MMA4Z00-NS", "MQM9700-NS2F", None, None, 99, "USD", None],
    )
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 30000, (SR8, None): 700, (JUMPER, 5): 99}
    optics = quote.with_status("matched")[1]
    assert (optics.minimum_order, optics.pack_size, optics.valid_until) == (30, 20, None)
    assert optics.remarks == (
        "`Valid until` is not read: `03/04/2026` is not clear",
        "the minimum of 30 is no whole number of packs of 20, and is rounded up to one",
    )
    assert quote.with_status("matched")[0].valid_until == "2026-12-31"
    assert told(quote)[2:4] == [
        (4, "left over", "its price cannot be read: `45k`"),
        (5, "unpriced", "its price is `call`"),
    ]
    assert told(quote)[5][2] == "its names are of different products: nvidia-mma4z00-ns, nvidia-qm9700"


def test_9_several_sheets_with_terms_and_notes() -> None:
    book = Book("Optics").rows(HEAD, ["MMA4Z00-NS", "", 10, 700, 7000])
    second = book.book.create_sheet("Fibre")
    for row in (["Lieferant: FS"], HEAD, ["MFP7E10-N007", "", 10, 120, 1200], ["Delivery within 4 weeks"]):
        second.append(list(row))
    terms = book.book.create_sheet("Terms")
    for text in (
        "Prices are in US dollars.",
        "This quote is valid through December 1, 2026.",
        "Payment within 30 days",
    ):
        terms.append([text])
    quote = whole(book.saved())
    assert prices(quote) == {(SR8, None): 700, (JUMPER, 7): 120}
    assert quote.valid_until == "2026-12-01"
    assert "sheet Terms: no table of prices, 3 rows not read" in quote.notes
    assert not any("no currency stands" in note for note in quote.notes)


def test_10_tabs_without_a_currency_and_rows_without_a_price() -> None:
    name = write_csv(
        "Part No\tDescription\tQty\tPrice\n"
        "MMA4Z00-NS\tOptics\t10\t1,250\n"
        "\tcontinued: finned top\t\t\n"
        "MQM9700-NS2F\tSwitch\t2\tTBD\n"
        "NEW-PART\tSomething else\t2\t\n"
        "MFP7E10-N007\tJumper\t5\t0\n"
        "\t\t\t12,500\n",
        "quote.tsv",
    )
    quote = whole(name)
    assert prices(quote) == {(SR8, None): 1250}
    assert told(quote) == [
        (2, "matched", SR8),
        (3, "note", ""),
        (4, "unpriced", "its price is `TBD`"),
        (5, "unpriced", "the catalog has no product with this part number; no price is stated"),
        (6, "left over", "a price of 0 would make any number of them free"),
        (7, "subtotal", "a sum without a name"),
    ]
    assert "prices beside which no currency stands are taken for USD (`--currency` says another)" in quote.notes
    assert prices(whole(name, "GBP=1.25", currency="GBP")) == {(SR8, None): 1562.5}


def test_11_units_of_measure_and_other_words_beside_part_numbers() -> None:
    book = Book().rows(
        ["Item", "Model", "Qty", "UoM", "Unit $"],
        ["Leaf", "MQM9700-NS2F", "4 pcs", "EA", 30000],
        ["Fibre", "MFP7E10-N007", 20, "PK", 1150],
        ["Fibre", "MFP7E10-N010", 20, "Stück", 120],
        ["Optics", "NVIDIA MMA4Z00-NS, 2x400G SR4", 64, "EA", 905],
        ["Spine", "MQM9700-NS2F (optional)", 2, "each", 33000],
        ["Both", "MQM9700-NS2F + MMA4Z00-NS", 2, "each", 33000],
    )
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 30000, (JUMPER, 10): 120}
    assert [(line.row, line.reason, line.suggestion) for line in quote.with_status("left over")] == [
        (3, "its price is for a unit of `PK`, not for one", JUMPER),
        (5, "other words stand in the cell of its part number", SR8),
        (6, "other words stand in the cell of its part number", QM),
        (7, f"a kit of several products ({SR8}, {QM}): what each of them costs is not said", ""),
    ]


def test_12_texts_beside_the_columns_and_lines_that_cost_nothing() -> None:
    """Freight is named in the column of line numbers, as distributors do; an airflow that is asked for is a line."""
    book = Book().rows(
        ["Line Number", "Part Number", "Product", "Qty", "Unit Net Price", "Extended Net Price"],
        ["1.0", "DCS-7060X6-64PE-F", "64x 800G", 4, 60000, 240000],
        ["1.1", "NXK-AF-PI", "Airflow selection", 4, 0, 0],
        ["1.2", "OSFP-800G-DR8=", "800GBASE-DR8", 16, 7465, 119440],
        ["2.0", "SVC-3Y", "3 year support", 1, 12000, 12000],
        ["Freight & handling", None, None, 1, 1500, 1500],
        ["Additional project discount", None, None, 1, -15000, -15000],
        ["Brought forward", None, None, None, None, 1000],
    ).merged("A6:C6")  # fmt: skip
    quote = whole(book.saved())
    assert prices(quote) == {("arista-64", None): 60000, ("cisco-dr8", None): 7465}
    assert [line for line in told(quote) if line[1] != "matched"] == [
        (3, "unpriced", "the catalog has no product with this part number; its price is 0"),
        (5, "left over", "a service, not a product of the catalog"),
        (6, "left over", "a charge or a discount, not a product of the catalog"),
        (7, "left over", "a charge or a discount, not a product of the catalog"),
        (8, "subtotal", "a sum or a tax, no price of a part"),
    ]


def test_13_a_french_quote_with_notes_between_lines_and_a_makers_other_number() -> None:
    write_csv(
        "Devis;D-2026-118;;;;\nDate : 05/10/2026;;;;;\n;;;;;\nRéf.;Désignation;Qté;P.U. HT;Remise;Total HT\n"
        "MQM9700-NS2F;Switch;6;14 500,00 €;10%;78 300,00 €\nNote : livraison sous 6 semaines;;;;;\n"
        "980-9I510-00NS00;Module;48;950,00 €;10%;41 040,00 €\n;Total HT;;;;119 340,00 €\n;TVA 20%;;;;23 868,00 €\n"
    )
    quote = whole("quote.csv", "EUR=1.1")
    assert prices(quote) == {(QM, None): 14355, (SR8, None): 940.5}
    assert [line[:2] for line in told(quote) if line[1] != "matched"] == [(6, "note"), (8, "subtotal"), (9, "subtotal")]


def test_14_a_swiss_price_of_packs_beside_that_of_a_piece() -> None:
    text = (
        "Offerte Nr. 88;;;;;;\nGültig 45 Tage ab 15.10.2026;;;;;;\n"
        "Bestellnummer;Text;VPE;Menge VPE;Preis je VPE CHF;Preis je Stück CHF;Lieferzeit\n"
        "MMA4Z00-NS;800G SR8;10;40;11.900,00;1.190,00;8 Wochen\n"
        "MCP4Y10-N001;DAC 1 m;5;8;612,50;122,50;4 Wochen\n;Versandkosten;;;;90,00;\n;Sonderrabatt;;;;-500,00;\n"
    )
    Path("quote.csv").write_text(text, encoding="cp1252")
    quote = whole("quote.csv", "CHF=1.25")
    assert prices(quote) == {(SR8, None): 1487.5, (DAC, 1): 153.13}
    assert [line.pack_size for line in quote.with_status("matched")] == [10, 5]
    assert told(quote)[-2:] == [(6, "left over", CHARGE), (7, "left over", CHARGE)]
    assert quote.valid_until == "2026-11-29"


def test_15_a_british_quote_of_tabs_without_tax_and_with_carriage() -> None:
    write_csv(
        "Quotation\t\t\t\t\t\nQuote date: 1 October 2026\t\t\t\t\t\n"
        "Our ref\tMfr part\tQty\tUnit price ex VAT\tMOQ\tDelivery\n"
        "A1\tMQM9700-NS2F\t6\t£24 950.00\t1\t12 weeks\nA2\tMMA4Z00-NS\t96\t£ 455.50\t10\t5 weeks\n"
        "\t\t\t\t\t\nCarriage\t\t\t£350.00\t\t\n"
    )
    quote = whole("quote.csv", "GBP=1.3")
    assert prices(quote) == {(QM, None): 32435, (SR8, None): 592.15}
    assert [line.minimum_order for line in quote.with_status("matched")] == [1, 10]
    assert told(quote)[-1] == (7, "left over", CHARGE)


def test_16_charges_named_in_the_column_of_prices_and_discounts_on_all() -> None:
    book = Book().rows(
        ["Mfr Part #", "Product description", "Qty", "Unit list", "Disc", "Unit net", "Ext. net"],
        ["MMA4Z00-NS", "", 10, 1000, "20%", 800, 8000],
        [None, None, None, None, None, "Subtotal", 8000],
        [None, None, None, None, None, "Shipping", 240],
        ["Promotional discount", None, None, None, None, None, -250],
        [None, "Remise exceptionnelle", None, None, None, None, -20],
        [None, None, None, None, None, "Total", 7970],
    )
    quote = whole(book.saved())
    assert prices(quote) == {(SR8, None): 800}
    charges = [line for line in quote.lines if line.reason == CHARGE]
    assert {line.description or line.part: line.unit_price for line in charges} == {
        "Shipping": 240, "Promotional discount": -250, "Remise exceptionnelle": -20
    }  # fmt: skip
    assert [line.row for line in quote.with_status("subtotal")] == [3, 7]


def test_a_typing_error_in_the_code_of_a_length_is_near_the_family() -> None:
    quote = whole(Book().rows(HEAD, ["MFP7E1O-N030", "", 4, 90, 360]).saved())
    assert [line.suggestion for line in quote.lines] == ["MFP7E10-Nxxx (nvidia-mfp7e10)"]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Valid 30 days from 15 October 2026", "2026-11-14"),
        ("Gültig 45 Tage ab 15.10.2026", "2026-11-29"),
        ("Valid from 2026-10-01 until 2026-12-31", "2026-12-31"),
        ("Validity: 01.10.2026 - 31.12.2026", "2026-12-31"),
        ("Offre valable du 01.10.2026 au 30.11.2026", "2026-11-30"),
        ("Validité : 30 jours", "2026-11-09"),
        ("Valid for 30 days (until 14.11.2026)", "2026-11-14"),
        ("Valid until 2026-11-30 - see our terms", "2026-11-30"),
        ("Valid from 2026-10-01", None),
    ],
)
def test_until_when_a_quote_holds(text: str, end: str | None) -> None:
    quote = whole(Book().rows(["Date: 2026-10-10"], [text], HEAD, ["MMA4Z00-NS", "", 1, 800, 800]).saved())
    assert quote.valid_until == end
    assert any("cannot be read" in note for note in quote.notes) is (end is None)


# -- and other habits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", ["Part,Unit price,Total", "Part,Qty,Qty,Unit price,Total", "Part,Qty,Unit price"])
def test_totals_prove_nothing_without_one_quantity(head: str) -> None:
    """Unit prices are as the heading says, and no column that is not read takes their place."""
    cells = {"Part": "MMA4Z00-NS", "Qty": "2", "Unit price": "650", "Total": "1300"}
    row = ",".join(cells[heading] for heading in head.split(","))
    quote, faults = read(write_csv(f"{head},Ours\n{row},700\n"))
    assert (faults, prices(quote)) == ([], {(SR8, None): 650})


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("Manufacturer's Part No.", "part"),
        ("Artikel-Nr.", "part"),
        ("Product / Part No.", "part"),
        ("mfg_part_number", "part"),
        ("Item #", "name"),
        ("Pos.", ""),
        ("#", ""),
        ("Menge/Qty", "quantity"),
        ("QTY (pcs)", "quantity"),
        ("Net Unit Price [EUR]", "unit"),
        ("Preis/Stück in €", "unit"),
        ("USD each", "unit"),
        ("Unit", ""),
        ("Preis je VPE CHF", "bulk"),
        ("Preis je Stück (CHF)", "unit"),
        ("Unit price ex VAT", "unit"),
        ("Price exc. VAT", "unit"),
        ("Price inc. VAT", "taxed"),
        ("Ext. net", "total"),
        ("Unit $", "unit"),
        ("UoM", "measure"),
        ("Réf.", "part"),
        ("Ext. Price", "total"),
        ("List Price (US$)", "list"),
        ("Rabatt %", "discount"),
        ("Lead Time (wks)", "lead"),
        ("Lieferzeit in Wochen", "lead"),
        ("In stock", "stock"),
        ("Kabellänge (m)", "length"),
        ("Price valid until", "validity"),
    ],
)
def test_headings_of_vendors(heading: str, role: str) -> None:
    assert role_of(heading) == role


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("$1,234.56", "", "1234.56"),
        ("1.234,56 €", "", "1234.56"),
        ("1'234.50 CHF", "", "1234.5"),
        ("1 234,50", "", "1234.5"),
        ("32.000,-", "", "32000"),
        ("1,250", "", "1250"),
        ("1.250", ".", None),
        ("0.125", "", "0.125"),
        ("(500.00)", "", "-500"),
        ("500-", "", "-500"),
        ("USD 880 / ea", "", "880"),
        ("880 per 10 pcs", "", None),
        ("1.23.4", "", None),
        ("XYZ 100", "", None),
        ("€ 100 / $ 109", "", None),
        ("45k", "", None),
        ("incl.", "", None),
    ],
)
def test_amounts_are_read_one_way_or_not_at_all(text: str, mark: str, value: str | None) -> None:
    amount = amount_of(Cell(text), mark)
    assert (None if amount is None else amount.value) == (None if value is None else Fraction(value))


def test_days_lengths_and_lead_times() -> None:
    days = {
        "31.12.2026": "2026-12-31",
        "12/31/2026": "2026-12-31",
        "03/04/2026": None,
        "5 Oct 2026": "2026-10-05",
        "31. Dezember 2026": "2026-12-31",
        "December 1st, 2026": "2026-12-01",
        "2026-02-30": None,
    }
    assert {text: day and day.isoformat() for text in days for day in [date_in(text)]} == days
    assert lengths_in("MPO 10m, 50 cm, 400G, 7 m/s, 3 mm") == {10, 0.5}
    waits = {"6-8 weeks": 8, "30 days ARO": 4.29, "10 business days": 2, "3 Monate": 13.04, "in stock": 0}
    waits |= dict.fromkeys(("KW 42", "TBD", "8"))
    assert {text: wait and wait.weeks for text in waits for wait in [wait_of(Cell(text), "Delivery")]} == waits


def test_of_two_currencies_beside_each_other_dollars_are_read() -> None:
    book = Book().rows(["MPN", "Unit price EUR", "Unit price USD"], ["MQM9700-NS2F", 27000, 30000])
    quote = whole(book.saved())
    assert prices(quote) == {(QM, None): 30000}
    assert quote.tables[0].not_read == ("B `Unit price EUR`",)


@pytest.mark.parametrize(
    ("row", "matched"),
    [
        ("MQM9700-NS2F,1,$30,000", False),
        ("MQM9700-NS2F,1,USD 1,030,000.50", False),
        ('MQM9700-NS2F,1,"$30,000"', True),
        ("MQM9700-NS2F,1,$30000,as agreed", True),
    ],
)
def test_a_number_that_its_comma_parts_is_no_price(row: str, matched: bool, tmp_path: Path) -> None:
    """``$30,000`` without quotation marks was read as a price of $30."""
    (tmp_path / "a.csv").write_text(f"Part number,Qty,Unit price\n{row}\n")
    quote = whole("a.csv")
    assert prices(quote) == ({(QM, None): 30000} if matched else {})
    assert matched or "a number with a comma" in quote.lines[0].reason
