"""One direction of air a rack: where switches may stand that blow against servers, or against each other."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from fabopt.output.export.elevation import elevation_of, faces_of
from fabopt.output.export.orders import code_of
from fabopt.output.export.racks import PORTS_HERE, drawing, rack_list
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles.brute_floor import cheapest, toy_with_airflows
from tests.samples.small import assert_proven, solved, solved_as, value_of

Json = dict[str, Any]
CHECK = "racks_blow_one_way"
INTAKE, EXHAUST = "port-side-intake", "port-side-exhaust"
# Where the rule costs something, but for two.
SEEDS = (3, 8, 10, 12, 14, 15, 16, 18, 24, 30, 33, 36, 37, 39)


@pytest.mark.long(but=("15",))
@pytest.mark.parametrize("seed", SEEDS)
def test_small_floors_with_airflows_equal_brute_force(seed: int) -> None:
    """Every set of racks for servers, every rack for every switch; none dearer without the rule."""
    content, parts = toy_with_airflows(seed)
    design = solved_as(cheapest(content, parts), content, parts)
    without = {**content, "rules": {**content["rules"], "airflow": False}}
    free = solved_as(cheapest(without, parts), without, parts)
    if design is not None:
        assert free is not None and value_of(free) <= value_of(design)


def test_leaves_stand_with_servers_that_they_blow_as_while_spines_stand_apart() -> None:
    """Seed 39: one way for the whole floor cost 1,734; spines sold the other way only are in a rack without servers."""
    content, parts = toy_with_airflows(39)
    design = solved(content, parts)
    assert_proven(design)
    assert value_of(design) == 1681
    (fabric,), sold = design.fabrics, {one["id"]: [*one["airflows"]] for one in parts["switches"]}
    assert design.floor is not None
    ways = {(tuple(sold[tier.id]), tier.role) for tier in fabric.tiers}
    assert len({way for way, _ in ways}) == 2
    servers = set(design.floor.server_racks)
    assert {rack for rack, _ in fabric.places.leaf} <= servers
    assert not {rack for rack, _ in fabric.places.spine} & servers


def hall(racks: int, ways: dict[str, str | None], side: str | None = "rear", **rules: bool) -> tuple[Json, Json]:
    """Servers in two racks of a row, and two sizes of switches that are sold so, each with a code."""
    content, parts = copy.deepcopy(toy_with_airflows(3))
    content["site"]["floor"] |= {"rows": 1, "racks_per_row": racks}
    content["site"]["servers_per_rack"] = 1
    content["servers"] = 2
    server = parts["servers"][0]
    server.pop("ports_side", None)
    if side is not None:
        server["ports_side"] = side
    for switch in parts["switches"]:
        switch["airflows"], switch["part_number"] = ways, next(iter(ways.values()), None)
    content["rules"] |= rules
    return content, parts


def failed(design: Design) -> set[str]:
    return {check.name for check in verify(design) if not check.ok}


def racks_of(design: Design) -> tuple[set[str], set[str]]:
    """Racks of servers, and of switches."""
    placed = design.fabrics[0].places
    assert design.floor is not None
    return set(design.floor.server_racks), {rack for rack, _ in (*placed.leaf, *placed.spine)}


def test_what_blows_against_servers_stands_apart_and_is_ordered_so() -> None:
    content, parts = hall(4, {INTAKE: "S-R"})
    design = solved(content, parts)
    assert_proven(design)
    servers, switches = racks_of(design)
    assert not servers & switches
    assert CHECK in {check.name for check in design.checks}
    assert {row.part_number for row in design.bom if row.kind == "switch"} == {"S-R"}
    assert any("stand apart" in note for note in design.notes)


def test_a_switch_above_servers_that_it_blows_against_is_found() -> None:
    """The design without the rule has a leaf above a server: with the rule in the file, its check fails."""
    design = solved(*hall(4, {INTAKE: "S-R"}, airflow=False))
    servers, switches = racks_of(design)
    assert servers & switches
    content = {**design.case.content, "rules": {**design.case.content["rules"], "airflow": True}}
    assert CHECK in failed(design.model_copy(update={"case": design.case.model_copy(update={"content": content})}))


def test_an_order_of_the_other_airflow_is_found() -> None:
    """Sold both ways, switches above servers are ordered as these blow."""
    design = solved(*hall(4, {INTAKE: "S-R", EXHAUST: "S-F"}))
    servers, switches = racks_of(design)
    assert servers & switches
    rows = tuple(row.model_copy(update={"part_number": "S-R"}) if row.kind == "switch" else row for row in design.bom)
    assert {CHECK, "airflow_follows_servers"} <= failed(design.model_copy(update={"bom": rows}))


def test_without_a_rack_for_them_the_rule_is_named() -> None:
    design = solved(*hall(2, {INTAKE: "S-R"}))
    assert design.status == "infeasible"
    assert "rules.airflow" in {conflict.limit for conflict in design.conflicts}
    assert solved(*hall(2, {INTAKE: "S-R"}, airflow=False)).status == "optimal"


@pytest.mark.parametrize(("side", "ways"), [("front", {INTAKE: "S-R"}), ("rear", {}), (None, {INTAKE: "S-R"})])
def test_what_blows_alike_or_is_not_known_may_stand_above_servers(side: str | None, ways: dict[str, str]) -> None:
    kept, free = solved(*hall(2, dict(ways), side)), solved(*hall(2, dict(ways), side, airflow=False))
    assert value_of(kept) == value_of(free)


def test_elevations_say_on_which_side_ports_are() -> None:
    """A switch above servers has its ports on their side; one in a rack of its own takes air in at the front."""
    apart, above = (solved(*hall(4, ways)) for ways in ({INTAKE: "S-R"}, {INTAKE: "S-R", EXHAUST: "S-F"}))
    unknown = solved(*hall(4, {}, None))
    sides = []
    for design in (apart, above, unknown):
        table = rack_list(design, elevation_of(design, wiring_of(design)), ())
        of_role = table[table["role"].isin(["server", "leaf"])].groupby("role")[["ports_side", "air_intake"]]
        sides.append({role: set(map(tuple, rows.to_numpy())) for role, rows in of_role})
    server = {("rear", "front")}
    assert sides[0] == {"server": server, "leaf": {("front", "front")}}
    assert sides[1] == {"server": server, "leaf": server}
    assert sides[2] == {role: {("unknown", "unknown")} for role in ("server", "leaf")}
    elevation = elevation_of(apart, wiring_of(apart))
    for rear, seen in ((False, "leaf"), (True, "server")):
        texts = [text.words for box in drawing(elevation, elevation.rows, "", rear).boxes for text in box.texts]
        assert any(PORTS_HERE in text for text in texts)
        assert all((PORTS_HERE in text) == (seen in text) for text in texts if "leaf-" in text or "server-" in text)


EITHER = {INTAKE: "B-R", EXHAUST: "B-F"}


@pytest.mark.long("None-leaf1-spine1", "None-leaf2-spine2", "None-leaf5-spine5", "front-leaf7-spine7")
@pytest.mark.parametrize(
    ("side", "leaf", "spine"),
    [
        (None, ("A-R", {INTAKE: "A-R"}), ("B-F", EITHER)),
        (None, ("B-R", EITHER), ("A-F", {EXHAUST: "A-F"})),
        (None, ("A", {INTAKE: None}), ("B-F", EITHER)),
        (None, ("A-R", {INTAKE: "A-R", EXHAUST: "A-F"}), ("B-F", EITHER)),
        (None, ("A-R", {INTAKE: "A-R"}), ("B-F", {INTAKE: None, EXHAUST: "B-F"})),
        (None, ("A", {}), ("B-F", EITHER)),
        ("front", ("A-R", {INTAKE: "A-R"}), ("B-F", EITHER)),
        ("front", ("A", {}), ("B-F", {INTAKE: None, EXHAUST: "B-F"})),
        ("rear", ("A-F", {EXHAUST: "A-F"}), ("B", {INTAKE: "B-R", EXHAUST: None})),
    ],
)
def test_part_numbers_follow_where_some_switch_is_sold_one_way_only(
    side: str | None, leaf: tuple[str, Json], spine: tuple[str, Json]
) -> None:
    """Leaves and spines share a rack, whatever code is usual: no order is for the other airflow."""
    content, parts = copy.deepcopy(toy_with_airflows(39))
    roles = {tier.role: tier.id for tier in solved(*toy_with_airflows(39)).fabrics[0].tiers}
    server = parts["servers"][0]
    server.pop("ports_side", None)
    if side is not None:
        server["ports_side"] = side
    parts["switches"] = [one for one in parts["switches"] if one["id"] in roles.values()]
    for one in parts["switches"]:
        one["part_number"], one["airflows"] = leaf if one["id"] == roles["leaf"] else spine
    content["fabrics"][0]["switches"] = {role: [id_] for role, id_ in roles.items()}
    design = solved(content, parts)
    assert_proven(design)
    placed = design.fabrics[0].places
    assert {rack for rack, _ in placed.leaf} & {rack for rack, _ in placed.spine}
    ways = {way for one in (leaf, spine) for way, code in one[1].items() if len(one[1]) == 1}
    for row in (row for row in design.bom if row.kind == "switch"):
        number, codes = leaf if row.id == roles["leaf"] else spine
        (way,) = ways or {INTAKE if side == "front" else EXHAUST if side or len(leaf[1]) == 2 else None}
        others = {code for other, code in codes.items() if other != way}
        assert row.part_number == (codes.get(way) or ("" if way in codes and number in others else number))
        assert code_of(design, row.id, None).code in (row.part_number, "")
    faces = {face.intake for face in faces_of(design, wiring_of(design)) if face.intake}
    assert len(faces) <= 1
