"""Trays and sides of racks: every cable on its route, and sums that agree however they are taken."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fabopt.errors import InputError
from fabopt.floor.routes import TrayRoutes
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.cables import schedule
from fabopt.output.export.formats import Options, export
from fabopt.output.export.trays import MOST_RANKED, tray_table
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from tests.samples import small
from tests.samples.export_samples import CASES, on_floor, solved

SECTIONS = {
    "tray_width_mm": 100, "tray_depth_mm": 50, "manager_width_mm": 100, "manager_depth_mm": 100,
}  # fmt: skip


def _with_sizes(design: Any) -> Any:
    """The design with a thickness and a weight for what has none: 10 mm copper, 2 mm glass."""
    parts = {
        key: {**part, "diameter_mm": 10 if part["kind"] == "cable" else 2, "weight_kg_m": 0.1, "bend_radius_mm": 40}
        if part["kind"] in ("cable", "fibre") else part
        for key, part in design.parts.items()
    }  # fmt: skip
    return design.model_copy(update={"parts": parts})


@pytest.mark.parametrize("name", CASES)
def test_sums_over_segments_are_sums_over_cables_of_what_each_passes(name: str, tmp_path: Path) -> None:
    design, wiring = on_floor(name, cross_trays=[0, 2, 4], **SECTIONS)
    design = _with_sizes(design)
    (path,) = export(design, wiring, ["trays"], tmp_path, Options())
    table = pd.read_csv(path)
    routes, plan = TrayRoutes(Embedded(design).plan), Embedded(design).plan
    rows = schedule(design, wiring)
    legs = rows[(rows["cable"] != "") & (rows["from_rack"] != "") & (rows["to_rack"] != "")]
    passed, ends = Counter[str](), Counter[str]()
    for near, far in zip(legs["from_rack"], legs["to_rack"], strict=True):
        ends.update((near, far))
        passed.update(routes.segments[index].name for index in routes.of(plan.rack_index(near), plan.rack_index(far)))
    trays, sides = table[table["kind"] != "side"], table[table["kind"] == "side"]
    assert dict(zip(trays["segment"], trays["cables"], strict=True)) == passed
    assert sides.groupby(sides["segment"].str.split(" ").str[0])["cables"].sum().to_dict() == ends
    for of_kind in (trays, sides):
        assert (of_kind["copper_mm2"] + of_kind["fibre_mm2"]).round(1).tolist() == of_kind["mm2"].tolist()
        assert (of_kind["copper_kg_m"] + of_kind["fibre_kg_m"]).round(3).tolist() == of_kind["kg_m"].tolist()
        assert of_kind["rank"].notna().sum() == min(MOST_RANKED, len(of_kind))
        assert of_kind.set_index("rank")["mm2"].get(1.0, 0) == of_kind["mm2"].max()
    assert ((trays["mm2"] / 5000 - trays["fill"]).abs() < 1e-4).all()
    assert ((sides["mm2"] / 10000 - sides["fill"]).abs() < 1e-4).all()


def test_each_side_of_a_rack_has_half_of_the_ends_of_every_device() -> None:
    design, wiring = on_floor("two fabrics", **SECTIONS)
    sides = tray_table(design, wiring).query("kind == 'side'")
    left, right = (sides[sides["segment"].str.endswith(side)]["cables"].to_numpy() for side in ("left", "right"))
    assert (abs(left - right) <= 1).all() and left.sum() > 0


def test_what_is_not_known_is_counted() -> None:
    design, wiring = on_floor("plain", **SECTIONS)
    table = tray_table(design, wiring)
    assert (table["mm2"] == 0).all() and table["unknown_diameter"].sum() > 0


def test_without_a_floor_there_are_no_trays(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no trays"):
        export(solved("plain"), wiring_of(solved("plain")), ["trays"], tmp_path, Options())


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"tray_width_mm": -300}, r"site\.floor\.tray_width_mm: .*-300"),
        ({"tray_width_mm": 0}, r"site\.floor\.tray_width_mm: "),
        ({"manager_depth_mm": 0}, r"site\.floor\.manager_depth_mm: "),
    ],
)
def test_sizes_that_cannot_be_are_refused(keys: dict[str, float], said: str) -> None:
    content = small.case(servers=2)
    content["site"] = {"floor": {"rows": 1, "racks_per_row": 4, **keys}}
    with pytest.raises(InputError, match=said):
        inputs_from_objects(content, small.catalog())
