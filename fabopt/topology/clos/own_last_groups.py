"""The last leaf group where it may be unlike the others: ports of a server on each leaf, and uplinks, of its own.

Rule ``last_group_may_differ``: with ``groups: any``, under even stripes. See docs/formulation/clos.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from fabopt.floor.arrangements import Anywhere
from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.classes import busiest_leaves
from fabopt.topology.clos.joins import common
from fabopt.topology.clos.shape import Ints, Shape, divisors, last_endpoints, ranges, up_cage_limit, uplinks_that_fit
from fabopt.topology.link_parts import Floats
from fabopt.topology.spans import group_sizes
from fabopt.units import Number, ceil_div, ceil_of


def ports_on_leaves(fabric: FabricProblem, nic: NicOption) -> Iterator[tuple[int, int]]:
    """(k, k'): ports of a server on each leaf of the groups, and of the last one."""
    ports = nic.ports_per_plane
    allowed = [k for k in divisors(ports) if nic.takes(k)]
    for k in [k for k in allowed if fabric.leaf_groups.may_share(k)]:
        for last in allowed:
            alone = last == ports != k
            if (not nic.apart or last == k) and (not alone or fabric.leaf_groups.last.may_be_one_leaf):
                yield k, last


class LastGroupSizes(NamedTuple):
    """Group sizes g with a differing last group: k ports of a server on a leaf, k' in the last group."""

    k: int
    own_k: int
    g: tuple[int, ...]


def alike_that_reach(bounds: Bounds, block: Block) -> list[int]:
    """Ports k of a server on a leaf with which spines have ports for the leaves of the fewest, largest equal groups."""
    servers, ports, nic = bounds.problem.servers, block.nic.ports_per_plane, block.nic
    leaf_ports = bounds.leaf_ports(block.leaf, block.down, block.uplinks)
    return [
        k
        for k in divisors(ports)
        if nic.takes(k)
        and leaf_ports >= k
        and ceil_div(servers, min(servers, leaf_ports // k))
        <= bounds.most_groups(block.uplinks.port, block.protocol, block.tiers, ports // k)
    ]


def ports_that_reach(bounds: Bounds, block: Block) -> list[tuple[int, int]]:
    """Pairs (k, k') with which spines have ports for the fewest leaves, those of the largest groups."""
    servers, ports = bounds.problem.servers, block.nic.ports_per_plane
    leaf_ports = bounds.leaf_ports(block.leaf, block.down, block.uplinks)
    most_leaves = bounds.most_groups(block.uplinks.port, block.protocol, block.tiers, 1)
    return [
        (k, own_k)
        for k, own_k in ports_on_leaves(bounds.fabric, block.nic)
        if leaf_ports >= k
        and (ceil_div(servers, min(servers, leaf_ports // k)) - 1) * (ports // k) + ports // own_k <= most_leaves
    ]


def last_group_sizes(bounds: Bounds, blocks: Sequence[Block]) -> Iterator[LastGroupSizes]:
    """Group sizes whose endpoints fit their leaves, for each number of ports on a leaf that rules and parts allow.

    ``blocks``: one, or several that differ in the leaves of the last group only; sizes are those of any of them.
    """
    block, fabric, servers = blocks[0], bounds.fabric, bounds.problem.servers
    ports, leaf_ports = block.nic.ports_per_plane, bounds.leaf_ports(block.leaf, block.down, block.uplinks)
    lasts = [block.of_last for block in blocks]
    last_ports = max(bounds.leaf_ports(last.leaf, last.down, last.uplinks) for last in lasts)
    most_leaves = bounds.most_groups(block.uplinks.port, block.protocol, block.tiers, 1)
    joins = cache(lambda k: bounds.server_joins(block.nic, block.down, k, block.protocol))
    for k, pairs in groupby(ports_that_reach(bounds, block), itemgetter(0)):
        g = group_sizes(fabric, min(servers - 1, leaf_ports // k))
        alike = ceil_of(servers, g) - 1
        last_group, leaves = servers - alike * g, alike * (ports // k)
        for _, own_k in pairs:
            kept = g[(last_group * own_k <= last_ports) & (leaves + ports // own_k <= most_leaves)]
            if kept.size and common([joins(k), joins(own_k)]):
                yield LastGroupSizes(k, own_k, tuple(kept.tolist()))


class LeastOfLeaves(NamedTuple):
    """Least cost of leaves of some sizes alone, and with their fewest uplinks and the tiers above, each metric by
    itself.

    Arrays of costs have shape (metrics, g of all sizes in turn); ``shape`` has these sizes with their fewest uplinks.
    """

    alone: Floats
    with_uplinks: Floats
    shape: Shape


def least_of_leaves(bounds: Bounds, blocks: Sequence[Block], sizes: Sequence[LastGroupSizes]) -> LeastOfLeaves:
    """Least cost of leaves of some sizes; ``blocks``: as of ``last_group_sizes``."""
    block, lasts = blocks[0], [block.of_last for block in blocks]
    nic, servers = block.nic, bounds.problem.servers
    k, own_k, g = np.array([(k, own_k, g) for k, own_k, all_g in sizes for g in all_g], dtype=np.int64).reshape(-1, 3).T
    shape = Shape(servers, nic.ports_per_plane, nic.planes, k, g, own_k=own_k)
    u = bounds.leaf_uplinks(g * k, block.down, block.uplinks)
    own_u = bounds.leaf_uplinks(shape.last_group * own_k, lasts[0].down, lasts[0].uplinks)
    shape = replace(shape, u=u, own_u=own_u)
    of_last = np.min([bounds.costs.of(last.leaf.item) for last in lasts], axis=0)
    last, own = nic.planes * shape.last_rails, nic.planes * (shape.groups - 1) * shape.rails
    alone = np.asarray(np.multiply.outer(bounds.costs.of(block.leaf.item), own) + np.multiply.outer(of_last, last))
    upward = bounds.above(block.uplinks.port, block.protocol, block.tiers)
    return LeastOfLeaves(alone, alone + np.multiply.outer(upward, nic.planes * shape.uplinks), shape)


def with_last_uplinks(bounds: Bounds, block: Block, shape: Shape) -> tuple[Ints, Shape]:
    """Uplinks of the last group's leaves, at least the shape's; rows of it, shape (sizes,), and their shape.

    The fewest as m' to every spine: more are never cheaper, and tried only where failures, headroom or a deadline may
    need them, the last up to the number with which others' leaves are the slowest. On a floor up to whole cages too, as
    each of these may then have parts of its own.
    """
    fabric, demands = bounds.fabric, bounds.fabric.figure_demands
    fewest = ceil_of(shape.own_u, shape.spines)
    last = block.of_last
    most = uplinks_that_fit(last.leaf, last.down, last.uplinks, _down_ports(bounds, shape)) // shape.spines
    if fabric.live.in_service is not None and (own := fabric.live.in_service.fabric.clos.last_group) is not None:
        kept = np.flatnonzero((fewest <= own.links_per_pair) & (own.links_per_pair <= most))
        return kept, replace(shape.take(kept), own_u=own.links_per_pair * shape.spines[kept])
    if not fabric.resilience and not (demands is not None and demands.headroom):
        lanes = 1 if isinstance(fabric.on_floor.arrangement, Anywhere) else block.uplinks.lane.ports
        enough = ceil_of(fewest, lanes) * lanes
        if demands is not None and demands.deadline is not None:
            enough = np.maximum(enough, _links_that_slow_nothing(fabric, shape))
        most = np.minimum(most, enough)
    rows, links = ranges(fewest, most)
    own_u = links * shape.spines[rows]
    kept = np.flatnonzero((own_u != shape.u[rows]) | (shape.own_k != shape.k) | (block.last is not None))
    return rows[kept], replace(shape.take(rows[kept]), own_u=own_u[kept])


def _links_that_slow_nothing(fabric: FabricProblem, shape: Shape) -> Ints:
    """Links to a spine with which leaves of the last group have no higher ratio than the others, shape (sizes,)."""
    down = busiest_leaves(fabric, shape)
    return np.asarray(ceil_of(down.of_last * shape.u, np.maximum(1, down.most) * shape.spines))


def last_up_limit(bounds: Bounds, block: Block, shape: Shape) -> Number | None:
    """Cages of a leaf of the last group left for uplinks; None where the group is like the others."""
    last = block.of_last
    return up_cage_limit(last.down, last.uplinks, _down_ports(bounds, shape)) if shape.has_own_last else None


def _down_ports(bounds: Bounds, shape: Shape) -> Number:
    return bounds.reserved(last_endpoints(shape, bounds.fabric.attached))
