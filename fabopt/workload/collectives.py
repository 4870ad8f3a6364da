"""What a collective costs: bytes over each boundary for every GPU, and latency, by algorithm.

Factors are those of bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md). Latencies and the share of
the line that is payload are those that NCCL's tuner assumes for its LL128 protocol (src/graph/tuning.cc, 2.26);
in-network reduction: its CollNet algorithm with the Simple protocol.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from fabopt.workload.straddling import Crossing

Operation = Literal["all-reduce", "reduce-scatter", "all-gather", "all-to-all", "send"]
Algorithm = Literal["ring", "tree", "in-network", "direct"]
# Of every 128 bytes that LL128 stores, 120 are data and 8 a flag.
PAYLOAD = Fraction(120, 128)
_US = Fraction(1, 10**6)
# Seconds of one step: inside the scale-up domain, over the network.
STEP_S: dict[Algorithm, tuple[Fraction, Fraction]] = {
    "ring": (Fraction(19, 10) * _US, 4 * _US),
    "tree": (Fraction(125, 100) * _US, Fraction(85, 10) * _US),
    "in-network": (Fraction(19, 10) * _US, 31 * _US),
    "direct": (Fraction(19, 10) * _US, 4 * _US),
}
_RING_PASSES: dict[Operation, int] = {"all-reduce": 2, "reduce-scatter": 1, "all-gather": 1}


def algorithms(operation: Operation, in_network: bool) -> tuple[Algorithm, ...]:
    """Ways to run an operation; ``in_network``: whether switches on the way can reduce."""
    if operation not in _RING_PASSES:
        return ("direct",)
    if operation != "all-reduce":
        return ("ring",)
    return ("ring", "tree", "in-network") if in_network else ("ring", "tree")


def factor(operation: Operation, algorithm: Algorithm, members: int) -> Fraction:
    """Bytes that each member sends, over the bytes of the vector (for all-to-all: of all that it has).

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
    where there are k of each group f V / k. All-to-all: what is for members elsewhere, V (n-k)/n. A send: one of k
    neighbours is elsewhere, V / k.
    """
    if operation == "all-to-all":
        return vector * crossing.apart
    return factor(operation, algorithm, members) * vector * crossing.cut


def latency_s(operation: Operation, algorithm: Algorithm, members: int, inside: int, domains: int) -> Fraction:
    """Seconds before the last byte, whatever the size.

    ``inside``: most members in a scale-up domain; ``domains``: most of them that a group lies in.

    Ring: n-1 steps a pass, of which one a domain and pass crosses the network. Tree: up and down, through a domain's
    members and log2 of the domains. In the network: once over it. Others: one step.
    """
    if members < 2:
        return Fraction(0)
    near, far = STEP_S[algorithm]
    if algorithm == "ring":
        crossings = _RING_PASSES[operation] * (domains - 1)
        return crossings * far + (_RING_PASSES[operation] * (members - 1) - crossings) * near
    within = 2 * (inside - 1) * near
    if algorithm == "tree":
        return within + 2 * (domains - 1).bit_length() * far
    if algorithm == "in-network":
        return within + far
    return far if domains > 1 else near
