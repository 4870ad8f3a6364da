"""What links cannot cost less than in a layout of the floor.

Where leaves are follows from the sizes of groups alone, so their servers' runs are known before any spine is looked at;
spines are bounded by the best racks for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.floor.placement import SwitchSize, place, place_leaves
from fabopt.floor.racks import Positions, height_m
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.floor_links import classes_of, grid_of, numbers_of
from fabopt.topology.clos.run_bounds import LinkAt, LinkRows, OwnRuns, Within
from fabopt.topology.clos.shape import Ints, Shape, chunks
from fabopt.topology.link_parts import Floats

# Sizes whose switches are placed in a layout before the search is content with estimates.
MOST_PLACED = 4000
# Rows whose switches are placed at a time.
_FEW = 16


class TooManyPlacesError(Exception):
    """More sizes could be the best of a layout than are worth placing one by one."""


class _Size(NamedTuple):
    """What the racks of leaves and spines follow from."""

    g: int
    rails: int
    planes: int
    groups_per_pod: int
    spines: int
    rail_pods: bool
    switches: tuple[SwitchSize, ...]


class FloorBounds(ABC):
    """What bounds have in common where runs differ from link to link."""

    @abstractmethod
    def server_links(self, links: LinkRows) -> Floats:
        """The least that a server's link costs on average for every row of a shape, shape (metrics, rows)."""

    @abstractmethod
    def uplinks(self, links: LinkRows) -> Floats:
        """The same of a leaf's uplink; (metrics, 1) if rows do not differ."""

    @abstractmethod
    def core_links(self, links: LinkRows) -> Floats:
        """The same of a spine's uplink, shape (metrics, rows)."""

    def raised(self, cost: Floats, least: Callable[[OwnRuns], Floats]) -> Floats:
        """Costs, shape (metrics, rows), or what they are at least over the runs that links will have."""
        return np.asarray(np.maximum(cost, least(self)))

    def in_turn(self, bound: Floats, rows: Ints, within: Within) -> Iterator[Ints]:
        """A few rows at a time, as placing takes a while: the lowest bound first, those still below the threshold."""
        for some in chunks(rows[np.argsort(bound[0, rows], kind="stable")], _FEW):
            inside = some[within(bound[:, some])]
            if inside.size:
                yield inside


class LayoutBounds(FloorBounds):
    """Means over links in a layout, shape (metrics,) or (metrics, rows); infinite where something cannot be reached."""

    def __init__(self, problem: Problem, layout: Layout, link_at: LinkAt) -> None:
        self.problem = problem
        self.layout = layout
        self._link_at = link_at
        self._known: dict[tuple[object, ...], Floats] = {}
        worked_out = problem.offering.worked_out
        self._leaves: dict[tuple[object, ...], Positions | None] = worked_out.setdefault(("leaves", layout), {})
        self._placed: dict[_Size, tuple[Positions, ...] | None] = worked_out.setdefault(("placed", layout), {})
        self._measured: dict[tuple[object, ...], tuple[Ints, Ints]] = worked_out.setdefault(("classes", layout), {})

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """A server's link, if every server's went to the nearest place that a leaf may have."""
        key = ("nearest",)
        if key not in self._measured:
            self._measured[key] = _counted(classes_of(self.problem, self.layout.nearest_leaf_m))
        return self._mean(key, near, far, protocol)

    def server_links(self, links: LinkRows) -> Floats:
        """A server's link for every row of a shape, leaves being where they will be; infinite if they do not fit."""
        nic = links.nic
        key = (
            *("groups", *links.ends, int(links.shape.k), nic.nics_per_server, nic.ports_per_nic, nic.planes),
            links.sizes[0],
        )
        if key not in self._known:
            self._known[key] = np.full((len(self._unmade(links)), self.layout.servers + 1), np.nan)
        known, g = self._known[key], np.atleast_1d(links.shape.g)
        for row in np.flatnonzero(np.isnan(known[0, g])).tolist():
            known[:, int(g[row])] = self._of_groups(links, links.shape.row(row))
        return np.asarray(known[:, g])

    def _of_groups(self, links: LinkRows, shape: Shape) -> Floats:
        nic, size = links.nic, links.sizes[0]
        leaves = self._leaf_positions(nic, shape, size)
        if leaves is None:
            return self._unmade(links)
        key = (int(shape.g), int(shape.k), nic.nics_per_server, nic.ports_per_nic, nic.planes, size)
        if key not in self._measured:
            leaf = np.arange(len(leaves.rack)).reshape(nic.planes, -1, int(shape.rails))
            of_server = leaf[:, np.arange(self.layout.servers) // int(shape.g), :]
            rack, height = self.layout.server_rack[:, None], self.layout.server_height_m[:, None]
            run = self.layout.plan.run_m(rack, height, leaves.rack[of_server], leaves.height_m[of_server])
            self._measured[key] = _counted(classes_of(self.problem, run.ravel()))
        return self._mean(key, *links.ends)

    def _leaf_positions(self, nic: NicOption, shape: Shape, size: SwitchSize) -> Positions | None:
        key = (int(shape.g), int(shape.rails), nic.planes, size)
        if key not in self._leaves:
            self._leaves[key] = place_leaves(self.layout, numbers_of(nic, shape), size)
        return self._leaves[key]

    def uplinks(self, links: LinkRows) -> Floats:
        """A leaf's uplink for every row of a shape, leaves and spines being where they will be."""
        return self._by_row("uplinks", self._uplink, links)

    def core_links(self, links: LinkRows) -> Floats:
        """A spine's uplink for every row, spines being where they will be and every core in the best rack for it."""
        return self._by_row("cores", self._core_link, links)

    def _by_row(self, name: str, mean: Callable[[LinkRows, _Size, Shape], Floats], links: LinkRows) -> Floats:
        means = []
        for row in range(np.size(links.shape.g)):
            shape = links.shape.row(row)
            size = _Size(
                int(shape.g), int(shape.rails), links.nic.planes, int(shape.groups_per_pod), int(shape.spines),
                bool(shape.rail_pods), links.sizes,
            )  # fmt: skip
            uneven = int(shape.u) if int(shape.u) % int(shape.spines) else 0
            key = (name, *links.ends, uneven, *size)
            if key not in self._known:
                self._known[key] = mean(links, size, shape)
            means.append(self._known[key])
        return np.stack(means, axis=1)

    def _positions(self, size: _Size, nic: NicOption, shape: Shape) -> tuple[Positions, ...] | None:
        if size not in self._placed:
            if len(self._placed) >= MOST_PLACED:
                raise TooManyPlacesError
            self._placed[size] = place(self.layout, numbers_of(nic, shape), size.switches)
        return self._placed[size]

    def _unmade(self, links: LinkRows) -> Floats:
        near, far, protocol = links.ends
        return np.full(len(self._link_at(near, far, np.inf, protocol)), np.inf)

    def _uplink(self, links: LinkRows, size: _Size, shape: Shape) -> Floats:
        """Every leaf has at least m links to each spine of its pod."""
        positions = self._positions(size, links.nic, shape)
        if positions is None:
            return self._unmade(links)
        share = int(shape.links_per_pair) * int(shape.spines) / int(shape.u)
        key = ("leaf-spine", *size)
        if key not in self._measured:
            self._measured[key] = _counted(self._uplink_classes(positions, shape))
        classes, counts = self._measured[key]
        return np.asarray(self._costs(classes, *links.ends) @ counts / counts.sum() * share)

    def _uplink_classes(self, positions: tuple[Positions, ...], shape: Shape) -> Ints:
        """The class of the run from every leaf to every spine of its pod, shape (leaves x spines,)."""
        leaves, spines = positions
        planes, pods, per_pod = int(shape.planes), int(shape.pods), int(shape.spines)
        leaf = np.arange(len(leaves.rack))
        plane, within = leaf // (len(leaf) // planes), leaf % (len(leaf) // planes)
        block, rail = within // int(shape.rails) // int(shape.groups_per_pod), within % int(shape.rails)
        pod = block * int(shape.rails) + rail if shape.rail_pods else block
        spine = ((plane * pods + pod) * per_pod)[:, None] + np.arange(per_pod)
        run = self.layout.plan.run_m(
            leaves.rack[:, None], leaves.height_m[:, None], spines.rack[spine], spines.height_m[spine]
        )
        return classes_of(self.problem, run.ravel())

    def _core_link(self, links: LinkRows, size: _Size, shape: Shape) -> Floats:
        """A core is joined to all pods' spines of one index at least."""
        positions = self._positions(size, links.nic, shape)
        if positions is None:
            return self._unmade(links)
        key = ("spine-core", *size)
        if key not in self._measured:
            self._measured[key] = self._core_classes(positions[1])
        classes, place_of = self._measured[key]
        costs = self._costs(classes, *links.ends)[:, place_of]
        by_index = costs.reshape(*costs.shape[:2], int(shape.planes), int(shape.pods), int(shape.spines)).sum(axis=3)
        return np.asarray(by_index.min(axis=1).sum(axis=(1, 2)) / place_of.shape[1])

    def _core_classes(self, spines: Positions) -> tuple[Ints, Ints]:
        """Classes that occur, and the place among them of the run from every rack for switches to every spine, shape
        (switch racks, spines).
        """
        layout, plan = self.layout, self.layout.plan
        racks = layout.switch_racks[layout.free_units[layout.switch_racks] > 0]
        top = float(np.max(height_m(layout.top_unit[racks], 1)))
        run = plan.run_m(racks[:, None], top, spines.rack[None, :], spines.height_m[None, :])
        run = np.where(racks[:, None] == spines.rack[None, :], plan.floor.slack_m, run)
        classes = classes_of(self.problem, run)
        different, place_of = np.unique(classes, return_inverse=True)
        return different, place_of.reshape(classes.shape)

    def _mean(self, key: tuple[object, ...], near: PortType, far: PortType, protocol: str) -> Floats:
        whole = (*key, near, far, protocol)
        if whole not in self._known:
            classes, counts = self._measured[key]
            self._known[whole] = np.asarray(self._costs(classes, near, far, protocol) @ counts / counts.sum())
        return self._known[whole]

    def _costs(self, classes: Ints, near: PortType, far: PortType, protocol: str) -> Floats:
        """Least weights of a link of each class, shape (metrics, classes)."""
        grid = grid_of(self.problem)
        columns = [
            self._link_at(near, far, float(grid[class_]) if class_ < len(grid) else np.inf, protocol)
            for class_ in classes.tolist()
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((1, 0))


class SpreadBounds(FloorBounds):
    """Means over links wherever servers and switches are, shapes as those of ``LayoutBounds``.

    A rack holds so many servers, so those of one leaf are in several racks, at best in those around the leaf's own.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, link_at: LinkAt) -> None:
        self.problem = problem
        self._link_at = link_at
        self._runs_m = fabric.runs_m
        self._known: dict[tuple[object, ...], Floats] = {}

    @cached_property
    def _classes(self) -> Ints:
        """Classes that the runs from a leaf to the servers nearest to it are not below, rising, shape (servers,)."""
        plan, per_rack, server = self.problem.floor.plan, self.problem.floor.servers_per_rack, self.problem.server
        racks, floor = np.flatnonzero(plan.usable), plan.floor
        away = np.sort(plan.tray_m(racks[:, None], racks), axis=1).min(axis=0)
        units = float(server.rack_units or 1)
        up = floor.tray_height_m - height_m(1 + np.arange(per_rack) * np.ceil(units), units)
        down = floor.tray_height_m - float(height_m(floor.rack_units, 1))
        run = away[:, None] + up + down + 2 * floor.drop_m + floor.slack_m
        run[0] = floor.slack_m
        beyond = np.full(max(0, self.problem.servers - run.size), np.inf)
        return classes_of(self.problem, np.sort(np.concatenate([np.round(run, 9).ravel(), beyond])))

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """A server's link into its own rack."""
        return self._link_at(near, far, self._runs_m["server-leaf"], protocol)

    def server_links(self, links: LinkRows) -> Floats:
        """A server's link for every row of a shape: the mean over the servers that are nearest to a leaf."""
        if links.ends not in self._known:
            self._known[links.ends] = self._sums_of_nearest(links)
        sums, shape = self._known[links.ends], links.shape
        g, last = np.atleast_1d(shape.g), np.atleast_1d(shape.last_group)
        whole = np.atleast_1d(shape.groups) - 1
        full = np.where(whole > 0, sums[:, np.minimum(g, shape.servers)], 0.0)
        total = whole * full + sums[:, last]
        return np.asarray(total / shape.servers)

    def _sums_of_nearest(self, links: LinkRows) -> Floats:
        """What the links of the i servers nearest to a leaf cost together, shape (metrics, servers + 1)."""
        near, far, protocol = links.ends
        grid = grid_of(self.problem)
        different, place_of = np.unique(self._classes, return_inverse=True)
        runs = [float(grid[class_]) if class_ < len(grid) else np.inf for class_ in different.tolist()]
        costs = np.stack([self._link_at(near, far, run_m, protocol) for run_m in runs], axis=1)
        sums = np.cumsum(costs[:, place_of], axis=1)
        return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)

    def uplinks(self, links: LinkRows) -> Floats:
        """A leaf's uplink to a spine beside it."""
        near, far, protocol = links.ends
        return self._link_at(near, far, self._runs_m["leaf-spine"], protocol)[:, np.newaxis]

    def core_links(self, links: LinkRows) -> Floats:
        """A spine's uplink to a core beside it."""
        near, far, protocol = links.ends
        least = self._link_at(near, far, self._runs_m["spine-core"], protocol)[:, np.newaxis]
        return np.repeat(least, np.size(links.shape.g), axis=1)


def _counted(classes: Ints) -> tuple[Ints, Ints]:
    different, counts = np.unique(classes, return_counts=True)
    return different, counts
