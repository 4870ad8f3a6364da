"""The tiers of switches of a design file, and which of their cages are used."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict

Number = int | float


def _nothing(value: object) -> bool:
    return not value


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


class StandInUse(Strict):
    """Switches that a stage installs in a tier, of a product that is interchangeable with the tier's own ``id``.

    They are the last of those that the stage installs, by their numbers.
    """

    stage: str
    id: str
    count: int


class TierUse(Strict):
    """One tier of switches. ``down_ports``: most endpoints (attachments too, reserve not) on any switch of the
    tier; ``up_ports``: uplinks of each switch (0 at the top); ``reserved_ports``: down ports kept free. ``count``: of
    both types, where ``other`` switches are of one of their own, which the other numbers leave aside.
    ``stand_ins``: those that are of another product with the same ports (rule ``switches_are_interchangeable``).
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
    stand_ins: Annotated[tuple[StandInUse, ...], Field(exclude_if=_nothing)] = ()

    @property
    def types(self) -> tuple[TierUse, ...]:
        """The tier once for each type of its switches, as if there were no other."""
        others: dict[str, TierUse] = {}
        if self.other is not None:
            others[self.other.id] = self.model_copy(update=dict(self.other))
        for stand_in in self.stand_ins:
            before = others[stand_in.id].count if stand_in.id in others else 0
            own = {"id": stand_in.id, "count": before + stand_in.count}
            others[stand_in.id] = self.model_copy(update=own)
        if not others:
            return (self,)
        own_count = self.count - sum(one.count for one in others.values())
        rest = (self.model_copy(update={"count": own_count}), *others.values())
        return tuple(one.model_copy(update={"other": None, "stand_ins": ()}) for one in rest)


class PeerLinkUse(Strict):
    """What joins the two leaves of each of so many ``pairs``: two cables, each with a cage of its own at both ends."""

    pairs: int
    gbps: Number
    cage_group: int
    split: str
