"""A workload's needs of a network: bandwidth per GPU, and the oversubscription that it tolerates.

A step's exposed communication never grows with bandwidth, so each figure is found by halving, in whole Mb/s and
thousandths of a ratio. The servers of a leaf or a pod are not known yet (unless ``group_by: rack`` says them), so no
traffic is counted on to stay below them: the ratios allowed here hold for every design.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from fabopt.parts.lookup import Lookup
from fabopt.schema.workload import QueuePairs, Within
from fabopt.workload.placement import uplink_share
from fabopt.workload.stages import BANDS
from fabopt.workload.timing import DOMAIN, FabricBandwidth, ModelRun, Step, step_on

# As much as any key of a case may say; a network of this speed takes no time but latency.
MOST_MBPS = 10**9
_THOUSANDTHS = 1000
MOST_RATIO = 10**6


@dataclass(frozen=True)
class Reach:
    """Neighbours that a leaf holds for certain (GPUs of one scale-up domain at least), and whether switches reduce."""

    leaf_gpus: int = 1
    reduces: bool = False


def flat(mbps: Fraction | int, reach: Reach) -> FabricBandwidth:
    """A network with the same Mb/s for every GPU at every boundary."""
    return tapered(mbps, Fraction(1), Fraction(1), reach)


def tapered(mbps: Fraction | int, leaf: Fraction, spine: Fraction, reach: Reach) -> FabricBandwidth:
    """A network with ``mbps`` for each GPU of a server, and ratios at the leaves and the spines."""
    up = Fraction(mbps) / max(Fraction(1), leaf)
    pod = up / max(Fraction(1), spine)
    return FabricBandwidth(Fraction(mbps), up, pod, reach.leaf_gpus, reach.leaf_gpus, reach.reduces)


def least_mbps(workload: ModelRun, most_exposed: Fraction, reach: Reach) -> int | None:
    """The least whole Mb/s per GPU, the same everywhere, with no more exposed communication; None if none will do.

    Zero where all traffic stays in the scale-up domains.
    """
    if all(cost.place == DOMAIN for cost in step_on(workload, flat(MOST_MBPS, reach)).costs):
        return 0
    return least(lambda mbps: step_on(workload, flat(mbps, reach)).exposed_share <= most_exposed, 1, MOST_MBPS)


def least_exposed(workload: ModelRun, reach: Reach, mbps: int = MOST_MBPS) -> Step:
    """The step on a network of ``mbps`` Mb/s for each GPU; by default one that takes no time but latency."""
    return step_on(workload, flat(mbps, reach))


def most_ratio(within: Callable[[Fraction], bool]) -> Fraction:
    """The largest ratio, in thousandths and from 1 up, for which a rule holds that holds for all smaller ones; 1 if
    none.
    """
    first_bad = least(lambda units: not within(Fraction(units, _THOUSANDTHS)), _THOUSANDTHS, MOST_RATIO * _THOUSANDTHS)
    if first_bad is None:
        return Fraction(MOST_RATIO)
    return Fraction(max(_THOUSANDTHS, first_bad - 1), _THOUSANDTHS)


def least(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least number from ``low`` to ``high`` for which a rule holds that holds for all larger ones; None: none."""
    if not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


# -- runs that a network has to serve ---------------------------------------------------------------------------------


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
