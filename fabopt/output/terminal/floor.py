"""What a floor plan comes to: copper, active cables and optics, metres, the longest run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from fabopt.floor.appliances import racks_in_use
from fabopt.output.words import count, listed, plain
from fabopt.schema.design import Design, Place, Placement
from fabopt.wiring.build import wiring_of

CLASSES = {"DAC": "passive copper", "ACC": "active copper", "AEC": "active copper"}
OPTICAL = "optical"


def floor_lines(design: Design) -> list[str]:
    """Say where the switches stand, and what the runs are made of; nothing without a floor plan."""
    if design.floor is None:
        return []
    wiring = wiring_of(design)
    kinds = Counter(CLASSES.get(medium, OPTICAL) for medium in wiring.cables.medium)
    made = [f"{count(kinds[kind])} {kind}" for kind in ("passive copper", "active copper", OPTICAL) if kinds[kind]]
    metres = float(np.sum(wiring.cables.length_m))
    longest = float(np.max(wiring.cables.run_m, initial=0.0))
    stands = [f"{fabric.name}: {fabric.placement.policy}" for fabric in design.fabrics if fabric.placement is not None]
    per_rack, racks = design.floor.servers_per_rack, len(design.floor.server_racks)
    own = {place[0] for fabric in design.fabrics if fabric.placement for place in _places(fabric.placement)}
    alone = len(own - set(design.floor.server_racks))
    boxes = racks_in_use(one for fabric in design.fabrics if fabric.placement for one in _boxes(fabric.placement))
    attached = f", {count(len(boxes))} of attachments" if boxes else ""
    return [
        f"{count(racks)} racks of up to {per_rack} servers, {count(alone)} of switches alone{attached}; "
        f"{', '.join(stands)}",
        f"{listed(made)} cables, {plain(metres)} m in all, the longest run {plain(longest)} m",
    ]


def _boxes(placement: Placement) -> Iterable[tuple[Place, ...]]:
    return placement.attachments.values()


def _places(placement: Placement) -> list[Place]:
    return [place for role in ("leaf", "spine", "core") for place in getattr(placement, role)]
