"""The effect on servers of losing a switch, or several at once: cut off, or without all ports of some NICs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.network.components import first_joined
from fabopt.network.graph.cut_off import NOWHERE, outside
from fabopt.network.graph.distances import components
from fabopt.network.graph.network import Ints, Network

Mask = NDArray[np.bool_]
# Links of a switch that are looked at first where some others are lost.
FEW_LINKS = 4


class Holders(NamedTuple):
    """Ports by their NIC or device: ``holder`` from 0 and ``switch``, each of shape (ports,)."""

    holder: Ints
    switch: Ints

    @property
    def number(self) -> int:
        """Number of holders."""
        return int(self.holder.max(initial=-1)) + 1

    def without(self, reached: Mask) -> Mask:
        """Mask of the holders without a port on a ``reached`` switch.

        The result has shape (holders,), ``reached`` shape (switches,).
        """
        cut = np.ones(self.number, dtype=np.bool_)
        cut[self.holder[reached[self.switch]]] = False
        return cut

    def on_one_switch(self) -> Ints:
        """The switch that has all ports of a holder, shape (holders,); ``NOWHERE`` for those on several."""
        low, high = np.full(self.number, np.iinfo(np.int64).max), np.full(self.number, NOWHERE)
        np.minimum.at(low, self.holder, self.switch)
        np.maximum.at(high, self.holder, self.switch)
        return np.where(low == high, high, NOWHERE)


class Loss(NamedTuple):
    """The effect of a loss on servers, in arrays of shape (servers,), and on devices.

    ``cut_off``: servers outside the largest part that stays joined; of every other server, ``nics``: number of its NICs
    that reach fewer servers than others of their network, ``parted``: whether two of its NICs that did reach each other
    do not any more; ``devices``: those cut off, a mask of shape (devices,) for each kind.
    """

    cut_off: Mask
    nics: Ints
    parted: Mask
    devices: tuple[Mask, ...]


@dataclass(frozen=True, eq=False)
class Served:
    """Switches with their links, and who is on them.

    network    without failures, every part of it that is joined is a network of its own, such as a plane
    switch_of  switch of every port of every server, shape (servers, ports); nic_of: NIC of these ports, from 0
    devices    other kinds of endpoints
    """

    network: Network
    switch_of: Ints
    nic_of: Ints
    devices: tuple[Holders, ...] = ()

    @property
    def servers(self) -> int:
        """Number of servers."""
        return len(self.switch_of)

    @property
    def nics(self) -> int:
        """NICs of a server."""
        return int(self.nic_of.max()) + 1

    @cached_property
    def nic_ports(self) -> Holders:
        """NICs of all servers, server by server, as holders."""
        holder = np.arange(self.servers)[:, np.newaxis] * self.nics + self.nic_of
        return Holders(holder.ravel(), self.switch_of.ravel())

    @cached_property
    def joined(self) -> Ints:
        """The network that each switch is in without failures, shape (switches,)."""
        return components(self.network)

    @cached_property
    def _unhurt(self) -> Loss | None:
        """The effect of losing no switch, whichever servers are absent; None where the fabric is parted without
        a loss.
        """
        loss = self._of(np.zeros(0, dtype=np.int64), np.ones(self.servers, dtype=np.bool_), self.joined)
        return None if loss.cut_off.any() or loss.nics.any() or loss.parted.any() else loss

    @cached_property
    def _first_joined(self) -> Ints:
        return first_joined(self.network.switches, self.network.a, self.network.b)

    @cached_property
    def _few(self) -> Ints:
        """Rows of a few links of every switch, which mostly join all that its links join, shape (rows,)."""
        end = np.concatenate([self.network.a, self.network.b])
        order = np.argsort(end, kind="stable")
        number = np.bincount(end, minlength=1)
        place = np.arange(len(end)) - np.repeat(np.cumsum(number) - number, number)
        step = np.maximum(1, number // FEW_LINKS)
        return np.unique(order[place % np.repeat(step, number) == 0] % len(self.network.a))

    def after(self, lost: Ints, absent: Mask | None = None, splits: bool = True) -> Loss:
        """The effect of losing some switches.

        ``lost``: their numbers, shape (lost,). ``absent``: mask of servers that are not there, shape (servers,). Absent
        servers count as neither cut off nor hit. ``splits``: False where it is known that the others stay joined.
        """
        if not len(lost) and self._unhurt is not None:
            return self._unhurt
        part = self.joined
        if splits:
            at_lost = np.isin(self.network.a, lost) | np.isin(self.network.b, lost)
            part = components(self.network.without(np.flatnonzero(at_lost)))
        return self._of(lost, np.ones(self.servers, dtype=np.bool_) if absent is None else ~absent, part)

    def without_links(self, rows: Ints) -> Loss:
        """The effect of losing the links of some rows of the network, shape (rows lost,)."""
        network, is_there = self.network, np.ones(len(self.network.a), dtype=np.bool_)
        is_there[rows] = False
        few = self._few[is_there[self._few]]
        by_few = first_joined(network.switches, network.a[few], network.b[few])
        if self._unhurt is not None and np.array_equal(by_few, self._first_joined):
            return self._unhurt
        part = components(network.without(rows))
        if self._unhurt is not None and np.array_equal(part, self.joined):
            return self._unhurt
        return self._of(np.zeros(0, dtype=np.int64), np.ones(self.servers, dtype=np.bool_), part)

    def _of(self, lost: Ints, there: Mask, part: Ints) -> Loss:
        """The effect of losing some switches; ``part``: the network that each other one is in then."""
        gone = np.zeros(self.network.switches, dtype=np.bool_)
        gone[lost] = True
        part = np.where(gone, NOWHERE, part)
        cut = outside(part, np.where(there[:, np.newaxis], self.switch_of, NOWHERE)) & there
        reached = self._reached(part)
        nics = self.nic_ports.without(reached).reshape(self.servers, self.nics).sum(axis=1)
        others = there & ~cut
        return Loss(
            cut,
            np.where(others, nics, 0),
            self._parted(np.where(reached, part, NOWHERE)) & others,
            tuple(holders.without(reached) for holders in self.devices),
        )

    def _pairs(self, part: Ints) -> tuple[Ints, Ints]:
        """(part, server) of all parts that a server has ports in, each pair once."""
        of_port = part[self.switch_of]
        server, port = np.nonzero(of_port >= 0)
        pairs = np.unique(of_port[server, port] * self.servers + server)
        return pairs // self.servers, pairs % self.servers

    def _reached(self, part: Ints) -> Mask:
        """Switches in the parts of their network that have most servers."""
        left = part >= 0
        network = np.zeros(int(part.max(initial=-1)) + 1, dtype=np.int64)
        network[part[left]] = self.joined[left]
        servers = np.bincount(self._pairs(part)[0], minlength=len(network))
        most = np.zeros(self.network.switches, dtype=np.int64)
        np.maximum.at(most, network, servers)
        reached = np.zeros(len(part), dtype=np.bool_)
        reached[left] = (servers == most[network])[part[left]]
        return reached

    def _parted(self, part: Ints) -> Mask:
        """Mask of the servers with ports in several parts of one network."""
        network = np.zeros(int(part.max(initial=-1)) + 1, dtype=np.int64)
        network[part[part >= 0]] = self.joined[part >= 0]
        of_part, server = self._pairs(part)
        pair, count = np.unique(network[of_part] * self.servers + server, return_counts=True)
        return np.isin(np.arange(self.servers), pair[count > 1] % self.servers)

    def one_by_one(self) -> LossesBySwitch:
        """The effect of losing every single switch."""
        losses = self._that_stay_joined()
        for switch in cut_switches(self.network).tolist():
            losses.put(switch, self.after(np.array([switch])))
        return losses

    def _that_stay_joined(self) -> LossesBySwitch:
        """Losses by switch as far as the others stay joined without it: servers with all ports on the switch are cut
        off.
        """
        switches = self.network.switches
        alone = Holders(np.repeat(np.arange(self.servers), self.switch_of.shape[1]), self.switch_of.ravel())
        own = alone.on_one_switch()
        nic_own = self.nic_ports.on_one_switch().reshape(self.servers, self.nics)
        server, nic = np.nonzero((nic_own >= 0) & (nic_own != own[:, np.newaxis]))
        pair, count = np.unique(nic_own[server, nic] * self.servers + server, return_counts=True)
        most = np.zeros(switches, dtype=np.int64)
        np.maximum.at(most, pair // self.servers, count)
        return LossesBySwitch(
            np.bincount(own[own >= 0], minlength=switches),
            np.bincount(pair // self.servers, minlength=switches),
            most,
            np.zeros(switches, dtype=np.int64),
            [np.bincount(on[on >= 0], minlength=switches) for on in (kind.on_one_switch() for kind in self.devices)],
        )


@dataclass(frozen=True, eq=False)
class LossesBySwitch:
    """The effect of losing each switch alone, in counts of shape (switches,).

    ``cut_off``: servers; ``degraded``: other servers that lose ``nics`` of their NICs, at most; ``parted``: servers
    with NICs that do not reach each other any more; ``devices``: of each kind.
    """

    cut_off: Ints
    degraded: Ints
    nics: Ints
    parted: Ints
    devices: Sequence[Ints]

    def put(self, switch: int, loss: Loss) -> None:
        """Set the effect of losing one switch."""
        self.cut_off[switch] = loss.cut_off.sum()
        self.degraded[switch] = (loss.nics > 0).sum()
        self.nics[switch] = loss.nics.max(initial=0)
        self.parted[switch] = loss.parted.sum()
        for counts, cut in zip(self.devices, loss.devices, strict=True):
            counts[switch] = cut.sum()


def cut_switches(network: Network) -> Ints:
    """Switches whose loss parts some others, as numbers, shape (switches found,).

    A depth-first search, in time with the links. A switch is one of them if nothing beyond a branch of the search leads
    back to before it; the first of a search, if it has several branches. Source: Tarjan 1972.
    """
    visited, parent = _depth_first(network)
    rank = np.empty(network.switches, dtype=np.int64)
    rank[visited] = np.arange(len(visited))
    arcs, low = network.arcs, rank.copy()
    other = arcs.head != np.array(parent, dtype=np.int64)[arcs.tail]
    np.minimum.at(low, arcs.tail[other], rank[arcs.head[other]])
    lowest, ranks, branches = low.tolist(), rank.tolist(), [0] * network.switches
    for switch in reversed(visited):
        above = parent[switch]
        if above >= 0:
            lowest[above] = min(lowest[above], lowest[switch])
            # of the first switch of a search every branch is one
            branches[above] += lowest[switch] >= ranks[above]
    needed = [1 + (above < 0) for above in parent]
    return np.flatnonzero(np.array(branches) >= np.array(needed))


def _depth_first(network: Network) -> tuple[list[int], list[int]]:
    """Switches in the order of a depth-first search, and the switch that each was reached from; ``NOWHERE`` at the
    first ones.
    """
    arcs, switches = network.arcs, network.switches
    heads = arcs.head.tolist()
    next_arc, end = np.searchsorted(arcs.tail, [np.arange(switches), np.arange(1, switches + 1)]).tolist()
    visited, seen, parent = [], [False] * switches, [NOWHERE] * switches
    for start in range(switches):
        path = [] if seen[start] else [start]
        while path:
            switch = path[-1]
            if not seen[switch]:
                seen[switch] = True
                visited.append(switch)
            if next_arc[switch] == end[switch]:
                path.pop()
                continue
            head = heads[next_arc[switch]]
            next_arc[switch] += 1
            if not seen[head]:
                parent[head] = switch
                path.append(head)
    return visited, parent
