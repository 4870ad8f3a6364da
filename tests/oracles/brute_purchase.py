"""What to buy for one structure at least cost: the purchase half of the brute force.

Exact under limits and the rules of buying (breaks, orders, packs, stock, supply, spares, part numbers): all splits of
the units over their joinings are walked, unit by unit; two ways to the same quantities of the specially priced items
are told apart only by their linear cost and power.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from tests.oracles.brute_parts import Item, ItemTable, Json, Mode, Unit, exact

Number = int | Fraction
Classes = Sequence[tuple[int, tuple[Unit, ...]]]


class Terms(NamedTuple):
    """What is minimized and what may be spent (None: no limit); money in cents, power in milliwatts."""

    metric: str
    rate: Fraction
    budget: Fraction | None
    power: Fraction | None
    rack_units: Fraction | None

    def value(self, capex: int, power: int) -> Number:
        if self.metric == "power_w":
            return power
        return capex if self.metric == "capex_usd" else capex + power * self.rate

    @property
    def limited(self) -> bool:
        return self.budget is not None or self.power is not None


def terms_of(case: Json) -> Terms:
    """``rate``: cents that a milliwatt costs over the years."""
    finance = case.get("finance", {})
    limits = case.get("limits") or {}
    price = exact(finance.get("energy_usd_per_kwh", "0.10")) * exact(finance.get("pue", "1.4"))
    rate = price * exact(finance.get("years", 5)) * 8760 * 100 / 1_000_000
    scaled = [
        None if limits.get(name) is None else exact(limits[name]) * scale
        for name, scale in (("budget_usd", 100), ("power_w", 1000), ("rack_units", 1))
    ]
    return Terms(case.get("objective", "capex_usd"), rate, *scaled)


class Purchase(NamedTuple):
    """The best purchase: ``keys`` are the joinings, sorted; ``used`` the items built in."""

    value: Number
    capex: int
    power: int
    cables: int
    keys: tuple[Any, ...]
    used: dict[Item, int]
    bought: dict[Item, int]


class _Option(NamedTuple):
    special: tuple[int, ...]
    capex: int
    power: int
    cables: int
    key: Any
    index: int
    items: frozenset[Item]


class _Path(NamedTuple):
    """How a state was reached: the counts of every unit, and what ties are broken by."""

    cables: int
    keys: frozenset[Any]
    counts: tuple[int, ...]
    items: frozenset[Item]

    def order(self) -> Any:
        return self.cables, len(self.items), sorted(self.keys)


def least_of(item_table: ItemTable, terms: Terms, classes: Classes) -> tuple[Number, int, int]:
    """Lower bounds of (value, capex, power) of the units, each on its own, at lowest prices and without stock."""
    value: Number = 0
    capex = power = 0
    for number, units in classes:
        costs = [linear(item_table, unit) for unit in units]
        value += number * min(terms.value(*cost) for cost in costs)
        capex += number * min(cost[0] for cost in costs)
        power += number * min(cost[1] for cost in costs)
    return value, capex, power


def useful_modes(item_table: ItemTable, found: list[Mode]) -> list[Mode]:
    """Leave out units and modes that another one beats or equals in everything that can count."""
    kept: list[Mode] = []
    for mode in found:
        classes = tuple((number, useful_units(item_table, units)) for number, units in mode.classes)
        kept.append(mode._replace(classes=classes))
    if any(len(units) > 1 for mode in kept for _, units in mode.classes):
        return kept
    ranks = [mode_rank(item_table, mode) for mode in kept]
    return [
        mode
        for at, mode in enumerate(kept)
        if not any(dominates(other, ranks[at]) for by, other in enumerate(ranks) if by != at)
    ]


def useful_units(item_table: ItemTable, units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    ranks = [unit_rank(item_table, unit, 1) for unit in units]
    return tuple(
        unit
        for at, unit in enumerate(units)
        if not any(dominates(other, ranks[at]) for by, other in enumerate(ranks) if by != at)
    )


def mode_rank(item_table: ItemTable, mode: Mode) -> Any:
    """As ``unit_rank``, of a mode whose classes have one unit each."""
    ranks = [unit_rank(item_table, units[0], number) for number, units in mode.classes]
    costs = tuple(sum(column) for column in zip(*(rank[1] for rank in ranks), strict=True))
    cages, keys = (mode.near_cages, mode.far_cages), tuple(sorted(rank[2] for rank in ranks))
    return cages, costs, keys, any(rank[3] for rank in ranks)


def unit_rank(item_table: ItemTable, unit: Unit, number: int) -> Any:
    """(cages, costs, key, whether anything in it is specially priced)."""
    capex, power = linear(item_table, unit)
    special = any(item_table.special(item) for item, _ in unit.items)
    return (), (number * capex, number * power, number * unit.cables), unit.key, special


def dominates(one: Any, other: Any) -> bool:
    """Whether ``other`` can never be needed beside ``one``: dearer in something and cheaper in nothing."""
    if one[3] or other[3]:
        return False
    if any(a > b for a, b in zip(one[0] + one[1], other[0] + other[1], strict=True)):
        return False
    return one[1] != other[1]


def linear(item_table: ItemTable, unit: Unit) -> tuple[int, int]:
    """(cents, milliwatts) of a unit at the lowest prices."""
    if unit.items not in item_table.costs:
        capex = sum(number * item_table.least(item) for item, number in unit.items)
        item_table.costs[unit.items] = capex, sum(number * item_table.power[item] for item, number in unit.items)
    return item_table.costs[unit.items]


def buy(
    item_table: ItemTable, terms: Terms, fixed: Counter[Item], fixed_power: int, classes: Classes
) -> Purchase | None:
    """The cheapest purchase that covers the fixed items and all classes, or None."""
    specials = special_items(item_table, fixed, classes)
    if not specials:
        purchase = buy_linear(item_table, terms, fixed, fixed_power, classes)
        if within(terms, purchase):
            return purchase
        if not terms.limited:
            return None
    return buy_any(item_table, terms, fixed, fixed_power, classes, specials)


def special_items(item_table: ItemTable, fixed: Counter[Item], classes: Classes) -> list[Item]:
    items = set(fixed)
    for _, units in classes:
        for unit in units:
            items.update(item for item, _ in unit.items)
    return sorted((item for item in items if item_table.special(item)), key=str)


def within(terms: Terms, purchase: Purchase) -> bool:
    if terms.budget is not None and purchase.capex > terms.budget:
        return False
    return terms.power is None or purchase.power <= terms.power


def buy_linear(
    item_table: ItemTable, terms: Terms, fixed: Counter[Item], fixed_power: int, classes: Classes
) -> Purchase:
    """Where every piece has one price each class takes its cheapest unit."""
    used: Counter[Item] = Counter(fixed)
    keys, cables = set(), 0

    def order(unit: Unit) -> Any:
        capex, power = linear(item_table, unit)
        return terms.value(capex, power), capex, power, unit.cables

    least = [min(map(order, units)) for _, units in classes]
    equal = [[unit for unit in units if order(unit) == best] for (_, units), best in zip(classes, least, strict=True)]
    chosen = min(product(*equal), key=lambda units: (part_numbers(units, fixed), sorted({unit.key for unit in units})))
    for (number, _), best in zip(classes, chosen, strict=True):
        for item, pieces in best.items:
            used[item] += number * pieces
        keys.add(best.key)
        cables += number * best.cables
    capex = sum(item_table.least(item) * pieces for item, pieces in used.items())
    power = fixed_power + sum(item_table.power[item] * (pieces - fixed[item]) for item, pieces in used.items())
    return Purchase(terms.value(capex, power), capex, power, cables, tuple(sorted(keys)), dict(used), dict(used))


def part_numbers(units: Iterable[Unit], fixed: Iterable[Item]) -> int:
    """Products, or lengths of one, that are in use."""
    return len({*fixed, *(item for unit in units for item, _ in unit.items)})


def buy_any(
    item_table: ItemTable, terms: Terms, fixed: Counter[Item], fixed_power: int, classes: Classes, specials: list[Item]
) -> Purchase | None:
    """All splits of all classes; a state is the quantities of the special items, with its cost and power fronts."""
    start = tuple(fixed[item] for item in specials)
    fixed_capex = sum(item_table.least(item) * number for item, number in fixed.items() if item not in specials)
    width = sum(len(units) for _, units in classes)
    fronts = {start: {(fixed_capex, fixed_power): _Path(0, frozenset(), (0,) * width, frozenset(fixed))}}
    index = 0
    all_units: list[Unit] = []
    for number, units in classes:
        options = [option_of(item_table, unit, specials, index + at) for at, unit in enumerate(units)]
        index += len(units)
        all_units += units
        for _ in range(number):
            fronts = add_unit(item_table, terms, fronts, options, specials)
    return best_end(item_table, terms, fronts, specials, fixed, all_units)


def option_of(item_table: ItemTable, unit: Unit, specials: list[Item], index: int) -> _Option:
    items = dict(unit.items)
    capex = sum(item_table.least(item) * number for item, number in unit.items if item not in specials)
    power = sum(item_table.power[item] * number for item, number in unit.items)
    return _Option(
        tuple(items.get(item, 0) for item in specials), capex, power, unit.cables, unit.key, index, frozenset(items)
    )


def add_unit(item_table: ItemTable, terms: Terms, fronts: Any, options: list[_Option], specials: list[Item]) -> Any:
    out: dict[tuple[int, ...], dict[tuple[int, int], _Path]] = {}
    for state, front in fronts.items():
        for option in options:
            after = tuple(a + b for a, b in zip(state, option.special, strict=True))
            if any(item_table.order(item, number) is None for item, number in zip(specials, after, strict=True)):
                continue
            target = out.setdefault(after, {})
            for (capex, power), path in front.items():
                cost = (capex + option.capex, power + option.power)
                if terms.power is not None and cost[1] > terms.power:
                    continue
                counts = list(path.counts)
                counts[option.index] += 1
                new = _Path(
                    path.cables + option.cables, path.keys | {option.key}, tuple(counts), path.items | option.items
                )
                if cost not in target or new.order() < target[cost].order():
                    target[cost] = new
    return {state: thin(terms, front) for state, front in out.items()}


def thin(terms: Terms, front: dict[tuple[int, int], _Path]) -> dict[tuple[int, int], _Path]:
    """Keep what no other beats in cost and power; without limits only the least."""
    if not front:
        return front
    if not terms.limited:
        best = min(front, key=lambda cost: (terms.value(*cost), *cost))
        return {best: front[best]}
    kept, least = {}, None
    for cost in sorted(front):
        if least is None or cost[1] < least:
            kept[cost] = front[cost]
            least = cost[1]
    return kept


def best_end(
    item_table: ItemTable, terms: Terms, fronts: Any, specials: list[Item], fixed: Counter[Item], units: list[Unit]
) -> Purchase | None:
    best: Any = None
    for state, front in fronts.items():
        orders = [item_table.order(item, number) for item, number in zip(specials, state, strict=True)]
        if any(order is None for order in orders):
            continue
        if item_table.too_many(item for item, number in zip(specials, state, strict=True) if number):
            continue
        if item_table.over_supply({item: order[0] for item, order in zip(specials, orders, strict=True) if order}):
            continue
        extra = sum(order[1] for order in orders if order)
        for (linear_capex, power), path in front.items():
            capex = linear_capex + extra
            rank = (terms.value(capex, power), capex, power, *path.order())
            over = terms.budget is not None and capex > terms.budget
            if not over and (terms.power is None or power <= terms.power) and (best is None or rank < best[0]):
                best = (rank, path)
    if best is None:
        return None
    (value, capex, power, cables, _, keys), path = best
    used: Counter[Item] = Counter(fixed)
    for count, unit in zip(path.counts, units, strict=True):
        for item, number in unit.items:
            used[item] += count * number
    bought = {item: (item_table.order(item, number) or (0, 0))[0] for item, number in used.items()}
    return Purchase(value, capex, power, cables, tuple(keys), dict(used), bought)
