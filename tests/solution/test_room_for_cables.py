"""Trays and vertical managers that may be only so full: the limit is kept, or the answer says what it would take."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from fabopt.verify.trays import fullest
from fabopt.wiring.build import wiring_of
from tests.samples.small import Json, bought, case, catalog, usd

SIZES = {"tray_width_mm": 100, "tray_depth_mm": 20, "manager_width_mm": 60, "manager_depth_mm": 60}


def _parts() -> Json:
    """The small catalog with DACs of 12 mm that reach between racks, and fibre of 2 mm."""
    parts = catalog()
    parts["servers"][0]["rack_units"] = 4
    parts["cables"][0]["lengths"] = [{"m": 3, "price_usd": 150}, {"m": 10, "price_usd": 250}]
    parts["cables"][0].update({"diameter_mm": 12, "bend_radius_mm": 50})
    parts["fibres"][0].update({"diameter_mm": 2, "bend_radius_mm": 20})
    return parts


def _content(rules: Json | None = None, **floor: Any) -> Json:
    plan = {"rows": 1, "racks_per_row": 8, "rack_units": 12, **SIZES, **floor}
    content = case(servers=6, site={"floor": plan, "servers_per_rack": 1})
    return {**content, "rules": {"rack-rules": False, "rack-spread": False, **(rules or {})}}


def _solved(rules: Json | None = None, **floor: Any) -> Design:
    return optimize.solve(inputs_from_objects(_content(rules, **floor), _parts()), alternatives_s=0)


def _told(design: Design) -> list[str]:
    return [check.name for check in design.checks if not check.ok]


def test_limits_are_kept_by_thinner_cables_or_named() -> None:
    free = _solved()
    full = fullest(free, wiring_of(free))
    assert free.status == "optimal" and bought(free)["dac"] and full["tray"] > 0.1
    wide = _solved(tray_fill=0.999)
    assert (wide.status, usd(wide), wide.fabrics, _told(wide)) == ("optimal", usd(free), free.fabrics, [])
    assert any(note.startswith("rule `tray-fill`") for note in wide.notes)
    most = float(full["tray"]) * 0.6
    narrow = _solved(tray_fill=most)
    assert (narrow.status, _told(narrow)) == ("feasible", [])
    assert usd(narrow) > usd(free) == narrow.objective.bound
    assert fullest(narrow, wiring_of(narrow))["tray"] <= most
    assert any("too full" in note for note in narrow.notes)
    off = _solved({"tray-fill": False}, tray_fill=most)
    assert (off.status, usd(off)) == ("optimal", usd(free))
    none = _solved(tray_fill=0.001)
    (conflict,) = none.conflicts
    assert none.status == "unknown" and conflict.limit == "site.floor.tray_fill" and conflict.direction == "up"
    assert _solved(tray_fill=conflict.needed).fabrics


def test_a_file_that_is_too_full_is_refused() -> None:
    design = _solved(tray_fill=0.999, manager_fill=0.999)
    names = [check.name for check in design.checks]
    assert "trays_hold_cables" in names and "managers_hold_cables" in names
    for key, name in (("tray_fill", "trays_hold_cables"), ("manager_fill", "managers_hold_cables"),
                      ("tray_width_mm", "trays_hold_cables"), ("manager_depth_mm", "managers_hold_cables")):  # fmt: skip
        site = design.case.content["site"]
        value = 0.001 if key.endswith("fill") else 45
        content = {**design.case.content, "site": {**site, "floor": {**site["floor"], key: value}}}
        changed = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
        assert name in [check.name for check in verify(changed) if not check.ok], key


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"tray_fill": 1.2}, r"site\.floor\.tray_fill: .*1\.2"),
        ({"manager_fill": -0.1}, r"site\.floor\.manager_fill: .*-0\.1"),
        ({"tray_fill": 0.4, "tray_width_mm": None}, "`tray_width_mm` and `tray_depth_mm`"),
    ],
)
def test_fills_that_cannot_be_are_refused(keys: Json, said: str) -> None:
    with pytest.raises(InputError, match=said):
        inputs_from_objects(_content(**keys), _parts())
