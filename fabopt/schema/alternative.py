"""What else there is: rows of a design file about cases that differ in some keys."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict
from fabopt.schema.case import is_empty
from fabopt.schema.left_out import RuleLeftOut

Number = int | float


class Alternative(Strict):
    """The best design of a case in which keys have other values (``change``): dotted keys, entries of lists by name.

    ``what`` is another, and ``value`` which; deltas are against the answer. ``finished``: whether the case was solved
    to its end; if not there are no figures. ``step_s`` and what follows: where the case has a model.
    ``rules_left_out``: as in the design file that the changed case has.
    """

    what: str
    value: str
    summary: str
    change: dict[str, Any] = {}
    finished: Annotated[bool, Field(exclude_if=bool)] = True
    status: Literal["optimal", "feasible"] | None = None
    objective: Number | None = None
    objective_delta: Number | None = None
    capex_usd: Number | None = None
    capex_delta_usd: Number | None = None
    power_w: Number | None = None
    power_delta_w: Number | None = None
    step_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    gpu_utilization: Annotated[Number | None, Field(exclude_if=is_open)] = None
    usd_per_effective_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    rules_left_out: Annotated[tuple[RuleLeftOut, ...], Field(exclude_if=is_empty)] = ()
