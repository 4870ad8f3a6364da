"""The stages of growth: how large the cluster is from which month on, and how likely it is to come to that."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Money, Ratio, Strict, Watts, is_open

Servers = Annotated[int, Field(ge=1, le=10**12)]
KEBAB = r"^[a-z0-9]+(?:[.-][a-z0-9]+)*$"
Probability = Annotated[float, Field(gt=0, le=1)]
PeriodBudget = Money | Annotated[tuple[Money | None, ...], Field(min_length=1, max_length=400)]
QUARTER, YEAR = 3, 12
# The stage of a case without stages: all of it, or what it adds to its base.
ADDED = "all"
# Months of the period of a budget, by its key.
PERIODS = {"quarterly_budget_usd": QUARTER, "yearly_budget_usd": YEAR}


def is_certain(probability: float) -> bool:
    """Whether something comes in any case, which is not written."""
    return probability == 1


class Oversubscription(Strict):
    """The most allowed at each boundary between tiers.

    Attributes:
        leaf: Most oversubscription at the leaves, down ports against uplinks. Null is the profile's.
        spine: Most oversubscription at the spines below cores. Null is the profile's.
        hall: Most oversubscription of what leaves any hall, the endpoints on its smaller side against the links over
            routes; of Clos networks of one stage. Null is any.
    """

    of_one: ClassVar[tuple[str, ...] | None] = ("leaf", "spine")

    leaf: Ratio | None = None
    spine: Ratio | None = None
    hall: Annotated[Ratio | None, Field(exclude_if=is_open)] = None


class Limits(Strict):
    """What may be spent over all fabrics.

    Attributes:
        budget_usd: Most money, in US dollars; of a stage, what is spent at it.
        power_w: Most power of the network, in watts.
        rack_units: Most rack units of switches.
    """

    budget_usd: Money | None = None
    power_w: Watts | None = None
    rack_units: Annotated[float, Field(ge=0)] | None = None


class CaseLimits(Limits):
    """What may be spent over all fabrics, in all and of money in every quarter and year.

    A list has the budgets of the first quarter (year), with all before it, of the second and so on, the last one for
    all after it; null: any amount.

    Attributes:
        quarterly_budget_usd: Most money in each quarter, in US dollars; one figure, or one for each quarter in order.
        yearly_budget_usd: Most money in each year, in US dollars; one figure, or one for each year in order.
    """

    quarterly_budget_usd: Annotated[PeriodBudget | None, Field(exclude_if=is_open)] = None
    yearly_budget_usd: Annotated[PeriodBudget | None, Field(exclude_if=is_open)] = None

    @property
    def by_period(self) -> dict[str, tuple[float | None, ...]]:
        """Budgets of quarters and of years, by key; none without."""
        given = {key: getattr(self, key) for key in PERIODS}
        return {
            key: value if isinstance(value, tuple) else (value,) for key, value in given.items() if value is not None
        }


class StageDemand(Strict):
    """What a fabric must give at one stage, where that is not what its own keys say.

    Attributes:
        max_oversubscription: Most oversubscription allowed at this stage.
    """

    max_oversubscription: Ratio | Oversubscription | None = None

    @model_validator(mode="after")
    def _names_no_halls(self) -> Self:
        if isinstance(self.max_oversubscription, Oversubscription) and self.max_oversubscription.hall is not None:
            raise ValueError("`max_oversubscription.hall` is of a fabric, not of a stage: give it there")
        return self


class Stage(Strict):
    """One stage of growth.

    Attributes:
        name: Name of the stage; lower-case words joined by `-`.
        month: Month from which its servers are there, counted from the start.
        servers: Servers that are there from this stage on.
        gpus: GPUs that are there from this stage on; a multiple of the server's.
        probability: How likely growth goes on to this stage, once the one above it is installed.
        limits: Money spent at this stage alone; power and rack units of all that is installed from it on.
        fabrics: Demands of this stage, by the fabric's name, where they are not the fabric's own.
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
