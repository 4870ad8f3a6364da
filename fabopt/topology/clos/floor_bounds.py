"""Lower bounds of links' cost in a layout of a floor; anywhere on it: ``fabopt.topology.clos.link_bounds``.

Positions of leaves follow from the sizes of groups alone, so their servers' runs are known before any spine is sized;
spines are bounded by the best racks for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.floor.policies import SwitchSize
from fabopt.floor.rack_rules import NO_LIMIT
from fabopt.parts.port_types import PortType
from fabopt.problem.problem import Problem
from fabopt.topology.clos.floor_runs import (
    GroupsKey,
    LayoutRuns,
    NearKey,
    NearShares,
    RunClasses,
    groups_key,
    places_key,
)
from fabopt.topology.clos.run_bounds import FloorBounds, LinkEnds, LinkRows, LinksByClass
from fabopt.topology.clos.shape import Ints, Shape, ranges
from fabopt.topology.link_parts import Floats

# Racks of leaves times servers, on floors up to which it is quick to sum what links to all servers cost from each rack.
_MOST_SUMMED = 200_000


class _Kind(NamedTuple):
    """Key of the rows whose links have equal means for equal numbers."""

    ends: LinkEnds
    planes: int
    sizes: tuple[SwitchSize, ...]


# By kind of links, and by the numbers of a row that the mean follows from.
_Means = dict[_Kind, dict[tuple[int, ...], Floats]]


class LayoutBounds(FloorBounds):
    """Bounds in a layout. Arrays of costs have shape (metrics, rows)."""

    def __init__(self, problem: Problem, layout: Layout, links_by_class: LinksByClass) -> None:
        super().__init__(problem, links_by_class)
        self.layout = layout
        self._runs = LayoutRuns(layout, problem.item_table)
        self._means: dict[tuple[GroupsKey | None, LinkEnds], Floats] = {}
        self._by_group: dict[tuple[GroupsKey, LinkEnds], Floats] = {}
        self._near_by_group: dict[LinkEnds, Floats] = {}
        self._sums: dict[LinkEnds, tuple[Floats, Ints]] = {}
        self._least_uplinks: dict[tuple[NearKey, LinkEnds], Floats] = {}
        self._near_means: dict[tuple[NearKey, LinkEnds], Floats] = {}
        self._near_pod_means: _Means = {}
        self._uplink_means: _Means = {}
        self._core_link_means: _Means = {}

    def server_link(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The cost of a server's link, if every one went to the nearest place that a leaf may have.

        Shape (metrics,).
        """
        return self._mean(None, self._runs.to_nearest(), (near, far, protocol, "server-leaf"))

    def server_links(self, links: LinkRows) -> Floats:
        """The cost of a server's link to leaves in their places; infinite if the leaves do not fit."""
        key = (groups_key(0, links.nic, links.shape, links.sizes[0]), links.ends)
        if key not in self._by_group:
            self._by_group[key] = np.full((len(self._unmade(links.ends)), self.layout.servers + 1), np.nan)
        known, g = self._by_group[key], np.atleast_1d(links.shape.g)
        for row in np.flatnonzero(np.isnan(known[0, g])).tolist():
            known[:, int(g[row])] = self._of_groups(links, links.shape.row(row))
        return np.asarray(known[:, g])

    def _of_groups(self, links: LinkRows, shape: Shape) -> Floats:
        size = links.sizes[0]
        runs = self._runs.to_leaves(links.nic, shape, size)
        if runs is None:
            return self._unmade(links.ends)
        return self._mean(groups_key(int(shape.g), links.nic, shape, size), runs, links.ends)

    def near_server_links(self, ends: LinkEnds, g: Ints) -> Floats:
        """The cost of a server's link, each leaf being in the rack that is best for the servers of its group."""
        servers = self.layout.servers
        if len(self.layout.leaf_racks) * servers > _MOST_SUMMED:
            return super().near_server_links(ends, g)
        if ends not in self._near_by_group:
            self._near_by_group[ends] = np.full((len(self._unmade(ends)), servers + 1), np.nan)
        known = self._near_by_group[ends]
        missing = np.unique(g[np.isnan(known[0, g])])
        if missing.size:
            known[:, missing] = self._near_groups(ends, missing)
        return np.asarray(known[:, g])

    def _near_groups(self, ends: LinkEnds, g: Ints) -> Floats:
        """The mean over links to groups of g servers, each leaf in the best rack for its group, shape (metrics,
        sizes).
        """
        sums, unmade = self._sums_of_servers(ends)
        servers = self.layout.servers
        size, group = ranges(np.zeros_like(g), (servers - 1) // g)
        first = group * g[size]
        last = np.minimum(first + g[size], servers)
        of_rack = np.where(unmade[:, last] > unmade[:, first], np.inf, sums[:, :, last] - sums[:, :, first])
        of_group = of_rack.min(axis=1, initial=np.inf)
        return np.asarray(np.add.reduceat(of_group, np.flatnonzero(group == 0), axis=1) / servers)

    def _sums_of_servers(self, ends: LinkEnds) -> tuple[Floats, Ints]:
        """Least cost of links from each rack of leaves to the first i servers, shape (metrics, racks, servers + 1), and
        number of those that no parts make, shape (racks, servers + 1).
        """
        if ends not in self._sums:
            runs = self._runs.to_leaf_racks()
            costs = self._costs(runs.classes, ends)
            can_be = np.isfinite(costs[0])
            sums = np.cumsum(np.where(can_be, costs, 0.0)[:, runs.place], axis=2)
            unmade = np.cumsum(~can_be[runs.place], axis=1)
            self._sums[ends] = np.pad(sums, ((0, 0), (0, 0), (1, 0))), np.pad(unmade, ((0, 0), (1, 0)))
        return self._sums[ends]

    def uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink, leaves and spines in their places."""
        return _by_row(self._uplink_means, self._uplink, links)

    def pod_uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink, leaves in their places and the spines of a pod in the racks nearest to all of
        its leaves that have room for them.

        Only where rules of racks limit the switches of a rack.
        """
        if not self._rules_tell:
            return super().pod_uplinks(links)
        return np.asarray(_by_row(self._near_pod_means, self._near_pods, links) * _share_of_even(links.shape))

    def _near_pods(self, links: LinkRows, shape: Shape) -> Floats:
        """The mean over all uplinks, the spines of a pod being in the racks nearest to all of its leaves.

        Shape (metrics,); 0 where leaves do not fit.
        """
        shares = self._runs.uplink_shares(links.nic, shape, links.sizes[0])
        return np.zeros(1) if shares is None else self._mean_of_pods(links, int(shape.spines), shares)

    def _mean_of_pods(self, links: LinkRows, spines: int, shares: Floats) -> Floats:
        near = self._runs.near(NearKey(spines, links.sizes[1]))
        costs = self._costs(near.classes, links.ends)[:, near.place]
        can_be = np.isfinite(costs)
        of_pod = shares.sum(axis=1)
        means = shares @ np.where(can_be, costs, 0.0) / of_pod[:, np.newaxis]
        if not can_be.all():
            means[(shares > 0).astype(np.int64) @ (~can_be).astype(np.int64) > 0] = np.inf
        return np.asarray(_filled(means, near.room, spines) @ of_pod)

    @property
    def _rules_tell(self) -> bool:
        """Whether rules of racks limit the switches, or the spines, of a rack."""
        limits = self.layout.plan.limits
        return limits.switches != NO_LIMIT or limits.spread_spines

    def least_uplinks(self, ends: LinkEnds, fewest: NearKey) -> Floats:
        """The cost of an uplink of a leaf in the best rack, the spines of its pod being in the racks nearest to it
        that have room for them. Only where rules of racks limit the switches of a rack.

        Of more spines a rack holds no larger share than of those of ``fewest``, or than of some number soon after: the
        share of a rack is largest where the spines are one more than a multiple of the racks.
        """
        if not self._rules_tell:
            return super().least_uplinks(ends, fewest)
        if (fewest, ends) not in self._least_uplinks:
            spreads = self.layout.plan.limits.spread_spines
            soon = min(fewest.spines, self.layout.spread_racks(spreads))
            numbers = range(fewest.spines, fewest.spines + soon + 1)
            shares = [self.layout.most_together(number, spreads) / number for number in numbers]
            tried = numbers[: shares.index(max(shares)) + 1]
            means = [self._near(ends, fewest._replace(spines=number)).min(axis=1) for number in tried]
            self._least_uplinks[fewest, ends] = np.min(means, axis=0)[:, np.newaxis]
        return self._least_uplinks[fewest, ends]

    def _near(self, ends: LinkEnds, key: NearKey) -> Floats:
        """The least mean over the links of a leaf to the spines of ``key``, by the leaf's rack, shape (metrics, racks
        of leaves); infinite without room.
        """
        if (key, ends) not in self._near_means:
            near = self._runs.near_shares(key)
            none = self._unmade(ends)[:, np.newaxis]
            self._near_means[key, ends] = none if near is None else self._mean_of(near, ends)
        return self._near_means[key, ends]

    def _mean_of(self, near: NearShares, ends: LinkEnds) -> Floats:
        """The mean over links with the class shares of ``near``, shape (metrics, racks of leaves)."""
        costs = self._costs(near.classes, ends)
        can_be = np.isfinite(costs)
        means = np.where(can_be, costs, 0.0) @ near.shares.T
        means[~can_be @ near.shares.T > 0] = np.inf
        return np.asarray(means)

    def core_links(self, links: LinkRows) -> Floats:
        """The cost of a spine's uplink, spines in their places and every core in the best rack for it."""
        return _by_row(self._core_link_means, self._core_link, links)

    def _uplink(self, links: LinkRows, shape: Shape) -> Floats:
        """The mean over uplinks, of which every leaf has at least m to each spine of its pod, shape (metrics,)."""
        runs = self._runs.to_spines(places_key(links.nic, shape, links.sizes), links.nic, shape)
        if runs is None:
            return self._unmade(links.ends)
        share = int(shape.links_per_pair) * int(shape.spines) / int(shape.u)
        return np.asarray(self._costs(runs.classes, links.ends) @ runs.counts / runs.counts.sum() * share)

    def _core_link(self, links: LinkRows, shape: Shape) -> Floats:
        """The mean over spine uplinks: a core is joined to all pods' spines of one index at least. Shape (metrics,)."""
        runs = self._runs.to_cores(places_key(links.nic, shape, links.sizes), links.nic, shape)
        if runs is None:
            return self._unmade(links.ends)
        costs = self._costs(runs.classes, links.ends)[:, runs.place]
        by_index = costs.reshape(*costs.shape[:2], int(shape.planes), int(shape.pods), int(shape.spines)).sum(axis=3)
        return np.asarray(by_index.min(axis=1).sum(axis=(1, 2)) / runs.place.shape[1])

    def _mean(self, key: GroupsKey | None, runs: RunClasses, ends: LinkEnds) -> Floats:
        """The mean over runs, shape (metrics,); ``key``: the numbers that runs follow from, None: to the nearest
        places.
        """
        if (key, ends) not in self._means:
            self._means[key, ends] = np.asarray(self._costs(runs.classes, ends) @ runs.counts / runs.counts.sum())
        return self._means[key, ends]

    def _unmade(self, ends: LinkEnds) -> Floats:
        return self._cost(np.inf, ends)


class NearestBounds(LayoutBounds):
    """Bounds in a layout for which no spine is placed. Arrays of costs have shape (metrics, rows)."""

    def uplinks(self, links: LinkRows) -> Floats:
        """The cost of a leaf's uplink, the spines of a pod being in the racks nearest to all of its leaves."""
        return self.pod_uplinks(links)

    def core_links(self, links: LinkRows) -> Floats:
        """Nothing is known of a spine's uplink."""
        return np.zeros((1, np.size(links.shape.g)))


def _filled(costs: Floats, room: Ints, count: int) -> Floats:
    """The mean cost over ``count`` switches, racks of the least ``costs``, shape (metrics, rows, racks), being filled
    first; infinite without room. Shape (metrics, rows). ``room``: switches that a rack holds, shape (racks,).
    """
    order = np.argsort(costs, axis=2, kind="stable")
    costs, room = np.take_along_axis(costs, order, axis=2), room[order]
    inside = np.minimum(np.cumsum(room, axis=2), count)
    taken = np.diff(inside, axis=2, prepend=0)
    means = np.where(taken > 0, costs, 0.0) * taken
    return np.asarray(np.where(inside[:, :, -1] < count, np.inf, means.sum(axis=2) / count))


def _by_row(known: _Means, mean: Callable[[LinkRows, Shape], Floats], links: LinkRows) -> Floats:
    """The mean of the links of every row, shape (metrics, rows)."""
    means = known.setdefault(_Kind(links.ends, links.nic.planes, links.sizes), {})
    rows = _numbers_of_rows(links.shape)
    for row, numbers in enumerate(rows):
        if numbers not in means:
            means[numbers] = mean(links, links.shape.row(row))
    return np.stack([means[numbers] for numbers in rows], axis=1)


def _numbers_of_rows(shape: Shape) -> list[tuple[int, ...]]:
    """The numbers of every row that means over links follow from: its places (``places_key``), ``links_of_kinds``, and
    the uplinks of a leaf where spines share them unevenly.
    """
    places = shape.g, shape.rails, shape.last_rails, shape.groups_per_pod, shape.spines, shape.rail_pods
    links = shape.links_per_pair, shape.last_links_per_pair, np.where(shape.u % shape.spines, shape.u, 0)
    columns = np.broadcast_arrays(*(np.atleast_1d(numbers) for numbers in (*places, *links)))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _share_of_even(shape: Shape) -> Floats:
    """The share of a leaf's uplinks that are in equal numbers to every spine, shape (rows,)."""
    return np.asarray(np.atleast_1d(shape.links_per_pair) * shape.spines / np.atleast_1d(shape.u))
