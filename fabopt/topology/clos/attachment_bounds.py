"""Lower bounds of the cost of attachments' links, which the search of a fabric does not count."""

from __future__ import annotations

import numpy as np

from fabopt.network.free_ports import HOST_TIERS
from fabopt.parts.assemblies import Mode
from fabopt.parts.port_types import PortType
from fabopt.problem.attachments import AttachmentDemand
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.joins import attachment_joins
from fabopt.topology.remembered import remembered


def least_of_attachments(bounds: Bounds) -> float:
    """Lower bound of the objective that the links of all attachments of a fabric add."""
    bought = [demand for demand in bounds.fabric.attachments if demand.buys == "both"]
    return sum(demand.ports * least for demand in bought if np.isfinite(least := _least_of(bounds, demand)))


def _least_of(bounds: Bounds, demand: AttachmentDemand) -> float:
    if demand.port is None:
        return np.inf
    leasts = (
        _least_to(bounds, demand, host, protocol, tier)
        for protocol in bounds.fabric.protocols
        for tier in HOST_TIERS
        if demand.takes(tier)
        for host in _hosts(bounds, protocol, tier, demand.port.lane.port_mbps)
    )
    return min(leasts, default=np.inf)


@remembered()
def _hosts(bounds: Bounds, protocol: str, tier: str, port_mbps: int) -> set[PortType]:
    """Cages of a tier's switches that run at a port speed."""
    uses = (use for switch in bounds.switches(protocol, tier) for use in switch.uses)
    return {use.port for use in uses if use.lane.port_mbps == port_mbps}


@remembered("attachment-leaf")
def _least_to(bounds: Bounds, demand: AttachmentDemand, host: PortType, protocol: str, tier: str) -> float:
    """Least objective of one link of an attachment to such a cage.

    In cages of several ports the part at the switch is not counted, as servers may need it anyway.
    """
    assert demand.port is not None
    costs, alone, near_ports, least = bounds.costs, host.ports == 1, demand.port.ports, np.inf
    for way in attachment_joins(bounds.problem, bounds.fabric, demand, host, protocol, tier):
        cost = float(costs.of(way.near)[0]) / near_ports
        if alone or way.mode is not Mode.FAR:
            cost += float(costs.of(way.cable)[0]) / way.ports_per_cable
        least = min(least, cost + (float(costs.of(way.far)[0]) if alone else 0.0))
    return least
