"""The file of a Pareto front: its points with their designs, knee and marginal costs; or why there is no design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabopt.design.build import case_record
from fabopt.design.points import gathered
from fabopt.errors import Fault, fault
from fabopt.io.case import Inputs
from fabopt.io.faults import refuse
from fabopt.problem.certain import uncertain_stages
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.front import Front, FrontObjective
from fabopt.schema.topologies import TIERED
from fabopt.schema.version import VERSION
from fabopt.search.rules_kept import relaxed
from fabopt.solution.question import finishing_s
from fabopt.study.front import pareto
from fabopt.study.front.answers import KeptAnswers
from fabopt.study.front.finder import PRICE, Finder
from fabopt.study.front.journal import PointJournal
from fabopt.study.front.knees import marked
from fabopt.study.front.managed import ManagedFinder
from fabopt.study.front.measures import HEADROOM, OF_A_MODEL, PREDICTED, USUAL, Measure, measure
from fabopt.study.front.pinned import why_single
from fabopt.study.front.points import Place, point_of, points_of, why_none
from fabopt.study.sweep.sweep import catalog_hash
from fabopt.verify.editions import edition_of
from fabopt.workload.prediction import cluster_cents

MOST_OBJECTIVES = 3
FEWEST_POINTS = 2


def objectives_of(minimize: Sequence[str], maximize: Sequence[str], points: int | None) -> list[Measure]:
    """The metrics traded, minimized ones first; the usual two where none is named.

    ``InputError`` lists all faults of the options.
    """
    words = [("--minimize", word, "minimize") for word in minimize] + [("--maximize", w, "maximize") for w in maximize]
    if not words:
        words = [(option, word, option.removeprefix("--")) for option, word in USUAL]
    metrics: list[Measure] = []
    faults: list[Fault] = []
    for option, word, sense in words:
        metric = measure(option, word, "minimize" if sense == "minimize" else "maximize")
        if isinstance(metric, Fault):
            faults.append(metric)
        elif metric in metrics:
            faults.append(fault(option, "", "this metric is given twice", word))
        else:
            metrics.append(metric)
    if not 2 <= len(words) <= MOST_OBJECTIVES:
        partner = USUAL[maximize == []]
        given = words[0] if len(words) == 1 else (*USUAL[0],)
        hint = f"for example {' '.join(given[:2])} {' '.join(partner)}"
        faults.append(fault("pareto", "", "a front trades two or three metrics", len(words), hint=hint))
    if points is not None and points < FEWEST_POINTS:
        faults.append(fault("--points", "", "too few", points, allowed="2 or more"))
    if len(words) == MOST_OBJECTIVES and points is None:
        hint = "say how many, for example --points 30"
        faults.append(fault("--points", "", "a front of three metrics has too many points to show them all", hint=hint))
    if len(words) == MOST_OBJECTIVES and any(metric.name == EFFECTIVE for metric in metrics):
        hint = "trade it against one metric"
        faults.append(fault("--minimize", "", "this is not traded against two others", EFFECTIVE, hint=hint))
    if faults:
        raise refuse(faults)
    return metrics


def empty_front(inputs: Inputs, objectives: Sequence[Measure]) -> Front:
    """The file of a front before any point is found; ``InputError`` where growth may end."""
    if faults := list(uncertain_stages(inputs.case, inputs.case_file, "fronts are not worked out")):
        raise refuse(faults)
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
) -> Front:
    """The exact front of a case.

    ``complete`` is False if the clock stopped it, or if it has too many points. ``journal``: answers of an earlier run,
    and where new ones are kept.
    """
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
    front = pareto.front(finder, objectives, points, report, None if answers is None else answers.best)
    bound_less = relaxed_if_none(finder, front)
    if bound_less is not None:
        problem, answers = bound_less.problem, None
        front = pareto.front(bound_less, objectives, points, report)
    empty = empty_front(inputs, objectives)
    in_time = points_of(problem, front.points, place, settings, clock, answers)
    if len(in_time) < len(front.points):
        front = replace(front, complete=False, is_whole=False, size=None, was_stopped=True)
    shown = marked(in_time, empty.objectives)
    if front.complete and not front.points:
        shown = (why_none(problem, place, clock),)
    own_notes = _notes(front, objectives, points)
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
    faults: list[Fault] = []
    for objective in objectives:
        option = f"--{objective.sense}"
        if objective.name in OF_A_MODEL and problem.needs is None:
            hint = "write workload: {model: ...}, see `fabopt models`"
            faults.append(fault(option, "", "the case has no model to predict this of", objective.name, hint=hint))
        elif objective.name == EFFECTIVE and cluster_cents(0, False, problem.server, problem.servers) is None:
            what = f"{problem.server.id} has no price_usd, and GPUs that wait cost nothing then"
            hint = "give it one, in the catalog or a price book"
            faults.append(fault(option, "", what, objective.name, hint=hint))
        elif objective.name in (PREDICTED, EFFECTIVE) and (untimed := _untimed(problem)):
            hint = f"write topologies: [{', '.join(TIERED)}]"
            what = f"this is not searched for over {', '.join(untimed)}"
            faults.append(fault(option, "", what, objective.name, hint=hint))
    if faults:
        raise refuse(faults)


def _untimed(problem: Problem) -> list[str]:
    """Families of the computing fabric that are not searched by the time of a step."""
    return [
        name
        for fabric in problem.fabrics
        if problem.needs is not None and fabric.name == problem.needs.fabric
        for name in fabric.topologies
        if name not in TIERED
    ]


def _notes(front: pareto.FoundFront, objectives: Sequence[Measure], points: int | None) -> list[str]:
    """Notes on missing points of the front, with the reason."""
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
