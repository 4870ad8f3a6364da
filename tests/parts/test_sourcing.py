"""Who may supply what: vendors by place, ASICs, one vendor of a fabric, few or several; against brute force."""

from __future__ import annotations

import copy
import json
from itertools import combinations, product
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.asics import asic_is
from fabopt.schema.design import Design
from fabopt.search.choice import search_of
from fabopt.solution import optimize
from fabopt.topology.clos.leaves import Leaves
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.samples.adapter import run
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, inputs, solved, usd

VENDORS = ("Acme", "Bolt", "Core")
WORDS = {"switch": "switches", "nic": "nics", "transceiver": "transceivers", "cable": "cables", "fibre": "fibres"}


def dealt(parts: Json, seed: int = 0) -> Json:
    """The catalog with every product sold by one vendor at its price and by another at a little more."""
    parts = copy.deepcopy(parts)
    for number, kind in enumerate(WORDS.values()):
        for place, one in enumerate(list(parts.get(kind, ()))):
            one["vendor"] = VENDORS[(seed + number + place) % 3]
            twin = copy.deepcopy(one)
            twin.update(id=f"{one['id']}-b", vendor=VENDORS[(seed + number + 2 * place + 1) % 3])
            for sold in twin.get("lengths", [twin]):
                sold["price_usd"] = dearer(sold.get("price_usd"))
            parts[kind].append(twin)
    return parts


def dearer(price: Any) -> Any:
    if isinstance(price, list):
        return [{**step, "usd": step["usd"] + 3} for step in price]
    return None if price is None else price + 3


def of_vendors(parts: Json, kinds: tuple[str, ...], vendors: tuple[str, ...]) -> Json:
    """The catalog with parts of some kinds of some vendors only."""
    kept = dict(parts)
    for kind in kinds:
        kept[WORDS[kind]] = [one for one in parts.get(WORDS[kind], ()) if one["vendor"] in vendors]
    return kept


def least(parts: list[Json], wanted: Json) -> int | None:
    """The least cents of brute force over several catalogs."""
    answers = [best for one in parts if (best := solve(one, wanted)) is not None]
    return min((best.capex_cents for best in answers), default=None)


def agrees(parts: Json, wanted: Json, rules: Json, expected: int | None) -> None:
    design = run(parts, {**wanted, "procurement": rules})
    assert [check for check in design["checks"] if not check["ok"]] == []
    found = None if design["status"] == "infeasible" else round(design["totals"]["capex_usd"] * 100)
    assert found == expected, json.dumps({"catalog": parts, "case": wanted, "rules": rules})


# -- exact ----------------------------------------------------------------------------------------------------------


@pytest.mark.long("linear-60", "three_tier-61")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("seed", range(60, 63))
@pytest.mark.parametrize("family", ["linear", "three_tier"])
def test_few_vendors_cost_what_the_best_of_so_many_does(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    wanted["objective"] = "capex_usd"
    parts = dealt(parts, seed)
    kind, most = ("switch", "transceiver", "cable")[seed % 3], 1 + seed % 2
    chosen = [of_vendors(parts, (kind,), some) for some in combinations(VENDORS, most)]
    agrees(parts, wanted, {"max_vendors": {kind: most}}, least(chosen, wanted))


@pytest.mark.long(
    "optics-linear-70", "optics-three_tier-71", "switches-linear-70", "switches-three_tier-71", "both-three_tier-71"
)
@pytest.mark.parametrize(("family", "seed"), [("linear", 70), ("three_tier", 71)])
@pytest.mark.parametrize("what", ["switches", "optics", "both"])
def test_one_vendor_costs_what_the_best_of_each_does(what: str, family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    wanted["objective"] = "capex_usd"
    parts = dealt(parts, seed)
    kinds = {"switches": ("switch",), "optics": ("transceiver", "cable")}.get(what, ("switch", "transceiver", "cable"))
    chosen = [of_vendors(parts, kinds, (vendor,)) for vendor in VENDORS]
    name = wanted["fabrics"][0]["name"]
    agrees(parts, wanted, {"single_vendor": {name: what}}, least(chosen, wanted))


@pytest.mark.long("80", "81", "82", "84", "86", "87")
@pytest.mark.parametrize("seed", range(80, 88))
def test_lists_by_kind_leave_what_brute_force_is_left(seed: int) -> None:
    parts, wanted = generate("linear", seed)
    wanted["objective"] = "capex_usd"
    parts = dealt(parts, seed)
    left = of_vendors(of_vendors(parts, ("switch",), ("Acme", "Bolt")), ("cable",), ("Core", "Acme"))
    rules = {"approved_vendors": {"switch": ["Acme", "Bolt"]}, "forbidden_vendors": {"cable": ["Bolt"]}}
    agrees(parts, wanted, rules, least([left], wanted))


def test_several_sources_take_the_cheapest_second_one() -> None:
    parts = dealt(catalog())
    plain = solved(case(), parts)
    kinds = {row.kind for row in plain.bom}
    for kind in sorted(kinds & {"transceiver", "cable", "fibre"}):
        vendors = {parts_of(parts)[row.id] for row in plain.bom if row.kind == kind and row.in_use}
        design = solved(case(procurement={"min_sources": {kind: len(vendors) + 1}}), parts)
        if design.status == "optimal":
            assert_proven(design)
            assert usd(design) > usd(plain)
            assert len({parts_of(parts)[row.id] for row in design.bom if row.kind == kind and row.in_use}) > len(
                vendors
            )


def parts_of(parts: Json) -> dict[str, str]:
    return {one["id"]: one["vendor"] for kind in WORDS.values() for one in parts[kind]}


@pytest.mark.long
def test_tiers_and_fabrics_have_lists_of_their_own() -> None:
    parts = catalog()
    for one, vendor in zip(parts["switches"], VENDORS, strict=True):
        one["vendor"] = vendor
    for leaf, spine in product(VENDORS, repeat=2):
        tiers = {"leaf": [leaf], "spine": [spine]}
        named = {"leaf": [ids(parts, leaf)], "spine": [ids(parts, spine)]}
        by_vendor = solved(case(procurement={"approved_vendors": tiers}), parts)
        by_id = solved(case({"switches": named}), parts)
        assert by_vendor.status == by_id.status
        if by_id.status == "optimal":
            assert_proven(by_vendor)
            assert usd(by_vendor) == usd(by_id)
    design = solved(case(procurement={"forbidden_vendors": {"compute": ["Acme", "Core"]}}), parts)
    assert {tier.id for tier in design.fabrics[0].tiers} == {ids(parts, "Bolt")}


def ids(parts: Json, vendor: str) -> str:
    return str(next(one["id"] for one in parts["switches"] if one["vendor"] == vendor))


@pytest.mark.long("91")
@pytest.mark.parametrize("seed", range(90, 93))
def test_a_source_of_cores_makes_three_tiers_without_sizing_fewer(seed: int) -> None:
    parts, wanted = generate("three_tier", seed)
    wanted["objective"] = "capex_usd"
    (fabric,) = wanted["fabrics"]
    named = run(parts, {**wanted, "fabrics": [{**fabric, "tiers": 3}]})
    any_ = run(parts, {**wanted, "fabrics": [{**fabric, "tiers": "any"}], "procurement": {"min_sources": {"core": 1}}})
    assert any_["status"] == named["status"]
    assert any_["totals"] == named["totals"]
    assert any_["objective"]["candidates"] == named["objective"]["candidates"]


# -- ASICs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asic", "names", "others"),
    [
        ("Tomahawk 5 (BCM78900)", ["Broadcom", "Tomahawk", "Tomahawk 5"], ["Tomahawk 4", "NVIDIA"]),
        ("Tomahawk 4G", ["Broadcom", "Tomahawk"], ["Tomahawk 4"]),
        ("4x Quantum-3", ["NVIDIA", "Quantum", "Quantum-3", "4x Quantum-3"], ["Quantum-2", "Broadcom"]),
        ("Silicon One G200", ["Cisco", "Silicon One"], ["Broadcom"]),
        (None, [], ["Broadcom"]),
    ],
)
def test_asics_go_by_name_family_and_maker(asic: str | None, names: list[str], others: list[str]) -> None:
    assert [name for name in (*names, *others) if asic_is(asic, name)] == names


def test_asics_are_approved_and_forbidden() -> None:
    parts = catalog()
    for one, asic in zip(parts["switches"], ("Tomahawk 5", "Spectrum-4", None), strict=True):
        one.update({"asic": asic} if asic else {})
    large, lean = parts["switches"][0]["id"], parts["switches"][1]["id"]
    only = solved(case(procurement={"approved_asics": ["Broadcom"]}), parts)
    assert_proven(only)
    assert {tier.id for tier in only.fabrics[0].tiers} == {large}
    no = solved(case(procurement={"forbidden_asics": ["Tomahawk", "NVIDIA"]}), parts)
    assert {tier.id for tier in no.fabrics[0].tiers}.isdisjoint({large, lean})


# -- proof, advice, alternatives ------------------------------------------------------------------------------------


def test_a_design_that_breaks_a_rule_fails() -> None:
    parts = dealt(catalog())
    design = solved(case(), parts)
    optics = next(row.id for row in design.bom if row.kind in ("transceiver", "cable") and row.in_use)
    broken: list[Json] = [
        {"single_vendor": {"compute": "both"}},
        {"min_sources": {"leaf": 2}},
        {"min_sources": {"nic": 3}},
    ]
    for rules in broken:
        file = design.model_dump(mode="json", by_alias=True)
        file["case"]["content"]["procurement"].update(rules)
        file["parts"][optics]["vendor"] = "Other"
        checks = {check.name: check for check in verify(Design.model_validate_json(json.dumps(file)))}
        assert not checks["vendors_are_kept"].ok, rules


def test_a_rule_that_stands_in_the_way_is_named() -> None:
    parts = dealt(catalog())
    design = solved(case({"nics": ["nic-400"], "nics_per_server": 2}, procurement={"min_sources": {"leaf": 3}}), parts)
    assert design.status == "infeasible"
    assert "procurement.min_sources.leaf" in {conflict.limit for conflict in design.conflicts}
    parts = catalog()
    design = solved(case(procurement={"approved_asics": ["Tomahawk 5"]}), with_asic(parts))
    assert_proven(design)


def with_asic(parts: Json) -> Json:
    parts["switches"][0]["asic"] = "Tomahawk 5"
    return parts


def test_switches_without_optics_of_their_maker_are_never_sized(monkeypatch: pytest.MonkeyPatch) -> None:
    """That there is no design is proven by what joins, and not by all sizes of all networks that nothing joins."""
    sized: list[object] = []
    sizes = Leaves._sizes
    monkeypatch.setattr(Leaves, "_sizes", lambda self, *given: (sized.append(given), sizes(self, *given))[1])
    parts = catalog()
    for kind, sold in parts.items():
        for one in sold if kind in WORDS.values() else ():
            one["vendor"] = "Acme" if kind in ("switches", "nics") else "Bolt"
    given = inputs(case(servers=16, procurement={"single_vendor": {"compute": "both"}}), parts)
    assert search_of(problem_of(given.case, given.catalog), Settings(), Clock(None)).run().verdict == "infeasible"
    assert sized == []
    assert solved(case(servers=16), parts).status == "optimal"
    assert sized


@pytest.mark.long
def test_what_a_rule_costs_is_among_the_alternatives() -> None:
    parts = dealt(catalog())
    rules = {"single_vendor": {"compute": "both"}, "approved_vendors": {"cable": ["Acme", "Bolt", "Core"]}}
    design = optimize.solve(inputs(case(procurement=rules), parts))
    assert_proven(design)
    told = {one.value: one for one in design.alternatives if one.what == "sourcing"}
    free = told["without procurement.single_vendor.compute"]
    assert free.capex_usd == usd(solved(case(procurement={"approved_vendors": rules["approved_vendors"]}), parts))
    assert free.capex_delta_usd == pytest.approx(free.capex_usd - usd(design)) and free.capex_delta_usd <= 0
    assert told["without procurement.approved_vendors.cable"].capex_delta_usd == 0


@pytest.mark.long
def test_rules_that_cost_nothing_say_so() -> None:
    """What is said of each rule is what a search without it alone finds."""
    parts, costly = dealt(catalog()), "without procurement.forbidden_vendors.switch"
    rules: Json = {
        "approved_vendors": {"cable": [*VENDORS], "nic": [*VENDORS]}, "forbidden_vendors": {"switch": ["Acme"]},
        "max_vendors": {"cable": 3, "switch": 3},
    }  # fmt: skip
    design = optimize.solve(inputs(case(procurement=rules), parts))
    told = {one.value: one for one in design.alternatives if one.what == "sourcing"}
    assert len(told) == 5
    for key, places in rules.items():
        for place in places:
            others = {**rules, key: {other: given for other, given in places.items() if other != place}}
            free = solved(case(procurement={name: given for name, given in others.items() if given}), parts)
            assert told[f"without procurement.{key}.{place}"].capex_usd == usd(free)
    free_of_charge = {value for value, one in told.items() if one.summary == "nothing cheaper"}
    assert free_of_charge == told.keys() - {costly}
    assert [one.value for one in told.values() if one.capex_delta_usd < 0] == [costly]


@pytest.mark.parametrize("rules", [{"approved_vendors": ["Acme"]}, {"forbidden_vendors": ["Bolt"]}])
def test_what_a_list_of_vendors_costs_is_among_the_alternatives(rules: Json) -> None:
    """One list for every kind is a rule as those of places are: *all NVIDIA* is asked what it costs, and what structure
    and speed would save is said before.
    """
    parts = catalog()
    for one in [one for kind in WORDS.values() for one in parts.get(kind, ())]:
        one["vendor"] = "Acme"
    cheaper = [{**one, "id": f"{one['id']}-b", "vendor": "Bolt", "price_usd": 1} for one in parts["switches"]]
    parts["switches"] += cheaper
    design = optimize.solve(inputs(case(procurement=rules), parts))
    assert_proven(design)
    told = {one.value: one.capex_usd for one in design.alternatives if one.what == "sourcing"}
    assert [one.what for one in design.alternatives] == [
        "planes",
        "striping",
        "rails",
        "default rules",
        "port speed",
        "sourcing",
        "leaf switch",
    ]
    free = usd(solved(case(), parts))
    assert told == {f"without procurement.{next(iter(rules))}": free} and free < usd(design)


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"min_sources": {"cable": 2}, "max_vendors": {"cable": 1}}, "`max_vendors.cable` only 1"),
        ({"approved_asics": ["Broadcom"], "forbidden_asics": ["Broadcom"]}, "in `forbidden_asics`"),
        ({"approved_asics": ["Tomahok"]}, "did you mean `Tomahawk 5`?"),
        ({"approved_vendors": {"leafs": ["Acme"]}}, "did you mean `leaf`?"),
        ({"approved_vendors": {"leaf": ["Acmee"]}}, "did you mean `Acme`?"),
        ({"approved_vendors": {"leaf": ["Acme"]}, "forbidden_vendors": {"leaf": ["Acme"]}}, "in forbidden_vendors too"),
        ({"single_vendor": {"computer": "both"}}, "did you mean `compute`?"),
        ({"single_vendor": {"compute": "all"}}, "procurement.single_vendor.compute"),
        ({"max_vendors": {"server": 1}}, "procurement.max_vendors"),
    ],
)  # fmt: skip
def test_contradictions_and_unknown_words_are_refused(rules: Json, words: str) -> None:
    with pytest.raises(InputError) as error:
        inputs(case(procurement=rules), with_asic(dealt(catalog())))
    assert words in str(error.value)


# -- fewer vendors than are asked for, known at once ----------------------------------------------------------------

TWO = {"nics": ["nic-400"], "nics_per_server": 2}


def with_vendors() -> Json:
    """The small catalog with a vendor for each switch."""
    parts = catalog()
    for one, vendor in zip(parts["switches"], VENDORS, strict=True):
        one["vendor"] = vendor
    return parts


@pytest.mark.long("fabric1-changes1-sources1-one", "fabric3-changes3-sources3-two at the most")
@pytest.mark.parametrize(
    ("fabric", "changes", "sources", "told"),
    [
        ({"groups": "equal"}, {}, {"leaf": 2}, "one with `fabrics.compute.groups: equal`"),
        ({}, {}, {"spine": 2}, "one"),
        (
            {"groups": "any"},
            {"stages": [{"name": "a", "servers": 4}, {"name": "b", "month": 6, "servers": 6}]},
            {"leaf": 2},
            "grows",
        ),
        ({"groups": "any"}, {}, {"leaf": 3}, "two at the most"),
        ({"groups": "any"}, {}, {"core": 1}, "one"),
        ({"tiers": 1}, {}, {"spine": 1}, "spine"),
        ({"groups": "equal"}, {}, {"switch": 3}, "2 products of switches"),
        ({}, {}, {"nic": 2}, "is of no vendor"),
    ],
)
def test_more_vendors_than_there_can_be_are_told_without_a_search(
    fabric: Json, changes: Json, sources: Json, told: str
) -> None:
    design = solved(
        case({**TWO, "groups": "equal", **fabric}, procurement={"min_sources": sources}, **changes), with_vendors()
    )
    assert design.status == "infeasible"
    assert design.objective.candidates == 0
    first, place = design.conflicts[0], next(iter(sources))
    assert (first.limit, first.value) == (f"procurement.min_sources.{place}", sources[place])
    assert told in first.detail
    kept = {place: first.needed} if first.needed else {}
    assert solved(
        case({**TWO, "groups": "equal", **fabric}, procurement={"min_sources": kept}, **changes), with_vendors()
    ).fabrics


def test_what_would_give_a_second_vendor_is_told_too_and_does() -> None:
    rules = {"min_sources": {"leaf": 2}}
    fabric = {**TWO, "groups": "equal", "striping": "even"}
    parts = with_vendors()
    parts["switches"].append({**parts["switches"][2], "id": "small-b", "vendor": "Bolt", "price_usd": 16500})
    short = solved(case(fabric, servers=7, procurement=rules), parts)
    told = {conflict.limit: conflict for conflict in short.conflicts}
    assert told["fabrics.compute.groups"].needed == "any"
    enough = solved(case({**fabric, "groups": "any"}, servers=7, procurement=rules), parts)
    assert_proven(enough)
    assert len(enough.fabrics[0].tiers[0].types) == 2


def test_places_that_lack_vendors_together_are_one_item() -> None:
    design = solved(
        case({**TWO, "groups": "equal"}, procurement={"min_sources": {"leaf": 2, "spine": 3}}), with_vendors()
    )
    first = design.conflicts[0]
    assert {(one.limit, one.needed) for one in first.together} == {
        ("procurement.min_sources.leaf", 1),
        ("procurement.min_sources.spine", 1),
    }


@pytest.mark.long("90")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize("seed", range(90, 94))
def test_vendors_of_tiers_are_those_of_the_best_pair_that_is_allowed(seed: int) -> None:
    parts, wanted = generate("linear", seed)
    wanted["objective"] = "capex_usd"
    wanted["fabrics"][0]["tiers"] = 2
    parts = dealt(parts, seed)
    pairs = [(a, b) for a, b in product(VENDORS, repeat=2) if a != b]
    by_pair = [
        run(parts, {**wanted, "procurement": {"approved_vendors": {"leaf": [a], "spine": [b]}}}) for a, b in pairs
    ]
    costs = [round(one["totals"]["capex_usd"] * 100) for one in by_pair if one["status"] == "optimal"]
    agrees(parts, wanted, {"min_sources": {"switch": 2}}, min(costs, default=None))
