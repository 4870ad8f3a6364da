"""Cages and lanes of the slots that ``fabopt.network`` deals out.

Arrays have shape (slots,).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Switch
from fabopt.schema.design import PortUse, TierUse
from fabopt.wiring.model import Ints, Mask


class Cages(NamedTuple):
    """Cages of slots: cage from 1 over all groups of the device, lane from 0, lanes of the cage."""

    cage: Ints
    lane: Ints
    lanes: Ints

    def where(self, chosen: Mask, other: Cages) -> Cages:
        """These cages, with those of ``other`` where ``chosen``."""
        return Cages(*(np.where(chosen, theirs, own) for own, theirs in zip(self, other, strict=True)))


def at_slots(slots: Ints, lanes: int, first: int) -> Cages:
    """Cages where slots fill one after another from cage ``first`` on."""
    return Cages(first + slots // lanes, slots % lanes, np.full(len(slots), lanes))


def first_cage(switch: Switch, use: PortUse) -> int:
    """The first cage of a group, counted from 1 over all groups of the switch."""
    return 1 + sum(cage.count for cage in switch.cages[: use.cage_group])


def down_cages(switch: Switch, use: PortUse, slots: Ints) -> Cages:
    """Cages of ports towards the servers, the first ones of their group."""
    return at_slots(slots, parse_split(use.split).ports, first_cage(switch, use))


def last_down_cages(switch: Switch, tier: TierUse, slots: Ints, up: int) -> Cages:
    """Cages of ports that face down beside the links of a tier below: the last ones, before ``up`` cages of uplinks."""
    last = first_cage(switch, tier.down) + switch.cages[tier.down.cage_group].count - 1
    if tier.up is not None and tier.up.cage_group == tier.down.cage_group:
        last -= up
    downwards = at_slots(slots, parse_split(tier.down.split).ports, 0)
    return downwards._replace(cage=last - downwards.cage)


def up_cages(switch: Switch, use: PortUse, slots: Ints, is_of_last: Mask, past: int = 0) -> Cages:
    """Cages of uplinks, the last ones of their group, so that these stay where they are when down ports are added.

    ``is_of_last``: mask of slots on switches with another number of uplinks; ``past``: cages of peer links, after them.
    """
    lanes = parse_split(use.split).ports
    of_last, of_others = (int(slots.max(where=kind, initial=-1)) // lanes + 1 for kind in (is_of_last, ~is_of_last))
    cages = at_slots(slots, lanes, first_cage(switch, use) + switch.cages[use.cage_group].count - past)
    return cages._replace(cage=cages.cage - np.where(is_of_last, of_last, of_others))
