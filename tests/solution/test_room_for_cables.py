"""Trays and vertical managers that may be only so full: the limit is kept, or the answer says what it would take."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import inf
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.output.export.trays import tray_table
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.solution.formulation_text import formulation_text
from fabopt.solution.question import Answers, Question
from fabopt.study.front.fronts import empty_front
from fabopt.study.sweep.sweep import Execution, grid_of, sweep
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


@pytest.mark.long
def test_limits_are_kept_by_thinner_cables_or_named() -> None:
    free = _solved()
    full = fullest(free, wiring_of(free))
    assert free.status == "optimal" and bought(free)["dac"] and full["tray"].share > 0.1
    wide = _solved(tray_fill=0.999)
    assert (wide.status, usd(wide), wide.fabrics, _told(wide)) == ("optimal", usd(free), free.fabrics, [])
    assert any(note.startswith("rule `tray-fill`") for note in wide.notes)
    most = float(full["tray"].share) * 0.6
    narrow = _solved(tray_fill=most)
    assert (narrow.status, _told(narrow)) == ("feasible", [])
    assert usd(narrow) > usd(free) == narrow.objective.bound
    assert fullest(narrow, wiring_of(narrow))["tray"].share <= most
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
    for key, name in (
        ("tray_fill", "trays_hold_cables"),
        ("manager_fill", "managers_hold_cables"),
        ("tray_width_mm", "trays_hold_cables"),
        ("manager_depth_mm", "managers_hold_cables"),
    ):
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
        (
            {"tray_fill": 0.4, "tray_width_mm": None},
            r"site\.floor.*`tray_fill: 0.4`.*`tray_width_mm` and `tray_depth_mm`",
        ),
        ({"manager_fill": 0.4, "manager_depth_mm": None}, r"`manager_fill: 0.4`.*`manager_depth_mm`, or leave it out"),
    ],
)
def test_fills_that_cannot_be_are_refused(keys: Json, said: str) -> None:
    with pytest.raises(InputError, match=said):
        inputs_from_objects(_content(**keys), _parts())


def test_growth_that_may_end_and_ratios_are_refused() -> None:
    content = {**_content(tray_fill=0.4), "objective": "usd_per_effective_gpu"}
    with pytest.raises(InputError, match=r"`site\.floor\.tray_fill` and `objective: usd_per_effective_gpu`"):
        inputs_from_objects(content, _parts())


@pytest.mark.long
def test_what_cannot_keep_the_limits_refuses_them() -> None:
    limited = inputs_from_objects(_content(tray_fill=0.4, manager_fill=0.5), _parts())
    off = inputs_from_objects(
        _content({"tray-fill": False, "rack-managers": False}, tray_fill=0.4, manager_fill=0.5), _parts()
    )
    said = r"site\.floor\.tray_fill: .*0\.4.*tray-fill: false"
    with pytest.raises(InputError, match=said) as error:
        grid_of(limited, "100000:900000:100000", [])
    assert len(error.value.faults) == 2
    with pytest.raises(InputError, match=said):
        empty_front(limited, ())
    with pytest.raises(InputError, match=said):
        formulation_text(limited, "lp")
    assert grid_of(off, "100000:900000:100000", []).size
    free = inputs_from_objects(_content(), _parts())
    for key in ("tray_fill", "manager_fill"):
        with pytest.raises(InputError, match=rf"site\.floor\.{key}: sweeps of budgets are not worked out"):
            grid_of(free, "100000:900000:2", [f"site.floor.{key}=0.2,0.6"])


@pytest.mark.long
def test_a_sweep_has_at_every_fill_what_the_case_alone_gives() -> None:
    """Proven where the free answer keeps the fill, feasible with thinner cables, and unknown where none was found."""
    read = inputs_from_objects(_content(), _parts())
    grid = grid_of(read, None, ["site.floor.tray_fill=0.0001,0.08,0.999"])
    swept = sweep(read, grid, Execution(), None, Settings(), Clock(None), lambda *new: None)
    for point in swept.points:
        alone = _solved(tray_fill=point.over["site.floor.tray_fill"])
        assert (point.status, point.fabrics) == (alone.status, alone.fabrics)
    assert [point.status for point in swept.points][::2] == ["unknown", "optimal"]


def test_the_check_and_the_table_count_alike() -> None:
    design = _solved(tray_fill=0.999, manager_fill=0.999)
    wiring = wiring_of(design)
    table, full = tray_table(design, wiring), fullest(design, wiring)
    trays, sides = table[table.kind != "side"], table[table.kind == "side"]
    assert trays.fill.max() == pytest.approx(float(full["tray"].share), abs=1e-4)
    racks = sides.groupby(sides.segment.str.split().str[0]).mm2.sum()
    assert racks.max() / (2 * 60 * 60) == pytest.approx(float(full["manager"].share), abs=1e-4)
    assert set(trays.limit) == set(sides.limit) == {0.999}


@pytest.mark.long
@pytest.mark.parametrize(
    "limits", [(0.02, 0.1, 0.8), pytest.param((0.02, 0.05, 0.1, 0.2, 0.4, 0.8), marks=pytest.mark.long)], ids=len
)
def test_wider_limits_are_never_dearer(limits: tuple[float, ...]) -> None:
    costs = [usd(one) if one.fabrics else float("inf") for one in (_solved(tray_fill=most) for most in limits)]
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1]


def test_a_cable_that_cannot_bend_is_left_out_or_named() -> None:
    thin = _solved(manager_fill=0.9, manager_depth_mm=45)
    assert thin.status == "feasible" and not bought(thin).get("dac") and not _told(thin)
    none = _solved(manager_fill=0.9, manager_depth_mm=15)
    (conflict,) = none.conflicts
    assert (conflict.limit, conflict.value, conflict.needed) == ("site.floor.manager_depth_mm", 15, 20)
    assert _solved(manager_fill=0.9, manager_depth_mm=20).fabrics


@pytest.mark.long
def test_more_than_a_whole_tray_asks_for_a_wider_one() -> None:
    none = _solved(tray_fill=0.4, tray_width_mm=50, tray_depth_mm=0.2)
    (conflict,) = none.conflicts
    assert none.status == "unknown" and conflict.limit == "site.floor.tray_width_mm"
    assert _solved(tray_fill=0.4, tray_width_mm=conflict.needed, tray_depth_mm=0.2).fabrics


def _of_unknown_fibre() -> Json:
    parts = _parts()
    parts["fibres"][0].pop("diameter_mm")
    return parts


@pytest.mark.long
def test_parts_of_no_known_diameter_are_not_taken_for_thin() -> None:
    design = optimize.solve(inputs_from_objects(_content(tray_fill=0.02), _of_unknown_fibre()), alternatives_s=0)
    assert design.status == "unknown" and design.conflicts


def test_parts_of_no_known_diameter_are_told() -> None:
    parts = {**_of_unknown_fibre(), "cables": []}
    design = optimize.solve(inputs_from_objects(_content(tray_fill=0.02), parts), alternatives_s=0)
    assert any("of no known diameter counted as nothing" in note for note in design.notes)


@pytest.mark.long
def test_stopped_while_looking_the_best_that_keeps_the_limits_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after the first step: the answer of none; after the second: that which keeps the limits, not proven."""
    most = float(fullest(free := _solved(), wiring_of(free))["tray"].share) * 0.6
    inputs, steps = inputs_from_objects(_content(tray_fill=most), _parts()), list[int]()
    inner = optimize._settled_with_hosts
    for last, status in ((1, "unknown"), (2, "feasible")):
        steps.clear()
        clock = Clock(None)

        def settled(question: Question, last: int = last, clock: Clock = clock) -> tuple[Question, Answers]:
            steps.append(1)
            found = inner(question)
            if len(steps) == last:
                clock.stop()
            return found

        monkeypatch.setattr(optimize, "_settled_with_hosts", settled)
        design = optimize.solve(inputs, alternatives_s=0, clock=clock)
        assert (design.status, _told(design)) == (status, [])
        assert bool(design.conflicts) is (status == "unknown")


# Of one link of the tiny floor: its price in USD, with modules, and its section in mm2 by pi / 4 x diameter^2.
TINY = {"thick": (250, 113.098), "thin": (400, 28.275), "glass": (700 + 650 + 60, 3.142)}


def _tiny(**floor: Any) -> Design:
    """Three servers in racks of their own and a leaf, all of whose cables are of 10 m."""
    parts = _parts()
    parts["cables"] = [
        {**parts["cables"][0], "id": key, "diameter_mm": mm, "lengths": [{"m": 10, "price_usd": TINY[key][0]}]}
        for key, mm in (("thick", 12), ("thin", 6))
    ]
    parts["fibres"][0]["lengths"] = [{"m": 10, "price_usd": 60}]
    parts["transceivers"] = [one for one in parts["transceivers"] if one["id"] != "dr4-hot"]
    plan = {"rows": 1, "racks_per_row": 4, "rack_units": 12, "server_racks": ["A01", "A02", "A03"], **SIZES, **floor}
    content = case({"tiers": 1}, servers=3, site={"floor": plan, "servers_per_rack": 1}, resilience="none")
    inputs = inputs_from_objects({**content, "rules": {"rack-rules": False, "rack-spread": False}}, parts)
    return optimize.solve(inputs, alternatives_s=0)


def _least(links: int, limit: float) -> float:
    """The least price of the links of three servers over all racks of the leaf and all parts, link by link."""
    mixes = list(combinations_with_replacement(TINY, links))
    best = inf
    for leaf, *chosen in product(range(4), *[mixes] * 3):
        filled = [0.0] * 3
        for server, mix in enumerate(chosen):
            for segment in range(min(leaf, server), max(leaf, server)):
                filled[segment] += sum(TINY[part][1] for part in mix)
        if max(filled) <= limit * 100 * 20:
            best = min(best, sum(TINY[part][0] for mix in chosen for part in mix))
    return best


def test_a_tiny_floor_against_all_ways_to_cable_it() -> None:
    free = _tiny()
    links = sum(row.count for row in free.fabrics[0].links) // 3
    assert free.status == "optimal" and bought(free)["thick"] == 3 * links
    met = set()
    for limit in (0.001, 0.004, 0.02, 0.04, 0.06, 0.12, 0.24, 0.5):
        design, least = _tiny(tray_fill=limit), _least(links, limit)
        met.add(design.status)
        assert design.fabrics or design.status == "unknown"
        if not design.fabrics:
            continue
        assert not _told(design) and design.objective.bound is not None
        over = usd(design) - usd(free)
        assert over >= least - _least(links, 1) >= design.objective.bound - usd(free)
        assert design.status == "feasible" or over == least - _least(links, 1)
    assert met == {"optimal", "feasible", "unknown"}
