"""A workload's needs of a network: bandwidth per GPU, and the oversubscription that it tolerates.

A step's exposed communication never grows with bandwidth, so each figure is found by halving, in whole Mb/s and
thousandths of a ratio. The servers of a leaf or a pod are not known yet (unless ``group_by: rack`` says them), so no
traffic is counted on to stay below them: the ratios allowed here hold for every design.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

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
