"""A fabric in words and tables: its tiers, their links, its bandwidth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabopt.output.html.rendering import drawn
from fabopt.output.sheet.model import DrawnSheet
from fabopt.output.sheet.svg import svg
from fabopt.output.terminal.answer import about_lines, fabric_line
from fabopt.output.terminal.growth import merged
from fabopt.output.words import count, joined, plain, run
from fabopt.schema.design import Design, FabricDesign, LinkPart, LinkRow, TierUse

# A floor plan has many rows of links; more than this many are folded.
_MOST_OPEN = 6


@dataclass(frozen=True)
class FabricView:
    """One fabric. ``picture`` is None where its wiring cannot be derived."""

    name: str
    about: str
    picture: Any
    aggregated: bool
    lines: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]
    links: tuple[tuple[str, ...], ...]
    links_open: bool


def fabric_view(design: Design, fabric: FabricDesign, sheet: DrawnSheet | None) -> FabricView:
    """Return a fabric's section of the page."""
    links = tuple(_link_row(fabric, row) for row in merged(fabric.links))
    return FabricView(
        fabric.name,
        fabric_line(fabric).replace("infiniband", "InfiniBand"),
        None if sheet is None else drawn(svg(sheet, is_inline=True)),
        sheet is not None and any(box.stacked for box in sheet.boxes),
        tuple(about_lines(design, fabric)),
        tuple(_tier_row(fabric, row) for row in fabric.switches),
        links,
        len(links) <= _MOST_OPEN,
    )


def _tier_row(fabric: FabricDesign, tier: TierUse) -> tuple[str, ...]:
    down = f"{count(tier.down_ports)} × {plain(tier.gbps_down)}G"
    if tier.reserved_ports:
        down += f" + {count(tier.reserved_ports)} free"
    up = f"{count(tier.up_ports)} × {plain(tier.gbps_up)}G" if tier.up_ports else "-"
    ratio = fabric.oversubscription.get(tier.role)
    return tier.role, tier.id, count(tier.count), down, up, "-" if ratio is None else f"{plain(ratio)}:1"


def _link_row(fabric: FabricDesign, row: LinkRow) -> tuple[str, ...]:
    parts = "; ".join(_part(part) for part in row.parts) or "none bought"
    return joined(row), count(row.count), plain(row.gbps), run(fabric, row), row.medium, parts


def _part(part: LinkPart) -> str:
    length = f", {plain(part.length_m)} m" if part.length_m is not None else ""
    return f"{count(part.quantity)} × {part.id}{length}"
