"""Shares of several fabrics in the bill, in power and in racks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabopt.output.stated import Column
from fabopt.output.words import count, money, plain, power
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, FabricDesign, Number
from fabopt.wiring.design_file import Embedded


@dataclass(frozen=True)
class NetworkShare:
    """One fabric's part of a design's totals; parts that belong to no fabric have a share of their own."""

    name: str
    switches: int
    rack_units: Number
    usd: Number
    usd_share: float
    power_w: Number


SHARE_COLUMNS: Sequence[Column[NetworkShare]] = (
    Column("fabric", False, lambda share: share.name),
    Column("switches", True, lambda share: count(share.switches)),
    Column("rack units", True, lambda share: plain(share.rack_units)),
    Column("cost", True, lambda share: money(share.usd)),
    Column("share", True, lambda share: f"{100 * share.usd_share:.0f} %"),
    Column("power", True, lambda share: power(share.power_w)),
)


def network_shares(design: Design) -> list[NetworkShare]:
    """Return the share of every fabric, and of parts of no fabric; empty where there is one fabric only."""
    if design.totals is None or len(design.fabrics) + sum(len(fabric.logical) for fabric in design.fabrics) < 2:
        return []
    return list(_shares(design, design.totals.capex_usd))


def _shares(design: Design, whole: Number) -> Iterator[NetworkShare]:
    fabrics = {fabric.name: fabric for fabric in design.fabrics}
    for name in dict.fromkeys([*fabrics, *(row.fabric for row in design.bom)]):
        rows = [row for row in design.bom if row.fabric == name]
        usd = round(sum(row.total_usd for row in rows), 2)
        tiers = fabrics[name].tiers if name in fabrics else ()
        yield NetworkShare(
            name,
            sum(tier.count for tier in tiers),
            _rack_units(design, fabrics[name]) if name in fabrics else 0,
            usd,
            usd / whole if whole else 0.0,
            sum(row.power_w for row in rows),
        )


def _rack_units(design: Design, fabric: FabricDesign) -> Number:
    embedded = Embedded(design)
    rows = (row for tier in fabric.tiers for row in tier.types)
    return sum(row.count * (embedded.part(row.id, Switch).rack_units or 0) for row in rows)
