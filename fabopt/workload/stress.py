"""The runs of a model under stress, by which rule ``robust-designs`` compares designs of nearly equal worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from fabopt.parts.lookup import Lookup
from fabopt.schema.workload import QueuePairs, Within
from fabopt.workload.placement import uplink_share
from fabopt.workload.stages import BANDS
from fabopt.workload.timing import ModelRun

# Queue pairs of a sender whose flows are hashed, and how much faster GPUs are.
STRESS_QUEUE_PAIRS: Final = 4
STRESS_SPEED: Final = Fraction(5, 4)

WeightedRuns = tuple[tuple[Fraction, ModelRun], ...]


def stressed_runs(runs: Sequence[tuple[Fraction, ModelRun]]) -> WeightedRuns:
    """Weighted runs under stress: flows hashed, a spine lost, GPUs faster, traffic uniform between all servers.

    The four weigh alike, ranks scattered. Traffic may change its rail between servers, as collectives do by default, so
    that leaves that hold all servers need uplinks too. Jobs that a scheduler keeps within pods stay there: only where
    they do not, do links above pods carry all.
    """
    weights: dict[object, tuple[Fraction, ModelRun]] = {}
    for weight, run in runs:
        stresses = _under_stress(run)
        for stress in stresses:
            # scenarios that differ in the placement alone are alike under stress
            alike = stress.placing, stress.speed, stress.utilization
            known, of_run = weights.get(alike, (Fraction(0), stress))
            weights[alike] = known + weight / len(stresses), of_run
    return tuple(weights.values())


def _under_stress(workload: ModelRun) -> tuple[ModelRun, ...]:
    """The stressed variants of a run, of equal weight."""
    own = workload.placing
    placing = own if isinstance(own.placement, Within) and own.holds("pod") else replace(own, placement="scattered")
    placing = replace(placing, crosses_rails=True)
    hashed = placing.uplinks * uplink_share(QueuePairs(queue_pairs=STRESS_QUEUE_PAIRS), 0)
    return (
        replace(workload, placing=replace(placing, uplinks=hashed)),
        replace(workload, placing=replace(placing, loses_spine=True)),
        at_speed(replace(workload, placing=placing), STRESS_SPEED),
        replace(workload, placing=replace(placing, is_uniform=True)),
    )


_DEMANDING: Lookup[ModelRun, None, ModelRun] = Lookup()


def demanding(workload: ModelRun) -> ModelRun:
    """The run that a network has to serve: the least overlap, and computation at the fast end of the software's band.

    The wider band of experts is of slow software: five in six of their published runs are slower than that end.
    """
    fast = 1 / (1 - min(workload.band, BANDS[workload.roof.software]))
    return _DEMANDING.of(workload, None, lambda: replace(at_speed(workload, fast), overlap="low"))


def at_speed(workload: ModelRun, speed: Fraction) -> ModelRun:
    """The workload on GPUs that compute ``speed`` times as fast; a given utilization is multiplied, to at most 1."""
    if workload.utilization is None:
        return replace(workload, speed=workload.speed * speed)
    return replace(workload, utilization=min(Fraction(1), workload.utilization * speed))
