"""What joins the two leaves of a pair: the rule ``pairing`` and the key, by hand and by brute force.

By hand as in ``tests.solution.test_brute_force``: cards 100 USD, switches 1,000, cables to leaves 10 and to spines 20.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.network import attached_ports
from fabopt.output.export.formats import Options, export
from fabopt.output.terminal.answer import leading_notes
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS
from tests.oracles import brute_pairs
from tests.oracles.brute_redundancy import best_kept, rules_of
from tests.samples import small
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.growth_samples import grown
from tests.samples.random_cases import generate
from tests.samples.small import assert_proven, designed, usd
from tests.solution.test_brute_force import cable, cage, card, case, catalog, switch

Json = dict[str, Any]
MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
TWIN = [card("twin", cage(2, "1x100"))]


def parts_of(*features: str, ports: int = 6, **kinds: Any) -> Json:
    """The catalog with one switch of so many ports."""
    return catalog(**{"switches": [switch("switch", cage(ports, "1x100"), features=list(features))], **kinds})


def in_band(parts: Json, servers: int = 4, role: str = "in-band", **keys: Any) -> tuple[Json, Json]:
    content = case(servers, {"name": "fabric", "role": role, **keys}, resilience="default")
    return parts, {key: value for key, value in content.items() if key != "catalog"}


def peer_links(design: Design) -> tuple[int, float, int] | None:
    """Pairs and speed of peer links, and their cables."""
    (fabric,) = design.fabrics
    cables = sum(row.count for row in fabric.links if row.scope == "peer-link")
    peers = fabric.peer_links
    return None if peers is None else (peers.pairs, peers.gbps, cables)


# -- by hand ----------------------------------------------------------------------------------------------------------


def test_the_leaves_of_a_pair_are_joined_by_two_cables() -> None:
    # 4 servers: 8 cards, 2 switches, 8 cables, and 2 cables between the switches
    design = designed(*in_band(parts_of("mlag")))
    assert_proven(design)
    assert usd(design) == 8 * 100 + 2 * 1000 + 8 * 10 + 2 * 10
    assert peer_links(design) == (1, 100, 2) and design.fabrics[0].pairing == "peer-link"
    standing = {row.rule: (row.kept, row.detail) for row in design.fabrics[0].redundancy}
    assert standing["pairing"] == (True, "1 pair of leaves, each with 2 cables of 100 Gb/s")
    wiring = wiring_of(design)
    rows = wiring.links.kind == KINDS.index("leaf-leaf")
    assert [wiring.a_port[row] for row in rows.nonzero()[0]] == ["swp5", "swp6"]


@pytest.mark.parametrize(
    ("features", "keys", "cost", "pairing"),
    [
        (("mlag", "evpn-multihoming"), {}, 2880, "multihoming"),
        (("mlag", "evpn-multihoming"), {"pairing": "peer-link"}, 2900, "peer-link"),
        (("mlag",), {"pairing": "none"}, 2880, "none"),
        (("mlag",), {"role": "storage"}, 2880, "none"),
        (("mlag",), {"role": "storage", "pairing": "peer-link"}, 2900, "peer-link"),
        (("mlag",), {"homing": "any"}, 1440, "none"),
    ],
)
def test_it_follows_from_role_key_and_switch(features: tuple[str, ...], keys: Json, cost: int, pairing: str) -> None:
    design = designed(*in_band(parts_of(*features), **keys))
    assert usd(design) == cost and design.fabrics[0].pairing == pairing
    assert (peer_links(design) is not None) == (pairing == "peer-link")


def test_a_switch_of_which_nothing_is_known_is_in_no_pair() -> None:
    parts, wanted = in_band(parts_of())
    design = designed(parts, wanted)
    assert usd(design) == 2880 and [(row.rule, row.part) for row in design.rules_left_out] == [
        ("pairing", "rules.pairing")
    ]
    assert "neither mlag nor evpn-multihoming of switch" in design.rules_left_out[0].why
    for asked in (
        {"rules": {"pairing": True, "lengths": False}},
        {"fabrics": [wanted["fabrics"][0] | {"pairing": "peer-link"}]},
        {"fabrics": [wanted["fabrics"][0] | {"pairing": "multihoming"}]},
    ):
        refused = optimize.solve(small.inputs(wanted | asked, parts), alternatives_s=0)
        told = {one.limit for one in refused.conflicts}
        assert refused.status == "infeasible" and told & {"rules.pairing", "fabrics.fabric.pairing"}


def test_of_two_switches_the_one_that_can_be_in_a_pair_is_taken() -> None:
    dear = switch("able", cage(6, "1x100"), usd=1500, features=["mlag"])
    parts = catalog(switches=[switch("cheap", cage(6, "1x100")), dear])
    design = designed(*in_band(parts))
    assert design.fabrics[0].tiers[0].id == "able" and usd(design) == 880 + 3000 + 20
    off = designed(*in_band(parts, pairing="none"))
    assert off.fabrics[0].tiers[0].id == "cheap"


def test_ports_of_a_peer_link_are_no_others() -> None:
    # five ports have room for four servers, or for three and a peer link of two
    parts = parts_of("mlag", ports=5)
    assert peer_links(designed(*in_band(parts, 3))) == (1, 100, 2)
    assert designed(*in_band(parts, 4, tiers=1)).rules_left_out[0].rule == "pairing"


def test_on_one_tier_the_fastest_ports_are_taken() -> None:
    fast = cable("fast", "1x400", "1x400", usd=(100, 200, 300))
    ports = [switch("switch", cage(4, "1x100"), cage(2, "1x400", "4x100"), features=["mlag"])]
    parts = catalog(switches=ports, cables=[cable("cable", "1x100", "1x100"), fast])
    design = designed(*in_band(parts))
    assert usd(design) == 2880 + 2 * 100 and peer_links(design) == (1, 400, 2)
    peers = design.fabrics[0].peer_links
    assert peers is not None and (peers.cage_group, peers.split) == (1, "1x400")


def test_above_one_tier_they_are_as_fast_as_uplinks() -> None:
    # three servers a leaf, three uplinks and two ports to the peer
    design = designed(*in_band(parts_of("mlag", ports=8), 8))
    (fabric,) = design.fabrics
    assert_proven(design)
    assert [tier.count for tier in fabric.tiers] == [6, 3] and peer_links(design) == (3, 100, 6)


def test_a_cage_of_several_ports_has_one_cable_of_a_peer_link() -> None:
    twin = [switch("switch", cage(4, "2x100"), features=["mlag"])]
    parts = catalog(switches=twin, cables=[cable("split", "2x100", "1x100", heads=2), cable("both", "2x100", "2x100")])
    design = designed(*in_band(parts))
    row = next(row for row in design.fabrics[0].links if row.scope == "peer-link")
    assert (row.count, row.from_cages, row.to_cages) == (2, 2, 2)
    assert [(part.id, part.quantity) for part in row.parts] == [("both", 2)]


def test_three_leaves_are_no_pairs() -> None:
    three = {"nics_per_server": 3, "min_gbps_per_gpu": 300}
    parts = parts_of("mlag", ports=9)
    parts["servers"][0]["nic_slots"] = 3
    assert [row.rule for row in designed(*in_band(parts, 8, **three)).rules_left_out] == ["pairing"]


def test_a_given_run_of_peer_links_is_theirs_alone() -> None:
    parts, wanted = in_band(parts_of("mlag"))
    site = {"distances_m": {**wanted.get("site", {}).get("distances_m", {}), "server-leaf": 3, "leaf-leaf": 30}}
    design = designed(parts, wanted | {"site": site})
    lengths = {row.scope: row.length_m for row in design.fabrics[0].links}
    assert usd(design) == 2880 + 2 * 20 and lengths == {None: 3, "peer-link": 30}


def test_pairs_and_one_leaf_a_server_are_refused() -> None:
    with pytest.raises(InputError, match="pairing: peer-link"):
        small.inputs(in_band(parts_of("mlag"), homing="single", pairing="peer-link")[1], parts_of("mlag"))


def test_both_ports_of_dual_homed_cards_are_on_a_pair() -> None:
    parts = parts_of("mlag", ports=10, nics=TWIN)
    parts["servers"][0]["nic_slots"] = 1
    design = designed(*in_band(parts, 8, homing="dual"))
    assert len(design.fabrics[0].tiers) == 2 and design.fabrics[0].homing == "dual"
    peers = peer_links(design)
    assert peers is not None and 2 * peers[0] == design.fabrics[0].tiers[0].count


def test_peer_links_carry_nothing_that_is_counted() -> None:
    with_, without = (designed(*in_band(parts_of(one), 4)) for one in ("mlag", "evpn-multihoming"))
    assert with_.fabrics[0].metrics == without.fabrics[0].metrics
    assert with_.fabrics[0].failures == without.fabrics[0].failures


def test_peer_links_come_with_their_leaves() -> None:
    wanted = grown(4, 8, fabric={"role": "in-band", "name": "fabric"}, resilience="default")
    design = optimize.solve(inputs_from_objects(wanted, parts_of("mlag", ports=8)), alternatives_s=0)
    rows = [row for row in design.fabrics[0].links if row.scope]
    assert [(row.stages, row.count) for row in rows] == [(("stage-1",), 4), (("stage-2",), 2)]
    assert [check for check in verify(design) if not check.ok] == []


def test_runs_of_peer_links_are_measured_on_a_floor() -> None:
    parts, wanted = in_band(parts_of("mlag", ports=8), 8)
    parts["servers"][0]["rack_units"] = 4
    wanted["site"] = {"floor": {"rows": 2, "racks_per_row": 6, "rack_units": 20}, "servers_per_rack": 2}
    design = designed(parts, wanted)
    (row,) = [row for row in design.fabrics[0].links if row.scope]
    assert (row.count, row.runs_m) == (6, (3,))
    assert [check for check in verify(design) if not check.ok] == []


def test_the_first_lines_say_what_joins_a_pair() -> None:
    told = {one: leading_notes(designed(*in_band(parts_of(one))))[0] for one in ("mlag", "evpn-multihoming")}
    assert told["mlag"].startswith(
        "fabric: every server is on two switches that 2 cables of 100 Gb/s join, whose ports"
    )
    assert "two switches that run EVPN multihoming, whose ports" in told["evpn-multihoming"]


# A rack holds a group of servers and its pair of leaves, and rules of racks are on.
FLOOR: Json = {
    "site": {"floor": {"rows": 2, "racks_per_row": 8, "rack_units": 30}, "servers_per_rack": 5},
    "rules": {"lengths": True},
}


@pytest.mark.long("filers-floor", "odd-floor")
@pytest.mark.parametrize("site", ({}, FLOOR), ids=("flat", "floor"))
@pytest.mark.parametrize("first", ("filers", "odd"))
def test_devices_with_two_ports_are_on_both_leaves_of_a_pair(first: str, site: Json) -> None:
    """Whatever is attached before them in the case, and in whichever racks the leaves are."""
    filers = {"name": "filer", "kind": "storage", "ports": 6, "boxes": 3, "rack_units": 1, "power_w": 1, "buys": "none"}
    odd = {"name": "odd", "ports": 1, "buys": "none"}
    devices = [filers, odd] if first == "filers" else [odd, filers]
    parts, wanted = in_band(parts_of("mlag", ports=12), 10, attachments=devices, max_oversubscription=3)
    parts["servers"][0]["rack_units"] = 4
    design = designed(parts, wanted | site)
    wiring, peer_of = wiring_of(design), dict[int, int]()
    rows = zip(wiring.links.kind.tolist(), wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True)
    on: dict[int, list[int]] = {}
    for kind, near, far in rows:
        if KINDS[kind] == "leaf-leaf":
            peer_of |= {near: far, far: near}
        elif "filer" in wiring.devices.name[near]:
            on.setdefault(near, []).append(far)
    assert len(on) == 3 and all(peer_of[first] == second for first, second in on.values())


def test_ports_of_a_device_on_two_pairs_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where leaves change places one by one, so that each port is in the rack that has fewest."""
    filers = {"name": "filer", "kind": "storage", "ports": 6, "boxes": 3, "rack_units": 1, "buys": "none"}
    parts, wanted = in_band(parts_of("mlag", ports=12), 10, attachments=[filers], max_oversubscription=3)
    parts["servers"][0]["rack_units"] = 4
    design = designed(parts, wanted | FLOOR)
    assert_proven(design)
    assert [rack for rack, _ in design.fabrics[0].places.leaf] == ["A01", "A01", "A02", "A02"]
    monkeypatch.setattr(attached_ports, "LEAVES_OF_PAIR", 1)
    failed = {check.name: check.detail for check in verify(design) if not check.ok}
    assert "devices of attachments on one leaf of a pair is 6" in failed["pairs_are_cabled"]


@pytest.mark.parametrize(
    "name", ("cables", "ports", "netbox", "plan", "frr", "eos", "topo", "containerlab", "hedgehog")
)
def test_exports_have_the_ports_of_peer_links(name: str, tmp_path: Path) -> None:
    design = designed(*in_band(parts_of("mlag", ports=8), 8))
    for one in design.parts.values():
        if one["kind"] == "switch":
            one["nos"] = ["eos"]
    files = export(design, wiring_of(design), [name], tmp_path, Options())
    text = "".join(path.read_text() for path in files if path.suffix != ".xlsx")
    told = "swp8" in text or "Ethernet8" in text or "eth8" in text or "E1/8" in text
    assert told == (name not in ("frr", "eos"))


# -- the proof --------------------------------------------------------------------------------------------------------


def failed(design: Design, **changes: Any) -> set[str]:
    fabric = design.fabrics[0].model_copy(update=changes)
    wrong = design.model_copy(update={"fabrics": (fabric, *design.fabrics[1:])})
    return {check.name for check in verify(wrong) if not check.ok}


def test_what_a_file_says_of_pairs_is_proven() -> None:
    design = designed(*in_band(parts_of("mlag", ports=8), 8))
    (fabric,) = design.fabrics
    peers = fabric.peer_links
    assert peers is not None and failed(design) == set()
    assert "pairs_are_joined" in failed(design, pairing="none")
    assert "pairs_are_joined" in failed(design, pairing="multihoming")
    for change in ({"pairs": 2}, {"gbps": 200}, {"split": "2x100"}, {"cage_group": 1}):
        assert "pairs_are_joined" in failed(design, peer_links=peers.model_copy(update=change))
    without = tuple(row for row in fabric.links if row.scope is None)
    assert failed(design, links=without) & {"links_close", "rows_are_listed", "pairs_are_cabled"}
    assert failed(design, links=without, peer_links=None, pairing="none") >= {"redundancy_is_kept"}


# -- brute force ------------------------------------------------------------------------------------------------------

FAMILIES = {"linear": 5, "limited": 2, "attached": 4, "rails": 2, "planes": 3, "hosted": 2}
# Families of which one case takes less than a second.
SMALL = ("attached", "planes")
FEATURES: tuple[list[str], ...] = (["mlag"], ["mlag"], ["mlag"], ["evpn-multihoming"], ["mlag", "evpn-multihoming"], [])


def sample(family: str, seed: int) -> tuple[Json, Json]:
    parts, wanted = generate(family, seed + 300)
    dice = random.Random(f"pairs {family} {seed}")
    for one in parts["switches"]:
        one["features"] = dice.choice(FEATURES)
    role = "compute" if any(server.get("nics") for server in parts["servers"]) else "in-band"
    return parts, wanted | {"fabrics": [wanted["fabrics"][0] | {"role": role}]}


@pytest.mark.long("planes-0")
@pytest.mark.long(
    *(
        f"{family}-{seed}"
        for family, number in FAMILIES.items()
        for seed in range(number)
        if seed or family not in SMALL
    )
)
@pytest.mark.parametrize(
    ("family", "seed"), [(family, seed) for family, number in FAMILIES.items() for seed in range(number * MORE_SEEDS)]
)
def test_random_cases_agree(family: str, seed: int) -> None:
    """In-band with the rule and without it, and whatever joins pairs where a case asks for it."""
    parts, wanted = sample(family, seed)
    (fabric,) = wanted["fabrics"]
    rules = rules_of(fabric)
    best, kept = best_kept(brute_pairs.solve, parts, wanted, rules)
    theirs = run(parts, wanted | {"resilience": "default"})
    assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    if best is not None:
        left_out = {row["rule"] for row in theirs["rules_left_out"]}
        assert left_out == {rule for rule in rules if rule not in kept} - ({"pairing"} if "pair" not in kept else set())
    for asked in ({"pairing": "peer-link"}, {"pairing": "multihoming"}, {"pairing": "none", "homing": "pair"}):
        said = wanted | {"fabrics": [fabric | asked]}
        best = brute_pairs.solve(parts, said)
        theirs = run(parts, said)
        assert differences(None if best is None else outline_of_best(best), outline(theirs)) == {}
        assert [check for check in theirs["checks"] if not check["ok"]] == []
