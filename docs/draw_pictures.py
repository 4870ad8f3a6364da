"""Draw the networks that the pages show, of many sizes and families.

    python docs/draw_pictures.py docs/img

Each is a case of the repository, or one of its cases with other keys, solved and drawn as ``fabopt export`` draws it;
the first as it is on the page of a report.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from fabopt.io.case import inputs_from_objects
from fabopt.output.sheet.pages import TitleBlock, in_column, sheets
from fabopt.output.sheet.svg import svg
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.wiring.build import wiring_of

CASES = Path(__file__).parent.parent / "cases"
IN_README = "finetuning-1024-gpus"


def _two_tiers(leaf: str, spine: str) -> dict[str, Any]:
    """A fabric of these switches, of which a new product in the catalog changes no number."""
    return {"name": "compute", "tiers": 2, "groups": "equal", "switches": {"leaf": [leaf], "spine": [spine]}}


# The name of a picture, of its case, and keys to change.
SHEETS: dict[str, tuple[str, dict[str, Any]]] = {
    "2-switches": ("twin-plane-1024-gpus", {"gpus": 64}),
    "22-switches": ("pretraining-16384-gpus", {"gpus": 768, "fabrics": [_two_tiers("nvidia-sn5600", "nvidia-sn5600")]}),
    "16-switches-on-a-floor": ("hall-1024-gpus", {}),
    "160-switches": (
        "pretraining-16384-gpus",
        {"gpus": 4096, "fabrics": [_two_tiers("fs-n8650-32od", "nvidia-sn5600")]},
    ),
    "1280-switches": ("pretraining-16384-gpus", {"gpus": 32768}),
    "torus": ("torus-216-gpus", {}),
    "dragonfly": (
        "finetuning-1024-gpus",
        {"fabrics": [{"name": "compute", "topologies": ["dragonfly"], "tiers": "any", "max_oversubscription": 2}]},
    ),
    "four-fabrics": ("four-fabrics-1024-gpus", {}),
    "stages": ("h100-growth-128", {}),
}
BLOCK = TitleBlock("2026-11-28", "1")


def design_named(name: str) -> Design:
    """The design of a picture; an error where it has not as many switches as the name says."""
    design = design_of(*SHEETS[name])
    number, _, what = name.partition("-")
    if what.startswith("switches") and design.totals is not None and design.totals.switches != int(number):
        raise ValueError(f"{name} has {design.totals.switches} switches: change its case")
    return design


def design_of(case: str, changes: dict[str, Any]) -> Design:
    content = yaml.safe_load((CASES / f"{case}.yaml").read_text())
    return optimize.solve(inputs_from_objects({**content, **changes}), alternatives_s=0)


def column(design: Design) -> str:
    """The drawing of the first fabric as it is on a page."""
    return svg(next(iter(in_column(design, wiring_of(design)).values())))


def pictures() -> dict[str, str]:
    """The pictures by the names of their files: of each design its first sheet."""
    drawn = {f"{IN_README}.svg": column(design_of(IN_README, {}))}
    for name in SHEETS:
        design = design_named(name)
        drawn[f"drawing-{name}.svg"] = svg(sheets(design, wiring_of(design), BLOCK)[0])
    return drawn


if __name__ == "__main__":
    for name, text in pictures().items():
        (Path(sys.argv[1]) / name).write_text(text)
