"""What links cannot cost less than in a layout of the floor.

Where leaves stand follows from the sizes of groups alone, so their servers' runs are known before any spine is looked
at; spines are bounded by the best racks for them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabopt.floor import height_m
from fabopt.links import PortType
from fabopt.placement.layout import Layout
from fabopt.placement.place import Stands, SwitchBox, place_leaves
from fabopt.problem import NicOption, Problem
from fabopt.topology.clos.floored import classes_of, grid_of, numbers_of
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.needs import Floats

# Least weights of a link between two ports over a run: shape (metrics,).
LinkAt = Callable[[PortType, PortType, float, str], Floats]


class FloorBounds:
    """Means over links, shape (metrics,) or (metrics, size); infinite where something cannot be reached."""

    def __init__(self, problem: Problem, layout: Layout, link_at: LinkAt) -> None:
        self.problem = problem
        self.layout = layout
        self._link_at = link_at
        self._known: dict[tuple[object, ...], Floats] = {}
        self._placed: dict[tuple[object, ...], Stands | None] = problem.shelf.worked_out.setdefault(
            ("leaves", layout), {}
        )
        self._measured: dict[tuple[object, ...], tuple[Ints, Ints]] = problem.shelf.worked_out.setdefault(
            ("classes", layout), {}
        )

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """A server's link, if every server's went to the nearest place that a leaf may have."""
        key = ("nearest",)
        if key not in self._measured:
            self._measured[key] = _counted(classes_of(self.problem, self.layout.nearest_leaf_m))
        return self._mean(key, near, far, protocol)

    def server_links(
        self, ports: tuple[PortType, PortType], protocol: str, nic: NicOption, shape: Shape, box: SwitchBox
    ) -> Floats:
        """A server's link for every row of a shape, leaves being where they will stand; infinite if they do not fit."""
        key = ("groups", *ports, protocol, int(shape.k), nic.cards, nic.ports_per_card, nic.planes, box)
        if key not in self._known:
            metrics = len(self._link_at(*ports, np.inf, protocol))
            self._known[key] = np.full((metrics, self.layout.servers + 1), np.nan)
        known, g = self._known[key], np.atleast_1d(shape.g)
        for row in np.flatnonzero(np.isnan(known[0, g])).tolist():
            known[:, int(g[row])] = self._of_groups(ports, protocol, nic, shape.row(row), box)
        return np.asarray(known[:, g])

    def _of_groups(
        self, ports: tuple[PortType, PortType], protocol: str, nic: NicOption, shape: Shape, box: SwitchBox
    ) -> Floats:
        key = (int(shape.g), int(shape.k), nic.cards, nic.ports_per_card, nic.planes, box)
        stands = self.leaves(nic, shape, box)
        if stands is None:
            return np.full(self._link_at(*ports, np.inf, protocol).shape, np.inf)
        if key not in self._measured:
            leaf = np.arange(len(stands.rack)).reshape(nic.planes, -1, int(shape.rails))
            mine = leaf[:, np.arange(self.layout.servers) // int(shape.g), :]
            rack, height = self.layout.server_rack[:, None], self.layout.server_height_m[:, None]
            run = self.layout.plan.run_m(rack, height, stands.rack[mine], stands.height_m[mine])
            self._measured[key] = _counted(classes_of(self.problem, run.ravel()))
        return self._mean(key, *ports, protocol)

    def leaves(self, nic: NicOption, shape: Shape, box: SwitchBox) -> Stands | None:
        """Where the leaves of one candidate stand."""
        key = (int(shape.g), int(shape.rails), nic.planes, box)
        if key not in self._placed:
            self._placed[key] = place_leaves(self.layout, numbers_of(nic, shape), box)
        return self._placed[key]

    def uplinks(
        self, ports: tuple[PortType, PortType], protocol: str, nic: NicOption, shape: Shape, box: SwitchBox
    ) -> Floats:
        """A leaf's uplink for every row of a shape of two tiers: each spine is joined to all leaves."""
        found = []
        for row in range(np.size(shape.g)):
            one = shape.row(row)
            means = self._by_spine(ports, protocol, nic, one, box)
            found.append(means[:, min(int(one.spines), means.shape[1]) - 1])
        return np.stack(found, axis=1)

    def _by_spine(
        self, ports: tuple[PortType, PortType], protocol: str, nic: NicOption, shape: Shape, box: SwitchBox
    ) -> Floats:
        """The mean of a link if the first i spines stand in the best racks: shape (metrics, i)."""
        key = ("spines", *ports, protocol, int(shape.g), int(shape.rails), nic.planes, box)
        if key not in self._known:
            stands = self.leaves(nic, shape, box)
            layout = self.layout
            racks = layout.switch_racks[layout.room_units[layout.switch_racks] > 0]
            if stands is None or not len(racks):
                return np.full((len(self._link_at(*ports, np.inf, protocol)), 1), np.inf)
            top = float(np.max(height_m(layout.top_unit[racks], 1)))
            run = layout.plan.run_m(racks[:, None], top, stands.rack[None, :], stands.height_m[None, :])
            run = np.where(racks[:, None] == stands.rack[None, :], layout.plan.floor.slack_m, run)
            classes = classes_of(self.problem, run)
            values, place = np.unique(classes, return_inverse=True)
            costs = self._costs(values, *ports, protocol)[:, place.reshape(classes.shape)].mean(axis=2)
            self._known[key] = np.stack([_first_mean(row, layout.room_units[racks]) for row in costs])
        return self._known[key]

    def uplinks_of_pods(self, ports: tuple[PortType, PortType], protocol: str, leaves: Ints, spines: Ints) -> Floats:
        """A leaf's uplink where a pod has so many leaves and spines (arrays): neither all stand in one place."""
        key = ("ranks", *ports, protocol)
        if key not in self._known:
            runs = self.layout.switch_rank_m
            costs = self._costs(classes_of(self.problem, runs), *ports, protocol)
            self._known[key] = np.cumsum(costs, axis=1) / np.arange(1, len(runs) + 1) if len(runs) else costs
        means = self._known[key]
        most = np.maximum(leaves, spines) - 1
        if not means.shape[1]:
            return np.full((means.shape[0], np.size(most)), np.inf)
        return np.asarray(means[:, np.minimum(most, means.shape[1] - 1)])

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


def _counted(classes: Ints) -> tuple[Ints, Ints]:
    values, counts = np.unique(classes, return_counts=True)
    return values, counts


def _first_mean(costs: Floats, room: Ints) -> Floats:
    """Mean of the first i of costs, rising, each repeated as often as its rack has units."""
    order = np.argsort(costs, kind="stable")
    each = np.repeat(costs[order], room[order])
    return np.asarray(np.cumsum(each) / np.arange(1, len(each) + 1))
