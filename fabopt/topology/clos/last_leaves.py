"""Leaves of a differing last group: the types on offer, and the cost that such leaves can save.

Rule ``last_group_may_differ``. See docs/formulation/clos.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.blocks import Lower
from fabopt.topology.clos.shape import SwitchUse, usable_ports
from fabopt.topology.link_parts import Floats
from fabopt.topology.spans import group_sizes
from fabopt.units import ceil_of

# by the cages' ports, down and up
LeavesByPorts = Mapping[tuple[PortType, PortType], list[SwitchUse]]


def leaves_by_ports(switches: Sequence[SwitchType]) -> LeavesByPorts:
    """Uses of switches by the kinds of their ports, down and up, as parts see them."""
    by_ports: dict[tuple[PortType, PortType], list[SwitchUse]] = defaultdict(list)
    for switch in switches:
        for down, up in product(switch.uses, switch.up_uses):
            by_ports[down.port, up.port].append(SwitchUse(switch, down, up))
    return by_ports


def most_in_last_group(fabric: FabricProblem, servers: int) -> int:
    """Most servers of a differing last group, over the group sizes of the fabric; 0 if there is none."""
    if not fabric.last_may_differ:
        return 0
    if fabric.span is None:  # of two groups the smaller one
        return servers // 2
    g = group_sizes(fabric, servers - 1)
    return int((servers - (ceil_of(servers, g) - 1) * g).max(initial=0))


class Saving:
    """Cost that a last group of at most ``most_servers`` can save on some leaves; it fits on one leaf of each rail."""

    def __init__(self, lowers: Sequence[Lower], nic: NicOption, most_servers: int) -> None:
        self._shares = np.array([lower.share for lower in lowers])
        on_leaf = [min(most_servers, usable_ports(lower.down, lower.leaf)) for lower in lowers]
        self._ports = np.array(on_leaf)[:, np.newaxis] * nic.ports_per_server

    def beside(self, share: Floats) -> Floats:
        """Most that is saved where a port of the other groups has cost ``share``, as an addend: 0 or less.

        Shape of ``share``, (metrics,) or (metrics, sizes).
        """
        if not self._shares.size:
            return np.zeros_like(share)
        can_be = np.isfinite(share[0])
        saved = self._ports * (self._shares - np.where(can_be, share, 0.0).T[..., np.newaxis, :])
        return np.where(can_be, saved.min(axis=-2, initial=0.0).T, 0.0)
