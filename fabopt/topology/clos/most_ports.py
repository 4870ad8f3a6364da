"""Upper bounds of servers' ports on a leaf, over the group sizes of a fabric."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.last_leaves import most_in_last_group
from fabopt.topology.clos.shape import Ints

# More ports than any switch has.
MOST_PORTS = 2**31


class MostPorts:
    """Upper bounds of servers' ports on leaves of one fabric."""

    def __init__(self, fabric: FabricProblem, servers: int) -> None:
        self._fabric = fabric
        self._servers = servers

    @cached_property
    def on_leaf(self) -> int:
        """Most server ports of a leaf, a differing last group left out."""
        if self._fabric.span is None:
            return MOST_PORTS
        return int(
            self.in_groups(np.array(min(self._servers - self._fabric.last_may_differ, self._fabric.span.group[1])))
        )

    def in_groups(self, g: Ints) -> Ints:
        """Most server ports of a leaf of a group of ``g`` servers, a differing last group left out, shape of ``g``."""
        # Rule ``rails_are_aligned``
        alone = self._fabric.aligned & (g < self._servers)
        return np.asarray(np.where(alone, g, g * self._together))

    @cached_property
    def servers_in_last(self) -> int:
        """Most servers of a differing last group; 0: there is none."""
        return most_in_last_group(self._fabric, self._servers)

    @cached_property
    def on_last(self) -> int:
        """Most server ports of a leaf of a differing last group."""
        return self.servers_in_last * self._together

    @cached_property
    def _together(self) -> int:
        """Most ports of one server on a leaf."""
        nics = (option for options in self._fabric.nics.values() for option in options)
        return max((nic.ports_per_plane for nic in nics), default=1)
