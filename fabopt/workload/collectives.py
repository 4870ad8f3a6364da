"""Costs of a collective: bytes over each boundary for every GPU, and latency, by algorithm.

Factors are those of bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md). Latencies and the share of
the line that is payload are those that NCCL's tuner assumes for each protocol (``fabopt.workload.nccl``).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple

from fabopt.workload.nccl import (
    RING_SHARES,
    RING_US,
    TREE_SHARES,
    Generation,
    Protocol,
    most_gbytes_s,
    ring_latency_us,
    tree_latency_us,
    tree_share,
)
from fabopt.workload.straddling import Crossing

Operation = Literal["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "send"]
Algorithm = Literal["ring", "tree", "in-network", "direct"]
# The share of a line that NCCL counts: channels of 24 Gbytes a second on 200 Gb/s, 48 on 400 (src/graph/search.cc).
LINE_SHARE = Fraction(24, 25)
_US = Fraction(1, 10**6)
_GBYTE = 10**9
# Seconds of a reduction in the network: a step in the scale-up domain, and once over the network.
IN_NETWORK_S = (Fraction(19, 10) * _US, 31 * _US)
_RING_PASSES: dict[Operation, int] = {"all-reduce": 2, "reduce-scatter": 1, "all-gather": 1}


def algorithms(operation: Operation, in_network: bool) -> tuple[Algorithm, ...]:
    """Algorithms of an operation; ``in_network``: whether switches on the way can reduce."""
    if operation not in _RING_PASSES:
        return ("direct",)
    if operation != "all-reduce":
        return ("ring",)
    return ("ring", "tree", "in-network") if in_network else ("ring", "tree")


class Running(NamedTuple):
    """A call with a protocol: seconds of latency, the share of a line's rate that is payload, and the least seconds of
    its bytes, however fast the lines are.
    """

    latency_s: Fraction
    payload: Fraction
    least_s: Fraction = Fraction(0)

    def time_s(self, bytes_s: Fraction) -> Fraction:
        """Seconds of a call; ``bytes_s``: seconds of its bytes on lines that are all payload."""
        return self.latency_s + max(bytes_s / self.payload, self.least_s)


def payloads(algorithm: Algorithm) -> dict[Protocol, Fraction]:
    """The share of a line's rate that each protocol of an algorithm reaches; NCCL takes the fastest for a call.

    Direct sends have no LL128; reductions in the network have Simple only, as NCCL's CollNet.
    """
    shares = TREE_SHARES if algorithm == "tree" else RING_SHARES
    known = {protocol: LINE_SHARE * share for protocol, share in shares.items()}
    without: dict[Algorithm, tuple[Protocol, ...]] = {"direct": ("LL128",), "in-network": ("LL", "LL128")}
    return {protocol: share for protocol, share in known.items() if protocol not in without.get(algorithm, ())}


def factor(operation: Operation, algorithm: Algorithm, members: int) -> Fraction:
    """Bytes that each member sends, over the bytes of the vector (for all-to-all: of all its messages).

    Ring: (n-1)/n for reduce-scatter and for all-gather, both for all-reduce: 2 (n-1)/n. Double binary tree: 2, half of
    the vector up and down each tree. In the network: 1, the vector goes up once and comes down once. Source:
    nccl-tests, doc/PERFORMANCE.md; Sanders, Speck and Traff 2009 for the tree; Graham et al. 2016 for SHARP.
    """
    if members < 2:
        return Fraction(0)
    if algorithm == "tree":
        return Fraction(2)
    if algorithm == "in-network" or operation == "send":
        return Fraction(1)
    return Fraction((members - 1) * _RING_PASSES.get(operation, 1), members)


def sent_over(
    operation: Operation, algorithm: Algorithm, members: int, crossing: Crossing, vector: Fraction
) -> Fraction:
    """Bytes over a boundary for each GPU behind it.

    A ring, a tree or a reduction crosses once for all members of a group that are behind the boundary, which share it:
    where there are k of each group f V / k. All-to-all: messages for members elsewhere, V (n-k)/n. A send: one of k
    neighbours is elsewhere, V / k.
    """
    if operation == "all-to-all":
        return vector * crossing.apart
    return factor(operation, algorithm, members) * vector * crossing.cut


class Spread(NamedTuple):
    """A group as NCCL sees it: its members, the most in a scale-up domain, the most domains, the channels between them,
    and the seconds that a step over the network takes above what NCCL counts.
    """

    members: int
    inside: int
    domains: int
    channels: int
    further_s: Fraction = Fraction(0)


def running(
    operation: Operation,
    algorithm: Algorithm,
    protocol: Protocol,
    vector: Fraction,
    spread: Spread,
    generation: Generation | None,
) -> Running:
    """Latency, payload and least time of a call; rings and trees have limits of their own on GPUs of a known
    generation. ``vector``: in bytes.
    """
    members, inside, domains, channels, further_s = spread
    latency = latency_s(operation, algorithm, protocol, members, inside, domains)
    latency += network_steps(operation, algorithm, domains) * further_s
    payload, least_s = payloads(algorithm)[protocol], Fraction(0)
    if generation is not None and algorithm in ("ring", "tree"):
        of_tree = algorithm == "tree"
        share = tree_share(protocol, vector) if of_tree else Fraction(1)
        most = most_gbytes_s(generation, protocol, of_tree, domains, channels)
        payload *= share
        least_s = factor(operation, algorithm, members) * vector / (most * share * _GBYTE) if most else least_s
    return Running(latency, payload, least_s)


def network_steps(operation: Operation, algorithm: Algorithm, domains: int) -> int:
    """Steps of a call over the network, one after the other; none within a domain."""
    if domains < 2:
        return 0
    if algorithm == "ring":
        return _RING_PASSES[operation] * (domains - 1)
    return 2 * (domains.bit_length() - 1) if algorithm == "tree" else 1


def latency_s(
    operation: Operation, algorithm: Algorithm, protocol: Protocol, members: int, inside: int, domains: int
) -> Fraction:
    """Seconds before the last byte, whatever the size.

    ``inside``: most members of a group in a scale-up domain; ``domains``: most domains of a group.

    Ring and tree: as NCCL's tuner counts. In the network: once over it. Others: one step of a ring.
    """
    if members < 2:
        return Fraction(0)
    if algorithm == "ring":
        return ring_latency_us(_RING_PASSES[operation], members, domains, protocol) * _US
    if algorithm == "tree":
        return tree_latency_us(inside, domains, protocol) * _US
    if algorithm == "in-network":
        near, far = IN_NETWORK_S
        return 2 * (inside - 1) * near + far
    base, near, far = RING_US[protocol]
    return (base + (far if domains > 1 else near)) * _US
