"""Panels at the ends of rows: where they stand, what they save, and files and cases that are refused."""

from __future__ import annotations

import pytest

from fabopt.errors import InputError
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.verify.halls import fibres_on_routes
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import KINDS
from tests.samples.small import Json, usd
from tests.samples.trunked import LABOUR, in_rows, inputs, panel, parts, solved, trunk
from tests.solution.test_trunks import broken, failed


def racks_of(design: Design) -> set[str]:
    return {rack for rack in wiring_of(design).devices.rack if rack}


@pytest.mark.long(but=("floor0-racks0", "floor1-racks1"))
@pytest.mark.parametrize(
    ("floor", "racks"),
    [
        ({}, ["A01", "B01"]),
        ({"racks_per_row": 6, "cross_trays": [6]}, ["A06", "B06"]),
        ({"racks_per_row": 6, "cross_trays": [2]}, ["A01", "B01"]),
        ({"racks_per_row": 7, "blocked": ["A01"], "reserved": ["B02"], "network_racks": ["B01"]}, ["A02", "B03"]),
    ],
)
def test_panels_stand_at_the_ends_of_rows(floor: Json, racks: list[str]) -> None:
    """In the outermost rack that nothing else is for, at the end nearer to a cross tray; with nothing beside them."""
    design = solved(in_rows(floor=floor))
    assert (design.status, failed(design)) == ("optimal", [])
    (kind,) = design.fabrics[0].structured
    assert list(kind.zones.values()) == racks
    assert {place.rack for place in kind.panels} == {end for route in kind.routes for end in (route.a, route.b)}
    assert {place.rack for place in kind.panels} <= set(racks) and not racks_of(design) & set(racks)
    links, rack = wiring_of(design).links, wiring_of(design).devices.rack
    ends = zip(links.kind.tolist(), links.a.tolist(), links.b.tolist(), strict=True)
    between = sum(KINDS[number] == kind.kind and rack[a][0] != rack[b][0] for number, a, b in ends)
    assert between == kind.far_jumpers == sum(route.links for route in kind.routes) > 0


def test_without_its_rule_panels_stand_at_the_first_end_of_a_row() -> None:
    """Where the cross tray is at the last one; the answer says that by its rule, and the check counts by the switch."""
    floor: Json = {"racks_per_row": 6, "cross_trays": [6]}
    kept, off = (solved(in_rows(floor=floor, rules={"row-ends": keeps})) for keeps in (True, False))
    assert [[*one.fabrics[0].structured[0].zones.values()] for one in (kept, off)] == [["A06", "B06"], ["A01", "B01"]]
    assert failed(kept) == failed(off) == []
    told = [[note for note in one.notes if note.startswith("rule `row-ends`")] for one in (kept, off)]
    assert "A06, B06" in told[0][0] and not told[1]
    content = {**off.case.content, "rules": {**off.case.content["rules"], "row-ends": True}}
    changed = off.model_copy(update={"case": off.case.model_copy(update={"content": content})})
    assert "panels_hold_trunks" in {check.name for check in verify(changed) if not check.ok}


def test_jumpers_are_pulled_and_a_row_needs_one_trunk_where_racks_need_several() -> None:
    """Panels in racks need a trunk between each two; jumpers to the end of a row are longer and are paid as leads."""
    rows, racks = (solved(in_rows({"zones": zones}, LABOUR)) for zones in ("rows", "racks"))
    (of_rows,), (of_racks,) = (design.fabrics[0].structured for design in (rows, racks))
    assert len(of_rows.routes) == 1 < len(of_racks.routes) and of_rows.jumper_m > of_racks.jumper_m
    assert sum(row.count for row in of_rows.trunks) < sum(row.count for row in of_racks.trunks)
    work = {row.id for row in rows.bom}
    assert "labour-jumper" not in work and "labour-jumper" in {row.id for row in racks.bom}
    assert usd(rows) != usd(racks)


def few(jumper_usd: float = 40) -> Json:
    """Products of one switch and one NIC, with jumpers of 10 m at a price."""
    products, lengths = parts(), ((3, 30), (10, jumper_usd), (60, 900))
    products["fibres"][0]["lengths"] = [{"m": m, "price_usd": price_usd} for m, price_usd in lengths]
    kept = {kind: [one for one in products[kind] if one["id"] in ("small", "nic-400")] for kind in ("switches", "nics")}
    return {**products, **kept}


@pytest.mark.long(but=("40",))
@pytest.mark.parametrize("jumper_usd", [40, 800])
def test_whichever_place_of_panels_is_cheaper_is_taken(jumper_usd: float) -> None:
    """Rows where jumpers to their ends cost little, else racks."""
    either, rows, racks = (
        solved(in_rows({"zones": zones}, LABOUR, servers=2, floor={"racks_per_row": 4}), few(jumper_usd))
        for zones in ("any", "rows", "racks")
    )
    assert (either.status, failed(either)) == ("optimal", [])
    assert usd(either) == min(usd(rows), usd(racks)) < max(usd(rows), usd(racks))
    assert bool(either.fabrics[0].structured[0].zones) == (usd(rows) < usd(racks)) == (jumper_usd == 40)


def test_a_single_row_has_panels_in_racks_where_either_is_asked_for() -> None:
    alone = solved(in_rows({"zones": "any"}, servers=2, floor={"rows": 1, "racks_per_row": 8}), few())
    assert (alone.status, failed(alone)) == ("optimal", []) and not alone.fabrics[0].structured[0].zones


@pytest.mark.long(but=("cabling0-B03", "cabling1-B04"))
@pytest.mark.parametrize(
    ("cabling", "rack"),
    [({}, "B03"), ({"leaf-spine": "any"}, "B04"), ({"zones": "any", "leaf-spine": "any"}, "B04")],
)
def test_racks_kept_for_panels_have_no_attachments(cabling: Json, rack: str) -> None:
    """Their own racks come from the end of the floor, where panels are; of a design without trunks panels are none."""
    nodes = {"name": "nodes", "boxes": 1, "rack_units": 2, "ports": 1, "gbps": 400, "tier": "leaf", "buys": "none"}
    asked = in_rows(cabling, LABOUR, servers=2, fabric={"attachments": [{**nodes, "stands": "apart"}]},
                    floor={"cross_trays": [4], "racks_per_row": 4})  # fmt: skip
    design = solved(asked, few())
    assert (design.status, failed(design), bool(design.fabrics[0].structured)) == ("optimal", [], not cabling)
    assert {place for place, _ in design.fabrics[0].places.attachments["nodes"]} == {rack}


def test_trunks_run_over_routes_between_halls() -> None:
    """With all their fibres, as long as the way; of panels at ends of rows there are none in several halls."""
    halls = [{"name": name, "rows": 1, "racks_per_row": 4, "rack_units": 24} for name in "EW"]
    site = {"halls": halls, "routes": [{"between": ["E", "W"], "m": 40, "fibres": 300}], "floor": None}
    asked = in_rows({"zones": "any"}, servers=5, site=site)
    design = solved(asked, few())
    assert (design.status, failed(design)) == ("optimal", [])
    (kind,) = design.fabrics[0].structured
    across = [row for route in kind.routes if route.a[0] != route.b[0] for row in route.trunks]
    fibres = sum(row.count * design.parts[row.id]["fibres"] for row in across)
    assert fibres > 0 and not kind.zones
    (used,) = fibres_on_routes(design, wiring_of(design)).values()
    assert sum(used[row.id] for row in {row.id: row for row in across}.values()) == fibres
    short = [tuple(row.model_copy(update={"length_m": 20}) for row in route.trunks) for route in kind.routes]
    routes = (route.model_copy(update={"trunks": rows}) for route, rows in zip(kind.routes, short, strict=True))
    assert "routes_join_halls" in broken(design, routes=tuple(routes))
    with pytest.raises(InputError, match="in one hall alone"):
        inputs({**asked, "site": {**asked["site"], "cabling": {"leaf-spine": "structured", "zones": "rows"}}})


def test_files_that_break_rules_of_rows_are_refused() -> None:
    design = solved(in_rows())
    (kind,) = design.fabrics[0].structured
    assert "panels_hold_trunks" in broken(design, zones={**kind.zones, "B": "B02"})
    assert {"panels_hold_trunks", "trunks_hold_legs"} <= broken(design, zones={})
    assert "trunks_hold_legs" in broken(design, jumper_m=3)
    elsewhere = kind.panels[0].model_copy(update={"rack": f"{kind.panels[0].rack[0]}02"})
    assert "panels_hold_trunks" in broken(design, panels=(elsewhere, *kind.panels[1:]))
    fabric = design.fabrics[0]
    assert fabric.placement is not None
    (rack, _), *others = fabric.placement.spine
    at_end = fabric.placement.model_copy(update={"spine": ((kind.zones[rack[0]], 1), *others)})
    moved = design.model_copy(update={"fabrics": (fabric.model_copy(update={"placement": at_end}),)})
    assert "panels_fit_racks" in {check.name for check in verify(moved) if not check.ok}


@pytest.mark.parametrize(
    ("cabling", "floor", "told"),
    [
        ({"leaf-spine": "direct"}, {}, "no kind of links runs through trunks"),
        ({}, {"rows": 1, "racks_per_row": 8}, "there is one row"),
        ({}, {"server_racks": ["A01", "A02", "A03", "A04", "A05", "B01"]}, "no rack of row A is left for panels"),
    ],
)
def test_halls_without_a_place_for_panels_are_refused(cabling: Json, floor: Json, told: str) -> None:
    with pytest.raises(InputError, match=told) as refused:
        inputs(in_rows(cabling, floor=floor))
    assert "site.cabling.zones" in str(refused.value)


def test_bandwidth_without_a_rack_is_refused_in_rows_and_has_panels_in_racks_where_either_is_asked_for() -> None:
    fabric = {"resilience": {"survive": "1 rack", "min_gbps_per_gpu": 50}}
    with pytest.raises(InputError, match="without a rack of panels is not planned"):
        inputs(in_rows(fabric=fabric))
    design = solved(in_rows({"zones": "any"}, servers=2, fabric=fabric, floor={"racks_per_row": 4}), few())
    assert (design.status, failed(design)) == ("optimal", []) and not design.fabrics[0].structured[0].zones


def test_the_loss_of_a_rack_of_panels_is_that_of_all_its_panels() -> None:
    """With one panel in the rack of each row, through which all trunks run, the rack takes what the panel takes."""
    products = {**few(), "trunks": [trunk("t12", 12, 300)], "panels": [panel("p24", 24, 300)]}
    design = solved(in_rows(servers=3), products)
    assert (design.status, failed(design)) == ("optimal", [])
    rows = {one.device: one for one in design.single_points_of_failure or () if one.worst in ("A01", "panel-A01-u24")}
    assert rows["rack"].servers > 0
    assert rows["panel"] == rows["rack"].model_copy(update={"device": "panel", "worst": "panel-A01-u24"})
    assert design.worst_rack is not None and design.worst_rack.rack not in ("A01", "B01")


def test_ends_of_rows_of_a_floor_that_cannot_be_are_refused_by_its_key() -> None:
    with pytest.raises(InputError, match=r"site\.floor\.cross_trays\[0\]: this is outside the rows"):
        inputs(in_rows(floor={"cross_trays": [9]}))
