"""How full trays and vertical managers of racks are: cross-sections of cables by their outer diameters.

Sections are whole thousandths of a square millimetre, those of cables rounded up and of what holds them down.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, pi

from fabopt.schema.floor import Floor
from fabopt.units import exact

PER_MM2 = 1000
# Vertical managers of a rack, one at each side.
SIDES = ("left", "right")


def section_of(diameter_mm: float | None) -> int:
    """Section of a cable; 0 where its diameter is not known."""
    return 0 if diameter_mm is None else ceil(pi / 4 * diameter_mm**2 * PER_MM2)


def strands_of(connector: str) -> int:
    """Fibres behind a plug: as many as its name says, ``MPO-12-APC``, of ``2x MPO-12`` those of both; else a pair."""
    several, _, plug = connector.rpartition("x ")
    number = next((int(word) for word in plug.split("-") if word.isdigit()), 2)
    return number * int(several or 1)


def room_of(floor: Floor, what: str) -> Fraction | None:
    """Section of a ``tray``, or of both ``manager``s of a rack; None where the floor does not say it."""
    width, depth, _ = floor.sections[what]
    if width is None or depth is None:
        return None
    return exact(width) * exact(depth) * PER_MM2 * (len(SIDES) if what == "manager" else 1)


def bend_room_mm(floor: Floor, what: str) -> float:
    """The largest bend radius of a cable that turns in a ``tray``, or into a ``manager``, whose size is known."""
    width, depth, _ = floor.sections[what]
    room = width if what == "tray" else depth
    assert room is not None
    return room
