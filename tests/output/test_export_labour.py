"""The table of the crew's work: its sums are those of the bill, its counts those of the cables."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.output.export.formats import Options, export
from fabopt.output.export.orders import is_asked_for
from fabopt.output.labour import labour
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.parts.test_labour import LABOUR, with_labour
from tests.samples.growth_samples import eight, grown, solved as solved_growth
from tests.samples.small import Json, case, solved


def table(design: Design, folder: Path, stage: int | None = None) -> list[Json]:
    (path,) = export(design, wiring_of(design), ["labour"], folder, Options(stage=stage))
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def billed(design: Design, stage: str) -> Decimal:
    rows = [row for row in design.bom if row.id.startswith("labour-") and row.stage == stage]
    return sum((Decimal(str(row.total_usd)) for row in rows), Decimal(0))


def designs() -> list[Design]:
    odd = {**LABOUR, "usd_per_hour": 61.37, "minutes": {"pull": 7.3, "label": 1.1, "plug": 0.4, "rack": 17}}
    moving = grown(4, 8, growth={"recabling": "allow"}, site={"labour": LABOUR}, start="2026-03")
    return [solved(with_labour(LABOUR)), solved(with_labour(odd)), solved_growth(eight(), moving)]


@pytest.mark.long(but=("2",))
@pytest.mark.parametrize("number", range(3))
def test_sums_are_those_of_the_bill_to_the_cent(number: int, tmp_path: Path) -> None:
    design = designs()[number]
    rows = table(design, tmp_path)
    for stage in design.stages:
        of_stage = [row for row in rows if row["stage"] == stage.name]
        assert sum(Decimal(row["usd"] or "0") for row in of_stage) == billed(design, stage.name)
        assert [row["count"] for row in of_stage if row["task"] == "visit"] == ["1"]
    for row in rows:
        if row["hours"]:
            hours = int(row["count"]) * float(row["minutes_each"]) / 60
            assert float(row["hours"]) == pytest.approx(hours, abs=1e-4)


def test_counts_are_those_of_the_parts(tmp_path: Path) -> None:
    design = solved(with_labour(LABOUR))
    assert design.totals
    rows = table(design, tmp_path)

    def times(task: str, kind: str) -> int:
        return sum(int(row["count"]) for row in rows if (row["task"], row["kind"]) == (task, kind))

    assert times("rack", "switch") == design.totals.switches
    assert times("rack", "server") == 6
    assert times("pull", "cable") + times("pull", "fibre") == design.totals.cables
    assert times("plug", "transceiver") == design.totals.transceivers
    assert times("clean", "fibre") == 2 * times("pull", "fibre")


def test_a_stage_alone_has_its_day_and_its_moves(tmp_path: Path) -> None:
    design = designs()[2]
    rows = table(design, tmp_path, stage=1)
    assert {row["stage"] for row in rows} == {design.stages[1].name}
    assert {row["day"] for row in rows} != {""}
    assert any(row["kind"] == "moved" for row in rows) == any(row.id == "moved-cable" for row in design.bom)


def test_a_task_without_minutes_has_its_count_and_is_told(tmp_path: Path) -> None:
    design = solved(with_labour({"usd_per_hour": 60, "minutes": {"pull": 5}}))
    (row,) = [row for row in table(design, tmp_path) if (row["task"], row["kind"]) == ("rack", "server")]
    assert (row["count"], row["minutes_each"], row["hours"], row["usd"]) == ("6", "", "", "")
    said = labour(design)
    assert said is not None and "rack" in str(said.said[-1])


def test_without_labour_there_is_no_table(tmp_path: Path) -> None:
    design = solved(case())
    with pytest.raises(InputError, match=r"the case has no `site\.labour`"):
        table(design, tmp_path)
    assert labour(design) is None


def test_no_vendor_is_asked_for_the_crew() -> None:
    design = solved(with_labour(LABOUR))
    assert [row.id for row in design.bom if row.id.startswith("labour-") and is_asked_for(row)] == []
