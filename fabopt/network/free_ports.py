"""Endpoints dealt to free ports: one a switch a round, switches with the most free ports first.

Planned links leave cages of leaves and spines empty. Attachments that may be on any of them are dealt port by port: to
the switch that has the fewest of them, of these to the one that had the most free ports before, of these to a leaf, of
these to the first. On a floor equal switches then change places, so that neighbouring ports are in different racks.

Beside what is in service its ports stay. Ports of attachments that grow come next, stage by stage, on switches that are
there then, of equals on the first, as in a plan that begins with what is in service; then those of others, on switches
of the first stage.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.attachment import HostPort
from fabopt.units import Number, ceil_of

Ints = NDArray[np.int64]
HostTier = Literal["leaf", "spine"]
HOST_TIERS: tuple[HostTier, ...] = ("leaf", "spine")


class Hosts(NamedTuple):
    """The switches of a tier; arrays have shape (switches,).

    ``cages``: empty ones, of ``lanes`` ports each; ``ports``: that the switch can still drive; ``room``: load that the
    uplinks carry beyond that of the ports in use, in the caller's integer units; ``stages``: that install each switch,
    empty where all are there at first.
    """

    cages: Ints
    ports: Ints
    lanes: int
    room: tuple[int, ...]
    stages: tuple[int, ...] = ()

    @property
    def free(self) -> Ints:
        """Free ports of each switch, shape (switches,)."""
        return np.asarray(free_ports(self.cages, self.ports, self.lanes))


class Guest(NamedTuple):
    """An attachment with its number of ports. ``load``: load of one port on the uplinks, for each tier that it may be
    on; ``there``: switches of ports in service, which stay; ``later``: ports beside these that each stage adds, if they
    come stage by stage.
    """

    ports: int
    load: Mapping[HostTier, int]
    there: tuple[HostPort, ...] = ()
    later: tuple[int, ...] = ()


class SwitchesOfPlane(NamedTuple):
    """Leaves of a plane, its pods, and spines of a pod, by which ports of attachments name their switches."""

    leaves: int
    pods: int
    spines: int

    def renumbered(self, port: HostPort, now: SwitchesOfPlane) -> HostPort:
        """The switch of a port by its number in a network that has grown to ``now``."""
        tier, number = port
        if tier == "leaf":
            plane, leaf = divmod(number, self.leaves)
            return tier, plane * now.leaves + leaf
        block, spine = divmod(number, self.spines)
        plane, pod = divmod(block, self.pods)
        return tier, (plane * now.pods + pod) * now.spines + spine


def free_ports(cages: Number, ports: Number, lanes: int) -> Number:
    """Free ports of switches with ``cages`` empty cages and ``ports`` more ports to drive; at least 0."""
    return np.maximum(0, np.minimum(cages * lanes, ports))


def empty_cages(cages: Number, used: Number, lanes: int) -> Number:
    """Cages left of ``cages`` beside ``used`` ports in use."""
    return cages - ceil_of(used, lanes)


def dealt_to_free_ports(guests: Sequence[Guest], hosts: Mapping[HostTier, Hosts]) -> list[tuple[HostPort, ...]] | None:
    """The switch of every port of every guest, in their order; None if free ports are too few.

    Links of two guests never share a cage.
    """
    ledger = {tier: _Ledger(tier, of_tier) for tier, of_tier in hosts.items()}
    lodgings = [
        _Lodging(guest, [ledger[tier] for tier in HOST_TIERS if tier in ledger and tier in guest.load])
        for guest in guests
    ]
    later = ((stage, one, ports) for one in lodgings for stage, ports in enumerate(one.guest.later))
    coming = sorted(later, key=lambda arrival: arrival[0])
    coming += [(0, one, one.guest.ports - len(one.guest.there)) for one in lodgings if not one.guest.later]
    is_enough = all(one.stays() for one in lodgings) and all(one.takes(ports, stage) for stage, one, ports in coming)
    return [tuple(one.places) for one in lodgings] if is_enough else None


def spread_over_racks(
    places: Sequence[tuple[HostPort, ...]],
    racks: Mapping[HostTier, Sequence[Hashable]],
    kinds: Mapping[HostTier, Sequence[Hashable]],
) -> list[tuple[HostPort, ...]]:
    """The places of ports with every switch exchanged for another of its kind; ``racks``, ``kinds``: of every switch of
    a tier.
    """
    exchange = Exchange(racks, kinds)
    return [tuple(exchange.next(place, owner) for place in guest) for owner, guest in enumerate(places)]


class Exchange:
    """Switches that change places with others of their kind, each once, so that ports are in different racks.

    ``racks``, ``kinds``: of every switch of a tier; ``together``: neighbours, all of a kind, that change places as one.
    """

    def __init__(
        self,
        racks: Mapping[HostTier, Sequence[Hashable]],
        kinds: Mapping[HostTier, Sequence[Hashable]],
        together: int = 1,
    ) -> None:
        self._racks = racks
        self._kinds = kinds
        self._together = together
        self._alike: dict[Hashable, list[int]] = defaultdict(list)
        for tier, of_tier in kinds.items():
            for first in range(0, len(of_tier), together):
                self._alike[tier, of_tier[first]].append(first)
        self._other: dict[HostPort, int] = {}
        self._taken: Counter[Hashable] = Counter()

    def next(self, place: HostPort, owner: int) -> HostPort:
        """The switch of the next port, which is of this owner and would be at ``place``.

        With its first port a switch is exchanged for the one left of its kind in the rack with the fewest ports of the
        owner, of these with the fewest of all, of these for the first.
        """
        tier, number = place
        racks, within = self._racks[tier], number % self._together
        first = tier, number - within
        if first not in self._other:
            left = self._alike[tier, self._kinds[tier][number]]
            self._other[first] = min(left, key=lambda other: (*self._load(tier, other, owner), other))
            left.remove(self._other[first])
        other = self._other[first] + within
        self._taken[racks[other], None] += 1
        self._taken[racks[other], owner] += 1
        return tier, other

    def _load(self, tier: HostTier, first: int, owner: int) -> tuple[int, int]:
        """Ports in the racks of switches that change places as one: of an owner, and of all."""
        racks = self._racks[tier][first : first + self._together]
        return sum(self._taken[rack, owner] for rack in racks), sum(self._taken[rack, None] for rack in racks)


class _Ledger:
    """Cages, ports and room left on the switches of a tier."""

    def __init__(self, tier: HostTier, hosts: Hosts) -> None:
        self.tier = tier
        self.lanes = hosts.lanes
        self.at_first = hosts.free.tolist()
        self.cages: list[int] = hosts.cages.tolist()
        self.ports: list[int] = hosts.ports.tolist()
        self.room = list(hosts.room)
        self.taken = [0] * len(self.at_first)
        self._stages = hosts.stages

    def is_there(self, number: int, stage: int) -> bool:
        """Whether a switch is installed at a stage."""
        return not self._stages or self._stages[number] <= stage

    def takes(self, number: int, opened: int, load: int) -> bool:
        """Whether a switch takes one more port of a guest that has ``opened`` ports in cages of its own there."""
        in_cage = opened % self.lanes > 0 or self.cages[number] > 0
        return in_cage and self.ports[number] > 0 and (not load or self.room[number] >= load)

    def keeps(self, number: int, opened: int, load: int) -> bool:
        """Whether a switch still has a port that is in service, on a leaf be it in a cage of servers."""
        if self.tier == "spine":
            return self.takes(number, opened, load)
        return self.ports[number] > 0 and (not load or self.room[number] >= load)

    def take(self, number: int, opened: int, load: int) -> None:
        """Give one port away."""
        self.cages[number] -= opened % self.lanes == 0 and self.cages[number] > 0
        self.ports[number] -= 1
        self.room[number] -= load
        self.taken[number] += 1


class _Lodging:
    """The ports of a guest as they find their switches."""

    def __init__(self, guest: Guest, ledgers: Sequence[_Ledger]) -> None:
        self.guest = guest
        self._ledgers = ledgers
        self.places: list[HostPort] = []
        self._opened: Counter[tuple[int, int]] = Counter()

    def _take(self, rank: int, number: int) -> None:
        ledger = self._ledgers[rank]
        ledger.take(number, self._opened[rank, number], self.guest.load[ledger.tier])
        self._opened[rank, number] += 1
        self.places.append((ledger.tier, number))

    def stays(self) -> bool:
        """Whether all ports in service stay on their switches."""
        rank_of = {ledger.tier: rank for rank, ledger in enumerate(self._ledgers)}
        for tier, number in self.guest.there:
            rank = rank_of.get(tier, -1)
            if rank < 0 or not self._ledgers[rank].keeps(number, self._opened[rank, number], self.guest.load[tier]):
                return False
            self._take(rank, number)
        return True

    def takes(self, ports: int, stage: int) -> bool:
        """Whether so many more ports find switches that are there at a stage."""
        queue = [
            (taken, 0 if self.guest.later else -free, rank, number)
            for rank, ledger in enumerate(self._ledgers)
            for number, (taken, free) in enumerate(zip(ledger.taken, ledger.at_first, strict=True))
            if ledger.is_there(number, stage)
        ]
        heapq.heapify(queue)
        wanted = len(self.places) + ports
        while len(self.places) < wanted and queue:
            taken, free, rank, number = heapq.heappop(queue)
            ledger = self._ledgers[rank]
            if ledger.takes(number, self._opened[rank, number], self.guest.load[ledger.tier]):
                self._take(rank, number)
                heapq.heappush(queue, (taken + 1, free, rank, number))
        return len(self.places) == wanted
