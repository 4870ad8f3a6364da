"""What the links of attachments cost at least, which the search of a fabric leaves aside."""

from __future__ import annotations

import numpy as np

from fabopt.network.free_ports import HOST_TIERS
from fabopt.parts.assemblies import Mode
from fabopt.parts.port_types import PortType
from fabopt.problem.attachments import AttachmentDemand
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.joins import attachment_joins
from fabopt.topology.remembered import Scope, remembered


class AttachmentBounds:
    """Bounds of the attachments of the fabric of some bounds."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    def scope(self, runs: tuple[str, ...]) -> Scope:
        """The scope of bounds that depend on these runs, as ``Bounds.scope``."""
        return self.bounds.scope(runs)

    def least(self) -> float:
        """The least that the links of all attachments add to the objective."""
        attachments = self.bounds.fabric.attachments
        least_costs = (one.ports * self._least_of(one) for one in attachments if one.buys == "both")
        return sum(least for least in least_costs if np.isfinite(least))

    def _least_of(self, demand: AttachmentDemand) -> float:
        if demand.port is None:
            return np.inf
        leasts = (
            self._least_to(demand, host, protocol, tier)
            for protocol in self.bounds.fabric.protocols
            for tier in HOST_TIERS
            if demand.takes(tier)
            for host in self._hosts(protocol, tier, demand.port.lane.port_mbps)
        )
        return min(leasts, default=np.inf)

    @remembered()
    def _hosts(self, protocol: str, tier: str, port_mbps: int) -> set[PortType]:
        """The cages of a tier that run at a speed."""
        uses = (use for switch in self.bounds.switches(protocol, tier) for use in switch.uses)
        return {use.port for use in uses if use.lane.port_mbps == port_mbps}

    @remembered("attachment-leaf")
    def _least_to(self, demand: AttachmentDemand, host: PortType, protocol: str, tier: str) -> float:
        """The least that one link of an attachment adds.

        In cages of several ports, what is at the switch may be there for servers already.
        """
        assert demand.port is not None
        problem, fabric, costs = self.bounds.problem, self.bounds.fabric, self.bounds.costs
        alone, near_ports = host.ports == 1, demand.port.ports
        least = np.inf
        for way in attachment_joins(problem, fabric, demand, host, protocol, tier):
            cost = float(costs.of(way.near)[0]) / near_ports
            if alone or way.mode is not Mode.FAR:
                cost += float(costs.of(way.cable)[0]) / way.ports_per_cable
            least = min(least, cost + (float(costs.of(way.far)[0]) if alone else 0.0))
        return least
