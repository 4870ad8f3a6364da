"""Growing clusters: tiny instances in which one rule decides, derived by hand, each with its relaxed twin; then random
ones against the oracle, and properties.

Unless a test says otherwise, all is as in ``tests.samples.growth_samples``: a leaf has at most 4 servers and as many
uplinks.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.cli import main
from fabopt.io.case import inputs_from_objects
from fabopt.network.clos_links import ClosNumbers, leaf_spine
from fabopt.network.clos_stages import (
    StageNumbers,
    Stages,
    lent_links,
    of_leaves,
    of_links,
    of_spines,
    spine_of_uplinks,
)
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.solution.rows import NOTHING_CHEAPER
from fabopt.units import ceil_div
from fabopt.wiring.build import wiring_of
from tests.oracles import brute_growth
from tests.samples import random_growth
from tests.samples.growth_samples import cheaper_later, eight, grown, own, solved
from tests.samples.small import RUN_KEYS, assert_proven
from tests.solution.test_brute_force import cage, catalog, fibre, optic, switch

Json = dict[str, Any]
SEEDS = {
    "staged": (2, 12, 13, 18, 39),
    "moving": (3, 17, 63, 78),
    "moving_twins": (2, 24, 32, 65, 90),
    "staged_attached": (5, 14, 28),
    "staged_three_tier": (4, 9, 22),
    "staged_ratios": (23, 71, 74, 78, 93, 97, 115),
    "staged_hosted": (2, 5, 13, 15, 22, 51, 59, 90),
}
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def design_of(wanted: Json, parts: Json | None = None) -> Design:
    """The design, after it was proven again and the oracle was seen to agree."""
    design = solved(eight() if parts is None else parts, wanted)
    assert_proven(design)
    if not any(stage.get("limits") for stage in wanted["stages"]):
        assert_agrees(design, brute_growth.solve(eight() if parts is None else parts, wanted))
    return design


def assert_agrees(design: Design, best: brute_growth.Best | None) -> None:
    """Objective, capex and power; what each stage spends, stands and moves."""
    assert [check for check in design.checks if not check.ok] == []
    if best is None:
        assert design.status == "infeasible"
        return
    assert design.status == "optimal" and design.totals is not None and design.objective.value is not None
    scale = 1000 if design.objective.metric == "power_w" else 100
    assert design.objective.value * scale == pytest.approx(float(best.objective), abs=0.51)
    assert round(design.totals.capex_usd * 100) == best.capex_cents
    assert round(design.totals.power_w * 1000) == best.power_mw
    assert (spent(design, 100), standing(design), moved(design)) in best.outlines


def spent(design: Design, scale: int = 1) -> tuple[int, ...]:
    """Dollars of each stage (cents with ``scale`` 100)."""
    return tuple(round(stage.capex_usd * scale) for stage in design.stages)


def standing(design: Design) -> tuple[tuple[int, ...], ...]:
    """Leaves, spines and cores at each stage, those tiers that there are."""
    growth, tiers = design.fabrics[0].growth, design.fabrics[0].structure.tiers
    return tuple(tuple(getattr(one, role) for one in growth) for role in ("leaves", "spines", "cores")[:tiers])


def moved(design: Design) -> tuple[int, ...]:
    return tuple(one.moved_cables for one in design.fabrics[0].growth)


# -- what stands when -----------------------------------------------------------------------------------------------


def test_a_single_leaf_needs_no_spine() -> None:
    # Last: two leaves with 4 servers and 4 uplinks each, all on one spine.
    # First: a leaf, 4 cards, 4 cables: 1000 + 400 + 40. Then a leaf and a spine, 4 cards, 4 + 8 cables.
    design = design_of(grown(4, 8))
    assert standing(design) == ((1, 2), (0, 1))
    assert spent(design) == (1440, 2000 + 440 + 160)
    assert design.fabrics[0].growth[0].oversubscription == {}


def test_two_leaves_need_one() -> None:
    # The fifth server opens the second leaf: 2 leaves, a spine, 5 cards, 5 + 8 cables; then 3 cards and cables.
    design = design_of(grown(5, 8))
    assert standing(design) == ((2, 2), (1, 1))
    assert spent(design) == (3000 + 550 + 160, 330)


FOUR = {"switches": [switch("eight", cage(8, "1x100")), switch("four", cage(4, "1x100"), usd=500)]}
SMALL_SPINES = {"switches": {"leaf": ["eight"], "spine": ["four"]}}


def test_spines_come_as_a_stage_needs_them() -> None:
    # Two spines with two links to each leaf. At 2:1 two uplinks do for the 4 servers of a leaf: one spine.
    # First: 2 leaves, a spine of 500, 5 cards, 5 + 4 cables; then 3 cards and cables, a spine, 4 cables.
    design = design_of(grown(own(5, 2), 8, fabric=SMALL_SPINES), catalog(**FOUR))
    assert standing(design) == ((2, 2), (1, 2))
    assert spent(design) == (2500 + 550 + 80, 330 + 500 + 80)
    assert [one.oversubscription["leaf"] for one in design.fabrics[0].growth] == [2, 1]


def test_a_tight_stage_has_them_all() -> None:
    design = design_of(grown(5, 8, fabric=SMALL_SPINES), catalog(**FOUR))
    assert standing(design) == ((2, 2), (2, 2))
    assert spent(design) == (3000 + 550 + 160, 330)


def test_a_single_pod_needs_no_core() -> None:
    # Four ports a switch: leaves of 2 + 2, pods of two leaves and two spines, two cores: 4, 4, 2 switches.
    design = design_of(grown(4, 8, fabric={"tiers": 3}), catalog())
    assert standing(design) == ((2, 4), (2, 4), (0, 2))
    # First 4 switches, 4 cards, 4 + 4 cables of 10 and 20; then 6, 4 cards, 4 + 4, and 8 core links of 30.
    assert spent(design) == (4000 + 440 + 80, 6000 + 440 + 80 + 240)


def test_two_pods_need_them() -> None:
    # Five servers are three leaves, in two pods.
    design = design_of(grown(5, 8, fabric={"tiers": 3}), catalog())
    assert standing(design) == ((3, 4), (4, 4), (2, 2))


@pytest.mark.parametrize("sizes", [(2, 4), (2, 3)])
def test_a_pod_of_a_rail_that_is_not_full_yet(sizes: tuple[int, int]) -> None:
    """Three rails, each a pod of two leaves and two spines. At first a pod has one leaf: a spine has one link below it
    and needs one above, so the ratio is 1:1 with half of the cores, and bisection is all of 300 Gb/s.
    """
    parts = catalog()
    parts["servers"][0]["nic_slots"] = 3
    design = solved(parts, grown(*sizes, fabric={"tiers": 3, "nics_per_server": 3, "min_gbps_per_gpu": 300}))
    assert_proven(design)
    fabric = design.fabrics[0]
    assert (fabric.structure.pod_of, fabric.structure.groups_per_pod) == ("rail", 2)
    first = fabric.growth[0]
    assert (first.leaves, first.spines, first.cores, first.oversubscription) == (3, 6, 2, {"leaf": 1, "spine": 1})
    assert first.metrics.bisection_gbps_per_gpu == 300


def test_a_stricter_stage_asks_for_more_uplinks() -> None:
    # At 2:1 a leaf of 4 needs 2 uplinks, and 5 servers would need 3; six servers are two leaves in any case.
    assert design_of(grown(6, 8, fabric={"max_oversubscription": 2})).fabrics[0].tiers[0].up_ports == 2
    assert design_of(grown(own(6, 1), 8, fabric={"max_oversubscription": 2})).fabrics[0].tiers[0].up_ports == 4


# -- parts ----------------------------------------------------------------------------------------------------------


def twins() -> Json:
    """Leaf cages of two ports, joined by modules and fibres."""
    optics = [optic("twin", "2x100", 50, connectors=2), optic("one", "1x100", 30)]
    return catalog(
        switches=[switch("switch", cage(4, "2x100"))],
        transceivers=optics,
        cables=[],
        fibres=[fibre("jumper", "LC", "LC", 5)],
    )


def test_a_cage_half_used_has_its_module() -> None:
    # Three servers fill a cage and a half: two modules of 50, three of 30, three fibres of 5. The fourth adds its end.
    design = design_of(grown(3, 4, fabric={"tiers": 1}), twins())
    assert spent(design) == (1000 + 300 + 2 * 50 + 3 * 35, 100 + 35)


def test_a_cage_not_used_has_none() -> None:
    design = design_of(grown(2, 4, fabric={"tiers": 1}), twins())
    assert spent(design) == (1000 + 200 + 50 + 2 * 35, 200 + 50 + 2 * 35)


ATTACHED = {
    "max_oversubscription": 2,
    "attachments": [{"name": "store", "ports": 2, "form_factor": "QSFP56", "split": "1x100"}],
}


def test_attachments_are_on_leaves_of_the_first_stage() -> None:
    # Leaves of 3 servers, both attachments on the first: 5 endpoints, 3 uplinks at 2:1.
    design = design_of(grown(3, 6, fabric=ATTACHED))
    assert (design.fabrics[0].tiers[0].down_ports, design.fabrics[0].tiers[0].up_ports) == (5, 3)
    wiring = wiring_of(design)
    leaves = wiring.links.b[wiring.links.kind == 1]
    assert wiring.devices.stage[leaves].tolist() == [0, 0]
    assert len(set(leaves.tolist())) == 1


def test_attachments_go_round_the_leaves_that_are_there() -> None:
    # All leaves are there from the start: one each, 4 endpoints, 2 uplinks.
    design = design_of(grown(4, 6, fabric=ATTACHED | {"group_by": "rack"}, site={"servers_per_rack": 3}))
    assert (design.fabrics[0].tiers[0].down_ports, design.fabrics[0].tiers[0].up_ports) == (4, 2)


# -- moves ----------------------------------------------------------------------------------------------------------


# 8 cards, 8 cables of 10 and 8 of 20, at each stage.
EACH = 800 + 80 + 160


def test_a_spine_that_comes_later_gets_its_cables_moved() -> None:
    # First 2 leaves on one spine with 4 links each; then 3 switches of 500, and 2 cables of each old leaf are moved.
    design = design_of(cheaper_later("allow"))
    assert standing(design) == ((2, 4), (1, 2)) and moved(design) == (0, 4)
    assert spent(design) == (3000 + EACH, 1500 + EACH + 4 * 10)
    rows = [row for row in design.bom if row.id == "moved-cable"]
    assert [(row.stage, row.quantity, row.unit_price_usd, row.total_usd) for row in rows] == [("stage-2", 4, 10, 40)]


def test_nothing_moves_where_that_is_forbidden() -> None:
    design = design_of(cheaper_later("forbid"))
    assert standing(design) == ((2, 4), (2, 2)) and moved(design) == (0, 0)
    assert spent(design) == (4000 + EACH, 1000 + EACH)
    assert not [row for row in design.bom if row.id == "moved-cable"]


def test_nothing_moves_where_that_is_dear() -> None:
    # Four moves of 150 are more than the 500 that a spine is cheaper.
    design = design_of(cheaper_later("allow", 150))
    assert moved(design) == (0, 0) and sum(spent(design)) == 5000 + 2 * EACH


def test_a_budget_of_a_stage_makes_it_move() -> None:
    # 4500 do not pay for the second spine in the first year.
    design = design_of(cheaper_later("allow", 150, limits={"budget_usd": 4500}))
    assert moved(design) == (0, 4) and spent(design) == (3000 + EACH, 1500 + EACH + 4 * 150)


def test_cables_of_cages_of_two_ports_move_one_by_one() -> None:
    # as above: 8 servers on 2 leaves and a spine, then 4 leaves and 2 spines; each old leaf moves 2 of its 4 fibres
    design = design_of(cheaper_later("allow"), twins())
    assert standing(design) == ((2, 4), (1, 2)) and moved(design) == (0, 4)
    assert moved(design_of(cheaper_later("forbid"), twins())) == (0, 0)


def test_a_stage_may_have_more_spines_than_it_needs() -> None:
    # 2, 4 and 8 leaves take 1, 2 and 4 spines. In a month a spine falls by 56 at most, which does not pay for the 4
    # cables that a second one would move; in two years by 708.
    growth = {"recabling": "allow", "usd_per_moved_cable": 20}
    stages = ({"servers": 8}, {"servers": 16, "month": 1}, {"servers": 32, "month": 25})
    design = design_of(grown(*stages, growth=growth, finance={"price_decline": {"switch": 0.5}}))
    assert standing(design) == ((2, 4, 8), (2, 2, 4)) and moved(design) == (0, 0, 8)


def test_all_on_day_one_is_a_case_of_one_stage() -> None:
    """At the prices of the first month; what is put off is cheaper, and paid later."""
    parts = eight()
    wanted = {**grown(2, 8, fabric={"tiers": [1, 2]}), "finance": {"price_decline": {"nic": 0.3}}}
    design = optimize.solve(inputs_from_objects(wanted, parts))
    row = next(one for one in design.alternatives if one.value == "all on day 1")
    (stage,) = row.change["stages"]
    assert stage["servers"] == 8
    at_once = optimize.solve(inputs_from_objects({**wanted, "stages": [stage]}, parts), alternatives_s=0)
    assert at_once.totals is not None and row.capex_usd == at_once.totals.capex_usd


@pytest.mark.long
def test_where_moving_saves_nothing_the_row_is_of_the_answer() -> None:
    # Two switches of one price, of which the answer has the one that takes less power; so has the row.
    switches = ["celestica-ds5000", "micas-m2-w6940-64oc"]
    fabric = {"name": "compute", "switches": {"leaf": switches, "spine": switches}, "tiers": 2}
    stages = [{"name": "first", "month": 0, "servers": 32}, {"name": "second", "month": 12, "servers": 64}]
    content = {"name": "two", "catalog": ["reference"], "server": "nvidia-dgx-h100"}
    design = optimize.solve(inputs_from_objects(content | {"fabrics": [fabric], "stages": stages}))
    row = next(other for other in design.alternatives if other.what == "recabling")
    assert (row.capex_delta_usd, row.power_delta_w) == (0, 0) and row.summary == NOTHING_CHEAPER


def clos_of(servers: int, g: int, u: int, spines: int, groups: int) -> ClosNumbers:
    """Servers of one port, leaves of g servers and u uplinks."""
    return ClosNumbers(
        servers=servers, ports=1, planes=1, k=1, g=g, u=u, spines=spines, groups_per_pod=groups,
        nics=1, ports_per_nic=1, shared_cages=False,
    )  # fmt: skip


def test_no_uplink_is_taken_out_between_stages() -> None:
    # 7 servers a leaf need 7 uplinks: five spines take 2 each, three take 3 each. Where three were there first, there
    # are 9 links, and later never fewer.
    n = clos_of(servers=8, g=1, u=10, spines=5, groups=8)
    stages = (StageNumbers(4, 3, 0, 3), StageNumbers(4, 5), StageNumbers(8, 5))
    hosts = spine_of_uplinks(n, stages)
    assert [(row >= 0).sum() for row in hosts] == [9, 10, 10] and hosts.min() == -1


def random_stages(dice: random.Random, n: ClosNumbers, ports: int) -> Stages:
    """Stages of which each has the fewest spines for its uplinks, or those that these keep."""
    each, lit, spines, found = n.u // n.spines, 0, 0, []
    sizes = sorted(dice.randint(1, n.servers) for _ in range(3))
    for size in sizes:
        lit = max(lit, dice.randint(1, n.u))
        fits = [
            (few, links)
            for few in range(max(1, spines), n.spines)
            if few * (links := max(each, ceil_div(lit, few))) <= n.u and ceil_div(size, n.g) * links <= ports
        ]
        few, links = fits[0] if fits and dice.random() < 0.8 else (max(spines, ceil_div(lit, each)), each)
        spines, lit = few, few * links
        found.append(StageNumbers(size, few, 0, links if links > each else 0))
    return (*found, StageNumbers(n.servers, n.spines))


def test_lent_links_never_meet_the_links_of_a_spine() -> None:
    """At every stage a link is at a spine that is there, at a port of its own."""
    dice, lending = random.Random(1), 0
    for _ in range(400):
        spines, each, groups, group = (dice.choice(of) for of in ((2, 3, 4, 6, 8), (1, 2, 3), (2, 3, 5, 8), (1, 2)))
        n = clos_of(groups * group, group, spines * each, spines, groups)
        ports = groups * each + dice.randint(0, 3)
        stages, joints = random_stages(dice, n, ports), leaf_spine(n, 1)
        lent, when = lent_links(n, stages, joints, ports), of_links(n, stages, "leaf-spine", joints)
        lending += len(lent.link) > 0
        for stage in range(len(stages)):
            now = (lent.first <= stage) & (stage <= lent.last)
            spine, slot = joints.b.copy(), joints.b_slot.copy()
            spine[lent.link[now]], slot[lent.link[now]] = lent.spine[now], lent.slot[now]
            there = when <= stage
            assert (of_leaves(n, stages, joints.a[there]) <= stage).all()
            assert (of_spines(n, stages, spine[there]) <= stage).all()
            assert len(np.unique(spine[there] * ports + slot[there])) == there.sum() and slot[there].max() < ports
    assert lending > 100


# -- cases ----------------------------------------------------------------------------------------------------------


def test_a_single_stage_is_a_cluster_that_does_not_grow() -> None:
    found = []
    for content in (grown(8), {"servers": 8, **{key: value for key, value in grown(8).items() if key != "stages"}}):
        design = solved(eight(), content)
        assert_proven(design)
        assert design.fabrics[0].growth == ()
        assert {row.stages for row in design.fabrics[0].links} == {None}
        kept = design.model_dump(mode="json", exclude={"case", "stages", "bom", "checks"})
        found.append(
            {**kept, "objective": {key: kept["objective"][key] for key in kept["objective"] if key not in RUN_KEYS}}
        )
    assert found[0] == found[1]


@pytest.mark.long
def test_an_early_stage_that_cannot_be_built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Racks of 6 servers leave two uplinks: 3:1, which seven servers on two leaves may not have at first."""
    racks: Json = {"fabric": {"group_by": "rack", "max_oversubscription": 3}, "site": {"servers_per_rack": 6}}
    assert solved(eight(), grown(7, 12, **racks)).status == "optimal"
    (tmp_path / "parts.yaml").write_text(yaml.safe_dump(eight()))
    path = tmp_path / "case.yaml"
    path.write_text(yaml.safe_dump(grown(own(7, 1), 12, **racks) | {"catalog": ["./parts.yaml"]}))
    assert main(["solve", str(path)]) == 3
    assert "Traceback" not in "".join(capsys.readouterr())


def test_fewer_servers_than_the_first_stage_figure_demands() -> None:
    """A leaf with 8 ports: 3 are attached, so 5 servers are the most."""
    attachments = [{"name": "store", "ports": 3, "buys": "none"}]
    design = solved(twins(), grown(12, 14, fabric={"tiers": 1, "attachments": attachments}))
    assert design.status == "infeasible"
    assert (f"stages.{design.case.content['stages'][-1]['name']}.servers", 5) in [
        (one.limit, one.needed) for one in design.conflicts
    ]


@pytest.mark.long(but=("moving-17", "moving-78", "moving_twins-65", "staged-2"))
@pytest.mark.parametrize(
    ("family", "seed"),
    [(family, seed + 1000 * more) for family, seeds in SEEDS.items() for seed in seeds for more in range(MORE_SEEDS)],
)
def test_random_cases_agree(family: str, seed: int) -> None:
    parts, wanted = random_growth.generate(family, seed)
    best = brute_growth.solve(parts, wanted)
    assert_agrees(solved(parts, {key: value for key, value in wanted.items() if key != "catalog"}), best)


@pytest.mark.long(but=("1-staged", "2-staged"))
@pytest.mark.parametrize("family", ["staged", "moving", "moving_twins", "staged_three_tier"])
@pytest.mark.parametrize("seed", range(4))
def test_random_cases_with_labour_agree(family: str, seed: int) -> None:
    """Each part and each moved cable costs its minutes too, at the stage that installs or moves it."""
    parts, wanted = random_growth.generate(family, seed)
    minutes = {"rack": {"switch": 20, "nic": 7}, "pull": {"cable": 40, "fibre": 12.5, "moved": 6 + 40 * seed},
               "label": 1, "test": {"moved": 3}, "plug": 0.5}  # fmt: skip
    wanted["site"] = {**wanted.get("site", {}), "labour": {"usd_per_hour": 77.7, "minutes": minutes}}
    best = brute_growth.solve(parts, wanted)
    assert_agrees(solved(parts, {key: value for key, value in wanted.items() if key != "catalog"}), best)


def value(parts: Json, wanted: Json) -> float:
    """The objective; infinite where there is no design."""
    found = solved(parts, {key: value for key, value in wanted.items() if key != "catalog"}).objective.value
    return float("inf") if found is None else float(found)


@pytest.mark.long(but=("63",))
@pytest.mark.parametrize("seed", [17, 62, 63, 78, 79])
def test_what_is_allowed_never_costs_more(seed: int) -> None:
    """To forbid moves costs no less than to allow them; nor does a stricter stage."""
    parts, wanted = random_growth.generate("moving", seed)
    allowed = value(parts, wanted)
    assert value(parts, wanted | {"growth": {"recabling": "forbid"}}) >= allowed
    loose = [stage | {"fabrics": {"compute": {"max_oversubscription": 4}}} for stage in wanted["stages"][:-1]]
    assert value(parts, wanted | {"stages": [*loose, wanted["stages"][-1]]}) <= allowed
