"""What else there is: the best design of each other kind, against the one that was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem, estimating
from fabopt.program.lexicographic import Optimum
from fabopt.program.orders import Sums, sums_of
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import Case
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.search.choice import search_of
from fabopt.search.context import Context
from fabopt.search.cost_per_gpu import RatioSearch, cents_per_effective_gpu
from fabopt.search.separations import words_of
from fabopt.solution.baselines import baseline_plans
from fabopt.solution.summaries import in_metric, summaries_of, summary_of
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.candidates import candidates_of
from fabopt.topology.clos.design import ClosDesign
from fabopt.topology.clos.network import ClosNetwork, clos_of
from fabopt.topology.family import Restriction
from fabopt.topology.server_torus.space import options_of
from fabopt.units import gbps, rounded, usd, watts

# What one plans with before there is a floor plan.
FLAT_RUN_M = 30
MANAGEMENT = ("in-band", "oob")
# Candidates that are compared for a design of another kind, where its proof would take more.
MOST_OF_A_KIND = 200
BEST_FOUND = " (the best found)"


def alternatives_of(answer: Answer, settings: Settings, clock: Clock) -> Iterator[Alternative]:
    """The best design of each kind that lost: other protocol, tier count, port speed, leaf switch; on a floor (where
    they are the best that were found) other places of the switches, and what flat runs would have cost. Kinds of
    networks for management are not compared: they cost little.
    """
    problem, context = answer.problem, answer.context
    estimated = estimating(problem)
    if estimated is not problem:
        problem, context = estimated, context.beside()
    settings = replace(settings, most_candidates=MOST_OF_A_KIND)
    for index, fabric in enumerate(problem.fabrics):
        if fabric.role in MANAGEMENT:
            continue
        candidate = answer.picked[index][0]
        winner = candidate.design
        prefix = f"{fabric.name} " if len(problem.fabrics) > 1 else ""
        for what, value, restriction in _kinds(problem, fabric, candidate):
            if clock.is_over():
                return
            settings.progress(f"looking at the best design with {what} {value}")
            quiet = replace(settings, progress=lambda text: None)
            other = _rival(answer, problem, context, quiet, clock, {fabric.name: restriction})
            if other.value is not None:
                yield _alternative(answer, Answer(problem, other), index, prefix + what, value)
        if isinstance(winner, ClosDesign) and problem.site.policies and len(problem.fabrics) == 1:
            on_flat_runs = _on_flat_runs(problem, fabric, winner.network)
            flat = search_of(problem, settings, clock, context=context).of_one(on_flat_runs)
            if flat.value is not None:
                yield _alternative(answer, Answer(problem, flat), index, "flat runs", f"{FLAT_RUN_M} m")
    # the steps of plans that are only bills are not known
    plans = () if answer.ratio is not None else baseline_plans(problem, answer.picked, context, settings, clock)
    for baseline in plans:
        yield _of_sums(
            problem, sums_of(problem, answer.picked), baseline.sums, baseline.what, baseline.value, baseline.summary
        )


def _rival(
    answer: Answer,
    problem: Problem,
    context: Context,
    settings: Settings,
    clock: Clock,
    restrictions: Mapping[str, Restriction],
) -> Optimum:
    """The best design of a part of the space; of a ratio, of those that are about as fast as the answer."""
    if answer.ratio is None:
        return search_of(problem, settings, clock, restrictions, answer.optimum.value, context=context).run()
    return RatioSearch(problem, settings, clock, restrictions, context).near(answer.optimum)


def _on_flat_runs(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> Candidate | None:
    """The same devices, all links as long as one would plan them without a floor."""
    flat = replace(fabric, runs_m=dict.fromkeys(fabric.runs_m, FLAT_RUN_M))
    return next(iter(candidates_of(problem, flat, clos_of(flat, clos.parts, clos.shape), 0.0, True)), None)


def _kinds(problem: Problem, fabric: FabricProblem, candidate: Candidate) -> Iterator[tuple[str, str, Restriction]]:
    """Kinds of designs that lost. On a floor those of other hardware are placed by the rule of the winner."""
    for topology in fabric.topologies:
        if topology != candidate.topology:
            yield "topology", topology, Restriction(topology=topology)
    policies, placement = problem.site.policies, candidate.design.file_part().placement
    own = [policy for policy in policies if placement and policy == placement.policy]
    for policy in policies:
        if policy not in own:
            yield "placement", policy, Restriction(policy=policy)
    for what, value, restriction in _other_hardware(problem, fabric, candidate):
        yield what, value, replace(restriction, policy=next(iter(own), None))


def _other_hardware(
    problem: Problem, fabric: FabricProblem, candidate: Candidate
) -> Iterator[tuple[str, str, Restriction]]:
    winner = candidate.design
    for protocol in fabric.protocols:
        if protocol != winner.protocol:
            yield "protocol", protocol, Restriction(protocol=protocol)
    for tiers in fabric.tiers:
        if winner.tiers is not None and tiers != winner.tiers:
            yield "tiers", str(tiers), Restriction(tiers=tiers)
    speeds = {option.port.lane.port_mbps for options in fabric.nics.values() for option in options}
    for speed in sorted(speeds - {winner.nic.port.lane.port_mbps}, reverse=True):
        yield "port speed", f"{gbps(speed)}G", Restriction(port_mbps=speed)
    if winner.leaf is not None:
        yield "leaf switch", "another", Restriction(not_leaf=winner.leaf.id)
    if candidate.topology == "torus" and len(fabric.torus_nodes) > 1 and any(options_of(problem, fabric)):
        nodes = "switches" if winner.leaf is None else "servers"
        yield "torus of", nodes, Restriction(nodes=nodes)


def _alternative(answer: Answer, other: Answer, index: int, what: str, value: str) -> Alternative:
    problem = answer.problem
    mine, theirs = (sums_of(problem, one.picked) for one in (answer, other))
    part = other.picked[index][0].design.file_part()
    named = part.tiers[0].switch.id if what.endswith("leaf switch") else value
    summary = summary_of(part)
    if what.endswith(("topology", "torus of")):
        summary += f"; {theirs.cables:,} cables; {_carries(problem, other.picked[index][0])}"
    if other.optimum.verdict != "optimal" and problem.site.settles:
        summary += BEST_FOUND
    made = _of_sums(problem, mine, theirs, what, named, summary)
    if answer.ratio is None:
        return made
    values = [usd(rounded(cents_per_effective_gpu(problem, one.picked))) for one in (answer, other)]
    return made.model_copy(update={"objective": values[1], "objective_delta": _difference(values[1], values[0])})


def _carries(problem: Problem, candidate: Candidate) -> str:
    """Bandwidth figures in words, for families are not compared by cost alone."""
    one = candidate.design.figures(problem.gpus).metrics()
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


def other_separations(asked: Case, answer: Answer, tried: Sequence[Answer]) -> Iterator[Alternative]:
    """What every other combination of separations would cost."""
    sums = sums_of(answer.problem, answer.picked)
    for other in tried:
        if other.problem is answer.problem or not other.has_design:
            continue
        summary = summaries_of(other.problem, other.picked)
        if other.optimum.verdict != "optimal":
            summary += BEST_FOUND
        words = words_of(asked, other.problem.asked)
        yield _of_sums(answer.problem, sums, sums_of(other.problem, other.picked), "separation", words, summary)
