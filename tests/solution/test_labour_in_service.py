"""Labour beside what is in service: on what is new alone, whoever bought it, in the optimum and on the bill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabopt.output.labour import work_rows
from fabopt.schema.design import Design
from fabopt.verify import verify
from tests.parts.test_labour import LABOUR, lines, some_labour
from tests.samples import random_growth
from tests.samples.bare import bare
from tests.samples.bases import assert_stays, designed, gone_on
from tests.samples.growth_samples import eight
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import in_stages, rest

Json = dict[str, Any]


def with_labour(content: Json, labour: Json = LABOUR) -> Json:
    """A case with labour, and the runs that it has."""
    return {**content, "site": {**content.get("site", {}), "labour": labour}}


def of_stages(design: Design) -> list[dict[tuple[str, str], float]]:
    """Lines of labour by stage."""
    return [
        {key[1:]: usd for key, usd in lines(design).items() if key[0] == stage.name} for stage in design.stages
    ]  # fmt: skip


def test_labour_is_on_what_is_new_alone(tmp_path: Path) -> None:
    whole = with_labour(in_stages(5, 8))
    planned = designed(eight(), whole)
    design = gone_on(eight(), rest(whole), planned, tmp_path, "stage-1")
    assert_stays(design, planned, 0)
    assert of_stages(planned)[0] and of_stages(design) == [{}, of_stages(planned)[1]]
    assert {row.stage for row in work_rows(design)} == {1}


def test_with_nothing_new_nobody_comes(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = gone_on(eight(), with_labour(in_stages(8)), base, tmp_path)
    assert_stays(design, base, 0)
    assert design.totals is not None and design.totals.capex_usd == 0 and lines(design) == {}


def test_labour_on_what_is_in_service_is_noticed(tmp_path: Path) -> None:
    whole = with_labour(in_stages(5, 8))
    planned = designed(eight(), whole)
    design = gone_on(eight(), rest(whole), planned, tmp_path, "stage-1")
    row = next(row for row in design.bom if row.id.startswith("labour-"))
    wrong = design.model_copy(update={"bom": (*design.bom, row.model_copy(update={"stage": "in-service"}))})
    assert "labour_is_counted" in {check.name for check in verify(wrong) if not check.ok}


def assert_planned_is_gone_on_from(family: str, seed: int, folder: Path) -> bool:
    """That a plan in stages with labour costs at later stages what they cost where the first one is in service."""
    parts, content = random_growth.generate(family, seed)
    content = bare({key: value for key, value in content.items() if key not in ("catalog", "growth", "finance")})
    content |= {"objective": "capex_usd", "include_servers": False, "rules": "none"}
    content["stages"] = [{**stage, "month": 0} for stage in content["stages"]]
    content = with_labour(content, some_labour(Dice(f"labour-{family}-{seed}").random))
    planned = designed(parts, content)
    if planned.status != "optimal":
        return False
    design = gone_on(parts, rest(content), planned, folder, content["stages"][0]["name"])
    assert design.status == "optimal"
    assert [stage.capex_usd for stage in design.stages] == [0, *(one.capex_usd for one in planned.stages[1:])]
    assert_stays(design, planned, 0)
    return True


def test_a_plan_with_labour_is_gone_on_from_as_planned(tmp_path: Path) -> None:
    assert assert_planned_is_gone_on_from("staged", 2, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("family", ["staged", "staged_three_tier"])
def test_plans_with_labour_are_gone_on_from_as_planned(family: str, tmp_path: Path) -> None:
    assert sum(assert_planned_is_gone_on_from(family, seed, tmp_path) for seed in range(12)) >= 4
