"""The sweep and front file: one case solved at many points.

Money is in dollars with at most two decimals, power in watts, speed in Gb/s. Words of the design file mean the same.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Strict, is_empty, is_open
from fabopt.schema.design import (
    BomRow,
    CaseRecord,
    Conflict,
    Design,
    FabricDesign,
    FloorUse,
    Number,
    Objective,
    PartHashes,
    StageDesign,
    Status,
    Totals,
)
from fabopt.schema.left_out import NearestDesign, RuleLeftOut
from fabopt.schema.losses import SinglePoint, WorstRack
from fabopt.schema.prediction import ServingUse, WorkloadUse

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
