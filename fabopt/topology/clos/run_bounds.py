"""What links cost at least by how far they run: the same for all of a kind, unless a floor says where racks are.

``fabopt.topology.clos.floor_bounds`` has the bounds of a floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.shares import SwitchSize
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.topology.clos.floor_runs import NearKey
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.link_parts import Floats

# Least weights of a link between two ports over a run in metres, of a protocol: shape (metrics,).
LinkAt = Callable[[PortType, PortType, float, str], Floats]
# Least weights of a link over a run of each length class or a longer one: shape (metrics, classes + 1).
LinksByClass = Callable[[PortType, PortType, str], Floats]
# The ports at both ends of a link, and its protocol.
LinkEnds = tuple[PortType, PortType, str]
# Which of some costs, shape (metrics, rows), are below the cutoff.
Within = Callable[[Floats], NDArray[np.bool_]]


class LinkRows(NamedTuple):
    """Links of a kind for every row of a shape.

    ``sizes``: what a leaf, and a spine, take of a rack.
    """

    ends: LinkEnds
    nic: NicOption
    shape: Shape
    sizes: tuple[SwitchSize, ...]


class OwnRuns(Protocol):
    """The least that a link costs on average over the runs that the links of a row will have, row by row.

    Arrays of costs have shape (metrics, rows); infinite where something cannot be reached.
    """

    def server_links(self, links: LinkRows) -> Floats:
        """The cost of a server's link."""

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The cost of a link of a server in groups of g before anything is placed; 0 where nothing is known."""

    def uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink."""

    def near_uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink before anything is placed; 0 where nothing is known."""

    def pod_uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink with leaves placed, before any spine is; 0 where nothing is known."""

    def least_uplinks(self, ends: LinkEnds, fewest: NearKey) -> Floats:
        """The cost of an uplink of any leaf, with as many to each of so many spines or more, before anything is placed,
        shape (metrics, 1); 0 where nothing is known.
        """

    def core_links(self, links: LinkRows) -> Floats:
        """The cost of a spine's uplink."""


class RunBounds(Protocol):
    """What the runs of links say of their cost.

    Arrays of the costs of sized candidates have shape (metrics, rows).
    """

    @property
    def differ(self) -> bool:
        """Whether servers' links run as far as the size of their group says."""

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The least that a server's link costs, shape (metrics,)."""

    def raised(self, cost: Floats, least: Callable[[OwnRuns], Floats]) -> Floats:
        """Costs over the runs of ``runs_m``, raised to the least over the links' own runs."""

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """Rows in the parts in which they are to be sized, shape (rows,), by their bounds."""


class FlatBounds:
    """Bounds where all links of a kind run the same, so that what counts this run is exact already.

    Arrays of the costs of sized candidates have shape (metrics, rows), those of rows (rows,).
    """

    differ = False

    def __init__(self, runs_m: Mapping[str, float], link_at: LinkAt) -> None:
        self._runs_m = runs_m
        self._link_at = link_at

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The cost of a server's link over its run, shape (metrics,)."""
        return self._link_at(near, far, self._runs_m["server-leaf"], protocol)

    def raised(self, cost: Floats, least: Callable[[OwnRuns], Floats]) -> Floats:
        """The costs unchanged, as they hold for the links' own runs."""
        return cost

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """All rows at once, in their order."""
        yield rows
