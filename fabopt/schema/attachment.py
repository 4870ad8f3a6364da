"""Attachments of a case: endpoints beside the servers."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import (
    Count,
    Gbps,
    Name,
    Ratio,
    Split,
    Strict,
    Watts,
    Word,
    is_as,
    is_empty,
    is_open,
    parse_split,
)
from fabopt.units import mbps

RackId = Annotated[str, Field(min_length=1, max_length=20)]
# A switch that an attachment's port is on: its tier, and its number there over all planes, from 0.
HostPort = tuple[Literal["leaf", "spine"], int]
AttachmentKind = Literal["endpoint", "storage", "management"]
AttachmentTier = Literal["leaf", "spine", "any"]
# Where a device with a height is on a floor: in racks with no other devices, or below the switches of its fabric.
Standing = Literal["apart", "with-switches"]
WITH_SWITCHES: Final = "with-switches"
# Of a host of managers of which the case says nothing else (an estimate).
HOST_UNITS: Final = 1
HOST_W: Final = 600
# Attachments of an out-of-band fabric whose ports are counted, by what they are of.
SWITCHES, PDUS, APPLIANCES, RACK_DEVICES = "switches", "pdus", "appliances", "rack-devices"
COUNTED = (APPLIANCES, PDUS, RACK_DEVICES, SWITCHES)


# The switches of the ports of every attachment that is on free ones, by its name.
FreePorts = Annotated[dict[str, tuple[HostPort, ...]], Field(exclude_if=is_empty)]


class Attachment(Strict):
    """Other endpoints beside servers; each port takes one switch port at the speed of the servers' ports.

    Attributes:
        name: What the devices are; tells them apart from others of the fabric.
        ports: Number of ports.
        kind: Kind of device, from which the defaults of `tier` and `counts_in_ratio` follow.
        tier: Switches that may have the ports. `leaf`: dealt over all leaves. `spine`, `any`: on ports that are free.
            Null: `leaf`, of management `any`.
        counts_in_ratio: Whether the ports count in the oversubscription above their switch. Null is yes, of management
            no.
        boxes: Devices that the ports belong to, each with one port of management.
        rack_units: Height of a device in rack units; with it devices are told apart and stand in racks.
        power_w: Power of a device in watts, which counts in its rack.
        weight_kg: Weight of a device, in kilograms.
        racks: Racks of the floor for these devices, in this order. Null is the last ones that are free.
        stands: Where the devices are on a floor; `apart` from servers and switches, or `with-switches` of the fabric.
            Null is `apart`; of management, if no `racks` are named, `with-switches`.
        max_oversubscription: Most oversubscription of their traffic at the leaf. Null is the fabric's.
        gbps: Speed of each port, in Gb/s. Null is that of the servers' ports.
        form_factor: Form factor of the cage at the attachment, as in the catalog.
        split: How the cage at the attachment is split into ports, as `1x400`.
        lane_gbps: Speed of a lane of that cage, in Gb/s.
        buys: What is bought for the links; `both` ends, the switch's end and the cable (`near`), or `none`.
        network: The logical fabric that they belong to. Filled in when a case is resolved.
        adds: Ports that each stage adds, where fabopt counts them. Filled in when a case is resolved.
    """

    name: Name
    ports: Count
    kind: Annotated[AttachmentKind, Field(exclude_if=is_as("endpoint"))] = "endpoint"
    tier: Annotated[AttachmentTier | None, Field(exclude_if=is_open)] = None
    counts_in_ratio: Annotated[bool | None, Field(exclude_if=is_open)] = None
    boxes: Count = 1
    rack_units: Annotated[float, Field(gt=0, le=100)] | None = None
    power_w: Watts | None = None
    weight_kg: Annotated[float | None, Field(gt=0, le=10**5, exclude_if=is_open)] = None
    racks: Annotated[tuple[RackId, ...], Field(min_length=1)] | None = None
    stands: Annotated[Standing | None, Field(exclude_if=is_open)] = None
    max_oversubscription: Ratio | None = None
    gbps: Gbps | None = None
    form_factor: Word | None = None
    split: Split | None = None
    lane_gbps: Gbps | None = None
    buys: Literal["both", "near", "none"] = "both"
    network: Word | None = None
    adds: tuple[Annotated[int, Field(ge=0)], ...] = ()

    @model_validator(mode="after")
    def _enough_to_buy(self) -> Self:
        if self.buys == "both" and (self.form_factor is None or self.split is None):
            raise ValueError(
                "`buys: both` needs `form_factor` and `split` of the attachment's cage; `buys: none` buys nothing"
            )
        speeds = (None if self.split is None else parse_split(self.split).port_mbps, self.gbps and mbps(self.gbps))
        if None not in speeds and speeds[0] != speeds[1]:
            raise ValueError("`split` and `gbps` name different port speeds")
        return self

    @property
    def placed_on(self) -> AttachmentTier:
        """The tier whose switches have its ports: as given, or as its kind has it."""
        return self.tier or ("any" if self.kind == "management" else "leaf")

    @property
    def first_stage(self) -> int:
        """The stage that brings its first port, from 0."""
        return next((stage for stage, ports in enumerate(self.adds) if ports), 0)

    @property
    def stage_of_ports(self) -> list[int]:
        """The stage that adds each port, from 0."""
        return [stage for stage, ports in enumerate(self.adds or (self.ports,)) for _ in range(ports)]

    @property
    def counts(self) -> bool:
        """Whether its ports count in oversubscription: as given, or as its kind has it."""
        return self.kind != "management" if self.counts_in_ratio is None else self.counts_in_ratio

    def as_placed(self, on_free_ports: bool) -> Self:
        """The attachment as a design has it: of any tier and on no free ports, it is dealt over the leaves."""
        return self.model_copy(update={"tier": "leaf"}) if self.placed_on == "any" and not on_free_ports else self

    def in_service(self) -> Self:
        """The attachment as a design has it that goes on from it: its ports are listed, not dealt over the leaves."""
        is_listed = {"tier": "any", "counts_in_ratio": self.counts}
        return self.model_copy(update=is_listed) if self.placed_on == "leaf" else self

    @model_validator(mode="after")
    def _ratio_is_of_leaves(self) -> Self:
        if self.max_oversubscription is not None and not (self.counts and self.placed_on == "leaf"):
            raise ValueError(
                "`max_oversubscription` is of a leaf's traffic: it goes with `tier: leaf` and `counts_in_ratio: true`"
            )
        if self.placed_on != "leaf" and self.split is not None and parse_split(self.split).ports > 1:
            raise ValueError(
                f"`split: {self.split}`, several ports of a cage, goes with `tier: leaf`, not with "
                f"`tier: {self.placed_on}`"
            )
        return self

    @property
    def may_stand_anywhere(self) -> bool:
        """Whether its devices have a height, and the case says of no racks or standing."""
        return self.rack_units is not None and self.racks is None and self.stands is None

    @property
    def devices(self) -> int:
        """Devices that are told apart: all of them where their height is known, else they count as one."""
        return 1 if self.rack_units is None else self.boxes

    def beside_what_stays(self) -> Self:
        """The attachment as it comes with the stage after what is in service, of which nothing moves."""
        return self.model_copy(update={"adds": (0, self.ports)})

    def on_a_floor(self) -> Self:
        """The attachment with its standing on a floor said: hosts of management are with the switches that they steer,
        each of one unit where the case says no height, unless it names racks or their ports differ.
        """
        if self.stands is not None or self.kind != "management" or self.racks is not None:
            return self
        said: dict[str, object] = {"stands": WITH_SWITCHES}
        if self.rack_units is None:
            if self.ports % (self.boxes * self._lanes):
                return self
            said |= {"rack_units": HOST_UNITS, "power_w": HOST_W}
        return self.model_copy(update=said)

    @property
    def _lanes(self) -> int:
        """Ports of one of its cages; 1 where the case gives no split."""
        return 1 if self.split is None else parse_split(self.split).ports

    @model_validator(mode="after")
    def _stands_somewhere(self) -> Self:
        if self.stands == WITH_SWITCHES and (self.racks is not None or self.rack_units is None):
            raise ValueError(f"`stands: {WITH_SWITCHES}` goes with `rack_units`, and not with `racks`")
        return self

    @model_validator(mode="after")
    def _devices_are_alike(self) -> Self:
        for key in ("power_w", "weight_kg", "racks"):
            if self.rack_units is None and getattr(self, key) is not None:
                raise ValueError(f"`{key}` goes with `rack_units`, the height of a device")
        lanes = self._lanes
        if self.devices > 1 and self.ports % (self.devices * lanes):
            per_cage = f"{lanes} ports of a cage x " if lanes > 1 else ""
            raise ValueError(
                f"devices with `rack_units` are alike and fill their cages: {self.ports} ports are not a multiple of "
                f"{per_cage}{self.boxes} devices"
            )
        return self
