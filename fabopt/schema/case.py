"""The case: what the user wants. Defaults here are the contract's; nothing is resolved yet."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from fabopt.errors import cut
from fabopt.schema.attachment import Attachment, RackId, is_open
from fabopt.schema.base import Count, Gbps, Identifier, Ratio, Reference, Strict, Text, Word
from fabopt.schema.charges import Charge, check_charges
from fabopt.schema.default_rules import RuleChoices
from fabopt.schema.distances import Distances
from fabopt.schema.finance import Finance
from fabopt.schema.growth import Growth
from fabopt.schema.homing import Homing, Pairing, check_pairs
from fabopt.schema.operate import Operate, OperateSaid, Roce
from fabopt.schema.procurement import Procurement
from fabopt.schema.rack_rules import PinnedRacks, RackGroups, RackIds, RackRules
from fabopt.schema.resilience import DEFAULT_RULE, AnyResilience, Homed, Resilience, keeps_default, losses_of
from fabopt.schema.roles import Carried, Isolation, OutOfBand, Separation, SharedPort, StorageDemand
from fabopt.schema.scenarios import GrowthScenario, check_probabilities, check_regret, scenarios_of
from fabopt.schema.server import Role
from fabopt.schema.stages import KEBAB, Servers, is_certain
from fabopt.schema.stages import CaseLimits as CaseLimits
from fabopt.schema.stages import Limits as Limits
from fabopt.schema.stages import Oversubscription as Oversubscription
from fabopt.schema.stages import Stage as Stage
from fabopt.schema.stages import StageDemand as StageDemand
from fabopt.schema.structure import SpineTypes
from fabopt.schema.workload import Workload

Any_ = Literal["any"]
Ids = Annotated[tuple[Identifier, ...], Field(min_length=1)]
CALENDAR_MONTH = r"^20[0-9]{2}-(?:0[1-9]|1[0-2])$"
Topology = Literal["clos", "rail-only", "dragonfly", "dragonfly+", "torus", "hyperx", "any"]
Metric = Literal["capex_usd", "tco_usd", "power_w", "usd_per_effective_gpu"]
# Servers and network over GPUs that work.
EFFECTIVE: Final = "usd_per_effective_gpu"
NetworkRacks = Literal["any", "middle", "end", "row"]
# The largest halls have some thousands of racks; the tables of a floor grow with the square of the crossings.
MAX_ROWS = 1000
MAX_RACKS_PER_ROW = 1000
MAX_RACKS = 20_000
MAX_CROSSINGS = 4000
RackSide = Annotated[float, Field(ge=0.1, le=10)]
Length = Annotated[float, Field(ge=0, le=100)]
CrossPosition = Annotated[int, Field(ge=0, le=MAX_RACKS_PER_ROW)]


class SwitchChoice(Strict):
    """Which switches each tier may use."""

    leaf: Any_ | Ids = "any"
    spine: Any_ | Ids = "any"
    core: Any_ | Ids = "any"


Tier = Literal[1, 2, 3]
TorusNodes = Literal["any", "switches", "servers"]


class Fabric(Strict):
    """One fabric that is designed. ``carries``: filled in where fabrics of the case share this one.

    ``host``: the fabric whose switches carry it, if its separation is logical; None: the compute fabric.
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
        return Homed(self.role, self.homing, self.pairing, gpus)

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


class Floor(Strict):
    """The floor plan: equal racks in parallel rows, cable trays above them. Lengths are in metres.

    A rack is named by its row's letters and its number, ``A01``. What depends on several keys (ids, positions, what
    fits a rack) is checked where the server is known too.
    """

    rows: Annotated[int, Field(ge=1, le=MAX_ROWS)]
    racks_per_row: Annotated[int, Field(ge=1, le=MAX_RACKS_PER_ROW)]
    rack_pitch_m: RackSide = 0.6
    rack_depth_m: RackSide = 1.2
    aisle_m: Length | tuple[Length, ...] = 1.2
    rack_units: Annotated[int, Field(ge=1, le=100)] = 48
    rack_power_w: Annotated[float, Field(gt=0, le=1e7)] | None = None
    tray_height_m: Annotated[float, Field(gt=0, le=100)] = 2.6
    drop_m: Length = 0.3
    slack_m: Length = 0.5
    cross_trays: Annotated[tuple[CrossPosition, ...], Field(min_length=1)] | None = None
    blocked: tuple[RackId, ...] = ()
    reserved: tuple[RackId, ...] = ()
    network_racks: NetworkRacks | RackIds = "any"
    server_racks: Annotated[RackIds | None, Field(exclude_if=is_open)] = None

    @property
    def named_racks(self) -> tuple[str, ...]:
        """Ids of the racks that it names for servers, and for switches of any tier."""
        for_switches = self.network_racks if isinstance(self.network_racks, tuple) else ()
        return (*(self.server_racks or ()), *for_switches)

    @property
    def cross_positions(self) -> tuple[int, ...]:
        """Where trays cross the rows, in order: 0 is before a row's first rack; both ends if nothing is given."""
        return tuple(sorted({0, self.racks_per_row} if self.cross_trays is None else self.cross_trays))

    @property
    def aisles_m(self) -> tuple[float, ...]:
        """The widths between the rows, one fewer than rows."""
        return self.aisle_m if isinstance(self.aisle_m, tuple) else (self.aisle_m,) * (self.rows - 1)

    @model_validator(mode="after")
    def _tables_fit_memory(self) -> Self:
        if self.rows * self.racks_per_row > MAX_RACKS:
            raise ValueError(f"{self.rows} rows of {self.racks_per_row} are more than {MAX_RACKS:,} racks")
        crossings = self.rows * len(self.cross_positions)
        if crossings > MAX_CROSSINGS:
            raise ValueError(
                f"cross trays meet the rows at {crossings:,} points; at most {MAX_CROSSINGS:,} are allowed"
            )
        return self


class Site(Strict):
    """Where things stand: on a floor, or at flat distances. ``attachment-leaf`` and ``leaf-leaf`` (a peer link) absent:
    as a given ``server-leaf``.

    ``servers_per_rack`` absent: with a floor, the most that fit a rack beside what ``rack_rules`` keep in it.
    """

    distances_m: Distances | None = None
    floor: Floor | None = None
    servers_per_rack: Count | None = None
    rack_rules: RackRules = RackRules()

    @model_serializer(mode="wrap")
    def _without_the_usual(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = handler(self)
        if self.rack_rules == RackRules():
            content.pop("rack_rules", None)
        return content

    @property
    def says_servers_per_rack(self) -> bool:
        """Whether it is known how many servers a rack has, from here or from the floor."""
        return self.servers_per_rack is not None or self.has_floor

    @property
    def has_floor(self) -> bool:
        """Whether things stand on a floor, not at flat distances."""
        return self.floor is not None


Units = Annotated[int, Field(ge=0, le=1_000_000_000)]
# How a price may be known.
Basis = Literal["list", "street", "quote", "paper", "estimate", "derived"]


def is_any(value: object) -> bool:
    """Whether a choice leaves all open."""
    return value == "any"


def is_empty(value: object) -> bool:
    """Whether nothing is said."""
    return not value


class Case(Strict):
    """A whole case file. ``start``: the calendar month, as ``2026-01``, that is month 0.

    ``price_basis``: kinds of prices that may be used; ``only_priced_by``: price books beside which nothing has a price,
    the server and what is built into it aside; ``have``: units that are there already, by id, and by length in metres
    of what is sold by length.
    """

    name: Annotated[str, Field(pattern=KEBAB, max_length=100)]
    description: Text = ""
    catalog: Annotated[tuple[Reference, ...], Field(min_length=1)] = ("reference",)
    prices: tuple[Reference, ...] = ()
    price_basis: Annotated[
        Literal["any"] | Annotated[tuple[Basis, ...], Field(min_length=1)], Field(exclude_if=is_any)
    ] = "any"
    only_priced_by: Annotated[tuple[Reference, ...], Field(exclude_if=is_empty)] = ()
    have: Annotated[dict[Identifier, Units | dict[float, Units]], Field(exclude_if=is_empty)] = {}
    charges: Annotated[tuple[Charge, ...], Field(exclude_if=is_empty)] = ()
    server: Identifier
    servers: Servers | None = None
    gpus: Servers | None = None
    stages: Annotated[tuple[Stage, ...], Field(min_length=1)] | None = None
    scenarios: Annotated[tuple[GrowthScenario, ...], Field(exclude_if=is_empty)] = ()
    start: Annotated[str, Field(pattern=CALENDAR_MONTH)] | None = None
    workload: Workload | None = None
    fabrics: Annotated[tuple[Fabric, ...], Field(min_length=1)] = (Fabric(name="compute"),)
    site: Site = Site()
    rules: RuleChoices = {}
    limits: CaseLimits = CaseLimits()
    resilience: AnyResilience = DEFAULT_RULE
    finance: Finance = Finance()
    growth: Growth = Growth()
    procurement: Procurement = Procurement()
    operate: OperateSaid = Operate()
    include_servers: bool = False
    objective: Metric = "capex_usd"
    maximize: Literal["gbps_per_gpu", "servers", "bisection"] = "gbps_per_gpu"

    @property
    def is_uncertain(self) -> bool:
        """Whether growth may end before its last stage."""
        return bool(self.futures)

    @property
    def futures(self) -> tuple[GrowthScenario, ...]:
        """All ways in which growth may come; none where it is certain."""
        return scenarios_of(self.stages or (), self.scenarios)

    @property
    def pinned_racks(self) -> frozenset[str]:
        """Ids of the racks that the case names for the switches of some tier."""
        return frozenset(rack for fabric in self.fabrics for racks in fabric.pinned.values() for rack in racks)

    def resilience_of(self, fabric: Fabric) -> AnyResilience:
        """What holds for a fabric: its own words, else the case's."""
        return self.resilience if fabric.resilience is None else fabric.resilience

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        given = [self.servers is not None, self.gpus is not None, self.stages is not None]
        if sum(given) != 1:
            raise ValueError("give exactly one of `stages`, `servers` and `gpus`")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        for noun, names in (
            ("fabrics", [fabric.name for fabric in self.fabrics]),
            ("stages", [stage.name for stage in self.stages or ()]),
        ):
            twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
            if twice is not None:
                raise ValueError(f"two {noun} have the same name, `{twice}`")
        return self

    @model_validator(mode="after")
    def _stage_fabrics_exist(self) -> Self:
        known = {fabric.name for fabric in self.fabrics}
        for stage in self.stages or ():
            for name in stage.fabrics:
                if name not in known:
                    raise ValueError(f"stage `{stage.name}` names the fabric `{cut(name)}`, which is not in `fabrics`")
        return self

    @model_validator(mode="after")
    def _charges_go_together(self) -> Self:
        check_charges(self.charges)
        return self

    @model_validator(mode="after")
    def _months_rise(self) -> Self:
        for index, (above, stage) in enumerate(pairwise(self.stages or ()), start=1):
            if stage.month < above.month:
                raise ValueError(
                    f"stages must be in order: `stages[{index}].month` is {stage.month}, before the {above.month} of "
                    f"the stage above it, `{above.name}`"
                )
        return self

    @model_validator(mode="after")
    def _probabilities_are_weighed(self) -> Self:
        stages = self.stages or ()
        check_probabilities(stages, self.scenarios)
        if self.growth.decide_by == "regret":
            check_regret(self.futures)
        if not self.is_uncertain:
            return self
        likely = next((number for number, stage in enumerate(stages) if not is_certain(stage.probability)), None)
        key = (
            "`scenarios` are given"
            if likely is None
            else f"`stages[{likely}].probability` is {stages[likely].probability}"
        )
        if self.objective != "tco_usd":
            raise ValueError(
                f"{key}, and `objective` is {self.objective}: what growth costs that may not come is weighed as "
                "`objective: tco_usd`"
            )
        if self.scenarios and self.growth.recabling == "allow":
            raise ValueError(
                "`scenarios` are given, and `growth.recabling` is allow: moves are planned for stages that come one by "
                "one; say how likely these are with `stages[].probability`"
            )
        return self
