"""A Clos as a design of the search: its figures, failures, growth and part of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fabopt.parts.nics import NicOption
from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import StageStructure
from fabopt.topology.clos import figures
from fabopt.topology.clos.devices import switches_added
from fabopt.topology.clos.failures import ClosFailures
from fabopt.topology.clos.figure_demands import headroom
from fabopt.topology.clos.file_part import file_part_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import TierCount
from fabopt.topology.clos.stage_figures import growth_of
from fabopt.topology.design import FilePart, Role, StandIn
from fabopt.topology.figures import Figures
from fabopt.workload.timing import FabricBandwidth


@dataclass(frozen=True)
class ClosDesign:
    """A Clos that can be picked: see ``fabopt.topology.design.NetworkDesign``. ``stand_ins``: by tier."""

    network: ClosNetwork
    stand_ins: tuple[tuple[str, tuple[StandIn, ...]], ...] = ()

    @property
    def protocol(self) -> str:
        """The protocol of its switches."""
        return self.network.parts.protocol

    @property
    def nic(self) -> NicOption:
        """How servers are equipped."""
        return self.network.parts.nic

    @property
    def leaf(self) -> SwitchType:
        """The leaf switch type."""
        return self.network.parts.leaf

    @property
    def tiers(self) -> TierCount:
        """Tiers of switches."""
        return self.network.tiers

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network."""
        part, stand_ins = file_part_of(self.network), dict(self.stand_ins)
        tiers = tuple(tier._replace(stand_ins=stand_ins.get(tier.role, ())) for tier in part.tiers)
        return part._replace(tiers=tiers) if stand_ins else part

    def with_switches(
        self, switches: Mapping[str, SwitchType], stand_ins: Mapping[str, tuple[StandIn, ...]]
    ) -> ClosDesign:
        """The network with other switch types in some tiers, and ``stand_ins`` among them; all have the same ports."""
        parts = self.network.parts
        leaf, spine, core = (switches.get(role, getattr(parts, role)) for role in TIER_ROLES)
        network = self.network._replace(parts=replace(parts, leaf=leaf, spine=spine, core=core))
        return ClosDesign(network, tuple(stand_ins.items()))

    def switches_added(self, role: Role) -> Sequence[int]:
        """Switches of a tier that each stage adds."""
        return switches_added(self.network, role)

    def figures(self, gpus: int) -> Figures:
        """The figures, each of which has a formula."""
        return figures.figures_of(self.network, gpus)

    def measured_figures(self, gpus: int) -> Figures:
        """All figures, as ``figures`` returns them: none has to be measured on a graph."""
        return self.figures(gpus)

    def allreduce(self, gpus: int) -> Fraction:
        """Mb/s per GPU of ring all-reduce."""
        return figures.allreduce(self.network, gpus)

    def least_ratios(self, gpus: int) -> dict[str, Fraction]:
        """The oversubscription at every boundary."""
        return figures.oversubscription(self.network)

    def step_network(self, gpus: int, server_gpus: int) -> FabricBandwidth:
        """The bandwidth that each GPU has in a step of a model."""
        return figures.step_network(self.network, gpus, server_gpus)

    def failures(self, server_gpus: int) -> ClosFailures:
        """The bandwidth left after failures."""
        return ClosFailures(self.network, server_gpus)

    def headroom(self, fabric: FabricProblem) -> int:
        """Servers that can be added on its leaves; none beside logical fabrics, whose ports are not counted."""
        if fabric.logical_fabrics:
            return 0
        demands = fabric.figure_demands
        ratio = fabric.oversubscription_leaf if demands is None else demands.leaf_ratio
        return int(headroom(fabric, self.network.parts, self.network.shape, ratio))

    def growth(self, problem: Problem, fabric: FabricProblem, cables: Sequence[int]) -> tuple[StageStructure, ...]:
        """The structure of each stage."""
        return growth_of(problem, fabric, self.network, cables)
