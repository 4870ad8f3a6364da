"""Rules of attachments on a floor: the places of their devices, computed anew device by device."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.rules.defaults import APPLIANCE_RACKS, RACK_SPREAD, ROW_ENDS, is_kept
from fabopt.schema.attachment import WITH_SWITCHES, Attachment
from fabopt.schema.case import Floor
from fabopt.schema.installed import base_of, racks_in_service
from fabopt.units import ceil_div, exact, grouped, milliwatts, some
from fabopt.verify.evidence import Evidence
from fabopt.verify.floor import usable_milliwatts
from fabopt.verify.floor_runs import attached_run_m, measures_attachments
from fabopt.verify.proof import FIRST, Proof, named_edition, since, where
from fabopt.verify.totals import racks_in_file
from fabopt.verify.wiring import CabledDesign

Place = tuple[str, int]
Key = tuple[str, str]
SWITCHES = ("leaf", "spine", "core")


def has_attachments_in_racks(evidence: Evidence) -> bool:
    """Whether the case has attachments that fill rack units of their own."""
    return any(True for _ in _apart(evidence))


@where(has_attachments_in_racks)
def attachments_stand_apart(proof: Proof, cabled: CabledDesign) -> None:
    """Devices of attachments fill racks of their own from the bottom up.

    In the order of the case every device is in the first rack with the units and the power left: of the racks that its
    attachment names, or else of the free ones from the end of the floor. With rule ``rack-spread`` no rack has more
    than half of an attachment's devices, rounded up, if they all find a place so. No other device is in these racks,
    nor in any that an attachment names. What rule ``appliance-racks`` moves leaves its place free. Source: case file,
    ``attachments[].rack_units``, ``.power_w``, ``.racks``.
    """
    devices, placed = cabled.wiring.devices, _placed(cabled)
    others = {rack for role, rack in zip(devices.role, devices.rack, strict=True) if role != "attachment"}
    moved = _moved(cabled, placed)
    for key in (*(key for key, _ in _with_switches(cabled.evidence)), *moved):
        others.update(rack for rack, _ in placed.pop(key, ()))
    wanted = _places(cabled.evidence, cabled.evidence.plan.floor)
    wanted = {key: places for key, places in wanted.items() if key not in moved}
    proof.equal("attachments in racks", sorted(placed), sorted(wanted))
    for key, places in wanted.items():
        proof.equal(f"places of {key[0]} {key[1]}", placed.get(key), places)
        proof.note(f"{len(places)} x {key[1]}")
    named = {rack for _, attachment in _apart(cabled.evidence) for rack in attachment.racks or ()}
    own = named | {rack for places in placed.values() for rack, _ in places}
    proof.equal("racks of attachments with other devices", sorted(own & others), [])


def has_hosts_with_switches(evidence: Evidence) -> bool:
    """Whether the case has attachments that stand with switches."""
    return any(True for _ in _with_switches(evidence))


@since("0.3.0", "case.content.fabrics.attachments.stands")
@where(has_hosts_with_switches)
def hosts_stand_with_switches(proof: Proof, cabled: CabledDesign) -> None:
    """Each device that stands with switches is in one rack, in which its fabric has a switch when it comes: from the
    first stage on, or new beside a base from the next one.

    With rule ``rack-spread``, where these switches are in two racks, no rack has more than half of an attachment's
    devices, rounded up. Source: case file, ``attachments[].stands``, ``.boxes``.
    """
    placed, switches = _placed(cabled), _racks_of_switches(cabled)
    for key, attachment in _with_switches(cabled.evidence):
        racks = _by(attachment, switches[key[0]])
        _stands_with_switches(proof, cabled.evidence, (key, attachment), placed.get(key, []), racks)


def has_appliances_of_rule(evidence: Evidence) -> bool:
    """Whether rule ``appliance-racks`` is about any attachment of the case."""
    return is_kept(evidence.case.rules, APPLIANCE_RACKS) and any(True for _ in _of_rule(evidence))


@since("0.3.0")
@where(has_appliances_of_rule)
def appliances_stand_with_switches(proof: Proof, cabled: CabledDesign) -> None:
    """All devices of an attachment that rule ``appliance-racks`` moves are in racks of switches of its fabric.

    They are in two racks if they would be in two apart, and cables of attachments of its fabric are bought so long that
    they reach the racks that it leaves: none is dearer, as none is of another length. Source: case file, ``rules``.
    """
    placed, switches, evidence = _placed(cabled), _racks_of_switches(cabled), cabled.evidence
    moved, apart = _moved(cabled, placed), _places(evidence, evidence.plan.floor)
    for key, attachment in _of_rule(evidence):
        if key not in moved:
            proof.note(f"{attachment.boxes} x {key[1]} apart")
            continue
        _stands_with_switches(proof, evidence, (key, attachment), placed[key], _by(attachment, switches[key[0]]))
        fewest = min(2, len({rack for rack, _ in apart[key]}))
        proof.holds(len({rack for rack, _ in placed[key]}) >= fewest, f"{key[0]} {key[1]} in fewer racks than apart")
    for fabric in evidence.fabrics if measures_attachments(evidence) else ():
        own = {name: apart[key] for key in moved for owner, name in (key,) if owner == fabric.designed.name}
        for row in fabric.designed.links if own else ():
            lengths_m = [part.length_m for part in row.parts if part.length_m]
            if lengths_m and row.from_ == "attachment" and row.attachment not in fabric.logical:
                needed_m = attached_run_m(fabric, row.attachment or "", row.to, own)
                proof.holds(
                    min(lengths_m) >= needed_m, f"{min(lengths_m):g} m to {row.attachment}, {needed_m:g} m apart"
                )


def _stands_with_switches(
    proof: Proof, evidence: Evidence, owned: tuple[Key, Attachment], places: list[Place], own: set[str]
) -> None:
    """Each device is in one of its ``own`` racks of switches, with rule ``rack-spread`` not all in one of several."""
    (key, attachment), racks = owned, Counter(rack for rack, _ in places)
    what = f"{key[0]} {key[1]}"
    proof.equal(f"devices of {what} in racks", racks.total(), attachment.boxes)
    proof.equal(f"racks of {what} without a switch of its fabric", sorted(set(racks) - own), [])
    is_spread = spreads_attachments(evidence) and len(own) > 1
    most = ceil_div(attachment.boxes, 2) if is_spread else attachment.boxes
    proof.holds(max(racks.values(), default=0) <= most, f"more than {most} of {attachment.boxes} {what} in a rack")
    proof.note(f"{attachment.boxes} x {key[1]} in {some(len(racks), 'rack')}")


def _racks_of_switches(cabled: CabledDesign) -> dict[str, dict[str, int]]:
    """Racks with switches of each fabric, and the first stage that has one there."""
    devices, racks = cabled.wiring.devices, defaultdict[str, dict[str, int]](dict)
    columns = zip(devices.role, devices.stage.tolist(), devices.fabric, devices.rack, strict=True)
    for role, stage, fabric, rack in columns:
        if role in SWITCHES:
            racks[fabric][rack] = min(stage, racks[fabric].get(rack, stage))
    return racks


def _by(attachment: Attachment, racks: dict[str, int]) -> set[str]:
    """The racks that have a switch when an attachment comes: at the first stage, or beside a base at the next one."""
    return {rack for rack, stage in racks.items() if stage <= attachment.first_stage}


def _moved(cabled: CabledDesign, placed: dict[Key, list[Place]]) -> set[Key]:
    """Attachments of rule ``appliance-racks`` that are in a rack of a switch of their fabric, where it is kept."""
    if not has_appliances_of_rule(cabled.evidence):
        return set()
    switches = _racks_of_switches(cabled)
    return {
        key
        for key, attachment in _of_rule(cabled.evidence)
        if not _by(attachment, switches[key[0]]).isdisjoint(rack for rack, _ in placed.get(key, ()))
    }


def _of_rule(evidence: Evidence) -> Iterator[tuple[Key, Attachment]]:
    """Attachments whose racks and standing the case leaves open, by fabric and name."""
    for fabric, attachment in _apart(evidence):
        if attachment.racks is None and attachment.stands is None:
            yield (fabric, attachment.name), attachment


def _placed(cabled: CabledDesign) -> dict[Key, list[Place]]:
    """The places of devices of attachments that have any, by fabric and attachment."""
    devices = cabled.wiring.devices
    columns = zip(devices.role, devices.fabric, devices.product, devices.rack, devices.unit.tolist(), strict=True)
    return grouped(
        ((fabric, product), (rack, unit))
        for role, fabric, product, rack, unit in columns
        if role == "attachment" and rack
    )


def _with_switches(evidence: Evidence) -> Iterator[tuple[Key, Attachment]]:
    """Attachments that stand with switches, by fabric and name."""
    for fabric in evidence.case.fabrics:
        for attachment in fabric.attachments:
            if attachment.stands == WITH_SWITCHES:
                yield (fabric.name, attachment.name), attachment


def _apart(evidence: Evidence) -> Iterator[tuple[str, Attachment]]:
    for fabric in evidence.case.fabrics:
        for attachment in fabric.attachments:
            if attachment.rack_units is not None and attachment.stands != WITH_SWITCHES:
                yield fabric.name, attachment


def _places(evidence: Evidence, floor: Floor) -> dict[Key, list[Place]]:
    """The place of every device by the rule."""
    free, filled = _free(evidence, floor), _Filled(floor)
    places: dict[Key, list[Place]] = {}
    for fabric, attachment in _apart(evidence):
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
        self._row_mw: Counter[str] = Counter()
        self._kg: dict[str, Fraction] = defaultdict(Fraction)

    def places(self, attachment: Attachment, racks: tuple[str, ...], most: int) -> list[Place]:
        """Places for its devices, no more than ``most`` in a rack; fewer if racks are full."""
        high = _height(attachment)
        placed: list[Place] = []
        for rack in racks:
            limits: list[tuple[int | Fraction, Fraction]] = [
                (high, Fraction(self._floor.rack_units - self._units[rack])),
                *self._loads(attachment, rack, placed),
            ]
            fit = min([int(left // need) for need, left in limits if need], default=most)
            number = max(0, min(fit, most, attachment.boxes - len(placed)))
            placed += [(rack, self._units[rack] + 1 + index * high) for index in range(number)]
        return placed

    def _loads(
        self, attachment: Attachment, rack: str, placed: list[Place]
    ) -> Iterator[tuple[int | Fraction, Fraction]]:
        """What a device takes of each limit of its rack and row, and what is left of it; ``placed``: of its own."""
        floor, row = self._floor.part_of(rack), _row(rack)
        power_mw, kg = milliwatts(attachment.power_w or 0), exact(attachment.weight_kg or 0)
        if (most_mw := usable_milliwatts(floor)) is not None:
            yield power_mw, most_mw - self._used_mw[rack]
        if floor.rack_air_w is not None:
            yield power_mw, Fraction(milliwatts(floor.rack_air_w) - self._used_mw[rack])
        if floor.row_air_w is not None:
            own = sum(_row(other) == row for other, _ in placed)
            yield power_mw, Fraction(milliwatts(floor.row_air_w) - self._row_mw[row] - own * power_mw)
        if floor.rack_kg is not None:
            yield kg, exact(floor.rack_kg) - self._kg[rack]
        if floor.floor_kg_m2 is not None:
            base = exact(floor.rack_pitch_m) * exact(floor.rack_depth_m)
            yield kg, exact(floor.floor_kg_m2) * base - self._kg[rack]

    def put(self, attachment: Attachment, places: list[Place]) -> None:
        """Add the units, power and weight of its devices."""
        for rack, _ in places:
            self._units[rack] += _height(attachment)
            self._used_mw[rack] += milliwatts(attachment.power_w or 0)
            self._row_mw[_row(rack)] += milliwatts(attachment.power_w or 0)
            self._kg[rack] += exact(attachment.weight_kg or 0)


def _row(rack: str) -> str:
    return rack.rstrip("0123456789")


def _height(attachment: Attachment) -> int:
    return int(-(-exact(attachment.rack_units or 0) // 1))


def _free(evidence: Evidence, floor: Floor) -> list[str]:
    """Racks that nothing names and no panels are in, from the end of the floor."""
    kept = set(ends_of_rows(evidence).values())
    return [rack for rack in _unnamed(evidence, floor) if rack not in kept]


def ends_of_rows(evidence: Evidence) -> dict[str, str]:
    """The rack at the end of each row that is for panels, by row; none where these are in the racks of devices.

    A file without trunks has kept these racks if nothing is in them.
    """
    site = evidence.case.site
    if not site.floor or site.halls or not site.trunked or site.zones == "racks":
        return {}
    ends, crossed = dict[str, str](), site.floor.cross_positions
    is_last = is_kept(evidence.case.rules, ROW_ENDS) and site.floor.racks_per_row - max(crossed) < min(crossed)
    for rack in _unnamed(evidence, site.floor):
        if not is_last or _row(rack) not in ends:
            ends[_row(rack)] = rack
    kinds = [kind for fabric in evidence.design.fabrics for kind in fabric.structured]
    if not kinds:
        return ends if racks_in_file(evidence).isdisjoint(ends.values()) else {}
    return ends if site.zones == "rows" or any(kind.zones for kind in kinds) else {}


def _unnamed(evidence: Evidence, floor: Floor) -> list[str]:
    """Racks that neither the floor nor an attachment names, without devices in service, from the end of the floor."""
    asked = floor.network_racks if isinstance(floor.network_racks, tuple) else ()
    named = {*asked, *(floor.server_racks or ())}
    for fabric in evidence.case.fabrics:
        named.update(*fabric.pinned.values(), *(attachment.racks or () for attachment in fabric.attachments))
    base = base_of(evidence.case)
    plan = FloorPlan(floor, named if base is None else named | racks_in_service(base))
    lost = set(plan.cut_off())
    return [plan.ids[rack] for rack in reversed(np.flatnonzero(plan.usable).tolist()) if plan.ids[rack] not in lost]
