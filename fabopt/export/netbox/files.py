"""The files of a NetBox import, numbered in the order in which NetBox must be given them."""

from __future__ import annotations

from pathlib import Path

from fabopt.export.formats import Options
from fabopt.export.netbox.check import (
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
from fabopt.export.netbox.interfaces import Cables, Interfaces, transceivers
from fabopt.export.netbox.objects import Objects
from fabopt.export.netbox.ports import Ports
from fabopt.export.netbox.readme import readme
from fabopt.export.netbox.table import Table
from fabopt.export.netbox.words import version_of
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

README = "README.txt"
TYPE_FOLDER = "device-types"


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


def tables_of(objects: Objects, ports: Ports) -> dict[str, Table]:
    """Return the CSV files by name, in order; without a floor plan none of racks, without modules none of them."""
    tables = {
        MANUFACTURERS: objects.manufacturers(),
        SITES: objects.sites(),
        ROLES: objects.roles(),
        RACKS: objects.racks(),
        TYPES: objects.device_types(),
        DEVICES: objects.devices(),
        INTERFACES: Interfaces(ports).table(),
        ITEMS: transceivers(ports),
        CABLES: Cables(ports).table(),
    }
    return {name: table for name, table in tables.items() if table.rows}


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path
