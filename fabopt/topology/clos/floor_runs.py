"""Runs in a layout of the floor by length class, worked out once for every size whose switches are placed.

Positions of leaves follow from the sizes of groups alone, those of spines also from the sizes of pods.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from fabopt.floor.free_space import space_in
from fabopt.floor.group_runs import classes_of_runs
from fabopt.floor.layouts import Layout
from fabopt.floor.placement import place, place_leaves
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import SwitchSize
from fabopt.floor.racks import Positions, height_m
from fabopt.network.clos_links import ClosNumbers
from fabopt.network.clos_shape import ClosShape
from fabopt.parts.item_table import ItemTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.shape import Ints, Shape
from fabopt.topology.link_parts import Floats

# Sizes whose switches are placed in a layout before the search is content with estimates.
MOST_PLACED = 8000


class TooManyPlacesError(Exception):
    """More sizes could be the best of a layout than the search places one by one."""


class LeavesKey(NamedTuple):
    """Numbers that the racks of leaves in a layout follow from."""

    g: int
    rails: int
    last_rails: int
    planes: int
    size: SwitchSize


class GroupsKey(NamedTuple):
    """Numbers that the runs between servers and leaves follow from; ``g`` is 0 for a store of all group sizes."""

    g: int
    k: int
    last_k: int
    nics: int
    ports_per_nic: int
    planes: int
    size: SwitchSize


class PlacesKey(NamedTuple):
    """Numbers that the racks of leaves and spines in a layout follow from; ``sizes``: of a leaf and a spine."""

    g: int
    rails: int
    last_rails: int
    planes: int
    groups_per_pod: int
    spines: int
    rail_pods: bool
    sizes: tuple[SwitchSize, ...]


class RunClasses(NamedTuple):
    """Length classes that occur among runs, rising, and the number of runs of each, both of shape (classes,)."""

    classes: Ints
    counts: Ints


class RackClasses(NamedTuple):
    """Length classes that occur among runs, rising, and the index of the class of the run from every switch rack to
    every device, shape (racks, devices).
    """

    classes: Ints
    place: Ints


class NearKey(NamedTuple):
    """Number of spines of a pod, and the space that each takes of a rack."""

    spines: int
    size: SwitchSize


class NearRuns(NamedTuple):
    """Length classes that occur among runs from the racks of leaves to those of spines, rising; the index of each run's
    class, shape (leaf racks, spine racks); and the number of spines of a pod that a rack holds, shape (spine racks,).
    """

    classes: Ints
    place: Ints
    room: Ints


class NearShares(NamedTuple):
    """Length classes that occur among runs, rising, shape (classes,), and the share of each among the links of a leaf,
    shape (leaf racks, classes).
    """

    classes: Ints
    shares: Floats


class LayoutKey:
    """Stands for all equal layouts of a floor plan, and lengths on sale; equal to itself only, as what it stands for is
    long to compare.
    """


_KEYS: Lookup[FloorPlan, tuple[Hashable, bytes], LayoutKey] = Lookup()
# By floor plan, for all problems of one. Where switches are installed in a layout; None: they do not fit.
_LEAVES: Lookup[FloorPlan, tuple[LayoutKey, LeavesKey], Positions | None] = Lookup()
_PLACES: Lookup[FloorPlan, tuple[LayoutKey, PlacesKey], tuple[Positions, ...] | None] = Lookup()
# Runs by their class among the lengths on sale.
_TO_NEAREST: Lookup[FloorPlan, LayoutKey, RunClasses] = Lookup()
_TO_LEAVES: Lookup[FloorPlan, tuple[LayoutKey, GroupsKey], RunClasses] = Lookup()
_TO_LEAF_RACKS: Lookup[FloorPlan, LayoutKey, RackClasses] = Lookup()
_TO_SPINES: Lookup[FloorPlan, tuple[LayoutKey, PlacesKey, tuple[int, int]], RunClasses] = Lookup()
_TO_CORES: Lookup[FloorPlan, tuple[LayoutKey, PlacesKey], RackClasses] = Lookup()
_NEAR: Lookup[FloorPlan, LayoutKey, RackClasses] = Lookup()
_NEAR_SHARES: Lookup[FloorPlan, tuple[LayoutKey, int, bytes], NearShares | None] = Lookup()
_ROOM: Lookup[FloorPlan, tuple[LayoutKey, SwitchSize], Ints] = Lookup()
# Sizes that a search has placed in a layout of its own.
_PLACED: Lookup[Layout, PlacesKey, tuple[Positions, ...] | None] = Lookup()


def groups_key(g: int, nic: NicOption, shape: Shape, size: SwitchSize) -> GroupsKey:
    """Key of the servers' runs in groups of ``g``, on leaves of a size."""
    return GroupsKey(g, int(shape.k), int(shape.last_k), nic.nics_per_server, nic.ports_per_nic, nic.planes, size)


def places_key(nic: NicOption, shape: Shape, sizes: tuple[SwitchSize, ...]) -> PlacesKey:
    """Key of the racks of one shape's leaves and spines."""
    return PlacesKey(
        int(shape.g), int(shape.rails), int(shape.last_rails), nic.planes, int(shape.groups_per_pod), int(shape.spines),
        bool(shape.rail_pods), sizes,
    )  # fmt: skip


def links_of_kinds(shape: ClosShape[Any]) -> tuple[int, int]:
    """Links to each spine of a leaf and of a leaf of the last group, where they differ; else (1, 1)."""
    own, last = int(shape.links_per_pair), int(shape.last_links_per_pair)
    return (own, last) if own != last else (1, 1)


class LayoutRuns:
    """Runs in a layout by their class among the lengths of a table; None where switches do not fit."""

    def __init__(self, layout: Layout, item_table: ItemTable) -> None:
        self.layout = layout
        self.lengths_m = item_table.lengths_m
        self.key = _KEYS.of(layout.plan, (layout.key_on_plan, self.lengths_m.tobytes()), LayoutKey)
        self._near: dict[NearKey, NearRuns] = {}
        self._shares: dict[tuple[object, ...], Floats] = {}

    def to_nearest(self) -> RunClasses:
        """Runs from every server to the nearest place that a leaf may have."""
        return _TO_NEAREST.of(self.layout.plan, self.key, self._counted, self.layout.nearest_leaf_m)

    def to_leaf_racks(self) -> RackClasses:
        """Runs from every rack of leaves to every server, none longer than that of a leaf in the rack."""
        return _TO_LEAF_RACKS.of(self.layout.plan, self.key, self._by_rack, self.layout.least_to_servers_m)

    def to_leaves(self, nic: NicOption, shape: Shape, size: SwitchSize) -> RunClasses | None:
        """Runs from every server to its leaves."""
        leaves = self._leaves(nic, shape, size)
        if leaves is None:
            return None
        key = (self.key, groups_key(int(shape.g), nic, shape, size))
        return _TO_LEAVES.of(self.layout.plan, key, self._leaf_runs, nic, shape, leaves)

    def _leaves(self, nic: NicOption, shape: Shape, size: SwitchSize) -> Positions | None:
        key = LeavesKey(int(shape.g), int(shape.rails), int(shape.last_rails), nic.planes, size)
        return _LEAVES.of(self.layout.plan, (self.key, key), _placed_leaves, self.layout, nic, shape, size)

    def uplink_shares(self, nic: NicOption, shape: Shape, size: SwitchSize) -> Floats | None:
        """The share of all uplinks by pod and by rack of their leaf, shape (pods of all planes, racks of leaves)."""
        leaves = self._leaves(nic, shape, size)
        if leaves is None:
            return None
        numbers = numbers_of(nic, shape)
        key = groups_key(int(shape.g), nic, shape, size), int(shape.rails), int(shape.last_rails), numbers.pods, (
            int(shape.groups_per_pod), bool(shape.rail_pods), links_of_kinds(shape)
        )  # fmt: skip
        if key not in self._shares:
            self._shares[key] = self._uplink_shares(numbers, leaves)
        return self._shares[key]

    def _uplink_shares(self, numbers: ClosNumbers, leaves: Positions) -> Floats:
        racks = self.layout.leaf_racks
        leaf, pod = _pods_of_leaves(numbers, len(leaves.rack))
        pods, links = numbers.planes * numbers.pods, _links_of_leaves(numbers, leaf)
        place = pod * len(racks) + np.searchsorted(racks, leaves.rack)
        shares = np.bincount(place, links, minlength=pods * len(racks)) / links.sum()
        return np.asarray(shares.reshape(pods, len(racks)))

    def near(self, key: NearKey) -> NearRuns:
        """Runs from every rack of leaves to every rack for switches, all switches being on top."""
        if key not in self._near:
            self._near[key] = self._near_runs(key)
        return self._near[key]

    def _near_runs(self, key: NearKey) -> NearRuns:
        racks = np.unique(self.layout.racks_of(1))
        plan = self.layout.plan
        room = _ROOM.of(plan, (self.key, key.size), _room_of, self.layout, key.size)[racks]
        most = self.layout.most_together(key.spines, plan.limits.spread_spines)
        runs = _NEAR.of(plan, self.key, self._by_rack, self.layout.least_to_switches_m)
        return NearRuns(*runs, np.minimum(room, most))

    def near_shares(self, key: NearKey) -> NearShares | None:
        """Class shares of the links of a leaf in each rack, its spines being in the nearest racks that have room for
        them; None without room.
        """
        near = self.near(key)
        of_room = self.key, key.spines, near.room.tobytes()
        return _NEAR_SHARES.of(self.layout.plan, of_room, _nearest_first, near, key.spines)

    def to_spines(self, key: PlacesKey, nic: NicOption, shape: Shape) -> RunClasses | None:
        """Runs from every leaf to all spines of its pod."""
        positions = self._positions(key, nic, shape)
        if positions is None:
            return None
        all_ = (self.key, key, links_of_kinds(shape))
        return _TO_SPINES.of(self.layout.plan, all_, self._spine_runs, positions, numbers_of(nic, shape))

    def to_cores(self, key: PlacesKey, nic: NicOption, shape: Shape) -> RackClasses | None:
        """Runs from every rack that a core may be in to all spines."""
        positions = self._positions(key, nic, shape)
        if positions is None:
            return None
        return _TO_CORES.of(self.layout.plan, (self.key, key), self._core_runs, positions[1])

    def _positions(self, key: PlacesKey, nic: NicOption, shape: Shape) -> tuple[Positions, ...] | None:
        placed = _PLACED.table(self.layout)
        if key not in placed:
            if len(placed) >= MOST_PLACED:
                raise TooManyPlacesError
            all_ = (self.key, key)
            placed[key] = _PLACES.of(self.layout.plan, all_, place, self.layout, numbers_of(nic, shape), key.sizes)
        return placed[key]

    def _leaf_runs(self, nic: NicOption, shape: Shape, leaves: Positions) -> RunClasses:
        numbers, server = numbers_of(nic, shape), np.arange(self.layout.servers)[:, None]
        # of a group like the others every leaf has as many ports of a server: one of them stands for all
        ports = np.arange(shape.ports if numbers.has_own_last else int(shape.rails))
        k = numbers.ports_of_servers(server)[0] if numbers.has_own_last else 1
        plane = np.arange(nic.planes)[:, None, None]
        of_server = plane * numbers.leaves + server // numbers.g * numbers.rails + ports // k
        rack, height_of_server_m = self.layout.server_rack[:, None], self.layout.server_height_m[:, None]
        run_m = self.layout.plan.run_m(rack, height_of_server_m, leaves.rack[of_server], leaves.height_m[of_server])
        return self._counted(run_m)

    def _spine_runs(self, positions: tuple[Positions, ...], numbers: ClosNumbers) -> RunClasses:
        leaves, spines = positions
        leaf, pod = _pods_of_leaves(numbers, len(leaves.rack))
        spine = (pod * numbers.spines)[:, None] + np.arange(numbers.spines)
        run_m = self.layout.plan.run_m(
            leaves.rack[:, None], leaves.height_m[:, None], spines.rack[spine], spines.height_m[spine]
        )
        return self._counted(np.repeat(run_m, _links_of_leaves(numbers, leaf), axis=0))

    def _core_runs(self, spines: Positions) -> RackClasses:
        layout, plan = self.layout, self.layout.plan
        racks = layout.racks_of(2)[layout.free_units[layout.racks_of(2)] > 0]
        top_m = float(np.max(height_m(layout.top_unit[racks], 1)))
        run_m = plan.run_m(racks[:, None], top_m, spines.rack[None, :], spines.height_m[None, :])
        run_m = np.where(racks[:, None] == spines.rack[None, :], plan.least_in_rack_m, run_m)
        return self._by_rack(run_m)

    def _by_rack(self, run_m: Floats) -> RackClasses:
        classes = classes_of_runs(self.lengths_m, run_m)
        different, place_of = np.unique(classes, return_inverse=True)
        return RackClasses(different, place_of.reshape(classes.shape))

    def _counted(self, run_m: Floats) -> RunClasses:
        classes = classes_of_runs(self.lengths_m, run_m.ravel())
        counts = np.bincount(classes)
        different = np.flatnonzero(counts)
        return RunClasses(different, counts[different])


def _pods_of_leaves(numbers: ClosNumbers, leaves: int) -> tuple[Ints, Ints]:
    """Leaves of all planes by their numbers, and the pod of each over all planes, both of shape (leaves,)."""
    leaf = np.arange(leaves)
    pod = leaf // numbers.leaves * numbers.pods + (numbers.pod_of_leaf(leaf) if numbers.pods > 1 else 0)
    return leaf, np.asarray(pod)


def _links_of_leaves(numbers: ClosNumbers, leaf: Ints) -> Ints:
    """Links of leaves to each spine as ``links_of_kinds``, shape (leaves,)."""
    own, last = links_of_kinds(numbers)
    if own == last:
        return np.full(len(leaf), own)
    return np.where(numbers.has_own_last & (numbers.group_of_leaf(leaf) == numbers.groups - 1), last, own)


def _nearest_first(near: NearRuns, spines: int) -> NearShares | None:
    """Class shares of links where ``spines`` spines fill the racks nearest to each rack of leaves; None without
    room.
    """
    if near.room.sum() < spines:
        return None
    order = np.argsort(near.place, axis=1, kind="stable")
    inside = np.minimum(np.cumsum(near.room[order], axis=1), spines)
    taken = np.diff(inside, axis=1, prepend=0)
    shape = len(near.place), len(near.classes)
    cell = np.arange(shape[0])[:, np.newaxis] * shape[1] + np.take_along_axis(near.place, order, axis=1)
    counts = np.bincount(cell.ravel(), taken.ravel(), minlength=shape[0] * shape[1])
    return NearShares(near.classes, counts.reshape(shape) / spines)


def _room_of(layout: Layout, size: SwitchSize) -> Ints:
    """The switches of a size that each empty rack holds, shape (racks,)."""
    return space_in(layout).switches(size)


def _placed_leaves(layout: Layout, nic: NicOption, shape: Shape, size: SwitchSize) -> Positions | None:
    return place_leaves(layout, numbers_of(nic, shape), size)
