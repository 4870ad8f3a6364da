"""The worst block of jobs beside each other, dealt server by server, and what a job has of its uplinks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from fabopt.workload.placement import JobMix


def block_of(beside: JobMix, block: int) -> list[int]:
    """The job of each server in the worst block of so many GPUs, but those of jobs that are all in it."""
    filled = (_filled(beside, block, jobs) for jobs in _that_cross(beside, block))
    return max(filled, key=lambda servers: sum(beside.jobs[job][1] for job in servers))


def level_mbps(beside: JobMix, mbps: Fraction, block: int) -> Fraction:
    """Mb/s for each GPU of the own job over the boundary of the worst block, which every server fills alike until it
    has what it needs.
    """
    return min(
        _level(beside, mbps * block / beside.server_gpus, _filled(beside, block, jobs, beside.own))
        for jobs in _that_cross(beside, block)
        if beside.own in jobs
    )


def _that_cross(beside: JobMix, block: int) -> Iterator[tuple[int, ...]]:
    """Jobs that may cross the boundary of a block together, as each has a server outside: of as many as can."""
    outside = max(1, (beside.gpus - block) // beside.server_gpus)
    return combinations(range(len(beside.jobs)), min(outside, len(beside.jobs)))


def _filled(beside: JobMix, block: int, jobs: tuple[int, ...], first: int | None = None) -> list[int]:
    """The job of each server in a block: those of ``jobs`` that need most for each GPU, one by one, ``first`` before
    others.
    """
    held: list[int] = []
    for job in sorted(jobs, key=lambda job: (job != first, -beside.jobs[job][1], job)):
        room = block // beside.server_gpus - len(held)
        held += [job] * min(room, beside.jobs[job][0] // beside.server_gpus - 1)
    return held


def _level(beside: JobMix, left: Fraction, servers: list[int]) -> Fraction:
    """What the own job has of ``left`` Mb/s, each server's counted for one of its GPUs."""
    others = sorted(beside.jobs[job][1] for job in servers if job != beside.own)
    filling = max(1, len(servers) - len(others)) + len(others)
    for need in others:
        if need >= left / filling:
            break
        left, filling = left - need, filling - 1
    return left / filling
