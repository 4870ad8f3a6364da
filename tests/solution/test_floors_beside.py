"""New switches of other models than those in service, on a floor: as without one where it has room for all."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_a_floor_with_room_costs_as_none, assert_stays, designed, gone_on, live
from tests.samples.once import once
from tests.samples.random_cases import Dice
from tests.solution.test_beside import OTHER, OWN, models, types
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_floors_in_service import FLOOR, on_floor
from tests.solution.test_mixed_bases import capex

Json = dict[str, Any]


def parts(other_usd: float = 900, **keys: Any) -> Json:
    """Two models of eight ports, and servers of four units."""
    found = models(other_usd, **keys)
    found["servers"][0]["rack_units"] = 4
    return found


def grown_to(servers: int, floor: Json = FLOOR, **fabric: Any) -> Json:
    return on_floor(servers, floor=floor, max_oversubscription=3, **fabric)


def a_base(floor: Json = FLOOR) -> Design:
    """Two leaves of three servers each, in their racks, and a spine in another one."""
    return designed(parts(), grown_to(6, floor, switches=OWN))


@pytest.mark.long(but=("900-switches0-leaves0",))
@pytest.mark.parametrize(
    ("other_usd", "switches", "leaves"),
    [
        (900, {}, {"own": 2, "other": 2}),
        (1100, {}, {"own": 4}),
        (1100, OTHER, {"own": 2, "other": 2}),
        (900, OWN, {"own": 4}),
    ],
)
def test_new_leaves_are_of_the_cheapest_model_that_the_case_allows(
    other_usd: float, switches: Json, leaves: Json, tmp_path: Path
) -> None:
    base = a_base()
    design = gone_on(parts(other_usd), grown_to(12, switches=switches), base, tmp_path)
    assert_stays(design, base, 0)
    assert types(design)["leaf"] == leaves and types(design)["spine"] == {"own": 1}
    there, now = base.fabrics[0].places, design.fabrics[0].places
    assert now.leaf[:2] == there.leaf and now.spine == there.spine
    # six cards, and a cable for each of them and to the spine
    bought = +Counter({row.id: row.quantity for row in design.bom if row.stage != "in-service"})
    new = {"other": 2} if "other" in leaves else {"own": 2}
    assert {id_: bought[id_] for id_ in bought if id_ in ("own", "other")} == new
    again = gone_on(parts(other_usd), grown_to(12), design, tmp_path)
    assert_stays(again, design, 1)
    assert capex(again) == 0 and live(wiring_of(again)) == live(wiring_of(design))


def hungry(other_w: float) -> Json:
    """The other model is cheaper, and uses more power."""
    found = parts(900)
    for one in found["switches"]:
        one["power_w"] = {"own": 100, "other": other_w}[one["id"]]
    return found


@pytest.mark.long
@pytest.mark.parametrize(("other_w", "leaf"), [(100, "other"), (900, "own")])
def test_a_rack_takes_the_model_for_which_it_has_power(other_w: float, leaf: str, tmp_path: Path) -> None:
    """Racks of 900 W have three servers of 250 W, a leaf of 100 W and no more: two new leaves of any model have no rack
    to themselves on a floor of five racks.
    """
    floor = {"rows": 1, "racks_per_row": 5, "rack_units": 16, "rack_power_w": 900}
    found = hungry(other_w)
    found["servers"][0]["power_w"] = 250
    base = designed(found, grown_to(6, floor, switches=OWN))
    design = gone_on(found, grown_to(12, floor), base, tmp_path)
    assert_stays(design, base, 0)
    assert +Counter(types(design)["leaf"]) == Counter({"own": 2}) + Counter({leaf: 2})
    again = gone_on(found, grown_to(12, floor), design, tmp_path)
    assert_stays(again, design, 1)
    assert capex(again) == 0 and live(wiring_of(again)) == live(wiring_of(design))
    # more models to choose from are never dearer
    for id_ in ("own", "other"):
        alone = gone_on(found, grown_to(12, floor, switches={"leaf": [id_], "spine": ["own"]}), base, tmp_path)
        assert alone.totals is None or capex(alone) >= capex(design)


def one_length(content: Json) -> Json:
    """A catalog whose cables have one length, so that it is no matter where switches are."""
    for cable in content["cables"]:
        cable["lengths"] = [{"m": 100, "price_usd": 10}]
    return content


@pytest.mark.long(but=("3",))
@pytest.mark.parametrize("seed", range(24))
def test_a_floor_with_room_costs_what_no_floor_does(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"floor-beside-{seed}")
    usd = {"own": dice.number(600, 1200), "other": dice.number(600, 1200)}
    ports = dice.number(6, 10)
    boxes = [switch(id_, cage(ports, "1x100"), usd=price) for id_, price in usd.items()]
    found = one_length(catalog(switches=boxes))
    found["servers"][0]["rack_units"] = 4
    ratios, tiers = [dice.one([1, 1.5, 2, 3]) for _ in range(2)], dice.one([[1, 2], 2])
    servers = sorted(dice.number(2, 12) for _ in range(2))
    new = dice.one([["own", "other"], ["other"], ["own"]])
    before = on_floor(servers[0], tiers=tiers, max_oversubscription=ratios[0], switches=OWN)
    after = on_floor(servers[1], tiers=[1, 2], max_oversubscription=ratios[1], switches={"leaf": new, "spine": new})
    assert_a_floor_with_room_costs_as_none(found, before, after, tmp_path)


@pytest.mark.parametrize("keys", [{"rules": {"interchangeable": False}}, {"base": None}])
def test_a_file_that_mixes_against_the_rule_or_without_a_base_is_refused(keys: Json, tmp_path: Path) -> None:
    design = once(lambda: gone_on(parts(), grown_to(12), a_base(), tmp_path), "mixed on a floor")
    content = json.loads(design.model_dump_json(by_alias=True))
    content["case"]["content"] |= keys
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert "switches_are_interchangeable" in failed
