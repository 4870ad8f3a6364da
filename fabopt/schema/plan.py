"""The file of a plan: what ``fabopt export --to plan`` writes, and ``fabopt check`` proves again."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict
from fabopt.schema.operate import Queues

PLAN_FORMAT = 1
Shown = Annotated[str, Field(max_length=300)]


class PoolRow(Strict):
    """How many places of a pool are given out."""

    key: Shown
    pool: Shown
    used: int
    size: int


class SubnetRow(Strict):
    """The subnet of a leaf."""

    device: Shown
    subnet: Shown


class NetworkRow(Strict):
    """A fabric, or a logical one on its switches."""

    name: Shown
    fabric: Shown
    role: Shown
    protocol: Literal["ethernet", "infiniband"]
    vlan: int | None = None
    vrf: Shown | None = None
    routed: bool = False
    subnets: tuple[SubnetRow, ...] = ()


class DeviceRow(Strict):
    """A device by its name; ``device``: the design's name of it."""

    name: Shown
    device: Shown
    role: Literal["server", "attachment", "leaf", "spine", "core"]
    product: Shown
    fabric: Shown | None = None
    plane: int | None = None
    pod: int | None = None
    group: int | None = None
    rail: int | None = None
    rack: Shown | None = None
    unit: int | None = None
    stage: int
    system: Shown | None = None
    management: Shown
    loopback: Shown | None = None
    asn: int | None = None


class PortRow(Strict):
    """A port in use: the device's name, what its system calls the port, what the design does; where it is."""

    device: Shown
    name: Shown
    alias: Shown | None = None
    port: Shown
    cage: int
    lane: int
    lanes: int
    address: Shown | None = None


class EndRow(Strict):
    """An end of a link, by the names that systems have."""

    device: Shown
    port: Shown


class PlannedLinkRow(Strict):
    """A link; ``a`` is nearer the servers."""

    network: Shown
    kind: Shown
    a: EndRow
    b: EndRow
    gbps: float
    cable: Shown | None = None
    medium: Shown | None = None
    length_m: float | None = None
    subnet: Shown | None = None


class VrfLinkRow(Strict):
    """What a VRF has of a link between switches: the ports of the link, which carry it with its VLAN, and addresses."""

    network: Shown
    vlan: int
    a: EndRow
    b: EndRow
    a_address: Shown
    b_address: Shown
    subnet: Shown


class PlanFile(Strict):
    """A plan of one stage of a design. ``plan``: the edition of this format; ``sha256``: of the case."""

    plan: Literal[1]
    case: Shown
    sha256: Shown
    stage: Shown
    number: int
    site: Shown
    asns: Shown
    pools: tuple[PoolRow, ...]
    queues: Queues
    networks: tuple[NetworkRow, ...]
    devices: tuple[DeviceRow, ...]
    ports: tuple[PortRow, ...]
    links: tuple[PlannedLinkRow, ...]
    vrf_links: tuple[VrfLinkRow, ...] = ()
    notes: tuple[Annotated[str, Field(max_length=4000)], ...] = ()
