"""Answers of shipped cases against those of another commit: ``python -m tests.answers COMMIT [CASE ...]``.

Where status or bill differ, what makes the difference is looked for: each default rule is turned off alone, then the
catalog of the commit is taken. A change that gives the other purchase price is named. A line a case.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fabopt.rules.defaults import DEFAULT_RULES
from tests.paths import ROOT

CASES = ROOT / "cases"


class Answer(NamedTuple):
    """What a solve says: status, purchase price in dollars (None without a design), and how many of what are bought."""

    status: str
    capex_usd: float | None
    bill: Counter[tuple[str, str, str]]

    def __str__(self) -> str:
        return self.status if self.capex_usd is None else f"{self.status} ${self.capex_usd:,.2f}"


def answer_of(root: Path, case: Path, folder: Path) -> Answer:
    """The answer alone of the package of a work tree."""
    file = folder / "design.json"
    command = [sys.executable, "-m", "fabopt", "solve", str(case), "--alternatives", "0", "--json", str(file)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if not file.exists():
        return Answer(f"exit {done.returncode}", None, Counter())
    design = json.loads(file.read_text())
    file.unlink()
    bill: Counter[tuple[str, str, str]] = Counter()
    for row in design.get("bom", ()):
        bill[row["fabric"], row["id"], str(row.get("length_m"))] += row["quantity"]
    totals = design.get("totals")
    return Answer(design["status"], totals and totals["capex_usd"], bill)


def changes(case: dict[str, Any], other: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ways in which a case may get the answer of another commit, by name."""
    rules = case.get("rules", {})
    if isinstance(rules, dict):
        for name in DEFAULT_RULES:
            yield f"rule {name}", {**case, "rules": {**rules, name: False}}
    yield "catalog", {**case, "catalog": [str(other / "catalogs" / "reference")]}


def causes(case: Path, other: Path, wanted: Answer, folder: Path) -> Iterator[str]:
    """The changes that alone give the purchase price of the other commit."""
    file = folder / case.name
    for name, content in changes(yaml.safe_load(case.read_text()), other):
        file.write_text(yaml.safe_dump(content))
        if answer_of(ROOT, file, folder).capex_usd == wanted.capex_usd:
            yield name


def compared(case: Path, other: Path, folder: Path) -> str:
    """A line on a shipped case: both answers, and what makes them differ."""
    there = other / "cases" / case.name
    if not there.exists():
        return f"{case.stem}: not there"
    before, now = answer_of(other, there, folder), answer_of(ROOT, case, folder)
    if before == now:
        return f"{case.stem}: same, {now}"
    why = ", ".join(causes(case, other, before, folder)) or "no rule or catalog alone"
    return f"{case.stem}: {before} -> {now}: {why}"


def main(commit: str, *names: str) -> None:
    """Print a line for each shipped case, or those named."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(other), commit], cwd=ROOT, check=True)
        try:
            for case in sorted(CASES.glob("*.yaml")):
                if not names or case.stem in names:
                    print(compared(case, other, Path(folder)), flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
