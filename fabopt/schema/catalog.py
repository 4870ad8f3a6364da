"""The catalog: products that exist, what they fit, what they cost and how much power they use.

One class a kind of product. A catalog object holds each kind as a tuple in file order, prices as the user wrote them.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Count, Gbps, Metres, Split, Strict, Text, Watts, Word, parse_split
from fabopt.schema.chassis import Modular
from fabopt.schema.price_book import PriceBook
from fabopt.schema.product import (
    PROTOCOLS,
    Airflow,
    Cages,
    Pcie,
    PriceSource,
    Product,
    Protocol,
    Purchasable,
    Source,
)
from fabopt.schema.server import Server
from fabopt.schema.subnet_manager import Manageable

# The feature of switches that reduce what goes through them.
REDUCES = "sharp"
KINDS = ("switches", "nics", "transceivers", "cables", "fibres", "servers")


class Switch(Modular, Manageable, Product, Purchasable, defer_build=False):
    """A switch. ``max_ports``: logical ports the ASIC can drive (absent: what the cages split into).

    ``ports_per_cage_pair``: the same of two neighbouring cages of a group, the first and second, third and fourth ...
    ``accepts_coding``: whose coding parts must have to run in it; absent: any.
    ``power_supplies``: of which half are on each feed of its rack; absent: not known. ``airflows``: the directions that
    it is sold in, each with the part number to order it by, None where that is not known; absent: not known.
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

    def goes_with(self, other: Switch) -> bool:
        """Whether both are of one generation, as far as that is known; those for Ethernet always are."""
        return None in (self.generation, other.generation) or self.generation == other.generation


class Nic(Product, Purchasable, defer_build=False):
    """A network interface card. ``forwards``: it passes on what is for other servers, to any NIC of its server.

    ``accepts_coding``: as of a switch.
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
    """A pluggable module: for each split it can run, the optical standard of one port.

    Its ports are spread over its ``connectors``; where these are more, a port takes several, and a fibre that has them.

    ``coded_for``: whose devices it is coded for, or can be ordered for; absent: not known. ``power_max_w``: what a cage
    must give it. ``retiming``: ``none`` of linear optics, ``half`` where only one direction is retimed.
    ``split_protocols``: of splits that not all of ``protocols`` run at, those that do.
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


class CableLength(Purchasable):
    """One length that is sold. ``source``: of its price, where that is not the one of ``provenance.lengths``."""

    m: Metres
    part_number: Word | None = None
    source: Annotated[PriceSource | None, Field(exclude_if=is_open)] = None


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


class Cable(Product, defer_build=False):
    """A cable with its ends on: DAC, ACC, AEC, AOC. ``power_w`` is the whole assembly's.

    ``retiming``: ``none`` of active copper that is linear; absent: nothing is asked of its cages.
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
        _check_lengths(self.lengths)
        return self


class FibreEnd(Strict):
    """``count`` connectors at one end of a fibre assembly."""

    connector: Word
    count: Count = 1


class Fibre(Product, defer_build=False):
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


class Rent(Strict):
    """What a provider takes for a GPU by the hour, and the network between servers that it says it has.

    ``gpu``: how the name of a server's GPU begins. Dollars for a GPU and hour, from ``low_usd`` to ``high_usd``.
    ``gbps_per_gpu`` and ``fabric`` are None where the provider says nothing of them.
    """

    gpu: Word
    provider: Text
    low_usd: Annotated[float, Field(gt=0, le=1e6)]
    high_usd: Annotated[float, Field(gt=0, le=1e6)]
    gbps_per_gpu: Gbps | None = None
    fabric: Text | None = None
    source: Source

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.low_usd > self.high_usd:
            raise ValueError(f"`low_usd` is above `high_usd`: {self.low_usd:g} > {self.high_usd:g}")
        return self

    @property
    def middle_usd(self) -> float:
        """Halfway between both prices."""
        return round((self.low_usd + self.high_usd) / 2, 4)


class Facts(Strict):
    """Numbers that are not of one product."""

    pcie_x16_gbps: dict[int, Gbps] = {}
    rents: tuple[Rent, ...] = ()


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


KIND_MODELS: dict[str, type[Product]] = dict(zip(KINDS, (Switch, Nic, Transceiver, Cable, Fibre, Server), strict=True))
