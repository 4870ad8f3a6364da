"""The page of a design: every section's content, from the design file alone."""

from __future__ import annotations

from typing import Any

from fabopt.output.html.alternatives import alternative_rows, alternative_titles
from fabopt.output.html.answer import STATUS_WORDS, answer, key_figures
from fabopt.output.html.assumptions import assumptions, case_text, confidence_sentence, price_rows
from fabopt.output.html.bill import ALWAYS, bill_link, bill_view
from fabopt.output.html.front_page import front_figures, front_table
from fabopt.output.html.growth import growth_view
from fabopt.output.html.network import FabricView, fabric_view
from fabopt.output.html.parts import fabric_names, kind_rows, slices, sum_usd
from fabopt.output.html.proof import check_groups, checks_sentence, holds_together
from fabopt.output.html.racks import FloorView, floor_view
from fabopt.output.html.rendering import render
from fabopt.output.html.single_points import points_view
from fabopt.output.html.space import with_links, words_of
from fabopt.output.html.tables import cash_view, futures_view
from fabopt.output.html.workload import workload_view
from fabopt.output.left_out import TITLE, left_out_lines
from fabopt.output.sheet.model import DrawnSheet
from fabopt.output.sheet.pages import in_column
from fabopt.output.space import pages_line
from fabopt.output.terminal.answer import conflict_quantity, leading_notes, needed_text, proof_line, totals_line
from fabopt.output.terminal.cash import TITLE as CASH_TITLE
from fabopt.output.terminal.futures import TITLE as FUTURES_TITLE
from fabopt.output.words import limit_name, money, power, sentence
from fabopt.schema.base import NO_SINGLE_LIMIT
from fabopt.schema.design import Check, Conflict, Design
from fabopt.schema.front import Front
from fabopt.schema.version import VERSION
from fabopt.verify import not_asked
from fabopt.verify.wiring import MOST_LINKS
from fabopt.wiring.build import wiring_of


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
    kinds = kind_rows(design)
    pictures, floor = _of_wiring(design, checks)
    bill = bill_view(design)
    return {
        "totals_line": totals_line(design),
        "points": points_view(design),
        "kinds": kinds,
        "fabric_names": fabric_names(design),
        "fabric_sums": [sum_usd(row for row in design.bom if row.fabric == name) for name in fabric_names(design)],
        "cost_slices": list(slices((row.kind, row.usd_share, money(row.usd)) for row in kinds)),
        "power_slices": list(slices((row.kind, row.power_share, power(row.power_w)) for row in kinds)),
        "fabrics": [fabric_view(design, fabric, pictures.get(fabric.name)) for fabric in design.fabrics],
        "workload": workload_view(design),
        "floor": floor,
        "growth": growth_view(design),
        "tables": [
            (name, title, view)
            for name, title, view in (
                ("futures", FUTURES_TITLE, futures_view(design)),
                ("cash", CASH_TITLE, cash_view(design)),
            )
            if view is not None
        ],
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


def _of_wiring(design: Design, checks: tuple[Check, ...]) -> tuple[dict[str, DrawnSheet], FloorView | None]:
    """Return pictures and floor; neither for a design whose checks fail, or one too large for a list."""
    if not holds_together(checks) or sum(row.count for fabric in design.fabrics for row in fabric.links) > MOST_LINKS:
        return {}, None
    wiring = wiring_of(design)
    return in_column(design, wiring), floor_view(design, wiring)


def fabric_views(design: Design, checks: tuple[Check, ...]) -> list[FabricView]:
    """Return the section of each fabric, for other pages."""
    pictures, _ = _of_wiring(design, checks)
    return [fabric_view(design, fabric, pictures.get(fabric.name)) for fabric in design.fabrics]
