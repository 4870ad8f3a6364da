"""Bandwidth left of one fabric after any set of failures: Mb/s per GPU of the worst-hit server, and servers cut off.

The figures are those of one failure (docs/bandwidth.md), for any devices and links that fail together: the rate that
the leaves of a server still send upwards, and their pods' spines on; where switches are joined to each other, the rate
of all pairs of them, or of the leaves of one half to those of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.graph.cut_off import NOWHERE, outside
from fabopt.network.graph.distances import components
from fabopt.network.graph.network import Floats, Ints, Network, network_of
from fabopt.network.graph.pair_flow import half_rate, rate_of

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Plant:
    """One fabric, port by port. Speeds in Mb/s. Columns have shape (switches,), (links,) or (servers, ports).

    tier        of every switch: 0 leaf, 1 spine, 2 core; network: its index among those without a shared switch
    pod         of every leaf and spine, over all networks; plane: as the design file counts them, from 0
    a, b        switches of every link between switches, the end nearer to servers first; mbps and length of it
    switch_of   of every port of every server, shape (servers, ports); nic_of: of these ports, shape (ports,)
    port_mbps   speed of a server's port; nic_mbps: bandwidth of a NIC; gpus: rate of a server over that of the
                GPU with the smallest share of its NICs
    below_leaf  Mb/s of the endpoints of the busiest leaf; of shape (switches,) where a last group differs
    below_spine Mb/s of the busiest spine's links from leaves
    carried     share of a port's speed that the bisection of a whole network carries; ports: most of a switch
    direct      whether switches of a tier are joined to each other; apart: whether rails never meet
    most_mbps   limit of a GPU: of a server's scale-up domain, where rails never meet; or of uneven stripes
    """

    tier: Ints
    network: Ints
    pod: Ints
    plane: Ints
    a: Ints
    b: Ints
    mbps: Ints
    length: Ints
    switch_of: Ints
    nic_of: Ints
    port_mbps: int
    nic_mbps: float
    gpus: float
    below_leaf: int | Ints
    below_spine: int
    carried: float
    ports: int
    direct: bool
    apart: bool
    most_mbps: float

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.tier)

    @cached_property
    def whole(self) -> Floats:
        """Share of its ports' speed that each leaf carries without failures, shape (switches,)."""
        return np.full(self.switches, self.carried) if self.direct else self._of_tiers(nothing(self))

    def after(self, lost: Lost, absent: Mask | None = None) -> Left:
        """The bandwidth left after some losses.

        ``absent``: mask of servers that are lost too and do not count, shape (servers,).
        """
        there = np.ones(len(self.switch_of), dtype=np.bool_) if absent is None else ~absent
        cut_off = int(self.cut_off(lost, there).sum())
        return Left(float(self.rates(lost)[there].min(initial=np.inf)), cut_off)

    def cut_off(self, lost: Lost, there: Mask) -> Mask:
        """Mask of the servers that are ``there`` outside the largest part that stays joined, shape (servers,)."""
        alive = ~lost.ports & ~lost.switches[self.switch_of]
        joined = np.where(alive & there[:, np.newaxis], self.switch_of, NOWHERE)
        return outside(np.where(lost.switches, NOWHERE, self.parts(lost)), joined) & there

    def rates(self, lost: Lost) -> Floats:
        """Mb/s per GPU of every server after some losses, shape (servers,)."""
        alive, shares = ~lost.ports & ~lost.switches[self.switch_of], self.whole
        if lost.switches.any() or lost.links.any():
            shares = self._of_networks(lost) if self.direct else self._of_tiers(lost)
        return self._rate(alive, np.where(alive, shares[self.switch_of], np.inf))

    def _rate(self, alive: Mask, shares: Floats) -> Floats:
        """Mb/s per GPU of every server, whose ports' boundaries carry ``shares``; a lost port's is infinite.

        All ports of a server in a network send alike, where rails meet, in all networks.
        """
        total = np.zeros(len(alive))
        groups = self.network[self.switch_of[0]] if self.apart else np.zeros_like(self.nic_of)
        lowest = {group: shares[:, groups == group].min(axis=1) for group in np.unique(groups).tolist()}
        for nic in np.unique(self.nic_of).tolist():
            ports = np.flatnonzero(self.nic_of == nic)
            count = alive[:, ports].sum(axis=1)
            carried = sum(np.where(alive[:, port], lowest[int(groups[port])], 0) for port in ports.tolist())
            total += np.minimum(count * self.port_mbps, self.nic_mbps) * carried / np.maximum(1, count)
        return np.minimum(total / self.gpus, self.most_mbps)

    def parts(self, lost: Lost) -> Ints:
        """Number of the part that each switch is in after some losses, shape (switches,)."""
        kept = self._kept(lost)
        hosts = np.zeros(self.switches, dtype=np.int64)
        return components(network_of(self.a[kept], self.b[kept], self.mbps[kept], hosts, self.port_mbps))

    def _kept(self, lost: Lost) -> Mask:
        return np.asarray(~lost.links & ~lost.switches[self.a] & ~lost.switches[self.b])

    # -- shares of boundaries ----------------------------------------------------------------------------------

    def _of_tiers(self, lost: Lost) -> Floats:
        """Share of each leaf's endpoints that its uplinks carry, times the share that the spines of its pod send on,
        shape (switches,).
        """
        kept = self._kept(lost)
        up = np.bincount(self.a[kept], weights=self.mbps[kept], minlength=self.switches)
        leaf, spine = self.tier == 0, (self.tier == 1) & ~lost.switches
        if not (self.tier == 1).any():
            return np.ones(self.switches)
        shares = np.where(leaf, np.minimum(1, up / self.below_leaf), 0)
        if not (self.tier == 2).any():
            return shares
        sent = np.minimum(1, up / self.below_spine)
        pods = int(self.pod.max()) + 1
        number = np.bincount(self.pod[spine], minlength=pods)
        mean = np.bincount(self.pod[spine], weights=sent[spine], minlength=pods) / np.maximum(1, number)
        return np.where(leaf, shares * mean[self.pod], 0)

    def _of_networks(self, lost: Lost) -> Floats:
        shares = self.whole.copy()
        for network in np.union1d(self.network[lost.switches], self.network[self.a[lost.links]]).tolist():
            shares[self.network == network] = 0
            self._of_network(lost, network, shares)
        return shares

    def _of_network(self, lost: Lost, network: int, shares: Floats) -> None:
        """Set the shares of the largest part that stays joined; the others carry nothing."""
        whole, switches = self._graph(network)
        inside = self.network[self.a] == network
        left = replace(whole, mbps=whole.mbps - self._gone(lost, inside, whole, switches))
        rows = np.flatnonzero(lost.switches[switches[whole.a]] | lost.switches[switches[whole.b]] | (left.mbps == 0))
        part = np.where(lost.switches[switches], NOWHERE, components(left.without(rows)))
        ports = np.bincount(self.switch_of.ravel(), minlength=self.switches)[switches]
        known = part >= 0
        if not known.any():
            return
        largest = int(np.bincount(part[known], weights=ports[known] + 1 / (2 * len(part))).argmax())
        members = np.flatnonzero(part == largest)
        shares[switches[members]] = min(self.carried, self._port_rate(whole, left, members, rows) / self.port_mbps)

    def _port_rate(self, whole: Network, left: Network, members: Ints, gone: Ints) -> float:
        """Mb/s of a port across any cut into halves of the joined members; ``gone``: rows without links."""
        if whole.hosts.all():
            return rate_of(whole, left, members) * len(members) / (2 * self.ports)
        hosts = np.where(np.isin(np.arange(whole.switches), members), whole.hosts, 0)
        return half_rate(replace(left.without(gone), hosts=hosts)) / self.ports

    def _graph(self, network: int) -> tuple[Network, Ints]:
        """One network with an endpoint on each leaf, and the fabric's number of each of its switches."""
        switches = np.flatnonzero(self.network == network)
        inside = self.network[self.a] == network
        a, b = (np.searchsorted(switches, end[inside]) for end in (self.a, self.b))
        hosts = (self.tier[switches] == 0).astype(np.int64)
        return network_of(a, b, self.mbps[inside], hosts, self.port_mbps, self.length[inside]), switches

    def _gone(self, lost: Lost, inside: Mask, whole: Network, switches: Ints) -> Ints:
        """Capacity that each row of a network loses with the lost links."""
        rows = np.flatnonzero(inside & lost.links)
        ends = np.searchsorted(switches, np.stack([self.a[rows], self.b[rows]]))
        code = ends.min(axis=0) * whole.switches + ends.max(axis=0)
        place = np.searchsorted(whole.a * whole.switches + whole.b, code)
        gone = np.zeros(len(whole.a), dtype=np.int64)
        np.add.at(gone, place, self.mbps[rows])
        return gone


class Lost(NamedTuple):
    """Masks of failed devices and links.

    ``switches`` has shape (switches,); ``links``, those between switches, (links,); ``ports``, those of servers,
    (servers, ports).
    """

    switches: Mask
    links: Mask
    ports: Mask


class Left(NamedTuple):
    """Mb/s per GPU of the worst-hit server, and servers outside the largest part that stays joined."""

    mbps: float
    cut_off: int


def nothing(plant: Plant) -> Lost:
    """Losses of a plant without failures."""
    return Lost(*(np.zeros(shape, dtype=np.bool_) for shape in (plant.switches, len(plant.a), plant.switch_of.shape)))
