"""What stands in the way where a case has no design, and what it would have to be."""

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_open

Number = int | float
# Begins what a reason says of remedies.
WOULD_HELP = "what would help"


class Needed(Strict):
    """What one of several limits, which have to change together, would have to be.

    Attributes:
        limit: Dotted key of the limit.
        needed: Its value that would do.
    """

    limit: str
    needed: Number | str | tuple[str, ...] | None


class Conflict(Strict):
    """A limit that clashes, and what it alone would have to be for the case to have a design.

    Attributes:
        limit: Dotted key of the limit.
        value: Its value in the case.
        needed: Its value that would do. Null where none was found.
        direction: Which way a number has to go.
        minimal: Whether no number nearer to its value would do, to a thousandth. Null of what is no number.
        together: All changes that are needed at once, this one first. Empty where it alone would do.
        capex_usd: What the design costs that solving with the change gives, in US dollars, as far as that is known.
        detail: What is in the way, in words.
    """

    limit: str
    value: Number | str | None
    needed: Number | str | tuple[str, ...] | None
    direction: Literal["up", "down"] | None = None
    minimal: bool | None = None
    together: tuple[Needed, ...] = ()
    capex_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    detail: str = ""
