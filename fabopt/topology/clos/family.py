"""The folded Clos, as a family: its space, its candidates, and what the design file says of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Place, Placement
from fabopt.schema.structure import Structure
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.candidates import Clos, candidates_of
from fabopt.topology.clos.failures import rails_in_a_plane
from fabopt.topology.clos.most_servers import most_servers_of
from fabopt.topology.clos.space import ClosSpace
from fabopt.topology.cutoff import Batch
from fabopt.topology.family import FilePart, LinkUse, Quest, Role, Tier
from fabopt.topology.link_parts import Number


class ClosFamily:
    """One, two or three tiers; every leaf reaches every spine of its pod, every pod every core."""

    name = "clos"

    def space(self, problem: Problem, fabric: FabricProblem, quest: Quest) -> ClosSpace:
        """Its candidates, by tiers."""
        part = replace(quest.restriction, topology=self.name)
        return ClosSpace(problem, fabric, *quest._replace(restriction=part))

    def candidates(
        self, problem: Problem, fabric: FabricProblem, batch: Batch, index: int, prune: bool
    ) -> tuple[Candidate, ...]:
        """One of a batch, once for each way to grow to it."""
        return candidates_of(problem, fabric, batch, index, prune)

    def file_part(self, fabric: FabricProblem, design: Clos) -> FilePart:
        """Its structure, tiers and kinds of links."""
        return FilePart(
            protocol=design.parts.protocol,
            planes=design.parts.nic.planes // rails_in_a_plane(design.parts.nic),
            rails=int(design.shape.rails) * rails_in_a_plane(design.parts.nic),
            structure=_structure(design),
            nic=design.parts.nic,
            tiers=tuple(_tiers(design)),
            links=tuple(_links(design)),
            placement=_placement(design),
        )

    def switches(self, batch: Batch) -> Number:
        """Leaves, spines and cores."""
        shape, parts = batch.shape, batch.parts
        boxes: Number = shape.leaves
        if parts.spine is not None:
            boxes = boxes + shape.spines * (shape.pods if parts.core is not None else 1)
        if parts.core is not None:
            boxes = boxes + shape.cores
        return boxes * parts.nic.planes

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """By arithmetic: see ``reach``."""
        return most_servers_of(problem, fabric)


class RailOnly(ClosFamily):
    """A Clos of one or two tiers for each rail; no way through switches leads from one rail to another.

    What tells them apart from the other Clos is how ports are dealt over networks: ``NicOption.apart``.
    """

    name = "rail-only"


def _structure(clos: Clos) -> Structure:
    shape, tiers = clos.shape, clos.tiers
    return Structure(
        tiers=tiers,
        servers_per_group=int(shape.g),
        groups=int(shape.groups),
        ports_per_server=shape.ports * rails_in_a_plane(clos.parts.nic),
        ports_per_server_per_leaf=int(shape.k),
        links_per_pair=int(shape.links_per_pair) if tiers > 1 else 0,
        pods=int(shape.pods) if tiers > 2 else 1,
        leaves_per_pod=int(shape.leaves_per_pod) if tiers > 1 else 1,
        spines_per_pod=int(shape.spines),
        pod_of="rail" if shape.rail_pods else "groups",
        groups_per_pod=int(shape.groups_per_pod) if tiers > 1 else 1,
        links_per_core_pair=int(shape.m2),
        spines_per_core_group=int(shape.q),
        cores_per_group=int(shape.cores_per_group) if tiers > 2 else 0,
    )


def _tiers(clos: Clos) -> Iterable[Tier]:
    parts, shape = clos.parts, clos.shape
    planes = parts.nic.planes
    boxes: tuple[tuple[Role, SwitchType | None, int, int, int, CageUse | None, CageUse | None], ...] = (
        ("leaf", parts.leaf, planes * shape.leaves, clos.down_ports, shape.u, parts.leaf_down, parts.leaf_up),
        ("spine", parts.spine, planes * shape.spines * (shape.pods if clos.tiers > 2 else 1),
         shape.spine_down if clos.tiers > 1 else 0, shape.x, parts.spine_down, parts.spine_up),
        ("core", parts.core, planes * shape.cores if clos.tiers > 2 else 0,
         shape.core_down if clos.tiers > 2 else 0, 0, parts.core_down, None),
    )  # fmt: skip
    for role, switch, count, down_ports, up_ports, down, up in boxes:
        if switch is None or down is None:
            continue
        reserved = clos.reserved_ports if role == "leaf" else 0
        yield Tier(
            role, switch, int(count), int(down_ports), int(up_ports) if up is not None else 0, down, up, reserved
        )


def _links(clos: Clos) -> Iterable[LinkUse]:
    parts = clos.parts
    leaf_mbps = parts.leaf_down.lane.port_mbps
    yield LinkUse("server", "leaf", None, leaf_mbps, "server-leaf")
    yield LinkUse("attachment", "leaf", None, leaf_mbps, "attachment-leaf")
    if parts.leaf_up is not None:
        yield LinkUse("leaf", "spine", None, parts.leaf_up.lane.port_mbps, "leaf-spine")
    if parts.spine_up is not None:
        yield LinkUse("spine", "core", None, parts.spine_up.lane.port_mbps, "spine-core")


def _placement(clos: Clos) -> Placement | None:
    if clos.standing is None:
        return None
    layout, stands, _ = clos.standing
    places: list[tuple[Place, ...]] = [
        tuple((layout.plan.ids[rack], unit) for rack, unit in zip(one.rack.tolist(), one.unit.tolist(), strict=True))
        for one in stands
    ]
    leaf, spine, core = (*places, (), ())[:3]
    return Placement(policy=layout.policy, leaf=leaf, spine=spine, core=core)
