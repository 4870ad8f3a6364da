"""Chassis: switches of which a part of the ports comes with each line card."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Identifier, Money, Strict, Watts, Word, is_open
from fabopt.schema.operate import Operable


class LineCards(Strict):
    """The line cards of a chassis.

    Attributes:
        most: Most line cards.
        fewest: Fewest line cards.
        part_number: Part number of one.
        price_usd: Price of one, in US dollars.
        power_w: Typical power of one, in watts.
        power_max_w: Most power of one that its maker states, in watts.
    """

    most: Annotated[int, Field(ge=1, le=64)]
    fewest: Annotated[int, Field(ge=1, le=64)] = 1
    part_number: Word | None = None
    price_usd: Money | None = None
    power_w: Watts | None = None
    power_max_w: Watts | None = None

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if self.fewest > self.most:
            raise ValueError(f"`fewest` is above `most`: {self.fewest} > {self.most}")
        return self


class Modular(Operable):
    """What a switch says of its line cards.

    Attributes:
        line_cards: Line cards; `cages` and `max_ports` are then those of one, price and power those of the chassis
            without any.
        chassis: Id of the chassis, of one that is filled. Filled in when a catalog is read.
    """

    line_cards: Annotated[LineCards | None, Field(exclude_if=is_open)] = None
    chassis: Annotated[Identifier | None, Field(exclude_if=is_open)] = None

    @model_validator(mode="after")
    def _ports_have_names(self) -> Self:
        if self.nos and not (self.line_cards is None and self.chassis is None):
            raise ValueError("ports of a chassis are named by line card, which `nos` cannot tell; leave it out")
        return self
