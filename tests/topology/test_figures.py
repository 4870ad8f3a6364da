"""Bandwidth figures of a Clos: worked by hand, asked for in a case, proven in a file."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from fabopt.network.graph.leaves import LeafClass, matched_links, mean_switches
from fabopt.problem.problem import problem_of
from fabopt.program.lexicographic import optimum_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.search.coefficients import weights_table
from fabopt.solution import optimize
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.design import Figures
from fabopt.verify import verify
from tests.mutations import document_of
from tests.samples.older import as_written_by
from tests.samples.small import Json, assert_proven, case, catalog, inputs, product, solved

ONE_CARD = {"nics": ["nic-400"], "nics_per_server": 2}
FEW_SWITCHES = {"leaf": ["lean", "small"], "spine": ["small"], "core": ["small"]}
TWO_TIERS = case({"max_oversubscription": 6, **ONE_CARD}, servers=5)
THREE_TIERS = case({"tiers": 3, "max_oversubscription": 3, "switches": FEW_SWITCHES, **ONE_CARD}, servers=4)

# Four leaves with three uplinks to two spines are the cheapest, and what their stripes carry is less.
STRIPED = case(
    {"tiers": 2, "striping": "any", "switches": FEW_SWITCHES, "max_oversubscription": 2, **ONE_CARD}, servers=6
)


def failed(design: Design) -> list[str]:
    return [check.name for check in verify(design) if not check.ok]


# -- by hand ----------------------------------------------------------------------------------------------------


def test_two_tiers_by_hand() -> None:
    """5 servers of 4 GPUs with 2 ports of 400, so 200 per GPU; each port has a rail, one group holds all."""
    design = solved(TWO_TIERS)
    one = design.fabrics[0]
    structure, leaf = one.structure, one.tiers[0]
    assert (structure.groups, one.rails, structure.ports_per_server_per_leaf) == (1, 2, 1)
    # two leaves of 5 ports each; E = 10 ports; each leaf sends 5 rho 5/9 upwards: rho = u 400 x 9 / 25
    uplinks = leaf.up_ports * 400
    assert one.metrics.alltoall_gbps_per_gpu == pytest.approx(min(400, uplinks * 9 / 25) / 2)
    # either leaf is matched with the other: 2 x 2 links x 5 ports; all capacity both ways is 2 x 2 x uplinks
    assert one.metrics.permutation_gbps_per_gpu == pytest.approx(min(400, uplinks / 5) / 2)
    # one group: rings stay on their leaf
    assert one.metrics.allreduce_gbps_per_gpu == 200
    # of 10 x 9 pairs 2 x 5 x 4 are on one leaf: (40 x 1 + 50 x 3) / 90
    assert one.metrics.mean_switch_hops == pytest.approx(190 / 90, abs=1e-6)


def test_one_switch_gives_everything() -> None:
    metrics = solved(case({"tiers": 1, **ONE_CARD}, servers=3)).fabrics[0].metrics
    assert metrics.permutation_gbps_per_gpu == metrics.allreduce_gbps_per_gpu == metrics.alltoall_gbps_per_gpu == 200
    assert metrics.mean_switch_hops == 1


def test_matching_prefers_other_pods() -> None:
    """Four leaves of 3 ports in two pods: all are matched across, 4 links each."""
    assert matched_links([LeafClass(0, 2, 2, 3)]) == 4 * 4 * 3


def test_matching_in_the_largest_pod() -> None:
    """Three leaves of 2 ports in one pod, one in another: 2 x 4 x 2 across; the two others are matched at 2 links."""
    assert matched_links([LeafClass(0, 1, 3, 2), LeafClass(1, 1, 1, 2)]) == 16 + 2 * 2 * 2


def test_matching_leaves_a_lone_leaf_alone() -> None:
    """One leaf only has nothing to be matched with."""
    assert matched_links([LeafClass(0, 1, 1, 8)]) == 0


def test_matching_of_unequal_leaves() -> None:
    """Two leaves of 9 ports and two of 2 or 8, in one pod or in two.

    One pod: like with like loses nothing, 2 links x (2 x 9 + 2 x 2). Two pods, 8 ports: across, 4 links x 8 ports for
    all four, against 2 links x (18 + 16) at home.
    """
    assert matched_links([LeafClass(0, 1, 2, 9), LeafClass(0, 1, 2, 2)]) == 2 * (2 * 9 + 2 * 2)
    assert matched_links([LeafClass(0, 1, 2, 9), LeafClass(1, 1, 2, 8)]) == 4 * 4 * 8


def test_mean_of_two_pods() -> None:
    """Two pods of two leaves of one port: of 12 ordered pairs 4 are in a pod, 8 across: (4 x 3 + 8 x 5) / 12."""
    assert mean_switches([LeafClass(0, 2, 2, 1)]) == Fraction(52, 12)


# -- asked for --------------------------------------------------------------------------------------------------


def with_fabric(content: Json, **changes: Any) -> Json:
    return {**content, "fabrics": [{**content["fabrics"][0], **changes}]}


def everything(content: Json) -> list[tuple[Candidate, Figures]]:
    """Every candidate of a case, whatever it costs, with its figures."""
    return _everything(json.dumps(content))


@cache
def _everything(content: str) -> list[tuple[Candidate, Figures]]:
    given = inputs(json.loads(content))
    problem = problem_of(given.case, given.catalog, prune=False)
    table, caps = weights_table(problem)
    space = ClosSpace(problem, problem.fabrics[0], BoundedCosts(table), caps, prune=False)
    found = []
    for batch in space.search().batches:
        for index in range(len(batch)):
            for one in batch.candidates(problem, index, prune=False):
                found.append((one, one.design.figures(problem.gpus)))
    return found


def cheapest(content: Json, candidates: list[Candidate]) -> float | None:
    """Dollars of the best of some candidates."""
    given = inputs(content)
    problem = problem_of(given.case, given.catalog, prune=False)
    optimum = optimum_of(problem, candidates, Settings(prune=False), Clock(None))
    return None if optimum.value is None else optimum.value / problem.weights.per_cent / 100


@pytest.mark.long(but=("allreduce-striped", "alltoall-two-tiers", "bisection-two-tiers"))
@pytest.mark.parametrize("content", [TWO_TIERS, THREE_TIERS, STRIPED], ids=["two-tiers", "three-tiers", "striped"])
@pytest.mark.parametrize("figure", ["bisection", "alltoall", "allreduce"])
def test_demand_picks_the_cheapest_that_meets_it(content: Json, figure: str) -> None:
    """Over all candidates, without the bounds of the search: those that have the figure, and the cheapest of them."""
    whole = everything(content)
    values = sorted({getattr(found, figure) for _, found in whole})
    for wanted in {values[len(values) // 2], values[-1]}:
        kept = [one for one, found in whole if getattr(found, figure) >= wanted]
        gbps = float(wanted / 1000)
        asked = with_fabric(content, **{f"min_{figure}_gbps_per_gpu": int(gbps * 1000) / 1000})
        design = solved(asked)
        assert_proven(design)
        assert design.totals is not None
        assert getattr(design.fabrics[0].metrics, f"{figure}_gbps_per_gpu") >= int(gbps * 1000) / 1000
        assert design.totals.capex_usd == cheapest(content, kept)


def test_hops_leave_tiers_out() -> None:
    """Five switches on a path are three tiers: with three allowed the answer has two."""
    content = case({"tiers": "any", "max_oversubscription": 6, **ONE_CARD}, servers=5)
    assert solved(with_fabric(content, max_switch_hops=3)).fabrics[0].metrics.max_switch_hops <= 3
    assert solved(with_fabric(content, max_switch_hops=1)).status == "optimal"


@pytest.mark.long("alltoall")
@pytest.mark.parametrize("figure", ["bisection", "alltoall", "allreduce"])
def test_more_than_injection_is_a_conflict(figure: str) -> None:
    """Two cards of 400 for four GPUs give 200: 300 cannot be had."""
    key = f"min_{figure}_gbps_per_gpu"
    design = solved(with_fabric(TWO_TIERS, **{key: 300}))
    named = {one.limit: one for one in design.conflicts}
    found = named[f"fabrics.compute.{key}"]
    assert found.value == 300
    assert found.needed == 200
    assert solved(with_fabric(TWO_TIERS, **{key: 200})).status == "optimal"


def test_too_few_hops_are_a_conflict() -> None:
    """Nine servers do not fit one switch of the catalog (12 x 2 ports of 200, 18 ports of 400 wanted)."""
    content = with_fabric(case(servers=9), tiers="any", max_switch_hops=1, **ONE_CARD)
    design = solved(content)
    named = {one.limit: one.needed for one in design.conflicts}
    assert named["fabrics.compute.max_switch_hops"] == 3


# -- proven -----------------------------------------------------------------------------------------------------


@pytest.mark.long(
    but=("three-tiers-allreduce_gbps_per_gpu", "three-tiers-mean_switch_hops", "two-tiers-permutation_gbps_per_gpu")
)
@pytest.mark.parametrize("key", ["permutation_gbps_per_gpu", "allreduce_gbps_per_gpu", "mean_switch_hops"])
@pytest.mark.parametrize("content", [TWO_TIERS, THREE_TIERS], ids=["two-tiers", "three-tiers"])
def test_wrong_figure_is_found(content: Json, key: str) -> None:
    design = solved(content)
    one = design.fabrics[0]
    wrong = one.metrics.model_copy(update={key: getattr(one.metrics, key) + 1})
    fabric = one.model_copy(update={"metrics": wrong})
    assert "metrics_are_recomputed" in failed(design.model_copy(update={"fabrics": (fabric,)}))


def test_file_from_before_the_figures_holds() -> None:
    document = document_of(solved(TWO_TIERS))
    as_written_by("0.1.0", document)
    metrics = document["fabrics"][0]["metrics"]
    for key in [key for key in metrics if not key.startswith(("inj", "bis", "alltoall", "max"))]:
        del metrics[key]
    assert failed(Design.model_validate_json(json.dumps(document))) == []


def test_figure_below_the_demand_is_found() -> None:
    """The file's case asks for more than the design has."""
    design = solved(TWO_TIERS)
    content = design.case.model_dump()
    content["content"]["fabrics"][0]["min_alltoall_gbps_per_gpu"] = 199.5
    content["content"]["fabrics"][0]["max_switch_hops"] = 1
    changed = design.model_copy(update={"case": type(design.case)(**content)})
    assert "figures_meet_demand" in failed(changed)


@pytest.mark.parametrize("fabric", [{}, {"tiers": 1}, {"topologies": ["hyperx"]}], ids=["two tiers", "one", "hyperx"])
def test_figures_of_servers_without_gpus_are_per_server(fabric: Json) -> None:
    """They were 0 in a Clos, where the graph of its wiring gave more, so that its own check refused it."""
    parts = catalog()
    product(parts, "gpu-4")["gpus"] = 0
    design = solved(case(fabric, servers=3), parts)
    assert_proven(design)
    metrics = design.fabrics[0].metrics
    assert metrics.alltoall_gbps_per_gpu == metrics.allreduce_gbps_per_gpu == metrics.injection_gbps_per_gpu == 200


@pytest.mark.long(but=("clos-1e-18", "dragonfly+-most2"))
@pytest.mark.parametrize("most", [1e-300, 1e-18, {"leaf": 1, "spine": 1e-300}])
@pytest.mark.parametrize("family", ["clos", "dragonfly+"])
def test_a_ratio_that_takes_more_uplinks_than_there_are_numbers_for(family: str, most: Any) -> None:
    wanted = case({"max_oversubscription": most, "topologies": [family], "tiers": 3}, servers=7)
    design = optimize.solve(inputs(wanted), alternatives_s=0)
    assert design.status in ("infeasible", "optimal")
