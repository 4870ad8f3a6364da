"""Answers of 200 random cases over all families: a change that is not about answers changes none of them.

``python -m tests.samples.answers`` writes them anew, each a line: status, price, bound and the hash of the bill. Look
at what changed before you commit it, and say it in ``docs/upgrading.md``.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

from fabopt.schema.hashes import sha256_of
from tests.samples import random_cases
from tests.samples.adapter import run
from tests.samples.relaxed import DIRECT
from tests.samples.widened import FAMILIES, UnprovenError, a_pair

Json = dict[str, Any]
RECORDED = Path(__file__).parent / "answers.csv"
CASES, FIRST_SEED, SECONDS = 200, 7000, 20
NAMES = ("family", "seed", "status", "capex_usd", "bound", "bill")


def a_case(family: str, seed: int) -> tuple[Json, Json]:
    """A catalog and a case; some of the plain ones are of a direct network."""
    catalog, case = a_pair(family, seed).wide
    fabric = case["fabrics"][0]
    own = {"attachments", "group_by", "planes", "nics_per_server", "tiers"} & set(fabric)
    if family in random_cases.FAMILIES and not own and random.Random(f"direct {family} {seed}").random() < 0.5:
        fabric["topologies"] = [DIRECT[seed % len(DIRECT)]]
    return catalog, case


def answer(family: str, seed: int, time_limit_s: float | None = None) -> dict[str, str]:
    """What is recorded of a case; raises ``UnprovenError`` if it is not proven in time."""
    design = run(*a_case(family, seed), time_limit_s=time_limit_s)
    if design["status"] not in ("optimal", "infeasible"):
        raise UnprovenError(design["status"])
    totals, bill = design["totals"], sorted((row["id"], row["length_m"] or 0, row["quantity"]) for row in design["bom"])
    capex = "" if totals is None else totals["capex_usd"]
    values = (family, seed, design["status"], capex, design["objective"]["bound"] or "", sha256_of(bill)[:12])
    return dict(zip(NAMES, map(str, values), strict=True))


def recorded() -> list[dict[str, str]]:
    """The lines of the file."""
    with RECORDED.open(newline="") as lines:
        return list(csv.DictReader(lines))


def main() -> None:
    """Write the answers of as many cases, but of those that are not proven soon."""
    answers: list[dict[str, str]] = []
    number = 0
    while len(answers) < CASES:
        family, seed = FAMILIES[number % len(FAMILIES)], FIRST_SEED + number // len(FAMILIES)
        number += 1
        try:
            answers.append(answer(family, seed, SECONDS))
        except UnprovenError:
            continue
    with RECORDED.open("w", newline="") as lines:
        rows = csv.DictWriter(lines, NAMES, lineterminator="\n")
        rows.writeheader()
        rows.writerows(answers)


if __name__ == "__main__":
    main()
