"""Take pictures of all that people are shown, of many sizes and families, to be looked at one by one.

    python docs/take_pictures.py FOLDER [NAME ...]

Drawings, pages to pull cables by, labels, elevations, the page of a design on a screen and on a phone; comparisons and
fronts. NAME: of a design, ``compare`` or ``fronts``; without one all. Needs Chromium, playwright and poppler.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from draw_pictures import BLOCK, SHEETS, design_named
from photograph_report import photograph

from fabopt.cli import main
from fabopt.errors import InputError
from fabopt.output.export.formats import Options, export
from fabopt.output.html.build import page_bytes
from fabopt.wiring.build import wiring_of

SCREEN, PHONE = 1280, 420
FORMATS = ("drawing", "racks", "drawio", "crew", "labels")
# Of larger ones pages for each cable take minutes, and look the same.
MOST_GPUS_ON_PAPER = 10_000
# Pages of a PDF that are taken, from the first.
MOST_PAGES = 6
COMPARED = {
    "sizes": ("2-switches", "16-switches-on-a-floor"),
    "families": ("22-switches", "dragonfly", "torus", "four-fabrics"),
    "stages": ("stages.json@unit-2", "stages"),
}
FRONTS = {
    "front": ("pareto", "finetuning-1024-gpus", "--minimize", "capex_usd", "--maximize", "bisection_gbps_per_gpu"),
    "budgets": ("sweep", "finetuning-1024-gpus", "--budget", "2M:5M:13"),
    "sizes": (
        "sweep",
        "two-tier-example",
        "--over",
        "servers=8,16,32",
        "--over",
        "fabrics.compute.max_oversubscription=1,2",
    ),
}


def of_design(name: str, folder: Path) -> None:
    """All files of a design, and pictures of them."""
    design = design_named(name)
    wiring, files = wiring_of(design), list[Path]()
    (folder / f"{name}.json").write_text(design.model_dump_json(by_alias=True))
    for kind in FORMATS[: None if design.stages[-1].gpus <= MOST_GPUS_ON_PAPER else -2]:
        try:
            files += export(design, wiring, [kind], folder / name, Options(date=BLOCK.date, revision=BLOCK.revision))
        except InputError as error:
            print(f"{name}: no {kind}: {error.faults[0].problem}")
    page = folder / f"{name}.html"
    page.write_bytes(page_bytes(design, design.checks))
    of_page(page)
    for file in files:
        if file.suffix == ".pdf":
            pages = ["-f", "1", "-l", str(MOST_PAGES)]
            subprocess.run(["pdftoppm", "-png", "-r", "100", *pages, file, folder / f"{name}-{file.stem}"], check=True)
        elif file.suffix == ".svg":
            photograph(file, folder / f"{name}-{file.stem}-svg.png", 1588, 1123)


def of_page(page: Path) -> None:
    for width in (SCREEN, PHONE):
        photograph(page, page.with_name(f"{page.stem}-{width}.png"), width, 0)


def compared(folder: Path) -> None:
    for name, sides in COMPARED.items():
        page = folder / f"compare-{name}.html"
        files = [str(folder / (side if "." in side else f"{side}.json")) for side in sides]
        main(["compare", *files, "--html", str(page)])
        of_page(page)


def fronts(folder: Path) -> None:
    for name, words in FRONTS.items():
        front, page = folder / f"front-{name}.front.json", folder / f"front-{name}.html"
        main([*words, "--json", str(front)])
        main(["report", str(front), "-o", str(page), "--pages"])
        of_page(page)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    others: dict[str, Callable[[Path], None]] = {"compare": compared, "fronts": fronts}
    for asked in sys.argv[2:] or [*SHEETS, *others]:
        if asked in others:
            others[asked](target)
        else:
            of_design(asked, target)
