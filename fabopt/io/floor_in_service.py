"""What a floor must be for a case to go on from a base that stands on it: its racks, their rules, their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.floor.rack_rules import rack_limits
from fabopt.floor.racks import Racks
from fabopt.schema.case import Case
from fabopt.schema.design import Design
from fabopt.schema.floor import Campus, Floor
from fabopt.schema.installed import racks_in_service

# Of a floor, what may be otherwise than in the base: its size, and which racks there are for what is new.
_OPEN = ("rows", "racks_per_row", "aisle_m", "blocked", "reserved", "network_racks", "server_racks")


def faults_of_floor(case: Case, base: Design, told: Case, file: str, of_base: str) -> Iterator[Fault]:
    """Where the floor of a case is none on which its base stands; ``told``: the base's case, ``of_base``: its file."""
    floor, before = case.site.floor, told.site.floor
    if before is None or floor is None:
        if before is not None:
            problem = f"the devices of {of_base} stand on a floor, and here is none"
            yield fault(file, "site.floor", problem, hint="give the floor of its case, or a larger one")
        if floor is not None:
            problem = f"the devices of {of_base} have no places, as it was designed without a floor"
            yield fault(file, "site.floor", problem, hint="leave it out, or design the base on the floor")
        return
    yield from _not_yet(case, base, told, file)
    if isinstance(floor, Campus) != isinstance(before, Campus):
        problem = f"one hall is not several, as which the racks of {of_base} are numbered"
        yield fault(file, case.site.floor_key, problem, hint="give `site.floor` or `site.halls` as its case does")
        return
    halls = {part.prefix[:-1]: part for part in floor.parts}
    for own in before.parts:
        name = own.prefix[:-1]
        if name in halls:
            yield from _otherwise(halls[name], own, f"site.halls.{name}" if name else "site.floor", file, of_base)
        else:
            yield fault(file, "site.halls", f"the hall {name} of {of_base} is in service, and is not here", list(halls))
    yield from _lost_racks(case, base, file, of_base)
    yield from _named_otherwise(case, base, file, of_base)
    if rack_limits(case) != rack_limits(told):
        problem = f"racks have other rules than in {of_base}, whose devices stay"
        yield fault(file, "site.rack_rules", problem, hint="give `site.rack_rules` and `rules` as its case has them")
    per_rack = None if base.floor is None else base.floor.servers_per_rack
    if case.site.servers_per_rack not in (None, per_rack):
        problem = f"other racks of servers than in {of_base}"
        yield fault(file, "site.servers_per_rack", problem, case.site.servers_per_rack, allowed=str(per_rack))


def _otherwise(floor: Floor, before: Floor, where: str, file: str, of_base: str) -> Iterator[Fault]:
    """Keys of a hall that is otherwise than the base's, or smaller; ``where``: its key."""
    for key in Floor.model_fields:
        if key not in _OPEN and getattr(floor, key) != getattr(before, key):
            problem = f"is otherwise in {of_base}, whose racks and cables stay"
            yield fault(file, f"{where}.{key}", problem, getattr(floor, key), allowed=str(getattr(before, key)))
    for key in ("rows", "racks_per_row"):
        size, least = getattr(floor, key), getattr(before, key)
        if size < least:
            problem = f"a smaller floor than that of {of_base}, whose racks stay"
            yield fault(file, f"{where}.{key}", problem, size, allowed=f"{least} or more")


def _lost_racks(case: Case, base: Design, file: str, of_base: str) -> Iterator[Fault]:
    """Racks with devices of the base that the floor lacks, or that are not for this cluster."""
    assert case.site.floor is not None and base.floor is not None
    floor, racks = case.site.floor, racks_in_service(base)
    known = set(Racks(floor).ids)
    for key in ("blocked", "reserved"):
        for rack in sorted(racks.intersection(getattr(floor, key))):
            problem = f"the rack {rack} has devices in service in {of_base}"
            yield fault(file, f"site.floor.{key}", problem, rack, hint="leave it out")
    for rack in sorted(racks - known):
        problem = f"the floor lacks the rack {rack}, which has devices in service in {of_base}"
        yield fault(file, "site.floor", problem, rack, allowed=f"{min(known)} to {max(known)}")
    named = floor.server_racks
    if named is not None and named[: len(base.floor.server_racks)] != base.floor.server_racks:
        own = ", ".join(base.floor.server_racks)
        problem = f"begins otherwise than with the racks in service in {of_base}"
        yield fault(file, "site.floor.server_racks", problem, list(named), allowed=f"{own}, and others")


def _named_otherwise(case: Case, base: Design, file: str, of_base: str) -> Iterator[Fault]:
    """Racks that a fabric names for a tier, which lack one where switches of the tier stand."""
    places = {fabric.name: fabric.places for fabric in base.fabrics}
    for index, fabric in enumerate(case.fabrics):
        for tier, named in fabric.pinned.items():
            stands = getattr(places[fabric.name], tier) if fabric.name in places else ()
            lacking = sorted({rack for rack, _ in stands} - set(named))
            if lacking:
                problem = f"switches of the tier stand in {', '.join(lacking)} in {of_base}"
                yield fault(file, f"fabrics[{index}].racks.{tier}", problem, list(named), hint="name these racks too")


def _not_yet(case: Case, base: Design, told: Case, file: str) -> Iterator[Fault]:
    """Keys that do not go with a base on a floor."""
    given = {
        "site.spread": "halls" in (case.site.spread, told.site.spread),
        "site.cabling": case.site.trunked or told.site.trunked,
    }
    racks = racks_in_service(base)
    for index, fabric in enumerate(case.fabrics):
        there = {one.name for own in told.fabrics if own.name == fabric.name for one in own.attachments}
        for number, attachment in enumerate(fabric.attachments):
            lost = sorted(racks.intersection(attachment.racks or ())) if attachment.name not in there else []
            if lost:
                problem = f"new devices stand in racks without any in service, and {', '.join(lost)} has some"
                hint = "name other racks, or leave `racks` out"
                where = f"fabrics[{index}].attachments[{number}].racks"
                yield fault(file, where, problem, list(attachment.racks or ()), hint=hint)
    for key, is_given in given.items():
        if is_given:
            yield fault(
                file, key, "does not go with a base on a floor", hint="leave it out; docs/formulation/outside.md"
            )
