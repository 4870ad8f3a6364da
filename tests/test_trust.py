"""The command that counts what promises came to: what it writes, and how it ends where one was not kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import trust
from tests.mutations import OTHER, class_of


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
