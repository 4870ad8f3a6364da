"""Runs on a floor, recounted from the racks that the file names: of links along its trays, and of attachments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from fabopt.floor.appliances import appliances_of
from fabopt.floor.racks import height_m
from fabopt.rules.defaults import ATTACHMENT_RUNS, is_kept
from fabopt.schema.design import Place
from fabopt.schema.structured import StructuredKind
from fabopt.units import ceil_decimetres
from fabopt.verify.evidence import Evidence, FabricEvidence
from fabopt.verify.proof import FIRST, named_edition
from fabopt.wiring.model import KINDS, TO_ATTACHMENTS, Floats, Ints, Wiring


def measures_attachments(evidence: Evidence) -> bool:
    """Whether runs of attachments are measured: on a floor with devices in racks, where the rule is on."""
    if not evidence.design.racks.server_racks or named_edition(evidence.design) == FIRST:
        return False
    return is_kept(evidence.case.rules, ATTACHMENT_RUNS) and any(True for _ in appliances_of(evidence.case))


Places = Mapping[str, Sequence[Place]]


def attached_run_m(
    fabric: FabricEvidence, attachment: str, tier: str, elsewhere: Places = MappingProxyType({})
) -> float:
    """Metres from an attachment to a tier: the farthest of any device and switch with a port of its attachment; of one
    in service on a floor as far as the base's file has it, which is left out of the others'.

    ``elsewhere``: places of devices in place of those of the file, by attachment.
    """
    kind = f"attachment-{tier}"
    if (attachment, tier) in fabric.live_runs_m:
        return fabric.live_runs_m[attachment, tier]
    if not measures_attachments(fabric.evidence):
        return fabric.run_m(kind)
    return max(_runs_m(fabric, tier, elsewhere), default=fabric.run_m(kind))


def _runs_m(fabric: FabricEvidence, tier: str, elsewhere: Places) -> Iterator[float]:
    plan, switch = fabric.evidence.plan, fabric.switch(tier)
    switches = fabric.designed.places.leaf if tier == "leaf" else fabric.designed.places.spine
    for index, attachment in enumerate(fabric.wanted.attachments):
        numbers = {number for role, number in fabric.designed.free_ports.get(attachment.name, ()) if role == tier}
        if tier == "leaf":
            numbers |= {leaf for leaf, (_, dealt) in enumerate(fabric.clos.dealt_leaves) if dealt[index]}
        places = {**fabric.designed.places.attachments, **elsewhere}.get(attachment.name, ())
        if attachment.name in fabric.logical or not numbers or (attachment.name, tier) in fabric.live_runs_m:
            continue
        if not places:
            yield fabric.run_m(f"attachment-{tier}")
        for rack, unit in places:
            near = plan.rack_index(rack), float(height_m(unit, attachment.rack_units or 0))
            for number in numbers:
                far_rack, far_unit = switches[number]
                far = plan.rack_index(far_rack), float(height_m(far_unit, switch.rack_units or 0))
                yield ceil_decimetres(float(plan.run_m(*near, *far)))


# -- metres of cable along the trays of the floor between the ends of every link --------------------------------------


def measured_m(evidence: Evidence, wiring: Wiring) -> Floats:
    """Metres of cable along the trays of the floor between the ends of every link, shape (links,).

    NaN where the floor does not decide: links of attachments run as far as the farthest of their kind, or over the
    site's flat distance, as all links do without a floor. A link through a trunk has a jumper to a panel anywhere in
    the rack of its panels.
    """
    attached = np.isin(wiring.links.kind, TO_ATTACHMENTS)
    measured = np.where(attached, np.nan, ways_m(evidence, wiring))
    for kind in through_trunks(evidence, wiring):
        measured[kind.rows] = jumpers_m(evidence, wiring, kind, wiring.links.a[kind.rows])
    return measured


class ThroughTrunks(NamedTuple):
    """The links of a kind that run through trunks, as rows of the wiring, shape (links,); ``fabric``: its index."""

    fabric: int
    kind: StructuredKind
    rows: Ints


def through_trunks(evidence: Evidence, wiring: Wiring) -> Iterator[ThroughTrunks]:
    """The links between two zones of every kind of the file that has trunks."""
    links = wiring.links
    for index, fabric in enumerate(evidence.design.fabrics):
        for kind in fabric.structured:
            zone = np.array(list(map(kind.zone, wiring.devices.rack)))
            of_kind = (links.fabric == index) & (links.kind == KINDS.index(kind.kind))
            yield ThroughTrunks(index, kind, np.flatnonzero(of_kind & (zone[links.a] != zone[links.b])))


def jumpers_m(evidence: Evidence, wiring: Wiring, through: ThroughTrunks, ends: Ints) -> Floats:
    """Metres from devices at ends of links to panels of their zone, wherever in its rack these are, shape (ends,)."""
    plan, devices = evidence.plan, wiring.devices
    if not len(ends):
        return np.empty(0)
    racks = [devices.rack[device] for device in ends.tolist()]
    own, zone = plan.indices(racks), plan.indices(map(through.kind.zone, racks))
    away_m = plan.to_panels_m(own, height_m(devices.unit[ends], devices.height_u[ends]), zone)
    return np.where(own == zone, plan.longest_in_rack_m, away_m)


def ways_m(evidence: Evidence, wiring: Wiring) -> Floats:
    """Metres along the trays between the racks of the ends of every link, shape (links,); NaN where an end
    has no rack.
    """
    links, devices = wiring.links, wiring.devices
    if evidence.case.site.floor is None:
        return np.full(len(links), np.nan)
    plan = evidence.plan
    rack = np.array([plan.rack_index(name) if name else -1 for name in devices.rack], dtype=np.int64)
    height = height_m(devices.unit, devices.height_u)
    run = plan.run_m(rack[links.a], height[links.a], rack[links.b], height[links.b])
    measured = (rack[links.a] >= 0) & (rack[links.b] >= 0)
    return np.where(measured, run, np.nan)
