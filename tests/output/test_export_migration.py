"""Every step of a migration can be done, no server loses two rails, and the last state is the design."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from fabopt.errors import InputError
from fabopt.output.export.cables import point_to_point
from fabopt.output.export.formats import Options, export
from fabopt.output.terminal.answer import leading_notes
from fabopt.output.terminal.first_screen import first_rows
from fabopt.schema.design import Design
from fabopt.wiring.build import wiring_of
from fabopt.wiring.migration import LAY, MIGRATION, PLUG, TAKE_OUT, UNPLUG, Migration
from fabopt.wiring.model import KINDS
from tests.samples.bases import designed
from tests.samples.export_samples import solved
from tests.samples.growth_samples import eight
from tests.samples.moves import FREE, moved
from tests.samples.random_cases import Dice
from tests.solution.test_in_service import a_base, in_stages
from tests.solution.test_moves import bases, staged

Rows = list[dict[str, str]]
End = tuple[str, str]


def migrated(design: Design, folder: Path) -> dict[str, Rows]:
    tables = {}
    for path in export(design, wiring_of(design), ["migration"], folder, Options()):
        with path.open(newline="") as lines:
            tables[path.stem] = list(csv.DictReader(lines))
    return tables


def points(rows: Rows) -> set[tuple[End, End]]:
    return {((row["A-Node Name"], row["A-Port"]), (row["Z-Node Name"], row["Z-Port"])) for row in rows}


def of_wiring(design: Design) -> set[tuple[End, End]]:
    return points(point_to_point(wiring_of(design)).to_dict("records"))


def most_lost(cabled: set[tuple[End, End]], base: set[tuple[End, End]]) -> int:
    """Most ports of a server in service that are unplugged, or apart from the most of their name."""
    graph = nx.Graph((a, b) for (a, _), (b, _) in cabled if not a.startswith("server"))
    leaves = {a: b for a, (b, _) in cabled if a[0].startswith("server")}
    graph.add_nodes_from(leaves.values())
    part = {name: number for number, names in enumerate(nx.connected_components(graph)) for name in names}
    rails = [a for a, _ in base if a[0].startswith("server")]
    lost: Counter[str] = Counter()
    for port in {port for _, port in rails}:
        plugged = [server for server, name in rails if name == port and (server, port) in leaves]
        parts = {server: part[leaves[server, port]] for server in plugged}
        best = Counter(parts.values()).most_common(1)[0][0] if parts else None
        lost.update(server for server, name in rails if name == port and (best is None or parts.get(server) != best))
    return max(lost.values(), default=0)


def assert_can_be_done(design: Design, base: Design, folder: Path) -> dict[str, Rows]:
    """The steps from the base to the design, each done."""
    tables, there = migrated(design, folder), of_wiring(base)
    cabled, by_step = set(there), dict[int, Rows]()
    for row in tables["steps"]:
        by_step.setdefault(int(row["step"]), []).append(row)
    assert points(tables["after-00"]) >= there
    window = 0
    for number in sorted(by_step):
        rows = by_step[number]
        if int(rows[0]["window"]) > window:
            assert cabled == points(tables[f"after-{window:02d}"])
            window = int(rows[0]["window"])
        links = {((row["from_device"], row["from_port"]), (row["to_device"], row["to_port"])) for row in rows}
        if rows[0]["act"] in ("unplug", "take out"):
            assert links <= cabled
            cabled -= links
        else:
            assert Counter(port for link in cabled | links for port in link).most_common(1)[0][1] == 1
            cabled |= links
        lost = most_lost(cabled, there)
        assert lost <= 1 and int(rows[0]["rails_lost"]) == lost
    assert cabled == of_wiring(design) == points(tables[f"after-{window:02d}"])
    return tables


def test_half_of_the_uplinks_move_leaf_by_leaf(tmp_path: Path) -> None:
    """What is new is laid first; each of four cables is unplugged and plugged in again; then its ports are free."""
    base = designed(eight(), in_stages(8))
    design = moved(eight(), in_stages(12), base, tmp_path, {"cable": 10})
    tables = assert_can_be_done(design, base, tmp_path)
    acts = Counter(row["act"] for row in tables["steps"])
    assert acts == {"lay": 4 + 4, "unplug": 4, "plug": 4}
    assert {row["window"] for row in tables["steps"] if row["act"] != "lay"} == {"1"}
    minutes = [int(row["minute"]) for row in tables["steps"] if row["act"] == "plug"]
    assert minutes == [0, 20, 40, 60]


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", bases(16))
def test_any_small_base_is_taken_apart_in_order(seed: int, tmp_path: Path) -> None:
    parts, before, after = a_base(Dice(f"migration-{seed}"))
    base = designed(parts, before)
    design = moved(parts, after, base, tmp_path, FREE) if base.status == "optimal" else base
    if design.status == "optimal" and base.status == "optimal":
        assert_can_be_done(design, base, tmp_path)


def test_without_a_base_nothing_migrates(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing is in service"):
        migrated(solved("plain"), tmp_path)


def test_cables_that_exchange_their_ports_move_one_after_the_other() -> None:
    """Uplinks change ends at random, and a tenth are others: in every cycle one cable waits unplugged; no port has two
    cables, and no server loses a rail.
    """
    base = wiring_of(designed(eight(), in_stages(24)))
    links, names, dice = base.links, list(base.cables.name), Dice("exchanged")
    rows = np.flatnonzero(links.kind == KINDS.index("leaf-spine"))
    ends, order = (
        {end: getattr(links, end).copy() for end in ("b", "b_cage", "b_lane")},
        dice.random.sample(rows.tolist(), len(rows)),
    )
    for end, column in ends.items():
        column[rows] = getattr(links, end)[order]
    others = set(links.cable[rows[::10]].tolist())
    for cable in others:
        names[cable] = f"new {names[cable]}"
    wiring = replace(base, links=replace(links, **ends), cables=replace(base.cables, name=names))
    migration = Migration(base, wiring)
    taken, cabled = Counter[End](), dict(migration.old)
    taken.update(port for cable in cabled.values() for port in cable.ports)
    for step in migration.steps:
        if step.act in (UNPLUG, TAKE_OUT):
            taken.subtract(cabled.pop(step.cable.name).ports)
        else:
            cabled[step.cable.name] = step.cable
            taken.update(step.cable.ports)
        assert max(taken.values()) == 1 and step.lost == 0
    acts = Counter(step.act for step in migration.steps)
    assert cabled == migration.new and acts[UNPLUG] == acts[PLUG] and acts[TAKE_OUT] == acts[LAY] == len(others)
    moved_now = [name for name, cable in migration.old.items() if migration.new.get(name, cable) != cable]
    assert acts[PLUG] == len(moved_now) > 12


def test_an_answer_without_an_order_of_moves_says_so_and_what_to_do(tmp_path: Path) -> None:
    """Two servers with both ports on a switch that is taken out: whatever comes first, one loses both."""
    parts, content = staged("staged", 0)
    first, last = ({**content, "stages": [{**content["stages"][at], "month": 0}]} for at in (0, -1))
    design = moved(parts, last, designed(parts, first), tmp_path, FREE)
    (note,) = (note for note in design.notes if note.startswith(MIGRATION))
    assert "a server is then without 2 rails" in note and "`base.keep`" in note
    (row,) = (row for row in first_rows(design) if row.label == "Migration")
    assert row.words == note.removeprefix(f"{MIGRATION} ") and note in leading_notes(design)
    with pytest.raises(InputError, match="no order of moves was found"):
        migrated(design, tmp_path)
