"""The tasks of docs/contributing.md do what the page says: its code is put where it says, and its tests are run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fabopt.output.export
from fabopt.output.export import formats
from fabopt.output.export.formats import Options, export
from fabopt.program import formulation, naming
from fabopt.schema.design import Design
from fabopt.schema.version import VERSION
from fabopt.verify import proof, rules, structure, verify
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring
from tests.paths import ROOT
from tests.samples import export_samples, small

PAGE = ROOT / "docs" / "contributing.md"
RULE, FORMAT = "spines_are_no_more_than_leaves", "neighbours"
MOST_FILES = 5
LATER_ANNOTATIONS = "from __future__ import annotations\n"


def code_of(section: str) -> list[str]:
    """The blocks of Python in a section of the page."""
    text = PAGE.read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_every_task_touches_at_most_five_files() -> None:
    sections = [section for section in PAGE.read_text().split("\n## ") if "\n| file |" in section]
    files = [re.findall(r"^\| (?!file|---)", section, re.MULTILINE) for section in sections]
    assert len(files) == 3 and all(1 < len(rows) <= MOST_FILES for rows in files)


def run_in(module: dict[str, Any], code: str) -> dict[str, Any]:
    """What a module would hold with some code added."""
    namespace = dict(module)
    exec(LATER_ANNOTATIONS + code, namespace)
    return namespace


def test_the_rule_decides_and_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    of_program, of_verifier, of_tests = code_of("Add a rule about a tier of switches")
    monkeypatch.setattr(naming, "_MARKED", dict(vars(naming)["_MARKED"]))
    added = run_in(vars(formulation), of_program)[RULE]
    monkeypatch.setitem(proof.BROUGHT, VERSION, set(proof.BROUGHT[VERSION]))
    check = run_in({**vars(structure), "since": proof.since}, of_verifier)[RULE]
    assert RULE in proof.BROUGHT[VERSION]
    written = run_in({**vars(small), "verify": verify}, of_tests)
    content = small.case({"switches": {"leaf": ["large"]}})
    without = small.counts(small.solved(content, written["with_mini"]()))
    assert without["spine"] > without["leaf"], "the case is none that the rule decides"
    monkeypatch.setattr(formulation.Program, RULE, added, raising=False)
    monkeypatch.setattr(rules, "FABRIC_RULES", (*rules.FABRIC_RULES, check))
    tests = [value for name, value in written.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()


def test_the_format_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    of_format, of_tests = code_of("Add an export format")
    known = {"json": json, "Path": Path, "Design": Design, "Wiring": Wiring, "Options": Options, "FILE": "a.json"}
    module = ModuleType(f"fabopt.output.export.{FORMAT}")
    vars(module).update(run_in(known, of_format))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(formats, "FORMATS", (*fabopt.output.export.FORMATS, FORMAT))
    known = {**vars(export_samples), "json": json, "pytest": pytest, "export": export, "wiring_of": wiring_of}
    written = run_in({**known, "Path": Path, "Options": Options}, of_tests)
    for name in export_samples.CASES:
        (tmp_path / name).mkdir()
        written["test_every_link_is_there_from_both_ends"](name, tmp_path / name)
