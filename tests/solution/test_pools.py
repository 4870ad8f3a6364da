"""Pools as a condition (``roce`` of a fabric): tiny instances in which they decide, then random ones by brute force.

Switches of four ports of 100G on Tomahawk 4, whose table says what a port must take: 129,032 bytes up to 5 m, 142,240
at 40 m, and on the line between 138,467 at 30 m. Ports share their headroom, four times over. Four servers on four
cheap leaves (600 USD each) cost more than on two dear ones (1,000).
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles.brute_force import Space, Structure, solve, structures
from tests.oracles.brute_last_group import OddStructure, odd
from tests.samples import small
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.small import assert_proven, usd
from tests.solution.test_brute_force import attachment, cable, cage, case, catalog, switch

Json = dict[str, Any]
Walk = Callable[[Space], Iterator[Any]]
NEAR, FAR = 129_032, 138_467
ROOMY, TIMES = 10**9, 4
ROCE: Json = {"lossless_priorities": 1, "mtu": 9216}
TWO: Json = {"lossless_priorities": 2}


def pool(headroom: int) -> Json:
    return {"asic": "Tomahawk 4", "buffer_pool": {"size": ROOMY, "shared_headroom": headroom}}


def parts(*switches: Json, **kinds: Any) -> Json:
    return catalog(switches=list(switches), **kinds)


def cheap(headroom: int, **keys: Any) -> Json:
    return switch("cheap", cage(4, "1x100"), usd=600, **pool(headroom), **keys)


def dear(headroom: int = ROOMY) -> Json:
    return switch("dear", cage(4, "1x100"), usd=1000, **pool(headroom))


def designed(content: Json, roce: Json | None = ROCE, servers: int = 4, **keys: Any) -> Design:
    fabric = {"tiers": 2, **({"roce": roce} if roce else {}), **keys}
    return small.solved(case(servers, fabric), content)


def leaves(design: Design) -> set[str]:
    return {tier.id for tier in design.fabrics[0].tiers if tier.role == "leaf"}


# -- what holds -------------------------------------------------------------------------------------------------------


def test_a_leaf_that_just_holds_its_ports_is_picked_and_one_byte_less_is_not() -> None:
    """Two ports at 3 m and two at 30 m: 535,000 bytes (rounded up to whole ones), a quarter of which is 133,750."""
    need = 2 * (NEAR + FAR)
    enough, short = -(-need // TIMES), -(-need // TIMES) - 1
    assert leaves(designed(parts(cheap(enough), dear()))) == {"cheap"}
    design = designed(parts(cheap(short), dear()))
    assert leaves(design) == {"dear"} and "pools_hold_headroom" in {check.name for check in design.checks}
    said = "2 x 100G at 3 m and 2 x 100G at 30 m on one priority: 0.0 MB short of 4 times its shared headroom"
    assert f"compute: leaf: not picked: cheap: {said}" in design.notes


def test_attachments_on_leaves_count_whatever_counts_in_the_ratio() -> None:
    """A leaf has a port of a server and one of an attachment outside the ratio at 3 m, and one uplink at 30 m: with
    room for one port less, no leaf of this product is picked.
    """
    beside = attachment(2, counts_in_ratio=False)
    enough = -(-(2 * NEAR + FAR) // TIMES)
    for room, picked in ((enough, "cheap"), (enough - NEAR // TIMES, "dear")):
        design = designed(parts(cheap(room), dear()), attachments=[beside])
        assert_proven(design)
        assert leaves(design) == {picked}


def test_without_the_key_it_is_worked_out_and_noted() -> None:
    design = designed(parts(cheap(100_000), dear()), roce=None)
    assert leaves(design) == {"cheap"} and "pools_hold_headroom" not in {check.name for check in design.checks}
    assert any("on one priority: 0.1 MB short" in note and "would not be picked" in note for note in design.notes)


def test_what_is_not_known_leaves_nothing_out() -> None:
    plain = switch("plain", cage(4, "1x100"), usd=300)
    design = designed(parts(plain, dear()))
    assert leaves(design) == {"plain"}
    assert any("leaf plain: whether its pool holds its lossless ports is not known" in note for note in design.notes)


def test_a_switch_that_others_beat_is_there_where_it_holds() -> None:
    """Equal but for price and pool: the dear one is dropped nowhere, though the cheap one has the same ports."""
    assert leaves(designed(parts(cheap(1), dear()), servers=6)) == {"dear"}


def test_attachments_on_free_ports_of_a_spine_count() -> None:
    """By hand: one spine has the four uplinks of two leaves and two ports of management, all at 30 m."""
    manager = attachment(2, kind="management")
    for need, spine in ((6 * FAR, "tight"), (6 * FAR - TIMES, "roomy")):
        tight = switch("tight", cage(6, "1x100"), usd=1400, **pool(-(-need // TIMES)))
        roomy = switch("roomy", cage(6, "1x100"), usd=1500, **pool(ROOMY))
        tiers = {"leaf": ["dear"], "spine": ["tight", "roomy"]}
        design = designed(parts(dear(), tight, roomy), attachments=[manager], switches=tiers)
        (top,) = [tier for tier in design.fabrics[0].tiers if tier.role == "spine"]
        assert (top.id, top.count, design.fabrics[0].free_ports["manager"]) == (spine, 1, (("spine", 0), ("spine", 0)))
        assert all(check.ok for check in verify(design))
    loose = tight["buffer_pool"] | {"shared_headroom": 1}
    shrunk = design.model_copy(update={"parts": {**design.parts, spine: {**design.parts[spine], "buffer_pool": loose}}})
    failed = {check.name: check.detail for check in verify(shrunk) if not check.ok}
    assert "6 x 100G at 30 m" in failed["pools_hold_headroom"]


def test_two_priorities_take_twice_as_much() -> None:
    enough = -(-2 * (NEAR + FAR) // TIMES)
    assert leaves(designed(parts(cheap(enough), dear()), roce={"lossless_priorities": 2})) == {"dear"}
    assert leaves(designed(parts(cheap(2 * enough), dear()), roce={"lossless_priorities": 2})) == {"cheap"}


def test_a_shorter_cable_is_worth_its_price_where_the_pool_needs_it() -> None:
    """Runs of 30 m: `long` has 50 m only and costs 1 USD, `right` has 30 m for 30 USD. At 50 m a port needs more."""
    right = cable("right", "1x100", "1x100", usd=(10, 30))
    long = cable("long", "1x100", "1x100", usd=(1,))
    long["lengths"] = [{"m": 50, "price_usd": 1}]
    enough = -(-2 * (NEAR + FAR) // TIMES)
    for headroom, bought in ((enough, "right"), (2 * enough, "long")):
        design = designed(parts(switch("only", cage(4, "1x100"), **pool(headroom)), cables=[right, long]))
        row = next(row for row in design.fabrics[0].links if row.to == "spine")
        assert {part.id for part in row.parts} == {bought}, headroom


def test_where_no_pool_holds_there_is_no_design_and_the_key_is_named() -> None:
    enough = -(-4 * FAR // TIMES)
    for headroom, most in ((1, 0), (enough, 1)):
        design = optimize.solve(small.inputs(case(4, {"tiers": 2, "roce": TWO}), parts(cheap(headroom))))
        assert design.status == "infeasible"
        (conflict,) = [one for one in design.conflicts if one.limit == "fabrics.compute.roce.lossless_priorities"]
        assert (conflict.value, conflict.needed, conflict.direction) == (2, most, "down")


def test_the_verifier_weighs_again() -> None:
    """A longer cable in the file, or a smaller pool in its parts, is found."""
    enough = -(-2 * (NEAR + FAR) // TIMES)
    design = designed(parts(cheap(enough)))
    assert all(check.ok for check in verify(design))
    fabric = design.fabrics[0]
    rows = tuple(
        row.model_copy(update={"parts": tuple(part.model_copy(update={"length_m": 50}) for part in row.parts)})
        for row in fabric.links
    )
    longer = design.model_copy(update={"fabrics": (fabric.model_copy(update={"links": rows}),)})
    failed = {check.name: check.detail for check in verify(longer) if not check.ok}
    assert "short of 4 times its shared headroom" in failed["pools_hold_headroom"]


def test_roce_is_for_ethernet() -> None:
    with pytest.raises(InputError, match="`roce` is for Ethernet"):
        inputs_from_objects(case(4, {"roce": ROCE, "protocol": "infiniband"}), parts(cheap(1)))


# -- by brute force ---------------------------------------------------------------------------------------------------


def holds(structure: Structure, servers: int) -> bool:
    """Whether the pool of every switch takes its ports: below a leaf 3 m, above it 30 m."""
    switches = [(structure.leaf, structure.down * NEAR + structure.u * FAR)]
    spine_ports = structure.leaves * structure.m
    if isinstance(structure, OddStructure):
        last = servers - (structure.groups - 1) * structure.g
        switches.append((structure.last, last * structure.own_k * NEAR + structure.own_u * FAR))
        others = structure.leaves - structure.odd_leaves
        spine_ports = others * structure.m + structure.odd_leaves * structure.own_u // structure.spines_per_pod
    if structure.spine is not None:
        switches.append((structure.spine, spine_ports * FAR))
    pools = [(box.product.get("buffer_pool"), need) for box, need in switches]
    return all(known is None or need <= TIMES * known["shared_headroom"] for known, need in pools)


def held(*walks: Walk) -> Walk:
    """Of what these oracles list, what holds."""
    return lambda space: (point for walk in walks for point in walk(space) if holds(point[0], space.servers))


def random_parts(chance: random.Random) -> Json:
    """Three switches of different size, price and pool; one of them of an unknown pool at times."""
    switches = []
    for name in ("a", "b", "c"):
        ports = chance.choice((4, 6, 8))
        known = pool(chance.randrange(2, ports + 2) * NEAR // TIMES) if chance.random() < 0.8 else {}
        switches.append(switch(name, cage(ports, "1x100"), usd=chance.randrange(300, 1500), **known))
    return parts(*switches)


def compared(chance: random.Random, tiers: Any, walk: Walk, **keys: Any) -> Json:
    """The file of a random case, which costs what the best of a walk does."""
    content, wanted = random_parts(chance), case(chance.randrange(3, 9), {"tiers": tiers, **keys, "roce": ROCE})
    best = solve(content, copy.deepcopy(wanted), walk=walk)
    found = run(copy.deepcopy(content), copy.deepcopy(wanted))
    assert differences(None if best is None else outline_of_best(best), outline(found)) == {}
    assert [check for check in found["checks"] if not check["ok"]] == []
    return found


@pytest.mark.long(but=("2", "3"))
@pytest.mark.parametrize("seed", range(12))
def test_the_best_design_whose_pools_hold(seed: int) -> None:
    chance = random.Random(seed)
    compared(chance, chance.choice((1, 2, "any")), held(structures), groups="equal")


@pytest.mark.long(but=("7",))
@pytest.mark.parametrize("seed", [1, 7, 12])
def test_the_best_last_group_whose_pools_hold(seed: int) -> None:
    """Leaves of the last group are weighed with their own ports, of 7 and 12 those of another type with its pool."""
    chance = random.Random(f"last {seed}")
    found = compared(chance, 2, held(structures, odd), groups="any", rails=chance.choice(("any", "aligned")))
    leaf = found["fabrics"][0]["tiers"][0]
    assert "last_group" in found["fabrics"][0]["structure"] and ("other" in leaf) == (seed > 1)
    weighed = found["parts"][leaf.get("other", leaf)["id"]]
    if weighed["buffer_pool"]:
        weighed["buffer_pool"]["shared_headroom"] = 1
        failed = {check.name for check in verify(Design.model_validate_json(json.dumps(found))) if not check.ok}
        assert "pools_hold_headroom" in failed


@pytest.mark.long
def test_pools_decide_some_of_these() -> None:
    """Not every random case has a design without the condition that breaks it."""
    decided = 0
    for seed in range(12):
        if decided == 3:
            break
        chance = random.Random(seed)
        content = random_parts(chance)
        wanted = case(chance.randrange(3, 9), {"tiers": chance.choice((1, 2, "any")), "groups": "equal"})
        free, bound = solve(content, wanted), solve(content, wanted, walk=held(structures))
        decided += (None if free is None else free.objective) != (None if bound is None else bound.objective)
    assert decided == 3


def test_prices_are_what_decides_without_the_key() -> None:
    assert usd(designed(parts(cheap(1), dear()), roce=None)) < usd(designed(parts(cheap(1), dear())))
