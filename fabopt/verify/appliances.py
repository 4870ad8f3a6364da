"""The rule of attachments on a floor: where their boxes stand, worked out anew box by box."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.schema.case import Attachment, Floor
from fabopt.units import exact, milliwatts
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof
from fabopt.verify.wiring import CabledDesign

Place = tuple[str, int]


def has_boxes_in_racks(evidence: Evidence) -> bool:
    """Whether the case has attachments that fill rack units."""
    return any(True for _ in _in_racks(evidence))


def attachments_stand_apart(proof: Proof, cabled: CabledDesign) -> None:
    """Boxes of attachments fill racks of their own from the bottom up.

    In the order of the case every box stands in the first rack that has the units and the power left: of those that its
    attachment names, or else of the free ones from the end of the floor. Nothing else stands in these racks, nor in any
    that an attachment names. Source: case file, ``attachments[].rack_units``, ``.power_w``, ``.racks``.
    """
    devices, floor = cabled.wiring.devices, cabled.evidence.plan.floor
    stands: dict[tuple[str, str], list[Place]] = {}
    others: set[str] = set()
    columns = zip(devices.role, devices.fabric, devices.product, devices.rack, devices.unit.tolist(), strict=True)
    for role, fabric, product, rack, unit in columns:
        if role != "attachment":
            others.add(rack)
        elif rack:
            stands.setdefault((fabric, product), []).append((rack, unit))
    wanted = _places(cabled.evidence, floor)
    proof.equal("attachments in racks", sorted(stands), sorted(wanted))
    for key, places in wanted.items():
        proof.equal(f"places of {key[0]} {key[1]}", stands.get(key), places)
        proof.note(f"{len(places)} x {key[1]}")
    named = {rack for _, one in _in_racks(cabled.evidence) for rack in one.racks or ()}
    own = named | {rack for places in stands.values() for rack, _ in places}
    proof.equal("racks of attachments with other boxes", sorted(own & others), [])


def _in_racks(evidence: Evidence) -> Iterator[tuple[str, Attachment]]:
    for fabric in evidence.case.fabrics:
        for one in fabric.attachments:
            if one.rack_units is not None:
                yield fabric.name, one


def _places(evidence: Evidence, floor: Floor) -> dict[tuple[str, str], list[Place]]:
    """The place of every box by the rule."""
    free = _free(evidence, floor)
    units: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    most = None if floor.rack_power_w is None else milliwatts(floor.rack_power_w)
    found: dict[tuple[str, str], list[Place]] = {}
    for fabric, one in _in_racks(evidence):
        high, power = -(-exact(one.rack_units or 0) // 1), milliwatts(one.power_w or 0)
        racks = iter(one.racks or free)
        rack = next(racks)
        for _ in range(one.boxes):
            while units[rack] + high > floor.rack_units or (most is not None and drawn[rack] + power > most):
                rack = next(racks, "")
                if not rack:
                    raise LookupError(
                        f"the racks hold {len(found.get((fabric, one.name), ()))} of {one.boxes} {one.name}"
                    )
            found.setdefault((fabric, one.name), []).append((rack, units[rack] + 1))
            units[rack] += int(high)
            drawn[rack] += power
    return found


def _free(evidence: Evidence, floor: Floor) -> list[str]:
    """Racks that nobody names, from the end of the floor."""
    asked = floor.network_racks if isinstance(floor.network_racks, tuple) else ()
    named = {*asked, *(rack for _, one in _in_racks(evidence) for rack in one.racks or ())}
    plan = FloorPlan(floor, named)
    lost = set(plan.cut_off())
    return [plan.ids[at] for at in reversed(np.flatnonzero(plan.usable).tolist()) if plan.ids[at] not in lost]
