"""A fabric in a design file: its tiers, links, places and figures."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.attachment import FreePorts
from fabopt.schema.base import Strict, is_as, is_empty, is_open
from fabopt.schema.in_service import FabricMoves
from fabopt.schema.losses import RuleStanding
from fabopt.schema.resilience import UNJOINED, Failed, Homing, Pairing
from fabopt.schema.roles import SharedUse
from fabopt.schema.structure import AnyStructure, DirectStructure, Structure
from fabopt.schema.structured import StructuredKind
from fabopt.schema.subnet_manager import SubnetManagerSaid
from fabopt.schema.tiers import PeerLinkUse, StandInUse, TierUse

Number = int | float
DeviceRole = Literal["server", "attachment", "leaf", "spine", "core"]


class NicUse(Strict):
    """The NIC in every server.

    Attributes:
        id: Id of the NIC.
        per_server: NICs in each server.
        ports_per_nic: Ports of each that are cabled, over all planes.
        gbps: Speed of each port, in Gb/s.
        split: How each cage is split.
        cage_group: Group of cages that is used, as an index into its `cages`.
        built_in: Whether it comes with the server.
        stand_ins: Those that are bought as another vendor's offer of the same product.
    """

    id: str
    per_server: int
    ports_per_nic: int
    gbps: Number
    split: str
    cage_group: int
    built_in: bool
    stand_ins: Annotated[tuple[StandInUse, ...], Field(exclude_if=is_empty)] = ()


class LogicalUse(Strict):
    """A fabric of the case on this one's switches, in a VLAN and VRF of its own.

    Attributes:
        name: Name of the fabric.
        role: What the fabric is for.
        nic: NICs of its own.
        injection_gbps_per_gpu: Bandwidth that each GPU gets of it, in Gb/s.
    """

    name: str
    role: str
    nic: NicUse
    injection_gbps_per_gpu: Number


class LinkPart(Strict):
    """Parts of a row of links.

    Attributes:
        id: Id of the part.
        quantity: Number of parts.
        end: End of the link where a transceiver sits.
        length_m: Length bought, in metres.
    """

    id: str
    quantity: int
    end: Literal["from", "to"] | None = None
    length_m: Number | None = None


class LinkRow(Strict):
    """Links of one kind that are realised alike.

    Attributes:
        from_: Role of the devices at the lower end.
        to: Role of the devices at the upper end.
        count: Number of links, one for each pair of ports.
        gbps: Speed of a link, in Gb/s.
        length_m: Run, in metres; on a floor, the longest class of lengths.
        medium: Medium of the cable or fibre.
        attachment: Name of the attachment at the lower end.
        from_cages: Occupied cages at the lower end that these links account for, over all devices.
        to_cages: Occupied cages at the upper end that these links account for, over all devices.
        parts: Parts that make the links.
        runs_m: On a floor, the class of lengths of each link of a cage, in order of ports.
        stages: Stage from which on each link of a cage is there, in order of ports. Null where one assembly makes all.
        scope: Which links between switches of one role these are. Null where the roles say it.
    """

    from_: Annotated[DeviceRole, Field(alias="from")]
    to: DeviceRole
    count: int
    gbps: Number
    length_m: Number
    medium: str
    attachment: str | None = None
    from_cages: int
    to_cages: int
    parts: tuple[LinkPart, ...]
    runs_m: Annotated[tuple[Number, ...], Field(min_length=1)] | None = None
    stages: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    scope: str | None = None


class Metrics(Strict):
    """Bandwidth figures, see docs/bandwidth.md.

    Null: the file is from before the figure was, or the graph is too large.

    Attributes:
        injection_gbps_per_gpu: Bandwidth that each GPU can send, through ports and PCIe, in Gb/s.
        bisection_gbps_per_gpu: Bandwidth across the worst balanced cut, in Gb/s for each GPU.
        alltoall_gbps_per_gpu: Largest equal rate of uniform traffic, in Gb/s for each GPU.
        max_switch_hops: Switches on the longest shortest path.
        permutation_gbps_per_gpu: Upper bound of the throughput of the worst permutation, in Gb/s for each GPU.
        allreduce_gbps_per_gpu: Rate of ring all-reduces along the rails, in Gb/s for each GPU.
        mean_switch_hops: Mean number of switches on shortest paths.
        max_nic_hops: Servers that pass traffic on along the longest shortest path, where there is no switch.
        single_flow_gbps: Bandwidth that one flow can have between any two servers, in Gb/s.
    """

    injection_gbps_per_gpu: Number
    bisection_gbps_per_gpu: Number
    alltoall_gbps_per_gpu: Number
    max_switch_hops: int
    permutation_gbps_per_gpu: Number | None = None
    allreduce_gbps_per_gpu: Number | None = None
    mean_switch_hops: Number | None = None
    max_nic_hops: int | None = None
    single_flow_gbps: Annotated[Number | None, Field(exclude_if=is_open)] = None


class Failure(Strict):
    """What is left when devices or links of a kind fail at the worst places, see docs/bandwidth.md.

    Attributes:
        failed: Kind of what fails.
        count: How many fail.
        gbps_per_gpu: Bandwidth that is left for each GPU, in Gb/s.
        servers_cut_off: Servers cut off from the largest part that stays joined. Null for more than one failure.
        made_up_gbps_per_gpu: The same where servers deal traffic over planes by what each still carries, in Gb/s.
        with_switch_gbps_per_gpu: Of a plane (failed, or out of service for an upgrade), what is left if a switch of
            another plane fails too, in Gb/s.
        worst: The rack whose loss leaves least.
        servers_lost: Servers in that rack, which the other figures leave out.
    """

    failed: Failed
    count: int
    gbps_per_gpu: Number
    servers_cut_off: int | None = None
    made_up_gbps_per_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    with_switch_gbps_per_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    worst: Annotated[str | None, Field(exclude_if=is_open)] = None
    servers_lost: Annotated[int | None, Field(exclude_if=is_open)] = None


class StageStructure(Strict):
    """A fabric as it is at one stage; words of ``Structure``, counts over all planes.

    Attributes:
        stage: Name of the stage.
        groups: Leaf groups.
        pods: Pods.
        spines_per_pod: Spines of a pod.
        links_per_pair: Links of a leaf to each spine; may be more than at the last stage where recabling is allowed.
        cores_per_group: Cores of a core group.
        links_per_core_pair: Links between a spine and each core of its group.
        leaves: Number of leaves.
        spines: Number of spines.
        cores: Number of cores.
        cables: Number of cables and fibres.
        moved_cables: Cables that this stage takes from a port where an earlier stage put them.
        free_leaf_ports: Ports of leaves, in cages of their use, that nothing is plugged into.
        free_spine_ports: Ports of spines, in cages of their use, that nothing is plugged into.
        oversubscription: Oversubscription at each boundary.
        metrics: Bandwidth figures at this stage.
    """

    stage: str
    groups: int
    pods: int
    spines_per_pod: int
    links_per_pair: int
    cores_per_group: int
    links_per_core_pair: int
    leaves: int
    spines: int
    cores: int
    cables: int
    moved_cables: int
    free_leaf_ports: int
    free_spine_ports: int
    oversubscription: dict[str, Number]
    metrics: Metrics

    def switches(self, role: str) -> int:
        """Number of switches of a tier."""
        return {"leaf": self.leaves, "spine": self.spines, "core": self.cores}[role]


Place = tuple[str, int]


class Placement(Strict):
    """Where the switches of a fabric are, as (rack, lowest unit) of each in the order of their numbers.

    Attributes:
        policy: How racks were filled.
        leaf: Places of leaves.
        spine: Places of spines.
        core: Places of cores.
        attachments: Places of attached devices that are in racks, by name.
    """

    policy: str
    leaf: tuple[Place, ...]
    spine: tuple[Place, ...] = ()
    core: tuple[Place, ...] = ()
    attachments: dict[str, tuple[Place, ...]] = {}


NO_PLACES = Placement(policy="", leaf=())


class FabricDesign(Strict):
    """One fabric of the design.

    Attributes:
        name: Name of the fabric.
        role: What the fabric is for.
        topology: Family of the network.
        protocol: Ethernet or InfiniBand.
        planes: Number of planes; counts below are over all of them.
        own_rails: Whether each plane is a rail, ports of one NIC of every server, where the case leaves planes open.
        rails: Leaves that a server group is spread over, in each plane.
        striping: How a leaf's uplinks are dealt to spines.
        structure: Sizes of the network, from which all its links follow.
        nic: The NIC in every server.
        tiers: Tiers of switches at the last stage.
        links: Links by kind, with the parts that make them.
        oversubscription: Oversubscription at each boundary; empty for one tier.
        metrics: Bandwidth figures.
        placement: Where its switches are on the floor.
        growth: The fabric at each stage.
        failures: What is left when something fails.
        homing: How many switches a server is on.
        pairing: What joins the two leaves of a server.
        peer_links: Cables between the two leaves of each pair.
        redundancy: Parts of the default rule of resilience, and whether they are kept.
        logical: Fabrics of the case on its switches, with NICs of their own.
        carries: Fabrics of the case on its NICs.
        free_ports: Switches of the ports of attachments that are on free ones, by the attachment's name.
        subnet_manager: What manages its subnets, of InfiniBand.
        structured: Kinds of links that run through trunks and panels.
        moves: What moves of what is in service, where the case lets it.
    """

    name: str
    role: str
    topology: str
    protocol: str
    planes: int
    own_rails: Annotated[bool, Field(exclude_if=is_empty)] = False
    rails: int
    striping: Literal["even", "any", "rail"]
    structure: AnyStructure
    nic: NicUse
    tiers: tuple[TierUse, ...]
    links: tuple[LinkRow, ...]
    oversubscription: dict[str, Number]
    metrics: Metrics
    placement: Placement | None = None
    growth: tuple[StageStructure, ...] = ()
    failures: tuple[Failure, ...] = ()
    homing: Annotated[Homing, Field(exclude_if=is_as("any"))] = "any"
    pairing: Annotated[Pairing, Field(exclude_if=is_as(UNJOINED))] = UNJOINED
    peer_links: Annotated[PeerLinkUse | None, Field(exclude_if=is_open)] = None
    redundancy: tuple[RuleStanding, ...] = ()
    logical: tuple[LogicalUse, ...] = ()
    carries: Annotated[tuple[SharedUse, ...], Field(exclude_if=is_empty)] = ()
    free_ports: FreePorts = {}
    subnet_manager: SubnetManagerSaid = None
    structured: Annotated[tuple[StructuredKind, ...], Field(exclude_if=is_empty)] = ()
    moves: Annotated[FabricMoves | None, Field(exclude_if=is_open)] = None

    @property
    def joins_pairs(self) -> bool | None:
        """Whether something joins the two leaves of every server; None where servers are on no pairs."""
        has_pairs = self.homing in ("pair", "dual") and bool(self.tiers)
        return self.pairing != UNJOINED if has_pairs else None

    @property
    def places(self) -> Placement:
        """Where its switches are; nowhere without a floor."""
        return self.placement if self.placement is not None else NO_PLACES

    @property
    def switches(self) -> Iterator[TierUse]:
        """Each tier once for each product that is bought for it: managed twins (rule ``subnet-manager``) apart."""
        twins = self.subnet_manager.twins if self.subnet_manager is not None else ()
        for tier in self.tiers:
            own, *others = tier.types
            exchanged = [
                own.model_copy(update={"id": twin.id, "count": twin.count}) for twin in twins if twin.role == tier.role
            ]
            left = own.count - sum(twin.count for twin in exchanged)
            rows = (*exchanged, own.model_copy(update={"count": left}), *others)
            yield from (row for row in rows if row.count)

    @property
    def clos(self) -> Structure:
        """The structure of a Clos; raises ``ValueError`` for another family's."""
        if not isinstance(self.structure, Structure):
            raise ValueError(f"{self.name} is a {self.topology}, not a Clos")
        return self.structure

    @property
    def direct(self) -> DirectStructure:
        """The structure of a network whose switches are joined to each other; raises ``ValueError`` for a Clos."""
        if isinstance(self.structure, Structure):
            raise ValueError(f"{self.name} is a Clos")
        return self.structure


def classes_in_use(fabrics: Iterable[FabricDesign]) -> tuple[Number, ...]:
    """The lengths in metres as which runs on a floor count in the rows of links, rising.

    They are those that rows name for their runs, else those of the row's cables.
    """
    rows = (row for fabric in fabrics if fabric.placement for row in fabric.links if row.from_ != "attachment")
    bought = (row.runs_m or [part.length_m for part in row.parts] for row in rows)
    return tuple(sorted({length_m for lengths in bought for length_m in lengths if length_m is not None}))
