"""Keys of a text are set and taken out; all else of it stays as it was written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from fabopt.errors import InputError
from fabopt.io.text import parse_yaml
from fabopt.studio.edit import edited
from tests.paths import ROOT

TEXT = """\
# at the top
name: small  # what it is called
server: x
stages:  # growth
  - {name: day-1, servers: 8}
  - name: later   # more
    servers: 16
fabrics:
  - name: compute
    # the next one matters
    switches: {leaf: any, spine: [a, b]}
    planes: 1

  - name: storage
site:
  floor:
    rows: 2
# at the end
"""


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("name", "other", "name: small ", "name: other "),
        ("servers", 4, "# at the end", "# at the end"),
        ("fabrics[0].planes", 2, "planes: 1", "planes: 2"),
        ("fabrics.compute.planes", [1, 2], "planes: 1", "planes: [1, 2]"),
        ("fabrics[0].planes", None, "    planes: 1\n", ""),
        ("fabrics[0].switches.leaf", ["q"], "leaf: any", "leaf: [q]"),
        ("fabrics[0].switches.core", "c", "[a, b]}", "[a, b], core: c}"),
        ("fabrics[0].switches.leaf", None, "leaf: any, ", ""),
        ("stages[1].servers", 32, "servers: 16", "servers: 32"),
        ("stages[0].servers", 9, "servers: 8", "servers: 9"),
        ("site.floor.rows", 3, "rows: 2", "rows: 3"),
        ("site.floor.racks_per_row", 8, "rows: 2\n", "rows: 2\n    racks_per_row: 8\n"),
        ("limits.budget_usd", 5, "rows: 2\n", "rows: 2\nlimits: {budget_usd: 5}\n"),
    ],
)
def test_only_what_is_asked_changes(key: str, value: Any, old: str, new: str) -> None:
    changed = edited(TEXT, key, value)
    expected = TEXT.replace(old, new)
    if key == "servers":
        expected = TEXT.replace("rows: 2\n", "rows: 2\nservers: 4\n")
    assert changed == expected


WORDS = st.sampled_from(["x", "yes", "1", "null", "a b", "a: b", "#c", "[", "é", "", "2026-01", "- d", "~", "'", '"'])
SCALARS = st.one_of(WORDS, st.integers(-5, 5), st.booleans(), st.floats(-1e6, 1e6, allow_nan=False))
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(WORDS, SCALARS, max_size=2))
KEYS = st.sampled_from(
    ["name", "description", "fabrics[0].planes", "fabrics[1].name", "fabrics[0].switches.leaf", "fabrics[0].switches",
     "stages[0].servers", "stages[1].name", "stages[1].servers", "stages", "site.floor.rows", "site.floor", "site",
     "limits.power_w", "fabrics[2].name", "stages[2]", "fabrics[1]", "fabrics[0].nics", "rules.lengths"]
)  # fmt: skip


@given(st.lists(st.tuples(KEYS, st.one_of(st.none(), VALUES)), min_size=1, max_size=4))
def test_texts_mean_what_was_set(edits: list[tuple[str, Any]]) -> None:
    """Whatever is set or taken out: the text that comes back means it, or the edit is refused in words."""
    text = TEXT
    for key, value in edits:
        try:
            changed = edited(text, key, value)
        except InputError as error:
            assert error.faults
            continue
        parse_yaml(changed.encode(), "")
        assert "# at the top" in changed
        text = changed


@pytest.mark.parametrize("path", sorted((ROOT / "cases").glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_cases_can_be_changed(path: Any) -> None:
    """A key that is there set to another value, one that is not added, and both taken back."""
    text = path.read_text()
    content = parse_yaml(text.encode(), "")
    for key, value in (("name", "other"), ("limits.budget_usd", 5), ("fabrics[0].name", "n"), ("server", None)):
        changed = edited(text, key, value)
        kept = [line for line in text.splitlines() if line.lstrip().startswith("#")]
        assert [line for line in changed.splitlines() if line.lstrip().startswith("#")] == kept
    back = edited(edited(text, "name", "other"), "name", content["name"])
    assert parse_yaml(back.encode(), "") == content


def test_the_fabric_of_a_case_that_names_none_is_written_down() -> None:
    text = "name: small  # alone\nserver: x\n"
    for key in ("fabrics[0].planes", "fabrics.0.planes", "fabrics.compute.planes"):
        assert edited(text, key, 2) == f"{text}fabrics: [{{name: compute, planes: 2}}]\n"
        assert edited(text, key, None) == text
    with pytest.raises(InputError):
        edited(text, "fabrics.storage.planes", 2)
