"""Ring all-reduce as a demand on networks of equal boxes: no formula, so candidates are measured, the cheapest first.

Rates are worked out on the graph, over equal-cost shortest paths, and more links of one kind need not raise them, so
all numbers of links are looked at. What any routing would need rules most out before: links of a box, and of every
dimension of a lattice, for a shortest path has just the distance of each in links of it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from fabopt.graph.ring import ring_rate
from fabopt.meshes import HyperX, Torus
from fabopt.topology.direct.design import Direct
from fabopt.topology.direct.nets import Ints
from fabopt.topology.threshold import Batch, Threshold

# Links, both ways, times boxes with endpoints: beyond, some seconds for one design.
MOST_RINGS = 30_000_000
# Of Mb/s: loads are sums in floating point, files have six digits of Gb/s.
_DIGITS = 3


def allreduce(design: Direct, gpus: int) -> Fraction | None:
    """Mb/s per GPU around the rings, at most injection; None where the graph is too large."""
    rings = design.rings()
    if 2 * int(design.net.links[0].sum()) * (int(rings.max()) + 1) > MOST_RINGS:
        return None
    rate = Fraction(round(ring_rate(design.graph(), rings), _DIGITS))
    injection: Fraction = design.parts.nic.injection
    return min(injection, rate * design.share(gpus))


def at_most(design: Direct, gpus: int) -> Fraction:
    """No routing over shortest paths gives rings more Mb/s per GPU."""
    rings, speed = design.rings(), design.link_mbps
    here, there = rings.ravel(), np.roll(rings, -1, axis=1).ravel()
    out = int(np.bincount(here[here != there], minlength=1).max())
    bounds = [Fraction(int(design.net.most_ports[0].sum()) * speed, max(1, out))]
    mesh = design.kin.mesh(design.numbers)
    if isinstance(mesh, HyperX | Torus):
        steps = _steps(mesh, here, there)
        bounds += [
            Fraction(2 * int(links) * speed, int(each))
            for links, each in zip(design.net.links[0], steps, strict=False)
            if each
        ]
    injection: Fraction = design.parts.nic.injection
    return min(injection, min(bounds) * design.share(gpus)) if out else injection


def _steps(mesh: HyperX | Torus, here: Ints, there: Ints) -> Ints:
    """Links of every dimension that all steps of rings take together."""
    apart = np.abs(mesh.coordinates[here] - mesh.coordinates[there])
    each = (apart > 0).astype(np.int64) if isinstance(mesh, HyperX) else np.minimum(apart, np.array(mesh.sides) - apart)
    return np.asarray(each.sum(axis=0))


def offer_reducing(
    threshold: Threshold, batch: Batch, design_at: Callable[[int], Direct], gpus: int, least: Fraction
) -> None:
    """Offer those of a batch whose rings have so much, the cheapest first, as far as they are below the threshold.

    Where one is too large to say, the search is not complete.
    """
    for at in np.argsort(batch.cost[0], kind="stable").tolist():
        cost = batch.cost[:, at : at + 1]
        if not threshold.within(cost).all():
            continue
        design = design_at(at)
        if at_most(design, gpus) < least:
            continue
        rate = allreduce(design, gpus)
        if rate is None:
            threshold.found.stopped = True
        elif rate >= least:
            threshold.offer(batch._replace(shape=batch.shape.take(np.array([at])), cost=cost))
