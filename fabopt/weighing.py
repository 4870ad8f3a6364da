"""What items weigh in the objective and in the limits, and what a candidate comes to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabopt.finance import Weights, weights_of
from fabopt.goods import Item
from fabopt.problem import WIRES, Problem, of_item
from fabopt.topology.candidate import Candidate
from fabopt.topology.needs import Floats


def stage_weights(problem: Problem, weights: Weights | None = None) -> Floats:
    """Objective (or other) weight of one unit of every item first used at each stage, shape (stages, items).

    The least price that any break allows, with the share of spares that every unit asks for, and energy from then on.
    """
    weights = weights or problem.weights
    present = bool(weights.energy)
    rows = [
        [
            weights.per_cent * item.least_cents(stage, present) * spare_share(item) + of_item(weights, stage, item)
            for item in problem.goods.items
        ]
        for stage in range(len(problem.stages))
    ]
    return np.array(rows, dtype=float)


def stage_steps(problem: Problem) -> Floats:
    """What a unit that is there by a stage costs at least more than one of the next, shape (stages - 1, items)."""
    least = np.minimum.accumulate(stage_weights(problem), axis=0)
    return np.asarray(least[:-1] - least[1:])


def spare_share(item: Item) -> float:
    """Units to be had for every one in use, at least."""
    return 1.0 if item.spares is None or item.spares.per == "site" else 1.0 + item.spares.fraction


def weights_table(problem: Problem) -> tuple[Floats, Floats]:
    """Item weights by metric, shape (metrics, items), and the most of each metric that all fabrics may use.

    Row 0 is the objective, the least of all stages (see ``stage_weights``); the others are those that a limit caps, of
    the case or of its last stage. Slots for cards are a limit too where several fabrics share them.
    """
    items = problem.goods.items
    last = len(problem.stages) - 1
    cents = np.array([item.least_cents(last) * spare_share(item) for item in items], dtype=float)
    power = np.array([item.power_mw for item in items], dtype=float)
    units = np.array([item.rack_milliunits for item in items], dtype=float)
    cards = np.array([item.kind == "nic" for item in items], dtype=float)
    switches = np.array([item.kind == "switch" for item in items], dtype=float)
    wires = np.array([item.kind in WIRES for item in items], dtype=float)
    limits = problem.limits_in_all
    tco = weights_of("tco_usd", problem.energy_cents_per_mw)
    rows = [stage_weights(problem).min(axis=0)]
    caps = [np.inf]
    budget = None if limits.capex_cents is None else limits.capex_cents - problem.fixed_cents + stock_value(problem)
    power_mw = None if limits.power_mw is None else limits.power_mw - problem.fixed_power_mw
    slots = problem.nic_slots * problem.servers if len(problem.fabrics) > 1 else None
    total = None
    if limits.tco_scaled is not None:
        total = limits.tco_scaled - problem.fixed_in(tco) + tco.per_cent * stock_value(problem, True)
    for row, most in (
        (cents, budget),
        (power, power_mw),
        (units, limits.rack_milliunits),
        (cards, slots),
        (switches, limits.switches),
        (wires, limits.cables),
        (stage_weights(problem, tco).min(axis=0), total),
    ):
        if most is not None:
            rows.append(row)
            caps.append(float(most))
    return np.array(rows), np.array(caps)


def stock_value(problem: Problem, present: bool = False) -> int:
    """What the stock on hand can save at most, in cents."""
    return sum(item.stock * item.least_cents(0, present) for item in problem.goods.items if item.kind != "server")


def least_of(candidate: Candidate, weights: Floats) -> float:
    """The least that a candidate can cost at weights of the items."""
    total = sum(float(weights[item.index]) * count for item, count in candidate.fixed.items())
    for choice in candidate.choices:
        costs = [sum(weights[item.index] * n for item, n in option.items.items()) for option in choice.options]
        total += float(min(costs)) * choice.count
    return total


def uses_of(candidate: Candidate, table: Floats, weights: Floats) -> Floats:
    """What a candidate takes of every metric of a table if its links are made for the least weight."""
    total = np.zeros(len(table))
    for item, count in candidate.fixed.items():
        total += table[:, item.index] * count
    for choice in candidate.choices:
        costs = [sum(weights[item.index] * n for item, n in option.items.items()) for option in choice.options]
        for item, n in choice.options[int(np.argmin(costs))].items.items():
            total += table[:, item.index] * n * choice.count
    return total


def distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Every candidate once."""
    return list({(one.fabric, one.order): one for one in candidates}.values())


def first_of_each(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first candidate of every fabric."""
    first: dict[str, Candidate] = {}
    for one in candidates:
        first.setdefault(one.fabric, one)
    return list(first.values())


def tolerance(bound: float) -> float:
    """By how much a floating-point bound may be off the integer that it stands for."""
    return 1e-9 * abs(bound) + 0.5


def beyond_limits(table: Floats, caps: Floats, bound: float) -> float:
    """The slack over a bound beyond which no design is within the limits; infinite where none is on the objective."""
    same = [cap for row, cap in zip(table[1:], caps[1:], strict=True) if np.array_equal(row, table[0])]
    return max(0.0, min(same, default=np.inf) - bound) + tolerance(bound)
