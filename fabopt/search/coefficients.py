"""Weights of items in the objective and in the limits, and sums of candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.finance import Weights
from fabopt.parts.items import CABLE_KINDS, Item
from fabopt.problem.exchanges import exchanged, in_place_of, is_exchanged, most_together, pooled
from fabopt.problem.limits import supplied_by
from fabopt.problem.problem import Problem, of_item
from fabopt.schema.topologies import TIERED
from fabopt.topology.candidate import Candidate
from fabopt.topology.family import RELATIVE_SLACK, AnyBatch, Sizing
from fabopt.topology.link_parts import Floats
from fabopt.topology.stage_limits import are_within, has_limits
from fabopt.units import Number


def stage_weights(
    problem: Problem, weights: Weights | None = None, most: int | None = None, counted: Floats | None = None
) -> Floats:
    """Objective (or other) weight of one unit of every item first used at each stage, shape (stages, items).

    The least price of any break, with the share of spares for every unit, and energy from then on.
    ``most``: the most cents of a design, which excludes breaks that need a dearer order.
    ``counted``: counted shares of prices, shape (items,), for items in stock (``search.stock_shares``).
    """
    weights = weights or problem.weights
    present = bool(weights.energy)
    shares = _all_of_it(problem) if counted is None else counted
    rows = [
        [
            weights.per_cent * shares[item.index] * _least_cents(item, stage, present, most)
            + weights.per_cent * item.work_cents(stage, present)
            + of_item(weights, stage, item)
            for item in problem.item_table.items
        ]
        for stage in range(len(problem.stages))
    ]
    return _with_others(problem, np.array(rows, dtype=float))


def _all_of_it(problem: Problem) -> Floats:
    return np.ones(len(problem.item_table.items))


def _least_cents(item: Item, stage: int, present: bool, most: int | None) -> float:
    """Least cents of a unit in use, labour apart; 0 for charges on fabrics, which are in ``fixed_objective``, and for
    labour, which is on its parts.
    """
    return 0.0 if item.is_lump else item.least_cents(stage, present, most) * spare_share(item)


def _least_ever(item: Item) -> float:
    """Least cents of an installed unit at any stage."""
    if item.is_lump:
        return 0.0
    return item.least_ever() * spare_share(item) + min(map(item.work_cents, range(len(item.offers))))


def _with_others(problem: Problem, weights: Floats) -> Floats:
    """Weights with each device at most as heavy as its possible substitutes (``problem.exchanges``)."""
    least = weights.copy()
    for fabric in problem.fabrics:
        for device_id, items in exchanged(fabric):
            item = problem.item_table.item(device_id)
            if item is not None:
                cheapest = weights[:, [item.index, *(other.index for other in items)]].min(axis=1)
                least[:, item.index] = np.minimum(least[:, item.index], cheapest)
    return least


def stage_steps(problem: Problem, most: int | None = None, counted: Floats | None = None) -> Floats:
    """Least extra weight of a unit installed at a stage instead of the next, shape (stages - 1, items)."""
    least = np.minimum.accumulate(stage_weights(problem, None, most, counted), axis=0)
    return np.asarray(least[:-1] - least[1:])


def spare_share(item: Item) -> float:
    """Least units to buy for each unit in use, spares included."""
    return 1.0 if item.spares is None or item.spares.per == "site" else 1.0 + item.spares.fraction


def weights_table(problem: Problem) -> tuple[Floats, Floats]:
    """Item weights by metric, shape (metrics, items), and the limit of each metric over all fabrics.

    Row 0 is the objective, the least of all stages (see ``stage_weights``); the others are metrics with a limit of the
    case or its last stage. NIC slots are a limit too where several fabrics share them.
    """
    items = problem.item_table.items
    cents = np.array([_least_ever(item) for item in items], dtype=float)
    power = np.array([item.power_mw for item in items], dtype=float)
    units = np.array([item.rack_milliunits for item in items], dtype=float)
    nics = np.array([item.kind == "nic" for item in items], dtype=float)
    switches = np.array([item.kind == "switch" for item in items], dtype=float)
    cables = np.array([item.kind in CABLE_KINDS for item in items], dtype=float)
    limits = problem.limits_in_all
    tco = problem.weights_in("tco_usd")
    rows = [stage_weights(problem).min(axis=0)]
    caps = [np.inf]
    budget = None if limits.capex_cents is None else limits.capex_cents - problem.fixed_cents + stock_value(problem)
    power_mw = None if limits.power_mw is None else limits.power_mw - problem.fixed_power_mw
    slots = problem.nic_slots * problem.servers if problem.shares_slots else None
    total = None
    if limits.tco_scaled is not None:
        total = limits.tco_scaled - problem.fixed_in(tco) + tco.per_cent * stock_value(problem, True)
    for row, most in (
        (cents, budget),
        (power, power_mw),
        (units, limits.rack_milliunits),
        (nics, slots),
        (switches, limits.switches),
        (cables, limits.cables),
        (stage_weights(problem, tco).min(axis=0), total),
    ):
        if most is not None:
            rows.append(row)
            caps.append(float(most))
    return _with_others(problem, np.array(rows)), np.array(caps)


def stock_value(problem: Problem, present: bool = False, most: int | None = None) -> int:
    """The most cents that the stock on hand can save; ``most``: as in ``stage_weights``."""
    return sum(item.stock_value(present, most) for item in problem.item_table.items if item.kind != "server")


def stock_weights(problem: Problem, most: int | None = None) -> Floats:
    """The most that each item's stock can save in the objective, shape (items,); ``most``: as in ``stage_weights``."""
    present = bool(problem.weights.energy)
    saved = [0 if item.kind == "server" else item.stock_value(present, most) for item in problem.item_table.items]
    return problem.weights.per_cent * np.array(saved, dtype=float)


def without_dear_switches(
    problem: Problem, sizing: Sizing, slack: float, most: int | None, counted: Floats | None = None
) -> Sizing:
    """A sizing without candidates past the cutoff when switches are priced at their break for the candidate's number.

    ``most``, ``counted``: as in ``stage_weights``, of shape (items,) where it is given.
    """
    limit = (sizing.least + slack) * (1 + RELATIVE_SLACK)
    kept = []
    for batch in sizing.batches:
        inside = np.flatnonzero(batch.cost[0] + switch_surcharge(problem, batch, most, counted) <= limit)
        if inside.size:
            kept.append(batch.take(inside))
    return replace(sizing, batches=kept)


def without_short_devices(problem: Problem, sizing: Sizing) -> Sizing:
    """A sizing without candidates with more switches or NICs than their supply by some stage.

    Rules ``supply_lasts``, ``orders_arrive_in_time`` and ``quarterly_supply_lasts``; the program holds the rest:
    spares, whole packs, orders of other fabrics. Exchangeable switches are limited by the supply of all their
    substitutes.
    """
    boxes = (item for item in problem.item_table.items if item.kind in ("switch", "nic"))
    if not any(item.is_ordered or item.supply.rationed for item in boxes):
        return sizing
    kept = []
    for batch in sizing.batches:
        inside = np.flatnonzero(_are_there(problem, batch))
        if inside.size:
            kept.append(batch if inside.size == len(batch) else batch.take(inside))
    return replace(sizing, batches=kept)


def _are_there(problem: Problem, batch: AnyBatch) -> NDArray[np.bool_]:
    """Whether the devices of candidates can be there in time, shape (size,)."""
    there, nic = np.ones(len(batch), dtype=bool), batch.parts.nic
    fabric = batch.fabric
    last = len(problem.stages) - 1
    others = in_place_of(problem, fabric)
    for number, stage in enumerate(problem.stages):
        counts: dict[Item, Number] = dict(batch.switch_counts() if number == last else batch.leaves_by(stage.servers))
        if nic.item is not None:
            counts[nic.item] = nic.nics_per_server * stage.servers
        for pool in pooled(counts, others):
            there &= np.asarray(sum(counts[item] for item in pool.sized) <= most_together(pool.products, number))
        for quota, units in supplied_by(problem.deliveries, number).items():
            bought = [
                np.maximum(0, count - item.supply.stock)
                for item, count in counts.items()
                if quota.holds(item.kind, item.sold_by.vendor) and not is_exchanged(fabric, item)
            ]
            there &= np.asarray(sum(bought) <= units)
    return there


def is_there_in_time(candidate: Candidate) -> bool:
    """Whether the devices of a candidate are supplied by each of its stages, if no other fabric needs any."""
    added: dict[Item, dict[int, int]] = defaultdict(dict)
    for (stage, item), count in candidate.devices.items():
        if item.is_short:
            added[item][stage] = count
    for item, by_stage in added.items():
        for stage in by_stage:
            most = item.most_by(stage)
            if most is not None and sum(count for when, count in by_stage.items() if when <= stage) > most:
                return False
    return True


def switch_surcharge(problem: Problem, batch: AnyBatch, most: int | None, counted: Floats | None = None) -> Floats:
    """Surcharge of each candidate's switches over the least price of any break, shape (size,).

    ``most``, ``counted``: as in ``stage_weights``. A candidate's number of switches may not reach that break, and
    spares are bought too; infinite above the most part numbers. 0 for several fabrics, networks without tiers,
    exchangeable switches; for breaks also with stock or spares.
    """
    total = np.zeros(len(batch))
    if len(problem.fabrics) > 1 or not problem.weights.per_cent or batch.family not in TIERED:
        return total
    counts: dict[Item, Floats] = {item: total + count for item, count in batch.switch_counts().items()}
    if any(is_exchanged(batch.fabric, item) for item in counts):
        return total
    for item, count in counts.items():
        if not item.supply.stock and item.spares is None and not item.orders.incremental:
            total = total + problem.weights.per_cent * _more_for(problem, item, count, most)
    if len(counts) > (problem.offering.terms.most_part_numbers("switch") or len(counts)):
        return total + np.inf
    return total + problem.weights.per_cent * _spares_beside(problem, counts, most, counted)


def _spares_beside(
    problem: Problem, counts: Mapping[Item, Floats], most: int | None, counted: Floats | None
) -> Floats | float:
    """Least cents of spare switches beyond the share that every unit bears (``spare_share``).

    A site's spares are of the cheapest product in use; stock on hand is counted by ``stock_weights``.
    """
    rule = next(iter(counts)).spares
    if rule is None:
        return 0.0
    present, shares = bool(problem.weights.energy), _all_of_it(problem) if counted is None else counted
    prices = {item: shares[item.index] * item.least_ever(present, most) for item in counts}
    if rule.per == "site":
        in_use = np.asarray(sum(counts.values()))
        return np.asarray(min(prices.values()) * np.maximum(rule.minimum, rule.fraction * in_use))
    beside = [prices[item] * np.maximum(0.0, rule.minimum - rule.fraction * count) for item, count in counts.items()]
    return np.asarray(sum(beside))


def _more_for(problem: Problem, item: Item, count: Floats, most: int | None) -> Floats:
    """Surcharge in cents of ``count`` units over the least price, whenever they are ordered.

    An order that reaches a break counts for no more units than are used. A cent per unit and stage allows for rounding.
    """
    present, stages = bool(problem.weights.energy), range(len(problem.stages))
    least = item.least_ever(present, most)
    price = np.full(len(count), np.inf)
    for stage in stages:
        for price_break, start in enumerate(item.orders.starts):
            price = np.minimum(price, item.price(stage, price_break, present) * np.maximum(start, count) / count)
    return np.asarray(np.maximum(0.0, count * (price - least - len(stages))))


def least_of(candidate: Candidate, weights: Floats) -> float:
    """The least that a candidate can cost at weights of the items, shape (items,)."""
    total = sum(float(weights[item.index]) * count for item, count in candidate.fixed.items())
    for choice in candidate.choices:
        costs = [sum(weights[item.index] * n for item, n in option.items.items()) for option in choice.options]
        total += float(min(costs)) * choice.count
    return total


def uses_of(candidate: Candidate, table: Floats, weights: Floats) -> Floats:
    """A candidate's use of every metric, shape (metrics,), with the parts of its links of least weight.

    ``table``: weights of items by metric, shape (metrics, items); ``weights``: to be minimized, shape (items,).
    """
    total = np.zeros(len(table))
    for item, count in candidate.fixed.items():
        total += table[:, item.index] * count
    for choice in candidate.choices:
        costs = [sum(weights[item.index] * n for item, n in option.items.items()) for option in choice.options]
        for item, n in choice.options[int(np.argmin(costs))].items.items():
            total += table[:, item.index] * n * choice.count
    return total


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The distinct candidates."""
    return list({(candidate.fabric, candidate.order): candidate for candidate in candidates}.values())


def first_of_each(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first candidate of every fabric."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.fabric, candidate)
    return list(first.values())


def tolerance(bound: float) -> float:
    """The largest error of a floating-point bound on an integer."""
    return 1e-9 * abs(bound) + 0.5


def beyond_limits(table: Floats, caps: Floats, bound: float) -> float:
    """The slack over a bound beyond which no design is within the limits; infinite without a limit on the objective.

    ``table``: shape (metrics, items); ``caps``: shape (metrics,).
    """
    same = [cap for row, cap in zip(table[1:], caps[1:], strict=True) if np.array_equal(row, table[0])]
    return max(0.0, min(same, default=np.inf) - bound) + tolerance(bound)


# -- sizes whose devices alone exceed the limits of stages are left out before candidates are built -------------------


def without_unfit_devices(problem: Problem, sizing: Sizing) -> Sizing:
    """A sizing without candidates whose devices are not supplied in time or exceed the stages' limits."""
    return without_dear_stages(problem, without_short_devices(problem, sizing))


def without_dear_stages(problem: Problem, sizing: Sizing) -> Sizing:
    """A sizing without candidates whose switches and NICs exceed the limits of some stage."""
    if not has_limits(problem):
        return sizing
    kept = []
    for batch in sizing.batches:
        devices = partial(_devices_by, problem, batch)
        inside = np.flatnonzero(are_within(problem, batch.fabric, len(batch), devices))
        if inside.size:
            kept.append(batch if inside.size == len(batch) else batch.take(inside))
    return replace(sizing, batches=kept)


def _devices_by(problem: Problem, batch: AnyBatch, stage: int) -> Mapping[Item, Number]:
    """Switches and NICs of candidates by a stage: before the last stage leaves alone."""
    servers, nic = problem.stages[stage].servers, batch.parts.nic
    is_last = stage == len(problem.stages) - 1
    counts: dict[Item, Number] = dict(batch.switch_counts() if is_last else batch.leaves_by(servers))
    if nic.item is not None:
        counts[nic.item] = nic.nics_per_server * servers
    return counts
