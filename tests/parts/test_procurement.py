"""Buying by stage in whole cases: dates, worth, bills, what stands in the way, and proofs that catch what is broken."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from fabopt.output.export.bill import bill_bytes
from fabopt.output.terminal.answer import spares_line
from fabopt.parts.finance import compounded, energy_cents_per_mw, present_cents, price_cents
from fabopt.program.solvers import ENGINES
from fabopt.schema.design import Design
from fabopt.schema.finance import Finance
from fabopt.units import exact
from fabopt.verify import verify
from fabopt.verify.terms_of_sale import energy_cents, fallen, worth
from tests.samples.small import Json, assert_proven, bought, case, catalog, comparable, product, solved

ONE_CARD = {"nics": ["nic-400"], "nics_per_server": 2}
STAGES: list[Json] = [{"name": "day-1", "servers": 3}, {"name": "later", "month": 18, "servers": 6}]
RULES: Json = {"spares": {"transceiver": {"fraction": 0.1}, "switch": {"minimum": 1, "per": "site"}}}


def rich() -> tuple[Json, Json]:
    """Two stages with servers, breaks, packs, stock, lead times and spares, as tco."""
    parts = catalog()
    product(parts, "dr4-hot").update(
        price_usd=[{"from": 1, "usd": 600}, {"from": 20, "usd": 540}], stock=3, pack_size=4
    )
    product(parts, "gpu-4").update(
        price_usd=[{"from": 1, "usd": 100000}, {"from": 3, "usd": 90000}], price_breaks="incremental"
    )
    product(parts, "small")["lead_time_weeks"] = 26
    for one in parts["switches"]:
        one["vendor"] = "Acme"
    finance = {"discount_rate": 0.08, "price_decline": {"transceiver": 0.15, "server": 0.1}}
    keys: Json = {"stages": STAGES, "procurement": RULES, "finance": finance, "include_servers": True}
    return case(ONE_CARD, objective="tco_usd", start="2026-03", **keys), parts


@pytest.fixture(scope="module")
def design() -> Design:
    return solved(*rich())


# -- money over time ----------------------------------------------------------------------------------------------


def test_prices_fall_and_lose_worth_by_the_year() -> None:
    # 100 x 0.85 = 85 after a year; after half a year 100 x sqrt(0.64) = 80; worth 80 / 1.25 a year on
    assert price_cents(10_000, exact(0.15), 12) == 8500
    assert price_cents(10_000, exact(0.36), 6) == 8000
    assert present_cents(8000, exact(0.25), 12) == 6400
    assert price_cents(10_000, exact(0), 7) == 10_000


def test_energy_runs_from_its_stage_to_the_end() -> None:
    # 8760 h x 1.4 x 0.1 USD / 12 = 102.2 USD a kW and month, 0.01022 cents a mW: 60 and 42 months; nothing after them.
    full, late, none = energy_cents_per_mw(Finance(), [0, 18, 60])
    assert (full, late, none) == (exact(0.6132), exact(0.42924), 0)
    # of a year at 25 %, twelve payments at the ends of months; from month 11 on the last one: 0.01022 / 1.25 = 0.008176
    assert energy_cents_per_mw(Finance(discount_rate=0.25, years=1), [0, 11])[1] == exact(0.008176)


def test_discounted_energy_of_a_megawatt_is_right_to_the_cent() -> None:
    """54 payments at the ends of months, in floating-point numbers that are right to a ten-thousandth of a cent."""
    finance = Finance(discount_rate=0.073, energy_usd_per_kwh=0.1337, pue=1.23, years=4.5)
    megawatt_mw = 10**9
    monthly_cents = 1000 * 730 * 0.1337 * 1.23 * 100
    wanted = sum(monthly_cents / 1.073 ** (month / 12) for month in range(4, 58))
    assert abs(float(energy_cents_per_mw(finance, [3])[0] * megawatt_mw) - wanted) < 0.51


@pytest.mark.parametrize("month", [0, 1, 7, 12, 18, 30, 61, 120])
def test_proof_and_plan_agree_on_money_without_sharing_code(month: int) -> None:
    finance = Finance(discount_rate=0.0725, price_decline={"nic": 0.137}, years=4.55)
    for cents in (1, 99, 12_345_678):
        assert fallen(cents, finance, "nic", month) == price_cents(cents, exact(0.137), month)
        assert worth(cents, finance, month) == present_cents(cents, exact(0.0725), month)
    assert list(energy_cents_per_mw(finance, [month, month + 5])) == energy_cents(finance, [month, month + 5])
    assert compounded(exact(1), month) == 1


# -- bills ----------------------------------------------------------------------------------------------------------


def test_every_rule_is_proven_again(design: Design) -> None:
    assert_proven(design)
    names = {check.name for check in design.checks}
    assert {"orders_are_whole", "orders_arrive_in_time", "spares_are_kept", "part_numbers_are_few"} <= names


def test_stages_and_bill_add_up(design: Design) -> None:
    assert design.totals is not None
    assert sum(row.total_usd for row in design.bom) == design.totals.capex_usd
    for stage in design.stages:
        mine = [row for row in design.bom if row.stage == stage.name]
        assert stage.capex_usd == pytest.approx(sum(row.total_usd for row in mine))
        assert stage.present_value_usd == pytest.approx(sum(row.present_value_usd or 0 for row in mine))
    worth_usd = sum((one.present_value_usd or 0) + (one.energy_usd or 0) for one in design.stages)
    assert design.totals.tco_usd == pytest.approx(worth_usd, abs=0.02)
    assert design.totals.power_w == pytest.approx(sum(row.power_w for row in design.bom if row.kind != "server"))


def test_spares_have_lines_of_their_own(design: Design) -> None:
    spares = [row for row in design.bom if row.spares]
    assert {row.kind for row in spares} == {"transceiver", "switch"}
    assert all(row.fabric == "" and row.in_use == 0 and row.power_w == 0 for row in spares)
    assert {row.kind: row.quantity for row in spares} == {"switch": 1, "transceiver": 0}
    # the spare module is one of the three that are there
    assert spares_line(design) == "spares among these: 1 of the switches; from own stock besides: 3 of the transceivers"
    assert spares_line(solved(case(ONE_CARD))) is None


def test_orders_have_dates(design: Design) -> None:
    # 26 weeks are 6 months, or 182 days: so long is the 31st of August before the first of March, and the 3rd of March
    # before the first of September.
    days = {"day-1": (0, "2026-03-01"), "later": (18, "2027-09-01")}
    early = {"day-1": (-6, "2025-08-31"), "later": (12, "2027-03-03")}
    for row in design.bom:
        if row.quantity:
            wanted = (early if row.id == "small" else days)[row.stage]
            assert (row.order_by_month, row.order_by) == wanted


def test_incremental_breaks_charge_the_first_units_more() -> None:
    # 2 servers at 100,000 and the third one at 90,000; later 2 x 90,000 and 1 x 81,000 at 10 % a year over a year.
    parts = catalog()
    product(parts, "gpu-4").update(
        price_usd=[{"from": 1, "usd": 100000}, {"from": 3, "usd": 90000}], price_breaks="incremental"
    )
    stages = [STAGES[0], {**STAGES[1], "month": 12}]
    kept = case(ONE_CARD, stages=stages, include_servers=True, finance={"price_decline": {"server": 0.1}})
    found = solved(kept, parts)
    assert_proven(found)
    rows = [(row.total_usd, row.unit_price_usd, row.break_from) for row in found.bom if row.kind == "server"]
    assert rows == [(290_000, 90_000, 3), (261_000, 81_000, 3)]


def test_workbook_has_stages_and_quotes(design: Design) -> None:
    book = openpyxl.load_workbook(io.BytesIO(bill_bytes(design, ".xlsx")), data_only=True)
    sheets = ["Summary", "Bill", "Stages", "Orders", "Deliveries", "RFQ", "Offers", "Prices & sources", "Basis"]
    assert book.sheetnames == sheets
    stages = [[cell.value for cell in row] for row in book["Stages"].iter_rows()]
    assert design.totals is not None
    assert [row[0] for row in stages[1:]] == ["day-1", "later", "all stages"]
    assert stages[-1][4] == design.totals.capex_usd
    quotes = [[cell.value for cell in row] for row in book["RFQ"].iter_rows()]
    head = quotes[0]
    vendors = [row[0] for row in quotes[1:]]
    assert vendors == sorted(vendors) and "Acme" in vendors
    column = {name: head.index(name) for name in ("Id", "Quantity", "Quantity day-1", "Quantity later", "Planned USD")}
    for row in quotes[1:]:
        assert row[column["Quantity"]] == bought(design)[row[column["Id"]]] or row[5] is not None
        assert row[column["Quantity"]] == row[column["Quantity day-1"]] + row[column["Quantity later"]]
    assert sum(row[column["Planned USD"]] for row in quotes[1:]) == pytest.approx(design.totals.capex_usd)


# -- engines and pruning ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "cp-sat"])
def test_engines_agree(design: Design, engine: str) -> None:
    other = solved(*rich(), engine=engine)
    assert_proven(other)
    assert comparable(other) == comparable(design)


@pytest.mark.long
def test_pruning_changes_nothing(design: Design) -> None:
    assert comparable(solved(*rich(), prune=False)) == comparable(design)


def test_a_part_that_is_dominated_wins_when_few_part_numbers_are_allowed() -> None:
    """``small`` is the cheapest leaf and ``large`` the cheapest spine; with one switch for both neither rule of list
    prices decides."""
    content = case(ONE_CARD | {"switches": {"leaf": ["small", "lean"], "spine": ["large", "lean"]}})
    free = solved(content)
    assert {row.id for row in free.bom if row.kind == "switch"} == {"small", "large"}
    content["procurement"] = {"max_part_numbers": {"switch": 1}}
    few, whole = solved(content), solved(content, prune=False)
    assert_proven(few)
    assert {row.id for row in few.bom if row.kind == "switch"} == {"lean"}
    assert comparable(few) == comparable(whole)


# -- what stands in the way ----------------------------------------------------------------------------------------


def conflicts(content: Json, parts: Json) -> list[tuple[str, Any, Any, str]]:
    found = solved(content, parts)
    assert found.status == "infeasible"
    return [(one.limit, one.value, one.needed, one.detail) for one in found.conflicts]


def test_lead_times_that_are_too_long_name_part_and_date() -> None:
    # 52 weeks before month 6 is month -6; month 6 leaves 26 weeks.
    parts = catalog()
    for one in parts["switches"]:
        one["lead_time_weeks"] = 52
    stages = [{"name": "go", "month": 6, "servers": 4}]
    limit, value, needed, detail = conflicts(case(ONE_CARD, stages=stages), parts)[0]
    assert (value, needed) == (52, 26) and limit.startswith("catalog.") and limit.endswith(".lead_time_weeks")
    assert "for stage go (month 6) had to be ordered by month -6, and orders can be placed from month 0 on" in detail
    # with a calendar, month 6 is July, and 52 weeks, or 364 days, before 1 July 2026 is 2 July 2025
    dated = conflicts(case(ONE_CARD, stages=stages, start="2026-01"), parts)[0][3]
    assert "stage go (month 6, 2026-07-01) had to be ordered by month -6, 2025-07-02, and orders" in dated
    assert "can be placed from month 0, 2026-01-01 on" in dated
    earlier = case(ONE_CARD, stages=stages, procurement={"order_from_month": -6})
    assert_proven(solved(earlier, parts))


def test_supply_that_cannot_cover_names_the_part() -> None:
    parts = catalog()
    for one in parts["switches"]:
        one["supply"] = [{"from_month": 7, "quantity": 100}]
    found = conflicts(case(ONE_CARD, stages=[{"name": "go", "month": 6, "servers": 4}]), parts)
    limit, value, needed, detail = found[0]
    assert limit.startswith("catalog.") and limit.endswith(".supply")
    assert value == 0 < needed and "can be had by month 6" in detail
    assert ("stages.go.month", 6, 7) in [one[:3] for one in found]


def test_rules_of_buying_are_named() -> None:
    mixed = ONE_CARD | {"switches": {"leaf": ["small"], "spine": ["large"]}}
    named = conflicts(case(mixed, procurement={"max_part_numbers": {"switch": 1}}), catalog())
    assert [one[:3] for one in named] == [
        ("fabrics.compute.switches.leaf", "small", "any"),
        ("fabrics.compute.switches.spine", "large", "any"),
        ("procurement.max_part_numbers.switch", 1, 2),
    ]
    forbidden = case(ONE_CARD, procurement={"forbidden_parts": ["nic-400"]})
    assert conflicts(forbidden, catalog())[0][:3] == ("procurement.forbidden_parts", "nic-400", "any")


@pytest.mark.long
def test_budget_of_a_stage_is_named() -> None:
    stages = [{**STAGES[0], "limits": {"budget_usd": 1000}}, STAGES[1]]
    assert conflicts(case(ONE_CARD, stages=stages), catalog())[0][:2] == ("stages.day-1.limits.budget_usd", 1000)


# -- proofs catch what is broken -----------------------------------------------------------------------------------


def broken(document: Json) -> set[str]:
    design = Design.model_validate_json(json.dumps(document))
    return {check.name for check in verify(design) if not check.ok}


def with_rule(document: Json, **rules: Any) -> None:
    """Change the rules in the embedded case; its hash then fails too."""
    document["case"]["content"]["procurement"].update(rules)


def edit_part(document: Json, part: str, **terms: Any) -> None:
    document["parts"][part].update(terms)


def first(document: Json, kind: str) -> Json:
    row: Json = next(row for row in document["bom"] if row["kind"] == kind and row["quantity"])
    return row


BREAKS: dict[str, Callable[[Json], None]] = {
    "purchases_cover_use": lambda one: first(one, "transceiver").update(quantity=0),
    "orders_are_whole": lambda one: edit_part(one, "dr4-hot", pack_size=7),
    "supply_lasts": lambda one: edit_part(one, "nic-400", supply=3),
    "orders_arrive_in_time": lambda one: edit_part(one, "nic-400", lead_time_weeks=99),
    "spares_are_kept": lambda one: with_rule(one, spares={"cable": {"minimum": 2}}),
    "part_numbers_are_few": lambda one: with_rule(one, max_part_numbers={"fibre": 1, "cable": 1, "transceiver": 1}),
    "parts_are_approved": lambda one: with_rule(one, forbidden_parts=["nic-400"]),
    "prices_are_applied": lambda one: one["case"]["content"]["finance"].update(price_decline={"server": 0.5}),
    "energy_is_paid": lambda one: one["case"]["content"]["finance"].update(discount_rate=0.2),
    "limits_hold": lambda one: one["case"]["content"]["stages"][1]["limits"].update(budget_usd=1),
}


@pytest.mark.long("purchases_cover_use", "orders_are_whole", "prices_are_applied", "energy_is_paid")
@pytest.mark.parametrize("rule", BREAKS)
def test_a_broken_rule_is_caught(design: Design, rule: str) -> None:
    document = copy.deepcopy(json.loads(design.model_dump_json(by_alias=True)))
    assert broken(document) == set()
    if rule == "part_numbers_are_few":
        document["bom"].append(first(document, "cable") | {"length_m": 1, "fabric": "compute"})
    BREAKS[rule](document)
    assert rule in broken(document)
