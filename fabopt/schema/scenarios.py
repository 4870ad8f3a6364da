"""Scenarios of growth: which stages come, when, how likely, and at which prices."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from fabopt.errors import cut
from fabopt.schema.base import Strict
from fabopt.schema.finance import KindWord
from fabopt.schema.stages import KEBAB, Probability, Stage, is_certain
from fabopt.units import exact, plain_fraction

# Of these parts of one every probability is a multiple, so that what is weighed with it stays small.
PARTS_OF_ONE = 10_000
Change = Annotated[float, Field(gt=-1, le=10)]
Month = Annotated[int, Field(ge=0, le=1200)]


class GrowthScenario(Strict):
    """One way in which growth may come.

    Attributes:
        name: Name of the scenario.
        probability: How likely it is; all scenarios add up to 1.
        months: Month of each stage that it comes to, by name; one left out comes with the next larger one, or never.
        price_change: Share by which a kind of part costs more (below 0, less) after the first stage.
        energy_change: Share by which energy costs more (below 0, less).
    """

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    probability: Probability
    months: dict[str, Month] = {}
    price_change: dict[KindWord, Change] = {}
    energy_change: Change = 0

    def months_of(self, stages: Sequence[Stage]) -> tuple[int | None, ...]:
        """The month in which each stage comes; None: never."""
        months: list[int | None] = []
        for number in reversed(range(len(stages))):
            own = stages[0].month if number == 0 else self.months.get(stages[number].name)
            months.append(own if own is not None else months[-1] if months else None)
        return tuple(reversed(months))


def reached(stages: Sequence[Stage]) -> tuple[Fraction, ...]:
    """The probability that growth comes to each stage: the product of its own and those of all before it."""
    products: list[Fraction] = []
    for stage in stages:
        products.append((products[-1] if products else Fraction(1)) * exact(stage.probability))
    return tuple(products)


def scenarios_of(stages: Sequence[Stage], given: Sequence[GrowthScenario]) -> tuple[GrowthScenario, ...]:
    """The scenarios as they are given; else those of stages that may not come: growth ends with each. None: certain."""
    if given or all(is_certain(stage.probability) for stage in stages):
        return tuple(given)
    chances = (*reached(stages), Fraction(0))
    return tuple(
        GrowthScenario(
            name=stage.name,
            probability=float(chances[number] - chances[number + 1]),
            months={one.name: one.month for one in stages[1 : number + 1]},
        )
        for number, stage in enumerate(stages)
        if chances[number] > chances[number + 1]
    )


def check_probabilities(stages: Sequence[Stage], scenarios: Sequence[GrowthScenario]) -> None:
    """Raise ``ValueError`` where probabilities do not add up, or scenarios do not fit the stages."""
    if scenarios:
        _check_scenarios(stages, scenarios)
    elif stages and not is_certain(stages[0].probability):
        raise ValueError(
            f"`stages[0].probability` is {stages[0].probability}: the first stage, `{stages[0].name}`, comes in any "
            "case; say of later stages how likely growth goes on to them"
        )
    for index, product in enumerate(reached(stages)):
        if product * PARTS_OF_ONE % 1:
            factors = " x ".join(str(plain_fraction(exact(stage.probability))) for stage in stages[1 : index + 1])
            raise ValueError(
                f"growth comes to `stages[{index}]` with a probability of {factors} = {plain_fraction(product, 12)}; "
                f"give fewer decimals, so that it is a multiple of {1 / PARTS_OF_ONE}"
            )


def check_regret(futures: Sequence[GrowthScenario]) -> None:
    """Raise ``ValueError`` where there is nothing to regret, as growth is certain."""
    if not futures:
        raise ValueError(
            "`growth.decide_by` is regret, and neither `scenarios` nor a `stages[].probability` below 1 is given: it "
            "compares ways in which growth may come; give them, or leave it out"
        )


def _check_scenarios(stages: Sequence[Stage], scenarios: Sequence[GrowthScenario]) -> None:
    if len(stages) < 2:
        raise ValueError("`scenarios` are given, and `stages` has none after the first that may come or not")
    for number, stage in enumerate(stages):
        if not is_certain(stage.probability):
            raise ValueError(f"`stages[{number}].probability` and `scenarios` say the same thing: give one of them")
    names = [scenario.name for scenario in scenarios]
    for index, scenario in enumerate(scenarios):
        if scenario.name in names[:index]:
            raise ValueError(f"`scenarios[{index}].name` and another one are both `{scenario.name}`")
        _check_months(stages, index, scenario)
        if exact(scenario.probability) * PARTS_OF_ONE % 1:
            raise ValueError(f"`scenarios[{index}].probability` is no multiple of {1 / PARTS_OF_ONE}")
    total = sum((exact(scenario.probability) for scenario in scenarios), Fraction(0))
    if total != 1:
        sums = " + ".join(
            f"`scenarios[{index}].probability` {plain_fraction(exact(scenario.probability))}"
            for index, scenario in enumerate(scenarios)
        )
        raise ValueError(f"probabilities add up to 1, and {sums} = {plain_fraction(total)}")


def _check_months(stages: Sequence[Stage], index: int, scenario: GrowthScenario) -> None:
    known = [stage.name for stage in stages[1:]]
    for name in scenario.months:
        if name not in known:
            raise ValueError(
                f"`scenarios[{index}].months` names `{cut(name)}`, which is no stage after the first of `stages`: "
                f"{', '.join(known)}"
            )
    before = ("stages[0].month", stages[0].month)
    for name in known:
        month = scenario.months.get(name)
        if month is not None and month < before[1]:
            raise ValueError(
                f"the cluster would shrink: `scenarios[{index}].months.{name}` is {month}, before the {before[1]} of "
                f"`{before[0]}`, which is the month of a smaller size"
            )
        before = (f"scenarios[{index}].months.{name}", month) if month is not None else before
