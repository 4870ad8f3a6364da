"""What every product of a catalog may say: its source, its price and terms of sale, its cages."""

import datetime
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fabopt.schema.base import (
    Count,
    Gbps,
    Identifier,
    Money,
    Split,
    Strict,
    Text,
    Watts,
    Word,
    is_empty,
    is_open,
)

Protocol = Literal["ethernet", "infiniband"]
PROTOCOLS: tuple[Protocol, ...] = ("ethernet", "infiniband")
# Where the air of a device goes in or out, as seen from its ports: makers differ on which side is the front.
Airflow = Literal["port-side-intake", "port-side-exhaust"]


def _check_day(text: str) -> str:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        raise ValueError("a day is written as 2026-12-31") from None
    return text


Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_check_day)]


class Source(Strict):
    """Where a number comes from.

    Attributes:
        url: Address or title of the source; free text.
        date: Day or month on which it was read.
        kind: Kind of price or figure; `compatible` is the price of another maker's part that stands for this one.
        confidence: How sure the figure is.
        note: What else there is to say of it.
    """

    url: Text | None = None
    date: Word | None = None
    kind: Literal["list", "street", "quote", "compatible", "estimate", "paper", "derived", "datasheet"] | None = None
    confidence: Word | None = None
    note: Text | None = None


class PriceSource(Source):
    """Where a price comes from.

    Attributes:
        valid_until: Last day on which a quote holds.
        book: Price book that gave the price, where `only_priced_by` names several.
    """

    valid_until: Day | None = None
    book: Text | None = None


class PriceBreak(Strict):
    """From ``from`` units on, every unit costs ``usd`` (all-units discount).

    Attributes:
        from_: Smallest number of units at this price.
        usd: Price of a unit, in US dollars.
    """

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


def check_packs(minimum_order: int | None, pack_size: int | None) -> None:
    """The smallest order is a whole number of packs; else ``ValueError``."""
    if minimum_order and pack_size and minimum_order % pack_size:
        raise ValueError(
            f"`minimum_order` {minimum_order} is not a whole number of packs of {pack_size}; "
            f"the smallest order would be {-(-minimum_order // pack_size) * pack_size}"
        )


class SupplyFrom(Strict):
    """So many can have been bought by any time from a month on, counted from the start.

    Attributes:
        from_month: Month from which the quantity holds.
        quantity: Units that can have been bought since the start.
    """

    from_month: Annotated[int, Field(ge=0, le=1200)]
    quantity: Annotated[int, Field(ge=0)]


Supply = Annotated[int, Field(ge=0)] | Annotated[tuple[SupplyFrom, ...], Field(min_length=1)]


def check_supply(supply: Supply | None) -> None:
    """What can be had rises with the months; else ``ValueError``."""
    for earlier, later in pairwise(supply if isinstance(supply, tuple) else ()):
        if later.from_month <= earlier.from_month:
            raise ValueError(f"`supply` must rise in `from_month`: {later.from_month} comes after {earlier.from_month}")
        if later.quantity < earlier.quantity:
            raise ValueError(
                f"`supply` counts from the start: a `quantity` must not be below the one before it, and "
                f"{later.quantity:,} comes after {earlier.quantity:,}"
            )


def check_terms(minimum_order: int | None, pack_size: int | None, supply: Supply | None) -> None:
    """Orders and supply of one offer agree; else ``ValueError``."""
    check_packs(minimum_order, pack_size)
    check_supply(supply)


LeadTime = Annotated[float, Field(ge=0, le=5200)]


class Expedite(Strict):
    """A shorter lead time for more money.

    Attributes:
        weeks: Weeks that are saved.
        price_usd: Surcharge on every unit of such an order, in US dollars.
    """

    weeks: Annotated[float, Field(gt=0, le=5200)]
    price_usd: Money


def check_expedite(expedite: Expedite | None, lead_time_weeks: float | None, in_stock: int | None) -> None:
    """What is expedited has a lead time, at least as long, and is not in the vendor's stock; else ``ValueError``."""
    if expedite is None:
        return
    if lead_time_weeks is None:
        raise ValueError("`expedite` saves weeks of `lead_time_weeks`, which is not given")
    if expedite.weeks > lead_time_weeks:
        raise ValueError(
            f"`expedite` saves {expedite.weeks:g} weeks, more than the {lead_time_weeks:g} of `lead_time_weeks`"
        )
    if in_stock:
        raise ValueError(f"`expedite` and `in_stock` {in_stock:,} are not for the same product; leave one out")


# What orders the same thing by another name.
OtherNumbers = Annotated[tuple[Word, ...], Field(exclude_if=is_empty)]
# Of a device, where it is known.
Kilograms = Annotated[float | None, Field(gt=0, le=10**5, exclude_if=is_empty)]
Inlet = Literal["C14", "C16", "C20"]
# The outlet of a power strip that the cord of an inlet goes into, IEC 60320.
OUTLETS: Final[Mapping[str, str]] = {"C14": "C13", "C16": "C15", "C20": "C19"}


class Cooled(Strict):
    """What a hall has to know of a device's air, water and power strips.

    Attributes:
        weight_kg: Weight, in kilograms; of a rack-scale system that of the whole rack.
        liquid_share: Share of its heat that goes to liquid, 0 for one that air cools alone. Absent is not known.
        air_m3_h: Air that its maker states, in cubic metres an hour. Absent follows from its heat to air.
        inlet_c: Least and most temperature of that air, in degrees Celsius.
        inlets: Inlets of power cords, by type of IEC 60320 and how many of it.
    """

    weight_kg: Kilograms = None
    liquid_share: Annotated[float | None, Field(ge=0, le=1, exclude_if=is_open)] = None
    air_m3_h: Annotated[float | None, Field(gt=0, le=10**6, exclude_if=is_open)] = None
    inlet_c: Annotated[tuple[float, float] | None, Field(exclude_if=is_open)] = None
    inlets: Annotated[dict[Inlet, Count], Field(exclude_if=is_empty)] = {}

    @property
    def cords(self) -> tuple[tuple[Inlet, int], ...]:
        """Inlets of power cords with how many of each, in order of their types."""
        return tuple(sorted(self.inlets.items()))


class Purchasable(Strict):
    """What can be ordered, its price and what limits the order.

    Attributes:
        price_usd: Price of a unit, in US dollars; or breaks by quantity. Without a price a product is listed, never
            chosen.
        price_breaks: Which units of an order a break's price is for; all of them, or those from the break on
            (`incremental`).
        minimum_order: Smallest order, in units.
        pack_size: Units of a pack; orders are whole packs.
        stock: Units of one's own, which are used first and cost nothing.
        in_stock: Units that the vendor has, which are paid and take no lead time.
        supply: Units that can be had in all, or by month.
        lead_time_weeks: Weeks from order to delivery.
        expedite: What a shorter lead time costs.
        firm_until: Last day on which the price does not fall with `price_decline`.
    """

    price_usd: Price | None = None
    price_breaks: Literal["all-units", "incremental"] = "all-units"
    minimum_order: Count | None = None
    pack_size: Count | None = None
    stock: Annotated[int, Field(ge=0)] | None = None
    in_stock: Annotated[int | None, Field(ge=0, exclude_if=is_empty)] = None
    supply: Supply | None = None
    lead_time_weeks: LeadTime | None = None
    expedite: Annotated[Expedite | None, Field(exclude_if=is_empty)] = None
    firm_until: Annotated[Day | None, Field(exclude_if=is_empty)] = None

    @model_validator(mode="after")
    def _terms_agree(self) -> Self:
        check_expedite(self.expedite, self.lead_time_weeks, self.in_stock)
        check_breaks(self.price_usd)
        check_terms(self.minimum_order, self.pack_size, self.supply)
        return self


ChargeWord = Literal["licence", "support", "freight", "installation", "tax", "other"]


class ProductCharge(Strict):
    """What is paid for every unit bought of a product, beside its price.

    Attributes:
        name: Name of the charge; a charge of the case by this name takes its place.
        what: Kind of charge.
        usd: US dollars for each unit.
        yearly: Whether it is due every year.
        source: Where the figure comes from.
    """

    name: Identifier
    what: ChargeWord = "licence"
    usd: Money
    yearly: bool = False
    source: PriceSource | None = None


class Product(Strict):
    """What every product may say about itself.

    Attributes:
        id: Id of the product; in a file of its own, the name of the file.
        vendor: Maker.
        part_number: Part number to order it by.
        other_part_numbers: Other part numbers that order the same thing.
        description: What it is, in the maker's words.
        source: Where the facts come from.
        provenance: Sources of single figures, by key.
        confidence: How sure the facts are.
        notes: What else there is to say of it.
        end_of_life: Whether it is no longer sold as new; then it is used only where the case names it.
        charges: What is paid for every unit beside its price.
        sold_by: Vendor whose offer its price is. Filled in from price books.
        offer_of: Product of which it is an offer of one more vendor. Filled in from price books.
    """

    id: Identifier
    vendor: Word | None = None
    part_number: Word | None = None
    other_part_numbers: OtherNumbers = ()
    description: Text | None = None
    source: Source | None = None
    provenance: dict[str, PriceSource] = {}
    confidence: Word | None = None
    notes: Text | None = None
    end_of_life: bool = False
    charges: Annotated[tuple[ProductCharge, ...], Field(exclude_if=is_empty)] = ()
    sold_by: Annotated[Text | None, Field(exclude_if=is_empty)] = None
    offer_of: Annotated[Identifier | None, Field(exclude_if=is_empty)] = None

    @property
    def base_id(self) -> str:
        """The id of the product, whoever offers it."""
        return self.offer_of or self.id

    def is_among(self, ids: Collection[str]) -> bool:
        """Whether ids name the product, or the one of which it is an offer."""
        return self.id in ids or self.base_id in ids

    @property
    def seller(self) -> str | None:
        """Who sells it: whose offer it is, else its maker."""
        return self.sold_by or self.vendor

    @model_validator(mode="after")
    def _charges_differ(self) -> Self:
        if len({charge.name for charge in self.charges}) != len(self.charges):
            raise ValueError("two of its `charges` have the same name")
        return self


class CableBody(Strict):
    """What is laid in trays: a cable with its ends on, or a fibre. Of a splitter, each of its legs.

    Attributes:
        diameter_mm: Outer diameter, in millimetres; of a splitter, of each leg. Absent is not known.
        weight_kg_m: Weight of a metre, in kilograms; of a splitter, of each leg. Absent is not known.
        bend_radius_mm: Smallest bend radius at rest, in millimetres. Absent is not known.
    """

    diameter_mm: Annotated[float | None, Field(gt=0, le=200, exclude_if=is_empty)] = None
    weight_kg_m: Annotated[float | None, Field(gt=0, le=100, exclude_if=is_empty)] = None
    bend_radius_mm: Annotated[float | None, Field(gt=0, le=10_000, exclude_if=is_empty)] = None


class Cage(Strict):
    """Equal cages of a device, what fits and into which ports each can be split.

    Attributes:
        count: Number of cages.
        form_factor: Form factor, such as `OSFP-IHS` or `QSFP-DD`.
        accepts: Other form factors that fit.
        splits: Ports that a cage can be used as, as `2x400`, two ports of 400 Gb/s.
        every_second: Splits that only one of two neighbouring cages can have.
        split_protocols: Protocols of splits that not every protocol of the device runs at.
        lane_gbps: Speed of a lane, in Gb/s.
        module_power_w: Most power that a module in it may use, in watts. Absent is not known.
        equalises: Whether it drives parts without a retimer; `copper` is linear active copper only.
    """

    count: Count
    form_factor: Word
    accepts: tuple[Word, ...] = ()
    splits: Annotated[tuple[Split, ...], Field(min_length=1)]
    every_second: tuple[Split, ...] = ()
    split_protocols: dict[Split, Annotated[tuple[Protocol, ...], Field(min_length=1)]] = {}
    lane_gbps: Gbps | None = None
    module_power_w: Watts | None = None
    equalises: Literal[False, True, "copper"] = False

    def __hash__(self) -> int:
        """Cages are keys of tables; what differs in the rest only is told apart by comparison."""
        return hash((self.count, self.form_factor, self.accepts, self.splits))

    @model_validator(mode="after")
    def _protocols_are_of_splits(self) -> Self:
        for split in self.split_protocols:
            if split not in self.splits:
                raise ValueError(f"`split_protocols` speaks of {split}, which is not one of `splits`")
        return self

    @model_validator(mode="after")
    def _neighbours_are_of_splits(self) -> Self:
        for split in self.every_second:
            if split not in self.splits:
                raise ValueError(f"`every_second` speaks of {split}, which is not one of `splits`")
        if self.every_second and self.count % 2:
            raise ValueError(f"`every_second` needs an even `count` of cages, not {self.count}")
        return self

    def count_at(self, split: str) -> int:
        """Cages that can be used at a split at the same time."""
        return self.count // 2 if split in self.every_second else self.count

    def splits_of(self, protocol: str) -> tuple[str, ...]:
        """The splits at which it runs a protocol, each once."""
        return tuple(one for one in dict.fromkeys(self.splits) if protocol in self.split_protocols.get(one, PROTOCOLS))


Cages = Annotated[tuple[Cage, ...], Field(min_length=1)]


class Pcie(Strict):
    """A PCI Express slot or card edge.

    Attributes:
        generation: Generation of PCI Express.
        lanes: Number of lanes.
    """

    generation: Annotated[int, Field(ge=1, le=9)]
    lanes: Literal[1, 2, 4, 8, 16, 32]
