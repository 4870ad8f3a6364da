"""Tori of servers without switches: against an exhaustive search, on their graphs, and what is told where none is."""

from __future__ import annotations

import json
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabopt.cli import main
from fabopt.network.direct_links import Torus
from fabopt.output.export.design import design_bytes
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.schema.structure import SwitchlessStructure
from fabopt.search.choice import search_of
from fabopt.solution import optimize
from fabopt.topology.server_torus.space import lattices_of, links_of_ports, sides_of
from fabopt.wiring.build import wiring_of
from tests.oracles import brute_servers
from tests.samples import small
from tests.samples.random_cases import Dice, a_case, a_catalog, add_cable

Json = dict[str, Any]
SEEDS = 24 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
# Six ports of 400 Gb/s behind a slot of 504 Gb/s, so that most of what the ports carry is for others.
NIC: Json = {"id": "nic-through", "protocols": ["ethernet"], "pcie": {"generation": 5, "lanes": 16}, "power_w": 40,
             "price_usd": 3000, "forwards": True,
             "cages": [{"count": 6, "form_factor": "QSFP112", "splits": ["1x400"]}]}  # fmt: skip
CABLE: Json = {"id": "dac-112", "medium": "DAC", "power_w": 0.2, "lengths": [{"m": 30, "price_usd": 200}],
               "ends": [{"form_factor": "QSFP112", "split": "1x400"}] * 2}  # fmt: skip
FABRIC: Json = {"topologies": ["torus"], "tiers": "any", "max_oversubscription": 2, "min_gbps_per_gpu": 100}


def catalog() -> Json:
    """The small catalog with a card that passes traffic on, and a cable for it."""
    parts = small.catalog()
    parts["nics"].append(json.loads(json.dumps(NIC)))
    parts["cables"].append(json.loads(json.dumps(CABLE)))
    return parts


def case(servers: int, **fabric: Any) -> Json:
    return small.case(FABRIC | fabric, servers=servers)


# -- the cheapest there is ----------------------------------------------------------------------------------------


def generate(seed: int) -> tuple[Json, Json]:
    """A small catalog whose cards mostly pass on, and a case for a torus of servers; more often feasible than not."""
    dice = Dice(f"servers-{seed}")
    parts = a_catalog(dice, switches=1, cages=(3, 4), rich=dice.chance(0.5))
    for nic in parts["nics"]:
        nic["forwards"] = dice.chance(0.8)
        nic["cages"][0]["count"] = dice.one([2, 3, 4, 4, 6])
        if dice.chance(0.7):
            nic["pcie"] = {"generation": 4, "lanes": 16}
        for cage in nic["cages"]:
            for split in cage["splits"]:
                end = (cage["form_factor"], split)
                for _ in range(dice.number(1, 2)):
                    add_cable(dice, parts, end, end)
    parts["servers"][0].setdefault("pcie", {"generation": 4, "lanes": dice.one([8, 16])})
    for server in parts["servers"]:
        for built_in in server.get("nics", []):
            for cage in built_in.get("cages", []):
                cage["count"] = dice.one([2, 4])
    wanted = a_case(dice, servers=dice.one([9, 9, 12, 15, 16, 18, 27, 27, 10]))
    wanted["fabrics"][0] |= {
        "topologies": ["torus"],
        "torus_nodes": "servers",
        "max_oversubscription": dice.one([1, 2, 4]),
    }
    wanted["name"] = f"servers-{seed}"
    wanted["catalog"] = ["./catalog.yaml"]
    return parts, wanted


def torus_of(design: Design) -> SwitchlessStructure:
    """The box of a design whose only fabric is a torus of servers."""
    structure = design.fabrics[0].structure
    assert isinstance(structure, SwitchlessStructure)
    return structure


@pytest.mark.long(but=("19", "22"))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_cases_agree(seed: int) -> None:
    """Objective, cost, power and cables; ``FABOPT_ORACLE_SEEDS=10`` walks ten times as many seeds."""
    parts, wanted = generate(seed)
    found = brute_servers.solve(parts, wanted)
    small.assert_optimum(None if found is None else found.sums, wanted, parts, "" if found is None else found.name)


@pytest.mark.long(but=("0", "14"))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_demands_on_rings_agree(seed: int) -> None:
    """The cheapest with a least all-reduce above what the cheapest without one has."""
    parts, wanted = generate(seed)
    free = brute_servers.solve(parts, wanted)
    if free is None:
        return
    figures = small.solved(wanted, parts).fabrics[0].metrics
    assert figures.allreduce_gbps_per_gpu is not None
    least = min(figures.injection_gbps_per_gpu, figures.allreduce_gbps_per_gpu * (1.01 + seed % 3 / 4))
    wanted["fabrics"][0]["min_allreduce_gbps_per_gpu"] = round(least, 3)
    found = brute_servers.solve(parts, wanted)
    theirs = small.solved(wanted, parts)
    text = json.dumps({"catalog": parts, "case": wanted})
    assert (theirs.totals is None) == (found is None), text
    if found is not None and theirs.totals is not None:
        assert found.purchase.capex == round(theirs.totals.capex_usd * 100), (found.name, text)
        assert [check for check in theirs.checks if not check.ok] == [], text


def test_rings_may_ask_for_more_links_along_them() -> None:
    """Nine servers whose ring goes along dimension 1, one link of 400 Gb/s to the next: 100 a GPU. Two links take six
    ports, of which dimension 2 has two; the slot then lets 126 through.
    """
    thin = small.solved(case(9, torus_nodes="servers"), catalog())
    assert thin.fabrics[0].metrics.allreduce_gbps_per_gpu == 100
    thick = small.solved(case(9, torus_nodes="servers", min_allreduce_gbps_per_gpu=110), catalog())
    small.assert_proven(thick)
    assert torus_of(thick).links_per_pair == (2, 1)
    assert thick.fabrics[0].metrics.allreduce_gbps_per_gpu == 126
    none = small.solved(case(9, torus_nodes="servers", min_allreduce_gbps_per_gpu=126, nics_per_server=1), thin_card())
    needed = {one.limit: one.needed for one in none.conflicts}["fabrics.compute.min_allreduce_gbps_per_gpu"]
    assert none.status == "infeasible" and needed == 100


def thin_card() -> Json:
    """The catalog with four ports on the card."""
    parts = catalog()
    small.product(parts, "nic-through")["cages"][0]["count"] = 4
    return parts


def test_the_cheaper_of_both_wins() -> None:
    """Nine servers with a card each: $3,000 and two cables of $200 against nine switches; and at a dear card those."""
    made = optimize.solve(small.inputs(case(9), catalog()))
    small.assert_proven(made)
    assert made.fabrics[0].tiers == () and made.totals is not None
    assert made.totals.capex_usd == 9 * (3000 + 2 * 200) and made.totals.switches == 0
    lines = {one.what: one for one in made.alternatives}
    switched = small.solved(case(9, torus_nodes="switches"), catalog())
    assert switched.totals is not None and switched.totals.switches > 0
    assert (lines["torus of"].value, lines["torus of"].capex_usd) == ("switches", switched.totals.capex_usd)
    dear = catalog()
    small.product(dear, "nic-through")["price_usd"] = 100_000
    made = optimize.solve(small.inputs(case(9), dear))
    assert made.totals is not None and made.totals.capex_usd == switched.totals.capex_usd
    assert {one.what: one.value for one in made.alternatives}["torus of"] == "servers"


@pytest.mark.long
def test_engines_agree_and_pruning_loses_nothing() -> None:
    wanted = case(12)
    first = small.comparable(small.solved(wanted, catalog()))
    assert first == small.comparable(small.solved(wanted, catalog(), prune=False))
    assert {small.comparable(small.solved(wanted, catalog(), engine)) for engine in ("highs", "scip", "cbc")} == {first}


@pytest.mark.parametrize("change", [{"forwards": False}, {}])
def test_only_cards_that_pass_on_make_one(change: Json) -> None:
    parts = catalog()
    small.product(parts, "nic-through").update(change)
    made = small.solved(case(9), parts)
    assert bool(made.fabrics[0].tiers) == ("forwards" in change)


@pytest.mark.parametrize(
    "asked", [{"reserve_ports": 0.1}, {"planes": 2}, {"nics": ["nic-400"]}, {"torus_nodes": "switches"}]
)
def test_what_it_cannot_do_is_left_to_switches(asked: Json) -> None:
    """Ports kept free, planes, cards that pass nothing on, and a case that says so."""
    given = small.inputs(case(9, **asked), catalog())
    problem = problem_of(given.case, given.catalog)
    found = search_of(problem, Settings(), Clock(None)).run(ties=False)
    assert all(one.switches for one, _ in found.picked)


# -- figures ------------------------------------------------------------------------------------------------------


def test_figures_of_a_small_torus() -> None:
    """3 x 4 servers, one link of 400 Gb/s a neighbour.

    A link of side k carries 12 floor(k^2 / 4) / (2 k) ordered pairs, 4 and 6, so that every pair has 400 / 6 Gb/s at
    once. A server sends to 11 others: 733.3, of which the slot lets 504 through, 126 a GPU. Half of the longer side is
    a cut of 2 x 3 links each way for 6 servers: 400 each, 100 a GPU. From (0, 0) to (1, 2) are three links, and two
    servers between.
    """
    made = small.solved(case(12, torus_nodes="servers"), catalog())
    small.assert_proven(made)
    assert torus_of(made).sides == (3, 4)
    figures = made.fabrics[0].metrics
    assert (figures.injection_gbps_per_gpu, figures.alltoall_gbps_per_gpu, figures.bisection_gbps_per_gpu) == (
        126,
        126,
        100,
    )
    assert (figures.max_switch_hops, figures.mean_switch_hops, figures.max_nic_hops) == (0, 0, 2)


@pytest.mark.parametrize(("sides", "links"), [((3, 3), (1, 1)), ((3, 4), (1, 2)), ((3, 3), (1, 2))])
def test_bisection_is_below_every_cut(sides: tuple[int, ...], links: tuple[int, ...]) -> None:
    """No set of half the servers has fewer links to the rest than the figure says, by trying all of them."""
    torus = Torus(sides, links)
    ends = [torus.pairs(scope) for scope in torus.scopes]
    a, b = (np.concatenate([getattr(one, end) for one in ends]) for end in ("a", "b"))
    half = torus.switches // 2
    least = min(
        int((np.isin(a, inside) != np.isin(b, inside)).sum()) for inside in combinations(range(torus.switches), half)
    )
    flow = min(2 * k * m / (torus.switches * (k * k // 4)) for k, m in zip(sides, links, strict=True))
    assert flow * torus.switches / 2 <= least / half


# -- places and ports ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [(3, 3), (4, 5), (3, 4, 6), (7, 8)])
def test_neighbours_stand_two_places_apart_at_the_most(sides: tuple[int, ...]) -> None:
    """Every place of a row is taken once, and no cable of a ring passes more than one place."""
    torus = Torus(sides, (1,) * len(sides))
    assert len(np.unique(torus.places, axis=0)) == torus.switches
    assert torus.places.max(axis=0).tolist() == [side - 1 for side in sides]
    for scope in torus.scopes:
        pairs = torus.pairs(scope)
        apart = np.abs(torus.places[pairs.a] - torus.places[pairs.b])
        assert apart.max() <= 2 and (apart > 0).sum(axis=1).max() == 1


def test_ports_lead_on_then_back() -> None:
    """3 x 3 servers with two links a neighbour in dimension 2: ports 1 and 2 lead to neighbours of dimension 1, 3 and 4
    on to the next of dimension 2, 5 and 6 back. Server 1 is at (0, 0), its neighbours 2 and 3, and 4 and 7.
    """
    made = small.solved(case(9, torus_nodes="servers", max_oversubscription=1, min_gbps_per_gpu=126), catalog())
    assert made.fabrics[0].nic.ports_per_nic == 4 and torus_of(made).links_per_pair == (1, 1)
    wiring = wiring_of(made)
    ends = {}
    for row in range(len(wiring.links)):
        a, b = int(wiring.links.a[row]), int(wiring.links.b[row])
        ends[a, wiring.a_port[row]], ends[b, wiring.b_port[row]] = b, a
    assert [ends[0, f"nic1p{port}"] for port in (1, 2, 3, 4)] == [1, 2, 3, 6]


# -- what is none -------------------------------------------------------------------------------------------------


def test_boxes_and_links() -> None:
    assert [one for one in range(1, 31) if lattices_of(one)] == [9, 12, 15, 16, 18, 20, 21, 24, 25, 27, 28, 30]
    assert sides_of(36, 2) == ((3, 12), (4, 9), (6, 6)) and sides_of(36, 3) == ((3, 3, 4),)
    # 5 pairs of ports, 1 and 2 at the least in a dimension; of 6 in cages of 4 ports the even ones
    assert links_of_ports((1, 2), 5, 2) == [(1, 4), (2, 3), (3, 2)]
    assert links_of_ports((1, 1), 6, 4) == [(2, 4), (4, 2)]
    assert links_of_ports((1, 1, 1), 2, 1) == []


@pytest.mark.parametrize(
    ("servers", "needed", "near"),
    [
        (7, 9, "9 = 3 x 3"),
        (4, 9, "9 = 3 x 3"),
        (13, 12, "12 = 3 x 4 or 15 = 3 x 5"),
        (23, 24, "24 = 4 x 6 or 21 = 3 x 7"),
    ],
)
def test_a_number_of_servers_that_is_no_box(servers: int, needed: int, near: str) -> None:
    """A prime, or a side of 2: told with the rule and the nearest numbers that work."""
    made = small.solved(case(servers, torus_nodes="servers"), catalog())
    assert made.status == "infeasible"
    (conflict,) = made.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("servers", servers, needed)
    rule = "the servers of a torus are a grid: the product of two or three sides of 3 to 1,024"
    assert conflict.detail == f"{rule}; nearest are {near}"


def test_cards_without_enough_ports() -> None:
    parts = catalog()
    small.product(parts, "nic-through")["cages"][0]["count"] = 3
    made = small.solved(case(9, torus_nodes="servers", nics_per_server=1), parts)
    (conflict,) = made.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("fabrics.compute.nics", "3 ports", "4 ports")
    # two cards of them have six together
    small.assert_proven(small.solved(case(9, torus_nodes="servers", nics_per_server=2), parts))


def test_no_card_passes_on() -> None:
    made = small.solved(case(9, torus_nodes="servers"), small.catalog())
    (conflict,) = made.conflicts
    assert conflict.limit == "fabrics.compute.nics" and "no NIC of the catalog does" in conflict.detail


def test_no_failures_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, path = small.solved(case(9, torus_nodes="servers"), catalog()), tmp_path / "torus.json"
    path.write_bytes(design_bytes(made))
    assert main(["check", str(path), "--failures", "1"]) == 2
    assert "failures are not drawn where servers are joined to each other" in capsys.readouterr().err
