"""What a design costs in every future of a growth that is not certain."""

from typing import Annotated, Final

from pydantic import Field

from fabopt.schema.base import Strict, is_open

Number = int | float
# What is minimized where growth may end: the total cost of ownership, each stage as often as it comes.
EXPECTED: Final = "expected_tco_usd"


class Future(Strict):
    """One way in which growth may come, and what is spent and installed in it.

    Attributes:
        ends_after: Its last stage.
        scenario: Name of its scenario, where the case gives scenarios.
        probability: How likely it is.
        servers: Servers in the end.
        capex_usd: Money spent on purchases, in US dollars.
        tco_usd: Present value of purchases and of energy to the end of `finance.years`, in US dollars.
        best_tco_usd: What the best plan for it alone would have cost, in US dollars. Null where that was not looked at.
        regret_usd: What this design costs more than that, in US dollars.
    """

    ends_after: str
    scenario: Annotated[str | None, Field(exclude_if=is_open)] = None
    probability: Number
    servers: int
    capex_usd: Number
    tco_usd: Number
    best_tco_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    regret_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None


class OneFuturePlan(Strict):
    """The plan of somebody who counts on one future.

    Attributes:
        made_for: Name of the scenario or last stage that it counts on.
        expected_tco_usd: Its expected total cost, in US dollars.
        regret_usd: The most that it costs beyond the best in any future, in US dollars.
        tco_usd: Its total cost in each future, in their order, in US dollars.
    """

    made_for: str
    expected_tco_usd: Number
    regret_usd: Number
    tco_usd: tuple[Number, ...]


class Futures(Strict):
    """All futures of a growth, and what the design costs for not knowing which will come.

    Attributes:
        futures: The futures.
        hedge_usd: What is expected beyond the best of each future, in US dollars. Null is not known.
        regret_usd: The most beyond the best in any future, in US dollars. Null is not known.
        plans: Plans that count on one future.
    """

    futures: tuple[Future, ...]
    hedge_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    regret_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    plans: tuple[OneFuturePlan, ...] = ()
