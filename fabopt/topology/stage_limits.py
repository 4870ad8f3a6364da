"""Devices that alone exceed the limits of a stage, known before anything above them is sized."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.problem.exchanges import is_exchanged
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.units import Number

# Devices of candidates that are there by a stage, told by its place.
DevicesBy = Callable[[int], Mapping[Item, Number]]


def has_limits(problem: Problem) -> bool:
    """Whether some stage that is sure to come has limits."""
    return not problem.case.is_uncertain and any(stage.limits.are_set for stage in problem.stages)


def are_within(problem: Problem, fabric: FabricProblem, sizes: int, devices: DevicesBy) -> NDArray[np.bool_]:
    """Whether devices of a fabric's candidates are within the limits of every stage, shape (sizes,).

    Devices of a stage have been bought by then, so budgets of a stage and of those before it add up where all are set;
    power and rack units are of all devices in use. Rule ``limits_hold``, of which the program holds the rest.
    """
    within = np.ones(sizes, dtype=bool)
    budget: int | None = 0
    for number, stage in enumerate(problem.stages):
        # what may take the place of a switch may cost less
        counts = {item: count for item, count in devices(number).items() if not is_exchanged(fabric, item)}
        limits = stage.limits
        budget = None if budget is None or limits.capex_cents is None else budget + limits.capex_cents
        if budget is not None:
            within &= np.asarray(sum(_least_cents(item, count, number) for item, count in counts.items()) <= budget)
        if limits.power_mw is not None:
            power_mw = sum(item.power_mw * count for item, count in counts.items())
            within &= np.asarray(power_mw <= limits.power_mw)
        if limits.rack_milliunits is not None:
            units = sum(item.rack_milliunits * count for item, count in counts.items())
            within &= np.asarray(units <= limits.rack_milliunits)
    return within


def _least_cents(item: Item, count: Number, last: int) -> Number:
    """Least cost of ``count`` units bought up to stage ``last``; those in stock cost nothing."""
    return min(item.least_cents(stage) for stage in range(last + 1)) * np.maximum(0, count - item.supply.stock)
