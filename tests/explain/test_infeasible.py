"""A case without a design: exit 3, the limits that clash, and a ``needed`` that is true.

"True": with the limit set to ``needed``, and nothing else changed, there is a design; a little short of it there is
none.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabopt.cli import main
from fabopt.errors import EXIT_INFEASIBLE
from fabopt.explain import conflicts
from fabopt.explain.demands import LEFT_OUT
from fabopt.io.case import Inputs, inputs_from_objects
from fabopt.io.keys import with_change
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Conflict, Design
from fabopt.search.choice import search_of
from fabopt.search.search import Search
from fabopt.solution import optimize
from fabopt.topology.families import most_servers
from tests.oracles.brute_floor import toy_without_rack
from tests.samples.random_cases import generate
from tests.samples.small import Json, case, catalog, inputs, product, solved, usd

ENDLESS = 10_000_000


def conflict(design: Design, limit: str) -> Conflict:
    assert design.status == "infeasible"
    assert design.fabrics == ()
    named = {one.limit: one for one in design.conflicts}
    assert limit in named, sorted(named)
    return named[limit]


@pytest.mark.long
def test_a_reason_takes_no_longer_than_some_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A floor of four racks of which a tenth of the time is the proof: what is not looked at is not denied."""
    content, parts = toy_without_rack(0)
    monkeypatch.setattr(conflicts, "LEAST_SECONDS", 0.5)
    started = time.monotonic()
    design = solved(content, parts)
    assert design.status == "infeasible" and time.monotonic() - started < 20
    assert "in the time there was" in conflict(design, "case").detail


def status(content: Json) -> str:
    return solved(content).status


def with_fabric(content: Json, **changes: Any) -> Json:
    return {**content, "fabrics": [{**content["fabrics"][0], **changes}]}


@pytest.mark.long(but=("power_w-power_w-0.001",))
@pytest.mark.parametrize(
    ("key", "metric", "step"),
    [("budget_usd", "capex_usd", 0.01), ("power_w", "power_w", 0.001), ("rack_units", "rack_units", 0.001)],
)
def test_spending(key: str, metric: str, step: float) -> None:
    content = case()
    free = solved(content)
    assert free.totals is not None
    value = getattr(free.totals, metric) / 4
    found = conflict(solved({**content, "limits": {key: value}}), f"limits.{key}")
    assert found.value == pytest.approx(value, abs=0.01)
    assert isinstance(found.needed, int | float)
    assert status({**content, "limits": {key: found.needed}}) == "optimal"
    assert status({**content, "limits": {key: round(found.needed - step, 3)}}) == "infeasible"


@pytest.mark.long
def test_power_of_servers_is_in_the_limit_if_they_count() -> None:
    content = case(limits={"power_w": 20_000})
    assert status(content) == "optimal"
    found = conflict(solved({**content, "include_servers": True}), "limits.power_w")
    assert isinstance(found.needed, int | float)
    assert found.needed > 4_000 * content["servers"]
    assert status({**content, "include_servers": True, "limits": {"power_w": found.needed}}) == "optimal"
    assert status({**content, "include_servers": True, "limits": {"power_w": found.needed - 0.001}}) == "infeasible"


@pytest.mark.long
def test_two_limits_each_under_the_other() -> None:
    """What each limit would have to be holds with the other one kept."""
    content = case()
    cheap, lean = solved(content), solved({**content, "objective": "power_w"})
    assert cheap.totals is not None and lean.totals is not None
    limits = {"budget_usd": cheap.totals.capex_usd, "power_w": lean.totals.power_w}
    assert limits["power_w"] < cheap.totals.power_w
    design = solved({**content, "limits": limits})
    budget, power = conflict(design, "limits.budget_usd"), conflict(design, "limits.power_w")
    for key, found, step in (("budget_usd", budget, 0.01), ("power_w", power, 0.001)):
        assert isinstance(found.needed, int | float)
        assert status({**content, "limits": {**limits, key: found.needed}}) == "optimal"
        assert status({**content, "limits": {**limits, key: round(found.needed - step, 3)}}) == "infeasible"


@pytest.mark.long
def test_limits_that_no_single_change_meets() -> None:
    """What they need together is one item; fewer servers would do alone."""
    tight = {"budget_usd": 40_000, "power_w": 1_000, "rack_units": 2}
    content = case({"tiers": "any"}, servers=30)
    design = solved({**content, "limits": tight})
    found = conflict(design, "limits.budget_usd")
    needed = {one.limit.removeprefix("limits."): one.needed for one in found.together}
    assert len(needed) > 1 and found.minimal and found.needed == needed["budget_usd"]
    assert status({**content, "limits": {**tight, **needed}}) == "optimal"
    for key, least in needed.items():
        assert isinstance(least, int | float)
        less = {**tight, **needed, key: round(0.999 * least, 2)}
        assert status({**content, "limits": less}) == "infeasible"
        assert status({**content, "limits": {**tight, **needed, key: tight[key]}}) == "infeasible"
    servers = conflict(design, "servers").needed
    assert isinstance(servers, int)
    assert status({**content, "servers": servers, "limits": tight}) == "optimal"
    assert status({**content, "servers": servers + 1, "limits": tight}) == "infeasible"


def test_what_is_looked_at_is_said() -> None:
    said: list[str] = []
    optimize.solve(inputs(case(limits={"budget_usd": 1000})), progress=said.append)
    looked_at = [one.partition("looking at ")[2] for one in said if "looking at " in one]
    assert looked_at[0] == "limits.budget_usd" and "servers" in looked_at
    assert "fabrics.compute.max_oversubscription.leaf" in looked_at


def test_far_too_many_for_one_tier_may_do_with_two() -> None:
    """However few servers one switch takes, the tiers that the case allows are what is in the way."""
    content = case({"tiers": 1}, servers=30)
    design = solved(content)
    assert conflict(design, "servers").needed == 6
    assert conflict(design, "fabrics.compute.tiers").needed == "any"
    assert status(with_fabric(content, tiers="any")) == "optimal"


def test_oversubscription() -> None:
    """Twelve servers with one card: two leaves of six servers leave two uplinks, so 3:1 is the least."""
    only = {"leaf": ["small"], "spine": ["small"]}
    content = case({"nics": ["nic-400"], "nics_per_server": 1, "min_gbps_per_gpu": 100, "switches": only}, servers=40)
    name = "fabrics.compute.max_oversubscription.leaf"
    found = conflict(solved(content), name)
    assert found.value == 1
    assert isinstance(found.needed, int | float)
    assert status(with_fabric(content, max_oversubscription={"leaf": found.needed, "spine": 1})) == "optimal"
    tighter = found.needed * 0.998
    assert status(with_fabric(content, max_oversubscription={"leaf": tighter, "spine": 1})) == "infeasible"


def test_oversubscription_is_rounded_up() -> None:
    """Sixty-one servers on ten leaves of ten ports leave three uplinks for seven servers: 2.333:1 is too little."""
    parts = catalog()
    product(parts, "small")["cages"][0]["count"] = 10
    only = {"leaf": ["small"], "spine": ["small"]}
    content = case({"nics": ["nic-400"], "nics_per_server": 1, "min_gbps_per_gpu": 100, "switches": only}, servers=61)
    found = conflict(solved(content, parts), "fabrics.compute.max_oversubscription.leaf")
    assert found.needed == 2.334
    enough = with_fabric(content, max_oversubscription={"leaf": found.needed, "spine": 1})
    assert solved(enough, parts).status == "optimal"
    too_little = with_fabric(content, max_oversubscription={"leaf": 2.333, "spine": 1})
    assert solved(too_little, parts).status == "infeasible"


def test_servers() -> None:
    content = case(servers=ENDLESS)
    found = conflict(solved(content), "servers")
    assert found.value == ENDLESS
    assert isinstance(found.needed, int)
    assert f"{found.needed:,}" in found.detail
    assert status({**content, "servers": found.needed}) == "optimal"
    assert status({**content, "servers": found.needed + 1}) == "infeasible"


@pytest.mark.long
def test_servers_under_a_budget() -> None:
    """The largest number for the money."""
    content = case(servers=30, limits={"budget_usd": 150_000})
    found = conflict(solved(content), "servers")
    assert isinstance(found.needed, int)
    assert status({**content, "servers": found.needed}) == "optimal"
    assert status({**content, "servers": found.needed + 1}) == "infeasible"


def test_servers_of_the_last_stage() -> None:
    stages = [{"name": "day-1", "servers": 4}, {"name": "later", "month": 12, "servers": ENDLESS}]
    found = conflict(solved(case(stages=stages)), "stages.later.servers")
    assert isinstance(found.needed, int)
    assert found.needed < ENDLESS


def test_bandwidth_of_a_slow_slot() -> None:
    """A 400G card in a Gen4 slot moves 252 Gb/s; four of them give 252 to each of four GPUs."""
    content = case({"min_gbps_per_gpu": 300}, server="gpu-4-gen-4", servers=3)
    found = conflict(solved(content), "fabrics.compute.min_gbps_per_gpu")
    assert (found.value, found.needed) == (300, 252)
    assert "nic-400" in found.detail
    assert "Gen4" in found.detail
    assert status(with_fabric(content, min_gbps_per_gpu=252)) == "optimal"
    assert status(with_fabric(content, min_gbps_per_gpu=252.1)) == "infeasible"


def test_run_that_nothing_reaches() -> None:
    """No part joins leaf and spine over 600 m: the fibre is 50 m long at most."""
    content = case(site={"distances_m": {"leaf-spine": 600}})
    found = conflict(solved(content), "site.distances_m.leaf-spine")
    assert found.value == 600
    assert isinstance(found.needed, int | float)
    assert status({**content, "site": {"distances_m": {"leaf-spine": found.needed}}}) == "optimal"
    longer = found.needed * 1.001
    assert status({**content, "site": {"distances_m": {"leaf-spine": longer}}}) == "infeasible"


def test_structure_that_the_case_prescribes() -> None:
    """Forty servers do not fit on one switch; with any number of tiers they do."""
    design = solved(case({"tiers": 1}, servers=20))
    assert conflict(design, "fabrics.compute.tiers").needed == "any"


def test_no_conflict_is_invented() -> None:
    """With a budget that is too small and nothing else wrong, nothing outside money, demand and size is named."""
    design = solved(case(limits={"budget_usd": 1000}))
    words = ("limits.", "fabrics.compute.max_oversubscription", "fabrics.compute.min_gbps_per_gpu", "servers")
    assert all(one.limit.startswith(words) for one in design.conflicts)


@pytest.mark.long
def test_reference_catalog_ten_million_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contract's hardest input: arithmetic names the largest number reachable, and one search confirms it."""
    asked: list[int] = []
    search = Search.any_design

    def counted(self: Search) -> Any:
        asked.append(self.problem.servers)
        return search(self)

    monkeypatch.setattr(Search, "any_design", counted)
    content = {"name": "endless", "server": "generic-hgx-h100", "servers": ENDLESS}
    design = optimize.solve(inputs_from_objects(content), alternatives_s=0)
    found = conflict(design, "servers")
    assert isinstance(found.needed, int)
    assert 12_500 < found.needed < ENDLESS
    assert asked == [found.needed]


def problem_with(given: Inputs, servers: int) -> Problem:
    return problem_of(given.case.model_copy(update={"servers": servers, "gpus": None}), given.catalog)


@pytest.mark.long(but=("three_tier",))
@pytest.mark.parametrize("family", ["linear", "attached", "three_tier"])
def test_no_design_is_past_the_reach(family: str) -> None:
    """Arithmetic rules out no number of servers that a search finds a design for, and mostly meets the largest."""
    met = tried = 0
    for seed in range(12):
        parts, content = generate(family, seed)
        given = inputs(content, parts)
        if len(given.case.fabrics) > 1 or given.case.fabrics[0].group_by == "rack":
            continue
        most = most_servers(problem_with(given, ENDLESS))
        for servers in (most + 1, most + 2, 2 * most + 1):
            assert not search_of(problem_with(given, servers), Settings(), Clock(None)).any_design().picked, (
                seed,
                servers,
            )
        if most:
            tried += 1
            met += bool(search_of(problem_with(given, most), Settings(), Clock(None)).any_design().picked)
    assert met >= tried / 2 > 0


def test_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Exit 3, the message on standard error, and the design file with status and conflicts."""
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump(catalog()))
    file, written = tmp_path / "case.yaml", tmp_path / "design.json"
    file.write_text(yaml.safe_dump({**case(limits={"budget_usd": 1000}), "catalog": ["./parts.yaml"]}))
    assert main(["solve", str(file), "--json", str(written)]) == EXIT_INFEASIBLE
    out, err = capfd.readouterr()
    assert out == ""
    assert "budget_usd" in err
    content = json.loads(written.read_text())
    assert content["status"] == "infeasible"
    assert content.get("fabrics", []) == []
    assert {"limit", "value", "needed"} <= set(content["conflicts"][0])


def test_inputs_are_not_changed() -> None:
    """Looking for what is needed leaves the case as it was."""
    given = inputs(case(limits={"budget_usd": 1000}))
    before = given.case.model_dump_json()
    optimize.solve(given)
    assert given.case.model_dump_json() == before


@pytest.mark.long(but=("1",))
@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
def test_running_out_of_time_proves_nothing(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is over at the n-th look at the clock: there may be no answer then, but never a proof that there is none."""
    content = case()
    cheap, lean = solved(content), solved({**content, "objective": "power_w"})
    assert cheap.totals is not None and lean.totals is not None
    limits = {"power_w": (cheap.totals.power_w + lean.totals.power_w) / 2}
    seen = iter(range(1_000_000))
    monkeypatch.setattr(Clock, "is_over", lambda self: next(seen) >= looks)
    design = optimize.solve(inputs({**content, "limits": limits}), time_limit_s=3600, alternatives_s=0)
    assert design.status != "infeasible"
    assert design.conflicts == ()


@pytest.mark.long
def test_a_fabric_without_any_nic_reaches_no_server_and_the_advice_is_what_cards_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DGX A100 has 200 Gb/s a GPU; four fabrics at the default of 400 are not searched over and over.

    The time that there is for that is measured as the processor's: other programs may run on the machine.
    """
    most_s, began_s = conflicts.MOST_SECONDS, time.process_time()
    monkeypatch.setattr(conflicts, "MOST_SECONDS", 20 * most_s)
    fabrics = [{"name": "compute"}, *({"name": role, "role": role} for role in ("storage", "in-band", "oob"))]
    given = inputs_from_objects({"name": "older", "server": "nvidia-dgx-a100", "servers": 36, "fabrics": fabrics})
    assert most_servers(problem_of(given.case, given.catalog)) == 0
    found = conflict(optimize.solve(given, alternatives_s=0), "fabrics.compute.min_gbps_per_gpu")
    assert (found.value, found.needed, found.minimal) == (400, 200, True)
    assert LEFT_OUT in found.detail
    assert time.process_time() - began_s < most_s


def test_servers_that_a_case_says_in_gpus_are_advised_in_gpus() -> None:
    """Ten servers on one switch of twelve ports are too many: the change can be written as it is told."""
    content = case({"tiers": 1, "nics": ["nic-400"], "nics_per_server": 2}, gpus=40)
    found = conflict(solved(content), "gpus")
    assert (found.value, found.needed) == (40, 24)
    given = with_change(inputs(content, catalog()), {found.limit: found.needed})
    design = optimize.solve(given, alternatives_s=0)
    assert design.status == "optimal" and usd(design) == found.capex_usd


PORT = {"form_factor": "QSFP56", "splits": ["1x200"]}
END = {"form_factor": "QSFP56", "split": "1x200"}
ONE_SPEED: Json = {
    "switches": [{"id": "sixteen", "protocol": "ethernet", "rack_units": 1, "power_w": 300, "price_usd": 10_000,
                  "cages": [{"count": 16, **PORT}]}],
    "nics": [{"id": "one-port", "protocols": ["ethernet"], "pcie": {"generation": 5, "lanes": 16}, "power_w": 20,
              "price_usd": 1000, "cages": [{"count": 1, **PORT}]}],
    "cables": [{"id": "dac", "medium": "DAC", "power_w": 0, "ends": [END, END],
                "lengths": [{"m": 3, "price_usd": 100}, {"m": 30, "price_usd": 400}]}],
    "servers": [{"id": "gpu-8", "gpus": 8, "nic_slots": 8, "pcie": {"generation": 5, "lanes": 16}, "rack_units": 8,
                 "power_w": 8000, "price_usd": 0}],
}  # fmt: skip


@pytest.mark.parametrize("at", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_a_loss_that_one_port_cannot_survive_is_named_by_the_key_that_leaves_it_out(at: int) -> None:
    loss = {"survive": "1 leaf", "min_gbps_per_gpu": 20}
    fabric = {"name": "storage", "role": "storage", "min_gbps_per_gpu": 20, "nics_per_server": 1}
    wanted = {"name": "one-port", "server": "gpu-8", "servers": 8, "fabrics": [{**fabric, "resilience": loss}]}
    said, needed = ((loss, "none"), (["default", loss], "default"), ([loss], "none"))[at]
    wanted["fabrics"] = [{**fabric, "resilience": said}]
    content = inputs_from_objects(wanted, ONE_SPEED)
    found = conflict(optimize.solve(content, alternatives_s=0), "fabrics.storage.resilience")
    assert (found.value, found.needed) == ("1 leaf", needed) and "a server has one port" in found.detail
    changed = optimize.solve(with_change(content, {found.limit: found.needed}), alternatives_s=0)
    assert changed.totals is not None and changed.totals.capex_usd == found.capex_usd


def test_a_loss_in_a_list_is_named_by_its_place() -> None:
    losses = [{"survive": "1 leaf", "min_gbps_per_gpu": 150}, {"survive": "1 spine", "min_gbps_per_gpu": 50}]
    content = inputs(case({"nics": ["nic-400"], "nics_per_server": 2, "resilience": losses}))
    found = conflict(optimize.solve(content, alternatives_s=0), "fabrics.compute.resilience.0.min_gbps_per_gpu")
    assert optimize.solve(with_change(content, {found.limit: found.needed}), alternatives_s=0).status == "optimal"


# -- floors ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("racks", (1, 2, 3), ids=str)
def test_a_floor_too_small_names_the_racks_that_would_do(racks: int) -> None:
    """Servers fill two racks; of four leaves and two spines neither are in one rack, so two more are needed."""
    content = small_floor(racks)
    found = conflict(optimize.solve(content, alternatives_s=0), "site.floor.racks_per_row")
    assert (found.value, found.needed, found.minimal) == (racks, 4, True)
    changed = optimize.solve(with_change(content, {found.limit: found.needed}), alternatives_s=0)
    assert changed.totals is not None and changed.totals.capex_usd == found.capex_usd


@pytest.mark.long
def test_a_floor_too_small_for_a_rule_names_rule_racks_and_key() -> None:
    design = optimize.solve(small_floor(1, servers=4, rack_units=48, rack_power_w=60_000), alternatives_s=0)
    assert conflict(design, "site.floor.racks_per_row").needed == 2
    found = conflict(design, "site.rack_rules.spread_spines")
    assert found.needed == "false" and "rule `rack-spread`" in found.detail and "0 racks" in found.detail


def small_floor(racks: int, servers: int = 8, rack_units: int = 42, rack_power_w: int = 40_450) -> Inputs:
    """Two tiers on switches of 16 ports, on a floor of one row, under all default rules.

    Five servers of 8 kW and their NICs leave a rack of 40.45 kW no power for a switch.
    """
    fabric = {"name": "compute", "tiers": 2, "nics_per_server": 4, "min_gbps_per_gpu": 100}
    floor = {"rows": 1, "racks_per_row": racks, "rack_units": rack_units, "rack_power_w": rack_power_w}
    wanted = {"name": "small-floor", "server": "gpu-8", "servers": servers, "fabrics": [fabric]}
    return inputs_from_objects({**wanted, "site": {"floor": floor}}, ONE_SPEED)
