"""Expanding a block: group sizes and ports on a leaf, then uplinks, then the tiers above."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.assemblies import Assembly
from fabopt.problem.live import InService
from fabopt.rules.defaults import TWO_SWITCHES
from fabopt.topology.clos import classes, step_deadline
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.candidates import ClosBatch
from fabopt.topology.clos.failures import may_survive, survives
from fabopt.topology.clos.figure_demands import has_room, leaf_uplinks, uplinks_of_last
from fabopt.topology.clos.free_ports import may_fit
from fabopt.topology.clos.in_service import keeps_uplinks, last_leaf_of, same_groups, same_hardware, with_own_group
from fabopt.topology.clos.joins import common
from fabopt.topology.clos.leaves_in_time import LeavesInTime
from fabopt.topology.clos.own_last_groups import (
    LastGroupSizes,
    LeastOfLeaves,
    alike_that_reach,
    last_group_sizes,
    least_of_leaves,
    ports_that_reach,
)
from fabopt.topology.clos.pod_costs import least_in_pods
from fabopt.topology.clos.redundancy import fewest_spines, leaves_suffice, ports_on_switch
from fabopt.topology.clos.run_bounds import FloorBounds, LinkRows
from fabopt.topology.clos.shape import (
    Ints,
    Parts,
    Shape,
    chunks,
    last_endpoints,
    most_endpoints,
    ranges,
    uplinks_that_fit,
    usable_ports,
)
from fabopt.topology.clos.share_costs import (
    WorthOfLeaves,
    fewest_of_all_spines,
    least_with_spines,
)
from fabopt.topology.clos.spines import Spines
from fabopt.topology.clos.switch_sizes import leaf_size
from fabopt.topology.family import Cutoff
from fabopt.topology.link_parts import Floats
from fabopt.topology.remembered import remembered
from fabopt.topology.spans import group_sizes, groups_wanted
from fabopt.units import Number

# More uplinks than a leaf has.
_ANY = 1 << 20
# Rows that are expanded at a time, by tiers: few enough that the cutoff falls soon, enough for NumPy to be quick.
_CHUNK = {2: 512, 3: 64}


class Leaves:
    """The leaf sizes of blocks, and through ``Spines`` of all tiers above, that stay below a cutoff.

    ``plain``: only those with the fewest links. ``sizes_met``: whether any size was looked at.
    """

    def __init__(self, bounds: Bounds, cutoff: Cutoff, plain: bool) -> None:
        self.bounds = bounds
        self.scopes = bounds.scopes
        self.problem = bounds.problem
        self.fabric = bounds.fabric
        self.cutoff = cutoff
        self.plain = plain
        self.sizes_met = False
        self.spines = Spines(bounds, cutoff, plain)
        self.in_time = LeavesInTime(self.problem, self.fabric)
        self.by_rail = bounds.fabric.leaf_groups.by_rail
        # what sizes follow from beside the hardware
        fabric, groups, pairs = self.fabric, self.fabric.leaf_groups, self.fabric.leaf_pairs
        self.rules = (
            self.problem.servers, groups_wanted(fabric), fabric.runs.m["server-leaf"], fabric.tiers_of_own_last,
            groups.aligned, groups.by_rail, fabric.leaf_groups.last.kind, groups.servers, fabric.resilience,
            pairs.are_wanted, pairs.may_be_apart, TWO_SWITCHES in fabric.rules.kept, pairs.are_joined,
        )  # fmt: skip

    def expand(self, block: Block) -> None:
        """Offer every candidate of a block that stays below the cutoff."""
        if not self.spines.stacks.may_be(block):
            return
        there = self.fabric.live.in_service
        if there is not None:
            block = block._replace(last=last_leaf_of(there.fabric, there.leaves))
            if not same_hardware(there.fabric, block.parts):
                return
            if there.fabric.clos.last_group is not None:
                self._beside_own_group(block, there)
                return
        differs = self._last_may_differ(block)
        alike = self._sizes(block, self.rules) if self.fabric.runs.may_be_alike else []
        worth = WorthOfLeaves(self.bounds, block, self.cutoff.limit)
        for shape, cost in alike:
            self.sizes_met = True
            if there is not None:
                same = np.flatnonzero(same_groups(there.fabric.clos, shape, self.problem.first_servers))
                shape, cost = shape.take(same), cost[:, same]
            if self.bounds.prune:
                timely = np.flatnonzero(self.in_time.of(block.leaf.item, block.nic, shape))
                shape, cost = shape.take(timely), cost[:, timely]
            if not cost.size:
                continue
            if block.tiers == 1:
                own = self._with_own_runs(block, shape, cost)
                self.cutoff.offer(ClosBatch(self.fabric, block.parts, shape, own))
                continue
            kept = np.flatnonzero(cost[0] <= worth.most(shape.g, shape.k, shape.k))
            if kept.size:
                self._with_uplinks(block, shape.take(kept), cost[:, kept])
        blocks = self._with_last_leaves(block) if differs else []
        if len(blocks) > 1 and not self._last_groups_below_cutoff(blocks, worth)[1].any():
            return
        for own_last in blocks:
            self._with_last_group(own_last, worth)

    def _beside_own_group(self, block: Block, there: InService) -> None:
        """Add uplinks to the groups in service, one of which is unlike the others, and to those that come after it."""
        nic, servers, self.sizes_met = block.nic, self.problem.servers, True
        plain = Shape(servers, nic.ports_per_plane, nic.planes, 1, np.array([servers]), sizes=self.problem.sizes,
                      by_rail=self.by_rail)  # fmt: skip
        for shape in with_own_group(there, plain):
            of_last = np.asarray(self.bounds.reserved(last_endpoints(shape, self.fabric.attached)))
            if of_last.max() <= usable_ports(block.of_last.down, block.of_last.leaf):
                self._with_uplinks(block, shape, self._leaf_cost(block, shape))

    def may_reach(self, block: Block) -> bool:
        """Whether spines may have ports for the leaves of groups of some size; True on one tier."""
        return block.tiers == 1 or self._last_may_differ(block) or bool(alike_that_reach(self.bounds, block))

    def _last_may_differ(self, block: Block) -> bool:
        return self.fabric.last_may_differ_on(block.tiers) and bool(ports_that_reach(self.bounds, block))

    def least_in_layout(self, block: Block) -> Floats:
        """Lower bound of a block's cost with each leaf in the best rack for its group, shape (metrics,).

        Small groups have short links, large ones have cheap leaves.
        """
        bounds, nic = self.bounds, block.nic
        g = group_sizes(self.fabric, self.problem.servers)
        share = bounds.port_share(block, block.tiers, np.minimum(bounds.most.on_leaf, bounds.most.in_groups(g)))
        link = bounds.least_link(nic.port, block.down.port, "server-leaf", block.protocol)
        cost = bounds.of_servers(nic, share + self._near_links(block, g) - link[:, np.newaxis])
        return np.asarray((cost + bounds.saving(block, block.tiers).beside(share)).min(axis=1, initial=np.inf))

    def _with_last_group(self, block: Block, worth: WorthOfLeaves) -> None:
        """Add uplinks to sizes with a differing last group."""
        all_sizes, inside = self._last_groups_below_cutoff([block], worth)
        if inside.any():
            ends = np.cumsum([len(sizes.g) for sizes in all_sizes])[:-1]
            for sizes, of_sizes in zip(all_sizes, np.split(inside, ends), strict=True):
                kept = np.flatnonzero(of_sizes)
                if kept.size:
                    shape, cost = self._shape_with_last_group(block, sizes, self.rules)
                    self._with_uplinks(block, shape.take(kept), cost[:, kept])

    def _last_groups_below_cutoff(
        self, blocks: Sequence[Block], worth: WorthOfLeaves
    ) -> tuple[list[LastGroupSizes], NDArray[np.bool_]]:
        """Sizes with a differing last group, and a mask over all of these in turn of those that may stay below the
        cutoff.

        ``blocks``: as of ``last_group_sizes``; of several, a size is kept if it may with the leaves of any of them.
        """
        all_sizes, least = self._last_group_sizes(tuple(blocks), self.rules)
        self.sizes_met |= bool(all_sizes)
        if self.plain or not all_sizes:
            return [], np.zeros(0, dtype=np.bool_)
        block, shape = blocks[0], least.shape
        of_servers = self.bounds.of_servers(block.nic, self._near_links(block, shape.g))
        of_servers = of_servers + self.bounds.moves.of_leaves(block, shape)
        inside = self.cutoff.within(of_servers + least.with_uplinks)
        alone = (of_servers + least.alone)[0]
        if inside.any():
            inside &= alone <= worth.most(shape.g, shape.k, shape.own_k)
        if block.tiers == 3 and inside.any():
            rows = np.flatnonzero(inside)
            in_pods = least_in_pods(self.bounds, block, shape.take(rows))
            inside[rows] = alone[rows] + in_pods <= self.cutoff.limit
        return all_sizes, inside

    def _with_last_leaves(self, block: Block) -> list[Block]:
        """The block alone, and with every other leaf type that a last group may have."""
        return [block, *(block._replace(last=last) for last in self.bounds.last_leaves(block))]

    @remembered("leaf-spine", "spine-core", "attachment-leaf")
    def _sizes(self, block: Block, rules: Hashable) -> list[tuple[Shape, Floats]]:
        """Sizes of a block and their cost: equal for fabrics with equal ``rules``, in any layout."""
        shapes = self._one_tier(block) if block.tiers == 1 else self._groups(block)
        return [(shape, self._leaf_cost(block, shape)) for shape in shapes]

    @remembered("leaf-spine", "spine-core", "attachment-leaf")
    def _last_group_sizes(
        self, blocks: tuple[Block, ...], rules: Hashable
    ) -> tuple[list[LastGroupSizes], LeastOfLeaves]:
        """Sizes with a differing last group, not sized yet, with the least cost of their leaves."""
        sizes = list(last_group_sizes(self.bounds, blocks))
        return sizes, least_of_leaves(self.bounds, blocks, sizes)

    @remembered("leaf-spine", "spine-core", "attachment-leaf")
    def _shape_with_last_group(self, block: Block, sizes: LastGroupSizes, rules: Hashable) -> tuple[Shape, Floats]:
        shape = Shape(
            self.problem.servers, block.nic.ports_per_plane, block.nic.planes, sizes.k, np.array(sizes.g),
            sizes=self.problem.sizes, by_rail=self.by_rail, own_k=sizes.own_k, own_u=0 * np.array(sizes.g),
        )  # fmt: skip
        return shape, self._leaf_cost(block, shape)

    def _down_ports(self, shape: Shape) -> Ints:
        """Down ports that a leaf must have: most endpoints, attachments and reserve."""
        return np.asarray(self.bounds.reserved(most_endpoints(shape, self.fabric.attached)))

    def _joins_servers(self, block: Block, *k: int) -> bool:
        return bool(self._server_joins(block, *k))

    def _server_joins(self, block: Block, *k: int) -> tuple[Assembly, ...]:
        """Assemblies between servers and leaves that suit every one of these numbers of ports on a leaf."""
        return common([self.bounds.server_joins(block.nic, block.down, ports, block.protocol) for ports in k])

    def _one_tier(self, block: Block) -> Iterator[Shape]:
        servers, nic = self.problem.servers, block.nic
        if servers not in group_sizes(self.fabric, servers):
            return
        for k in ports_on_switch(self.fabric, nic):
            shape = Shape(servers, nic.ports_per_plane, nic.planes, k, np.array([servers]), sizes=self.problem.sizes,
                          by_rail=self.by_rail)  # fmt: skip
            if self._stands_alone(block, shape) and self._joins_servers(block, k):
                yield shape

    def _stands_alone(self, block: Block, shape: Shape) -> bool:
        """Whether the switches of one tier have ports for all endpoints, and the bandwidth left after failures."""
        if int(self._down_ports(shape)[0]) > usable_ports(block.down, block.leaf):
            return False
        if not (
            has_room(self.fabric, block.parts, shape)[0] and may_fit(self.problem, self.fabric, block.parts, shape)[0]
        ):
            return False
        endpoints = classes.LeafEndpoints(classes.endpoints_in_ratio(self.fabric, shape))
        return bool(survives(self.fabric, block.parts, shape, endpoints, self.problem.server.gpus)[0])

    def _groups(self, block: Block) -> Iterator[Shape]:
        """Group sizes, for each number of ports on a leaf that the rails allow."""
        servers, ports = self.problem.servers, block.nic.ports_per_plane
        for k in alike_that_reach(self.bounds, block):
            if not self._joins_servers(block, k):
                continue
            most = min(servers, self.bounds.leaf_ports(block.leaf, block.down, block.uplinks) // k)
            most_groups = self.bounds.most_groups(block.uplinks.port, block.protocol, block.tiers, ports // k)
            g = group_sizes(self.fabric, most)
            # Rule ``rails_are_aligned``
            if not self.fabric.leaf_groups.may_share(k):
                g = g[g >= servers]
            shape = Shape(servers, ports, block.nic.planes, k, g, sizes=self.problem.sizes, by_rail=self.by_rail)
            kept = np.flatnonzero((shape.leaves >= 2) & (shape.groups <= most_groups))
            if kept.size:
                yield shape.take(kept)

    def _leaf_cost(self, block: Block, shape: Shape) -> Floats:
        """Cost of NICs, leaves and server links: exact without attachments, else a bound."""
        costs, nic = self.bounds.costs, block.nic
        joins = self._server_joins(block, *{int(shape.k), int(shape.last_k)})
        need = shape.server_leaf(nic, block.down.lane.ports, block.down.cages, block.of_last.down.cages)
        cost = np.asarray(self._devices_cost(block, shape) + costs.least(joins, need))
        cost[0] += self.bounds.early.of_leaves(Parts(block.protocol, nic, block.leaf, block.down), shape)
        return cost

    def _devices_cost(self, block: Block, shape: Shape) -> Floats:
        """Cost of NICs and leaves, and of what moves for them, shape (metrics, rows)."""
        costs, nic = self.bounds.costs, block.nic
        nics = np.multiply.outer(
            costs.of(nic.item), np.full(np.size(shape.g), self.problem.servers * nic.nics_per_server)
        )
        leaves = np.multiply.outer(costs.of(block.leaf.item), np.atleast_1d(nic.planes * shape.leaves))
        if block.last is not None:
            own = costs.of(block.last.switch.item) - costs.of(block.leaf.item)
            leaves = leaves + np.multiply.outer(own, nic.planes * shape.last_rails + 0 * shape.g)
        return np.asarray(nics + leaves + self.bounds.moves.of_leaves(block, shape))

    def _with_uplinks(self, block: Block, shape: Shape, base: Floats) -> None:
        """Add uplinks to group sizes, then spines (and cores) to the rows left below the cutoff."""
        if not all(leaves_suffice(self.fabric, block.nic, int(k)) for k in (shape.k, shape.last_k)):
            return
        if not keeps_uplinks(self.fabric, block.nic, block.leaf, block.down, block.uplinks):
            return
        endpoints = np.asarray(classes.endpoints_in_ratio(self.fabric, shape))
        fewest, gpus = self._fewest_uplinks(block, shape, endpoints), self.problem.server.gpus
        most = uplinks_that_fit(block.leaf, block.down, block.uplinks, self._down_ports(shape))
        if shape.has_own_last:
            shape = replace(shape, own_u=self._fewest_of_last(block, shape))
        moving = None
        if self.bounds.moves.may_move:  # more uplinks than the fewest may move less of what is in service
            moving = replace(shape, u=np.maximum(fewest, most), own_u=shape.own_u + shape.has_own_last * _ANY)
        above = self._above(block, replace(shape, u=fewest), moving)
        # to place leaves takes a while
        base = self._with_near_leaves(block, shape, base)
        open_ = np.flatnonzero((fewest <= most) & self.cutoff.within(base + above))
        if not open_.size:
            return
        base[:, open_] = self._with_own_runs(block, shape.take(open_), base[:, open_])
        open_ = open_[self.cutoff.within((base + above)[:, open_])]
        if not open_.size:
            return
        rows, u = ranges(fewest[open_], fewest[open_] if self.plain else most[open_])
        rows = open_[rows]
        wide = replace(shape.take(rows), u=u)
        # for a differing last group it is known once its uplinks are
        roomy = np.ones(rows.size, bool) if shape.has_own_last else has_room(self.fabric, block.parts, wide)
        if self.fabric.resilience:
            others = replace(wide, own_k=0, own_u=0)
            roomy &= may_survive(self.fabric, block.parts, others, classes.LeafEndpoints(endpoints[rows]), gpus)
        rows, wide = rows[roomy], wide.take(np.flatnonzero(roomy))
        bound = base[:, rows] + self._above(block, wide)
        most_cost = step_deadline.uplinks_may_cost(self.fabric, block.parts, wide, gpus)
        worth = np.flatnonzero(bound[0] <= most_cost)
        for some in chunks(worth[np.argsort(bound[0, worth], kind="stable")], _CHUNK[block.tiers]):
            kept = some[self.cutoff.within(bound[:, some])]
            if kept.size:
                self.spines.expand(block, wide.take(kept), base[:, rows[kept]], bound[0, kept], most_cost[kept])

    def _above(self, block: Block, shape: Shape, moving: Shape | None = None) -> Floats:
        """Lower bound of the uplinks' cost with all tiers above, shape (metrics, rows). ``moving``: the sizes by which
        uplinks move, where these are others.
        """
        upward = self.bounds.above(block.uplinks.port, block.protocol, block.tiers)
        above = np.asarray(np.multiply.outer(upward, block.nic.planes * shape.uplinks))
        spines = fewest_of_all_spines(self.bounds, block)
        whole = least_with_spines(self.bounds, block, block.nic.planes * shape.uplinks, spines)
        above[0] = np.maximum(above[0], whole)
        if block.tiers == 3:
            above[0] = np.maximum(above[0], least_in_pods(self.bounds, block, shape))
        above += self.bounds.moves.of_uplinks(block, shape if moving is None else moving)
        if not self.bounds.early.stages:
            return above
        above[0] += self.bounds.early.of_uplink(block) @ self.bounds.early.uplinks(block.parts, shape)
        return above

    def _fewest_uplinks(self, block: Block, shape: Shape, endpoints: Number) -> Ints:
        """Fewest uplinks of a leaf, of a differing last group left out, shape (rows,)."""
        fabric, parts, gpus = self.fabric, block.parts, self.problem.server.gpus
        plain = classes.plain_endpoints(fabric, endpoints)
        fewest = self.bounds.leaf_uplinks(plain, block.down, block.uplinks)
        fewest = np.maximum(fewest, leaf_uplinks(fabric, parts, shape, endpoints, gpus))
        fewest = np.maximum(fewest, step_deadline.leaf_uplinks(fabric, parts, shape, endpoints, gpus))
        fewest = np.maximum(fewest, classes.leaf_uplinks(fabric, parts, shape))
        return np.maximum(fewest, fewest_spines(fabric, shape.planes))

    def _fewest_of_last(self, block: Block, shape: Shape) -> Ints:
        """Fewest uplinks of a leaf of a differing last group, shape (rows,)."""
        fabric, parts, gpus = self.fabric, block.parts, self.problem.server.gpus
        endpoints = classes.endpoints_in_ratio(fabric, shape, of_last=True)
        plain = classes.plain_endpoints(fabric, endpoints)
        fewest = self.bounds.leaf_uplinks(plain, block.down, block.uplinks)
        fewest = np.maximum(fewest, step_deadline.leaf_uplinks(fabric, parts, shape, endpoints, gpus))
        fewest = np.maximum(fewest, uplinks_of_last(fabric, parts, shape, gpus, endpoints))
        return np.maximum(fewest, classes.leaf_uplinks(fabric, parts, shape, of_last=True))

    def _with_own_runs(self, block: Block, shape: Shape, base: Floats) -> Floats:
        """``base`` raised to the cost of servers' links over their own runs, shape (metrics, rows)."""

        def least(runs: FloorBounds) -> Floats:
            size = leaf_size(self.problem, self.fabric, block.nic, block.leaf, block.uses, block.protocol)
            ends = block.nic.port, block.down.port, block.protocol, "server-leaf"
            links = LinkRows(ends, block.nic, shape, (size,))
            count = self.problem.servers * block.nic.ports_per_server
            return np.asarray(self._devices_cost(block, shape) + runs.server_links(links) * count)

        return self.bounds.runs.raised(base, least)

    def _with_near_leaves(self, block: Block, shape: Shape, base: Floats) -> Floats:
        """A copy of ``base`` raised to the least cost of servers' links before any leaf is placed, shape (metrics,
        rows).
        """
        link = self._near_links(block, np.atleast_1d(shape.g))
        count = self.problem.servers * block.nic.ports_per_server
        return np.maximum(base, self._devices_cost(block, shape) + link * count)

    def _near_links(self, block: Block, g: Ints) -> Floats:
        """Least cost of a server's link in groups of ``g``, shape (metrics, sizes)."""
        ends = block.nic.port, block.down.port, block.protocol, "server-leaf"
        link = self.bounds.least_link(*ends[:2], ends[3], ends[2])
        alone = np.repeat(link[:, np.newaxis], g.size, axis=1)
        return self.bounds.runs.raised(alone, lambda runs: runs.near_server_links(ends, g))
