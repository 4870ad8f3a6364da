"""What a design loses with a switch or a rack."""

from __future__ import annotations

from typing import Literal

from fabopt.schema.base import Strict

Exposed = Literal["leaf", "spine", "core", "rack"]


class SinglePoint(Strict):
    """Devices of a kind without any one of which something is lost. ``count``: how many there are; ``worst``: the name
    of the one that takes most, the first of such. ``loses``: ``every path`` of servers, some of their NICs, or an
    attachment. ``servers``: that it hits; ``fewest_servers``: that the mildest hits; 0 of attachments. ``degraded``:
    servers that it hits keep other NICs.
    """

    fabric: str
    device: Exposed
    count: int
    worst: str
    loses: str
    servers: int
    fewest_servers: int
    degraded: bool


class RuleStanding(Strict):
    """A part of the default rule of resilience. ``kept``: None where it does not apply; ``detail``: what there is."""

    rule: str
    kept: bool | None
    detail: str


class WorstRack(Strict):
    """The rack whose loss hits most servers: those in it; those elsewhere that it cuts off from a fabric, and that lose
    a NIC.
    """

    rack: str
    servers: int
    servers_cut_off: int
    servers_degraded: int
