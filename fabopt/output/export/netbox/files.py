"""The files of a NetBox import, numbered in the order in which NetBox must be given them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from textwrap import fill

from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.netbox.check import (
    CABLES,
    DEVICES,
    FRONT_PORTS,
    INTERFACES,
    ITEMS,
    MANUFACTURERS,
    RACKS,
    REAR_PORTS,
    ROLES,
    SITES,
    TYPES,
    check,
)
from fabopt.output.export.netbox.interfaces import CableRows, Interfaces, panel_ports, shuffle_ports, transceivers
from fabopt.output.export.netbox.objects import RACK_FORM, RACK_WIDTH_IN, TYPE_HEAD, Objects
from fabopt.output.export.netbox.ports import Ports
from fabopt.output.export.netbox.table import CsvTable
from fabopt.output.export.netbox.words import NO_VENDOR, OTHER, PLANNED, version_of
from fabopt.units import some
from fabopt.wiring.model import NOTHING

# -- README.txt beside the files --------------------------------------------------------------------------------------


_WIDTH = 110
_MAPPED = "NetBox 4.5.0 to 4.6.5 cannot import what front ports lead to (its issue 22752): use another release."


def readme(objects: Objects, ports: Ports, tables: Mapping[str, CsvTable], rows: Mapping[str, int]) -> str:
    """Return the text for one export; ``rows``: of each file, of which a long table has several."""
    files = [f"  {name:<27}{some(number, 'row')}" for name, number in rows.items()]
    notes = [fill(note, _WIDTH, initial_indent="- ", subsequent_indent="  ") for note in _notes(objects, ports, tables)]
    head = f"{objects.site}: bulk import for NetBox {ports.version.name}"
    order = "Import these files in this order, each in the list of its objects with Import:"
    return "\n".join([head, "=" * len(head), "", order, "", *files, "", "Before and while you import", "", *notes, ""])


def _notes(objects: Objects, ports: Ports, tables: Mapping[str, CsvTable]) -> Iterator[str]:
    yield "Choose the comma as CSV delimiter instead of letting NetBox guess it."
    yield (
        "NetBox may need half a second for a row, and its web server ends what takes more than 120 seconds. Upload "
        "short files. Paste the text of a long one into the form and let a background job do it: a background job "
        "fails with an uploaded file (StopIteration). It is ended after 300 seconds unless your administrator raises "
        "RQ_DEFAULT_TIMEOUT; or import a long file in parts, in order, each with the first line. A part that NetBox "
        "refuses it refuses whole."
    )
    yield (
        f"What NetBox has already (makers in {MANUFACTURERS}, roles in {ROLES}, device types) it refuses to make "
        "twice: delete those rows first. Interfaces and cables name devices by name alone, so no device of another "
        "site may have a name that is used here."
    )
    yield (
        f"All interfaces come from {INTERFACES}, because two switches of one type may split their cages differently. "
        f"The types in {TYPES} therefore have no interfaces. The files in device-types/ are the same types in the form "
        "of the device-type library, with a module bay for every cage of a switch: import either these or "
        f"{TYPES}, not both; all other files stay the same. Do not import these types from the public library "
        "instead: its types make interfaces that these files would make again."
    )
    yield from _place_notes(objects)
    yield from _port_notes(ports, tables)


def _place_notes(objects: Objects) -> Iterator[str]:
    if objects.racks_in_use:
        yield (
            f"The case gives the height of a rack and no more: racks are entered as {RACK_FORM}, {RACK_WIDTH_IN} inch. "
            "Only racks in which something is installed are listed."
        )
    else:
        yield f"The case has no floor plan: there is no {RACKS}, and devices have neither rack nor position."
    for type_ in objects.types.values():
        if type_.u_height != type_.height_u:
            yield (
                f"{type_.manufacturer} {type_.model} is {type_.height_u:g} rack units high; NetBox knows halves, so it "
                f"is entered with {type_.u_height:g}."
            )
    if any(type_.manufacturer == NO_VENDOR for type_ in objects.types.values()):
        yield f"Device types whose maker is not known, and all attachments, are entered under the maker '{NO_VENDOR}'."


def _port_notes(ports: Ports, tables: Mapping[str, CsvTable]) -> Iterator[str]:
    if ITEMS in tables:
        yield f"{ITEMS} has the transceivers; each belongs to the (first) interface of its cage."
    yield from _splitter_notes(ports)
    if ports.objects.shuffles:
        yield (
            f"A shuffle is a device without a place, named like its cable. {REAR_PORTS} and {FRONT_PORTS} come before "
            f"{CABLES}; front port A2-B3 is the lane of connector 2 nearer the servers and connector 3 at the other "
            f"end. {_MAPPED}"
        )
    if ports.objects.cabling.panels:
        yield (
            f"Trunks run between the rear ports of patch panels. A trunk is one cable for each leg that is plugged in, "
            f"labelled as in 'T0001 leg 3 of 12': T0001 is pulled and bought once. Jumpers end in the front ports; "
            f"C00012F is at the far end of the link of C00012. {_MAPPED}"
        )
    if any(panel.has_cassettes for panel in ports.objects.cabling.panels):
        yield "Behind a cassette a leg ends in rear port R3, with a position for each front port that it leads to."
    if any(joined.cable == NOTHING for joined in ports.joined_cables):
        yield f"Rows of {CABLES} without a type and label are links for which the design buys no cable."
    if any(medium in ("ACC", "AEC") for medium in ports.wiring.cables.medium):
        yield "ACC and AEC are both dac-active in NetBox; its description says which."
    if OTHER in tables[INTERFACES].column("type"):
        yield (
            f"Interfaces of type '{OTHER}' have a speed or form factor for which NetBox {ports.version.name} has no "
            "type; their speed is right."
        )
    yield f"Devices and cables are '{PLANNED}' until you say otherwise."


def _splitter_notes(ports: Ports) -> Iterator[str]:
    if ports.version.channels and any(joined.splits and joined.profile for joined in ports.joined_cables):
        yield (
            "A cable that carries several links is one cable. Its single connector is in an interface named like the "
            "cage (swp1, cage1; with -c1, -c2 where a cage has several connectors) that has the ports as its "
            "channels; channel i leads to end i of the cable."
        )
    if not all(map(ports.is_whole, ports.joined_cables)):
        why = "has no profile for some cables of several links, such as one with two connectors of two ports each"
        if not ports.version.channels:
            why = "imports one termination at each side of a cable, and a splitter has more"
        yield (
            f"NetBox {ports.version.name} {why}: such a cable is entered as one cable for each link. The label says "
            "which physical cable it is part of, as in 'C00012 breakout end 1 of 2': C00012 is laid and bought once."
        )


# -- the files of a NetBox import, numbered in the order in which NetBox must be given them ---------------------------


README = "README.txt"
TYPE_FOLDER = "device-types"
# The import form takes 2.5 MB (Django's ``DATA_UPLOAD_MAX_MEMORY_SIZE``), and pasted text grows as it is sent.
MOST_BYTES = 2_000_000
TABLES = (
    MANUFACTURERS, SITES, ROLES, RACKS, TYPES, DEVICES, INTERFACES, REAR_PORTS, FRONT_PORTS, ITEMS, CABLES
)  # fmt: skip


def files_of(asked: Exported) -> Files:
    """Return the CSV files, a YAML file for every device type, and README.txt.

    ``InputError`` lists what NetBox would refuse; then nothing is written.
    """
    objects = Objects(asked.design, asked.wiring)
    ports = Ports(objects, version_of(asked.options.netbox))
    whole = tables_of(objects, ports)
    check(whole)
    tables = {part: rows for name, table in whole.items() for part, rows in parts_of(name, table).items()}
    content: dict[str, Content] = {name: table.csv_bytes() for name, table in tables.items()}
    content |= {
        f"{TYPE_FOLDER}/{device_type.slug}.yaml": device_type.yaml_bytes() for device_type in objects.types.values()
    }
    content[README] = readme(objects, ports, whole, {name: len(table.rows) for name, table in tables.items()}).encode()
    return content


def own_files(folder: Path) -> list[Path]:
    """Return the files of this format in a folder, of whichever design; device types only if fabopt wrote them."""
    types = [path for path in sorted((folder / TYPE_FOLDER).glob("*.yaml")) if path.is_file() and _is_own_type(path)]
    patterns = [pattern for name in TABLES for pattern in (name, _part(name, "[0-9][0-9]"))]
    return [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path.is_file()] + types


def parts_of(name: str, table: CsvTable) -> dict[str, CsvTable]:
    """A file by its name, or its parts where the form would refuse it whole: each with the column names, in order."""
    number = -(-len(table.csv_bytes()) // MOST_BYTES)
    if number <= 1:
        return {name: table}
    starts = [len(table.rows) * part // number for part in range(number + 1)]
    return {
        _part(name, f"{part:02d}"): CsvTable(table.columns, table.rows[start:end])
        for part, (start, end) in enumerate(pairwise(starts), 1)
    }


def _part(name: str, number: str) -> str:
    return f"{name.removesuffix('.csv')}-{number}.csv"


def _is_own_type(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(TYPE_HEAD)) == TYPE_HEAD


def tables_of(objects: Objects, ports: Ports) -> dict[str, CsvTable]:
    """Return the CSV files by name, in order: no racks without a floor plan, no inventory items without modules."""
    rear, front = shuffle_ports(ports)
    of_panels = list(panel_ports(ports))
    rear.rows += dict.fromkeys(behind for behind, _ in of_panels)
    front.rows += (before for _, before in of_panels)
    tables = {
        MANUFACTURERS: objects.manufacturers(),
        SITES: objects.sites(),
        ROLES: objects.roles(),
        RACKS: objects.racks(),
        TYPES: objects.device_types(),
        DEVICES: objects.devices(),
        INTERFACES: Interfaces(ports).table(),
        REAR_PORTS: rear,
        FRONT_PORTS: front,
        ITEMS: transceivers(ports),
        CABLES: CableRows(ports).table(),
    }
    return {name: tables[name] for name in TABLES if tables[name].rows}
