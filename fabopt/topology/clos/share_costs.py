"""Lower bounds of leaf uplinks with all tiers above: by the share of the servers' injection that they carry, and with
whole spines, of which every pod has its own.
"""

from __future__ import annotations

import numpy as np

from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.redundancy import fewest_spines
from fabopt.topology.clos.shape import Ints, SwitchUse
from fabopt.topology.clos.step_deadline import ShareCosts, has_deadline, leaves_alone_may_cost
from fabopt.topology.link_parts import Floats
from fabopt.topology.remembered import remembered
from fabopt.units import Number
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
    return planes * fewest_pods(bounds.fabric, block, rail_pods) * fewest_spines(bounds.fabric, planes)


def fewest_pods(fabric: FabricProblem, block: Block, rail_pods: int = 0) -> int:
    """Fewest pods above a block; ``rail_pods``: rails with pods of their own, 0: none.

    Without these there are two pods, or there would be no cores. Rule ``pods_cover_groups``
    """
    return 1 if block.tiers < 3 else max(fabric.fewest_pods, rail_pods)


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
