"""The catalog: products that exist, what they fit, what they cost and how much power they use.

One class a kind of product. A catalog object holds each kind as a tuple in file order, prices as the user wrote them.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import (
    BookName,
    Count,
    Gbps,
    Identifier,
    Metres,
    Money,
    Split,
    Strict,
    Text,
    Watts,
    Word,
    parse_split,
)
from fabopt.schema.subnet_manager import Manageable
from fabopt.units import ceil_div

Protocol = Literal["ethernet", "infiniband"]
PROTOCOLS: tuple[Protocol, ...] = ("ethernet", "infiniband")
Precision = Literal["fp16", "bf16", "fp8", "fp4"]
# What the servers are called among the devices of a whole rack.
SERVERS_OF_RACK = "server"
# The feature of switches that reduce what goes through them.
REDUCES = "sharp"
KINDS = ("switches", "nics", "transceivers", "cables", "fibres", "servers")


class Source(Strict):
    """Where a number comes from. ``url`` is free text."""

    url: Text | None = None
    date: Word | None = None
    kind: Literal["list", "street", "estimate", "paper", "derived", "datasheet"] | None = None
    confidence: Word | None = None
    note: Text | None = None


class PriceBreak(Strict):
    """From ``from`` units on, every unit costs ``usd`` (all-units discount)."""

    from_: Annotated[int, Field(alias="from", ge=1, le=10**9)]
    usd: Money


Price = Money | Annotated[tuple[PriceBreak, ...], Field(min_length=1)]


def check_breaks(price: float | tuple[PriceBreak, ...] | None) -> None:
    """Breaks start at 1 unit, rise in quantity and never rise in price; else ``ValueError``."""
    if not isinstance(price, tuple):
        return
    if price[0].from_ != 1:
        raise ValueError(f"the first price break must start `from: 1`, not {price[0].from_:,}")
    for lower, upper in pairwise(price):
        if upper.from_ <= lower.from_:
            raise ValueError(f"price breaks must rise in `from`: {upper.from_:,} comes after {lower.from_:,}")
        if upper.usd > lower.usd:
            raise ValueError(
                "a price break must not cost more than the one before it: "
                f"{upper.usd:,.12g} USD from {upper.from_:,} on, {lower.usd:,.12g} from {lower.from_:,}"
            )


class SupplyFrom(Strict):
    """So many can have been bought by any time from ``from_month`` on, counted from the start."""

    from_month: Annotated[int, Field(ge=0, le=1200)]
    quantity: Annotated[int, Field(ge=0)]


Supply = Annotated[int, Field(ge=0)] | Annotated[tuple[SupplyFrom, ...], Field(min_length=1)]


class Purchasable(Strict):
    """What can be ordered: a price, and what limits the order.

    ``price_breaks``: what a break's price is paid for, every unit of an order or those from the break on. An order is
    of at least ``minimum_order`` units, in whole packs of ``pack_size``.
    """

    price_usd: Price | None = None
    price_breaks: Literal["all-units", "incremental"] = "all-units"
    minimum_order: Count | None = None
    pack_size: Count | None = None
    stock: Annotated[int, Field(ge=0)] | None = None
    supply: Supply | None = None
    lead_time_weeks: Annotated[float, Field(ge=0, le=5200)] | None = None

    @model_validator(mode="after")
    def _breaks_fall(self) -> Self:
        check_breaks(self.price_usd)
        return self

    @model_validator(mode="after")
    def _minimum_is_of_packs(self) -> Self:
        if self.minimum_order and self.pack_size and self.minimum_order % self.pack_size:
            raise ValueError(
                f"`minimum_order` {self.minimum_order} is not a whole number of packs of {self.pack_size}; "
                f"the smallest order would be {-(-self.minimum_order // self.pack_size) * self.pack_size}"
            )
        return self

    @model_validator(mode="after")
    def _supply_grows(self) -> Self:
        for earlier, later in pairwise(self.supply if isinstance(self.supply, tuple) else ()):
            if later.from_month <= earlier.from_month:
                raise ValueError(
                    f"`supply` must rise in `from_month`: {later.from_month} comes after {earlier.from_month}"
                )
            if later.quantity < earlier.quantity:
                raise ValueError(
                    f"`supply` counts from the start: a `quantity` must not be below the one before it, and "
                    f"{later.quantity:,} comes after {earlier.quantity:,}"
                )
        return self


class Product(Strict):
    """What every product may say about itself."""

    id: Identifier
    vendor: Word | None = None
    part_number: Word | None = None
    description: Text | None = None
    source: Source | None = None
    provenance: dict[str, Source] = {}
    confidence: Word | None = None
    notes: Text | None = None
    end_of_life: bool = False


class Cage(Strict):
    """``count`` equal cages: what fits, and into which ports each can be split."""

    count: Count
    form_factor: Word
    accepts: tuple[Word, ...] = ()
    splits: Annotated[tuple[Split, ...], Field(min_length=1)]
    lane_gbps: Gbps | None = None


Cages = Annotated[tuple[Cage, ...], Field(min_length=1)]


class Pcie(Strict):
    """A PCI Express slot or card edge."""

    generation: Annotated[int, Field(ge=1, le=9)]
    lanes: Literal[1, 2, 4, 8, 16, 32]


class Switch(Manageable, Product, Purchasable):
    """A switch. ``max_ports``: logical ports the ASIC can drive (absent: what the cages split into)."""

    asic: Word | None = None
    protocol: Protocol
    cages: Cages
    max_ports: Count | None = None
    rack_units: Annotated[float, Field(gt=0, le=1000)] = 1
    power_w: Watts | None = None
    power_max_w: Watts | None = None
    latency_ns: Annotated[float, Field(gt=0)] | None = None
    buffer_mb: Annotated[float, Field(gt=0)] | None = None
    works_with: tuple[Word, ...] = ()
    features: tuple[Word, ...] = ()

    @property
    def reduces(self) -> bool:
        """Whether it reduces what goes through it."""
        return REDUCES in self.features


class Nic(Product, Purchasable):
    """A network interface card. ``forwards``: it passes on what is for other servers, to any NIC of its server."""

    protocols: Annotated[tuple[Protocol, ...], Field(min_length=1)]
    cages: Cages
    pcie: Pcie | None = None
    power_w: Watts | None = None
    forwards: bool = False
    works_with: tuple[Word, ...] = ()


class Transceiver(Product, Purchasable):
    """A pluggable module: for each split it can run, the optical standard of one port."""

    form_factor: Word
    split: Split | None = None
    standard: Word | None = None
    splits: tuple[Split, ...] = ()
    standards: dict[Split, Word] = {}
    fibre: Word
    connector: Word
    connectors: Count = 1
    reach_m: Metres
    lane_gbps: Gbps | None = None
    protocols: tuple[Protocol, ...] = ()
    works_with: tuple[Word, ...] = ()
    power_w: Watts | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        short = self.split is not None or self.standard is not None
        long = bool(self.splits or self.standards)
        if short == long:
            raise ValueError("give either `split` and `standard`, or `splits` and `standards`")
        if short and (self.split is None or self.standard is None):
            raise ValueError("`split` and `standard` go together")
        if long and (set(self.splits) != set(self.standards)):
            raise ValueError("`standards` needs one entry for each of `splits`, and no other")
        for text in self.standard_by_split:
            if parse_split(text).ports % self.connectors:
                raise ValueError(f"{text} does not spread evenly over {self.connectors} connectors")
        return self

    @property
    def standard_by_split(self) -> dict[str, str]:
        """Optical standard of one port, for each split: both written forms as one."""
        if self.split is not None and self.standard is not None:
            return {self.split: self.standard}
        return dict(self.standards)


class CableLength(Purchasable):
    """One length that is sold."""

    m: Metres
    part_number: Word | None = None


Lengths = Annotated[tuple[CableLength, ...], Field(min_length=1)]


def _check_lengths(lengths: tuple[CableLength, ...]) -> None:
    if len({length.m for length in lengths}) != len(lengths):
        raise ValueError("a length is listed twice")


class CableEnd(Strict):
    """``count`` connectors of a cable; an end with more than one makes it a splitter."""

    form_factor: Word
    split: Split
    count: Count = 1
    lane_gbps: Gbps | None = None


class Cable(Product):
    """A cable with its ends on: DAC, ACC, AEC, AOC. ``power_w`` is the whole assembly's."""

    medium: Word
    protocols: tuple[Protocol, ...] = ()
    ends: tuple[CableEnd, CableEnd]
    lengths: Lengths
    lane_gbps: Gbps | None = None
    reach_m: Metres | None = None
    works_with: tuple[Word, ...] = ()
    power_w: Watts | None = None

    @model_validator(mode="after")
    def _ends_agree(self) -> Self:
        near, far = (parse_split(end.split) for end in self.ends)
        if near.port_mbps != far.port_mbps:
            raise ValueError("both ends of a cable must have ports of one speed")
        if near.ports * self.ends[0].count != far.ports * self.ends[1].count:
            raise ValueError("both ends of a cable must have the same number of ports in all")
        if min(end.count for end in self.ends) != 1:
            raise ValueError("one end of a cable must have a single connector")
        _check_lengths(self.lengths)
        return self


class FibreEnd(Strict):
    """``count`` connectors at one end of a fibre assembly."""

    connector: Word
    count: Count = 1


class Fibre(Product):
    """A fibre assembly: straight (``connectors``) or a breakout (``ends`` with counts)."""

    fibre: Word
    connectors: tuple[Word, Word] | None = None
    ends: tuple[FibreEnd, FibreEnd] | None = None
    lengths: Lengths

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.connectors is None) == (self.ends is None):
            raise ValueError("give either `connectors: [A, B]` or `ends` with counts")
        if min(end.count for end in self.both_ends) != 1:
            raise ValueError("one end of a fibre must have a single connector")
        _check_lengths(self.lengths)
        return self

    @property
    def both_ends(self) -> tuple[FibreEnd, FibreEnd]:
        """The two ends with their counts: both written forms as one."""
        if self.ends is not None:
            return self.ends
        assert self.connectors is not None
        near, far = self.connectors
        return FibreEnd(connector=near), FibreEnd(connector=far)


Role = Literal["compute", "storage", "in-band", "oob"]


class BuiltInNic(Strict):
    """NICs that come with the server: not chosen, not bought, all cabled."""

    id: Identifier
    count: Count
    role: Role = "compute"
    cages: Cages | None = None


class ScaleUp(Strict):
    """The NVLink-class domain: its size, and what each GPU can send into it, one direction."""

    domain_gpus: Count
    gbps_per_gpu: Gbps


class RackDevices(Strict):
    """Devices of one kind that stand one above the other in a whole rack. ``rack_units``: of each."""

    device: Word
    count: Count = 1
    rack_units: Count | None = None

    @property
    def is_servers(self) -> bool:
        """Whether they are the servers, whose height the server says."""
        return self.device == SERVERS_OF_RACK


class WholeRack(Strict):
    """A rack that is sold, installed and powered as one thing: a rack-scale system.

    ``rack_units``: of its frame; nothing else is installed there. ``devices``: what is in it, from the lowest unit up.
    """

    rack_units: Count
    devices: Annotated[tuple[RackDevices, ...], Field(min_length=1)]

    @property
    def servers(self) -> int:
        """How many servers are in it."""
        return sum(devices.count for devices in self.devices if devices.is_servers)

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


class Server(Product, Purchasable):
    """The device with one set of rails (for a rack-scale system: the compute tray).

    ``gpu_peak_tflops``: of one GPU, dense matrix products, by number format. ``rack``: of a rack-scale system; price
    and power are then the whole rack's, ``rack_units`` those of one server in it.
    """

    gpu: Word | None = None
    gpu_peak_tflops: dict[Precision, Annotated[float, Field(gt=0, le=10**6)]] = {}
    gpus: Annotated[int, Field(ge=0, le=10_000)]
    nic_slots: Annotated[int, Field(ge=0, le=1000)] = 0
    pcie: Pcie | None = None
    rack_units: Annotated[float, Field(gt=0, le=1000)] | None = None
    power_w: Watts | None = None
    scale_up: ScaleUp | None = None
    nics: tuple[BuiltInNic, ...] = ()
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

    @property
    def sold_together(self) -> int:
        """How many servers are sold as one thing, which has one price and one power: those of a whole rack, else 1."""
        return 1 if self.rack is None else self.rack.servers

    def sold_for(self, servers: int) -> int:
        """How many of what is sold hold so many servers."""
        return ceil_div(servers, self.sold_together)

    def units_in_rack(self, per_rack: int) -> tuple[int, ...]:
        """The lowest unit of each server of a rack that holds so many, from 1: a whole rack's own, else bottom up."""
        height = ceil(self.rack_units or 1)
        if self.rack is None:
            return tuple(1 + index * height for index in range(per_rack))
        places, unit = list[int](), 1
        for devices in self.rack.devices:
            tall = self._height_of(devices)
            if devices.is_servers:
                places += range(unit, unit + devices.count * tall, tall)
            unit += devices.count * tall
        return tuple(places)

    def units_kept(self, per_rack: int) -> int:
        """Units of a rack of so many servers, from the lowest up, in which nothing else may be."""
        return per_rack * ceil(self.rack_units or 1) if self.rack is None else self.rack.rack_units

    def _height_of(self, devices: RackDevices) -> int:
        return devices.rack_units or ceil(self.rack_units or 1)


class Facts(Strict):
    """Numbers that are not of one product."""

    pcie_x16_gbps: dict[int, Gbps] = {}


class Catalog(Strict):
    """One catalog, or several merged."""

    name: Text | None = None
    description: Text | None = None
    facts: Facts = Facts()
    switches: tuple[Switch, ...] = ()
    nics: tuple[Nic, ...] = ()
    transceivers: tuple[Transceiver, ...] = ()
    cables: tuple[Cable, ...] = ()
    fibres: tuple[Fibre, ...] = ()
    servers: tuple[Server, ...] = ()
    prices: tuple[PriceBook, ...] = ()


PriceByLength = dict[float, Price]


class PriceBook(Strict):
    """Prices that replace the catalog's, by id; for what is sold by length, by length in metres."""

    name: BookName | None = None
    description: Text | None = None
    source: Source | None = None
    prices: Annotated[dict[Identifier, Price | PriceByLength], Field(min_length=1)]

    @model_validator(mode="after")
    def _breaks_fall(self) -> Self:
        for price in self.prices.values():
            for of_length in price.values() if isinstance(price, dict) else [price]:
                check_breaks(of_length)
        return self


Catalog.model_rebuild()

KIND_MODELS: dict[str, type[Product]] = dict(zip(KINDS, (Switch, Nic, Transceiver, Cable, Fibre, Server), strict=True))
