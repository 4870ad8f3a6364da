"""What every stage brings and moves is all that there is at last, once each; nothing of what is in service is in it."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from fabopt.output.export.changes import COLUMNS
from fabopt.output.export.formats import Options, export
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import wiring_at
from tests.samples.bases import designed, gone_on
from tests.samples.export_samples import CASES, solved
from tests.samples.growth_samples import eight, grown, sample


def changes(design: Design, folder: Path, stage: int | None = None) -> list[dict[str, str]]:
    (path,) = export(design, wiring_of(design), ["changes"], folder, Options(stage=stage))
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert not rows or tuple(rows[0]) == COLUMNS
    return rows


@pytest.mark.parametrize("name", CASES)
def test_all_is_new_once(name: str, tmp_path: Path) -> None:
    wiring = wiring_of(solved(name))
    rows = Counter((row["change"], row["what"]) for row in changes(solved(name), tmp_path))
    new = {"device": len(wiring.devices), "module": len(wiring.modules), "link": len(wiring.links)}
    assert {what: rows["new", what] for what in new} == new


def test_a_link_that_moves_is_told_with_where_it_was(tmp_path: Path) -> None:
    design = sample("moved")
    moved = [row for row in changes(design, tmp_path) if row["change"] == "moved"]
    assert len(moved) == sum(stage.moved_cables for stage in design.stages) == 4
    before = wiring_at(wiring_of(design), 0)
    there = set(zip((before.devices.name[row] for row in before.links.b.tolist()), before.b_port, strict=True))
    assert {(row["before_device"], row["before_port"]) for row in moved} <= there
    assert all(row["before_device"] != row["to_device"] for row in moved)


def test_of_a_base_there_is_nothing(tmp_path: Path) -> None:
    whole = {**grown(5, 8), "stages": [{"name": "one", "servers": 5}, {"name": "two", "servers": 8}]}
    planned = designed(eight(), whole)
    design = gone_on(eight(), {**whole, "stages": whole["stages"][1:]}, planned, tmp_path, "one")
    rows, stage = changes(design, tmp_path), changes(planned, tmp_path, 1)
    assert rows == stage and {row["stage"] for row in rows} == {"two"}
    names = {row["name"] for row in rows if row["what"] == "device"}
    assert names.isdisjoint(wiring_at(wiring_of(planned), 0).devices.name)
