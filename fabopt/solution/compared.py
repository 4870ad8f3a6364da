"""One design beside another, as a line of the answer: what it comes to, and what it carries."""

from __future__ import annotations

from fabopt.problem.problem import Problem
from fabopt.program.orders import Sums
from fabopt.schema.design import Alternative
from fabopt.topology.design import NetworkDesign
from fabopt.units import some, usd, watts


def carries(design: NetworkDesign, gpus: int) -> str:
    """Bandwidth figures in words, for families are not compared by cost alone."""
    metrics = design.figures(gpus).metrics()
    return (
        f"bisection {metrics.bisection_gbps_per_gpu:g}, all-to-all {metrics.alltoall_gbps_per_gpu:g} Gb/s per GPU, "
        f"at most {some(metrics.max_switch_hops, 'switch')} on a path"
        + ("" if metrics.max_nic_hops is None else f", {some(metrics.max_nic_hops, 'server')} to pass through")
    )


def beside(problem: Problem, best: Sums, other: Sums, what: str, value: str, summary: str) -> Alternative:
    """A design that comes to ``other`` beside the best one."""
    objective = problem.weights.in_metric(other.objective)
    return Alternative(
        what=what,
        value=value,
        summary=summary,
        objective=objective,
        objective_delta=difference_of(objective, problem.weights.in_metric(best.objective)),
        capex_usd=usd(other.cents),
        capex_delta_usd=usd(other.cents - best.cents),
        power_w=watts(other.power_mw),
        power_delta_w=watts(other.power_mw - best.power_mw),
    )


def difference_of(objective: float, best: float) -> int | float:
    """What one objective is above another, to three digits."""
    rest = round(objective - best, 3)
    return int(rest) if rest == int(rest) else rest
