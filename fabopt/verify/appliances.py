"""The rule of attachments on a floor: the places of their devices, computed anew device by device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.schema.attachment import Attachment
from fabopt.schema.case import Floor
from fabopt.schema.default_rules import RACK_SPREAD, is_kept
from fabopt.units import ceil_div, exact, milliwatts
from fabopt.verify.editions import FIRST, named_edition
from fabopt.verify.evidence import Evidence
from fabopt.verify.proof import Proof, where
from fabopt.verify.wiring import CabledDesign

Place = tuple[str, int]


def has_attachments_in_racks(evidence: Evidence) -> bool:
    """Whether the case has attachments that fill rack units."""
    return any(True for _ in _in_racks(evidence))


@where(has_attachments_in_racks)
def attachments_stand_apart(proof: Proof, cabled: CabledDesign) -> None:
    """Devices of attachments fill racks of their own from the bottom up.

    In the order of the case every device is in the first rack with the units and the power left: of the racks that its
    attachment names, or else of the free ones from the end of the floor. With rule ``rack-spread`` no rack has more
    than half of an attachment's devices, rounded up, if they all find a place so. No other device is in these racks,
    nor in any that an attachment names. Source: case file, ``attachments[].rack_units``, ``.power_w``, ``.racks``.
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
    free, filled = _free(evidence, floor), _Filled(floor)
    places: dict[tuple[str, str], list[Place]] = {}
    for fabric, attachment in _in_racks(evidence):
        racks, boxes = attachment.racks or tuple(free), attachment.boxes
        placed = filled.places(attachment, racks, ceil_div(boxes, 2)) if spreads_attachments(evidence) else []
        placed = placed if len(placed) == boxes else filled.places(attachment, racks, boxes)
        if len(placed) < boxes:
            raise LookupError(f"the racks hold {len(placed)} of {boxes} {attachment.name}")
        filled.put(attachment, placed)
        places[fabric, attachment.name] = placed
    return places


def spreads_attachments(evidence: Evidence) -> bool:
    """Whether the case spreads an attachment's devices, and its ports, over two racks; not in files of the first
    version.
    """
    case = evidence.case
    asked = is_kept(case.rules, RACK_SPREAD) and case.site.rack_rules.spread_attachments
    return asked and named_edition(evidence.design) != FIRST


class _Filled:
    """Units and power in use in racks, from the bottom up."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._units: Counter[str] = Counter()
        self._used_mw: Counter[str] = Counter()

    def places(self, attachment: Attachment, racks: tuple[str, ...], most: int) -> list[Place]:
        """Places for its devices, no more than ``most`` in a rack; fewer if racks are full."""
        high, limit = _height(attachment), self._floor.rack_power_w
        placed: list[Place] = []
        for rack in racks:
            room = [self._floor.rack_units - self._units[rack]]
            room += [] if limit is None else [milliwatts(limit) - self._used_mw[rack]]
            needs = (high, milliwatts(attachment.power_w or 0))
            fit = min([left // need for left, need in zip(room, needs, strict=False) if need], default=most)
            number = max(0, min(fit, most, attachment.boxes - len(placed)))
            placed += [(rack, self._units[rack] + 1 + index * high) for index in range(number)]
        return placed

    def put(self, attachment: Attachment, places: list[Place]) -> None:
        """Add the units and power of its devices."""
        for rack, _ in places:
            self._units[rack] += _height(attachment)
            self._used_mw[rack] += milliwatts(attachment.power_w or 0)


def _height(attachment: Attachment) -> int:
    return int(-(-exact(attachment.rack_units or 0) // 1))


def _free(evidence: Evidence, floor: Floor) -> list[str]:
    """Racks that no attachment names, from the end of the floor."""
    asked = floor.network_racks if isinstance(floor.network_racks, tuple) else ()
    named = {*asked, *(floor.server_racks or ())}
    for fabric in evidence.case.fabrics:
        named.update(*fabric.pinned.values(), *(attachment.racks or () for attachment in fabric.attachments))
    plan = FloorPlan(floor, named)
    lost = set(plan.cut_off())
    return [plan.ids[rack] for rack in reversed(np.flatnonzero(plan.usable).tolist()) if plan.ids[rack] not in lost]
