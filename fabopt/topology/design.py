"""A sized network of whatever family, as the rest of fabopt sees it: what it is made of, gives, and has in a file."""

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
        """Types of its switches, and how many there are of each."""
        others: dict[SwitchType, int] = {}
        if self.other is not None:
            others[self.other.switch] = self.other.num_switches
        for stand_in in self.stand_ins:
            others[stand_in.switch] = others.get(stand_in.switch, 0) + stand_in.units
        return (self.switch, self.num_switches - sum(others.values())), *others.items()


class LinkUse(NamedTuple):
    """A kind of links: roles at both ends, scope (None in a Clos), speed of a link, key of its run."""

    near: str
    far: str
    scope: str | None
    port_mbps: int
    run: str


class FilePart(NamedTuple):
    """What only the family knows to write into the design file.

    ``links``: kinds, in the order of their rows; ``server_racks``: as in ``FloorUse``; ``free_ports``: the switches of
    the ports of attachments that are on free ones, attachment by attachment; ``attached_runs_m``: how far attachments
    are by kind of links, where that is measured; ``occupied_on_leaves``: the most ports of servers and attachments on a
    leaf, and on one of a last group unlike the others, whatever counts in the ratio; None: those of the tier;
    ``peers``: cages of the links that join its leaves two and two.
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
    """A sized network that can be picked. ``gpus`` are all of the cluster, ``server_gpus`` those of a server."""

    @property
    def protocol(self) -> str:
        """``ethernet`` or ``infiniband``."""

    @property
    def nic(self) -> NicOption:
        """How servers are equipped."""

    @property
    def leaf(self) -> SwitchType | None:
        """The switch that servers are on; None where servers are joined to each other."""

    @property
    def tiers(self) -> int | None:
        """Tiers of switches; None in families that have none to choose."""

    def file_part(self) -> FilePart:
        """The part of the design file that describes this network: structure, tiers, kinds of links."""

    def switches_added(self, role: Role) -> Sequence[int]:
        """Switches of a tier that each stage adds; of one entry where all are there at first."""

    def figures(self, gpus: int) -> Figures:
        """The figures that have a formula."""

    def measured_figures(self, gpus: int) -> Figures:
        """All figures, those without a formula too, which may take seconds; None of what takes longer."""

    def allreduce(self, gpus: int) -> Fraction | None:
        """Mb/s per GPU of ring all-reduce; None where the graph is too large."""

    def least_ratios(self, gpus: int) -> dict[str, Fraction]:
        """The least ``max_oversubscription`` with which it meets its demand, by boundary."""

    def step_network(self, gpus: int, server_gpus: int) -> FabricBandwidth:
        """What it gives each GPU in a step of a model."""

    def failures(self, server_gpus: int) -> Failures:
        """What it still gives when something fails."""

    def headroom(self, fabric: FabricProblem) -> int:
        """Servers that can be added with the switches that are there."""

    def growth(self, problem: Problem, fabric: FabricProblem, cables: Sequence[int]) -> tuple[StageStructure, ...]:
        """What is installed at each stage, of which each adds so many ``cables``; nothing where there is one stage."""
