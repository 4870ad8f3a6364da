"""Tables with a title row: cables that somebody wrote down, and the maps of names and GUIDs."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from fabopt.errors import InputError, fault
from fabopt.inspect.sightings import Discovery, SeenEnd, Sighting, address, text_of
from fabopt.io.faults import refuse

# The columns of point-to-point.csv that say what is joined; its others are of no account.
COLUMNS = ("A-Node Name", "A-Port", "Z-Node Name", "Z-Port")
_DELIMITERS = ",;\t"


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


def rows_of(text: str, file: str, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Each row with its line in the file: the values of some columns, whatever their order and letter case.

    Lines that begin with ``#`` before the title row are comments.
    Raises ``InputError`` where a column is missing, or a row has other than as many values as the title row.
    """
    lines = text.splitlines(keepends=True)
    comments = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    delimiter = max(_DELIMITERS, key="".join(lines[comments : comments + 1]).count)
    reader = csv.reader(lines[comments:], delimiter=delimiter)
    try:
        titles = [title.strip().lower() for title in next(reader, [])]
        places = [titles.index(column.lower()) for column in columns if column.lower() in titles]
        if len(places) < len(columns):
            missing = [column for column in columns if column.lower() not in titles]
            allowed = f"a title row with {', '.join(columns)}"
            raise InputError([fault(file, f"line {comments + 1}", f"no column {', '.join(missing)}", allowed=allowed)])
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(titles):
                what = f"a row of {len(row)} values under {len(titles)} titles"
                raise InputError([fault(file, f"line {comments + reader.line_num}", what)])
            yield comments + reader.line_num, [row[place].strip() for place in places]
    except csv.Error as error:
        raise InputError([fault(file, f"line {comments + reader.line_num}", f"not a table: {error}")]) from None


def mapped(data: bytes, file: str) -> dict[str, str]:
    """A map of names: a table of the columns ``found`` and ``planned``. Names that are found are in small letters."""
    faults = []
    names: dict[str, str] = {}
    for line, (name, planned) in rows_of(text_of(data, file), file, ("found", "planned")):
        key = " ".join(name.lower().split())
        if names.setdefault(address(key) or key, planned) != planned:
            faults.append(fault(file, f"line {line}", "this name is mapped twice", name))
    if faults:
        raise refuse(faults)
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
    if faults:
        raise refuse(faults)
    return ends
