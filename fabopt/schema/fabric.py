"""A fabric of a case: one network that is designed."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.attachment import Attachment
from fabopt.schema.base import Count, Gbps, Identifier, Ratio, Strict, Word, is_open
from fabopt.schema.operate import Roce
from fabopt.schema.rack_rules import PinnedRacks, RackGroups
from fabopt.schema.resilience import (
    AnyResilience,
    Homed,
    Homing,
    Pairing,
    Resilience,
    asks_for_pair,
    check_pairs,
    keeps_default,
    losses_of,
)
from fabopt.schema.roles import Carried, Isolation, OutOfBand, Separation, SharedPort, StorageDemand
from fabopt.schema.server import Role
from fabopt.schema.stages import KEBAB, Oversubscription
from fabopt.schema.structure import SpineTypes

Any_ = Literal["any"]
Ids = Annotated[tuple[Identifier, ...], Field(min_length=1)]
Topology = Literal["clos", "rail-only", "dragonfly", "dragonfly+", "torus", "hyperx", "any"]


# The longest round trip that may be asked for, in microseconds.
MOST_US = 1e6


class SwitchChoice(Strict):
    """Which switches each tier of a fabric may use.

    Attributes:
        leaf: Switches that leaves may be; `any`, or ids of the catalog.
        spine: Switches that spines may be; `any`, or ids of the catalog.
        core: Switches that cores may be; `any`, or ids of the catalog.
    """

    leaf: Any_ | Ids = "any"
    spine: Any_ | Ids = "any"
    core: Any_ | Ids = "any"


Tier = Literal[1, 2, 3]
TorusNodes = Literal["any", "switches", "servers"]


class Fabric(Strict):
    """One network to design, with switches of its own unless `separation` says otherwise.

    Attributes:
        name: Name of the fabric; lower-case words joined by `-`.
        role: What the fabric is for; decides the built-in NICs that it uses and its defaults. In a case file a fabric
            that is named for a role, as `storage` or `out-of-band`, has that role where none is written.
        protocol: Ethernet or InfiniBand; a fabric never mixes them.
        topologies: Families of networks (topologies) to choose from; `any` is all that can do what the case asks for.
        tiers: Tiers of switches, 1, 2 or 3, or a list of them.
        planes: Disjoint copies of the network; every NIC has the same number of ports in each. `rails` makes each rail
            a plane; `any` looks at all that NICs can do, and at rails.
        rails: `aligned`: one port of a server on each leaf of its group. `any`: several ports of a server may share a
            leaf.
        striping: How a leaf's uplinks are dealt to spines. `even`: equally many to each. `rail`, `any`: numbers may
            differ by one, on all leaves of a rail alike or anywhere.
        homing: How many switches a server is on. `pair`: at least two. `dual`: each NIC on two leaves. `single`: one
            leaf a plane. Null: the role's.
        pairing: What joins the two leaves of a server. `peer-link`: two cables, for MLAG. `multihoming`: EVPN, without
            cables. `none`: nothing. Null: the role's.
        torus_nodes: What stands at the points of a torus, switches or servers that pass traffic on; `any` is the
            cheaper.
        nics: NICs that may be chosen; `any`, or ids of the catalog. Naming some sets aside the rules on which NICs are
            chosen.
        nics_per_server: NICs in each server for this fabric; a number, a list, or `any` up to the server's slots.
        min_gbps_per_gpu: Injection bandwidth that each GPU must get, in Gb/s, through its ports and its PCIe slot. Null
            is the role's default.
        min_gbps_per_server: The same for a whole server, in Gb/s, where that is easier to say.
        max_oversubscription: Most oversubscription, the ratio of bandwidth below to that above, allowed at each
            boundary between tiers; one number, or one for each boundary. Null is the profile's, else 1.
        min_alltoall_gbps_per_gpu: Least rate of uniform traffic between all GPUs, in Gb/s for each GPU, at the last
            stage.
        min_bisection_gbps_per_gpu: Least bandwidth across the worst half of the cluster, in Gb/s for each GPU, at the
            last stage.
        min_allreduce_gbps_per_gpu: Least rate of ring all-reduces along every rail, in Gb/s for each GPU, at the last
            stage.
        max_latency_us: Longest base round trip without load between any two servers, in microseconds, as
            `fabopt export --to latency` counts it. What has no figure in the catalog is not chosen.
        max_switch_hops: Most switches on the shortest path between any two servers, which sets latency; a Clos of one,
            two, three tiers has 1, 3, 5.
        storage: Storage traffic to carry, from which the bandwidth follows; of role `storage` only.
        oob: What an out-of-band fabric counts beside servers; of role `oob` only.
        separation: How the fabric is kept apart. `physical`: own switches. `logical`: own NICs on another fabric's
            switches. `shared`: on the NICs of compute. `any`: the cheapest.
        isolation: The least separation that `separation` `any` may choose.
        shared_port: Of a fabric on the NICs of compute. `reserved`: its bandwidth is part of the port that compute asks
            for. `added`: the port gives it on top.
        host: The physical fabric whose switches carry this one, if its separation is logical. Null is the compute
            fabric.
        carries: Fabrics of the case that share this one. Filled in when a case is resolved; not to be written.
        resilience: What the fabric must survive, in place of the case's `resilience`.
        group_by: Servers of a leaf group. `any` number, exactly one `rack`, or a number of racks.
        groups: `any` lets the last leaf group have a leaf type, ports and uplinks of its own. `equal` makes it like the
            others.
        spines: Removed in 0.3; only `one-type` is accepted.
        switches: Switches that each tier may use.
        attachments: Other devices on the fabric's switches, such as storage nodes and hosts of subnet managers.
        reserve_ports: Share of each leaf's down ports that is kept free, 0.1 for 10 %.
        racks: Racks of the floor for the switches of each tier.
        roce: What switches must hold without loss. Given, a switch whose packet memory is too small is not chosen.
    """

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    role: Role = "compute"
    protocol: Literal["any", "ethernet", "infiniband"] = "any"
    topologies: Annotated[tuple[Topology, ...], Field(min_length=1)] = ("clos",)
    tiers: Any_ | Tier | Annotated[tuple[Tier, ...], Field(min_length=1)] = "any"
    planes: Any_ | Literal["rails"] | Count | Annotated[tuple[Count, ...], Field(min_length=1)] = 1
    rails: Literal["aligned", "any"] = "aligned"
    striping: Literal["even", "any", "rail"] = "even"
    homing: Homing | None = None
    pairing: Annotated[Pairing | None, Field(exclude_if=is_open)] = None
    torus_nodes: TorusNodes = "any"
    nics: Any_ | Ids = "any"
    nics_per_server: Any_ | Count | Annotated[tuple[Count, ...], Field(min_length=1)] = "any"
    min_gbps_per_gpu: Gbps | None = None
    min_gbps_per_server: Gbps | None = None
    max_oversubscription: Ratio | Oversubscription | None = None
    min_alltoall_gbps_per_gpu: Gbps | None = None
    min_bisection_gbps_per_gpu: Gbps | None = None
    min_allreduce_gbps_per_gpu: Gbps | None = None
    max_latency_us: Annotated[float | None, Field(gt=0, le=MOST_US, exclude_if=is_open)] = None
    max_switch_hops: Annotated[int, Field(ge=1, le=1000)] | None = None
    storage: StorageDemand | None = None
    oob: OutOfBand | None = None
    separation: Separation = "physical"
    isolation: Isolation = "none"
    shared_port: Annotated[SharedPort | None, Field(exclude_if=is_open)] = None
    host: Word | None = None
    carries: tuple[Carried, ...] = ()
    resilience: AnyResilience | None = None
    group_by: Literal["any", "rack"] | RackGroups = "any"
    groups: Literal["any", "equal"] = "any"
    spines: SpineTypes = "one-type"
    switches: SwitchChoice = SwitchChoice()
    attachments: tuple[Attachment, ...] = ()
    reserve_ports: Annotated[float, Field(ge=0, lt=1)] = 0
    racks: Annotated[PinnedRacks | None, Field(exclude_if=is_open)] = None
    roce: Annotated[Roce | None, Field(exclude_if=is_open)] = None

    @property
    def names_places(self) -> bool:
        """Whether it has keys that need a floor."""
        racks = self.racks or any(attachment.racks for attachment in self.attachments)
        return bool(racks) or self.hall_ratio is not None

    @property
    def hall_ratio(self) -> float | None:
        """The most oversubscription of what leaves a hall; None: any."""
        said = self.max_oversubscription
        return said.hall if isinstance(said, Oversubscription) else None

    @property
    def pinned(self) -> Mapping[str, tuple[str, ...]]:
        """Ids of the racks that switches of a tier are pinned to, by tier."""
        return {} if self.racks is None else self.racks.by_tier

    @property
    def lossless(self) -> Roce | None:
        """What its ports hold without loss: as ``roce`` says, one priority where RDMA goes over it, None elsewhere."""
        roles = {self.role, *(carried.role for carried in self.carries)}
        return self.roce or (Roce() if roles & {"compute", "storage"} else None)

    @property
    def on_own_nics(self) -> tuple[Carried, ...]:
        """The logical fabrics that it carries: they have NICs of their own on its switches."""
        return tuple(carried for carried in self.carries if carried.separation == "logical")

    @property
    def survived(self) -> tuple[Resilience, ...]:
        """All that it must survive by its own words; where it has none, see ``Case.resilience_of``."""
        return losses_of(self.resilience)

    @property
    def racks_per_group(self) -> int | None:
        """How many racks of servers a leaf group is exactly; None where it may be of any size."""
        if isinstance(self.group_by, RackGroups):
            return self.group_by.racks
        return 1 if self.group_by == "rack" else None

    def asked_of(self, gpus: int) -> Homed:
        """What parts of the default rule of resilience follow from; ``gpus``: of all servers at last."""
        return Homed(self.role, self.homing, self.pairing, gpus, self.shares_pairs or any(self.logical_pairs))

    @property
    def shares_pairs(self) -> bool:
        """Whether the default rule of pairs is about its own NICs for what shares them."""
        shared = (one for one in self.carries if one.separation == "shared")
        return self.homing is None and any(asks_for_pair(one.role, one.homing) for one in shared)

    @property
    def logical_pairs(self) -> Iterator[str]:
        """The logical fabrics on its switches that the default rule of pairs is about."""
        yield from (one.name for one in self.on_own_nics if asks_for_pair(one.role, one.homing))

    @property
    def keeps_default(self) -> bool:
        """Whether the default rule of its role holds, by its own words."""
        return keeps_default(self.resilience)

    @model_validator(mode="after")
    def _leaves_of_pairs_are_two(self) -> Self:
        check_pairs(self.homing, self.pairing)
        return self

    @model_validator(mode="after")
    def _roce_is_ethernet(self) -> Self:
        if self.roce is not None and self.protocol == "infiniband":
            raise ValueError("`roce` is for Ethernet, and `protocol` is infiniband")
        return self

    @model_validator(mode="after")
    def _attachment_names_differ(self) -> Self:
        names = [attachment.name for attachment in self.attachments]
        if len(set(names)) != len(names):
            raise ValueError("two attachments of one fabric have the same name")
        return self

    @model_validator(mode="after")
    def _one_demand(self) -> Self:
        keys = ("min_gbps_per_gpu", "min_gbps_per_server", "storage")
        given = [key for key in keys if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"give one of `{'` and `'.join(given)}`: they say the same thing")
        return self

    @model_validator(mode="after")
    def _keys_suit_role(self) -> Self:
        for key in ("storage", "oob"):
            if getattr(self, key) is not None and self.role != key:
                raise ValueError(f"`{key}` goes with `role: {key}`, not with `role: {self.role}`")
        return self
