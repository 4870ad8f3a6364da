"""Bytes over the boundaries of a network, of ranks that are dealt to GPUs one by one, from a plan and nothing else.

Every rank knows its coordinates; a ring passes its members in the order of their GPUs; all-to-all is counted member by
member; a stage of a pipeline sends to the next, the last to the first. No code of ``fabopt.workload`` but what a call
moves (``Traffic``) and how an algorithm multiplies it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

from fabopt.schema.model import Plan
from fabopt.workload.collectives import factor
from fabopt.workload.timing import Cost

# Coordinates that the members of a group have in common; of data, expert ranks are the innermost part.
SHARED = {
    "tensor": ("context", "pipeline", "outer", "inner"),
    "context": ("tensor", "pipeline", "outer", "inner"),
    "pipeline": ("tensor", "context", "outer", "inner"),
    "expert": ("tensor", "context", "pipeline", "outer"),
    "data": ("tensor", "pipeline"),
    "expert-data": ("tensor", "pipeline", "inner"),
}


def coordinates(plan: Plan, data: int, rank: int) -> dict[str, int]:
    """Where a rank is in every dimension of its plan."""
    ways = {"tensor": plan.tensor, "context": plan.context, "pipeline": plan.pipeline, "data": data}
    found = {}
    for name in plan.order:
        found[name], rank = rank % ways[name], rank // ways[name]
    return {**found, "inner": found["data"] % plan.expert, "outer": found["data"] // plan.expert}


def groups(plan: Plan, data: int, gpus: int, name: str) -> list[list[int]]:
    """The groups of a communicator: their GPUs in order."""
    members = defaultdict(list)
    for gpu in range(gpus):
        place = coordinates(plan, data, gpu)
        members[tuple(place[key] for key in SHARED[name])].append(gpu)
    return list(members.values())


def shared(found: list[list[int]], shard_group: int, elsewhere: bool) -> list[list[int]]:
    """Groups cut into runs of so many neighbours; ``elsewhere``: instead those with the same place in every run."""
    cut = []
    for members in found:
        runs = [members[start : start + shard_group] for start in range(0, len(members), shard_group)]
        cut += [list(same) for same in zip(*runs, strict=True)] if elsewhere else runs
    return cut


def out_of_blocks(cost: Cost, communicators: list[list[int]], block: int) -> dict[int, Fraction]:
    """Bytes of a step that leave each block of so many neighbouring GPUs."""
    traffic, parts = cost.traffic, Counter[int]()
    size = len(communicators[0])
    for members in communicators:
        if traffic.operation == "all-to-all":
            behind = Counter(gpu // block for gpu in members)
            for gpu in members:
                parts[gpu // block] += size - behind[gpu // block]
            continue
        for gpu, after in zip(members, members[1:] + members[:1], strict=True):
            if gpu // block != after // block:
                parts[gpu // block] += 1
    apart = traffic.operation == "all-to-all"
    each = Fraction(1, size) if apart else factor(traffic.operation, cost.algorithm, size)
    return {number: traffic.calls * traffic.message * traffic.copies * each * count for number, count in parts.items()}
