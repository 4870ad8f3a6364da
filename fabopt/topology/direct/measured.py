"""Figures of a direct network that no closed form has for partly filled switches: worked out link by link.

For one design, not for candidates: it takes up to some seconds. Definitions: docs/bandwidth.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fabopt.graph.distances import hopping
from fabopt.graph.network import Ints, Network, network_of
from fabopt.graph.permutation import permutation_bound
from fabopt.graph.ring import ring_rate
from fabopt.topology.clos.shape import Shape
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
    shape, nic = design.shape, design.parts.nic
    mesh = design.mesh
    work = 2 * sum(len(mesh.pairs(scope).a) for scope in mesh.scopes) * int(shape.groups * shape.rails)
    if work > MOST_PATHS:
        return None
    network = network_on(design)
    share = Fraction(nic.planes * int(shape.servers) * shape.ports, max(1, gpus))
    far, pairs = hopping(network), network.endpoints * (network.endpoints - 1)
    rate = None if work > MOST_RINGS else Fraction(round(ring_rate(network, rings(shape)), _DIGITS))
    return Measured(
        min(nic.injection, permutation_bound(network) * share),
        None if rate is None else min(nic.injection, rate * share),
        1 + Fraction(far.links, pairs),
    )


def network_on(design: Direct) -> Network:
    """One plane: its switches and links, and the server ports on them."""
    shape, mesh = design.shape, design.mesh
    pairs = [mesh.pairs(scope) for scope in mesh.scopes]
    mbps = np.repeat([design.speeds_mbps[scope] for scope in mesh.scopes], [len(one.a) for one in pairs])
    a, b = (np.concatenate([getattr(one, end) for one in pairs]) for end in ("a", "b"))
    hosts = np.bincount(rings(shape).ravel(), minlength=mesh.switches)
    return network_of(a, b, mbps, hosts, design.parts.leaf_down.lane.port_mbps)


def rings(shape: Shape) -> Ints:
    """The switch of every server port of a plane: shape (ports of a server, servers)."""
    group = np.arange(int(shape.servers)) // int(shape.g)
    rail = np.arange(shape.ports) // int(shape.k)
    return np.asarray(group * int(shape.rails) + rail[:, np.newaxis], dtype=np.int64)
