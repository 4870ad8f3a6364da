"""Leaf cages of attachments: what has the same head in a leaf cage fills it up together with the servers' links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fabopt.schema.base import parse_split
from fabopt.schema.case import Attachment
from fabopt.units import ceil_div
from fabopt.wiring.assembly import Carries, Way
from fabopt.wiring.model import Ints

Head = tuple[object, ...]


def lanes_of(attachment: Attachment) -> int:
    """Ports of one of its cages; 1 where the case does not say."""
    return parse_split(attachment.split).ports if attachment.split is not None else 1


def head_of(way: Way) -> Head:
    """What sits in a leaf cage for the links of a way; empty if its links never share a cage with others."""
    if way.carries is Carries.PAIR:
        return ()
    cable = way.cables[0][:2] if way.carries is Carries.FAR and way.cables else ()
    return "head", way.far_module, cable


class Slots(NamedTuple):
    """For every port of an attachment: its leaf and its slot among the leaf's down ports, from 0."""

    leaf: Ints
    slot: Ints


class LeafCages:
    """Down cages of leaves as they fill up. ``used``: slots that servers take on each leaf."""

    def __init__(self, used: Ints, lanes: int, servers: Head) -> None:
        self._lanes = lanes
        self._cages = [ceil_div(int(one), lanes) for one in used]
        self._open: dict[tuple[int, Head], int] = {}
        if servers:
            self._open.update({(leaf, servers): int(one) for leaf, one in enumerate(used) if one % lanes})

    def place(self, leaf: int, head: Head, ports: int, per_cable: int) -> list[int]:
        """Slots for some ports with one head; wires that carry several take whole cages."""
        slots = []
        at = self._open.pop((leaf, head), None) if head else None
        for number in range(ports):
            if at is None or at % self._lanes == 0:
                at = self._cages[leaf] * self._lanes
                self._cages[leaf] += 1
            slots.append(at)
            at += 1
            if not head and (number + 1) % per_cable == 0 and at % self._lanes:
                at = ceil_div(at, per_cable) * per_cable
        if head and at is not None and at % self._lanes:
            self._open[leaf, head] = at
        return slots


def place_attachments(
    wanted: Sequence[Attachment],
    heads: Sequence[Head],
    leaves: Sequence[int],
    cages: LeafCages,
    per_cable: Sequence[int],
) -> list[Slots]:
    """Deal the ports of all attachments (``leaves``: of each, in turn) into cages; those without parts come last."""
    starts = np.cumsum([0, *(one.ports for one in wanted)]).tolist()
    order = sorted(range(len(wanted)), key=lambda index: wanted[index].buys == "none")
    placed: list[Slots] = [Slots(np.array([], dtype=np.int64), np.array([], dtype=np.int64))] * len(wanted)
    for index in order:
        mine = list(leaves[starts[index] : starts[index + 1]])
        slots = [0] * len(mine)
        for leaf in dict.fromkeys(mine):
            where = [place for place, one in enumerate(mine) if one == leaf]
            for place, slot in zip(where, cages.place(leaf, heads[index], len(where), per_cable[index]), strict=True):
                slots[place] = slot
        placed[index] = Slots(np.array(mine, dtype=np.int64), np.array(slots, dtype=np.int64))
    return placed


def in_cages(slots: Slots, lanes: int, per_cable: int) -> tuple[Slots, Ints]:
    """The ports of an attachment in the order of its own cages of so many lanes, and their slots there.

    Links that one wire carries to a leaf are dealt apart; here they lie side by side again, wire by wire.
    """
    if per_cable == 1 or lanes % per_cable:
        return slots, np.arange(len(slots.leaf))
    cables: dict[tuple[int, int], int] = {}
    pairs = zip(slots.leaf.tolist(), (slots.slot // per_cable).tolist(), strict=True)
    own = np.array([cables.setdefault(pair, len(cables)) for pair in pairs]) * per_cable + slots.slot % per_cable
    order = np.argsort(own)
    return Slots(slots.leaf[order], slots.slot[order]), own[order]
