"""Files that are made to fill the memory: values are counted, and validation ends where more is wrong than is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.io.batches import MOST_VALUES, batches
from fabopt.io.design import read_design_or_front
from fabopt.io.faults import MAX_FAULTS
from fabopt.io.library import DEVICE, MAX_VALUES
from fabopt.output.export.design import design_bytes
from fabopt.output.words import json_bytes
from fabopt.schema.design import Design
from tests.mutations import document_of
from tests.paths import INPUTS
from tests.samples.designs_of_families import designed

MOST_MB = 500
# Small files that are large once they are objects: by what is in them.
LARGE: dict[str, Callable[[], str]] = {
    "points that are lists": lambda: '{"points":[' + "[]," * 300_000 + "[]]}",
    "more lists than may be": lambda: '{"points":[' + "[]," * 1_000_000 + "[]]}",
    "points without anything": lambda: '{"points":[' + "{}," * 500_000 + "{}]}",
    "parts": lambda: '{"fabopt":"0.3.0","parts":{' + ",".join(f'"{number}":{{}}' for number in range(600_000)) + "}}",
    "lines of a bill": lambda: '{"fabopt":"0.3.0","bom":[' + '{"a":1},' * 300_000 + "{}]}",
    "words": lambda: '{"notes":[' + '"ab",' * 1_400_000 + '""]}',
    "brackets": lambda: "[" * 3_000_000,
}
MEASURED = (
    "import re, sys; from fabopt.cli import main; code = main(sys.argv[1:]);"
    # not ru_maxrss, which has the size of the process that started this one
    r"print(int(re.search(r'VmHWM:\s*(\d+)', open('/proc/self/status').read())[1]) // 1024); sys.exit(code)"
)


def refusal(path: Path) -> list[str]:
    with pytest.raises(InputError) as refused:
        read_design_or_front(path)
    return str(refused.value).splitlines()


@pytest.mark.long(but=("brackets",))
@pytest.mark.parametrize("what", LARGE)
def test_no_file_takes_much_memory(what: str, tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text(LARGE[what]())
    command = [sys.executable, "-c", MEASURED, "check", "large.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and len(lines) <= MAX_FAULTS + 1 and "internal" not in done.stderr
    assert int(done.stdout) < MOST_MB


@pytest.mark.long("100")
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are kept on Linux alone")
@pytest.mark.parametrize("more_mb", [40, 100])
def test_memory_that_ends_while_reading_is_told(more_mb: int, tmp_path: Path) -> None:
    """Exit 2, whether it ends where values are made or where native code would validate them."""
    (tmp_path / "large.json").write_text('{"notes":[' + '"ab",' * 1_000_000 + '""]}')
    limited = (
        "import resource, sys; from fabopt.cli import main, app;"
        "import fabopt.cli.solving, fabopt.cli.evidence, fabopt.verify;"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize();"
        f"resource.setrlimit(resource.RLIMIT_AS, (used + {more_mb} * 2**20,) * 2); sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", limited, "check", "large.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.returncode, "memory ended while the input was read" in done.stderr) == (2, True), done.stderr


LINK_COLUMNS = "A-Node Name,A-Port,Z-Node Name,Z-Port\n"
ROW = "  8  2  float  sum  -1  100.0  300.0  375.0  0  100.0  300.0  375.0  0\n"


def rows(count: int) -> str:
    """A table of so many cables, no two of them alike."""
    cables = (f"l{link // 64},swp{link % 64},s{link % 997},swp{link // 997}\n" for link in range(count))
    return LINK_COLUMNS + "".join(cables)


def cables_of_an_api(count: int) -> str:
    """So many cables as NetBox lists them."""

    def ends(device: str, port: int) -> list[dict[str, object]]:
        return [{"object": {"device": {"name": device}, "name": f"swp{port}"}}]

    return json.dumps(
        [
            {"a_terminations": ends(f"l{link // 64}", link % 64), "b_terminations": ends(f"s{link}", 1)}
            for link in range(count)
        ]
    )


# Files that others send, as long as may be or longer, and what they are given as.
LISTS: dict[str, tuple[str, Callable[[], str]]] = {
    "rows of cables": ("csv", lambda: rows(199_000)),
    "rows of links": ("p2p", lambda: rows(690_000)),
    "more rows than may be": ("csv", lambda: LINK_COLUMNS + "a,1,b,1\n" * 3_000_000),
    "letters that are wide": ("p2p", lambda: f"{LINK_COLUMNS}\N{GRINNING FACE}" + "a,1,b,1\n" * 690_000),
    "a graph on one line": ("dot", lambda: "graph g {" + "a:1--b:1;" * 3_000_000 + "}"),
    "cables of an API": ("netbox", lambda: cables_of_an_api(120_000)),
    "lists in lists": ("netbox", lambda: '{"cables":[' + "[]," * 6_000_000 + "[]]}"),
    "rows of a test": ("accept", lambda: "# all_reduce_perf\n" + ROW * 199_000),
    "values of a report": ("accept", lambda: '{"results":[' + "1234567," * 3_900_000 + "1]}"),
    "nodes of a plan": ("plan", lambda: "devices:\n" + "- {name: a}\n" * 490_000),
}


@pytest.mark.long
@pytest.mark.parametrize("what", LISTS)
def test_no_list_of_others_takes_much_memory(what: str, tmp_path: Path) -> None:
    """Read or refused in a sentence, whatever is in it."""
    kind, text = LISTS[what]
    (tmp_path / "list").write_text(text())
    (tmp_path / "design.json").write_bytes(design_bytes(designed("clos, two tiers")))
    words = {
        "csv": ("as-built", "design.json", "--csv", "list"),
        "accept": ("accept", "design.json", "list"),
        "plan": ("check", "list", "--design", "design.json"),
    }.get(kind, ("audit", "list", "--as", kind, "--claimed", "1:1"))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *words], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode in (0, 1, 2) and "internal" not in done.stderr
    assert int(done.stdout.split()[-1]) < MOST_MB


def test_what_is_wrong_in_a_large_file_is_told_where_it_is(tmp_path: Path) -> None:
    """Three wrong entries far apart, of which the last is beyond what is validated at once."""
    document = document_of(designed("clos, two tiers"))
    row = document["bom"][0]
    document["bom"] = [dict(row) for _ in range(3000)]
    for number in (0, 1500, 2999):
        document["bom"][number]["quantity"] = "many"
    del document["status"]
    (tmp_path / "design.json").write_text(json.dumps(document))
    told = refusal(tmp_path / "design.json")
    assert len(document["bom"]) * len(row) > MOST_VALUES and len(told) == 4
    for place in ("bom[0].quantity", "bom[1500].quantity", "bom[2999].quantity", "status: this key is required"):
        assert sum(f"design.json: {place}" in line for line in told) == 1, place


@pytest.mark.long
def test_batches_hold_every_entry_once_in_its_place() -> None:
    content: dict[str, Any] = {
        "name": "x",
        "rows": [{"number": number} for number in range(30_000)],
        "points": [{"parts": {f"k{number}": number for number in range(25_000)}}, {"parts": {}}, 7],
    }
    seen: list[tuple[object, ...]] = []
    for batch in batches(content):
        assert batch.content["name"] == "x"
        entries = batch.content
        for step in batch.place:
            entries = entries[step]
        pairs = entries.items() if isinstance(entries, dict) else enumerate(entries)
        seen += [batch.whole((*batch.place, step)) for step, _ in pairs]
    rows = [steps for steps in seen if steps[0] == "rows" and len(steps) == 2]
    parts = [steps for steps in seen if steps[:3] == ("points", 0, "parts") and len(steps) == 4]
    assert sorted(rows) == [("rows", number) for number in range(30_000)]
    assert sorted(parts) == sorted(("points", 0, "parts", f"k{number}") for number in range(25_000))
    assert list(batches({"few": [1, 2]})) == []


def test_a_large_design_that_is_right_is_read(tmp_path: Path) -> None:
    document = document_of(designed("clos, two tiers"))
    document["notes"] = [f"note {number}" for number in range(2 * MOST_VALUES)]
    (tmp_path / "design.json").write_text(json.dumps(document))
    design = read_design_or_front(tmp_path / "design.json")
    assert isinstance(design, Design) and len(design.notes) == 2 * MOST_VALUES < MAX_VALUES
    assert TypeAdapter(tuple[str, ...]).validate_python(design.notes)


def test_keys_beside_lists_that_are_large_together_are_not_missed(tmp_path: Path) -> None:
    """Neither list is large by itself: the keys after the second are in another batch than those before."""
    document = document_of(designed("clos, two tiers"))
    row, many = document["bom"][0], MOST_VALUES * 3 // 4
    large = {"notes": [f"note {number}" for number in range(many)], "bom": [dict(row) for _ in range(many // len(row))]}
    document = {**large, **{key: value for key, value in document.items() if key not in large}}
    (tmp_path / "design.json").write_text(json.dumps(document))
    design = read_design_or_front(tmp_path / "design.json")
    assert isinstance(design, Design) and len(design.notes) == many < MOST_VALUES
    del document["status"]
    (tmp_path / "design.json").write_text(json.dumps(document))
    assert ["status: this key is required" in line for line in refusal(tmp_path / "design.json")] == [True]


COMMANDS = [
    ["check", "PIPE"],
    ["solve", "PIPE"],
    ["bom", "PIPE", "-o", "b.csv"],
    ["report", "PIPE", "-o", "p.html"],
    ["export", "PIPE", "--to", "cables", "-o", "x"],
    ["accept", "PIPE", "PIPE"],
    ["as-built", "PIPE", "--lldp", "PIPE"],
    ["audit", "PIPE", "--as", "p2p"],
    ["quote", "import", "PIPE", "-o", "b.yaml"],
    ["catalog", "check", "PIPE"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_pipes_are_refused(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing waits for what may never come."""
    monkeypatch.chdir(tmp_path)
    ending = {"quote": ".csv", "solve": ".yaml", "catalog": ".yaml"}.get(command[0], ".json")
    name = f"pipe{ending}"
    os.mkfifo(name)
    words = [name if word == "PIPE" else word for word in command]
    if command[0] == "catalog":
        words[-1] = f"./{name}"
    assert main(words) == 2
    assert DEVICE in capsys.readouterr().err


@pytest.mark.parametrize("ratio", ["1:0", "0:1", "2abc", "1:-1", "1e999", "nan", "2:1:1", "", "1:", "9" * 400])
def test_ratios_are_matched_whole(ratio: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(INPUTS / "ratio-zero.csv"), "--as", "counts", "--claimed", ratio]) == 2
    assert "--claimed: not a ratio" in capsys.readouterr().err


@pytest.mark.parametrize(("ratio", "code"), [("1:0", 2), ("2abc", 2), ("1e999", 2), ("1:1", 0)])
def test_ratios_in_files_are_matched_whole(ratio: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text((INPUTS / "ratio-zero.csv").read_text() + f"oversubscription,{ratio}\n")
    assert main(["audit", str(path), "--as", "counts"]) == code


@pytest.mark.parametrize("letter", ["\x1b", "\x9b", "\u202e", "\u2066", "\U000e0041", "\x00"])
def test_json_of_findings_has_no_letter_that_cannot_be_printed(letter: str) -> None:
    """They are escaped, so that the content stays what it is."""
    content = {"device": f"leaf{letter}[31m", "seen": ["Köln 東京", 3]}
    written = json_bytes(content)
    assert json.loads(written) == content and written.decode().replace("\n", "").isprintable()
    assert "Köln 東京" in written.decode()
