"""A sized network of any family, as the rest of fabopt sees it: hardware, figures, and its part of the design file.

Of what each part of the default rule of resilience counts, the fewest that a sized network has.

How even a network is: the order of preference among designs of equal cost (docs/formulation/search.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np

from fabopt.network.clos_shape import ClosShape
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import TIER_ROLES, CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.site import servers_per_rack
from fabopt.rules.defaults import PAIR, TWO_LEAVES, TWO_SPINES, TWO_SWITCHES
from fabopt.schema.attachment import HostPort
from fabopt.schema.design import Failure, Metrics, Placement, StageStructure
from fabopt.schema.resilience import Failed, Surviving
from fabopt.schema.structure import AnyStructure, Structure
from fabopt.units import MBPS_PER_GBPS, plain_fraction, summed
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
        last = [] if self.other is None else [(self.other.switch, self.other.num_switches)]
        others = summed((*last, *((stand_in.switch, stand_in.units) for stand_in in self.stand_ins)))
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


# -- bandwidth figures of a network, per GPU, exact and as in files ---------------------------------------------------
# Bandwidth figures of a network, per GPU, exact and as in files. Each family works out its own.
#
# Injection is the rate at which a GPU can send into the fabric. Bisection is the one-way capacity of the worst
# balanced cut divided by half the GPUs. All-to-all is the largest equal rate of uniform traffic. Worst permutation
# is its throughput upper bound: all capacity over the links that the heaviest matching of leaves takes. Ring
# all-reduce is the rate at which every port can send to the same port of the next server. A single flow has the
# slowest link of a path. Hops are switches on the longest shortest path. Source: docs/bandwidth.md.


# Digits behind the point that files have of ratios and figures.
FILE_DIGITS = 6


@dataclass(frozen=True)
class Figures:
    """The figures of a network in Mb/s per GPU, exact; ``oversubscription`` by boundary.

    None: not worked out, or the graph is too large.
    """

    oversubscription: dict[str, Fraction]
    injection: Fraction
    bisection: Fraction
    alltoall: Fraction
    max_switch_hops: int
    permutation: Fraction | None = None
    allreduce: Fraction | None = None
    mean_switch_hops: Fraction | None = None
    max_nic_hops: int | None = None
    single_flow: Fraction | None = None

    def ratios(self) -> dict[str, int | float]:
        """Oversubscription by boundary, rounded as in files."""
        return {name: plain_fraction(ratio, FILE_DIGITS) for name, ratio in self.oversubscription.items()}

    def metrics(self) -> Metrics:
        """The figures beside oversubscription, rounded as in files, in Gb/s."""
        mean = self.mean_switch_hops
        return Metrics(
            injection_gbps_per_gpu=_gbps(self.injection),
            bisection_gbps_per_gpu=_gbps(self.bisection),
            alltoall_gbps_per_gpu=_gbps(self.alltoall),
            max_switch_hops=self.max_switch_hops,
            permutation_gbps_per_gpu=None if self.permutation is None else _gbps(self.permutation),
            allreduce_gbps_per_gpu=None if self.allreduce is None else _gbps(self.allreduce),
            mean_switch_hops=None if mean is None else plain_fraction(mean, FILE_DIGITS),
            max_nic_hops=self.max_nic_hops,
            single_flow_gbps=None if self.single_flow is None else _gbps(self.single_flow),
        )


def single_flow(nic: NicOption, *links_mbps: int) -> Fraction:
    """Mb/s of one flow between any two servers, over links of these speeds."""
    return min((nic.flow_mbps, *map(Fraction, links_mbps)))


def _gbps(rate_mbps: Fraction) -> int | float:
    return plain_fraction(rate_mbps / MBPS_PER_GBPS, FILE_DIGITS)


# -- bandwidth that a network has left when something fails at the worst place, worked out by its family --------------


class LostPlace(NamedTuple):
    """A rack by its id, and the servers in it."""

    rack: str
    servers: int


class Failures(Protocol):
    """Failures of one network, servers having a given number of GPUs."""

    def kinds(self) -> Sequence[Failed]:
        """Kinds of devices and links that can fail alone, where the bandwidth left is known: not on too large a
        graph.
        """

    def bandwidth_left(self, failed: Failed, count: int) -> Fraction:
        """Mb/s per GPU after ``count`` failures of a kind.

        Raises ``ValueError`` for a number of failures that is not supported.
        """

    def servers_cut_off(self, failed: Failed) -> int:
        """Servers that one failure cuts off from the largest part that stays joined."""

    def beside(self, failed: Failed) -> tuple[Fraction | None, Fraction | None]:
        """Mb/s per GPU after one failure where planes make up for each other; and of a plane, with a switch of another.

        None where they are no other than without.
        """
        return None, None

    def place(self, failed: Failed) -> LostPlace | None:
        """The rack whose loss is the worst; None for devices lost one by one."""
        return None


def failures_left(failures: Failures, asked: Sequence[tuple[Surviving, int]]) -> tuple[Failure, ...]:
    """The bandwidth left after one failure of each kind, and after the failures that the case asks about."""
    told: list[tuple[Failed, int]] = [(failed, 1) for failed in failures.kinds()]
    return tuple(_failure(failures, failed, count) for failed, count in dict.fromkeys([*told, *asked]))


def left_by_a_switch(failures: Failures) -> Fraction:
    """Mb/s per GPU without the worst single switch; raises ``ValueError`` where that is not known."""
    return min(failures.bandwidth_left(kind, 1) for kind in failures.kinds() if kind in TIER_ROLES)


def _failure(failures: Failures, failed: Failed, count: int) -> Failure:
    place = failures.place(failed)
    made_up, with_switch = failures.beside(failed) if count == 1 else (None, None)
    return Failure(
        failed=failed,
        count=count,
        gbps_per_gpu=plain_fraction(failures.bandwidth_left(failed, count) / MBPS_PER_GBPS),
        servers_cut_off=failures.servers_cut_off(failed) if count == 1 else None,
        made_up_gbps_per_gpu=None if made_up is None else plain_fraction(made_up / MBPS_PER_GBPS),
        with_switch_gbps_per_gpu=None if with_switch is None else plain_fraction(with_switch / MBPS_PER_GBPS),
        worst=None if place is None else place.rack,
        servers_lost=None if place is None else place.servers,
    )


TWO = 2


class Fewest(NamedTuple):
    """Fewest switches at any stage, None where the part does not apply; ``whose``: the logical fabric whose servers
    have the fewest, empty for the fabric itself.
    """

    number: int | None
    whose: str = ""


def fewest_of(
    rule: str, design: NetworkDesign, growth: Sequence[StageStructure], ports: Mapping[str, int | None]
) -> Fewest:
    """Switches, leaves of a server, spines or cores that a part of the rule counts; ``pairing`` counts nothing.

    ``growth``: all its stages to which the part applies; ``ports``: whom the rule of pairs is about, the fabric itself
    without a name, and the ports of a server that logical ones have.
    """
    part = design.file_part()
    structure = part.structure
    if rule == TWO_SWITCHES and structure.has_switches:
        at_stages = [stage.leaves + stage.spines + stage.cores for stage in growth]
        return Fewest(min(at_stages or [sum(tier.num_switches for tier in part.tiers)]))
    if rule == PAIR and structure.has_switches:
        return min(
            Fewest(_leaves_of_server(part, structure) if own is None else min(own, part.tiers[0].num_switches), name)
            for name, own in ports.items()
        )
    if not isinstance(structure, Structure) or structure.tiers == 1:
        return Fewest(None)
    if rule == TWO_LEAVES:
        return Fewest(_leaves_of_server(part, structure) if part.nic.ports_in_all >= TWO else None)
    return Fewest(min((_spines if rule == TWO_SPINES else _cores)(part, structure, growth), default=None))


def _leaves_of_server(part: FilePart, structure: AnyStructure) -> int:
    """Fewest leaves that a server is on, over all planes."""
    leaves = part.planes * (structure.ports_per_server // structure.ports_per_server_per_leaf)
    last = structure.last_group if isinstance(structure, Structure) else None
    return leaves if last is None else min(leaves, part.nic.planes * last.leaves)


def _spines(part: FilePart, structure: Structure, growth: Sequence[StageStructure]) -> Iterator[int]:
    """Spines above a leaf over all planes, at every stage that has some."""
    stages = [stage.spines_per_pod for stage in growth if stage.spines] or [structure.spines_per_pod]
    yield from (part.nic.planes * spines for spines in stages)


def _cores(part: FilePart, structure: Structure, growth: Sequence[StageStructure]) -> Iterator[int]:
    """Cores over all planes, at every stage that has some."""
    if growth:
        yield from (stage.cores for stage in growth if stage.cores)
    else:
        yield from (tier.num_switches for tier in part.tiers if tier.role == "core")


class Evenness(NamedTuple):
    """``lacking_mbps``: negated Mb/s per GPU left after the worst loss of one switch, where planes are open;
    ``own_last``: 1 where the last leaf group differs from the others, 2 where its leaves are of a type of their own;
    ``spread``: servers by which the largest leaf group exceeds the smallest; ``cut_racks``: racks in which there are
    servers of two groups or more.
    """

    lacking_mbps: int
    own_last: int
    spread: int
    cut_racks: int


EVEN: Final = Evenness(0, 0, 0, 0)


def evenness_of(problem: Problem, shape: ClosShape[Any], own_leaf: bool = False, lacking_mbps: int = 0) -> Evenness:
    """Evenness of a network's groups at its last stage, its servers filling racks in order.

    ``shape``: of one row; ``own_leaf``: whether the last group has a type of leaf of its own. Without a number of
    servers per rack none is cut.
    """
    g, groups, per_rack = int(shape.g), int(shape.groups), servers_per_rack(problem.case, problem.site)
    spread = min(g, problem.servers) - int(shape.last_group)
    cut_racks = 0 if per_rack is None else _cut_racks(g, groups, per_rack)
    return Evenness(lacking_mbps, int(shape.has_own_last) + own_leaf, spread, cut_racks)


def _cut_racks(g: int, groups: int, per_rack: int) -> int:
    firsts = g * np.arange(1, groups)
    return len(np.unique(firsts[firsts % per_rack > 0] // per_rack))
