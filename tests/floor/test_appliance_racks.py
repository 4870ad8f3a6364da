"""Rule ``appliance-racks``: attachments in racks of switches where these have room, at no other cost."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

import fabopt
from fabopt.rules.defaults import APPLIANCE_RACKS
from fabopt.schema.design import Design, Place
from fabopt.verify import verify
from tests.floor.test_appliances import PORT, case as bare_case, parts
from tests.output.test_export_racks import sums_are_totals
from tests.samples import random_sites
from tests.samples.bare import bare
from tests.samples.small import Json, assert_proven, solved

CHECK = "appliances_stand_with_switches"
NODES: Json = {"name": "nodes", "ports": 2, "boxes": 2, "rack_units": 1, "power_w": 300, "buys": "none"}


def case(*attachments: Json, floor: Json | None = None) -> Json:
    return bare_case(*attachments, floor={"rack_units": 16, **(floor or {})}, rules={"subnet-manager": False})


def without(content: Json) -> Json:
    return content | {"rules": {**content.get("rules", {}), APPLIANCE_RACKS: False}}


def places(design: Design, name: str = "nodes") -> tuple[Place, ...]:
    return design.fabrics[0].places.attachments[name]


def racks(design: Design, name: str = "nodes") -> set[str]:
    return {rack for rack, _ in places(design, name)}


def racks_of_switches(design: Design) -> set[str]:
    stands = design.fabrics[0].places
    return {rack for rack, _ in (*stands.leaf, *stands.spine, *stands.core)}


def told(design: Design) -> list[str]:
    return [note for note in design.notes if f"`{APPLIANCE_RACKS}`" in note]


def alike(one: Design, other: Design) -> bool:
    """Whether two answers have the same bill and switches in the same places."""
    (a, *_), (b, *_) = one.fabrics, other.fabrics
    places = [fabric.places.model_copy(update={"attachments": {}}) for fabric in (a, b)]
    return one.bom == other.bom and a.tiers == b.tiers and places[0] == places[1]


def test_they_stand_with_switches_where_nothing_else_changes() -> None:
    """Two nodes: each beside a switch in place of the last two racks, which stay free; the bill is the same."""
    kept, off = solved(case(NODES), parts()), solved(without(case(NODES)), parts())
    assert_proven(kept)
    assert racks(kept) <= racks_of_switches(kept) and len(racks(kept)) == 2
    assert places(off) == (("B05", 1), ("B04", 1)) and not racks(off) & racks_of_switches(off)
    assert alike(kept, off)
    assert kept.totals is not None and off.totals is not None and kept.totals.racks == off.totals.racks - 2
    assert len(told(kept)) == 1 and "with switches" in told(kept)[0] and told(off) == []
    sums_are_totals(kept)


@pytest.mark.parametrize(
    ("changed", "floor"),
    [
        ({"stands": "apart"}, {}),
        ({"racks": ["B05", "B04"]}, {}),
        # no rack has the units, or the power
        ({"rack_units": 16}, {}),
        ({"power_w": 9000}, {"rack_power_w": 9500}),
    ],
)
def test_they_stand_apart_where_the_case_says_so_or_there_is_no_room(changed: Json, floor: Json) -> None:
    design = solved(case(NODES | changed, floor=floor), parts())
    assert_proven(design)
    assert not racks(design) & racks_of_switches(design)
    assert bool(told(design)) == (not {"stands", "racks"} & set(changed))


def test_no_cable_has_another_length() -> None:
    """On a floor so wide that cables to the last racks are of 50 m and not of 10 m they stay there; a note says so."""
    bought = NODES | {"buys": "both"} | PORT
    near, far = case(bought, floor={"rack_pitch_m": 0.3, "aisle_m": 0.2}), case(bought)
    for content, moves in ((near, True), (far, False)):
        kept, off = solved(content, parts()), solved(without(content), parts())
        assert_proven(kept)
        assert alike(kept, off)
        assert (racks(kept) <= racks_of_switches(kept)) == moves
        assert ("with switches" in told(kept)[0]) == moves


def test_one_rack_of_switches_takes_no_pair() -> None:
    """In one rack both would be lost together: only with ``rack-spread`` off they stand there."""
    content = case(NODES)
    content["fabrics"][0] |= {"tiers": 1, "racks": {"leaf": ["A03"]}}
    assert racks(solved(content, parts())) == {"B04", "B05"}
    assert racks(solved(content | {"rules": {"rack-spread": False, "subnet-manager": False}}, parts())) == {"A03"}


def test_what_is_broken_is_found() -> None:
    design = solved(case(NODES), parts())
    (one, first), (other, second) = places(design)
    empty = next(rack for rack in ("B01", "B02", "B03") if rack not in racks_of_switches(design))
    faults: list[tuple[list[list[Any]], str]] = [
        ([[one, first], [one, first - 1]], CHECK),
        ([[one, first], [empty, 1]], CHECK),
        ([[one, first]], CHECK),
        ([["B05", 1], ["B04", 2]], "attachments_stand_apart"),
        ([[one, 16], [other, second]], "racks_keep_rules"),
    ]
    for stands, check in faults:
        content = design.model_dump(mode="json", by_alias=True)
        content["fabrics"][0]["placement"]["attachments"]["nodes"] = stands
        failed = {one.name for one in verify(Design.model_validate_json(json.dumps(content))) if not one.ok}
        assert check in failed, (stands, failed)


def test_cables_that_do_not_reach_the_racks_they_left_are_found() -> None:
    bought = NODES | {"buys": "both"} | PORT
    floor = {"rack_pitch_m": 0.3, "aisle_m": 0.2}
    content = solved(case(bought, floor=floor), parts()).model_dump(mode="json", by_alias=True)
    for row in content["fabrics"][0]["links"]:
        if row["attachment"] == "nodes":
            for part in row["parts"]:
                part["length_m"] = 1 if part["length_m"] else None
    assert CHECK in {one.name for one in verify(Design.model_validate_json(json.dumps(content))) if not one.ok}


# -- random floors ------------------------------------------------------------------------------------------------

# Those of the first thirty that are solved at once.
SEEDS = (1, 5, 7, 8, 9, 13, 15, 17, 18, 19, 20, 22, 24, 25, 26, 27, 28, 29)


@pytest.mark.long(but=("28",))
@pytest.mark.parametrize("seed", SEEDS, ids=str)
def test_the_rule_costs_nothing_and_changes_nothing_else(unadvised: None, seed: int) -> None:
    """Attachments of random sites as devices with a height: bill, switches and their places are those without it."""
    dice = random.Random(f"appliances {seed}")
    catalog, content = copy.deepcopy(random_sites.generate(seed))
    content["site"]["floor"] = {"rows": dice.choice([1, 2]), "racks_per_row": dice.randint(4, 7)}
    content["site"].pop("distances_m", None)
    for at, fabric in enumerate(content["fabrics"]):
        fabric.pop("topologies", None)
        if fabric["role"] != "oob":
            boxes = dice.choice([1, 2, 3])
            port = {key: catalog["nics"][0]["cages"][0][key] for key in ("form_factor",)}
            split = catalog["nics"][0]["cages"][0]["splits"][0]
            buys = {"buys": "both", "split": split, **port} if dice.random() < 0.6 else {"buys": "none"}
            ports = boxes * int(split.split("x")[0])
            fabric["attachments"] = [
                {"name": f"nodes-{at}", "ports": ports, "boxes": boxes, "rack_units": dice.choice([1, 2]), **buys}
            ]
    content = bare(content)
    kept, off = (fabopt.solve(one, catalog=catalog, alternatives_s=0).design for one in (content, without(content)))
    assert kept.status == off.status
    assert kept.objective.value == off.objective.value
    if kept.floor is not None:
        assert_proven(kept)
        sums_are_totals(kept)
        assert kept.totals == (
            off.totals and off.totals.model_copy(update={"racks": kept.totals and kept.totals.racks})
        )
