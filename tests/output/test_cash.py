"""When money leaves: payments by period, exact to the cent, on the screen, the page and in the workbook."""

from __future__ import annotations

import io
import random
from typing import Any

import openpyxl
import pytest
from rich.console import Console

from fabopt.output.cash import KINDS, cash_flow
from fabopt.output.charts.cash import TITLES, cash_bars
from fabopt.output.charts.style import PAGE_PALETTE
from fabopt.output.export.bill import bill_bytes
from fabopt.output.html.build import chart
from fabopt.output.terminal.cash import cash_columns, cash_lines, cash_quarters, cash_rows
from fabopt.output.terminal.summary import summary
from fabopt.output.words import money
from fabopt.schema.design import Design
from fabopt.schema.stages import QUARTER, YEAR
from fabopt.units import cents, usd
from tests.samples.growth_samples import eight, grown, solved

Json = dict[str, Any]
TERMS = {"on_order": 0.3, "on_delivery": 0.6, "on_acceptance": 0.1}
RATES = {"EUR": {"usd": 1.25, "date": "2026-11-02"}}


def paid(finance: Json, **keys: Any) -> Design:
    """4 servers for $1,440, and a year later 8 for $2,600 more."""
    return solved(eight(), grown(4, 8, finance={"energy_usd_per_kwh": 0, "payment": TERMS, **finance}, **keys))


def test_orders_are_paid_in_shares() -> None:
    # 432 with the order and 864 on delivery, both in month 0, 144 a month later; then 780, 1560 and 260 from month 12.
    periods = cash_flow(paid({}), 1)
    shares = [tuple(period.paid[kind] for kind in KINDS[:3]) for period in periods if period.total]
    assert shares == [(43200, 86400, 0), (0, 0, 14400), (78000, 156000, 0), (0, 0, 26000)]
    assert [
        (period.name, period.total) for period in cash_flow(paid({}, start="2026-11"), QUARTER) if period.total
    ] == [
        ("2026 Q4", 144000),
        ("2027 Q4", 260000),
    ]


def test_the_end_and_the_books() -> None:
    # A tenth of 4040 comes back after five years. A year old, the first parts are 1440 x (0.1 + 0.9 x 4/5) in books.
    design = paid({"currency": "EUR", "rates": RATES, "residual": 0.1, "depreciation_years": 5})
    periods = cash_flow(design, YEAR)
    assert [(period.total, period.local) for period in periods if period.total] == [
        (144000, 115200),
        (260000, 208000),
        (-40400, -32320),
    ]
    assert periods[0].book == 118080 and periods[-1].name == "months 60 to 71"
    assert [title for title, _ in cash_columns(design)][-2:] == ["in EUR", "in the books"]
    assert "1 EUR is $1.25, as of 2026-11-02" in list(cash_lines(design))


@pytest.mark.parametrize("months", [1, QUARTER, YEAR])
def test_all_of_it_is_what_is_owned(months: int) -> None:
    # Nothing is discounted, and energy costs something that is no whole number of cents a month.
    energy = {"energy_usd_per_kwh": 0.123, "years": 4.3, "pue": 1.37}
    licence = {"name": "licence", "what": "licence", "percent": 7.7}
    design = paid({**energy, "payment": {**TERMS, "acceptance_months": 3}}, charges=[licence])
    assert design.totals is not None
    assert cash_flow(design, months)[-1].owned == cents(design.totals.tco_usd)


def test_screen_page_and_workbook_say_the_same() -> None:
    design = paid({"residual": 0.1})
    assert next(cash_rows(design))[-2:] == ["$1,440", "$1,440"]
    statement = cash_quarters(design)
    assert statement is not None and list(cash_rows(design, QUARTER)) in [part[1] for part in statement.said]
    data = bill_bytes(design, ".xlsx")
    values = list(openpyxl.load_workbook(io.BytesIO(data), data_only=True)["Cash flow"].values)
    formulas = list(openpyxl.load_workbook(io.BytesIO(data))["Cash flow"].values)
    periods = cash_flow(design, QUARTER)
    assert [row[0] for row in values[1 : len(periods) + 1]] == [period.name for period in periods]
    assert values[len(periods) + 1][len(KINDS) + 1] == sum(period.total for period in periods) / 100 == 3636
    assert formulas[len(periods) + 1][len(KINDS) + 1] == f"=SUM(H2:H{len(periods) + 1})"


def test_another_currency_has_its_cents_in_the_workbook() -> None:
    """1,152 euros are `1,152.00`, and 43.2 are `43.20`."""
    book = openpyxl.load_workbook(io.BytesIO(bill_bytes(paid({"currency": "EUR", "rates": RATES}), ".xlsx")))
    sheet = book["Cash flow"]
    (column,) = [cell.column for cell in sheet[1] if cell.value == "In EUR"]
    assert {sheet.cell(row, column).number_format for row in range(2, 5)} == {"#,##0.00"}


def test_amounts_stand_whole_on_a_screen() -> None:
    """Every year, kind and sum of eight years, at the width of a terminal, with cents and in two currencies."""
    licence = {"name": "licence", "what": "licence", "percent": 7.77, "yearly": True}
    finance = {"currency": "EUR", "rates": RATES, "residual": 0.1, "depreciation_years": 5, "years": 7}
    design = paid(finance, charges=[licence], start="2026-11")
    shown = io.StringIO()
    Console(file=shown, width=120).print(summary(design))
    rows = list(cash_rows(design))
    assert len(rows) == 8
    for row in rows:
        assert all(cell in shown.getvalue() for cell in row), row
    assert all(title in shown.getvalue() for title, _ in cash_columns(design))


def test_shares_add_up_to_the_order() -> None:
    # Thirds of a cent: each order is paid to the cent, and no quarter by more than its budget in whole cents.
    shares = {"on_order": 0.335, "on_delivery": 0.33, "on_acceptance": 0.335, "acceptance_months": 4}
    licence = {"name": "licence", "what": "licence", "percent": 7.77, "kinds": ["cable"]}
    design = paid({"payment": shares}, charges=[licence])
    assert design.totals is not None
    periods = cash_flow(design, QUARTER)
    assert sum(period.total for period in periods) == cents(design.totals.capex_usd)
    halved = {"payment": {"on_order": 0.005, "on_delivery": 0.005, "on_acceptance": 0.99}}
    assert sum(period.total for period in cash_flow(paid(halved, charges=[licence]), 1)) == cents(
        design.totals.capex_usd
    )


@pytest.mark.long(but=("3", "4"))
@pytest.mark.parametrize("seed", range(6))
def test_no_cent_stands_where_nothing_is_due(seed: int) -> None:
    """Orders of odd cents at months and shares of their own: each kind only in its months, all as one sum."""
    dice = random.Random(seed)
    first = dice.randint(1, 98)
    shares = {"on_order": first / 100, "on_delivery": (99 - first) / 100, "on_acceptance": 0.01, "acceptance_months": 5}
    design = paid({"payment": shares})
    (row, *_) = design.bom
    rows = [
        row.model_copy(
            update={
                "stage": stage.name,
                "total_usd": usd(dice.randint(1, 999)),
                "order_by_month": stage.month - dice.randint(0, 9),
            }
        )
        for stage in design.stages
        for _ in range(5)
    ]
    months = {stage.name: stage.month for stage in design.stages}
    due = {
        "on_order": {one.order_by_month for one in rows},
        "on_delivery": {months[one.stage] for one in rows},
        "on_acceptance": {months[one.stage] + 5 for one in rows},
    }
    periods = cash_flow(design.model_copy(update={"bom": tuple(rows)}), 1)
    start = min(due["on_order"])
    for kind, when in due.items():
        assert {start + number for number, period in enumerate(periods) if period.paid[kind]} <= when
    assert sum(period.paid[kind] for period in periods for kind in due) == sum(cents(one.total_usd) for one in rows)
    for kind, share in list(shares.items())[:3]:
        spent = sum(period.paid[kind] for period in periods)
        assert abs(spent - share * sum(cents(one.total_usd) for one in rows)) < 2


def test_the_chart_shows_what_the_table_says() -> None:
    design = paid({"residual": 0.1})
    periods = cash_flow(design, QUARTER)
    bars, line, _ = cash_bars(periods, PAGE_PALETTE, "quarter")["layer"]
    drawn = {(row["name"], row["kind"]): row["usd"] for row in bars["data"]["values"]}
    wanted = {(one.name, TITLES[kind]): one.paid[kind] / 100 for one in periods for kind in KINDS if one.paid[kind]}
    assert drawn == wanted and min(drawn.values()) == -404
    assert [row["usd"] for row in line["data"]["values"]] == [one.owned / 100 for one in periods]
    statement = cash_quarters(design)
    assert statement is not None
    caption, picture = chart(design, statement) or ("", "")
    assert "so far" in caption and "months 0 to 2, on delivery: $864" in picture


def test_nothing_is_said_without_terms_of_payment() -> None:
    design = solved(eight(), grown(4, 8))
    assert cash_flow(design, YEAR) == [] and cash_quarters(design) is None
    assert "payment" not in design.case.content["finance"]


@pytest.mark.parametrize(("usd", "text"), [(-105_344, "-$105,344"), (-0.5, "-$0.50"), (0, "$0"), (1250.5, "$1,250.50")])
def test_what_comes_back_has_its_sign_before_the_dollar(usd: float, text: str) -> None:
    assert money(usd) == text
