"""Trunks within limits of trays, managers, money and lengths: relaxed ones are never dearer, and what fits is found."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.schema.design import Design
from fabopt.verify.trays import fullest
from fabopt.wiring.build import wiring_of
from tests.samples.small import Json, bought, usd
from tests.samples.trunked import hall, parts, solved, trunk
from tests.solution.test_trunks import failed

SIZES = {"tray_width_mm": 100, "tray_depth_mm": 20, "manager_width_mm": 60, "manager_depth_mm": 60}
FAT, LEAN, SMALL = (
    trunk(f"t{legs}", legs, usd, diameter_mm=mm, bend_radius_mm=bend)
    for legs, usd, mm, bend in ((4, 300, 16, 40), (12, 900, 12, 30), (2, 400, 8, 20))
)
# Leaves in one rack and spines in another one.
APART: Json = {"fabric": {"racks": {"leaf": ["A01"], "spine": ["A03"]}}, "rules": {"rack-spread": False}}


def products(*trunks: Json) -> Json:
    """One type of switch, thin jumpers and leads, and these trunks."""
    content = parts(list(trunks))
    content["switches"] = [one for one in content["switches"] if one["id"] == "small"]
    for kind in ("fibres", "cables"):
        content[kind][0].update({"diameter_mm": 2, "bend_radius_mm": 20})
    return content


def small_hall(cabling: object = "structured", labour: Json | None = None, **changes: Any) -> Json:
    """Three servers in four racks, whose trays and managers have sizes."""
    floor = {"racks_per_row": 4, **SIZES, **changes.pop("floor", {})}
    return hall(cabling, labour, servers=changes.pop("servers", 3), floor=floor, **changes)


def full(design: Design) -> dict[str, float]:
    return {what: float(one.share) for what, one in fullest(design, wiring_of(design)).items()}


@pytest.mark.parametrize("what", ["tray", "manager"])
def test_a_fill_that_thinner_trunks_keep_is_kept(what: str) -> None:
    """By trunks with fewer legs where links are few; without a limit the thick ones are cheaper."""
    free = solved(small_hall(), products(FAT, LEAN, SMALL))
    assert set(bought(free)) & {"t4", "t12", "t2"} == {"t4"}
    most = full(free)[what] * 0.4
    kept = solved(small_hall(floor={f"{what}_fill": most}), products(FAT, LEAN, SMALL))
    assert (kept.status, failed(kept)) == ("feasible", []) and kept.objective.bound == usd(free)
    assert set(bought(kept)) & {"t4", "t12", "t2"} == {"t2"} and full(kept)[what] <= most
    assert usd(kept) == usd(solved(small_hall(), products(SMALL)))


def test_a_fill_that_only_trunks_of_many_legs_keep_is_kept() -> None:
    """Twelve legs of 12 mm are leaner than three times four of 16 mm, where links fill them."""
    many = products({**FAT, "lengths": [{"m": 60, "price_usd": 100}]}, LEAN, SMALL)
    free = solved(small_hall(**APART), many)
    alone = solved(small_hall(**APART), products(LEAN))
    assert bought(free)["t4"] > 1 and full(alone)["tray"] < full(free)["tray"]
    kept = solved(small_hall(**APART, floor={"tray_fill": full(alone)["tray"] + 1e-4}), many)
    assert "t4" not in bought(kept) and failed(kept) == [] and usd(kept) <= usd(alone)


def test_trunks_that_cannot_turn_into_a_manager_are_left_out() -> None:
    kept = solved(small_hall(floor={"manager_fill": 0.9, "manager_depth_mm": 35}), products(FAT, LEAN, SMALL))
    assert "t4" not in bought(kept) and failed(kept) == []


def test_links_that_may_be_leads_are_where_all_trunks_are_too_thick() -> None:
    dear = {"usd_per_hour": 500, "minutes": {"pull": {"fibre": 60, "cable": 60, "trunk": 30, "jumper": 1}}}
    free = solved(small_hall("any", dear, **APART), products(FAT))
    most = full(free)["tray"] * 0.5
    assert free.fabrics[0].structured
    kept = solved(small_hall("any", dear, **APART, floor={"tray_fill": most}), products(FAT))
    assert (kept.status, failed(kept)) == ("feasible", []) and not kept.fabrics[0].structured
