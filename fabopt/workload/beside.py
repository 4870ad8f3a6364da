"""Jobs beside each other: what each has of uplinks in the worst placement of all.

Blocks (leaves, pods) of g GPUs give g c Mb/s over their boundary, c for each GPU. A job has what it needs of that, or
as much as others where that is less (max-min fairness). Servers of jobs lie anywhere, so that any block may be full of
the jobs that need most for each GPU; nothing crosses for a job that is all in one block. The worst block for a job has
as many of its servers as go in, then those of the jobs that need most. Every job that crosses has a server outside, so
that of a block with fewer servers outside than there are jobs only those cross of which most does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fabopt.units import Number

# A rate of one network, or of many, shape (networks,).
RateT = TypeVar("RateT", Fraction, NDArray[np.float64])
_Rate_co = TypeVar("_Rate_co", Fraction, NDArray[np.float64], covariant=True)


class Networks(Protocol[_Rate_co]):
    """One network, a ``FabricBandwidth``, or many of the same NICs, ``FabricBandwidths``."""

    @property
    def server_mbps(self) -> Fraction | float:
        """Mb/s of each GPU through its NICs."""

    @property
    def leaf_mbps(self) -> _Rate_co:
        """Mb/s of each GPU through a leaf's uplinks."""

    @property
    def pod_mbps(self) -> _Rate_co:
        """Mb/s of each GPU through a pod's uplinks."""

    @property
    def leaf_gpus(self) -> Number:
        """GPUs that reach each other below a leaf."""

    @property
    def pod_gpus(self) -> Number:
        """GPUs that reach each other within a pod."""

    @property
    def left(self) -> tuple[_Rate_co, _Rate_co] | None:
        """Mb/s through leaves and pods after the loss of a spine; None: unchanged."""


@dataclass(frozen=True)
class JobMix:
    """Jobs of a cluster: GPUs of each, and whole Mb/s that each of them needs.

    ``own``: which of them is looked at; ``gpus``: of the cluster; ``server_gpus``: of a server, which has one job.
    """

    jobs: tuple[tuple[int, int], ...]
    own: int
    gpus: int
    server_gpus: int

    def of(self, own: int) -> JobMix:
        """All jobs, as seen by one of them."""
        return replace(self, own=own)

    def at_most(self, mbps: int) -> JobMix:
        """All jobs, if none needed more than ``mbps``."""
        return replace(self, jobs=tuple((gpus, min(mbps, need)) for gpus, need in self.jobs))

    def dealt(self, block: Number, first: int | None = None, level: Any = None) -> Iterator[tuple[int, Any]]:
        """Jobs and their GPUs in the worst block of ``block`` GPUs whose traffic crosses its boundary.

        ``first``: a job that goes in before others; ``level``: Mb/s that no GPU has more of. Numbers, or arrays of
        shape (networks,), as ``block`` is.
        """
        room, crosses = block, self._crossing(block, first, level)
        for job in sorted(range(len(self.jobs)), key=lambda job: (job != first, -self.jobs[job][1], job)):
            inside = _ends(room, self.jobs[job][0] - self.server_gpus)[0] * crosses[job]
            room = room - inside
            yield job, inside

    def _crossing(self, block: Number, first: int | None, level: Any) -> list[Any]:
        """Whether each job crosses the boundary of the worst block, one of each of whose servers is outside."""
        outside = (self.gpus - block) // self.server_gpus
        if np.all(outside >= len(self.jobs)):
            return [1] * len(self.jobs)
        most = [
            np.inf if job == first else (gpus - self.server_gpus) * (need if level is None else _ends(level, need)[0])
            for job, (gpus, need) in enumerate(self.jobs)
        ]
        before = [
            sum((other > own) | ((other == own) & (place < job)) for place, other in enumerate(most))
            for job, own in enumerate(most)
        ]
        return [(number < outside) * 1 for number in before]

    def demand_mbps(self, block: Number) -> Any:
        """Mb/s for each GPU that blocks of ``block`` GPUs must give in the worst placement; 0 for all GPUs."""
        asked = sum(inside * self.jobs[job][1] for job, inside in self.dealt(block))
        if isinstance(block, np.ndarray):
            return np.where(block >= self.gpus, 0.0, asked / block)
        return Fraction(0) if block >= self.gpus else Fraction(asked, block)

    def share_mbps(self, mbps: RateT, block: Number) -> RateT:
        """Mb/s for each GPU of the own job over the boundary of blocks that give ``mbps`` a GPU: that, or more.

        Which jobs cross beside it depends on what a GPU has: from that of any jobs down to where no others leave less.
        """
        level: RateT = self._level_mbps(mbps, block, None)
        while np.any((lower := self._level_mbps(mbps, block, level)) < level):
            level = lower
        return level

    def _level_mbps(self, mbps: RateT, block: Number, level: RateT | None) -> RateT:
        """What a GPU of the own job has in the block that is worst where none has more than ``level``.

        Of the levels up to which all jobs are filled but those that need least, which have what they need, the highest.
        """
        inside = dict(self.dealt(block, self.own, level))
        own = _ends(inside.pop(self.own), 1)[1]
        rate: Any = mbps
        left, filled = rate * block, own + sum(inside.values())
        highest: RateT = left / filled
        for job in sorted(inside, key=lambda job: self.jobs[job][1]):
            left, filled = left - inside[job] * self.jobs[job][1], filled - inside[job]
            highest = _ends(highest, left / filled)[1]
        return highest


def _ends(first: Any, other: Any) -> tuple[Any, Any]:
    """The smaller and the larger of two numbers, or of each of two arrays."""
    if isinstance(first, np.ndarray):
        return np.minimum(first, other), np.maximum(first, other)
    return min(first, other), max(first, other)
