"""What links cannot cost less than in a layout of the floor.

Where leaves stand follows from the sizes of groups alone, so their servers' runs are known before any spine is looked
at; spines are bounded by the best racks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.floor.placement import SwitchSize, place, place_leaves
from fabopt.floor.racks import Positions, height_m
from fabopt.parts.item_table import ItemTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.floor_links import classes_of, grid_of, numbers_of
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.link_parts import Floats

# Least weights of a link between two ports over a run: shape (metrics,).
Ports = tuple[PortType, PortType]
Sizes = tuple[SwitchSize, ...]


class PlacesKey(NamedTuple):
    """What the places of leaves and spines in a layout follow from."""

    g: int
    rails: int
    planes: int
    groups_per_pod: int
    spines: int
    rail_pods: bool
    sizes: Sizes


class _LeavesKey(NamedTuple):
    """What the places of leaves in a layout follow from."""

    g: int
    rails: int
    planes: int
    size: SwitchSize


class _GroupsKey(NamedTuple):
    """What the runs between servers and leaves follow from; ``g`` is 0 where they are kept for every size of group."""

    g: int
    k: int
    nics: int
    ports_per_nic: int
    planes: int
    size: SwitchSize


class _RowKey(NamedTuple):
    """What the mean cost of an uplink follows from; ``uneven``: those of a switch, where spines share them unevenly."""

    ports: Ports
    protocol: str
    uneven: int
    places: PlacesKey


class _Classes(NamedTuple):
    """Length classes that occur among runs, rising, and how many runs are of each."""

    values: Ints
    counts: Ints


class _ClassTable(NamedTuple):
    """Length classes that occur among runs, rising, and for every rack and spine the place among them of its run."""

    values: Ints
    place: Ints


# Where switches stand in a layout; None: they do not fit.
_LEAVES: Lookup[Layout, _LeavesKey, Positions | None] = Lookup()
_PLACES: Lookup[Layout, PlacesKey, tuple[Positions, ...] | None] = Lookup()
# Runs in a layout by their length class among the lengths of a table.
_TO_NEAREST: Lookup[Layout, ItemTable, _Classes] = Lookup()
_TO_LEAVES: Lookup[Layout, tuple[ItemTable, _GroupsKey], _Classes] = Lookup()
_TO_SPINES: Lookup[Layout, tuple[ItemTable, PlacesKey], _Classes] = Lookup()
_TO_CORES: Lookup[Layout, tuple[ItemTable, PlacesKey], _ClassTable] = Lookup()

LinkAt = Callable[[PortType, PortType, float, str], Floats]


# Sizes whose switches are placed in a layout before the search is content with estimates.
MOST_PLACED = 4000


class TooManyPlacesError(Exception):
    """More sizes could be the best of a layout than are worth placing one by one."""


class FloorBounds:
    """Means over links, shape (metrics,) or (metrics, size); infinite where something cannot be reached."""

    def __init__(self, problem: Problem, layout: Layout, link_at: LinkAt) -> None:
        self.problem = problem
        self.layout = layout
        self._link_at = link_at
        self._means: dict[tuple[_GroupsKey | None, Ports, str], Floats] = {}
        self._by_group: dict[tuple[_GroupsKey, Ports, str], Floats] = {}
        self._uplink_means: dict[_RowKey, Floats] = {}
        self._core_link_means: dict[_RowKey, Floats] = {}

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """A server's link, if every server's went to the nearest place that a leaf may have."""
        return self._mean(None, self._to_nearest(), (near, far), protocol)

    def _to_nearest(self) -> _Classes:
        run_m = self.layout.nearest_leaf_m
        return _TO_NEAREST.of(self.layout, self.problem.item_table, _counted, self.problem, run_m)

    def server_links(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, size: SwitchSize) -> Floats:
        """A server's link for every row of a shape, leaves being where they will stand; infinite if they do not fit."""
        key = (_groups_key(0, nic, shape, size), ports, protocol)
        if key not in self._by_group:
            metrics = len(self._link_at(*ports, np.inf, protocol))
            self._by_group[key] = np.full((metrics, self.layout.servers + 1), np.nan)
        known, g = self._by_group[key], np.atleast_1d(shape.g)
        for row in np.flatnonzero(np.isnan(known[0, g])).tolist():
            known[:, int(g[row])] = self._of_groups(ports, protocol, nic, shape.row(row), size)
        return np.asarray(known[:, g])

    def _of_groups(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, size: SwitchSize) -> Floats:
        stands = self.leaves(nic, shape, size)
        if stands is None:
            return np.full(self._link_at(*ports, np.inf, protocol).shape, np.inf)
        key = _groups_key(int(shape.g), nic, shape, size)
        runs = _TO_LEAVES.of(self.layout, (self.problem.item_table, key), self._leaf_runs, nic, shape, stands)
        return self._mean(key, runs, ports, protocol)

    def _leaf_runs(self, nic: NicOption, shape: Shape, stands: Positions) -> _Classes:
        leaf = np.arange(len(stands.rack)).reshape(nic.planes, -1, int(shape.rails))
        of_server = leaf[:, np.arange(self.layout.servers) // int(shape.g), :]
        rack, height = self.layout.server_rack[:, None], self.layout.server_height_m[:, None]
        run_m = self.layout.plan.run_m(rack, height, stands.rack[of_server], stands.height_m[of_server])
        return _counted(self.problem, run_m)

    def leaves(self, nic: NicOption, shape: Shape, size: SwitchSize) -> Positions | None:
        """Where the leaves of one candidate stand."""
        key = _LeavesKey(int(shape.g), int(shape.rails), nic.planes, size)
        return _LEAVES.of(self.layout, key, place_leaves, self.layout, numbers_of(nic, shape), size)

    def uplinks(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, sizes: Sizes) -> Floats:
        """A leaf's uplink for every row of a shape, leaves and spines being where they will stand."""
        return self._by_row(self._uplink_means, self._uplink, ports, protocol, nic, shape, sizes)

    def core_links(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, sizes: Sizes) -> Floats:
        """A spine's uplink for every row, spines being where they will stand and every core in the best rack for it."""
        return self._by_row(self._core_link_means, self._core_link, ports, protocol, nic, shape, sizes)

    def _by_row(
        self,
        known: dict[_RowKey, Floats],
        mean: Callable[[Ports, str, PlacesKey, NicOption, Shape], Floats],
        ports: Ports,
        protocol: str,
        nic: NicOption,
        shape: Shape,
        sizes: Sizes,
    ) -> Floats:
        means = []
        for row in range(np.size(shape.g)):
            row_shape = shape.row(row)
            places = PlacesKey(
                int(row_shape.g), int(row_shape.rails), nic.planes, int(row_shape.groups_per_pod),
                int(row_shape.spines), bool(row_shape.rail_pods), sizes,
            )  # fmt: skip
            uneven = int(row_shape.u) if int(row_shape.u) % int(row_shape.spines) else 0
            key = _RowKey(ports, protocol, uneven, places)
            if key not in known:
                known[key] = mean(ports, protocol, places, nic, row_shape)
            means.append(known[key])
        return np.stack(means, axis=1)

    def _stands(self, key: PlacesKey, nic: NicOption, shape: Shape) -> tuple[Positions, ...] | None:
        placed = _PLACES.table(self.layout)
        if key not in placed:
            if len(placed) >= MOST_PLACED:
                raise TooManyPlacesError
            placed[key] = place(self.layout, numbers_of(nic, shape), key.sizes)
        return placed[key]

    def _unmade(self, ports: Ports, protocol: str) -> Floats:
        return np.full(len(self._link_at(*ports, np.inf, protocol)), np.inf)

    def _uplink(self, ports: Ports, protocol: str, key: PlacesKey, nic: NicOption, shape: Shape) -> Floats:
        """Every leaf has at least m links to each spine of its pod."""
        stands = self._stands(key, nic, shape)
        if stands is None:
            return self._unmade(ports, protocol)
        share = int(shape.links_per_pair) * int(shape.spines) / int(shape.u)
        runs = _TO_SPINES.of(self.layout, (self.problem.item_table, key), self._spine_runs, stands, shape)
        return np.asarray(self._costs(runs.values, ports, protocol) @ runs.counts / runs.counts.sum() * share)

    def _spine_runs(self, stands: tuple[Positions, ...], shape: Shape) -> _Classes:
        leaves, spines = stands
        planes, pods, per_pod = int(shape.planes), int(shape.pods), int(shape.spines)
        leaf = np.arange(len(leaves.rack))
        plane, within = leaf // (len(leaf) // planes), leaf % (len(leaf) // planes)
        block, rail = within // int(shape.rails) // int(shape.groups_per_pod), within % int(shape.rails)
        pod = block * int(shape.rails) + rail if shape.rail_pods else block
        spine = ((plane * pods + pod) * per_pod)[:, None] + np.arange(per_pod)
        run_m = self.layout.plan.run_m(
            leaves.rack[:, None], leaves.height_m[:, None], spines.rack[spine], spines.height_m[spine]
        )
        return _counted(self.problem, run_m)

    def _core_link(self, ports: Ports, protocol: str, key: PlacesKey, nic: NicOption, shape: Shape) -> Floats:
        """A core is joined to all pods' spines of one index at least."""
        stands = self._stands(key, nic, shape)
        if stands is None:
            return self._unmade(ports, protocol)
        runs = _TO_CORES.of(self.layout, (self.problem.item_table, key), self._core_runs, stands[1])
        costs = self._costs(runs.values, ports, protocol)[:, runs.place]
        by_index = costs.reshape(*costs.shape[:2], int(shape.planes), int(shape.pods), int(shape.spines)).sum(axis=3)
        return np.asarray(by_index.min(axis=1).sum(axis=(1, 2)) / runs.place.shape[1])

    def _core_runs(self, spines: Positions) -> _ClassTable:
        """The runs from every rack for switches to every spine."""
        layout, plan = self.layout, self.layout.plan
        racks = layout.switch_racks[layout.free_units[layout.switch_racks] > 0]
        top = float(np.max(height_m(layout.top_unit[racks], 1)))
        run = plan.run_m(racks[:, None], top, spines.rack[None, :], spines.height_m[None, :])
        run = np.where(racks[:, None] == spines.rack[None, :], plan.floor.slack_m, run)
        classes = classes_of(self.problem, run)
        values, place = np.unique(classes, return_inverse=True)
        return _ClassTable(values, place.reshape(classes.shape))

    def _mean(self, key: _GroupsKey | None, runs: _Classes, ports: Ports, protocol: str) -> Floats:
        """The mean over runs; ``key``: what they follow from, None for those to the nearest places."""
        if (key, ports, protocol) not in self._means:
            costs = self._costs(runs.values, ports, protocol)
            self._means[key, ports, protocol] = np.asarray(costs @ runs.counts / runs.counts.sum())
        return self._means[key, ports, protocol]

    def _costs(self, classes: Ints, ports: Ports, protocol: str) -> Floats:
        """Least weights of a link of each class, shape (metrics, classes)."""
        grid = grid_of(self.problem)
        columns = [
            self._link_at(*ports, float(grid[one]) if one < len(grid) else np.inf, protocol) for one in classes.tolist()
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((1, 0))


def _groups_key(g: int, nic: NicOption, shape: Shape, size: SwitchSize) -> _GroupsKey:
    return _GroupsKey(g, int(shape.k), nic.nics_per_server, nic.ports_per_nic, nic.planes, size)


def _counted(problem: Problem, run_m: Floats) -> _Classes:
    return _Classes(*np.unique(classes_of(problem, run_m.ravel()), return_counts=True))


class SpreadBounds:
    """Means over links wherever servers and switches stand, shape as those of ``FloorBounds``.

    A rack holds so many servers, so those of one leaf are in several racks, at best in those around the leaf's own.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, link_at: LinkAt) -> None:
        self.problem = problem
        self._link_at = link_at
        self._runs_m = fabric.runs_m
        self._sums: dict[tuple[Ports, str], Floats] = {}

    @cached_property
    def _classes(self) -> Ints:
        """Classes that the runs from a leaf to the servers nearest to it are not below, rising."""
        plan, per_rack, server = self.problem.plan, self.problem.servers_per_rack, self.problem.server
        assert plan is not None and per_rack is not None
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

    def server_links(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, size: SwitchSize) -> Floats:
        """A server's link for every row of a shape: the mean over the servers that are nearest to a leaf."""
        if (ports, protocol) not in self._sums:
            grid = grid_of(self.problem)
            values, place = np.unique(self._classes, return_inverse=True)
            runs = [float(grid[one]) if one < len(grid) else np.inf for one in values.tolist()]
            costs = np.stack([self._link_at(*ports, run_m, protocol) for run_m in runs], axis=1)
            sums = np.cumsum(costs[:, place], axis=1)
            self._sums[ports, protocol] = np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)
        sums, g = self._sums[ports, protocol], np.atleast_1d(shape.g)
        last = np.atleast_1d(shape.last_group)
        whole = np.atleast_1d(shape.groups) - 1
        full = np.where(whole > 0, sums[:, np.minimum(g, shape.servers)], 0.0)
        total = whole * full + sums[:, last]
        return np.asarray(total / shape.servers)

    def uplinks(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, sizes: Sizes) -> Floats:
        """A leaf's uplink to a spine beside it."""
        return self._link_at(*ports, self._runs_m["leaf-spine"], protocol)[:, np.newaxis]

    def core_links(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, sizes: Sizes) -> Floats:
        """A spine's uplink to a core beside it."""
        least = self._link_at(*ports, self._runs_m["spine-core"], protocol)[:, np.newaxis]
        return np.repeat(least, np.size(shape.g), axis=1)
