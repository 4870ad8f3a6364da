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


class Key(NamedTuple):
    """What the places of leaves and spines follow from."""

    g: int
    rails: int
    planes: int
    groups_per_pod: int
    spines: int
    rail_pods: bool
    sizes: Sizes


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
        self._known: dict[tuple[object, ...], Floats] = {}
        self._placed: dict[tuple[object, ...], Positions | None] = problem.offering.worked_out.setdefault(
            ("leaves", layout), {}
        )
        self._stood: dict[tuple[object, ...], tuple[Positions, ...] | None] = problem.offering.worked_out.setdefault(
            ("stands", layout), {}
        )
        self._measured: dict[tuple[object, ...], tuple[Ints, Ints]] = problem.offering.worked_out.setdefault(
            ("classes", layout), {}
        )

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """A server's link, if every server's went to the nearest place that a leaf may have."""
        key = ("nearest",)
        if key not in self._measured:
            self._measured[key] = _counted(classes_of(self.problem, self.layout.nearest_leaf_m))
        return self._mean(key, near, far, protocol)

    def server_links(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, size: SwitchSize) -> Floats:
        """A server's link for every row of a shape, leaves being where they will stand; infinite if they do not fit."""
        key = ("groups", *ports, protocol, int(shape.k), nic.nics_per_server, nic.ports_per_nic, nic.planes, size)
        if key not in self._known:
            metrics = len(self._link_at(*ports, np.inf, protocol))
            self._known[key] = np.full((metrics, self.layout.servers + 1), np.nan)
        known, g = self._known[key], np.atleast_1d(shape.g)
        for row in np.flatnonzero(np.isnan(known[0, g])).tolist():
            known[:, int(g[row])] = self._of_groups(ports, protocol, nic, shape.row(row), size)
        return np.asarray(known[:, g])

    def _of_groups(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, size: SwitchSize) -> Floats:
        key = (int(shape.g), int(shape.k), nic.nics_per_server, nic.ports_per_nic, nic.planes, size)
        stands = self.leaves(nic, shape, size)
        if stands is None:
            return np.full(self._link_at(*ports, np.inf, protocol).shape, np.inf)
        if key not in self._measured:
            leaf = np.arange(len(stands.rack)).reshape(nic.planes, -1, int(shape.rails))
            mine = leaf[:, np.arange(self.layout.servers) // int(shape.g), :]
            rack, height = self.layout.server_rack[:, None], self.layout.server_height_m[:, None]
            run = self.layout.plan.run_m(rack, height, stands.rack[mine], stands.height_m[mine])
            self._measured[key] = _counted(classes_of(self.problem, run.ravel()))
        return self._mean(key, *ports, protocol)

    def leaves(self, nic: NicOption, shape: Shape, size: SwitchSize) -> Positions | None:
        """Where the leaves of one candidate stand."""
        key = (int(shape.g), int(shape.rails), nic.planes, size)
        if key not in self._placed:
            self._placed[key] = place_leaves(self.layout, numbers_of(nic, shape), size)
        return self._placed[key]

    def uplinks(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, sizes: Sizes) -> Floats:
        """A leaf's uplink for every row of a shape, leaves and spines being where they will stand."""
        return self._by_row("uplinks", self._uplink, ports, protocol, nic, shape, sizes)

    def core_links(self, ports: Ports, protocol: str, nic: NicOption, shape: Shape, sizes: Sizes) -> Floats:
        """A spine's uplink for every row, spines being where they will stand and every core in the best rack for it."""
        return self._by_row("cores", self._core_link, ports, protocol, nic, shape, sizes)

    def _by_row(
        self,
        name: str,
        mean: Callable[[Ports, str, Key, NicOption, Shape], Floats],
        ports: Ports,
        protocol: str,
        nic: NicOption,
        shape: Shape,
        sizes: Sizes,
    ) -> Floats:
        found = []
        for row in range(np.size(shape.g)):
            one = shape.row(row)
            place_key = Key(
                int(one.g), int(one.rails), nic.planes, int(one.groups_per_pod), int(one.spines),
                bool(one.rail_pods), sizes,
            )  # fmt: skip
            uneven = int(one.u) if int(one.u) % int(one.spines) else 0
            key = (name, *ports, protocol, uneven, *place_key)
            if key not in self._known:
                self._known[key] = mean(ports, protocol, place_key, nic, one)
            found.append(self._known[key])
        return np.stack(found, axis=1)

    def _stands(self, key: Key, nic: NicOption, shape: Shape) -> tuple[Positions, ...] | None:
        if key not in self._stood:
            if len(self._stood) >= MOST_PLACED:
                raise TooManyPlacesError
            self._stood[key] = place(self.layout, numbers_of(nic, shape), key.sizes)
        return self._stood[key]

    def _unmade(self, ports: Ports, protocol: str) -> Floats:
        return np.full(len(self._link_at(*ports, np.inf, protocol)), np.inf)

    def _uplink(self, ports: Ports, protocol: str, key: Key, nic: NicOption, shape: Shape) -> Floats:
        """Every leaf has at least m links to each spine of its pod."""
        stands = self._stands(key, nic, shape)
        if stands is None:
            return self._unmade(ports, protocol)
        share = int(shape.links_per_pair) * int(shape.spines) / int(shape.u)
        measured = ("leaf-spine", *key)
        if measured not in self._measured:
            self._measured[measured] = _counted(self._uplink_classes(stands, shape))
        values, counts = self._measured[measured]
        return np.asarray(self._costs(values, *ports, protocol) @ counts / counts.sum() * share)

    def _uplink_classes(self, stands: tuple[Positions, ...], shape: Shape) -> Ints:
        leaves, spines = stands
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

    def _core_link(self, ports: Ports, protocol: str, key: Key, nic: NicOption, shape: Shape) -> Floats:
        """A core is joined to all pods' spines of one index at least."""
        stands = self._stands(key, nic, shape)
        if stands is None:
            return self._unmade(ports, protocol)
        measured = ("spine-core", *key)
        if measured not in self._measured:
            self._measured[measured] = self._core_classes(stands[1])
        values, place_of = self._measured[measured]
        costs = self._costs(values, *ports, protocol)[:, place_of]
        by_index = costs.reshape(*costs.shape[:2], int(shape.planes), int(shape.pods), int(shape.spines)).sum(axis=3)
        return np.asarray(by_index.min(axis=1).sum(axis=(1, 2)) / place_of.shape[1])

    def _core_classes(self, spines: Positions) -> tuple[Ints, Ints]:
        """Classes that occur, and the place among them of the run from every rack for switches to every spine."""
        layout, plan = self.layout, self.layout.plan
        racks = layout.switch_racks[layout.free_units[layout.switch_racks] > 0]
        top = float(np.max(height_m(layout.top_unit[racks], 1)))
        run = plan.run_m(racks[:, None], top, spines.rack[None, :], spines.height_m[None, :])
        run = np.where(racks[:, None] == spines.rack[None, :], plan.floor.slack_m, run)
        classes = classes_of(self.problem, run)
        values, place_of = np.unique(classes, return_inverse=True)
        return values, place_of.reshape(classes.shape)

    def _mean(self, key: tuple[object, ...], near: PortType, far: PortType, protocol: str) -> Floats:
        whole = (*key, near, far, protocol)
        if whole not in self._known:
            values, counts = self._measured[key]
            self._known[whole] = np.asarray(self._costs(values, near, far, protocol) @ counts / counts.sum())
        return self._known[whole]

    def _costs(self, classes: Ints, near: PortType, far: PortType, protocol: str) -> Floats:
        """Least weights of a link of each class."""
        grid = grid_of(self.problem)
        columns = [
            self._link_at(near, far, float(grid[one]) if one < len(grid) else np.inf, protocol)
            for one in classes.tolist()
        ]
        return np.stack(columns, axis=1) if columns else np.zeros((1, 0))


class SpreadBounds:
    """Means over links wherever servers and switches stand, shape as those of ``FloorBounds``.

    A rack holds so many servers, so those of one leaf are in several racks, at best in those around the leaf's own.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, link_at: LinkAt) -> None:
        self.problem = problem
        self._link_at = link_at
        self._runs_m = fabric.runs_m
        self._known: dict[tuple[object, ...], Floats] = {}

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
        key = (*ports, protocol)
        if key not in self._known:
            grid = grid_of(self.problem)
            values, place_of = np.unique(self._classes, return_inverse=True)
            runs = [float(grid[one]) if one < len(grid) else np.inf for one in values.tolist()]
            costs = np.stack([self._link_at(*ports, run_m, protocol) for run_m in runs], axis=1)
            sums = np.cumsum(costs[:, place_of], axis=1)
            self._known[key] = np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)
        sums, g = self._known[key], np.atleast_1d(shape.g)
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


def _counted(classes: Ints) -> tuple[Ints, Ints]:
    values, counts = np.unique(classes, return_counts=True)
    return values, counts
