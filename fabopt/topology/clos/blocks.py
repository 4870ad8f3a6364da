"""Hardware that bounds are worked out for: a leaf switch with the NICs below it, and the switches at both ends of a
link.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.assemblies import Assembly
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.topology.clos.shape import Ints, Parts, SwitchUse
from fabopt.topology.link_parts import Floats


class Block(NamedTuple):
    """A NIC and a leaf switch with the use of its cages, in a Clos of ``tiers`` tiers.

    ``last``: leaves of a differing last group, where these are of another type.
    """

    protocol: str
    tiers: int
    nic: NicOption
    leaf: SwitchType
    down: CageUse
    up: CageUse | None = None
    last: SwitchUse | None = None

    @property
    def of_last(self) -> Block:
        """The block with the leaf type of the last group."""
        if self.last is None:
            return self
        switch, down, up = self.last
        return self._replace(leaf=switch, down=down, up=up, last=None)

    @property
    def uses(self) -> tuple[CageUse, ...]:
        """Uses of the leaf's cages."""
        return (self.down,) if self.up is None else (self.down, self.up)

    @property
    def uplinks(self) -> CageUse:
        """Use of the leaf's cages for uplinks; more than one tier only, once it is chosen."""
        assert self.up is not None
        return self.up

    @property
    def parts(self) -> Parts:
        """The hardware up to the leaves."""
        return Parts(self.protocol, self.nic, self.leaf, self.down, self.up, last_leaf=self.last)


class Lower(NamedTuple):
    """A leaf switch below a server's port.

    ``share`` is the least cost of one such port, uplinks left out, shape (metrics,).
    """

    share: Floats
    leaf: SwitchType
    down: CageUse


class SpineShares(NamedTuple):
    """Spines with the least cost share of a down link of each, shape (metrics, spines); ``ports``: the kinds of ports
    they have for leaves; ``port_of``: each spine's index among these, shape (spines,).
    """

    spines: list[SwitchUse]
    shares: Floats
    ports: list[PortType]
    port_of: Ints


def spine_shares(metrics: int, shares: Collection[tuple[SwitchUse, Floats]]) -> SpineShares:
    """A table of spines and their cost shares, each of shape (metrics,)."""
    places: dict[PortType, int] = {}
    port_of = np.array([places.setdefault(spine.down.port, len(places)) for spine, _ in shares], dtype=np.int64)
    table = np.array([share for _, share in shares]).reshape(-1, metrics).T
    return SpineShares([spine for spine, _ in shares], table, list(places), port_of)


class Stack(NamedTuple):
    """A block under a spine switch: assemblies that join them, least cost of a link and of a spine's uplink.

    ``least``, ``upward``: shape (metrics,); ``cores``: core switches that may be above, none on two tiers.
    """

    block: Block
    spine: SwitchUse
    joins: tuple[Assembly, ...]
    least: Floats
    upward: Floats
    cores: tuple[SwitchUse, ...] = ()

    @property
    def planes(self) -> int:
        """P: planes."""
        return self.block.nic.planes

    @property
    def spine_up(self) -> CageUse:
        """Use of the spine's cages for uplinks; three tiers only."""
        assert self.spine.up is not None
        return self.spine.up

    def parts(self, core: SwitchType | None = None, core_down: CageUse | None = None) -> Parts:
        """The hardware, with a core switch."""
        block = self.block
        leaf = block.protocol, block.nic, block.leaf, block.down, block.up
        return Parts(*leaf, *self.spine, core, core_down, block.last)


class SpineRows(NamedTuple):
    """Rows of a shape with their number of spines, and ``most``, the cost above which a row's networks are not wanted.

    Arrays have shape (rows,).
    """

    rows: Ints
    spines: Ints
    most: Floats

    def take(self, open_: NDArray[np.bool_]) -> SpineRows:
        """The rows that are ``open_``, shape (rows,)."""
        return SpineRows(self.rows[open_], self.spines[open_], self.most[open_])
