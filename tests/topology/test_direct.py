"""HyperX, torus and dragonfly against an independent exhaustive search, and against the graphs that are wired."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fabopt.output.sheet.pages import in_column
from fabopt.schema.structure import TorusStructure
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_direct import solve
from tests.samples import small
from tests.samples.random_cases import Dice, a_case, a_catalog, an_attachment

Json = dict[str, Any]
FAMILIES = ("hyperx", "torus", "dragonfly")
WITH_PLUS = (*FAMILIES, "dragonfly+")
SEEDS = 8 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
# Each had an answer that was too dear, or none, or a wrong number of hops.
FIGURE_SEEDS = {"hyperx": (0, 1, 2), "torus": (0, 1, 2), "dragonfly": (500025, 500026, 500061, 500068, 500094)}


def generate(family: str, seed: int, figures: bool = False) -> tuple[Json, Json]:
    """A small catalog and a case for one family, more often feasible than not; ``figures``: some are asked for."""
    dice = Dice(f"{family}-{seed}")
    parts = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 6), rich=dice.chance(0.5))
    case = a_case(dice, servers=dice.number(2, 6))
    case["fabrics"][0]["topologies"] = [family]
    if dice.chance(0.7):
        case["fabrics"][0]["max_oversubscription"] = dice.one([2, 3, 4, 6])
    for key in ("min_bisection_gbps_per_gpu", "min_alltoall_gbps_per_gpu") if figures else ():
        if dice.chance(0.5):
            case["fabrics"][0][key] = dice.one([5, 10, 20, 33.3, 50])
    if figures and dice.chance(0.4):
        case["fabrics"][0]["max_switch_hops"] = dice.one([2, 2, 3, 3, 4])
    case["name"] = f"{family}-{seed}"
    case["catalog"] = ["./catalog.yaml"]
    return parts, case


@pytest.mark.long(but=("dragonfly-5", "hyperx-1", "torus-7"))
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family in FAMILIES for seed in range(SEEDS)])
def test_random_cases_agree(family: str, seed: int) -> None:
    """Objective, cost, power, units, switches and cables; ``FABOPT_ORACLE_SEEDS=10`` walks ten times as many seeds."""
    assert_agrees(family, *generate(family, seed))


@pytest.mark.long("dragonfly-500061", "hyperx-2")
@pytest.mark.long("dragonfly-500025")
@pytest.mark.long(but_every=2)
@pytest.mark.parametrize(
    ("family", "seed"), [(family, seed) for family, seeds in FIGURE_SEEDS.items() for seed in seeds]
)
def test_random_figures_agree(family: str, seed: int) -> None:
    """The same where the case asks for bisection, all-to-all or short paths."""
    assert_agrees(family, *generate(family, seed, figures=True))


def assert_agrees(family: str, parts: Json, wanted: Json) -> None:
    """fabopt and full enumeration have the same answer."""
    found = solve(parts, wanted, family)
    small.assert_optimum(None if found is None else found.sums, wanted, parts, "" if found is None else found.name)


@pytest.mark.long(but=("dragonfly-0", "hyperx-0", "torus-2"))
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family in FAMILIES for seed in range(SEEDS)])
def test_random_demands_on_rings_agree(family: str, seed: int) -> None:
    """The cheapest with a least all-reduce above what the cheapest without one has, which may take more links."""
    parts, wanted = generate(family, seed)
    free = solve(parts, wanted, family)
    if free is None:
        return
    without = small.solved(wanted, parts).fabrics[0].metrics
    assert without.allreduce_gbps_per_gpu is not None
    most = without.injection_gbps_per_gpu
    least = [most, (most + without.allreduce_gbps_per_gpu) / 2, without.allreduce_gbps_per_gpu * 1.01][seed % 3]
    wanted["fabrics"][0]["min_allreduce_gbps_per_gpu"] = round(min(most, least), 3)
    assert_agrees(family, parts, wanted)


@pytest.mark.long(but=("dragonfly-0", "hyperx-4", "torus-0"))
@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family in FAMILIES for seed in range(SEEDS)])
def test_random_attachments_agree(family: str, seed: int) -> None:
    """Hosts of management take free ports of any switch, at the same cost as in the full enumeration."""
    parts, wanted = generate(family, seed)
    dice = Dice(f"attached-{family}-{seed}")
    wanted["fabrics"][0]["attachments"] = [managers(dice, parts, at) for at in range(dice.one([1, 1, 2]))]
    if dice.chance(0.3):
        wanted["fabrics"][0]["reserve_ports"] = dice.one([0.1, 0.25])
    assert_agrees(family, parts, wanted)


def managers(dice: Dice, parts: Json, at: int) -> Json:
    """Hosts on cages of one port."""
    attachment = an_attachment(dice, parts, at) | {"kind": "management"}
    if "split" in attachment:
        attachment["split"] = "1x" + attachment["split"].partition("x")[2]
    return attachment


ANY = {"topologies": ["any"], "tiers": "any", "max_oversubscription": 2}


@pytest.mark.long
def test_any_is_the_cheapest_of_all() -> None:
    """The families' own optima, and the answer to `any`, which has a line for each of the others."""
    alone = {
        family: small.solved(small.case(ANY | {"topologies": [family]}, servers=14)) for family in ("clos", *WITH_PLUS)
    }
    capex = {family: made.totals.capex_usd for family, made in alone.items() if made.totals is not None}
    made = optimize.solve(small.inputs(small.case(ANY, servers=14)))
    small.assert_proven(made)
    assert made.totals is not None and made.totals.capex_usd == min(capex.values())
    winner = made.fabrics[0].topology
    others = {one.value: one for one in made.alternatives if one.what == "topology"}
    assert set(others) == set(capex) - {winner}
    assert all(one.capex_usd == capex[family] and "bisection" in one.summary for family, one in others.items())


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("servers", [2, 3, 4])
def test_few_servers_are_on_the_smallest_torus(servers: int) -> None:
    """A ring has three switches at the least, so few are not too few: the others carry what passes."""
    wanted = small.case({"topologies": ["torus"], "tiers": "any", "group_by": "rack"}, servers=servers)
    wanted |= {"site": {"servers_per_rack": 1}}
    design = small.solved(wanted)
    small.assert_proven(design)
    structure = design.fabrics[0].structure
    assert isinstance(structure, TorusStructure) and structure.sides == (3, 3)
    assert_agrees("torus", small.catalog(), wanted)


@pytest.mark.long
def test_engines_agree_on_a_direct_network() -> None:
    wanted = small.case(ANY | {"topologies": ["hyperx", "dragonfly", "dragonfly+"]}, servers=10)
    answers = {small.comparable(small.solved(wanted, engine=engine)) for engine in ("cp-sat", "highs", "scip", "cbc")}
    assert len(answers) == 1


@pytest.mark.long(but=("dragonfly",))
@pytest.mark.parametrize("family", WITH_PLUS)
def test_pruning_loses_nothing(family: str) -> None:
    wanted = small.case(ANY | {"topologies": [family], "max_oversubscription": 4}, servers=9)
    assert small.comparable(small.solved(wanted)) == small.comparable(small.solved(wanted, prune=False))


def test_demands_on_figures_hold() -> None:
    """More bisection than the ratio asks for costs no less, and fewer hops leave a full mesh."""
    free = small.solved(small.case(ANY | {"topologies": ["hyperx"], "max_oversubscription": 8}, servers=14))
    asked = {"min_bisection_gbps_per_gpu": 150, "max_switch_hops": 2}
    made = small.solved(small.case(ANY | {"topologies": ["hyperx"], "max_oversubscription": 8} | asked, servers=14))
    small.assert_proven(made)
    assert free.totals is not None and made.totals is not None
    assert made.totals.capex_usd >= free.totals.capex_usd
    assert made.fabrics[0].metrics.bisection_gbps_per_gpu >= 150
    assert made.fabrics[0].metrics.max_switch_hops == 2


@pytest.mark.parametrize("family", FAMILIES)
def test_a_ratio_below_one_asks_for_more_than_cards_take(family: str) -> None:
    """As uplinks of a Clos may: 5/2 of the injection cost no less than the injection, and are proven."""
    capex = []
    for ratio in (1, 0.4):
        made = small.solved(small.case(ANY | {"topologies": [family], "max_oversubscription": ratio}, servers=4))
        small.assert_proven(made)
        assert made.totals is not None
        assert made.fabrics[0].metrics.bisection_gbps_per_gpu <= made.fabrics[0].metrics.injection_gbps_per_gpu
        capex.append(made.totals.capex_usd)
    assert capex[0] <= capex[1]


@pytest.mark.long
def test_the_ratio_that_would_do_is_told() -> None:
    """On switches with 8 ports, 20 servers have no HyperX at 1:1; at 4/3 they have one, and at 1% less none."""
    parts = small.catalog()
    parts["switches"] = [one for one in parts["switches"] if one["id"] == "small"]
    asked = {"topologies": ["hyperx"], "tiers": "any", "nics": ["nic-400"]}
    none = small.solved(small.case(asked, servers=20), parts)
    assert none.status == "infeasible"
    needed = {one.limit: one.needed for one in none.conflicts}["fabrics.compute.max_oversubscription.leaf"]
    assert needed == 1.334
    small.assert_proven(small.solved(small.case(asked | {"max_oversubscription": needed}, servers=20), parts))
    less = small.solved(small.case(asked | {"max_oversubscription": 0.99 * needed}, servers=20), parts)
    assert less.status == "infeasible"


def test_any_leaves_out_what_cannot_grow() -> None:
    stages = [{"name": "one", "servers": 4}, {"name": "two", "month": 12, "servers": 6}]
    made = small.solved(small.case(ANY, stages=stages))
    assert made.fabrics[0].topology == "clos"
    assert [note for note in made.notes if "left out" in note] == [
        f"compute: {family} left out, which does not support growth in stages" for family in WITH_PLUS
    ]


def test_a_report_draws_links_between_equals() -> None:
    made = small.solved(small.case(ANY | {"topologies": ["hyperx"]}, servers=14))
    picture = in_column(made, wiring_of(made))["compute"]
    assert all("to compute-leaf-" in box.about for box in picture.boxes)
    assert len(picture.lines) > len(picture.boxes)
