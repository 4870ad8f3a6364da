"""Labels of the points of a sweep or front: the properties that differ, such that each label is unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fabopt.schema.design import FabricDesign, Number
from fabopt.schema.front import Front, FrontPoint


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
