"""The case whose proven answer a point is: its values of all traded metrics but the price are limits there."""

from __future__ import annotations

from typing import Any

from fabopt.rules.limits import SPENDING_LIMITS
from fabopt.schema.design import CaseRecord
from fabopt.schema.front import Front, FrontPoint
from fabopt.schema.hashes import sha256_of

# What a case bounds from above, by the metric; its servers are in the case of a point as they are.
_LIMITS = {limit.metric: limit.key for limit in SPENDING_LIMITS}
_SERVERS = "servers"
# What its fabrics ask for.
_DEMANDS = {"gbps_per_gpu": "min_gbps_per_gpu", "bisection_gbps_per_gpu": "min_bisection_gbps_per_gpu"}
_MOST_OF = {"gbps_per_gpu": "gbps_per_gpu", "bisection": "bisection_gbps_per_gpu", "servers": _SERVERS}


def answered_case(front: Front, point: FrontPoint) -> CaseRecord | None:
    """The case of which no design has less of the objective than a point; None where no case states the question.

    A point of a front is the least there is among designs that reach as much of everything else; one of a sweep over
    budgets is the cheapest of those that have the most.
    """
    if point.case is None or point.status != "optimal":
        return None
    content = point.case.content
    traded = _traded_beside(front, content)
    if traded is None:
        return None
    asked: dict[str, Any] | None = content
    for metric in () if _is_least(front, point, str(content["objective"])) else traded:
        asked = None if asked is None else _with_limit(asked, metric, point.values[metric])
    return None if asked is None else point.case.model_copy(update={"content": asked, "sha256": sha256_of(asked)})


def _traded_beside(front: Front, content: dict[str, Any]) -> list[str] | None:
    """Metrics traded beside the case's objective; None where the objective is not the last metric minimized."""
    objective = content["objective"]
    if front.kind == "sweep":
        return [_MOST_OF[content["maximize"]]] if objective == "capex_usd" else None
    metrics = [traded.metric for traded in front.objectives]
    is_sum = objective in ("capex_usd", "tco_usd", "power_w")
    return [metric for metric in metrics if metric != objective] if is_sum and objective in metrics else None


def _is_least(front: Front, point: FrontPoint, objective: str) -> bool:
    """Whether a point has the least objective of a whole front, which is then the answer to the case alone."""
    if front.kind == "sweep" or not front.complete:
        return False
    return point.values[objective] == min(other.values[objective] for other in front.points)


def _with_limit(content: dict[str, Any], metric: str, value: float) -> dict[str, Any] | None:
    """The case with a limit on a metric; None where it has no key for it."""
    if metric == _SERVERS:
        return content
    if metric in _DEMANDS:
        return _with_demand(content, _DEMANDS[metric], value)
    # the power limit counts servers where the case does, the metric never
    if metric not in _LIMITS or (metric == "power_w" and content["include_servers"]):
        return None
    return {**content, "limits": {**content["limits"], _LIMITS[metric]: float(value)}}


def _with_demand(content: dict[str, Any], key: str, gbps: float) -> dict[str, Any] | None:
    """The case with a demand on the fabrics that GPUs compute over, or on all; a model or a stage has its own."""
    if content["workload"] is not None or any(stage.get("fabrics") for stage in content["stages"] or ()):
        return None
    fabrics = content["fabrics"]
    measured = [fabric["role"] == "compute" for fabric in fabrics]
    asked = [
        {**fabric, key: float(gbps)} if counts or not any(measured) else fabric
        for fabric, counts in zip(fabrics, measured, strict=True)
    ]
    return {**content, "fabrics": asked}
