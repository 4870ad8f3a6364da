"""Every way to have a candidate that keeps the rules which concern what is bought for it."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.problem.fabric import FabricProblem
from fabopt.topology.candidate import Candidate
from fabopt.topology.pools import with_pools
from fabopt.topology.subnet_manager import with_managers


def in_every_way(fabric: FabricProblem, servers: int, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates as their subnets are managed and their pools hold, once for each way; none where neither can be."""
    return with_pools(fabric, with_managers(fabric, servers, candidates))
