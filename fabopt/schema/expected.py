"""The expected topology: what is to be joined to what, for controllers of a site that watch or check cabling."""

from typing import Literal

from pydantic import Field

from fabopt.schema.base import Strict

EXPECTED_FORMAT = 1


class ExpectedPeer(Strict):
    """The port at the other end, by the names that systems have.

    Attributes:
        device: Name of the device.
        interface: Name of the port.
    """

    device: str
    interface: str


class ExpectedCable(Strict):
    """The cable that was bought.

    Attributes:
        label: Label of the cable.
        medium: Medium of the cable.
        length_m: Length, in metres.
    """

    label: str
    medium: str
    length_m: float = Field(gt=0)


class ExpectedInterface(Strict):
    """A port in use, with the far end of its link; every link is there from both ends.

    Attributes:
        device: Name of the device.
        interface: Name of the port.
        role: Role of the device.
        fabric: Fabric of the device.
        network: Fabric that the link serves.
        rail: Rail that the link serves, from 1. Null where there are none.
        speed_gbps: Speed, in Gb/s.
        peer: The far end.
        cable: The cable. Null where nothing is bought.
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
    """What is to be joined to what, as ``fabopt export --to topo`` writes it.

    Attributes:
        topology: Edition of this format.
        case: Name of the case.
        sha256: SHA-256 of the case.
        stage: Name of the stage.
        interfaces: Ports in use.
    """

    topology: Literal[1]
    case: str
    sha256: str
    stage: str
    interfaces: tuple[ExpectedInterface, ...]
