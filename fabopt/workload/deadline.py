"""How long a step may take, and the share of the cards' bandwidth that it takes at each boundary.

A step never takes longer where a boundary has more bandwidth, or where more neighbours are behind it. So what is known
of two networks says which of those between are in time, and the least share is found by halving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from fabopt.workload.needs import least
from fabopt.workload.timing import Network, Workload, step_on

# Shares are looked for in these parts of the injection.
PARTS = 256


class Seen(NamedTuple):
    """A network as a step sees it: rates in Mb/s, a communicator's members behind leaves and pods."""

    server: Fraction
    leaf: Fraction
    pod: Fraction
    behind_leaf: tuple[int, ...]
    behind_pod: tuple[int, ...]
    reduces: bool


@dataclass(frozen=True, eq=False)
class Pace:
    """Steps of a workload on networks, each worked out once."""

    workload: Workload
    known: dict[Seen, Fraction] = field(default_factory=dict)
    members: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def behind(self, gpus: int) -> tuple[int, ...]:
        """How many of each communicator's members are among so many neighbours."""
        gpus = max(gpus, self.workload.domain_gpus)
        if gpus not in self.members:
            self.members[gpus] = tuple(one.group.inside(gpus) for one in self.workload.traffic)
        return self.members[gpus]

    def seen(self, network: Network) -> Seen:
        """What of a network counts: a boundary that nothing crosses is as the one before."""
        whole = self.behind(self.workload.ranks.gpus)
        leaf = self.behind(network.leaf_gpus)
        pod = self.behind(max(network.leaf_gpus, network.pod_gpus))
        up = network.server_mbps if leaf == whole else network.leaf_mbps
        above = up if pod == whole else network.pod_mbps
        return Seen(network.server_mbps, up, above, leaf, pod, network.reduces)

    def step_s(self, network: Network) -> Fraction:
        """Seconds of a step."""
        seen = self.seen(network)
        if seen not in self.known:
            self.known[seen] = step_on(self.workload, network).step_s
        return self.known[seen]


_Rates = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class Deadline:
    """A step takes ``most_s`` at most; with ``less``, less than that."""

    pace: Pace
    most_s: Fraction
    less: bool = False
    shares: dict[tuple[object, ...], int | None] = field(default_factory=dict)
    # rates above leaves and pods that are in time, and that are not, of networks that are alike otherwise
    met: dict[object, tuple[list[_Rates], list[_Rates]]] = field(default_factory=dict)

    def is_before(self, other: Deadline) -> bool:
        """Whether it leaves no more time than another one."""
        return (self.most_s, not self.less) <= (other.most_s, not other.less)

    def is_met(self, network: Network) -> bool:
        """Whether a step on a network is in time."""
        seen = self.pace.seen(network)
        met, missed = self.met.setdefault(seen._replace(leaf=Fraction(0), pod=Fraction(0)), ([], []))
        if any(leaf <= seen.leaf and pod <= seen.pod for leaf, pod in met):
            return True
        if any(leaf >= seen.leaf and pod >= seen.pod for leaf, pod in missed):
            return False
        step_s = self.pace.step_s(network)
        found = step_s < self.most_s if self.less else step_s <= self.most_s
        (met if found else missed).append((seen.leaf, seen.pod))
        return found

    def leaf_share(self, injection: Fraction, leaf_gpus: int, reduces: bool) -> Fraction | None:
        """The share of the injection that leaves must give for a step to be in time, nothing slowing above.

        With less it is not in time; with that much it may be. None if no share will do.
        """
        whole = self.pace.workload.ranks.gpus
        key = ("leaf", injection, self.pace.behind(leaf_gpus), reduces)
        return self._least(key, injection, lambda rate: Network(injection, rate, rate, leaf_gpus, whole, reduces))

    def pod_share(self, injection: Fraction, leaf_gpus: int, pod_gpus: int, reduces: bool) -> Fraction | None:
        """The same of what pods must give whose leaves slow nothing."""
        key = ("pod", injection, self.pace.behind(leaf_gpus), self.pace.behind(pod_gpus), reduces)
        return self._least(
            key, injection, lambda rate: Network(injection, injection, rate, leaf_gpus, pod_gpus, reduces)
        )

    def _least(
        self, key: tuple[object, ...], injection: Fraction, network: Callable[[Fraction], Network]
    ) -> Fraction | None:
        if key not in self.shares:
            self.shares[key] = least(lambda parts: self.is_met(network(injection * parts / PARTS)), 1, PARTS)
        parts = self.shares[key]
        return None if parts is None else Fraction(parts - 1, PARTS)
