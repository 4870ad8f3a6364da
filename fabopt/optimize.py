"""From inputs to a Design: resolve, search, prove, look at what else there is, check."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Literal

import numpy as np

from fabopt import __version__
from fabopt.billing import bill, stage_designs, totals_of
from fabopt.choosing import Tried, cheapest, choice_notes, solved_ways, without_design, words_of
from fabopt.clock import Clock, Settings
from fabopt.conflicts import conflicts_of, obstacles_of
from fabopt.design import case_record, fabric_design, floor_use, parts_of, with_racks
from fabopt.effective import Ratio, RatioSearch, cents_per_effective_gpu
from fabopt.errors import InfeasibleError, InputError, fault
from fabopt.fabric import FabricProblem
from fabopt.finance import Weights
from fabopt.foresight import use_on
from fabopt.metrics import figures
from fabopt.naive import naive_plans
from fabopt.optimum import Optimum
from fabopt.ordering import Picked, Sums, sums_of
from fabopt.placement.layout import POLICIES
from fabopt.problem import Problem, estimating, problem_of
from fabopt.read import Inputs
from fabopt.roles import role_notes
from fabopt.schema.case import EFFECTIVE
from fabopt.schema.design import Alternative, Conflict, Design, Objective, Totals
from fabopt.schema.prediction import WorkloadUse
from fabopt.schema.topologies import DESIGNED, TIERED, refused
from fabopt.search import Search
from fabopt.separation import is_open
from fabopt.solvers import ENGINES
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.candidates import Clos, candidates_of
from fabopt.topology.direct.serverspace import options_of
from fabopt.topology.families import FAMILIES
from fabopt.topology.family import FilePart, Restriction
from fabopt.topology.threshold import Batch
from fabopt.units import cents, gbps, rounded, usd, watts
from fabopt.verify import verify
from fabopt.wiring.attached import longer_runs
from fabopt.workload.remarks import workload_notes

MOST_REFUSALS_NOTED = 6
# What one plans with before there is a floor plan.
FLAT_RUN_M = 30
MANAGEMENT = ("in-band", "oob")
# Candidates that are compared for a design of another kind, where its proof would take more.
MOST_OF_A_KIND = 200
BEST_FOUND = " (the best found)"


@dataclass(frozen=True)
class Answer:
    """A solved problem: the exact optimum with the candidates that make it; ``ratio``: where that was minimized."""

    problem: Problem
    optimum: Optimum
    ratio: Ratio | None = None

    @property
    def picked(self) -> list[Picked]:
        """One candidate with its parts for each fabric."""
        return [(candidate, units) for candidate, units in self.optimum.picked]


def solve(
    inputs: Inputs,
    *,
    engine: str = "cp-sat",
    time_limit_s: float | None = None,
    progress: Callable[[str], None] | None = None,
    prune: bool = True,
    alternatives: bool = True,
) -> Design:
    """The cheapest design of a case, or the proof that there is none.

    ``status`` is optimal, feasible (time limit), infeasible (``conflicts`` say why) or unknown.
    ``prune=False`` gives every candidate to the program: for tests on small cases.
    Raises ``InputError`` for an unknown engine.
    """
    if engine not in ENGINES:
        raise InputError([fault("--engine", "", "unknown engine", engine, allowed=", ".join(ENGINES))])
    clock = Clock(time_limit_s)
    settings = Settings(engine, time_limit_s, prune, progress or (lambda text: None))
    with interrupts(clock):
        return _solve(inputs, settings, clock, alternatives)


@contextmanager
def interrupts(clock: Clock) -> Iterator[None]:
    """Make the first Ctrl-C stop the search with what it has; the next one raises ``KeyboardInterrupt``."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        clock.stop()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _solve(inputs: Inputs, settings: Settings, clock: Clock, alternatives: bool) -> Design:
    started = time.perf_counter()
    engine = settings.engine
    if is_open(inputs.case):
        return _of_all_ways(inputs, settings, clock, alternatives, started)
    problem = problem_of(inputs.case, inputs.catalog, settings.prune)
    settings.progress("sizing candidates")
    ratio = None
    if problem.case.objective == EFFECTIVE:
        ratio = RatioSearch(problem, settings, clock).run()
    optimum = Search(problem, settings, clock).run() if ratio is None else ratio.optimum
    notes = tuple(notes_of(problem, inputs))
    if optimum.value is None:
        return _without_answer(inputs, problem, optimum, settings, clock, started, notes)
    answer = Answer(problem, optimum, ratio)
    others = tuple(_alternatives(answer, settings, clock)) if alternatives else ()
    design = design_of(answer, engine, time.perf_counter() - started, notes, others)
    design = design.model_copy(update={"notes": (*design.notes, *longer_runs(design))})
    return design.model_copy(update={"checks": verify(design)})


def _of_all_ways(inputs: Inputs, settings: Settings, clock: Clock, alternatives: bool, started: float) -> Design:
    """The cheapest design over all separations that a case leaves open, with what the others would cost."""
    tried = solved_ways(inputs, settings, clock)
    best = cheapest(tried)
    notes = choice_notes(inputs, tried, best)
    if best is None:
        first = tried[0]
        notes += notes_of(first.problem, replace(inputs, case=first.case))
        design = _without_answer(inputs, first.problem, without_design(tried), settings, clock, started, tuple(notes))
        return design.model_copy(update={"conflicts": tuple(_conflicts_of_all(inputs, tried, settings, clock))})
    answer = Answer(best.problem, best.optimum)
    notes += notes_of(best.problem, replace(inputs, case=best.case))
    others = [
        _alternative_way(answer, Answer(one.problem, one.optimum), words_of(inputs.case, one.case))
        for one in tried
        if one.case is not best.case and one.optimum.value is not None
    ]
    others += _alternatives(answer, settings, clock) if alternatives else ()
    design = design_of(answer, settings.engine, time.perf_counter() - started, tuple(notes), tuple(others))
    return design.model_copy(update={"checks": verify(design)})


def _conflicts_of_all(inputs: Inputs, tried: Sequence[Tried], settings: Settings, clock: Clock) -> Iterator[Conflict]:
    """What clashes in every combination of separations, each told apart."""
    for one in tried:
        if one.optimum.verdict == "infeasible":
            words = words_of(inputs.case, one.case)
            for each in conflicts_of(one.problem.case, inputs.catalog, one.problem, settings, clock):
                yield each.model_copy(update={"detail": f"with {words}: {each.detail}"})


def _alternative_way(answer: Answer, other: Answer, words: str) -> Alternative:
    mine, theirs = (sums_of(one.problem, one.picked) for one in (answer, other))
    summary = summaries_of(other.problem, other.picked)
    if other.optimum.verdict != "optimal":
        summary += BEST_FOUND
    return _of_sums(answer.problem, mine, theirs, "separation", words, summary)


def design_of(
    answer: Answer, engine: str, seconds: float, notes: tuple[str, ...], others: tuple[Alternative, ...]
) -> Design:
    """The Design of an answer, without its checks."""
    problem = answer.problem
    fabrics = tuple(
        fabric_design(problem, fabric, picked) for fabric, picked in zip(problem.fabrics, answer.picked, strict=True)
    )
    rows = bill(problem, answer.picked)
    floor = floor_use(problem, answer.picked)
    totals = with_racks(totals_of(problem, answer.picked, rows), problem, fabrics, floor)
    use = use_on(problem, answer.picked, cents(totals.capex_usd))
    return Design(
        fabopt=__version__,
        case=case_record(problem),
        parts=parts_of(problem, fabrics, rows),
        status="optimal" if answer.optimum.verdict == "optimal" else "feasible",
        objective=_objective(answer, totals, use, engine, seconds),
        totals=totals,
        floor=floor,
        fabrics=fabrics,
        stages=stage_designs(problem, answer.picked, fabrics),
        bom=rows,
        alternatives=others,
        workload=use,
        notes=(*notes, *(workload_notes(use, problem.case, problem.server) if use is not None else ())),
    )


def in_metric(value: int, weights: Weights) -> int | float:
    """An objective integer in dollars or watts."""
    if weights.per_cent:
        return usd(rounded(Fraction(value, weights.scale)))
    return watts(rounded(Fraction(value, weights.scale)))


def _objective(answer: Answer, totals: Totals, use: WorkloadUse | None, engine: str, seconds: float) -> Objective:
    problem, optimum = answer.problem, answer.optimum
    metric = problem.case.objective
    value = getattr(totals if metric != EFFECTIVE else use, metric)
    found, bound = _found_and_bound(answer)
    if found is not None and found != value:
        raise AssertionError(f"the search's objective {found} is not the design's {metric} {value}")
    gap = None if bound is None else (round((value - bound) / value, 6) if value else 0)
    if optimum.verdict == "optimal":
        bound, gap = value, 0
    return Objective(
        metric=metric,
        value=value,
        bound=bound,
        gap=gap,
        engine=engine,
        solve_s=round(seconds, 3),
        candidates=optimum.sized,
        candidates_in_program=optimum.in_program,
    )


def _found_and_bound(answer: Answer) -> tuple[int | float | None, int | float | None]:
    """What the search says of its objective, and what is not below it; None if that is not known."""
    problem, optimum, ratio = answer.problem, answer.optimum, answer.ratio
    if problem.case.objective == EFFECTIVE:
        if ratio is None or ratio.cents is None:
            return None, None
        return usd(rounded(ratio.cents)), None if ratio.bound is None else usd(floor(ratio.bound))
    assert optimum.value is not None
    bound = None if optimum.bound is None else in_metric(optimum.bound, problem.weights)
    return in_metric(optimum.value, problem.weights), bound


def notes_of(problem: Problem, inputs: Inputs) -> Iterator[str]:
    """What a reader must know: cards that were refused, servers without power."""
    yield from inputs.notes
    yield from role_notes(inputs.case, problem.server)
    yield from _left_out(problem)
    for fabric in problem.fabrics:
        for text in fabric.refused_nics[:MOST_REFUSALS_NOTED]:
            yield f"{fabric.name}: not picked: {text}"
        more = len(fabric.refused_nics) - MOST_REFUSALS_NOTED
        if more > 0:
            yield f"{fabric.name}: {more} more cards are held back by their PCIe slots"


def _left_out(problem: Problem) -> Iterator[str]:
    """Families that ``any`` does not stand for in this case, and why."""
    for fabric in problem.case.fabrics:
        for topology in DESIGNED if "any" in fabric.topologies else ():
            words = [feature.words for feature in refused(problem.case, fabric, topology)]
            if words:
                yield f"{fabric.name}: {topology} left out, which does not support {' and '.join(words)}"


def _without_answer(
    inputs: Inputs,
    problem: Problem,
    optimum: Optimum,
    settings: Settings,
    clock: Clock,
    started: float,
    notes: tuple[str, ...],
) -> Design:
    infeasible = optimum.verdict == "infeasible"
    if infeasible:
        settings.progress("no design meets the case: looking for what would help")
    return Design(
        fabopt=__version__,
        case=case_record(problem),
        status="infeasible" if infeasible else "unknown",
        objective=Objective(
            metric=problem.case.objective,
            engine=settings.engine,
            candidates=optimum.sized,
            candidates_in_program=optimum.in_program,
            solve_s=round(time.perf_counter() - started, 3),
        ),
        conflicts=(conflicts_of if infeasible else obstacles_of)(
            problem.case, inputs.catalog, problem, settings, clock
        ),
        notes=notes,
    )


# -- what else --------------------------------------------------------------------------------------------------


def _alternatives(answer: Answer, settings: Settings, clock: Clock) -> Iterator[Alternative]:
    """The best design of each kind that lost: other protocol, tier count, port speed, leaf switch; on a floor (where
    they are the best that were found) other places of the switches, and what flat runs would have cost. Kinds of
    networks for management are not compared: they cost little.
    """
    problem = answer.problem if answer.problem.plan is None else estimating(answer.problem)
    settings = replace(settings, most_candidates=MOST_OF_A_KIND)
    for index, fabric in enumerate(problem.fabrics):
        if fabric.role in MANAGEMENT:
            continue
        candidate = answer.picked[index][0]
        winner: Clos = candidate.design
        prefix = f"{fabric.name} " if len(problem.fabrics) > 1 else ""
        for what, value, restriction in _kinds(problem, fabric, candidate):
            if clock.is_over():
                return
            settings.progress(f"looking at the best design with {what} {value}")
            quiet = replace(settings, progress=lambda text: None)
            other = _rival(answer, problem, quiet, clock, {fabric.name: restriction})
            if other.value is not None:
                yield _alternative(answer, Answer(problem, other), index, prefix + what, value)
        if winner.standing is not None and len(problem.fabrics) == 1:
            flat = Search(problem, settings, clock).of_one(_on_flat_runs(problem, fabric, winner))
            if flat.value is not None:
                yield _alternative(answer, Answer(problem, flat), index, "flat runs", f"{FLAT_RUN_M} m")
    # the steps of plans that are only bills are not known
    plans = () if answer.ratio is not None else naive_plans(problem, answer.picked, settings, clock)
    for naive in plans:
        yield _of_sums(problem, sums_of(problem, answer.picked), naive.sums, naive.what, naive.value, naive.summary)


def _rival(
    answer: Answer, problem: Problem, settings: Settings, clock: Clock, restrictions: Mapping[str, Restriction]
) -> Optimum:
    """The best design of a part of the space; of a ratio, of those that are about as fast as the answer."""
    if answer.ratio is None:
        return Search(problem, settings, clock, restrictions, answer.optimum.value).run()
    return RatioSearch(problem, settings, clock, restrictions).near(answer.optimum)


def _on_flat_runs(problem: Problem, fabric: FabricProblem, clos: Clos) -> Candidate | None:
    """The same boxes, all links as long as one would plan them without a floor."""
    flat = replace(fabric, layout=None, runs_m=dict.fromkeys(fabric.runs_m, FLAT_RUN_M))
    return next(iter(candidates_of(problem, flat, Batch(clos.parts, clos.shape, np.zeros((1, 1))), 0, True)), None)


def _kinds(problem: Problem, fabric: FabricProblem, candidate: Candidate) -> Iterator[tuple[str, str, Restriction]]:
    """Kinds of designs that lost. On a floor those of other hardware stand as the winner does."""
    winner: Clos = candidate.design
    for topology in fabric.topologies:
        if topology != candidate.topology:
            yield "topology", topology, Restriction(topology=topology)
    here = None if winner.standing is None else winner.standing.layout.policy
    if here is not None:
        for policy in POLICIES:
            if policy != here:
                yield "placement", policy, Restriction(policy=policy)
    for what, value, restriction in _other_hardware(problem, fabric, candidate):
        yield what, value, replace(restriction, policy=here if here in POLICIES else None)


def _other_hardware(
    problem: Problem, fabric: FabricProblem, candidate: Candidate
) -> Iterator[tuple[str, str, Restriction]]:
    winner: Clos = candidate.design
    for protocol in fabric.protocols:
        if protocol != winner.parts.protocol:
            yield "protocol", protocol, Restriction(protocol=protocol)
    for tiers in fabric.tiers:
        if candidate.topology in TIERED and tiers != winner.tiers:
            yield "tiers", str(tiers), Restriction(tiers=tiers)
    speeds = {option.port.lane.port_mbps for options in fabric.nics.values() for option in options}
    for speed in sorted(speeds - {winner.parts.nic.port.lane.port_mbps}, reverse=True):
        yield "port speed", f"{gbps(speed)}G", Restriction(port_mbps=speed)
    has_switches = any(item.kind == "switch" for item in candidate.fixed)
    if has_switches:
        yield "leaf switch", "another", Restriction(not_leaf=winner.parts.leaf.id)
    if candidate.topology == "torus" and len(fabric.torus_nodes) > 1 and any(options_of(problem, fabric)):
        nodes = "servers" if has_switches else "switches"
        yield "torus of", nodes, Restriction(nodes=nodes)


def _alternative(answer: Answer, other: Answer, index: int, what: str, value: str) -> Alternative:
    problem = answer.problem
    mine, theirs = (sums_of(problem, one.picked) for one in (answer, other))
    part = _part(problem.fabrics[index], other.picked[index][0])
    named = part.tiers[0].switch.id if what.endswith("leaf switch") else value
    summary = summary_of(part)
    if what.endswith(("topology", "torus of")):
        summary += f"; {theirs.cables:,} cables; {_carries(problem, other.picked[index][0])}"
    if other.optimum.verdict != "optimal" and problem.plan is None:
        summary += BEST_FOUND
    made = _of_sums(problem, mine, theirs, what, named, summary)
    if answer.ratio is None:
        return made
    values = [usd(rounded(cents_per_effective_gpu(problem, one.picked))) for one in (answer, other)]
    return made.model_copy(update={"objective": values[1], "objective_delta": _difference(values[1], values[0])})


def _carries(problem: Problem, candidate: Candidate) -> str:
    """Bandwidth figures in words, for families are not compared by cost alone."""
    one = figures(candidate.design, problem.gpus).metrics()
    return (
        f"bisection {one.bisection_gbps_per_gpu:g}, all-to-all {one.alltoall_gbps_per_gpu:g} Gb/s per GPU, "
        f"at most {one.max_switch_hops} switches on a path"
        + ("" if one.max_nic_hops is None else f", {one.max_nic_hops} servers to pass through")
    )


def _of_sums(problem: Problem, mine: Sums, theirs: Sums, what: str, value: str, summary: str) -> Alternative:
    objectives = [in_metric(sums.objective, problem.weights) for sums in (mine, theirs)]
    return Alternative(
        what=what,
        value=value,
        summary=summary,
        objective=objectives[1],
        objective_delta=_difference(objectives[1], objectives[0]),
        capex_usd=usd(theirs.cents),
        capex_delta_usd=usd(theirs.cents - mine.cents),
        power_w=watts(theirs.power_mw),
        power_delta_w=watts(theirs.power_mw - mine.power_mw),
    )


def _difference(one: float, other: float) -> int | float:
    rest = round(one - other, 3)
    return int(rest) if rest == int(rest) else rest


def _part(fabric: FabricProblem, candidate: Candidate) -> FilePart:
    return FAMILIES[candidate.topology].file_part(fabric, candidate.design)


def summary_of(part: FilePart) -> str:
    """A candidate in one line: counts and switches by tier, port speeds."""
    words = [f"{tier.boxes} x {tier.switch.id}" for tier in part.tiers] or ["no switch"]
    speed = gbps(part.nic.port.lane.port_mbps)
    return f"{' + '.join(words)}, {part.nic.ports_per_server} x {speed}G a server, {part.protocol}"


def summaries_of(problem: Problem, picked: Sequence[Picked]) -> str:
    """Every fabric of a design in one line, by name where there are several."""
    parts = [_part(fabric, candidate) for fabric, (candidate, _) in zip(problem.fabrics, picked, strict=True)]
    texts = [summary_of(part) for part in parts]
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{fabric.name}: {text}" for fabric, text in zip(problem.fabrics, texts, strict=True))


def formulation_text(inputs: Inputs, form: Literal["lp", "mps"]) -> str:
    """The integer program of a case as LP or MPS text, over the candidates that could be optimal.

    Variable ``fixed`` is 1 and carries the part of the objective that every candidate has.
    """
    if inputs.case.objective == EFFECTIVE:
        hint = "write objective: capex_usd for the program of the cheapest design"
        raise InputError([fault(inputs.case_file, "objective", "a ratio is no linear program", EFFECTIVE, hint=hint)])
    problem = problem_of(inputs.case, inputs.catalog)
    optimum = Search(problem, Settings(), Clock(None)).run(ties=False)
    if optimum.program is None:
        raise InfeasibleError(f"{inputs.case_file}: no candidate meets the case, so there is no program to write")
    program = optimum.program.standalone()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program.{form}"
        if form == "lp":
            program.writeLP(str(path))
        else:
            program.writeMPS(str(path))
        return path.read_text()
