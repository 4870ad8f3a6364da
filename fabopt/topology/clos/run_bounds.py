"""What links cost at least by how far they run: the same for all of a kind, unless a floor says where racks are.

``fabopt.topology.clos.floor_bounds`` has the bounds of a floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.placement import SwitchSize
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.link_parts import Floats

# Least weights of a link between two ports over a run in metres, of a protocol: shape (metrics,).
LinkAt = Callable[[PortType, PortType, float, str], Floats]
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

    Shape (metrics, rows); infinite where something cannot be reached.
    """

    def server_links(self, links: LinkRows) -> Floats:
        """A server's link."""

    def uplinks(self, links: LinkRows) -> Floats:
        """A leaf's uplink."""

    def core_links(self, links: LinkRows) -> Floats:
        """A spine's uplink."""


class RunBounds(Protocol):
    """What the runs of links say of their cost."""

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The least that a server's link costs, shape (metrics,)."""

    def raised(self, cost: Floats, least: Callable[[OwnRuns], Floats]) -> Floats:
        """Costs over the runs of ``runs_m``, shape (metrics, rows), raised to the least over the links' own runs."""

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """Rows as they are to be sized, by their bounds, shape (metrics, rows)."""


class FlatBounds:
    """All links of a kind run the same, so what counts that run is exact already."""

    def __init__(self, runs_m: Mapping[str, float], link_at: LinkAt) -> None:
        self._runs_m = runs_m
        self._link_at = link_at

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """A server's link over its run."""
        return self._link_at(near, far, self._runs_m["server-leaf"], protocol)

    def raised(self, cost: Floats, least: Callable[[OwnRuns], Floats]) -> Floats:
        """The costs as they are."""
        return cost

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """All rows at once."""
        yield rows
