"""Counts of the explicit wiring, and the rule that a design's statements agree with them.

No count here follows from a structure's formulas: devices, links and cables are counted in the tables.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabopt.schema.fabric_design import classes_in_use
from fabopt.units import ceil_div, some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, combined, counts_of, since
from fabopt.verify.redundancy import standing_detail
from fabopt.verify.structure import peer_cages
from fabopt.verify.subnet_manager import manager_detail
from fabopt.verify.wiring import CabledDesign, FabricCabling
from fabopt.wiring.model import Ints

# Words of a fabric's structure that are counted in the tables.
OF_STRUCTURE = ("groups", "pods", "spines_per_pod", "links_per_pair", "cores_per_group", "links_per_core_pair")
Stated = tuple[str, object, object]


@since("0.3.0")
def statements_are_true(proof: Proof, cabled: CabledDesign) -> None:
    """The file's statements about its structure, in words and in numbers, are the counts, field by field.

    Of every fabric: words of ``structure``, counts of ``tiers`` and of links of their busiest switches = those of the
    wiring, where it is listed; details
    of ``redundancy`` and ``subnet_manager`` = the words for the numbers; no ``max_nic_hops`` where there are switches.
    Lengths as which runs count = those of the rows of links. Source: docs/design-file.md.
    """
    number = 0
    for field, written, counted in _stated(cabled):
        proof.equal(field, written, counted)
        number += 1
    proof.note(some(number, "field"))


def _stated(cabled: CabledDesign) -> Iterator[Stated]:
    """(Field, stated value, counted value)."""
    evidence = cabled.evidence
    classes = classes_in_use(evidence.design.fabrics)
    yield "floor.length_classes_m", evidence.design.racks.length_classes_m, classes
    for index, fabric in enumerate(evidence.fabrics):
        for field, written, counted in _of_fabric(fabric):
            yield f"fabrics.{fabric.designed.name}.{field}", written, counted
        if cabled.is_listed:
            for field, written, counted in _of_wiring(FabricCabling(fabric, cabled, index)):
                yield f"fabrics.{fabric.designed.name}.{field}", written, counted


def _of_fabric(fabric: FabricEvidence) -> Iterator[Stated]:
    """Words of a fabric, and figures that it cannot have."""
    designed = fabric.designed
    for row in designed.redundancy:
        yield f"redundancy.{row.rule}.detail", row.detail, standing_detail(fabric, row.rule)
    if designed.subnet_manager is not None:
        yield "subnet_manager.detail", designed.subnet_manager.detail, manager_detail(fabric)
    if fabric.has_switches:
        yield "metrics.max_nic_hops", designed.metrics.max_nic_hops, None
        for stage in designed.growth:
            yield f"growth.{stage.stage}.metrics.max_nic_hops", stage.metrics.max_nic_hops, None


def _of_wiring(cabling: FabricCabling) -> Iterator[Stated]:
    """Numbers of a fabric counted in the tables."""
    fabric = cabling.fabric
    for tier in fabric.designed.tiers:
        yield f"tiers.{tier.role}.count", tier.count, len(cabling.devices_of(tier.role))
    if not fabric.is_direct:
        counted, structure = structure_of(cabling), fabric.designed.structure
        for word in OF_STRUCTURE:
            yield f"structure.{word}", getattr(structure, word), counted[word]
        yield from _busiest(cabling)


def _busiest(cabling: FabricCabling) -> Iterator[Stated]:
    """Links up of the busiest switch of each tier of a Clos whose switches are alike, and of spines and cores down,
    where they have no attachments.
    """
    fabric, links, rows, size = cabling.fabric, cabling.links, cabling.between_switches, len(cabling.devices)
    above, below = (np.bincount(ends[rows], minlength=size) for ends in (links.a, links.b))
    of_all = fabric.designed.clos.last_group is None and fabric.designed.clos.mixed_spines is None
    for tier in fabric.designed.tiers if of_all else ():
        own = cabling.devices_of(tier.role)
        yield f"tiers.{tier.role}.up_ports", tier.up_ports, int(above[own].max(initial=0))
        if tier.role != "leaf" and not fabric.designed.free_ports:
            yield f"tiers.{tier.role}.down_ports", tier.down_ports, int(below[own].max(initial=0))


def structure_of(cabling: FabricCabling) -> dict[str, int]:
    """Counts of a Clos in the tables, by the file's words, at the stage of ``cabling`` or at last."""
    fabric, devices = cabling.fabric, cabling.devices
    leaves, spines, cores = (cabling.devices_of(role) for role in ("leaf", "spine", "core"))
    of_pod = int(counts_of(combined(devices.plane[spines], devices.pod[spines])).max(initial=0))
    group, planes = devices.group[leaves], len(np.unique(devices.plane[cores]))
    # a last group that is unlike the others has a number of links of its own
    in_full = group != fabric.clos.before_own + 1 if fabric.designed.clos.last_group is not None else group > 0
    core_groups = planes * ceil_div(of_pod, fabric.designed.clos.spines_per_core_group) if planes else 1
    last = np.inf if cabling.stage is None else cabling.stage
    endpoints = len(cabling.of("server-leaf")) + len(cabling.of("attachment-leaf"))
    on_spines = len(cabling.of("leaf-spine")) + len(cabling.of("attachment-spine"))
    return {
        "groups": len(np.unique(group)),
        "pods": len(np.unique(devices.pod[leaves])) if len(cores) else 1,
        "spines_per_pod": of_pod,
        "links_per_pair": _fewest_links(cabling, "leaf-spine", leaves[in_full]),
        "cores_per_group": len(cores) // core_groups,
        "links_per_core_pair": _fewest_links(cabling, "spine-core", spines),
        "leaves": len(leaves),
        "spines": len(spines),
        "cores": len(cores),
        "cables": int((cabling.cables.stage[cabling.own_cables] <= last).sum()),
        "free_leaf_ports": len(leaves) * _room(fabric, "leaf") - endpoints,
        "free_spine_ports": len(spines) * _room(fabric, "spine") - on_spines if len(spines) else 0,
    }


def _fewest_links(cabling: FabricCabling, kind: str, near: Ints) -> int:
    """The fewest links between two linked devices, of the given devices at the near end."""
    rows = cabling.of(kind)
    rows = rows[np.isin(cabling.links.a[rows], near)]
    return int(counts_of(combined(cabling.links.a[rows], cabling.links.b[rows])).min()) if len(rows) else 0


def _room(fabric: FabricEvidence, role: str) -> int:
    """Ports of a switch towards the servers besides its uplinks at last, and its peer link; of a spine that a pod
    joins, in its free cages.
    """
    tier, most, joins = fabric.tier(role), fabric.switch(role).max_ports, fabric.evidence.case.joins
    cages, of_peers = fabric.cage(role, tier.down).count, peer_cages(fabric, tier)
    joined = None if joins is None else joins.of(fabric.designed.name)
    if joined is not None and joined.role == role:
        cages, most = joined.cages[tier.down.cage_group], joined.ports
    if tier.up is not None and tier.up.cage_group == tier.down.cage_group:
        cages -= ceil_div(tier.up_ports, fabric.up(role).ports)
    if of_peers and fabric.peer_use is not None and fabric.peer_use.cage_group == tier.down.cage_group:
        cages -= of_peers
    ports = cages * fabric.down(role).ports
    return ports if most is None else min(ports, most - tier.up_ports - of_peers)
