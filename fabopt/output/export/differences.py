"""A comparison as JSON."""

from __future__ import annotations

from typing import Any

from fabopt.inspect.differences.compare import Against, Contrast
from fabopt.output.differences import LETTERS, bill_cells, step_words, verdict
from fabopt.output.terminal.answer import headline
from fabopt.output.words import json_bytes
from fabopt.schema.design import Design
from fabopt.units import usd


def differences_json(contrast: Contrast, mark: str = "") -> bytes:
    """Return verdict, differences and causes of the second side's price; those of further sides under ``against``.

    ``mark``: the sentence on files that were not proven.
    """
    against = [_against(letter, other) for letter, other in zip(LETTERS[1:], contrast.against, strict=False)]
    return json_bytes({
        **({"unproven": mark} if mark else {}),
        "verdict": verdict(contrast),
        "equal": contrast.is_equal,
        "sides": [
            {"side": letter, "name": side.name, "case": side.design.case.name, "fabopt": side.design.fabopt,
             "stage": side.stages[-1].name if side.stages else None, "status": side.design.status,
             "quoted": side.offer is not None, "capex_usd": usd(side.cents), "notes": list(side.notes)}
            for letter, side in zip(LETTERS, contrast.sides, strict=False)
        ],
        "differences": [
            {"group": row.name.group, "fabric": row.name.fabric or None, "what": row.name.what,
             "unit": row.figures[0].unit, "values": [figure.value for figure in row.figures],
             "better": [LETTERS[number] for number in row.better]}
            for row in contrast.rows
        ],
        "waterfall": against[0]["waterfall"],
        "against": against,
    })  # fmt: skip


def _against(letter: str, against: Against) -> dict[str, Any]:
    return {
        "side": letter,
        "waterfall": [
            {"cause": step.cause, "what": step_words(step), "usd": usd(step.cents)} for step in against.steps
        ],
        "bill": [
            {"change": bill_cells(change).what, "kind": change.row.kind, "id": change.row.id,
             "part_number": change.row.part_number, "length_m": change.row.length_m,
             "quantity": [change.before.units, change.after.units],
             "total_usd": [usd(change.before.cents), usd(change.after.cents)],
             "in_service": [change.before.in_service, change.after.in_service]}
            for change in against.bill
        ],
        "cables": None if against.cables is None else [
            {"where": place, **changes._asdict()} for place, changes in against.cables.items()
        ],
    }  # fmt: skip


def no_differences_json(design: Design) -> bytes:
    """Return the answer where a case has no design to compare: its status and the limits that clash."""
    conflicts = design.model_dump(mode="json", include={"conflicts"})
    return json_bytes(
        {"verdict": headline(design), "status": design.status, **conflicts, "differences": [], "waterfall": []}
    )
