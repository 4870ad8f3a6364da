"""Quantities of parts for a number of links: cages, transceivers, cables. For plain integers and NumPy arrays.

A ``PeerLinks`` is a set of equal devices at one end of a kind of link: ``low`` peers with ``links`` links each and
``high`` peers with one more. A ``Side`` is all devices at one end, a ``Need`` both ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.group_runs import classes_of_runs
from fabopt.parts.assemblies import Assembly, Mode
from fabopt.parts.items import Item
from fabopt.parts.port_types import PortType
from fabopt.units import Number, ceil_of, grouped

Floats = NDArray[np.float64]


# More ports or links than any device has.
FAR_TOO_MANY = 10**9


def scaled_ceil(values: Number, factor: int, divisor: int) -> Number:
    """Ceiling of ``values * factor / divisor``, for values below ten million.

    Exact up to ``FAR_TOO_MANY``, which stands for all larger results, however large the factors are.
    """
    if max(factor * 10**7, divisor) < 2**63:
        return ceil_of(values * factor, divisor)
    if np.ndim(values) == 0:
        return min(ceil_of(int(values) * factor, divisor), FAR_TOO_MANY)
    exact = (ceil_of(value * factor, divisor) for value in np.asarray(values).tolist())
    return np.array([min(value, FAR_TOO_MANY) for value in exact], dtype=np.int64)


class PeerLinks(NamedTuple):
    """``devices`` equal devices, each with ``low`` peers of ``links`` links and ``high`` peers of one link more.

    ``last``: further peers, of ``last_links`` links. ``limit``: cages of a device, where it differs from the side's.
    """

    devices: Number
    links: Number
    low: Number
    high: Number
    last: Number = 0
    last_links: Number = 0
    limit: Number | None = None

    @property
    def ports(self) -> Number:
        """Links of one device."""
        return self.low * self.links + self.high * (self.links + 1) + self.last * self.last_links

    def cables(self, ports_per_cable: int) -> Number:
        """Cables at one device when a cable carries several links of one pair."""
        plain = self.low * ceil_of(self.links, ports_per_cable) + self.high * ceil_of(self.links + 1, ports_per_cable)
        return plain + self.last * ceil_of(self.last_links, ports_per_cable)


class CrossedSets(NamedTuple):
    """``sets`` sets of ``devices`` near devices whose ports, ``ports`` of each, go to the same far ports in one order.

    Of servers a device is a NIC.
    """

    sets: Number
    devices: Number
    ports: Number


class OwnCages(NamedTuple):
    """Cages of one device where they are not simply filled in turn: each NIC of a server has its own.

    ``nics`` that share their cages count as one.
    """

    full: int
    partial: int
    partial_ports: int
    nics: int
    ports_per_nic: int


@dataclass(frozen=True)
class Side:
    """An end of a kind of link. ``limit``: cages of a device for these links; ``own``: see ``OwnCages``."""

    profiles: Sequence[PeerLinks]
    ports_per_cage: int
    limit: Number
    own: OwnCages | None = None

    @property
    def links(self) -> Number:
        """Number of links over all devices."""
        return sum(profile.devices * profile.ports for profile in self.profiles)

    @property
    def cages(self) -> Number:
        """Occupied cages of all devices."""
        if self.own is not None:
            return sum(profile.devices * (self.own.full + self.own.partial) for profile in self.profiles)
        return sum(profile.devices * ceil_of(profile.ports, self.ports_per_cage) for profile in self.profiles)

    def cables(self, ports_per_cable: int) -> Number:
        """Cables with a single connector at this side, each for ``ports_per_cable`` ports of one cage."""
        if self.own is not None:
            cables = self.own.full * (self.ports_per_cage // ports_per_cable) + self.own.partial * ceil_of(
                self.own.partial_ports, ports_per_cable
            )
            return sum(profile.devices * cables for profile in self.profiles)
        return sum(profile.devices * ceil_of(profile.ports, ports_per_cable) for profile in self.profiles)

    def pair_cables(self, ports_per_cable: int) -> Number:
        """Cables that carry several links of one pair of devices."""
        return sum(profile.devices * profile.cables(ports_per_cable) for profile in self.profiles)

    def pair_cages(self, ports_per_cable: int) -> Number:
        """Cages that cables with several links of one pair occupy."""
        return sum(profile.devices * self.cages_of_pairs(profile, ports_per_cable) for profile in self.profiles)

    def cages_of_pairs(self, profile: PeerLinks, ports_per_cable: int) -> Number:
        """Cages that cables with several links of one pair occupy in one device."""
        if self.own is None:
            return ceil_of(profile.cables(ports_per_cable) * ports_per_cable, self.ports_per_cage)
        cables = self.own.ports_per_nic // profile.links * ceil_of(profile.links, ports_per_cable)
        return self.own.nics * ceil_of(cables * ports_per_cable, self.ports_per_cage)

    def crossed_cages(self, size: int) -> Sequence[Number]:
        """Cages of one device of each profile where shuffles join ``size`` peers at a connector, one link of each."""
        return [
            ceil_of(
                size * (profile.links * ceil_of(profile.low, size) + profile.last_links * ceil_of(profile.last, size)),
                self.ports_per_cage,
            )
            for profile in self.profiles
        ]

    def pairs_fit(self, ports_per_cable: int) -> Number:
        """Whether every device has the cages for cables with several links of one pair."""
        fits: Number = True
        for profile in self.profiles:
            cages = self.cages_of_pairs(profile, ports_per_cable)
            limit = self.limit if profile.limit is None else profile.limit
            fits = fits & ((cages <= limit) | (profile.devices == 0))
        return fits

    def cage_fill(self) -> list[tuple[Number, Number]]:
        """(cages, ports in use of each), full ones and partly used ones."""
        fill: list[tuple[Number, Number]] = []
        for profile in self.profiles:
            if self.own is not None:
                fill.append((profile.devices * self.own.full, self.ports_per_cage))
                fill.append((profile.devices * self.own.partial, self.own.partial_ports))
            else:
                rest = profile.ports % self.ports_per_cage
                fill.append((profile.devices * (profile.ports // self.ports_per_cage), self.ports_per_cage))
                fill.append((profile.devices * (rest > 0), rest))
        return fill


class Quantities(NamedTuple):
    """Parts of an assembly for all links of a need; ``fits`` is False where cages are short."""

    near: Number
    cables: Number
    far: Number
    fits: Number


@dataclass(frozen=True)
class Need:
    """The links of one kind: both ends. ``crossings``: what shuffles may join; empty where they have no use."""

    near: Side
    far: Side
    crossings: tuple[CrossedSets, ...] = ()

    @property
    def one_sided(self) -> bool:
        """Whether one end has single-port cages, so that links can be bought cage by cage."""
        return min(self.near.ports_per_cage, self.far.ports_per_cage) == 1

    @property
    def big(self) -> Side:
        """The end with more ports in a cage."""
        return self.near if self.near.ports_per_cage > 1 else self.far

    @cached_property
    def links(self) -> Number:
        """Number of links."""
        return self.near.links

    def quantities(self, assembly: Assembly) -> Quantities:
        """Parts of one assembly if it realises every link."""
        if assembly.mode is Mode.PAIR:
            ports = assembly.ports_per_cable
            return Quantities(
                self.near.pair_cages(ports),
                self.near.pair_cables(ports),
                self.far.pair_cages(ports),
                self.near.pairs_fit(ports) & self.far.pairs_fit(ports),
            )
        if assembly.mode is Mode.CROSS:
            return self._crossed(assembly.crosses)
        if assembly.mode is Mode.LINK:
            cables = self.links
        else:
            cables = (self.far if assembly.mode is Mode.FAR else self.near).cables(assembly.ports_per_cable)
        return Quantities(self.near.cages, cables, self.far.cages, True)

    def _crossed(self, size: int) -> Quantities:
        """Parts of shuffles of ``size`` connectors an end: near devices ``size`` at a time, ``size`` ports of each.

        Rule ``shuffles_cross_lanes``.
        """
        if not self.crossings:
            return Quantities(self.near.cages, 0, self.far.cages, False)
        shuffles = sum(
            crossing.sets * ceil_of(crossing.devices, size) * ceil_of(crossing.ports, size)
            for crossing in self.crossings
        )
        cages = self.far.crossed_cages(size)
        fits: Number = True
        for profile, taken in zip(self.far.profiles, cages, strict=True):
            limit = self.far.limit if profile.limit is None else profile.limit
            fits &= (profile.high == 0) & (taken <= limit) | (profile.devices == 0)
        far = sum(profile.devices * taken for profile, taken in zip(self.far.profiles, cages, strict=True))
        return Quantities(self.near.cages, shuffles, far, fits)


class Costs:
    """Sums of item weights. ``table``: shape (metrics, items); a result has shape (metrics, size).

    ``steps``: extra cost of a unit installed by a stage over one installed by the next, for all stages but the last,
    shape (stages - 1, items); the table holds the cost of a unit of the last stage.
    """

    def __init__(self, table: Floats, steps: Floats | None = None) -> None:
        self.table = table
        self.steps = [] if steps is None else [Costs(step[np.newaxis]) for step in steps if step.any()]
        self.stages = [] if steps is None else [number for number, step in enumerate(steps) if step.any()]
        # the last column is that of no item
        self._padded = np.pad(table, ((0, 0), (0, 1)))
        # by near and far port, run in metres, protocol, and kind where such links may run through trunks
        self.least_by_class: dict[tuple[PortType, PortType, str, str], Floats] = {}
        self.least_links: dict[tuple[PortType, PortType, float, str, str, bool], Floats] = {}
        self._units: dict[tuple[tuple[Assembly, ...], int, bool], Floats] = {}

    def of(self, item: Item | None) -> Floats:
        """Weights of one item, shape (metrics,)."""
        return self._padded[:, -1 if item is None else item.index]

    def least_per_link(self, assemblies: Sequence[Assembly], near_ports: int, far_ports: int) -> Floats:
        """Least cost of a link of these assemblies, cages shared or not, shape (metrics,).

        Infinite without any assembly.
        """
        if not assemblies:
            return np.full(self.table.shape[0], np.inf)
        return np.asarray(self.per_link(assemblies, near_ports, far_ports).min(axis=1))

    def per_link(self, assemblies: Sequence[Assembly], near_ports: int, far_ports: int) -> Floats:
        """Least cost of a link of each assembly, cages shared or not, shape (metrics, assemblies)."""
        near, cable, far = self._parts(assemblies)
        return np.asarray(
            near / near_ports + cable / [assembly.ports_per_cable for assembly in assemblies] + far / far_ports
        )

    def least_from_class(
        self, assemblies: Sequence[Assembly], lengths_m: Floats, near_ports: int, far_ports: int
    ) -> Floats:
        """Least cost of a link of these assemblies over a run of each length class or a longer one.

        Shape (metrics, classes + 1), infinite past all; ``lengths_m``: all on sale, rising, shape (classes,).
        """
        least = np.full((len(lengths_m) + 1, self.table.shape[0]), np.inf)
        if assemblies:
            classes = classes_of_runs(lengths_m, [assembly.length_m for assembly in assemblies])
            np.minimum.at(least, classes, self.per_link(assemblies, near_ports, far_ports).T)
        return np.asarray(np.minimum.accumulate(least[::-1])[::-1].T)

    def _parts(self, assemblies: Sequence[Assembly]) -> tuple[Floats, Floats, Floats]:
        """Weights of the near modules, cables and far modules of assemblies, each of shape (metrics, assemblies)."""
        near = self._padded[:, [-1 if one.near is None else one.near.index for one in assemblies]]
        cable = self._padded[:, [one.cable.index for one in assemblies]]
        return near, cable, self._padded[:, [-1 if one.far is None else one.far.index for one in assemblies]]

    def _unit_table(self, assemblies: tuple[Assembly, ...], ports_per_cage: int, near_is_big: bool) -> Floats:
        """Least weights of one cage by ports in use: shape (metrics, ports_per_cage + 1)."""
        key = (assemblies, ports_per_cage, near_is_big)
        if key not in self._units:
            table = np.zeros((self.table.shape[0], ports_per_cage + 1))
            near, cable, far = self._parts(assemblies)
            carried = np.array(
                [1 if assembly.mode is Mode.LINK else assembly.ports_per_cable for assembly in assemblies]
            )
            for ports in range(1, ports_per_cage + 1):
                near_cages, far_cages = (1, ports) if near_is_big else (ports, 1)
                sums = near * near_cages + cable * ceil_of(ports, carried) + far * far_cages
                table[:, ports] = sums.min(axis=1)
            self._units[key] = table
        return self._units[key]

    def least(self, assemblies: tuple[Assembly, ...], need: Need) -> Floats:
        """Least weights of all links of a need made of the assemblies, each metric by itself, shape (metrics, size)."""
        if not assemblies:
            return np.full((self.table.shape[0], 1), np.inf)
        if need.one_sided:
            near_is_big = need.near.ports_per_cage > 1
            table = self._unit_table(assemblies, need.big.ports_per_cage, near_is_big)
            total = np.zeros((self.table.shape[0], 1))
            for cages, ports in need.big.cage_fill():
                size = max(np.size(cages), np.size(ports))
                total = total + np.multiply(cages, table[:, np.broadcast_to(ports, (size,))])
            return total
        best = np.array(np.inf)
        for alike in grouped(((one.mode, one.ports_per_cable), one) for one in assemblies).values():
            parts = need.quantities(alike[0])
            near, cable, far = self._parts(alike)
            cost = (
                np.multiply.outer(near, np.atleast_1d(parts.near))
                + np.multiply.outer(cable, np.atleast_1d(parts.cables))
                + np.multiply.outer(far, np.atleast_1d(parts.far))
            )
            best = np.minimum(best, np.where(parts.fits, cost.min(axis=1), np.inf))
        return best
