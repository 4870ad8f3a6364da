"""The step time of the case's model on a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.schema.prediction import ServingUse, WorkloadNeeds, WorkloadUse
from fabopt.units import exact, rounded
from fabopt.workload.deadline import Deadline
from fabopt.workload.ends import whole_use
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least
from fabopt.workload.pace import Pace, work_s
from fabopt.workload.prediction import Prediction, cluster_cents
from fabopt.workload.served import serving_use
from fabopt.workload.timing import FabricBandwidth, step_on

# Grades of a utilization of one.
PER_ONE = 10**6
KBPS_PER_MBPS = 1000


def prediction_of(problem: Problem, picked: Sequence[Picked], capex_cents: int) -> Prediction | None:
    """The workload on the fabric that GPUs compute over; None for a case without a model."""
    if problem.needs is None or problem.pace is None:
        return None
    network = network_of_step(problem, picked, problem.needs)
    spent = cluster_cents(capex_cents, problem.case.include_servers, problem.server, problem.servers)
    limit = exact(problem.case.own_workload.max_exposed_communication)
    return Prediction(
        problem.pace.workload,
        network,
        spent,
        limit,
        problem.pace.runs,
        parts=problem.pace.parts,
        served=problem.pace.served,
    )


def use_on(
    problem: Problem, picked: Sequence[Picked], capex_cents: int, least: tuple[int, ...] = ()
) -> WorkloadUse | None:
    """The prediction of a step as a design file has it; ``least``: as of ``Prediction``."""
    prediction = prediction_of(problem, picked, capex_cents)
    if prediction is None or problem.needs is None:
        return None
    return whole_use(replace(prediction, least=least), problem.needs)


def service_on(problem: Problem, picked: Sequence[Picked]) -> ServingUse | None:
    """The served model as a design file has it; None for a case without one. Rule ``service_is_recounted``."""
    if problem.needs is None or problem.service is None:
        return None
    return serving_use(problem.service, network_of_step(problem, picked, problem.needs), problem.needs)


def network_of_step(problem: Problem, picked: Sequence[Picked], needs: WorkloadNeeds) -> FabricBandwidth:
    """The fabric that GPUs compute over."""
    index = [fabric.name for fabric in problem.fabrics].index(needs.fabric)
    return picked[index][0].design.step_network(problem.gpus, problem.server.gpus)


def least_utilization_grade(problem: Problem, bisection_kbps: int) -> int | None:
    """The utilization, in millionths, that a bisection bandwidth per GPU guarantees for any placement of ranks.

    Every boundary has at least that bandwidth per GPU, and no traffic is assumed to stay below the leaves. None without
    a model.
    """
    needs, pace = problem.needs, problem.pace
    if needs is None or pace is None:
        return None
    network = flat(Fraction(max(1, bisection_kbps), KBPS_PER_MBPS), Reach(reduces=needs.in_network_reduction))
    if pace.parts:
        return rounded(pace.working_gpus(network) / problem.gpus * PER_ONE)
    return rounded(step_on(pace.workload, network).utilization(pace.workload) * PER_ONE)


def least_bisection_kbps(problem: Problem, utilization_grade: int) -> int | None:
    """The least bisection bandwidth that is enough for a utilization; None if none is."""

    def enough(kbps: int) -> bool:
        return (least_utilization_grade(problem, kbps) or 0) >= utilization_grade

    return least(enough, 1, MOST_MBPS * KBPS_PER_MBPS)


# -- deadlines: NICs and uplinks that cannot be in time are left out --------------------------------------------------


def pace_of(problem: Problem) -> Pace:
    """The pace of a problem with a model."""
    assert problem.pace is not None
    return problem.pace


def useful_deadline(problem: Problem, grade: int) -> Deadline:
    """The step with which GPU utilization, in rounded millionths, is at least ``grade``."""
    pace = pace_of(problem)
    workload = pace.workload
    used = Fraction(2 * grade - 1, 2 * PER_ONE)
    return Deadline(pace, work_s(workload) / (workload.cluster_gpus * used))


def ratio_deadline(problem: Problem, grade: int, least_cents: int) -> Deadline:
    """The step below which designs of at least ``least_cents`` have at most ``grade`` rounded cents
    per effective GPU.
    """
    pace = pace_of(problem)
    workload = pace.workload
    spent = cluster_cents(least_cents, problem.case.include_servers, problem.server, problem.servers)
    assert spent is not None
    return Deadline(pace, Fraction(2 * grade + 1, 2) * work_s(workload) / spent, less=True)


def in_time(problem: Problem, deadline: Deadline) -> Problem | None:
    """The problem with a deadline for the step on its computing fabric; None where no NIC meets it."""
    fabrics = tuple(
        _hurried(problem, fabric, deadline)
        if problem.needs is not None and fabric.name == problem.needs.fabric
        else fabric
        for fabric in problem.fabrics
    )
    return replace(problem, fabrics=fabrics) if all(any(fabric.nics.values()) for fabric in fabrics) else None


def _hurried(problem: Problem, fabric: FabricProblem, deadline: Deadline) -> FabricProblem:
    """A fabric with the NICs and the most leaf oversubscription that can meet a deadline."""
    reduces = some_reduce(fabric)
    own = fabric.demanded
    deadline = deadline.beside(own.deadline)
    if deadline is own.deadline:
        return fabric

    def may_be(rate: Fraction) -> bool:
        return deadline.is_met(FabricBandwidth(rate, rate, rate, problem.gpus, problem.gpus, reduces))

    rates = {option.injection for options in fabric.nics.values() for option in options}
    enough = {rate for rate in rates if may_be(rate)}
    nics = {
        protocol: tuple(option for option in options if option.injection in enough)
        for protocol, options in fabric.nics.items()
    }
    # fewer neighbours may be better than more, if groups tile them
    gpus = problem.server.gpus * np.arange(1, _most_under_a_leaf(problem, fabric) + 1)
    # slower NICs must lose less of what they give
    fastest = max(enough, default=Fraction(1))
    least = float(deadline.leaf_shares(fastest, gpus, problem.gpus, reduces).min(initial=inf))
    most = 1 / Fraction(least) if 0 < least < inf else fabric.ratios.leaf
    demands, ratios = replace(own, deadline=deadline), fabric.ratios.at_most(leaf=most)
    return replace(fabric, nics=nics, figure_demands=demands, ratios=ratios)


def some_reduce(fabric: FabricProblem) -> bool:
    """Whether any switch of a fabric can reduce."""
    return any(one.product.reduces for roles in fabric.switches.values() for kind in roles.values() for one in kind)


def _most_under_a_leaf(problem: Problem, fabric: FabricProblem) -> int:
    """The most servers of any leaf, at one port each."""
    ports = [
        use.cages * use.lane.ports for roles in fabric.switches.values() for one in roles["leaf"] for use in one.uses
    ]
    return min(problem.servers, max(ports, default=0))
