"""A quote as files: the price book made of it, and all rows of it as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import yaml

from fabopt.design.bill import whole_metres
from fabopt.errors import Fault
from fabopt.output.words import json_bytes
from fabopt.parts.quotes import Quote, QuoteLine
from fabopt.schema.price_book import PriceBook

_HEAD = (
    "# A quote as `fabopt quote import` read it; a case takes it as `prices: [./FILE.yaml]`. Prices are in dollars.\n"
)


def book_bytes(book: PriceBook) -> bytes:
    """Return a price book as a YAML file, which reads back equal."""
    content = book.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    whole = {key: _without_decimals(value) if key in ("prices", "terms") else value for key, value in content.items()}
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
    return (_HEAD + text).encode()


def _without_decimals(value: Any) -> Any:
    """Numbers, and lengths as keys, without decimals where they are whole."""
    if isinstance(value, dict):
        return {_key(key): _without_decimals(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_decimals(inner) for inner in value]
    return whole_metres(value) if isinstance(value, float) else value


def _key(key: str) -> Any:
    try:
        return whole_metres(float(key))
    except ValueError:
        return key


def quote_bytes(quote: Quote, faults: Sequence[Fault], book: str | None) -> bytes:
    """Return all rows of a quote with the status of each, as JSON. ``book``: the file that was written, if one was."""
    content = {
        "ok": not faults and quote.is_clear,
        "quote": quote.file,
        "book": book,
        "date": quote.date,
        "valid_until": quote.valid_until,
        "rates": {currency: float(rate) for currency, rate in quote.rates.items()},
        "counts": dict(Counter(line.status for line in quote.lines)),
        "lines": [line_content(quote, line) for line in quote.lines],
        "tables": [
            {"sheet": table.sheet, "row": table.row, "columns": {role: list(at) for role, at in table.columns.items()},
             "not_read": list(table.not_read)}
            for table in quote.tables
        ],
        "doubts": list(quote.doubts),
        "notes": list(quote.notes),
        "faults": [str(problem) for problem in faults],
    }  # fmt: skip
    return json_bytes(content)


def line_content(quote: Quote, line: QuoteLine) -> dict[str, Any]:
    """A line as JSON has it: amounts as numbers, without empty values but for status, place and part."""
    content: dict[str, Any] = {
        "sheet": line.sheet,
        "row": line.row,
        "status": line.status,
        "part": line.part,
        "description": line.description,
        "id": line.id,
        "length_m": whole_metres(line.length_m),
        "quantity": line.quantity,
        "breaks": [{"from": start, "unit_price": round(float(price), 6)} for start, price in line.breaks],
        "unit_price": None if line.unit_price is None else round(float(line.unit_price), 6),
        "currency": line.currency,
        "unit_price_usd": quote.unit_usd(line),
        "lead_time_weeks": line.lead_time_weeks,
        "minimum_order": line.minimum_order,
        "pack_size": line.pack_size,
        "in_stock": line.in_stock,
        "valid_until": line.valid_until,
        "reason": line.reason,
        "suggestion": line.suggestion,
        "remarks": list(line.remarks),
        "doubts": list(line.doubts),
    }
    always = ("sheet", "row", "status", "part")
    return {key: value for key, value in content.items() if key in always or value not in (None, "", [])}
