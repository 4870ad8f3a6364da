"""How long a step may take, and the bandwidth that it takes at each boundary.

A step never takes longer where a boundary has more bandwidth, or where more neighbours are behind it, so that the least
bandwidth of a boundary is found by halving, in whole Mb/s, with everything else at its best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from fabopt.workload.needs import least
from fabopt.workload.timing import Network, Workload, step_on


@dataclass(frozen=True, eq=False)
class Pace:
    """Steps of a workload on networks, each worked out once."""

    workload: Workload
    known: dict[tuple[object, ...], Fraction] = field(default_factory=dict)
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def behind(self, gpus: int) -> tuple[int, ...]:
        """How many of each communicator's members are among so many neighbours."""
        gpus = max(gpus, self.workload.domain_gpus)
        if gpus not in self.members:
            self.members[gpus] = tuple(one.group.inside(gpus) for one in self.workload.traffic)
        return self.members[gpus]

    def step_s(self, network: Network) -> Fraction:
        """Seconds of a step."""
        whole = self.behind(self.workload.ranks.gpus)
        leaf = self.behind(network.leaf_gpus)
        pod = self.behind(max(network.leaf_gpus, network.pod_gpus))
        up = network.server_mbps if leaf == whole else network.leaf_mbps
        above = up if pod == whole else network.pod_mbps
        key = (network.server_mbps, up, above, leaf, pod, network.reduces)
        if key not in self.known:
            self.known[key] = step_on(self.workload, network).step_s
        return self.known[key]


@dataclass(frozen=True, eq=False)
class Deadline:
    """A step takes ``most_s`` at most; with ``less``, less than that."""

    pace: Pace
    most_s: Fraction
    less: bool = False
    known: dict[tuple[object, ...], int | None] = field(default_factory=dict)

    def is_met(self, network: Network) -> bool:
        """Whether a step on a network is in time."""
        step_s = self.pace.step_s(network)
        return step_s < self.most_s if self.less else step_s <= self.most_s

    def leaf_mbps(self, injection: Fraction, leaf_gpus: int, reduces: bool) -> int | None:
        """The least whole Mb/s per GPU that will do above leaves, if nothing slows above; None if none will.

        A design whose leaves give less than that by 1 Mb/s or more is not in time.
        """
        whole = self.pace.workload.ranks.gpus
        key = ("leaf", injection, self.pace.behind(leaf_gpus), reduces)
        if key not in self.known:
            self.known[key] = self._least(
                injection, lambda rate: Network(injection, rate, rate, leaf_gpus, whole, reduces)
            )
        return self.known[key]

    def pod_mbps(self, injection: Fraction, leaf_gpus: int, pod_gpus: int, reduces: bool) -> int | None:
        """The same above pods whose leaves slow nothing."""
        key = ("pod", injection, self.pace.behind(leaf_gpus), self.pace.behind(pod_gpus), reduces)
        if key not in self.known:
            self.known[key] = self._least(
                injection, lambda rate: Network(injection, injection, rate, leaf_gpus, pod_gpus, reduces)
            )
        return self.known[key]

    def _least(self, injection: Fraction, network: Callable[[Fraction], Network]) -> int | None:
        """The most that a boundary can give is the injection, whole or not."""
        most = -(-injection.numerator // injection.denominator)
        return least(lambda mbps: self.is_met(network(min(Fraction(mbps), injection))), 1, most)
