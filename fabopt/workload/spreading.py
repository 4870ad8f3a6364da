"""A job's share of the uplinks: how evenly its flows are spread over them, less the share of other jobs.

Adaptive routing sends every packet over the least busy uplink, so that all carry the same. Static hashing puts every
flow on one uplink at random: a collective waits for the fullest one. With m flows on u uplinks the share in use is
(m/u) / E[most flows on an uplink], the expected value exactly that of balls thrown into bins. A flow is a queue pair; a
sender has n of them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

from fabopt.schema.workload import OtherJob, QueuePairs, Spreading, taken_by

# Of a leaf of 64 ports at 1:1. With more uplinks the fullest is fuller: of 64 with one queue pair 0.26 are used.
UPLINKS = SENDERS = 32
WHOLE = Fraction(1)
_DIGITS = 10**4
_SURE = 1e-9


def uplink_share(spreading: Spreading | None, other_jobs: float | tuple[OtherJob, ...]) -> Fraction:
    """A job's share of the bandwidth of uplinks."""
    spread = hashed_share(spreading.queue_pairs) if isinstance(spreading, QueuePairs) else WHOLE
    return spread * (1 - taken_by(other_jobs))


@cache
def hashed_share(queue_pairs: int) -> Fraction:
    """The share of uplinks that static hashing uses, in ten-thousandths."""
    flows = SENDERS * queue_pairs
    fullest, most = 0.0, 0
    while (below := _none_is_fuller(flows, most)) < 1 - _SURE:
        fullest, most = fullest + 1 - below, most + 1
    return Fraction(int(_DIGITS * flows / UPLINKS / fullest), _DIGITS)


def _none_is_fuller(flows: int, most: int) -> float:
    """The probability that no uplink has more than ``most`` of the flows.

    Flows on an uplink are as Poisson numbers with a mean of flows / uplinks, given that all add up to the flows.
    """
    mean = flows / UPLINKS
    on_uplink: NDArray[np.float64] = np.exp([count * log(mean) - mean - lgamma(count + 1) for count in range(most + 1)])
    every = on_uplink
    for _ in range(UPLINKS.bit_length() - 1):
        every = np.convolve(every, every)[: flows + 1]
    if len(every) <= flows:
        return 0.0
    return float(every[flows] / exp(flows * log(flows) - flows - lgamma(flows + 1)))
