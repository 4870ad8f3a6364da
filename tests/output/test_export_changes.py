"""What every stage brings and moves is all that there is at last, once each; nothing of what is in service is in it."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fabopt.cli.evidence import numbered_stage
from fabopt.errors import InputError
from fabopt.output.export.changes import COLUMNS
from fabopt.output.export.formats import Options, export
from fabopt.output.export.pulls import visits
from fabopt.schema.design import Design
from fabopt.schema.in_service import IN_SERVICE
from fabopt.wiring.build import wiring_of
from fabopt.wiring.migration import windows_of
from fabopt.wiring.model import Wiring, wiring_at
from tests.samples.bases import designed, gone_on
from tests.samples.export_samples import CASES, solved
from tests.samples.growth_samples import eight, grown, sample
from tests.samples.moves import FREE, moved
from tests.solution.test_brute_force import cage, catalog, switch
from tests.solution.test_in_service import in_stages


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


@pytest.mark.parametrize("sizes", [(12,), (12, 16)])
def test_what_moves_in_service_is_told_from_where_to_where(sizes: tuple[int, ...], tmp_path: Path) -> None:
    """Two uplinks of each leaf go to the new spine; all else that was there is in no row. A later stage only adds."""
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(*sizes), base, tmp_path, {"cable": 10})
    rows, before, after = changes(design, tmp_path), wiring_of(base), wiring_of(design)
    assert rows == [row for stage in range(len(sizes)) for row in changes(design, tmp_path, stage)]
    assert {row["stage"] for row in rows if row["change"] == "moved"} == {"stage-1"}
    counts = Counter((row["change"], row["what"]) for row in rows)
    assert counts == {
        ("new", "device"): len(after.devices) - len(before.devices),
        ("new", "link"): len(after.links) - len(before.links),
        ("moved", "link"): 4,
    }
    there = ends_of(before)
    for row in rows:
        ends = row["from_device"], row["from_port"], row["to_device"], row["to_port"]
        if row["change"] == "moved":
            assert there[row["name"]] == (
                row["before_from_device"], row["before_from_port"], row["before_device"], row["before_port"],
            )  # fmt: skip
        if row["what"] == "link":
            assert ends_of(after)[row["name"]] == ends != there.get(row["name"])


@pytest.mark.long("moves1")
@pytest.mark.parametrize("moves", [(12,), (12, 16), ()])
def test_a_crew_pulls_what_is_new_and_moves_what_moves(moves: tuple[int, ...], tmp_path: Path) -> None:
    if moves:
        design = moved(eight(), in_stages(*moves), designed(eight(), in_stages(8)), tmp_path, {"cable": 10})
    else:
        whole = {**grown(5, 8), "stages": [{"name": "one", "servers": 5}, {"name": "two", "servers": 8}]}
        design = gone_on(eight(), {**whole, "stages": whole["stages"][1:]}, designed(eight(), whole), tmp_path, "one")
    rows, wiring = changes(design, tmp_path), wiring_of(design)
    links = {
        kind: {row["name"] for row in rows if (row["what"], row["change"]) == ("link", kind)}
        for kind in ("new", "moved")
    }
    devices = replace(wiring.devices, name=[f"renamed-{name}" for name in wiring.devices.name])
    for called in (wiring, replace(wiring, devices=devices)):
        work = list(visits(design, called))
        assert {cable for visit in work for pair in visit.pairs for cable in pair.rows["cable"]} == links["new"]
        ends = [end for visit in work if len(visit.moves) for end in visit.moves.to_dict("records")]
        assert {end["cable"] for end in ends} == links["moved"]
        assert {end[f"{side}device"] for end in ends for side in ("", "from_", "to_")} <= {*called.devices.name}
    export(design, wiring, ["cables"], tmp_path / "cables", Options())
    with (tmp_path / "cables" / "cable-pull-list.csv").open(newline="") as lines:
        assert sum(int(row["cables"]) for row in csv.DictReader(lines)) == len(links["new"])
    assert links["new"] and bool(links["moved"]) == bool(moves)


def test_a_crew_moves_cables_in_service_by_window(tmp_path: Path) -> None:
    """Each in that of the step which plugs it in where it goes, or takes it out; the page has them in that order."""
    parts, keys = eight(), {"nics_per_server": 2, "min_gbps_per_gpu": 200, "rails": "aligned", "tiers": 2}
    parts["servers"][0]["nic_slots"] = 2
    design = moved(parts, in_stages(8, **keys), designed(parts, in_stages(4, **keys)), tmp_path, {"cable": 10})
    wiring = wiring_of(design)
    export(design, wiring, ["migration", "crew"], tmp_path, Options())
    with (tmp_path / "migration" / "steps.csv").open(newline="") as lines:
        steps = [row for row in csv.DictReader(lines) if row["act"] in ("plug", "take out")]
    windows = {row["cable"]: int(row["window"]) for row in steps}
    told = windows_of(design, wiring)
    assert told == windows and len(set(windows.values())) > 1
    (visit,) = [visit for visit in visits(design, wiring) if len(visit.moves)]
    assert {*visit.moves["cable"]} == told.keys()
    page = (tmp_path / "crew" / "pulls-a4.html").read_text()
    text = " ".join(re.sub(r"<[^>]*>", " ", page[page.index(">goes to<") :]).split())
    shown = re.findall(r"(\d+) (C\d+)", text)[: len(told)]
    assert [int(window) for window, _ in shown] == sorted(told.values())
    assert {label: int(window) for window, label in shown} == told


def test_where_nothing_is_new_nothing_is_pulled(tmp_path: Path) -> None:
    base = designed(eight(), in_stages(8))
    design = gone_on(eight(), in_stages(8), base, tmp_path)
    export(design, wiring_of(design), ["cables", "crew", "labels"], tmp_path, Options())
    with (tmp_path / "cable-pull-list.csv").open(newline="") as lines:
        assert list(csv.DictReader(lines)) == []
    assert "one window" not in (tmp_path / "crew" / "pulls-a4.html").read_text()


def test_what_is_taken_out_goes(tmp_path: Path) -> None:
    """Two leaves and a spine of eight ports; a switch of sixteen ports then takes all servers for 10 USD."""
    parts = catalog(
        switches=[switch("eight", cage(8, "1x100")), {**switch("wide", cage(16, "1x100")), "price_usd": 10}]
    )
    base = designed(eight(), in_stages(8))
    design = moved(parts, in_stages(12, tiers=[1, 2]), base, tmp_path, FREE)
    assert [tier.id for tier in design.fabrics[0].tiers] == ["wide"]
    rows = changes(design, tmp_path)
    gone = {row["name"] for row in rows if (row["change"], row["what"]) == ("gone", "device")}
    assert gone == {"compute-leaf-001", "compute-leaf-002", "compute-spine-001"}
    assert sum((row["change"], row["what"]) == ("gone", "link") for row in rows) == 8
    with pytest.raises(InputError, match=r"it is no stage; .*base.json is what is in service, as it stands"):
        numbered_stage(design, IN_SERVICE)
    (visit,) = visits(design, wiring_of(design))
    out = [row for row in visit.moves.to_dict("records") if not row["to_device"]]
    assert len(out) == 8 and {row["from_device"] for row in out} == {"compute-spine-001"}
    export(design, wiring_of(design), ["cables", "crew"], tmp_path, Options())
    page = (tmp_path / "crew" / "pulls-a4.html").read_text()
    assert "8 cables come out whole" in page and "one window (a rail) at a time" in page
    moves = design.fabrics[0].moves
    assert moves is not None and (moves.cables, moves.devices) == (
        {"server-leaf": 8, "leaf-spine": 8}, {"leaf": 2, "spine": 1},
    )  # fmt: skip


def ends_of(wiring: Wiring) -> dict[str, tuple[str, str, str, str]]:
    """Both ends of every cable, by its label; each carries one link."""
    names, links = wiring.devices.name, wiring.links
    ends = zip(links.a.tolist(), wiring.a_port, links.b.tolist(), wiring.b_port, links.cable.tolist(), strict=True)
    return {wiring.cables.name[row]: (names[a], a_port, names[b], b_port) for a, a_port, b, b_port, row in ends}
