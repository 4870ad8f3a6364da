"""Exclusion of sizes whose devices alone exceed the limits of stages, before candidates are built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from fabopt.parts.items import Item
from fabopt.problem.problem import Problem
from fabopt.search.coefficients import without_short_devices
from fabopt.topology.batch import AnyBatch, Sizing
from fabopt.topology.stage_limits import are_within, has_limits
from fabopt.units import Number


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
