"""Default rules that a design does not keep, and what would keep all of them where a limit leaves no design."""

from typing import Annotated, Any

from pydantic import Field

from fabopt.schema.base import Strict, is_open
from fabopt.schema.conflict import Number

# What a nearest design says of itself first.
NOT_OF_THE_CASE = "the nearest design to a case whose limits on spending it exceeds"
# Why a rule is left out, where it has no other reason.
NO_DESIGN = "no design of the case keeps it, whatever its limits"


class RuleLeftOut(Strict):
    """A default rule, or a part of one, that no design of the case keeps with every limit lifted.

    Attributes:
        rule: Name of the rule.
        part: Dotted key of the case that turns it off.
        fabric: Fabric that it is about. Null is the whole case.
        why: Why it cannot be kept.
    """

    rule: str
    part: str
    fabric: str | None = None
    why: str

    @property
    def name(self) -> str:
        """The key, and the fabric, if it is about one."""
        return f"{self.part} of {self.fabric}" if self.fabric else self.part


class NearestDesign(Strict):
    """The cheapest design that keeps every rule, with the limits on spending lifted that leave none.

    Attributes:
        capex_usd: Purchase price, in US dollars.
        power_w: Power, in watts.
        rack_units: Rack units of switches.
        switches: Number of switches.
        summary: The design in one line.
        design: The design itself, as a design file of the case without these limits; it is exported only where
            `--nearest` asks for it. Null in points of sweeps and fronts.
    """

    capex_usd: Number
    power_w: Number
    rack_units: Number
    switches: int
    summary: str
    design: Annotated[dict[str, Any] | None, Field(exclude_if=is_open)] = None
