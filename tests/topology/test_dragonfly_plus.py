"""Dragonfly+ against an independent exhaustive search, by hand, and as it was published."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from ortools.graph.python import max_flow

from fabopt.network.direct_links import DragonflyPlus, SpineMesh
from fabopt.network.graph.network import Network, network_of
from fabopt.output.export.formats import Options, export
from fabopt.output.sheet.pages import in_column
from fabopt.output.terminal.answer import fabric_line
from fabopt.parts.port_types import PortType, parse_split
from fabopt.parts.switches import CageUse
from fabopt.schema.structure import DragonflyPlusStructure
from fabopt.topology.direct.networks import Rates
from fabopt.topology.dragonfly_plus.networks import GroupLoad, SpinePorts, frames, networks
from fabopt.verify.dragonfly_counts import DragonflyPlusCounts
from fabopt.wiring.build import wiring_of
from tests.oracles import closed_forms
from tests.oracles.alltoall_program import alltoall_by_program
from tests.oracles.brute_dragonfly_plus import solve
from tests.paths import PUBLISHED
from tests.samples import small
from tests.samples.random_cases import Dice, a_case, a_catalog

Json = dict[str, Any]
SEEDS = 12 * int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
DIRECT_NETWORKS = PUBLISHED / "direct-networks.yaml"
LEONARDO = next(one for one in yaml.safe_load(DIRECT_NETWORKS.read_text()) if "Leonardo" in one["source"]["title"])
ASKED = {"topologies": ["dragonfly+"], "tiers": "any"}


def generate(seed: int) -> tuple[Json, Json]:
    """A small catalog and a case, more often feasible than not."""
    dice = Dice(f"dragonfly+-{seed}")
    parts = a_catalog(dice, switches=dice.number(1, 2), cages=(2, 5), rich=dice.chance(0.5))
    case = a_case(dice, servers=dice.number(3, 7))
    case["fabrics"][0]["topologies"] = ["dragonfly+"]
    if dice.chance(0.7):
        case["fabrics"][0]["max_oversubscription"] = dice.one([1.5, 2, 3, 4, 6])
    case["name"] = f"dragonfly-plus-{seed}"
    case["catalog"] = ["./catalog.yaml"]
    return parts, case


@pytest.mark.long("4")
@pytest.mark.long(but_every=2)
@pytest.mark.long("6", "8", "2")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_cases_agree(seed: int) -> None:
    """Objective, cost, power, units, switches and cables; ``FABOPT_ORACLE_SEEDS=10`` walks ten times as many seeds."""
    parts, wanted = generate(seed)
    found = solve(parts, wanted)
    small.assert_optimum(None if found is None else found.sums, wanted, parts, "" if found is None else found.name)


# -- figures ------------------------------------------------------------------------------------------------------


def recounted(size: int, spines: int, groups: int, m: int, n: int) -> DragonflyPlusCounts:
    """One plane, as the proof counts it."""
    structure = DragonflyPlusStructure(
        family="dragonfly+", leaves_per_group=size, spines_per_group=spines, switch_groups=groups, links_per_pair=m,
        global_links_per_group=n * (groups - 1), servers_per_group=1, groups=size * groups, ports_per_server=1,
        ports_per_server_per_leaf=1,
    )  # fmt: skip
    return DragonflyPlusCounts(structure)


def graph(size: int, spines: int, groups: int, m: int, n: int, speeds: tuple[int, int], hosts: int) -> Network:
    """The same link by link, with as many server ports of 10 Tb/s on every leaf."""
    mesh = DragonflyPlus(size, m, SpineMesh(spines, groups, n * (groups - 1)))
    pairs = [mesh.pairs(scope) for scope in mesh.scopes]
    a, b = (np.concatenate([getattr(one, end) for one in pairs]) for end in ("a", "b"))
    mbps = np.repeat(speeds, [len(one.a) for one in pairs])
    at = [hosts] * mesh.leaves + [0] * mesh.spines.switches
    return network_of(a, b, mbps, at, 10_000_000)


def worst_half(network: Network, leaves: int) -> int:
    """Mb/s between the leaves of the worst two halves, by maximum flow for each way to part them."""
    least = 2**40
    for half in combinations(range(1, leaves), leaves // 2):  # leaf 0 is in the other half
        flow = max_flow.SimpleMaxFlow()
        for a, b, mbps in zip(network.a.tolist(), network.b.tolist(), network.mbps.tolist(), strict=True):
            flow.add_arc_with_capacity(a, b, mbps)
            flow.add_arc_with_capacity(b, a, mbps)
        source, sink = network.switches, network.switches + 1
        for leaf in range(leaves):
            flow.add_arc_with_capacity(*((source, leaf) if leaf in half else (leaf, sink)), 2**40)
        assert flow.solve(source, sink) == flow.OPTIMAL
        least = min(least, flow.optimal_flow())
    return least


NETWORKS = [
    (2, 2, 2, 1, 2), (2, 3, 2, 1, 2), (2, 2, 3, 1, 1), (3, 2, 2, 1, 3), (2, 4, 3, 2, 3), (4, 3, 2, 1, 4),
    (2, 3, 4, 1, 1), (2, 2, 4, 1, 2), (2, 1, 4, 3, 2), (3, 3, 2, 2, 5), (2, 5, 3, 1, 2),
]  # fmt: skip


@pytest.mark.parametrize("numbers", NETWORKS, ids=str)
@pytest.mark.parametrize("speeds", [(400, 400), (200, 800), (800, 100)])
def test_promises_hold_on_the_graph(numbers: tuple[int, int, int, int, int], speeds: tuple[int, int]) -> None:
    """With 3 ports on every leaf: no half and no routing of uniform traffic has less than is promised.

    Where n is a multiple of S the linear program over all routings gives no more either.
    """
    size, spines, groups, _, n = numbers
    made, network, leaves = recounted(*numbers), graph(*numbers, speeds, 3), size * groups
    promised = made.spread(3, 3 * leaves, speeds)
    most = alltoall_by_program(network)
    assert float(promised) <= most * (1 + 1e-9)
    if n % spines == 0:
        assert float(promised) == pytest.approx(most)
    if leaves % 2 == 0:
        cut, halves = made.cut(3, speeds), Fraction(worst_half(network, leaves), 3 * leaves // 2)
        assert cut <= halves
        if n % spines == 0 and groups % 2 == 0 and size % 2 == 0:
            assert cut == halves


def test_figures_by_hand() -> None:
    """3 groups of 4 leaves and 2 spines, one link each, 6 global links a pair of groups; 2 ports of 400 on a leaf.

    Q = 12, t = 12, 6 on each spine. A global link carries 16/6 pairs of leaves; a leaf's link 11/2 streams, so
    f = 400/5.5, and each of 24 ports gets f * 23/4 = 418 of all-to-all. A leaf's links carry 2 * 400 for its 2 ports;
    those between groups 400 * 6/16 * 12/2 / 2 = 450 a port.
    """
    made = recounted(4, 2, 3, 1, 6)
    assert made.spread(2, 24, (400, 400)) == Fraction(400 * 2, 11) * 23 / 4
    assert made.cut(2, (400, 400)) == 400
    assert made.cut(2, (800, 400)) == 450
    assert made.ratios(2 * 400, (400, 400)) == {"leaf": 1, "spine": Fraction(4 * 2, 12)}


def test_fewer_global_links_than_spines_load_some() -> None:
    """2 groups of 2 leaves and 3 spines, 2 global links: two spines have one, the third none.

    All that a leaf sends to the other group's 2 leaves goes over two spines, one stream each; the one to its
    neighbour fills up the third: (4 - 1)/3 = 1 stream on a link.
    """
    made = recounted(2, 3, 2, 1, 2)
    # 400 of a leaf's link, 2 / 4 of 400 between groups; E = 4, one port on a leaf
    assert made.spread(1, 4, (400, 400)) == 200 * 3
    assert made.spread(1, 4, (100, 400)) == 100 * 3
    # of a half's leaf all may go over both spines with a link: 2 * 100; streams give 100 * 4/2, as much
    assert made.cut(1, (100, 400)) == 200


def test_the_closed_form_is_that_of_the_balanced_network() -> None:
    """One link to each spine, and h a multiple of G - 1: as ``tests.oracles.closed_forms`` has it."""
    form = closed_forms.dragonfly_plus(5, 4, 4, 4, 4, 400, 400)
    made = recounted(4, 4, 5, 1, 4)
    assert made.switches == form.switches and made.scopes[0].links + 5 * 16 == form.links
    assert min(Fraction(400), made.spread(4, 80, (400, 400))) == form.alltoall


# -- candidates -----------------------------------------------------------------------------------------------------


def spine_of(max_ports: int, cages: int) -> SpinePorts:
    """A spine with cages of one port each, any of which go up or down."""
    use = CageUse(0, "1x200", cages, PortType(frozenset(), parse_split("1x200"), None, None, frozenset()), cages)
    return SpinePorts(max_ports, use, use)


def test_leonardo_is_a_candidate() -> None:
    """23 cells of 18 leaves and 18 spines: 40 ports of 100 Gb/s down, 18 of 200 up, 22 global ones on every spine.

    Switches have 40 cages of 200 Gb/s, 20 of them split down to 2 x 100. Its cut between cells carries 200 * 18 * 414 /
    (2 * 40 * 324) = 57.5 a port; 18 links of a leaf carry 413 streams, so 200 * 18/413 * 16559/1600 = 90.2 of
    all-to-all.
    """
    row = LEONARDO["cases"][0]
    leaves, size, spines = row["cells"] * row["leaf_per_cell"], row["leaf_per_cell"], row["spine_per_cell"]
    ports = row["leaf_down_100g"]
    wanted = GroupLoad(ports, leaves * ports, Rates(Fraction(57_500), Fraction(90_000)), 200_000, 200_000)
    room, spine = 20, spine_of(80, 40)
    found = networks(frames(leaves, wanted, room, spine), wanted, room, spine).numbers.tolist()
    outside = (row["cells"] - 1) * row["links_per_cell_pair"]
    assert [size, spines, row["cells"], 1, outside] in found
    made = recounted(size, spines, row["cells"], 1, row["links_per_cell_pair"])
    assert (made.uplinks, made.most_ports) == (row["leaf_up_200g"], row["spine_up"])
    ratio = made.ratios(ports * 100, (200, 200))["leaf"]
    assert round(float(ratio), 2) == row["leaf_oversubscription"]
    more = wanted._replace(rates=Rates(Fraction(57_501), Fraction(90_000)))
    less = networks(frames(leaves, more, room, spine), more, room, spine).numbers.tolist()
    assert [size, spines, row["cells"], 1, outside] not in less


@pytest.mark.long(but=("1-100-7", "3-250-7"))
@pytest.mark.parametrize("leaves", [5, 7, 9])
@pytest.mark.parametrize(("d", "asked"), [(1, 100), (1, 250), (3, 100), (3, 250)])
def test_every_network_that_is_left_out_has_a_better_one(leaves: int, d: int, asked: int) -> None:
    """Of all numbers of links that carry a demand, each has a candidate of its groups with no more of either kind."""
    spine, room, speeds = spine_of(12, 12), 8, (400, 200)
    wanted = GroupLoad(d, leaves * d, Rates(Fraction(asked), Fraction(asked)), *speeds)
    kept = networks(frames(leaves, wanted, room, spine), wanted, room, spine).numbers.tolist()
    carrying = 0
    for size, spines in product(range(2, leaves), range(1, room + 1)):
        groups = -(-leaves // size)
        better = [(m, outside) for *one, m, outside in kept if one == [size, spines, groups]]
        for m, n in product(range(1, room // spines + 1), range(1, 12 * spines)):
            outside, made = n * (groups - 1), recounted(size, spines, groups, m, n)
            if spine.fit(size * m, -(-outside // spines)) and asked <= min(
                made.cut(d, speeds), made.spread(d, leaves * d, speeds)
            ):
                assert any(one <= m and other <= outside for one, other in better), (size, spines, groups, m, n)
                carrying += 1
    assert carrying >= len(kept) > 0


# -- in a case ------------------------------------------------------------------------------------------------------


def test_hops_are_four() -> None:
    asked = ASKED | {"max_oversubscription": 4}
    small.assert_proven(small.solved(small.case(asked | {"max_switch_hops": 4}, servers=8)))
    none = small.solved(small.case(asked | {"max_switch_hops": 3}, servers=8))
    assert none.status == "infeasible"
    assert {one.limit: one.needed for one in none.conflicts}["fabrics.compute.max_switch_hops"] == 4


def test_more_bisection_than_the_ratio_asks_for() -> None:
    made = small.solved(small.case(ASKED | {"max_oversubscription": 4, "min_bisection_gbps_per_gpu": 120}, servers=8))
    small.assert_proven(made)
    assert made.fabrics[0].metrics.bisection_gbps_per_gpu >= 120


def test_the_ratio_that_would_do_is_told() -> None:
    """On switches with 4 ports a leaf has 2 servers' ports and 2 uplinks at best; the spines then lack global ports."""
    parts = small.catalog()
    parts["switches"] = [{**one, "cages": [{**one["cages"][0], "count": 4}]} for one in parts["switches"]]
    asked = ASKED | {"nics": ["nic-400"], "nics_per_server": 2}
    none = small.solved(small.case(asked, servers=8), parts)
    assert none.status == "infeasible"
    needed = {one.limit: one.needed for one in none.conflicts}["fabrics.compute.max_oversubscription.leaf"]
    assert isinstance(needed, int | float) and needed > 1
    small.assert_proven(small.solved(small.case(asked | {"max_oversubscription": needed}, servers=8), parts))
    less = small.solved(small.case(asked | {"max_oversubscription": 0.99 * needed}, servers=8), parts)
    assert less.status == "infeasible"


def test_engines_agree() -> None:
    wanted = small.case(ASKED | {"max_oversubscription": 2}, servers=10)
    answers = {small.comparable(small.solved(wanted, engine=engine)) for engine in ("cp-sat", "highs", "scip", "cbc")}
    assert len(answers) == 1


def test_planes_have_groups_of_their_own() -> None:
    """Two planes: twice the switches of each role, named by plane, and links that stay in theirs."""
    asked = ASKED | {"planes": 2, "max_oversubscription": 4, "nics": ["nic-200"], "nics_per_server": 4}
    parts = small.catalog()
    parts["nics"] = [{**one, "cages": [{**one["cages"][0], "count": 2}]} for one in parts["nics"]]
    made = small.solved(small.case(asked, servers=8), parts)
    small.assert_proven(made)
    fabric, wiring = made.fabrics[0], wiring_of(made)
    one = fabric.structure
    assert isinstance(one, DragonflyPlusStructure) and fabric.planes == 2
    assert small.counts(made)["leaf"] == 2 * one.leaves_per_group * one.switch_groups
    assert small.counts(made)["spine"] == 2 * one.spines_per_group * one.switch_groups
    assert "compute-p2-spine-001" in wiring.devices.name


def test_everything_is_exported(tmp_path: Path) -> None:
    """Cables, ports, NetBox, drawings and the page of one design name its spines' links to each other."""
    made = small.solved(small.case(ASKED | {"max_oversubscription": 2}, servers=14))
    formats = ["cables", "ports", "netbox", "dot", "graphml", "drawio"]
    export(made, wiring_of(made), formats, tmp_path, Options())
    cables = (tmp_path / "cables.csv").read_text()
    assert cables.count(",global,") == next(row.count for row in made.fabrics[0].links if row.scope == "global")
    for name in ("ports.csv", "topology.dot", "topology.graphml", "topology.drawio"):
        assert "spine" in (tmp_path / name).read_text(), name
    picture = in_column(made, wiring_of(made))["compute"]
    groups = {box.node for box in picture.boxes if box.layer == "fold"}
    assert any({line.a, line.b} <= groups for line in picture.lines)
    assert "groups of 2 leaves and 2 spines" in fabric_line(made.fabrics[0])
