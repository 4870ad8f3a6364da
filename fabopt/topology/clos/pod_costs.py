"""Lower bounds of three-tier uplinks with all tiers above, by the pods that groups can form.

All pods of a fabric have as many spines with as many uplinks, the last one too, and all of them have as many ports of
each core. So the cost above leaves depends on how the groups fall into pods and the pods on cores, which is known
before any spine is sized. Rules ``pods_cover_groups``, ``cores_join_pods``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabopt.parts.port_types import PortType
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.shape import Ints, Shape, SwitchUse, ranges, uplinks_that_fit, usable_ports
from fabopt.topology.link_parts import Floats
from fabopt.topology.remembered import remembered
from fabopt.topology.spans import pod_sizes
from fabopt.units import ceil_of


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
        most = np.minimum(
            reach.ports // per_group + 1, leaves.groups - (0 if rail_pods else bounds.fabric.fewest_pods - 1)
        )
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
    upward[: bounds.fabric.fewest_pods] = np.inf
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
