"""What is paid beside the price of parts: licences, support, freight, installation, tax."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Identifier, Money, Strict, Text, Word
from fabopt.schema.finance import KindWord
from fabopt.schema.product import ChargeWord, PriceSource, Protocol

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
