"""Every way to have a candidate that keeps the rules which concern what is bought for it."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.interchangeable import with_stand_ins
from fabopt.topology.lumps import with_lumps
from fabopt.topology.pools import with_pools
from fabopt.topology.subnet_manager import with_managers


def in_every_way(problem: Problem, fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates as their subnets are managed and their pools hold, once for each way, and with what is charged once;
    none where there is no such way. Their tiers may have switches, and servers NICs, of several products.
    """
    managed = with_managers(fabric, problem.servers, candidates)
    return with_lumps(problem, with_stand_ins(problem, fabric, with_pools(fabric, managed)))
