"""The catalog: products that exist, what they fit, what they cost and how much power they use.

One class a kind of product. A catalog object holds each kind as a tuple in file order, prices as the user wrote them.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Count, Gbps, Metres, Split, Strict, Text, Watts, Word, is_empty, is_open, parse_split
from fabopt.schema.chassis import Modular
from fabopt.schema.facts import Facts as Facts, Rent as Rent
from fabopt.schema.passive import (
    CableLength as CableLength,
    Fibre as Fibre,
    FibreEnd as FibreEnd,
    Lengths as Lengths,
    Panel as Panel,
    Trunk as Trunk,
    check_lengths,
)
from fabopt.schema.price_book import PriceBook
from fabopt.schema.product import (
    PROTOCOLS,
    Airflow,
    CableBody,
    Cages,
    Cooled,
    Pcie,
    Product,
    Protocol,
    Purchasable,
)
from fabopt.schema.server import Server
from fabopt.schema.subnet_manager import Manageable

# The feature of switches that reduce what goes through them.
REDUCES = "sharp"
KINDS = ("switches", "nics", "transceivers", "cables", "fibres", "trunks", "panels", "servers")


class Switch(Modular, Manageable, Cooled, Product, Purchasable, defer_build=False):
    """A switch.

    Attributes:
        asic: Switch ASIC, with a number where there are several, as `4x Quantum-3`.
        protocol: Ethernet or InfiniBand.
        cages: Groups of equal cages.
        max_ports: Most logical ports that the ASIC drives. Absent is what the cages split into.
        ports_per_cage_pair: Most logical ports of two neighbouring cages.
        rack_units: Height in rack units.
        power_w: Typical power without optics, in watts. Without one a switch is listed, never chosen.
        power_max_w: Most power that its maker states, in watts.
        power_supplies: Power supplies, half of them on each feed. Absent is not known.
        airflows: Airflows that it is sold with, each with its part number, or null where that is not known.
        latency_ns: Latency from port to port, in nanoseconds.
        buffer_mb: Packet memory, in megabytes.
        works_with: Vendors whose parts work in it. Empty is any.
        accepts_coding: Vendors whose coding parts must have to run in it. Empty is any.
        features: What it can do, such as `roce`, `sharp`, `mlag`, `evpn-multihoming`.
    """

    asic: Word | None = None
    protocol: Protocol
    cages: Cages
    max_ports: Count | None = None
    ports_per_cage_pair: Count | None = None
    rack_units: Annotated[float, Field(gt=0, le=1000)] = 1
    power_w: Watts | None = None
    power_max_w: Watts | None = None
    power_supplies: Count | None = None
    airflows: dict[Airflow, Word | None] = {}
    latency_ns: Annotated[float, Field(gt=0)] | None = None
    buffer_mb: Annotated[float, Field(gt=0)] | None = None
    works_with: tuple[Word, ...] = ()
    accepts_coding: tuple[Word, ...] = ()
    features: tuple[Word, ...] = ()

    @model_validator(mode="after")
    def _cages_make_pairs(self) -> Self:
        if self.ports_per_cage_pair is not None and any(cage.count % 2 for cage in self.cages):
            raise ValueError("`ports_per_cage_pair` needs an even `count` of cages in every group")
        return self

    @property
    def most_ports(self) -> int:
        """Logical ports that it drives at most."""
        split = sum(cage.count * max(parse_split(split).ports for split in cage.splits) for cage in self.cages)
        return self.max_ports or split

    def ports_at(self, port_mbps: int) -> int:
        """Logical ports of one speed that it drives at most."""
        lanes = [[parse_split(split) for split in cage.splits] for cage in self.cages]
        ports = [max((lane.ports for lane in of_cage if lane.port_mbps == port_mbps), default=0) for of_cage in lanes]
        of_all = sum(cage.count * number for cage, number in zip(self.cages, ports, strict=True))
        return min(of_all, self.most_ports)

    @property
    def reduces(self) -> bool:
        """Whether it reduces what goes through it."""
        return REDUCES in self.features

    @property
    def generation(self) -> str | None:
        """Of a switch for InfiniBand, the ASIC (``4x Quantum-3``: ``Quantum-3``); None where it is not known."""
        is_told = self.protocol == "infiniband" and self.asic is not None
        return re.sub(r"^\d+ ?x +", "", str(self.asic)) if is_told else None

    def may_have(self, airflow: Airflow | None) -> bool:
        """Whether it is sold with an airflow, as far as that is known; with any where none is wanted."""
        return airflow is None or not self.airflows or airflow in self.airflows

    def goes_with(self, other: Self) -> bool:
        """Whether both are of one generation, as far as that is known; those for Ethernet always are."""
        return None in (self.generation, other.generation) or self.generation == other.generation


class Nic(Product, Purchasable, defer_build=False):
    """A network interface card.

    Attributes:
        protocols: Protocols that it runs.
        cages: Groups of equal cages.
        pcie: Its PCI Express edge.
        power_w: Typical power, in watts. Without one a card is listed, never chosen.
        forwards: Whether it passes on traffic for other servers, as in a torus of servers.
        works_with: Vendors whose parts work in it. Empty is any.
        accepts_coding: Vendors whose coding parts must have to run in it. Empty is any.
    """

    protocols: Annotated[tuple[Protocol, ...], Field(min_length=1)]
    cages: Cages
    pcie: Pcie | None = None
    power_w: Watts | None = None
    forwards: bool = False
    works_with: tuple[Word, ...] = ()
    accepts_coding: tuple[Word, ...] = ()


# Parts that leave the recovery of a signal to the device that they are in, in both directions or in one.
Retiming = Literal["full", "half", "none"]


class Transceiver(Product, Purchasable, defer_build=False):
    """A pluggable module, with the optical standard of one port for each split that it can run.

    Its ports are spread over its connectors; where these are more, a port takes several, and a fibre that has them.

    Attributes:
        form_factor: Form factor; plain `OSFP` fits finned and flat cages.
        split: Its one split, in the short form.
        standard: Optical standard of its one split, in the short form.
        splits: Splits that it can run, as `2x400`.
        standards: Optical standard of one port, by split.
        fibre: Kind of fibre, such as `smf`, `om4`.
        connector: Kind of connector.
        connectors: Number of connectors.
        reach_m: Longest run, in metres.
        loss_budget_db: Most loss of a channel, in dB, where it is not that of its standard. Absent is not known.
        lane_gbps: Speed of a lane, in Gb/s.
        protocols: Protocols that it runs. Empty is any.
        split_protocols: Protocols of splits that not all of `protocols` run at.
        works_with: Vendors whose devices it works in. Empty is any.
        coded_for: Vendors whose devices it is coded for, or can be ordered for. Empty is not known.
        power_w: Typical power, in watts.
        power_max_w: Power that a cage must give it, in watts.
        retiming: `none` of linear optics, `half` where one direction is retimed, else `full`.
    """

    form_factor: Word
    split: Split | None = None
    standard: Word | None = None
    splits: tuple[Split, ...] = ()
    standards: dict[Split, Word] = {}
    fibre: Word
    connector: Word
    connectors: Count = 1
    reach_m: Metres
    loss_budget_db: Annotated[float | None, Field(gt=0, le=100, exclude_if=is_open)] = None
    lane_gbps: Gbps | None = None
    protocols: tuple[Protocol, ...] = ()
    split_protocols: dict[Split, Annotated[tuple[Protocol, ...], Field(min_length=1)]] = {}
    works_with: tuple[Word, ...] = ()
    coded_for: tuple[Word, ...] = ()
    power_w: Watts | None = None
    power_max_w: Watts | None = None
    retiming: Retiming = "full"

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
        for text in self.split_protocols:
            if text not in self.standard_by_split:
                raise ValueError(f"`split_protocols` speaks of {text}, which is not one of its splits")
        for text in self.standard_by_split:
            ports = parse_split(text).ports
            if ports % self.connectors and self.connectors % ports:
                raise ValueError(f"{text} does not spread evenly over {self.connectors} connectors")
        return self

    @property
    def standard_by_split(self) -> dict[str, str]:
        """Optical standard of one port, for each split: both written forms as one."""
        if self.split is not None and self.standard is not None:
            return {self.split: self.standard}
        return dict(self.standards)

    def connector_of(self, split: str) -> str:
        """What a fibre for some of its ports has to have: where a port takes two connectors, ``2x MPO-12-APC``."""
        together = self.connectors // parse_split(split).ports
        return f"{together}x {self.connector}" if together > 1 else self.connector

    def ports_per_connector(self, split: str) -> int:
        """Ports that leave it through what one fibre plugs into."""
        return max(1, parse_split(split).ports // self.connectors)

    def runs(self, split: str, protocol: str) -> bool:
        """Whether it runs a protocol at a split, as far as it says so."""
        return protocol in (self.split_protocols.get(split) or self.protocols or PROTOCOLS)


class CableEnd(Strict):
    """One end of a cable; more than one connector makes it a splitter.

    Attributes:
        form_factor: Form factor of its connectors.
        split: Ports of each connector, as `1x400`.
        count: Number of connectors.
        lane_gbps: Speed of a lane, in Gb/s.
    """

    form_factor: Word
    split: Split
    count: Count = 1
    lane_gbps: Gbps | None = None


class Cable(CableBody, Product, defer_build=False):
    """A cable with its ends on (DAC, ACC, AEC, AOC).

    Attributes:
        medium: Kind of cable, such as `DAC` or `AOC`.
        protocols: Protocols that it runs. Empty is any.
        ends: Its two ends.
        lengths: Lengths that are sold.
        lane_gbps: Speed of a lane, in Gb/s.
        reach_m: Longest run, in metres.
        works_with: Vendors whose devices it works in. Empty is any.
        coded_for: Vendors whose devices it is coded for. Empty is not known.
        power_w: Power of the whole assembly, in watts.
        retiming: `none` of linear active copper, `half` where one direction is retimed, else `full`.
    """

    medium: Word
    protocols: tuple[Protocol, ...] = ()
    ends: tuple[CableEnd, CableEnd]
    lengths: Lengths
    lane_gbps: Gbps | None = None
    reach_m: Metres | None = None
    works_with: tuple[Word, ...] = ()
    coded_for: tuple[Word, ...] = ()
    power_w: Watts | None = None
    retiming: Retiming = "full"

    @model_validator(mode="after")
    def _ends_agree(self) -> Self:
        near, far = (parse_split(end.split) for end in self.ends)
        if near.port_mbps != far.port_mbps:
            raise ValueError("both ends of a cable must have ports of one speed")
        if near.ports * self.ends[0].count != far.ports * self.ends[1].count:
            raise ValueError("both ends of a cable must have the same number of ports in all")
        if min(end.count for end in self.ends) != 1:
            raise ValueError("one end of a cable must have a single connector")
        check_lengths(self.lengths)
        return self


class Catalog(Strict):
    """One catalog, or several merged.

    Attributes:
        name: Name of the catalog.
        description: Free text.
        facts: Numbers that are not of one product.
        switches: Switches.
        nics: Network interface cards.
        transceivers: Pluggable modules.
        cables: Cables with their ends on.
        fibres: Fibre assemblies.
        trunks: Cables of many fibres between panels.
        panels: Panels that trunks end in.
        servers: Servers.
        prices: Price books.
    """

    name: Text | None = None
    description: Text | None = None
    facts: Facts = Facts()
    switches: tuple[Switch, ...] = ()
    nics: tuple[Nic, ...] = ()
    transceivers: tuple[Transceiver, ...] = ()
    cables: tuple[Cable, ...] = ()
    fibres: tuple[Fibre, ...] = ()
    trunks: Annotated[tuple[Trunk, ...], Field(exclude_if=is_empty)] = ()
    panels: Annotated[tuple[Panel, ...], Field(exclude_if=is_empty)] = ()
    servers: tuple[Server, ...] = ()
    prices: tuple[PriceBook, ...] = ()


KIND_MODELS: dict[str, type[Product]] = dict(
    zip(KINDS, (Switch, Nic, Transceiver, Cable, Fibre, Trunk, Panel, Server), strict=True)
)
# What is sold by length.
ByLength = Cable | Fibre | Trunk
