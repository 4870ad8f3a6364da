"""Groups of GPUs that communicate: ranks are dealt to GPUs in the plan's order, innermost first.

Source: Llama 3 (arXiv 2407.21783), section 3.3.2: tensor, context, pipeline, data, so that the ranks that need most
bandwidth and least latency are nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, prod
from types import MappingProxyType

from fabopt.schema.model import Model, Plan


@dataclass(frozen=True)
class Group:
    """Ranks that communicate: (how many, GPUs from one to the next) in each dimension, innermost first."""

    dimensions: tuple[tuple[int, int], ...]

    @property
    def size(self) -> int:
        """Number of members."""
        return prod(ways for ways, _ in self.dimensions)

    def inside(self, block: int) -> int:
        """Members among the first ``block`` of neighbouring GPUs, of a group that begins there."""
        return prod(min(ways, max(1, block // stride)) for ways, stride in self.dimensions)


@dataclass(frozen=True)
class Ranks:
    """A plan on GPUs, with every key set.

    ``data``: replicas; ``strides``: GPUs from one rank to the next, by dimension.
    """

    plan: Plan
    data: int
    gpus: int
    strides: Mapping[str, int]

    @property
    def ways(self) -> dict[str, int]:
        """Ranks of each dimension of the order."""
        return _ways(self.plan, self.data)

    def group(self, name: str) -> Group:
        """The ranks of a communicator; ``data`` of the dense parameters, ``expert-data`` of the routed experts'."""
        context = (self.plan.context, self.strides["context"])
        stride = self.strides["data"]
        if name == "data":
            return Group((context, (self.data, stride)))
        if name in ("expert", "expert-data"):
            return self._expert_group(name)
        return Group(((self.ways[name], self.strides[name]),))

    def state_groups(self, name: str) -> tuple[Group, Group]:
        """For a group of data ranks: the neighbours that share sharded state, and the ranks with the same share
        elsewhere.
        """
        group = self.group(name)
        replicas = self.group("data").size // sharers_of(self.plan, self.data)[0]
        if replicas == 1:
            return group, Group(((1, 1),))
        inside_out = sorted(group.dimensions, key=lambda dimension: dimension[1])
        near, far = _split_ways(inside_out, max(1, group.size // replicas))
        return Group(tuple(near)), Group(tuple(far))

    def _expert_group(self, name: str) -> Group:
        """Ranks of a stage, dealt to the ways of an expert, to experts and to their copies, innermost first.

        Where experts are split as the tensor ranks are, they are the innermost of data, and context ranks have copies.
        """
        stride = self.strides["data"]
        if self.plan.expert_tensor is None:
            context = (self.plan.context, self.strides["context"])
            dealt = ((self.plan.expert, stride),)
            copies = (context, (max(1, self.data // self.plan.expert), stride * self.plan.expert))
            return Group(dealt if name == "expert" else copies)
        stage = [
            (self.ways[dimension], self.strides[dimension]) for dimension in self.plan.order if dimension != "pipeline"
        ]
        _, left = _split_ways(stage, self.plan.expert_tensor)
        experts, left = _split_ways(left, self.plan.expert)
        return Group(tuple(experts if name == "expert" else left))


def _split_ways(stage: Sequence[tuple[int, int]], wanted: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The first ``wanted`` ways of dimensions, innermost first, and the ways left over."""
    taken, left = [], []
    for ways, stride in stage:
        part = gcd(ways, wanted)
        wanted //= part
        if part > 1:
            taken.append((part, stride))
        if ways > part:
            left.append((ways // part, stride * part))
    return taken or [(1, 1)], left or [(1, 1)]


def can_be_dealt(plan: Plan, data: int) -> bool:
    """Whether experts and the ways of each divide the ranks of a stage."""
    stage = [(_ways(plan, data)[dimension], 1) for dimension in plan.order if dimension != "pipeline"]
    ways, left = _split_ways(stage, plan.expert_ways)
    experts, _ = _split_ways(left, plan.expert)
    return prod(part for part, _ in ways) == plan.expert_ways and prod(part for part, _ in experts) == plan.expert


def sharers_of(plan: Plan, data: int) -> tuple[int, int]:
    """Ranks that share dense parameters, where these are sharded, and ranks that share each routed expert."""
    ranks = plan.context * data
    shards = ranks if plan.shard_group is None else plan.shard_group
    copies = ranks * plan.tensor // (plan.expert * plan.expert_ways)
    return shards, max(1, copies * shards // ranks)


def runs_of(group: Group) -> list[int]:
    """Sizes of runs of neighbouring ranks that divide a group evenly, without cutting a dimension across another."""
    known, whole = set(), 1
    for ways, _ in sorted(group.dimensions, key=lambda dimension: dimension[1]):
        known |= {whole * part for part in range(1, ways + 1) if ways % part == 0}
        whole *= ways
    return sorted(known)


def shares_of(model: Model, ranks: Ranks) -> Iterator[tuple[str, Group, Fraction]]:
    """Groups of ranks that have the same parameters, by name, and the neighbours of each that share them."""
    replicas = Fraction(ranks.group("data").size, sharers_of(ranks.plan, ranks.data)[0])
    for name in ("data",) if model.architecture.experts is None else ("data", "expert-data"):
        yield name, ranks.group(name), ranks.group(name).size / replicas


def can_be_shared(model: Model, plan: Plan, gpus: int) -> bool:
    """Whether shard groups divide the data ranks evenly."""
    if plan.shard_group is None:
        return True
    return all(sharers in runs_of(group) for _, group, sharers in shares_of(model, ranks_of(model, plan, gpus)))


def _ways(plan: Plan, data: int) -> dict[str, int]:
    return {"tensor": plan.tensor, "context": plan.context, "pipeline": plan.pipeline, "data": data}


def replica_gpus(plan: Plan) -> int:
    """GPUs of one replica of the model."""
    return plan.tensor * plan.context * plan.pipeline


def ranks_of(model: Model, plan: Plan, gpus: int) -> Ranks:
    """The plan on a number of GPUs; data parallelism takes the remaining GPUs, at least one replica.

    Where GPUs are left over they stay idle; ``fabopt.workload.checks`` refuses that in a case.
    """
    data = plan.data if plan.data is not None else max(1, gpus // replica_gpus(plan))
    if plan.expert_tensor is None and data % plan.expert:
        plan = plan.model_copy(update={"expert_tensor": 1})
    strides: dict[str, int] = {}
    stride = 1
    ways = _ways(plan, data)
    for name in plan.order:
        strides[name] = stride
        stride *= ways[name]
    return Ranks(plan, data, replica_gpus(plan) * data, MappingProxyType(strides))
