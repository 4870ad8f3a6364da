"""What stands in the way where a case has no design, and what it would have to be."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict

Number = int | float


class Needed(Strict):
    """What one of several limits, which have to change together, would have to be."""

    limit: str
    needed: Number | str | tuple[str, ...] | None


class Conflict(Strict):
    """A limit that clashes: its value, and what it alone would have to be for the case to have a design.

    ``direction``: which way a number would have to go; ``minimal``: whether no number nearer to its value would do, to
    a thousandth; null of what is no number; false without ``needed``, where it took too much work to tell whether any
    value of it would do. ``together``: all changes that are needed at once, this one first; empty where it alone would
    do. ``capex_usd``: what the design costs that solving the case with the change gives, as far as that is known.
    """

    limit: str
    value: Number | str | None
    needed: Number | str | tuple[str, ...] | None
    direction: Literal["up", "down"] | None = None
    minimal: bool | None = None
    together: tuple[Needed, ...] = ()
    capex_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    detail: str = ""
