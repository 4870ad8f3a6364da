"""How a cluster grows: what each stage buys, plugs in, moves and leaves free."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.words import count, money, plain, power
from fabopt.schema.design import Design, LinkRow

COLUMNS = (
    ("stage", False), ("month", True), ("servers", True), ("buys", True), ("draws", True), ("stands", False),
    ("new cables", True), ("moved", True), ("free ports", False), ("ratio", False),
)  # fmt: skip


def growth_rows(design: Design) -> Iterator[list[str]]:
    """A row for every stage, cells as ``COLUMNS``; none for a design of one stage."""
    if len(design.stages) < 2:
        return
    laid = 0
    for number, stage in enumerate(design.stages):
        grown = [fabric.growth[number] for fabric in design.fabrics if fabric.growth]
        cables = sum(one.cables for one in grown)
        leaf, spine = (sum(getattr(one, f"free_{role}_ports") for one in grown) for role in ("leaf", "spine"))
        ratios = {name: ratio for one in grown for name, ratio in one.oversubscription.items()}
        yield [
            stage.name,
            str(stage.month),
            count(stage.servers),
            money(stage.capex_usd),
            power(stage.power_w),
            "; ".join(_switches(name, tiers, len(stage.fabrics)) for name, tiers in stage.fabrics.items()),
            count(cables - laid),
            count(sum(one.moved_cables for one in grown)),
            ", ".join(f"{free:,} {role}" for role, free in (("leaf", leaf), ("spine", spine)) if free) or "none",
            ", ".join(f"{plain(ratio)}:1" for ratio in ratios.values()) or "-",
        ]
        laid = cables


def _switches(fabric: str, tiers: dict[str, int], fabrics: int) -> str:
    counts = ", ".join(f"{number:,} {role}" for role, number in tiers.items() if number)
    return f"{fabric}: {counts}" if fabrics > 1 else counts


def moving_line(design: Design) -> str | None:
    """How long the moving of cables takes; None where none is moved."""
    moved = sum(one.moved_cables for fabric in design.fabrics for one in fabric.growth)
    if not moved:
        return None
    minutes = design.case.content.get("growth", {}).get("minutes_per_moved_cable", 0)
    return f"{moved:,} cables are moved: about {plain(round(moved * minutes / 60))} hours of work"


def merged(rows: tuple[LinkRow, ...]) -> list[LinkRow]:
    """Rows that differ only in the stage that they come with, as one."""
    found: dict[tuple[object, ...], LinkRow] = {}
    for row in rows:
        parts = tuple((part.id, part.end, part.length_m) for part in row.parts)
        key = (row.from_, row.to, row.attachment, row.length_m, row.medium, row.runs_m, parts)
        known = found.get(key)
        found[key] = row if known is None else _sum(known, row)
    return list(found.values())


def _sum(one: LinkRow, other: LinkRow) -> LinkRow:
    pairs = zip(one.parts, other.parts, strict=True)
    parts = tuple(a.model_copy(update={"quantity": a.quantity + b.quantity}) for a, b in pairs)
    return one.model_copy(update={"count": one.count + other.count, "parts": parts, "stages": None})
