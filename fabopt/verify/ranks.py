"""Ranks dealt to GPUs one by one, and their traffic over the boundaries of a network, counted.

The prediction counts groups that a block cuts alike together (``fabopt.workload.straddling``); here every rank has its
coordinates, groups are ranks with equal ones, and members are counted in every block. Source: docs/workloads.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.workload import Within
from fabopt.workload.collectives import factor
from fabopt.workload.ranks import Group
from fabopt.workload.timing import Cost, FabricBandwidth, ModelRun

Ints = NDArray[np.int64]


class DealtRanks:
    """The ranks of a plan, by the number of their GPU."""

    def __init__(self, workload: ModelRun) -> None:
        self.gpus, (self.domain, self.held) = workload.ranks.gpus, workload.domains
        self.cluster = workload.cluster_gpus
        self.placing, self.experts = workload.placing, workload.model.architecture.experts
        self._numbers = np.arange(self.gpus, dtype=np.int64)

    def bytes_over(self, cost: Cost, network: FabricBandwidth) -> dict[str, Fraction]:
        """Bytes of a step for each GPU of the worst block, over the boundaries that calls of one kind cross."""
        first = self.first_members(cost.traffic.group)
        leaf, pod = (self._held(name, getattr(network, f"{name}_gpus")) for name in ("leaf", "pod"))
        behind = {"gpu": (1, True), "server": (self.domain, True)}
        behind |= {"leaf": (leaf or self.domain, not leaf), "pod": (max(leaf, pod) or self.domain, not max(leaf, pod))}
        if self.domain == 1:
            del behind["gpu"]
        over = {place: self._worst(cost, first, place, *block) for place, block in behind.items()}
        return {place: amount for place, amount in over.items() if amount}

    def bytes_out(self, cost: Cost, inside: NDArray[np.bool_]) -> Fraction:
        """Bytes of a step that the ranks ``inside`` send to others, of calls of one kind; shape (ranks,).

        A ring, tree or send leaves once for all members of a group that are inside.
        """
        traffic, size = cost.traffic, cost.traffic.group.size
        first = self.first_members(traffic.group)
        _, members = np.unique(first[inside], return_counts=True)
        if traffic.operation == "all-to-all":
            share = Fraction(int((members * (size - members)).sum()), size)
        else:
            share = int((members < size).sum()) * factor(traffic.operation, cost.algorithm, size)
        return traffic.calls * share * traffic.message * self._copies(traffic.operation, first)

    def _held(self, name: str, installed: int) -> int:
        """GPUs at work in a block of ``installed`` ones for certain; 0 where domains straddle, or ranks are anywhere.

        Nor below leaves where traffic changes its rail or goes to all servers alike, which do not end at a pod either
        unless jobs do.
        """
        placement = self.placing.placement
        domains, rest = divmod(installed, self.held)
        block = installed if rest else domains * self.domain
        if name == "leaf" and (self.placing.crosses_rails or self.placing.is_uniform):
            return 0
        if block >= self.cluster:
            ends_there = not self.placing.is_uniform or placement in ("packed", Within(within="pod"))
            return block if ends_there else 0
        together = {"packed": ("leaf", "pod"), "scattered": ()}
        names = (placement.within,) if isinstance(placement, Within) else together[placement]
        racks = name == "leaf" and installed <= self.placing.together_gpus
        return block if (name in names or racks) and block % self.domain == 0 else 0

    def first_members(self, group: Group) -> Ints:
        """The first member of each rank's group, shape (ranks,): its own number without its place in the group."""
        first = self._numbers.copy()
        for ways, stride in group.dimensions:
            first -= self._numbers // stride % ways * stride
        return first

    def _worst(self, cost: Cost, first: Ints, place: str, block: int, of_domain: bool) -> Fraction:
        """Bytes for each GPU out of the worst block; leaves have the uplinks of a full block, NICs are a GPU's own."""
        traffic, size = cost.traffic, cost.traffic.group.size
        behind = self._numbers // block
        met, members = np.unique(behind * self.gpus + first, return_counts=True)
        block_of = met // self.gpus
        cut = members < size
        if not cut.any():
            return Fraction(0)
        if traffic.operation == "all-to-all":
            alone = Fraction(size - int(members.min()), size)
            pairs = np.bincount(block_of, members * (size - members) * 1.0)
            share = alone if of_domain else Fraction(int(pairs.max()), size * block)
        elif traffic.operation == "send" and place == "server":
            share = Fraction(1)
        else:
            held = np.bincount(behind) if of_domain else np.full(int(behind[-1]) + 1, block)
            leaving = np.bincount(block_of, cut, minlength=len(held)).astype(np.int64)
            share = max(Fraction(int(count), int(gpus)) for count, gpus in set(zip(leaving, held, strict=True)))
        if traffic.operation != "all-to-all":
            share *= factor(traffic.operation, cost.algorithm, size)
        copies = self._copies(traffic.operation, first) if place != "gpu" else Fraction(1)
        return traffic.calls * share * traffic.message * copies

    def _copies(self, operation: str, first: Ints) -> Fraction:
        """The share of a token's copies sent to domains: once to each domain that it may go to, of the group's."""
        experts = self.experts
        if operation != "all-to-all" or experts is None or experts.servers_per_token is None:
            return Fraction(1)
        met, members = np.unique(self._numbers // self.domain * self.gpus + first, return_counts=True)
        most = experts.servers_per_token
        if members.min() == members.max():
            most = min(most, int(np.bincount(met % self.gpus).max()))
        return min(Fraction(1), Fraction(most, experts.top_k))
