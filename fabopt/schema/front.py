"""The sweep and front file: one case solved at many points.

Money is in dollars with at most two decimals, power in watts, speed in Gb/s. Words of the design file mean the same.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict
from fabopt.schema.design import (
    BomRow,
    CaseRecord,
    Conflict,
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
from fabopt.schema.prediction import WorkloadUse

Sense = Literal["minimize", "maximize"]
# The key of the case that the budgets of a sweep set.
BUDGET_KEY = "limits.budget_usd"


class FrontObjective(Strict):
    """One of the quantities that a front trades; its values are in ``FrontPoint.values`` under ``metric``."""

    metric: str
    sense: Sense


class FrontPoint(Strict):
    """The best design at one point.

    ``label``: tells it from the others of its file: its keys and budget, or what it reaches of what is traded.
    ``over``: keys of the case as they are at this point; ``budget_usd``: its budget, in a budget sweep. ``values``:
    figures of the design by metric. ``capex_by_kind``: dollars by kind of bill row. ``marginal``: dollars of capex for
    one more of what is maximized, against the point before (None on the first, and without money or a maximum).
    ``objective_floor``: of what the case minimizes, as ``floor`` of a design's objective.
    ``case`` and ``parts``: of the design, in a whole file without the keys and parts that are as the file has them.
    """

    label: str = ""
    budget_usd: Number | None = None
    over: dict[str, Number | str] = {}
    status: Status
    summary: str = ""
    values: dict[str, Number] = {}
    objective: Objective
    objective_floor: Annotated[Number | None, Field(exclude_if=is_open)] = None
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
    rules_left_out: tuple[RuleLeftOut, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    nearest: Annotated[NearestDesign | None, Field(exclude_if=is_open)] = None
    notes: tuple[str, ...] = ()
    knee: bool = False
    marginal: Number | None = None


class FrontAnswer(Strict):
    """What a front asked for, and what came of it; grades are cents, milliwatts, thousandths of units, kb/s, counts.

    ``best``: metrics to be best in, in their order, none for a point that was found together with all others;
    ``demands``: the worst grade allowed by metric. No ``grades`` and no ``point`` where nothing meets the demands.
    """

    best: tuple[str, ...] = ()
    demands: dict[str, int] = {}
    grades: dict[str, int] | None = None
    point: FrontPoint | None = None


class Front(Strict):
    """A whole file. ``kind``: a sweep over ``keys`` (a budget is the key ``limits.budget_usd``) or a Pareto front.

    ``complete``: False if it was stopped before all points were done, or if not all are in the file; ``size``: how many
    there are then, if that is known. ``catalog_sha256``: of the products and their prices as applied. ``notes``: what a
    reader must know of the whole, ``notes_on_inputs`` those of them that hold for every design (None: all).
    ``answers``: of a front that was stopped, what it had asked for by then. ``rules``: as in a design file. ``parts``:
    the catalog entries of all points, once.
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
    answers: tuple[FrontAnswer, ...] = Field(default=(), exclude_if=lambda answers: not answers)
