"""Jobs that show an answer: screen, figures, drawings, floor, bill, rules, levers, page, hand-over pack."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, astuple
from datetime import date
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from fabopt.errors import CheckError, refusal
from fabopt.io.catalog import read_catalog
from fabopt.io.design import design_in, read_design
from fabopt.io.library import write_whole
from fabopt.output.bought import usd_per_gpu
from fabopt.output.export.bill import bill_bytes, bill_format
from fabopt.output.export.design import design_bytes
from fabopt.output.export.formats import Options, export
from fabopt.output.html.answer import key_figures
from fabopt.output.html.bill import bill_view
from fabopt.output.html.build import page_bytes
from fabopt.output.html.racks import floor_view
from fabopt.output.sheet.pages import in_column
from fabopt.output.sheet.svg import svg
from fabopt.output.terminal.answer import totals_line
from fabopt.output.terminal.comparison import price_of_rules, worth_a_look
from fabopt.output.terminal.first_screen import compared_rows, first_rows
from fabopt.output.terminal.no_screen import changes_of, lever_words, no_rows, ordered
from fabopt.output.words import dollars, kept_with, money, plain, power, switched_off
from fabopt.parts.names import product_name
from fabopt.schema.design import Design, Totals
from fabopt.studio.worker import Bench, Message
from fabopt.units import summed
from fabopt.verify import verify
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.build import wiring_of
from fabopt.wiring.model import Wiring

ANSWER = re.compile(r"[0-9a-f]{20}")
BILLS = ("bill.csv", "bill.xlsx")
PACK = ("drawing", "crew", "labels", "plan")


def design_of(bench: Bench, answer: str) -> Design:
    """Return the design of an answer; ``InputError`` if there is none of this name."""
    path = Path(bench.answers) / f"{answer}.json"
    if ANSWER.fullmatch(answer) is None or not path.is_file():
        raise refusal("answer", "", "there is no such answer any more", answer, hint="solve its case again")
    return _read(path)


@lru_cache(maxsize=8)
def _read(path: Path) -> Design:
    return read_design(path)


def wiring(bench: Bench, answer: str) -> Wiring:
    """Return the wiring of an answer; ``InputError`` for one without, or with more links than are listed."""
    design = shown(bench, answer)
    if not design.fabrics:
        raise refusal("answer", "", "there is no design here")
    links = sum(row.count for fabric in design.fabrics for row in fabric.links)
    if links > MOST_LINKS:
        raise refusal("answer", "", "its links are too many to be drawn", links, allowed=f"1 to {MOST_LINKS:,} links")
    return wiring_of(design)


def shown(bench: Bench, answer: str) -> Design:
    """Return the design that is shown of an answer: of a case without one the nearest."""
    design = design_of(bench, answer)
    nearest = design.nearest
    return design if design.fabrics or nearest is None or not nearest.design else design_in(nearest.design, "nearest")


def screen_rows(design: Design) -> list[list[str]]:
    """Return the first screen of a design, or that of a case without one: label, words and colour of each row."""
    rows = [*first_rows(design), *compared_rows(design)] if design.fabrics else no_rows(design)
    return [list(row) for row in rows]


def facts(design: Design) -> Message:
    """Return the figures of a design that are shown large: those of its totals, by key, and as the page words them."""
    stage = design.stages[-1] if design.stages else None
    totals = {} if design.totals is None else design.totals.model_dump(mode="json")
    return {
        **totals,
        "name": design.case.name,
        "headline": [] if design.totals is None else list(_headline(design, design.totals)),
        "gpus": None if stage is None else stage.gpus,
        "servers": None if stage is None else stage.servers,
        "gbps_per_gpu": design.fabrics[0].metrics.injection_gbps_per_gpu if design.fabrics else None,
        "fabrics": [fabric.name for fabric in design.fabrics] or list(_names_of_nearest(design)),
        "floor": totals.get("racks") is not None,
        "left_out": _left_out(design),
        "nearest": design.nearest is not None and bool(design.nearest.design),
        "levers": _levers(design),
        "instead": [
            {"words": look.words, "edits": list(map(list, look.change.items()))} for look in worth_a_look(design)
        ],
        "shown": [list(astuple(figure)) for figure in key_figures(design)],
    }


def _headline(design: Design, totals: Totals) -> Iterator[str]:
    """Cost, then what it is for each GPU, bandwidth and power, in the words of the first screen."""
    yield dollars(totals.capex_usd)
    per_gpu = usd_per_gpu(design)
    if per_gpu is not None:
        yield f"{money(round(per_gpu[0]))} a {per_gpu[1]}"
    if design.fabrics:
        yield f"{plain(design.fabrics[0].metrics.injection_gbps_per_gpu)} Gb/s a GPU"
    yield power(totals.power_w)


def _names_of_nearest(design: Design) -> Iterator[str]:
    nearest = design.nearest.design if design.nearest is not None else None
    yield from (fabric["name"] for fabric in (nearest or {}).get("fabrics", ()))


def screen(bench: Bench, answer: str) -> Message:
    """Return the first screen of an answer, and its figures."""
    design = design_of(bench, answer)
    return {"screen": screen_rows(design), "facts": facts(design), "status": design.status}


def drawing(bench: Bench, answer: str, fabric: str | None = None) -> Message:
    """Return the drawing of a fabric, the first where none is named, as SVG with the names of its devices."""
    sheets = in_column(shown(bench, answer), wiring(bench, answer))
    if fabric is not None and fabric not in sheets:
        raise refusal("answer", "", "no such fabric", fabric, allowed=", ".join(sheets))
    return {"svg": svg(sheets[fabric or next(iter(sheets))], is_inline=True)}


def floor(bench: Bench, answer: str) -> Message:
    """Return the floor row by row, and the devices of every rack."""
    view = floor_view(shown(bench, answer), wiring(bench, answer))
    if view is None:
        raise refusal("answer", "", "the case has no floor", hint="give `site.floor`")
    return asdict(view)


def bill(bench: Bench, answer: str) -> Message:
    """Return the bill as words: heads, which of them hold numbers, rows, and the sum."""
    design = shown(bench, answer)
    rows = bill_view(design)
    cells = rows[0].cells if rows else ()
    return {
        "heads": ["part number", "part", *(cell.column for cell in cells)],
        "numbers": [False, False, *(cell.is_number for cell in cells)],
        "rows": [[row.part_number, row.description or row.id, *(cell.words for cell in row.cells)] for row in rows],
        "foot": [totals_line(design)],
    }


def parts(bench: Bench, answer: str) -> list[Message]:
    """Return the parts that the catalogs of an answer's case have, with how many of each are bought."""
    design = design_of(bench, answer)
    bought = summed((row.id or "", row.quantity) for row in shown(bench, answer).bom)
    catalog = read_catalog(design.case.content.get("catalog") or ["reference"], bench.folder, "case")
    return [
        {"id": part.id, "kind": kind, "words": product_name(part.model_dump(exclude_none=True), part.id),
         "bought": bought[part.id]}
        for kind in ("switches", "nics", "transceivers", "cables")
        for part in getattr(catalog, kind)
    ]  # fmt: skip


def rules(bench: Bench, answer: str) -> Message:
    """Return default rules that no design keeps, and those that the case turns off, with the price of having them."""
    design = shown(bench, answer)
    off = [{"rule": name, "words": name} for name in switched_off(design)]
    return {"left_out": _left_out(design), "off": off, "price": list(price_of_rules(design))}


def _left_out(design: Design) -> list[Message]:
    return [
        {"rule": row.name, "words": f"{row.why}; to keep it: {kept_with(row.rule)}"} for row in design.rules_left_out
    ]


def levers(bench: Bench, answer: str) -> list[Message]:
    """Return the changes that each give a case without a design one, as edits of its keys."""
    return _levers(design_of(bench, answer))


def _levers(design: Design) -> list[Message]:
    return [
        {
            "words": lever_words(design, conflict),
            "edits": [[needed.limit, needed.needed] for needed in changes_of(conflict)],
            "price": None if conflict.capex_usd is None else money(conflict.capex_usd),
        }
        for conflict in ordered(design)
    ]


def file(bench: Bench, answer: str, what: str) -> Message:
    """Write a file of an answer: its design, page, bill or hand-over pack; the path where it stands then."""
    path = Path(bench.answers) / f"{answer}.json"
    design = shown(bench, answer)
    if what == "design":
        return {"path": str(path)}
    checks = verify(design)
    failed = [check for check in checks if not check.ok]
    if failed:
        raise CheckError(f"check {failed[0].name} FAILED: {failed[0].detail}")
    target = path.with_name(f"{answer}-{what}")
    if what == "page":
        write_whole(target, page_bytes(design, checks))
    elif what in BILLS:
        write_whole(target, bill_bytes(design, bill_format(what)))
    else:
        write_whole(target, _pack(design, wiring(bench, answer), page_bytes(design, checks)))
    return {"path": str(target)}


def _pack(design: Design, wired: Wiring, page: bytes) -> bytes:
    """Return what a crew and a buyer take away: drawings, bill, sheets, labels, plan, page and design, as a ZIP."""
    buffer = BytesIO()
    with TemporaryDirectory() as name, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as pack:
        options = Options(skip=lambda why: None, date=str(date.today()), revision="1")
        for path in export(design, wired, PACK, Path(name), options):
            pack.write(path, path.relative_to(name).as_posix())
        for bill_name in BILLS:
            pack.writestr(bill_name, bill_bytes(design, bill_format(bill_name)))
        pack.writestr("page.html", page)
        pack.writestr("design.json", design_bytes(design))
    return buffer.getvalue()
