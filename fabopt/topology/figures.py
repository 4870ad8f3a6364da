"""Bandwidth figures of a network, per GPU, exact and as in files. Each family works out its own.

Injection is the rate at which a GPU can send into the fabric. Bisection is the one-way capacity of the worst balanced
cut divided by half the GPUs. All-to-all is the largest equal rate of uniform traffic. Worst permutation is its
throughput upper bound: all capacity over the links that the heaviest matching of leaves takes. Ring all-reduce is the
rate at which every port can send to the same port of the next server. A single flow has the slowest link of a path.
Hops are switches on the longest shortest path. Source: docs/bandwidth.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fabopt.parts.nics import NicOption
from fabopt.schema.design import Metrics
from fabopt.units import MBPS_PER_GBPS, plain_fraction

# Digits behind the point that files have of ratios and figures.
FILE_DIGITS = 6


@dataclass(frozen=True)
class Figures:
    """The figures of a network in Mb/s per GPU, exact; ``oversubscription`` by boundary.

    None: not worked out, or the graph is too large.
    """

    oversubscription: dict[str, Fraction]
    injection: Fraction
    bisection: Fraction
    alltoall: Fraction
    max_switch_hops: int
    permutation: Fraction | None = None
    allreduce: Fraction | None = None
    mean_switch_hops: Fraction | None = None
    max_nic_hops: int | None = None
    single_flow: Fraction | None = None

    def ratios(self) -> dict[str, int | float]:
        """Oversubscription by boundary, rounded as in files."""
        return {name: plain_fraction(ratio, FILE_DIGITS) for name, ratio in self.oversubscription.items()}

    def metrics(self) -> Metrics:
        """The figures beside oversubscription, rounded as in files, in Gb/s."""
        mean = self.mean_switch_hops
        return Metrics(
            injection_gbps_per_gpu=_gbps(self.injection),
            bisection_gbps_per_gpu=_gbps(self.bisection),
            alltoall_gbps_per_gpu=_gbps(self.alltoall),
            max_switch_hops=self.max_switch_hops,
            permutation_gbps_per_gpu=None if self.permutation is None else _gbps(self.permutation),
            allreduce_gbps_per_gpu=None if self.allreduce is None else _gbps(self.allreduce),
            mean_switch_hops=None if mean is None else plain_fraction(mean, FILE_DIGITS),
            max_nic_hops=self.max_nic_hops,
            single_flow_gbps=None if self.single_flow is None else _gbps(self.single_flow),
        )


def single_flow(nic: NicOption, *links_mbps: int) -> Fraction:
    """Mb/s of one flow between any two servers, over links of these speeds."""
    return min((nic.flow_mbps, *map(Fraction, links_mbps)))


def _gbps(rate_mbps: Fraction) -> int | float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS, FILE_DIGITS)
