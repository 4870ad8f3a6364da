"""Published machines: their links and figures come out, and no answer is dearer than a machine that does the same.

Figures and citations are in ``tests/published/machines.yaml``.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.network.direct_links import Dragonfly, HyperX, Torus
from fabopt.schema.design import Design
from tests.oracles import closed_forms, graph_generators as generators
from tests.paths import PUBLISHED
from tests.samples.small import counts
from tests.solution.test_published import designed

Json = dict[str, Any]
FOLDER = PUBLISHED
MACHINES = yaml.safe_load((FOLDER / "machines.yaml").read_text())
PARTS = str(FOLDER / "machine-parts.yaml")
(FRONTIER, *_), (T2HX, _) = MACHINES["dragonflies"], MACHINES["hyperx"]
EACH_DRAGONFLY = pytest.mark.parametrize("row", MACHINES["dragonflies"], ids=lambda row: row["name"])
EACH_HYPERX = pytest.mark.parametrize("row", MACHINES["hyperx"], ids=lambda row: row["name"])
EACH_TORUS = pytest.mark.parametrize("row", MACHINES["tori"], ids=lambda row: row["name"])
MBPS = 1000


def capex_usd(design: Design) -> float:
    """All that is bought."""
    assert design.totals is not None
    return design.totals.capex_usd


@EACH_DRAGONFLY
def test_dragonflies(row: Json) -> None:
    """Sizes, and every pair of groups has its links, whose ends are spread evenly over a group's switches."""
    a, groups, each = row["a"], row["groups"], row["links_per_pair_of_groups"]
    mesh = Dragonfly(a, groups, 1, each * (groups - 1))
    assert mesh.switches * row["p"] == row["endpoints"]
    pairs = mesh.pairs("global")
    one, other = np.minimum(pairs.a, pairs.b) // a, np.maximum(pairs.a, pairs.b) // a
    found = np.unique(one * groups + other, return_counts=True)[1]
    assert len(found) == groups * (groups - 1) // 2 and set(found.tolist()) == {each}
    ends = np.bincount(np.concatenate([*pairs]), minlength=mesh.switches)
    assert ends.max() - ends.min() <= 1
    assert row["p"] + a - 1 + ends.max() <= 64
    if "group_oversubscription" in row:
        assert round(a * row["p"] / mesh.outside, 3) == row["group_oversubscription"]


@EACH_HYPERX
def test_hyperx(row: Json) -> None:
    """Sizes, ports of a switch, and the bisection as a share of what endpoints can send."""
    sides, hosts = row["sides"], row["endpoints_per_switch"]
    mesh = HyperX(tuple(sides), (1,) * len(sides))
    ends = np.bincount(np.concatenate([end for scope in mesh.scopes for end in mesh.pairs(scope)]))
    assert mesh.switches == row["switches"] == prod(sides) and mesh.switches * hosts == row["endpoints"]
    assert set(ends.tolist()) == {sum(side - 1 for side in sides)}
    assert hosts + int(ends[0]) <= row["ports"]
    form = closed_forms.hyperx(sides, hosts, [1] * len(sides), MBPS, MBPS)
    assert (form.switches, form.endpoints, form.links) == (row["switches"], row["endpoints"], int(ends.sum()) // 2)
    assert form.bisection is not None and round(float(form.bisection / MBPS), 3) == row["bisection"]


@EACH_TORUS
def test_tori(row: Json) -> None:
    """Sizes; two rings' worth of links cross the middle of the longest side; and the links that leave a cube."""
    sides = tuple(row["sides"])
    mesh = Torus(sides, (1,) * len(sides))
    assert mesh.switches == row["nodes"]
    links = [mesh.pairs(scope) for scope in mesh.scopes]
    assert sum(len(one.a) for one in links) == len(sides) * row["nodes"]
    form = closed_forms.torus(sides, 1, 1, MBPS, MBPS)
    cut = 2 * row["nodes"] // max(sides)
    assert form.bisection == Fraction(cut * MBPS, row["nodes"] // 2)
    if "cube" in row:
        size = row["cube"]
        cubes = sum(
            np.arange(row["nodes"]) // prod(sides[:at]) % side // size * 100**at for at, side in enumerate(sides)
        )
        assert 2 * sum(int((cubes[one.a] != cubes[one.b]).sum()) for one in links) == row["optical_ends"]


def test_all_to_all_of_t2hx_is_not_limited() -> None:
    """Half of the uniform traffic crosses the middle, so a bisection above one half carries all of it."""
    form = closed_forms.hyperx(T2HX["sides"], T2HX["endpoints_per_switch"], [1, 1], MBPS, MBPS)
    assert form.alltoall == MBPS
    network = generators.hyperx(T2HX["sides"], T2HX["endpoints_per_switch"], 1, MBPS, MBPS)
    assert network.endpoints == T2HX["endpoints"]


def test_no_hyperx_like_t2hx_is_dearer() -> None:
    """Seven nodes a switch and its bisection, 4/7 of 40 Gb/s: the box of 8 x 12 is in the space, so is the answer."""
    site = {"servers_per_rack": T2HX["endpoints_per_switch"]}
    design = designed(
        PARTS,
        "one-qdr",
        T2HX["endpoints"],
        topologies=["hyperx"],
        group_by="rack",
        min_gbps_per_gpu=40,
        max_oversubscription=1.75,
        site=site,
    )
    links = T2HX["switches"] * (7 + 11) // 2
    assert capex_usd(design) <= T2HX["switches"] * 5000 + T2HX["endpoints"] * 50 + links * 200
    assert design.fabrics[0].metrics.bisection_gbps_per_gpu >= 40 * 4 / 7 - 1e-6
    assert design.fabrics[0].tiers[0].count >= T2HX["switches"]


@pytest.mark.long
def test_no_dragonfly_like_frontier_is_dearer() -> None:
    """16 endpoints a switch, and what crosses the middle of its compute groups: 37 x 37 x 4 links of 18,944 ports."""
    site = {"servers_per_rack": FRONTIER["p"], "distances_m": {"leaf-spine": 3, "spine-core": 50}}
    ratio = round(18944 / (37 * 37 * 4) + 0.005, 2)
    design = designed(
        PARTS,
        "four-cards",
        FRONTIER["endpoints"] // 4,
        topologies=["dragonfly"],
        group_by="rack",
        min_gbps_per_gpu=200,
        max_oversubscription=ratio,
        site=site,
    )
    a, groups = FRONTIER["a"], FRONTIER["groups"]
    local, far = groups * a * (a - 1) // 2, groups * (groups - 1) // 2 * FRONTIER["links_per_pair_of_groups"]
    assert capex_usd(design) <= a * groups * 15000 + (FRONTIER["endpoints"] + local) * 100 + far * 800


def test_pod_of_hpn() -> None:
    """Two planes; leaves of 128 ports beside 8 in reserve; 60 spines a plane, each reached by every leaf once."""
    (row,) = MACHINES["clos"]
    design = designed(
        PARTS,
        "hpn-host",
        row["gpus"] // 8,
        tiers=2,
        planes=2,
        max_oversubscription=row["oversubscription"],
        reserve_ports=0.0588,
    )
    fabric, found = design.fabrics[0], counts(design)
    leaf = fabric.tiers[0]
    assert (found["leaf"], found["spine"]) == (row["leaf"], row["spine"])
    assert (leaf.down_ports, leaf.reserved_ports, leaf.up_ports) == (row["down"], row["spare"], row["up"])
    assert fabric.structure.groups == row["segments"]
    assert round(fabric.oversubscription["leaf"], 3) == row["oversubscription"]
