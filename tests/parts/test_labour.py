"""Labour: in the optimum, on the bill to the cent whoever bought the parts, proven again, refused where odd."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.oracles.brute_labour import ends_of, folded, unit_usd
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.bare import bare
from tests.samples.growth_samples import eight, grown, own, solved as solved_growth
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, comparable, inputs, product, solved, usd

MINUTES: Json = {
    "rack": {"switch": 20, "server": 60, "nic": 7}, "pull": {"cable": 4, "fibre": 12.5, "moved": 6}, "dress": 2,
    "label": 1, "clean": 1, "inspect": 0.75, "test": 3, "plug": 0.5,
}  # fmt: skip
LABOUR: Json = {"usd_per_hour": 77.7, "minutes": MINUTES, "visit_usd": 450}


def with_labour(labour: Json, **changes: Any) -> Json:
    return case(site={"labour": labour}, **changes)


def lines(design: Design) -> dict[tuple[str, str, str], float]:
    """Dollars of every line of labour."""
    return {(row.stage, row.fabric, row.id): row.total_usd for row in design.bom if row.id.startswith("labour-")}


def labour_by_hand(design: Design, parts: Json, labour: Json, servers: int) -> Decimal:
    """Dollars of all labour on what the bill puts to use, with that on servers and a visit a stage."""
    known = {part["id"]: part for kind in parts.values() for part in kind}
    used = sum(
        (
            row.in_use * unit_usd(labour, row.kind, ends_of(known[row.id]))
            for row in design.bom
            if row.kind not in ("other", "server")
        ),
        Decimal(0),
    )
    moved = sum(row.in_use for row in design.bom if row.id == "moved-cable")
    used += moved * unit_usd(labour, "moved") + servers * unit_usd(labour, "server")
    return used + len(design.stages) * Decimal(str(labour.get("visit_usd", 0)))


# -- the cheapest design is the cheapest with labour ------------------------------------------------------------------


def some_labour(dice: random.Random) -> Json:
    """A wage and the minutes of some tasks, none of servers, whose sum no design changes."""
    minutes: Json = {
        "rack": {"switch": dice.choice([20, 240])},
        "pull": {"cable": dice.choice([1, 4]), "fibre": dice.choice([3, 90])}, "label": 1.5, "clean": 0.7,
        "test": {"fibre": dice.choice([1, 30])}, "plug": dice.choice([0.5, 6]),
    }  # fmt: skip
    kept = {task: given for task, given in minutes.items() if dice.random() < 0.8}
    return {"usd_per_hour": dice.choice([29.02, 180, 1000]), "minutes": kept or {"label": 1.5}}


@pytest.mark.long("41-linear")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("family", ["linear", "three_tier"])
@pytest.mark.parametrize("seed", range(40, 43))
def test_the_optimum_is_that_of_brute_force_at_prices_with_labour(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    labour = some_labour(random.Random(f"{family} {seed}"))
    found = solve(folded(parts, labour), wanted)
    design = run(parts, {**wanted, "site": {**wanted.get("site", {}), "labour": labour}})
    assert [check for check in design["checks"] if not check["ok"]] == []
    design["bom"] = [row for row in design["bom"] if "charge" not in row]
    expected = None if found is None else outline_of_best(found)
    assert differences(expected, outline(design)) == {}, json.dumps({"catalog": parts, "case": wanted})


def test_it_decides_between_many_cables_of_two_tiers_and_few_of_one() -> None:
    """One switch of twelve ports is a little dearer than two tiers of small ones, and spares sixteen cables."""
    small = [part for part in catalog()["switches"] if part["id"] != "large"]
    two_tiers = usd(solved(case(), {**catalog(), "switches": small}))
    parts = catalog()
    product(parts, "large")["price_usd"] = 0
    product(parts, "large")["price_usd"] = two_tiers + 100 - usd(solved(case({"tiers": 1}), parts))
    either, labour = {"tiers": "any"}, {"usd_per_hour": 60, "minutes": {"pull": 12}}
    plain, paid = solved(case(either), parts), solved(case(either, site={"labour": labour}), parts)
    assert [len(design.fabrics[0].tiers) for design in (plain, paid)] == [2, 1]
    assert plain.totals and paid.totals and plain.totals.cables == 28 and paid.totals.cables == 12
    assert usd(paid) == two_tiers + 100 + 12 * 12


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("tiers", [1, 2])
def test_nothing_dropped_early_would_have_taken_less_labour(tiers: int) -> None:
    content = case({"tiers": tiers}, site={"labour": {"usd_per_hour": 60, "minutes": {"pull": 12}}})
    assert comparable(solved(content)) == comparable(solved(content, prune=False))


@pytest.mark.parametrize("include_servers", [False, True])
def test_servers_are_racked_whoever_buys_them(include_servers: bool) -> None:
    design = solved(with_labour(LABOUR, include_servers=include_servers))
    assert_proven(design)
    assert lines(design)["all", "", "labour-server"] == 466.2
    assert lines(design)["all", "", "labour-visit"] == 450
    of_parts = usd(design) - sum(lines(design).values())
    goods = sum(row.total_usd for row in design.bom if row.charge is None)
    assert of_parts == pytest.approx(goods)
    total = labour_by_hand(design, catalog(), LABOUR, 6)
    assert sum(Decimal(str(amount)) for amount in lines(design).values()) == total


def test_a_number_of_racking_is_for_switches_and_servers_and_a_mapping_for_what_it_names() -> None:
    number = lines(solved(with_labour({"usd_per_hour": 60, "minutes": {"rack": 30}})))
    assert {name for _, _, name in number} == {"labour-switch", "labour-server"}
    only = lines(solved(with_labour({"usd_per_hour": 60, "minutes": {"rack": {"switch": 30}}})))
    assert {name for _, _, name in only} == {"labour-switch"}


def test_what_stands_in_stock_is_installed_all_the_same_and_spares_are_not() -> None:
    minutes = {"usd_per_hour": 60, "minutes": {"rack": {"switch": 30}}}
    design = solved(with_labour(minutes, have={"large": 9}, procurement={"spares": {"switch": {"minimum": 1}}}))
    assert_proven(design)
    in_use = sum(row.in_use for row in design.bom if row.kind == "switch")
    assert lines(design) == {("all", "compute", "labour-switch"): 30.0 * in_use}


def test_it_is_in_what_is_owned_and_paid_at_its_stage() -> None:
    finance = {"discount_rate": 0.1, "energy_usd_per_kwh": 0}
    labour = {"usd_per_hour": 60, "minutes": {"rack": {"server": 60}}, "visit_usd": 1000}
    design = solved_growth(eight(), grown(4, 8, objective="tco_usd", finance=finance, site={"labour": labour}))
    assert_proven(design)
    assert [row.total_usd for row in design.bom if row.id == "labour-server"] == [240, 240]
    assert [row.total_usd for row in design.bom if row.id == "labour-visit"] == [1000, 1000]
    _, later = (row.present_value_usd for row in design.bom if row.id == "labour-visit")
    assert later is not None and later < 1000


def test_moved_cables_cost_their_labour_in_place_of_the_estimate() -> None:
    wanted = grown(4, 8, growth={"recabling": "allow"}, site={"labour": LABOUR})
    design = solved_growth(eight(), wanted)
    assert_proven(design)
    assert design.case.content["growth"]["usd_per_moved_cable"] == 0
    moved = sum(row.in_use for row in design.bom if row.id == "moved-cable")
    amount = sum(usd_of for (_, _, name), usd_of in lines(design).items() if name == "labour-moved")
    assert Decimal(str(amount)) == moved * unit_usd(LABOUR, "moved")
    total = labour_by_hand(design, eight(), LABOUR, 8)
    assert sum(Decimal(str(each)) for each in lines(design).values()) == total


# -- less labour is never dearer --------------------------------------------------------------------------------------


@pytest.mark.long(but=("clean", "plug", "rack", "test"))
@pytest.mark.parametrize("task", sorted(MINUTES))
def test_fewer_minutes_are_never_dearer(task: str) -> None:
    dear = solved(with_labour(LABOUR))
    fewer = {name: given for name, given in MINUTES.items() if name != task}
    cheaper = solved(with_labour({**LABOUR, "minutes": fewer}))
    assert usd(cheaper) <= usd(dear)
    assert usd(solved(case())) + sum(lines(dear).values()) >= usd(dear)


def test_without_labour_nothing_changes() -> None:
    plain = solved(case())
    free = solved(with_labour({"usd_per_hour": 0, "minutes": {"rack": 20}}))
    assert [row for row in free.bom if row.charge] == []
    assert free.bom == plain.bom and free.totals == plain.totals
    assert "labour" not in plain.case.content["site"]


# -- proven again -----------------------------------------------------------------------------------------------------


def test_another_sum_or_another_wage_is_refused() -> None:
    design = solved(with_labour(LABOUR))
    content = {**design.case.content, "site": {**design.case.content["site"], "labour": {**LABOUR, "usd_per_hour": 70}}}
    other = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    missing = design.model_copy(update={"bom": tuple(row for row in design.bom if row.id != "labour-fibre")})
    for wrong in (other, missing):
        failed = {check.name for check in verify(wrong) if not check.ok}
        assert "labour_is_counted" in failed


# -- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labour", "words"),
    [
        ({"minutes": {"rack": 20}}, ["site.labour.usd_per_hour"]),
        ({"usd_per_hour": 60}, ["site.labour.minutes"]),
        ({"usd_per_hour": 60, "minutes": {}}, ["site.labour.minutes", "at least one task: rack, pull"]),
        ({"usd_per_hour": 60, "minutes": {"rack": -1}}, ["site.labour.minutes.rack", "-1"]),
        ({"usd_per_hour": 60, "minutes": {"rack": {"switch": -1}}}, ["site.labour.minutes.rack.switch", "-1"]),
        ({"usd_per_hour": 60, "minutes": {"rak": 1}}, ["site.labour.minutes.rak", "rack"]),
        ({"usd_per_hour": 60, "minutes": {"rack": {"fibre": 1}}}, ["site.labour.minutes.rack", "fibre", "switch"]),
        ({"usd_per_hour": -1, "minutes": {"rack": 1}}, ["site.labour.usd_per_hour", "-1"]),
        ({"usd_per_hour": 1, "visit_usd": -1, "minutes": {"rack": 1}}, ["site.labour.visit_usd", "-1"]),
    ],
)
def test_odd_labour_is_refused_with_its_key(labour: Json, words: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        inputs(with_labour(labour))
    assert all(word in str(refused.value) for word in words), str(refused.value)


def test_a_charge_has_no_name_of_a_line_of_labour() -> None:
    with pytest.raises(InputError, match="the name of a line of labour"):
        inputs(case(charges=[{"name": "labour-fibre", "usd": 1}]))


def test_tasks_without_minutes_are_told() -> None:
    notes = inputs(with_labour({"usd_per_hour": 60, "minutes": {"rack": 20, "pull": 4}})).notes
    assert "labour is without dress, label, clean, inspect, test, plug: `site.labour.minutes` does not say how long " \
        "these take" in notes  # fmt: skip


@pytest.mark.long
def test_a_budget_that_labour_breaks_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the parts alone cost is no budget for parts and labour."""
    budget = usd(solved(case()))
    (tmp_path / "catalog.yaml").write_text(yaml.safe_dump(catalog()))
    wanted = bare(with_labour(LABOUR, limits={"budget_usd": budget}, catalog=["./catalog.yaml"]))
    (tmp_path / "case.yaml").write_text(yaml.safe_dump(wanted))
    assert main(["solve", str(tmp_path / "case.yaml"), "--alternatives", "0"]) == 3
    shown = " ".join("".join(capsys.readouterr()).split())
    assert "over the budget (labour is $" in shown, shown


# -- visits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "visits"), [(2, 2), (1, 1)])
def test_a_stage_without_new_servers_is_visited_where_it_installs_anything(ratio: int, visits: int) -> None:
    """16 servers on four leaves: at 2:1 one spine is enough, and 1:1 at the second stage asks for another."""
    labour = {"usd_per_hour": 60, "minutes": {"rack": {"switch": 30}}, "visit_usd": 1000}
    design = solved_growth(eight(), grown(own(16, ratio), 16, site={"labour": labour}))
    assert_proven(design)
    assert len([row for row in design.bom if row.id == "labour-visit"]) == visits
    later = {(row.id, row.total_usd) for row in design.bom if row.stage == "stage-2" and row.charge}
    assert later == ({("labour-switch", 30), ("labour-visit", 1000)} if visits > 1 else set())
    plain = solved_growth(eight(), grown(own(16, ratio), 16))
    assert usd(design) == usd(plain) + 6 * 30 + visits * 1000
