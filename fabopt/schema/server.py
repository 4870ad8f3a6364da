"""Servers of a catalog, the racks that rack-scale systems are sold in, and what is built into them."""

from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import (
    Count,
    Gbps,
    Identifier,
    Strict,
    Watts,
    Word,
    is_as,
    is_empty,
    is_open,
)
from fabopt.schema.product import (
    Airflow,
    Cages,
    Cooled,
    Pcie,
    Product,
    Purchasable,
    Source,
)
from fabopt.units import ceil_div

Precision = Literal["fp16", "bf16", "fp8", "fp4"]
# What the servers are called among the devices of a whole rack.
SERVERS_OF_RACK = "server"


PortsSide = Literal["front", "rear"]
# Of switches beside servers that take air in at the front: their ports face the aisle that the servers' ports do.
AIRFLOW_BESIDE: Final[Mapping[str, Airflow]] = {"rear": "port-side-exhaust", "front": "port-side-intake"}


def common_airflow(
    beside: Airflow | None, on_floor: bool, sold: Iterable[tuple[Mapping[Airflow, str | None], str | None]]
) -> Airflow | None:
    """The airflow that all switches are ordered in which are sold so: that of the servers, or on a floor where some
    switch is not sold so, the other one. Where the servers' is not known, on a floor that of switches which are sold
    one way only, or one where the usual codes of switches differ. ``sold``: codes of each switch by airflow, none where
    not known, and its usual one. Rule ``racks_blow_one_way``.
    """
    if not on_floor:
        return beside
    listed = list(sold)
    if beside is not None:
        return next((way for codes, _ in listed for way in codes if beside not in codes), beside)
    usual = {way for codes, number in listed for way, code in codes.items() if code and code == number}
    only = [way for codes, _ in listed if len(codes) == 1 for way in codes]
    return next(iter(only or (sorted(usual) if len(usual) > 1 else [])), None)


Role = Literal["compute", "storage", "in-band", "oob"]


class BuiltInNic(Strict):
    """NICs that come with the server; they are not chosen, not bought, and all cabled.

    Attributes:
        id: Id of the NIC.
        count: NICs in the server.
        role: Role of the fabrics that they are for.
        cages: Cages that they share, in place of the cards' own.
        hcas: Names of their RDMA devices, port by port. Empty is not known.
    """

    id: Identifier
    count: Count
    role: Role = "compute"
    cages: Cages | None = None
    hcas: tuple[Word, ...] = ()


class TestedNic(Strict):
    """A NIC that the maker of a server sells or tests it with, for one use.

    Attributes:
        id: Id of the NIC.
        role: Role of the fabrics that it is for.
        source: Where the maker says so.
    """

    id: Identifier
    role: Role = "compute"
    source: Source | None = None


class ScaleUp(Strict):
    """The NVLink-class domain of a server.

    Attributes:
        domain_gpus: GPUs of the domain, which may be of several servers.
        gbps_per_gpu: What each GPU can send into it, in Gb/s, one direction.
    """

    domain_gpus: Count
    gbps_per_gpu: Gbps


class RackDevices(Strict):
    """Devices of one kind that stand one above the other in a whole rack.

    Attributes:
        device: What they are; `server` is the server itself.
        count: Number of devices.
        rack_units: Height of each, in rack units.
        management_ports: Management ports of each in an out-of-band fabric; servers have NICs for that.
    """

    device: Word
    count: Count = 1
    rack_units: Count | None = None
    management_ports: Annotated[int, Field(ge=0, le=100, exclude_if=is_as(0))] = 0

    @property
    def is_servers(self) -> bool:
        """Whether they are the servers, whose height the server says."""
        return self.device == SERVERS_OF_RACK


class WholeRack(Strict):
    """A rack that is sold, installed and powered as one thing, a rack-scale system.

    Attributes:
        rack_units: Height of its frame, in rack units; nothing else is installed there.
        devices: What is in it, from the lowest unit up.
    """

    rack_units: Count
    devices: Annotated[tuple[RackDevices, ...], Field(min_length=1)]

    @property
    def servers(self) -> int:
        """How many servers are in it."""
        return sum(devices.count for devices in self.devices if devices.is_servers)

    @property
    def management_ports(self) -> int:
        """Ports of management of what is in it beside the servers."""
        return sum(devices.count * devices.management_ports for devices in self.devices)

    @model_validator(mode="after")
    def _servers_are_in_it(self) -> Self:
        if not self.servers:
            raise ValueError(f"none of its devices is `{SERVERS_OF_RACK}`, so it holds no server")
        for devices in self.devices:
            if devices.is_servers != (devices.rack_units is None):
                raise ValueError(
                    f"`rack_units` of `{devices.device}`: the height of `{SERVERS_OF_RACK}` is the server's own, "
                    "every other device has one"
                )
        return self


class Server(Cooled, Product, Purchasable, defer_build=False):
    """The device with one set of rails; of a rack-scale system, the compute tray.

    Attributes:
        gpu: Name of its GPU.
        gpu_peak_tflops: Peak of one GPU for dense matrix products, in TFLOP/s, by number format.
        gpu_memory_gb: Memory of one GPU as makers say it, in gigabytes (80 for 80 x 2^30 bytes).
        gpus: Number of GPUs.
        nic_slots: Slots for NICs that are chosen.
        pcie: PCI Express of these slots.
        rack_units: Height in rack units.
        power_w: Power with the NICs that are built in, in watts; of a rack-scale system that of the whole rack.
        power_supplies: Power supplies, half of them on each feed. Absent is not known.
        ports_side: Side of its network ports, where air goes in at the front. Absent is not known.
        scale_up: Its NVLink-class domain.
        nics: NICs that are built in.
        nics_tested: NICs that it is sold or tested with beside those; ids alone are of compute. Absent is not known.
        rack: The whole rack, of a rack-scale system; price and power are then the rack's.
    """

    gpu: Word | None = None
    gpu_peak_tflops: dict[Precision, Annotated[float, Field(gt=0, le=10**6)]] = {}
    gpu_memory_gb: Annotated[float, Field(gt=0, le=10**5)] | None = None
    gpus: Annotated[int, Field(ge=0, le=10_000)]
    nic_slots: Annotated[int, Field(ge=0, le=1000)] = 0
    pcie: Pcie | None = None
    rack_units: Annotated[float, Field(gt=0, le=1000)] | None = None
    power_w: Watts | None = None
    power_supplies: Count | None = None
    ports_side: Annotated[PortsSide | None, Field(exclude_if=is_open)] = None
    scale_up: ScaleUp | None = None
    nics: tuple[BuiltInNic, ...] = ()
    nics_tested: Annotated[tuple[Identifier | TestedNic, ...], Field(exclude_if=is_empty)] = ()
    rack: WholeRack | None = None

    @model_validator(mode="after")
    def _rack_holds_its_devices(self) -> Self:
        if self.rack is None:
            return self
        if self.rack_units is None or not self.rack_units.is_integer():
            raise ValueError("`rack_units` of a server in a whole `rack` is a whole number; give it one")
        needed = sum(devices.count * self._height_of(devices) for devices in self.rack.devices)
        if needed > self.rack.rack_units:
            raise ValueError(f"the devices of `rack` fill {needed} units of {self.rack.rack_units}")
        return self

    def tested_for(self, role: Role) -> frozenset[str]:
        """Ids of the NICs that it is sold or tested with for fabrics of a role; none: not known."""
        tested = (TestedNic(id=one) if isinstance(one, str) else one for one in self.nics_tested)
        return frozenset(one.id for one in tested if one.role == role)

    @property
    def sold_together(self) -> int:
        """How many servers are sold as one thing, which has one price and one power: those of a whole rack, else 1."""
        return 1 if self.rack is None else self.rack.servers

    def in_domains_of(self, gpus: int | None) -> Self:
        """The server in scale-up domains of which only ``gpus`` GPUs are in use; None: all."""
        if gpus is None or self.scale_up is None:
            return self
        return self.model_copy(update={"scale_up": self.scale_up.model_copy(update={"domain_gpus": gpus})})

    def sold_for(self, servers: int) -> int:
        """How many of what is sold hold so many servers."""
        return ceil_div(servers, self.sold_together)

    def units_in_rack(self, per_rack: int) -> tuple[int, ...]:
        """The lowest unit of each server of a rack that holds so many, from 1: a whole rack's own, else bottom up."""
        height = ceil(self.rack_units or 1)
        if self.rack is None:
            return tuple(1 + index * height for index in range(per_rack))
        servers = (place for place in self.places_in_rack() if place[1].is_servers)
        return tuple(unit + index * height for unit, devices in servers for index in range(devices.count))

    def places_in_rack(self) -> Iterator[tuple[int, RackDevices]]:
        """The devices of a whole rack with the lowest unit that they fill, from 1."""
        unit = 1
        for devices in () if self.rack is None else self.rack.devices:
            yield unit, devices
            unit += devices.count * self._height_of(devices)

    def units_kept(self, per_rack: int) -> int:
        """Units of a rack of so many servers, from the lowest up, in which nothing else may be."""
        return per_rack * ceil(self.rack_units or 1) if self.rack is None else self.rack.rack_units

    def _height_of(self, devices: RackDevices) -> int:
        return devices.rack_units or ceil(self.rack_units or 1)
