"""The bill of a design: its rows, its totals, and each stage's spending and installed devices, all added up here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from fabopt.design.shares import with_shares
from fabopt.parts.finance import UnitCharge
from fabopt.parts.items import Item
from fabopt.parts.procurement import MONTH_DIGITS, order_month, planned_airflow
from fabopt.problem.problem import Problem
from fabopt.program.orders import (
    Order,
    Picked,
    all_uses,
    booked_uses,
    common_uses,
    energy_of,
    order_of,
    stage_power_mw,
    sums_of,
    weighed_cents,
)
from fabopt.schema.catalog import Switch
from fabopt.schema.design import MOVED_CABLE, MOVED_DESCRIPTION, BomRow, FabricDesign, StageDesign, Totals
from fabopt.schema.product import Airflow, ChargeWord, Product
from fabopt.topology.candidate import Uses
from fabopt.units import milliwatts, plain_fraction, rounded, summed, usd, watts

# -- the lines of a bill for charges beside parts ---------------------------------------------------------------------


class ChargedUnits(NamedTuple):
    """Units of an item that a line buys of an order: those from ``first`` on, of ``ordered`` in all."""

    item: Item
    stage: int
    first: int
    units: int
    ordered: int


class ChargeLine(NamedTuple):
    """Key of charges that share a line of a stage and fabric: name, kind and words."""

    name: str
    what: ChargeWord
    words: str


class ChargeLines:
    """The charges of a stage and fabric, added up charge by charge."""

    def __init__(self) -> None:
        self._amounts: dict[ChargeLine, list[tuple[UnitCharge, int]]] = {}

    def add(self, bought: ChargedUnits) -> None:
        """Add the charges on some units."""
        for price_break, units in _by_break(bought):
            for amount in bought.item.amounts(bought.stage, price_break) if units else ():
                line = ChargeLine(amount.charge.name, amount.charge.what, amount.charge.words)
                self._amounts.setdefault(line, []).append((amount, units))

    def rows(self, stage: str, fabric: str) -> Iterator[BomRow]:
        """The lines, by name: with a number of units where all cost the same, else one for all of them."""
        for line, amounts in sorted(self._amounts.items()):
            once, yearly = (sum(getattr(of_unit, key) * units for of_unit, units in amounts) for key in _SUMS)
            if not once and not yearly:
                continue
            alike = len({(of_unit.once, of_unit.yearly) for of_unit, _ in amounts}) == 1
            quantity = sum(units for _, units in amounts) if alike else 1
            yield BomRow(
                stage=stage,
                fabric=fabric,
                kind="other",
                id=line.name,
                part_number="",
                description=line.words,
                quantity=quantity,
                in_use=0,
                unit_price_usd=usd(amounts[0][0].once if alike else once),
                total_usd=usd(once),
                power_w=0,
                single_price_usd=usd(amounts[0][0].once if alike else once),
                present_value_usd=usd(sum(of_unit.present * units for of_unit, units in amounts)),
                charge=line.what,
                yearly_usd=usd(yearly) if yearly else None,
            )


_SUMS = ("once", "yearly")


def _by_break(bought: ChargedUnits) -> Iterator[tuple[int, int]]:
    """Number of the units by the price break that they pay."""
    item = bought.item
    if not item.orders.incremental:
        yield item.orders.break_of(bought.ordered), bought.units
        return
    ends = [start - 1 for start in item.orders.starts[1:]] + [bought.ordered]
    for price_break, (start, end) in enumerate(zip(item.orders.starts, ends, strict=True)):
        first = max(start, bought.first + 1)
        yield price_break, max(0, min(end, bought.first + bought.units) - first + 1)


# -- the bill of a design ---------------------------------------------------------------------------------------------


Bom = Literal["switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server", "other"]
KIND_ORDER = ("switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server", "other")
KIND_OF: dict[str, Bom] = {
    "switches": "switch",
    "nics": "nic",
    "transceivers": "transceiver",
    "cables": "cable",
    "fibres": "fibre",
    "trunks": "trunk",
    "panels": "panel",
    "servers": "server",
}
ROLES = ("leaf", "spine", "core")


# -- totals and stages --------------------------------------------------------------------------------------------


def totals_of(problem: Problem, picked: Sequence[Picked], rows: Sequence[BomRow]) -> Totals:
    """Totals, exact to the cent and the milliwatt."""
    sums, order = sums_of(problem, picked), order_of(problem, picked)
    in_use = {kind: sum(row.in_use for row in rows if row.kind == kind) for kind in KIND_ORDER}
    server_w, joining = problem.server.power_w, problem.case.gpus_added(problem.gpus)
    cluster = None
    if server_w is not None:
        cluster = watts(sums.power_mw + problem.server.sold_for(problem.servers) * milliwatts(server_w))
    return Totals(
        capex_usd=usd(sums.cents),
        tco_usd=usd(order.worth_cents() + rounded(energy_of(problem, picked))),
        expected_tco_usd=usd(rounded(weighed_cents(problem, picked))) if problem.case.is_uncertain else None,
        power_w=watts(sums.power_mw),
        cluster_power_w=cluster,
        rack_units=watts(sums.rack_milliunits),
        switches=in_use["switch"],
        nics=in_use["nic"],
        transceivers=in_use["transceiver"],
        cables=in_use["cable"] + in_use["fibre"],
        capex_usd_per_gpu=plain_fraction(Fraction(sums.cents, 100 * joining), 2) if joining > 0 else None,
    )


def stage_designs(
    problem: Problem, picked: Sequence[Picked], fabrics: Sequence[FabricDesign]
) -> tuple[StageDesign, ...]:
    """Spending of each stage, and from it on the installed switches, their power, and the recabled cables."""
    order, uses = order_of(problem, picked), all_uses(problem, picked)
    return tuple(
        StageDesign(
            name=stage.name,
            month=stage.month,
            servers=stage.servers,
            gpus=stage.servers * problem.server.gpus,
            capex_usd=usd(order.cents(at)),
            power_w=watts(stage_power_mw(problem, picked, at)),
            fabrics={fabric.name: _switches(fabric, stage.name) for fabric in fabrics},
            present_value_usd=usd(order.worth_cents(at)),
            energy_usd=usd(rounded(energy_of(problem, picked, at, at + 1))),
            rack_units=watts(sum(item.rack_milliunits * n for (when, item), n in uses.items() if when <= at)),
            moved_cables=sum(n for (when, item), n in uses.items() if when == at and item.id == MOVED_CABLE),
        )
        for at, stage in enumerate(problem.stages)
    )


def _switches(fabric: FabricDesign, stage: str) -> dict[str, int]:
    """Switches of each tier that are installed at a stage; all where the design has no growth."""
    for grown in fabric.growth:
        if grown.stage == stage:
            return dict(zip(ROLES, (grown.leaves, grown.spines, grown.cores), strict=True))
    return {role: next((tier.count for tier in fabric.tiers if tier.role == role), 0) for role in ROLES}


# -- the bill ---------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A line before it is priced: fabric and units of an item at a stage; spares count separately."""

    fabric: str
    item: Item
    in_use: int
    spares: int


def bill(problem: Problem, picked: Sequence[Picked]) -> tuple[BomRow, ...]:
    """Rows to order at each stage, by fabric and kind.

    A stage uses its own orders; units that these lack are left of earlier orders, or else in stock, and go to the
    fabrics in order. Units of an order beyond its need go to the last line of the item. Spares, servers and orders for
    later stages have lines of no fabric. Charges come after the parts of their stage and fabric.
    """
    order, products = order_of(problem, picked), products_by_id(problem)
    airflow = _airflow(problem, products, picked)
    rows: list[BomRow] = []
    for stage in range(len(problem.stages)):
        charges: dict[str, ChargeLines] = {}
        lines = list(_lines(problem, picked, order, stage))
        last = {line.item: at for at, line in enumerate(lines)}
        lacks = summed((line.item, line.in_use + line.spares) for line in lines)
        lacks.subtract(_at(order.bought, stage))
        taken: dict[Item, int] = {}
        for place, line in enumerate(lines):
            item, need = line.item, line.in_use + line.spares
            from_store = min(max(0, lacks[item]), need)
            lacks[item] -= from_store
            quantity = need - from_store
            before, ordered = taken.get(item, 0), order.bought.get((stage, item), 0)
            if last[item] == place:
                quantity = ordered - before
            taken[item] = before + quantity
            charged = charges.setdefault(line.fabric, ChargeLines())
            charged.add(ChargedUnits(item, stage, before, quantity, ordered))
            if not item.is_lump:
                rows.append(_row(problem, products, airflow, stage, line, (before, quantity, ordered)))
        rows += (row for name, of in charges.items() for row in of.rows(problem.stages[stage].name, name))
    return with_shares(_in_order(problem, picked, rows))


def _in_order(problem: Problem, picked: Sequence[Picked], rows: Sequence[BomRow]) -> tuple[BomRow, ...]:
    """The rows as they are, charges moved to the others of their stage and fabric."""
    if not any(row.charge for row in rows):
        return tuple(rows)
    stages = [stage.name for stage in problem.stages]
    fabrics = [
        name
        for fabric, of_fabric in zip(problem.fabrics, picked, strict=True)
        for name in booked_uses(problem, fabric.name, of_fabric)
    ]

    def place(row: BomRow) -> tuple[object, ...]:
        where = stages.index(row.stage), [*fabrics, ""].index(row.fabric), row.spares > 0
        return *where, KIND_ORDER.index(row.kind), row.id, row.length_m or 0

    return tuple(sorted(rows, key=place))


def _lines(problem: Problem, picked: Sequence[Picked], order: Order, stage: int) -> Iterator[_Line]:
    """The lines of a stage, in the bill's order."""
    booked = (
        booked_uses(problem, fabric.name, of_fabric) for fabric, of_fabric in zip(problem.fabrics, picked, strict=True)
    )
    uses = [(name, _at(uses, stage)) for fabric in booked for name, uses in fabric.items()]
    shared = _at(common_uses(problem, picked), stage)
    used = {item for _, adds in uses for item in adds} | set(shared)
    early = [item for item, count in _at(order.bought, stage).items() if item not in used and count]
    spares = _at(order.spares, stage)
    uses.append(("", shared | dict.fromkeys((item for item in early if item not in spares), 0)))
    for name, adds in uses:
        for item in sorted(adds, key=_rank):
            yield _Line(name, item, adds[item], 0)
    for item in sorted(spares, key=_rank):
        yield _Line("", item, 0, spares[item])


def _airflow(problem: Problem, products: Mapping[str, tuple[Bom, Product]], picked: Sequence[Picked]) -> Airflow | None:
    """The airflow that switches are ordered in."""
    used = {item.id for _, item in all_uses(problem, picked)}
    switches = (products[id_][1] for id_ in sorted(used & products.keys()))
    return planned_airflow(problem.case, problem.server, (one for one in switches if isinstance(one, Switch)))


def _at(uses: Uses, stage: int) -> dict[Item, int]:
    return {item: count for (at, item), count in uses.items() if at == stage}


def _rank(item: Item) -> tuple[int, str, float]:
    return KIND_ORDER.index(item.kind), item.id, item.length_m or 0


def _row(
    problem: Problem,
    products: Mapping[str, tuple[Bom, Product]],
    airflow: Airflow | None,
    stage: int,
    line: _Line,
    quantities: tuple[int, int, int],
) -> BomRow:
    """A line with its prices. ``quantities``: units of the order before it, its own, and the whole order's."""
    item, (_, quantity, ordered) = line.item.bare, quantities
    kind: Bom
    kind, product = products.get(item.id, ("other", None))
    month, price_break = problem.stages[stage].month, item.orders.break_of(ordered)
    weeks = item.lead_weeks(stage, quantity)
    due = None if quantity == 0 else order_month(month, weeks)
    surcharge = item.offers[stage].time.expedite_cents if quantity else None
    return BomRow(
        stage=problem.stages[stage].name,
        fabric=line.fabric,
        kind=kind,
        id=item.id,
        part_number="" if product is None else part_number(product, item.length_m, airflow),
        description=MOVED_DESCRIPTION[item.id] if product is None else describe(product),
        length_m=whole_metres(item.length_m),
        quantity=quantity,
        in_use=line.in_use,
        unit_price_usd=usd(item.offers[stage].cents[price_break]),
        total_usd=usd(_share(item, stage, quantities, present=False)),
        power_w=watts(item.power_mw * line.in_use),
        spares=line.spares,
        single_price_usd=usd(item.unit_cents[stage]),
        break_from=item.orders.starts[price_break] if len(item.orders.starts) > 1 else None,
        present_value_usd=usd(_share(item, stage, quantities, present=True)),
        lead_time_weeks=weeks,
        order_by_month=None if due is None else plain_fraction(due, MONTH_DIGITS),
        order_by=None if due is None else order_date(problem.case.start, month, weeks),
        expedite_usd=None if surcharge is None else usd(surcharge),
        sold_by=None if product is None else product.sold_by,
    )


def _share(item: Item, stage: int, quantities: tuple[int, int, int], present: bool) -> int:
    """Cents of some units of an order: at incremental breaks the first lines pay for the first units."""
    before, quantity, ordered = quantities
    cost = item.worth_cents if present else item.cost
    if item.orders.incremental:
        return cost(stage, before + quantity) - cost(stage, before)
    offer = item.offers[stage]
    return quantity * ((offer.worth or offer.present) if present else offer.cents)[item.orders.break_of(ordered)]


def order_date(start: str | None, month: int, lead_time_weeks: float | None) -> str | None:
    """The day by which to order for a stage on the first of its month; None without a calendar."""
    if start is None:
        return None
    year, first = (int(word) for word in start.split("-"))
    years, index = divmod(first - 1 + month, 12)
    return (date(year + years, index + 1, 1) - timedelta(weeks=lead_time_weeks or 0)).isoformat()


def whole_metres(value: Any) -> Any:
    """Integer metres as integers, so that the file reads well."""
    return int(value) if value is not None and value == int(value) else value


def describe(product: Product) -> str:
    """The product's description, or its maker and part number."""
    if product.description:
        return product.description
    return " ".join(word for word in (product.vendor, product.part_number or product.id) if word)


def part_number(product: Product, length_m: float | None, airflow: Airflow | None) -> str:
    """The part number of a length, of a switch that of the airflow if known, else of the product, if it does not order
    the other airflow; else empty.
    """
    if isinstance(product, Switch) and airflow is not None and airflow in product.airflows:
        others = {code for way, code in product.airflows.items() if way != airflow}
        return product.airflows[airflow] or ("" if product.part_number in others else product.part_number) or ""
    for length in getattr(product, "lengths", ()):
        if length.m == length_m and length.part_number:
            return str(length.part_number)
    return product.part_number or ""


def products_by_id(problem: Problem) -> dict[str, tuple[Bom, Product]]:
    """Kind and product of every id, as it is offered where it is."""
    return {
        product.id: (kind, product)
        for catalog in (problem.catalog, problem.offering.offered)
        for field, kind in KIND_OF.items()
        for product in getattr(catalog, field)
    }
