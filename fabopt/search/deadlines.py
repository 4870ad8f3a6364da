"""Problems with a deadline for the step of their model: NICs and uplinks that cannot be in time are left out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from fabopt.problem.fabric import FabricProblem, FigureDemands
from fabopt.problem.problem import Problem
from fabopt.search.step_time import PER_ONE
from fabopt.workload.deadline import Deadline
from fabopt.workload.pace import Pace, work_s
from fabopt.workload.prediction import cluster_cents
from fabopt.workload.timing import FabricBandwidth


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
    own = fabric.figure_demands or FigureDemands(fabric.oversubscription_leaf)
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
    most = 1 / Fraction(least) if 0 < least < inf else fabric.oversubscription_leaf
    fabric = replace(fabric, nics=nics, figure_demands=replace(own, deadline=deadline))
    return replace(fabric, oversubscription_leaf=min(fabric.oversubscription_leaf, most))


def some_reduce(fabric: FabricProblem) -> bool:
    """Whether any switch of a fabric can reduce."""
    return any(one.product.reduces for roles in fabric.switches.values() for kind in roles.values() for one in kind)


def _most_under_a_leaf(problem: Problem, fabric: FabricProblem) -> int:
    """The most servers of any leaf, at one port each."""
    ports = [
        use.cages * use.lane.ports for roles in fabric.switches.values() for one in roles["leaf"] for use in one.uses
    ]
    return min(problem.servers, max(ports, default=0))
