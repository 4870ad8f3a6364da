"""Leaves of a last group that are of a type of their own: which there are, and what they can save.

Rule ``last_group_may_differ``. See docs/formulation/clos.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.switches import SwitchType
from fabopt.topology.clos.blocks import Block, Lower
from fabopt.topology.clos.shape import SwitchUse, usable_ports
from fabopt.topology.link_parts import Floats


def other_leaves(block: Block, switches: Sequence[SwitchType]) -> list[SwitchUse]:
    """Uses of other switches than a block's leaf whose cages, down and up, look to parts as the block's do."""
    return [
        SwitchUse(switch, down, up)
        for switch in switches
        for down, up in product(switch.uses, repeat=2)
        if switch is not block.leaf and (down.port, up.port) == (block.down.port, block.uplinks.port)
    ]


def most_saved(servers: int, nic: NicOption, lowers: Sequence[Lower]) -> Floats:
    """What a last group can save at most on any of some leaves where all others are on the first of these; 0 or less.

    It is the smallest of two groups at least, and its leaves hold it; shape (metrics,), as that of the shares.
    """
    share = lowers[0].share
    saved = np.zeros_like(share)
    for own, leaf, down in lowers[1:] if np.isfinite(share[0]) else ():
        ports = min(servers // 2, usable_ports(down, leaf)) * nic.ports_per_server
        saved = np.minimum(saved, ports * (own - share))
    return saved
