"""Fabrics whose last leaf group has ports on a leaf and uplinks of its own: optimum, figures, wiring, and words."""

from __future__ import annotations

import copy
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.network.graph.alltoall import alltoall
from fabopt.network.graph.network import Network
from fabopt.output.space import space_line
from fabopt.output.terminal.families import links_of
from fabopt.schema.design import Design, PortUse
from fabopt.solution import optimize
from fabopt.units import MBPS_PER_GBPS
from fabopt.verify import verify
from fabopt.verify.evidence import Evidence
from fabopt.verify.graph import networks
from fabopt.verify.wiring import CabledDesign, FabricCabling
from tests.oracles import brute_last_group
from tests.oracles.alltoall_program import alltoall_by_program
from tests.paths import ROOT
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.lengths import USUAL
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, inputs, solved

RUNS = {"distances_m": USUAL}
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def odd(servers: int, **fabric: Any) -> Design:
    """Servers of two ports of 400 Gb/s on switches of eight."""
    one_nic = {"nics": ["nic-400"], "nics_per_server": 2}
    return solved(case({"groups": "any", **one_nic, **fabric}, servers=servers))


def capex(design: Design) -> float:
    assert design.totals is not None
    return design.totals.capex_usd


def own_of(design: Design) -> tuple[int, int, int]:
    """Servers of the last group, ports of each on a leaf, uplinks of that."""
    last = design.fabrics[0].clos.last_group
    assert last is not None
    return last.servers, last.ports_per_server_per_leaf, last.up_ports


def failed(design: Design, **changes: Any) -> set[str]:
    """What fails where the file says something else of the last group."""
    fabric = design.fabrics[0]
    last = fabric.clos.last_group
    assert last is not None
    structure = fabric.clos.model_copy(update={"last_group": last.model_copy(update=changes)})
    wrong = fabric.model_copy(update={"structure": structure})
    return {check.name for check in verify(design.model_copy(update={"fabrics": (wrong,)})) if not check.ok}


# of 27 the leaves of the last group are of a type of their own
TRIED = [("linear", 3), ("linear", 5), ("linear", 8), ("linear", 27), ("rails", 4), ("planes", 3)]
BESIDE_ATTACHMENTS = [("attached", seed) for seed in (0, 7, 12)]


@pytest.mark.long("attached-12", "attached-7", "linear-27", "linear-8", "attached-0", "rails-4")
@pytest.mark.parametrize(("family", "seed"), TRIED + BESIDE_ATTACHMENTS)
def test_brute_force_agrees(family: str, seed: int) -> None:
    """Every g, k, u, S, m and k', u', m' of small random catalogs, ties included, beside attachments too."""
    for number in range(seed, seed + 100 * MORE_SEEDS, 100):
        parts, content = generate(family, number)
        fabric = {key: value for key, value in content["fabrics"][0].items() if key != "group_by"}
        fabric |= {"groups": "any", "tiers": 2, "rails": "any" if number % 2 else "aligned"}
        sized = {key: value for key, value in content.items() if key not in ("gpus", "stages")}
        wanted = {**sized, "servers": 5 + number % 7, "fabrics": [fabric], "rules": "none"}
        best = brute_last_group.solve(copy.deepcopy(parts), copy.deepcopy(wanted))
        theirs = run(copy.deepcopy(parts), copy.deepcopy(wanted))
        assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
        assert [check for check in theirs["checks"] if not check["ok"]] == []
        if best is not None:
            last = theirs["fabrics"][0]["structure"].get("last_group") or {}
            own = getattr(best.structure, "own_k", 0), getattr(best.structure, "own_u", 0)
            assert (last.get("ports_per_server_per_leaf", 0), last.get("up_ports", 0)) == own
            leaf = getattr(best.structure, "odd_leaf", None)
            other = theirs["fabrics"][0]["tiers"][0].get("other")
            assert (None if other is None else other["id"]) == (None if leaf is None else leaf.product["id"])


@pytest.mark.long(but=("7-3-2-linear-24", "7-3-2-rails-17"))
@pytest.mark.parametrize(("family", "seed"), [("linear", 24), ("rails", 17), ("attached", 0), ("attached", 8)])
@pytest.mark.parametrize(("servers", "per_rack", "racks"), [(13, 4, 1), (7, 3, 2)])
def test_brute_force_agrees_on_groups_of_whole_racks(
    family: str, seed: int, servers: int, per_rack: int, racks: int
) -> None:
    """All groups but the last have the servers of so many racks; the last is unlike them in all but one of these."""
    parts, content = generate(family, seed)
    fabric = content["fabrics"][0] | {"groups": "any", "tiers": 2, "rails": "any", "group_by": {"racks": racks}}
    sized = {key: value for key, value in content.items() if key not in ("gpus", "stages")}
    site = {**content.get("site", {}), "servers_per_rack": per_rack}
    wanted = {**sized, "servers": servers, "fabrics": [fabric], "site": site, "rules": "none"}
    best = brute_last_group.solve(copy.deepcopy(parts), copy.deepcopy(wanted))
    theirs = run(copy.deepcopy(parts), copy.deepcopy(wanted))
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    if (family, seed, servers) != ("attached", 8, 7):
        assert "last_group" in theirs["fabrics"][0]["structure"]


def test_by_hand_with_groups_of_whole_racks() -> None:
    """13 servers in racks of 4: three groups of a rack, and a leaf for the last server."""
    racks = {"group_by": "rack"}
    design, equal = (
        solved(case({"groups": groups, "nics": ["nic-400"], "nics_per_server": 2, **racks}, servers=13,
                    site={"servers_per_rack": 4}))
        for groups in ("any", "equal")
    )  # fmt: skip
    assert_proven(design)
    assert own_of(design) == (1, 2, 4)
    assert capex(design) < capex(equal)
    assert "groups of whole racks, alike but for the last, one switch" in space_line(design)
    assert "groups of whole racks, one switch" in space_line(equal)


def test_groups_that_no_leaf_holds_are_refused_where_they_are_asked_for_by_name() -> None:
    """With the key; without `groups: equal` in the case the search proves that there is nothing."""
    large = {"group_by": {"racks": 5}}
    with pytest.raises(InputError, match=r"fabrics\[0\]\.group_by: `groups: equal` has 100 servers in a group"):
        solved(case({"groups": "equal", **large}, servers=120, site={"servers_per_rack": 20}))
    assert solved(case({"groups": "any", **large}, servers=120, site={"servers_per_rack": 20})).status == "infeasible"
    solved(case({"groups": "equal", "group_by": {"racks": 5}}, servers=4, site={"servers_per_rack": 20}))


def test_groups_are_held_against_ports_at_the_speed_of_the_nics() -> None:
    """The largest leaf has 24 ports of 200 Gb/s and 12 of 400, and a rack 14 servers."""
    racks = {"groups": "equal", "group_by": "rack", "tiers": "any"}
    site = {"servers_per_rack": 14}
    with pytest.raises(InputError, match=r"fabrics\[0\]\.group_by: .* no leaf has more than 12 ports"):
        solved(case({**racks, "nics": ["nic-400"]}, servers=60, site=site))
    unmet = solved(case({**racks, "nics": ["nic-200"]}, servers=60, site=site))
    assert unmet.status == "infeasible"
    # far more servers than are reached, as every group is too large beside the uplinks of a leaf
    assert [one.limit for one in unmet.conflicts] == ["fabrics.compute.group_by", "servers"]
    assert solved(case({"tiers": "any", "nics": ["nic-200"]}, servers=60)).status == "optimal"


def test_by_hand() -> None:
    """13 servers in three groups of 4 and one of 1: a leaf of 2 + 4 ports for the last one, not two of 1 + 4.

    Alike they would be 8 leaves; so they are 7.
    """
    design = odd(13)
    assert_proven(design)
    assert own_of(design) == (1, 2, 4)
    equal = odd(13, groups="equal")
    assert equal.fabrics[0].clos.last_group is None
    assert capex(design) < capex(equal)
    assert design.fabrics[0].tiers[0].count == equal.fabrics[0].tiers[0].count - 1


@pytest.mark.long(but=("13",))
@pytest.mark.parametrize("servers", range(5, 20))
def test_more_choice_never_costs_more(servers: int) -> None:
    """A last group like the others is among them; where all are alike, the design is that of ``equal``."""
    any_, equal = odd(servers), odd(servers, groups="equal")
    assert capex(any_) <= capex(equal)
    assert_proven(any_)
    if any_.fabrics[0].clos.last_group is None:
        assert any_.fabrics == equal.fabrics


@pytest.mark.long(but=("17-any-rail",))
@pytest.mark.parametrize("striping", ["any", "rail"])
@pytest.mark.parametrize(("servers", "rails"), [(5, "aligned"), (13, "aligned"), (14, "any"), (17, "any")])
def test_other_stripes_never_cost_more(servers: int, rails: str, striping: str) -> None:
    """Beside stripes that are not even a last group of its own is looked at too, under even ones."""
    other = odd(servers, striping=striping, rails=rails)
    assert_proven(other)
    assert capex(other) <= capex(odd(servers, rails=rails))
    assert servers != 13 or other.fabrics[0].clos.last_group is not None


@pytest.mark.long(but=("13-1", "14-1"))
@pytest.mark.parametrize(("servers", "ratio"), [(9, 1), (10, 1), (13, 1), (14, 1), (15, 1), (17, 2), (15, 3)])
def test_figures_are_those_of_the_graph(servers: int, ratio: int) -> None:
    """All-to-all by a linear program over all routings, and the claim of no blocking with it."""
    design = odd(servers, max_oversubscription=ratio)
    assert design.fabrics[0].clos.last_group is not None
    network = assert_all_to_all(design)
    metrics = design.fabrics[0].metrics
    if design.fabrics[0].oversubscription["leaf"] <= 1:
        assert metrics.bisection_gbps_per_gpu == metrics.injection_gbps_per_gpu
        assert worst_of_permutations(network) >= network.port_mbps


def assert_all_to_all(design: Design) -> Network:
    """All-to-all is the best of all routings; the network of the first plane."""
    evidence = Evidence(design)
    (_, network, _), *_ = networks(FabricCabling(evidence.fabrics[0], CabledDesign(evidence), 0))
    nic, metrics = design.fabrics[0].nic, design.fabrics[0].metrics
    per_gpu = Fraction(nic.per_server * nic.ports_per_nic, evidence.sharers) / MBPS_PER_GBPS
    best = alltoall_by_program(network) * float(per_gpu)
    assert metrics.alltoall_gbps_per_gpu == pytest.approx(min(best, metrics.injection_gbps_per_gpu), rel=1e-6)
    assert alltoall(network).lower * float(per_gpu) <= metrics.alltoall_gbps_per_gpu + 1e-6
    return network


def worst_of_permutations(network: Network) -> float:
    """Mb/s of every port in the worst traffic of leaves with leaves, spread evenly over all uplinks.

    What a leaf sends or takes is at most its ports' speed; of that each of its links to a spine has its share, so the
    most loaded link is that of the leaf with the least uplink speed for its ports.
    """
    up = np.zeros(network.switches, dtype=np.int64)
    np.add.at(up, network.a, network.mbps)
    np.add.at(up, network.b, network.mbps)
    leaves = network.with_hosts
    ports = np.minimum(network.hosts[leaves], network.endpoints - network.hosts[leaves])
    links = [network.mbps[(network.a == leaf) | (network.b == leaf)] for leaf in leaves.tolist()]
    assert all(len(set(own.tolist())) == 1 for own in links)
    return float((up[leaves] / ports).min())


def test_limits_use_both_kinds_of_leaves() -> None:
    """Bisection, and what is left without a spine, count for the last group's leaves too."""
    alike = {"switches": {"leaf": ["small"]}}
    plain = odd(15, max_oversubscription=3, **alike)
    assert own_of(plain) == (3, 2, 2)
    assert plain.fabrics[0].metrics.bisection_gbps_per_gpu == pytest.approx(200 / 3, abs=1e-6)
    wider = odd(15, max_oversubscription=3, min_bisection_gbps_per_gpu=100, **alike)
    assert_proven(wider)
    assert wider.fabrics[0].metrics.bisection_gbps_per_gpu >= 100
    kept = odd(9, resilience=[{"survive": "1 spine", "min_gbps_per_gpu": 100}])
    assert_proven(kept)
    assert own_of(kept) == (3, 1, 3)
    left = {(row.failed, row.count): row.gbps_per_gpu for row in kept.fabrics[0].failures}
    assert left["spine", 1] >= 100


def attached(servers: int, ports: int, **attachment: Any) -> Design:
    """With an attachment for which nothing is bought, at 3:1."""
    asked = {"name": "monitor", "buys": "none", "ports": ports, **attachment}
    return odd(servers, max_oversubscription=3, attachments=[asked])


def test_attachments_are_dealt_to_the_leaves_with_the_fewest_ports() -> None:
    """13 servers as 5 + 5 + 3, 5 ports on each of four leaves and 6 on the last one: three of the four are first."""
    asked = {"name": "monitor", "buys": "none", "ports": 3}
    design = odd(13, max_oversubscription=3, attachments=[asked], switches={"leaf": ["small"]})
    assert_proven(design)
    assert counts_of(design) == [(5, 1), (5, 1), (5, 1), (5, 0), (6, 0)]
    last = design.fabrics[0].clos.last_group
    assert last is not None
    assert (design.fabrics[0].tiers[0].down_ports, last.down_ports) == (6, 6)


def counts_of(design: Design) -> list[tuple[int, int]]:
    """Ports of servers and of attachments on every leaf, from the cabling."""
    evidence = Evidence(design)
    cabling = FabricCabling(evidence.fabrics[0], CabledDesign(evidence), 0)
    leaves = cabling.devices_of("leaf")
    on_leaf = [np.bincount(cabling.links.b[cabling.of(kind)], minlength=len(cabling.devices))[leaves].tolist()
               for kind in ("server-leaf", "attachment-leaf")]  # fmt: skip
    return list(zip(*on_leaf, strict=True))


@pytest.mark.long
def test_leaves_of_a_type_of_their_own() -> None:
    """7 servers: four on a pair of leaves of 8 cages, three with all ports on one of 12."""
    design = odd(7)
    assert_proven(design)
    assert own_of(design) == (3, 2, 6)
    assert [(row.id, row.count, row.down_ports, row.up_ports) for row in design.fabrics[0].tiers[0].types] == [
        ("small", 2, 4, 4), ("large", 1, 6, 6)
    ]  # fmt: skip
    alike = [odd(7, switches={"leaf": [leaf]}) for leaf in ("large", "lean", "small")]
    assert all(capex(design) < capex(one) for one in alike)
    assert [row.quantity for row in design.bom if row.id == "large"] == [1]
    assert [one["id"] for one in products_of(design, "leaf")] == ["small", "small", "large"]


def products_of(design: Design, role: str) -> list[Json]:
    """The products of a role's devices, from the cabling; cages of each are its own."""
    devices = CabledDesign(Evidence(design)).wiring.devices
    return [design.parts[devices.product[row]] for row, own in enumerate(devices.role) if own == role]


def test_a_type_of_their_own_only_where_it_is_covered() -> None:
    """Not where all switches have one part number; nor can a file claim it where the case has equal groups."""
    alone = case({"groups": "any", "nics": ["nic-400"], "nics_per_server": 2}, servers=7)
    alone["procurement"] = {"max_part_numbers": {"switch": 1}}
    one_part = solved(alone)
    assert one_part.fabrics[0].tiers[0].other is None
    design = odd(7)
    content = copy.deepcopy(design.case.content)
    content["fabrics"][0]["groups"] = "equal"
    refused = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert "last_group_may_differ" in {check.name for check in verify(refused) if not check.ok}


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"count": 4}, "bom_covers_parts"),
        ({"id": "lean"}, "bom_covers_parts"),
        ({"id": "small"}, "last_group_may_differ"),
        ({"up_ports": 5}, "last_group_may_differ"),
        ({"down_ports": 5}, "last_group_may_differ"),
        ({"reserved_ports": 1}, "last_group_may_differ"),
        ({"down": PortUse(cage_group=0, split="2x200")}, "speeds_agree"),
        ({"up": PortUse(cage_group=1, split="1x400")}, "ports_fit_radix"),
    ],
)
def test_what_is_wrong_of_the_other_leaves_is_noticed(changes: Json, check: str) -> None:
    design = odd(7)
    fabric = design.fabrics[0]
    leaf, *above = fabric.tiers
    assert leaf.other is not None
    wrong = leaf.model_copy(update={"other": leaf.other.model_copy(update=changes)})
    changed = fabric.model_copy(update={"tiers": (wrong, *above)})
    checks = verify(design.model_copy(update={"fabrics": (changed,)}))
    assert check in {one.name for one in checks if not one.ok}


@pytest.mark.long(but=("8-attachment2", "11-attachment0"))
@pytest.mark.parametrize("attachment", [{}, {"tier": "any"}, {"max_oversubscription": 1}, {"counts_in_ratio": False}])
@pytest.mark.parametrize("servers", [8, 11, 14])
def test_attachments_beside_a_last_group_of_its_own(servers: int, attachment: Json) -> None:
    """Dealt, on free ports, at a ratio of their own, or out of the ratio; leaves with more uplinks than others too."""
    design = attached(servers, 2, **attachment)
    assert_proven(design)
    asked = {"name": "monitor", "buys": "none", "ports": 2, **attachment}
    equal = odd(servers, groups="equal", max_oversubscription=3, attachments=[asked])
    assert capex(design) <= capex(equal)


def test_a_leaf_of_the_last_group_may_have_more_uplinks() -> None:
    """Two servers of two ports and an attachment at 1:1 on one leaf: 3 uplinks, where others have 2 for 6 ports."""
    design = attached(8, 1, max_oversubscription=1)
    assert_proven(design)
    last = design.fabrics[0].clos.last_group
    assert last is not None
    assert (last.down_ports, last.up_ports) == (5, 3)
    assert design.fabrics[0].tiers[0].up_ports == 2


def test_all_ports_on_one_leaf_only_where_nothing_is_survived() -> None:
    """With something to survive, a server of the last group is on two leaves as all others are."""
    survived = {"resilience": [{"survive": "1 spine", "min_gbps_per_gpu": 10}]}
    assert own_of(odd(13)) == (1, 2, 4)
    last = odd(13, **survived).fabrics[0].clos.last_group
    assert last is None or last.ports_per_server_per_leaf == 1


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"servers": 2}, "last_group_may_differ"),
        ({"leaves": 2}, "last_group_may_differ"),
        ({"ports_per_server_per_leaf": 1}, "switch_counts_close"),
        ({"up_ports": 8}, "links_close"),
        ({"up_ports": 3}, "last_group_may_differ"),
        ({"down_ports": 3}, "last_group_may_differ"),
        ({"reserved_ports": 1}, "last_group_may_differ"),
        ({"links_per_pair": 2}, "last_group_may_differ"),
    ],
)
def test_what_is_wrong_is_noticed(changes: Json, check: str) -> None:
    assert check in failed(odd(13), **changes)


def test_it_has_to_be_allowed() -> None:
    design = odd(13)
    content = copy.deepcopy(design.case.content)
    content["fabrics"][0]["groups"] = "equal"
    refused = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert "last_group_may_differ" in {check.name for check in verify(refused) if not check.ok}


def test_words() -> None:
    design = odd(13)
    fabric = design.fabrics[0]
    assert links_of(fabric.structure, fabric).endswith(
        "the last group of 1 server on 1 leaf, 2 ports of a server on one, 1 link to each"
    )
    leaves = "one switch type a tier (leaves of the last group may be of another with the same ports)"
    assert f"even stripes, equal groups but for the last, {leaves}" in space_line(design)
    assert "equal groups, one" in space_line(odd(13, groups="equal"))
    assert "equal groups but for the last, which has even stripes, one" in space_line(odd(13, striping="any"))
    assert "equal groups but for the last, one" in space_line(odd(13, tiers="any"))


def test_a_word_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"fabrics\[0\].groups|groups"):
        odd(13, groups="unequal")


def test_what_it_would_save_is_said() -> None:
    """An answer with equal groups names the design of ``groups: any``, and what the loss of a leaf of it takes."""
    one_nic = {"nics": ["nic-400"], "nics_per_server": 2}
    design = optimize.solve(inputs(case(one_nic, servers=13)), alternatives_s=60)
    (row,) = [rival for rival in design.alternatives if rival.what == "groups"]
    assert (row.value, row.capex_usd) == ("any", capex(odd(13)))
    assert row.summary.endswith("; the last 1 server on 1 leaf, lost with it")
    assert_proven(design)


@pytest.mark.long
def test_what_equal_groups_cost_is_said() -> None:
    """An answer whose last group is unlike the others names the best one with equal groups; another one does not."""
    one_nic = {"groups": "any", "nics": ["nic-400"], "nics_per_server": 2}
    design = optimize.solve(inputs(case(one_nic, servers=13)), alternatives_s=60)
    (row,) = [rival for rival in design.alternatives if rival.what == "groups"]
    assert (row.value, row.capex_usd) == ("equal", capex(odd(13, groups="equal")))
    assert row.capex_delta_usd > 0
    assert row.summary.endswith(" (here the last 1 server on 1 leaf, lost with it)")
    alike = optimize.solve(inputs(case(one_nic, servers=12)), alternatives_s=60)
    assert "groups" not in {rival.what for rival in alike.alternatives}


def test_it_is_the_default() -> None:
    """A case that says nothing of groups is one with ``groups: any``, and its file says so."""
    content = case({"nics": ["nic-400"], "nics_per_server": 2}, servers=13, resilience="none", site=RUNS)
    design = optimize.solve(inputs_from_objects(content, catalog()), alternatives_s=0)
    assert own_of(design) == (1, 2, 4)
    assert design.case.content["fabrics"][0]["groups"] == "any"


def test_nothing_is_said_where_it_saves_nothing() -> None:
    design = optimize.solve(inputs(case({"nics": ["nic-400"], "nics_per_server": 2}, servers=12)), alternatives_s=60)
    assert "groups" not in {rival.what for rival in design.alternatives}


@pytest.mark.long
def test_candidates_whose_links_run_farther_lend_no_cables() -> None:
    """Of 1,024 GPUs the least power is that of 64 + 64 servers, 9.7 m from their leaves, and of 72 + 56, farther away:
    the first have fibres of 10 m.
    """
    content = yaml.safe_load((ROOT / "cases/finetuning-1024-gpus.yaml").read_text())
    design = optimize.solve(inputs_from_objects({**content, "objective": "power_w"}), alternatives_s=0)
    assert_proven(design)
    assert design.fabrics[0].clos.last_group is None
    equal = {**content, "objective": "power_w", "fabrics": [{**content["fabrics"][0], "groups": "equal"}]}
    assert capex(design) == capex(optimize.solve(inputs_from_objects(equal), alternatives_s=0))
