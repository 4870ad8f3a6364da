"""What the network's own latency makes of the predictions of a design. Rule ``own_latency_is_recounted``."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked
from fabopt.schema.design import Design
from fabopt.search.step_time import network_of_step, prediction_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import paths_by_place
from fabopt.workload.on_paths import service_times, step_times


def with_own_latency(design: Design, problem: Problem, picked: Sequence[Picked]) -> Design:
    """The design whose workload and service also tell their times with the latency of its own paths."""
    workload, serving, needs = design.workload, design.serving, problem.needs
    if needs is None or (workload is None and serving is None):
        return design
    fabric = next(fabric for fabric in design.fabrics if fabric.name == needs.fabric)
    paths = paths_by_place(Embedded(design), fabric)
    prediction = prediction_of(problem, picked, 0)
    if workload is not None and prediction is not None and paths:
        workload = workload.model_copy(update={"on_paths": step_times(prediction, paths)})
    if serving is not None and problem.service is not None and paths:
        network = network_of_step(problem, picked, needs)
        serving = serving.model_copy(update={"on_paths": service_times(problem.service, network, paths)})
    return design.model_copy(update={"workload": workload, "serving": serving})
