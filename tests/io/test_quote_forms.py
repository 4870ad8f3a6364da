"""Forms of quotes that are seldom written: each is read by a general rule, or left over with the reason."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from fabopt.errors import InputError
from fabopt.io.quote.headings import role_of
from fabopt.io.quote.times import date_in, wait_of
from fabopt.io.quote.values import Cell, lengths_in
from fabopt.parts.quotes import QuoteLine
from tests.samples.quote_samples import Book, read, write_csv

QM, SR8, JUMPER = "nvidia-qm9700", "nvidia-mma4z00-ns", "nvidia-mfp7e10"


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def only(text: str, *rates: str) -> QuoteLine:
    (line,) = (line for line in read(write_csv(text), *rates).lines if line.status != "subtotal")
    return line


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("型番,商品名,数量,単価（円）,金額（円）\nMQM9700-NS2F,スイッチ,4,100000,400000\n"
         ",合計,,,400000\n,消費税 10%,,,40000\n", 1000),
        ("품번,품명,수량,단가,금액\nMQM9700-NS2F,스위치,4,₩100000,₩400000\n,합계,,,₩400000\n", 1000),
        ("Código;Descrição;Qtde;Preço unitário (R$);Valor total (R$)\nMQM9700-NS2F;Switch;4;1.000,00;4.000,00\n"
         ";;Total geral;;4.000,00\n", 10),
        ("Nr katalogowy;Nazwa;Ilość;Cena netto;Wartość netto\nMQM9700-NS2F;Switch;4;1 000,00 zł;4 000,00 zł\n", 10),
        ("Artikelnr;Benämning;Antal;À-pris SEK;Summa SEK\nMQM9700-NS2F;Switch;4;1 000,00;4 000,00\n", 10),
        ("Réf. constructeur;Libellé;Qté;P.U. HT (€);Montant HT\nMQM9700-NS2F;x;4;1 000,00;4 000,00\n", 10),
        ("Referencia;Uds.;P.V.P. (€);Dto. %;Importe (€)\nMQM9700-NS2F;4;1.000,00;10,00;3.600,00\n", 9),
        ("Codice;Q.tà;Prezzo unit. €;Sc. %;Totale €\nMQM9700-NS2F;4;1.000,00;;4.000,00\n", 10),
        ("型号,数量,单价(不含税),币种\nＭＱＭ９７００-NS2F,４,１０００,CNY\n", 10),
    ],
)  # fmt: skip
def test_quotes_in_further_languages(text: str, price: int) -> None:
    rates = ["JPY=0.01", "KRW=0.01", "BRL=0.01", "PLN=0.01", "SEK=0.01", "EUR=0.01", "CNY=.01"]
    line = only(text, *rates)
    quote = read(write_csv(text), *rates)
    assert (line.status, line.id, line.quantity, quote.unit_usd(line)) == ("matched", QM, 4, price)


def test_a_column_of_part_numbers_is_known_by_what_stands_in_it() -> None:
    quote = read(write_csv("Onderdeel van fabrikant,Bla,Qty,Price\nMQM9700-NS2F,a,1,10\nX-1,b,1,9\n"))
    assert [(line.status, line.id) for line in quote.lines] == [("matched", QM), ("left over", "")]
    assert "column A of CSV has the part numbers by what stands in it: `Onderdeel van fabrikant`" in quote.notes


@pytest.mark.parametrize("headings", ["1-99,100-499,500+", "ab 1,ab 100,ab 500", "Price 1-99,Price 100+,Price 500+"])
def test_prices_by_quantity_are_never_the_first_of_them(headings: str) -> None:
    """They are breaks of one price, of which that of the quantity is the line's."""
    line = only(f"Part number,Qty,{headings}\nMMA4Z00-NS,256,750,720,690\n")
    assert (line.status, line.unit_price) == ("matched", 720)
    assert line.breaks == ((1, 750), (100, 720), (500, 690))
    told = only(f"Part number,Qty,{headings},Total\nMMA4Z00-NS,256,750,720,690,184320\n")
    assert (told.status, told.unit_price) == ("matched", 720)


def test_prices_by_quantity_below_one_heading() -> None:
    book = Book().rows(["Part number", "Unit price", None, None], [None, "1-99", "100-499", "500+"],
                       ["MMA4Z00-NS", 750, 720, 690]).merged("B1:D1")  # fmt: skip
    (line,) = read(book.saved()).lines
    assert (line.status, line.row, line.breaks) == ("matched", 3, ((1, 750), (100, 720), (500, 690)))


def test_a_net_price_beside_the_list_price() -> None:
    assert only("P/N,Qty,List,Net\nMQM9700-NS2F,4,43000,32250\n").unit_price == 32250
    line = only("P/N,Qty,List price,Net\nMQM9700-NS2F,4,43000,129000\n")
    assert (line.status, line.reason) == ("left over", "its unit price 129,000 is above its list price 43,000")


def test_a_price_after_a_rebate() -> None:
    line = only("Part,Qty,Unit price,Instant rebate USD,Price after rebate\nMQM9700-NS2F,4,33000,3000,30000\n")
    assert (line.status, line.unit_price) == ("matched", 30000)


def test_another_price_than_that_of_a_unit() -> None:
    line = only("Part,Qty,Unit price,Street price,Price per port\nMQM9700-NS2F,4,33000,35000,515\n")
    assert (line.status, line.unit_price) == ("matched", 33000)
    assert only("Part,Qty,Street price\nMQM9700-NS2F,4,35000\n").unit_price == 35000


def test_what_is_struck_through_is_not_offered() -> None:
    book = Book().rows(["Part", "Qty", "Unit price"], ["MQM9700-NS2F", 4, 33000], ["MQM9700-NS2F", 4, 31000],
                       ["MMA4Z00-NS", 4, 690], ["MFP7E10-N010", 4, 112])  # fmt: skip
    for cell in ("A2", "B2", "C2"):
        book.sheet[cell].font = Font(strike=True)
    book.sheet["C5"] = CellRichText(TextBlock(InlineFont(strike=True), "112"), " 100")
    book.sheet["A4"].font = Font(strike=False)
    quote = read(book.saved())
    assert [line.status for line in quote.lines] == ["left over", "matched", "matched", "left over"]
    assert quote.lines[0].reason.startswith("it is struck through")


def test_a_column_for_the_condition_of_parts() -> None:
    quote = read(write_csv("Part,Cond,Qty,Price\nMQM9700-NS2F,NEW,4,9\nMMA4Z00-NS,REF,4,9\nMFP7E10-N010,NOB,4,9\n"))
    assert [line.status for line in quote.lines] == ["matched", "left over", "left over"]
    assert quote.lines[1].reason == "its condition is `REF`: its price may not be that of a new part"


def test_a_price_that_is_for_a_part_below_it_too() -> None:
    quote = read(write_csv("Part,Qty,Price\nMQM9700-NS2F,4,55000\nMMA4Z00-NS,128,included\nMFP7E10-N010,4,112\n"))
    assert [line.status for line in quote.lines] == ["left over", "unpriced", "matched"]
    assert "may be for nvidia-mma4z00-ns of row 3 too" in quote.lines[0].reason
    rails = read(write_csv("Part,Qty,Price\nMQM9700-NS2F,4,55000\nRAIL-KIT,4,included\n"))
    assert [line.status for line in rails.lines] == ["matched", "unpriced"]


def test_returns_and_credits_are_no_offers() -> None:
    lines = "MMA4Z00-NS,RMA credit,-4,690,-2760\nMMA4Z00-NS,,8,690,5520\n,Project discount 3%,,,-166\n"
    quote = read(write_csv(f"Part,Description,Qty,Price,Total\n{lines}"))
    assert [line.status for line in quote.lines] == ["left over", "matched", "left over"]
    assert "below zero" in quote.lines[0].reason
    assert quote.lines[2].reason == "a charge or a discount, not a product of the catalog"


def test_quantities_of_several_sites() -> None:
    text = "Part,Frankfurt qty,Berlin qty,Price,Total\nMQM9700-NS2F,8,4,33000,396000\nMMA4Z00-NS,8,4,690,690\n"
    first, second = read(write_csv(text)).lines
    assert (first.status, first.quantity) == ("matched", 12)
    assert first.remarks == ("of the quantities Frankfurt qty, Berlin qty: their sum, 12, makes the total",)
    assert second.quantity is None
    total = only("Part,Qty FRA,Qty BER,Qty total,Unit price\nMQM9700-NS2F,8,4,12,33000\n")
    assert total.quantity == 12


@pytest.mark.parametrize(
    "text",
    [
        "Part,Qty,Unit price incl. VAT\nMQM9700-NS2F,4,39270\n",
        "Part,Qty,Unit price (incl. 19% VAT)\nMQM9700-NS2F,4,39270\n",
        "型号,数量,单价(含税) USD\nMQM9700-NS2F,4,39270\n",
        "Alle Preise inkl. MwSt.,,\nPart,Qty,Unit price\nMQM9700-NS2F,4,39270\n",
    ],
)
def test_prices_with_tax_are_left_over(text: str) -> None:
    (line,) = read(write_csv(text)).lines
    assert line.status == "left over"
    assert "its price is with tax" in line.reason


def test_prices_without_tax_are_read() -> None:
    assert only("Prices do not include VAT,,\nPart,Qty,Unit price\nMQM9700-NS2F,4,33000\n").status == "matched"


@pytest.mark.parametrize(
    ("text", "day"),
    [("2026/12/31", "2026-12-31"), ("2026. 12. 31.", "2026-12-31"), ("2026년 12월 31일", "2026-12-31"),
     ("10 out 2026", "2026-10-10")],
)  # fmt: skip
def test_days_with_the_year_first(text: str, day: str) -> None:
    assert date_in(text) == date.fromisoformat(day)


def test_a_day_as_the_number_that_spreadsheets_keep() -> None:
    book = Book().rows(["Part", "Qty", "Price", "Valid until"], ["MQM9700-NS2F", 4, 33000, 46387],
                       ["MMA4Z00-NS", 4, 690, datetime(2026, 12, 31)], ["MFP7E10-N010", 4, 112, 30])  # fmt: skip
    lines = read(book.saved()).lines
    assert [line.valid_until for line in lines] == ["2026-12-31", "2026-12-31", None]
    assert lines[0].remarks == ("`46387` is read as the day that it is in a spreadsheet, 2026-12-31",)


@pytest.mark.parametrize(("text", "weeks"), [("6w", 6), ("6wks ARO", 6), ("~42d", 6), ("30 dias úteis", 6)])
def test_lead_times_without_a_space(text: str, weeks: float) -> None:
    wait = wait_of(Cell(text), "Lead time")
    assert wait is not None
    assert wait.weeks == weeks


def test_lengths_that_are_spans_or_in_feet() -> None:
    assert lengths_in("5-10 m jumper") == lengths_in("5 to 10 m") == set()
    assert lengths_in("8-fibre jumper 10 m") == {10}
    line = only("Part,Length,Qty,Price\nMFP7E10,33 ft,4,112\n")
    assert (line.status, line.reason) == ("left over", "its length is not clear: `33 ft`")


def test_utf_16_that_does_not_say_so_and_other_encodings() -> None:
    text = "Part number\tQty\tUnit price\nMQM9700-NS2F\t4\t33000\n"
    quote = read(write_csv(text, encoding="utf-16-le"))
    assert [line.status for line in quote.lines] == ["matched"]
    assert "the file is read as UTF-16, which its start does not say" in quote.notes
    with pytest.raises(InputError, match="save it as UTF-8"):
        read(write_csv("型番,数量,単価\nMQM9700-NS2F,4,33000\n", encoding="cp932"))


@pytest.mark.parametrize(
    ("heading", "role"),
    [("Ext Sell", "total"), ("Sell", "unit"), ("Line Net", "total"), ("Old price", ""), ("Price per port", "bulk"),
     ("Price validity", "validity"), ("Exchange rate", ""), ("Zustand", "condition"),
     ("Estado", ""), ("Projektpreis", "unit"),
     ("Part number (manufacturer)", "part"), ("Référence constructeur", "part"), ("2026", ""), ("100G", "")],
)  # fmt: skip
def test_headings(heading: str, role: str) -> None:
    assert role_of(heading) == role
