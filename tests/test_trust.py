"""The command that counts what promises came to: what it writes, and how it ends where one was not kept."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests import trust
from tests.mutations import OTHER, class_of
from tests.samples.designs_of_families import MAKERS


@pytest.mark.parametrize("holds", [True, False])
def test_a_broken_promise_is_exit_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holds: bool) -> None:
    page = tmp_path / "trust.md"
    page.write_text("before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n")
    found = [trust.Found("a | b"), trust.Found("c | d", holds)]
    monkeypatch.setattr(trust, "PAGE", page)
    monkeypatch.setattr(trust, "everything", lambda items, number, kills: found)
    monkeypatch.setattr(sys, "argv", ["trust", "--items", "7"])
    assert trust.main() == (0 if holds else 1)
    text = page.read_text()
    assert "old" not in text and "--items 7 --changes 2000" in text and "| a | b |\n| c | d |\n" in text


@pytest.mark.long
def test_wrong_inputs_and_changes_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the table says them: an item has a command at least, and each kind of design one change."""
    monkeypatch.chdir(tmp_path)
    fuzzed, changed = trust.fuzzed(1), trust.changed(len(MAKERS))
    assert re.fullmatch(r"1 wrong inputs, \d+ commands \(exit .+\) \| 0 broken promises", fuzzed.line)
    assert changed.line.startswith(f"{len(MAKERS)} single changes of designs of {len(MAKERS)} kinds")
    assert fuzzed.holds and changed.holds


@pytest.mark.long
@pytest.mark.parametrize("with_cluster", [False, True])
def test_kills_are_counted(with_cluster: bool) -> None:
    found = trust.killed(1, with_cluster)
    assert found.holds and found.line.startswith("1 kills of a sweep of 64 points ")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("parts.leaf.cages.#.count", "facts of parts"),
        ("case.content.limits.power_w", "room that the case leaves"),
        ("notes.#", "stated by the search"),
        ("checks.#.ok", "stored checks"),
        ("fabrics.#.links.#.stages", OTHER),
        ("bom.#.quantity", OTHER),
    ],
)
def test_changes_have_a_class(place: str, words: str) -> None:
    assert class_of(place) == words
