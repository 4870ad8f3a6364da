"""What a design loses with one of its devices: servers cut off and degraded, and their boxes on drawing and floor."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabopt.errors import InputError, fault
from fabopt.output.sheet.pages import boxes_in_column
from fabopt.studio.showing import shown, wiring
from fabopt.studio.wire import Message
from fabopt.studio.worker import Bench
from fabopt.units import some
from fabopt.verify.evidence import Evidence
from fabopt.verify.single_points import exposures_of
from fabopt.verify.wiring import CabledDesign

SWITCHES = ("leaf", "spine", "core")
KINDS = (*SWITCHES, "rack")
DOWN, CUT, DEGRADED = "down", "cut", "degraded"


def lose(bench: Bench, answer: str, fabric: str | None, kind: str, name: str) -> Message:
    """Return what is lost without a switch or a rack, and the marks of boxes and racks.

    ``name``: of a rack, of a device, or the number of its box in the drawing; of a box of several alike the first.
    Cables and feeds are told by the devices at their ends: not here.
    """
    if kind not in KINDS:
        raise InputError([fault("kind", "", "this is not broken here", kind, allowed=", ".join(KINDS))])
    design, cables = shown(bench, answer), wiring(bench, answer)
    drawn = fabric or design.fabrics[0].name
    boxes = boxes_in_column(design, cables, drawn)
    devices = cables.devices
    if kind == "rack":
        lost = [row for row, rack in enumerate(devices.rack) if rack == name]
    else:
        own = [row for row, role in enumerate(devices.role) if role in SWITCHES]
        lost = [row for row in own if devices.name[row] == name or (name.isdigit() and boxes[row] == int(name))][:1]
    if not lost:
        raise InputError([fault("name", "", f"the design has no such {kind}", name)])
    cut, degraded = _losses(CabledDesign(Evidence(design)), lost)
    marks: dict[str, str] = {}
    racks: dict[str, str] = {}
    for rows, mark in ((degraded, DEGRADED), (cut, CUT), (lost, DOWN)):
        for row in rows:
            if boxes[row] >= 0:
                marks[str(boxes[row])] = mark
            if devices.rack[row]:
                racks[devices.rack[row]] = mark
    servers = sum(role == "server" for role in devices.role)
    what = f"rack {name}" if kind == "rack" else devices.name[lost[0]]
    told = [f"{some(len(cut), 'server')} cut off"] if cut else []
    told += [f"NICs lost by {some(len(degraded), 'server')}"] if degraded else []
    words = f"without {what}: {' and '.join(told) or 'no server is cut off or loses a NIC'} of {servers:,}"
    return {"words": words, "cut": len(cut), "degraded": len(degraded), "marks": marks, "racks": racks}


def _losses(cabled: CabledDesign, lost: list[int]) -> tuple[list[int], list[int]]:
    """Return servers cut off from a fabric, those that go themselves among them, and others that lose NICs, as rows."""
    exposures = exposures_of(cabled)
    numbers: Any = exposures[0].cabling.numbers("server")
    servers = cabled.evidence.servers
    gone = numbers[lost]
    absent = np.isin(np.arange(servers), gone[gone >= 0])
    cut, hit = absent.copy(), np.zeros_like(absent)
    for exposure in exposures:
        loss = exposure.without(lost, absent)
        cut |= loss.cut_off
        hit |= loss.nics > 0
    rows = np.flatnonzero(numbers >= 0)
    row_of = dict(zip(numbers[rows].tolist(), rows.tolist(), strict=True))
    return [row_of[number] for number in np.flatnonzero(cut)], [row_of[number] for number in np.flatnonzero(hit & ~cut)]
