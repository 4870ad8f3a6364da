"""Rule ``lengths``: runs follow from the racks that groups fill, where neither a floor nor the case says them."""

from __future__ import annotations

import random
from typing import Any

import pytest

import fabopt
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles.brute_force import solve as brute
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.length_samples import ON_EACH_RACK, ON_ONE_SWITCH, length_case, length_catalog
from tests.samples.lengths import USUAL
from tests.samples.random_cases import generate
from tests.samples.small import assert_proven, solved

Json = dict[str, Any]


def notes(design: Design) -> str:
    return "\n".join(design.notes)


def runs(design: Design) -> dict[str, float]:
    return {f"{row.from_}-{row.to}": row.length_m for row in design.fabrics[0].links}


@pytest.mark.long
def test_group_of_a_rack_wins_where_cables_are_dear() -> None:
    made = solved(length_case(), length_catalog())
    assert_proven(made)
    assert (made.totals.capex_usd, made.fabrics[0].structure.servers_per_group) == (ON_EACH_RACK, 2)
    assert runs(made) == {"server-leaf": 2.5, "leaf-spine": 5.2}
    found = brute(length_catalog(), length_case(rules={}))
    assert found is not None and found.capex_cents == 100 * ON_EACH_RACK


@pytest.mark.parametrize(
    "keys", [{"rules": {"lengths": False}}, {"rules": "none"}, {"site": {"servers_per_rack": 2, "distances_m": USUAL}}]
)
def test_without_the_rule_lengths_are_the_usual_ones(keys: Json) -> None:
    made = solved(length_case(**keys), length_catalog())
    assert_proven(made)
    assert (made.totals.capex_usd, runs(made)) == (ON_ONE_SWITCH, {"server-leaf": 3})
    assert "runs_follow_from_groups" not in {check.name for check in made.checks}


def test_answer_says_what_was_assumed() -> None:
    told = notes(solved(length_case(), length_catalog()))
    assert "rule `lengths`: the lengths of links follow from the racks that groups fill" in told
    assert "2 servers a rack (`site.servers_per_rack`), rows of 16 racks, 0.5 m or 5 % to spare " in told
    assert "compute: server-leaf 2.5 m (2 servers fill 1 rack), leaf-spine 5.2 m (8 servers fill 4 racks)" in told
    # the second and the third rack of four are as near the spine as its own, or next to it: 1.6 and 4.6 m of 5.2
    assert "1 of 4 leaf-spine links could be shorter by their own run, as they are on a floor plan" in told


def test_given_length_that_a_group_cannot_do_with_is_told() -> None:
    site = {"servers_per_rack": 2, "distances_m": USUAL}
    told = notes(solved(length_case(site=site), length_catalog()))
    assert told == "distances_m.server-leaf: 3 m, but the cluster of 8 servers fills 4 racks: about 6.1 m"
    site["distances_m"] = {**USUAL, "server-leaf": 10}
    assert notes(solved(length_case(site=site), length_catalog())) == ""
    assert notes(solved(length_case(site={"servers_per_rack": 2, "distances_m": USUAL}, rules="none"),
                        length_catalog())) == ""  # fmt: skip


def test_lengths_that_are_left_out_follow() -> None:
    """Leaves to spines at 3 m: 500 + 8 x 10 + 4 x 10 = 620."""
    site = {"servers_per_rack": 2, "distances_m": {"leaf-spine": 3}}
    made = solved(length_case(site=site), length_catalog())
    assert_proven(made)
    assert (made.totals.capex_usd, runs(made)) == (620, {"server-leaf": 2.5, "leaf-spine": 3})
    assert "distances_m.leaf-spine: 3 m, but the cluster of 8 servers fills 4 racks: about 5.2 m" in notes(made)


def test_no_length_changes_where_no_part_covers_a_run() -> None:
    """With cables of 3 m alone nothing reaches over four racks, 5.2 m: no cable is shorter than its run."""
    made = solved(length_case(), length_catalog(3))
    run = next(one for one in made.conflicts if one.limit == "site.distances_m.leaf-spine")
    (part,) = (one for one in made.conflicts if one.limit == "catalog.cable.lengths")
    assert (made.status, run.value, run.needed) == ("infeasible", 5.2, 3)
    assert "compute: leaf t4 to spine t4: about 5.2 m, as 8 servers fill 4 racks" in run.detail
    assert "(cable, 3 m); a longer part, a shorter way or a switch between would do" in run.detail
    assert (part.limit, part.value, part.needed, part.minimal) == ("catalog.cable.lengths", 3, 5.2, True)
    site = {"servers_per_rack": 2, "distances_m": {"leaf-spine": run.needed}}
    assert_proven(solved(length_case(site=site), length_catalog(3)))
    longer = length_catalog(3)
    longer["cables"][0]["lengths"].append({"m": 5.2, "price_usd": 15})
    assert_proven(solved(length_case(), longer))


def patched(servers: int, longest_m: float) -> Design:
    """Ports of management alone, of a server in each rack, with copper up to so long."""
    case = {
        "name": "patched",
        "server": "generic-hgx-h100",
        "servers": servers,
        "fabrics": [{"name": "mgmt", "role": "oob"}],
        "site": {"servers_per_rack": 1},
    }
    given = inputs_from_objects(case)
    cables = tuple(
        one.model_copy(update={"lengths": tuple(length for length in one.lengths if length.m <= longest_m)})
        if one.id == "generic-cat6-patch"
        else one
        for one in given.catalog.cables
    )
    catalog = given.catalog.model_copy(update={"cables": cables})
    return optimize.solve(inputs_from_objects(case, catalog), alternatives_s=0)


@pytest.mark.long
def test_run_of_management_that_no_part_covers_is_the_only_conflict() -> None:
    made = patched(100, 20)
    (run, part) = made.conflicts
    assert (made.status, run.limit, run.needed) == ("infeasible", "site.distances_m.attachment-leaf", 20)
    assert f"mgmt: attachment pdus to leaf fs-s3900-48t6s-r: about {run.value:g} m, as 100 servers fill" in run.detail
    assert "(generic-cat6-patch, 20 m)" in run.detail
    assert (part.limit, part.value, part.needed) == ("catalog.generic-cat6-patch.lengths", 20, run.value)
    longer = patched(100, 30)
    assert_proven(longer)
    rows = {row.attachment or f"{row.from_}-{row.to}": row for row in longer.fabrics[0].links}
    assert (rows["pdus"].length_m, rows["pdus"].parts[0].length_m) == (run.value, 30)
    assert rows["server-leaf"].length_m < 20


@pytest.mark.long
def test_copper_for_management_is_on_sale_up_to_a_hundred_metres() -> None:
    """Five hundred racks are 55 m from their middle, which cables of 50 m did not reach."""
    (run, *_) = patched(500, 50).conflicts
    assert (run.limit, run.value, run.needed) == ("site.distances_m.attachment-leaf", 55, 50)
    made = patched(500, 100)
    assert_proven(made)
    (pdus,) = (row for row in made.fabrics[0].links if row.attachment == "pdus")
    assert (pdus.length_m, pdus.parts[0].length_m) == (55, 75)


@pytest.mark.long
def test_budget_does_not_shorten_cables() -> None:
    """Sixteen racks are not joined to leaves of all of them by copper of 3 m, however little may be spent."""
    case = {
        "name": "lengths-budget",
        "server": "generic-hgx-h100",
        "servers": 64,
        "workload": {"profile": "mixed"},
        "fabrics": [{"name": "compute", "protocol": "ethernet", "tiers": 2}],
        "rules": {"tested-nics": False},
    }
    assert fabopt.solve({**case, "limits": {"budget_usd": 873_860}}, alternatives_s=0).status == "optimal"
    made = fabopt.solve({**case, "limits": {"budget_usd": 850_000}}, alternatives_s=0).design
    needed = {one.limit: one.needed for one in made.conflicts}
    assert (made.status, needed["limits.budget_usd"]) == ("infeasible", 873_860)


def test_rule_is_not_said_to_be_the_cause_where_another_key_is() -> None:
    """Too many servers for one switch, however long cables are."""
    made = solved(length_case(servers=100, fabrics=[{**length_case()["fabrics"][0], "tiers": 1}]), length_catalog())
    assert made.status == "infeasible"
    assert "`lengths`" not in notes(made)


def test_rule_that_is_asked_for_by_name_is_kept() -> None:
    made = solved(length_case(rules={"lengths": True}), length_catalog(3))
    assert made.status == "infeasible"
    assert "rules.lengths" in {conflict.limit for conflict in made.conflicts}


@pytest.mark.long
def test_copper_of_three_metres_never_spans_sixteen_racks() -> None:
    made = fabopt.solve({"name": "pod", "server": "nvidia-dgx-h100", "servers": 64}, alternatives_s=0).design
    assert_proven(made)
    group = made.fabrics[0].structure.servers_per_group
    lengths = [part.length_m for row in made.fabrics[0].links if row.from_ == "server" for part in row.parts]
    assert group > 4
    assert min(length for length in lengths if length) > 3


@pytest.mark.parametrize("change", [{"length_m": 2}, {"parts": 1}])
def test_length_that_its_group_cannot_do_with_fails_its_check(change: Json) -> None:
    made = solved(length_case(), length_catalog())
    fabric = made.fabrics[0]
    rows = [row for row in fabric.links if row.to == "spine"]
    if "parts" in change:
        change = {"parts": tuple(part.model_copy(update={"length_m": 3}) for part in rows[0].parts)}
    changed = [row.model_copy(update=change if row in rows else {}) for row in fabric.links]
    broken = made.model_copy(update={"fabrics": (fabric.model_copy(update={"links": tuple(changed)}),)})
    failed = {check.name for check in verify(broken) if not check.ok}
    assert "runs_follow_from_groups" in failed


@pytest.mark.parametrize("family", ["hyperx", "torus", "dragonfly", "dragonfly+", "any"])
def test_every_family_has_runs_of_its_own(family: str) -> None:
    """Sixteen servers in eight racks; what is joined in a group is nearer than what is joined across all."""
    fabric = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 4, "topologies": [family]}
    made = solved(length_case(fabrics=[fabric], servers=16), length_catalog())
    assert_proven(made)
    assert "runs_follow_from_groups" in {check.name for check in made.checks}


def test_more_families_never_cost_more() -> None:
    def usd(*families: str) -> float:
        fabric = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 4, "topologies": families}
        made = solved(length_case(fabrics=[fabric], servers=16), length_catalog())
        return float(made.totals.capex_usd)

    alone = [usd(family) for family in ("clos", "hyperx", "dragonfly", "dragonfly+")]
    assert usd("clos", "hyperx", "dragonfly", "dragonfly+") == min(alone)


@pytest.mark.usefixtures("unadvised")
@pytest.mark.long(but=("0-three_tier", "1-linear", "1-rails", "3-linear"))
@pytest.mark.parametrize("family", ["linear", "three_tier", "rails"])
@pytest.mark.parametrize("seed", range(4))
def test_same_lengths_for_groups_of_all_sizes_never_cost_more(family: str, seed: int) -> None:
    """Without the rule and with the lengths of its answer, that answer is one of those that are allowed."""
    catalog, case = generate(family, seed)
    site = {key: value for key, value in (case.get("site") or {}).items() if key != "distances_m"}
    case = {**case, "site": site | {"servers_per_rack": 1 + seed % 3}}
    case["rules"] = {**case.get("rules", {}), "lengths": True}
    kept = solved(case, catalog)
    if kept.status == "infeasible":
        return
    given = {f"{row.from_}-{row.to}": row.length_m for row in kept.fabrics[0].links if row.attachment is None}
    freed = solved({**case, "site": {**case["site"], "distances_m": {**USUAL, **given}}, "rules": "none"}, catalog)
    assert freed.objective.value <= kept.objective.value


@pytest.mark.long(but=("0-rails", "1-three_tier", "2-attached", "2-planes"))
@pytest.mark.parametrize("family", ["linear", "attached", "three_tier", "rails", "planes"])
@pytest.mark.parametrize("seed", range(3))
def test_brute_force_agrees(family: str, seed: int) -> None:
    catalog, case = generate(family, seed)
    dice = random.Random(f"{family} {seed}")
    site = {**(case.get("site") or {})}
    said = site.pop("distances_m", {})
    site.setdefault("servers_per_rack", dice.choice([1, 1, 2, 3]))
    if dice.random() < 0.3:
        site["distances_m"] = {"leaf-spine": said.get("leaf-spine", 30)}
    case = {**case, "site": site, "rules": {**case.get("rules", {}), "lengths": True}}
    found, design = brute(catalog, case), run(catalog, case)
    if found is None:
        assert design["status"] == "infeasible"
        return
    assert all(check["ok"] for check in design["checks"])
    assert differences(outline(design), outline_of_best(found)) == {}
