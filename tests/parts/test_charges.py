"""Charges beside the price of parts: in the optimum, on the bill to the cent, proven again, refused where odd."""

from __future__ import annotations

import copy
import io
import json
import random
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import openpyxl
import pytest

from fabopt.errors import InputError
from fabopt.output.export.bill import NamedBook, bill_bytes, repriced
from fabopt.schema.design import Design
from fabopt.schema.price_book import PriceBook
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.parts.test_procurement import rich
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, comparable, inputs, product, solved, usd

KINDS = {"switches": "switch", "nics": "nic", "transceivers": "transceiver", "cables": "cable", "fibres": "fibre"}
CHARGES: list[Json] = [
    {"name": "nos", "what": "licence", "usd": 1200, "kinds": ["switch"]},
    {"name": "care", "what": "support", "percent": 8, "kinds": ["switch"], "yearly": True},
    {"name": "freight", "what": "freight", "percent": 1.5, "vendor": "Haulier"},
    {"name": "ufm", "what": "licence", "usd": 175, "per": "server", "yearly": True},
    {"name": "install", "what": "installation", "usd": 25000, "per": "fabric"},
    {"name": "tax", "what": "tax", "percent": 8.25, "of": ["parts", "nos", "care", "freight", "install"]},
]


# -- the cheapest design is the cheapest with charges ---------------------------------------------------------------


def some_charges(dice: random.Random) -> list[Json]:
    """Licences by kind, freight, and a tax on both, of which some are missing."""
    kinds = dice.sample(sorted(KINDS.values()), 2)
    charges: list[Json] = [
        {"name": "licence", "usd": dice.choice([3, 17.5, 400]), "kinds": kinds[:1]},
        {"name": "freight", "percent": dice.choice([1.5, 12.34]), "kinds": kinds},
        {"name": "tax", "percent": 8.25, "of": ["parts", "freight"]},
    ]
    return [charge for charge in charges if charge["name"] == "freight" or dice.random() < 0.8]


def folded(parts: Json, charges: list[Json]) -> Json:
    """The catalog at prices that have the charges in them, worked out here in decimals."""
    parts = copy.deepcopy(parts)
    for word, kind in KINDS.items():
        for one in parts.get(word, ()):
            for sold in one.get("lengths", [one]):
                price = sold.get("price_usd")
                if isinstance(price, list):
                    sold["price_usd"] = [{**step, "usd": with_charges(step["usd"], kind, charges)} for step in price]
                elif price is not None:
                    sold["price_usd"] = with_charges(price, kind, charges)
    return parts


def with_charges(price: float, kind: str, charges: list[Json]) -> float:
    known = {"parts": Decimal(str(price))}
    for charge in charges:
        if kind in charge.get("kinds", [kind]):
            base = sum((known.get(name, Decimal(0)) for name in charge.get("of", ["parts"])), Decimal(0))
            share = Decimal(str(charge.get("percent", 0))) / 100
            amount = Decimal(str(charge.get("usd", 0))) + base * share
            known[charge["name"]] = amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return float(sum(known.values()))


@pytest.mark.long("40-linear", "42-three_tier")
@pytest.mark.long(but_every=2)
@pytest.mark.long("41-procurement", "41-ruled", "42-procurement")
@pytest.mark.parametrize("family", ["linear", "limited", "procurement", "ruled", "three_tier"])
@pytest.mark.parametrize("seed", range(40, 43))
def test_the_optimum_is_that_of_brute_force_at_prices_with_charges(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    charges = some_charges(random.Random(f"{family} {seed}"))
    found = solve(folded(parts, charges), wanted)
    design = run(parts, {**wanted, "charges": charges})
    assert [check for check in design["checks"] if not check["ok"]] == []
    design["bom"] = [row for row in design["bom"] if "charge" not in row]
    expected = None if found is None else outline_of_best(found)
    assert differences(expected, outline(design)) == {}, json.dumps({"catalog": parts, "case": wanted})


def two_protocols() -> Json:
    """The small catalog, and its switches and NICs for InfiniBand too, at a price a little higher."""
    parts = catalog()
    for switch in list(parts["switches"]):
        parts["switches"].append({**switch, "id": f"ib-{switch['id']}", "protocol": "infiniband",
                                  "price_usd": switch["price_usd"] + 10})  # fmt: skip
    for nic in parts["nics"]:
        nic["protocols"] = ["ethernet", "infiniband"]
    return parts


@pytest.mark.parametrize("per", ["fabric", "server"])
def test_a_charge_on_fabrics_of_one_protocol_decides_between_the_two(per: str) -> None:
    parts = two_protocols()
    plain = solved(case(rules="none"), parts)
    assert plain.fabrics[0].protocol == "ethernet"
    switches = plain.totals.switches if plain.totals else 0
    for amount, wins in ((10 * switches - 1, "ethernet"), (10 * switches + 1, "infiniband")):
        dollars = amount if per == "fabric" else amount / 6
        charge = {"name": "soft", "usd": round(dollars, 2), "per": per, "protocol": "ethernet"}
        design = solved(case(rules="none", charges=[charge]), parts)
        assert_proven(design)
        assert design.fabrics[0].protocol == wins
        assert usd(design) == pytest.approx(usd(plain) + min(10 * switches, amount), abs=0.05)


def test_support_by_the_year_decides_what_is_owned_and_not_what_is_bought() -> None:
    parts = catalog()
    product(parts, "large")["vendor"] = "Dear"
    care = [{"name": "care", "what": "support", "usd": 4000, "yearly": True, "vendors": ["Dear"]}]
    bought = solved(case(), parts)
    assert "large" in {row.id for row in bought.bom}
    assert usd(solved(case(charges=care), parts)) == usd(bought)
    owned = solved(case(charges=care, objective="tco_usd"), parts)
    assert_proven(owned)
    assert "large" not in {row.id for row in owned.bom}


def test_a_budget_holds_the_charges_too() -> None:
    charges = [{"name": "tax", "percent": 10}]
    with_tax = usd(solved(case(charges=charges)))
    assert with_tax == pytest.approx(1.1 * usd(solved(case())), abs=0.02)
    enough = solved(case(charges=charges, limits={"budget_usd": with_tax}))
    assert_proven(enough)
    short = solved(case(charges=charges, limits={"budget_usd": with_tax - 0.01}))
    assert short.status == "infeasible"
    assert {one.limit: one.needed for one in short.conflicts}["limits.budget_usd"] == with_tax


# -- the bill -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def design() -> Design:
    content, parts = rich()
    return solved({**content, "charges": CHARGES}, parts)


def test_every_charge_is_on_the_bill_to_the_cent(design: Design) -> None:
    """Two stages, spares, stock, packs, breaks of both sorts, falling prices and present values."""
    assert_proven(design)
    assert design.totals is not None
    assert sum(round(row.total_usd * 100) for row in design.bom) == round(design.totals.capex_usd * 100)
    rows = {(row.stage, row.fabric, row.id): row for row in design.bom if row.charge}
    switches = [row for row in design.bom if row.kind == "switch" and row.stage == "day-1" and row.fabric]
    paid = sum(row.total_usd for row in switches)
    nos, care = rows["day-1", "compute", "nos"], rows["day-1", "compute", "care"]
    assert (nos.quantity, nos.unit_price_usd, nos.total_usd) == (3, 1200, 3600)
    assert care.total_usd == 0 and care.yearly_usd == pytest.approx(0.08 * paid)
    # paid ahead five times at 8 % a year: 1 + 1 / 1.08 + ... + 1 / 1.08^4 = 4.31213
    assert care.present_value_usd == pytest.approx(4.31213 * 0.08 * paid, rel=1e-5)
    # stage two begins at month 18 of 60: three whole years, and half a one
    later = rows["later", "compute", "ufm"]
    worth = sum(share / 1.08 ** (month / 12) for month, share in ((18, 1), (30, 1), (42, 1), (54, 0.5)))
    assert (later.quantity, later.yearly_usd) == (3, 525)
    assert later.present_value_usd == pytest.approx(525 * worth, abs=0.02)
    tax = rows["day-1", "compute", "tax"]
    freight = rows["day-1", "compute", "freight"].total_usd
    goods = sum(row.total_usd for row in design.bom if row.stage == "day-1" and row.fabric and row.charge is None)
    assert tax.total_usd == pytest.approx(0.0825 * (goods + freight + 3600 + 25000), abs=0.1)
    assert tax.yearly_usd == pytest.approx(0.0825 * (care.yearly_usd or 0), abs=0.02)


def test_growth_that_may_not_come_owes_as_often_as_it_comes() -> None:
    stages = [{"name": "day-1", "servers": 3}, {"name": "later", "month": 18, "servers": 6, "probability": 0.5}]
    charges = [CHARGES[0], {**CHARGES[1], "usd": 500, "percent": None}]
    finance = {"discount_rate": 0.08}
    design = solved(case(stages=stages, objective="tco_usd", charges=charges, finance=finance))
    assert_proven(design)
    assert design.futures is not None


def test_what_comes_out_of_stock_owes_nothing() -> None:
    charges = [{"name": "nos", "usd": 1200, "kinds": ["switch"]}]
    parts = catalog()
    parts["switches"] = [one for one in parts["switches"] if one["id"] == "small"]
    without = solved(case(), parts)
    number = sum(row.quantity for row in without.bom if row.kind == "switch")
    design = solved(case(have={"small": number}, charges=charges), parts)
    assert_proven(design)
    assert [row for row in design.bom if row.charge] == []
    fewer = solved(case(have={"small": number - 1}, charges=charges), parts)
    assert [(row.quantity, row.total_usd) for row in fewer.bom if row.charge] == [(1, 1200)]


def test_a_product_brings_its_own_charges_and_the_case_may_say_others() -> None:
    parts = catalog()
    for one in parts["switches"]:
        one["charges"] = [{"name": "nos", "usd": 900, "source": {"url": "price list", "date": "2026-01"}}]
    design = solved(case(), parts)
    assert_proven(design)
    (row,) = [row for row in design.bom if row.charge]
    assert (row.unit_price_usd, row.quantity) == (900, sum(one.quantity for one in design.bom if one.kind == "switch"))
    other = solved(case(charges=[{"name": "nos", "usd": 0}]), parts)
    assert_proven(other)
    assert usd(other) == usd(solved(case()))


def test_every_fabric_has_its_own_lines() -> None:
    storage = {"name": "storage", "role": "storage", "min_gbps_per_gpu": 50, "tiers": 1}
    two = case(charges=[CHARGES[4], {"name": "ufm", "usd": 10, "per": "server", "fabrics": ["storage"]}])
    two["fabrics"].append(storage)
    design = solved(two)
    assert_proven(design)
    lines = [(row.fabric, row.id, row.quantity) for row in design.bom if row.charge]
    assert lines == [("compute", "install", 1), ("storage", "install", 1), ("storage", "ufm", 6)]


@pytest.mark.long
@pytest.mark.parametrize("engine", ["cp-sat", "highs"])
def test_engines_and_unpruned_programs_agree(engine: str, design: Design) -> None:
    content, parts = rich()
    assert comparable(solved({**content, "charges": CHARGES}, parts, engine)) == comparable(design)
    plain = case(charges=CHARGES, objective="tco_usd")
    assert comparable(solved(plain, engine=engine)) == comparable(solved(plain, prune=False))


def test_without_charges_files_say_nothing_of_them() -> None:
    text = comparable(solved(case()))
    assert '"charge' not in text and "yearly_usd" not in text
    header = bill_bytes(solved(case()), ".csv").decode().splitlines()[0]
    assert "charge" not in header and "yearly" not in header


# -- proof ----------------------------------------------------------------------------------------------------------


def _change(name: str, **keys: Any) -> Callable[[Json], None]:
    def change(file: Json) -> None:
        next(row for row in file["bom"] if row["id"] == name).update(keys)

    return change


def _drop(file: Json) -> None:
    file["bom"] = [row for row in file["bom"] if row["id"] != "ufm"]


def _claim_a_part(file: Json) -> None:
    next(row for row in file["bom"] if row["kind"] == "nic")["charge"] = "licence"


@pytest.mark.long(but=("change0", "change1", "change3", "_drop", "_claim_a_part"))
@pytest.mark.parametrize(
    "change",
    [
        _change("nos", total_usd=1), _change("care", yearly_usd=1), _change("tax", present_value_usd=1),
        _change("freight", quantity=2), _change("install", description="gift"), _change("install", fabric=""),
        _change("nos", charge="tax"), _change("install", charge=None), _drop, _claim_a_part,
    ],
)  # fmt: skip
def test_a_bill_with_one_charge_changed_fails(design: Design, change: Callable[[Json], None]) -> None:
    file = design.model_dump(mode="json", by_alias=True)
    change(file)
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(file))) if not check.ok}
    assert "charges_are_counted" in failed


# -- exports --------------------------------------------------------------------------------------------------------


def test_tables_have_the_charges_with_who_is_paid(design: Design) -> None:
    book = openpyxl.load_workbook(io.BytesIO(bill_bytes(design, ".xlsx")))
    bill = list(book["Bill"].values)
    columns = {title: place for place, title in enumerate(bill[0])}
    owed = [row for row in bill[1:] if row[columns["Charge"]]]
    assert {row[columns["Id"]] for row in owed} == {charge["name"] for charge in CHARGES}
    titles, *asked = book["RFQ"].values
    asked_ids = {row[titles.index("Id")]: row[titles.index("Vendor")] for row in asked}
    assert asked_ids["freight"] == "Haulier" and "tax" not in asked_ids
    titles, *orders = book["Orders"].values
    total = sum(row[titles.index("Total USD")] or 0 for row in orders if row[titles.index("Id")])
    assert design.totals is not None
    assert total == pytest.approx(design.totals.capex_usd)
    header, *lines = bill_bytes(design, ".csv").decode().splitlines()
    assert "order_by,charge,yearly_usd," in header and header.endswith("price_basis,price_date,project,date,revision")
    assert len(lines) == len(design.bom)


def test_at_other_prices_percentages_follow(design: Design) -> None:
    book = PriceBook.model_validate({"prices": {"large": 20000, "small": 15000}})
    dearer = repriced(design, [NamedBook("book", book)])
    checks = {check.name: check for check in verify(dearer)}
    for name in ("charges_are_counted", "prices_are_applied", "bom_names_products", "totals_add_up"):
        assert checks[name].ok, checks[name].detail


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("charges", "words"),
    [
        ([{"name": "a"}], "either `usd` or `percent`"),
        ([{"name": "a", "usd": 1, "percent": 1}], "either `usd` or `percent`"),
        ([{"name": "a", "usd": -1}], "charges[0].usd"),
        ([{"name": "a", "percent": 1, "per": "fabric"}], "does not go with `per: fabric`"),
        ([{"name": "a", "usd": 1, "of": ["b"]}], "`of` goes with `percent`"),
        ([{"name": "a", "usd": 1, "per": "server", "kinds": ["nic"]}], "does not go with `per: server`"),
        ([{"name": "a", "usd": 1, "fabrics": ["compute"]}], "parts are ordered for all fabrics"),
        ([{"name": "a", "usd": 1, "protocol": "ethernet"}], "goes with `kinds: [switch]`"),
        ([{"name": "a", "usd": 1}, {"name": "a", "usd": 1}], "two charges cannot have the name `a`"),
        ([{"name": "parts", "usd": 1}], "none is called `parts`"),
        ([{"name": "a", "percent": 1, "of": ["b"]}, {"name": "b", "usd": 1}], "no charge above it"),
        ([{"name": "a", "usd": 1, "yearly": True}, {"name": "b", "percent": 1, "of": ["a"], "yearly": True}],
         "leave `yearly` to one of them"),
        ([{"name": "large", "usd": 1}], "this is the id of a product"),
        ([{"name": "a", "usd": 1, "per": "fabric", "fabrics": ["computer"]}], "did you mean `compute`?"),
        ([{"name": "a", "usd": 1, "vendors": ["Acme"]}], "the catalog has no such vendor"),
        ([{"name": "a", "usd": 1, "parts": ["larg"]}], "did you mean `large`?"),
        ([{"name": "a", "usd": 1, "asics": ["T9"]}], "the catalog has no such ASIC"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(charges: list[Json], words: str) -> None:
    with pytest.raises(InputError) as error:
        inputs(case(charges=charges))
    assert words in str(error.value)
