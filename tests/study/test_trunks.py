"""Sweeps of budgets, fronts and price ranges of small halls with trunks: each point is what ``solve`` gives there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from fabopt.design.points import spread
from fabopt.errors import InputError
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design, Front, FrontPoint
from fabopt.schema.sensitivity import Sensitivity
from fabopt.study.front.fronts import objectives_of, pareto_front
from fabopt.study.sensitivity.ranges import Asked, check_asked, sensitivity
from fabopt.study.sweep.sweep import Execution, grid_of, sweep
from fabopt.units import cents
from tests.paths import few_or_many
from tests.samples.small import Json, usd
from tests.samples.trunked import LABOUR, hall, in_rows, inputs, parts, random_parts, solved
from tests.solution.test_trunks import failed


def few(products: Json | None = None) -> Json:
    """The products with one type of switch and a NIC of 200G beside that of 400G."""
    products = parts() if products is None else products
    return {**products, "switches": [one for one in products["switches"] if one["id"] == "small"]}


def small_hall(cabling: object = "structured", labour: Json | None = None, **changes: Any) -> Json:
    """Three servers in four racks."""
    return hall(cabling, labour, servers=changes.pop("servers", 3),
                floor={"racks_per_row": 4, **changes.pop("floor", {})}, **changes)  # fmt: skip


def budgets(content: Json, products: Json, text: str) -> list[FrontPoint]:
    asked = inputs(content, products)
    front = sweep(asked, grid_of(asked, text, []), Execution(), None, Settings(), Clock(None), lambda *_: None)
    return list(spread(front).points)


def front(content: Json, products: Json, minimize: Sequence[str] = (), maximize: Sequence[str] = ()) -> Front:
    asked = inputs(content, products)
    objectives = objectives_of(minimize, maximize, None)
    return spread(pareto_front(asked, objectives, None, Settings(), Clock(None), lambda _: None))


def ranges(content: Json, products: Json, *kinds: str) -> Sensitivity:
    inputs_, asked = inputs(content, products), Asked(kinds, ())
    check_asked(asked, inputs_)
    return sensitivity(inputs_, asked, Settings(), Clock(None))


FULL = {"manager_units_per_switch": 0, "management_units": 0}


def full_hall(racks: int) -> Json:
    """A hall whose racks of servers, of five units, have no room for a panel."""
    return small_hall(floor={"rack_units": 5, "racks_per_row": racks}, rules={"rack-rules": True},
                      site={"rack_rules": FULL})  # fmt: skip


def alone(content: Json, products: Json, objective: str = "capex_usd", gbps: float = 0, **limits: float) -> Design:
    """What ``solve`` gives within some limits, with so much bandwidth."""
    fabric = {**content["fabrics"][0], **({"min_gbps_per_gpu": gbps} if gbps else {})}
    asked = {**content, "objective": objective, "fabrics": [fabric], "limits": {**content.get("limits", {}), **limits}}
    return solved(asked, products)


HALLS = {
    "structured": (small_hall(), few()),
    "any": (small_hall("any", LABOUR), few()),
    "spare legs": (small_hall({"leaf-spine": "structured", "spare_legs": 0.5}), few(random_parts(1))),
    "no room at first": (full_hall(6), few()),
    "in rows or racks": (in_rows({"zones": "any"}, servers=3, floor={"racks_per_row": 4}), few()),
}


@pytest.mark.drawn_longer
@pytest.mark.long(but=("no room at first",))
@pytest.mark.parametrize("name", HALLS)
def test_each_budget_buys_what_solve_gives(name: str) -> None:
    """Trunks, panels, jumpers and labour are paid from the budget, to the cent."""
    content, products = HALLS[name]
    least, most = (usd(alone(content, products, gbps=gbps)) for gbps in (0, 400))
    bought = {least - 0.01: None, most - 0.01: 200, most: 400, least: 200, 2 * most: 400}
    asked = sorted([*bought][: few_or_many(2, len(bought))])
    points = budgets(content, products, ",".join(f"{usd_:.2f}" for usd_ in asked))
    (conflict,) = points[0].conflicts
    assert (conflict.limit, conflict.needed) == ("limits.budget_usd", least)
    assert [point.values.get("gbps_per_gpu") for point in points] == [bought[usd_] for usd_ in asked]
    assert [point.totals is not None for point in points] == [False, *[True] * (len(asked) - 1)]
    for point in points[1:]:
        same = alone(content, products, gbps=point.values["gbps_per_gpu"], budget_usd=point.budget_usd or 0)
        assert (point.status, point.totals) == (same.status, same.totals) and failed(same) == []
        assert sum(cents(row.total_usd) for row in point.bom) == cents(usd(same)) <= cents(point.budget_usd or 0)
    if name != "any":
        assert all({"trunk", "panel", "fibre"} <= point.capex_by_kind.keys() for point in points[1:])


@pytest.mark.long(but=("rack_units-structured",))
@pytest.mark.parametrize(
    ("other", "name"),
    [*product(("gbps_per_gpu", "rack_units"), HALLS), ("power_w", "structured"), ("power_w", "no room at first")],
)
def test_each_point_of_a_front_is_what_solve_gives(other: str, name: str) -> None:
    content, products = HALLS[name]
    is_more = other == "gbps_per_gpu"
    found = front(content, products, ["capex_usd", *([] if is_more else [other])], [other] if is_more else [])
    # racks of five units have no room for what takes less power
    assert found.points and (found.complete or (other, name) == ("power_w", "no room at first"))
    for point in {0: found.points[0], 1: found.points[len(found.points) // 2], 2: found.points[-1]}.values():
        value = point.values[other]
        bound = {"gbps": value} if is_more else {other: value}
        same = alone(content, products, **bound)
        assert (point.status, point.values["capex_usd"]) == (same.status, usd(same))
        assert {row.id: row.quantity for row in point.bom} == {row.id: row.quantity for row in same.bom}
        if other == "power_w":
            lean = alone(content, products, "power_w", budget_usd=point.values["capex_usd"])
            assert lean.totals is not None and lean.totals.power_w == value


def test_where_nothing_has_room_the_key_is_told() -> None:
    """Servers fill all racks but one, in which all switches are with no unit left; none is claimed to be impossible."""
    content, products = full_hall(4), few()
    design = solved(content, products)
    assert design.status == "unknown" and design.conflicts[0].limit == "site.floor.rack_units"
    for point in budgets(content, products, "50K,1M"):
        assert (point.status, [one.limit for one in point.conflicts]) == ("unknown", ["site.floor.rack_units"])


@pytest.mark.long
def test_where_nothing_has_room_fronts_and_ranges_say_so() -> None:
    content, products = full_hall(4), few()
    found = front(content, products)
    assert not found.complete and any("no room for" in note for note in found.notes)
    told = ranges(content, products, "trunk")
    assert (told.status, [one.limit for one in told.conflicts]) == ("unknown", ["site.floor.rack_units"])


def raised(products: Json, kind: str, factor: float) -> Json:
    """Products with all prices of a kind multiplied."""
    changed = [
        {**one, "lengths": [{**length, "price_usd": length["price_usd"] * factor} for length in one["lengths"]]}
        if "lengths" in one else {**one, "price_usd": one["price_usd"] * factor}
        for one in products[kind]
    ]  # fmt: skip
    return {**products, kind: changed}


DEAR = {"usd_per_hour": 500, "minutes": {"pull": {"fibre": 60, "cable": 60, "trunk": 30, "jumper": 1}}}
MOVED = {"trunk": "trunks", "panel": "panels", "fibre": "fibres"}


@pytest.mark.long
@pytest.mark.parametrize("kind", MOVED)
def test_an_answer_stays_as_long_as_solve_says(kind: str) -> None:
    """Trunks between two racks, which save labour, until they cost as much as leads."""
    content, products = (
        small_hall("any", DEAR, fabric={"racks": {"leaf": ["A01"], "spine": ["A03"]}}, rules={"rack-spread": False}),
        few(),
    )
    answer = solved(content, products)
    assert answer.fabrics[0].structured
    (one,) = ranges(content, products, kind).ranges
    assert one.proven and one.kind == kind
    moving = sum(row.total_usd for row in answer.bom if row.kind == kind)
    for factor, beyond in ((one.factor_low, one.low), (one.factor_high, one.high)):
        if factor is None:
            continue
        stays = usd(answer) + moving * (factor - 1)
        assert usd(solved(content, raised(products, MOVED[kind], factor))) == pytest.approx(stays, abs=0.05)
        if beyond is not None:
            there = solved(content, raised(products, MOVED[kind], beyond.factor))
            assert usd(there) == pytest.approx(beyond.objective, abs=0.05)
            assert usd(there) < beyond.answer_objective
    assert kind != "trunk" or (one.high is not None and one.high.changes)


def test_an_answer_without_room_in_the_nearest_racks_has_ranges() -> None:
    """Room for panels is part of the search, so such an answer is proven, and so are its ranges."""
    content, products = full_hall(6), few()
    told = ranges(content, products, "trunk", "panel")
    assert (told.status, told.objective.value) == ("optimal", usd(solved(content, products)))
    assert [one.proven for one in told.ranges] == [True, True]


def test_what_is_not_worked_out_is_refused() -> None:
    with pytest.raises(InputError, match=r"links run through trunks \(`site.cabling`\), which need"):
        front(small_hall(), few(), ["capex_usd", "usd_per_effective_gpu"])
