"""Tables with a title row: cables that somebody wrote down, and the maps of names and GUIDs."""

from __future__ import annotations

from fabopt.errors import fault
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, address
from fabopt.io.faults import refuse_any
from fabopt.io.tables import COLUMNS, rows_of, text_of


def cabled(text: str, file: str) -> Discovery:
    """The cables of a table with the columns of ``point-to-point.csv``; what is not in it is not there."""
    sightings = []
    for _, row in rows_of(text, file, COLUMNS):
        near, far = (_end(*row[start : start + 2]) for start in (0, 2))
        sightings.append(Sighting(near, far))
    devices = (end.device for sighting in sightings for end in (sighting.near, sighting.far))
    return Discovery(file, sightings, frozenset(devices), is_whole=True)


def _end(device: str, port: str) -> SeenEnd:
    return SeenEnd(device, (port,), guid=address(port))


def mapped(data: bytes, file: str) -> dict[str, str]:
    """A map of names: a table of the columns ``found`` and ``planned``. Names that are found are in small letters."""
    faults = []
    names: dict[str, str] = {}
    for line, (name, planned) in rows_of(text_of(data, file), file, ("found", "planned")):
        key = " ".join(name.lower().split())
        if names.setdefault(address(key) or key, planned) != planned:
            faults.append(fault(file, f"line {line}", "this name is mapped twice", name))
    refuse_any(faults)
    return names


def guids_of(data: bytes, file: str) -> dict[str, str]:
    """A map from GUIDs and MAC addresses to ``device port``: a table of the columns ``device``, ``port``, ``guid``."""
    faults = []
    ends: dict[str, str] = {}
    for line, (device, port, guid) in rows_of(text_of(data, file), file, ("device", "port", "guid")):
        digits = address(guid)
        if not digits:
            faults.append(fault(file, f"line {line}", "not a GUID", guid, allowed="16 hexadecimal digits, or a MAC"))
        elif ends.setdefault(digits, f"{device} {port}".strip()) != f"{device} {port}".strip():
            faults.append(fault(file, f"line {line}", "this GUID is given twice", guid))
    refuse_any(faults)
    return ends
