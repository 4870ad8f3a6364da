"""Quotes as large distributors and makers write them, with their labels, numbers of lines and children of bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.io.quote.headings import header_at, role_of
from fabopt.io.quote.reading import read_sheets
from fabopt.io.quote.values import number_in
from fabopt.parts.quotes import Quote
from tests.samples.quote_samples import Book, read, write_csv

QM, SR8, JUMPER = "nvidia-qm9700", "nvidia-mma4z00-ns", "nvidia-mfp7e10"


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def prices(quote: Quote) -> dict[int, tuple[str, float, str]]:
    """By row the product that is matched there, its price and currency."""
    return {line.row: (line.id, float(line.unit_price or 0), line.currency) for line in quote.lines
            if line.status == "matched"}  # fmt: skip


def test_a_part_number_in_a_row_of_its_own_below_the_line() -> None:
    """As CDW writes it; the row with the label is a note. A label that the catalog does not know matches nothing."""
    quote = read(
        write_csv(
            "ITEM,QTY,CDW#,UNIT PRICE,EXT. PRICE\n"
            'NVIDIA Quantum-2 64-port switch,12,7654321,"$31,999.99","$383,999.88"\n'
            "  Mfg. Part#: MQM9700-NS2F\n  UNSPSC: 43222609\n  Contract: MARKET\n"
            "NVIDIA MPO fiber cable 10m,4,7333999,$139.05,$556.20\n  Mfg. Part#: MFP7E10-N010\n"
            "NVIDIA MPO fiber cable 7m,4,7333998,$129.05,$516.20\n  Mfg. Part#: MFP7E10-N010\n"
            "Rails for MQM9700-NS2F,4,7000001,$99.00,$396.00\n  UNSPSC: 43222609\n  Mfg. Part#: MTEF-KIT-Z\n"
        )
    )
    assert prices(quote) == {2: (QM, 31999.99, "USD"), 6: (JUMPER, 139.05, "USD")}
    assert {line.row: line.status for line in quote.lines} == {
        2: "matched", 3: "note", 4: "note", 5: "note", 6: "matched", 7: "note", 8: "left over", 9: "note",
        10: "left over", 11: "note", 12: "note",
    }  # fmt: skip
    (other,) = (line for line in quote.lines if line.row == 8)
    assert "different lengths: 7, 10 m" in other.reason


def test_a_part_number_with_its_label_among_other_words() -> None:
    """As SHI and German resellers write it, in the cell of the item or in the description; two of them must agree."""
    quote = read(
        write_csv(
            "Product,Qty,Retail,Your Price,Total\n"
            '"1 Quantum-2 switch\nNVIDIA - Part#: MQM9700-NS2F\nContract Name: Open",10,"42,000","33,400","334,000"\n'
            '"2 Spare fan\nNVIDIA - Part#: MTEF-FAN-A",10,420,334,"3,340"\n'
            '"3 MMA4Z00-NS\nPart#: MFP7E10-N010",10,420,334,"3,340"\n'
        )
    )
    assert prices(quote) == {2: (QM, 33400, "USD")}
    german = read(
        write_csv(
            "Artikelnr.;Bezeichnung;Menge;E-Preis EUR;G-Preis EUR\n"
            "4711001;NVIDIA Switch, Hersteller-Nr.: MQM9700-NS2F;12;29.450,00;353.400,00\n"
            "4711002;Servicepaket, Hersteller-Nr.: SUP-1;12;450,00;5.400,00\n"
        ),
        "EUR=1.1",
    )
    assert prices(german) == {2: (QM, 29450, "EUR")}


@pytest.mark.parametrize(
    "item",
    ["Bracket compatible with Mfg. Part#: MQM9700-NS2F", "Fan for QM9700 - Part#: MQM9700-NS2F",
     "3-year support Part#: MQM9700-NS2F", "Cord\n  to be used with Mfg. Part#: MQM9700-NS2F",
     "Refurbished switch Part#: MQM9700-NS2F", "Appliance\n  Works best beside Part #: MQM9700-NS2F"],
)  # fmt: skip
def test_a_label_of_the_device_that_something_goes_with(item: str) -> None:
    """The part number is not what the price is for."""
    quote = read(
        Book().rows(["Item", "Qty", "Unit price USD"], [item.split("\n")[0], 4, 99], item.split("\n")[1:]).saved()
    )
    assert prices(quote) == {} and quote.lines[0].status == "left over"


def test_two_columns_of_part_numbers_that_do_not_agree() -> None:
    """NVIDIA's new numbers beside the ones before: either may be the one that the catalog knows."""
    quote = read(
        write_csv(
            "Line,NVIDIA SKU,Legacy OPN,Description,Qty,MSRP,Disc %,Net unit,Ext. net\n"
            '1,920-9B210-00FN-0M9,MQM9700-NS2F,Switch,16,"40,000",25,"30,000","480,000"\n'
            '2,980-9I510-00NS00,MMA4Z00-NS,Transceiver,10,"1,200",25,900,"9,000"\n'
            '3,980-9I510-00NS00,MFP7E10-N010,Fibre,10,"1,200",25,900,"9,000"\n'
        )
    )
    assert prices(quote) == {2: (QM, 30000, "USD"), 3: (SR8, 900, "USD")}
    assert quote.lines[2].reason == f"its names are of different products: {JUMPER}, {SR8}"


def test_a_line_whose_price_ends_in_a_dash_is_no_heading() -> None:
    """A German price without cents beside `Stk` was read as a heading, and the lines below it as dollars."""
    quote = read(
        Book()
        .rows(
            ["Pos.", "Hersteller-Nr.", "Bezeichnung", "Menge", "ME", "E-Preis EUR", "G-Preis EUR"],
            ["1.10", "MQM9700-NS2F", "Switch", "12", "Stk", "29.450,00", "353.400,00"],
            ["1.20", "MFP7E10-N010", "MPO Kabel 10 m", "384", "Stk", "121,-", "46.464,00"],
            ["1.30", "MMA4Z00-NS", "Transceiver", "8", "Stk", "980,--", "7.840,00"],
        )
        .saved(),
        "EUR=1.1",
    )
    assert prices(quote) == {2: (QM, 29450, "EUR"), 3: (JUMPER, 121, "EUR"), 4: (SR8, 980, "EUR")}
    (sheet,) = read_sheets(Path(write_csv("a,Stk,121-\nb,pcs,121.00-\nName,Qty,100+\n", "rows.csv")), "a quote")
    assert [header_at(sheet, row, 1) is not None for row in (1, 2, 3)] == [False, False, True]


@pytest.mark.parametrize("heading", ["Monthly price", "Price per month", "Preis pro Monat", "Unit price / month",
                                     "Prix mensuel", "Lease rate (USD)", "Annual price"])  # fmt: skip
def test_a_price_for_a_time_is_no_price(heading: str) -> None:
    """$1,020 a month was read as the price of a switch."""
    assert role_of(heading) == "recurring"
    quote = read(write_csv(f'Part Number,Qty,{heading},Total monthly\nMQM9700-NS2F,8,"1,020.00","8,160.00"\n'))
    assert [(line.status, line.suggestion) for line in quote.lines] == [("left over", QM)]
    assert quote.lines[0].reason == f"its price is for a time, as rents are: `{heading}`"


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("Lease proposal, 36 months - monthly rates in USD", False),
        ("All prices are per month", False),
        ("Alle Preise verstehen sich netto pro Monat", False),
        ("Lease and financing available, with low monthly payments", True),
        ("Prices hold for one month", True),
        ("Prices are reviewed monthly", True),
        ("Subject to annual price adjustments", True),
        ("All prices in USD. Monthly payments are possible", True),
        ("All prices in USD, lease available", True),
        ("Prices in USD, per month", False),
    ],
)
def test_prices_for_a_time_by_a_text_on_the_sheet(text: str, is_read: bool) -> None:
    quote = read(write_csv(f'"{text}"\nPart Number,Qty,Unit price\nMQM9700-NS2F,8,"1,020.00"\n'))
    (line,) = (line for line in quote.lines if line.part)
    assert (line.status == "matched") == is_read
    assert is_read or line.reason == f"its price is for a time, as the quote says: `{text}`"


def test_what_costs_nothing_below_a_line_may_be_in_its_price() -> None:
    """An estimate of Cisco: children of a bundle at a price of 0, and the same part on its own."""
    quote = read(
        Book()
        .rows(
            ["Line Number", "Part Number", "Description", "Qty", "Unit List Price", "Disc(%)", "Unit Net Price"],
            ["1.0", "DCS-7060X6-64PE", "Switch", 4, 200000, 50, 100000],
            ["1.0.1", "CON-SNT-7060X6", "Support", 4, 20000, 0, 20000],
            ["1.1", "NXA-PAC-3200W", "Power supply", 8, 0, 0, 0],
            ["1.2", "OSFP-800G-DR8=", "Transceiver", 256, 0, 0, 0],
            ["2.0", "OSFP-800G-DR8=", "Transceiver", 128, 9000, 50, 4500],
        )
        .saved()
    )
    assert prices(quote) == {2: ("arista-64", 100000, "USD"), 6: ("cisco-dr8", 4500, "USD")}
    assert quote.lines[0].remarks[-1] == ("row 5 has a price of 0: this one may be for 256 x cisco-dr8 too")
    assert not any("price of 0" in remark for remark in quote.lines[4].remarks)


@pytest.mark.parametrize(
    ("text", "value"),
    [("27,50,000.00", 2750000), ("1,10,00,000.00", 11000000), ("1,42,500", 142500), ("1,42,50", None),
     ("127,50,000.00", None), ("1.42.500", None)],
)  # fmt: skip
def test_numbers_in_lakh_and_crore(text: str, value: int | None) -> None:
    """An Indian number is grouped in twos before its last three digits; with points nobody writes it so."""
    assert number_in(text) == value


@pytest.mark.parametrize(
    ("heading", "role"),
    [("Verfügbarkeit", "lead"), ("Disponibilité", "lead"), ("NVIDIA SKU", "part"), ("Legacy OPN", "part"),
     ("Cisco PID", "part"), ("Mfg Part#", "part"), ("Retail", "list"), ("Sell Each", "unit")],
)  # fmt: skip
def test_headings(heading: str, role: str) -> None:
    assert role_of(heading) == role


def test_a_cart_of_a_shop_with_lengths_among_attributes() -> None:
    """As FS writes it; rupees by their sign are those of the heading."""
    quote = read(
        write_csv(
            "Product ID,Item,Attributes,Qty,Unit Price,Subtotal\n"
            '#30962,MTP-12 trunk,Length: 10m (33ft),64,US$ 99.00,"US$ 6,336.00"\n'
        )
    )
    assert [(line.id, line.length_m, line.status) for line in quote.lines] == [("fs-trunk", 10, "matched")]
    rupees = read(write_csv('Part Code,Qty,Unit Rate (INR)\nMQM9700-NS2F,4,"Rs. 27,50,000"\n'), "INR=0.0118")
    assert prices(rupees) == {2: (QM, 2750000, "INR")}


@pytest.mark.parametrize("text", ["Angebotssumme brutto", "Endbetrag", "Auftragssumme netto:"])
def test_sums_in_german(text: str) -> None:
    quote = read(
        write_csv(f"Teilenummer;Menge;Einzelpreis EUR;Gesamt EUR\nMQM9700-NS2F;8;100;800\n{text};;;952\n"), "EUR=1"
    )
    assert [line.status for line in quote.lines] == ["matched", "subtotal"]
