"""Candidates whose devices alone take more than the stages of a case may spend: told before they are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.items import Item
from fabopt.problem.exchanges import is_exchanged
from fabopt.problem.problem import Problem
from fabopt.search.coefficients import without_short_devices
from fabopt.topology.batch import AnyBatch, Sizing
from fabopt.units import Number


def without_unfit_devices(problem: Problem, sizing: Sizing) -> Sizing:
    """A sizing without candidates whose devices cannot be there in time, or not for what stages may spend."""
    return without_dear_stages(problem, without_short_devices(problem, sizing))


def without_dear_stages(problem: Problem, sizing: Sizing) -> Sizing:
    """A sizing without candidates whose switches and NICs of some stage are past its limits.

    What is there by a stage has been bought by then, so budgets of a stage and of those before it add up where all are
    set; power and rack units are of all that is there. Rule ``limits_hold``, of which the program holds the rest.
    """
    if problem.case.is_uncertain or not any(stage.limits.are_set for stage in problem.stages):
        return sizing
    kept = []
    for batch in sizing.batches:
        inside = np.flatnonzero(_are_within(problem, batch))
        if inside.size:
            kept.append(batch if inside.size == len(batch) else batch.take(inside))
    return replace(sizing, batches=kept)


def _are_within(problem: Problem, batch: AnyBatch) -> NDArray[np.bool_]:
    """Whether the devices of candidates are within the limits of every stage, shape (size,)."""
    within, nic = np.ones(len(batch), dtype=bool), batch.parts.nic
    last = len(problem.stages) - 1
    budget: int | None = 0
    for number, stage in enumerate(problem.stages):
        counts: dict[Item, Number] = dict(batch.switch_counts() if number == last else batch.leaves_by(stage.servers))
        if nic.item is not None:
            counts[nic.item] = nic.nics_per_server * stage.servers
        # what may take the place of a switch may cost less
        counts = {item: count for item, count in counts.items() if not is_exchanged(batch.fabric, item)}
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
    """What so many units cost at the least that are bought by a stage; those in stock cost nothing."""
    return min(item.least_cents(stage) for stage in range(last + 1)) * np.maximum(0, count - item.stock)
