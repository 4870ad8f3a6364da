"""What a case says of money over time: what falls in price, what later money is worth, what energy costs.

What is paid beside the price of parts: licences, support, freight, installation, tax.
"""

from fractions import Fraction
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Identifier, Money, Strict, Text, Word, is_as, is_empty, is_open
from fabopt.schema.product import ChargeWord, PriceSource, Protocol
from fabopt.units import exact, plain_fraction

# -- what a case says of cash -----------------------------------------------------------------------------------------
# What a case says of cash: when an order is paid, in which currency, what is left of it in the end.


Share = Annotated[float, Field(ge=0, le=1)]
CURRENCY = r"^[A-Z]{3}$"
DAY = r"^20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$"
DOLLAR = "USD"


class Payment(Strict):
    """The shares of an order that are paid when it is placed, when it arrives, and when it is accepted.

    Attributes:
        on_order: Share paid in the month in which the order is placed.
        on_delivery: Share paid in the month of the stage, when the order arrives.
        on_acceptance: Share paid when the order is accepted.
        acceptance_months: Months from arrival to acceptance.
    """

    on_order: Share = 0
    on_delivery: Share = 0
    on_acceptance: Share = 0
    acceptance_months: Annotated[int, Field(ge=0, le=24)] = 1

    @model_validator(mode="after")
    def _is_paid_once(self) -> Self:
        shares = {name: getattr(self, name) for name in ("on_order", "on_delivery", "on_acceptance")}
        total = sum((exact(share) for share in shares.values()), Fraction(0))
        if total != 1:
            sums = " + ".join(f"`{name}` {plain_fraction(exact(share))}" for name, share in shares.items())
            raise ValueError(f"an order is paid once: {sums} = {plain_fraction(total)}, not 1")
        return self


class Rate(Strict):
    """What one unit of a currency is worth.

    Attributes:
        usd: Worth of one unit, in US dollars.
        date: Day of the rate, as `2026-11-02`.
    """

    usd: Annotated[float, Field(gt=0, le=1e6)]
    date: Annotated[str, Field(pattern=DAY)]


# -- what a case says of money over time ------------------------------------------------------------------------------


KindWord = Literal["switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server"]
KIND_WORDS: tuple[KindWord, ...] = ("switch", "nic", "transceiver", "cable", "fibre", "trunk", "panel", "server")
YearlyRate = Annotated[float, Field(ge=0, lt=1)]


class Finance(Strict):
    """What turns power and dates into money.

    Attributes:
        discount_rate: Yearly discount rate, 0.08 for 8 %.
        price_decline: Share by which prices of a kind of part fall each year, by kind.
        energy_usd_per_kwh: Price of energy, in US dollars for a kWh; 0.10 is that of US industry.
        pue: Power of the hall over that of its equipment; 1.4 is a current hall, 1.54 the average of all in the 2025
            survey.
        years: Years of operation that `tco_usd` counts; five is the usual depreciation.
        payment: Which shares of an order are paid when. Given, the answer has a cash flow.
        currency: Currency in which the cash flow is shown too, at its rate in `rates`.
        rates: Worth of other currencies, by their code.
        residual: Share of their price that parts are sold for in the end.
        depreciation_years: Years in which parts are written off evenly, down to the residual. Null is not at all.
    """

    discount_rate: YearlyRate = 0
    price_decline: dict[KindWord, YearlyRate] = {}
    energy_usd_per_kwh: Annotated[float, Field(ge=0, le=1000)] = 0.10
    pue: Annotated[float, Field(ge=1, le=10)] = 1.4
    years: Annotated[float, Field(gt=0, le=100)] = 5
    payment: Annotated[Payment | None, Field(exclude_if=is_open)] = None
    currency: Annotated[str, Field(pattern=CURRENCY, exclude_if=is_as(DOLLAR))] = DOLLAR
    rates: Annotated[dict[Annotated[str, Field(pattern=CURRENCY)], Rate], Field(exclude_if=is_empty)] = {}
    residual: Annotated[float, Field(ge=0, lt=1, exclude_if=is_empty)] = 0
    depreciation_years: Annotated[float | None, Field(gt=0, le=100, exclude_if=is_open)] = None

    @model_validator(mode="after")
    def _currency_has_a_rate(self) -> Self:
        if self.currency != DOLLAR and self.currency not in self.rates:
            known = ", ".join((DOLLAR, *self.rates))
            raise ValueError(f"`currency` is {self.currency}, and `rates` say nothing of it; known are {known}")
        return self


Percent = Annotated[float, Field(gt=0, le=1000)]
# The purchase price of the parts themselves, in what a percentage is ``of``.
PARTS: Final = "parts"


class Charge(Strict):
    """What a case pays beside the price of parts.

    Attributes:
        name: Name of the charge; other charges and the bill refer to it.
        what: Kind of charge.
        description: What the line of the bill says.
        usd: Dollars for each unit bought, fabric or server, as `per` says.
        percent: Percentage of the price of parts, or of charges above this one, as `of` says.
        per: What `usd` is paid for, each `unit` bought, each `fabric` once, or each `server` of a fabric.
        of: What `percent` is taken of, the price of `parts` and names of charges above this one.
        yearly: Whether it is due every year, ahead; it then counts in `tco_usd` alone.
        kinds: Kinds of parts that it is for. Null is all.
        vendors: Makers whose parts it is for. Null is all.
        asics: Switch ASICs that it is for. Null is all.
        parts: Ids of the parts that it is for. Null is all.
        protocol: Networks that it is for, of Ethernet or InfiniBand. Null is both.
        fabrics: Names of the fabrics that it is for, of charges per fabric or server. Null is all.
        vendor: Who is paid.
        source: Where the figure comes from.
    """

    name: Identifier
    what: ChargeWord = "other"
    description: Text = ""
    usd: Money | None = None
    percent: Percent | None = None
    per: Literal["unit", "fabric", "server"] = "unit"
    of: Annotated[tuple[Identifier, ...], Field(min_length=1)] = (PARTS,)
    yearly: bool = False
    kinds: Annotated[tuple[KindWord, ...], Field(min_length=1)] | None = None
    vendors: Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    asics: Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    parts: Annotated[tuple[Identifier, ...], Field(min_length=1)] | None = None
    protocol: Protocol | None = None
    fabrics: Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    vendor: Word | None = None
    source: PriceSource | None = None

    @property
    def is_lump(self) -> bool:
        """Whether it is for a fabric or its servers, not for what is bought."""
        return self.per != "unit"

    @property
    def words(self) -> str:
        """What a line of the bill says that it is."""
        if self.description:
            return self.description
        share = "" if self.percent is None else f", {self.percent:g} % of {' and '.join(self.of)}"
        return charge_words(self.what, self.yearly) + share

    @model_validator(mode="after")
    def _one_amount(self) -> Self:
        if (self.usd is None) == (self.percent is None):
            raise ValueError("give either `usd` or `percent`")
        if self.percent is not None and self.is_lump:
            raise ValueError(f"`percent` is of what is bought: it does not go with `per: {self.per}`")
        if self.usd is not None and self.of != (PARTS,):
            raise ValueError("`of` goes with `percent`")
        return self

    @model_validator(mode="after")
    def _keys_suit(self) -> Self:
        of_parts = [key for key in ("kinds", "vendors", "asics", "parts") if getattr(self, key) is not None]
        if self.is_lump and of_parts:
            raise ValueError(f"`{of_parts[0]}` says for which parts; it does not go with `per: {self.per}`")
        if not self.is_lump and self.fabrics is not None:
            raise ValueError("`fabrics` goes with `per: fabric` and `per: server`: parts are ordered for all fabrics")
        if not self.is_lump and self.protocol is not None and self.kinds != ("switch",):
            raise ValueError("`protocol` of parts goes with `kinds: [switch]`: others may run in either network")
        return self


def charge_words(what: ChargeWord, yearly: bool) -> str:
    """What a charge is, in words."""
    return f"{what}, a year" if yearly else what


def check_charges(charges: tuple[Charge, ...]) -> None:
    """Raise ``ValueError`` where charges do not go together: names twice, percentages of what is not above them."""
    above: dict[str, Charge] = {}
    for charge in charges:
        if charge.name in above or charge.name == PARTS:
            raise ValueError(f"two charges cannot have the name `{charge.name}`, and none is called `{PARTS}`")
        for name in charge.of if charge.percent is not None else ():
            base = above.get(name)
            if base is None and name != PARTS:
                raise ValueError(f"`of` of charge `{charge.name}` names `{name}`, which is no charge above it")
            if charge.yearly and base is not None and base.yearly:
                raise ValueError(f"charge `{charge.name}` is yearly, and so is `{name}`: leave `yearly` to one of them")
        above[charge.name] = charge
