"""The expected topology: what is to be joined to what, for controllers of a site that watch or check cabling."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabopt.schema.base import Strict

EXPECTED_FORMAT = 1


class ExpectedPeer(Strict):
    """The port at the other end, by the names that systems have."""

    device: str
    interface: str


class ExpectedCable(Strict):
    """The cable that was bought: its label, medium, and length in metres."""

    label: str
    medium: str
    length_m: float = Field(gt=0)


class ExpectedInterface(Strict):
    """A port in use, with the far end of its link. Every link is there from both ends.

    ``role``: of the device; ``rail``: that the link serves, from 1, null where there are none; ``cable`` is null where
    nothing is bought.
    """

    device: str
    interface: str
    role: Literal["server", "attachment", "leaf", "spine", "core"]
    fabric: str
    network: str
    rail: int | None
    speed_gbps: float = Field(gt=0)
    peer: ExpectedPeer
    cable: ExpectedCable | None


class ExpectedTopology(Strict):
    """What ``fabopt export --to topo`` writes. ``topology``: the edition of this format; ``sha256``: of the case."""

    topology: Literal[1]
    case: str
    sha256: str
    stage: str
    interfaces: tuple[ExpectedInterface, ...]
