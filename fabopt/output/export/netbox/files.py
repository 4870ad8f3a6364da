"""The files of a NetBox import, numbered in the order in which NetBox must be given them."""

from __future__ import annotations

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
TABLES = (MANUFACTURERS, SITES, ROLES, RACKS, TYPES, DEVICES, INTERFACES, ITEMS, CABLES)


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write the CSV files, a YAML file for every device type, and README.txt.

    ``InputError`` lists what NetBox would refuse; then nothing is written.
    """
    objects = Objects(design, wiring)
    ports = Ports(objects, version_of(options.netbox))
    tables = tables_of(objects, ports)
    check(tables)
    content = {name: table.csv_bytes() for name, table in tables.items()}
    content |= {f"{TYPE_FOLDER}/{one.slug}.yaml": one.yaml_bytes() for one in objects.types.values()}
    content[README] = readme(objects, ports, tables).encode()
    return [_written(folder / name, data) for name, data in content.items()]


def own_files(folder: Path) -> list[Path]:
    """Return the files of a folder that an import of any design has; of device types those that say who wrote them."""
    types = [path for path in sorted((folder / TYPE_FOLDER).glob("*.yaml")) if path.is_file() and _is_own_type(path)]
    return [path for path in (folder / name for name in TABLES) if path.is_file()] + types


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
