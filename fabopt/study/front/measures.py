"""Metrics that a front can trade: each an exact integer, its grade.

Grades are cents, milliwatts, thousandths of rack units, counts, and kb/s (of which the six decimals of Gb/s in a file
are whole). Two designs with the same grades are the same point of a front.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from fabopt.errors import Fault, did_you_mean, fault
from fabopt.io.spellings import OTHER_WORDS, loose
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked, energy_of, order_of, sums_of
from fabopt.schema.case import EFFECTIVE, Case
from fabopt.schema.design import Sense
from fabopt.schema.fabric import MOST_US
from fabopt.search.step_time import PER_ONE, least_utilization_grade, prediction_of
from fabopt.topology.design import NetworkDesign
from fabopt.topology.latency import farthest
from fabopt.units import NS_PER_US, exact, plain, rounded

# kb/s of one Mb/s, and grades of one Gb/s
FINER = 1000
PER_GBPS = 10**6
# Only of cases with a model.
UTILIZATION = "least_gpu_utilization"
PREDICTED = "gpu_utilization"
OF_A_MODEL = (UTILIZATION, PREDICTED, EFFECTIVE)
HEADROOM = "headroom_servers"
# Of a network that blocks nothing, or less than nothing: 1:1.
OVERSUBSCRIPTION, PER_RATIO = "oversubscription", 10**6
# The base round trip between the farthest servers, in picoseconds.
LATENCY, PER_US = "latency_us", 10**6
# Less than ratios of ports and their speeds differ by.
_LEAST_STEP = Fraction(1, 10**18)


@dataclass(frozen=True)
class Measure:
    """A metric. ``per_unit``: grades in one of its units; ``is_price``: the search minimizes it directly."""

    name: str
    sense: Sense
    per_unit: int
    is_price: bool = False

    def shown(self, grade: int) -> int | float:
        """A grade in the metric's unit."""
        return plain(grade, self.per_unit)

    def grade(self, value: int | float) -> int:
        """The grade of a value in the metric's unit."""
        return rounded(exact(value) * self.per_unit)

    def worth(self, grade: int) -> int:
        """A grade, its sign changed if need be so that less is better."""
        return grade if self.sense == "minimize" else -grade


MEASURES: Mapping[str, Measure] = {
    metric.name: metric
    for metric in (
        Measure("capex_usd", "minimize", 100, True),
        Measure("tco_usd", "minimize", 100, True),
        Measure("power_w", "minimize", 1000, True),
        Measure("rack_units", "minimize", 1000),
        Measure("cables", "minimize", 1),
        Measure("switches", "minimize", 1),
        Measure(OVERSUBSCRIPTION, "minimize", PER_RATIO),
        Measure(LATENCY, "minimize", PER_US),
        Measure("gbps_per_gpu", "maximize", PER_GBPS),
        Measure("bisection_gbps_per_gpu", "maximize", PER_GBPS),
        Measure(HEADROOM, "maximize", 1),
        Measure(UTILIZATION, "maximize", PER_ONE),
        Measure(PREDICTED, "maximize", PER_ONE),
        Measure(EFFECTIVE, "minimize", 100),
    )
}
# Other words for metrics, without spaces and hyphens.
ALIASES = {
    **OTHER_WORDS["objective"],
    **dict.fromkeys(("bandwidth", "injection", "speed", "throughput"), "gbps_per_gpu"),
    **dict.fromkeys(("bisection", "bisectionbandwidth"), "bisection_gbps_per_gpu"),
    **dict.fromkeys(("ratio", "oversub", "blocking", "maxoversubscription"), OVERSUBSCRIPTION),
    **dict.fromkeys(("watts", "kw", "energy"), "power_w"),
    **dict.fromkeys(("money", "usd", "dollars"), "capex_usd"),
    **dict.fromkeys(("headroom", "growth", "spareservers"), HEADROOM),
    **dict.fromkeys(("space", "units", "racks"), "rack_units"),
    **dict.fromkeys(("latency", "roundtrip", "rtt", "delay"), LATENCY),
    "utilization": PREDICTED,
}
# What a front trades where nothing is said.
USUAL = (("--minimize", "capex_usd"), ("--maximize", "gbps_per_gpu"))


def named(sense: Sense) -> list[str]:
    """Names of the metrics of which less, or more, is better."""
    return [metric.name for metric in MEASURES.values() if metric.sense == sense]


def others(metrics: Sequence[Measure]) -> str:
    """The metrics that could be traded too, each after its option."""
    left = [metric for metric in MEASURES.values() if metric not in metrics]
    return "; ".join(
        f"--{sense} {', '.join(metric.name for metric in left if metric.sense == sense)}"
        for sense in ("minimize", "maximize")
    )


def measure(option: str, word: str, sense: Sense) -> Measure | Fault:
    """The metric that an option names; or the fault of the word."""
    alike = (name for name in MEASURES if loose(name) == loose(word))
    name = ALIASES.get(loose(word), next(alike, word))
    allowed = named(sense)
    if name in allowed:
        return MEASURES[name]
    if name in MEASURES:
        other = "--maximize" if sense == "minimize" else "--minimize"
        return fault(option, "", "more of this is better" if sense == "minimize" else "less of this is better",
                     word, allowed=", ".join(allowed), hint=f"write {other} {name}")  # fmt: skip
    return fault(option, "", "no such metric", word, allowed=", ".join(allowed), hint=did_you_mean(name, allowed))


def grades(problem: Problem, picked: Sequence[Picked]) -> dict[str, int]:
    """Every metric of a design."""
    designs = [candidate.design for candidate, _ in picked]
    pairs = list(zip(problem.fabrics, designs, strict=True))
    asked = measured(problem)
    speeds = [design.figures(problem.gpus) for fabric, design in pairs if fabric.name in asked]
    return {
        **_spent(problem, picked),
        "gbps_per_gpu": min(kbps(figures.injection) for figures in speeds),
        "bisection_gbps_per_gpu": min(kbps(figures.bisection) for figures in speeds),
        HEADROOM: min(design.headroom(fabric) for fabric, design in pairs),
        OVERSUBSCRIPTION: max(_worst_ratio(problem, design) for fabric, design in pairs if fabric.name in asked),
        **_latency(problem, picked),
        **_useful(problem, pairs),
        **_predicted(problem, picked),
    }


def _worst_ratio(problem: Problem, design: NetworkDesign) -> int:
    """The least ``max_oversubscription`` that a network meets at every boundary, 1 at the least, as a grade."""
    return max([PER_RATIO, *(rounded(ratio * PER_RATIO) for ratio in design.least_ratios(problem.gpus).values())])


def _latency(problem: Problem, picked: Sequence[Picked]) -> dict[str, int]:
    """The longest base round trip of fabrics that limit it, as a grade, rounded up; empty where none does."""
    names, longest = measured(problem), list[int]()
    for fabric, (candidate, units) in zip(problem.fabrics, picked, strict=True):
        path = None if fabric.latency is None else farthest(fabric.latency, candidate, problem.gpus)
        if path is not None and fabric.name in names:
            ns = path.round_trip_ns([option for option, count in units if count])
            assert ns is not None, "what has no figure is not chosen"
            longest.append(ceil(ns * PER_US / NS_PER_US))
    return {LATENCY: max(longest)} if longest else {}


def with_times(case: Case) -> Case:
    """The case in which the fabrics that are measured have known round trips, of any length where it limits none."""
    compute = [fabric.name for fabric in case.fabrics if fabric.role == "compute"]
    fabrics = (
        fabric.model_copy(update={"max_latency_us": MOST_US})
        if fabric.max_latency_us is None and fabric.name in (compute or [fabric.name])
        else fabric
        for fabric in case.fabrics
    )
    return case.model_copy(update={"fabrics": tuple(fabrics)})


def within_latency(problem: Problem, most_ps: int) -> Problem:
    """The problem with round trips no longer than this in the fabrics that are measured."""
    names, most_ns = measured(problem), Fraction(most_ps * NS_PER_US, PER_US)
    fabrics = (
        fabric
        if fabric.latency is None or fabric.name not in names
        else fabric.within(replace(fabric.latency, most_ns=min(most_ns, fabric.latency.most_ns)))
        for fabric in problem.fabrics
    )
    return replace(problem, fabrics=tuple(fabrics))


def most_ratio(grade: int) -> Fraction:
    """The most oversubscription with a grade, or a better one."""
    return Fraction(2 * grade + 1, 2 * PER_RATIO) - _LEAST_STEP


def _useful(problem: Problem, pairs: Sequence[tuple[FabricProblem, NetworkDesign]]) -> dict[str, int]:
    """The least utilization of a model over its fabric, as a grade; empty for a case without a model."""
    if problem.needs is None:
        return {}
    design = next(own for fabric, own in pairs if fabric.name == problem.needs.fabric)
    grade = least_utilization_grade(problem, kbps(design.figures(problem.gpus).bisection))
    return {} if grade is None else {UTILIZATION: grade}


def _predicted(problem: Problem, picked: Sequence[Picked]) -> dict[str, int]:
    """Predicted utilization of a case with a model, and the cost of an effective GPU if servers have a price."""
    prediction = prediction_of(problem, picked, sums_of(problem, picked).cents)
    if prediction is None:
        return {}
    used = prediction.utilization
    predicted = {PREDICTED: rounded(used * PER_ONE)}
    per_gpu = prediction.per_effective_gpu_cents(used)
    return predicted if per_gpu is None else {**predicted, EFFECTIVE: per_gpu}


def measured(problem: Problem) -> frozenset[str]:
    """Names of the fabrics whose bandwidth counts: compute fabrics, or all if there are none."""
    names = frozenset(fabric.name for fabric in problem.fabrics if fabric.role == "compute")
    return names or frozenset(fabric.name for fabric in problem.fabrics)


def _spent(problem: Problem, picked: Sequence[Picked]) -> dict[str, int]:
    sums = sums_of(problem, picked)
    return {
        "capex_usd": sums.cents,
        "tco_usd": order_of(problem, picked).cents(None, True) + rounded(energy_of(problem, picked)),
        "power_w": sums.power_mw,
        "rack_units": sums.rack_milliunits,
        "cables": sums.cables,
        "switches": sums.switches,
    }


def kbps(rate_mbps: Fraction) -> int:
    """The grade of a rate."""
    return rounded(rate_mbps * FINER)


def least_mbps(grade: int) -> Fraction:
    """The least rate in Mb/s with a grade, or a better one."""
    return Fraction(2 * grade - 1, 2 * FINER)


def shown(grades_by_metric: Mapping[str, int]) -> dict[str, int | float]:
    """Grades in the units of their metrics, in the order of the metrics."""
    return {
        name: measure.shown(grades_by_metric[name]) for name, measure in MEASURES.items() if name in grades_by_metric
    }
