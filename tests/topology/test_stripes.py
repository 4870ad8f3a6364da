"""Uneven stripes in designs: figures of the wiring, limits that use them, and words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from fabopt.network.graph.alltoall import alltoall
from fabopt.network.graph.network import Network
from fabopt.network.graph.permutation import permutation_bound
from fabopt.output.terminal.families import links_of
from fabopt.schema.design import Design
from fabopt.units import MBPS_PER_GBPS
from fabopt.verify import verify
from fabopt.verify.evidence import Evidence
from fabopt.verify.graph import networks
from fabopt.verify.stripes import half_rate_on_graph
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.build import wiring_of
from tests.network.test_stripes import round_robin
from tests.oracles.alltoall_program import alltoall_by_program
from tests.oracles.brute_stripes import worst_by_sets
from tests.samples.small import Json, assert_proven, case, solved
from tests.samples.verify_fixtures import digest

ONE_NIC = {
    "nics": ["nic-400"],
    "nics_per_server": 2,
    "switches": {role: ["small"] for role in ("leaf", "spine", "core")},
}
STRIPED: Json = {"tiers": 2, "striping": "any", **ONE_NIC}


def striped(servers: int, ratio: int = 1, **fabric: Any) -> Design:
    """Four leaves of three, four or five ports with three uplinks to two spines."""
    return solved(case({**STRIPED, "max_oversubscription": ratio, **fabric}, servers=servers))


def failed(design: Design) -> list[str]:
    return [check.name for check in verify(design) if not check.ok]


def graph_of(design: Design) -> tuple[Network, Fraction]:
    """The graph of the first plane, and Gb/s per GPU for one Mb/s of every port."""
    evidence = Evidence(design)
    (_, network, _), *_ = networks(FabricCabling(evidence.fabrics[0], CabledDesign(evidence), 0))
    nic = design.fabrics[0].nic
    return network, Fraction(nic.per_server * nic.ports_per_nic, evidence.sharers) / MBPS_PER_GBPS


@pytest.mark.long(but=("10-1", "9-2"))
@pytest.mark.parametrize(("servers", "ratio"), [(5, 1), (6, 1), (9, 2), (10, 2), (10, 1), (11, 1), (12, 1)])
def test_figures_are_those_of_the_graph(servers: int, ratio: int) -> None:
    """Bisection is the worst of all sets of leaves; all-to-all is what a linear program over all routings gives."""
    design = striped(servers, ratio)
    assert_proven(design)
    assert design.fabrics[0].tiers[0].up_ports % design.fabrics[0].clos.spines_per_pod
    fabric, metrics = design.fabrics[0], design.fabrics[0].metrics
    network, per_gpu = graph_of(design)
    structure = fabric.clos
    leaves = fabric.tiers[0].count // fabric.planes
    links = round_robin(leaves, structure.spines_per_pod, fabric.tiers[0].up_ports)
    hosts = network.hosts[network.with_hosts].tolist()
    speed = int(fabric.tiers[0].gbps_up * MBPS_PER_GBPS)
    worst = worst_by_sets(links, hosts, network.port_mbps, speed)
    assert half_rate_on_graph(network, speed) == worst
    assert metrics.bisection_gbps_per_gpu <= float(worst * per_gpu) + 1e-6
    assert metrics.permutation_gbps_per_gpu <= float(min(worst, permutation_bound(network)) * per_gpu) + 1e-6
    best = alltoall_by_program(network) * float(per_gpu)
    assert metrics.alltoall_gbps_per_gpu == pytest.approx(min(best, metrics.injection_gbps_per_gpu), rel=1e-6)
    assert alltoall(network).lower * float(per_gpu) <= metrics.alltoall_gbps_per_gpu + 1e-6


def test_by_hand() -> None:
    """6 servers with 2 ports: leaves of 3, links 2 and 1 or 1 and 2. Like with like is parted: 4 of 6 links across."""
    design = striped(6)
    metrics = design.fabrics[0].metrics
    assert metrics.bisection_gbps_per_gpu == metrics.permutation_gbps_per_gpu == pytest.approx(200 * 2 / 3, abs=1e-6)
    assert all(row.gbps_per_gpu <= metrics.bisection_gbps_per_gpu for row in design.fabrics[0].failures)
    assert "1 or 2 links from each leaf to each of 2 spines" in links_of(design.fabrics[0].structure, design.fabrics[0])


@pytest.mark.parametrize("name", ["bisection_gbps_per_gpu", "permutation_gbps_per_gpu"])
def test_what_ports_alone_promise_is_refused(name: str) -> None:
    design = striped(6)
    fabric = design.fabrics[0]
    wrong = fabric.model_copy(update={"metrics": fabric.metrics.model_copy(update={name: 200})})
    found = failed(design.model_copy(update={"fabrics": (wrong,)}))
    assert {"metrics_are_recomputed", "figures_hold_on_graph"} <= set(found)


def test_limits_use_what_stripes_carry() -> None:
    """More than 133 across halves, or left without a plane, takes fuller stripes."""
    two, three = striped(6).totals, striped(6, min_bisection_gbps_per_gpu=140)
    assert two is not None and three.totals is not None
    assert three.fabrics[0].metrics.bisection_gbps_per_gpu == 200
    assert three.totals.capex_usd > two.capex_usd
    kept = striped(6, resilience=[{"survive": "1 cable", "min_gbps_per_gpu": 90}])
    assert kept.fabrics[0].clos.spines_per_pod == 2


@pytest.mark.long("21-1")
@pytest.mark.parametrize(("servers", "ratio"), [(6, 1), (12, 1), (21, 1), (13, 2)])
def test_three_tiers_promise_no_more_than_the_graph_has(servers: int, ratio: int) -> None:
    """All-to-all of the whole graph by linear program, and every cut that is met, are no less."""
    design = striped(servers, ratio, tiers=3)
    fabric = design.fabrics[0]
    assert fabric.tiers[0].up_ports % fabric.clos.spines_per_pod
    assert_proven(design)
    assert fabric.metrics.bisection_gbps_per_gpu < fabric.metrics.injection_gbps_per_gpu
    if servers < 20:
        network, per_gpu = graph_of(design)
        best = alltoall_by_program(network) * float(per_gpu)
        assert fabric.metrics.alltoall_gbps_per_gpu <= best + 1e-6


@pytest.mark.long(but=("10-2", "6-1"))
@pytest.mark.parametrize(("servers", "ratio"), [(6, 1), (9, 2), (10, 2), (12, 1)])
def test_stripes_by_rail(servers: int, ratio: int) -> None:
    """Leaves of one rail have the same links to every spine, so rings keep the ports' speed; between rails is less."""
    design = striped(servers, ratio, striping="rail")
    assert_proven(design)
    fabric = design.fabrics[0]
    assert fabric.striping == "rail"
    assert fabric.metrics.allreduce_gbps_per_gpu == fabric.metrics.injection_gbps_per_gpu
    network, per_gpu = graph_of(design)
    links = round_robin(fabric.tiers[0].count, fabric.clos.spines_per_pod, fabric.tiers[0].up_ports, fabric.rails)
    hosts = network.hosts[network.with_hosts].tolist()
    worst = worst_by_sets(links, hosts, network.port_mbps, int(fabric.tiers[0].gbps_up * MBPS_PER_GBPS))
    assert fabric.metrics.bisection_gbps_per_gpu <= float(worst * per_gpu) + 1e-6


def test_leaves_of_a_rail_that_differ_are_refused() -> None:
    """A design with stripes that go round over all leaves is none of a case that asks for them by rail."""
    design = striped(12)
    content = design.case.model_dump()
    content["content"]["fabrics"][0]["striping"] = "rail"
    content["sha256"] = digest(content["content"])
    fabric = design.fabrics[0].model_copy(update={"striping": "rail"})
    changed = design.model_copy(update={"case": type(design.case)(**content), "fabrics": (fabric,)})
    assert "leaves_reach_spines" in [check.name for check in verify(changed, wiring_of(design)) if not check.ok]
