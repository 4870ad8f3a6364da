"""What a maker supplies in a quarter over all its parts: by hand, against brute force, proofs, advice, bad input."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.explain import conflicts, what_if
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.oracles.brute_orders import cheapest
from tests.parts.test_sourcing import agrees, dealt, parts_of
from tests.program.test_purchases import YEARS, agreed, module, planned, random_item
from tests.samples.growth_samples import eight, grown, solved as solved_grown
from tests.samples.small import Json, assert_proven, case, catalog, comparable, inputs, product, solved, usd
from tests.solution import test_brute_force as tiny


def of_kind(design: Design, kind: str) -> int:
    """Units of a kind that are bought."""
    return sum(row.quantity for row in design.bom if row.kind == kind)


# -- orders ---------------------------------------------------------------------------------------------------------


def test_what_a_maker_cannot_supply_later_is_bought_earlier() -> None:
    # 3 now and 4 in a year, in the fifth quarter: of these a maker with 2 a quarter then leaves two to the first order
    item = module((3, 4), vendor="Acme")
    assert agreed([item], procurement={"quarterly_supply": {"Acme": [None, 2]}}).orders == ((5, 2),)
    assert agreed([item], procurement={"quarterly_supply": {"Acme": {"transceiver": [None, 2]}}}).orders == ((5, 2),)
    assert agreed([item], procurement={"quarterly_supply": {"Acme": {"switch": 0}}}).orders == ((3, 4),)


def test_stages_of_one_quarter_share_its_supply() -> None:
    stages = [YEARS[0] | {"month": 1}, YEARS[1] | {"month": 2}, {"name": "third", "month": 5, "servers": 5}]
    item = module((3, 1, 2), vendor="Acme")
    keys: Json = {"stages": stages, "procurement": {"quarterly_supply": {"Acme": 4}}}
    assert agreed([item], **keys).orders == ((3, 1, 2),)
    with pytest.raises(AssertionError, match="cannot be bought"):
        planned([module((3, 2, 1), vendor="Acme")], **keys)
    # with month 0 in February, months 1 and 2 are March and April: of two quarters
    assert agreed([module((3, 2, 1), vendor="Acme")], start="2026-02", **keys).orders == ((3, 2, 1),)


@pytest.mark.long(but=("4", "13", "17", "21"))
@pytest.mark.parametrize("seed", range(24))
def test_no_other_orders_within_supply_are_better(seed: int) -> None:
    """Two items, of one maker or two, with breaks, packs, stock and spares, in two stages of random quarters."""
    dice = random.Random(f"quotas-{seed}")
    items = [random_item(dice, number) | {"vendor": dice.choice(["Acme", "Bolt"])} for number in range(2)]
    vendors = sorted({item["vendor"] for item in items})
    units = [dice.choice([None, dice.randint(2, 9)]), dice.randint(1, 6), dice.randint(0, 6)]
    given = dice.choice([units, units[1], {"transceiver": units}])
    rules: Json = {"quarterly_supply": {dice.choice(vendors): given}}
    if dice.random() < 0.4:
        rules["spares"] = {"transceiver": {"minimum": dice.randint(1, 2)}}
    keys: Json = {
        "finance": {"price_decline": {"transceiver": dice.choice([0, 0.2, 0.5])}},
        "procurement": rules,
        "stages": [YEARS[0], YEARS[1] | {"month": dice.choice([0, 12])}],
    }
    best = cheapest(items, case(**keys), 10)
    if best is None:
        with pytest.raises(AssertionError, match="cannot be bought"):
            planned(items, **keys)
        return
    assert planned(items, **keys)[:4] == best[:4]
    free = keys | {"procurement": {key: value for key, value in rules.items() if key != "quarterly_supply"}}
    assert planned(items, **free).objective <= best.objective


# -- designs --------------------------------------------------------------------------------------------------------


def two_of_each(dice: random.Random) -> Json:
    """Two switches, cards and cables of two makers, dealt and priced at random."""

    def sold(make: Any, name: str, *form: Any, low: int, high: int) -> list[Json]:
        return [
            make(f"{name}-{vendor}", *form, usd=dice.randint(low, high), vendor=dice.choice(["Acme", "Bolt"]))
            for vendor in ("one", "two")
        ]

    makers = dice.sample(["Acme", "Bolt"], 2)
    cables = [
        tiny.cable(f"cable-{name}", "1x100", "1x100", usd=(price, price + 9, price + 20), vendor=maker)
        for name, price, maker in zip(("one", "two"), (10, dice.randint(9, 14)), makers, strict=True)
    ]
    switches = sold(tiny.switch, "switch", tiny.cage(dice.choice([4, 6]), "1x100"), low=900, high=1100)
    return tiny.catalog(
        switches=switches, nics=sold(tiny.card, "card", tiny.cage(1, "1x100"), low=95, high=105), cables=cables
    )


@pytest.mark.long(but_every=3)
@pytest.mark.long("2", "6", "8", "10", "0", "3")
@pytest.mark.parametrize("seed", range(12))
def test_designs_are_those_of_brute_force(seed: int) -> None:
    """One maker, of all its parts or of a kind, short of what the plain optimum buys by one to four."""
    dice = random.Random(f"maker-{seed}")
    parts, wanted = two_of_each(dice), tiny.case(dice.randint(3, 8), rules={"interchangeable": False})
    free = solve(parts, wanted)
    assert free is not None
    vendor = {one["id"]: one["vendor"] for kind in ("switches", "nics", "cables") for one in parts[kind]}
    (id_, _), _ = dice.choice(sorted(free.bom.items(), key=str))
    kind = dice.choice([None, id_.split("-")[0].replace("card", "nic")])
    kinds = (None, *(["switch", "card", "cable"] if kind is None else [kind.replace("nic", "card")]))
    taken = sum(n for (one, _), n in free.bom.items() if vendor[one] == vendor[id_] and one.split("-")[0] in kinds)
    most = max(0, taken - dice.randint(1, 4))
    rules: Json = {"quarterly_supply": {vendor[id_]: most if kind is None else {kind: most}}}
    short = solve(parts, wanted | {"procurement": rules})
    agrees(parts, wanted, rules, None if short is None else short.capex_cents)


@pytest.mark.long
def test_a_search_that_counts_devices_misses_nothing() -> None:
    parts = dealt(catalog())
    plain = solved(case(), parts)
    vendor = next(parts_of(parts)[row.id] for row in plain.bom if row.kind == "switch")
    most = of_kind(plain, "switch") - 1
    wanted = case(procurement={"quarterly_supply": {vendor: {"switch": most}}})
    design, whole = solved(wanted, parts), solved(wanted, parts, prune=False)
    assert_proven(design)
    assert comparable(design) == comparable(whole)
    bought = [row for row in design.bom if row.kind == "switch" and parts_of(parts)[row.id] == vendor]
    assert sum(row.quantity for row in bought) <= most


def test_a_supply_that_is_enough_changes_nothing() -> None:
    parts = dealt(catalog())
    rich = solved(case(procurement={"quarterly_supply": {"Acme": 10**6, "Bolt": {"cable": 10**6}}}), parts)
    plain = solved(case(), parts)
    assert (rich.bom, rich.totals, rich.fabrics) == (plain.bom, plain.totals, plain.fabrics)


# -- proof, advice, alternatives --------------------------------------------------------------------------------------


def broken(design: Design, rules: Json) -> dict[str, bool]:
    file = design.model_dump(mode="json", by_alias=True)
    file["case"]["content"]["procurement"].update(rules)
    return {check.name: check.ok for check in verify(Design.model_validate_json(json.dumps(file)))}


def test_a_design_that_takes_more_than_comes_fails() -> None:
    parts = dealt(catalog())
    design = solved(case(), parts)
    vendor = next(parts_of(parts)[row.id] for row in design.bom if row.kind == "switch")
    bought = sum(row.quantity for row in design.bom if row.id in parts_of(parts) and parts_of(parts)[row.id] == vendor)
    assert broken(design, {"quarterly_supply": {vendor: bought}})["quarterly_supply_lasts"]
    assert not broken(design, {"quarterly_supply": {vendor: bought - 1}})["quarterly_supply_lasts"]
    assert not broken(design, {"quarterly_supply": {vendor: {"switch": 0}}})["quarterly_supply_lasts"]
    assert "quarterly_supply_lasts" not in broken(design, {})


def alone_on_sale() -> Json:
    """The catalog with all switches of one maker."""
    parts = catalog()
    for one in parts["switches"]:
        one["vendor"] = "Acme"
    return parts


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are counted, seconds are not: what is least does not depend on how busy the machine is."""
    monkeypatch.setattr(conflicts, "MOST_SECONDS", 600.0)
    monkeypatch.setattr(what_if, "DESIGN_SECONDS", 600.0)


@pytest.mark.long
@pytest.mark.usefixtures("unhurried")
def test_advice_is_what_would_do() -> None:
    parts = alone_on_sale()
    design = solved(case(procurement={"quarterly_supply": {"Acme": {"switch": 1}}}), parts)
    (found,) = [one for one in design.conflicts if one.limit.startswith("procurement.quarterly_supply")]
    assert found.limit == "procurement.quarterly_supply.Acme.switch" and found.value == 1 and found.minimal
    assert isinstance(found.needed, int) and found.direction == "up" and "supplies 1 switch a quarter" in found.detail
    for most, has_one in ((found.needed, True), (found.needed - 1, False)):
        answer = solved(case(procurement={"quarterly_supply": {"Acme": {"switch": most}}}), parts)
        assert (answer.totals is not None) == has_one


@pytest.mark.long
@pytest.mark.usefixtures("unhurried")
def test_a_later_stage_in_another_quarter_is_advised() -> None:
    # 4 servers take 4 cards at once and 4 more in the same quarter: a month later they would come in the next one
    parts = eight()
    for one in parts["nics"]:
        one["vendor"] = "Acme"
    second = {"servers": 8, "month": 2}
    design = solved_grown(parts, grown(4, second, procurement={"quarterly_supply": {"Acme": 4}}))
    told = {one.limit: one for one in design.conflicts}
    assert told["stages.stage-2.month"].needed == 3 and told["procurement.quarterly_supply.Acme"].needed == 8
    assert solved_grown(parts, grown(4, second | {"month": 3}, procurement={"quarterly_supply": {"Acme": 4}})).totals


@pytest.mark.long
def test_what_it_costs_is_among_the_alternatives() -> None:
    parts = alone_on_sale()
    twin = dict(product(parts, "large"), id="large-b", vendor="Bolt")
    twin["price_usd"] = twin["price_usd"] + 100
    parts["switches"].append(twin)
    plain = solved(case(), parts)
    assert {row.id for row in plain.bom if row.kind == "switch"} == {"large"}
    design = optimize.solve(inputs(case(procurement={"quarterly_supply": {"Acme": {"switch": 0}}}), parts))
    assert_proven(design)
    told = {one.value: one for one in design.alternatives if one.what == "sourcing"}
    assert told["without procurement.quarterly_supply.Acme"].capex_usd == usd(plain)


@pytest.mark.long
def test_it_holds_in_every_future() -> None:
    # alike months are of other quarters in other scenarios: here both stages come in the first one
    parts = eight()
    for one in parts["nics"]:
        one["vendor"] = "Acme"
    later = {"name": "later", "probability": 0.5, "months": {"stage-2": 12}}
    soon = {"name": "soon", "probability": 0.5, "months": {"stage-2": 2}}
    rules: Json = {"quarterly_supply": {"Acme": 6}}
    keys: Json = {"objective": "tco_usd", "procurement": rules}
    alike = solved_grown(parts, grown(4, 6, scenarios=[later, soon | {"months": {"stage-2": 13}}], **keys))
    assert alike.totals is not None and not [check for check in alike.checks if not check.ok]
    assert solved_grown(parts, grown(4, 8, scenarios=[later, soon], **keys)).totals is None
    assert solved_grown(parts, grown(4, 6, scenarios=[later, soon], **keys)).totals is not None


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("supply", "words"),
    [
        ({"Acmee": 3}, "did you mean `Acme`?"),
        ({"Acme": -1}, "procurement.quarterly_supply.Acme"),
        ({"Acme": {"switches": 1}}, "procurement.quarterly_supply.Acme"),
        ({"Acme": {}}, "procurement.quarterly_supply.Acme"),
        ({"Acme": []}, "procurement.quarterly_supply.Acme"),
        ({"Acme": {"leaf": 2}}, "procurement.quarterly_supply.Acme"),
    ],
)
def test_wrong_values_are_refused(supply: Json, words: str) -> None:
    with pytest.raises(InputError) as error:
        inputs(case(procurement={"quarterly_supply": supply}), dealt(catalog()))
    assert words in str(error.value)
