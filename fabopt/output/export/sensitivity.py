"""Price ranges as files: JSON whole, CSV with a row for each range."""

from __future__ import annotations

from typing import Any

from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.schema.sensitivity import PriceRange, Sensitivity, Takeover

COLUMNS = (
    *("kind", "part", "unit_price_usd", "factor_low", "factor_high", "price_low_usd", "price_high_usd", "proven"),
    *("low_known", "high_known"),
    *(f"{end}_{what}" for end in ("low", "high") for what in ("summary", "changes", "objective", "answer_objective")),
)


def sensitivity_bytes(sensitivity: Sensitivity) -> bytes:
    """Return a sensitivity file: JSON in the order of the schema."""
    return sensitivity.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


def sensitivity_csv(sensitivity: Sensitivity) -> bytes:
    """Return a table of the ranges; an empty cell is an open end, or a part without a price of its own."""
    rows = map(_row, sensitivity.ranges)
    return csv_bytes(COLUMNS, ([row.get(column, "") for column in COLUMNS] for row in rows))


def _row(span: PriceRange) -> dict[str, Any]:
    row = {column: getattr(span, column) for column in COLUMNS[:10]}
    return row | _end("low", span.low) | _end("high", span.high)


def _end(name: str, end: Takeover | None) -> dict[str, Any]:
    if end is None:
        return {}
    return {
        f"{name}_summary": end.summary,
        f"{name}_changes": "; ".join(end.changes),
        f"{name}_objective": end.objective,
        f"{name}_answer_objective": end.answer_objective,
    }
