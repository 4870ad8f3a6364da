"""The cables of a floor plan: copper, active cables and optics, metres, the longest run."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fabopt.floor.appliances import racks_in_use
from fabopt.output.words import count, listed, plain
from fabopt.schema.design import Design
from fabopt.units import some
from fabopt.wiring.build import wiring_of

PASSIVE, ACTIVE, OPTICAL = "passive copper", "active copper", "optical"
ACTIVE_COPPER = ("ACC", "AEC")


def class_of(design: Design, part: str) -> str:
    """What a cable or fibre of a design is made of: copper with or without electronics, whatever its maker calls it, or
    glass, as what is not of the design.
    """
    body = design.parts.get(part, {})
    if body.get("kind") != "cable" or body.get("medium") == "AOC":
        return OPTICAL
    return ACTIVE if body.get("medium") in ACTIVE_COPPER else PASSIVE


def floor_lines(design: Design) -> list[str]:
    """State the places of switches, and the media of the runs; empty without a floor plan."""
    if design.floor is None:
        return []
    wiring = wiring_of(design)
    class_of_part = {part: class_of(design, part) for part in set(wiring.cables.part)}
    kinds = Counter(class_of_part[part] for part in wiring.cables.part)
    counts = [f"{count(kinds[kind])} {kind}" for kind in (PASSIVE, ACTIVE, OPTICAL) if kinds[kind]]
    metres = float(np.sum(wiring.cables.length_m))
    longest = float(np.max(wiring.cables.run_m, initial=0.0))
    policies = [f"{fabric.name}: {fabric.places.policy}" for fabric in design.fabrics]
    racks = design.racks
    own = {
        rack
        for fabric in design.fabrics
        for role in ("leaf", "spine", "core")
        for rack, _ in getattr(fabric.places, role)
    }
    alone = len(own - set(racks.server_racks))
    attachments = racks_in_use(places for fabric in design.fabrics for places in fabric.places.attachments.values())
    of_attachments = attachments - own
    attached = f", {count(len(of_attachments))} of attachments" if of_attachments else ""
    return [
        f"{some(len(racks.server_racks), 'rack')} of up to {some(racks.servers_per_rack, 'server')}, "
        f"{count(alone)} of switches alone{attached}; {', '.join(policies)}",
        f"{listed(counts)} cables, {plain(metres)} m in all, the longest run {plain(longest)} m",
    ]
