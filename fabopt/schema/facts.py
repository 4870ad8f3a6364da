"""Numbers of a catalog that are not of one product."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Gbps, Strict, Text, Word
from fabopt.schema.product import Source


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


class Facts(Strict):
    """Numbers that are not of one product.

    Attributes:
        pcie_x16_gbps: Usable bandwidth of sixteen lanes, in Gb/s, by generation.
        rents: Prices of rented GPUs.
    """

    pcie_x16_gbps: dict[int, Gbps] = {}
    rents: tuple[Rent, ...] = ()
