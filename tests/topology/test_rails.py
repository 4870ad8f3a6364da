"""Rails that are networks of their own: derived by hand, against the brute force, and each rule with one thing broken.

The parts are those of ``tests.solution.test_brute_force``: a server has 1 GPU and 2 slots, the card one port of 100
Gb/s (100 USD), the switch four (1000 USD); cables are 10 USD to servers and 20 USD above. Two cards are two rails: a
GPU that sends 200 Gb/s forwards half of it.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fabopt
from fabopt.errors import InputError
from fabopt.output.export.topology import topology
from fabopt.parts.nic_planes import cannot_forward, forwarded
from fabopt.program.solvers import ENGINES
from fabopt.schema.design import Design
from fabopt.schema.server import ScaleUp, Server
from fabopt.verify import verify, verify_wiring
from fabopt.wiring.build import wiring_of
from tests.samples.lengths import with_lengths
from tests.samples.small import assert_proven, comparable, inputs, solved
from tests.solution import test_brute_force as tiny
from tests.solution.test_brute_force import best, cage, card, case, catalog, server, usd

Json = dict[str, Any]
RAILS: Json = {"topologies": ["rail-only"], "min_gbps_per_gpu": 200}


def parts(gbps: float = 100, domain: int = 1, **kinds: Any) -> Json:
    """The parts with a scale-up domain of so many GPUs."""
    return catalog(servers=server(scale_up={"domain_gpus": domain, "gbps_per_gpu": gbps}), **kinds)


def design(content: Json, sold: Json | None = None, **options: Any) -> Design:
    return solved(content, copy.deepcopy(parts() if sold is None else sold), **options)


# -- what is built --------------------------------------------------------------------------------------------------


def test_a_switch_a_rail() -> None:
    # 2 rails of 4 servers: a switch, 4 cards and 4 cables each. A Clos would put 8 ports on two tiers.
    assert usd(parts(), case(4, RAILS)) == 2 * (1000 + 400 + 40)
    assert usd(parts(), case(4, RAILS | {"topologies": ["clos", "rail-only"]})) == 2880


def test_two_tiers_a_rail() -> None:
    # As 5 servers with one card each, twice: 3 leaves of 2 down and 2 up, 2 spines, 6 links.
    found = best(parts(), case(5, RAILS))
    assert found is not None
    assert found.capex_cents == 2 * (5000 + 500 + 50 + 6 * 20) * 100
    made = design(case(5, RAILS)).fabrics[0]
    assert (made.topology, made.planes, made.rails) == ("rail-only", 1, 2)
    assert [tier.count for tier in made.tiers] == [6, 4]
    assert (made.structure.ports_per_server, made.structure.ports_per_server_per_leaf) == (2, 1)
    assert (made.structure.spines_per_pod, made.structure.leaves_per_pod) == (2, 3)
    assert made.metrics.max_switch_hops == 3


def test_planes_that_are_rails() -> None:
    # The same network, called a Clos of two planes.
    made = design(case(5, {"planes": "rails", "min_gbps_per_gpu": 200})).fabrics[0]
    assert (made.topology, made.planes, made.rails) == ("clos", 2, 1)
    assert [tier.count for tier in made.tiers] == [6, 4]
    assert usd(parts(), case(5, {"planes": "rails", "min_gbps_per_gpu": 200})) == 11_340


def test_three_tiers_in_planes_that_are_rails() -> None:
    # As ``test_three_tiers`` of the brute force, once for each of two rails.
    wanted = case(8, {"planes": "rails", "tiers": 3, "min_gbps_per_gpu": 200})
    assert usd(parts(), wanted) == 2 * (10_000 + 800 + 80 + 8 * 20 + 8 * 30)


@pytest.mark.parametrize(("planes", "switches"), [(2, 4), (1, 12)])
def test_a_rail_may_have_planes(planes: int, switches: int) -> None:
    # Two cards of two ports. Two planes: 4 networks of 4 servers, a switch each. One: 2 networks with 8 ports each, on
    # 4 leaves of 2 down and 2 up below 2 spines.
    sold = parts(200, nics=[card("card", cage(2, "1x100"))])
    found = best(sold, case(4, RAILS | {"planes": planes, "min_gbps_per_gpu": 400, "nics_per_server": 2}))
    assert found is not None and found.switches == switches
    made = design(case(4, RAILS | {"planes": planes, "min_gbps_per_gpu": 400, "nics_per_server": 2}), sold).fabrics[0]
    assert made.planes == planes and made.rails == 4 // planes


def test_attachments_are_on_some_rail() -> None:
    # 3 servers leave a port on each of the two switches.
    gate = {"name": "gate", "ports": 2, "buys": "none"}
    assert usd(parts(), case(3, RAILS | {"attachments": [gate]})) == 2 * (1000 + 300 + 30)


def test_every_engine_gives_the_same_design() -> None:
    content = case(5, RAILS | {"topologies": ["clos", "rail-only"]})
    found = {engine: comparable(design(content, engine=engine)) for engine in ENGINES}
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("fabric", [RAILS, RAILS | {"topologies": ["clos"], "planes": "rails"}])
def test_pruning_changes_nothing(fabric: Json) -> None:
    content = case(5, fabric)
    assert comparable(design(content)) == comparable(design(content, prune=False))


def test_a_clos_beside_it_is_an_alternative() -> None:
    content = with_lengths(case(4, RAILS | {"topologies": ["clos", "rail-only"]}))
    made = fabopt.solve(content, catalog=parts()).design
    other = next(one for one in made.alternatives if one.what == "topology")
    # 8 ports on two tiers: 4 leaves of 2, 2 spines with a link to each, 8 links of 20 USD.
    assert (other.value, other.capex_usd) == ("clos", 6000 + 800 + 80 + 8 * 20)


# -- growth and floor -----------------------------------------------------------------------------------------------


def test_a_rail_grows_by_leaves() -> None:
    stages = [{"name": "first", "month": 0, "servers": 2}, {"name": "last", "month": 6, "servers": 5}]
    content = case(5, RAILS, stages=stages)
    del content["servers"]
    made = design(content)
    assert_proven(made)
    first, last = made.fabrics[0].growth
    assert (first.leaves, first.spines) == (2, 0)
    assert (last.leaves, last.spines) == (6, 4)


def test_rails_stand_on_a_floor() -> None:
    floor = {"rows": 1, "racks_per_row": 3}
    sold = parts()
    sold["servers"][0]["rack_units"] = 8
    sold["cables"] = [tiny.cable("cable", "1x100", "1x100", (10, 20, 30))]
    made = design(case(4, RAILS, site={"floor": floor, "servers_per_rack": 2}), sold)
    assert_proven(made)
    assert made.fabrics[0].placement is not None and len(made.fabrics[0].placement.leaf) == 2


# -- who can forward ------------------------------------------------------------------------------------------------


def a_server(gpus: int, domain: int, gbps: float) -> Server:
    return Server(id="box", gpus=gpus, nic_slots=8, scale_up=ScaleUp(domain_gpus=domain, gbps_per_gpu=gbps))


def test_what_crosses_rails() -> None:
    assert forwarded(Fraction(400), 8) == 350
    assert cannot_forward(a_server(8, 8, 350), 8, Fraction(400_000)) is None
    assert cannot_forward(a_server(4, 72, 7200), 4, Fraction(400_000)) is None
    assert cannot_forward(a_server(8, 8, 349), 8, Fraction(400_000)) == (
        "box forwards (8 - 1)/8 x 400 = 350 Gb/s per GPU between 8 rails, and its scale-up domain carries 349"
    )
    assert cannot_forward(a_server(8, 4, 3600), 8, Fraction(400_000)) == (
        "a scale-up domain of box has 4 of its 8 GPUs, which are on 4 of 8 rails"
    )


def refusal(content: Json, sold: Json) -> str:
    with pytest.raises(InputError) as refused:
        fabopt.solve(content, catalog=sold)
    return str(refused.value)


def test_servers_without_a_domain_are_refused() -> None:
    assert "box has no `scale_up` domain to move traffic between its 2 rails" in refusal(case(4, RAILS), catalog())


def test_a_small_domain_is_refused() -> None:
    sold = parts()
    sold["servers"][0] |= {"gpus": 2}
    message = refusal(case(4, RAILS | {"min_gbps_per_gpu": 100}), sold)
    assert "a scale-up domain of box has 1 of its 2 GPUs, which are on 1 of 2 rails" in message


def test_a_slow_domain_is_refused() -> None:
    message = refusal(case(4, RAILS), parts(99))
    assert "box forwards (2 - 1)/2 x 200 = 100 Gb/s per GPU between 2 rails" in message


def test_a_slow_domain_leaves_the_clos() -> None:
    made = design(case(4, RAILS | {"topologies": ["clos", "rail-only"]}), parts(99))
    assert made.fabrics[0].topology == "clos"


def test_one_card_is_no_set_of_rails() -> None:
    message = refusal(case(4, RAILS | {"nics_per_server": 1, "min_gbps_per_gpu": 100}), parts())
    assert "rails are at least 2 NICs of a server, and box has fewer" in message


def test_tiers_that_rails_do_not_have() -> None:
    assert "`topologies: rail-only` has 1 or 2 tiers" in refusal(case(4, RAILS | {"tiers": 3}), parts())
    message = refusal(case(4, {"planes": "rails", "tiers": 1, "min_gbps_per_gpu": 200}), parts())
    assert "`planes: rails` has 2 or 3 tiers" in message


def test_a_cut_between_rails_is_crossed_inside_servers() -> None:
    # 200 Gb/s go in, and half of them may have to change rail: 150 carry that, but not all 200 of a cut between rails.
    assert design(case(4, RAILS), parts(150)).fabrics[0].metrics.bisection_gbps_per_gpu == 150
    assert design(case(4, RAILS), parts(1000)).fabrics[0].metrics.bisection_gbps_per_gpu == 200


def test_a_bisection_that_servers_do_not_carry_is_not_promised() -> None:
    wanted = RAILS | {"min_bisection_gbps_per_gpu": 180}
    assert_proven(design(case(4, wanted), parts(180)))
    made = fabopt.solve(case(4, wanted), catalog=parts(179)).design
    needed = {one.limit: one.needed for one in made.conflicts}
    assert needed["fabrics.compute.topologies"] == ("clos",)


def test_other_families_have_no_rails_of_their_own() -> None:
    # Nothing else may use the two networks of a rail-only fabric: a torus or HyperX joins all switches.
    made = fabopt.solve(case(4, RAILS | {"topologies": ["rail-only", "hyperx"]}), catalog=parts()).design
    other = next(one for one in made.alternatives if one.what == "topology")
    assert made.fabrics[0].topology == "rail-only" and other.value == "hyperx"
    assert "does not support planes that are rails" in refusal(
        case(4, {"topologies": ["hyperx"], "planes": "rails", "min_gbps_per_gpu": 200}), parts()
    )


def test_no_clash_is_named_that_rails_do_not_cause() -> None:
    # Five servers need two tiers, which are forbidden: a Clos of one tier has no more room.
    made = fabopt.solve(case(5, RAILS | {"tiers": 1}), catalog=parts()).design
    assert made.status == "infeasible"
    assert {one.limit for one in made.conflicts} >= {"fabrics.compute.tiers"}
    assert "fabrics.compute.topologies" not in {one.limit for one in made.conflicts}


# -- the wiring -----------------------------------------------------------------------------------------------------


def test_names_say_the_rail() -> None:
    boxes = wiring_of(design(case(5, RAILS))).devices
    leaves = [row for row, role in enumerate(boxes.role) if role == "leaf"]
    assert [boxes.name[row] for row in leaves[2:4]] == ["compute-r1-leaf-003", "compute-r2-leaf-001"]
    assert boxes.plane[leaves].tolist() == [1] * 6
    assert boxes.rail[leaves].tolist() == [1, 1, 1, 2, 2, 2]


def test_a_drawing_keeps_rails_apart() -> None:
    made = design(case(5, RAILS))
    graph = topology(made, wiring_of(made), most=10)
    spines = [node for node in graph.nodes if node.role == "spine"]
    assert [node.boxes for node in spines] == [2, 2]


def broken(made: Design) -> set[str]:
    return {check.name for check in verify(made) if not check.ok}


def test_every_rule_holds() -> None:
    made = design(case(5, RAILS))
    assert_proven(made)
    assert {"rails_never_meet", "scale_up_carries_rails"} <= {check.name for check in made.checks}
    clos = design(case(4, {"min_gbps_per_gpu": 100}))
    assert not {"rails_never_meet", "scale_up_carries_rails"} & {check.name for check in clos.checks}


@pytest.mark.parametrize("domain", [None, {"domain_gpus": 1, "gbps_per_gpu": 99}])
def test_a_domain_that_cannot_carry_is_found(domain: Json | None) -> None:
    made = design(case(5, RAILS))
    made.parts["box"]["scale_up"] = domain
    assert "scale_up_carries_rails" in broken(made)


def test_rails_that_meet_are_found() -> None:
    """A leaf of rail 1 and one of rail 2 change spines: every count stays, only the rails meet."""
    made = design(case(5, RAILS))
    wiring = wiring_of(made)
    boxes, links = wiring.devices, wiring.links
    rows = [
        next(
            row for row in range(len(links)) if boxes.role[links.b[row]] == "spine" and boxes.rail[links.a[row]] == rail
        )
        for rail in (1, 2)
    ]
    b = links.b.copy()
    b[rows] = b[rows[::-1]]
    found = {check.name for check in verify_wiring(made, replace(wiring, links=replace(links, b=b))) if not check.ok}
    assert {"rails_never_meet", "planes_stay_apart"} <= found


def test_a_server_on_a_wrong_rail_is_found() -> None:
    """The two cards of a server change leaves."""
    made = design(case(4, RAILS))
    wiring = wiring_of(made)
    b = wiring.links.b.copy()
    rows = np.flatnonzero(wiring.links.a == 0)
    b[rows] = b[rows[::-1]]
    changed = replace(wiring, links=replace(wiring.links, b=b))
    found = {check.name for check in verify_wiring(made, changed) if not check.ok}
    assert {"rails_never_meet", "rails_reach_leaves"} <= found


@pytest.mark.parametrize(
    ("key", "value"), [("planes", 2), ("rails", 1), ("topology", "clos"), ("topology", "torus")], ids=str
)
def test_a_changed_word_is_found(key: str, value: object) -> None:
    made = design(case(5, RAILS))
    fabric = made.fabrics[0].model_copy(update={key: value})
    assert broken(made.model_copy(update={"fabrics": (fabric,)}))


def test_inputs_take_the_word() -> None:
    content = case(5, {"planes": "rails", "min_gbps_per_gpu": 200})
    assert inputs(content, parts()).case.fabrics[0].planes == "rails"
