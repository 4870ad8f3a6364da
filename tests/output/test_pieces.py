"""What crews do with links through trunks: lists, labels and sections agree with each other and with the bill."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fabopt.output.export.cables import bundles, pull_list, schedule
from fabopt.output.export.elevation import elevation_of
from fabopt.output.export.formats import Exported, Options, export
from fabopt.output.export.halls import hall_of
from fabopt.output.export.labels import labels_of
from fabopt.output.export.pulls import visits
from fabopt.output.export.trays import tray_table
from fabopt.output.export.trunks import cabling_of, trunk_table
from fabopt.output.labour import work_rows
from fabopt.schema.design import Design
from fabopt.units import some
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import wiring_at
from fabopt.wiring.structured import structured_of
from tests.output.test_export_racks import sums_are_totals
from tests.samples import export_samples
from tests.samples.small import Json
from tests.samples.trunked import BROKEN_OUT, LABOUR, broken_out, cassettes, hall, in_rows, panel, parts, solved, trunk
from tests.solution.test_trunks_in_growth import growing, small_parts

LABELLED = {**LABOUR, "minutes": {**LABOUR["minutes"], "label": 2, "dress": 3}}
BOTH = {"leaf-spine": "structured", "server-leaf": "structured"}
# Trunks whose legs all have ports, and those of which some are loose.
HALLS = {
    "plain": (hall(labour=LABELLED), parts()),
    "spare": (hall({"leaf-spine": "structured", "spare_legs": 0.5}, LABELLED), parts()),
    "loose": (hall(labour=LABELLED), parts([trunk("t12", 12, 300)], [panel("p4", 4, 50)])),
    "servers too": (hall(BOTH, LABELLED), parts()),
    "direct": (hall("direct", LABELLED), parts()),
    "cassettes": (hall(BOTH, LABELLED), BROKEN_OUT["reversed"][1]),
    "in rows": (in_rows({"spare_legs": 0.5}, LABELLED), parts()),
}


def small_cassettes() -> Json:
    """Trunks and cassettes so small that each stage has some."""
    content = broken_out([cassettes(f"c{legs}", legs, 40 * legs) for legs in (1, 2)])
    content["trunks"] = [trunk("t1", 1, 100), trunk("t2", 2, 150)]
    return content


@cache
def design_of(name: str) -> Design:
    return solved(*HALLS[name])


def cables_of(design: Design) -> pd.DataFrame:
    """The schedule with each cable once."""
    rows = schedule(design, wiring_of(design))
    return rows[rows["cable"] != ""].drop_duplicates("cable")


def on_bill(design: Design) -> Counter[tuple[str, float]]:
    """Cables, fibres and trunks in use by part and length."""
    in_use: Counter[tuple[str, float]] = Counter()
    for row in design.bom:
        if row.kind in ("cable", "fibre", "trunk"):
            in_use[row.id, float(row.length_m or 0)] += row.in_use
    return +in_use


@pytest.mark.long(but=("direct", "loose"))
@pytest.mark.parametrize("name", HALLS)
def test_lists_and_crews_have_what_is_on_the_bill(name: str) -> None:
    """By part and length: the schedule, the pull list, bundles, and what the crew fetches."""
    design = design_of(name)
    wiring, billed = wiring_of(design), on_bill(design)
    rows = schedule(design, wiring)
    once = cables_of(design)
    assert Counter(zip(once["part"], once["length_m"], strict=True)) == billed
    for table in (pull_list(design, wiring, rows), bundles(design, wiring, rows)):
        listed: Counter[tuple[str, float]] = Counter()
        for part, length_m, number in zip(table["part"], table["length_m"], table["cables"], strict=True):
            listed[part, length_m] += number
        assert listed == billed
    pulled = pd.concat([pair.rows for visit in visits(design, wiring) for pair in visit.pairs])
    assert sorted(pulled["cable"]) == sorted(rows["cable"])


@pytest.mark.long("plain", "spare")
@pytest.mark.parametrize("name", sorted(set(HALLS) - {"direct"}))
def test_jumpers_stay_in_their_zones_and_trunks_run_between_panels(name: str) -> None:
    """Zones are racks, or rows with panels at their ends, to which jumpers run as far as their list says."""
    design = design_of(name)
    zone = "[0-9]+$" if name == "in rows" else "$"
    wiring, trunks = wiring_of(design), trunk_table(design, wiring_of(design))
    rows = schedule(design, wiring)
    kinds = {kind.kind for fabric in design.fabrics for kind in fabric.structured}
    is_trunk = rows["part"].isin(trunks["product"])
    zones = [rows[side].str.replace(zone, "", regex=True) for side in ("from_rack", "to_rack")]
    between = rows[rows["kind"].isin(kinds) & (zones[0] != zones[1])]
    assert set(between["cable"]) == set(trunks["trunk"]) == set(rows[is_trunk]["cable"])
    assert is_trunk.sum() == trunks.groupby(["trunk", "leg"]).ngroups
    assert (rows["length_m"] >= rows["run_m"]).all()
    lit = trunks[trunks["state"] == "lit"]
    cords = {row.cable: row for row in rows[~is_trunk].itertuples()}
    for leg in lit.itertuples():
        near, far = cords[leg.cable], cords[f"{leg.cable}F"]
        ports = f"{near.to_device} {near.to_port}", f"{far.from_device} {far.from_port}"
        assert set(ports) == {leg[3], leg[4]}
        if leg.positions:
            of_leg, last = (
                f" of {leg.trunk} leg {leg.leg}",
                [str(13 - int(at)) for at in leg.positions.split("+")][::-1],
            )
            assert {near.leg, far.leg} == {leg.positions + of_leg, "+".join(last) + of_leg}
            assert (near.leg == leg.positions + of_leg) == (ports[0] == leg[3])
        else:
            assert near.leg == far.leg == "1 of 1"
        assert leg.link == f"{near.from_device} {near.from_port} > {far.to_device} {far.to_port}"
        assert near.from_label == f"{near.from_device} {near.from_port} > {ports[0]}"
        assert far.to_label == f"{far.to_device} {far.to_port} > {ports[1]}"
        ends = [re.sub(zone, "", rack) for rack in (near.from_rack, near.to_rack, far.from_rack, far.to_rack)]
        assert ends[0] == ends[1] and ends[2] == ends[3]
        assert bool(near.from_optic) and bool(far.to_optic) and not near.to_optic and not far.from_optic


@pytest.mark.parametrize("name", HALLS)
def test_both_ends_of_every_piece_have_a_label_and_labour(name: str) -> None:
    """Labels of ends are as many as the labour of labelling them; ports of panels have their own."""
    design = design_of(name)
    labels = list(labels_of(design, visits(design, wiring_of(design))))
    names = {panel.name for panel in panels_of(design)}
    at_ends = [label for label in labels if label.cells[2] not in names]
    paid = sum(row.times for row in work_rows(design) if row.task == "label" and row.kind in PIECES)
    assert len(at_ends) == paid
    assert len({label.code for label in labels}) == len(labels)
    plugged = [port for leg in trunk_rows(design) for port in leg if port]
    in_front = [label for label in labels if label.cells[2] in names and " R" not in label.title]
    assert sorted(label.title for label in in_front) == sorted(plugged)
    per_leg = 6 if name == "cassettes" else 1
    behind = sum(" R" in label.title for label in labels)
    assert behind == (len(in_front) // per_leg if per_leg > 1 else 0)


PIECES = ("cable", "fibre", "jumper", "trunk")


def trunk_rows(design: Design) -> list[tuple[str, str]]:
    if not panels_of(design):
        return []
    table = trunk_table(design, wiring_of(design))
    return list(zip(table["from"], table["to"], strict=True))


def panels_of(design: Design) -> list[Any]:

    return list(structured_of(design, wiring_of(design)).panels)


def test_labels_say_from_here_to_there() -> None:
    """A jumper from device to panel, a leg from panel to panel, and the port that it is in."""
    design = design_of("plain")
    labels = list(labels_of(design, visits(design, wiring_of(design))))
    texts = {label.title: (label.near, label.far) for label in labels}
    leg = trunk_table(design, wiring_of(design)).query("state == 'lit'").iloc[0]
    near, far = leg["from"], leg["to"]
    assert texts[f"{leg['trunk']} A{leg['leg']}"] == (near, f">{far}")
    assert texts[f"{leg['trunk']} B{leg['leg']}"] == (far, f">{near}")
    assert texts[near][1] == f">{far}" and texts[near][0].startswith(f"{leg['trunk']} leg {leg['leg']} of ")
    here, there = leg["link"].split(" > ")
    ends = {texts[f"{leg['cable']}{far_end} {letter}"] for far_end in ("", "F") for letter in "AB"}
    assert {end[0] for end in ends} == {here, there, near, far}


@pytest.mark.parametrize("name", sorted(set(HALLS) - {"direct"}))
def test_trays_have_trunks_and_managers_have_jumpers(name: str) -> None:
    """Sections and weights over segments are those of trunks; in racks each end of a jumper or trunk counts."""
    design = with_sizes(design_of(name))
    table, once = tray_table(design, wiring_of(design)), cables_of(design)
    between = once[once["from_rack"] != once["to_rack"]]
    trays, sides = table[table["kind"] != "side"], table[table["kind"] == "side"]
    assert sides["cables"].sum() == 2 * len(once)
    is_thick = between["part"].isin({row.id for row in design.bom if row.kind == "trunk"})
    assert (trays["cables"] <= len(between)).all() and trays["cables"].max() > 0
    if is_thick.all():
        assert trays["kg_m"].tolist() == [round(0.5 * number, 3) for number in trays["cables"]]
        assert trays["mm2"].tolist() == pytest.approx([78.54 * number for number in trays["cables"]], rel=1e-3)


def with_sizes(design: Design) -> Design:
    """The design with trunks of 10 mm and 0.5 kg/m, all else of 2 mm."""
    sizes = {"trunk": (10, 0.5), "cable": (2, 0.1), "fibre": (2, 0.1)}
    changed = {
        id_: {**part, "diameter_mm": sizes[part["kind"]][0], "weight_kg_m": sizes[part["kind"]][1]}
        for id_, part in design.parts.items()
        if part["kind"] in sizes
    }
    return design.model_copy(update={"parts": {**design.parts, **changed}})


@pytest.mark.parametrize("name", HALLS)
def test_panels_are_drawn_in_their_racks(name: str) -> None:
    """By name, at their units, which no device and nothing kept fills; sums of the list are those of the design."""
    design = design_of(name)
    sums_are_totals(design)
    elevation = elevation_of(design, wiring_of(design))
    racks = [rack for row in elevation.rows for rack in row.racks]
    drawn = {(rack.id, device.unit, device.name) for rack in racks for device in rack.devices if device.role == "panel"}
    assert drawn == {(one.rack, one.unit, one.name) for one in panels_of(design)}
    hall = hall_of(Exported(design, wiring_of(design), Options()))
    assert sum(device.power_w for device in hall.devices if device.rack) == pytest.approx(
        sum(rack.power_w for rack in racks)
    )


def test_units_kept_for_panels_are_theirs() -> None:
    """Of two units at the top that are kept for panels a panel of one fills one; the other is still kept."""
    kept = hall(labour=LABELLED, rules={"rack-rules": True}, site={"rack_rules": {"patch_panel_units": 2}})
    design = solved(kept)
    (row,) = elevation_of(design, wiring_of(design)).rows
    filled = {rack.id: [device.unit for device in rack.devices if device.role == "panel"] for rack in row.racks}
    assert any(len(units) == 1 for units in filled.values())
    for rack in row.racks:
        units = [unit for kept_ in rack.kept for unit in range(kept_.unit, kept_.unit + kept_.units)]
        assert not set(units) & set(filled[rack.id])
        if len(filled[rack.id]) == 1 and rack.kept:
            assert rack.kept[0].what == "patch panel" or 24 in (*units, *filled[rack.id])


@pytest.mark.parametrize("made", [small_parts, small_cassettes])
def test_ports_of_an_early_stage_are_those_of_the_last(made: Callable[[], Json]) -> None:
    """What is exported of a stage has the legs and ports that stay, and no trunk of a later one."""
    design = solved(growing(trunks="when_lit"), made())
    assert design.status == "optimal" and all(check.ok for check in design.checks)
    whole = wiring_of(design)
    early, table = wiring_at(whole, 0), trunk_table(design, whole, 0)
    lit = table[table["state"] == "lit"]
    patched = cabling_of(design, early).patched(early)
    found = {
        (link.trunk.name, link.leg.number, early.cables.name[early.links.cable[row]]) for row, link in patched.items()
    }
    assert found == set(zip(lit["trunk"], lit["leg"], lit["cable"], strict=True)) != set()
    assert len(patched) < len(cabling_of(design, whole).patched(whole))
    legs = {(row.trunk, row.leg) for row in table.itertuples()}
    dark = len(legs) - len({(row.trunk, row.leg) for row in lit.itertuples()})
    (note,) = (note for note in design.notes if note.startswith("`growth.trunks`"))
    assert f"then {some(dark, 'leg')} dark" in note


@pytest.mark.long(
    but=(
        "loose-labels",
        "loose-netbox",
        "loose-power",
        "loose-racks",
        "loose-trays",
        "servers too-air",
        "servers too-cables",
        "servers too-weight",
    )
)
@pytest.mark.parametrize("name", ["cables", "crew", "labels", "trays", "racks", "weight", "air", "power", "netbox"])
@pytest.mark.parametrize("hall_name", ["servers too", "loose", "cassettes", "in rows"])
def test_every_list_is_written(name: str, hall_name: str, tmp_path: Path) -> None:
    design = design_of(hall_name)
    assert all(path.stat().st_size > 0 for path in export(design, wiring_of(design), [name], tmp_path, Options()))


def test_labels_of_cassettes_say_which_fibres_lead_where() -> None:
    """The plug of a leg and the port behind that it is in lead to each other; each port in front says its positions."""
    design = design_of("cassettes")
    texts = {label.title: (label.near, label.far) for label in labels_of(design, visits(design, wiring_of(design)))}
    trunks = trunk_table(design, wiring_of(design)).query("state != 'not plugged in'")
    assert set(trunks["positions"]) == {"1+2", "3+4", "5+6", "7+8", "9+10", "11+12"}
    for row in trunks.itertuples():
        near, far, leg = row[3], row[4], f"{row.trunk} leg {row.leg} of 2"
        assert texts[near] == (f"{leg} {row.positions}", f">{far}") and texts[far][1] == f">{near}"
        behind, there = texts[f"{row.trunk} A{row.leg}"]
        assert texts[behind] == (leg, there) and texts[there[1:]] == (leg, f">{behind}")
        panel_, port = behind.rsplit(" R", 1)
        assert near in [f"{panel_} {(int(port) - 1) * 6 + place}" for place in range(1, 7)]


@pytest.mark.parametrize("name", export_samples.CASES)
def test_a_design_without_trunks_has_what_is_on_the_bill(name: str) -> None:
    design, wiring = export_samples.solved(name), wiring_of(export_samples.solved(name))
    rows = schedule(design, wiring)
    listed = pull_list(design, wiring, rows)
    assert listed["cables"].sum() == len(wiring.cables)
    assert listed["total_m"].sum() == pytest.approx(wiring.cables.length_m.sum())
