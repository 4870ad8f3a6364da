"""Words of quotes: used parts and others in their place, discounts as shares and amounts, further languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.io.catalog import read_catalog
from fabopt.io.quote.currencies import _file, pattern
from fabopt.io.quote.headings import role_of
from fabopt.io.quote.reading import quote_options, read_quote
from fabopt.io.quote.times import date_in
from tests.io.test_quotes import HEAD, JUMPER, QM, SR8, prices, read, whole
from tests.samples.quote_samples import Book, write_csv

pytestmark = pytest.mark.usefixtures("desk")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [("Twin-port 800G SR8, refurbished", "refurbished"), ("used, grade A", "used"), ("überholt", "überholt"),
     ("d'occasion", "d'occasion"), ("二手模块", "二手"), ("Twin-port 800G SR8, 50 m or equivalent", "or equivalent"),
     ("oder gleichwertig", "oder gleichwertig"), ("ou équivalent", "ou équivalent"), ("compatible 800G", "compatible"),
     ("third-party optics", "third-party"), ("used for server links", ""), ("compatible with QM9700", ""),
     ("Twin-port 800G SR8, 50 m", "")],
)  # fmt: skip
def test_a_used_part_or_another_is_not_the_new_one(words: str, said: str) -> None:
    """Also where the words stand in a column that is not read."""
    for row in (["MMA4Z00-NS", words, 8, 700, 5600], ["MMA4Z00-NS", "", 8, 700, 5600, words]):
        (line,) = whole(Book().rows((*HEAD, "Anything"), row).saved()).lines
        assert (line.status, line.suggestion) == (("left over", SR8) if said else ("matched", "")), row
        assert line.reason.startswith(f"`{said}` stands on the line: ") if said else not line.reason


def test_compatible_parts_are_what_their_makers_sell() -> None:
    """A maker that has parts with another's coding in the catalog sells compatible ones by their own numbers."""
    catalog = Path("coded.yaml")
    catalog.write_text(
        "transceivers: [{id: shop-sr8, vendor: Shop, part_number: SHOP-SR8-800G, form_factor: OSFP-IHS, split: 2x400,\n"
        "  standard: 400G-SR4, fibre: om4, connector: MPO-12-APC, connectors: 2, reach_m: 50, price_usd: 400,\n"
        "  power_w: 15, coded_for: [Arista]}]\n"
    )
    name = Book().rows(HEAD, ["SHOP-SR8-800G", "Arista compatible 800G SR8", 8, 380, None]).saved()
    quote, _ = read_quote(name, read_catalog(["./coded.yaml"], Path()), quote_options((), None, 1))
    assert [line.status for line in quote.lines] == ["matched"]


def test_options_and_ends_of_sale_are_told() -> None:
    """Their prices hold. A title over lines says something of them, so a note names it."""
    rows = (
        HEAD, ["MQM9700-NS2F", "Switch (option)", 1, 30000, 30000], ["Refurbished:"],
        ["MMA4Z00-NS", "End of Life 12/2026", 8, 700, 5600],
    )  # fmt: skip
    quote = whole(Book().rows(*rows).saved())
    assert [line.remarks for line in quote.with_status("matched")] == [
        ("`option` stands on the line: its quantity may be no part of what is offered",),
        ("`End of Life` stands on the line: ask how long the part is sold",),
    ]
    assert "Quote row 3 says `Refurbished:`: lines are read as they stand" in quote.notes


@pytest.mark.parametrize(
    ("headings", "cells", "price"),
    [(["Discount"], [25], None), (["Discount %"], [25], 750), (["Discount USD"], [25], 975),
     (["Rabatt"], ["25 %"], 750), (["Rabatt"], ["$25"], 975), (["Remise"], [-400], 600),
     (["Discount"], ["120 %"], None), (["Discount"], [0], 1000),
     (["Disc 1 %", "Disc %"], [30, 10], None), (["Disc %", "Discount USD"], [15, 150], 850)],
)  # fmt: skip
def test_a_discount_is_a_share_or_an_amount(headings: list[str], cells: list[object], price: int | None) -> None:
    """A list price and nothing else: what may be a share or an amount, or several one after the other, is left over."""
    head = ["Part number", "Qty", "List price", *["Discount" if "1" in text else text for text in headings]]
    (line,) = whole(Book().rows(head, ["MMA4Z00-NS", 8, 1000, *cells]).saved()).lines
    assert (line.unit_price if line.status == "matched" else None) == price


@pytest.mark.parametrize(("total", "price"), [(5040, 630), (5600, 700), (7200, 900), (6000, None)])
def test_the_total_tells_which_discount_is_meant(total: int, price: int | None) -> None:
    """Of 30 % and 10 %, one after the other, or one of them."""
    head = ["Part number", "Qty", "List price", "Discount", "Disc %", "Total"]
    (line,) = whole(Book().rows(head, ["MMA4Z00-NS", 8, 1000, "30%", 10, total]).saved()).lines
    assert (line.unit_price if line.status == "matched" else None) == price


def test_a_chinese_quote() -> None:
    write_csv(
        "报价单\t\t\t\t\t\t\n报价日期：2026年10月11日\t\t\t\t\t\t\n有效期：30天  币种：人民币\t\t\t\t\t\t\n"
        "序号\t产品型号\t描述\t数量\t单价（元）\t总价\t交期\n1\tMMA4Z00-NS\t光模块\t8\t5000\t40000\t8周\n"
        "2\tMFP7E10\t跳线 10米\t8\t800\t6400\t现货\n\t\t合计\t\t\t46400\t\n",
        encoding="utf-16",
    )
    quote = whole("quote.csv", "CNY=0.14")
    assert prices(quote) == {(SR8, None): 700, (JUMPER, 10): 112}
    assert [line.lead_time_weeks for line in quote.with_status("matched")] == [8, 0]
    assert (quote.date, quote.valid_until) == ("2026-10-11", "2026-11-10")


def test_french_net_and_gross_prices_in_euros_of_the_heading() -> None:
    write_csv(
        "Devis du 14/10/2026;;;;;;\nMontants en euros HT;;;;;;\n"
        "Réf. fabricant;Désignation;Qté;P.U. brut HT;Remise;P.U. net HT;Montant HT\n"
        "MMA4Z00-NS;Module;8;1 020,00;-320,00;700,00;5 600,00\n",
        encoding="cp1252",
    )
    quote = whole("quote.csv", "EUR=1")
    assert (prices(quote), quote.lines[0].remarks) == ({(SR8, None): 700}, ())


def test_a_currency_over_two_columns_of_prices() -> None:
    rows = (
        ["Artikel", None, "Preise in CHF", None],
        ["Nr.", "Text", "Liste", "Rabatt %"],
        ["MMA4Z00-NS", "", 1000, 30],
    )
    quote = whole(Book().rows(*rows).merged("A1:B1", "C1:D1").saved(), "CHF=2")
    assert prices(quote) == {(SR8, None): 1400}


@pytest.mark.parametrize("heading", ["Unit price", "Unit price ($)"])
@pytest.mark.parametrize(
    ("said", "usd"), [("All prices in CAD", 15750), ("Currency: USD", 45000), ("Terms: net", 45000)]
)
def test_a_dollar_sign_is_the_dollar_that_the_quote_names(heading: str, said: str, usd: int) -> None:
    rows = ([said], ["Part number", "Qty", heading], ["MQM9700-NS2F", 2, "$45,000"])
    assert prices(whole(Book().rows(*rows).saved(), "CAD=0.35")) == {(QM, None): usd}


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("单价（USD）", "unit"),
        ("数量", "quantity"),
        ("P. unitario", "unit"),
        ("Unit rate", "unit"),
        ("含税单价", "taxed"),
    ],
)
def test_headings(heading: str, role: str) -> None:
    assert role_of(heading) == role


def test_a_column_unit_beside_prices_is_one_of_measures() -> None:
    quote = whole(
        Book().rows(["Part", "Unit", "Unit rate"], ["MQM9700-NS2F", "no.", 9], ["MMA4Z00-NS", "m", 7]).saved()
    )
    assert prices(quote) == {(QM, None): 9}


@pytest.mark.parametrize(
    ("text", "day"),
    [("7 de noviembre de 2026", "2026-11-07"), ("2026年1月5日", "2026-01-05"), ("15 gennaio 2026", "2026-01-15"),
     ("October 3, 2026 / good through 10/31/2026", "2026-10-03")],
)  # fmt: skip
def test_the_first_day_in_a_text(text: str, day: str) -> None:
    assert str(date_in(text)) == day


@pytest.mark.parametrize("name", ["page.csv", "page.xlsx"])
def test_a_web_page_is_told_for_what_it_is(name: str) -> None:
    Path(name).write_text('<html xmlns:x="urn:x"><table><tr><th>Part</th><th>Price</th></tr></table></html>')
    with pytest.raises(InputError, match="this is a web page under another name"):
        read(name)


def test_words_are_in_small_letters() -> None:
    """Texts are looked through in small letters first."""
    for key in _file():
        assert key == "pieces" or not re.search(r"[A-Z]", re.sub(r"\\.", "", pattern(key).pattern)), key
