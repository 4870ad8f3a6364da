"""What a step of the case's model takes on the design that is picked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fabopt.parts.switches import SwitchType
from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.schema.prediction import WorkloadUse
from fabopt.topology.clos.candidates import Clos
from fabopt.topology.direct.design import Direct
from fabopt.topology.figures import figures
from fabopt.units import rounded
from fabopt.workload.needs import MOST_MBPS, Reach, flat, least
from fabopt.workload.prediction import REDUCES, Prediction, cluster_cents, gpus_below, network_of, use_of
from fabopt.workload.timing import Network, step_on

# Grades of a utilization of one.
PER_ONE = 10**6
KBPS_PER_MBPS = 1000


def prediction_of(problem: Problem, picked: Sequence[Picked], capex_cents: int) -> Prediction | None:
    """The workload on the fabric that GPUs compute over; None for a case without a model."""
    if problem.needs is None or problem.pace is None:
        return None
    index = [fabric.name for fabric in problem.fabrics].index(problem.needs.fabric)
    network = network_on(picked[index][0].design, problem.gpus, problem.server.gpus)
    spent = cluster_cents(capex_cents, problem.case.include_servers, problem.server, problem.servers)
    return Prediction(problem.pace.workload, network, spent)


def use_on(problem: Problem, picked: Sequence[Picked], capex_cents: int) -> WorkloadUse | None:
    """The same as a design file has it."""
    prediction = prediction_of(problem, picked, capex_cents)
    return None if prediction is None or problem.needs is None else use_of(prediction, problem.needs)


def network_on(made: Clos | Direct, gpus: int, server_gpus: int) -> Network:
    """What a candidate gives each GPU; without spines, beyond a switch the worse of bisection and all-to-all."""
    found = figures(made, gpus)
    if isinstance(made, Direct):
        ratios = {"leaf": found.injection / min(found.bisection, found.alltoall)}
        groups = (made.group_servers * server_gpus, gpus)
        return network_of(found.injection, ratios, groups, _reduce(made.switch_types))
    switches = [one for one in (made.parts.leaf, made.parts.spine, made.parts.core) if one is not None]
    below = gpus_below(made.tiers, int(made.shape.g) * server_gpus, int(made.shape.groups_per_pod), gpus)
    return network_of(found.injection, found.oversubscription, below, _reduce(switches))


def _reduce(switches: Sequence[SwitchType]) -> bool:
    """Whether there are switches and all of them reduce."""
    return bool(switches) and all(REDUCES in one.product.features for one in switches)


def least_utilization_grade(problem: Problem, bisection_kbps: int) -> int | None:
    """The utilization, in millionths, that a bisection bandwidth per GPU is enough for, however groups of ranks fall.

    Every boundary has at least that much for each GPU, and nothing is counted on to stay below the leaves. None for a
    case without a model.
    """
    needs, pace = problem.needs, problem.pace
    if needs is None or pace is None:
        return None
    network = flat(Fraction(max(1, bisection_kbps), KBPS_PER_MBPS), Reach(reduces=needs.in_network_reduction))
    return rounded(step_on(pace.workload, network).utilization(pace.workload) * PER_ONE)


def least_bisection_kbps(problem: Problem, utilization_grade: int) -> int | None:
    """The least bisection bandwidth that is enough for a utilization; None if none is."""

    def enough(kbps: int) -> bool:
        return (least_utilization_grade(problem, kbps) or 0) >= utilization_grade

    return least(enough, 1, MOST_MBPS * KBPS_PER_MBPS)
