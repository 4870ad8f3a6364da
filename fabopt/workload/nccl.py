"""Time of a large collective over servers by NCCL's own tuner: latency, and bytes over bandwidth.

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
    "ampere": tuple(Fraction(speed) for speed in (48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3)),
    "hopper": tuple(Fraction(speed) for speed in (48, 45, 42, 40, 30, 24, 22, 20, "17.5", 15, 12, 6, 3)),
    "blackwell": tuple(
        Fraction(speed) for speed in (96, 86, 80, 48, "45.1", 42, 40, 30, 24, 22, 20, "17.5", 15, 12, 6, 3)
    ),
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
TREE_SHARE = Fraction(92, 100)
TREE_SHARES: dict[Protocol, Fraction] = {
    "LL": TREE_SHARE / Fraction("3.8"), "LL128": TREE_SHARE * Fraction(120, 128), "Simple": TREE_SHARE,
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
# The most Gbytes a second of LL, of all channels together: in a domain, between two, between more. Between domains
# those of servers whose CPUs are not AMD's (tuning.cc, llMaxBws); with these 22.5 and 19.
LL_CAPS: dict[Generation, tuple[Fraction, Fraction, Fraction]] = {
    "ampere": (Fraction("87.7"), Fraction(39), Fraction("20.4")),
    "hopper": (Fraction(141), Fraction(39), Fraction("20.4")),
    "blackwell": (Fraction(282), Fraction(39), Fraction("20.4")),
}
# The same of LL128 for each channel between two domains, between more: of rings and trees (perChMax...LL128Bws).
LL128_RING_CAPS: dict[Generation, tuple[Fraction, Fraction]] = {
    "ampere": (Fraction(20), Fraction(20)),
    "hopper": (Fraction("36.7"), Fraction("36.7")),
    "blackwell": (Fraction(40), Fraction(40)),
}
LL128_TREE_CAPS: dict[Generation, tuple[Fraction, Fraction]] = {
    "ampere": (Fraction(20), Fraction(20)),
    "hopper": (Fraction("36.7"), Fraction(29)),
    "blackwell": (Fraction("31.67"), Fraction(20)),
}
# Of a tree's bandwidth, by the size of an all-reduce: powers of two, 64 bytes first (tuning.cc, treeCorrectionFactor,
# in tenths). The last of each is not used.
TREE_TENTHS: dict[Protocol, tuple[int, ...]] = {
    "LL": (10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10),
    "LL128": (10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10),
    "Simple": (9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9),
}
_TREE_FROM_BYTES = 64
# Up to so many channels, of so many Gbytes a second or more, there are twice as many of half the speed
# (search.cc, ncclTopoDupChannels).
_FEW_CHANNELS, _TO_BE_HALVED = 4, 25
# Faster ones of Hopper and Blackwell are halved however many there are.
_FAST = 50
TWO = 2
_GBYTES_PER_MS = 1000


def ring_latency_us(passes: int, members: int, domains: int, protocol: Protocol) -> Fraction:
    """Microseconds before the last byte around a ring; one step a domain and pass crosses the network."""
    base, near, far = RING_US[protocol]
    crossings = passes * (domains - 1)
    latency = base + (passes * (members - 1) - crossings) * near + crossings * far
    return latency * (RING_ALL_REDUCE if passes == TWO and domains > 1 and protocol == "Simple" else 1)


def tree_latency_us(inside: int, domains: int, protocol: Protocol) -> Fraction:
    """Microseconds up and down a tree: through the members in a domain, and log2 of the domains, rounded down."""
    base, near, far = TREE_US[protocol]
    return base + 2 * ((inside - 1) * near + (domains.bit_length() - 1) * far)


def tree_share(protocol: Protocol, vector: Fraction) -> Fraction:
    """The share of its bandwidth that an all-reduce of ``vector`` bytes reaches through a tree."""
    size = int(vector) // _TREE_FROM_BYTES
    tenths = TREE_TENTHS[protocol]
    return Fraction(tenths[size.bit_length() - 1], 10) if 0 < size < 2 ** len(tenths) else Fraction(1)


def channels_of(generation: Generation, nics: int, nic_gbps: Fraction) -> int:
    """Channels between domains with ``nics`` NICs each, which carry 24/25 of a line."""
    speed = nic_gbps * 24 / 25 / 8
    are_few = generation == "ampere" or nics <= _FEW_CHANNELS or speed >= _FAST
    return 2 * nics if speed >= _TO_BE_HALVED and are_few else nics


def most_gbytes_s(generation: Generation, protocol: Protocol, of_tree: bool, domains: int, channels: int) -> Fraction:
    """The most Gbytes a second of a ring or a tree, whatever the speed of its links; 0 where there is no such limit."""
    farther = domains > TWO
    if protocol == "LL":
        most = LL_CAPS[generation][min(domains, TWO + 1) - 1]
        through = channels * TREE_CAPS[generation][farther] * TREE_SHARES["LL"] / TREE_SHARE
        return min(most, through) if of_tree and domains > 1 else most
    if domains == 1:
        return Fraction(0)
    if not of_tree:
        return channels * LL128_RING_CAPS[generation][farther] if protocol == "LL128" else Fraction(0)
    share = TREE_SHARES[protocol] / TREE_SHARE
    most = channels * TREE_CAPS[generation][farther] * share
    return min(most, channels * LL128_TREE_CAPS[generation][farther]) if protocol == "LL128" else most


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
        """Steps from the root of a tree of servers to its leaves: log2 of their number, rounded down."""
        return self.count.bit_length() - 1

    def all_reduce_us(self, vector: int) -> Fraction:
        """Microseconds of an all-reduce of ``vector`` bytes with the fastest algorithm."""
        ways = [self._ring_us(vector), self._tree_us(vector)]
        return min([*ways, self._switched_us(vector)] if self.generation in SWITCHED else ways)

    def all_gather_us(self, vector: int) -> Fraction:
        """Microseconds of an all-gather, or a reduce-scatter, of ``vector`` bytes in all: by ring."""
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
        """Microseconds up and down trees of servers, in each of which NVSwitches reduce over all channels but one."""
        share, pair, more = SWITCHED[self.generation]
        inside = 2 * self.channel * share * Fraction(self.gpus - 1, self.gpus)
        channel = min(inside, self.channel * (1 if self.count > TWO else 2), more if self.count > TWO else pair)
        if self.generation == "blackwell" and vector <= MEDIUM_BYTES:
            channel *= MEDIUM_SHARE
        once, far = SWITCHED_TREE_US
        sent = Fraction(vector * 2 * (self.members - 1), self.members)
        return once + 2 * self.hops * far + sent / (self.gpus * channel * _GBYTES_PER_MS)
