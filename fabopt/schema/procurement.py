"""What a case says of buying: whose parts, which, how many kinds, how many spares, from when on."""

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Count, Identifier, Reference, Strict, Word, is_empty
from fabopt.schema.finance import KindWord

Vendors = Annotated[tuple[Word, ...], Field(min_length=1)]
# For all, or by kind (``switch``), tier (``leaf``), fabric (by its name: its switches and NICs) or ASIC.
VendorsByPlace = Vendors | Annotated[dict[Word, Vendors], Field(min_length=1)]
Parts = Annotated[tuple[Identifier, ...], Field(min_length=1)]

# Files of pairs, or what was read from them: by device the parts that may be plugged into its cages.
Qualified = Reference | Annotated[tuple[Reference, ...] | dict[Identifier, Parts], Field(min_length=1)]


# Where vendors are counted: kinds of parts over all fabrics, and switches of a tier.
SourceWord = Literal["switch", "nic", "transceiver", "cable", "fibre", "leaf", "spine", "core"]
SOURCE_TIERS: tuple[SourceWord, ...] = ("leaf", "spine", "core")
OfOneVendor = Literal["switches", "optics", "both"]
PartWord = Literal["switch", "nic", "transceiver", "cable", "fibre"]
Units = Annotated[int, Field(ge=0, le=10**12)]
# Of every quarter, or of the first one, with all before it, the second and so on, the last for all after it.
UnitsByQuarter = Units | Annotated[tuple[Units | None, ...], Field(min_length=1, max_length=400)]
# What is meant by ``optics``: what plugs into a switch.
OPTICS = ("transceiver", "cable")


class Quota(NamedTuple):
    """Units of a maker's parts, of one kind or of all (None), that come in each quarter: see ``UnitsByQuarter``."""

    vendor: str
    kind: PartWord | None
    units: tuple[int | None, ...]

    def holds(self, kind: str, vendor: str) -> bool:
        """Whether parts of a kind and a maker are counted."""
        return vendor == self.vendor and (kind in PART_WORDS if self.kind is None else kind == self.kind)

    def entry(self, quarter: int) -> int:
        """The place of a quarter's units in ``units``; 0: the quarter of month 0."""
        return min(max(quarter, 0), len(self.units) - 1)


PART_WORDS: tuple[PartWord, ...] = ("switch", "nic", "transceiver", "cable", "fibre")


def lists_at(vendors: VendorsByPlace | None, *places: str | None) -> list[Vendors]:
    """The lists that hold at some places; a list without any place is at ``""``."""
    by_place = vendors if isinstance(vendors, dict) else {} if vendors is None else {"": vendors}
    return [by_place[place] for place in places if place is not None and place in by_place]


def kinds_of_one_vendor(what: OfOneVendor) -> tuple[str, ...]:
    """The kinds of parts that are to be of one vendor."""
    return {"switches": ("switch",), "optics": OPTICS, "both": ("switch", *OPTICS)}[what]


class LengthLimits(Strict):
    """How many lengths of cables and fibres are ordered; equal metres of two products are one length of the site.

    Attributes:
        site: Most different lengths in all.
        product: Most lengths of each product.
    """

    site: Count | None = None
    product: Count | None = None

    @property
    def are_set(self) -> bool:
        """Whether anything is limited."""
        return self.site is not None or self.product is not None


class Spares(Strict):
    """How many spares of a kind of part are kept.

    Attributes:
        fraction: Spares as a share of what is in use, rounded up.
        minimum: Fewest spares.
        per: Whether each part number is counted on its own (`sku`), or all of the kind together (`site`).
    """

    fraction: Annotated[float, Field(ge=0, le=1)] = 0
    minimum: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    per: Literal["sku", "site"] = "sku"

    @model_validator(mode="after")
    def _keeps_some(self) -> Self:
        if self.fraction == 0 and self.minimum == 0:
            raise ValueError("give a `fraction` or a `minimum` above 0")
        return self


class Procurement(Strict):
    """Rules of buying; what is left out forbids nothing.

    Attributes:
        approved_vendors: Makers whose products alone are bought; a list, or one for each kind, tier, fabric or ASIC.
        forbidden_vendors: Makers whose products are never bought; a list, or one for each kind, tier, fabric or ASIC.
        approved_asics: ASICs of switches that alone are bought; names, families or makers.
        forbidden_asics: ASICs of switches that are never bought; names, families or makers.
        approved_parts: Ids that alone are bought, of the kinds of which one is named.
        forbidden_parts: Ids of banned parts, which are never bought.
        max_part_numbers: Most different part numbers in use, by kind; a length of a cable is one.
        spares: Spares to keep, by kind.
        max_vendors: Most makers of what is in use, by kind of part or tier of switches.
        min_sources: Fewest makers of what is in use, by kind of part or tier of switches.
        single_vendor: Which parts of a fabric come from one maker, by fabric; `switches`, `optics` or `both`.
        quarterly_supply: Most parts of a maker that come in each quarter, in all or by kind; one number, or one for
            each quarter.
        qualified: Parts that a maker supports in a device, as pairs or as paths of files with such pairs.
        order_from_month: First month in which orders can be placed. Null is month 0, with what stands at month 0
            ordered in time.
    """

    approved_vendors: VendorsByPlace | None = None
    forbidden_vendors: VendorsByPlace | None = None
    approved_asics: Annotated[Vendors | None, Field(exclude_if=is_empty)] = None
    forbidden_asics: Annotated[Vendors | None, Field(exclude_if=is_empty)] = None
    approved_parts: Parts | None = None
    forbidden_parts: Parts | None = None
    max_part_numbers: dict[KindWord, Count] = {}
    spares: dict[KindWord, Spares] = {}
    max_vendors: Annotated[dict[SourceWord, Count], Field(exclude_if=is_empty)] = {}
    min_sources: Annotated[dict[SourceWord, Count], Field(exclude_if=is_empty)] = {}
    single_vendor: Annotated[dict[Word, OfOneVendor], Field(exclude_if=is_empty)] = {}
    quarterly_supply: Annotated[
        dict[Word, UnitsByQuarter | Annotated[dict[PartWord, UnitsByQuarter], Field(min_length=1)]],
        Field(exclude_if=is_empty),
    ] = {}
    qualified: Annotated[Qualified | None, Field(exclude_if=is_empty)] = None
    order_from_month: Annotated[int, Field(ge=-1200, le=1200)] | None = None

    @model_validator(mode="after")
    def _vendors_go_together(self) -> Self:
        for place, fewest in self.min_sources.items():
            most = self.max_vendors.get(place)
            if most is not None and most < fewest:
                raise ValueError(f"`min_sources.{place}` is {fewest}, and `max_vendors.{place}` only {most}")
        if both := sorted(set(self.approved_asics or ()) & set(self.forbidden_asics or ())):
            raise ValueError(f"`{both[0]}` is in `approved_asics` and in `forbidden_asics`")
        return self

    @property
    def parts_by_device(self) -> dict[str, tuple[str, ...]]:
        """The parts that may be plugged into a device, for the devices that are named; files are read before."""
        return self.qualified if isinstance(self.qualified, dict) else {}

    @property
    def quotas(self) -> tuple[Quota, ...]:
        """What makers can supply in a quarter, in the order of the case."""
        by_kind = (
            (vendor, given.items() if isinstance(given, dict) else [(None, given)])
            for vendor, given in self.quarterly_supply.items()
        )
        return tuple(
            Quota(vendor, kind, units if isinstance(units, tuple) else (units,))
            for vendor, of_vendor in by_kind
            for kind, units in of_vendor
        )

    def tells_vendors_apart(self, kind: str) -> bool:
        """Whether who makes parts of a kind decides, once all are left out that are bought nowhere: where vendors are
        counted, or lists hold for a tier or fabric.
        """
        return self.counts_vendors_of(kind) or (kind in ("switch", "nic") and self.lists_are_by_place)

    @property
    def lists_are_by_place(self) -> bool:
        """Whether lists of vendors hold for a tier, a fabric or an ASIC."""
        lists = (self.approved_vendors, self.forbidden_vendors)
        return any(isinstance(vendors, dict) and not {*PART_WORDS}.issuperset(vendors) for vendors in lists)

    def counts_vendors_of(self, kind: str) -> bool:
        """Whether a rule tells apart who makes parts of a kind."""
        if any(quota.holds(kind, quota.vendor) for quota in self.quotas):
            return True
        counted = {"switch" if place in SOURCE_TIERS else place for place in (*self.max_vendors, *self.min_sources)}
        return kind in counted or any(kind in kinds_of_one_vendor(what) for what in self.single_vendor.values())
