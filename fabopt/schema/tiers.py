"""The tiers of switches of a design file, and which of their cages are used."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_empty, is_open

Number = int | float


class PortUse(Strict):
    """Cages of a device that are used.

    Attributes:
        cage_group: Group of cages, as an index into the device's `cages`.
        split: How each cage is split.
    """

    cage_group: int
    split: str


class OtherSwitchUse(Strict):
    """Switches of a tier that are of another type than the rest, the last ones of every network.

    Attributes:
        id: Id of the switch.
        count: Number of these switches.
        down_ports: Most endpoints, or links from the tier below, on any of them; reserved ports not counted.
        up_ports: Uplinks of each.
        reserved_ports: Down ports kept free on each.
        down: Cages of down ports.
        up: Cages of uplinks.
    """

    id: str
    count: int
    down_ports: int
    up_ports: int
    reserved_ports: int = 0
    down: PortUse
    up: PortUse | None = None


class StandInUse(Strict):
    """Devices that a stage installs, of a product that is interchangeable with that of the others.

    Switches of a tier are the last of those that the stage installs, by their numbers.

    Attributes:
        stage: Name of the stage.
        id: Id of the product.
        count: Number of devices.
    """

    stage: str
    id: str
    count: int


class TierUse(Strict):
    """One tier of switches.

    Attributes:
        role: Role of the tier.
        id: Id of the switch.
        count: Number of switches over all planes, others and stand-ins included.
        down_ports: Most endpoints, or links from the tier below, on any switch of the tier; reserved ports not counted.
        up_ports: Uplinks of each switch, 0 at the top.
        gbps_down: Speed of down ports, in Gb/s.
        gbps_up: Speed of uplinks, in Gb/s.
        reserved_ports: Down ports kept free on each switch.
        down: Cages of down ports.
        up: Cages of uplinks.
        other: Switches of another type, which the other figures leave aside.
        stand_ins: Switches of other products with the same ports that take the place of some.
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
    stand_ins: Annotated[tuple[StandInUse, ...], Field(exclude_if=is_empty)] = ()

    @property
    def types(self) -> tuple["TierUse", ...]:
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

    def products(self, installed: Mapping[str, Sequence[int]]) -> list[str]:
        """The product of each switch where no other is of another type: of those that a stage has ``installed``, by
        their numbers, the last ones are of products that stand in.
        """
        products, left = [self.id] * self.count, {stage: [*numbers] for stage, numbers in installed.items()}
        for stand_in in self.stand_ins:
            for _ in range(stand_in.count):
                products[left[stand_in.stage].pop()] = stand_in.id
        return products


class PeerLinkUse(Strict):
    """What joins the two leaves of each pair.

    Attributes:
        pairs: Pairs of leaves.
        gbps: Speed of each of the two cables, in Gb/s.
        cage_group: Group of cages that is used, as an index into the switch's `cages`.
        split: How each of these cages is split.
    """

    pairs: int
    gbps: Number
    cage_group: int
    split: str
