"""Queue lengths at which packets are marked (ECN): from the bandwidth-delay product and the pool, with the range.

Settings in use reach from 131 KB to 10 MB (``qos.json.j2`` files of sonic-net/sonic-buildimage 086b03bd), so a pair is
computed: the lower one lets a flow keep its path full, the upper one is met before any port pauses. The lower is one
bandwidth-delay product of the longest path; the upper is at most a port priority's share of the pool when all ports are
full at once, else ten times the lower (150 and 1,500 KB are NVIDIA's defaults).
"""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

_KIB = 1024
_NS_PER_M = 5
# Assumed of a switch whose latency is not known, and of a NIC.
SWITCH_NS, NIC_NS = 1000, 600
_BITS = 8
_UPPER_BY_LOWER = 10
PROBABILITY = 5


class Marking(NamedTuple):
    """Queue lengths in bytes between which marks become as likely as ``probability`` per cent.

    ``bandwidth_delay``: the least sensible lower one; ``share``: the most sensible upper one, None: not known.
    """

    least: int
    most: int
    probability: int
    bandwidth_delay: int
    share: int | None

    @property
    def reason(self) -> str:
        """Why these, in a sentence."""
        lower = f"{self.least:,} bytes are a bandwidth-delay product of {self.bandwidth_delay:,}"
        if self.least < self.bandwidth_delay:
            lower = f"a bandwidth-delay product is {self.bandwidth_delay:,} bytes, more than half of the upper one"
        if self.share is None:
            return f"{lower}; the pool is not known, so that marks come before pauses is not proven"
        return f"{lower}; every port full at once pauses at {self.share:,}, so {self.most:,} is met before"


def round_trip_ns(length_m: float, switches: int, switch_ns: float | None) -> float:
    """Round-trip time in ns over ``length_m`` metres of cable, ``switches`` switches, and two NICs."""
    return 2 * (length_m * _NS_PER_M + switches * (switch_ns or SWITCH_NS) + 2 * NIC_NS)


def pool_share(left: int, ports: int, exponent: int) -> int:
    """Bytes that one lossless priority of each of ``ports`` ports has when all are full at once.

    Each may take ``2 ** exponent`` times the free bytes of the pool, which has ``left`` for data.
    """
    alpha = 2.0**exponent
    return floor(left * alpha / (1 + ports * alpha))


def marking(gbps: float, rtt_ns: float, share: int | None) -> Marking:
    """The thresholds of a port. ``share``: of the pool in bytes; None: not known."""
    product = ceil(gbps * rtt_ns / _BITS / _KIB) * _KIB
    most = _UPPER_BY_LOWER * product if share is None else min(_UPPER_BY_LOWER * product, share - 1)
    return Marking(min(product, most // 2), most, PROBABILITY, product, share)
