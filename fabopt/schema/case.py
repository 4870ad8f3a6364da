"""The case: what the user wants. Defaults here are the contract's; nothing is resolved yet."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import (
    Count,
    Gbps,
    Identifier,
    Metres,
    Money,
    Ratio,
    Split,
    Strict,
    Text,
    Watts,
    Word,
    parse_split,
)
from fabopt.schema.catalog import Role
from fabopt.schema.workload import Workload
from fabopt.units import mbps

Servers = Annotated[int, Field(ge=1, le=10**12)]
Any_ = Literal["any"]
Ids = Annotated[tuple[Identifier, ...], Field(min_length=1)]
KEBAB = r"^[a-z0-9]+(?:[.-][a-z0-9]+)*$"
Topology = Literal["clos", "rail-only", "dragonfly", "dragonfly+", "torus", "hyperx", "any"]
Metric = Literal["capex_usd", "tco_usd", "power_w"]


class Stage(Strict):
    """One growth stage: servers (or GPUs, a multiple of the server's) from a month on."""

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    month: Annotated[int, Field(ge=0, le=1200)] = 0
    servers: Servers | None = None
    gpus: Servers | None = None

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.servers is None) == (self.gpus is None):
            raise ValueError("give either `servers` or `gpus`")
        return self


class Attachment(Strict):
    """Other endpoints on the leaves: each port takes one leaf port at fabric speed."""

    name: Word
    ports: Count
    gbps: Gbps | None = None
    form_factor: Word | None = None
    split: Split | None = None
    lane_gbps: Gbps | None = None
    buys: Literal["both", "near", "none"] = "both"

    @model_validator(mode="after")
    def _enough_to_buy(self) -> Self:
        if self.buys == "both" and (self.form_factor is None or self.split is None):
            raise ValueError("`buys: both` needs `form_factor` and `split` of the attachment's cage")
        speeds = (None if self.split is None else parse_split(self.split).port_mbps, self.gbps and mbps(self.gbps))
        if None not in speeds and speeds[0] != speeds[1]:
            raise ValueError("`split` and `gbps` name different port speeds")
        return self


class Oversubscription(Strict):
    """The most allowed at each tier boundary; what is absent is the profile's."""

    leaf: Ratio | None = None
    spine: Ratio | None = None


class SwitchChoice(Strict):
    """Which switches each tier may use."""

    leaf: Any_ | Ids = "any"
    spine: Any_ | Ids = "any"
    core: Any_ | Ids = "any"


Tier = Literal[1, 2, 3]


class Fabric(Strict):
    """One fabric that is designed."""

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    role: Role = "compute"
    protocol: Literal["any", "ethernet", "infiniband"] = "any"
    topologies: Annotated[tuple[Topology, ...], Field(min_length=1)] = ("clos",)
    tiers: Any_ | Tier | Annotated[tuple[Tier, ...], Field(min_length=1)] = "any"
    planes: Any_ | Count | Annotated[tuple[Count, ...], Field(min_length=1)] = 1
    rails: Literal["aligned", "any"] = "aligned"
    striping: Literal["even", "any"] = "even"
    nics: Any_ | Ids = "any"
    nics_per_server: Any_ | Count | Annotated[tuple[Count, ...], Field(min_length=1)] = "any"
    min_gbps_per_gpu: Gbps | None = None
    max_oversubscription: Ratio | Oversubscription | None = None
    group_by: Literal["any", "rack"] = "any"
    switches: SwitchChoice = SwitchChoice()
    attachments: tuple[Attachment, ...] = ()
    reserve_ports: Annotated[float, Field(ge=0, lt=1)] = 0

    @model_validator(mode="after")
    def _attachment_names_differ(self) -> Self:
        names = [attachment.name for attachment in self.attachments]
        if len(set(names)) != len(names):
            raise ValueError("two attachments of one fabric have the same name")
        return self


class Distances(Strict):
    """Flat cable lengths in metres."""

    server_leaf: Annotated[Metres, Field(alias="server-leaf")] = 3
    leaf_spine: Annotated[Metres, Field(alias="leaf-spine")] = 30
    spine_core: Annotated[Metres, Field(alias="spine-core")] = 50
    attachment_leaf: Annotated[Metres | None, Field(alias="attachment-leaf")] = None


class Site(Strict):
    """Where things stand. ``attachment-leaf`` absent: as ``server-leaf``."""

    distances_m: Distances = Distances()
    servers_per_rack: Count | None = None


class Limits(Strict):
    """What may be spent over all fabrics."""

    budget_usd: Money | None = None
    power_w: Watts | None = None
    rack_units: Annotated[float, Field(ge=0)] | None = None


class Finance(Strict):
    """What turns power into money. tco = capex + network kW x 8760 h x years x pue x price.

    Defaults: 0.10 USD/kWh (US industrial), PUE 1.4 (a current data hall; the 2025 survey average of all
    is 1.54), five years (usual depreciation).
    """

    energy_usd_per_kwh: Annotated[float, Field(ge=0, le=1000)] = 0.10
    pue: Annotated[float, Field(ge=1, le=10)] = 1.4
    years: Annotated[float, Field(gt=0, le=100)] = 5


class Case(Strict):
    """A whole case file."""

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    description: Text = ""
    catalog: Annotated[tuple[Word, ...], Field(min_length=1)] = ("reference",)
    prices: tuple[Word, ...] = ()
    server: Identifier
    servers: Servers | None = None
    gpus: Servers | None = None
    stages: Annotated[tuple[Stage, ...], Field(min_length=1)] | None = None
    workload: Workload | None = None
    fabrics: Annotated[tuple[Fabric, ...], Field(min_length=1)] = (Fabric(name="compute"),)
    site: Site = Site()
    limits: Limits = Limits()
    finance: Finance = Finance()
    include_servers: bool = False
    objective: Metric = "capex_usd"
    maximize: Literal["gbps_per_gpu", "servers", "bisection"] = "gbps_per_gpu"

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        given = [self.servers is not None, self.gpus is not None, self.stages is not None]
        if sum(given) != 1:
            raise ValueError("give exactly one of `stages`, `servers` and `gpus`")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        for what, names in (
            ("fabrics", [fabric.name for fabric in self.fabrics]),
            ("stages", [stage.name for stage in self.stages or ()]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"two {what} have the same name")
        return self

    @model_validator(mode="after")
    def _months_rise(self) -> Self:
        months = [stage.month for stage in self.stages or ()]
        if months != sorted(months):
            raise ValueError("stages must be in order: a month is before that of the stage above it")
        return self
