"""A physical topology for ASTRA-sim on ns-3: servers, attachments and switches by number, and every link."""

from __future__ import annotations

import json
from collections.abc import Iterator

from fabopt.output.export.formats import Content, Exported, Files
from fabopt.output.export.simulated import SimulatedFabric, link_line, simulated_fabrics
from fabopt.output.export.spreadsheet import csv_bytes

FOLDER = "astra-sim"
OWN_FILES = r"[^/]*(\.topo|\.json|-nodes\.csv)"


def files_of(asked: Exported) -> Files:
    """Return for each compute fabric ``FABRIC.topo``, ``FABRIC.json`` (ranks) and ``FABRIC-nodes.csv`` (names by
    number).
    """
    files: dict[str, Content] = {}
    for fabric in simulated_fabrics(asked.design, asked.plan, FOLDER):
        name, nodes = fabric.fabric.name, [*fabric.servers, *fabric.attachments, *fabric.switches]
        files[f"{name}.topo"] = topology_lines(fabric)
        files[f"{name}.json"] = [json.dumps({"logical-dims": [str(len(fabric.servers))]})]
        rows = ((number, device.name, device.role) for number, device in enumerate(nodes))
        files[f"{name}-nodes.csv"] = csv_bytes(("node", "device", "role"), rows)
    return files


def topology_lines(fabric: SimulatedFabric) -> Iterator[str]:
    """Yield counts of nodes, switches and links, the numbers of switches, and a line for each link."""
    nodes = [*fabric.servers, *fabric.attachments, *fabric.switches]
    number = {device.row: index for index, device in enumerate(nodes)}
    yield f"{len(nodes)} {len(fabric.switches)} {len(fabric.links)}"
    yield " ".join(str(number[device.row]) for device in fabric.switches)
    yield from (link_line(number[link.a.device], number[link.b.device], link) for link in fabric.links)
