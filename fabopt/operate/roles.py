"""Devices of a wiring with the numbers that fill names and autonomous systems; servers have those of their compute
leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fabopt.operate.model import HOST, INFINIBAND, SWITCHES, Numbered
from fabopt.schema.design import Design
from fabopt.wiring.model import KINDS, Ints, Wiring


def numbered_devices(design: Design, wiring: Wiring) -> list[Numbered]:
    """All devices, in the wiring's order."""
    devices = wiring.devices
    columns = [getattr(devices, key).tolist() for key in ("plane", "pod", "group", "rail")]
    rows = zip(devices.name, devices.role, devices.product, devices.fabric, *columns, devices.rack,
               devices.unit.tolist(), devices.stage.tolist(), strict=True)  # fmt: skip
    numbered = [Numbered(*row) for row in rows]
    for server, leaf in _first_leaves(design, wiring):
        numbered[server] = replace(numbered[server], pod=numbered[leaf].pod, group=numbered[leaf].group)
    return numbered


def _first_leaves(design: Design, wiring: Wiring) -> Iterator[tuple[int, int]]:
    """Each server with its first leaf in the first compute fabric, else in the first fabric."""
    roles = {fabric.name: fabric.role for fabric in design.fabrics}
    order = sorted(range(len(wiring.fabrics)), key=lambda index: roles[wiring.fabrics[index]] != "compute")
    links = wiring.links
    rows = np.flatnonzero((links.kind == KINDS.index("server-leaf")) & (links.fabric == order[0]))
    servers, first = np.unique(links.a[rows], return_index=True)
    yield from zip(servers.tolist(), links.b[rows[first]].tolist(), strict=True)


def system_kind(role: str, protocol: str) -> str:
    """``infiniband`` or ``host``; empty for a switch whose system has a choice."""
    if role not in SWITCHES:
        return HOST
    return INFINIBAND if protocol == "infiniband" else ""


def stage_order(stages: Ints) -> list[int]:
    """Rows of devices in the order of stages, then as they are; shape (rows,)."""
    order: list[int] = np.argsort(stages, kind="stable").tolist()
    return order
