"""Ranks dealt to GPUs one by one, and what they send over the boundaries of a network, counted.

The prediction counts groups that a block cuts alike together (``fabopt.workload.straddling``); here every rank has its
coordinates, groups are those with the same ones, and members are counted in every block. Source: docs/workloads.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fabopt.workload.collectives import factor
from fabopt.workload.ranks import Group, Ranks
from fabopt.workload.timing import Cost, FabricBandwidth

Ints = NDArray[np.int64]


class DealtRanks:
    """The ranks of a plan, by the number of their GPU."""

    def __init__(self, ranks: Ranks) -> None:
        self.gpus = ranks.gpus
        self._numbers = np.arange(ranks.gpus, dtype=np.int64)

    def bytes_over(self, cost: Cost, domain: int, network: FabricBandwidth) -> dict[str, Fraction]:
        """Bytes of a step for each GPU of the worst block, over the boundaries that calls of one kind cross."""
        first = self._first_members(cost.traffic.group)
        blocks = {"gpu": 1, "server": domain, "leaf": network.leaf_gpus, "pod": network.pod_gpus}
        if domain == 1:
            del blocks["gpu"]
        over = {}
        for place, block in blocks.items():
            # a domain that lies under two groups of leaves is sure to be under none
            split = block % domain and block < self.gpus and place in ("leaf", "pod")
            of_domain = bool(split) or place in ("gpu", "server")
            over[place] = self._worst(cost, first, place, domain if split else block, of_domain)
        return {place: amount for place, amount in over.items() if amount}

    def _first_members(self, group: Group) -> Ints:
        """The number of the first member of each rank's group: its own without its coordinates in the group."""
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
        return traffic.calls * share * traffic.message * (1 if place == "gpu" else traffic.copies)
