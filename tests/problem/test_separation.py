"""How fabrics are kept apart: logical ones against an enumeration, the choice by cost, rules, refusals, mutations."""

from __future__ import annotations

import copy
import csv
import hashlib
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.io.keys import with_change
from fabopt.output.export.cables import pull_list, schedule
from fabopt.output.export.formats import Options, export
from fabopt.output.terminal.networks import network_shares
from fabopt.output.terminal.summary import summary
from fabopt.problem.problem import problem_of
from fabopt.problem.separation import combinations
from fabopt.program.lexicographic import Optimum
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.answer import Answer, cheapest, without_design
from fabopt.solution import optimize
from fabopt.solution.formulation_text import formulation_text
from fabopt.study.front.fronts import pareto_front
from fabopt.study.front.measures import MEASURES
from fabopt.verify import verify, verify_wiring
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS
from fabopt.wiring.numbers import booked_fabrics
from tests.oracles.brute_logical import least
from tests.oracles.brute_parts import Json
from tests.samples.bare import with_equal_groups
from tests.samples.lengths import with_lengths
from tests.samples.random_cases import Dice, a_catalog
from tests.samples.resilience import without_redundancy
from tests.samples.small import assert_proven, catalog, inputs, solved

WAYS = ("physical", "logical", "shared")
# Of all default rules that of pairs alone.
RULE = {"pair": True, "lengths": False, "nic-pairing": False, "subnet-manager": False}


def parts(**server: Any) -> Json:
    """The small catalog with a cheaper card, so that there is a choice."""
    content = catalog()
    content["nics"].append({
        "id": "nic-400-b", "protocols": ["ethernet"], "pcie": {"generation": 5, "lanes": 16}, "power_w": 10,
        "price_usd": 800, "cages": [{"count": 1, "form_factor": "QSFP112", "splits": ["1x400"]}],
    })  # fmt: skip
    content["servers"][0] |= server
    return content


def case(separation: str = "logical", compute: Json | None = None, limits: Json | None = None, **storage: Any) -> Json:
    """Six servers with 200 Gb/s a GPU of computing at 1:1, and 50 of storage at 2:1."""
    host = {"name": "compute", "min_gbps_per_gpu": 200, "max_oversubscription": 1, "tiers": 2, **(compute or {})}
    logical = {
        "name": "storage",
        "role": "storage",
        "min_gbps_per_gpu": 50,
        "max_oversubscription": 2,
        **storage,
    }
    return with_equal_groups(without_redundancy({
        "name": "apart", "server": "gpu-4", "servers": 6, "fabrics": [host, logical | {"separation": separation}],
        "limits": limits or {},
    }))  # fmt: skip


def random_pair(seed: int) -> tuple[Json, Json]:
    """A small catalog and a case of two fabrics on it; prices do not depend on quantities."""
    dice = Dice(f"separation-{seed}")
    content = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 6))
    content["servers"][0] |= {"nic_slots": dice.one([2, 3])}
    host: Json = {
        "name": "compute", "min_gbps_per_gpu": dice.one([10, 25, 50]), "tiers": dice.one([[1, 2], 2]),
        "max_oversubscription": dice.one([1, 1.5, 2, {"leaf": 1, "spine": 3}]),
    }  # fmt: skip
    logical: Json = {
        "name": "storage", "role": "storage", "separation": "logical", "min_gbps_per_gpu": dice.one([5, 10, 25]),
        "max_oversubscription": dice.one([1, 1.34, 3, 5]),
    }  # fmt: skip
    if dice.chance(0.4):
        logical["attachments"] = [{"name": "nodes", "ports": dice.number(1, 3), "buys": "none"}]
        if dice.chance(0.5):
            logical["attachments"][0]["max_oversubscription"] = 1
    if dice.chance(0.2):
        host["attachments"] = [{"name": "gateways", "ports": dice.number(1, 2), "buys": "none"}]
    content_case = {
        "name": f"pair-{seed}",
        "server": "box",
        "servers": dice.number(2, 4),
        "fabrics": [host, logical],
    }
    return content, with_equal_groups(without_redundancy(content_case))


def capex_cents(design: Design) -> int | None:
    return None if design.totals is None else round(design.totals.capex_usd * 100)


# -- logical ----------------------------------------------------------------------------------------------------


@pytest.mark.long("22")
@pytest.mark.long("0", "3")
@pytest.mark.long(but_every=3)
@pytest.mark.long("12", "26")
# the quick ones of the first thirty
@pytest.mark.parametrize("seed", (0, 1, 2, 3, 5, 7, 10, 12, 13, 15, 16, 17, 22, 23, 24, 26, 27))
def test_logical_is_the_least_of_all_designs(seed: int) -> None:
    content, wanted = random_pair(seed)
    design = solved(wanted, content)
    truth = least(content, wanted)
    assert (design.status, capex_cents(design)) == (("infeasible" if truth is None else "optimal"), truth)
    assert all(check.ok for check in design.checks), [check for check in design.checks if not check.ok]


@pytest.mark.long(but=("5", "15"))
@pytest.mark.parametrize("seed", (0, 1, 2, 3, 5, 7, 10, 12, 13, 15, 16, 17, 22, 23, 24, 26, 27), ids=str)
def test_servers_of_a_logical_fabric_are_on_two_leaves(seed: int) -> None:
    """By rule ``pair``, asked for by its name; then by `homing`."""
    content, wanted = random_pair(seed)
    truth = least(content, wanted, 2)
    host, logical = wanted["fabrics"]
    for ruled in (wanted | {"rules": RULE}, wanted | {"fabrics": [host, logical | {"homing": "pair"}]}):
        design = solved(ruled, content)
        assert (design.status, capex_cents(design)) == (("infeasible" if truth is None else "optimal"), truth)
        assert all(check.ok for check in design.checks), [check for check in design.checks if not check.ok]


def test_rule_pair_holds_whatever_the_separation() -> None:
    """Six servers with one port of compute each on one switch: both ports of storage of its own on two, or compute's
    single one for both, where nothing keeps the rule.
    """
    host = {"tiers": [1, 2], "nics": ["nic-400"], "nics_per_server": 1, "min_gbps_per_gpu": 100}
    for separation, kept in (("logical", True), ("shared", False)):
        wanted = case(separation, compute=host, min_gbps_per_gpu=25, **({} if kept else {"shared_port": "reserved"}))
        compute, storage = wanted["fabrics"]
        rules = {"pair": False, "lengths": False}
        assert [tier.count for tier in solved(wanted | {"rules": rules}, parts()).fabrics[0].tiers] == [1]
        ruled = [compute, storage | {"resilience": "default"}]
        design = solved(wanted | {"rules": {"lengths": False}, "fabrics": ruled}, parts())
        (row,) = [one for one in design.fabrics[0].redundancy if one.rule == "pair"]
        assert row.kept == kept and [one.rule for one in design.rules_left_out] == ([] if kept else ["pair"])
        assert all(check.ok for check in design.checks), [check for check in design.checks if not check.ok]


@pytest.mark.long
def test_each_class_has_its_own_ratio_at_the_leaves() -> None:
    # By hand: 12 server ports at 1:1 and 6 of storage at 2:1 take 12 + 3 = 15 uplinks in all, if none is lost.
    design = solved(case(), parts())
    assert_proven(design)
    fabric, leaf = design.fabrics[0], design.fabrics[0].tiers[0]
    assert [one.name for one in fabric.logical] == ["storage"]
    # two leaves of a pair: three servers' ports each, and one or two of storage: 3/1 + 2/2 = 4
    assert (leaf.count, leaf.down_ports, leaf.up_ports) == (4, 5, 4)
    strict = solved(case(max_oversubscription=1), parts())
    assert strict.totals is not None and design.totals is not None
    assert strict.totals.capex_usd > design.totals.capex_usd


def test_cards_and_cables_are_booked_to_the_logical_fabric() -> None:
    design = solved(case(), parts())
    own = {(row.kind, row.id): row.in_use for row in design.bom if row.fabric == "storage"}
    assert own == {("nic", "nic-400-b"): 6, ("cable", "dac"): 6}
    assert any("VLAN and a VRF" in note for note in design.notes)
    carried = design.case.content["fabrics"][0]["carries"]
    assert [(one["name"], one["separation"]) for one in carried] == [("storage", "logical")]


def test_the_card_of_a_logical_fabric_is_chosen_with_the_host() -> None:
    # nic-200 costs more than nic-400-b and has another speed than the host's ports
    design = solved(case(), parts())
    assert design.fabrics[0].logical[0].nic.id == "nic-400-b"
    named = solved(case(nics=["nic-400"]), parts())
    assert named.fabrics[0].logical[0].nic.id == "nic-400"
    assert named.totals is not None and design.totals is not None
    # six cards at 1500 instead of 800
    assert named.totals.capex_usd - design.totals.capex_usd == 6 * 700


def test_ports_of_a_logical_fabric_are_ports_of_the_servers() -> None:
    design = solved(case(), parts())
    wiring = wiring_of(design)
    attached = [row for row in range(len(wiring.links)) if KINDS[wiring.links.kind[row]] == "attachment-leaf"]
    ends = [(wiring.devices.name[wiring.links.a[row]], wiring.a_port[row]) for row in attached]
    # two cards for computing come first
    assert ends == [(f"server-{number:04d}", "nic3p1") for number in range(1, 7)]
    assert "attachment" not in wiring.devices.role


def test_a_host_may_be_a_storage_fabric() -> None:
    content = parts(nic_slots=8)
    wanted = case("physical", compute={"nics": ["nic-400"]})
    wanted["fabrics"].append({
        "name": "in-band", "role": "in-band", "separation": "logical", "host": "storage", "min_gbps_per_server": 100,
    })  # fmt: skip
    design = solved(wanted, content)
    assert_proven(design)
    assert [[one.name for one in fabric.logical] for fabric in design.fabrics] == [[], ["in-band"]]


def test_two_logical_fabrics_on_one_host() -> None:
    content = parts(nic_slots=8)
    wanted = case()
    wanted["fabrics"].append({
        "name": "in-band", "role": "in-band", "separation": "logical", "min_gbps_per_server": 100,
    })  # fmt: skip
    design = solved(wanted, content)
    assert_proven(design)
    assert [one.name for one in design.fabrics[0].logical] == ["storage", "in-band"]
    assert {row.fabric for row in design.bom} == {"compute", "storage", "in-band"}


@pytest.mark.long
def test_out_of_band_ports_count_the_host_once() -> None:
    design = optimize.solve(
        inputs_from_objects({
            "name": "managed", "server": "nvidia-dgx-h200", "servers": 4, "site": {"servers_per_rack": 4},
            "fabrics": [
                {"name": "compute", "protocol": "ethernet"},
                {"name": "in-band", "role": "in-band", "separation": "logical"},
                {"name": "management", "role": "oob"},
            ],
        }),
        alternatives_s=0,
    )  # fmt: skip
    assert_proven(design)
    switches = sum(tier.count for fabric in design.fabrics for tier in fabric.tiers)
    rows = [row for row in design.fabrics[1].links if row.attachment == "switches"]
    assert sum(row.count for row in rows) == switches


# -- any --------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_any_is_the_least_of_all_separations(seed: int) -> None:
    content, wanted = random_pair(seed)
    each = {way: solved(said(wanted, way), content) for way in WAYS}
    costs = {way: capex_cents(design) for way, design in each.items()}
    found = optimize.solve(inputs(said(wanted, "any"), content))
    known = [cost for cost in costs.values() if cost is not None]
    assert capex_cents(found) == min(known, default=None)
    if known:
        assert found.status == "optimal"
        assert picked(found) == next(way for way in WAYS if costs[way] == min(known))
        rows = [row for row in found.alternatives if row.what == "separation"]
        assert {row.value.split()[1] for row in rows} == {way for way in WAYS if costs[way] is not None} - {
            picked(found)
        }
        for row in rows:
            assert row.finished and round((row.capex_usd or 0) * 100) == costs[row.value.split()[1]]
    else:
        assert found.status == "infeasible" and found.conflicts


def said(wanted: Json, separation: str, **storage: Any) -> Json:
    content = copy.deepcopy(wanted)
    port = {"shared_port": "added"} if separation == "shared" else {}
    content["fabrics"][1] |= {"separation": separation, **port, **storage}
    return content


def picked(design: Design) -> str:
    if len(design.fabrics) == 2:
        return "physical"
    carried = design.case.content["fabrics"][0]["carries"]
    return str(carried[0]["separation"])


def test_isolation_bounds_the_choice() -> None:
    costs = {}
    for isolation in ("none", "logical", "physical"):
        design = solved(case("any", isolation=isolation), parts())
        assert_proven(design)
        costs[isolation] = capex_cents(design) or 0
    assert costs["none"] <= costs["logical"] <= costs["physical"]
    # what isolation rules out is told
    design = solved(case("any", isolation="logical"), parts())
    assert any("separation shared left out" in note for note in design.notes)


def tried(content: Json, *outcomes: tuple[str, int | None]) -> list[Answer]:
    """Combinations of a case, each with a verdict and a value; the bound of a value is ten less."""
    inputs = inputs_from_objects(content, parts())
    cases = combinations(inputs.case, inputs.catalog.servers[0])
    return [
        Answer(problem_of(one, inputs.catalog), Optimum(verdict, value=value, bound=value and value - 10))
        for one, (verdict, value) in zip(cases, outcomes, strict=True)
    ]


def test_of_equal_costs_the_most_separation_is_taken() -> None:
    best = cheapest(tried(case("any"), ("optimal", 100), ("optimal", 100), ("optimal", 100)))
    assert best is not None and best.problem.asked.fabrics[1].separation == "physical"
    best = cheapest(tried(case("any"), ("optimal", 101), ("optimal", 100), ("optimal", 100)))
    assert best is not None and best.problem.asked.fabrics[1].separation == "logical"


def test_a_choice_is_optimal_only_if_all_are_decided() -> None:
    best = cheapest(tried(case("any"), ("optimal", 100), ("infeasible", None), ("optimal", 120)))
    assert best is not None and best.optimum.verdict == "optimal"
    # what is not decided may be as low as its bound: 95 - 10
    best = cheapest(tried(case("any"), ("optimal", 90), ("infeasible", None), ("feasible", 95)))
    assert best is not None and (best.optimum.verdict, best.optimum.value, best.optimum.bound) == ("feasible", 90, 80)
    best = cheapest(tried(case("any"), ("optimal", 100), ("unknown", None), ("optimal", 120)))
    assert best is not None and (best.optimum.verdict, best.optimum.bound) == ("feasible", None)
    none = tried(case("any"), ("infeasible", None), ("unknown", None), ("infeasible", None))
    assert cheapest(none) is None and without_design(none).verdict == "unknown"


@pytest.mark.long
def test_a_choice_for_two_fabrics_is_made_together() -> None:
    content = parts(nic_slots=8)
    wanted = case("any")
    wanted["fabrics"].append({"name": "in-band", "role": "in-band", "separation": "any", "min_gbps_per_server": 100})
    design = optimize.solve(inputs(wanted, content))
    assert_proven(design)
    rows = [row for row in design.alternatives if row.what == "separation"]
    assert len(rows) == 8 and any(row.finished for row in rows)
    for row in rows:
        alone = optimize.solve(with_change(inputs(wanted, content), row.change), alternatives_s=0)
        assert alone.totals is not None and row.capex_usd in (alone.totals.capex_usd, None)
        assert (row.capex_delta_usd or 0) >= 0


def test_what_is_asked_of_an_own_network_keeps_it() -> None:
    design = solved(case("any", min_bisection_gbps_per_gpu=10), parts())
    assert picked(design) == "physical"
    assert any("min_bisection" in note or "figures of its own" in note for note in design.notes)


# -- refusals ---------------------------------------------------------------------------------------------------


def refused(content: Json, products: Json | None = None) -> str:
    with pytest.raises(InputError) as raised:
        inputs_from_objects(content, products or parts())
    return str(raised.value)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"isolation": "physical"}, "fabrics[1].separation: `isolation: physical` allows physical; found 'logical'"),
        ({"host": "computer"}, "fabrics[1].host: the case has no fabric of this name; found 'computer'; it has comp"),
        ({"host": "storage"}, "fabrics[1].host: it cannot be on itself; found 'storage'; name a physical fabric"),
        ({"protocol": "infiniband"}, "fabrics[1].protocol: its host `compute` speaks ethernet; found 'infiniband'"),
        ({"planes": 2}, "fabrics[1].planes: a logical fabric has one plane"),
        ({"min_bisection_gbps_per_gpu": 1}, "fabrics[1].min_bisection_gbps_per_gpu: a fabric on the switches of an"),
        ({"role": "oob"}, "fabrics[1].separation: role oob cannot be logical, it is physical; found 'logical'"),
    ],
)
def test_what_a_logical_fabric_cannot_be(changes: Json, text: str) -> None:
    content = case()
    content["fabrics"][0]["protocol"] = "ethernet"
    content["fabrics"][1] |= changes
    assert text in refused(content)


def test_hosts_and_sites_that_carry_no_logical_fabric() -> None:
    assert "has to be a Clos of one plane" in refused(case(compute={"planes": 2}))
    assert "has to be a Clos of one plane" in refused(case(compute={"topologies": ["torus"]}))
    floor = {"floor": {"rows": 1, "racks_per_row": 8}}
    assert "a logical fabric is not designed with a floor plan" in refused(case() | {"site": floor})
    stages = [{"name": "a", "servers": 3}, {"name": "b", "month": 6, "servers": 6}]
    grown = {key: value for key, value in case().items() if key != "servers"} | {"stages": stages}
    assert "a logical fabric is not designed with growth in stages" in refused(grown)
    taken = case(compute={"attachments": [{"name": "storage", "ports": 1, "buys": "none"}]})
    assert "attachments and logical fabrics have different names; found 'storage'" in refused(taken)


def test_two_fabrics_of_one_role_cannot_have_the_same_cards() -> None:
    content = {
        "name": "twice", "server": "nvidia-dgx-h200", "servers": 4,
        "fabrics": [
            {"name": "compute"}, {"name": "a", "role": "storage"},
            {"name": "b", "role": "storage", "separation": "logical"},
        ],
    }  # fmt: skip
    with pytest.raises(InputError, match="and `a` cables all of them: 2 \\+ 2 = 4 of 2"):
        inputs_from_objects(content)


def test_no_separation_may_be_left() -> None:
    # no slot and no card of its own, and isolation rules sharing out
    text = refused(case("any", isolation="logical"), parts(nic_slots=0))
    assert (
        "fabrics[1].separation: nothing is left to choose: physical: gpu-4 has no NICs for storage and no slot" in text
    )
    assert "shared: `isolation: logical` allows physical or logical" in text


def test_cards_of_another_speed_are_no_design() -> None:
    # compute can have 400G only, storage 200G only: a leaf has one speed of ports to servers
    content = case(compute={"nics": ["nic-400"]}, nics=["nic-200"])
    design = solved(content, parts())
    assert design.status == "infeasible"
    assert [(one.limit, one.value, one.needed) for one in design.conflicts] == [("fabrics.storage.nics", "200", "400")]
    assert "with one port" in design.conflicts[0].detail or "a port" in design.conflicts[0].detail


def test_a_host_without_cards_says_what_it_lacks_itself() -> None:
    # compute gets its bandwidth from no card, so storage on its leaves has no speed to be held against
    design = solved(case(compute={"nics": ["nic-400"], "nics_per_server": 1, "min_gbps_per_gpu": 800}), parts())
    assert design.status == "infeasible"
    told = " ".join(f"{one.limit} {one.needed} {one.detail}" for one in design.conflicts)
    assert "fabrics.compute.min_gbps_per_gpu" in told
    assert "none" not in told and " = 0 NICs" not in told


def test_cards_that_find_no_slot_are_no_design() -> None:
    design = solved(case(), parts(nic_slots=2))
    assert design.status == "infeasible"
    assert design.conflicts[0].limit == "servers.gpu-4.nic_slots"
    assert "compute 2 + storage 1 = 3 NICs at least, of 2 slots" in design.conflicts[0].detail


def test_only_solving_compares_separations() -> None:
    inputs = inputs_from_objects(case("any"), parts())
    with pytest.raises(InputError, match="only `fabopt solve` and `fabopt bom` compare separations"):
        problem_of(inputs.case, inputs.catalog)
    # where one is left, there is nothing to compare
    alone = inputs_from_objects(case("any", isolation="physical"), parts())
    assert len(problem_of(alone.case, alone.catalog).fabrics) == 2


def test_a_settled_case_is_settled_again_as_it_is() -> None:
    inputs = inputs_from_objects(case(attachments=[{"name": "nodes", "ports": 2, "buys": "none"}]), parts())
    once = problem_of(inputs.case, inputs.catalog).case
    assert once.fabrics[0].attachments[0].network == "storage"
    assert problem_of(once, inputs.catalog).case == once


# -- what is proven ---------------------------------------------------------------------------------------------


def broken(design: Design, change: Any) -> set[str]:
    """Names of the checks that fail once a file is changed; the hash of its case is made to fit."""
    content = design.model_dump(mode="json", by_alias=True)
    change(content)
    text = json.dumps(content["case"]["content"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    content["case"]["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    changed = Design.model_validate_json(json.dumps(content))
    return {check.name for check in verify(changed) if not check.ok}


def host_of(content: Json) -> Any:
    return content["fabrics"][0]


def carried_in(content: Json) -> Any:
    return content["case"]["content"]["fabrics"][0]["carries"][0]


MUTATIONS: dict[str, tuple[Any, str]] = {
    "more isolation": (lambda c: carried_in(c).update(isolation="physical"), "isolation_is_kept"),
    "shared instead": (lambda c: carried_in(c).update(separation="shared"), "isolation_is_kept"),
    "left out": (lambda c: host_of(c).update(logical=[]), "isolation_is_kept"),
    "another card allowed": (lambda c: carried_in(c).update(nics=["nic-200"]), "logical_cards_are_allowed"),
    "two cards": (lambda c: host_of(c)["logical"][0]["nic"].update(per_server=2), "links_close"),
    "more bandwidth": (lambda c: carried_in(c).update(min_gbps_per_gpu=200), "injection_meets_demand"),
    "stricter ratio": (lambda c: carried_in(c).update(max_oversubscription_leaf=1), "uplinks_carry_demand"),
    "another injection": (
        lambda c: host_of(c)["logical"][0].update(injection_gbps_per_gpu=1), "logical_cards_are_allowed",
    ),
    "cards booked to the host": (
        lambda c: next(row for row in c["bom"] if row["fabric"] == "storage").update(fabric="compute"),
        "bom_covers_parts",
    ),
    "a link less": (
        lambda c: next(row for row in host_of(c)["links"] if row["attachment"]).update(count=5), "links_close",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_file_is_caught(name: str) -> None:
    change, rule = MUTATIONS[name]
    assert rule in broken(solved(case(), parts()), change)


def test_a_link_at_another_port_is_caught() -> None:
    design = solved(case(), parts())
    wiring = wiring_of(design)
    row = next(at for at, kind in enumerate(wiring.links.kind) if KINDS[kind] == "attachment-leaf")
    for column in ("a_nic", "a_nic_port", "a_cage", "a"):
        moved = getattr(wiring.links, column).copy()
        moved[row] += 1
        changed = replace(wiring, links=replace(wiring.links, **{column: moved}))
        assert not all(check.ok for check in verify_wiring(design, changed)), column


# -- what is written --------------------------------------------------------------------------------------------


def test_schedules_name_the_logical_fabric() -> None:
    wanted = case(attachments=[{"name": "nodes", "ports": 2, "buys": "none"}])
    design = solved(wanted, parts())
    wiring = wiring_of(design)
    networks = booked_fabrics(design, wiring)
    assert networks.names == ["compute", "storage"]
    mine = [wiring.devices.name[wiring.links.a[row]] for row in np.flatnonzero(networks.of_link == 1)]
    # its attachments and its servers' ports, six of them, one cable each
    assert sorted(mine) == ["compute-nodes", "compute-nodes", *(f"server-{number:04d}" for number in range(1, 7))]
    assert int((networks.of_cable == 1).sum()) == 6
    table = pull_list(design, wiring, schedule(design, wiring))
    assert table[table["fabric"] == "storage"]["cables"].sum() == 6


def test_ports_in_netbox_say_their_vlan(tmp_path: Path) -> None:
    design = solved(case(), parts())
    export(design, wiring_of(design), ["netbox"], tmp_path, Options())
    rows = list(csv.DictReader(StringIO((tmp_path / "07-interfaces.csv").read_text())))
    about = "storage on the compute fabric: VLAN storage, VRF storage"
    # both ends of six links
    assert sum(row["description"] == about for row in rows) == 12
    assert {row["name"] for row in rows if row["device"] == "server-0001" and row["description"] == about} == {"nic3p1"}


def test_the_summary_names_what_is_carried() -> None:
    design = solved(case(), parts())
    text = StringIO()
    Console(file=text, width=160).print(summary(design))
    assert "carries storage in a VLAN and VRF of its own: 1 x nic-400-b per server, 1 port of 400" in text.getvalue()
    shares = {one.name: one.usd for one in network_shares(design)}
    # six cards at 800 and six cables at 150
    assert shares["storage"] == 6 * 800 + 6 * 150


# -- other commands ---------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("unadvised")
def test_limits_and_the_program_count_a_logical_fabric() -> None:
    cheapest_cents = capex_cents(solved(case(), parts()))
    assert cheapest_cents is not None
    inputs = inputs_from_objects(with_lengths(case(limits={"budget_usd": cheapest_cents / 100})), parts())
    assert capex_cents(optimize.solve(inputs, alternatives_s=0)) == cheapest_cents
    less = case(limits={"budget_usd": (cheapest_cents - 1) / 100})
    assert solved(less, parts()).status == "infeasible"
    text = formulation_text(inputs_from_objects(case(), parts()), "lp")
    assert "nics_fit_slots" in text


def test_room_for_more_servers_is_not_traded() -> None:
    inputs = inputs_from_objects(case(), parts())
    traded = [MEASURES["capex_usd"], MEASURES["headroom_servers"]]
    with pytest.raises(InputError, match="room for more servers is not counted where logical fabrics are on `compute`"):
        pareto_front(inputs, traded, None, Settings(), Clock(None), lambda *args: None)
