"""How a cluster grows: purchases, cables, recabled cables and free ports of each stage."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.words import count, measured, money, plain, power
from fabopt.schema.design import Design, LinkRow, StageStructure
from fabopt.units import some

COLUMNS = (
    ("stage", False), ("month", True), ("servers", True), ("buys", True), ("uses", True), ("installed", False),
    ("new cables", True), ("recabled", True), ("free ports", False), ("ratio", False),
)  # fmt: skip


def growth_rows(design: Design) -> Iterator[list[str]]:
    """A row for every stage, cells as ``COLUMNS``; none for a design of one stage."""
    if len(design.stages) < 2:
        return
    laid = 0
    for number, stage in enumerate(design.stages):
        grown = {fabric.name: fabric.growth[number] for fabric in design.fabrics if fabric.growth}
        cables = sum(grown_fabric.cables for grown_fabric in grown.values())
        yield [
            stage.name,
            str(stage.month),
            count(stage.servers),
            money(stage.capex_usd),
            power(stage.power_w),
            _by_fabric({name: _switches(tiers) for name, tiers in stage.fabrics.items()}),
            count(cables - laid),
            count(sum(grown_fabric.moved_cables for grown_fabric in grown.values())),
            _by_fabric({name: _free(grown_fabric) for name, grown_fabric in grown.items()}),
            _by_fabric({name: _ratios(grown_fabric) for name, grown_fabric in grown.items()}),
        ]
        laid = cables


def _by_fabric(words: dict[str, str]) -> str:
    """Texts of fabrics, each with the fabric's name where there are several."""
    return "; ".join(f"{name}: {text}" if len(words) > 1 else text for name, text in words.items())


def _switches(tiers: dict[str, int]) -> str:
    return ", ".join(some(number, role) for role, number in tiers.items() if number)


def _free(grown: StageStructure) -> str:
    free = (("leaf", grown.free_leaf_ports), ("spine", grown.free_spine_ports))
    return ", ".join(f"{ports:,} {role}" for role, ports in free if ports) or "none"


def _ratios(grown: StageStructure) -> str:
    return ", ".join(f"{plain(ratio)}:1" for ratio in grown.oversubscription.values()) or "-"


def moving_line(design: Design) -> str | None:
    """Hours of recabling; None where no cable moves."""
    recabled = sum(stage.moved_cables for fabric in design.fabrics for stage in fabric.growth)
    if not recabled:
        return None
    minutes = design.case.content.get("growth", {}).get("minutes_per_moved_cable", 0)
    return f"{some(recabled, 'cable')} to recable: about {measured(round(recabled * minutes / 60), 'hour')} of work"


def merged(rows: tuple[LinkRow, ...]) -> list[LinkRow]:
    """Rows that differ only in the stage that they come with, as one."""
    by_key: dict[tuple[object, ...], LinkRow] = {}
    for row in rows:
        parts = tuple((part.id, part.end, part.length_m) for part in row.parts)
        key = (row.from_, row.to, row.attachment, row.scope, row.length_m, row.medium, row.runs_m, parts)
        known = by_key.get(key)
        by_key[key] = row if known is None else _added(known, row)
    return list(by_key.values())


def _added(row: LinkRow, other: LinkRow) -> LinkRow:
    pairs = zip(row.parts, other.parts, strict=True)
    parts = tuple(a.model_copy(update={"quantity": a.quantity + b.quantity}) for a, b in pairs)
    return row.model_copy(update={"count": row.count + other.count, "parts": parts, "stages": None})
