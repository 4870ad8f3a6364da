"""Failures of direct networks and of rails that never meet: by hand, against the exhaustive search, asked for."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest

from fabopt.clock import Clock, Settings
from fabopt.graph.parting import cut_off, cut_off_by_link, cut_off_by_switch
from fabopt.graph.symmetry import Kinds, kinds_of
from fabopt.meshes import Dragonfly, HyperX, Mesh, Torus, moves_of
from fabopt.problem import problem_of
from fabopt.schema.design import Design
from fabopt.search import Search
from fabopt.topology.direct.survival import plane_of, worst_flow
from fabopt.verify import verify
from tests import brute_direct, brute_survival, small
from tests.random_cases import Dice, a_case, a_catalog

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
    network = plane_of(Torus((3, 4), (1, 1)))
    kinds = kinds_of(network, moves_of(Torus((3, 4), (1, 1))))
    assert (len(kinds.switches), len(kinds.rows)) == (1, 2)
    swapped = np.arange(12)
    swapped[:2] = [1, 0]
    assert len(kinds_of(network, [swapped]).rows) == len(network.a)


def test_two_joined_pairs_are_cut_apart() -> None:
    """Switches 0-1-2-3 in a row, two servers each on one of them: the middle link parts four from four.

    Without switch 1, switch 0 and its two servers are alone beside 2 and 3, so four of eight are outside.
    """
    network, every = plane_of(Dragonfly(2, 2, 1, 1)), Kinds(np.arange(4), np.arange(3))
    at = np.repeat(np.arange(4), 2)[:, np.newaxis]
    assert cut_off_by_link(network, every, at, 1) == 4
    assert cut_off_by_switch(network, every, at) == 4
    assert cut_off(np.array([0, 0, 1, 1]), np.hstack([at, 3 - at])) == 0


# -- against the exhaustive search ----------------------------------------------------------------------------------

FAMILIES = ("hyperx", "torus", "dragonfly")
SEEDS = 8 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
SURVIVED = ("1 leaf", "1 switch", "1 cable", "1 plane", "2 planes", "3 spines")


def direct(family: str, seed: int) -> tuple[Json, Json]:
    """A small catalog and a case that asks for something after a failure."""
    dice = Dice(f"losses-{family}-{seed}")
    parts = a_catalog(dice, switches=dice.number(1, 2), cages=(4, 6), rich=dice.chance(0.5))
    wanted = a_case(dice, servers=dice.number(2, 5))
    fabric = wanted["fabrics"][0]
    fabric["topologies"] = [family]
    fabric["max_oversubscription"] = dice.one([2, 3, 4, 6])
    asked = fabric["min_gbps_per_gpu"]
    fabric["resilience"] = [
        {"survive": dice.one(SURVIVED), "min_gbps_per_gpu": asked * dice.one([0.05, 0.2, 0.3, 0.5, 1])}
        for _ in range(dice.number(1, 2))
    ]
    return parts, wanted | {"name": f"{family}-{seed}", "catalog": ["./catalog.yaml"]}


@pytest.mark.parametrize(("family", "seed"), [(one, seed) for one in FAMILIES for seed in range(SEEDS)])
def test_random_direct_networks_agree(family: str, seed: int) -> None:
    """The cheapest of all networks that survive, however thick their links."""
    parts, wanted = direct(family, seed)
    found, text = brute_direct.solve(parts, wanted, family), json.dumps({"catalog": parts, "case": wanted})
    if found is None:
        given = small.inputs(wanted, parts)
        problem = problem_of(given.case, given.catalog)
        assert Search(problem, Settings(), Clock(None)).run(ties=False).verdict == "infeasible", text
        return
    theirs = small.solved(wanted, parts)
    small.assert_proven(theirs)
    assert theirs.totals is not None
    assert found.purchase.capex == round(theirs.totals.capex_usd * 100), (found.name, text)
    assert found.purchase.power == round(theirs.totals.power_w * 1000), (found.name, text)
    assert found.switches == theirs.totals.switches, (found.name, text)
