"""A lower bound on whole leaves and spines of a network, for any groups and stripes.

Leaves of any types share a network's server ports, and spines of any types carry the uplinks' bandwidth. See
docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil, gcd

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.shape import uplinks_that_fit, usable_ports
from fabopt.topology.link_parts import Floats

# Of more server ports a switch is a small part of the whole, and is looked at by the port alone.
MOST_WEIGHED = 10_000
# The least that an uplink of a leaf costs in a span.
Upward = Callable[[Bounds, PortType], float]


def of_whole_switches(spans: Sequence[Bounds], protocol: str, nic: NicOption, tiers: int) -> float:
    """The least objective of all servers' NICs, links and switches, of groups in any of these spans; 0 if too large.

    Of two tiers the dearer of two bounds: leaves with a share of a spine by the port, and with spines that are whole.
    """
    bounds, ports = spans[0], spans[0].problem.servers * nic.ports_per_plane
    if ports > MOST_WEIGHED:
        return 0.0
    with_shares = _of_leaves(spans, protocol, nic, lambda one, up: float(one.above(up, protocol, tiers)[0]))
    network = _least_sum(with_shares, ports)
    if tiers == 2:
        alone = _of_leaves(spans, protocol, nic, lambda one, up: _uplink(one, protocol, up))
        network = max(network, _least_sum(alone, ports) + _of_spines(bounds, protocol, nic))
    nics = float(bounds.costs.of(nic.item)[0]) * nic.nics_per_server
    return bounds.problem.servers * nics + nic.planes * network


def _of_leaves(spans: Sequence[Bounds], protocol: str, nic: NicOption, upward: Upward) -> Floats:
    """The least of a leaf with 1, 2, ... ports of servers, the links of these and its uplinks, shape (ports,)."""
    least = np.full(1, np.inf)
    for bounds in spans:
        for _, leaf, down in bounds.lowers(nic.port, protocol):
            numbers = np.arange(1, min(bounds.most.on_leaf, usable_ports(down, leaf)) + 1)
            link = float(bounds.least_link(nic.port, down.port, "server-leaf", protocol)[0])
            below = float(bounds.costs.of(leaf.item)[0]) + link * numbers
            least = np.pad(least, (0, max(0, numbers.size - least.size)), constant_values=np.inf)
            for up in leaf.uses:
                need = bounds.leaf_uplinks(numbers, down, up)
                fits = need <= uplinks_that_fit(leaf, down, up, numbers)
                cost = np.where(fits, below + need * upward(bounds, up.port), np.inf)
                least[: numbers.size] = np.minimum(least[: numbers.size], cost)
    return least


def _uplink(bounds: Bounds, protocol: str, up: PortType) -> float:
    """Least cost of a leaf's uplink to any spine, without the spine."""
    spines = {spine.down.port for spine in bounds.uppers(up.lane.port_mbps, protocol, 2)}
    return min((float(bounds.least_link(up, down, "leaf-spine", protocol)[0]) for down in spines), default=np.inf)


def _of_spines(bounds: Bounds, protocol: str, nic: NicOption) -> float:
    """Least cost of spines of any types whose ports together carry the uplink bandwidth of a network's leaves."""
    speeds = {up.lane.port_mbps for leaf in bounds.switches(protocol, "leaf") for up in leaf.uses}
    carries = [
        (usable_ports(spine.down, spine.switch) * speed, float(bounds.costs.of(spine.switch.item)[0]))
        for speed in speeds
        for spine in bounds.uppers(speed, protocol, 2)
    ]
    passed = Fraction(bounds.problem.servers * nic.ports_per_plane * nic.port.lane.port_mbps)
    unit = gcd(*(mbps for mbps, _ in carries))
    least = ceil(passed / bounds.fabric.oversubscription_leaf / max(1, unit))
    return _least_cover({(mbps // unit, cost) for mbps, cost in carries}, least)


def _least_cover(switches: Iterable[tuple[int, float]], total: int) -> float:
    """Least cost of switches, given as (capacity, cost), with a total capacity of at least ``total``."""
    useful: list[tuple[int, float]] = []
    for carries, cost in sorted(switches, reverse=True):  # one that carries more serves for less, too
        if not useful or cost < useful[-1][1]:
            useful.append((carries, cost))
    exactly = np.full(total + 1 + max((carries for carries, _ in useful), default=0), np.inf)
    exactly[0] = 0.0
    for carries, cost in useful:
        exactly = _with_any_number(exactly, carries, cost)
    return float(exactly[total:].min())


def _with_any_number(least: Floats, carries: int, cost: float) -> Floats:
    """The least cost of sums 0, 1, ... if a switch may be added any number of times, shape (sums,)."""
    rounds = -(-least.size // carries)
    padded = np.pad(least, (0, rounds * carries - least.size), constant_values=np.inf).reshape(rounds, carries)
    spent = (cost * np.arange(rounds))[:, np.newaxis]
    return np.asarray((np.minimum.accumulate(padded - spent, axis=0) + spent).ravel()[: least.size])


def _least_sum(costs: Floats, total: int) -> float:
    """Least cost of integers from 1 on with a sum of ``total``, at ``costs`` of 1, 2, ..., shape (numbers,)."""
    least = np.zeros(total + 1)
    for part in range(1, total + 1):
        most = min(part, costs.size)
        least[part] = (costs[:most] + least[part - most : part][::-1]).min()
    return float(least[total])
