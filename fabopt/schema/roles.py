"""What fabrics beside the compute fabric ask for: storage traffic, ports of management, a place on another network."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Count, Gbps, Identifier, Ratio, Strict, Word, is_open
from fabopt.schema.resilience import Homing
from fabopt.schema.server import Role

Separation = Literal["physical", "shared", "logical", "any"]
# The least that keeps a fabric's traffic apart from others': a QoS class will do, or a VLAN with NICs of its own, or
# nothing but a network of its own.
Isolation = Literal["none", "logical", "physical"]
# Of a fabric on the NICs of another: it takes its part of what these give a GPU, or they give so much more.
SharedPort = Literal["reserved", "added"]
SHARED_PORTS = "shared ports:"
# Of NICs that are faster than what is asked of them.
COULD_GIVE = "built in, could give"


class StorageDemand(Strict):
    """What storage traffic is made of.

    Attributes:
        checkpoint_gb: Size of a checkpoint that all servers write together, in gigabytes of 10^9 bytes.
        checkpoint_window_s: Time within which the checkpoint is written, in seconds.
        loading_gbps_per_gpu: Training data that each GPU reads meanwhile, in Gb/s.
    """

    checkpoint_gb: Annotated[float, Field(gt=0, le=1e9)] | None = None
    checkpoint_window_s: Annotated[float, Field(gt=0, le=1e6)] | None = None
    loading_gbps_per_gpu: Gbps | None = None

    @model_validator(mode="after")
    def _size_and_window(self) -> Self:
        if (self.checkpoint_gb is None) != (self.checkpoint_window_s is None):
            raise ValueError("`checkpoint_gb` and `checkpoint_window_s` are given together")
        if self.checkpoint_gb is None and self.loading_gbps_per_gpu is None:
            raise ValueError("give `checkpoint_gb` and `checkpoint_window_s`, or `loading_gbps_per_gpu`, or all three")
        return self


class OutOfBand(Strict):
    """What an out-of-band fabric counts beside servers.

    Attributes:
        ports_per_switch: Management ports of each switch of all fabrics.
        pdus_per_rack: Power strips in each rack, with a port each.
        pdus: Power strips of the whole site, in place of `pdus_per_rack`.
        switch_racks: Racks with switches and no servers. Filled in on a floor, once it is known how many there are.
    """

    ports_per_switch: Count = 1
    pdus_per_rack: Annotated[int, Field(ge=0, le=100)] = 2
    pdus: Annotated[int, Field(ge=0, le=10**9)] | None = None
    switch_racks: Annotated[int | None, Field(ge=0, le=20_000, exclude_if=is_open)] = None


class Carried(Strict):
    """A fabric that has no switches of its own, as what it adds to the one that carries it.

    Attributes:
        name: Name of the fabric.
        role: What the fabric is for.
        separation: Whether it shares NICs too (`shared`), or has its own (`logical`).
        isolation: The least separation that was allowed.
        shared_port: Of one that shares NICs, whether its bandwidth is part of the port (`reserved`) or on top
            (`added`); absent in files from before it was, on top.
        homing: How ports of its servers lie on switches, as it says; `any` where the default rule of pairs does not
            hold for it.
        nics: NICs that it may have of its own.
        nics_per_server: NICs of its own in each server.
        min_gbps_per_gpu: Bandwidth that each GPU must get of it, in Gb/s.
        max_oversubscription_leaf: Most oversubscription of its traffic at the leaves.
        max_oversubscription_spine: Most oversubscription of its traffic at the spines.
    """

    name: Word
    role: Role
    separation: Literal["shared", "logical"] = "shared"
    isolation: Isolation = "none"
    shared_port: Annotated[SharedPort | None, Field(exclude_if=is_open)] = None
    homing: Annotated[Homing | None, Field(exclude_if=is_open)] = None
    nics: Literal["any"] | Annotated[tuple[Identifier, ...], Field(min_length=1)] = "any"
    nics_per_server: Literal["any"] | Count | Annotated[tuple[Count, ...], Field(min_length=1)] = "any"
    min_gbps_per_gpu: Gbps
    max_oversubscription_leaf: Ratio
    max_oversubscription_spine: Ratio


class SharedUse(Strict):
    """A fabric of the case on this one's NICs.

    Attributes:
        name: Name of the fabric.
        role: What the fabric is for.
        shared_port: Whether its bandwidth is part of the port (`reserved`) or on top (`added`).
        gbps_per_gpu: Its bandwidth, in Gb/s for each GPU.
    """

    name: str
    role: str
    shared_port: SharedPort
    gbps_per_gpu: int | float
