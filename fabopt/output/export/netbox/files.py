"""The files of a NetBox import, numbered in the order in which NetBox must be given them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from fabopt.output.export.formats import Options
from fabopt.output.export.netbox.check import (
    CABLES,
    DEVICES,
    INTERFACES,
    ITEMS,
    MANUFACTURERS,
    RACKS,
    ROLES,
    SITES,
    TYPES,
    check,
)
from fabopt.output.export.netbox.interfaces import CableRows, Interfaces, transceivers
from fabopt.output.export.netbox.objects import TYPE_HEAD, Objects
from fabopt.output.export.netbox.ports import Ports
from fabopt.output.export.netbox.readme import readme
from fabopt.output.export.netbox.table import CsvTable
from fabopt.output.export.netbox.words import version_of
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

README = "README.txt"
TYPE_FOLDER = "device-types"
# The import form takes 2.5 MB (Django's ``DATA_UPLOAD_MAX_MEMORY_SIZE``), and pasted text grows as it is sent.
MOST_BYTES = 2_000_000
TABLES = (MANUFACTURERS, SITES, ROLES, RACKS, TYPES, DEVICES, INTERFACES, ITEMS, CABLES)


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write the CSV files, a YAML file for every device type, and README.txt.

    ``InputError`` lists what NetBox would refuse; then nothing is written.
    """
    objects = Objects(design, wiring)
    ports = Ports(objects, version_of(options.netbox))
    whole = tables_of(objects, ports)
    check(whole)
    tables = {part: rows for name, table in whole.items() for part, rows in parts_of(name, table).items()}
    content = {name: table.csv_bytes() for name, table in tables.items()}
    content |= {
        f"{TYPE_FOLDER}/{device_type.slug}.yaml": device_type.yaml_bytes() for device_type in objects.types.values()
    }
    content[README] = readme(objects, ports, whole, {name: len(table.rows) for name, table in tables.items()}).encode()
    return [_written(folder / name, data) for name, data in content.items()]


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
    tables = {
        MANUFACTURERS: objects.manufacturers(),
        SITES: objects.sites(),
        ROLES: objects.roles(),
        RACKS: objects.racks(),
        TYPES: objects.device_types(),
        DEVICES: objects.devices(),
        INTERFACES: Interfaces(ports).table(),
        ITEMS: transceivers(ports),
        CABLES: CableRows(ports).table(),
    }
    return {name: tables[name] for name in TABLES if tables[name].rows}


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path
