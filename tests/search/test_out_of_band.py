"""Out-of-band: ports are counted by the program that picks what brings them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.problem.limits import ExactLimits
from fabopt.problem.problem import problem_of, with_objective
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design, Totals
from fabopt.search import out_of_band
from fabopt.search.choice import search_of
from fabopt.search.expansion import Expansion
from fabopt.search.out_of_band import Counted
from fabopt.solution.optimize import solve
from fabopt.solution.switch_racks import racks_in
from fabopt.topology.candidate import Candidate
from fabopt.topology.family import AnyBatch, Sizing
from fabopt.verify import verify
from tests.oracles.brute_out_of_band import least, least_growing, with_last_groups
from tests.samples.random_sites import generate
from tests.samples.small import Json, assert_proven, counts, inputs, solved

# Three spare copper ports to a cable of $2; a server of one card slot and one port of management.
CATALOG: Json = {
    "switches": [
        {"id": "wide", "protocol": "ethernet", "rack_units": 1, "power_w": 10, "price_usd": 1000,
         "cages": [{"count": 4, "form_factor": "QSFP", "splits": ["1x100"]}]},
        {"id": "narrow", "protocol": "ethernet", "rack_units": 1, "power_w": 10, "price_usd": 300,
         "cages": [{"count": 3, "form_factor": "QSFP", "splits": ["1x100"]}]},
        {"id": "quiet-6", "protocol": "ethernet", "rack_units": 1, "power_w": 10, "price_usd": 100,
         "cages": [{"count": 6, "form_factor": "RJ45", "splits": ["1x1"]}]},
        {"id": "quiet-12", "protocol": "ethernet", "rack_units": 1, "power_w": 10, "price_usd": 400,
         "cages": [{"count": 12, "form_factor": "RJ45", "splits": ["1x1"]}]},
    ],
    "nics": [
        {"id": "card", "protocols": ["ethernet"], "power_w": 10, "price_usd": 50,
         "cages": [{"count": 1, "form_factor": "QSFP", "splits": ["1x100"]}]},
        {"id": "controller", "protocols": ["ethernet"], "power_w": 1,
         "cages": [{"count": 1, "form_factor": "RJ45", "splits": ["1x1"]}]},
    ],
    "servers": [
        {"id": "box", "gpus": 1, "nic_slots": 1, "price_usd": 5000, "power_w": 700,
         "nics": [{"id": "controller", "count": 1, "role": "oob"}]},
    ],
    "cables": [
        {"id": "copper", "medium": "DAC", "power_w": 0, "lengths": [{"m": 30, "price_usd": 10}],
         "ends": [{"form_factor": "QSFP", "split": "1x100"}, {"form_factor": "QSFP", "split": "1x100"}]},
        {"id": "patch", "medium": "copper", "power_w": 0, "lengths": [{"m": 30, "price_usd": 2}],
         "ends": [{"form_factor": "RJ45", "split": "1x1"}, {"form_factor": "RJ45", "split": "1x1"}]},
    ],
    "transceivers": [],
    "fibres": [],
}  # fmt: skip
COMPUTE: Json = {"name": "compute", "min_gbps_per_gpu": 100, "max_oversubscription": 2}
OOB: Json = {"name": "management", "role": "oob"}


def case(*fabrics: Json, **changes: Any) -> Json:
    return {"name": "tiny", "server": "box", "servers": 4, "fabrics": list(fabrics), **changes}


def parts(**prices: float) -> Json:
    """The catalog with other prices."""
    made = copy.deepcopy(CATALOG)
    for switch in made["switches"]:
        switch["price_usd"] = prices.get(switch["id"].replace("-", "_"), switch["price_usd"])
    return made


def totals(design: Design) -> Totals:
    assert design.totals is not None
    return design.totals


def ports(design: Design, fabric: int = 1) -> dict[str, int]:
    """Ports of management by what they are of."""
    rows = [row for row in design.fabrics[fabric].links if row.to == "leaf"]
    return {row.attachment or row.from_: row.count for row in rows}


# Compute for four servers is one wide switch and four cables, $1,040, or two narrow leaves of two servers and one
# uplink each with a narrow spine, 3 x $300 + 6 cables = $960. Out-of-band has servers, compute's switches and its own:
# 4 + 1 + 1 = 6 ports, one quiet-6, or 4 + 3 + 1 = 8, one quiet-12 for $300 more.


def test_ports_decide_a_pick() -> None:
    design = solved(case(COMPUTE, OOB), parts())
    assert_proven(design)
    assert counts(design) == {"leaf": 1, "server_leaf": 4}
    assert ports(design) == {"server": 4, "switches": 2}
    # $1,040 and four cards of $50; $100 and six cables of $2
    assert totals(design).capex_usd == 1040 + 200 + 100 + 12


def test_it_may_be_the_only_fabric() -> None:
    design = solved(case(OOB), parts())
    assert_proven(design)
    # four servers and the switch itself: a quiet-6 for $100, four cables of $2 and one more
    assert ports(design, fabric=0) == {"server": 4, "switches": 1}
    assert totals(design).capex_usd == 100 + 10


def test_the_cheapest_for_a_number_of_switches_may_have_another_number() -> None:
    """Nine ports, one of the switch itself: two leaves and a spine are cheaper than one quiet-12, but three switches.

    Their eleven ports take more of them, so the one switch is all that there is.
    """
    design = solved(case(OOB | {"tiers": [1, 2], "oob": {"pdus": 3}}, servers=5), parts())
    assert_proven(design)
    assert counts(design)["leaf"] == 1 and totals(design).capex_usd == 400 + 18


def test_it_may_be_the_only_fabric_of_a_cluster_that_grows() -> None:
    growing_case = case(
        OOB, servers=None, stages=[{"name": "now", "servers": 3}, {"name": "then", "month": 9, "servers": 5}]
    )
    design = solved(growing_case, parts())
    assert_proven(design)
    assert [stage.fabrics["management"]["leaf"] for stage in design.stages] == [1, 1]
    assert totals(design).capex_usd == 100 + 12


def test_any_family_leaves_out_those_that_count_no_ports() -> None:
    chosen = {"topologies": ["any"]}
    assert totals(solved(case(COMPUTE, OOB | chosen), parts())) == totals(solved(case(COMPUTE, OOB), parts()))
    with pytest.raises(InputError, match="ports that are counted"):
        solved(case(OOB | {"topologies": ["torus"]}), parts())


def test_without_the_ports_the_other_is_cheaper() -> None:
    design = solved(case(COMPUTE), parts())
    assert counts(design) == {"leaf": 2, "spine": 1, "server_leaf": 4, "leaf_spine": 2}
    assert totals(design).capex_usd == 960 + 200


def test_a_larger_switch_that_costs_no_more_decides_nothing() -> None:
    design = solved(case(COMPUTE, OOB), parts(quiet_12=100))
    assert_proven(design)
    assert ports(design) == {"server": 4, "switches": 4}
    assert totals(design).capex_usd == 960 + 200 + 100 + 16


def test_every_switch_may_have_several_ports() -> None:
    # 4 + 2 x 2 = 8 ports with one wide switch, 4 + 2 x 4 = 12 with three narrow ones: quiet-12 is needed anyway
    design = solved(case(COMPUTE, OOB | {"oob": {"ports_per_switch": 2}}), parts())
    assert_proven(design)
    assert ports(design) == {"server": 4, "switches": 8}
    assert totals(design).capex_usd == 960 + 200 + 400 + 24


@pytest.mark.parametrize("on_a_floor", [False, True])
def test_switches_that_take_all_their_own_ports_are_never_enough(on_a_floor: bool) -> None:
    # of twelve ports of a quiet-12 none is left for a server, however many there are
    content, catalog = case(OOB | {"oob": {"ports_per_switch": 12}}), parts()
    if on_a_floor:
        catalog["servers"][0]["rack_units"] = 4
        content["site"] = {"floor": {"rows": 1, "racks_per_row": 4}, "servers_per_rack": 2}
    design = solve(inputs(content, catalog), time_limit_s=30, alternatives_s=0)
    assert (design.status, design.fabrics) == ("infeasible", ())


def test_without_a_switch_at_the_speed_of_the_ports_there_is_no_design() -> None:
    without_switches = parts() | {"switches": [one for one in parts()["switches"] if not one["id"].startswith("quiet")]}
    design = solve(inputs(case(OOB), without_switches), time_limit_s=30, alternatives_s=0)
    assert design.status == "infeasible"


def test_power_strips_and_appliances_have_ports() -> None:
    # three servers on two racks of two with two strips each; three boxes that are attached to compute
    gateways = {"name": "gateways", "ports": 1, "boxes": 3, "buys": "none"}
    wanted = case(COMPUTE | {"attachments": [gateways], "tiers": 2}, OOB, site={"servers_per_rack": 2}, servers=3)
    design = solved(wanted, parts())
    assert_proven(design)
    assert ports(design) == {"server": 3, "appliances": 3, "pdus": 4, "switches": totals(design).switches}


def test_strips_of_the_site_go_before_those_of_racks() -> None:
    wanted = case(COMPUTE, OOB | {"oob": {"pdus": 1}}, site={"servers_per_rack": 2})
    assert ports(solved(wanted, parts()))["pdus"] == 1


@pytest.mark.long(but_every=3)
@pytest.mark.long("2", "4", "6", "11", "3", "9")
@pytest.mark.parametrize("seed", range(12))
def test_brute_force(seed: int) -> None:
    dice = random.Random(seed)
    prices = {
        "wide": dice.randrange(300, 1500, 10),
        "narrow": dice.randrange(100, 500, 10),
        "quiet_6": dice.randrange(50, 200, 10),
        "quiet_12": dice.randrange(50, 600, 10),
    }
    servers = dice.randrange(2, 6)
    compute = COMPUTE | {"max_oversubscription": dice.choice([1, 2])}
    wanted = case(compute, OOB | {"max_oversubscription": dice.choice([2, 10])}, servers=servers)
    truth = least(parts(**prices), wanted)
    design = solved(wanted, parts(**prices))
    if truth is None:
        assert design.status == "infeasible"
        return
    assert_proven(design)
    assert round(totals(design).capex_usd * 100) == truth


def alone(groups: str, servers: int, ratio: int, **prices: float) -> tuple[Json, Json]:
    """A case with out-of-band as the only fabric, on two tiers, and its catalog."""
    wanted = OOB | {"tiers": 2, "groups": groups, "max_oversubscription": ratio}
    return case(wanted, servers=servers), parts(**prices)


def test_the_last_group_may_be_on_another_leaf() -> None:
    """12 servers, three switches: 15 ports. A quiet-12 has 10 servers and an uplink, a quiet-6 two, the switches and an
    uplink; alike, two of these have to be quiet-12.
    """
    designs = {groups: solved(*alone(groups, 12, 10, quiet_12=150)) for groups in ("any", "equal")}
    for design in designs.values():
        assert_proven(design)
        assert ports(design, fabric=0) == {"server": 12, "switches": 3}
    assert totals(designs["any"]).capex_usd == 150 + 100 + 100 + 2 * 17
    assert totals(designs["equal"]).capex_usd == 150 + 150 + 100 + 2 * 17
    leaf, _ = designs["any"].fabrics[0].tiers
    assert leaf.other is not None and (leaf.id, leaf.other.id) == ("quiet-12", "quiet-6")


@pytest.mark.long("12-10-70-110", "13-10-120-150")
@pytest.mark.parametrize(
    ("servers", "ratio", "quiet_6", "quiet_12"), [(12, 10, 70, 110), (12, 5, 180, 190), (13, 10, 120, 150)]
)
def test_brute_force_of_last_groups(servers: int, ratio: int, quiet_6: int, quiet_12: int) -> None:
    """In the first two the last group is unlike the others."""
    wanted, catalog = alone("any", servers, ratio, quiet_6=quiet_6, quiet_12=quiet_12)
    design = solved(wanted, catalog)
    assert_proven(design)
    assert (design.fabrics[0].clos.last_group is not None) == (servers == 12)
    assert round(totals(design).capex_usd * 100) == least(catalog, wanted, most_own=4, walk=with_last_groups)


@pytest.mark.parametrize("engine", ["highs", "scip", "cbc"])
def test_engines_agree(engine: str) -> None:
    one, other = (solved(case(COMPUTE, OOB), parts(), engine=name) for name in ("cp-sat", engine))
    assert [fabric.tiers for fabric in one.fabrics] == [fabric.tiers for fabric in other.fabrics]
    assert one.totals == other.totals


@pytest.mark.long
def test_a_budget_that_is_too_small_is_proven() -> None:
    # the cheapest is $1,352, see above
    assert solved(case(COMPUTE, OOB, limits={"budget_usd": 1352}), parts()).status == "optimal"
    design = solved(case(COMPUTE, OOB, limits={"budget_usd": 1351}), parts())
    assert design.status == "infeasible"
    assert {one.limit: one.needed for one in design.conflicts}["limits.budget_usd"] == 1352


def tampered(change: Any) -> list[str]:
    """Names of the checks that fail after a change to the file's content."""
    content = solved(case(COMPUTE, OOB), parts()).model_dump(mode="json", by_alias=True)
    change(content)
    return [check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok]


def test_a_switch_without_a_port_is_found() -> None:
    def one_more(content: Json) -> None:
        content["fabrics"][0]["tiers"][0]["count"] += 1

    assert "oob_covers_boxes" in tampered(one_more)


def test_a_port_too_few_is_found() -> None:
    def one_less(content: Json) -> None:
        next(row for row in content["fabrics"][1]["links"] if row["attachment"] == "switches")["count"] -= 1

    assert "oob_covers_boxes" in tampered(one_less)


def test_the_rule_is_proven_where_it_applies() -> None:
    names = {check.name for check in solved(case(COMPUTE, OOB), parts()).checks}
    assert "oob_covers_boxes" in names
    assert "oob_covers_boxes" not in {check.name for check in solved(case(COMPUTE), parts()).checks}


def test_budgets_of_one_problem_do_not_mix() -> None:
    """What a search has found within one budget is not taken for another one."""
    given = inputs(case(COMPUTE, OOB), parts())
    problem = problem_of(given.case, given.catalog)
    for usd in (2000, 1351, 1352, 1100, 1400):
        limited = with_objective(problem, "capex_usd", ExactLimits(capex_cents=100 * usd))
        found = search_of(limited, Settings(), Clock(None)).run()
        assert (found.verdict, found.value) == (("optimal", 135_200) if usd >= 1352 else ("infeasible", None))


# -- growth -----------------------------------------------------------------------------------------------------------


def growing(seed: int) -> tuple[Json, Json, tuple[int, ...]]:
    """A case with two stages, its parts, and the strips that each of them has."""
    dice = random.Random(seed)
    first = dice.randrange(1, 4)
    last = first + dice.randrange(0, 3)
    prices = {
        "wide": dice.randrange(300, 1500, 10),
        "narrow": dice.randrange(100, 500, 10),
        "quiet_6": dice.randrange(50, 200, 10),
        "quiet_12": dice.randrange(50, 600, 10),
    }
    each = dice.choice([0, 0, 1])
    content = case(
        COMPUTE | {"max_oversubscription": dice.choice([1, 2])},
        OOB | {"max_oversubscription": dice.choice([2, 10]), "oob": {"pdus_per_rack": each}},
        site={"servers_per_rack": 2},
        stages=[{"name": "one", "month": 0, "servers": first}, {"name": "two", "month": 12, "servers": last}],
        growth={"recabling": dice.choice(["forbid", "allow"])},
        finance={"price_decline": {"switch": dice.choice([0, 0.3]), "cable": dice.choice([0, 0.5])}},
    )
    del content["servers"]
    return content, parts(**prices), tuple(each * -(-servers // 2) for servers in (first, last))


@pytest.mark.long("0", "1", "5", "6", "3", "4", "7")
@pytest.mark.parametrize("seed", range(8))
def test_brute_force_of_growth(seed: int) -> None:
    content, catalog, strips = growing(seed)
    truth = least_growing(catalog, content, strips)
    design = solved(content, catalog)
    if truth is None:
        assert design.status == "infeasible"
        return
    assert_proven(design)
    assert round(totals(design).capex_usd * 100) == truth


def growing_late(seed: int) -> tuple[Json, Json]:
    """The same with switches that come too late for the first stage, but for those that the vendor has."""
    content, catalog, _ = growing(seed)
    dice = random.Random(f"late-{seed}")
    for switch in catalog["switches"]:
        if dice.random() < 0.7:
            switch |= {"lead_time_weeks": 30, "in_stock": dice.randint(0, 3)}
    content["stages"][0]["month"] = 2
    return content, catalog


@pytest.mark.long(but_every=2)
@pytest.mark.long("9117", "14", "8")
@pytest.mark.parametrize("seed", [3, 6, 8, 12, 14, 6039, 9117])
def test_growth_with_switches_that_are_late_is_that_of_all_candidates(seed: int) -> None:
    """In 6039 the first one that comes in time costs more than its parts at the least price of any stage; in 9117 the
    best management has more switches than the fewest.
    """
    content, catalog = growing_late(seed)
    pruned, whole = (
        solve(inputs_from_objects(content, catalog), alternatives_s=0, prune=prune) for prune in (True, False)
    )
    assert pruned.status == "optimal"
    assert (pruned.objective.value, pruned.totals) == (whole.objective.value, whole.totals)


@pytest.mark.long(but=("20",))
@pytest.mark.parametrize("seed", [9, 11, 20])
def test_no_design_is_proven_where_all_that_is_found_comes_too_late(seed: int) -> None:
    content, catalog = growing_late(seed)
    given = inputs_from_objects(content, catalog)
    for prune in (True, False):
        found = search_of(problem_of(given.case, given.catalog), Settings(prune=prune), Clock(None)).run()
        assert found.verdict == "infeasible"


def test_a_rule_that_no_management_has_ports_for_is_given_up() -> None:
    """With two spines, compute has 13 switches and no management as many ports, whatever it costs: that is proven, not
    looked for without end, so that one spine is enough. It said that it knew of no design.
    """
    content, catalog = growing_late(6013)
    design = solved(content, catalog)
    assert_proven(design)
    assert totals(design).capex_usd == 2184.52
    assert counts(design)["spine"] == 1


def test_how_it_grows_is_worked_out_for_numbers_that_suit_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all networks of management nearly none has, at the last stage, ports for just the others and itself."""
    made: list[int] = []
    candidates_at = Expansion.candidates_at

    def counted(self: Expansion, batch: AnyBatch, index: int) -> tuple[Candidate, ...]:
        made.append(index)
        return candidates_at(self, batch, index)

    monkeypatch.setattr(Expansion, "candidates_at", counted)
    content, catalog = growing_late(9)
    given = inputs_from_objects(content, catalog)
    search_of(problem_of(given.case, given.catalog), Settings(prune=False), Clock(None)).run()
    # 13,681 places of all numbers were looked at
    assert len(made) < 500


def test_early_stages_have_their_own_ports() -> None:
    # Narrow leaves of two servers: one for the first server, three and a spine for five. Out-of-band has one quiet-12
    # from the first day on, for 5 servers, 4 switches and itself: 1 + 1 ports of switches, and 3 more later.
    content = growing(0)[0]
    content["stages"] = [{"name": "one", "servers": 1}, {"name": "two", "month": 12, "servers": 5}]
    design = solved(content, parts())
    assert_proven(design)
    assert [stage.fabrics["compute"] for stage in design.stages] == [
        {"leaf": 1, "spine": 0, "core": 0},
        {"leaf": 3, "spine": 1, "core": 0},
    ]
    rows = [row for row in design.fabrics[1].links if row.attachment == "switches"]
    assert {row.stages: row.count for row in rows} == {("one",): 2, ("two",): 3}
    patches = [row.quantity for row in design.bom if row.id == "patch"]
    assert patches == [1 + 2, 4 + 3]


def all_at_first(content: Json) -> None:
    for row in content["fabrics"][1]["links"]:
        row["stages"] = ["one"] if row["attachment"] == "switches" else row["stages"]


def one_port_earlier(content: Json) -> None:
    one, two = (row for row in content["fabrics"][1]["links"] if row["attachment"] == "switches")
    one["count"], two["count"] = one["count"] + 1, two["count"] - 1


def one_early_switch_more(content: Json) -> None:
    content["fabrics"][0]["growth"][0]["leaves"] += 1


@pytest.mark.parametrize("change", [all_at_first, one_port_earlier, one_early_switch_more])
def test_ports_of_another_stage_are_found(change: Callable[[Json], None]) -> None:
    content = growing(0)[0]
    content["stages"] = [{"name": "one", "servers": 1}, {"name": "two", "month": 12, "servers": 5}]
    made = solved(content, parts()).model_dump(mode="json", by_alias=True)
    change(made)
    checks = verify(Design.model_validate_json(json.dumps(made)))
    assert "oob_covers_boxes" in [check.name for check in checks if not check.ok]


def test_ports_by_stage_are_not_for_cases() -> None:
    given = {"name": "gateways", "ports": 2, "adds": [1, 1], "buys": "none"}
    with pytest.raises(InputError) as refused:
        inputs(case(COMPUTE | {"attachments": [given]}), parts())
    assert str(refused.value) == (
        "case: fabrics[0].attachments[0].adds: is filled in by fabopt; found [1, 1]; attachments are there from the "
        "first stage on"
    )


@pytest.mark.long
def test_large_floors_count_what_they_place() -> None:
    """Beyond 512 servers nothing is proven, but ports are those of the switches that stand.

    Without a manager of the subnet, which no design has room for that is looked at: the searches for what to give up
    for one take twelve times as long, and tell nothing of ports.
    """
    only = {tier: ["nvidia-qm9790"] for tier in ("leaf", "spine", "core")}
    small = {tier: ["nvidia-sn2201"] for tier in ("leaf", "spine")}
    content = {
        "name": "large", "server": "nvidia-dgx-h200", "servers": 520,
        "rules": {"subnet-manager": False},
        "fabrics": [
            {"name": "compute", "protocol": "infiniband", "switches": only},
            {"name": "management", "role": "oob", "tiers": 2, "switches": small},
        ],
        "site": {"servers_per_rack": 4, "floor": {"rows": 10, "racks_per_row": 24, "network_racks": "row"}},
    }  # fmt: skip
    design = solve(inputs_from_objects(content), alternatives_s=0)
    assert design.status == "feasible"
    assert [check for check in design.checks if not check.ok] == []
    found = ports(design)
    # 130 racks of servers, and those of switches, with two strips each
    assert (found["pdus"], found["switches"]) == (2 * (130 + racks_in(design)), totals(design).switches)
    bound, value = design.objective.bound, design.objective.value
    assert bound is not None and value is not None and 0 < bound < value


@pytest.mark.long
def test_what_suits_at_three_times_the_bound_is_found_without_a_look_at_everything() -> None:
    """No network of management of less than $80,000 has as many switches as it has ports for itself.

    What was looked at then were all networks of up to 200 switches: gigabytes, and no end without a time limit.
    """
    parts, content = generate(2012)
    content["site"]["floor"]["server_racks"] = ["A01", "A03", "B01"]
    content["fabrics"][0]["rails"] = "any"
    assert_proven(solve(inputs(content | {"rules": "none"}, parts), alternatives_s=0, time_limit_s=60))


def test_numbers_of_switches_that_hold_too_few_ports_or_are_dearer_than_what_suits_are_not_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """24 servers: three leaves of 12 ports and a spine are the fewest that hold them and themselves."""
    looked: set[tuple[int, ...]] = set()
    add = Counted._add

    def counted(self: Counted, sizing: Any, number: tuple[int, ...], *others: Any) -> Any:
        looked.add(number)
        return add(self, sizing, number, *others)

    monkeypatch.setattr(Counted, "_add", counted)
    design = solved(*alone("any", 24, 10, quiet_12=9000))
    assert_proven(design)
    assert min(looked) == (4,)
    assert max(looked) <= (totals(design).switches + 2,)


def test_the_fewest_own_are_beside_the_fewest_others_of_the_last_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of others with (1, 30) and (2, 1) switches, those with one at last leave the fewest ports."""
    beside: list[tuple[int, ...]] = []

    def fewest(problem: Any, context: Any, fabric: Any, others: tuple[int, ...]) -> int:
        beside.append(others)
        return 1

    monkeypatch.setattr(out_of_band, "fewest_own_switches", fewest)
    monkeypatch.setattr(Counted, "_add", lambda *_: out_of_band._Added(float("inf")))
    content, catalog, _ = growing(0)
    made = inputs(content, catalog)
    problem = problem_of(made.case, made.catalog)
    unused: Any = None
    counted = Counted(problem, unused, problem.fabrics[1], unused, unused, unused, 1.0)
    counted._add_suiting(Sizing(least=1.0), {(1, 30), (2, 1)}, 0.0)
    assert beside == [(2, 1)]


def test_spines_that_cost_less_than_leaves_do_not_end_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates within the cost that is asked for are those that a count finds that no price ends."""
    content, catalog, _ = growing(17)
    content["fabrics"][1] |= {"tiers": 2, "switches": {"leaf": ["quiet-6"], "spine": ["quiet-12"]}}
    catalog["switches"][2]["price_usd"], catalog["switches"][3]["price_usd"] = 373, 1
    found: list[set[tuple[int, ...]]] = []
    expand = Counted.expand

    def kept(self: Counted, *asked: Any) -> Sizing:
        sizing = expand(self, *asked)
        free = expand(replace(self, switch=0.0), *asked)
        found.append(self._numbers(sizing))
        assert found[-1] == self._numbers(free)
        return sizing

    monkeypatch.setattr(Counted, "expand", kept)
    assert_proven(solved(content, catalog))
    assert any({(5, 6), (5, 7)} <= numbers for numbers in found)


@pytest.mark.long
def test_three_stages_are_looked_at_where_they_may_be_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of switches past one that is too dear are left; with all of them the search took minutes."""
    looked: list[tuple[int, ...]] = []
    add = Counted._add

    def counted(self: Counted, sizing: Any, number: tuple[int, ...], *rest: Any) -> Any:
        looked.append(number)
        return add(self, sizing, number, *rest)

    monkeypatch.setattr(Counted, "_add", counted)
    sizes = {"a": (0, 2), "b": (6, 6), "c": (12, 12)}
    stages = [{"name": name, "month": month, "servers": servers} for name, (month, servers) in sizes.items()]
    content = case(COMPUTE, OOB, servers=None, stages=stages)
    design = solve(inputs_from_objects(content, parts()), alternatives_s=0)
    assert design.status == "optimal" and design.objective.value == 11180
    assert len(looked) < 80
