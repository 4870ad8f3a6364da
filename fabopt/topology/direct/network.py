"""One direct network: equal switches, all with servers, joined as a topology says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fabopt.parts.switches import SwitchType
from fabopt.schema.attachment import HostPort
from fabopt.topology.design import Figures, FilePart, LinkUse, Tier, single_flow
from fabopt.topology.direct.graph_network import SwitchedNetwork, UniformNetwork, words_of
from fabopt.topology.direct.networks import run_of


@dataclass(frozen=True)
class DirectNetwork(SwitchedNetwork, UniformNetwork):
    """Equal switches, all of which can have servers.

    ``free``: the switches of the ports of every attachment, by its place in the fabric; plane by plane.
    """

    free: tuple[tuple[HostPort, ...], ...] = ()

    @property
    def switches(self) -> int:
        """Number of switches of one plane."""
        return int(self.net.switches[0])

    @property
    def leaves(self) -> int:
        """Number of switches that can have servers: all of one plane."""
        return self.switches

    @property
    def switch_types(self) -> tuple[SwitchType, ...]:
        """The only type of switches."""
        return (self.parts.leaf,)

    @property
    def link_mbps(self) -> int:
        """Speed of a link between switches."""
        assert self.parts.leaf_up is not None
        return self.parts.leaf_up.lane.port_mbps

    def figures(self, gpus: int) -> Figures:
        """The figures that have a formula: see ``fabopt.topology.direct.networks``."""
        parts, ports = self.parts, int(self.shape.servers) * self.shape.ports
        d, v = self.servers.down_ports, parts.leaf_down.lane.port_mbps
        up = int(self.net.most_ports[0].sum())
        flow = self.topology.flow(self.numbers) * self.link_mbps
        return Figures(
            oversubscription={"leaf": Fraction(d * v, up * self.link_mbps)},
            injection=parts.nic.injection,
            bisection=self.per_gpu(gpus, flow * self.switches / (2 * d)),
            alltoall=self.per_gpu(gpus, flow * max(1, ports - 1) / (d * d)),
            max_switch_hops=self.topology.hops(self.numbers, int(self.shape.groups * self.shape.rails)),
            single_flow=single_flow(parts.nic, self.link_mbps),
        )

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""
        parts, shape = self.parts, self.shape
        up = int(self.net.most_ports[0].sum())
        switch = Tier(
            "leaf", parts.leaf, parts.nic.planes * self.switches, self.servers.down_ports, up, parts.leaf_down,
            parts.leaf_up, self.servers.reserved_ports,
        )  # fmt: skip
        between = (LinkUse("leaf", "leaf", scope, self.link_mbps, run_of(scope)) for scope in self.scopes)
        leaf_mbps = parts.leaf_down.lane.port_mbps
        return FilePart(
            protocol=parts.protocol,
            planes=parts.nic.planes,
            rails=int(shape.rails),
            structure=self.topology.structure(self.numbers, words_of(shape)),
            nic=parts.nic,
            tiers=(switch,),
            links=(
                LinkUse("server", "leaf", None, leaf_mbps, "server-leaf"),
                LinkUse("attachment", "leaf", None, leaf_mbps, "attachment-leaf"),
                *between,
            ),
            free_ports=self.free,
        )
