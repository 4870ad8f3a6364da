"""The tiers of switches of a design file, and which of their cages are used."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict

Number = int | float


class PortUse(Strict):
    """Which cage group of a device (index into its ``cages``) is used, and how each cage is split."""

    cage_group: int
    split: str


class OtherSwitchUse(Strict):
    """Switches of a tier that are of another type than the rest: the last ones of every network.

    ``down_ports``, ``up_ports`` and ``reserved_ports`` as ``TierUse`` has them of the rest.
    """

    id: str
    count: int
    down_ports: int
    up_ports: int
    reserved_ports: int = 0
    down: PortUse
    up: PortUse | None = None


class TierUse(Strict):
    """One tier of switches. ``down_ports``: most endpoints (attachments too, reserve not) on any switch of the
    tier; ``up_ports``: uplinks of each switch (0 at the top); ``reserved_ports``: down ports kept free. ``count``: of
    both types, where ``other`` switches are of one of their own, which the other numbers leave aside.
    """

    role: Literal["leaf", "spine", "core"]
    id: str
    count: int
    down_ports: int
    up_ports: int
    gbps_down: Number
    gbps_up: Number
    reserved_ports: int = 0
    down: PortUse
    up: PortUse | None = None
    other: Annotated[OtherSwitchUse | None, Field(exclude_if=is_open)] = None

    @property
    def types(self) -> tuple[TierUse, ...]:
        """The tier once for each type of its switches, as if there were no other."""
        if self.other is None:
            return (self,)
        rest = self.model_copy(update={"count": self.count - self.other.count, "other": None})
        return rest, rest.model_copy(update=dict(self.other))
