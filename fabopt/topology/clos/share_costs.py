"""What uplinks of leaves cost at least with all above them, by the share of the servers' injection that they give."""

from __future__ import annotations

import numpy as np

from fabopt.parts.port_types import PortType
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.step_deadline import ShareCosts
from fabopt.topology.remembered import remembered


def share_costs(bounds: Bounds, block: Block) -> ShareCosts:
    """The least that what gives servers all of their injection costs, from the uplinks of a block up.

    With ratios r and R at leaves and spines, and r R no more than 1/s, leaves have s d v / w uplinks for their d
    endpoints at the least, and all spines have s d v / w2.
    """
    mbps = bounds.problem.servers * block.nic.ports_per_server * block.down.lane.port_mbps
    of_leaves, in_pods = _costs_of_mbps(bounds, block.uplinks.port, block.protocol, block.tiers)
    return ShareCosts(of_leaves * mbps, None if in_pods is None else in_pods * mbps)


@remembered("leaf-spine", "spine-core")
def _costs_of_mbps(bounds: Bounds, up: PortType, protocol: str, tiers: int) -> ShareCosts:
    """What each Mb/s of injection costs at least."""
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
