"""What a design costs in every future of a growth that is not certain."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict

Number = int | float
# What is minimized where growth may end: the total cost of ownership, each stage as often as it comes.
EXPECTED: Final = "expected_tco_usd"


class Future(Strict):
    """One way in which growth may come: how likely, and what is spent and installed in it.

    ``ends_after``: its last stage; ``scenario``: its name, where the case gives scenarios. ``tco_usd``: the present
    value of what is bought in it, and of the energy to the end of the years of ``finance``. ``best_tco_usd``: what the
    best plan for it alone would have cost (None: not looked at); ``regret_usd`` is what this design costs more.
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
    """The plan of somebody who counts on one future, by the name of its scenario or last stage.

    ``tco_usd``: in each future, in their order; ``regret_usd``: the most that it costs beyond the best in any.
    """

    made_for: str
    expected_tco_usd: Number
    regret_usd: Number
    tco_usd: tuple[Number, ...]


class Futures(Strict):
    """All futures of a growth, and what the design costs for not knowing which will come.

    ``hedge_usd``: what is expected beyond the best of each future, ``regret_usd``: the most in any (None: not known).
    """

    futures: tuple[Future, ...]
    hedge_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    regret_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    plans: tuple[OneFuturePlan, ...] = ()
