"""Cables of a design that goes on from what is in service: work to be done is no fault, and faults are no work."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fabopt.inspect.as_built import AsBuilt
from fabopt.inspect.planned import PortName
from fabopt.inspect.to_do import WantedCables
from fabopt.output.export.design import design_bytes
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from tests.samples.bases import designed, listed, seen_of
from tests.samples.cli_samples import Run
from tests.samples.discoveries import Link, planned_links
from tests.samples.growth_samples import eight
from tests.samples.moves import moved
from tests.solution.test_in_service import in_stages


@cache
def grown() -> tuple[Design, list[Link], list[Link]]:
    """Two leaves of eight servers and a spine, full; then a third leaf and a second spine, to which four cables move.

    With the links in service and those at last.
    """
    base = designed(eight(), in_stages(8))
    with TemporaryDirectory() as folder:
        design = moved(eight(), in_stages(12), base, Path(folder), {"cable": 10})
    return design, planned_links(wiring_of(base)), planned_links(wiring_of(design))


def looked_at(links: list[Link]) -> AsBuilt:
    design = grown()[0]
    return seen_of(WantedCables(design, wiring_of(design), 0), links)


def work(result: AsBuilt) -> tuple[list[str], dict[str, int]]:
    return [finding.kind for finding in result.findings], dict(result.cables_to_do)


def without(links: list[Link], *gone: Link) -> list[Link]:
    return [link for link in links if link not in gone]


def moving() -> tuple[Link, Link]:
    """A cable that moves: where it was, and where it is to be."""
    link = next(link for link in looked_at(grown()[1]).to_do or () if link.change == "moved")
    return link.before, (link.a, link.b)


def test_what_is_in_service_is_right_and_the_rest_is_to_be_done() -> None:
    _, there, last = grown()
    assert work(looked_at(there)) == ([], {"new": 8, "moved": 4})
    assert Counter(device.change for device in looked_at(there).devices_to_do) == {"new": 6}
    assert work(looked_at(last)) == ([], {})


def test_a_cable_that_moves_may_be_unplugged_and_is_done_in_its_new_ports() -> None:
    _, there, _ = grown()
    before, after = moving()
    assert work(looked_at(without(there, before))) == ([], {"new": 8, "moved": 4})
    result = looked_at([*without(there, before), after])
    assert work(result) == ([], {"new": 8, "moved": 3}) and result.right == len(there) - 3
    assert "compute-spine-002" not in {device.name for device in result.devices_to_do}


def test_a_cable_that_moves_into_another_port_is_a_fault() -> None:
    _, there, _ = grown()
    before, (leaf, spine) = moving()
    result = looked_at([*without(there, before), (leaf, PortName(spine.device, "33"))])
    assert work(result) == (["wrong-port"], {"new": 8, "moved": 3})
    (move,) = result.repairs
    assert (move.move, move.target, move.stays) == ("move", spine, leaf)


def test_a_cable_that_stays_is_not_to_be_done_where_it_is_missing() -> None:
    _, there, last = grown()
    stays = next(link for link in there if link in last)
    assert work(looked_at(without(there, stays))) == (["missing"], {"new": 8, "moved": 4})


def test_new_cables_that_are_exchanged_are_a_fault() -> None:
    _, there, last = grown()
    (a, b), (c, d), *_ = (link for link in last if link not in there and link[0].device.startswith("server"))
    assert work(looked_at([*there, (a, d), (c, b)])) == (["swapped"], {"new": 6, "moved": 4})


def test_a_new_cable_in_ports_in_service_is_a_fault_beside_the_work() -> None:
    """Its port at the spine is still taken by a cable that moves, and it is in another one."""
    _, there, last = grown()
    before, _ = moving()
    new = next(link for link in last if before[1] in link)
    stranger = new[0], PortName(new[1].device, "33")
    result = looked_at([*there, stranger])
    assert work(result)[0] == ["unexpected"]
    assert {result.findings[0].a, result.findings[0].b} == set(stranger)


def test_windows_ask_for_what_is_done_by_then(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    design, there, _ = grown()
    Path("new.json").write_bytes(design_bytes(design))
    Path("base.csv").write_text(listed(there))
    assert run("export", "new.json", "--to", "migration", "-o", ".").code == 0
    last = "migration/after-01.csv"
    for found, window, code, left in (
        ("base.csv", (), 0, {"new": 8, "moved": 4}),
        ("base.csv", ("--window", "0"), 1, {"new": 2, "moved": 4}),
        ("migration/after-00.csv", ("--window", "0"), 0, {"new": 2, "moved": 4}),
        ("migration/after-00.csv", ("--window", "1"), 1, {}),
        (last, ("--window", "0"), 0, {}),
        (last, ("--window", "1"), 0, {}),
    ):
        ran = run("as-built", "new.json", "--csv", found, "--json", "out.json", "--html", "out.html", *window)
        content = json.loads(Path("out.json").read_text())
        assert (ran.code, content["ok"], content["to_do"]["cables"]) == (code, code == 0, left)
        assert ("To do" in Path("out.html").read_text()) == bool(left)
    assert run("as-built", "new.json", "--csv", "base.csv", "--found", "found.csv").code == 0
    rows = [row.split(",") for row in Path("found.csv").read_text().splitlines()[1:]]
    assert {frozenset(((a, b), (c, d))) for a, b, c, d in rows} == {frozenset(link) for link in there}
    ran = run("as-built", "new.json", "--csv", last, "--window", "2")
    assert ran.code == 2 and "no such window of the migration; found 2; allowed: 0 to 1" in ran.err
