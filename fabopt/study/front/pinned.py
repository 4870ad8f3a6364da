"""Which key of a case keeps its front at a single point: the one that, set free, allows a design that is better in the
other metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabopt.errors import InputError
from fabopt.io.case import Inputs
from fabopt.io.keys import KeyPath, changed_inputs, content_of
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.rules.limits import SPENDING_LIMITS
from fabopt.study.front.finder import PRICE, GradedDesign, better
from fabopt.study.front.managed import ManagedFinder
from fabopt.study.front.measures import OVERSUBSCRIPTION, Measure
from fabopt.units import plain, usd

# Keys of fabrics, and limits, with what sets them free; in the order in which they are tried.
OF_FABRICS: Mapping[str, object] = {
    **dict.fromkeys(("nics_per_server", "nics", "protocol", "switches", "tiers", "planes", "group_by"), "any"),
    "topologies": ["any"],
}
# The demand on a metric, and by how much what a design gives is changed for half of it.
HALVED = {"gbps_per_gpu": ("min_gbps_per_gpu", 0.5), OVERSUBSCRIPTION: ("max_oversubscription", 2)}


def why_single(inputs: Inputs, measure: Measure, only: GradedDesign, settings: Settings, clock: Clock) -> str:
    """Say which key, set free, allows a design that is better in a metric than the only point of a front; or which
    demand, halved, a cheaper one; else that none does alone. Empty where time runs out.
    """
    more = "more" if measure.sense == "maximize" else "less"
    claim = f"one design is best in both: none of this case has {more} {measure.name}"
    tried = [(*freed, {measure.name: better(measure, only)}) for freed in _freed(inputs)]
    cheaper = {PRICE.name: better(PRICE, only)}
    tried += [(*halved, cheaper) for halved in _halved(inputs, measure, only.grades[measure.name])]
    try:
        for words, changed, demands in tried:
            problem = problem_of(changed.case, changed.catalog, settings.prune)
            other = ManagedFinder(problem, settings, clock).best((PRICE,), demands)
            if other is not None:
                value = plain(other.grades[measure.name], measure.per_unit)
                return f"{claim}; {words} would allow {value:,}, for ${usd(other.grades[PRICE.name]):,} at the least"
    except StoppedError:
        return ""
    return f"{claim}, whichever key of a fabric or limit is set free alone: the server and the catalog allow no {more}"


def _freed(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """The case with one key set free, for each that is not, and how that is written."""
    content = content_of(inputs.case)
    for place, fabric in enumerate(content["fabrics"]):
        for key, free in OF_FABRICS.items():
            value = dict.fromkeys(fabric[key], "any") if isinstance(fabric[key], dict) else free
            if fabric[key] not in (value, None):
                written = str(value).replace("'", "")
                yield from _with(
                    inputs, content, ("fabrics", place, key), value, f"fabrics.{fabric['name']}.{key}: {written}"
                )
    for key in (limit.key for limit in SPENDING_LIMITS):
        if content["limits"][key] is not None:
            yield from _with(inputs, content, ("limits", key), None, f"limits.{key}: null")


def _halved(inputs: Inputs, measure: Measure, grade: int) -> Iterator[tuple[str, Inputs]]:
    """The case with half the demand of a fabric on a metric."""
    content = content_of(inputs.case)
    key, factor = HALVED.get(measure.name, ("", 0))
    value = plain(round(grade * factor), measure.per_unit)
    for place, fabric in enumerate(content["fabrics"] if key else ()):
        yield from _with(inputs, content, ("fabrics", place, key), value, f"fabrics.{fabric['name']}.{key}: {value:g}")


def _with(
    inputs: Inputs, content: dict[str, Any], path: KeyPath, value: object, words: str
) -> Iterator[tuple[str, Inputs]]:
    try:
        yield f"`{words}`", changed_inputs(inputs, content, {path: value})
    except InputError:
        return
