"""Links of one kind in service that are of several parts: each keeps its own, whatever comes beside it."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.bases import assert_stays, designed, gone_on, live, saved
from tests.samples.random_cases import Dice
from tests.solution.test_brute_force import cable, cage, card, catalog, fibre, optic, switch
from tests.solution.test_floors_in_service import FLOOR
from tests.solution.test_in_service import in_stages
from tests.solution.test_parts_beside import alone, on_rails, parts as modules, rest

Json = dict[str, Any]
KINDS = ("cables", "transceivers")


def holders(part: Json) -> list[Json]:
    """Where a part has prices and supply."""
    return list(part.get("lengths", [part]))


def with_few(parts: Json, *few: int, dearer: float = 2) -> Json:
    """A catalog in which of each cable there are so few by length, and a dearer one of another maker."""
    found = deepcopy(parts)
    for one in list(found["cables"]):
        other = deepcopy(one) | {"id": f"{one['id']}.b"}
        for own, theirs, supply in zip(holders(one), holders(other), few, strict=True):
            own["supply"] = supply
            theirs["price_usd"] += dearer
        found["cables"].append(other)
    return found


def eight(ports: int = 8) -> Json:
    return catalog(switches=[switch("eight", cage(ports, "1x100"))])


def made_of(design: Design, near: str, stage: str | None = None) -> dict[str, int]:
    """Links from a tier up by the product of their cable, of all rows or of a stage's."""
    counts: dict[str, int] = {}
    for row in design.fabrics[0].links:
        if row.from_ == near and stage in (None, *(row.stages or ())):
            (id_,) = {part.id for part in row.parts if part.end is None}
            counts[id_] = counts.get(id_, 0) + row.count
    return counts


def laid(design: Design) -> dict[str, tuple[str, float]]:
    """Product and length of each cable by its label."""
    cables = wiring_of(design).cables
    return dict(zip(cables.name, zip(cables.part, cables.length_m.tolist(), strict=True), strict=True))


def test_each_link_in_service_keeps_its_cable(tmp_path: Path) -> None:
    """Of eight servers five are on one maker's cables; uplinks are three and five. Four servers and a leaf come."""
    base = designed(with_few(eight(), 5, 3, 9), in_stages(8, max_oversubscription=2))
    assert made_of(base, "server") == {"cable": 5, "cable.b": 3}
    assert made_of(base, "leaf") == {"cable": 3, "cable.b": 1}
    same = gone_on(with_few(eight(), 0, 0, 0), in_stages(8, max_oversubscription=2), base, tmp_path)
    assert same.totals is not None and same.totals.capex_usd == 0 and live(wiring_of(same)) == live(wiring_of(base))
    design = gone_on(eight_of_b(), in_stages(12, max_oversubscription=2), base, tmp_path)
    assert_stays(design, base, 0)
    assert made_of(design, "server", "in-service") == made_of(base, "server")
    assert made_of(design, "leaf", "in-service") == made_of(base, "leaf")
    assert laid(base).items() <= laid(design).items()
    # a leaf, four cards, four cables of 9 and two uplinks of 19
    assert design.totals is not None and design.totals.capex_usd == 1000 + 4 * 100 + 4 * 9 + 2 * 19


def eight_of_b() -> Json:
    """The other maker's are cheaper by now, and the first one's are there without limit."""
    return with_few(eight(), 99, 99, 99, dearer=-1)


def test_what_went_on_from_it_is_a_base_again_and_an_earlier_stage_too(tmp_path: Path) -> None:
    base = designed(with_few(eight(), 5, 3, 9), in_stages(8, max_oversubscription=2))
    design = gone_on(eight_of_b(), in_stages(9, 12, max_oversubscription=2), base, tmp_path)
    for servers, stage, number in ((12, "stage-1", 1), (16, "stage-2", 2)):
        again = gone_on(eight_of_b(), in_stages(servers, max_oversubscription=4), design, tmp_path, stage)
        assert_stays(again, design, number)


def test_on_a_floor_each_keeps_its_own_too(tmp_path: Path) -> None:
    def on_a_floor(*servers: int) -> Json:
        return {**in_stages(*servers, max_oversubscription=2), "site": {"floor": {**FLOOR, "rows": 3}}}

    parts = eight()
    parts["servers"][0] |= {"rack_units": 4}
    base = designed(with_few(parts, 5, 2, 9), on_a_floor(8))
    assert max(len(made_of(base, near)) for near in ("server", "leaf")) == 2
    design = gone_on(with_few(parts, 99, 99, 99), on_a_floor(12), base, tmp_path)
    assert_stays(design, base, 0)


def test_parts_that_are_said_to_be_others_are_noticed(tmp_path: Path) -> None:
    base = designed(with_few(eight(), 5, 3, 9), in_stages(8, max_oversubscription=2))
    content = json.loads(
        gone_on(eight_of_b(), in_stages(12, max_oversubscription=2), base, tmp_path).model_dump_json(by_alias=True)
    )
    rows = [
        row for row in content["fabrics"][0]["links"] if row["stages"] == ["in-service"] and row["from"] == "server"
    ]
    assert len(rows) == 2
    for row, id_ in zip(rows, ("cable.b", "cable"), strict=True):
        row["parts"][0]["id"] = id_
    failed = {check.name for check in verify(Design.model_validate_json(json.dumps(content))) if not check.ok}
    assert failed


def test_moves_are_not_worked_out_with_it(tmp_path: Path) -> None:
    base = designed(with_few(eight(), 5, 3, 9), in_stages(8, max_oversubscription=2))
    said = {"file": str(saved(base, tmp_path)), "move": {"cable": 1}}
    with pytest.raises(InputError, match="does not go with links of several parts"):
        inputs_from_objects({**in_stages(8, max_oversubscription=2), "base": said}, eight_of_b())


# -- cages of several ports -------------------------------------------------------------------------------------------


def of_cages(dice: Dice) -> tuple[Json, Json]:
    """A catalog with cages of one to four ports, splitters and modules for them, and a fabric."""
    up, down = dice.one(["1x100", "2x100"]), dice.one(["1x100", "2x100", "4x100"])
    cards = dice.one([1, 1, 2])
    leaf = switch("leaf", cage(dice.number(4, 8) // (1 if down < "4" else 2) + 1, down), cage(dice.number(2, 4), up))
    spine = switch("spine", cage(dice.number(4, 8), dice.one([up, "1x100", "2x100"])))
    splitters = [cable(f"y{n}", f"{n}x100", "1x100", usd=(10 * n - 3, 20 * n - 3, 30 * n - 3), heads=n) for n in (2, 4)]
    parts = catalog(
        switches=[leaf, spine],
        nics=[card("card", cage(1, f"{cards}x100"))],
        cables=[cable("dac", "1x100", "1x100"), *splitters, cable("twin", "2x100", "2x100", usd=(18, 38, 58))],
        transceivers=[optic(f"o{n}", f"{n}x100", 6 * n, connectors=n) for n in (1, 2, 4)],
        fibres=[fibre("duplex", "LC", "LC", 2)],
    )
    switches = {"leaf": ["leaf"], "spine": ["spine"]}
    ratio = dice.one([1, 2, 4])
    return parts, {"switches": switches, "tiers": 2, "max_oversubscription": ratio, "min_gbps_per_gpu": 100 * cards}


def with_others(dice: Dice, parts: Json) -> Json:
    """A catalog with each part of another maker too, of both of which there may be few."""
    found = deepcopy(parts)
    for kind in KINDS:
        for one in list(found[kind]):
            other = deepcopy(one) | {"id": f"{one['id']}.b"}
            for own, theirs in zip(holders(one), holders(other), strict=True):
                theirs["price_usd"] = own["price_usd"] + dice.number(-2, 5)
                if dice.chance(0.8):
                    own["supply"] = dice.number(0, 9)
            found[kind].append(other)
    return found


def is_of_several(design: Design) -> bool:
    made: dict[tuple[object, ...], set[object]] = {}
    for row in design.fabrics[0].links:
        made.setdefault((row.from_, row.to), set()).add(tuple((part.id, part.end) for part in row.parts))
    return any(len(parts) > 1 for parts in made.values())


@pytest.mark.long(but=("59",))
@pytest.mark.parametrize("seed", range(60))
def test_cages_in_service_keep_their_modules_and_new_ports_of_them_too(seed: int, tmp_path: Path) -> None:
    dice = Dice(f"several-parts-{seed}")
    parts, fabric = of_cages(dice)
    both, before = with_others(dice, parts), dice.number(3, 12)
    base = designed(both, in_stages(before, **fabric))
    if base.status != "optimal" or not is_of_several(base):
        return
    cost = 0.0
    for more in (0, 1, 3):
        design = gone_on(both, in_stages(before + more, **fabric), base, tmp_path)
        if design.status == "infeasible":
            assert more
            return
        assert_stays(design, base, 0)
        assert design.totals is not None and design.totals.capex_usd >= cost
        cost = design.totals.capex_usd
        assert (cost == 0) == (more == 0)


def test_what_one_assembly_made_beside_another_is_refused_with_the_reason(tmp_path: Path) -> None:
    whole = on_rails(8, 16)
    design = gone_on(modules(), rest(whole), designed(alone(modules()), whole), tmp_path, "stage-1")
    with pytest.raises(InputError, match="several parts cannot be gone on from where cages have several ports at both"):
        gone_on(modules(), on_rails(16), design, tmp_path)
