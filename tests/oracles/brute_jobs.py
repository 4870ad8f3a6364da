"""Jobs beside each other on every design of a small case, in every way in which their servers can lie.

Structures and purchases are those of ``tests.oracles.brute_effective``; of a job's own step only the bandwidth that it
has of uplinks is found here, by filling all jobs of a block little by little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from fabopt.workload.timing import FabricBandwidth, ModelRun, step_on
from tests.oracles.brute_effective import designs, network, space_of
from tests.oracles.brute_force import Space, Structure
from tests.oracles.brute_parts import Json


class Job(NamedTuple):
    """A job by itself, the Mb/s that each of its GPUs needs, and its part of the day. ``sends``: megabits for each GPU
    in every second, while it waits.
    """

    run: ModelRun
    gpus: int
    need: int
    of_day: Fraction
    sends: Fraction


def placements(jobs: Sequence[int], gpus: int, block: int, server_gpus: int) -> Iterator[tuple[int, ...]]:
    """GPUs of each job in a block, in all ways in which servers of jobs can lie in it and elsewhere."""

    def dealt(left: Sequence[int], room: int, elsewhere: int) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
            return
        for inside in range(0, min(left[0], room) + 1, server_gpus):
            if left[0] - inside <= elsewhere:
                for others in dealt(left[1:], room - inside, elsewhere - left[0] + inside):
                    yield (inside, *others)

    yield from dealt(jobs, block, gpus - block)


def crossing(jobs: Sequence[int], inside: Sequence[int]) -> list[int]:
    """GPUs of each job whose traffic leaves a block: none of a job that is all in it."""
    return [0 if held == gpus else held for held, gpus in zip(inside, jobs, strict=True)]


def filled(wanting: Sequence[int], needs: Sequence[int], own: int, all_mbps: Fraction) -> Fraction:
    """What a GPU of the own job has if all GPUs of a block are given the same, little by little, and others stop at
    what they need.
    """
    level, left = Fraction(0), all_mbps
    while left:
        open_ones = [job for job, gpus in enumerate(wanting) for _ in range(gpus) if job == own or needs[job] > level]
        steps = [needs[job] - level for job in open_ones if job != own]
        step = min([left / len(open_ones), *steps])
        level, left = level + step, left - step * len(open_ones)
    return level


def _blocks(there: FabricBandwidth, gpus: int) -> Iterator[tuple[str, int, Fraction]]:
    for name, block, mbps in (("leaf", there.leaf_gpus, there.leaf_mbps), ("pod", there.pod_gpus, there.pod_mbps)):
        if block < gpus:
            yield name, block, mbps


def is_enough(there: FabricBandwidth, jobs: Sequence[Job], gpus: int, server_gpus: int) -> bool:
    """Whether NICs give what the neediest job needs, and every block what those in it need in every placement."""
    sizes = [job.gpus for job in jobs]
    return there.server_mbps >= max(job.need for job in jobs) and all(
        sum(out * job.need for out, job in zip(crossing(sizes, inside), jobs, strict=True)) <= mbps * block
        for _, block, mbps in _blocks(there, gpus)
        for inside in placements(sizes, gpus, block, server_gpus)
    )


def working_gpus(there: FabricBandwidth, jobs: Sequence[Job], gpus: int, server_gpus: int) -> Fraction:
    """GPUs times utilization of all jobs, each in its own worst placement."""
    total, sizes, needs = Fraction(0), [job.gpus for job in jobs], [job.need for job in jobs]
    for own, job in enumerate(jobs):
        has = {"leaf": there.server_mbps, "pod": there.server_mbps}
        for name, block, mbps in _blocks(there, gpus):
            worst = [
                filled(out, needs, own, mbps * block)
                for inside in placements(sizes, gpus, block, server_gpus)
                if (out := crossing(sizes, inside))[own]
            ]
            has[name] = min([there.server_mbps, *worst])
        alone = replace(there, leaf_mbps=has["leaf"], pod_mbps=has["pod"], leaf_gpus=server_gpus, pod_gpus=server_gpus)
        step_s = step_on(job.run, alone).step_s
        work_s = job.run.gpu_flops(hardware=False) * job.gpus / job.run.peak_flops
        total += job.of_day * (1 - job.sends / min(has.values())) * work_s / step_s
    return total


def least_capex(parts: Json, case: Json, jobs: Sequence[Job]) -> int | None:
    """Cents of the cheapest design that gives jobs what they need; None where none does."""
    space = space_of(parts, case)
    costs = [one.capex for one in designs(space, []) if is_enough(network(space, one.structure), jobs, *_sizes(space))]
    return min(costs, default=None)


def least_ratio(parts: Json, case: Json, jobs: Sequence[Job]) -> Fraction:
    """Cents of servers and network over the GPUs that work, the least of all designs."""
    space, known = space_of(parts, case), dict[FabricBandwidth, Fraction]()

    def works(structure: Structure) -> Fraction:
        there = network(space, structure)
        if there not in known:
            known[there] = working_gpus(there, jobs, *_sizes(space))
        return known[there]

    servers = 0 if case.get("include_servers") else space.servers * round(100 * space.server["price_usd"])
    return min((servers + one.capex) / works(one.structure) for one in designs(space, []))


def _sizes(space: Space) -> tuple[int, int]:
    return space.servers * space.server["gpus"], space.server["gpus"]
