"""The fabric and the keys of a case that clash where no single change gives a design.

A set of changes that together do is made smaller, one by one, until none of them can be spared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from fabopt.explain.demands import DEMANDED_FIGURES, MOST_RATIO, changed
from fabopt.explain.freedoms import ANY_GBPS, COUNTED, OPEN_KEYS, ROLES, RULES, RUNS, SHORTEST_RUN_M
from fabopt.explain.gaps import gap_of, gap_sentences
from fabopt.explain.limits import unlimited
from fabopt.explain.what_if import Inquiry
from fabopt.program.settings import StoppedError
from fabopt.schema.case import Case, Distances, Fabric, Oversubscription
from fabopt.schema.resilience import NO_RULE


class Change(NamedTuple):
    """A key left open: its path, how it is said, and the case with it open."""

    key: str
    words: str
    of: Callable[[Case], Case]


def clashes(inquiry: Inquiry) -> list[str]:
    """The fabric that has no design of its own, and what would have to change together, as far as time allows."""
    told: list[str] = []
    with suppress(StoppedError), inquiry.clock.bounded():
        failing = alone(inquiry)
        if len(inquiry.case.fabrics) > 1 and failing == [inquiry]:
            told.append("each fabric has a design of its own, but not all of them together")
        for asked in failing:
            if asked is not inquiry:
                told.append(f"fabric {asked.case.fabrics[0].name} has no design even alone")
            told += joint_change(asked)
    return told


def prescribed(inquiry: Inquiry) -> str:
    """A sentence with the keys that restrict a case, where it is not known which of them clash."""
    keys = [f"`{change.key}`" for change in changes_of(inquiry)]
    return f"what clashes is among {', '.join(keys)} and the number of servers"


def alone(inquiry: Inquiry) -> list[Inquiry]:
    """The questions about each fabric that has no design of its own; those about the whole case if every one has."""
    fabrics = inquiry.case.fabrics
    if len(fabrics) == 1 or any(fabric.separation != "physical" for fabric in fabrics):
        return [inquiry]
    failing: list[Inquiry] = []
    for fabric in fabrics:
        case = inquiry.case.model_copy(update={"fabrics": (fabric,), "stages": _of_fabric(inquiry.case, fabric)})
        asked = replace(inquiry, case=case, problem=inquiry.problem_of(case))
        inquiry.tell(f"fabrics.{fabric.name} alone")
        if asked.design_of(asked.problem) is None:
            failing.append(asked)
    return failing or [inquiry]


def _of_fabric(case: Case, fabric: Fabric) -> object:
    """Stages without the demands of other fabrics."""
    stages = case.stages or ()
    return (
        tuple(
            stage.model_copy(
                update={"fabrics": {name: one for name, one in stage.fabrics.items() if name == fabric.name}}
            )
            for stage in stages
        )
        or None
    )


# Of changes of which some may be to spare.
SPARE_UNSETTLED = "whether all of these are needed was not settled in time"


def joint_change(inquiry: Inquiry) -> list[str]:
    """Keys that have to change together, each needed or said to be unsettled; else what is missing without."""
    needed, settled = list(changes_of(inquiry)), True
    inquiry.tell("several keys together")
    open_case = _changed(inquiry.case, needed)
    if inquiry.design(open_case) is None:
        if any(gap_of(inquiry.problem, fabric) for fabric in inquiry.problem.fabrics):
            return []
        asked = replace(inquiry, case=open_case, problem=inquiry.problem_of(open_case))
        return [f"with every key of the case left open {sentence}" for sentence in gap_sentences(asked)]
    for change in list(needed):
        fewer = [other for other in needed if other is not change]
        try:
            if inquiry.design(_changed(inquiry.case, fewer)) is not None:
                needed = fewer
        except StoppedError:
            settled = False
            if inquiry.clock.is_over():
                break
    words = "what would do together" if len(needed) > 1 else "what would do"
    left_open = "" if settled else f"; {SPARE_UNSETTLED}"
    return [f"{words}: {', and '.join(change.words for change in needed)}{left_open}"]


def _changed(case: Case, changes: list[Change]) -> Case:
    for change in changes:
        case = change.of(case)
    return case


def changes_of(inquiry: Inquiry) -> Iterator[Change]:
    """Every key of a case that could be left open, those that are asked for most plainly last."""
    case = inquiry.case
    if unlimited(case) != case:
        yield Change("limits", "no `limits`", unlimited)
    for rule in RULES:
        if getattr(case.procurement, rule) is not None:
            yield _without(f"procurement.{rule}", _ruled(rule, None))
    for rule in ("max_part_numbers", "quarterly_supply", *COUNTED):
        if getattr(case.procurement, rule):
            yield _without(f"procurement.{rule}", _ruled(rule, {}))
    if inquiry.problem.site.runs_are_alike:
        for run in RUNS:
            key = f"site.distances_m.{run}"
            yield Change(key, f"a shorter `{key}`", _shorter(run))
    for index, fabric in enumerate(case.fabrics):
        yield from _structure(index, fabric)
        yield from _demands(index, fabric)


def _without(key: str, of: Callable[[Case], Case]) -> Change:
    return Change(key, f"no `{key}`", of)


def _structure(index: int, fabric: Fabric) -> Iterator[Change]:
    path = f"fabrics.{fabric.name}"
    for key, free in OPEN_KEYS:
        if getattr(fabric, key) != free:
            shown = free[0] if isinstance(free, tuple) else free
            yield Change(f"{path}.{key}", f"`{path}.{key}: {shown}`", _with(index, key, free))
    for role in ROLES:
        if getattr(fabric.switches, role) != "any":
            key = f"{path}.switches.{role}"
            yield Change(key, f"`{key}: any`", _any_switch(index, role))
    if fabric.attachments:
        yield _without(f"{path}.attachments", _with(index, "attachments", ()))


def _demands(index: int, fabric: Fabric) -> Iterator[Change]:
    path = f"fabrics.{fabric.name}"
    for key in (*(f"min_{figure}_gbps_per_gpu" for figure in DEMANDED_FIGURES), "max_switch_hops"):
        if getattr(fabric, key) is not None:
            yield _without(f"{path}.{key}", _with(index, key, None))
    if fabric.survived:
        yield _without(f"{path}.resilience", _with(index, "resilience", NO_RULE))
    loosest = Oversubscription(leaf=MOST_RATIO, spine=MOST_RATIO)
    for key, word, free in (("max_oversubscription", "higher", loosest), ("min_gbps_per_gpu", "lower", ANY_GBPS)):
        yield Change(f"{path}.{key}", f"a {word} `{path}.{key}`", _with(index, key, free))


def _with(index: int, key: str, value: object) -> Callable[[Case], Case]:
    return lambda case: changed(case, case.fabrics[index], **{key: value})


def _any_switch(index: int, role: str) -> Callable[[Case], Case]:
    def of(case: Case) -> Case:
        fabric = case.fabrics[index]
        return changed(case, fabric, switches=fabric.switches.model_copy(update={role: "any"}))

    return of


def _ruled(rule: str, value: object) -> Callable[[Case], Case]:
    return lambda case: case.model_copy(update={"procurement": case.procurement.model_copy(update={rule: value})})


def _shorter(run: str) -> Callable[[Case], Case]:
    def of(case: Case) -> Case:
        distances = (case.site.distances_m or Distances()).model_copy(update={run.replace("-", "_"): SHORTEST_RUN_M})
        return case.model_copy(update={"site": case.site.model_copy(update={"distances_m": distances})})

    return of
