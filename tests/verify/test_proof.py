"""How a rule reports: what the file says is told on one line, and not at any length."""

from __future__ import annotations

import pytest

from fabopt.verify import rules
from fabopt.verify.proof import QUESTIONS, UNPROVABLE, Proof, applies, as_check


def test_what_a_file_says_cannot_look_like_a_line_of_the_report() -> None:
    proof = Proof()
    proof.equal("case.name", "pod\nok    all checks hold", "pod")
    proof.holds(False, f"{'x' * 1000}\x1b[2J")
    detail = as_check("content_matches_hash", proof, "compute").detail
    assert detail.isprintable() and len(detail) < 400
    assert detail.startswith(r"compute: case.name is pod\nok    all checks hold, recomputed pod; xxx")


def test_what_was_counted_is_told_whole() -> None:
    proof = Proof()
    proof.note("4 leaves, " * 100)
    assert as_check("leaves", proof).detail == "4 leaves, " * 100


class Unreadable:
    """Evidence of a file of which nothing can be told."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __getattr__(self, name: str) -> object:
        raise self.error(name)


@pytest.mark.parametrize("error", UNPROVABLE)
def test_a_rule_applies_where_it_cannot_be_told_whether_it_does(error: type[BaseException]) -> None:
    """So that it is evaluated, and fails: no file escapes a rule by what cannot be read. All questions are asked."""
    assert len(QUESTIONS) > 30
    assert [rule for rule in QUESTIONS if not applies(rule, Unreadable(error))] == []


def test_every_question_is_of_a_rule_that_is_asked() -> None:
    listed = {rule for table in vars(rules).values() if isinstance(table, tuple) for rule in table}
    assert set(QUESTIONS) <= listed
