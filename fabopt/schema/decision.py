"""By what a design was picked where least cost of a working GPU did not decide alone."""

from __future__ import annotations

from typing import Literal

from fabopt.schema.base import Strict

Number = int | float


class Decision(Strict):
    """``by``: robustness among designs that the model cannot tell apart, or the worst regret of the case's scenarios.

    ``least_usd``: what a working GPU costs with the design that has the least; ``error``: the share by which others may
    be above it and count as equal; ``designs``: how many such designs were met, and ``leaf_oversubscription``: between
    which ratios at the leaves they are. ``regret``: the worst of the design, the least of any.
    """

    by: Literal["robustness", "regret"]
    least_usd: Number | None = None
    error: Number | None = None
    designs: int | None = None
    leaf_oversubscription: tuple[Number, Number] | None = None
    regret: Number | None = None
