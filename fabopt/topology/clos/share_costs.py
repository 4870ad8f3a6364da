"""Lower bounds of leaf uplinks with all tiers above: by the share of the servers' injection that they carry, and with
whole spines, of which every pod has its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabopt.parts.port_types import PortType
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.redundancy import fewest_spines
from fabopt.topology.clos.shape import Ints, Shape, SwitchUse, ranges, uplinks_that_fit, usable_ports
from fabopt.topology.clos.step_deadline import ShareCosts, has_deadline, leaves_alone_may_cost
from fabopt.topology.link_parts import Floats
from fabopt.topology.remembered import remembered
from fabopt.topology.spans import pod_sizes
from fabopt.units import Number, ceil_of
from fabopt.workload.deadline import Blocks


def share_costs(bounds: Bounds, block: Block, rail_pods: int = 0) -> ShareCosts:
    """Least cost of a network that carries all of the servers' injection, from the uplinks of a block up.

    With ratios r and R at leaves and spines, and r R no more than 1/s, leaves have s d v / w uplinks for their d
    endpoints at the least, and all spines have s d v / w2. ``rail_pods``: rails with pods of their own, which may hold
    all servers, so that nothing need be left above them; 0: none.
    """
    mbps = bounds.problem.servers * block.nic.ports_per_server * block.down.lane.port_mbps
    of_leaves, in_pods, _ = _costs_of_mbps(bounds, block.uplinks.port, block.protocol, block.tiers)
    spines = fewest_of_all_spines(bounds, block, rail_pods)
    least = float(least_with_spines(bounds, block, 0, spines))
    return ShareCosts(of_leaves * mbps, None if in_pods is None or rail_pods else in_pods * mbps, least)


class WorthOfLeaves:
    """Most cost of a block's leaves without uplinks at which a step is worth it, if the network costs at most
    ``limit``.

    It follows neither from the leaves of a last group nor, pods of one rail aside, from ports on a leaf.
    """

    def __init__(self, bounds: Bounds, block: Block, limit: float) -> None:
        self.bounds = bounds
        self.block = block
        self.limit = limit
        # by rails that have pods of their own, or 0
        self._most: dict[int, Floats] = {}

    def most(self, g: Ints, k: Number, own_k: Number) -> Floats:
        """The most cost by group size and ports of a server on each leaf, ``own_k`` in the last group, shape
        (sizes,).
        """
        if not has_deadline(self.bounds.fabric):
            return np.full(g.shape, np.inf)
        most, ports = self._of_rails(0)[g - 1], self.block.nic.ports_per_plane
        if self.block.tiers > 2:
            # in pods of one rail all groups may be in one pod, with nothing above it but what joins the rails
            rails = np.broadcast_to(np.where((k == own_k) & (k < ports), ports // k, 0), g.shape)
            for number in np.unique(rails[rails > 0]).tolist():
                own = rails == number
                most[own] = np.maximum(most[own], self._of_rails(number)[g[own] - 1])
        return most

    def _of_rails(self, rails: int) -> Floats:
        """The most cost by group size, from 1 up to the servers that a leaf has ports for, shape (sizes,)."""
        if rails not in self._most:
            bounds, block = self.bounds, self.block
            problem, nic = bounds.problem, block.nic
            largest = min(problem.servers, bounds.leaf_ports(block.leaf, block.down, block.uplinks))
            gpus = problem.server.gpus * np.arange(1, largest + 1)
            groups = Blocks(nic.injection, gpus, problem.gpus, block.parts.reduces)
            costs = share_costs(bounds, block, rails)
            self._most[rails] = leaves_alone_may_cost(bounds.fabric, groups, self.limit, costs)
        return self._most[rails]


@remembered("leaf-spine", "spine-core")
def _costs_of_mbps(bounds: Bounds, up: PortType, protocol: str, tiers: int) -> ShareCosts:
    """Least cost of each Mb/s of injection."""
    of_leaves = float(bounds.above(up, protocol, tiers)[0]) / up.lane.port_mbps
    if tiers < 3:
        return ShareCosts(of_leaves)
    in_pods = np.inf
    for spine in bounds.uppers(up.lane.port_mbps, protocol, tiers):
        assert spine.up is not None
        below = bounds.least_link(up, spine.down.port, "leaf-spine", protocol)
        below = below + bounds.share_alone(spine.switch, spine.down)
        above = bounds.core_link(spine.up.port, protocol)
        in_pods = min(in_pods, float(below[0] / up.lane.port_mbps + above[0] / spine.up.lane.port_mbps))
    return ShareCosts(of_leaves, in_pods)


def fewest_of_all_spines(bounds: Bounds, block: Block, rail_pods: int = 0) -> int:
    """Fewest spines above a block, over all planes; ``rail_pods``: as of ``fewest_pods``."""
    planes = block.nic.planes
    return planes * fewest_pods(block, rail_pods) * fewest_spines(bounds.fabric, planes)


def fewest_pods(block: Block, rail_pods: int = 0) -> int:
    """Fewest pods above a block; ``rail_pods``: rails with pods of their own, 0: none.

    Without these there are two pods, or there would be no cores. Rule ``pods_cover_groups``
    """
    return 1 if block.tiers < 3 else max(2, rail_pods)


def least_with_spines(bounds: Bounds, block: Block, links: Number | float, spines: Number) -> Floats:
    """Least objective of ``links`` leaf uplinks with at least ``spines`` spines, all of one type, each with an uplink
    of its own if there are cores; shape of ``links``.
    """
    of_link, of_spine = _costs_of_spines(bounds, block.uplinks.port, block.protocol, block.tiers)
    all_links, all_spines = np.broadcast_arrays(links, spines)
    costs = np.multiply.outer(of_link, all_links) + np.multiply.outer(of_spine, all_spines)
    return np.asarray(costs.min(axis=0, initial=np.inf))


@remembered("leaf-spine", "spine-core")
def _costs_of_spines(bounds: Bounds, up: PortType, protocol: str, tiers: int) -> tuple[Floats, Floats]:
    """Least objective of a leaf's uplink and of a whole spine, by spine, without dominated ones, each of shape
    (spines,).
    """
    kept: list[tuple[float, float]] = []
    # before any rack is looked at, by the port
    alone: dict[PortType, float] = {}
    least = np.inf
    for of_spine, spine in _whole_spines(bounds, up.lane.port_mbps, protocol, tiers):
        port = spine.down.port
        if port not in alone:
            alone[port] = float(bounds.least_link(up, port, "leaf-spine", protocol)[0])
        of_link = float(bounds.least_uplink(up, spine, protocol)[0]) if alone[port] < least else np.inf
        if of_link < least:
            least = of_link
            kept.append((of_spine, of_link))
    return np.array([of_link for _, of_link in kept]), np.array([of_spine for of_spine, _ in kept])


@remembered("spine-core")
def _whole_spines(bounds: Bounds, port_mbps: int, protocol: str, tiers: int) -> list[tuple[float, SwitchUse]]:
    """Least objective of every spine on offer, rising, with one uplink and its core share if there are cores."""
    whole = []
    for spine in bounds.uppers(port_mbps, protocol, tiers):
        above = 0.0 if spine.up is None else float(bounds.core_link(spine.up.port, protocol)[0])
        whole.append((float(bounds.costs.of(spine.switch.item)[0]) + above, spine))
    return sorted(
        (cost_and_spine for cost_and_spine in whole if np.isfinite(cost_and_spine[0])),
        key=lambda cost_and_spine: cost_and_spine[0],
    )


# -- lower bounds of three-tier uplinks with all tiers above, by the pods that groups can form ------------------------


# Below three tiers or fewer pods there are no cores.
FEWEST_PODS = 2


class SpineReach(NamedTuple):
    """Down ports of a spine, and pods that cores above it join."""

    ports: int
    pods: int


class _LeafRows(NamedTuple):
    """Leaves of some sizes: servers of a group, groups, leaves of a group, uplinks of a leaf of a full group and of all
    leaves of a plane; arrays of shape (rows,).
    """

    g: Ints
    groups: Ints
    rails: Ints
    u: Ints
    uplinks: Ints


class _SpineCosts(NamedTuple):
    """The least objective of a leaf's uplink, shape (spines, 1), and of a spine's port for it with its share of the
    spine and of the cores by the number of pods, shape (spines, pods + 1); infinite where no core joins so many pods.
    """

    links: Floats
    shares: Floats


class CoreCosts(NamedTuple):
    """The least cost of a spine's uplink to each core before any is placed, shape (cores, metrics, 1), and of its share
    of the core by the number of pods, shape (cores, metrics, pods + 1): all pods have as many of its ports, so that
    some may stay free; infinite where it cannot join them all, as for the last number and all above. ``least``: of both
    together over all cores, shape (metrics, pods + 1).
    """

    links: Floats
    shares: Floats
    least: Floats

    def shares_at(self, pods: Ints) -> Floats:
        """The shares of each core in fabrics of so many pods, shape (cores, metrics, rows)."""
        return np.asarray(self.shares[:, :, np.minimum(pods, self.shares.shape[2] - 1)])

    def least_at(self, pods: Ints) -> Floats:
        """The least cost of an uplink with its share of any core, shape (metrics, rows)."""
        return np.asarray(self.least[:, np.minimum(pods, self.shares.shape[2] - 1)])


@remembered("spine-core")
def farthest_reach(bounds: Bounds, port_mbps: int, protocol: str) -> SpineReach:
    """Most down ports and most pods of any spine of three tiers, for leaf uplinks of a speed."""
    uppers = bounds.uppers(port_mbps, protocol, 3)
    ports = max(map(bounds.spine_ports, uppers), default=0)
    return SpineReach(ports, max((bounds.most_pods(spine, protocol) for spine in uppers), default=0))


def least_in_pods(bounds: Bounds, block: Block, shape: Shape) -> Floats:
    """The least objective of three-tier leaf uplinks with all tiers above them, shape (rows,)."""
    leaves = _LeafRows(*np.broadcast_arrays(shape.g, shape.groups, shape.rails, shape.u, shape.uplinks))
    costs = _spine_costs(bounds, block.uplinks.port, block.protocol)
    reach = farthest_reach(bounds, block.uplinks.lane.port_mbps, block.protocol)
    least = np.full(leaves.g.shape, np.inf)
    for rail_pods in (False, True) if (leaves.rails > 1).any() else (False,):
        per_group, rails = (leaves.rails**0, leaves.rails) if rail_pods else (leaves.rails, leaves.rails**0)
        # the last group's leaf may need fewer ports; and where pods are not of one rail there are two of them
        most = np.minimum(reach.ports // per_group + 1, leaves.groups - (not rail_pods))
        rows, size = ranges(*pod_sizes(bounds.fabric, leaves.g, leaves.g**0, most))
        pods = ceil_of(leaves.groups[rows], size)
        # all pods have the spines of a full one
        down = np.where(pods > 1, pods * (rails * per_group * leaves.u)[rows] * size, leaves.uplinks[rows])
        share = costs.shares[:, np.minimum(pods * rails[rows], costs.shares.shape[1] - 1)]
        cost = (costs.links * leaves.uplinks[rows] + share * down).min(axis=0, initial=np.inf)
        np.minimum.at(least, rows, cost)
    return np.asarray(block.nic.planes * least)


@remembered("leaf-spine", "spine-core")
def _spine_costs(bounds: Bounds, up: PortType, protocol: str) -> _SpineCosts:
    """Costs of the spines that may be above leaves, without spines that another one dominates."""
    links: list[float] = []
    shares: list[Floats] = []
    for spine in bounds.uppers(up.lane.port_mbps, protocol, 3):
        link = float(bounds.least_link(up, spine.down.port, "leaf-spine", protocol)[0])
        share = _shares_by_pods(bounds, spine, protocol)
        if np.isfinite(link) and not any(
            link >= other and (share >= others).all() for other, others in zip(links, shares, strict=True)
        ):
            links.append(link)
            shares.append(share)
    most = farthest_reach(bounds, up.lane.port_mbps, protocol).pods
    return _SpineCosts(np.array(links).reshape(-1, 1), np.array(shares).reshape(-1, most + 2))


@remembered("spine-core")
def _shares_by_pods(bounds: Bounds, spine: SwitchUse, protocol: str) -> Floats:
    """The least objective of a spine's port for a leaf by the number of pods, shape (pods + 2,)."""
    assert spine.up is not None
    most = farthest_reach(bounds, spine.down.lane.port_mbps, protocol).pods
    up = spine.up
    cores = tuple(bounds.cores(up.lane.port_mbps, protocol))
    upward = core_costs(bounds, cores, up.port, protocol).least_at(np.arange(most + 2))[0]
    upward[:FEWEST_PODS] = np.inf
    ports = np.arange(1, usable_ports(spine.down, spine.switch) + 1)
    need = bounds.spine_uplinks(ports, spine.down, up)
    fits = need <= uplinks_that_fit(spine.switch, spine.down, up, ports)
    ports, need = ports[fits], need[fits]
    switch = bounds.costs.of(spine.switch.item)[0]
    return np.asarray(((switch + np.multiply.outer(upward, need)) / ports).min(axis=1, initial=np.inf))


@remembered("spine-core")
def core_costs(bounds: Bounds, cores: tuple[SwitchUse, ...], up: PortType, protocol: str) -> CoreCosts:
    """The least costs of a spine's uplink to each of some cores."""
    ports = np.array([usable_ports(use, core) for core, use, _ in cores], dtype=np.int64)
    metrics = bounds.costs.table.shape[0]
    links = np.array([bounds.least_link(up, use.port, "spine-core", protocol) for _, use, _ in cores])
    links = links.reshape(-1, metrics, 1)
    of_core = np.array([bounds.costs.of(core.item) for core, _, _ in cores]).reshape(-1, metrics, 1)
    joined = np.maximum(np.arange(ports.max(initial=0) + 2), 1)
    in_use = (ports[:, np.newaxis] // joined * joined)[:, np.newaxis]
    shares = np.full((len(cores), metrics, joined.size), np.inf)
    np.divide(of_core, in_use, out=shares, where=np.broadcast_to(in_use > 0, shares.shape))
    return CoreCosts(links, shares, (links + shares).min(axis=0, initial=np.inf))
