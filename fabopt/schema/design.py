"""The design file: one solved case, with everything that is needed to prove it again.

Counts are of the last stage and totals over all planes, unless a name says otherwise. Money is in dollars with
at most two decimals, power in watts, speed in Gb/s, length in metres.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from fabopt.schema.alternative import Alternative as Alternative
from fabopt.schema.attachment import FreePorts, is_open
from fabopt.schema.base import Strict
from fabopt.schema.conflict import Conflict as Conflict
from fabopt.schema.conflict import Needed as Needed
from fabopt.schema.futures import Futures
from fabopt.schema.homing import UNJOINED, Homing, Pairing, is_unjoined, is_usual
from fabopt.schema.left_out import NearestDesign, RuleLeftOut
from fabopt.schema.losses import RuleStanding, SinglePoint, WorstRack
from fabopt.schema.objective import Objective as Objective
from fabopt.schema.prediction import WorkloadUse
from fabopt.schema.product import ChargeWord
from fabopt.schema.resilience import Failed
from fabopt.schema.roles import SharedUse as SharedUse
from fabopt.schema.structure import AnyStructure, DirectStructure, Structure
from fabopt.schema.subnet_manager import SubnetManagerSaid
from fabopt.schema.tiers import OtherSwitchUse as OtherSwitchUse
from fabopt.schema.tiers import PeerLinkUse
from fabopt.schema.tiers import PortUse as PortUse
from fabopt.schema.tiers import TierUse as TierUse

Number = int | float
# Bill rows of kind ``other`` that are no charge: the work of moving a cable that an earlier stage put in place.
MOVED_CABLE = "moved-cable"
MOVED_DESCRIPTION = "moving a cable in place to another port"
Status = Literal["optimal", "feasible", "infeasible", "unknown"]
DeviceRole = Literal["server", "attachment", "leaf", "spine", "core"]


class CaseRecord(Strict):
    """The case as resolved, defaults filled; ``sha256`` is of ``content`` as canonical JSON.

    ``asked``: the keys that the case was written with, from which it can be solved again; None in a point of a study,
    and in files of before 0.3.0.
    """

    name: str
    sha256: str
    content: dict[str, Any]
    asked: Annotated[dict[str, Any] | None, Field(exclude_if=is_open)] = None


class PartHashes(Strict):
    """SHA-256 of what the embedded parts say: of their facts, and of their prices and terms of orders."""

    facts: str
    prices: str


class Totals(Strict):
    """Sums over fabrics. ``tco_usd`` adds energy to capex; ``cluster_power_w`` adds servers (None if unknown).
    ``expected_tco_usd``: each stage times the probability that growth comes to it; None where all come.

    ``racks``, ``cluster_rack_units``: racks with something in them, and the units of servers, switches and
    attachments in them; None without a floor plan.
    """

    capex_usd: Number
    tco_usd: Number
    expected_tco_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    power_w: Number
    cluster_power_w: Number | None
    rack_units: Number
    switches: int
    nics: int
    transceivers: int
    cables: int
    capex_usd_per_gpu: Number | None = None
    racks: int | None = None
    cluster_rack_units: Number | None = None


class NicUse(Strict):
    """The NIC in every server: how many, how many ports of each are cabled (over all planes), at which speed."""

    id: str
    per_server: int
    ports_per_nic: int
    gbps: Number
    split: str
    cage_group: int
    built_in: bool


class LogicalUse(Strict):
    """A fabric of the case on this one's switches, in a VLAN and VRF of its own: the NICs that are its own."""

    name: str
    role: str
    nic: NicUse
    injection_gbps_per_gpu: Number


class LinkPart(Strict):
    """Parts of a row of links: ``end`` says where a transceiver sits; ``length_m`` is the length bought."""

    id: str
    quantity: int
    end: Literal["from", "to"] | None = None
    length_m: Number | None = None


class LinkRow(Strict):
    """Links of one kind that are realised alike. ``count`` links between ``from`` and ``to``, run of ``length_m``.

    ``from_cages``/``to_cages``: occupied cages that this row's links account for, summed over all devices. On a floor
    plan ``length_m`` is the longest class and ``runs_m`` the length class of each link of a cage, in order of ports.
    ``stages``: where there are several, the stage from which on each link of a cage is there, in order of ports; None
    where one assembly makes all links of the kind. ``scope``: which links between switches of one role these are; None
    where the roles say it.
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
    runs_m: tuple[Number, ...] | None = None
    stages: tuple[str, ...] | None = None
    scope: str | None = None


class Metrics(Strict):
    """Bandwidth figures, see docs/bandwidth.md. None: the file is from before the figure was, or the graph too large.

    ``permutation``: throughput upper bound of the worst one; ``allreduce``: rings along the rails. ``max_nic_hops``:
    servers that pass traffic on along the longest shortest path, where there is no switch. ``single_flow_gbps``: what
    one flow can have between any two servers.
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
    """What is left when ``count`` devices or links of a kind fail at the worst places, see docs/bandwidth.md.

    ``servers_cut_off``: from the largest part that stays joined; None for more than one failure. Of a rack ``worst``:
    the one whose loss leaves least, and ``servers_lost`` in it, which the other figures leave out.
    """

    failed: Failed
    count: int
    gbps_per_gpu: Number
    servers_cut_off: int | None = None
    worst: Annotated[str | None, Field(exclude_if=is_open)] = None
    servers_lost: Annotated[int | None, Field(exclude_if=is_open)] = None


class StageStructure(Strict):
    """A fabric as it is at one stage: words of ``Structure``, of what is installed by then; counts over all planes.

    ``links_per_pair`` may be more than at the last stage where recabling is allowed; ``moved_cables`` are those that
    this stage takes from a port where an earlier stage put them. ``free_*_ports``: ports in the cages of their use that
    nothing is plugged into.
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


Place = tuple[str, int]


class Placement(Strict):
    """Where the switches of a fabric are: (rack, lowest unit) of each, in the order of their numbers.

    ``attachments``: the devices of those that are in racks, by name.
    """

    policy: str
    leaf: tuple[Place, ...]
    spine: tuple[Place, ...] = ()
    core: tuple[Place, ...] = ()
    attachments: dict[str, tuple[Place, ...]] = {}


NO_PLACES = Placement(policy="", leaf=())


class FloorUse(Strict):
    """Where the servers are: ``servers_per_rack`` of them in each of ``server_racks``, in this order, bottom up.

    ``length_classes_m``: all lengths on sale; a run counts as the shortest of them that covers it.
    """

    servers_per_rack: int
    server_racks: tuple[str, ...]
    length_classes_m: tuple[Number, ...]


NO_FLOOR = FloorUse(servers_per_rack=0, server_racks=(), length_classes_m=())


class FabricDesign(Strict):
    """One fabric of the design. ``free_ports``: the switches of attachments on free ports, port by port."""

    name: str
    role: str
    topology: str
    protocol: str
    planes: int
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
    homing: Annotated[Homing, Field(exclude_if=is_usual)] = "any"
    pairing: Annotated[Pairing, Field(exclude_if=is_unjoined)] = UNJOINED
    peer_links: Annotated[PeerLinkUse | None, Field(exclude_if=is_open)] = None
    redundancy: tuple[RuleStanding, ...] = ()
    logical: tuple[LogicalUse, ...] = ()
    carries: Annotated[tuple[SharedUse, ...], Field(exclude_if=lambda shared: not shared)] = ()
    free_ports: FreePorts = {}
    subnet_manager: SubnetManagerSaid = None

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


class StageDesign(Strict):
    """What is installed at one stage. ``capex_usd`` is spent at it; ``power_w``, ``rack_units``: of all from it on.

    ``present_value_usd`` is that of what it spends, ``energy_usd`` that of the energy until the next stage.
    """

    name: str
    month: int
    servers: int
    gpus: int
    capex_usd: Number
    power_w: Number
    fabrics: dict[str, dict[str, int]]
    present_value_usd: Number | None = None
    energy_usd: Number | None = None
    rack_units: Number | None = None
    moved_cables: int = 0


def _is_nothing(units: int) -> bool:
    return units == 0


class BomRow(Strict):
    """One line to order. ``quantity`` is bought, ``in_use`` built in (fewer where a price break makes more cheaper).

    ``power_w`` is that of the quantity in use. ``spares``: what a line of spares keeps. ``single_price_usd`` is the
    price of one at the stage, ``unit_price_usd`` that of the break that the order reaches, ``break_from`` its first
    quantity; ``expedite_usd``: the surcharge that is in both. ``order_by_month`` (``order_by``, if the case says when
    month 0 is): the stage's month less the lead time. ``charge``: what a line is that is no part; ``yearly_usd``: what
    it costs every year, which no other sum has. ``from_stock``, ``from_earlier``: units of the line out of one's own
    stock and of what earlier orders have left; ``beyond_need``: what is ordered beyond the stage's need; ``sold_by``:
    the vendor whose offer is bought. Always quantity + from_stock + from_earlier = in_use + spares + beyond_need.
    """

    stage: str
    fabric: str
    kind: Literal["switch", "nic", "transceiver", "cable", "fibre", "server", "other"]
    id: str
    part_number: str
    description: str
    length_m: Number | None = None
    quantity: int
    in_use: int
    unit_price_usd: Number
    total_usd: Number
    power_w: Number
    spares: int = 0
    single_price_usd: Number | None = None
    break_from: int | None = None
    present_value_usd: Number | None = None
    lead_time_weeks: Number | None = None
    order_by_month: Number | None = None
    order_by: str | None = None
    charge: Annotated[ChargeWord | None, Field(exclude_if=is_open)] = None
    yearly_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    expedite_usd: Annotated[Number | None, Field(exclude_if=is_open)] = None
    from_stock: Annotated[int, Field(exclude_if=_is_nothing)] = 0
    from_earlier: Annotated[int, Field(exclude_if=_is_nothing)] = 0
    beyond_need: Annotated[int, Field(exclude_if=_is_nothing)] = 0
    sold_by: Annotated[str | None, Field(exclude_if=is_open)] = None


class Check(Strict):
    """One rule that was proven again: ``name`` is the rule's, as in docs/formulation.md."""

    name: str
    ok: bool
    detail: str


class Design(Strict):
    """A whole design file. ``rules``: the version of fabopt whose rules it is judged by; None: those of 0.1.0."""

    fabopt: str
    rules: str | None = None
    case: CaseRecord
    parts: dict[str, dict[str, Any]] = {}
    parts_sha256: PartHashes | None = None
    status: Status
    objective: Objective
    totals: Totals | None = None
    floor: FloorUse | None = None
    fabrics: tuple[FabricDesign, ...] = ()
    single_points_of_failure: tuple[SinglePoint, ...] | None = None
    worst_rack: WorstRack | None = None
    stages: tuple[StageDesign, ...] = ()
    futures: Annotated[Futures | None, Field(exclude_if=is_open)] = None
    bom: tuple[BomRow, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    alternatives_complete: Annotated[bool, Field(exclude_if=bool)] = True
    rules_left_out: tuple[RuleLeftOut, ...] = ()
    checks: tuple[Check, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    nearest: Annotated[NearestDesign | None, Field(exclude_if=is_open)] = None
    workload: WorkloadUse | None = None
    notes: tuple[str, ...] = ()

    @property
    def racks(self) -> FloorUse:
        """Where its servers are; nowhere without a floor."""
        return self.floor if self.floor is not None else NO_FLOOR
