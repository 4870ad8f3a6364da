"""Charges on fabrics and their servers, as items of every candidate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fabopt.problem.problem import Problem
from fabopt.topology.candidate import Candidate


def with_lumps(problem: Problem, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Candidates with the charges on their fabric; unchanged where the case has none."""
    if not any(charge.is_lump for charge in problem.case.charges):
        return tuple(candidates)
    return tuple(_charged(problem, candidate) for candidate in candidates)


def _charged(problem: Problem, candidate: Candidate) -> Candidate:
    lumps = problem.lumps(candidate.fabric, candidate.design.file_part().protocol)
    return replace(candidate, devices={**candidate.devices, **lumps})
