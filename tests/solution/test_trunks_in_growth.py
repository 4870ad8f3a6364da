"""Trunks of a cluster that grows: what a stage pulls stays, is enough for it, and comes when the case says."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.output.export.panels import panel_table
from fabopt.output.export.trunks import trunk_table
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.samples.small import Json, usd
from tests.samples.trunked import LABOUR, hall, inputs, panel, parts, random_parts, solved, trunk

SIZES = (("first", 0, 4), ("second", 12, 8))


def growing(cabling: object = "structured", trunks: str | None = None, **changes: Any) -> Json:
    """The hall with four servers and then eight, and switches in two racks, whose route grows."""
    stages = [{"name": name, "month": month, "servers": servers} for name, month, servers in SIZES]
    content = hall(cabling, floor={"racks_per_row": 10, "network_racks": ["A01", "A10"]}, stages=stages, **changes)
    return content if trunks is None else {**content, "growth": {"trunks": trunks}}


def small_parts() -> Json:
    """Trunks and panels so small that each stage has some."""
    trunks = [trunk("t1", 1, 100), trunk("t2", 2, 150), trunk("t6", 6, 330)]
    return parts(trunks, [panel("p2", 2, 60), panel("p6", 6, 100), panel("p12", 12, 150)])


def large_parts(**trunks: int) -> Json:
    """Servers that fill their racks, so that all leaves are in racks of switches; trunks at such prices."""
    content = parts([trunk(id_, int(id_[1:]), cost) for id_, cost in trunks.items()], [panel("p24", 24, 250)])
    content["servers"][0]["rack_units"] = 24
    return content


def failed(design: Design) -> list[str]:
    """Names of the checks that fail."""
    return [check.name for check in design.checks if not check.ok]


def by_stage(design: Design) -> dict[str, int]:
    """Trunks that each stage pulls."""
    pulled = dict.fromkeys((name for name, *_ in SIZES), 0)
    for kind in design.fabrics[0].structured:
        for row in kind.trunks:
            assert row.stage is not None
            pulled[row.stage] += row.count
    return pulled


@pytest.mark.parametrize("word", ["when_lit", "ahead", "any"])
def test_each_stage_has_its_trunks_panels_and_jumpers(word: str) -> None:
    design = solved(growing(trunks=word, labour=LABOUR), small_parts())
    assert (design.status, failed(design)) == ("optimal", [])
    (kind,) = design.fabrics[0].structured
    pulled, far = by_stage(design), dict(zip(by_stage(design), kind.far_by_stage, strict=True))
    assert sum(kind.far_by_stage) == kind.far_jumpers and min(kind.far_by_stage) > 0
    billed = {name: {row.id: row.in_use for row in design.bom if row.stage == name} for name in pulled}
    for name, of in billed.items():
        assert sum(number for id_, number in of.items() if id_.startswith("t") and id_[1:].isdigit()) == pulled[name]
        assert of.get("labour-jumper", 0) == 0 or far[name] > 0
        mounted = [place for place in kind.panels if place.stage == name]
        assert sum(of.get(id_, 0) for id_ in ("p2", "p6", "p12")) == len(mounted)
    assert pulled["first"] > 0 and (word != "ahead" or pulled["second"] == 0)


def test_what_a_stage_lights_goes_through_what_is_there() -> None:
    """Cords of the first stage end in panels of the first stage, and keep port and leg at the second."""
    design = solved(growing(), small_parts())
    wiring = wiring_of(design)
    first, last = (trunk_table(design, wiring, stage) for stage in (0, 1))
    names = set(panel_table(design, wiring, 0)["panel"])
    lit = first[first["state"] == "lit"]
    assert len(lit) == design.fabrics[0].structured[0].far_by_stage[0]
    assert {port.split(" ")[0] for column in ("from", "to") for port in lit[column]} <= names
    keys = ["trunk", "leg", "from", "to", "link"]
    later = set(last[keys].itertuples(index=False, name=None))
    assert set(lit[keys].itertuples(index=False, name=None)) <= later
    assert set(panel_table(design, wiring)["stage"]) == {name for name, *_ in SIZES}


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 6))])
def test_whichever_is_cheaper_is_no_dearer(seed: int) -> None:
    """With prices that fall, so that what is pulled ahead costs more."""
    rng = random.Random(seed)
    fall = {"price_decline": {kind: rng.choice([0, 0.1, 0.3]) for kind in ("trunk", "panel", "transceiver", "fibre")}}
    said = {"labour": LABOUR, "finance": fall}
    words = ("any", "when_lit", "ahead")
    designs = {word: solved(growing(trunks=word, **said), random_parts(seed)) for word in words}
    assert [failed(design) for design in designs.values()] == [[], [], []]
    assert usd(designs["any"]) <= min(usd(designs["when_lit"]), usd(designs["ahead"]))
    either = solved(growing("any", "any", **said), random_parts(seed))
    leads = solved(growing("direct", **said), random_parts(seed))
    assert failed(either) == [] and usd(either) <= min(usd(leads), usd(designs["any"]))


def test_legs_that_are_there_are_used_first() -> None:
    """Routes grow: eight legs for stages of four are one trunk at first, where four and four are dearer."""
    fewest = {"t4": 300, "t8": 500}
    designs = {word: solved(growing(trunks=word), large_parts(**fewest)) for word in ("when_lit", "ahead")}
    assert [failed(design) for design in designs.values()] == [[], []]
    assert usd(designs["when_lit"]) == usd(designs["ahead"]) and by_stage(designs["when_lit"])["second"] == 0
    apart = {word: solved(growing(trunks=word), large_parts(t4=300, t8=700)) for word in ("when_lit", "ahead")}
    assert [failed(design) for design in apart.values()] == [[], []]
    assert by_stage(apart["when_lit"])["second"] > 0 == by_stage(apart["ahead"])["second"]


def test_files_that_break_rules_are_refused() -> None:
    design = solved(growing(), small_parts())
    fabric, (kind,) = design.fabrics[0], design.fabrics[0].structured

    def broken(**update: object) -> set[str]:
        changed = fabric.model_copy(update={"structured": (kind.model_copy(update=update),)})
        return {check.name for check in verify(design.model_copy(update={"fabrics": (changed,)})) if not check.ok}

    def moved(name: str) -> list[object]:
        rows = ([row.model_copy(update={"stage": name}) for row in route.trunks] for route in kind.routes)
        return [route.model_copy(update={"trunks": of}) for route, of in zip(kind.routes, rows, strict=True)]

    assert {"trunks_hold_legs", "bom_covers_parts"} <= broken(routes=moved("second"))
    assert "trunks_hold_legs" in broken(routes=moved("first"))
    assert "trunks_hold_legs" in broken(far_by_stage=(kind.far_by_stage[0] + 1, kind.far_by_stage[1] - 1))
    late = tuple(place.model_copy(update={"stage": "second"}) for place in kind.panels)
    assert "panels_hold_trunks" in broken(panels=late)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"growth": {"recabling": "allow"}}, "would leave its trunk"),
        ({"growth": {"trunks": "any"}}, "no stage can be called cheaper"),
        ({"growth": {"trunks": "later"}}, "when_lit"),
    ],
)
def test_what_cannot_be_planned_is_refused(change: Json, told: str) -> None:
    with pytest.raises(InputError, match=told):
        inputs({**growing(), **change})


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_nothing_cheaper_is_pruned(seed: int) -> None:
    """Leads at prices that fall faster than those of trunks, so that bounds of early stages know of both."""
    products, rng = random_parts(seed), random.Random(seed)
    products.update({kind: [one for one in products[kind] if one["id"] in ("small", "nic-400")]
                     for kind in ("switches", "nics")})  # fmt: skip
    fall = {"price_decline": {"transceiver": rng.choice([0.1, 0.4]), "fibre": 0.5, "cable": 0.5, "trunk": 0.1}}
    content = growing("any", rng.choice(["when_lit", "any"]), labour=LABOUR, finance=fall)
    content["stages"] = [{**stage, "servers": size} for stage, size in zip(content["stages"], (2, 4), strict=True)]
    content["site"]["floor"].update({"racks_per_row": 6, "network_racks": "any"})
    few, all_ = solved(content, products), solved(content, products, prune=False)
    assert failed(few) == failed(all_) == []
    assert (few.status, usd(few)) == ("optimal", usd(all_))
