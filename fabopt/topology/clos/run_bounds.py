"""Lower bounds of links' cost by their runs: one run for all of a kind, unless a floor places the racks.

``fabopt.topology.clos.floor_bounds`` has the bounds of a floor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.group_runs import classes_of_runs
from fabopt.floor.policies import SwitchSize
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.problem import Problem
from fabopt.topology.clos.floor_runs import NearKey
from fabopt.topology.clos.shape import Ints, Shape, chunks
from fabopt.topology.link_parts import Floats

# Rows whose switches are placed at a time.
_FEW = 16
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

    def raised(self, cost: Floats, least: Callable[[FloorBounds], Floats]) -> Floats:
        """The costs unchanged, as they hold for the links' own runs."""
        return cost

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """All rows at once, in their order."""
        yield rows


class FloorBounds(ABC):
    """Bounds where runs differ from link to link: means over links, row by row of a shape.

    Infinite where a link cannot be made.
    """

    differ = True

    def __init__(self, problem: Problem, links_by_class: LinksByClass) -> None:
        self.problem = problem
        self._links_by_class = links_by_class

    @abstractmethod
    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The least that any server's link costs, shape (metrics,)."""

    @abstractmethod
    def server_links(self, links: LinkRows) -> Floats:
        """The least that a server's link costs on average, shape (metrics, rows)."""

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The least that a link of a server in groups of g costs before any placing, shape (metrics, rows); 0: nothing
        is known.
        """
        return np.zeros((1, g.size))

    @abstractmethod
    def uplinks(self, links: LinkRows) -> Floats:
        """The least that a leaf's uplink costs on average, shape (metrics, rows).

        (metrics, 1) if rows do not differ.
        """

    def pod_uplinks(self, links: LinkRows) -> Floats:
        """The least that a leaf's uplink costs with leaves placed, shape (metrics, rows); 0: nothing is known."""
        return np.zeros((1, np.size(links.shape.g)))

    def least_uplinks(self, ends: LinkEnds, fewest: NearKey) -> Floats:
        """The least cost of a leaf's uplink to at least the spines of ``fewest``, shape (metrics, 1); 0: nothing is
        known.
        """
        return np.zeros((1, 1))

    @abstractmethod
    def core_links(self, links: LinkRows) -> Floats:
        """The least that a spine's uplink costs on average, shape (metrics, rows)."""

    def raised(self, cost: Floats, least: Callable[[FloorBounds], Floats]) -> Floats:
        """Costs, shape (metrics, rows), raised to their lower bound over the links' own runs."""
        return np.asarray(np.maximum(cost, least(self)))

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """Rows below the cutoff, the lowest ``bound`` first, a few at a time since placing takes a while.

        ``bound`` has shape (metrics, all rows), ``rows`` and every result shape (rows,).
        """
        for some in chunks(rows[np.argsort(bound[0, rows], kind="stable")], _FEW):
            inside = some[within(bound[:, some])]
            if inside.size:
                yield inside

    def _costs(self, classes: Ints, ends: LinkEnds) -> Floats:
        """Least weights of a link of each class or a longer one, shape (metrics, *classes)."""
        return np.asarray(self._links_by_class(*ends)[:, classes])

    def _cost(self, run_m: float, ends: LinkEnds) -> Floats:
        """Least weights of a link over a run or a longer one, shape (metrics,)."""
        return self._costs(classes_of_runs(self.problem.item_table.lengths_m, run_m), ends)
