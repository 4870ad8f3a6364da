"""A physical topology for ASTRA-sim on ns-3: servers, attachments and switches by number, and every link."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from fabopt.operate.build import plan_of
from fabopt.output.export.formats import Options
from fabopt.output.export.lines import write_lines
from fabopt.output.export.simulated import SimulatedFabric, link_line, simulated_fabrics
from fabopt.output.export.spreadsheet import csv_bytes
from fabopt.schema.design import Design
from fabopt.wiring.model import Wiring

FOLDER = "astra-sim"


def write(design: Design, wiring: Wiring, folder: Path, options: Options) -> list[Path]:
    """Write for each compute fabric ``FABRIC.topo``, ``FABRIC.json`` (ranks) and ``FABRIC-nodes.csv`` (names by
    number).
    """
    plan = plan_of(design, wiring, options.stage)
    files: dict[str, Iterable[str] | bytes] = {}
    for fabric in simulated_fabrics(design, plan, "astra-sim"):
        name, nodes = fabric.fabric.name, [*fabric.servers, *fabric.attachments, *fabric.switches]
        files[f"{name}.topo"] = topology_lines(fabric)
        files[f"{name}.json"] = [json.dumps({"logical-dims": [str(len(fabric.servers))]})]
        rows = ((number, device.name, device.role) for number, device in enumerate(nodes))
        files[f"{name}-nodes.csv"] = csv_bytes(("node", "device", "role"), rows)
    return write_lines(folder / FOLDER, files)


def own_files(folder: Path) -> list[Path]:
    """Files of this format in a folder, of whichever design."""
    own = folder / FOLDER
    return sorted([*own.glob("*.topo"), *own.glob("*.json"), *own.glob("*-nodes.csv")])


def topology_lines(fabric: SimulatedFabric) -> Iterator[str]:
    """Yield counts of nodes, switches and links, the numbers of switches, and a line for each link."""
    nodes = [*fabric.servers, *fabric.attachments, *fabric.switches]
    number = {device.row: index for index, device in enumerate(nodes)}
    yield f"{len(nodes)} {len(fabric.switches)} {len(fabric.links)}"
    yield " ".join(str(number[device.row]) for device in fabric.switches)
    yield from (link_line(number[link.a.device], number[link.b.device], link) for link in fabric.links)
