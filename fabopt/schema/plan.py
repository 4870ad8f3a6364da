"""The file of a plan: what ``fabopt export --to plan`` writes, and ``fabopt check`` proves again."""

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict
from fabopt.schema.operate import Queues

PLAN_FORMAT = 1
Shown = Annotated[str, Field(max_length=300)]


class PoolRow(Strict):
    """How many places of a pool are given out.

    Attributes:
        key: Key of the case that gives the pool.
        pool: The pool.
        used: Places given out.
        size: Places of the pool.
    """

    key: Shown
    pool: Shown
    used: int
    size: int


class SubnetRow(Strict):
    """The subnet of a leaf.

    Attributes:
        device: Name of the leaf.
        subnet: The subnet.
    """

    device: Shown
    subnet: Shown


class NetworkRow(Strict):
    """A fabric, or a logical one on its switches.

    Attributes:
        name: Name of the network.
        fabric: Fabric whose switches carry it.
        role: What it is for.
        protocol: Ethernet or InfiniBand.
        vlan: Its VLAN.
        vrf: Its VRF.
        routed: Whether ports of hosts have addresses of their own.
        subnets: Subnets of leaves.
    """

    name: Shown
    fabric: Shown
    role: Shown
    protocol: Literal["ethernet", "infiniband"]
    vlan: int | None = None
    vrf: Shown | None = None
    routed: bool = False
    subnets: tuple[SubnetRow, ...] = ()


class DeviceRow(Strict):
    """A device.

    Attributes:
        name: Its name.
        device: The design's name of it.
        role: Its role.
        product: Id of the product.
        fabric: Its fabric.
        plane: Its plane.
        pod: Its pod.
        group: Its leaf group.
        rail: Its rail.
        rack: Its rack.
        unit: Its lowest rack unit.
        stage: Number of the stage that installs it.
        system: System that runs on it.
        management: Its management address.
        loopback: Its loopback address.
        asn: Its autonomous system number.
    """

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
    """A port in use.

    Attributes:
        device: Name of the device.
        name: What its system calls the port.
        alias: Alias of the port.
        port: What the design calls the port.
        cage: Its cage.
        lane: Its first lane in the cage.
        lanes: Its lanes.
        address: Its address.
    """

    device: Shown
    name: Shown
    alias: Shown | None = None
    port: Shown
    cage: int
    lane: int
    lanes: int
    address: Shown | None = None


class EndRow(Strict):
    """An end of a link, by the names that systems have.

    Attributes:
        device: Name of the device.
        port: Name of the port.
    """

    device: Shown
    port: Shown


class PlannedLinkRow(Strict):
    """A link.

    Attributes:
        network: Network that it serves.
        kind: Kind of link.
        a: The end nearer to the servers.
        b: The other end.
        gbps: Speed, in Gb/s.
        cable: Label of the cable.
        medium: Medium of the cable.
        length_m: Length, in metres.
        subnet: Subnet of the link.
    """

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
    """What a VRF has of a link between switches.

    Attributes:
        network: The logical network.
        vlan: VLAN on the link.
        a: The end nearer to the servers.
        b: The other end.
        a_address: Address at that end.
        b_address: Address at the other end.
        subnet: Subnet of the two.
    """

    network: Shown
    vlan: int
    a: EndRow
    b: EndRow
    a_address: Shown
    b_address: Shown
    subnet: Shown


class PlanFile(Strict):
    """A plan of one stage of a design.

    Attributes:
        plan: Edition of this format.
        case: Name of the case.
        sha256: SHA-256 of the case.
        design: Path of the design file, from the folder of the plan.
        stage: Name of the stage.
        number: Number of the stage.
        site: Name of the site.
        asns: Pool of autonomous system numbers.
        pools: Pools, and what is given out.
        queues: How classes of traffic are told apart.
        networks: Networks.
        devices: Devices.
        ports: Ports in use.
        links: Links.
        vrf_links: What VRFs have of links between switches.
        notes: What a reader must know.
    """

    plan: Literal[1]
    case: Shown
    sha256: Shown
    design: Shown | None = None
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
