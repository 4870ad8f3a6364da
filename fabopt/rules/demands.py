"""Numbers that a case asks of a fabric, one record each: what is left of *a key with a rule* beside its functions.

The key is described in ``fabopt.schema.fabric``. What keeps a fabric to it is a function of the search or the program,
what proves it a function of the verifier with the name ``check``, and neither knows the other. Levers, sets of keys
that clash, what fabrics on the switches of others cannot promise, and the rules that are evaluated come from here.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class FabricDemand(NamedTuple):
    """A key of a fabric that asks for a number where it is not null.

    ``check``: name of what proves it. ``figure``: what a design has of it: a figure of the network, or a key of the
    entries of a list in its part of the design file, added up (``tiers.num_switches``). ``words``: of the nearest
    number with a design.
    """

    key: str
    check: str
    figure: str
    words: str


# Least bandwidths for each GPU.
RATES: Final = (
    FabricDemand(
        "min_bisection_gbps_per_gpu", "figures_meet_demand", "bisection", "the most bisection bandwidth per GPU"
    ),
    FabricDemand(
        "min_alltoall_gbps_per_gpu", "figures_meet_demand", "alltoall", "the most all-to-all bandwidth per GPU"
    ),
    FabricDemand(
        "min_allreduce_gbps_per_gpu", "figures_meet_demand", "allreduce", "the most ring all-reduce bandwidth per GPU"
    ),
)
# Largest whole numbers.
LARGEST: Final = (
    FabricDemand(
        "max_switch_hops", "figures_meet_demand", "max_switch_hops", "the fewest switches on the longest path"
    ),
)
LATENCY: Final = FabricDemand("max_latency_us", "paths_keep_latency", "latency", "the shortest base round trip")
FABRIC_DEMANDS: Final = (*RATES, *LARGEST, LATENCY)
