"""The oversubscription that a workload tolerates at each boundary, and the figures that it needs, where the case leaves
them open.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.schema.case import Fabric, Oversubscription
from fabopt.schema.prediction import WorkloadNeeds
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
from fabopt.workload.collectives import Operation
from fabopt.workload.needs import MOST_MBPS, MOST_RATIO, Reach, flat, least_mbps, most_ratio, tapered
from fabopt.workload.prediction import binding
from fabopt.workload.timing import DOMAIN, Cost, FabricBandwidth, ModelRun, step_on

# Of a rate in a file.
LAST_DIGIT = Fraction(1, 10**6)
# Figures of a fabric that are set where calls of some operation leave the scale-up domains.
FIGURES: Mapping[str, frozenset[Operation]] = {
    "min_alltoall_gbps_per_gpu": frozenset({"all-to-all"}),
    "min_allreduce_gbps_per_gpu": frozenset({"all-reduce", "reduce-scatter", "all-gather"}),
}


def figure_gbps(needs: WorkloadNeeds) -> int | float:
    """Bandwidth in Gb/s that figures demand: per GPU at the most oversubscription, less the last digit of its rounding,
    down to whole Mb/s.

    A Clos within its ratios gives that much of uniform traffic and around a ring, so that it is a demand of other
    families only.
    """
    return gbps(int((exact(needs.pod_gbps_per_gpu) - LAST_DIGIT) * MBPS_PER_GBPS))


def figures_of(costs: Iterable[Cost]) -> tuple[str, ...]:
    """Keys of the figures that bound those of some calls which leave the scale-up domains."""
    far = {cost.traffic.operation for cost in costs if cost.place != DOMAIN}
    return tuple(key for key, operations in FIGURES.items() if operations & far)


def step_limit(workload: ModelRun, needs: WorkloadNeeds, limit: Fraction, own_mbps: int | None) -> Fraction | None:
    """The longest step, in seconds, of a design on which neighbouring ranks share leaves or pods; None for no limit.

    Exposed communication of a share x makes a step free / (1 - x). A bandwidth or ratios given by the fabric take
    precedence.
    """
    open_ratios = any(name.startswith("max_oversubscription") for name in needs.sets)
    if limit >= 1 or not workload.placing.counts_on_sizes or not open_ratios:
        return None
    reach = Reach(needs.leaf_gpus, needs.in_network_reduction)
    longest = step_on(workload, flat(MOST_MBPS, reach)).free_s / (1 - limit)
    return longest if own_mbps is None else max(longest, step_on(workload, flat(own_mbps, reach)).step_s)


def _overlapped_gbps(workload: ModelRun, limit: Fraction, reach: Reach, least: int) -> int | float | None:
    """Gb/s per GPU that would do if computation hid as much as it can; None where that is ``least`` Mb/s."""
    if all(low == high for low, _, high in map(workload.range_of, workload.traffic)):
        return None
    enough = least_mbps(replace(workload, overlap="high"), limit, reach)
    return None if enough is None or enough == least else gbps(enough)


def needs_of(
    workload: ModelRun,
    fabric: Fabric,
    limit: Fraction,
    reach: Reach,
    least: int,
    offered: Fraction,
    figures: Collection[str] = (),
    most_open: int = MOST_RATIO,
) -> WorkloadNeeds:
    """A workload's needs of a fabric; ``least``: Mb/s per GPU, ``offered``: Mb/s per GPU of the slowest NICs.

    ``figures``: keys that all families of the fabric can be asked for. Where neighbouring ranks are put together,
    ratios depend on the servers of leaves and pods: they are open up to ``most_open``, and every design is timed
    (``step_limit``).
    """
    asked = NetworkDemand(
        lambda network: step_on(workload, network).exposed_share <= limit,
        figures_of(step_on(workload, flat(MOST_MBPS, reach)).costs),
        binding(step_on(workload, flat(max(1, least), reach)).costs),
        most_open if workload.placing.counts_on_sizes else None,
    )
    overlapped = _overlapped_gbps(workload, limit, reach, least)
    needs = needs_where(asked, fabric, reach, least, offered, figures)
    return needs.model_copy(update={"overlapped_gbps_per_gpu": overlapped})


class NetworkDemand(NamedTuple):
    """What is asked of a network. ``keeps``: whether one will do, as all do with more bandwidth anywhere; ``figures``:
    keys of figures that bound what leaves the domains; ``binding``: the communicator that is waited for; ``most_open``:
    the largest ratio, where these depend on the servers of leaves and pods.
    """

    keeps: Callable[[FabricBandwidth], bool]
    figures: Collection[str]
    binding: str | None
    most_open: int | None = None


def needs_where(
    asked: NetworkDemand, fabric: Fabric, reach: Reach, least: int, offered: Fraction, figures: Collection[str] = ()
) -> WorkloadNeeds:
    """What is asked of a fabric; arguments as of ``needs_of``."""
    given = fabric.max_oversubscription
    own = given if isinstance(given, Oversubscription) else Oversubscription(leaf=given, spine=given)
    if asked.most_open is not None:
        leaf, spine = (exact(asked.most_open if ratio is None else ratio) for ratio in (own.leaf, own.spine))
    else:
        leaf, spine = (Fraction(1) if ratio is None else exact(ratio) for ratio in (own.leaf, own.spine))
        if own.leaf is None:
            leaf = most_ratio(lambda ratio: asked.keeps(tapered(offered, ratio, Fraction(1), reach)))
        if own.spine is None:
            spine = most_ratio(lambda ratio: asked.keeps(tapered(offered, leaf, ratio, reach)))
    up = offered / max(Fraction(1), leaf)
    sets = [] if fabric.min_gbps_per_gpu is not None else ["min_gbps_per_gpu"]
    sets += [f"max_oversubscription.{name}" for name in ("leaf", "spine") if getattr(own, name) is None]
    if up / max(Fraction(1), spine) > 1:
        sets += [name for name in asked.figures if name in figures and getattr(fabric, name) is None]
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
        binding=asked.binding,
    )
