"""The worst block of jobs beside each other, dealt server by server, and what a job has of its uplinks."""

from __future__ import annotations

from fractions import Fraction

from fabopt.workload.beside import JobMix


def block_of(beside: JobMix, block: int, first: int | None = None) -> list[int]:
    """The job of each server in the worst block of so many GPUs: those that need most for each GPU, one by one.

    ``first``: a job that goes in before others. One server of each job stays outside, as nothing crosses otherwise.
    """
    left = {job: gpus // beside.server_gpus - 1 for job, (gpus, _) in enumerate(beside.jobs)}
    held: list[int] = []
    while (len(held) + 1) * beside.server_gpus <= block and any(number > 0 for number in left.values()):
        fitting = [job for job, number in left.items() if number > 0]
        held.append(max(fitting, key=lambda job: (job == first, beside.jobs[job][1], -job)))
        left[held[-1]] -= 1
    return held


def level_mbps(beside: JobMix, mbps: Fraction, block: int) -> Fraction:
    """Mb/s for each GPU of the own job over the boundary of a block, which every server fills alike until it has what
    it needs.
    """
    servers = block_of(beside, block, beside.own)
    others = sorted(beside.jobs[job][1] for job in servers if job != beside.own)
    left = mbps * block / beside.server_gpus
    filling = max(1, len(servers) - len(others)) + len(others)
    for need in others:
        if need >= left / filling:
            break
        left, filling = left - need, filling - 1
    return left / filling
