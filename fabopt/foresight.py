"""What a step of the case's model takes on the design that is picked."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.demand import case_workload
from fabopt.metrics import figures
from fabopt.ordering import Picked
from fabopt.problem import Problem
from fabopt.topology.clos.candidates import Clos
from fabopt.topology.direct.design import Direct
from fabopt.workload.prediction import REDUCES, Prediction, cluster_cents, gpus_below, network_of
from fabopt.workload.timing import Network


def prediction_of(problem: Problem, picked: Sequence[Picked], capex_cents: int) -> Prediction | None:
    """The workload on the fabric that GPUs compute over; None for a case without a model."""
    workload = case_workload(problem.case, problem.server)
    if problem.needs is None or workload is None:
        return None
    index = [fabric.name for fabric in problem.fabrics].index(problem.needs.fabric)
    network = network_on(picked[index][0].design, problem.gpus, problem.server.gpus)
    spent = cluster_cents(capex_cents, problem.case.include_servers, problem.server, problem.servers)
    return Prediction(workload, network, spent)


def network_on(made: Clos | Direct, gpus: int, server_gpus: int) -> Network:
    """What a candidate gives each GPU; without spines, beyond a switch the worse of bisection and all-to-all."""
    found, shape = figures(made, gpus), made.shape
    group = int(shape.g) * server_gpus
    switches = [one for one in (made.parts.leaf, made.parts.spine, made.parts.core) if one is not None]
    reduces = all(REDUCES in one.product.features for one in switches)
    if isinstance(made, Direct):
        ratios = {"leaf": found.injection / min(found.bisection, found.alltoall)}
        return network_of(found.injection, ratios, (group, gpus), reduces)
    below = gpus_below(made.tiers, group, int(shape.groups_per_pod), gpus)
    return network_of(found.injection, found.oversubscription, below, reduces)
