"""How long NCCL takes for a large collective over servers, as its own tuner counts: latency, and bytes over bandwidth.

Bandwidths are for vectors of 512 MiB and more, with one NIC a GPU and a channel a NIC. Source: NVIDIA/nccl,
src/graph/tuning.cc and search.cc, 2.30.7 (latencies are those of 2.26, too).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Generation = Literal["ampere", "hopper", "blackwell"]
Protocol = Literal["LL", "LL128", "Simple"]
MIB = 2**20
# Gbytes a second that a channel between servers is tried with, best first (search.cc: sm90, sm100, older).
SPEEDS: dict[Generation, tuple[Fraction, ...]] = {
    "ampere": tuple(Fraction(one) for one in (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3)),
    "hopper": tuple(Fraction(one) for one in (48, 45, 42, 40, 30, 24, 22, 20, "17.5", 15, 12, 6, 3)),
    "blackwell": tuple(Fraction(one) for one in (96, 86, 80, 48, "45.1", 42, 40, 30, 24, 22, 20, "17.5", 15, 12, 6, 3)),
}
# Microseconds: (base, a step over NVLink, a step over the network).
RING_US: dict[Protocol, tuple[Fraction, Fraction, Fraction]] = {
    "LL": (Fraction("6.6"), Fraction("0.6"), Fraction("2.7")),
    "LL128": (Fraction(14), Fraction("1.9"), Fraction(4)),
    "Simple": (Fraction("8.4"), Fraction("3.4"), Fraction(14)),
}
TREE_US: dict[Protocol, tuple[Fraction, Fraction, Fraction]] = {
    "LL": (Fraction("6.8"), Fraction("0.6"), Fraction(5)),
    "LL128": (Fraction(14), Fraction("1.25"), Fraction("8.5")),
    "Simple": (Fraction("8.4"), Fraction(4), Fraction(14)),
}
# The share of a channel's bandwidth that each protocol reaches: LL stores a flag with every 4 bytes, LL128 one of 128.
RING_SHARES: dict[Protocol, Fraction] = {"LL": Fraction(1, 2), "LL128": Fraction(92, 100), "Simple": Fraction(1)}
TREE_SHARES: dict[Protocol, Fraction] = {
    "LL": Fraction(10, 38), "LL128": Fraction(120, 128), "Simple": Fraction(92, 100),
}  # fmt: skip
# Trees whose leaves reduce in NVSwitches: (once, a step over the network).
SWITCHED_TREE_US = (Fraction(25), Fraction("20.9"))
# A ring's latency with the Simple protocol counts so much for an all-reduce over servers.
RING_ALL_REDUCE = Fraction(14, 10)
# The most Gbytes a second of a channel: (between two servers, between more).
TREE_CAPS: dict[Generation, tuple[Fraction, Fraction]] = {
    "ampere": (Fraction("23.6"), Fraction("17.8")),
    "hopper": (Fraction("41.4"), Fraction(36)),
    "blackwell": (Fraction("42.8"), Fraction(24)),
}
# Of NVSwitches: the share of their bandwidth, and the caps; Ampere's do not reduce.
SWITCHED: dict[Generation, tuple[Fraction, Fraction, Fraction]] = {
    "hopper": (Fraction(85, 100), Fraction("57.7"), Fraction("45.5")),
    "blackwell": (Fraction(74, 100), Fraction(96), Fraction(80)),
}
# Of the bandwidth of switched trees on Blackwell, up to this many bytes.
MEDIUM_BYTES, MEDIUM_SHARE = 512 * MIB, Fraction(9, 10)
TWO = 2
_GBYTES_PER_MS = 1000


def ring_latency_us(passes: int, members: int, domains: int, protocol: Protocol) -> Fraction:
    """Microseconds before the last byte around a ring, of whose steps one a domain and pass crosses the network."""
    base, near, far = RING_US[protocol]
    crossings = passes * (domains - 1)
    latency = base + (passes * (members - 1) - crossings) * near + crossings * far
    return latency * (RING_ALL_REDUCE if passes == TWO and domains > 1 and protocol == "Simple" else 1)


def tree_latency_us(inside: int, domains: int, protocol: Protocol) -> Fraction:
    """Microseconds up and down a tree: through the members in a domain, and log2 of the domains, rounded down."""
    base, near, far = TREE_US[protocol]
    return base + 2 * ((inside - 1) * near + (domains.bit_length() - 1) * far)


@dataclass(frozen=True)
class Servers:
    """Equal servers with a NIC a GPU; ``nic_gbps``: of each NIC."""

    count: int
    nic_gbps: int
    generation: Generation
    gpus: int = 8

    @property
    def members(self) -> int:
        """All GPUs."""
        return self.count * self.gpus

    @property
    def channel(self) -> Fraction:
        """Gbytes a second of a channel: the best speed that a NIC can carry."""
        return next(speed for speed in SPEEDS[self.generation] if speed <= Fraction(self.nic_gbps, 8))

    @property
    def hops(self) -> int:
        """Steps from the root of a tree of servers to its leaves: log2 of them, rounded down."""
        return self.count.bit_length() - 1

    def all_reduce_us(self, vector: int) -> Fraction:
        """Microseconds of an all-reduce of so many bytes, the way that is fastest."""
        ways = [self._ring_us(vector), self._tree_us(vector)]
        return min([*ways, self._switched_us(vector)] if self.generation in SWITCHED else ways)

    def all_gather_us(self, vector: int) -> Fraction:
        """Microseconds of an all-gather, or a reduce-scatter, of so many bytes in all: by ring."""
        n = self.members
        latency = ring_latency_us(1, n, self.count, "Simple")
        return latency + Fraction(vector * (n - 1)) / (self._ring_gbytes_s * n * _GBYTES_PER_MS)

    @property
    def _ring_gbytes_s(self) -> Fraction:
        return self.gpus * self.channel

    def _ring_us(self, vector: int) -> Fraction:
        n = self.members
        latency = ring_latency_us(2, n, self.count, "Simple")
        return latency + Fraction(vector * 2 * (n - 1)) / (self._ring_gbytes_s * n * _GBYTES_PER_MS)

    def _tree_us(self, vector: int) -> Fraction:
        cap = TREE_CAPS[self.generation][self.count > TWO]
        channel = self.channel if self.count > TWO else max(SPEEDS[self.generation][0], self.channel)
        rate = self.gpus * min(TREE_SHARES["Simple"] * channel, cap)
        return tree_latency_us(self.gpus, self.count, "Simple") + Fraction(2 * vector) / (rate * _GBYTES_PER_MS)

    def _switched_us(self, vector: int) -> Fraction:
        """Up and down trees of servers, in each of which NVSwitches reduce over all but one of the channels."""
        share, pair, more = SWITCHED[self.generation]
        inside = 2 * self.channel * share * Fraction(self.gpus - 1, self.gpus)
        channel = min(inside, self.channel * (1 if self.count > TWO else 2), more if self.count > TWO else pair)
        if self.generation == "blackwell" and vector <= MEDIUM_BYTES:
            channel *= MEDIUM_SHARE
        once, far = SWITCHED_TREE_US
        sent = Fraction(vector * 2 * (self.members - 1), self.members)
        return once + 2 * self.hops * far + sent / (self.gpus * channel * _GBYTES_PER_MS)
