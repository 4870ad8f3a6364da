"""The sheet of deliveries: the parts that arrive for each stage, when and from whom, and the share that has arrived by
then.
"""

from __future__ import annotations

from collections import Counter

from fabopt.output.export.order_codes import code_of
from fabopt.output.export.orders import order_lines
from fabopt.output.export.quotes import OWN_WORK, QuoteTable
from fabopt.schema.design import Design


def delivery_table(design: Design) -> QuoteTable:
    """A row for every part, length by length, that a stage gets, stage by stage; own work is no delivery."""
    columns = [
        ("Stage", 14, "text"), ("Arrives by month", 9, "count"), ("Arrives by", 12, "date"), ("Vendor", 18, "text"),
        ("Kind", 12, "text"), ("Part number", 24, "text"), ("Id", 30, "text"), ("Length m", 9, "number"),
        ("Delivered", 10, "count"), ("From own stock", 9, "count"), ("Delivered so far", 10, "count"),
    ]  # fmt: skip
    stages = [stage.name for stage in design.stages]
    lines = [line for line in order_lines(design) if line.row.kind != OWN_WORK]
    lines.sort(key=lambda line: (stages.index(line.row.stage), line.vendor))
    so_far: Counter[tuple[str, float | None]] = Counter()
    rows: list[tuple[object, ...]] = []
    for line in lines:
        part = line.row.id, line.row.length_m
        so_far[part] += line.quantity
        code = code_of(design, line.row.id, line.row.length_m).code
        rows.append(
            (line.row.stage, line.stage_month, line.arrives, line.vendor, line.row.kind, code, *part, line.quantity,
             line.from_stock or None, so_far[part])
        )  # fmt: skip
    return QuoteTable(columns, rows)
