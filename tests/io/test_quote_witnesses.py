"""No price without three witnesses: words, sums and a band of known prices; and currencies in words."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from fabopt.io.catalog import read_catalog
from fabopt.io.quote.currencies import signs_in
from fabopt.io.quote.reading import quote_options, read_quote
from fabopt.parts.quotes import QuoteLine
from tests.paths import TESTS
from tests.samples.cli_samples import Run
from tests.samples.quote_samples import read, write_catalog, write_csv

QUOTES = TESTS / "samples" / "quotes"
QM = "nvidia-qm9700"


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(run: Run, name: str, *options: str) -> tuple[int, dict[str, object], str]:
    """The exit code, the prices of the book and what is printed for a quote of ``tests/samples/quotes``."""
    shutil.copy(QUOTES / name, name)
    ran = run("quote", "import", name, "-o", "book.yaml", *options)
    return ran.code, yaml.safe_load(Path("book.yaml").read_text())["prices"], " ".join(ran.out.split())


def only(text: str, *rates: str) -> QuoteLine:
    (line,) = (line for line in read(write_csv(text), *rates).lines if line.status not in ("subtotal", "note"))
    return line


def test_adders_are_no_prices(run: Run) -> None:
    """Labour, a fee, a difference in price, a licence and the price of a lot, each by the part number it goes with."""
    code, prices, out = imported(run, "adders.csv")
    assert (code, prices) == (1, {})
    assert "5 lines, 0 matched and 5 left over" in out


@pytest.mark.parametrize(
    "words",
    ["Rack and stack labour", "Installation service for the switch", "Montage und Inbetriebnahme", "Main-d'œuvre",
     "Mano de obra", "設置作業費", "安装调试服务", "Expedite fee", "Restocking charge", "Bearbeitungsgebühr",
     "Frais de dossier", "Cargo por urgencia", "特急手数料", "加急费", "NOS licence for QM9700", "Softwarelizenz",
     "Licence logicielle", "Licencia de software", "QM9700用ライセンス", "软件许可", "Switch, 3 years support",
     "Extended warranty, 5 years", "Garantieverlängerung", "Extension de garantie", "Extensión de garantía", "延長保証",
     "Wartungsvertrag 36 Monate", "Rental unit", "Mietgerät", "Price difference to QM9790", "Aufpreis managed",
     "Supplément version managée", "差額", "差价", "Cancelled", "Superseded by the new model", "Storniert", "Annulé",
     "Cancelado", "取消", "作废", "Not included", "Nicht enthalten", "Non inclus", "No incluido", "不含", "別途",
     "Part of a set of two", "Teil eines Sets", "Lot de 2", "Set of 4", "一式", "Spare fan module", "Ersatznetzteil",
     "Power cord", "Rail kit for the switch", "For reference only", "Twin-port transceiver", "MPO cable",
     "DCS-7060X6-64PE, 64 ports", "Deposit 30 %", "Anzahlung"],
)  # fmt: skip
@pytest.mark.parametrize("is_remark", [False, True])
def test_words_by_which_a_price_is_not_that_of_the_part(words: str, is_remark: bool) -> None:
    """In the description; of those that leave no doubt there, also in a column beside it."""
    description, remark = ("Switch", words) if is_remark else (words, "")
    line = only(f'Part number,Description,Qty,Unit price USD,Text\nMQM9700-NS2F,"{description}",4,31000,"{remark}"\n')
    told = line.status == "left over" and line.suggestion == QM
    aside = ("transceiver", "cable", "support", "cord", "warranty", "Rail kit", "fan", "netzteil", "QM9700", "QM9790")
    assert told or (is_remark and any(word in words for word in aside)), line


@pytest.mark.parametrize(
    "words",
    ["Quantum-2 switch, 64 ports, 2 PSUs, 7 fans", "Switch incl. rail kit", "Switch; optics not included",
     "Switch, freight prepaid",
     "Switch with power cords", "Managed switch (no licence required)", "Switch, lifetime warranty",
     "NDR switch for the spine", "Leaf switch, no surcharge", "Switch mit zwei Netzteilen", "Commutateur 64 ports",
     "Conmutador gestionado", "スイッチ 64ポート", "64口交换机", "Switch, 1 year manufacturer warranty",
     "Switch for use with MMA4Z00-NS", "Free shipping", "Delivery 6 weeks", "installation by customer",
     "Rails included"],
)  # fmt: skip
@pytest.mark.parametrize("is_remark", [False, True])
def test_words_of_honest_lines(words: str, is_remark: bool) -> None:
    description, remark = ("Switch", words) if is_remark else (words, "")
    if not is_remark and words in ("Free shipping", "Delivery 6 weeks", "installation by customer", "Rails included"):
        return
    line = only(f'Part number,Description,Qty,Unit price USD,Text\nMQM9700-NS2F,"{description}",4,31000,"{remark}"\n')
    assert (line.status, line.id, line.doubts) == ("matched", QM, ()), line


def test_currencies_in_words_are_refused_or_converted(run: Run) -> None:
    code, prices, out = imported(run, "currency-words.csv")
    assert (code, prices) == (1, {}) and "there is no rate for AUD" in out
    assert imported(run, "currency-words.csv", "--rate", "AUD=0.65")[:2] == (0, {"nvidia-qm9790": 29250})


@pytest.mark.parametrize(
    ("said", "code"),
    [("All prices in Canadian dollars", "CAD"), ("Preise in Schweizer Franken", "CHF"),
     ("Prix en francs suisses", "CHF"),
     ("Precios en pesos mexicanos", "MXN"), ("価格は豪ドル", "AUD"), ("价格以新加坡元计", "SGD"),
     ("Quotation (SGD)", "SGD"),
     ("Angebot in Schwedischen Kronen", "SEK"), ("Prices in New Zealand Dollars", "NZD"),
     ("Devis en livres sterling", "GBP"),
     ("All prices in francs", ""), ("Prices in pesos", ""), ("Quotation AUD / CAD", ""), ("ALL PRICES IN USD", "USD")],
)  # fmt: skip
@pytest.mark.parametrize("sign", ["", "$"])
def test_currencies_of_titles(said: str, code: str, sign: str) -> None:
    line = only(
        f'"{said}",,\nPart number,Qty,Unit price\nMQM9700-NS2F,4,{sign}30000\n',
        *([f"{code}=0.5"] if code not in ("", "USD") else []),
    )
    clashes = sign and code in ("CHF", "SEK", "GBP")
    if not code or clashes:
        assert line.status == "left over" and ("not clear" in line.reason or "sign of several" in line.reason)
    else:
        assert (line.status, line.currency) == ("matched", code)


@pytest.mark.parametrize(
    ("text", "codes"),
    [("US dollars", ["USD"]), ("XDR switch", []), ("ALL-IN PRICE", []), ("45 000 CHF", ["CHF"]), ("Kč", []),
     ("australischen Dollar", ["AUD"]), ("dólares canadienses", ["CAD"]), ("人民币", ["CNY"]), ("香港ドル", ["HKD"]),
     ("Try again", []), ("in euros or dollars", ["EUR", "$"]), ("CA$ 5", ["CAD"])],
)  # fmt: skip
def test_currencies_that_a_text_names(text: str, codes: list[str]) -> None:
    assert signs_in(text) == codes


@pytest.mark.parametrize(
    ("price", "options", "code"),
    [(32000, (), 0), (15000, (), 1), (66000, (), 1), (15000, ("--band", "40:250"), 0), (5, ("--band", "none"), 0)],
)
def test_a_price_outside_of_the_band_is_marked_and_stays(
    run: Run, price: int, options: tuple[str, ...], code: int
) -> None:
    write_csv(f"Part number,Qty,Unit price USD\nMQM9790-NS2F,4,{price}\n")
    ran = run("quote", "import", "quote.csv", "-o", "book.yaml", *options)
    book = yaml.safe_load(Path("book.yaml").read_text())
    assert (ran.code, book["prices"]) == (code, {"nvidia-qm9790": price})
    assert ("nvidia-qm9790" in book.get("doubts", {})) == bool(code)


def test_known_prices_of_another_book(run: Run) -> None:
    """Of a list price 20 to 120 % are believed."""
    Path("list.yaml").write_text("source: {kind: list}\nprices: {nvidia-qm9790: 60000}\n")
    write_csv("Part number,Qty,Unit price USD\nMQM9790-NS2F,4,14000\n")
    command = ("quote", "import", "quote.csv", "-o", "book.yaml")
    assert run(*command).code == 1
    assert run(*command, "--against", "./list.yaml").code == 0


@pytest.mark.parametrize("text", ["50", "200:50", "a:b", "1:2,3:4,5:6", ""])
def test_widths_of_bands_that_are_none(text: str) -> None:
    with pytest.raises(Exception, match="not a band of prices"):
        quote_options((), None, 1, text)


def test_one_bad_line_costs_one_line(run: Run) -> None:
    write_csv(
        "Part number,Qty,Unit price,Currency\nMQM9700-NS2F,4,-5,USD\nMMA4Z00-NS,8,700,Quatloos\n"
        "MQM9790-NS2F,4,31000,USD\n"
        "MFP7E10-N010,4,110,USD\nMFP7E10-N010,4,120,USD\n"
    )
    ran = run("quote", "import", "quote.csv", "-o", "book.yaml")
    assert (ran.code, yaml.safe_load(Path("book.yaml").read_text())["prices"]) == (1, {"nvidia-qm9790": 31000})


# -- sums -----------------------------------------------------------------------------------------------------------


def test_a_total_that_does_not_fit_is_told_with_the_difference(run: Run) -> None:
    code, prices, out = imported(run, "total-wrong.csv")
    assert (code, prices) == (1, {"nvidia-qm9790": 30000, "nvidia-mma4z00-ns": 880})
    assert "`Grand total 512000` is 512,000, but the lines above come to 366,000: 146,000 more" in out


def test_the_net_price_under_a_heading_of_its_own(run: Run) -> None:
    assert imported(run, "net-unknown.csv")[1] == {"nvidia-qm9790": 28800}


def test_totals_prove_a_discount_on_what_is_headed_as_net(run: Run) -> None:
    """The only rate that is given is that of a quote which names no currency."""
    code, prices, _ = imported(run, "german-net.csv", "--rate", "EUR=1.09")
    assert (code, prices) == (0, {"nvidia-qm9790": 29804.69, "nvidia-mma4z00-ns": 981})


LINES = (
    "Part number,Description,Qty,Unit price USD,Total USD\n"
    "MQM9700-NS2F,Switch,10,30000,300000\nMMA4Z00-NS,Module,100,800,80000\n"
)


@pytest.mark.parametrize(
    ("below", "is_told"),
    [("Subtotal,,,,380000\n", False), ("Total,,,,380000.00\n", False),
     ("Subtotal,,,,380000\nVAT 19 %,,,,72200\nTotal,,,,452200\n", False),
     ("Total incl. VAT,,,,452200\n", False), ("Freight,,,,1200\nTotal,,,,381200\n", False), ("Total,,,,381200\n", True),
     ("Subtotal,,,,380000\nVAT 19 %,,,,72300\n", True), ("Subtotal,,,,370000\n", True), ("Total,,,,308000\n", True),
     ("Discount 5 %,,,,-19000\nTotal,,,,361000\n", False), ("Optional spares,,,,5000\nTotal,,,,380000\n", False)],
)  # fmt: skip
def test_sums_of_lines_taxes_charges_and_discounts(below: str, is_told: bool) -> None:
    quote = read(write_csv(LINES + below))
    assert bool(quote.doubts) == is_told, quote.doubts


def test_sums_of_sections_and_of_all() -> None:
    head, *rows = LINES.splitlines()
    text = "\n".join([head, rows[0], "Subtotal,,,,300000", rows[1], "Subtotal,,,,80000", "Grand total,,,,380000"])
    assert read(write_csv(text)).doubts == ()
    assert len(read(write_csv(text.replace("Subtotal,,,,80000", "Subtotal,,,,90000"))).doubts) == 1


def test_a_discount_on_all_that_the_total_proves_is_taken_off() -> None:
    quote = read(write_csv(LINES + "Project discount 10 %,,,,-38000\nTotal net,,,,342000\n"))
    assert {line.id: quote.unit_usd(line) for line in quote.with_status("matched")} == {
        QM: 27000,
        "nvidia-mma4z00-ns": 720,
    }
    assert [line.status for line in quote.lines[2:]] == ["subtotal", "subtotal"] and quote.is_clear
    other = read(write_csv(LINES + "Project discount 10 %,,,,-38000\nTotal net,,,,350000\n"))
    assert {quote.unit_usd(line) for line in other.with_status("matched")} == {30000, 800} and not other.is_clear


@pytest.mark.parametrize("heading", ["Net each", "Ihr EK", "Zahlbar", "成交", "Prix remisé"])
def test_a_column_that_the_totals_prove_to_be_the_net_price(heading: str) -> None:
    line = only(f"Part number,Qty,List price USD,{heading},Total USD\nMQM9700-NS2F,10,40000,28800,288000\n")
    assert (line.status, line.unit_price) == ("matched", 28800)


def test_a_column_that_may_have_the_price_is_a_doubt() -> None:
    line = only("Part number,Qty,List price USD,Disc. %,Zahlbar\nMQM9700-NS2F,10,40000,20,28800\n")
    assert line.unit_price == 32000 and line.doubts


# -- prices by quantity and times ------------------------------------------------------------------------------------


def test_tiers_in_rows_become_breaks(run: Run) -> None:
    _, prices, _ = imported(run, "tiers.csv")
    steps = [{"from": 1, "usd": 1100}, {"from": 100, "usd": 990}, {"from": 500, "usd": 880}]
    assert prices == {"nvidia-mma4z00-ns": steps, "nvidia-qm9790": 31000}


@pytest.mark.parametrize(
    "rows",
    ["Part,Ab Menge,Preis EUR\nMMA4Z00-NS,1,1100\nMMA4Z00-NS,100,990\n",
     "Part,Qty,Price EUR\nMMA4Z00-NS,1-99,1100\nMMA4Z00-NS,100+,990\n",
     "Part,MOQ,Price EUR\nMMA4Z00-NS,1,1100\nMMA4Z00-NS,100,990\n",
     "Part,Price EUR 1-99,Price EUR 100+\nMMA4Z00-NS,1100,990\n",
     "Part,数量,単価 EUR\nMMA4Z00-NS,1～99,1100\nMMA4Z00-NS,100個以上,990\n",
     "Part,Prix EUR jusqu'à 99,Prix EUR à partir de 100\nMMA4Z00-NS,1100,990\n"],
)  # fmt: skip
def test_forms_of_tiers(rows: str) -> None:
    quote = read(write_csv(rows), "EUR=1")
    assert {line.breaks for line in quote.with_status("matched")} == {((1, 1100), (100, 990))}, quote.lines


def test_prices_that_rise_with_the_quantity_are_left_over() -> None:
    quote, faults = read_quote(write_csv("Part,Qty from,Price\nMMA4Z00-NS,1,900\nMMA4Z00-NS,100,990\n"),
                               read_catalog([write_catalog()], Path()), quote_options((), None, 1))  # fmt: skip
    assert {line.status for line in quote.lines} == {"left over"} and faults


@pytest.mark.parametrize(
    ("text", "weeks"),
    [("ARO 12-14 wks", 14), ("sofort", 0), ("即納", 0), ("immédiat", 0), ("在庫あり", 0), ("12-14 wks ARO", 14),
     ("6週間", 6),
     ("在庫なし", None), ("nicht sofort", None)],
)  # fmt: skip
def test_lead_times(text: str, weeks: float | None) -> None:
    assert only(f"Part,Qty,Price USD,Lead time\nMMA4Z00-NS,8,700,{text}\n").lead_time_weeks == weeks


@pytest.mark.parametrize("said", [
    "Net weight 14 KGS", "with CRC and FEC", "weight 14 pounds each", "Peso neto 14 kg", "TOP and SOS LEDs", "SLE 15",
])  # fmt: skip
def test_words_that_are_codes_of_currencies_too(said: str) -> None:
    line = only(f"Part number,Description,Qty,Unit price USD,Remarks\nMMA4Z00-NS,Twin-port 800G SR8,8,880,{said}\n")
    assert (line.status, line.unit_price) == ("matched", 880), line.reason


@pytest.mark.parametrize("said", ["880,00 UZS", "price in EUR", "BHD 1,234"])
def test_another_currency_in_a_remark_is_told(said: str) -> None:
    line = only(f'Part number,Description,Qty,Unit price USD,Remarks\nMMA4Z00-NS,Twin-port SR8,8,880,"{said}"\n')
    assert line.status == "left over" and "currency" in line.reason


def test_a_discount_on_all_is_taken_off_every_price_by_quantity() -> None:
    rows = "MMA4Z00-NS,Twin-port 800G SR8,10,900,880,8800\nDiscount 10 %,,,,,-880\nTotal,,,,,7920\n"
    quote = read(write_csv(f"Part number,Description,Qty,1-9,10+,Total\n{rows}"))
    (line,) = quote.with_status("matched")
    assert (line.breaks, line.unit_price) == (((1, 810), (10, 792)), 792)


def test_a_minimum_stays_beside_prices_by_quantity() -> None:
    rows = "MMA4Z00-NS,SR8,1,900,5\nMMA4Z00-NS,SR8,10,880,5\n"
    quote = read(write_csv(f"Part number,Description,Qty from,Unit price USD,MOQ\n{rows}"))
    assert {line.minimum_order for line in quote.with_status("matched")} == {5}
