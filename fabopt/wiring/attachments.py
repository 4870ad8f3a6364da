"""Leaf cages of attachments: links with the same part in a leaf cage fill it up together with the servers' links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fabopt.schema.attachment import Attachment
from fabopt.schema.base import parse_split
from fabopt.units import ceil_div
from fabopt.wiring.assembly import Carries, RowAssembly
from fabopt.wiring.model import Ints

PartInCage = tuple[object, ...]


def lanes_of(attachment: Attachment) -> int:
    """Ports of one of an attachment's cages; 1 where the case gives no split."""
    return parse_split(attachment.split).ports if attachment.split is not None else 1


def part_in_cage(assembly: RowAssembly, runs_differ: bool) -> PartInCage:
    """Key of the part in a leaf cage for links of an assembly; empty if they never share a cage with others.

    ``runs_differ``: a breakout is as long as its own links need; else all of a row are of one length.
    """
    if assembly.carries in (Carries.PAIR, Carries.CROSS):
        return ()
    cable = assembly.cables[0][: 1 if runs_differ else 2] if assembly.carries is Carries.FAR and assembly.cables else ()
    return "part", assembly.far_module, cable


class LeafSlots(NamedTuple):
    """Leaf of every port of an attachment, and its slot among the leaf's down ports, from 0; both of shape (ports,)."""

    leaf: Ints
    slot: Ints


class OpenCages:
    """Down cages of leaves as they fill up. ``used``: slots that servers take on each leaf, shape (leaves,)."""

    def __init__(self, used: Ints, lanes: int, of_servers: PartInCage) -> None:
        self._lanes = lanes
        self._cages = [ceil_div(int(slots), lanes) for slots in used]
        self._open: dict[tuple[int, PartInCage], int] = {}
        if of_servers:
            self._open.update({(leaf, of_servers): int(slots) for leaf, slots in enumerate(used) if slots % lanes})

    def place(self, leaf: int, part: PartInCage, ports: int, per_cable: int) -> list[int]:
        """Slots for ``ports`` ports with one part; cables that carry several take whole cages."""
        slots = []
        slot = self._open.pop((leaf, part), None) if part else None
        for number in range(ports):
            if slot is None or slot % self._lanes == 0:
                slot = self._cages[leaf] * self._lanes
                self._cages[leaf] += 1
            slots.append(slot)
            slot += 1
            if not part and (number + 1) % per_cable == 0 and slot % self._lanes:
                slot = ceil_div(slot, per_cable) * per_cable
        if part and slot is not None and slot % self._lanes:
            self._open[leaf, part] = slot
        return slots


def place_attachments(
    wanted: Sequence[Attachment],
    parts: Sequence[PartInCage],
    leaves: Sequence[Sequence[int]],
    cages: OpenCages,
    per_cable: Sequence[int],
) -> list[LeafSlots]:
    """Slots of the ports of all attachments (``leaves``: of each) in leaf cages; attachments without parts come
    last.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index].buys == "none")
    placed: list[LeafSlots] = [LeafSlots(np.array([], dtype=np.int64), np.array([], dtype=np.int64))] * len(wanted)
    for index in order:
        own = leaves[index]
        slots = [0] * len(own)
        for leaf in dict.fromkeys(own):
            where = [place for place, other in enumerate(own) if other == leaf]
            dealt = cages.place(leaf, parts[index], len(where), per_cable[index])
            for place, slot in zip(where, dealt, strict=True):
                slots[place] = slot
        placed[index] = LeafSlots(np.array(own, dtype=np.int64), np.array(slots, dtype=np.int64))
    return placed


def in_cages(slots: LeafSlots, lanes: int, per_cable: int) -> tuple[LeafSlots, Ints]:
    """The ports of an attachment in the order of its own cages of ``lanes`` ports, and their slots there, shape
    (ports,).

    Links that one cable carries to a leaf are dealt apart; here they lie side by side again, cable by cable.
    """
    if per_cable == 1 or lanes % per_cable:
        return slots, np.arange(len(slots.leaf))
    cables: dict[tuple[int, int], int] = {}
    pairs = zip(slots.leaf.tolist(), (slots.slot // per_cable).tolist(), strict=True)
    own = np.array([cables.setdefault(pair, len(cables)) for pair in pairs]) * per_cable + slots.slot % per_cable
    order = np.argsort(own)
    return LeafSlots(slots.leaf[order], slots.slot[order]), own[order]
