"""Rows that NetBox would refuse, found before a file is written: the rules of its models, on the rows themselves.

Source of the rules: ``clean`` and the constraints of the models in ``netbox/dcim/models`` of NetBox v4.4.10, v4.6.8 and
v4.7.0-beta1, and ``CableImportForm`` in ``netbox/dcim/forms/bulk_import.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from fabopt.errors import Fault, fault
from fabopt.io.faults import refuse_any
from fabopt.output.export.netbox.table import CsvTable
from fabopt.output.export.netbox.words import (
    FRONT_PORT,
    INTERFACE,
    LONGEST_COMPONENT,
    LONGEST_DESCRIPTION,
    LONGEST_DEVICE,
    LONGEST_LABEL,
    LONGEST_NAME,
    LONGEST_PART_NUMBER,
    REAR_PORT,
)
from fabopt.output.words import measured

MANUFACTURERS, SITES, ROLES = "01-manufacturers.csv", "02-sites.csv", "03-device-roles.csv"
RACKS, TYPES, DEVICES = "04-racks.csv", "05-device-types.csv", "06-devices.csv"
INTERFACES, ITEMS, CABLES = "07-interfaces.csv", "08-inventory-items.csv", "09-cables.csv"
# What front ports lead to comes before them, both before cables.
REAR_PORTS, FRONT_PORTS = "07-rear-ports.csv", "08-front-ports.csv"

# RACK_U_HEIGHT_MAX of netbox/dcim/constants.py; heights of types have three digits before the point.
HIGHEST_RACK, HIGHEST_TYPE = 100, 1000
# Of one rule; the rest is only counted.
_MOST_FAULTS = 10
_HALF = 0.5

# The longest text of a column, and whether it must not be empty.
_NAME, _SLUG, _ABOUT = (LONGEST_NAME, True), (LONGEST_NAME, True), (LONGEST_DESCRIPTION, False)
_TEXTS = {
    MANUFACTURERS: {"name": _NAME, "slug": _SLUG},
    SITES: {"name": _NAME, "slug": _SLUG, "description": _ABOUT},
    ROLES: {"name": _NAME, "slug": _SLUG},
    RACKS: {"name": _NAME},
    TYPES: {"model": _NAME, "slug": _SLUG, "part_number": (LONGEST_PART_NUMBER, False), "description": _ABOUT},
    DEVICES: {"name": (LONGEST_DEVICE, True), "description": _ABOUT},
    INTERFACES: {"name": (LONGEST_COMPONENT, True), "type": (LONGEST_PART_NUMBER, True), "description": _ABOUT},
    REAR_PORTS: {"name": (LONGEST_COMPONENT, True)},
    FRONT_PORTS: {"name": (LONGEST_COMPONENT, True)},
    ITEMS: {"name": (LONGEST_COMPONENT, True), "part_id": (LONGEST_PART_NUMBER, False), "description": _ABOUT},
    CABLES: {"label": (LONGEST_LABEL, False), "description": _ABOUT},
}
# Columns whose values, taken together, no two rows may share. NetBox compares device names without regard to case.
_UNIQUE = (
    (MANUFACTURERS, ("name",)),
    (MANUFACTURERS, ("slug",)),
    (ROLES, ("name",)),
    (ROLES, ("slug",)),
    (RACKS, ("name",)),
    (TYPES, ("manufacturer", "model")),
    (TYPES, ("manufacturer", "slug")),
    (DEVICES, ("name",)),
    (INTERFACES, ("device", "name")),
    (ITEMS, ("device", "name")),
    (REAR_PORTS, ("device", "name")),
    (FRONT_PORTS, ("device", "name")),
    (FRONT_PORTS, ("device", "rear_port", "rear_port_position")),
)
# Columns that name rows of a file that is imported before.
_KNOWN = (
    (RACKS, ("site",), SITES, ("name",)),
    (TYPES, ("manufacturer",), MANUFACTURERS, ("name",)),
    (DEVICES, ("role",), ROLES, ("name",)),
    (DEVICES, ("manufacturer", "device_type"), TYPES, ("manufacturer", "model")),
    (DEVICES, ("site",), SITES, ("name",)),
    (DEVICES, ("rack",), RACKS, ("name",)),
    (INTERFACES, ("device",), DEVICES, ("name",)),
    (INTERFACES, ("device", "parent"), INTERFACES, ("device", "name")),
    (REAR_PORTS, ("device",), DEVICES, ("name",)),
    (FRONT_PORTS, ("device", "rear_port"), REAR_PORTS, ("device", "name")),
    (ITEMS, ("device",), DEVICES, ("name",)),
    (ITEMS, ("device", "component_name"), INTERFACES, ("device", "name")),
    (ITEMS, ("manufacturer",), MANUFACTURERS, ("name",)),
)

Tables = Mapping[str, CsvTable]
# Label of a cable, device, interface or port, type of this.
Termination = tuple[str, str, str, str]
# Where the terminations of each type are listed.
_LISTED = {INTERFACE: INTERFACES, FRONT_PORT: FRONT_PORTS, REAR_PORT: REAR_PORTS}


def check(tables: Tables) -> None:
    """Raise ``InputError`` with the rows that NetBox would refuse: of every rule the first faults, and a count of the
    others.
    """
    terminations = list(_terminations(tables))
    rules = (
        _texts_fit(tables),
        _rows_differ(tables),
        _references_exist(tables),
        _heights_are_halves(tables),
        _racks_are_free(tables),
        _terminations_exist(tables, terminations),
        _terminations_are_free(terminations),
    )
    faults = [problem for rule in rules for problem in _first(rule)]
    refuse_any(faults)


def _first(faults: Iterator[Fault]) -> Iterator[Fault]:
    yield from islice(faults, _MOST_FAULTS)
    more = list(faults)
    if more:
        yield fault(more[0].file, "", f"{len(more):,} more like this", hint=more[0].problem)


def _texts_fit(tables: Tables) -> Iterator[Fault]:
    for file, limits in _TEXTS.items():
        for name, (longest, needed) in limits.items():
            for value in dict.fromkeys(value for (value,) in _pick(tables, file, (name,))):
                if len(value) > longest:
                    allowed = f"up to {longest} characters, found {len(value)}"
                    yield fault(file, name, "the text is too long", value, allowed=allowed)
                elif needed and not value:
                    yield fault(file, name, "a row has no text here")


def _rows_differ(tables: Tables) -> Iterator[Fault]:
    for file, names in _UNIQUE:
        fold = file == DEVICES
        seen = Counter(tuple(cell.lower() if fold else cell for cell in row) for row in _pick(tables, file, names))
        for row, times in seen.items():
            if times > 1:
                yield fault(file, " + ".join(names), f"is in {times} rows, NetBox takes one", ", ".join(row))


def _references_exist(tables: Tables) -> Iterator[Fault]:
    for file, names, other, keys in _KNOWN:
        known = set(_pick(tables, other, keys))
        for row in dict.fromkeys(_pick(tables, file, names)):
            if row[-1] and row not in known:
                yield fault(file, " + ".join(names), f"is not in {other}", ", ".join(row))


def _heights_are_halves(tables: Tables) -> Iterator[Fault]:
    for model, height in _pick(tables, TYPES, ("model", "u_height")):
        if float(height) % _HALF or not 0 <= float(height) < HIGHEST_TYPE:
            yield fault(TYPES, model, "no height in halves of a rack unit", height, allowed=f"0 to {HIGHEST_TYPE - 1}")
    for rack, height in _pick(tables, RACKS, ("name", "u_height")):
        if not 1 <= int(height) <= HIGHEST_RACK:
            yield fault(RACKS, rack, "no height of a rack in units", height, allowed=f"1 to {HIGHEST_RACK}")


def _racks_are_free(tables: Tables) -> Iterator[Fault]:
    """Every device in a rack has a place and a face there, and no half unit holds two devices."""
    heights = {row[:2]: float(row[2]) for row in _pick(tables, TYPES, ("manufacturer", "model", "u_height"))}
    racks = {rack: int(units) for rack, units in _pick(tables, RACKS, ("name", "u_height"))}
    taken: dict[tuple[str, float], str] = {}
    columns = ("name", "manufacturer", "device_type", "rack", "position", "face")
    for name, vendor, model, rack, position, face in _pick(tables, DEVICES, columns):
        height = heights.get((vendor, model), 0.0)
        if not rack or not height:
            if position or face:
                yield fault(DEVICES, name, "has a place, but no rack or no height", position or face)
            continue
        if not position or not face:
            yield fault(DEVICES, name, "is in a rack without position and face", rack)
            continue
        first, count = float(position), round(height / _HALF)
        if first < 1 or first + height > racks.get(rack, 0) + 1:
            yield fault(
                DEVICES, name, f"does not fit into rack {rack}", f"U{position}, {measured(height, 'unit')} high"
            )
        halves = [first + _HALF * number for number in range(count)]
        if other := next((taken[rack, half] for half in halves if (rack, half) in taken), None):
            yield fault(DEVICES, name, f"is where {other} is", f"{rack} U{position}, {measured(height, 'unit')} high")
        taken.update(dict.fromkeys(((rack, half) for half in halves), name))


def _terminations_exist(tables: Tables, terminations: Sequence[Termination]) -> Iterator[Fault]:
    known = {type_: set(_pick(tables, file, ("device", "name"))) for type_, file in _LISTED.items()}
    channels = set(_channels(tables))
    for label, device, interface, type_ in terminations:
        if (device, interface) not in known[type_]:
            what = f"leads to an interface that is not in {_LISTED[type_]}"
            yield fault(CABLES, label, what, f"{device} {interface}")
        elif type_ == INTERFACE and (device, interface) in channels:
            yield fault(CABLES, label, "is plugged into a channel instead of its parent", f"{device} {interface}")


def _channels(tables: Tables) -> Iterator[tuple[str, ...]]:
    for device, name, channel in _pick(tables, INTERFACES, ("device", "name", "channel_id")):
        if channel:
            yield device, name


def _terminations_are_free(terminations: Sequence[Termination]) -> Iterator[Fault]:
    seen: dict[tuple[str, ...], str] = {}
    for label, *port in terminations:
        if tuple(port) in seen:
            yield fault(CABLES, label, f"uses a port that cable {seen[tuple(port)]} uses", " ".join(port[:2]))
        seen[tuple(port)] = label


def _terminations(tables: Tables) -> Iterator[Termination]:
    """Yield terminations as NetBox reads a side: lists at commas, paired, or one device for all."""
    columns = [f"side_{side}_{what}" for side in "ab" for what in ("device", "name", "type")]
    for label, *cells in _pick(tables, CABLES, ("label", *columns)):
        for devices, interfaces, type_ in (cells[:3], cells[3:]):
            names = interfaces.split(",")
            owners = devices.split(",")
            if len(owners) == 1:
                owners *= len(names)
            # A name that has a comma makes lists of different lengths; what is left over leads nowhere.
            names += [""] * (len(owners) - len(names))
            owners += [""] * (len(names) - len(owners))
            yield from ((label, owner, name, type_) for owner, name in zip(owners, names, strict=True))


def _pick(tables: Tables, file: str, names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    return tables[file].pick(*names) if file in tables else iter(())
