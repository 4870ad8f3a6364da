"""Tiny cases whose written programs are kept whole in ``goldens``; ``make goldens`` writes them again.

Look at what changed before you commit it: a golden says what the program is, not only that it has the same optimum.
"""

from __future__ import annotations

from pathlib import Path

from fabopt.io.case import inputs_from_objects
from fabopt.solution.formulation_text import formulation_text
from tests.paths import ROOT

FOLDER = Path(__file__).parent / "goldens"
CASES = (
    ROOT / "docs" / "formulation" / "example-case.yaml",
    FOLDER / "growing-case.yaml",
    FOLDER / "networks-case.yaml",
    FOLDER / "regret-case.yaml",
    FOLDER / "sources-case.yaml",
    FOLDER / "visits-case.yaml",
)


def golden_of(case: Path) -> Path:
    return FOLDER / f"{case.stem.removesuffix('-case')}.lp"


def written(case: Path) -> str:
    return formulation_text(inputs_from_objects(case), "lp")


def main() -> None:
    for case in CASES:
        golden_of(case).write_text(written(case))


if __name__ == "__main__":
    main()
