"""Dual-homed servers: the two ports of a card go to two leaves. Derived by hand, and against the brute force.

The parts are those of ``tests.solution.test_brute_force`` with cards of two 1x100 ports: a switch has 4 ports and costs
1000 USD, a card 100, a cable to a server 10 and above 20. One card a server, 200 Gb/s.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fabopt
from fabopt.schema.design import Design
from fabopt.verify import verify, verify_wiring
from fabopt.wiring.build import wiring_of
from tests.samples.small import assert_proven, solved
from tests.solution.test_brute_force import best, cable, cage, card, case, catalog, server, switch, usd

Json = dict[str, Any]
DUAL: Json = {"homing": "dual", "min_gbps_per_gpu": 200, "nics_per_server": 1}


def parts(*cages: Json, **kinds: Any) -> Json:
    return catalog(nics=[card("card", *(cages or (cage(2, "1x100"),)))], **kinds)


def design(fabric: Json, servers: int = 2, sold: Json | None = None) -> Design:
    made = solved(case(servers, fabric), parts() if sold is None else sold)
    assert_proven(made)
    return made


def pairs(made: Design) -> list[set[int]]:
    """The leaves of each card."""
    wiring = wiring_of(made)
    links, found = wiring.links, {}
    for row in np.flatnonzero(links.kind == 0).tolist():
        found.setdefault((int(links.a[row]), int(links.a_nic[row])), set()).add(int(links.b[row]))
    return list(found.values())


def test_one_switch_is_not_two_leaves() -> None:
    # 2 servers have 4 ports: one switch would do. Dual-homed: 2 leaves of 2 down and 2 up, and a spine with two links
    # to each: 3 switches, 2 cards, 4 cables below and 4 above.
    assert usd(parts(), case(2, DUAL | {"homing": "any"})) == 1000 + 200 + 40
    assert usd(parts(), case(2, DUAL)) == 3000 + 200 + 40 + 80
    made = design(DUAL)
    assert all(len(leaves) == 2 for leaves in pairs(made))
    assert {"leaves_split_pairs", "ports_reach_two_leaves"} <= {check.name for check in made.checks}


def test_the_first_ports_of_all_cards_share_a_leaf() -> None:
    # 1 server with two such cards and all its ports: 2 leaves with a port of each card (k = 2) and one group.
    made = design(DUAL | {"nics_per_server": 2, "min_gbps_per_gpu": 400}, 1)
    assert (made.fabrics[0].rails, made.fabrics[0].structure.ports_per_server_per_leaf) == (2, 2)
    assert all(len(leaves) == 2 for leaves in pairs(made))
    assert best(parts(), case(1, DUAL | {"nics_per_server": 2, "min_gbps_per_gpu": 400})) is not None


def test_a_pair_in_each_of_two_planes() -> None:
    # Cards of 4 ports: two networks as that of the first test.
    wanted = DUAL | {"planes": 2, "min_gbps_per_gpu": 400}
    assert usd(parts(cage(4, "1x100")), case(2, wanted)) == 2 * (3000 + 40 + 80) + 200
    assert design(wanted, 2, parts(cage(4, "1x100"))).fabrics[0].planes == 2


def test_pairs_on_rails_of_their_own() -> None:
    # Two cards on two rails: two networks as that of the first test, with a card each.
    sold = parts(servers=server(scale_up={"domain_gpus": 1, "gbps_per_gpu": 3600}))
    wanted = DUAL | {"topologies": ["rail-only"], "nics_per_server": 2, "min_gbps_per_gpu": 400}
    assert usd(sold, case(2, wanted)) == 2 * (3000 + 200 + 40 + 80)


def test_a_twin_cable_would_join_both_ports_to_one_leaf() -> None:
    # Only straight twin cables below: both ports of a cage go to one switch.
    twin = {"switches": [switch("switch", cage(4, "2x100"))], "cables": [cable("twin", "2x100", "2x100")]}
    sold = parts(cage(1, "2x100"), **twin)
    wanted = DUAL | {"rails": "any"}
    assert best(sold, case(5, wanted)) is None
    assert best(sold, case(5, wanted | {"homing": "any"})) is not None


def test_cards_of_one_port_are_not_dual_homed() -> None:
    made = fabopt.solve(case(4, DUAL | {"min_gbps_per_gpu": 100}), catalog=catalog()).design
    assert made.status == "infeasible"
    assert {one.limit: one.needed for one in made.conflicts}["fabrics.compute.homing"] == "any"


@pytest.mark.long(but=("5-aligned", "5-any"))
@pytest.mark.parametrize("rails", ["aligned", "any"])
@pytest.mark.parametrize("servers", [3, 4, 5])
def test_the_brute_force_agrees(servers: int, rails: str) -> None:
    sold = parts(switches=[switch("switch", cage(6, "1x100"))])
    assert best(sold, case(servers, DUAL | {"rails": rails, "nics_per_server": [1, 2], "tiers": 2})) is not None


def test_a_splitter_would_join_both_ports_to_one_leaf() -> None:
    # Two cards share two cages of 2x100 of the server, whose only cables have a single head there: all ports of a cage
    # go to one switch. That is fine for one switch of 8 ports, and never for pairs.
    built_in = {"id": "card", "count": 2, "role": "compute", "cages": [cage(2, "2x100")]}
    sold = parts(
        switches=[switch("switch", cage(8, "1x100"))],
        servers=server(nics=[built_in]),
        cables=[cable("cable", "1x100", "1x100", (None, 20, 30)), cable("splitter", "2x100", "1x100", heads=2)],
    )
    wanted = {"min_gbps_per_gpu": 400}
    assert best(sold, case(2, wanted)) is not None
    assert best(sold, case(2, wanted | {"homing": "dual"})) is None


def test_a_pair_on_one_leaf_is_found() -> None:
    """Two servers change a port: each then has both on one leaf, and every count stays."""
    made = design(DUAL)
    wiring = wiring_of(made)
    links = wiring.links
    rows = np.flatnonzero(links.kind == 0)
    first, second = (rows[links.a[rows] == box] for box in (0, 1))
    b = links.b.copy()
    b[[first[1], second[0]]] = b[[second[0], first[1]]]
    found = {one.name for one in verify_wiring(made, replace(wiring, links=replace(links, b=b))) if not one.ok}
    assert "ports_reach_two_leaves" in found


def test_pairs_on_one_leaf_are_found_in_the_numbers() -> None:
    # A design that was not asked for pairs, in a case that asks for them.
    made = design(DUAL | {"homing": "any"}, 2)
    made.case.content["fabrics"][0]["homing"] = "dual"
    assert "leaves_split_pairs" in {one.name for one in verify(made) if not one.ok}
