"""What a case says of moving cables when a cluster grows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Money, Strict


def is_mean(decide_by: str) -> bool:
    """Whether what is expected decides, which is not written."""
    return decide_by == "mean"


class Growth(Strict):
    """Whether a cable in place may be moved to another port when the cluster grows, and what each move costs.

    Defaults are estimates: twenty minutes of a technician for each move, with planning and test. ``decide_by``: where
    growth is not certain, the expected total cost of ownership (``mean``), or the worst regret, which is how much more
    is spent in a future than with the best plan for it alone.
    """

    recabling: Literal["forbid", "allow"] = "forbid"
    usd_per_moved_cable: Money = 150
    minutes_per_moved_cable: Annotated[float, Field(ge=0, le=10_000)] = 20
    decide_by: Annotated[Literal["mean", "regret"], Field(exclude_if=is_mean)] = "mean"
