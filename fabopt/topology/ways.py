"""The variants of a candidate that keep the rules of subnet managers, packet pools, latency, products and charges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.in_service import with_switches_in_service
from fabopt.topology.clos.moves import with_moves
from fabopt.topology.interchangeable import with_stand_ins
from fabopt.topology.latency import with_latency
from fabopt.topology.pools import with_pools
from fabopt.topology.subnet_manager import with_managers


def purchasable_variants(
    problem: Problem, fabric: FabricProblem, candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """Candidates once for each variant of subnet managers and of parts for packet pools and latency, with the charges
    of the case; empty where no variant keeps the rules. The products of their tiers and NICs may be open.
    """
    managed = with_switches_in_service(fabric, with_managers(fabric, problem.servers, candidates))
    managed = with_moves(problem, fabric, managed)
    fast = with_latency(fabric, problem.gpus, with_pools(fabric, managed))
    return with_lumps(problem, with_stand_ins(problem, fabric, fast))


# -- charges on fabrics and their servers, as items of every candidate ------------------------------------------------


def with_lumps(problem: Problem, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the charges on their fabric; unchanged where the case has none."""
    if not any(charge.is_lump for charge in problem.case.charges):
        return tuple(candidates)
    return tuple(_charged(problem, candidate) for candidate in candidates)


def _charged(problem: Problem, candidate: Candidate) -> Candidate:
    lumps = problem.lumps(candidate.fabric, candidate.design.file_part().protocol)
    return replace(candidate, devices={**candidate.devices, **lumps})
