"""The oversubscription that a workload tolerates at each boundary, where the case leaves it open."""

from __future__ import annotations

from fractions import Fraction

from fabopt.schema.case import Fabric, Oversubscription
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
from fabopt.workload.needs import Reach, flat, most_leaf_ratio, most_spine_ratio
from fabopt.workload.prediction import binding
from fabopt.workload.timing import Workload, step_on


def needs_of(
    workload: Workload, fabric: Fabric, limit: Fraction, reach: Reach, least: int, offered: Fraction
) -> WorkloadNeeds:
    """What a workload needs of a fabric; ``least``: Mb/s per GPU, ``offered``: what the slowest cards give."""
    given = fabric.max_oversubscription
    own = given if isinstance(given, Oversubscription) else Oversubscription(leaf=given, spine=given)
    leaf = most_leaf_ratio(workload, limit, offered, reach) if own.leaf is None else exact(own.leaf)
    spine = most_spine_ratio(workload, limit, offered, leaf, reach) if own.spine is None else exact(own.spine)
    up = offered / max(Fraction(1), leaf)
    sets = [] if fabric.min_gbps_per_gpu is not None else ["min_gbps_per_gpu"]
    sets += [f"max_oversubscription.{name}" for name in ("leaf", "spine") if getattr(own, name) is None]
    return WorkloadNeeds(
        fabric=fabric.name,
        min_gbps_per_gpu=gbps(least),
        offered_gbps_per_gpu=plain_fraction(offered / MBPS_PER_GBPS),
        max_oversubscription={"leaf": plain_fraction(leaf), "spine": plain_fraction(spine)},
        leaf_gbps_per_gpu=plain_fraction(up / MBPS_PER_GBPS),
        pod_gbps_per_gpu=plain_fraction(up / max(Fraction(1), spine) / MBPS_PER_GBPS),
        sets=tuple(sets),
        leaf_gpus=reach.leaf_gpus,
        in_network_reduction=reach.reduces,
        binding=binding(step_on(workload, flat(max(1, least), reach)).costs),
    )
