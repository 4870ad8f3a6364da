"""What is delivered sooner at a surcharge, in a whole design: where the lead time is too long, and to the cent."""

from __future__ import annotations

import csv
import io
import json
import random
from fractions import Fraction
from typing import Any

import openpyxl
import pytest

from fabopt.errors import InputError
from fabopt.inspect.quote_audit import QuoteComparison, compared
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.orders import EXPEDITED, order_lines, order_table, quote_table
from fabopt.parts.price_books import PriceChange, changed, check_price_book, with_price_books
from fabopt.parts.quotes import Quote, QuoteLine
from fabopt.schema.design import Design
from fabopt.schema.price_book import PriceBook
from fabopt.solution import optimize
from fabopt.units import exact
from fabopt.verify import verify
from tests.samples import random_growth
from tests.samples.growth_samples import eight, grown, solved
from tests.samples.once import once
from tests.samples.small import assert_proven, comparable

Json = dict[str, Any]
# Four servers on a leaf; after three months (13 weeks) eight, on two leaves and a spine. Switches take 20 weeks.
LATE = {"lead_time_weeks": 20}
SOONER = {"weeks": 7, "price_usd": 500}


def two_stages(**keys: Any) -> Json:
    return grown(4, {"servers": 8, "month": 3}, start="2027-01", **keys)


def designed(wanted: Json | None = None, **terms: Any) -> Design:
    """The design with such terms of sale of the switch; the same without pruning."""
    parts = eight()
    parts["switches"][0] |= terms
    wanted = wanted or two_stages()

    def work() -> Design:
        design = solved(parts, wanted)
        whole = optimize.solve(inputs_from_objects(wanted, parts), alternatives_s=0, prune=False)
        assert comparable(design) == comparable(whole)
        return design

    return once(work, parts, wanted, "pruned and whole")


def switches(design: Design) -> list[tuple[Any, ...]]:
    rows = [row for row in design.bom if row.kind == "switch"]
    return [
        (row.quantity, row.unit_price_usd, row.total_usd, row.expedite_usd, row.lead_time_weeks, row.order_by)
        for row in rows
    ]


@pytest.mark.long
def test_a_stage_that_comes_too_soon_is_expedited() -> None:
    design = designed(**LATE, expedite=SOONER)
    assert_proven(design)
    assert switches(design) == [(1, 1000, 1000, None, 20, "2026-08-14"), (2, 1500, 3000, 500, 13, "2026-12-31")]
    assert design.totals is not None and sum(row.total_usd for row in design.bom) == design.totals.capex_usd
    # a week less comes too late
    assert designed(**LATE, expedite=SOONER | {"weeks": 6}).status == "infeasible"
    # what is in time pays nothing more
    assert designed(lead_time_weeks=13, expedite=SOONER).totals == designed().totals


def test_a_surcharge_changes_the_design() -> None:
    """At 5,000 two switches later cost 12,000: three leaves of three servers with both spines need one, at 6,000."""
    design = designed(**LATE, expedite=SOONER | {"price_usd": 5000})
    assert_proven(design)
    assert [row[:3] for row in switches(design)] == [(4, 1000, 4000), (1, 6000, 6000)]


def test_orders_of_one_stage_are_expedited_as_a_whole() -> None:
    """With orders from month 0 the only stage, at month 3, costs what it costs at 1,500 a switch."""
    wanted = grown({"servers": 8, "month": 3}, procurement={"order_from_month": 0})
    design, dear = designed(wanted, **LATE, expedite=SOONER), designed(wanted, price_usd=1500)
    assert_proven(design)
    assert design.totals == dear.totals


def test_a_surcharge_bears_charges_and_is_worth_less_later() -> None:
    """A tax of 10 % is on 1,500 a switch; at 21 % a year a dollar after three months is worth 1.1 ** -0.5."""
    finance = {"discount_rate": 0.21}
    charges = [{"name": "vat", "what": "tax", "percent": 10, "of": ["parts"], "kinds": ["switch"]}]
    design = designed(two_stages(objective="tco_usd", finance=finance, charges=charges), **LATE, expedite=SOONER)
    assert_proven(design)
    (row,) = [row for row in design.bom if row.expedite_usd is not None]
    assert row.present_value_usd == round(2 * round(1500 * 1.21**-0.25, 2), 2)
    assert [tax.total_usd for tax in design.bom if tax.charge == "tax" and tax.stage == "stage-2"] == [300]


@pytest.mark.long(but=("None-row2-orders_arrive_in_time", "None-row4-prices_are_applied"))
@pytest.mark.parametrize(
    ("part", "row", "check"),
    [
        ({"weeks": 6, "price_usd": 500}, {}, "orders_arrive_in_time"),
        ({"weeks": 7, "price_usd": 499}, {}, "prices_are_applied"),
        (None, {"lead_time_weeks": 20}, "orders_arrive_in_time"),
        (None, {"expedite_usd": None}, "nothing_is_left_out"),
        (None, {"unit_price_usd": 1000, "total_usd": 2000}, "prices_are_applied"),
    ],
)
def test_a_file_that_says_otherwise_fails(part: Json | None, row: Json, check: str) -> None:
    content = designed(**LATE, expedite=SOONER).model_dump(mode="json", by_alias=True)
    if part is not None:
        content["parts"]["eight"]["expedite"] = part
    next(line for line in content["bom"] if line.get("expedite_usd") is not None).update(row)
    failed = {one.name for one in verify(Design.model_validate_json(json.dumps(content))) if not one.ok}
    assert check in failed


def test_bill_and_request_say_what_is_expedited() -> None:
    design = designed(**LATE, expedite=SOONER)
    rows = list(csv.DictReader(io.StringIO(bill_bytes(design, ".csv").decode())))
    assert [row["expedite_usd"] for row in rows if row["kind"] == "switch"] == ["", "500"]
    assert "expedite_usd" not in bill_bytes(designed(), ".csv").decode()
    table = quote_table(design)
    remarks = [row[[name for name, *_ in table.columns].index("Remarks")] for row in table.rows]
    assert sum("2 for stage-2 expedited, in 13 weeks" in str(remark) for remark in remarks) == 1


def test_the_sheet_of_orders_says_which_are_expedited() -> None:
    design = designed(**LATE, expedite=SOONER)
    heads, *lines = openpyxl.load_workbook(io.BytesIO(bill_bytes(design, ".xlsx")))["Orders"].values
    rows = [dict(zip(heads, line, strict=True)) for line in lines]
    assert [row[EXPEDITED] for row in rows if row["Kind"] == "switch"] == [None, 500]
    orders = len(order_lines(design)) + 1
    assert lines[-1][heads.index("Total USD")] == f"=SUM($N$2:$N${orders})"
    assert EXPEDITED not in [name for name, *_ in order_table(designed()).columns]


def test_terms_of_a_price_book_and_changes_of_prices() -> None:
    catalog = inputs_from_objects(two_stages(), eight()).catalog
    book = {"prices": {"eight": 900}, "terms": {"eight": {**LATE, "expedite": SOONER}}}
    priced = with_price_books(catalog, [PriceBook.model_validate_json(json.dumps(book))])
    assert priced.switches[0].expedite is not None and priced.switches[0].expedite.weeks == 7
    (dearer, *_) = changed(priced, [PriceChange("switch", exact(1.1))]).switches
    assert dearer.expedite is not None and (dearer.price_usd, dearer.expedite.price_usd) == (990, 550)


@pytest.mark.parametrize(
    ("terms", "why"),
    [
        ({"expedite": SOONER}, "saves weeks of `lead_time_weeks`, which is not given"),
        ({"lead_time_weeks": 6, "expedite": SOONER}, "saves 7 weeks, more than the 6"),
        ({**LATE, "in_stock": 3, "expedite": SOONER}, "`in_stock` 3 are not for the same product"),
    ],
)
def test_what_cannot_be_expedited_is_refused(terms: Json, why: str) -> None:
    parts = eight()
    parts["switches"][0] |= terms
    with pytest.raises(InputError, match=why):
        inputs_from_objects(two_stages(), parts)
    catalog = inputs_from_objects(two_stages(), eight()).catalog
    book = PriceBook.model_validate_json(json.dumps({"prices": {"eight": 900}, "terms": {"eight": terms}}))
    (fault,) = check_price_book(book, "book.yaml", "prices.", catalog)
    assert "terms.eight" in str(fault) and why in str(fault)


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("seed", range(12))
def test_random_designs_are_those_of_the_whole_program(seed: int) -> None:
    """The search drops nothing that wins by a surcharge; fewer weeks or dearer ones are never better."""
    dice = random.Random(f"expedite-{seed}")
    parts, wanted = random_growth.generate("staged", seed)
    wanted["finance"] = {"price_decline": {"switch": dice.choice([0, 0.2, 0.5])}}
    for switch in parts["switches"]:
        surcharge = dice.choice([0, 50, 500, 5000])
        switch |= {"lead_time_weeks": 150, "expedite": {"weeks": 150, "price_usd": surcharge}}
        switch |= {"stock": dice.choice([0, 0, 1, 2])}
    design = solved(parts, wanted)
    whole = optimize.solve(inputs_from_objects(wanted, parts), alternatives_s=0, prune=False)
    # what advice costs is not always the least, and the search without pruning does not get as far
    prices = {"conflicts": tuple(one.model_copy(update={"capex_usd": None}) for one in design.conflicts)}
    others = {"conflicts": tuple(one.model_copy(update={"capex_usd": None}) for one in whole.conflicts)}
    assert comparable(design.model_copy(update=prices)) == comparable(whole.model_copy(update=others))
    if design.status != "optimal":
        return
    assert_proven(design)
    for switch in parts["switches"]:
        switch["expedite"]["price_usd"] *= 2
    dearer = solved(parts, wanted)
    assert dearer.objective.value is not None and design.objective.value is not None
    assert dearer.objective.value >= design.objective.value


# -- growth that is not certain -----------------------------------------------------------------------------------


def soon_or_late(month: int = 3, **terms: Any) -> Design:
    """Eight servers after a year, or, one time in two, in another month; switches take 20 weeks."""
    scenarios = [
        {"name": "soon", "probability": 0.5, "months": {"stage-2": month}},
        {"name": "late", "probability": 0.5, "months": {"stage-2": 12}},
    ]
    wanted = grown(4, 8, scenarios=scenarios, objective="tco_usd", finance={"energy_usd_per_kwh": 0})
    return designed(wanted, **LATE, **terms)


def paid(design: Design) -> list[float]:
    """What is paid for orders in each scenario."""
    assert design.futures is not None
    return [future.capex_usd for future in design.futures.futures]


@pytest.mark.long
def test_what_comes_too_soon_in_one_scenario_is_expedited_in_it() -> None:
    # two of three switches come with the second stage: $500 more each in the scenario in which that is too soon
    design, in_time = soon_or_late(expedite=SOONER), soon_or_late(5, expedite=SOONER)
    assert_proven(design)
    assert [row[3:5] for row in switches(design)] == [(None, 20), (None, 20)]
    assert paid(design) == [5040, 4040] and paid(in_time) == [4040, 4040]
    assert design.totals is not None and design.totals.expected_tco_usd == 4540
    # a week less comes too late in it
    assert soon_or_late(expedite=SOONER | {"weeks": 6}).status == "infeasible"


@pytest.mark.long
def test_the_vendors_stock_is_enough_in_every_scenario() -> None:
    # as the stages are planned both orders are in time, which is what the bill says
    design = soon_or_late(in_stock=2)
    assert_proven(design)
    assert [row[3:5] for row in switches(design)] == [(None, 20), (None, 20)]
    # with one, three leaves and a spine come at first; with none nothing can be added
    assert [row[0] for row in switches(soon_or_late(in_stock=1))] == [4, 1]
    assert soon_or_late().status == "infeasible"
    content = design.model_dump(mode="json", by_alias=True)
    for terms in ({"in_stock": 1}, {"supply": [{"from_month": 0, "quantity": 1}, {"from_month": 4, "quantity": 9}]}):
        changed = json.loads(json.dumps(content))
        changed["parts"]["eight"] |= terms
        failed = {one.name for one in verify(Design.model_validate_json(json.dumps(changed))) if not one.ok}
        assert failed & {"orders_arrive_in_time", "supply_lasts"}


def test_a_quote_is_compared_with_prices_without_the_surcharge() -> None:
    parts = eight()
    parts["switches"][0] |= {**LATE, "expedite": SOONER}
    given = inputs_from_objects(two_stages(), parts)
    design = designed(**LATE, expedite=SOONER)

    def quoted(usd: int) -> QuoteComparison:
        line = QuoteLine("Quote", 2, "matched", id="eight", quantity=3, unit_price=Fraction(usd), currency="USD")
        return compared(Quote("quote.csv", (line,), {"USD": Fraction(1)}), design, given.catalog)

    assert design.totals is not None
    as_planned, dearer = quoted(1000), quoted(1100)
    assert as_planned.sums.bill_usd == as_planned.sums.bill_at_quote_usd == design.totals.capex_usd
    assert not [one for one in as_planned.findings if one.kind == "above-planned"]
    (found,) = [one for one in dearer.findings if one.kind == "above-planned"]
    assert found.usd == 300 and "planned at $1,000.00" in found.text
