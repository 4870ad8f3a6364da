"""How a rule reports: what the file says is told on one line, and not at any length."""

from __future__ import annotations

from fabopt.verify.proof import Proof, as_check


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
