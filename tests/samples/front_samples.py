"""Fronts and sweeps made by solving a case again and again, without the engine that makes them properly."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabopt.io.case import inputs_from_objects
from fabopt.schema.design import CaseRecord, Design, Front, FrontObjective, FrontPoint
from fabopt.schema.version import VERSION
from fabopt.solution import optimize

Json = dict[str, Any]


def changed(case: Json, over: Mapping[str, Any]) -> Json:
    """A case with keys of its first fabric (``min_gbps_per_gpu``) or of its own (``limits.budget_usd``) set."""
    content = copy.deepcopy(case)
    for key, value in over.items():
        place = content
        *path, last = key.split(".")
        for name in path:
            place = place["fabrics"][0] if name == "compute" else place.setdefault(name, {})
        place[last] = value
    return content


def point(case: Json, catalog: Json | None, over: Mapping[str, Any]) -> FrontPoint:
    """The cheapest design with some keys set."""
    content = changed(case, {key.replace("fabrics.", ""): value for key, value in over.items()})
    design = optimize.solve(inputs_from_objects(content, catalog), alternatives_s=0)
    budget = over.get("limits.budget_usd")
    return FrontPoint(
        budget_usd=budget,
        over={key: value for key, value in over.items() if key != "limits.budget_usd"},
        status=design.status,
        values=_values(design),
        objective=design.objective,
        totals=design.totals,
        capex_by_kind=_by_kind(design),
        fabrics=design.fabrics,
        conflicts=design.conflicts,
    )


def _values(design: Design) -> dict[str, int | float]:
    if design.totals is None:
        return {}
    metrics = design.fabrics[0].metrics
    return {
        "capex_usd": design.totals.capex_usd,
        "power_w": design.totals.power_w,
        "gbps_per_gpu": metrics.injection_gbps_per_gpu,
        "bisection_gbps_per_gpu": metrics.bisection_gbps_per_gpu,
    }


def _by_kind(design: Design) -> dict[str, int | float]:
    sums: Counter[str] = Counter()
    for row in design.bom:
        sums[row.kind] += round(row.total_usd * 100)
    return {kind: cents / 100 for kind, cents in sums.items()}


def record(case: Json) -> CaseRecord:
    """What a front says of its case."""
    return CaseRecord(name=case["name"], sha256="0" * 64, content=case)


def sweep(case: Json, catalog: Json | None, *settings: Mapping[str, Any], maximize: str = "") -> Front:
    """A sweep over the keys of the settings, one point each."""
    objectives = (FrontObjective(metric=maximize, sense="maximize"),) if maximize else ()
    points = tuple(point(case, catalog, over) for over in settings)
    return Front(
        fabopt=VERSION,
        case=record(case),
        kind="sweep",
        keys=tuple(settings[0]),
        objectives=objectives,
        points=points,
    )


def pareto(case: Json, catalog: Json | None, gbps: Sequence[float], knee: int, third: str = "") -> Front:
    """Cost against Gb/s per GPU at these speeds; the point with index ``knee`` is the knee."""
    found = [point(case, catalog, {"fabrics.compute.min_gbps_per_gpu": one}) for one in gbps]
    points = [
        one.model_copy(update={"over": {}, "knee": index == knee, "marginal": 1200.5 if index else None})
        for index, one in enumerate(found)
        if one.fabrics
    ]
    objectives = [("capex_usd", "minimize"), ("gbps_per_gpu", "maximize"), *([(third, "minimize")] if third else [])]
    return Front(
        fabopt=VERSION,
        case=record(case),
        kind="pareto",
        objectives=tuple(FrontObjective.model_validate({"metric": one, "sense": two}) for one, two in objectives),
        points=tuple(points),
    )


def unlabelled(points: Sequence[FrontPoint]) -> tuple[FrontPoint, ...]:
    """Points as they come, without their labels, which follow from the whole front."""
    return tuple(point.model_copy(update={"label": ""}) for point in points)
