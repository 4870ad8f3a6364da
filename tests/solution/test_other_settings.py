"""Rows of "what else" about other settings of a fabric: each is what a case with that setting gives."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.design import Alternative, Design
from fabopt.solution import optimize, row_searches
from fabopt.solution.compared import BEST_FOUND, NONE_FOUND, NOTHING_CHEAPER
from fabopt.solution.other_settings import LITTLE_HIGHER, at_ratio
from fabopt.units import some
from tests.samples.random_cases import generate
from tests.samples.small import Json, case, catalog, inputs
from tests.topology.test_stripes import ONE_NIC

SETTINGS: dict[str, dict[str, Any]] = {
    "rails": {"rails": "any"},
    "striping": {"striping": "any"},
    "planes": {"planes": "any"},
    "topologies": {"topologies": ["rail-only"]},
}


def compared(content: Json, parts: Json) -> tuple[Design, dict[str, Alternative]]:
    """The design of a case, and the rows about other settings by what is another."""
    design = optimize.solve(inputs(content, parts), alternatives_s=60)
    rows = {one.what: one for one in design.alternatives if one.what in {*SETTINGS, "oversubscription"}}
    return design, rows


def with_settings(content: Json, parts: Json, what: str) -> Design:
    """The design of the case with another setting."""
    (fabric,) = content["fabrics"]
    ratio = {"max_oversubscription": 1.05 * fabric.get("max_oversubscription", 1)}
    other = {**content, "fabrics": [fabric | SETTINGS.get(what, ratio)]}
    return optimize.solve(inputs(other, parts), alternatives_s=0)


def hold(content: Json, parts: Json) -> set[str]:
    """Hold every row against its case; returns what was cheaper."""
    design, rows = compared(content, parts)
    assert all(check.ok for check in design.checks), [check.detail for check in design.checks if not check.ok]
    cheaper = set()
    for what, row in rows.items():
        other = with_settings(content, parts, what)
        if row.summary == NOTHING_CHEAPER:
            assert row.capex_delta_usd == 0
            assert other.totals is None or design.totals is None or other.totals.capex_usd >= design.totals.capex_usd
        else:
            assert other.totals is not None and row.capex_usd == other.totals.capex_usd
            cheaper.add(what)
    return cheaper


@pytest.mark.parametrize(("servers", "cheaper"), [(5, set()), (7, set()), (9, {"rails"})])
def test_rows_are_what_their_cases_give(servers: int, cheaper: set[str]) -> None:
    assert hold(case({"max_oversubscription": 1}, servers=servers), catalog()) == cheaper


def test_every_setting_has_a_row() -> None:
    """But for rails of their own, which servers without a scale-up domain cannot have."""
    _, rows = compared(case(servers=6), catalog())
    assert set(rows) == {*SETTINGS, "oversubscription"} - {"topologies"}
    parts = catalog()
    parts["servers"][0]["scale_up"] = {"domain_gpus": 4, "gbps_per_gpu": 3600}
    _, rows = compared(case(servers=6), parts)
    assert set(rows) == {*SETTINGS, "oversubscription"}


def test_rows_say_what_they_cost_in_service() -> None:
    """Six servers of two ports: leaves of 3 with 2 links to one spine and 1 to the other, where even ones have three
    spines; rails of their own meet nowhere but in servers.
    """
    parts = catalog()
    parts["servers"][0]["scale_up"] = {"domain_gpus": 4, "gbps_per_gpu": 3600}
    _, rows = compared(case({"max_oversubscription": 1, **ONE_NIC}, servers=6), parts)
    assert "worst traffic of leaves with leaves 133.3 Gb/s per GPU (here 200)" in rows["striping"].summary
    assert "between rails inside servers alone, at 3600 Gb/s per GPU" in rows["topologies"].summary
    assert "between rails" not in rows["striping"].summary and "worst traffic" not in rows["topologies"].summary


def growing(content: Json, first: int) -> Json:
    """The case with so many servers at first, and its own a year later."""
    servers = content.pop("servers")
    stages = [{"name": "now", "month": 0, "servers": first}, {"name": "then", "month": 12, "servers": servers}]
    return {**content, "stages": stages}


@pytest.mark.parametrize(("servers", "cheaper"), [(6, set()), (9, {"rails"})])
def test_growing_clusters_have_rows(servers: int, cheaper: set[str]) -> None:
    content = growing(case({"max_oversubscription": 1}, servers=servers), 4)
    assert hold(content, catalog()) == cheaper
    _, rows = compared(content, catalog())
    assert set(rows) == {*SETTINGS, "oversubscription"} - {"topologies"}


@pytest.mark.parametrize("servers", [7, 9])
def test_on_a_floor_rows_are_the_best_found(servers: int) -> None:
    """What its case gives there, or dearer: nothing is proven of a row, but where nothing is cheaper."""
    parts = catalog()
    parts["servers"][0] |= {"rack_units": 8, "scale_up": {"domain_gpus": 4, "gbps_per_gpu": 3600}}
    floor = {"rows": 1, "racks_per_row": 6, "rack_units": 42, "rack_pitch_m": 0.6}
    content = case({"max_oversubscription": 1}, servers=servers) | {"site": {"servers_per_rack": 3, "floor": floor}}
    design, rows = compared(content, parts)
    assert design.totals is not None
    assert set(rows) == {*SETTINGS, "oversubscription"}
    assert {what for what, row in rows.items() if row.summary not in (NOTHING_CHEAPER, NONE_FOUND)} == {"rails"}
    for what, row in rows.items():
        other = with_settings(content, parts, what).totals
        assert other is not None
        if row.summary == NOTHING_CHEAPER:
            assert other.capex_usd >= design.totals.capex_usd
        elif row.summary == NONE_FOUND:
            assert row.capex_delta_usd == 0
        else:
            assert other.capex_usd <= row.capex_usd < design.totals.capex_usd


@pytest.mark.parametrize("most", [0, 3, 10, 20_000])
def test_past_so_much_work_rows_are_the_best_found(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A row that was not looked at to its end says so, and is no better than what its case gives."""
    monkeypatch.setattr(row_searches.RowSearches, "allowed", lambda rows, share: most)
    content, parts = case({"max_oversubscription": 1}, servers=9), catalog()
    _, rows = compared(content, parts)
    assert set(rows) == {*SETTINGS, "oversubscription"} - {"topologies"}
    unproven = 0
    for what, row in rows.items():
        other = with_settings(content, parts, what).totals
        assert other is not None
        if row.summary not in (NOTHING_CHEAPER, NONE_FOUND):
            assert other.capex_usd <= row.capex_usd
            assert BEST_FOUND in row.summary or other.capex_usd == row.capex_usd
        elif row.summary == NOTHING_CHEAPER:
            assert other.capex_usd >= row.capex_usd
        unproven += row.summary == NONE_FOUND or BEST_FOUND in row.summary
    assert (unproven > 0) == (most < 20_000)


@pytest.mark.parametrize("seed", range(8))
def test_rows_are_alike_where_groups_are_equal_first(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """As where the answer took long; and every row is a proven one, as it is without."""
    parts, content = generate("linear", seed)
    before = {what: (row.capex_usd, row.summary) for what, row in compared(content, parts)[1].items()}
    monkeypatch.setattr(row_searches, "MUCH", 0)
    after = {what: (row.capex_usd, row.summary) for what, row in compared(content, parts)[1].items()}
    assert after == before


@pytest.mark.parametrize("fabrics", [1, 4])
def test_rows_together_do_little_more_than_the_answer(fabrics: int) -> None:
    """However many there are: each may do a third of what is left, and a little of its own for each fabric."""
    one = case(servers=6)
    several = [one["fabrics"][0] | {"name": f"fabric-{number}"} for number in range(fabrics)]
    given, settings = inputs(one | {"fabrics": several}, catalog()), Settings()
    beside = row_searches.BESIDE_THE_ANSWER if fabrics == 1 else row_searches.BESIDE_SLOWER_ONES
    settings.work.done = 2 * beside
    rows = row_searches.RowSearches(problem_of(given.case, given.catalog), settings, Clock(None))
    allowed: list[int] = []
    for _ in range(40):
        with rows.of_row():
            allowed.append(int(settings.work.most) - settings.work.done)
            settings.work.done += allowed[-1]
    least = fabrics * row_searches.LEAST_OF_ROW
    assert allowed[:2] == [beside + least, beside * 2 // 3 + least]
    assert least <= min(allowed) <= least + 2
    assert sum(allowed) <= 3 * beside + 40 * least
    assert settings.work.most == inf


def test_another_ratio_is_that_of_every_stage_with_the_same() -> None:
    """As in a case that says it of the fabric; a stage with a ratio of its own keeps that."""
    content = growing(case({"max_oversubscription": 1}, servers=6), 4)
    free = content["stages"][0] | {"fabrics": {"compute": {"max_oversubscription": 3}}}
    for stages in (content["stages"], [free, content["stages"][1]]):
        made, asked = (
            problem_of(given.case, given.catalog)
            for ratio in (1, 1.05)
            for given in [inputs(case({"max_oversubscription": ratio}, servers=None, stages=stages), catalog())]
        )
        other = at_ratio(made, 0, LITTLE_HIGHER).problem
        assert [one.oversubscription for one in other.stages] == [one.oversubscription for one in asked.stages]


def test_plans_of_growth_come_before_other_settings() -> None:
    """Who buys for years asks first what other plans cost."""
    design = optimize.solve(inputs(growing(case(servers=6), 4), catalog()), alternatives_s=60)
    told = [one.what for one in design.alternatives]
    assert told.index("growth") < told.index("rails")


def test_a_setting_that_the_case_has_is_no_other_one() -> None:
    _, rows = compared(case({"rails": "any", "striping": "any", "planes": "any"}, servers=6), catalog())
    assert set(rows) == {"oversubscription"}


@pytest.mark.long("20")
@pytest.mark.parametrize("seed", range(24))
def test_rows_of_random_cases(seed: int) -> None:
    parts, content = generate("linear", seed)
    content["fabrics"][0].pop("max_oversubscription", None)
    if optimize.solve(inputs(content, parts), alternatives_s=0).status == "optimal":
        hold(content, parts)


@pytest.mark.parametrize("seed", range(16))
def test_rows_of_random_cases_that_grow(seed: int) -> None:
    parts, content = generate("linear", seed)
    content["fabrics"][0].pop("max_oversubscription", None)
    content = growing(content, max(1, content["servers"] // 2))
    if optimize.solve(inputs(content, parts), alternatives_s=0).status == "optimal":
        hold(content, parts)


def test_what_outlives_the_only_switch_is_told_whatever_it_costs() -> None:
    """As a case that asks for half of the bandwidth without it, in any number of planes, would have it."""

    def of(**fabric: Any) -> Design:
        content = {"name": "files", "server": "nvidia-dgx-h100", "servers": 16,
                   "fabrics": [{"name": "storage", "role": "storage", **fabric}], "rules": {"pair": False}}  # fmt: skip
        return optimize.solve(inputs_from_objects(content), alternatives_s=60)

    design = of()
    assert all(check.ok for check in design.checks), [check.detail for check in design.checks if not check.ok]
    (row,) = (one for one in design.alternatives if one.what == "resilience")
    asked = of(planes="any", resilience=["default", {"survive": "1 leaf", "min_gbps_per_gpu": 12.5}])
    assert asked.totals is not None and design.totals is not None
    planes = some(asked.fabrics[0].planes, "plane")
    assert (row.value, row.capex_usd) == (f"1 leaf, {planes}", asked.totals.capex_usd)
    assert design.single_points_of_failure is not None
    assert [(one.device, one.servers, one.degraded) for one in design.single_points_of_failure] == [("leaf", 16, False)]
    for other in (asked, of(resilience="none"), of(tiers=2)):
        assert "resilience" not in {one.what for one in other.alternatives}
