"""Demands on figures that only the graph of a network gives: candidates are tried one by one, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fabopt.problem.fabric import FabricProblem, Survival
from fabopt.problem.problem import Problem
from fabopt.topology.batch import AnyBatch
from fabopt.topology.cutoff import OF_SIZES, Cutoff
from fabopt.topology.direct.failures import DirectFailures
from fabopt.topology.direct.network import DirectNetwork
from fabopt.topology.direct.ring_allreduce import reduces


def offer_tried(
    cutoff: Cutoff, batch: AnyBatch, has: Callable[[int], bool | None], should_stop: Callable[[int], bool]
) -> None:
    """Offer the candidates of a batch that meet the demands; those above the cutoff are not tried.

    ``has``: whether a candidate does; None where that is too much work, and the search is not complete.
    """
    for index in np.argsort(batch.cost[0], kind="stable").tolist():
        if should_stop(OF_SIZES):
            cutoff.sizing.stopped = True
            return
        if not cutoff.within(batch.cost[:, index : index + 1]).all():
            continue
        answer = has(index)
        if answer is None:
            cutoff.sizing.stopped = True
        elif answer:
            cutoff.offer(batch.take(np.array([index])))


def has_asked(problem: Problem, fabric: FabricProblem, network: DirectNetwork) -> bool | None:
    """Whether ring all-reduce and the bandwidth left after failures meet their demands; None where that is too much
    work.
    """
    least = Fraction(0) if fabric.figure_demands is None else fabric.figure_demands.allreduce
    has = reduces(network, problem.gpus, least) if least else True
    if not has:
        return has
    return all(survives(network, problem.server.gpus, wanted) for wanted in fabric.resilience)


def survives(network: DirectNetwork, gpus: int, survival: Survival) -> bool:
    """Whether a network has the demanded bandwidth left after a failure; one that lacks it without failures is not
    tried.

    Rule ``failures_leave_flow``.
    """
    wanted = Fraction(survival.least_mbps)
    return DirectFailures(network, gpus).bandwidth_left(survival.failed, survival.count, wanted) >= wanted
