"""Jobs that show an answer: screen, figures, drawings, floor, bill, rules, levers, page, hand-over pack."""

from __future__ import annotations

from dataclasses import astuple
from functools import lru_cache
from pathlib import Path

from fabopt.errors import InputError, fault
from fabopt.io.design import read_design
from fabopt.output.html.answer import key_figures
from fabopt.output.sheet.pages import in_column
from fabopt.output.sheet.svg import svg
from fabopt.output.terminal.first_screen import compared_rows, first_rows
from fabopt.output.terminal.no_screen import no_rows
from fabopt.schema.design import Design
from fabopt.studio.wire import Message
from fabopt.studio.worker import Bench
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring


def design_of(bench: Bench, answer: str) -> Design:
    """Return the design of an answer; ``InputError`` if there is none of this name."""
    path = Path(bench.answers) / f"{answer}.json"
    if not answer.isalnum() or not path.is_file():
        raise InputError([fault("answer", "", "there is no such answer any more", answer, hint="solve its case again")])
    return _read(path)


@lru_cache(maxsize=8)
def _read(path: Path) -> Design:
    return read_design(path)


@lru_cache(maxsize=2)
def _wired(path: Path) -> Wiring:
    return wiring_of(_read(path))


def wiring(bench: Bench, answer: str) -> Wiring:
    """Return the wiring of an answer; ``InputError`` for one without, or with more links than are listed."""
    design = design_of(bench, answer)
    links = sum(row.count for fabric in design.fabrics for row in fabric.links)
    if not design.fabrics or links > MOST_LINKS:
        what = "there is no design here" if not design.fabrics else "its links are too many to be drawn"
        raise InputError([fault("answer", "", what, links, allowed=f"1 to {MOST_LINKS:,} links")])
    return _wired(Path(bench.answers) / f"{answer}.json")


def screen_rows(design: Design) -> list[list[str]]:
    """Return the first screen of a design, or that of a case without one: label, words and colour of each row."""
    rows = [*first_rows(design), *compared_rows(design)] if design.fabrics else no_rows(design)
    return [list(row) for row in rows]


def facts(design: Design) -> Message:
    """Return the figures of a design that are shown large: those of its totals, by key, and as the page words them."""
    totals = {} if design.totals is None else design.totals.model_dump(mode="json")
    return {**totals, "status": design.status, "shown": [list(astuple(figure)) for figure in key_figures(design)]}


def screen(bench: Bench, answer: str) -> Message:
    """Return the first screen of an answer, and its figures."""
    design = design_of(bench, answer)
    return {"screen": screen_rows(design), "facts": facts(design), "status": design.status}


def drawing(bench: Bench, answer: str, fabric: str | None = None) -> Message:
    """Return the drawing of a fabric, the first where none is named, as SVG with the names of its devices."""
    sheets = in_column(design_of(bench, answer), wiring(bench, answer))
    if fabric is not None and fabric not in sheets:
        raise InputError([fault("fabric", "", "no such fabric", fabric, allowed=", ".join(sheets))])
    return {"svg": svg(sheets[fabric or next(iter(sheets))], is_inline=True)}
