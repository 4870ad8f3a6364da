"""The last leaf group where it may be unlike the others: ports of a server on each leaf, and uplinks, of its own.

Rule ``last_group_may_differ``: with ``groups: any``, below two tiers with even stripes. See docs/formulation/clos.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fabopt.floor.arrangements import Anywhere
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.shape import Ints, Shape, divisors, last_endpoints, ranges, up_cage_limit, uplinks_that_fit
from fabopt.units import Number, ceil_of


def ports_on_leaves(fabric: FabricProblem, nic: NicOption) -> Iterator[tuple[int, int]]:
    """(k, k'): ports of a server on each leaf of the groups, and of the last one."""
    ports = nic.ports_per_plane
    allowed = [k for k in divisors(ports) if nic.takes(k)]
    # Rule ``rails_are_aligned``
    for k in [k for k in allowed if k == 1 or not fabric.aligned]:
        for last in allowed:
            alone = last == ports != k
            if (not nic.apart or last == k) and (not alone or fabric.last_group == "any"):
                yield k, last


def with_last_uplinks(bounds: Bounds, block: Block, shape: Shape) -> tuple[Ints, Shape]:
    """Uplinks of the last group's leaves, at least the shape's; rows of it, shape (sizes,), and their shape.

    The fewest as m' to every spine (of two types, in proportion): more are never cheaper, and looked at only where
    failures, room for more servers or a time may need them. On a floor up to whole cages too, as each of these may then
    have parts of its own.
    """
    demands = bounds.fabric.figure_demands
    need_more = bounds.fabric.resilience or (demands is not None and (demands.headroom or demands.deadline))
    fewest = ceil_of(shape.odd_u, shape.stripe)
    last = block.of_last
    most = uplinks_that_fit(last.leaf, last.down, last.uplinks, _down_ports(bounds, shape)) // shape.stripe
    lanes = 1 if isinstance(bounds.fabric.arrangement, Anywhere) else block.uplinks.lane.ports
    rows, links = ranges(fewest, most if need_more else np.minimum(most, ceil_of(fewest, lanes) * lanes))
    odd_u = links * shape.stripe[rows]
    kept = np.flatnonzero((odd_u != shape.u[rows]) | (shape.odd_k != shape.k) | (block.last is not None))
    return rows[kept], replace(shape.take(rows[kept]), odd_u=odd_u[kept])


def last_up_limit(bounds: Bounds, block: Block, shape: Shape) -> Number | None:
    """Cages of a leaf of the last group left for uplinks; None where the group is like the others."""
    last = block.of_last
    return up_cage_limit(last.down, last.uplinks, _down_ports(bounds, shape)) if shape.is_odd else None


def _down_ports(bounds: Bounds, shape: Shape) -> Number:
    return bounds.reserved(last_endpoints(shape, bounds.fabric.attached))
