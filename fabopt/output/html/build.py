"""The page of a design: every section's content, from the design file alone."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabopt.output.bought import beside
from fabopt.output.cash import cash_flow
from fabopt.output.charts.bars import cost_bars
from fabopt.output.charts.cash import cash_bars
from fabopt.output.charts.style import PAGE_PALETTE, svg as chart_svg
from fabopt.output.html.alternatives import alternative_rows, alternative_titles
from fabopt.output.html.answer import STATUS_WORDS, answer, key_figures
from fabopt.output.html.assumptions import assumptions, case_text, confidence_sentence, price_rows, with_links, words_of
from fabopt.output.html.bill import ALWAYS, bill_link, bill_view, fabric_names, kind_rows, slices, sum_usd
from fabopt.output.html.front_page import front_figures, front_table
from fabopt.output.html.proof import check_groups, checks_sentence, holds_together
from fabopt.output.html.racks import FloorView, floor_view
from fabopt.output.html.rendering import drawn, fragment, render
from fabopt.output.labour import labour
from fabopt.output.sheet.model import DrawnSheet
from fabopt.output.sheet.pages import COLUMN, HALF_COLUMN, TitleBlock, in_column, sheets
from fabopt.output.sheet.svg import svg
from fabopt.output.space import pages_line
from fabopt.output.stated import StatedTable, Statement
from fabopt.output.statements import futures, growth, latency, links, single_points, tiers
from fabopt.output.terminal.answer import (
    about_lines,
    conflict_quantity,
    fabric_line,
    leading_notes,
    needed_text,
    proof_line,
    totals_line,
)
from fabopt.output.terminal.cash import cash_quarters
from fabopt.output.terminal.serving import serving
from fabopt.output.terminal.workload import workload
from fabopt.output.words import TITLE, left_out_lines, limit_name, money, power, sentence
from fabopt.schema.base import NO_SINGLE_LIMIT
from fabopt.schema.design import Check, Conflict, Design, FabricDesign, Front, Number
from fabopt.schema.stages import QUARTER
from fabopt.schema.version import VERSION
from fabopt.verify import not_asked
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.build import wiring_of


@dataclass(frozen=True)
class FabricView:
    """One fabric. ``picture`` is None where its wiring cannot be derived."""

    name: str
    about: str
    picture: Any
    aggregated: bool
    lines: tuple[str, ...]
    tiers: StatedTable
    links: StatedTable


def page_bytes(design: Design, checks: tuple[Check, ...], front: Front | None = None, mark: str = "") -> bytes:
    """Return the page of a design as HTML, the same bytes for the same input.

    checks    results of `verify`; empty for a design that was not found
    front     of the same case, to be shown with it
    mark      the banner's sentence on a design that was not proven
    """
    content = {**_of_every_design(design), **_of_front(design, front)}
    if design.fabrics:
        content |= _of_design(design, checks) | {"bill_link": bill_link(design, mark)}
    return render("report.html", version=VERSION, mark=mark, **content)


def _of_every_design(design: Design) -> dict[str, Any]:
    conflicts = [
        (limit_name(conflict.limit), *_is_and_needs(conflict), conflict.detail) for conflict in design.conflicts
    ]
    return {
        "design": design,
        "description": design.case.content.get("description") or "",
        "status": STATUS_WORDS[design.status],
        "answer": with_links(answer(design), design),
        "leading": leading_notes(design),
        "left_out_title": TITLE,
        "left_out": left_out_lines(design.rules_left_out),
        "figures": key_figures(design),
        "conflicts": conflicts,
        "assumptions": assumptions(design),
        "case_text": case_text(design),
        "prices": price_rows(design),
    }


def _is_and_needs(conflict: Conflict) -> tuple[str, str]:
    """Return a limit's value and the value it needs; the latter is empty where no value would do."""
    limit, needed = conflict.limit, conflict.needed
    if limit == NO_SINGLE_LIMIT:
        return "-", "-"
    needs = "" if needed is None else needed_text(conflict).removeprefix("needs ")
    return conflict_quantity(limit, conflict.value), needs


def _of_front(design: Design, front: Front | None) -> dict[str, Any]:
    if front is None:
        return {"front": None}
    return {
        "front": front,
        "front_figures": front_figures(front),
        "front_points": front_table(front),
        "front_is_of_other_version": front.case.sha256 != design.case.sha256,
    }


def _of_design(design: Design, checks: tuple[Check, ...]) -> dict[str, Any]:
    kinds = list(kind_rows(design))
    pictures, floor = _of_wiring(design, checks)
    bill = bill_view(design)
    return {
        "totals_line": totals_line(design),
        "points": single_points(design),
        "kinds": kinds,
        "fabric_names": fabric_names(design),
        "fabric_sums": [sum_usd(row for row in design.bom if row.fabric == name) for name in fabric_names(design)],
        "cost_slices": list(slices((row.kind, row.usd_share, money(row.usd)) for row in kinds)),
        "power_slices": list(slices((row.kind, row.power_share, power(row.power_w)) for row in kinds)),
        "fabrics": [fabric_view(design, fabric, pictures.get(fabric.name)) for fabric in design.fabrics],
        "workload": workload(design) or serving(design),
        "floor": floor,
        "later": [(statement, chart(design, statement)) for statement in _later(design)],
        "bill": bill,
        "bill_always": ALWAYS,
        "bill_heads": [(cell.column, cell.is_number) for cell in bill[0].cells] if bill else [],
        "alternatives": alternative_rows(design),
        "alternative_titles": alternative_titles(design),
        "proof": proof_line(design),
        "words": words_of(design),
        "pages": sentence(line) if (line := pages_line(design)) else "",
        "checks": checks_sentence(checks, len(not_asked(design))),
        "check_groups": check_groups(checks),
        "confidence": confidence_sentence(price_rows(design)),
    }


def _of_wiring(
    design: Design, checks: tuple[Check, ...], width: float = COLUMN
) -> tuple[dict[str, DrawnSheet], FloorView | None]:
    """Return pictures and floor; neither for a design whose checks fail, or one too large for a list."""
    if not holds_together(checks) or sum(row.count for fabric in design.fabrics for row in fabric.links) > MOST_LINKS:
        return {}, None
    wiring = wiring_of(design)
    return in_column(design, wiring, width), floor_view(design, wiring)


def fabric_views(design: Design, checks: tuple[Check, ...]) -> list[FabricView]:
    """Return the section of each fabric, for other pages, with drawings for half a column."""
    pictures, _ = _of_wiring(design, checks, HALF_COLUMN)
    return [fabric_view(design, fabric, pictures.get(fabric.name)) for fabric in design.fabrics]


def fabric_view(design: Design, fabric: FabricDesign, sheet: DrawnSheet | None) -> FabricView:
    """Return a fabric's section of the page."""
    return FabricView(
        fabric.name,
        fabric_line(fabric).replace("infiniband", "InfiniBand"),
        None if sheet is None else drawn(svg(sheet, is_inline=True)),
        sheet is not None and any(box.stacked for box in sheet.boxes),
        tuple(about_lines(design, fabric)),
        tiers(fabric),
        links(fabric),
    )


def _later(design: Design) -> Iterator[Statement]:
    """Latency, labour, what is in service, growth, its futures and the cash flow, as far as the design has them."""
    stated = (latency(design), labour(design), beside(design), growth(design), futures(design), cash_quarters(design))
    yield from (statement for statement in stated if statement)


def chart(design: Design, statement: Statement) -> tuple[str, Any] | None:
    """Caption and picture above the tables of growth and of the cash flow."""
    if statement.name == "cash":
        bars_and_line = cash_bars(cash_flow(design, QUARTER), PAGE_PALETTE, "quarter")
        return "Paid by quarter, and so far", drawn(chart_svg(bars_and_line, PAGE_PALETTE))
    if statement.name != "growth":
        return None
    bars = []
    for stage in design.stages:
        bought = [row for row in design.bom if row.stage == stage.name]
        kinds = dict.fromkeys(row.kind for row in bought)
        by_kind: dict[str, Number] = {kind: sum_usd(row for row in bought if row.kind == kind) for kind in kinds}
        bars.append((f"{stage.name}, month {stage.month}", by_kind))
    return "What is bought at each stage", drawn(chart_svg(cost_bars(bars, PAGE_PALETTE, "stage"), PAGE_PALETTE))


# -- in notebooks -----------------------------------------------------------------------------------------------------


def notebook_html(design: Design, screen: Sequence[tuple[str, str]]) -> str:
    """Return markup without scripts, links or style sheets. ``screen``: labels and sentences of the first screen."""
    bill = bill_view(design) if design.fabrics else []
    titles = ["part number", "part", *(cell.column for cell in bill[0].cells)] if bill else []
    return fragment(
        "notebook.html",
        design=design,
        status=STATUS_WORDS[design.status],
        screen=screen,
        pictures=_pictures(design),
        bill=bill,
        titles=titles,
    )


def _pictures(design: Design) -> list[str]:
    """The pages of the drawing as data of SVG images; none of a design that is too large to be wired."""
    if sum(row.count for fabric in design.fabrics for row in fabric.links) > MOST_LINKS:
        return []
    pages = sheets(design, wiring_of(design), TitleBlock())
    return [base64.b64encode(svg(page).encode()).decode() for page in pages]
