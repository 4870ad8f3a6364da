"""A Clos as a design of the search: its figures, failures, growth and part of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fabopt.network import clos_stages
from fabopt.network.clos_links import Ints
from fabopt.network.clos_stages import StageNumbers
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import TIER_ROLES, CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import StageStructure
from fabopt.schema.resilience import PEER_LINK
from fabopt.schema.structure import LastGroup, Structure
from fabopt.topology.clos import figures
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.failures import ClosFailures
from fabopt.topology.clos.figure_demands import headroom
from fabopt.topology.clos.figures import figures_of
from fabopt.topology.clos.growth import at_stage
from fabopt.topology.clos.in_service import most_above, most_at
from fabopt.topology.clos.network import ClosNetwork, moved_cables, switches_added
from fabopt.topology.clos.shape import TierCount, most_down, usable_ports
from fabopt.topology.clos.stage_links import peer_use
from fabopt.topology.design import Figures, FilePart, LinkUse, OtherSwitches, Role, StandIn, Tier
from fabopt.workload.timing import FabricBandwidth

# -- A Clos in the design file ----------------------------------------------------------------------------------------


def file_part_of(clos: ClosNetwork) -> FilePart:
    """Structure, tiers and kinds of links."""
    nic = clos.parts.nic
    return FilePart(
        protocol=clos.parts.protocol,
        planes=nic.planes // nic.rails_per_plane,
        rails=int(clos.shape.rails) * nic.rails_per_plane,
        structure=_structure(clos),
        nic=nic,
        tiers=tuple(_tiers(clos)),
        links=tuple(_links(clos)),
        free_ports=clos.free,
        attached_runs_m=clos.attached_runs_m,
        placement=clos.placement.in_file(),
        server_racks=clos.placement.server_racks,
        occupied_on_leaves=(clos.occupied_ports, clos.last_occupied),
        peers=None if clos.parts.leaf.peers is None else peer_use(clos.parts),
    )


def _structure(clos: ClosNetwork) -> Structure:
    shape, tiers = clos.shape, clos.tiers
    return Structure(
        tiers=tiers,
        servers_per_group=int(shape.g),
        groups=int(shape.groups),
        ports_per_server=shape.ports * clos.parts.nic.rails_per_plane,
        ports_per_server_per_leaf=int(shape.k),
        links_per_pair=int(shape.links_per_pair) if tiers > 1 else 0,
        pods=int(shape.pods) if tiers > 2 else 1,
        leaves_per_pod=int(shape.leaves_per_pod) if tiers > 1 else int(shape.rails),
        spines_per_pod=int(shape.spines),
        pod_of="rail" if shape.rail_pods else "groups",
        groups_per_pod=int(shape.groups_per_pod) if tiers > 1 else 1,
        links_per_core_pair=int(shape.m2),
        spines_per_core_group=int(shape.q),
        cores_per_group=int(shape.cores_per_group) if tiers > 2 else 0,
        last_group=_last_group(clos) if shape.has_own_last else None,
    )


def _last_group(clos: ClosNetwork) -> LastGroup:
    shape = clos.shape
    return LastGroup(
        servers=int(shape.last_group),
        ports_per_server_per_leaf=int(shape.own_k),
        leaves=int(shape.last_rails),
        down_ports=clos.last_ports,
        reserved_ports=clos.last_reserved,
        up_ports=int(shape.own_u),
        links_per_pair=int(shape.last_links_per_pair),
        number=int(shape.before_own) + 1 if shape.rest_group else None,
    )


def _tiers(clos: ClosNetwork) -> Iterable[Tier]:
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    tiers: tuple[tuple[Role, SwitchType | None, int, int, int, CageUse | None, CageUse | None], ...] = (
        ("leaf", parts.leaf, planes * shape.leaves, clos.down_ports, shape.u, parts.leaf_down, parts.leaf_up),
        ("spine", parts.spine, planes * shape.spines * (shape.pods if clos.tiers > 2 else 1),
         clos.spine_ports, shape.x, parts.spine_down, parts.spine_up),
        ("core", parts.core, planes * shape.cores if clos.tiers > 2 else 0,
         shape.core_down if clos.tiers > 2 else 0, 0, parts.core_down, None),
    )  # fmt: skip
    for role, switch, count, down_ports, up_ports, down, up in tiers:
        if switch is None or down is None:
            continue
        reserved = clos.reserved_ports if role == "leaf" else 0
        other = _last_leaves(clos) if role == "leaf" else None
        yield Tier(
            role, switch, int(count), int(down_ports), int(up_ports) if up is not None else 0, down, up, reserved, other
        )


def _last_leaves(clos: ClosNetwork) -> OtherSwitches | None:
    """Leaves of a differing last group, if they are of another type."""
    if clos.parts.last_leaf is None:
        return None
    (switch, down, up), count = clos.parts.last_leaf, clos.parts.nic.planes * int(clos.shape.last_rails)
    return OtherSwitches(switch, count, clos.last_ports, int(clos.shape.own_u), down, up, clos.last_reserved)


def _links(clos: ClosNetwork) -> Iterable[LinkUse]:
    parts = clos.parts
    leaf_mbps = parts.leaf_down.lane.port_mbps
    yield LinkUse("server", "leaf", None, leaf_mbps, "server-leaf")
    yield LinkUse("attachment", "leaf", None, leaf_mbps, "attachment-leaf")
    yield LinkUse("attachment", "spine", None, leaf_mbps, "attachment-spine")
    if parts.leaf_up is not None:
        yield LinkUse("leaf", "spine", None, parts.leaf_up.lane.port_mbps, "leaf-spine")
    if parts.spine_up is not None:
        yield LinkUse("spine", "core", None, parts.spine_up.lane.port_mbps, "spine-core")
    if parts.leaf.peers is not None:
        yield LinkUse("leaf", "leaf", PEER_LINK, peer_use(parts).lane.port_mbps, "leaf-leaf")


# -- A fabric as it is at each stage of a growing cluster -------------------------------------------------------------


def growth_of(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, cables: Sequence[int]
) -> tuple[StageStructure, ...]:
    """The structure of each stage; ``cables``: number that each stage adds. Empty where there is one stage."""
    moved = moved_cables(clos)
    return tuple(
        _stage_structure(problem, fabric, clos, number, stage, (sum(cables[: number + 1]), moved[number]))
        for number, stage in enumerate(clos.stages)
    )


def stage_clos(fabric: FabricProblem, clos: ClosNetwork, number: int) -> ClosNetwork:
    """A stage as a Clos that does not grow."""
    parts, shape = at_stage(clos.parts, clos.shape, clos.stages, number)
    most = most_at(fabric, shape, clos)
    above = most_above(fabric, shape, clos.parts.nic)
    last = most_at(fabric, shape, clos, of_last=True) if shape.has_own_last else 0
    return ClosNetwork(parts, shape, most, most, 0, above, last_ports=last, last_occupied=last)


def _stage_structure(
    problem: Problem,
    fabric: FabricProblem,
    clos: ClosNetwork,
    number: int,
    stage: StageNumbers,
    cables: tuple[int, int],
) -> StageStructure:
    stage_network = stage_clos(fabric, clos, number)
    figures = figures_of(stage_network, stage.servers * problem.server.gpus)
    leaves, spines, cores = (int((when <= number).sum()) for when in _device_stages(clos))
    free_leaf, free_spine = _free_ports(fabric, clos, stage_network, leaves, spines)
    return StageStructure(
        stage=problem.stages[number].name,
        groups=int(stage_network.shape.groups),
        pods=int(stage_network.shape.pods) if stage_network.tiers > 2 else 1,
        spines_per_pod=stage.spines,
        links_per_pair=int(stage_network.shape.links_per_pair) if stage_network.tiers > 1 else 0,
        cores_per_group=stage.group_cores,
        links_per_core_pair=int(stage_network.shape.m2),
        leaves=leaves,
        spines=spines,
        cores=cores,
        cables=cables[0],
        moved_cables=cables[1],
        free_leaf_ports=free_leaf,
        free_spine_ports=free_spine,
        oversubscription=figures.ratios(),
        metrics=figures.metrics(),
    )


def _device_stages(clos: ClosNetwork) -> list[Ints]:
    """Stages of all leaves, spines and cores."""
    n, none = numbers_of(clos.parts.nic, clos.shape), np.array([], dtype=np.int64)
    spines = np.arange(n.planes * n.pods * n.spines) if clos.tiers > 1 else none
    cores = np.arange(n.planes * n.cores) if clos.tiers > 2 else none
    return [
        clos_stages.of_leaves(n, clos.stages, np.arange(n.planes * n.leaves)),
        clos_stages.of_spines(n, clos.stages, spines) if clos.tiers > 1 else none,
        clos_stages.of_cores(n, clos.stages, cores) if clos.tiers > 2 else none,
    ]


def _free_ports(
    fabric: FabricProblem, clos: ClosNetwork, stage_network: ClosNetwork, leaves: int, spines: int
) -> tuple[int, int]:
    """Free down ports of all leaves and of all spines at a stage, beside the uplinks of the last stage."""
    parts, shape = clos.parts, clos.shape
    of_leaf = usable_ports(parts.leaf_down, parts.leaf)
    if parts.leaf_up is not None:
        of_leaf = most_down(parts.leaf, parts.leaf_down, parts.leaf_up, int(shape.u))
    endpoints = int(stage_network.shape.servers) * stage_network.shape.ports * shape.planes + sum(
        fabric.attached[: len(stage_network.shape.sizes)]
    )
    stage = len(stage_network.shape.sizes)
    on_free = Counter(
        tier
        for demand, places in zip(fabric.attachments, clos.free, strict=False)
        for tier, _ in places[: sum(demand.adds[:stage]) if demand.adds else None]
    )
    endpoints += on_free["leaf"]
    if parts.spine is None or parts.spine_down is None:
        return leaves * of_leaf - endpoints, 0
    of_spine = usable_ports(parts.spine_down, parts.spine)
    if parts.spine_up is not None:
        of_spine = most_down(parts.spine, parts.spine_down, parts.spine_up, int(shape.x))
    uplinks = shape.planes * int(stage_network.shape.uplinks) if stage_network.tiers > 1 else 0
    return leaves * of_leaf - endpoints, spines * of_spine - uplinks - on_free["spine"]


# -- A Clos as a design of the search: its figures, failures, growth and part of the file -----------------------------


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

    def at_first(self, fabric: FabricProblem) -> FilePart:
        """The part of the design file that describes its first stage."""
        return file_part_of(stage_clos(fabric, self.network, 0)) if self.network.stages else self.file_part()

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
        ratio = fabric.ratios.leaf if demands is None else demands.leaf_ratio
        return int(headroom(fabric, self.network.parts, self.network.shape, ratio))

    def growth(self, problem: Problem, fabric: FabricProblem, cables: Sequence[int]) -> tuple[StageStructure, ...]:
        """The structure of each stage."""
        return growth_of(problem, fabric, self.network, cables)
