"""What was minimized, and by what a design was picked where its least value did not decide alone."""

from typing import Annotated, Literal

from pydantic import Field, PlainSerializer

from fabopt.schema.base import Strict, is_open

Number = int | float


class DecidedBy(Strict):
    """By what a design was picked where that is not the least value alone.

    Attributes:
        by: Robustness among designs that the model cannot tell apart, or the worst regret of the scenarios.
        least_usd: What a working GPU costs with the design that has the least, in US dollars.
        error: Share by which others may be above the least and count as equal.
        least_in_ratio_usd: Least of the designs that keep `most_oversubscription`, where none of these is so near, in
            US dollars.
        most_oversubscription: Most oversubscription of the designs that count. Null where no design keeps it.
        stressed_usd: What a working GPU costs under stress, in US dollars.
        designs: Designs that count as equal and were met.
        leaf_oversubscription: Least and most oversubscription at the leaves of these designs.
        spine_oversubscription: Least and most oversubscription above pods of these designs.
        regret: Worst regret of the design, as a share.
        least_regret: Least worst regret of any design, as a share.
        regret_usd: Worst regret of a growth that is not certain, in US dollars.
    """

    by: Literal["robustness", "regret"]
    least_usd: Number | None = None
    error: Number | None = None
    least_in_ratio_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    most_oversubscription: Annotated[Number | None, Field(exclude_if=is_open)] = None
    stressed_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    designs: int | None = None
    leaf_oversubscription: tuple[Number, Number] | None = None
    spine_oversubscription: Annotated[tuple[Number, Number] | None, Field(exclude_if=is_open)] = None
    regret: Number | None = None
    least_regret: Annotated[Number | None, Field(exclude_if=is_open)] = None
    regret_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None


class Objective(Strict):
    """What was minimised, and the proof, in the metric's unit.

    Attributes:
        metric: What was minimised.
        value: Its value.
        bound: What no design is below. Null is not known.
        gap: The value less the bound, over the value.
        engine: Engine of integer programming.
        solve_s: Time of the search, in seconds.
        candidates: Candidates that were sized.
        candidates_in_program: Candidates that were in the last program.
        floor: What no Clos of as many tiers is below, whatever its groups, rails and stripes. Null in files of
            0.3.0, as nothing in a file proves it.
        decision: By what the design was picked, where that is not the least value alone.
    """

    metric: str
    value: Number | None = None
    bound: Number | None = None
    gap: Number | None = None
    engine: str | None = None
    solve_s: Number | None = None
    candidates: int | None = None
    candidates_in_program: int | None = None
    floor: Annotated[Number | None, PlainSerializer(lambda least: None)] = None
    decision: Annotated[DecidedBy | None, Field(exclude_if=is_open)] = None
