"""What bounds are worked out for: a leaf switch with the NICs below it, and the switches on either side of a link."""

from __future__ import annotations

from typing import NamedTuple

from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.topology.link_parts import Floats


class Block(NamedTuple):
    """A NIC and a leaf switch with its cages' use, on so many tiers."""

    protocol: str
    tiers: int
    nic: NicOption
    leaf: SwitchType
    down: CageUse
    up: CageUse | None = None

    @property
    def uses(self) -> tuple[CageUse, ...]:
        """Uses of the leaf's cages."""
        return (self.down,) if self.up is None else (self.down, self.up)

    @property
    def uplinks(self) -> CageUse:
        """Use of the leaf's cages for uplinks; more than one tier only, once it is chosen."""
        assert self.up is not None
        return self.up


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
