"""What a design loses with a switch, a rack, a hall or what lies between halls, and what goes from hall to hall."""

from typing import Annotated, Final, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_open

Exposed = Literal["leaf", "spine", "core", "trunk", "panel", "rack", "hall", "route", "duct"]
Number = int | float
# What is more than one device.
PLACES: Final = ("trunk", "rack", "hall", "route", "duct")


class SinglePoint(Strict):
    """Devices of a kind without any one of which something is lost.

    Attributes:
        fabric: Name of the fabric.
        device: Kind of device; a hall is lost with all that is in it, a route, duct, trunk or panel with all its links.
        count: How many such devices there are.
        worst: Name of the one that takes most, the first of such.
        loses: What is lost; every path of servers, some of their NICs, or an attachment.
        attachment: Name of the attachment whose devices are cut off. Left out of losses of servers.
        lost: Devices of that attachment that are cut off, or NICs that a server loses. Left out where all paths are.
        of: How many of these there are.
        servers: Servers that its loss hits; 0 of attachments.
        fewest_servers: Servers that the mildest loss hits.
        degraded: Whether servers that it hits keep other NICs.
    """

    fabric: str
    device: Exposed
    count: int
    worst: str
    loses: str
    attachment: Annotated[str | None, Field(exclude_if=is_open)] = None
    lost: Annotated[int | None, Field(exclude_if=is_open)] = None
    of: Annotated[int | None, Field(exclude_if=is_open)] = None
    servers: int
    fewest_servers: int
    degraded: bool


class HallTraffic(Strict):
    """What a step of the model sends out of one of several halls, ranks in the order of GPUs.

    Attributes:
        hall: Name of the hall.
        gpus: GPUs in it that run the model.
        sent_gb: Gigabytes that they send to other halls in a step.
        leaving_gbps: Gb/s of the links that leave it, each way.
        oversubscription: Server ports on its smaller side over these. Null without a link.
        time_s: How long these links take to carry it, in seconds. Null without a link.
    """

    hall: str
    gpus: int
    sent_gb: Number
    leaving_gbps: Number
    oversubscription: Number | None
    time_s: Number | None


class RuleStanding(Strict):
    """A part of the default rule of resilience in a fabric.

    Attributes:
        rule: Name of the part.
        kept: Whether it is kept. Null where it does not apply.
        detail: What there is, in words.
    """

    rule: str
    kept: bool | None
    detail: str


class WorstRack(Strict):
    """The rack whose loss hits most servers.

    Attributes:
        rack: Id of the rack.
        servers: Servers in it.
        servers_cut_off: Servers elsewhere that it cuts off from a fabric.
        servers_degraded: Servers elsewhere that lose a NIC.
    """

    rack: str
    servers: int
    servers_cut_off: int
    servers_degraded: int
