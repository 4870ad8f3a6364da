"""Sides of a comparison: whole designs, designs as of a stage, and bills as a quote offers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from fabopt.design.bill import KIND_OF, KIND_ORDER
from fabopt.design.shares import Part, in_service, part_of, with_shares
from fabopt.inspect.quote_audit import QuoteComparison
from fabopt.schema.catalog import Catalog
from fabopt.schema.design import BomRow, Design, FabricDesign, Metrics, Number, StageDesign
from fabopt.schema.in_service import Base, Joins, live_in
from fabopt.units import cents, usd


class Ordered(NamedTuple):
    """Purchases of a part: units and cents; ``list_cents`` without price breaks and surcharges; spares among the
    units; beside them units from stock, and units in service.
    """

    units: int = 0
    cents: int = 0
    list_cents: int = 0
    spares: int = 0
    from_stock: int = 0
    in_service: int = 0

    @property
    def owned(self) -> int:
        """Units that are there already."""
        return self.from_stock + self.in_service

    def plus(self, other: Ordered) -> Ordered:
        """Return the sum of two purchases of one part."""
        return Ordered(*(own + more for own, more in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Compared:
    """A design as it is compared.

    name       as it was asked for
    stage      the last stage that counts, from 0
    offer      bill as a quote offers it, in place of the design's own
    notes      what a reader must know of it
    """

    name: str
    design: Design
    stage: int
    offer: tuple[BomRow, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all stages count."""
        return self.stage + 1 >= len(self.design.stages)

    @property
    def stages(self) -> tuple[StageDesign, ...]:
        """The stages that count."""
        return self.design.stages[: self.stage + 1]

    @cached_property
    def rows(self) -> tuple[BomRow, ...]:
        """The lines of the bill that count."""
        if self.offer is not None:
            return self.offer
        design = self.design
        names = {stage.name for stage in self.stages}
        rows = with_shares(design.bom) if design.rules is None else design.bom
        return rows if self.is_whole else tuple(row for row in rows if row.stage in names)

    @cached_property
    def cents(self) -> int:
        """The purchase price."""
        return sum(cents(row.total_usd) for row in self.rows)

    @cached_property
    def bought(self) -> Mapping[Part, Ordered]:
        """Purchases by part, in the bill's order; no charges."""
        sums: dict[Part, Ordered] = {}
        live = in_service(self.rows, {} if self.base is None else self.base.owned)
        for row, units in sorted(zip(self.rows, live, strict=True), key=lambda pair: KIND_ORDER.index(pair[0].kind)):
            if row.kind != "other":
                sums[part_of(row)] = sums.get(part_of(row), Ordered()).plus(_bought(row, units))
        return sums

    @cached_property
    def base(self) -> Base | Joins | None:
        """What the case has in service."""
        return live_in(self.design.case.content)

    def stage_of(self, other: Compared) -> int | None:
        """The stage of another side's design, from 0, that this one's case has in service; None if that is another."""
        there = None if self.base is None else self.base.design
        if self.base is None or there is None or there["case"]["sha256"] != other.design.case.sha256:
            return None
        is_same = there["bom"] == other.design.model_dump(mode="json", by_alias=True)["bom"]
        return self.base.stage if is_same else None

    def goes_on_from(self, other: Compared) -> bool:
        """Whether another side is what this one's case has in service, and goes on from."""
        return isinstance(self.base, Base) and self.stage_of(other) == other.stage

    def metrics_of(self, fabric: FabricDesign) -> tuple[Metrics, Mapping[str, Number]]:
        """Bandwidth and oversubscription of a fabric at the stage."""
        if not self.is_whole and len(fabric.growth) > self.stage:
            grown = fabric.growth[self.stage]
            return grown.metrics, grown.oversubscription
        return fabric.metrics, fabric.oversubscription


def _bought(row: BomRow, live: int) -> Ordered:
    """``live``: units of the row that are in service."""
    single = row.unit_price_usd if row.single_price_usd is None else row.single_price_usd
    spares = max(0, row.spares - row.from_stock - row.from_earlier)
    return Ordered(
        row.quantity, cents(row.total_usd), row.quantity * cents(single), spares, row.from_stock - live, live
    )


def whole(name: str, design: Design) -> Compared:
    """A design with all its stages."""
    return Compared(name, design, max(0, len(design.stages) - 1))


def offered(side: Compared, name: str, comparison: QuoteComparison, catalog: Catalog) -> Compared:
    """The bill of a side as a quote offers it: quoted units and prices; charges as the design has them, as no quote's
    charges are in its sums.
    """
    kinds = {product.id: word for field, word in KIND_OF.items() for product in getattr(catalog, field)}
    rows = [row for row in side.rows if row.kind == "other"]
    known = {part_of(row)[1:]: row for row in side.rows}
    for (part, length_m), quoted in comparison.quoted.items():
        planned = comparison.planned.get((part, length_m))
        units = quoted.quantity if quoted.quantity is not None else planned.quantity if planned else 0
        surcharge = planned.expedite_cents if planned else 0
        like = known.get((part, length_m))
        rows.append(
            BomRow(
                stage=side.stages[-1].name if side.stages else "",
                fabric="",
                kind=kinds[part],
                id=part,
                part_number=planned.part_number if planned else "",
                description=like.description if like else quoted.lines[0].description,
                length_m=length_m if like is None else like.length_m,
                quantity=units,
                in_use=units,
                unit_price_usd=quoted.unit_usd,
                total_usd=usd(units * cents(quoted.unit_usd) + surcharge),
                power_w=0,
            )
        )
    return replace(side, name=name, offer=tuple(rows))


def parts_of(sides: Iterable[Compared]) -> tuple[Part, ...]:
    """All parts that sides buy or use, by kind, id and length."""
    parts = {part for side in sides for part in side.bought}
    return tuple(sorted(parts, key=lambda part: (KIND_ORDER.index(part[0]), part[1], part[2] or 0)))
