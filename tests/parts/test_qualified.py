"""Qualified pairs: which parts go into which devices, as a rule and as a file; against brute force."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from fabopt.errors import InputError
from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.oracles.brute_force import solve
from tests.samples.adapter import run
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, catalog, inputs, solved, usd

CHECK = "pairs_are_qualified"
# Brute force over two attachments takes minutes here; they are two in seed 203.
SLOW = ("attached", 204)


def some_pairs(parts: Json, server: str, dice: random.Random) -> dict[str, list[str]]:
    """Lists of most of the parts, for about half of the devices."""
    devices = [one["id"] for kind in ("switches", "nics") for one in parts[kind]] + [server]
    plugged = [one["id"] for kind in ("transceivers", "cables") for one in parts.get(kind, ())]
    named = [device for device in devices if dice.random() < 0.6]
    return {device: sorted(dice.sample(plugged, max(1, len(plugged) - dice.randint(1, 2)))) for device in named}


def cents(parts: Json, wanted: Json, pairs: dict[str, list[str]]) -> int | None:
    """Cents of the design, every check of which holds; None where there is none."""
    content = run(parts, {**wanted, "procurement": {"qualified": pairs}} if pairs else wanted)
    assert [check for check in content["checks"] if not check["ok"]] == []
    if pairs and content["status"] != "infeasible":
        assert CHECK in {check["name"] for check in content["checks"]}
    return None if content["status"] == "infeasible" else round(content["totals"]["capex_usd"] * 100)


@pytest.mark.long(but_every=5)
@pytest.mark.long("hosted-201", "hosted-202", "attached-205", "hosted-204")
@pytest.mark.parametrize("seed", range(200, 206))
@pytest.mark.parametrize("family", ["linear", "hosted", "attached"])
def test_pairs_leave_what_brute_force_is_left(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    wanted["objective"] = "capex_usd"
    wanted.pop("procurement", None)
    if (family, seed) == SLOW:
        wanted["fabrics"][0]["attachments"] = wanted["fabrics"][0]["attachments"][:1]
    pairs = some_pairs(parts, wanted["server"], random.Random(seed))
    best = solve(parts, {**wanted, "procurement": {"qualified": pairs}})
    found = cents(parts, wanted, pairs)
    assert found == (None if best is None else best.capex_cents), (pairs, wanted)


@pytest.mark.long(but=("220",))
@pytest.mark.parametrize("seed", range(220, 223))
def test_more_rows_are_never_dearer(seed: int) -> None:
    parts, wanted = generate("linear", seed)
    wanted["objective"] = "capex_usd"
    dice = random.Random(seed)
    pairs = some_pairs(parts, wanted["server"], dice)
    plugged = [one["id"] for kind in ("transceivers", "cables") for one in parts.get(kind, ())]
    more = {device: sorted({*listed, dice.choice(plugged)}) for device, listed in pairs.items()}
    few, many, free = (cents(parts, wanted, rows) for rows in (pairs, more, {}))
    assert (free or 0) <= (many if many is not None else float("inf"))
    assert many is not None or few is None
    assert few is None or (many or 0) <= few


def without_cables() -> Json:
    """The catalog with cables that have no price, so that all links are optical."""
    parts = catalog()
    for cable in parts["cables"]:
        cable["lengths"] = [{"m": length["m"]} for length in cable["lengths"]]
    return parts


def restricted() -> Json:
    """A case in which the cheapest module does not go into switches."""
    return case(procurement={"qualified": {one: ["dr4", "dac", "aoc"] for one in ("large", "lean", "small")}})


def test_the_rule_decides_and_pruning_keeps_it() -> None:
    parts = without_cables()
    free, held = solved(case(), parts), solved(restricted(), parts)
    assert_proven(held)
    assert "dr4-hot" in used(free) and "dr4-hot" not in used(held)
    assert usd(held) > usd(free)
    assert usd(solved(restricted(), parts, prune=False)) == usd(held)


def used(design: Design) -> set[str]:
    return {row.id for row in design.bom}


def test_what_the_rule_costs_is_told() -> None:
    parts = without_cables()
    design = optimize.solve(inputs(restricted(), parts), alternatives_s=60)
    told = {row.value: row for row in design.alternatives if row.what == "sourcing"}
    saved = usd(design) - usd(solved(case(), parts))
    assert told["without procurement.qualified"].capex_delta_usd == pytest.approx(-saved)


def test_where_nothing_is_left_the_advice_names_the_rule() -> None:
    design = solved(case(procurement={"qualified": {one: ["splitter"] for one in ("large", "lean", "small")}}))
    assert design.status == "infeasible"
    assert "procurement.qualified" in str(design.conflicts)


def test_a_file_with_other_parts_is_refused() -> None:
    parts = without_cables()
    design = solved(case(procurement={"qualified": {"nic-400": ["dr4-nic"], "nic-200": ["dr4-nic"]}}), parts)
    assert_proven(design)
    content = {**design.case.content, "procurement": {**design.case.content["procurement"]}}
    content["procurement"]["qualified"] = {"nic-400": ["dr4"], "nic-200": ["dr4"]}
    changed = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert CHECK in {check.name for check in verify(changed) if not check.ok}


# -- files ----------------------------------------------------------------------------------------------------------


def read(folder: Path, rows: str | bytes, name: str = "matrix.csv", monkey: Any = None) -> Any:
    """The inputs of a case that names a file with these rows."""
    (folder / name).write_bytes(rows.encode() if isinstance(rows, str) else rows)
    monkey.chdir(folder)
    return inputs_from_objects(case(procurement={"qualified": f"./{name}"}), catalog())


def test_a_matrix_is_read_with_patterns_and_remarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "Switch;Part number;Max length m\nlarge;dr4*;500\nLARGE;DAC;3\nnic-4*;dr4-nic;\n"
    found = read(tmp_path, rows, monkey=monkeypatch)
    assert found.case.procurement.qualified == {
        "large": ("dac", "dr4", "dr4-hot", "dr4-nic"),
        "nic-400": ("dr4-nic",),
    }
    assert any("Max length m" in note for note in found.notes)


def test_a_workbook_says_the_same_as_its_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sheets, a cell that is a number and an empty row are read as they are shown."""
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    for row in (["Switch", "Part number", "Max length m"], ["large", "dr4*", 500], [], ["LARGE", "DAC", 3]):
        first.append(row)
    second = book.create_sheet("NICs")
    second.append(["NIC", "Module"])
    second.append(["nic-4*", "dr4-nic"])
    stream = io.BytesIO()
    book.save(stream)
    found = read(tmp_path, stream.getvalue(), name="matrix.xlsx", monkey=monkeypatch)
    assert found.case.procurement.qualified == {
        "large": ("dac", "dr4", "dr4-hot", "dr4-nic"),
        "nic-400": ("dr4-nic",),
    }
    assert all(check.ok for check in verify(optimize.solve(found, alternatives_s=0)))


def test_the_answer_has_the_pairs_and_names_other_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(tmp_path, "device,part\nnic-400,dac\nnic-400,dr4-nic\n", monkey=monkeypatch)
    design = optimize.solve(found, alternatives_s=0)
    (tmp_path / "matrix.csv").unlink()
    assert all(check.ok for check in verify(design))
    switches = {tier.id for tier in design.fabrics[0].tiers}
    (note,) = (text for text in design.notes if "procurement.qualified" in text)
    assert all(switch in note for switch in switches)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("", "the file is empty"),
        ("device,part\n", "there is no row with a device and a part"),
        (b"\x00\x01\x02\x03", "this is not a text file"),
        (b"PK\x03\x04junk", "this is a workbook under another name"),
        ("name,price\nlarge,3\n", "no columns for the device"),
        ("device,part,cable\nlarge,dr4,dac\n", "2 columns for the part"),
        ("device,part\nlarge,\n", "line 2: part: the row names no part"),
        ("device,part\nlarge,dr44\n", "did you mean `dr4`?"),
        ("device,part\nlarg,dr4\n", "line 2: device: the catalog has no such product; found 'larg'"),
        ("device,part\ndr4,large\n", "a switch, NIC or server"),
        ("device,part\nlarge,mpo\n", "mpo is no such product"),
        ("device,part\nlarge,zz*\n", "`*` stands for any letters"),
    ],
)
def test_bad_files_are_refused(rows: str | bytes, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, rows, monkey=monkeypatch)
    assert told in str(refused.value)
    assert "matrix.csv" in str(refused.value)


def test_pairs_in_the_case_are_looked_up_too() -> None:
    with pytest.raises(InputError, match=r"procurement\.qualified\.large\[0\].*dr44"):
        inputs(case(procurement={"qualified": {"large": ["dr44"]}}))
    with pytest.raises(InputError, match="no such file"):
        inputs(case(procurement={"qualified": "./nothing.csv"}))
