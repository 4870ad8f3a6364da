"""The networks of a search that have enough left when something fails: tried on their graphs, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fabopt.fabric import FabricProblem, Survival
from fabopt.topology.clos.candidates import clos_of
from fabopt.topology.direct.design import Flat
from fabopt.topology.direct.nets import Kin
from fabopt.topology.direct.survival import bandwidth_left
from fabopt.topology.threshold import Batch, Threshold


def offer_survivors(
    threshold: Threshold, fabric: FabricProblem, kin: Kin, batch: Batch, gpus: int, should_stop: Callable[[], bool]
) -> None:
    """Offer those of a batch of one group size that the case lets be; what is above the threshold is not tried.

    Networks that give less without a failure than is to be left are ruled out without a look at their graphs.
    """
    servers = clos_of(fabric, batch.parts, batch.shape.servers.row(0))
    open_ = np.flatnonzero(threshold.within(batch.cost))
    for at in open_[np.argsort(batch.cost[0, open_], kind="stable")].tolist():
        if batch.cost[0, at] > threshold.limit:
            return
        if should_stop():
            threshold.found.stopped = True
            return
        one = np.array([at])
        design = Flat(kin, batch.shape.net.take(one), servers)
        if all(survives(design, gpus, wanted) for wanted in fabric.resilience):
            threshold.offer(batch._replace(shape=batch.shape.take(one), cost=batch.cost[:, one]))


def survives(design: Flat, gpus: int, one: Survival) -> bool:
    """Whether a design has as much left as is asked for."""
    wanted = Fraction(one.least_mbps)
    return bandwidth_left(design, gpus, one.failed, one.count, wanted) >= wanted
