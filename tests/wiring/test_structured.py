"""Dealing of links to trunks, legs and ports of panels, on random routes and on a solved hall."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from math import ceil

import pytest

from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.dealing import TrunkRoom, dealt, dealt_together
from fabopt.wiring.model import KINDS
from fabopt.wiring.structured import RackPort, StructuredCabling, structured_of
from tests.samples.trunked import BROKEN_OUT, hall, in_rows, panel, parts, solved, trunk


def test_no_leg_is_taken_twice_and_links_of_a_leaf_are_spread() -> None:
    """At most ceil(u x legs / all legs) of the u links of a leaf on a trunk, also where links take every leg: on equal
    trunks ceil(u / D), and then in turn.
    """
    for seed in range(200):
        rng = random.Random(seed)
        size, number = rng.choice([2, 4, 8, 12]), rng.randint(1, 6)
        trunks = [TrunkRoom(size if seed % 2 else rng.choice([2, 4, 12])) for _ in range(number)]
        legs = sum(trunk.legs for trunk in trunks)
        leaf_of = [leaf for leaf in range(rng.randint(1, 9)) for _ in range(rng.randint(0, 9))][:legs]
        leaf_of += [9] * (legs - len(leaf_of)) * (seed % 3 == 0)
        places = dealt(leaf_of, [0] * len(leaf_of), trunks)
        assert len(set(places)) == len(places) and all(1 <= leg <= trunks[one].legs for one, leg in places)
        on = Counter((leaf, one) for leaf, (one, _) in zip(leaf_of, places, strict=True))
        links = Counter(leaf_of)
        assert all(count <= ceil(links[leaf] * trunks[one].legs / legs) for (leaf, one), count in on.items())
        if len(set(trunks)) == 1 and len(leaf_of) <= number:
            assert [one for one, _ in places] == list(range(len(leaf_of)))


def test_a_leaf_keeps_to_its_share_where_legs_in_turn_would_not() -> None:
    """Two leaves of 8 links on trunks of 12 and of 4 legs: 6 and 2 of each; in turn the second had 8 on one."""
    places = dealt([0] * 8 + [1] * 8, [0] * 16, [TrunkRoom(12), TrunkRoom(4)])
    assert Counter((number // 8, one) for number, (one, _) in enumerate(places)) == {
        (0, 0): 6, (0, 1): 2, (1, 0): 6, (1, 1): 2,
    }  # fmt: skip


def test_a_leaf_with_two_links_has_them_on_two_trunks_or_panels() -> None:
    """Of 12 and 4 legs its share of the larger is 2 of 2; for a fifth leaf the smaller one has no leg left."""
    rooms = [TrunkRoom(12), TrunkRoom(4)]
    on = [
        Counter(one for one, _ in dealt(leaves, [0] * len(leaves), rooms))
        for leaves in ([0, 0], [0, 0, 1, 1, 2, 2, 3, 3])
    ]
    assert on == [{0: 1, 1: 1}, {0: 4, 1: 4}]
    assert len(dealt([leaf for leaf in range(5) for _ in range(2)], [0] * 10, rooms)) == 10


def test_links_of_one_trunk_stay_together_as_far_as_leaves_are_spread() -> None:
    """Each of D equal panels has at most ceil(u / D) of the u links of a leaf, and fewer than u > 1; and a trunk whose
    links are all of different leaves has them in one panel if each panel has room for whole trunks.
    """
    for seed in range(200):
        rng = random.Random(seed)
        panels, legs, trunks = rng.randint(1, 4), rng.choice([4, 12]), rng.randint(1, 8)
        room = TrunkRoom(legs * -(-trunks // panels))
        links = [(trunk, (0 if seed % 2 else 100 * trunk) + leg) for trunk in range(trunks) for leg in range(legs)]
        leaves = [leaf for _, leaf in links]
        places = dealt(leaves, [0] * len(links), [room] * panels, [trunk for trunk, _ in links])
        on, numbers = Counter(zip(leaves, (panel for panel, _ in places), strict=True)), Counter(leaves)
        assert len(set(places)) == len(places)
        assert all(count <= -(-numbers[leaf] // panels) for (leaf, _), count in on.items())
        if not seed % 2:
            homes = {(trunk, panel) for (trunk, _), (panel, _) in zip(links, places, strict=True)}
            assert len(homes) == trunks


def test_what_is_plugged_in_stays_under_growth() -> None:
    """Links of later stages and trunks that are pulled later move nothing; each link waits for no later trunk."""
    for seed in range(200):
        rng = random.Random(seed)
        trunks, stages, room = list[TrunkRoom](), list[int](), 0
        for stage in range(rng.randint(1, 4)):
            more = [TrunkRoom(rng.choice([2, 4, 12]), stage) for _ in range(rng.randint(stage == 0, 3))]
            trunks += more
            room += sum(one.legs for one in more)
            stages += [stage] * rng.randint(0, room - len(stages))
        leaves = [rng.randint(0, 3) for _ in stages]
        places = dealt(leaves, stages, trunks)
        assert len(set(places)) == len(places)
        assert all(trunks[one].stage <= stage for (one, _), stage in zip(places, stages, strict=True))
        for stage in set(stages):
            before = [one for one in stages if one <= stage]
            until = leaves[: len(before)]
            assert dealt(until, before, trunks) == places[: len(before)]
            assert dealt(until, before, [one for one in trunks if one.stage <= stage]) == places[: len(before)]


def test_links_without_a_leg_are_refused() -> None:
    with pytest.raises(ValueError, match="no trunk or panel has room for link 3"):
        dealt([0, 0, 0], [0, 0, 0], [TrunkRoom(2), TrunkRoom(4, stage=1)])


def laid(design: Design) -> StructuredCabling:
    return structured_of(design, wiring_of(design))


HALLS = {
    "plain": (hall(), None),
    "spare": (hall({"leaf-spine": "structured", "spare_legs": 0.5}), None),
    "many": (hall(servers=3), parts([trunk("t2", 2, 90)], [panel("p4", 4, 50)])),
    "in rows": (in_rows({"spare_legs": 0.5}), None),
    "wide": (hall(), parts([trunk("t12", 12, 300)], [panel("p24", 24, 300)])),
    **BROKEN_OUT,
}


@pytest.mark.parametrize("name", HALLS)
def test_every_link_between_racks_has_a_leg_and_two_ports(name: str) -> None:
    design = solved(*HALLS[name])
    wiring, cabling = wiring_of(design), laid(design)
    racks = {one.name: one.rack for one in cabling.panels}
    sizes = {one.name: one.legs for one in cabling.panels}
    ports = [port for one in cabling.trunks for leg in one.legs for port in (leg.a, leg.b) if port is not None]
    assert len(set(ports)) == len(ports) and all(1 <= port.port <= sizes[port.panel] for port in ports)
    lit = {link: (one, leg) for one in cabling.trunks for leg in one.legs for _, link in leg.lit}
    kinds = design.fabrics[0].structured
    rack = [f"{one[:1]}01" if kinds[0].zones else one for one in wiring.devices.rack]
    between = [
        row
        for row, (a, b) in enumerate(zip(wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True))
        if rack[a] != rack[b] and KINDS[wiring.links.kind[row]] in {kind.kind for kind in design.fabrics[0].structured}
    ]
    assert sorted(lit) == between != []
    for row, (one, leg) in lit.items():
        assert leg.a is not None and leg.b is not None
        assert (racks[leg.a.panel], racks[leg.b.panel]) == one.racks
        assert set(one.racks) == {rack[wiring.links.a[row]], rack[wiring.links.b[row]]}
    assert len(cabling.trunks) == sum(row.count for kind in kinds for row in kind.trunks)
    plugged = sum(leg.a is not None for one in cabling.trunks for leg in one.legs)
    assert plugged >= sum(route.legs for kind in kinds for route in kind.routes)


@pytest.mark.parametrize("name", BROKEN_OUT)
def test_each_fibre_of_a_link_through_cassettes_arrives_last_for_first(name: str) -> None:
    """From the port in front of one to that of the other, through the positions of the leg that both say; no port is
    taken twice, and links fill as few legs as they can.
    """
    content, products = BROKEN_OUT[name]
    design = solved(content, products)
    wiring, cabling = wiring_of(design), laid(design)
    back = {one["id"]: one["back"] for one in products["panels"]}
    product_of = {one.name: one.product for one in cabling.panels}
    fronts, at_leg = list[RackPort](), Counter[tuple[str, int]]()
    patched = cabling.patched(wiring)
    for way in patched.values():
        ends = []
        for front in (way.near, way.far):
            positions = back[product_of[front.panel]]["positions"]
            behind, place = divmod(front.port - 1, len(positions))
            assert (front.panel, behind + 1) in [(port.panel, port.port) for port in (way.leg.a, way.leg.b) if port]
            ends.append(positions[place])
        fibres = int(back[product_of[way.near.panel]]["connector"].split("-")[1])
        assert [fibres + 1 - at for at in ends[0]] == ends[1][::-1]
        fronts += [way.near, way.far]
        at_leg[way.trunk.name, way.leg.number] += 1
    assert len(set(fronts)) == len(fronts) == 2 * len(patched) > 0
    for kind in design.fabrics[0].structured:
        per_leg = len(back[kind.panels[0].id]["positions"])
        for route in kind.routes:
            of_route = [one for one in cabling.trunks if one.kind == kind.kind and one.racks == (route.a, route.b)]
            lit = [number for one in of_route for leg in one.legs if (number := at_leg[one.name, leg.number])]
            assert sum(lit) == route.links and len(lit) == -(-route.links // per_leg) and max(lit) <= per_leg


def test_links_of_a_leaf_are_spread_over_trunks_between_cassettes() -> None:
    """Random routes by stages: as few legs as links fill at each stage, links of each device on trunks by the share of
    these legs, and what is plugged in stays.
    """
    for seed in range(100):
        rng = random.Random(seed)
        per_leg, size, number = rng.choice([2, 3, 4, 6]), rng.choice([1, 2, 4]), rng.randint(1, 4)
        stages = sorted(rng.choice([0, 0, 1, 2]) for _ in range(rng.randint(1, per_leg * size * number)))
        leaves, rooms = [rng.randint(0, 3) for _ in stages], [TrunkRoom(size)] * number
        legs = dealt_together(leaves, stages, rooms, per_leg)
        assert sorted(link for own in legs.values() for link in own if link is not None) == list(range(len(stages)))
        for stage in set(stages):
            before = sum(one <= stage for one in stages)
            early = dealt_together(leaves[:before], stages[:before], rooms, per_leg)
            assert len(early) == -(-before // per_leg)
            kept = {leg: tuple(link for link in own if link is not None and link < before) for leg, own in legs.items()}
            assert {leg: tuple(link for link in own if link is not None) for leg, own in early.items()} == {
                leg: own for leg, own in kept.items() if own
            }
        if set(stages) == {0}:
            room, links = Counter(trunk for trunk, _ in legs), Counter(leaves)
            on = Counter((leaves[link], trunk) for (trunk, _), own in legs.items() for link in own if link is not None)
            assert all(count <= ceil(links[leaf] * room[one] / len(legs)) for (leaf, one), count in on.items())


def test_spare_legs_between_cassettes_carry_nothing() -> None:
    legs = dealt_together([0] * 5, [0] * 5, [TrunkRoom(4), TrunkRoom(4)], 4, 5)
    assert [sum(link is not None for link in own) for own in legs.values()] == [3, 2, 0, 0, 0]
    with pytest.raises(ValueError, match="no trunk or panel has room for link 3"):
        dealt_together([0] * 9, [0] * 9, [TrunkRoom(2)], 4)


def test_a_panel_that_is_lost_leaves_each_leaf_a_link() -> None:
    """Of two panels in the rack of a leaf each has half of its links, as those of one device; and no loss of a panel or
    trunk is a single point of failure.
    """
    design = solved(hall(), parts([trunk("t4", 4, 90)], [panel("p4", 4, 50)]))
    wiring, cabling = wiring_of(design), laid(design)
    of_leaf: dict[int, Counter[str]] = defaultdict(Counter)
    for row, way in cabling.patched(wiring).items():
        of_leaf[int(wiring.links.a[row])][way.near.panel] += 1
    in_rack = Counter(one.rack for one in cabling.panels)
    assert any(in_rack[wiring.devices.rack[leaf]] > 1 for leaf in of_leaf)
    for leaf, on in of_leaf.items():
        number = in_rack[wiring.devices.rack[leaf]]
        assert max(on.values()) <= -(-on.total() // number)
    assert not [row for row in design.single_points_of_failure or () if row.device in ("trunk", "panel")]


def test_nothing_is_dealt_where_all_is_direct() -> None:
    assert laid(solved(hall("direct"))) == StructuredCabling((), ())
