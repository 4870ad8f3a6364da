"""Failures of direct networks and of rails that never meet: by hand, against the exhaustive search, asked for."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.network.direct_links import Dragonfly, HyperX, Mesh, Torus
from fabopt.network.graph.cut_off import cut_off, cut_off_by_link, cut_off_by_switch
from fabopt.network.graph.symmetry import Kinds, kinds_of
from fabopt.schema.design import Design
from fabopt.topology.direct.failures import plane_of, worst_flow
from fabopt.verify import verify
from tests.oracles import brute_direct, brute_force, brute_survival
from tests.samples import small
from tests.samples.random_cases import Dice, a_case, a_catalog
from tests.solution.test_brute_force import cage, card, case, catalog, server

Json = dict[str, Any]
MESHES: dict[str, tuple[Mesh, tuple[Any, ...]]] = {
    "full mesh": (HyperX((5,), (2,)), ("hyperx", (5,), (2,))),
    "two switches": (HyperX((2,), (3,)), ("hyperx", (2,), (3,))),
    "hyperx": (HyperX((2, 3), (2, 1)), ("hyperx", (2, 3), (2, 1))),
    "square": (HyperX((3, 3), (1, 1)), ("hyperx", (3, 3), (1, 1))),
    "torus": (Torus((3, 4), (1, 2)), ("torus", (3, 4), (1, 2))),
    "cube": (Torus((3, 3, 3), (1, 1, 1)), ("torus", (3, 3, 3), (1, 1, 1))),
    "dragonfly": (Dragonfly(2, 5, 2, 4), ("dragonfly", 2, 5, 2, 1)),
    "uneven dragonfly": (Dragonfly(3, 4, 1, 6), ("dragonfly", 3, 4, 1, 2)),
    "two groups": (Dragonfly(4, 2, 1, 1), ("dragonfly", 4, 2, 1, 1)),
    "two large groups": (Dragonfly(5, 2, 1, 7), ("dragonfly", 5, 2, 1, 7)),
    "chain": (Dragonfly(2, 2, 1, 1), ("dragonfly", 2, 2, 1, 1)),
}


def failed(design: Design) -> list[str]:
    return [check.name for check in verify(design) if not check.ok]


def left(design: Design) -> dict[str, tuple[float, int | None]]:
    return {one.failed: (one.gbps_per_gpu, one.servers_cut_off) for one in design.fabrics[0].failures}


# -- on the graph -------------------------------------------------------------------------------------------------


def test_a_full_mesh_goes_around_what_is_lost() -> None:
    """Four switches, single links: of a lost pair, half goes over each of the other two, whose links carry 3/2.

    Without a switch, the others still have a link each.
    """
    mesh = HyperX((4,), (1,))
    assert worst_flow(mesh, "link") == pytest.approx(2 / 3)
    assert worst_flow(mesh, "leaf") == pytest.approx(1)


def test_a_parallel_link_takes_its_share_with_it() -> None:
    """Three switches, double links: half of a pair's traffic goes around, where 3/2 are on two links; the half that
    stays is 1/2 on one.
    """
    assert worst_flow(HyperX((3,), (2,)), "link") == pytest.approx(2 / 1.5)


def test_nothing_goes_around_a_pair() -> None:
    """Two switches with three links: two are left. With one link: none."""
    assert worst_flow(HyperX((2,), (3,)), "link") == pytest.approx(2)
    assert worst_flow(HyperX((2,), (1,)), "link") == 0
    assert worst_flow(HyperX((2,), (1,)), "leaf") == np.inf


@pytest.mark.long(
    but=(
        "leaf-dragonfly",
        "leaf-full mesh",
        "leaf-hyperx",
        "leaf-square",
        "leaf-torus",
        "leaf-two groups",
        "leaf-two large groups",
        "leaf-two switches",
        "leaf-uneven dragonfly",
        "link-chain",
    )
)
@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("kind", ["leaf", "link"])
def test_graphs_agree_with_walked_paths(name: str, kind: str) -> None:
    """Every switch and link is tried, in fractions; one of each class of symmetry gives the same."""
    mesh, named = MESHES[name]
    exact = brute_survival.worst_flow(named, "leaf" if kind == "leaf" else "between")
    assert worst_flow(mesh, kind) == (np.inf if exact is None else pytest.approx(float(exact), rel=1e-12))


def test_an_upper_bound_ends_the_search() -> None:
    """More than there is cannot be had: some loss says so; the least is still found afterwards."""
    mesh = Torus((4, 5), (1, 1))
    most = worst_flow(mesh, "leaf", enough=1.0)
    assert worst_flow(mesh, "leaf") <= most < 1


def test_symmetries_are_looked_at() -> None:
    """Links of a torus are alike along each dimension; a renumbering that is none is left out."""
    network, kinds = plane_of(Torus((3, 4), (1, 1)))
    assert (len(kinds.switches), len(kinds.rows)) == (1, 2)
    swapped = np.arange(12)
    swapped[:2] = [1, 0]
    assert len(kinds_of(network, [swapped]).rows) == len(network.a)


def test_places_of_large_groups_are_alike() -> None:
    """1,050 links join two groups of 56 switches: 42 pairs by 19 of them and 14 by 18, each pair like any other one.

    So there are local links within the 42, within the 14 and between both, and two kinds of global ones.
    """
    kinds = plane_of(Dragonfly(56, 2, 1, 1050))[1]
    assert (len(kinds.switches), len(kinds.rows)) == (2, 5)


def test_two_joined_pairs_are_cut_apart() -> None:
    """Switches 0-1-2-3 in a row, two servers each on one of them: the middle link parts four from four.

    Without switch 1, switch 0 and its two servers are alone beside 2 and 3, so four of eight are outside.
    """
    network, every = plane_of(Dragonfly(2, 2, 1, 1))[0], Kinds(np.arange(4), np.arange(3))
    at = np.repeat(np.arange(4), 2)[:, np.newaxis]
    assert cut_off_by_link(network, every, at, 1) == 4
    assert cut_off_by_switch(network, every, at) == 4
    assert cut_off(np.array([0, 0, 1, 1]), np.hstack([at, 3 - at])) == 0


# -- against the exhaustive search ----------------------------------------------------------------------------------

FAMILIES = ("hyperx", "torus", "dragonfly")
SEEDS = 8 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
SURVIVED = ("1 leaf", "1 switch", "1 cable", "1 cable", "1 cable", "3 spines")


def direct(family: str, seed: int) -> tuple[Json, Json]:
    """A small catalog and a case that asks for something after a failure."""
    dice = Dice(f"losses-{family}-{seed}")
    parts = a_catalog(dice, switches=dice.number(1, 2), cages=(4, 6), rich=dice.chance(0.5))
    wanted = a_case(dice, servers=dice.number(2, 5))
    fabric = wanted["fabrics"][0]
    fabric["topologies"] = [family]
    fabric["max_oversubscription"] = dice.one([3, 4, 6])
    asked = fabric["min_gbps_per_gpu"]
    fabric["resilience"] = [
        {"survive": dice.one(SURVIVED), "min_gbps_per_gpu": asked * dice.one([0.2, 0.3, 0.5, 0.7])}
        for _ in range(dice.number(1, 2))
    ]
    if dice.chance(0.3):
        fabric["planes"] = [1, 2]
        fabric["resilience"].append({"survive": "1 plane", "min_gbps_per_gpu": asked * 0.2})
    return parts, wanted | {"name": f"{family}-{seed}", "catalog": ["./catalog.yaml"]}


@pytest.mark.long(but=("dragonfly-0", "hyperx-4", "torus-2"))
@pytest.mark.parametrize(("family", "seed"), [(one, seed) for one in FAMILIES for seed in range(SEEDS)])
def test_random_direct_networks_agree(family: str, seed: int) -> None:
    """The cheapest of all networks that survive, however thick their links."""
    parts, wanted = direct(family, seed)
    found = brute_direct.solve(parts, wanted, family)
    small.assert_optimum(None if found is None else found.sums, wanted, parts, "" if found is None else found.name)


TIGHT = {"tiers": "any", "planes": 1, "max_oversubscription": 4}


def tight(family: str, survive: str | None, gbps: float = 60) -> Json:
    asked = {} if survive is None else {"resilience": {"survive": survive, "min_gbps_per_gpu": gbps}}
    return small.case(TIGHT | {"topologies": [family]} | asked, servers=9)


@pytest.mark.long(but=("torus",))
@pytest.mark.parametrize("family", FAMILIES)
def test_asking_for_less_never_costs_more(family: str) -> None:
    """Nothing, then 40 and 90 Gb/s after a cable; a switch beside it; every answer has what it was asked for."""
    contents = [tight(family, None), *(tight(family, "1 cable", gbps) for gbps in (40, 90))]
    contents.append(tight(family, "1 cable", 90))
    fabric = contents[-1]["fabrics"][0]
    fabric["resilience"] = [fabric["resilience"], {"survive": "1 switch", "min_gbps_per_gpu": 90}]
    costs = []
    for content, cable, switch in zip(contents, (0, 40, 90, 90), (0, 0, 0, 90), strict=True):
        made = small.solved(content)
        small.assert_proven(made)
        assert left(made)["cable"][0] >= cable and left(made)["leaf"][0] >= switch
        assert made.totals is not None
        costs.append(made.totals.capex_usd)
    assert costs == sorted(costs) and costs[0] < costs[-1]


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_pruning_loses_no_survivor(family: str) -> None:
    few = {"nics": ["nic-400"], "nics_per_server": 1, "switches": {"leaf": ["small"]}, "min_gbps_per_gpu": 100}
    content = small.case(TIGHT | few | {"topologies": [family]}, servers=3)
    content["fabrics"][0]["resilience"] = {"survive": "1 cable", "min_gbps_per_gpu": 60}
    assert small.comparable(small.solved(content)) == small.comparable(small.solved(content, prune=False))


def test_thicker_rings_survive() -> None:
    """Seven servers a switch of a 3 x 3 torus carry their load over single links, what is asked for over double ones.

    A port's bisection is 3/4 x 9 links / (2 x 7) of 400 or so; half of a double link is left where one is lost.
    """
    thin, thick = (small.solved(small.case(TIGHT | {"topologies": ["torus"]} | asked, servers=14)).fabrics[0].structure
                   for asked in ({}, {"resilience": {"survive": "1 cable", "min_gbps_per_gpu": 90}}))  # fmt: skip
    assert (thin.links_per_pair, thick.links_per_pair) == ((1, 1), (2, 2))


# -- rails --------------------------------------------------------------------------------------------------------

WIDE = {"topologies": ["rail-only"], "min_gbps_per_gpu": 200, "max_oversubscription": 3}


def rails(fabric: Json, servers: int, ports: int = 1) -> tuple[Json, Json]:
    """Two rails on switches of eight ports, the network's or bought with it."""
    parts = catalog(servers=server(scale_up={"domain_gpus": 1, "gbps_per_gpu": 400}))
    parts["switches"][0]["cages"] = [cage(8, "1x100")]
    if ports > 1:
        parts["nics"] = [card("card", cage(ports, "1x100"))]
    return parts, case(servers, WIDE | fabric)


@pytest.mark.long("rail-only-1 leaf-50", "two planes-1 cable-66", "two planes-1 spine-100")
@pytest.mark.long("planes that are rails-2 leaves-60")
@pytest.mark.long(but_every=3)
@pytest.mark.parametrize(
    ("survive", "gbps"),
    [("1 leaf", 50), ("1 leaf", 90), ("1 spine", 100), ("1 spine", 150), ("2 spines", 100), ("1 cable", 66),
     ("1 cable", 100), ("2 leaves", 60), ("1 plane", 100), ("1 switch", 75)],
)  # fmt: skip
@pytest.mark.parametrize("form", ["rail-only", "two planes", "planes that are rails"])
def test_rails_agree_with_the_exhaustive_search(survive: str, gbps: float, form: str) -> None:
    """The cheapest of all rails that survive, or none."""
    fabric: Json = {"resilience": {"survive": survive, "min_gbps_per_gpu": gbps}}
    fabric |= {"planes that are rails": {"topologies": ["clos"], "planes": "rails", "tiers": 2}}.get(form, {})
    fabric |= {"two planes": {"planes": 2, "nics_per_server": 2}}.get(form, {})
    parts, content = rails(fabric, 9, ports=2 if form == "two planes" else 1)
    found = brute_force.solve(parts, content)
    made = small.solved(content, parts)
    assert (found is None) == (made.status == "infeasible")
    if found is not None:
        small.assert_proven(made)
        assert made.totals is not None
        assert (found.capex_cents, found.switches) == (made.totals.capex_usd * 100, made.totals.switches)


def test_a_rail_takes_its_share() -> None:
    """Four servers on two rails of one switch each: a switch takes half, and cuts nobody off. A plane is both rails.

    Where planes are rails, nine servers are on leaves of 5 and 4 with two uplinks, which come before 6 and 3; one plane
    of two takes half of what those of 5 carry, 200 x 2/5.
    """
    parts, content = rails({"max_oversubscription": 1}, 4)
    assert left(small.solved(content, parts)) == {"leaf": (100, 0), "plane": (0, 4), "cable": (100, 0)}
    parts, content = rails({"topologies": ["clos"], "planes": "rails", "tiers": 2}, 9)
    assert left(small.solved(content, parts))["plane"][0] == 40


def test_other_rails_carry_what_one_cannot() -> None:
    """Nine servers a rail at 3:1: on two leaves of 5 and 4 with two uplinks, to a spine each or both to one.

    A GPU has 200 x 2/5. A spine that has half of them takes a quarter of what both rails carry, a spine that has all
    takes half.
    """
    parts, content = rails({}, 9)
    made = small.solved(content, parts)
    fabric = made.fabrics[0]
    whole = fabric.metrics.bisection_gbps_per_gpu
    up, spines = fabric.tiers[0].up_ports, fabric.structure.spines_per_pod
    down = fabric.tiers[0].down_ports
    assert whole == pytest.approx(200 * up / down)
    lost = -(-up // spines)
    assert left(made)["spine"][0] == pytest.approx(100 * up / down + 100 * (up - lost) / down, abs=1e-6)


# -- proven ---------------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("count-dragonfly", "count-rail-only", "gbps_per_gpu-torus", "servers_cut_off-hyperx"))
@pytest.mark.parametrize("family", [*FAMILIES, "rail-only"])
@pytest.mark.parametrize("key", ["gbps_per_gpu", "servers_cut_off", "count"])
def test_wrong_figures_are_found(family: str, key: str) -> None:
    if family == "rail-only":
        parts, content = rails({}, 9)
        made = small.solved(content, parts)
    else:
        made = small.solved(tight(family, None))
    fabric = made.fabrics[0]
    assert failed(made) == [] and len(fabric.failures) >= 3
    for place, row in enumerate(fabric.failures):
        wrong = row.model_copy(update={key: getattr(row, key) + 1})
        rows = (*fabric.failures[:place], wrong, *fabric.failures[place + 1 :])
        changed = made.model_copy(update={"fabrics": (fabric.model_copy(update={"failures": rows}),)})
        assert {"failures_leave_bandwidth", "failures_leave_flow"} & set(failed(changed)), row


@pytest.mark.parametrize("family", FAMILIES)
def test_a_demand_that_is_not_met_is_found(family: str) -> None:
    made = small.solved(tight(family, None))
    content = made.case.model_dump()
    content["content"]["fabrics"][0]["resilience"] = {"survive": "1 switch", "min_gbps_per_gpu": 199}
    changed = made.model_copy(update={"case": type(made.case)(**content)})
    assert "failures_leave_flow" in failed(changed)


def test_too_large_a_graph_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for is worked out all the same; a figure that nothing proves is refused."""
    whole = small.solved(tight("torus", None))
    monkeypatch.setattr("fabopt.topology.direct.failures.MOST_WORK", 10)
    assert list(left(small.solved(tight("torus", None)))) == ["plane"]
    assert list(left(small.solved(tight("torus", "1 cable", 10)))) == ["plane", "cable"]
    monkeypatch.setattr("fabopt.topology.direct.failures.MOST_WORK", 200_000_000)
    assert left(small.solved(tight("torus", None))) == left(whole)
    monkeypatch.setattr("fabopt.topology.direct.failures.MOST_TRIED", 10)
    assert list(left(small.solved(tight("torus", None)))) == ["plane"]
    monkeypatch.setattr("fabopt.verify.graph_failures.MOST_WORK", 10)
    assert failed(whole) == ["failures_leave_flow"]


@pytest.mark.long
def test_more_than_any_network_has_left_is_a_conflict() -> None:
    """Of two server ports one is on a switch: no design has more than half of 200 without it."""
    content = tight("hyperx", "1 leaf", 150)
    content["fabrics"][0] |= {"nics": ["nic-400"], "nics_per_server": 2}
    made = small.solved(content)
    found = {one.limit: one for one in made.conflicts}["fabrics.compute.resilience.min_gbps_per_gpu"]
    assert (found.value, found.needed) == (150, 100)


def test_several_at_once_are_refused() -> None:
    with pytest.raises(InputError, match="bandwidth left after several switches or cables fail"):
        small.inputs(tight("hyperx", "2 leaves"))
    small.inputs(tight("hyperx", "2 planes"))
