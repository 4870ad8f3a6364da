"""How long a message takes over parts of a path without load, and the bytes that fill a path meanwhile.

base round trip = 2 x (metres, switches, FEC, modules of one direction) + both NICs + sending a packet and its answer
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

# A packet of RDMA, which InfiniBand and RoCE limit to this payload, and its acknowledgement, in bytes.
PACKET_BYTES, ANSWER_BYTES = 4096, 64
BITS = 8


class PathStep(NamedTuple):
    """Some equal parts of a path. ``part``: as ``facts.latency`` names it; ``ns``: of one of them (None: not known)."""

    part: str
    of: str
    number: float
    ns: float | None
    source: str = ""

    @property
    def all_ns(self) -> float | None:
        """Nanoseconds of all of them."""
        return None if self.ns is None else round(self.number * self.ns, 6)


def known_ns(steps: Iterable[PathStep]) -> float:
    """Nanoseconds of those steps that are known."""
    return round(sum(step.all_ns or 0.0 for step in steps), 6)


def serialisation_ns(size_bytes: float, gbps: float) -> float:
    """Nanoseconds in which a port sends so many bytes."""
    return size_bytes * BITS / gbps


def round_trip_ns(steps: Sequence[PathStep], gbps: float) -> float:
    """Base round trip of a packet and its answer over one direction's steps, NICs once, in nanoseconds."""
    nics = known_ns(step for step in steps if step.part == "nic")
    sending = serialisation_ns(PACKET_BYTES, gbps) + serialisation_ns(ANSWER_BYTES, gbps)
    return round(2 * (known_ns(steps) - nics) + nics + sending, 6)


def bandwidth_delay_bytes(gbps: float, rtt_ns: float) -> int:
    """Bytes that fill a path of a speed for a round trip."""
    return ceil(round(gbps * rtt_ns / BITS, 6))
