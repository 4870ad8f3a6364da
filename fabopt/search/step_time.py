"""The step time of the case's model on a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.schema.prediction import ServingUse, WorkloadNeeds, WorkloadUse
from fabopt.units import exact, rounded
from fabopt.workload.ends import whole_use
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least
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
    network = _network(problem, picked, problem.needs)
    spent = cluster_cents(capex_cents, problem.case.include_servers, problem.server, problem.servers)
    assert problem.case.workload is not None
    limit = exact(problem.case.workload.max_exposed_communication)
    return Prediction(
        problem.pace.workload,
        network,
        spent,
        limit,
        problem.pace.runs,
        parts=problem.pace.parts,
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
    return serving_use(problem.service, _network(problem, picked, problem.needs), problem.needs)


def _network(problem: Problem, picked: Sequence[Picked], needs: WorkloadNeeds) -> FabricBandwidth:
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
