"""Tables of trunks and panels: each link can be followed from port to port, and sums are those of the design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.output.export.channel_loss import losses
from fabopt.output.export.formats import Exported, Options, export
from fabopt.output.export.halls import hall_of
from fabopt.output.export.panels import panel_table
from fabopt.output.export.trunks import trunk_table
from fabopt.output.export.weight import FRAME, hanging, weight_table
from fabopt.schema.design import Design
from fabopt.units import some
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from tests.samples.small import Json
from tests.samples.trunked import BROKEN_OUT, broken_out, cassettes, hall, in_rows, parts, solved


def through_cassettes() -> Design:
    return solved(*BROKEN_OUT["in order"])


def between_rows() -> Design:
    return solved(in_rows({"spare_legs": 0.5}))


def structured(products: Json | None = None) -> Design:
    return solved(hall({"leaf-spine": "structured", "spare_legs": 0.5}), products)


@pytest.mark.parametrize("made", [structured, through_cassettes, between_rows])
def test_each_link_is_followed_from_device_to_device(made: Callable[[], Design]) -> None:
    """Cord, port of a panel, leg of a trunk, port of a panel, cord: as the list of links has it."""
    design = made()
    wiring = wiring_of(design)
    trunks, panels = trunk_table(design, wiring), panel_table(design, wiring)
    fronts = {f"{row.panel} {row.port}": row for row in panels.itertuples()}
    lit = trunks[trunks["state"] == "lit"]
    assert len(lit) > 0 and (trunks["state"] == "dark").any()
    for row in lit.itertuples():
        ends = [fronts[port] for port in (row[3], row[4])]
        assert [(end.rear_trunk, end.rear_leg) for end in ends] == [(row.trunk, str(row.leg))] * 2
        assert ends[0].positions == row.positions == ends[1].positions
        assert {end.front_cord for end in ends} == {row.cable, f"{row.cable}F"}
        near, far = sorted(ends, key=lambda end: end.front_cord)
        assert row.link == f"{near.front_device} {near.front_port} > {far.front_device} {far.front_port}"
    assert (panels["free"] == "no").sum() == 2 * len(lit)
    assert (panels["rear_trunk"] != "").sum() == 2 * (trunks["from"] != "").sum()


def test_sums_are_those_of_the_design() -> None:
    design = structured()
    wiring = wiring_of(design)
    trunks, panels = trunk_table(design, wiring), panel_table(design, wiring)
    (kind,) = design.fabrics[0].structured
    assert trunks["trunk"].nunique() == sum(row.count for row in kind.trunks)
    assert (trunks["state"] == "lit").sum() == kind.far_jumpers
    assert panels["panel"].nunique() == len(kind.panels)
    assert {(row.rack, row.unit) for row in panels.itertuples()} == {(one.rack, one.unit) for one in kind.panels}
    assert set(trunks["connector"]) == {"MPO-12-APC"} and set(trunks["polish"]) == {"APC"}
    assert set(trunks["pinned"]) == {"yes"} and set(trunks["polarity"]) == {"B"}


def test_what_is_not_known_is_an_empty_cell_and_named() -> None:
    """The outer diameter and weight of trunks, which the catalog does not say."""
    trunks = trunk_table(structured(), wiring_of(structured()))
    assert trunks["outer_mm"].isna().all() and trunks["kg_m"].isna().all()
    assert set(trunks["not_known"]) == {"outer_mm, kg_m"}
    products = parts()
    for one in products["trunks"]:
        one["weight_kg_m"] = 0.06
    weighed = structured(products)
    assert set(trunk_table(weighed, wiring_of(weighed))["not_known"]) == {"outer_mm"}


def test_the_weight_of_panels_and_trunks_is_said_to_be_unknown() -> None:
    """Each panel is a device without a weight, each end of a trunk in a rack a cable end without one."""
    products = parts()
    for one in (*products["switches"], *products["servers"]):
        one["weight_kg"] = 10
    for one in (*products["fibres"], *products["cables"]):
        one["weight_kg_m"] = 0.01
    design = structured(products)
    wiring = wiring_of(design)
    weights = weight_table(hall_of(Exported(design, wiring, Options())), hanging(Embedded(design), wiring))
    told = weights.set_index("rack")["unknown"]
    panels = Counter(place.rack for kind in design.fabrics[0].structured for place in kind.panels)
    ends = Counter(
        rack
        for kind in design.fabrics[0].structured
        for route in kind.routes
        for row in route.trunks
        for rack in (route.a, route.b)
        for _ in range(row.count)
    )
    for rack, words in told.items():
        of_panels = f"weight_kg of {some(panels[rack], 'device')}" if panels[rack] else ""
        of_ends = f"weight_kg_m of {some(ends[rack], 'cable end')}" if ends[rack] else ""
        said = [one for one in words.split("; ") if not one.endswith(("card", "cards"))]
        assert said == list(filter(None, [of_panels, of_ends, FRAME]))
    assert panels and ends


@pytest.mark.parametrize("key", ["pinned", "polarity"])
def test_trunks_of_unknown_pins_or_type_are_refused(key: str) -> None:
    """Nobody knows whether they mate with a jumper, and light arrives."""
    products = parts()
    for one in products["trunks"]:
        del one[key]
    with pytest.raises(InputError, match="no jumper, trunk and panel of the catalog go together"):
        structured(products)


def test_channels_go_through_the_panels() -> None:
    """Two jumpers and the trunk, four mated pairs; links of servers within their rack stay as they are."""
    design = structured()
    wiring = wiring_of(design)
    table, (kind,) = losses(Exported(design, wiring, Options())), design.fabrics[0].structured
    through = table[table["mated_pairs"] == 4]
    assert len(through) == kind.far_jumpers
    (metres,) = {trunk.length_m for trunk in kind.trunks}
    assert set(through["fibre_m"]) == {2 * kind.jumper_m + metres}
    assert set(table[table["mated_pairs"] != 4]["mated_pairs"]) <= {2}


def test_channels_through_cassettes_have_the_pairs_of_these() -> None:
    """Two plugs at the modules, and in front of two cassettes and behind; none of these where a maker says the loss."""
    design = through_cassettes()
    table, (kind,) = losses(Exported(design, wiring_of(design), Options())), design.fabrics[0].structured
    assert (table["mated_pairs"] == 6).sum() == kind.far_jumpers
    said = broken_out([cassettes("c1", 1, 90, loss_db=0.35)])
    other = solved(BROKEN_OUT["in order"][0], said)
    through = losses(Exported(other, wiring_of(other), Options())).query("fibre_m > 20")
    assert set(through["mated_pairs"]) == {2} and (through["loss_db"] > 2 * 0.35).all()


def test_both_are_written(tmp_path: Path) -> None:
    design = structured()
    paths = export(design, wiring_of(design), ["trunks", "panels"], tmp_path, Options())
    assert [path.name for path in paths] == ["trunks.csv", "panels.csv"]
    assert paths[0].read_text().startswith("trunk,leg,from,to,fibres,connector,polarity,pinned,polish,length_m,")


@pytest.mark.parametrize("name", ["trunks", "panels"])
def test_without_trunks_they_are_refused(name: str, tmp_path: Path) -> None:
    design = solved(hall("direct"))
    with pytest.raises(InputError, match="there are no trunks and panels"):
        export(design, wiring_of(design), [name], tmp_path, Options())


def test_a_file_with_too_few_trunks_is_refused(tmp_path: Path) -> None:
    design = structured()
    (kind,) = design.fabrics[0].structured
    routes = tuple(route.model_copy(update={"trunks": route.trunks[:0]}) for route in kind.routes)
    fewer = kind.model_copy(update={"routes": routes})
    fabric = design.fabrics[0].model_copy(update={"structured": (fewer,)})
    broken = design.model_copy(update={"fabrics": (fabric, *design.fabrics[1:])})
    with pytest.raises(InputError, match="the trunks do not hold their links"):
        export(broken, wiring_of(design), ["trunks"], tmp_path, Options())


def test_the_note_on_losses_counts_panels() -> None:
    """With a rule's facts the note has what the longest link through two panels loses: four pairs of plugs."""
    products = parts()
    products["facts"] = {
        "optics": {
            "pairs": [{"connector": "MPO-12-APC", "largest_db": 0.35, "typical_db": 0.15}],
            "budgets": [{"standard": "400G-DR4", "budget_db": 3.0}],
        }
    }
    design = structured(products)
    table = losses(Exported(design, wiring_of(design), Options()))
    worst = table.loc[table["loss_db"].idxmax()]
    assert worst["mated_pairs"] == 4 and worst["loss_db"] > 4 * 0.35
    (note,) = (note for note in design.notes if note.startswith("rule `optic-loss`: "))
    assert f"400G-DR4 loses up to {worst['loss_db']:.2f} of 3 dB" in note
