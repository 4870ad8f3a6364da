"""What a case says of moving cables when a cluster grows."""

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Money, Strict, is_as

# When trunks and panels of later stages are installed.
PulledWord = Literal["when_lit", "ahead", "any"]


class Growth(Strict):
    """Whether a cable in place may be moved when the cluster grows, and what decides between uncertain futures.

    Attributes:
        recabling: Whether a later stage may move cables that an earlier one installed.
        usd_per_moved_cable: Cost of moving one cable, in US dollars; an estimate of twenty minutes of a technician with
            planning and test. With `site.labour` 0 unless given, beside the labour.
        minutes_per_moved_cable: Time to move one cable, in minutes; an estimate.
        trunks: When trunks and panels of later stages come; `when_lit`, with the links that first need them, `ahead`,
            all with the first stage and dark until lit, or `any`, whichever is cheaper.
        decide_by: What decides where growth is uncertain; the expected total cost (`mean`), or the worst `regret`.
    """

    recabling: Literal["forbid", "allow"] = "forbid"
    usd_per_moved_cable: Money = 150
    minutes_per_moved_cable: Annotated[float, Field(ge=0, le=10_000)] = 20
    trunks: Annotated[PulledWord, Field(exclude_if=is_as("when_lit"))] = "when_lit"
    decide_by: Annotated[Literal["mean", "regret"], Field(exclude_if=is_as("mean"))] = "mean"
