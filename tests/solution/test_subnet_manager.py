"""Rule ``subnet-manager``: tiny instances in which it decides, derived by hand.

As in ``tests.solution.test_brute_force``, but InfiniBand: four servers on two tiers are two leaves and a spine (1,000
USD each) and 4 x 100 + 4 x 10 + 4 x 20 = 520; the spine is two where redundancy is on. The managed twin of a switch is
300 USD and 50 W more.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
import yaml

from fabopt.design.points import design_at
from fabopt.io.case import inputs_from_objects
from fabopt.output.terminal.answer import leading_notes
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.subnet_manager import SubnetManagerUse, TwinUse
from fabopt.solution import optimize, subnet_hosts
from fabopt.solution.question import Answers, Question
from fabopt.solution.rules_kept import OUT_OF_TIME
from fabopt.study.front import fronts
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.paths import ROOT
from tests.samples import small
from tests.samples.adapter import run
from tests.samples.lengths import USUAL
from tests.samples.managed import assert_managed_alike, with_managed_switches
from tests.samples.random_cases import generate
from tests.samples.small import usd
from tests.solution.test_brute_force import cable, cage, card, case, catalog, switch
from tests.solution.test_path import swept

Json = dict[str, Any]
AS_USUAL: Json = {"distances_m": USUAL}
WIDER = ROOT / "tests" / "samples" / "wider"
ONE_SPINE, TWO_SPINES, MORE = 3520, 4520, 300
PLAIN: Json = {"protocol": "infiniband", "managed": False, "managed_twin": "twin"}
# Seeds whose brute force takes seconds.
SEEDS = {"linear": range(7), "limited": range(4), "procurement": (1, 2), "ruled": range(4), "attached": (0, 2),
         "three_tier": (0, 1, 3), "rails": range(3), "planes": (0, 2, 3)}  # fmt: skip
TWIN: Json = {"protocol": "infiniband", "managed": True, "usd": 1000 + MORE, "watts": 150}


def parts(*switches: Json, ports: int = 1) -> Json:
    """A catalog for InfiniBand; by default a switch and its twin."""
    four = cage(4, "1x100")
    offered = switches or (switch("plain", four, **PLAIN), switch("twin", four, **TWIN))
    return catalog(switches=list(offered), nics=[card("card", cage(ports, "1x100"), protocols=["infiniband"])])


def designed(content: Json, fabric: Json | None = None, alternatives: bool = False, **keys: Any) -> Design:
    """Four servers on two tiers with the rule and without redundancy, unless keys say otherwise; proven optimal."""
    servers = keys.pop("servers", 4)
    wanted = (
        case(servers, {"tiers": 2, **(fabric or {})})
        | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
        | keys
    )
    return small.designed(content, wanted, alternatives)


def said(design: Design) -> SubnetManagerUse:
    use = design.fabrics[0].subnet_manager
    assert use is not None
    return use


def bought(design: Design) -> dict[str, int]:
    return {row.id: row.quantity for row in design.bom if row.kind == "switch"}


# -- what holds -------------------------------------------------------------------------------------------------------


def test_one_switch_is_exchanged_for_its_twin() -> None:
    design = designed(parts())
    assert usd(design) == ONE_SPINE + MORE and bought(design) == {"plain": 2, "twin": 1}
    use = said(design)
    assert (use.kept, use.subnets, use.nodes, use.managers) == (True, 1, 4, 1)
    assert use.twins == (TwinUse(role="leaf", id="twin", count=1),)
    assert any("1 leaf x twin for plain" in note for note in design.notes)
    shown = [(row.role, row.id, row.count) for row in design.fabrics[0].switches]
    assert shown == [("leaf", "twin", 1), ("leaf", "plain", 1), ("spine", "plain", 1)]


def test_two_are_exchanged_where_redundancy_is_on() -> None:
    design = designed(parts(), resilience="default")
    assert usd(design) == TWO_SPINES + 2 * MORE and said(design).managers == 2
    assert bought(design) == {"plain": 2, "twin": 2}


def test_a_single_switch_has_one_twin_only() -> None:
    design = designed(parts(), {"tiers": 1}, resilience="default")
    assert usd(design) == 1440 + MORE and bought(design) == {"twin": 1}


def test_a_tier_gives_no_more_managers_than_it_has_switches() -> None:
    design = designed(parts(), resilience="default", rules={"two-spines": False})
    assert bought(design) == {"plain": 1, "twin": 2} and said(design).managers == 2


def test_every_plane_and_every_rail_is_a_subnet() -> None:
    planes = designed(parts(ports=2), {"planes": 2})
    assert (said(planes).subnets, said(planes).managers, bought(planes)) == (2, 1, {"plain": 4, "twin": 2})
    single = designed(parts(ports=2), {"planes": 2, "tiers": 1})
    assert (said(single).subnets, said(single).nodes, bought(single)) == (2, 4, {"twin": 2})


@pytest.mark.parametrize("rules", ({"subnet-manager": False}, "none"))
def test_turning_it_off_gives_the_earlier_optimum(rules: Any) -> None:
    design = designed(parts(), rules=rules)
    assert usd(design) == ONE_SPINE and design.fabrics[0].subnet_manager is None and bought(design) == {"plain": 3}
    assert not any("subnet" in text for text in (*design.notes, *(check.name for check in design.checks)))
    assert all("managed" not in part for part in design.parts.values())


def test_a_managed_pick_may_win() -> None:
    # two leaves of four ports and a spine; one that is managed costs 200 more as it is, and 300 as a twin
    managed = switch("managed", cage(4, "1x100"), protocol="infiniband", managed=True, usd=1200)
    plain = switch("plain", cage(4, "1x100"), **PLAIN)
    design = designed(parts(plain, switch("twin", cage(4, "1x100"), **TWIN), managed))
    assert usd(design) == ONE_SPINE + 200 and said(design).twins == () and said(design).managers == 1
    assert {tier.role: tier.id for tier in design.fabrics[0].tiers} == {"leaf": "plain", "spine": "managed"}


def test_a_case_may_name_the_unmanaged_switch() -> None:
    design = designed(parts(), {"switches": {"leaf": ["plain"], "spine": ["plain"]}})
    assert bought(design) == {"plain": 2, "twin": 1}


def test_the_cheaper_tier_is_exchanged() -> None:
    four = cage(4, "1x100")
    cheap = switch("cheap", four, **PLAIN | {"managed_twin": "cheap-twin"}, usd=1001)
    offered = (switch("plain", four, **PLAIN), switch("twin", four, **TWIN), cheap)
    content = parts(*offered, switch("cheap-twin", four, **TWIN | {"usd": 1101}))
    design = designed(content, {"switches": {"leaf": ["plain"], "spine": ["plain", "cheap"]}})
    assert usd(design) == ONE_SPINE + 101 and [twin.role for twin in said(design).twins] == ["spine"]


# -- what is not kept, and what is not known --------------------------------------------------------------------------


def too_small(ports: int = 4, **keys: Any) -> Json:
    """A switch and a twin of so many ports that manages three."""
    cages = cage(ports, "1x100")
    return parts(switch("plain", cages, **PLAIN, **keys), switch("twin", cages, **TWIN, max_managed_nodes=3, supply=0))


def test_a_subnet_that_is_too_large_is_told() -> None:
    # every port is in use, so a host has none; with another spine it has one, and a cable of 20 USD
    four = cage(4, "1x100")
    assert usd(designed(too_small())) == TWO_SPINES + 20
    # a single switch has no port for a host
    design = designed(too_small(), {"tiers": 1})
    assert usd(design) == 1440 and said(design).kept is False
    (row,) = design.rules_left_out
    assert (row.part, row.fabric) == ("rules.subnet-manager", "compute") and row.why.startswith("no switch of the")
    enough = parts(switch("plain", four, **PLAIN), switch("twin", four, **TWIN, max_managed_nodes=4))
    assert usd(designed(enough)) == ONE_SPINE + MORE


@pytest.mark.long("1")
@pytest.mark.parametrize("others", (0, 1))
def test_a_switch_of_which_nothing_is_known_manages_nothing(others: int) -> None:
    """As one that runs no subnet manager, whether the catalog says it of another or of none."""
    plain = switch("plain", cage(4, "1x100"), protocol="infiniband", managed=False, usd=5000)
    offered = parts(switch("silent", cage(4, "1x100"), protocol="infiniband"), *[plain] * others)
    design = designed(offered)
    assert usd(design) == TWO_SPINES + 20 and bought(design) == {"silent": 4} and said(design).hosts == 1
    (told,) = leading_notes(design)
    assert told.startswith("hosts for subnet managers: compute: the catalog does not say that silent runs a subnet")
    off = designed(offered, rules={"subnet-manager": False})
    assert usd(off) == ONE_SPINE and off.fabrics[0].subnet_manager is None and not leading_notes(off)
    host = {"name": "host", "kind": "management", "ports": 1, "form_factor": "QSFP56", "split": "1x100"}
    by_hand = designed(offered, {"attachments": [host]}, rules={"subnet-manager": False})
    assert usd(by_hand) == usd(design)


def test_a_file_that_says_nothing_of_a_silent_switch_is_refused() -> None:
    design = designed(parts(switch("silent", cage(4, "1x100"), protocol="infiniband")))
    assert failed(design) == {"subnets_are_managed"}


def test_how_many_ports_are_managed_is_told_where_it_is_not_known() -> None:
    assert any("does not say how many ports twin manages" in note for note in designed(parts()).notes)


@pytest.mark.parametrize(("resilience", "hosts"), (("none", 1), ("default", 2)))
def test_hosts_are_attached_where_no_switch_manages_the_subnet(resilience: str, hosts: int) -> None:
    # one switch has its four servers, at 10 USD a cable, and ports to spare; a host's cable is as long
    bare = designed(too_small(8), {"tiers": 1}, rules="none")
    design = designed(too_small(8), {"tiers": 1}, resilience=resilience)
    use = said(design)
    assert (use.kept, use.managers, use.hosts, use.nodes, use.twins) == (True, hosts, hosts, 4 + hosts, ())
    assert usd(design) == usd(bare) + 10 * hosts and bought(design) == {"plain": 1}
    assert sum(row.count for row in design.fabrics[0].links if row.attachment == "subnet-manager") == hosts
    assert any("no switch manages a subnet of this size" in note for note in design.notes)


def test_a_search_for_managers_that_is_cut_short_keeps_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """No design with a manager costs less than the best without. A cut answer for 1,024 servers had no bound."""
    bare = designed(too_small(8), {"tiers": 1}, rules="none")

    def stopped(*_: object) -> None:
        raise StoppedError

    monkeypatch.setattr(subnet_hosts, "_ways", stopped)
    content = case(4, {"tiers": 1}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
    design = optimize.solve(small.inputs(content, too_small(8)), alternatives_s=0)
    assert design.status == "feasible" and design.objective is not None
    assert design.objective.value == usd(design) == usd(bare)
    # no design with a manager is below this one, which is none of those: a bound equal to the value would prove it
    assert design.objective.bound == pytest.approx(usd(bare) - 0.01)
    assert subnet_hosts.NOT_IN_TIME in design.notes
    assert all(OUT_OF_TIME in left.why for left in design.rules_left_out if left.rule == "subnet-manager")
    assert "subnet-manager" in {left.rule for left in design.rules_left_out}


def test_an_answer_with_hosts_that_is_not_proven_keeps_its_own_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """It had that of the best without a manager, which is lower."""
    search = optimize._search_all

    def left_open(question: Question) -> Answers:
        answers = search(question)
        if not question.managed or answers.best is None:
            return answers
        best, value = answers.best, answers.optimum.value or 0
        return Answers((replace(best, optimum=replace(best.optimum, verdict="feasible", bound=value - 5)),))

    monkeypatch.setattr(optimize, "_search_all", left_open)
    content = case(4, {"tiers": 1}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
    design = optimize.solve(small.inputs(content, too_small(8)), alternatives_s=0)
    assert design.status == "feasible" and design.objective is not None and said(design).hosts == 1
    assert design.objective.bound == pytest.approx(usd(design) - 0.05)


@pytest.mark.long
def test_points_of_a_sweep_have_their_hosts_too() -> None:
    """At budgets too, which buy the most of something: the design is the one that is solved there."""
    content = case(4, {"tiers": 1}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
    alone = small.solved(content, too_small(8))
    [point] = swept(content, "servers=4", catalog=too_small(8))
    assert said(alone).hosts == 1 and point.status == "optimal"
    assert (point.totals, point.bom) == (alone.totals, alone.bom)
    assert point.fabrics[0].subnet_manager == said(alone) and set(point.notes) <= set(alone.notes)
    assert any("no switch manages a subnet of this size" in note for note in point.notes)
    assert alone.totals is not None
    enough = alone.totals.capex_usd
    [less, bought_for] = swept(content, budget=f"{enough - 1},{enough}", catalog=too_small(8))
    limited = small.solved(content | {"limits": {"budget_usd": enough - 1}}, too_small(8))
    assert less.status == limited.status == "infeasible" and less.conflicts[-1].needed == enough
    assert (bought_for.totals, bought_for.bom, set(bought_for.notes)) == (alone.totals, alone.bom, set(alone.notes))
    assert bought_for.fabrics[0].subnet_manager == said(alone)


@pytest.mark.long("10-5")
@pytest.mark.parametrize(("price", "servers"), [(10, 5), (90, 4)])
def test_a_budget_buys_servers_with_their_hosts(price: int, servers: int) -> None:
    """A switch of which the twin manages three servers, and no switch manages more; a host takes a port and a cable."""
    content = case(4, {"tiers": 1}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
    sizes = [small.solved(content | {"servers": size}, too_small(8)) for size in range(1, 8)]
    most = max(size for size, design in enumerate(sizes, 1) if usd(design) <= usd(sizes[servers - 1]) + price)
    budget = str(usd(sizes[servers - 1]) + price)
    [point] = swept(content | {"maximize": "servers"}, budget=budget, catalog=too_small(8))
    assert point.values["servers"] == most and point.bom == sizes[most - 1].bom


def test_points_of_a_front_have_their_hosts() -> None:
    """Cost against bandwidth of two NICs: each point is the design of its bandwidth alone."""
    content = case(4, {"tiers": 1, "min_gbps_per_gpu": 1}) | {
        "rules": {}, "resilience": "none", "site": {"distances_m": USUAL}
    }  # fmt: skip
    inputs = small.inputs(content, too_small(8))
    for objectives, points in ((fronts.objectives_of(["capex_usd"], ["gbps_per_gpu"], None), 2),
                               (fronts.objectives_of(["capex_usd", "power_w"], [], None), 1)):  # fmt: skip
        front = fronts.pareto_front(inputs, objectives, None, Settings(), Clock(None), lambda some: None)
        assert front.complete and len(front.points) == points
        for number, point in enumerate(front.points):
            alone = small.solved(changed(content, point.values["gbps_per_gpu"]), too_small(8))
            design = design_at(front, number + 1)
            assert (design.bom, design.fabrics[0].subnet_manager) == (alone.bom, said(alone))
            assert set(point.notes) <= set(alone.notes)


def changed(content: Json, gbps: float) -> Json:
    content = copy.deepcopy(content)
    content["fabrics"][0]["min_gbps_per_gpu"] = gbps
    return content


def faster(price: int) -> Json:
    """A switch for four servers that nothing manages and a host has no port on, and one of twice the speed that is
    managed.
    """
    plain = switch("plain", cage(4, "1x100"), protocol="infiniband", managed=False)
    fast = switch("fast", cage(4, "1x200"), protocol="infiniband", managed=True, usd=price)
    cards = [card(f"card-{gbps}", cage(1, f"1x{gbps}"), protocols=["infiniband"]) for gbps in (100, 200)]
    return parts(plain, fast) | {
        "nics": cards,
        "cables": [cable(f"cable-{gbps}", f"1x{gbps}", f"1x{gbps}") for gbps in (100, 200)],
    }


def test_other_switches_manage_the_subnet_where_hosts_cost_more() -> None:
    # without a manager: a switch, four NICs of 100 USD and four cables of 10 USD
    bare = 1440
    assert usd(designed(faster(2500), {"tiers": "any"}, rules="none")) == bare
    # a host needs a fifth port, so four more switches: leaves for four servers and a host, under a spine
    with_hosts = designed(faster(9000), {"tiers": "any"})
    assert said(with_hosts).hosts == 1 and "fast" not in bought(with_hosts)
    others = designed(faster(2500), {"tiers": "any"})
    assert usd(others) == bare + 1500 < usd(with_hosts)
    assert bought(others) == {"fast": 1} and said(others).hosts == 0 and said(others).managers == 1
    # each way costs a cent less than the other
    hosts_usd = usd(with_hosts)
    price = int(hosts_usd - 440)
    assert said(designed(faster(price + 1), {"tiers": "any"})).hosts == 1
    assert said(designed(faster(price - 1), {"tiers": "any"})).hosts == 0


def test_hosts_that_the_case_attaches_manage_it() -> None:
    ufm = {"name": "ufm", "kind": "management", "ports": 1, "buys": "none"}
    content = parts(switch("plain", cage(8, "1x100"), **PLAIN), switch("twin", cage(8, "1x100"), **TWIN))
    design = designed(content, {"tiers": 1, "attachments": [ufm]})
    assert said(design).hosts == 1 and bought(design) == {"plain": 1}
    both = designed(content, {"tiers": 1, "attachments": [ufm]}, resilience="default")
    assert (said(both).hosts, said(both).managers) == (1, 2) and bought(both) == {"twin": 1}
    assert "subnets_are_managed" in failed(design, hosts=0)


@pytest.mark.long
@pytest.mark.parametrize(("content", "least"), ((parts(), ONE_SPINE + MORE), (too_small(), TWO_SPINES + 20)))
def test_a_budget_is_no_reason_to_leave_it_out(content: Json, least: float) -> None:
    """Whether switches manage the subnet or hosts."""
    wanted = case(4, {"tiers": 2}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
    design = optimize.solve(small.inputs(wanted | {"limits": {"budget_usd": least - 1}}, content))
    assert design.status == "infeasible"
    assert ("limits.budget_usd", least) in [(one.limit, one.needed) for one in design.conflicts]
    assert usd(small.solved(wanted | {"limits": {"budget_usd": least}}, content)) == least


@pytest.mark.long
@pytest.mark.parametrize("supply", (3, 2))
def test_a_supply_is_no_reason_to_leave_it_out(supply: int) -> None:
    wanted = case(4, {"tiers": 2}) | {"rules": {}, "resilience": "none", "site": {"distances_m": USUAL}}
    assert optimize.solve(small.inputs(wanted, too_small(supply=supply)), alternatives_s=0).status == "infeasible"


@pytest.mark.long
def test_asked_for_by_name_it_is_never_given_up() -> None:
    limits = {"budget_usd": ONE_SPINE + MORE - 1}
    wanted = case(4, {"tiers": 2}) | {"rules": {"subnet-manager": True}, "resilience": "none", "limits": limits}
    design = optimize.solve(small.inputs(wanted | {"site": {"distances_m": USUAL}}, parts()))
    assert design.status == "infeasible"
    assert {"limits.budget_usd", "rules.subnet-manager"} <= {one.limit for one in design.conflicts}


def test_sizes_that_nothing_manages_are_not_worked_out() -> None:
    """8,192 GPUs of a shipped case were minutes of them before hosts were looked at."""
    wanted = case(6, {"tiers": 2}) | {"rules": {"subnet-manager": True}, "resilience": "none"}
    design = optimize.solve(small.inputs(wanted | {"site": {"distances_m": USUAL}}, too_small()))
    assert (design.status, design.objective.candidates) == ("infeasible", 0)


def test_an_unmanaged_switch_is_no_pick_where_another_is_managed() -> None:
    four = cage(4, "1x100")
    alone = switch("alone", four, protocol="infiniband", managed=False, usd=500)
    managed = switch("managed", four, protocol="infiniband", managed=True, usd=2000)
    design = designed(parts(alone, managed), {"tiers": 1})
    assert usd(design) == 2440 and bought(design) == {"managed": 1}
    # with nothing that could manage it, it is taken and told
    assert said(designed(parts(alone), {"tiers": 1})).kept is False


def test_what_it_costs_is_an_alternative() -> None:
    design = designed(parts(), alternatives=True, resilience="default")
    rows = {one.what: one.capex_delta_usd for one in design.alternatives}
    assert rows["subnet-manager"] == -2 * MORE and rows["redundancy"] == -1000 - MORE


def test_a_growing_cluster_has_its_manager_from_the_start() -> None:
    stages = [{"name": "one", "month": 0, "servers": 2}, {"name": "two", "month": 12, "servers": 4}]
    content = case(4, {"tiers": 2}) | {"rules": {}, "resilience": "none", "stages": stages}
    del content["servers"]
    design = optimize.solve(small.inputs(content | {"site": {"distances_m": USUAL}}, parts()), alternatives_s=0)
    small.assert_proven(design)
    assert [(row.stage, row.quantity) for row in design.bom if row.id == "twin"] == [("one", 1)]


# -- the proof --------------------------------------------------------------------------------------------------------


def failed(design: Design, **changes: Any) -> set[str]:
    """Checks that fail once a fabric says something else of the rule."""
    use = said(design).model_copy(update=changes)
    fabric: FabricDesign = design.fabrics[0].model_copy(update={"subnet_manager": use if changes else None})
    return {check.name for check in verify(design.model_copy(update={"fabrics": (fabric,)})) if not check.ok}


@pytest.mark.long("2")
@pytest.mark.parametrize("tiers", (1, 2))
def test_a_growing_cluster_has_its_hosts_from_the_start(tiers: int) -> None:
    """As if the case attached them."""
    stages = [{"name": "one", "month": 0, "servers": 2}, {"name": "two", "month": 12, "servers": 4}]
    content = case(4, {"tiers": tiers}) | {"rules": {}, "resilience": "none", "stages": stages, "site": AS_USUAL}
    del content["servers"]
    parts = too_small(8 if tiers == 1 else 4)
    design = small.designed(parts, content)
    assert said(design).hosts == 1 and design.rules_left_out == ()
    host = {"name": "ufm", "kind": "management", "ports": 1, "form_factor": "QSFP56", "split": "1x100"}
    content["fabrics"] = [content["fabrics"][0] | {"attachments": [host]}]
    assert usd(small.designed(parts, content)) == usd(design)


def test_the_verifier_counts_again() -> None:
    design = designed(parts())
    twin = TwinUse(role="leaf", id="twin", count=1)
    assert failed(design) >= {"subnets_are_managed"}
    for changes in ({"kept": False}, {"managers": 2}, {"nodes": 3}, {"subnets": 2}):
        assert "subnets_are_managed" in failed(design, **changes), changes
    for twins in (
        (),
        (twin, twin),
        (twin.model_copy(update={"count": 3}),),
        (twin.model_copy(update={"id": "plain"}),),
    ):
        assert "subnets_are_managed" in failed(design, twins=twins), twins
    # a spine would do as well as a leaf: bill and costs are the same
    assert failed(design, twins=(twin.model_copy(update={"role": "spine"}),)) == set()


def test_what_is_not_kept_must_be_told() -> None:
    design = designed(too_small(), {"tiers": 1})
    untold = design.model_copy(update={"rules_left_out": ()})
    assert [check.name for check in verify(untold) if not check.ok] == ["subnets_are_managed"]


# -- brute force ------------------------------------------------------------------------------------------------------


@pytest.mark.long("limited-3", "linear-4", "rails-0")
@pytest.mark.long(but_every=2)
@pytest.mark.long(
    "limited-2", "procurement-1", "ruled-1", "attached-0", "linear-0", "linear-2", "planes-2", "ruled-3", "three_tier-1"
)
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in SEEDS.items() for seed in seeds])
def test_random_cases_agree(family: str, seed: int) -> None:
    """Cost, structure, bill and twins; it is never cheaper than without the rule."""
    parts, wanted = generate(family, seed)
    parts = with_managed_switches(parts, seed)
    wanted["fabrics"][0]["protocol"] = "infiniband"
    wanted["rules"] = {"subnet-manager": True, "lengths": False}
    best = solve(parts, wanted)
    assert_managed_alike(best, run(parts, wanted))
    if best is not None:
        bare = solve(parts, wanted | {"rules": "none"})
        assert bare is not None and bare.objective <= best.objective


def with_a_host(parts: Json, wanted: Json) -> list[Json]:
    """The case with a host of management on any port: near parts bought, or with each card of one port that is sold."""
    host = {"name": "subnet-manager", "kind": "management", "ports": 1}
    ways = [host | {"buys": "near"}]
    for one in parts["nics"]:
        for own in one["cages"]:
            splits = [split for split in own["splits"] if split.startswith("1x")]
            ways += [host | {"form_factor": own["form_factor"], "split": split} for split in splits]
    cases = []
    for way in ways:
        other = copy.deepcopy(wanted)
        other["fabrics"][0].setdefault("attachments", []).append(way)
        cases.append(other)
    return cases


@pytest.mark.long("attached-3", "three_tier-1", "rails-1", "linear-5")
@pytest.mark.long("linear-0")
@pytest.mark.parametrize(
    ("family", "seed"), [("linear", 0), ("linear", 3), ("linear", 5), ("attached", 3), ("three_tier", 1), ("rails", 1)]
)
def test_hosts_are_attached_where_they_cost_least(family: str, seed: int) -> None:
    """Nothing manages a subnet by itself: a host is where the brute force over all its places has it, at that cost."""
    parts, wanted = generate(family, seed)
    parts = with_managed_switches(parts, seed)
    for one in parts["switches"]:
        one["managed"] = False
        one.pop("managed_twin", None)
    wanted["fabrics"][0]["protocol"] = "infiniband"
    off: Json = {"lengths": False, "subnet-manager": False}
    found = [solve(parts, other | {"rules": off}) for other in with_a_host(parts, wanted)]
    theirs = run(parts, wanted | {"rules": {"lengths": False}})
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    if theirs["status"] == "infeasible":
        assert found[0] is None
        return
    use = theirs["fabrics"][0]["subnet_manager"]
    if found[0] is not None and use["subnets"] == 1:
        assert theirs["objective"]["value"] == round(float(found[0].objective) / 100, 2)
        assert (use["kept"], use["hosts"]) == (True, 1)
    elif use["kept"]:
        assert theirs["objective"]["value"] in [round(float(one.objective) / 100, 2) for one in found[1:] if one]


@pytest.mark.long("any", "spine")
@pytest.mark.parametrize("tier", ["any", "leaf", "spine"])
def test_hosts_on_any_tier_cost_no_more_than_on_one(tier: str) -> None:
    """A host takes the other port of a cage of 2x400 that a server has. On free cages alone it took two more leaves."""
    content = yaml.safe_load((WIDER / "managers.yaml").read_text())
    content["fabrics"][0]["attachments"][0]["tier"] = tier
    design = optimize.solve(inputs_from_objects(content, None), alternatives_s=0)
    small.assert_proven(design)
    assert design.totals.switches == (14 if tier == "spine" else 12)
    assert usd(design) == (1_425_120 if tier == "spine" else 1_378_880)


@pytest.mark.long
def test_hosts_that_are_added_may_be_on_leaves() -> None:
    """511 servers fill their leaves but for a port of eight each; hosts on spines alone made it 353 switches."""
    design = small.solved_file(WIDER / "managers-511.yaml")
    small.assert_proven(design)
    assert design.totals.switches == 320 and said(design).hosts == 2
    content = yaml.safe_load((WIDER / "managers-511.yaml").read_text())
    host = {"name": "sm", "kind": "management", "tier": "leaf", "ports": 2, "gbps": 400, "buys": "none"}
    content["fabrics"][0]["attachments"] = [host]
    given = optimize.solve(inputs_from_objects(content, None), alternatives_s=0)
    # the cables of the hosts that are added, two of 30 m
    assert usd(given) == 32_573_760 and usd(design) == usd(given) + 2 * 300


@pytest.mark.long
def test_a_floor_in_the_way_of_hosts_makes_no_rule_yield(unadvised: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six switches of 16 servers have no port left for hosts: with two of a unit each it is eight; a rack has seven.

    Servers of ten units leave no place for switches in their racks, and the rack for these holds eight and two hosts.
    """
    switches = {"leaf": ["nvidia-qm9790"], "spine": ["nvidia-qm9790"]}
    spread = dict.fromkeys(("spread_leaves", "spread_spines", "spread_attachments"), False)
    floor = {"rows": 1, "racks_per_row": 17, "rack_units": 10}

    def solve_with(most: int, **rules: bool) -> Design:
        rack_rules = {**spread, "management_units": 0, "manager_units_per_switch": 0, "switches": most}
        content = {
            "name": "full", "catalog": ["reference"], "server": "nvidia-dgx-b200", "servers": 16, "rules": rules,
            "fabrics": [{"name": "compute", "protocol": "infiniband", "tiers": 2, "switches": switches}],
            "procurement": {"forbidden_parts": ["nvidia-qm9700"]},
            "site": {"servers_per_rack": 1, "floor": floor, "rack_rules": rack_rules},
        }  # fmt: skip
        return optimize.solve(inputs_from_objects(content, None), alternatives_s=0)

    with_hosts, without = solve_with(8), solve_with(7, **{"subnet-manager": False})
    assert with_hosts.totals is not None and with_hosts.totals.switches == 8 and said(with_hosts).hosts == 2
    assert without.totals is not None and without.totals.switches == 6
    assert solve_with(7).status == "infeasible"
    # no larger floor looked at: as if nothing could manage it
    monkeypatch.setattr(subnet_hosts, "on_larger_floors", lambda case, problem: ())
    given_up = solve_with(7)
    assert given_up.status == "optimal" and [part.rule for part in given_up.rules_left_out] == ["subnet-manager"]


@pytest.mark.long
def test_on_a_floor_a_manager_costs_no_more_than_its_twin() -> None:
    """Without the rule, as solving says and as the row says where it is finished, no more than with plain switches."""
    floor = {"rows": 2, "racks_per_row": 8, "rack_power_w": 45_000}
    content = {
        "name": "floor", "catalog": ["reference"], "server": "nvidia-dgx-h200", "servers": 16,
        "site": {"servers_per_rack": 4, "floor": floor}, "resilience": "none",
        "fabrics": [
            {"name": "compute", "protocol": "infiniband"},
            {"name": "in-band", "role": "in-band", "protocol": "ethernet", "min_gbps_per_server": 100, "tiers": 2},
        ],
    }  # fmt: skip
    design = optimize.solve(inputs_from_objects(content, None))
    (row,) = [row for row in design.alternatives if row.what == "subnet-manager"]
    without = optimize.solve(
        inputs_from_objects(content | {"rules": {"subnet-manager": False}}, None), alternatives_s=0
    )
    twins = {row.id: row for row in design.bom if row.id == "nvidia-qm9700"}
    plain = next(row for row in design.bom if row.id == "nvidia-qm9790")
    saved = sum(twin.quantity * (twin.unit_price_usd - plain.unit_price_usd) for twin in twins.values())
    assert twins and usd(without) - usd(design) <= -saved < 0
    assert not row.finished or row.capex_usd == usd(without)
