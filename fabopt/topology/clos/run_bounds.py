"""Lower bounds of links' cost by their runs: one run for all of a kind, unless a floor places the racks.

``fabopt.topology.clos.floor_bounds`` has the bounds of a floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.policies import SwitchSize
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.topology.clos.floor_runs import NearKey
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.link_parts import Floats

# Least weights of a link between two ports over a run in metres, of a protocol: shape (metrics,).
LinkAt = Callable[[PortType, PortType, float, str], Floats]
# Least weights of a link over a run of each length class or a longer one: shape (metrics, classes + 1).
LinksByClass = Callable[[PortType, PortType, str, str], Floats]
# The ports at both ends of a link, its protocol, and its kind.
LinkEnds = tuple[PortType, PortType, str, str]
# Which of some costs, shape (metrics, rows), are below the cutoff.
Within = Callable[[Floats], NDArray[np.bool_]]


class LinkRows(NamedTuple):
    """Links of a kind for every row of a shape.

    ``sizes``: rack space of a leaf, and of a spine.
    """

    ends: LinkEnds
    nic: NicOption
    shape: Shape
    sizes: tuple[SwitchSize, ...]


class OwnRuns(Protocol):
    """The least mean cost of a link over the own runs of the links of each row.

    Arrays of costs have shape (metrics, rows); infinite where a link cannot be made.
    """

    def server_links(self, links: LinkRows) -> Floats:
        """The cost of a server's link."""

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The cost of a server's link in groups of ``g`` before any switch is placed; 0 where nothing is known."""

    def uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink."""

    def near_uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink before any switch is placed; 0 where nothing is known."""

    def pod_uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink with leaves placed, before any spine is; 0 where nothing is known."""

    def least_uplinks(self, ends: LinkEnds, fewest: NearKey) -> Floats:
        """The cost of an uplink of any leaf, with equal numbers to each of at least the spines of ``fewest``, before
        any switch is placed, shape (metrics, 1); 0 where nothing is known.
        """

    def core_links(self, links: LinkRows) -> Floats:
        """The cost of a spine's uplink."""


class RunBounds(Protocol):
    """Bounds of the cost of links by their runs.

    Arrays of the costs of sized candidates have shape (metrics, rows).
    """

    @property
    def differ(self) -> bool:
        """Whether runs of servers' links depend on the size of their group."""

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """Least cost of a server's link, shape (metrics,)."""

    def raised(self, cost: Floats, least: Callable[[OwnRuns], Floats]) -> Floats:
        """Costs over the runs of ``runs_m``, raised to the least over the links' own runs."""

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """Rows in the parts in which they are to be sized, by their bounds, shape (rows,)."""


class FlatBounds:
    """Bounds where all links of a kind have one run, so that costs over this run are exact.

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
