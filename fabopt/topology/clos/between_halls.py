"""Rule ``halls_carry_demand``: what leaves each of several halls, against the endpoints on its smaller side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fabopt.network.expand import links_of_clos
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement


def joins_halls(fabric: FabricProblem, clos: ClosNetwork) -> bool:
    """Whether enough links leave every hall; True where the case has no limit for them."""
    most = fabric.oversubscription_hall
    if most is None or not isinstance(clos.placement, RackPlacement):
        return True
    return all(inside <= most * leaving for inside, leaving in _mbps_of_halls(clos, clos.placement))


def ratio_of_halls(clos: ClosNetwork) -> Fraction | None:
    """The least limit that a placed network keeps; None where endpoints of a hall have no link out of it."""
    assert isinstance(clos.placement, RackPlacement)
    sides = [(inside, leaving) for inside, leaving in _mbps_of_halls(clos, clos.placement) if inside]
    if any(not leaving for _, leaving in sides):
        return None
    return max((inside / leaving for inside, leaving in sides), default=Fraction(0))


def _mbps_of_halls(clos: ClosNetwork, placement: RackPlacement) -> list[tuple[int, Fraction]]:
    """Mb/s of the endpoints on the smaller side of each hall's boundary, and of the links that cross it."""
    plan, parts = placement.layout.plan, clos.parts
    halls = int(plan.hall_of.max(initial=0)) + 1
    leaving = [0] * halls
    speeds = {"server-leaf": parts.nic.port.lane.port_mbps}
    if parts.leaf_up is not None:
        speeds["leaf-spine"] = parts.leaf_up.lane.port_mbps
    if parts.spine_up is not None:
        speeds["spine-core"] = parts.spine_up.lane.port_mbps
    for kind, mbps in speeds.items():
        links, (below, above) = links_of_clos(placement.numbers, kind, 1), placement.ends(kind)
        near, far = plan.hall_of[below.rack[links.a]], plan.hall_of[above.rack[links.b]]
        crossing = near != far
        counts = np.bincount(near[crossing], minlength=halls) + np.bincount(far[crossing], minlength=halls)
        leaving = [so_far + mbps * int(count) for so_far, count in zip(leaving, counts, strict=True)]
    servers = np.bincount(plan.hall_of[placement.layout.server_rack], minlength=halls).tolist()
    of_server = parts.nic.ports_per_server * parts.nic.port.lane.port_mbps
    return [
        (min(own, sum(servers) - own) * of_server, Fraction(out)) for own, out in zip(servers, leaving, strict=True)
    ]
