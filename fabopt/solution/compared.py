"""One design beside another, as a line of the answer: what it comes to, and what it carries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.problem.problem import Problem
from fabopt.program.orders import Sums, sums_of
from fabopt.schema.case import Case
from fabopt.schema.design import Alternative
from fabopt.search.answer import Answer
from fabopt.search.separations import words_of
from fabopt.solution.summaries import summaries_of
from fabopt.topology.design import NetworkDesign
from fabopt.units import some, usd, watts

# What a row says of a design that is not proven to be the best of its kind, and where there is none that is cheaper.
BEST_FOUND = " (the best found)"
NOTHING_CHEAPER = "nothing cheaper"
NONE_FOUND = "nothing cheaper found"


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
        yield beside(answer.problem, sums, sums_of(other.problem, other.picked), "separation", words, summary)
