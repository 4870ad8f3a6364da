"""Points of a sweep or front as designs: their common parts are in their file once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from fabopt.design.build import FACTS, ids_used
from fabopt.rules.limits import SPENDING_LIMITS
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import (
    BomRow,
    CaseRecord,
    Design,
    FabricDesign,
    Front,
    FrontAnswer,
    FrontPoint,
    Number,
    Objective,
)
from fabopt.schema.hashes import sha256_of
from fabopt.units import grouped, some

Body = dict[str, Any]


class Sharing:
    """Shares equal parts, cases and bill lines of points as single objects, so that ten thousand points fit in
    memory.
    """

    def __init__(self) -> None:
        self._bodies: dict[str, Body] = {}
        self._records: dict[str, CaseRecord] = {}
        self._rows: dict[BomRow, BomRow] = {}

    def of(self, point: FrontPoint) -> FrontPoint:
        """Return a point with its parts, case and lines of the bill replaced by the equal objects of earlier points."""
        parts = {part: self._body(part, body) for part, body in point.parts.items()}
        record = point.case and self._records.setdefault(point.case.sha256, point.case)
        rows = tuple(self._rows.setdefault(row, row) for row in point.bom)
        return point.model_copy(update={"parts": parts, "case": record, "bom": rows})

    def _body(self, part: str, body: Body) -> Body:
        known = self._bodies.setdefault(part, body)
        return known if known == body else body


def gathered(front: Front) -> Front:
    """The front with labels and with the parts of its points once: of those that differ, the first point's.

    Points keep the parts and keys of the case that differ from the file's, and answers the numbers of points.
    """
    front = front.model_copy(update={"answers": tuple(_numbered(front))})
    parts = _first_bodies(front)
    front = front.model_copy(update={"parts": {part: parts[part] for part in sorted(parts, key=_facts_first)}})
    front = _changed(front, lambda point: _without(point, front.case, front.parts))
    labelled = zip(front.points, labels_of(front), strict=True)
    points = tuple(point.model_copy(update={"label": label}) for point, label in labelled)
    return front.model_copy(update={"points": points})


class Said:
    """The case and parts that a journal has written so far, parts as they were first, so that its next lines
    need not.
    """

    def __init__(self, front: Front) -> None:
        self._case = front.case
        self._parts = _first_bodies(front)

    def without(self, point: FrontPoint) -> FrontPoint:
        """A point without the parts and keys that the journal has; its own count as written from then on."""
        fresh = _without(point, self._case, self._parts)
        for part, body in point.parts.items():
            self._parts.setdefault(part, body)
        return fresh


def spread(front: Front) -> Front:
    """The front with complete points, of a file or a journal; those of older files have less."""
    answers = (
        answer if answer.number is None
        else answer.model_copy(update={"point": _plain(front.points[answer.number - 1]), "number": None})
        for answer in front.answers
    )  # fmt: skip
    front = front.model_copy(update={"answers": tuple(answers)})
    front = front.model_copy(update={"parts": {**_first_bodies(front), **front.parts}})
    whole = _changed(front, lambda point: _with_shared(front, point))
    return whole.model_copy(update={"parts": {}})


def _numbered(front: Front) -> Iterator[FrontAnswer]:
    """Answers with a point's number in place of a point that the front has."""
    numbers = grouped((tuple(point.values.items()), place) for place, point in enumerate(front.points, 1))
    for answer in front.answers:
        alike = [] if answer.point is None else numbers.get(tuple(answer.point.values.items()), [])
        number = next((place for place in alike if _plain(front.points[place - 1]) == answer.point), None)
        yield answer if number is None else answer.model_copy(update={"number": number, "point": None})


def _plain(point: FrontPoint) -> FrontPoint:
    """A point without the fields that depend on the other points."""
    return point.model_copy(update={"label": "", "knee": False, "marginal": None})


def within_budget(front: Front, budget_usd: float) -> int | None:
    """The number of the point, from 1, that is best within a budget in dollars; None if no point costs that little.

    Of a front the best in the metrics traded beside the price, in order; of a sweep over budgets the largest budget
    that is not above it; cheaper of equal ones.
    """
    affordable = [
        (number, point)
        for number, point in enumerate(front.points, start=1)
        if point.totals is not None and point.totals.capex_usd <= budget_usd
    ]
    if front.kind == "sweep":
        affordable = [
            pair for pair in affordable if pair[1].budget_usd is not None and pair[1].budget_usd <= budget_usd
        ]
    best = max(affordable, key=lambda pair: _worth(front, pair[1]), default=None)
    return None if best is None else best[0]


def _worth(front: Front, point: FrontPoint) -> tuple[float, ...]:
    """Sort key of a point, the better the larger, most telling first; less money last."""
    assert point.totals is not None
    traded = (
        [objective for objective in front.objectives if objective.metric != "capex_usd"]
        if front.kind == "pareto"
        else []
    )
    worths = [point.values[objective.metric] * (1 if objective.sense == "maximize" else -1) for objective in traded]
    return (float(point.budget_usd or 0), *map(float, worths), -float(point.totals.capex_usd))


def design_at(front: Front, number: int) -> Design:
    """The design of a point, from 1, as a file of its own; a point of an older file has no bill.

    It is the answer to the case of the point: of a front and of budgets to the case with the point's values as its
    limits. Where a case has no key for that it is a design of status ``feasible``, and a note says what it is.
    """
    point = _with_shared(front, front.points[number - 1])
    is_answer = front.kind == "sweep" and point.budget_usd is None
    asked = None if is_answer or not point.fabrics else answered_case(front, point)
    restated = bool(point.fabrics) and not is_answer
    described = restated and asked is None
    on_inputs = front.notes if described or front.notes_on_inputs is None else front.notes_on_inputs
    return Design(
        fabopt=front.fabopt,
        rules=front.rules,
        case=asked or point.case or front.case,
        parts=point.parts,
        parts_sha256=point.parts_sha256,
        status="feasible" if described else point.status,
        objective=_objective_of_case(point, asked is not None) if restated else point.objective,
        totals=point.totals,
        floor=point.floor,
        fabrics=point.fabrics,
        single_points_of_failure=point.single_points_of_failure,
        worst_rack=point.worst_rack,
        stages=point.stages,
        bom=point.bom,
        rules_left_out=point.rules_left_out,
        conflicts=point.conflicts,
        workload=point.workload,
        serving=point.serving,
        notes=(*on_inputs, *point.notes, *([_what_it_is(front, number)] if described else [])),
    )


def _objective_of_case(point: FrontPoint, is_proven: bool) -> Objective:
    """The case's objective; without a proof there is no bound."""
    metric = str(point.case.content.get("objective")) if point.case else ""
    value = getattr(point.workload if metric == EFFECTIVE else point.totals, metric, None)
    bound, gap = (value, 0) if is_proven else (None, None)
    return Objective(metric=metric, value=value, bound=bound, gap=gap, engine=point.objective.engine)


def _what_it_is(front: Front, number: int) -> str:
    point, metrics = front.points[number - 1], [objective.metric for objective in front.objectives]
    where = f"point {number} of {some(len(front.points), 'point')}"
    proof = "proven" if point.status == "optimal" else "not proven"
    if front.kind == "sweep":
        return f"{where} of a sweep: the most {metrics[-1]} that ${point.budget_usd:,} buys ({proof})"
    return f"{where} of the front of {' and '.join(metrics)}: no design is better in all of them ({proof})"


def _points(front: Front) -> Iterable[FrontPoint]:
    yield from front.points
    yield from (answer.point for answer in front.answers if answer.point is not None)


def _changed(front: Front, change: Callable[[FrontPoint], FrontPoint]) -> Front:
    points = tuple(map(change, front.points))
    answers = tuple(
        answer if answer.point is None else answer.model_copy(update={"point": change(answer.point)})
        for answer in front.answers
    )
    return front.model_copy(update={"points": points, "answers": answers})


def _first_bodies(front: Front) -> dict[str, Body]:
    """Every part as in the first point that has it."""
    parts: dict[str, Body] = {}
    for point in _points(front):
        for part, body in point.parts.items():
            parts.setdefault(part, body)
    return parts


def _without(point: FrontPoint, case: CaseRecord, said: dict[str, Body]) -> FrontPoint:
    if point.case is None:
        return point
    parts = {part: body for part, body in point.parts.items() if part not in said or said[part] != body}
    common = case.content
    content = {key: value for key, value in point.case.content.items() if key not in common or common[key] != value}
    return point.model_copy(update={"parts": parts, "case": point.case.model_copy(update={"content": content})})


def _with_shared(front: Front, point: FrontPoint) -> FrontPoint:
    if point.case is None:
        return point
    content = {**front.case.content, **point.case.content}
    case = point.case.model_copy(update={"content": content})
    ids = {FACTS, *_named(content), *ids_used(point.fabrics, point.bom)}
    bodies = {**front.parts, **point.parts}
    parts = {part: bodies[part] for part in sorted(ids & bodies.keys(), key=_facts_first)}
    return point.model_copy(update={"parts": parts, "case": case})


def _named(content: Body) -> Sequence[str]:
    """Parts that a case names whether they are used or not: its server, the approved ones."""
    procurement = content.get("procurement")
    approved = procurement.get("approved_parts") if isinstance(procurement, dict) else None
    named = [content.get("server"), *(approved if isinstance(approved, list) else [])]
    return [part for part in named if isinstance(part, str)]


def _facts_first(part: str) -> tuple[bool, str]:
    return part != FACTS, part


# -- the case whose proven answer a point is --------------------------------------------------------------------------


# What a case bounds from above, by the metric; its servers are in the case of a point as they are.
_LIMITS = {limit.metric: limit.key for limit in SPENDING_LIMITS}
_SERVERS = "servers"
# What its fabrics ask for.
_DEMANDS = {
    "gbps_per_gpu": "min_gbps_per_gpu",
    "bisection_gbps_per_gpu": "min_bisection_gbps_per_gpu",
    "latency_us": "max_latency_us",
}
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


def _with_demand(content: dict[str, Any], key: str, number: float) -> dict[str, Any] | None:
    """The case with a demand on the fabrics that GPUs compute over, or on all; a model or a stage has its own.

    Those of a profile are in the case's fabrics, as it was resolved.
    """
    is_of_model = content["workload"] is not None and content["workload"].get("profile") is None
    if is_of_model or any(stage.get("fabrics") for stage in content["stages"] or ()):
        return None
    fabrics = content["fabrics"]
    measured = [fabric["role"] == "compute" for fabric in fabrics]
    asked = [
        {**fabric, key: float(number)} if counts or not any(measured) else fabric
        for fabric, counts in zip(fabrics, measured, strict=True)
    ]
    return {**content, "fabrics": asked}


# -- labels of the points of a sweep or front -------------------------------------------------------------------------


def labels_of(front: Front) -> list[str]:
    """The label of each point: its keys and budget in a sweep; of a front the properties of its design that differ.

    Designs with equal words are distinguished by the traded metrics. Without a design a point of a front has none.
    """
    if front.kind == "sweep":
        return [
            _joined(f"{key}={point.over.get(key, point.budget_usd)}" for key in front.keys) for point in front.points
        ]
    words = [dict(_words(point)) for point in front.points]
    differ = _differing([words_of_point for words_of_point in words if words_of_point])
    labels = [_joined(words_of_point[key] for key in differ if key in words_of_point) for words_of_point in words]
    often = Counter(labels)
    metrics = [objective.metric for objective in front.objectives]
    return [
        label if often[label] == 1 and label else _joined([*([label] if label else []), *_traded(point, metrics)])
        for label, point in zip(labels, front.points, strict=True)
    ]


def _joined(words: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(words)


def _differing(words: Sequence[dict[str, str]]) -> list[str]:
    """The keys whose words differ between points, in their order."""
    keys = dict.fromkeys(key for words_of_point in words for key in words_of_point)
    return [key for key in keys if len({words_of_point.get(key) for words_of_point in words}) > 1]


def _traded(point: FrontPoint, metrics: Sequence[str]) -> Iterator[str]:
    return (_figure(metric, point.values[metric]) for metric in metrics if metric in point.values)


def _figure(metric: str, value: Number) -> str:
    if metric.endswith("_usd"):
        return f"${value:,}"
    return f"{value:,} W" if metric.endswith("_w") else f"{metric} {value:,}"


def _words(point: FrontPoint) -> Iterator[tuple[str, str]]:
    """Properties of a design that can differ, in words: the most telling first."""
    several = len(point.fabrics) > 1
    for fabric in point.fabrics:
        name = f"{fabric.name} " if several else ""
        for key, word in _of_fabric(fabric):
            yield f"{fabric.name} {key}", f"{name}{word}"


def _of_fabric(fabric: FabricDesign) -> Iterator[tuple[str, str]]:
    nic = fabric.nic
    yield "ports", f"{nic.per_server * nic.ports_per_nic} x {nic.gbps:g}G"
    yield "injection", f"{fabric.metrics.injection_gbps_per_gpu:g} Gb/s"
    if fabric.oversubscription:
        ratios = list(dict.fromkeys(f"{ratio:g}:1" for ratio in fabric.oversubscription.values()))
        yield "ratio", " and ".join(ratios)
    if fabric.metrics.bisection_gbps_per_gpu is not None:
        yield "bisection", f"bisection {fabric.metrics.bisection_gbps_per_gpu:g} Gb/s"
    yield "protocol", fabric.protocol
    yield "topology", fabric.topology
    yield "nic", nic.id
    switches = " + ".join(f"{row.count} x {row.id}" for tier in fabric.tiers for row in tier.types)
    yield "switches", switches or "no switch"
