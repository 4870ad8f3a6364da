"""What bounds are worked out for: a leaf switch with the NICs below it, and the switches on either side of a link."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
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
    """A NIC and a leaf switch with its cages' use, on so many tiers.

    ``last``: the leaves of a last group that is unlike the others, where they are of another type.
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
        """The block as the last group has it."""
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
        """The hardware, without what is above it."""
        return Parts(self.protocol, self.nic, self.leaf, self.down, self.up, last_leaf=self.last)


class Upper(NamedTuple):
    """A spine switch as seen from a leaf: what it takes downwards, and (three tiers) upwards."""

    switch: SwitchType
    down: CageUse
    up: CageUse | None


class Lower(NamedTuple):
    """A leaf switch as seen from a server's port.

    ``share`` is the least that one such port costs, uplinks aside, shape (metrics,).
    """

    share: Floats
    leaf: SwitchType
    down: CageUse


class SpineShares(NamedTuple):
    """Spines, and the least share of each that a down link can have, shape (metrics, spines); the ports that they have
    for leaves, and the place among these of each spine's own, shape (spines,).
    """

    spines: list[Upper]
    shares: Floats
    ports: list[PortType]
    port_of: Ints


def spine_shares(metrics: int, shares: Collection[tuple[Upper, Floats]]) -> SpineShares:
    """Spines with the share of each, shape (metrics,), side by side."""
    places: dict[PortType, int] = {}
    port_of = np.array([places.setdefault(spine.down.port, len(places)) for spine, _ in shares], dtype=np.int64)
    table = np.array([share for _, share in shares]).reshape(-1, metrics).T
    return SpineShares([spine for spine, _ in shares], table, list(places), port_of)


class Stack(NamedTuple):
    """A block under a spine switch: what joins them, the least that a link and a spine's uplink cost.

    ``least``, ``upward``: shape (metrics,); ``cores``: what may be above, none on two tiers.
    """

    block: Block
    spine: Upper
    joins: tuple[Assembly, ...]
    least: Floats
    upward: Floats
    cores: tuple[tuple[SwitchType, CageUse], ...] = ()

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
        switch, down, up = self.spine
        return replace(self.block.parts, spine=switch, spine_down=down, spine_up=up, core=core, core_down=core_down)


class SpineRows(NamedTuple):
    """Rows of a shape with a number of spines each, and the ``most`` that what is made of them may cost.

    Arrays have shape (rows,).
    """

    rows: Ints
    spines: Ints
    most: Floats

    def take(self, open_: NDArray[np.bool_]) -> SpineRows:
        """The rows that are ``open_``, shape (rows,)."""
        return SpineRows(self.rows[open_], self.spines[open_], self.most[open_])
