"""The design file: one solved case, with everything that is needed to prove it again.

Counts are of the last stage and totals over all planes, unless a name says otherwise. Money is in dollars with
at most two decimals, power in watts, speed in Gb/s, length in metres.

The sweep and front file: one case solved at many points.

Money is in dollars with at most two decimals, power in watts, speed in Gb/s. Words of the design file mean the same.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from fabopt.schema.alternative import Alternative as Alternative
from fabopt.schema.base import Strict, is_empty, is_open
from fabopt.schema.bill import (
    MOVED_CABLE as MOVED_CABLE,
    MOVED_DESCRIPTION as MOVED_DESCRIPTION,
    MOVED_DEVICE as MOVED_DEVICE,
    BomRow as BomRow,
)
from fabopt.schema.conflict import Conflict as Conflict, Needed as Needed
from fabopt.schema.fabric_design import (
    FabricDesign as FabricDesign,
    Failure as Failure,
    LinkPart as LinkPart,
    LinkRow as LinkRow,
    LogicalUse as LogicalUse,
    Metrics as Metrics,
    NicUse as NicUse,
    Place as Place,
    Placement as Placement,
    StageStructure as StageStructure,
)
from fabopt.schema.futures import Futures
from fabopt.schema.left_out import NearestDesign, RuleLeftOut
from fabopt.schema.losses import HallTraffic, SinglePoint, WorstRack
from fabopt.schema.objective import Objective as Objective
from fabopt.schema.prediction import ServingUse, WorkloadUse
from fabopt.schema.roles import SharedUse as SharedUse
from fabopt.schema.servers import ServerCompared
from fabopt.schema.tiers import OtherSwitchUse as OtherSwitchUse, PortUse as PortUse, TierUse as TierUse

Number = int | float
# Versions whose files may say what no Clos of as many tiers is below.
WITH_A_FLOOR = (None, "0.1.0", "0.2.0")
Status = Literal["optimal", "feasible", "infeasible", "unknown"]
DeviceRole = Literal["server", "attachment", "leaf", "spine", "core"]


class CaseRecord(Strict):
    """The case as it was resolved, with its defaults filled in.

    Attributes:
        name: Name of the case.
        sha256: SHA-256 of `content` as canonical JSON.
        content: The resolved case.
        asked: The keys that the case was written with, from which it can be solved again. Null in a point of a study
            and in older files.
    """

    name: str
    sha256: str
    content: dict[str, Any]
    asked: Annotated[dict[str, Any] | None, Field(exclude_if=is_open)] = None


class PartHashes(Strict):
    """Hashes of what the embedded parts say.

    Attributes:
        facts: SHA-256 of their facts.
        prices: SHA-256 of their prices and terms of orders.
    """

    facts: str
    prices: str


class Totals(Strict):
    """Sums over all fabrics.

    Attributes:
        capex_usd: Purchase price, in US dollars, to the cent; the sum of the bill.
        tco_usd: Purchase price and yearly charges with energy over `finance.years`, in US dollars.
        expected_tco_usd: The same with each stage weighed by its probability. Null where all stages come.
        power_w: Power of the network, in watts.
        cluster_power_w: Power of network and servers, in watts. Null where the servers' is not known.
        rack_units: Rack units of switches.
        switches: Number of switches.
        nics: Number of NICs bought.
        transceivers: Number of transceivers.
        cables: Number of cables and fibres.
        capex_usd_per_gpu: Purchase price for each GPU, with a `base` each that joins, in US dollars.
        racks: Racks with something in them. Null without a floor plan.
        cluster_rack_units: Rack units of servers, switches and attachments in these racks. Null without a floor plan.
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


class FloorUse(Strict):
    """Where the servers are.

    Attributes:
        servers_per_rack: Servers in a rack.
        server_racks: Racks of servers, in the order in which they are filled.
        length_classes_m: Lengths in metres, rising, as which runs count in the rows of links; in files of before 0.3.0
            all lengths on sale.
    """

    servers_per_rack: int
    server_racks: tuple[str, ...]
    length_classes_m: tuple[Number, ...]


NO_FLOOR = FloorUse(servers_per_rack=0, server_racks=(), length_classes_m=())


class StageDesign(Strict):
    """What is installed at one stage.

    Attributes:
        name: Name of the stage.
        month: Its month.
        servers: Servers from this stage on.
        gpus: GPUs from this stage on.
        capex_usd: Money spent at it, in US dollars.
        power_w: Power of all that is installed from it on, in watts.
        fabrics: Switches of each tier from it on, by fabric.
        present_value_usd: Present value of what it spends, in US dollars.
        energy_usd: Present value of the energy until the next stage, in US dollars.
        rack_units: Rack units of switches from it on.
        moved_cables: Cables that it moves.
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


class Check(Strict):
    """One rule that was proven again.

    Attributes:
        name: Name of the rule, as in docs/formulation.md.
        ok: Whether it holds.
        detail: What was counted, or what is wrong.
    """

    name: str
    ok: bool
    detail: str


class Design(Strict):
    """A whole design file.

    Attributes:
        fabopt: Version of fabopt that wrote it.
        rules: Version of fabopt whose rules it is judged by. Null is 0.1.0.
        case: The case.
        parts: Every catalog entry used, by id, with prices as applied.
        parts_sha256: Hashes of these parts.
        status: Whether the answer is proven (`optimal`), found (`feasible`), ruled out (`infeasible`) or open
            (`unknown`).
        objective: What was minimised, and the proof.
        servers_compared: The servers that the case lists, in its order, where it lists several.
        totals: Sums over all fabrics.
        floor: Where the servers are.
        fabrics: The fabrics.
        single_points_of_failure: Devices without any one of which something is lost.
        worst_rack: The rack whose loss hits most servers.
        stages: What is installed at each stage.
        futures: What is spent in each future of an uncertain growth.
        bom: Bill of materials.
        alternatives: Best designs with other values of some keys.
        alternatives_complete: Whether all alternatives were looked at.
        rules_left_out: Default rules that no design of the case keeps.
        checks: Rules that were proven again.
        conflicts: Limits that clash, where there is no design.
        nearest: The cheapest design that keeps every rule, where limits on spending leave none.
        workload: A step of the case's model on the design.
        serving: The served model of the case on the design.
        hall_traffic: What a step sends out of each hall, where servers are in several.
        notes: What a reader must know.
    """

    fabopt: str
    rules: str | None = None
    case: CaseRecord
    parts: dict[str, dict[str, Any]] = {}
    parts_sha256: PartHashes | None = None
    status: Status
    objective: Objective
    servers_compared: Annotated[tuple[ServerCompared, ...], Field(exclude_if=is_empty)] = ()
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
    serving: Annotated[ServingUse | None, Field(exclude_if=is_open)] = None
    hall_traffic: Annotated[tuple[HallTraffic, ...], Field(exclude_if=is_empty)] = ()
    notes: tuple[str, ...] = ()

    @field_validator("objective")
    @classmethod
    def _floor_is_in_no_file(cls, objective: Objective, info: ValidationInfo) -> Objective:
        least, rules = objective.floor, info.data.get("rules")
        if info.mode == "json" and least is not None and rules not in WITH_A_FLOOR:
            raise ValueError("`floor` is null in files of this version, as nothing in a file proves it")
        return objective

    @property
    def racks(self) -> FloorUse:
        """Where its servers are; nowhere without a floor."""
        return self.floor if self.floor is not None else NO_FLOOR

    @property
    def failed(self) -> list[Check]:
        """The checks that do not hold."""
        return [check for check in self.checks if not check.ok]

    @property
    def sums(self) -> Totals:
        """The totals of a file that has a design."""
        assert self.totals is not None
        return self.totals


Sense = Literal["minimize", "maximize"]
# The key of the case that the budgets of a sweep set.
BUDGET_KEY = "limits.budget_usd"


class FrontObjective(Strict):
    """One of the quantities that a front trades.

    Attributes:
        metric: Name of the quantity, under which points have its values.
        sense: Whether less or more is better.
    """

    metric: str
    sense: Sense


class FrontPoint(Strict):
    """The best design at one point of a front or sweep; in a whole file without keys and parts that are the file's.

    Attributes:
        label: Tells the point from the others of its file.
        budget_usd: Its budget, in a budget sweep, in US dollars.
        over: Keys of the case as they are at this point.
        summary: The design in one line.
        values: Figures of the design, by metric.
        objective_floor: What no Clos of as many tiers is below; read in files of before 0.3.0, and not written.
        capex_by_kind: Purchase price by kind of bill row, in US dollars.
        knee: Whether the front bends most here.
        marginal: Purchase price of one more of what is maximised, against the point before, in US dollars.
    """

    like = Design

    label: str = ""
    budget_usd: Number | None = None
    over: dict[str, Number | str] = {}
    status: Status
    summary: str = ""
    values: dict[str, Number] = {}
    objective: Objective
    objective_floor: Annotated[Number | None, Field(exclude=True)] = None
    totals: Totals | None = None
    capex_by_kind: dict[str, Number] = {}
    case: CaseRecord | None = None
    parts: dict[str, dict[str, Any]] = {}
    parts_sha256: PartHashes | None = None
    floor: FloorUse | None = None
    fabrics: tuple[FabricDesign, ...] = ()
    single_points_of_failure: tuple[SinglePoint, ...] | None = None
    worst_rack: WorstRack | None = None
    stages: tuple[StageDesign, ...] = ()
    bom: tuple[BomRow, ...] = ()
    workload: WorkloadUse | None = None
    serving: Annotated[ServingUse | None, Field(exclude_if=is_open)] = None
    rules_left_out: tuple[RuleLeftOut, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    nearest: Annotated[NearestDesign | None, Field(exclude_if=is_open)] = None
    notes: tuple[str, ...] = ()
    knee: bool = False
    marginal: Number | None = None


class FrontAnswer(Strict):
    """What a front asked for, and what came of it; grades are cents, milliwatts, thousandths of units, kb/s, counts.

    Attributes:
        best: Metrics to be best in, in their order; none for a point found together with all others.
        demands: Worst grade allowed, by metric.
        grades: Grades of the point. Null where nothing meets the demands.
        point: The point. Null where nothing meets the demands.
        number: Number of the point of the file that answers it, from 1, in place of the point itself.
    """

    best: tuple[str, ...] = ()
    demands: dict[str, int] = {}
    grades: dict[str, int] | None = None
    point: FrontPoint | None = None
    number: Annotated[int | None, Field(exclude_if=is_open, ge=1)] = None


class Front(Strict):
    """A whole front or sweep.

    Attributes:
        fabopt: Version of fabopt that wrote it.
        rules: Version of fabopt whose rules it is judged by.
        case: The case.
        parts: Catalog entries of all points, once, by id.
        catalog_sha256: Hash of the products and their prices as applied.
        kind: A sweep over keys, or a Pareto front.
        keys: Keys that a sweep goes over.
        objectives: What a front trades.
        complete: Whether all points were done, and are in the file.
        size: How many points there are, where not all are in the file.
        notes: What a reader must know of the whole.
        notes_on_inputs: Notes that hold for every design. Null is all of them.
        points: The points.
        answers: What a front that was stopped had asked for by then.
    """

    fabopt: str
    rules: str | None = None
    case: CaseRecord
    parts: dict[str, dict[str, Any]] = {}
    catalog_sha256: str = ""
    kind: Literal["sweep", "pareto"]
    keys: tuple[str, ...] = ()
    objectives: tuple[FrontObjective, ...] = ()
    complete: bool = True
    size: int | None = None
    notes: tuple[str, ...] = ()
    notes_on_inputs: Annotated[tuple[str, ...] | None, Field(exclude_if=is_open)] = None
    points: tuple[FrontPoint, ...] = ()
    answers: tuple[FrontAnswer, ...] = Field(default=(), exclude_if=is_empty)

    @model_validator(mode="after")
    def _answers_are_points(self) -> Self:
        for place, answer in enumerate(self.answers):
            if answer.number is not None and answer.number > len(self.points):
                raise ValueError(f"`answers[{place}].number` is {answer.number}: there are {len(self.points)} points")
        return self
