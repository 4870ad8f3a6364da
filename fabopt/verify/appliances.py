"""The rule of attachments on a floor: where their devices are installed, worked out anew device by device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Floor
from fabopt.schema.default_rules import RACK_SPREAD, is_kept
from fabopt.units import exact, milliwatts
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import CabledDesign

Place = tuple[str, int]


def has_attachments_in_racks(evidence: Evidence) -> bool:
    """Whether the case has attachments that fill rack units."""
    return any(True for _ in _in_racks(evidence))


def attachments_stand_apart(proof: Proof, cabled: CabledDesign) -> None:
    """Devices of attachments fill racks of their own from the bottom up.

    In the order of the case every device is in the first rack that has the units and the power left: of those that
    its attachment names, or else of the free ones from the end of the floor. With rule ``rack-spread`` no named rack
    has more than half of the devices, rounded up, where the racks hold them so. Nothing else is in these racks, nor in
    any that an attachment names. Source: case file, ``attachments[].rack_units``, ``.power_w``, ``.racks``.
    """
    devices, floor = cabled.wiring.devices, cabled.evidence.plan.floor
    placed: dict[tuple[str, str], list[Place]] = {}
    others: set[str] = set()
    columns = zip(devices.role, devices.fabric, devices.product, devices.rack, devices.unit.tolist(), strict=True)
    for role, fabric, product, rack, unit in columns:
        if role != "attachment":
            others.add(rack)
        elif rack:
            placed.setdefault((fabric, product), []).append((rack, unit))
    wanted = _places(cabled.evidence, floor)
    proof.equal("attachments in racks", sorted(placed), sorted(wanted))
    for key, places in wanted.items():
        proof.equal(f"places of {key[0]} {key[1]}", placed.get(key), places)
        proof.note(f"{len(places)} x {key[1]}")
    named = {rack for _, attachment in _in_racks(cabled.evidence) for rack in attachment.racks or ()}
    own = named | {rack for places in placed.values() for rack, _ in places}
    proof.equal("racks of attachments with other devices", sorted(own & others), [])


def _in_racks(evidence: Evidence) -> Iterator[tuple[str, Attachment]]:
    for fabric in evidence.case.fabrics:
        for attachment in fabric.attachments:
            if attachment.rack_units is not None:
                yield fabric.name, attachment


def _places(evidence: Evidence, floor: Floor) -> dict[tuple[str, str], list[Place]]:
    """The place of every device by the rule."""
    free, spreads = _free(evidence, floor), _spreads(evidence)
    units: Counter[str] = Counter()
    used_mw: Counter[str] = Counter()
    most = None if floor.rack_power_w is None else milliwatts(floor.rack_power_w)
    places: dict[tuple[str, str], list[Place]] = {}
    for fabric, attachment in _in_racks(evidence):
        high, power = -(-exact(attachment.rack_units or 0) // 1), milliwatts(attachment.power_w or 0)
        room = {rack: int((floor.rack_units - units[rack]) // high) for rack in attachment.racks or free}
        if most is not None and power:
            room = {rack: min(left, (most - used_mw[rack]) // power) for rack, left in room.items()}
        half = (attachment.boxes + 1) // 2
        if spreads and attachment.racks and sum(min(half, left) for left in room.values()) >= attachment.boxes:
            room = {rack: min(half, left) for rack, left in room.items()}
        racks = iter(room)
        rack = next(racks)
        for _ in range(attachment.boxes):
            while not room[rack]:
                rack = next(racks, "")
                if not rack:
                    placed = len(places.get((fabric, attachment.name), ()))
                    raise LookupError(f"the racks hold {placed} of {attachment.boxes} {attachment.name}")
            places.setdefault((fabric, attachment.name), []).append((rack, units[rack] + 1))
            room[rack] -= 1
            units[rack] += int(high)
            used_mw[rack] += power
    return places


def _spreads(evidence: Evidence) -> bool:
    """Whether the rule of spread holds for attachments, of which files from before rules were named know nothing."""
    case = evidence.case
    kept = is_kept(case.rules, RACK_SPREAD) and case.site.rack_rules.spread_attachments
    return kept and evidence.design.rules is not None


def _free(evidence: Evidence, floor: Floor) -> list[str]:
    """Racks that nobody names, from the end of the floor."""
    asked = floor.network_racks if isinstance(floor.network_racks, tuple) else ()
    named = {*asked, *(floor.server_racks or ())}
    for fabric in evidence.case.fabrics:
        named.update(*fabric.pinned.values(), *(attachment.racks or () for attachment in fabric.attachments))
    plan = FloorPlan(floor, named)
    lost = set(plan.cut_off())
    return [plan.ids[rack] for rack in reversed(np.flatnonzero(plan.usable).tolist()) if plan.ids[rack] not in lost]
