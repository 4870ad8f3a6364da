"""The file of a Pareto front: its points with their designs, knee and marginal costs; or why there is no design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabopt.design.build import case_record
from fabopt.design.points import gathered
from fabopt.errors import Fault, InputError, fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse, refuse_any
from fabopt.io.keys import KeyPath, changed_inputs, content_of
from fabopt.problem.certain import uncertain_stages
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.copies import can_fork
from fabopt.program.settings import Clock, Settings, StoppedError
from fabopt.rules.limits import SPENDING_LIMITS
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Conflict, Front, FrontObjective
from fabopt.schema.topologies import TIERED
from fabopt.schema.version import VERSION
from fabopt.search.rules_kept import relaxed
from fabopt.solution.question import finishing_s
from fabopt.study.front import pareto
from fabopt.study.front.ahead import Ahead
from fabopt.study.front.finder import PRICE, Finder, GradedDesign, better
from fabopt.study.front.journal import PointJournal
from fabopt.study.front.listed import can_be_listed
from fabopt.study.front.managed import ManagedFinder
from fabopt.study.front.measures import (
    HEADROOM,
    LATENCY,
    OF_A_MODEL,
    OVERSUBSCRIPTION,
    PREDICTED,
    USUAL,
    Measure,
    measure,
    with_times,
)
from fabopt.study.front.pareto import marked
from fabopt.study.front.points import KeptAnswers, Place, point_of, points_of, why_none
from fabopt.study.sweep.sweep import catalog_hash
from fabopt.units import plain, usd
from fabopt.verify.editions import edition_of
from fabopt.workload.prediction import cluster_cents

MOST_OBJECTIVES = 3
FEWEST_POINTS = 2


def objectives_of(minimize: Sequence[str], maximize: Sequence[str], points: int | None) -> list[Measure]:
    """The metrics traded, minimized ones first; the usual two where none is named.

    ``InputError`` lists all faults of the options.
    """
    words = [("--minimize", word) for word in minimize] + [("--maximize", word) for word in maximize] or list(USUAL)
    metrics: list[Measure] = []
    faults: list[Fault] = []
    for option, word in words:
        metric = measure(option, word, "minimize" if option == "--minimize" else "maximize")
        if isinstance(metric, Fault):
            faults.append(metric)
        elif metric in metrics:
            faults.append(fault(option, "", "this metric is given twice", word))
        else:
            metrics.append(metric)
    if not 2 <= len(words) <= MOST_OBJECTIVES:
        is_one = len(words) == len(metrics) == 1
        given, partner = (words[0], USUAL[maximize == []]) if is_one else USUAL
        hint = f"for example {' '.join(given)} {' '.join(partner)}"
        faults.append(fault("pareto", "", "a front trades two or three metrics", len(words), hint=hint))
    if points is not None and points < FEWEST_POINTS:
        faults.append(fault("--points", "", "too few", points, allowed="2 or more"))
    if len(words) == MOST_OBJECTIVES and points is None:
        hint = "say how many, for example --points 30"
        faults.append(fault("--points", "", "a front of three metrics has too many points to show them all", hint=hint))
    if len(words) == MOST_OBJECTIVES and any(metric.name == EFFECTIVE for metric in metrics):
        hint = "trade it against one metric"
        faults.append(fault("--minimize", "", "this is not traded against two others", EFFECTIVE, hint=hint))
    refuse_any(faults)
    return metrics


def _timed(inputs: Inputs, objectives: Sequence[Measure]) -> Inputs:
    """The inputs in which all that is chosen has a known latency, where that is traded."""
    is_traded = any(objective.name == LATENCY for objective in objectives)
    return replace(inputs, case=with_times(inputs.case)) if is_traded else inputs


def empty_front(inputs: Inputs, objectives: Sequence[Measure]) -> Front:
    """The file of a front before any point is found; ``InputError`` where growth may end."""
    inputs = _timed(inputs, objectives)
    refuse_any(list(uncertain_stages(inputs.case, inputs.case_file, "fronts are not worked out")))
    return Front(
        fabopt=VERSION,
        rules=edition_of(VERSION),
        case=case_record(problem_of(inputs.case, inputs.catalog)),
        catalog_sha256=catalog_hash(inputs),
        kind="pareto",
        objectives=tuple(FrontObjective(metric=objective.name, sense=objective.sense) for objective in objectives),
        complete=False,
        notes=inputs.notes,
    )


def pareto_front(
    inputs: Inputs,
    objectives: Sequence[Measure],
    points: int | None,
    settings: Settings,
    clock: Clock,
    report: pareto.Report,
    journal: PointJournal | None = None,
    processes: int = 1,
) -> Front:
    """The exact front of a case.

    ``complete`` is False if the clock stopped it, or if it has too many points. ``journal``: answers of an earlier run,
    and where new ones are kept. ``processes``: of a front that is climbed with a journal, where they can be forked.
    """
    inputs = _timed(inputs, objectives)
    problem = problem_of(inputs.case, inputs.catalog, settings.prune)
    check_predicted(problem, objectives)
    hosts = [fabric.name for fabric in problem.fabrics if fabric.logical_fabrics]
    if hosts and any(objective.name == HEADROOM for objective in objectives):
        text = f"room for more servers is not counted where logical fabrics are on `{', '.join(hosts)}`"
        raise refuse([fault("--maximize", "", text, HEADROOM, hint="leave it out, or say another `separation`")])
    clock.reserve(finishing_s(problem))
    place = Place(inputs, objectives[0].name, settings.engine)
    finder = ManagedFinder(problem, settings, clock)
    answers = None if journal is None else KeptAnswers(finder, journal, lambda graded: point_of(problem, graded, place))
    front = _found(finder, objectives, points, report, answers, processes)
    if (bound_less := relaxed_if_none(finder, front)) is not None:
        problem, answers = bound_less.problem, None
        front = pareto.front(bound_less, objectives, points, report)
    empty = empty_front(inputs, objectives)
    in_time = points_of(problem, front.points, place, settings, clock, answers)
    if len(in_time) < len(front.points):
        front = replace(front, complete=False, is_whole=False, size=None, was_stopped=True)
    shown = marked(in_time, empty.objectives)
    if front.complete and not front.points:
        shown = (why_none(problem, place, clock),)
    own_notes = _notes(front, objectives, points, finder.conflict)
    if front.complete and len(front.points) == 1 and len(objectives) == 2:
        other = next(objective for objective in reversed(objectives) if objective.name != PRICE.name)
        own_notes += filter(None, [why_single(inputs, other, front.points[0], settings, clock)])
    update = {
        "complete": front.complete,
        "size": front.size,
        "notes": (*inputs.notes, *own_notes),
        "notes_on_inputs": inputs.notes if own_notes else None,
        "points": shown,
        "answers": tuple(answers.given) if answers is not None and front.was_stopped else (),
    }
    return gathered(empty.model_copy(update=update))


def _found(
    finder: Finder,
    objectives: Sequence[Measure],
    points: int | None,
    report: pareto.Report,
    answers: KeptAnswers | None,
    processes: int,
) -> pareto.FoundFront:
    """The front that is found, in several processes where it is climbed and they can be forked."""
    if answers is None:
        return pareto.front(finder, objectives, points, report)
    if points is None and processes > 1 and can_fork():
        measures, second = pareto.climbed(objectives)
        is_listed = can_be_listed(finder.problem, measures[0], second)
        if not is_listed and not Ahead(finder, answers, measures, second).answer(processes):
            return pareto.stopped(answers.designs(), objectives)
    return pareto.front(finder, objectives, points, report, answers.best)


def relaxed_if_none(finder: Finder, front: pareto.FoundFront) -> Finder | None:
    """The finder of the problem bound to as many default rules as some design keeps.

    None if the front has a point, or no design keeps fewer rules.
    """
    if front.points or not front.complete:
        return None
    context = finder.context.beside()
    problem = relaxed(finder.problem, finder.settings, finder.clock, context)
    return None if problem is None else ManagedFinder(problem, finder.settings, finder.clock, context)


def check_predicted(problem: Problem, objectives: Sequence[Measure]) -> None:
    """Raise ``InputError`` where figures of a model's step are asked for and the case lacks their inputs."""
    refuse_any(
        [
            fault(f"--{objective.sense}", "", what, objective.name, hint=hint)
            for objective in objectives
            for what, hint in _unpredicted(problem, objective.name)
        ]
    )


def _unpredicted(problem: Problem, metric: str) -> Iterator[tuple[str, str]]:
    """Yield what stands against trading a metric in a case, and what helps, if anything does."""
    if metric == EFFECTIVE and problem.case.site.trunked:
        yield (
            "this is not worked out where links run through trunks (`site.cabling`), which need room for panels",
            "leave `site.cabling` out, or trade another metric",
        )
    elif metric in OF_A_MODEL and problem.needs is None:
        yield "the case has no model to predict this of", "write workload: {model: ...}, see `fabopt models`"
    elif metric == EFFECTIVE and cluster_cents(0, False, problem.server, problem.servers) is None:
        yield (
            f"{problem.server.id} has no price_usd, and GPUs that wait cost nothing then",
            "give it one, in the catalog or a price book",
        )
    elif metric in (PREDICTED, EFFECTIVE) and (untimed := _untimed(problem)):
        yield f"this is not searched for over {', '.join(untimed)}", f"write topologies: [{', '.join(TIERED)}]"


def _untimed(problem: Problem) -> list[str]:
    """Families of the computing fabric that are not searched by the time of a step."""
    return [
        name
        for fabric in problem.fabrics
        if problem.needs is not None and fabric.name == problem.needs.fabric
        for name in fabric.shapes.topologies
        if name not in TIERED
    ]


def _notes(
    front: pareto.FoundFront, objectives: Sequence[Measure], points: int | None, conflict: Conflict | None
) -> list[str]:
    """Notes on missing points of the front, with the reason."""
    if conflict is not None:
        return [f"{conflict.limit}: {conflict.detail}"]
    if front.size is not None:
        return [
            f"the front has {front.size:,} points, all found and proven: these {len(front.points):,} are spread evenly "
            "over it"
        ]
    if front.is_whole:
        return []
    if front.complete:
        return [f"not the whole front: {len(front.points)} of its points, evenly spread, each proven"]
    if points is None and len(front.points) >= pareto.MOST_POINTS:
        return [
            f"the front has more than {pareto.MOST_POINTS:,} points: these are its first, from the least "
            f"{pareto.in_turn(objectives)[0].name} up; --points N gives N that are spread over all of it"
        ]
    return []


# -- which key of a case keeps its front at a single point ------------------------------------------------------------
# Which key of a case keeps its front at a single point: the one that, set free, allows a design that is better in
# the other metric.


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
