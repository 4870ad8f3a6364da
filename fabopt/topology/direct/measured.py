"""Figures of a direct network that no closed form has for partly filled switches: worked out link by link.

For one design, not for candidates: it takes up to some seconds. Definitions: docs/bandwidth.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from fabopt.graph.distances import hopping
from fabopt.graph.permutation import permutation_bound
from fabopt.graph.ring import ring_rate
from fabopt.topology.direct.design import Direct

# Links, both ways, times switches with servers: some two seconds, for paths and for rings.
MOST_PATHS = 200_000_000
MOST_RINGS = 30_000_000
# Of Mb/s: loads are sums in floating point, files have six digits of Gb/s.
_DIGITS = 3


class Measured(NamedTuple):
    """Mb/s per GPU (all-reduce within floating point), and switches on the shortest path on average."""

    permutation: Fraction
    allreduce: Fraction | None
    mean_switch_hops: Fraction


def measured(design: Direct, gpus: int) -> Measured | None:
    """The figures on the graph of one plane; None of what takes too long on one so large."""
    injection, mesh = design.parts.nic.injection, design.mesh
    rings = design.rings()
    work = 2 * sum(len(mesh.pairs(scope).a) for scope in mesh.scopes) * (int(rings.max()) + 1)
    if work > MOST_PATHS:
        return None
    network, share = design.graph(), design.share(gpus)
    far, pairs = hopping(network), network.endpoints * (network.endpoints - 1)
    rate = None if work > MOST_RINGS else Fraction(round(ring_rate(network, rings), _DIGITS))
    return Measured(
        min(injection, permutation_bound(network) * share),
        None if rate is None else min(injection, rate * share),
        design.switches_passed(Fraction(far.links, pairs)),
    )
