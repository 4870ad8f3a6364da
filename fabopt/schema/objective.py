"""What was minimized, and by what a design was picked where its least value did not decide alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict

Number = int | float


class DecidedBy(Strict):
    """``by``: robustness among designs that the model cannot tell apart, or the worst regret of the case's scenarios.

    ``least_usd``: what a working GPU costs with the design that has the least; ``error``: the share by which others may
    be above it and count as equal (of regret: in their worst scenario, over what is best for it);
    ``most_oversubscription``: of those that count, None where no design keeps it; ``least_in_ratio_usd``: the least of
    designs that keep it, where none of these is so near to the least; ``stressed_usd``: what a working GPU costs under
    stress; ``designs``: how many such designs were met, and ``leaf_oversubscription``, ``spine_oversubscription``:
    between which ratios at the leaves, and above pods, they are. ``regret``: the worst of the design,
    ``least_regret``: the least of any;
    ``regret_usd``: that of growth that is not certain.
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
    """What was minimized, and the proof, in the metric's unit. ``floor``: no Clos of as many tiers has less.

    ``decision``: by what the design was picked, where that is not the least value alone.
    """

    metric: str
    value: Number | None = None
    bound: Number | None = None
    gap: Number | None = None
    engine: str | None = None
    solve_s: Number | None = None
    candidates: int | None = None
    candidates_in_program: int | None = None
    floor: Number | None = None
    decision: Annotated[DecidedBy | None, Field(exclude_if=is_open)] = None
