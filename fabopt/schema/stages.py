"""The stages of growth: how large the cluster is from which month on, and how likely it is to come to that."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Money, Ratio, Strict, Watts

Servers = Annotated[int, Field(ge=1, le=10**12)]
KEBAB = r"^[a-z0-9]+(?:[.-][a-z0-9]+)*$"
Probability = Annotated[float, Field(gt=0, le=1)]


def is_certain(probability: float) -> bool:
    """Whether something comes in any case, which is not written."""
    return probability == 1


class Oversubscription(Strict):
    """The most allowed at each tier boundary; what is absent is the profile's."""

    leaf: Ratio | None = None
    spine: Ratio | None = None


class Limits(Strict):
    """What may be spent over all fabrics."""

    budget_usd: Money | None = None
    power_w: Watts | None = None
    rack_units: Annotated[float, Field(ge=0)] | None = None


class StageDemand(Strict):
    """What a fabric must give at one stage, where that is not what the fabric's own keys say."""

    max_oversubscription: Ratio | Oversubscription | None = None


class Stage(Strict):
    """One growth stage: servers (or GPUs, a multiple of the server's) from a month on.

    ``probability``: that growth goes on to it, once the stage above it is installed. ``limits``: money for this stage
    alone, power and rack units of all that is installed. ``fabrics``: demands, by the fabric's name.
    """

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    month: Annotated[int, Field(ge=0, le=1200)] = 0
    servers: Servers | None = None
    gpus: Servers | None = None
    probability: Annotated[Probability, Field(exclude_if=is_certain)] = 1
    limits: Limits = Limits()
    fabrics: dict[str, StageDemand] = {}

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.servers is None) == (self.gpus is None):
            raise ValueError("give either `servers` or `gpus`")
        return self
