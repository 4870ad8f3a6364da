"""What a price is for: several, a time, more than the part, a length in feet; each is told, none is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabopt.io.quote.values import Cell, length_of, said_by_look
from fabopt.parts.quotes import QuoteLine
from tests.samples.quote_samples import Book, read, write_csv

QM, SR8, JUMPER = "nvidia-qm9700", "nvidia-mma4z00-ns", "nvidia-mfp7e10"


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def only(text: str) -> QuoteLine:
    (line,) = read(write_csv(text)).lines
    return line


@pytest.mark.parametrize(
    "heading",
    ["Unit price (per 10)", "Price (10 pcs)", "Price/10", "Price per 10", "Preis pro 10 Stk", "Unit price (pack of 10)",
     "Preis / VE", "Price (set)", "Price per dozen", "Unit price per rack", "Price per 1,000 pcs", "Price per m",
     "Net price incl. 3Y support", "Unit price (incl. freight)"],
)  # fmt: skip
def test_a_heading_by_which_a_price_is_not_that_of_one_alone(heading: str) -> None:
    """Left over, unless a total and a quantity say what one is."""
    line = only(f'Part number,Qty,"{heading}"\nMFP7E10-N010,200,1180\n')
    assert (line.status, line.suggestion) == ("left over", JUMPER)
    assert line.reason == f"its price is not that of one alone: `{heading}`"
    told = only(f'Part number,Qty,"{heading}",Total\nMFP7E10-N010,200,1180,23600\n')
    assert (told.status, told.unit_price) == ("matched", 118)


@pytest.mark.parametrize(
    "heading", ["Price each (qty 10)", "Unit price (1 pc)", "Price per piece", "Unit price (2026)", "Price/pc",
                "Unit price (incl. discount)", "Price (USD)", "Unit price (1-99)"]
)  # fmt: skip
def test_headings_by_which_a_price_is_that_of_one(heading: str) -> None:
    line = only(f'Part number,Qty,"{heading}"\nMFP7E10-N010,200,118\n')
    assert (line.status, line.unit_price) == ("matched", 118)


@pytest.mark.parametrize("heading", ["pro", "je", "Price basis", "Preisbasis"])
def test_a_column_that_says_for_how_many_a_price_is(heading: str) -> None:
    line = only(f"Part number,Qty,Unit price USD,{heading}\nMFP7E10-N010,200,1180,10\n")
    assert (line.status, line.reason) == ("left over", "its price is for `10`, not for one")
    assert only(f"Part number,Qty,Unit price USD,{heading}\nMFP7E10-N010,200,118,1\n").status == "matched"


@pytest.mark.parametrize("heading", ["Term (months)", "Service duration (months)", "Billing frequency", "Laufzeit"])
@pytest.mark.parametrize(("text", "is_read"), [("36", False), ("Quarterly", False), ("---", True), ("One-time", True)])
def test_a_column_for_the_time_that_a_price_is_for(heading: str, text: str, is_read: bool) -> None:
    line = only(f"Part number,Qty,Unit price USD,{heading}\nMQM9700-NS2F,8,950,{text}\n")
    assert line.status == ("matched" if is_read else "left over")
    assert is_read or line.reason == f"its price may be for a time: `{text}`"


@pytest.mark.parametrize("basis", ["10", "each of 10"])
def test_a_basis_of_several_is_none_of_one(basis: str) -> None:
    line = only(f"Part number,Qty,Unit price,Price basis\nMFP7E10-N010,200,1180,{basis}\n")
    assert (line.status, line.reason) == ("left over", f"its price is for `{basis}`, not for one")
    assert only("Part number,Qty,Unit price,Price basis\nMFP7E10-N010,200,118,list\n").status == "matched"


@pytest.mark.parametrize("text", ["All prices are per 10 pieces", "Prices per 1,000 pcs", "Preise für 10 Stück"])
def test_a_text_by_which_all_prices_are_for_several(text: str) -> None:
    line = only(f'"{text}",,\nPart number,Qty,Unit price USD\nMFP7E10-N010,100,1180\n')
    assert line.reason == f"its price is not that of one, as the quote says: `{text}`"


@pytest.mark.parametrize(
    ("text", "said"),
    [("monthly", "may be for a time"), ("Leihgerät", "may be for a time"), ("リース", "may be for a time"),
     ("Alternate", "another part"), ("ALT", "another part"), ("instead of line 2", "another part"),
     ("B-Stock", "not that of a new part"), ("Trade-in", "not that of a new part"), ("中古", "not that of a new part"),
     ("includes MMA4Z00-NS", "for that too"), ("with 4x MMA4Z00-NS", "for that too"),
     ("pack/10", "of a pack"), ("price per 10", "of a pack"), ("price incl. VAT", "with tax")],
)  # fmt: skip
def test_words_on_a_line_by_which_its_price_is_another(text: str, said: str) -> None:
    line = only(f"Part number,Description,Qty,Unit price USD,Comment\nMQM9700-NS2F,Switch,8,31000,{text}\n")
    assert (line.status, line.suggestion) == ("left over", QM)
    assert said in line.reason


@pytest.mark.parametrize(
    "text", ["not incl. MMA4Z00-NS", "for MMA4Z00-NS", "with pull tab", "MRC capable", "IEC Grade B", "release 10.2"]
)
def test_words_that_say_nothing_of_a_price(text: str) -> None:
    line = only(f"Part number,Description,Qty,Unit price USD,Comment\nMQM9700-NS2F,Switch,8,31000,{text}\n")
    assert (line.status, line.remarks) == ("matched", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [("incl. 5 yr support", "its price is for that too"), ("budgetary", "ask whether the price holds"),
     ("not included in total", "its quantity may be no part"), ("Variante B", "its quantity may be no part")],
)  # fmt: skip
def test_words_on_a_line_whose_price_holds(text: str, said: str) -> None:
    line = only(f"Part number,Description,Qty,Unit price USD,Comment\nMQM9700-NS2F,Switch,8,31000,{text}\n")
    (remark,) = line.remarks
    assert line.status == "matched"
    assert said in remark


def test_a_column_that_says_which_lines_are_optional() -> None:
    quote = read(write_csv("Part number,Optional (Y/N),Qty,Price USD\nMQM9700-NS2F,N,8,31000\nMMA4Z00-NS,Y,128,800\n"))
    assert [bool(line.remarks) for line in quote.lines] == [False, True]


@pytest.mark.parametrize(
    "text", ["An additional 7% discount applies to all prices", "Preise zzgl. 8% Teuerungszuschlag",
             "Remise globale de 5 % sur le total", "Budgetary quote - not a firm offer",
             "Bundle price: all lines or none"]
)  # fmt: skip
@pytest.mark.parametrize("is_above", [True, False])
def test_a_text_on_all_prices_is_a_note(text: str, is_above: bool) -> None:
    """What comes off or on in the end is in no price; whoever takes the book has to know it."""
    table = "Part number,Qty,Unit price USD\nMQM9700-NS2F,8,31000\n"
    quote = read(write_csv(f'"{text}",,\n{table}' if is_above else f'{table}"{text}",,\n'))
    assert any(f"says `{text}`: lines are read as they stand" in note for note in quote.notes)


def test_a_number_format_by_which_prices_are_in_thousands() -> None:
    book = Book().rows(["Part number", "Qty", "Unit price"], ["MQM9700-NS2F", 8, 31], ["MMA4Z00-NS", 128, 800])
    book.sheet["C2"].number_format = '#,##0 "k€"'
    book.sheet["C3"].number_format = "#,##0.00 [$€-407]"
    first, second = read(book.saved(), "EUR=1").lines
    assert (first.status, second.status) == ("left over", "matched")
    assert "not in units of a currency: `#,##0 k€`" in first.reason
    assert said_by_look('#,##0.0, "k€"') == ""


@pytest.mark.parametrize(
    ("value", "heading", "length_m"),
    [(10.0, "Length (ft)", None), (10.0, "Length (in)", None), ("10", "Länge (Zoll)", None), (10.0, "Length in m", 10),
     (1000.0, "Length (cm)", 10), ("500", "Length (mm)", 0.5), ("10 m", "Length (ft)", 10), (10.0, "Length", 10),
     (0.0, "Length", None), ("1,5", "Länge", 1.5)],
)  # fmt: skip
def test_lengths_in_the_unit_of_their_heading(value: str | float, heading: str, length_m: float | None) -> None:
    assert length_of(Cell(value), heading) == length_m
    line = read(write_csv(f'Part number,Qty,"{heading}",Price USD\nMFP7E10,64,"{value}",118\n')).lines[0]
    assert line.length_m == length_m or line.status == "left over"
