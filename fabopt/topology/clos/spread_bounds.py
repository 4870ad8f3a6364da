"""Lower bounds of links' cost for servers and switches anywhere on a floor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.floor.length_classes import classes_of_runs
from fabopt.floor.racks import height_m
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.floor_bounds import FloorBounds, LayoutBounds
from fabopt.topology.clos.run_bounds import LinkEnds, LinkRows, LinksByClass
from fabopt.topology.clos.shape import Ints
from fabopt.topology.link_parts import Floats
from fabopt.units import ceil_of


class SpreadBounds(FloorBounds):
    """Bounds for servers and switches anywhere on the floor. Arrays of costs have shape (metrics, rows).

    A rack holds a limited number of servers, so those of one leaf are in several racks, at best in those around the
    leaf's own.
    """

    differ = True

    def __init__(self, problem: Problem, fabric: FabricProblem, links_by_class: LinksByClass) -> None:
        super().__init__(problem, links_by_class)
        self._runs_m = fabric.runs_m
        self._sums: dict[LinkEnds, Floats] = {}

    @cached_property
    def _classes(self) -> Ints:
        """Lower bounds of the classes of runs from a leaf to the servers nearest to it, rising, shape (servers,)."""
        plan, per_rack, server = self.problem.floor.plan, self.problem.floor.servers_per_rack, self.problem.server
        racks, floor = np.flatnonzero(plan.usable), plan.floor
        away_m = np.sort(plan.tray_m(racks[:, None], racks), axis=1).min(axis=0)
        units = float(server.rack_units or 1)
        up_m = floor.tray_height_m - height_m(np.array(server.units_in_rack(per_rack)), units)
        down_m = floor.tray_height_m - float(height_m(floor.rack_units, 1))
        run_m = plan.spared_m(away_m[:, None] + up_m + down_m + 2 * floor.drop_m)
        run_m[0] = plan.least_in_rack_m
        beyond = np.full(max(0, self.problem.servers - run_m.size), np.inf)
        return classes_of_runs(
            self.problem.item_table.lengths_m, np.sort(np.concatenate([np.round(run_m, 9).ravel(), beyond]))
        )

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The cost of a server's link into its own rack, shape (metrics,)."""
        return self._cost(self._runs_m["server-leaf"], (near, far, protocol))

    def server_links(self, links: LinkRows) -> Floats:
        """The cost of a server's link: the mean over the servers that are nearest to a leaf."""
        return self.near_server_links(links.ends, np.atleast_1d(links.shape.g))

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The mean over the servers that are nearest to a leaf, before any switch is placed."""
        if ends not in self._sums:
            self._sums[ends] = self._sums_of_nearest(ends)
        sums, servers = self._sums[ends], self.problem.servers
        whole = ceil_of(servers, g) - 1
        full = np.where(whole > 0, sums[:, np.minimum(g, servers)], 0.0)
        return np.asarray((whole * full + sums[:, servers - whole * g]) / servers)

    def _sums_of_nearest(self, ends: LinkEnds) -> Floats:
        """Cost of the links of the i servers nearest to a leaf together, shape (metrics, servers + 1)."""
        different, place_of = np.unique(self._classes, return_inverse=True)
        sums = np.cumsum(self._costs(different, ends)[:, place_of], axis=1)
        return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)

    def uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink to a spine beside it, shape (metrics, 1)."""
        return self._cost(self._runs_m["leaf-spine"], links.ends)[:, np.newaxis]

    def core_links(self, links: LinkRows) -> Floats:
        """The cost of a spine's uplink to a core beside it."""
        least = self._cost(self._runs_m["spine-core"], links.ends)[:, np.newaxis]
        return np.repeat(least, np.size(links.shape.g), axis=1)


class PlacesBounds(SpreadBounds):
    """Bounds where every switch may be in any rack that one of some layouts has for it, with the servers in place.

    Arrays of costs have shape (metrics, rows).
    """

    def __init__(
        self, problem: Problem, fabric: FabricProblem, layouts: Sequence[Layout], links_by_class: LinksByClass
    ) -> None:
        super().__init__(problem, fabric, links_by_class)
        self._layouts = [LayoutBounds(problem, layout, links_by_class) for layout in layouts]

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The cost of a server's link, each leaf being in the rack that is best for the servers of its group."""
        of_layouts = [layout.near_server_links(ends, g) for layout in self._layouts]
        return np.asarray(np.minimum.reduce(np.broadcast_arrays(*of_layouts)))
