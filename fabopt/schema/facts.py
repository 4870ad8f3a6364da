"""Numbers of a catalog that are not of one product."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Gbps, Strict, Text, Word, is_empty, is_open
from fabopt.schema.product import Source

Decibels = Annotated[float, Field(ge=0, le=100)]
# How well the plugs of a fibre are made.
Grade = Literal["low-loss", "standard"]


class Rent(Strict):
    """What a provider takes for a GPU by the hour, and the network between servers that it says it has.

    Attributes:
        gpu: How the name of a server's GPU begins.
        provider: Name of the provider.
        low_usd: Lowest price of a GPU and hour, in US dollars.
        high_usd: Highest price of a GPU and hour, in US dollars.
        gbps_per_gpu: Bandwidth of each GPU, in Gb/s. Null where the provider says nothing.
        fabric: The network, in the provider's words. Null where it says nothing.
        source: Where the figures come from.
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


class LossBudget(Strict):
    """What a channel between two modules of a standard may lose.

    Attributes:
        standard: Optical standard of one port, as modules name it.
        pmd: Name of the standard where it is printed.
        fibre: Kind of fibre. Null is any.
        budget_db: Most loss, in dB. Null with `connections_db` null is not known.
        connections_db: Loss for connections, in dB, where the rest of the budget is the glass of a module's reach.
        source: Where the figure comes from.
    """

    standard: Word
    pmd: Word | None = None
    fibre: Word | None = None
    budget_db: Annotated[Decibels | None, Field(gt=0)] = None
    connections_db: Annotated[Decibels | None, Field(gt=0)] = None
    source: Source | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.budget_db is not None and self.connections_db is not None:
            raise ValueError("give either `budget_db` or `connections_db`")
        return self


class PairLoss(Strict):
    """What two mated plugs lose.

    Attributes:
        connector: Kind of connector.
        fibre: Kind of fibre. Null is any.
        grade: How well both plugs are made. Null is any.
        largest_db: Largest loss, in dB.
        typical_db: Typical loss, in dB. Null is not known.
        reflectance_db: Most light that it reflects, in dB below what arrives. Null is not known.
        source: Where the figures come from.
    """

    connector: Word
    fibre: Word | None = None
    grade: Grade | None = None
    largest_db: Decibels
    typical_db: Decibels | None = None
    reflectance_db: Annotated[float | None, Field(ge=-100, le=0)] = None
    source: Source | None = None


class GlassLoss(Strict):
    """What a kilometre of fibre loses.

    Attributes:
        fibre: Kind of fibre.
        db_per_km: Attenuation to plan with, in dB a kilometre.
        source: Where the figure comes from.
    """

    fibre: Word
    db_per_km: Annotated[Decibels, Field(gt=0)]
    source: Source | None = None


class Splice(Strict):
    """What a splice loses.

    Attributes:
        largest_db: Largest loss, in dB.
        source: Where the figure comes from.
    """

    largest_db: Decibels
    source: Source | None = None


class Optics(Strict):
    """Losses of optical channels, and what each standard allows.

    Attributes:
        budgets: What channels may lose, by optical standard.
        pairs: What mated plugs lose, by connector; of several rows that fit the largest is planned with.
        glass: What fibre loses, by kind.
        splice: What a splice loses. Null is not known.
    """

    budgets: tuple[LossBudget, ...] = ()
    pairs: tuple[PairLoss, ...] = ()
    glass: tuple[GlassLoss, ...] = ()
    splice: Splice | None = None


class Delay(Strict):
    """How long a part of a path takes, without load.

    Attributes:
        part: The part; `nic` for one side, `fec` and `module` for a link, `cable` for what is inside one, `metre`.
        of: ASIC of a switch, speed of a lane of FEC and modules in Gb/s, medium of cables and metres (`fibre` of any
            kind). Null is any.
        ns: Nanoseconds in one direction.
        holds_fec: Of NICs and switches, whether it is with the decoding of what comes in, so that `fec` is not added.
        source: Where the figure comes from.
    """

    part: Literal["nic", "switch", "fec", "module", "cable", "metre"]
    of: Word | None = None
    ns: Annotated[float, Field(ge=0, le=1e6)]
    holds_fec: bool = True
    source: Source | None = None


class Facts(Strict):
    """Numbers that are not of one product.

    Attributes:
        pcie_x16_gbps: Usable bandwidth of sixteen lanes, in Gb/s, by generation.
        rents: Prices of rented GPUs.
        optics: Losses of optical channels, and what each standard allows.
        latency: How long parts of paths take; a switch's own `latency_ns` goes before the row of its ASIC.
    """

    pcie_x16_gbps: dict[int, Gbps] = {}
    rents: tuple[Rent, ...] = ()
    optics: Annotated[Optics | None, Field(exclude_if=is_open)] = None
    latency: Annotated[tuple[Delay, ...], Field(exclude_if=is_empty)] = ()
