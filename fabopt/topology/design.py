"""A sized network of any family, as the rest of fabopt sees it: hardware, figures, and its part of the design file."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, Protocol

from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.attachment import HostPort
from fabopt.schema.design import Placement, StageStructure
from fabopt.schema.structure import AnyStructure
from fabopt.topology.failures import Failures
from fabopt.topology.figures import Figures
from fabopt.workload.timing import FabricBandwidth

Role = Literal["leaf", "spine", "core"]


class OtherSwitches(NamedTuple):
    """Switches of a tier that are of another type than the rest, as ``OtherSwitchUse`` of the design file."""

    switch: SwitchType
    num_switches: int
    down_ports: int
    up_ports: int
    down: CageUse
    up: CageUse | None
    reserved_ports: int = 0


class StandIn(NamedTuple):
    """Switches that a stage installs in a tier, of another product than most of it."""

    stage: int
    switch: SwitchType
    units: int


class Tier(NamedTuple):
    """A tier of switches of a candidate, as ``TierUse`` of the design file. ``num_switches``: of all types."""

    role: Role
    switch: SwitchType
    num_switches: int
    down_ports: int
    up_ports: int
    down: CageUse
    up: CageUse | None
    reserved_ports: int = 0
    other: OtherSwitches | None = None
    stand_ins: tuple[StandIn, ...] = ()

    @property
    def counts(self) -> tuple[tuple[SwitchType, int], ...]:
        """Number of its switches by type."""
        others: dict[SwitchType, int] = {}
        if self.other is not None:
            others[self.other.switch] = self.other.num_switches
        for stand_in in self.stand_ins:
            others[stand_in.switch] = others.get(stand_in.switch, 0) + stand_in.units
        return (self.switch, self.num_switches - sum(others.values())), *others.items()


class LinkUse(NamedTuple):
    """A kind of links: roles at both ends, scope (None in a Clos), speed of a link in Mb/s, key of its run."""

    near: str
    far: str
    scope: str | None
    port_mbps: int
    run: str


class FilePart(NamedTuple):
    """The part of the design file that depends on the family.

    ``links``: kinds, in the order of their rows; ``server_racks``: as in ``FloorUse``; ``free_ports``: the switches of
    the ports of attachments that are on free ones, attachment by attachment; ``attached_runs_m``: measured runs of
    attachments by kind of links; ``occupied_on_leaves``: the most ports of servers and attachments on a leaf, and on a
    leaf of a differing last group, in the ratio or not; None: those of the tier; ``peers``: cages of the links between
    the leaves of each pair.
    """

    protocol: str
    planes: int
    rails: int
    structure: AnyStructure
    nic: NicOption
    tiers: tuple[Tier, ...]
    links: tuple[LinkUse, ...]
    placement: Placement | None = None
    free_ports: tuple[tuple[HostPort, ...], ...] = ()
    attached_runs_m: tuple[tuple[str, float], ...] = ()
    server_racks: tuple[str, ...] = ()
    occupied_on_leaves: tuple[int, int] | None = None
    peers: CageUse | None = None


class NetworkDesign(Protocol):
    """A sized network that can be picked. ``gpus``: of the cluster, ``server_gpus``: of a server."""

    @property
    def protocol(self) -> str:
        """``ethernet`` or ``infiniband``."""

    @property
    def nic(self) -> NicOption:
        """How servers are equipped."""

    @property
    def leaf(self) -> SwitchType | None:
        """The leaf switch type; None where servers are joined to each other."""

    @property
    def tiers(self) -> int | None:
        """Tiers of switches; None in families that have none to choose."""

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network: structure, tiers, kinds of links."""

    def switches_added(self, role: Role) -> Sequence[int]:
        """Switches of a tier that each stage adds; one entry where the first stage has all."""

    def figures(self, gpus: int) -> Figures:
        """The figures that have a formula."""

    def measured_figures(self, gpus: int) -> Figures:
        """All figures, those without a formula too, which may take seconds; None for figures that take longer."""

    def allreduce(self, gpus: int) -> Fraction | None:
        """Mb/s per GPU of ring all-reduce; None where the graph is too large."""

    def least_ratios(self, gpus: int) -> dict[str, Fraction]:
        """The least ``max_oversubscription`` that the network meets, by boundary."""

    def step_network(self, gpus: int, server_gpus: int) -> FabricBandwidth:
        """The bandwidth of each GPU in a step of a model."""

    def failures(self, server_gpus: int) -> Failures:
        """The bandwidth left after failures."""

    def headroom(self, fabric: FabricProblem) -> int:
        """Servers that can be added with the present switches."""

    def growth(self, problem: Problem, fabric: FabricProblem, cables: Sequence[int]) -> tuple[StageStructure, ...]:
        """The structure of each stage; ``cables``: number that each stage adds. Empty where there is one stage."""
