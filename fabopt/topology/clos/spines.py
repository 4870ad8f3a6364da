"""Expanding leaves with uplinks: spines, pods, then the spines' uplinks and the cores, all below the cutoff."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import methodcaller

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.switches import CageUse
from fabopt.rules.defaults import TWO_CORES
from fabopt.topology.clos import step_deadline
from fabopt.topology.clos.blocks import Block, SpineRows, Stack
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.candidates import ClosBatch
from fabopt.topology.clos.classes import busiest_leaves
from fabopt.topology.clos.failures import survives
from fabopt.topology.clos.figure_demands import has_room, spine_uplinks
from fabopt.topology.clos.free_ports import may_fit
from fabopt.topology.clos.in_service import keeps_cores, keeps_pairs, pods_in_service
from fabopt.topology.clos.own_last_groups import last_up_limit, with_last_uplinks
from fabopt.topology.clos.pod_costs import CoreCosts, SpineReach, core_costs, farthest_reach
from fabopt.topology.clos.redundancy import enough_cores, fewest_spines
from fabopt.topology.clos.run_bounds import LinkRows
from fabopt.topology.clos.shape import (
    Ints,
    Parts,
    Shape,
    divisors,
    down_cage_limit,
    most_endpoints,
    ranges,
    up_cage_limit,
    uplinks_that_fit,
    usable_ports,
)
from fabopt.topology.clos.share_costs import fewest_pods, least_with_spines
from fabopt.topology.clos.stacks import Stacks
from fabopt.topology.clos.switch_sizes import leaf_size, size_in_tier
from fabopt.topology.family import Cutoff
from fabopt.topology.link_parts import Floats
from fabopt.topology.spans import pod_sizes
from fabopt.units import Number, ceil_of


class Spines:
    """The ways to put spines (and cores) above sized leaves that stay below a cutoff; ``plain``: see ``Leaves``.

    ``base``: cost of the tiers sized so far, shape (metrics, size): exact, attachments' own parts left out.
    """

    def __init__(self, bounds: Bounds, cutoff: Cutoff, plain: bool) -> None:
        self.bounds = bounds
        self.costs = bounds.costs
        self.fabric = bounds.fabric
        self.cutoff = cutoff
        self.plain = plain
        self.stacks = Stacks(bounds, cutoff)

    def expand(self, block: Block, shape: Shape, base: Floats, least: Floats, most: Floats) -> None:
        """Offer networks with these leaves; ``least``: their lower bound, ``most``: the cost above which their step is
        not worth it; both of shape (size,).
        """
        rows, spines = self._spine_counts(shape)
        tried, pods = SpineRows(rows, spines, most[rows]), fewest_pods(self.fabric, block)
        rows, spines, most = tried.take(self._worth_their_spines(block, shape, tried, base, pods))
        wide, gpus = replace(shape.take(rows), spines=spines), self.bounds.problem.server.gpus
        if step_deadline.loses_spine(self.fabric):
            most = step_deadline.leaves_may_cost(self.fabric, block.parts, wide, gpus)
            rows, spines, most = SpineRows(rows, spines, most).take(least[rows] <= most)
            wide = replace(shape.take(rows), spines=spines)
        if not rows.size:
            return
        if shape.has_own_last:
            kept, shape = with_last_uplinks(self.bounds, block, wide)
            base, rows, spines = base[:, rows[kept]], np.arange(kept.size), np.asarray(shape.spines)
            most = step_deadline.leaves_may_cost(self.fabric, block.parts, shape, gpus, with_last=True)
        if block.tiers == 2:
            wide = replace(shape.take(rows), spines=spines, groups_per_pod=shape.groups[rows])
            self._two_tiers(block, wide, base[:, rows], most)
            return
        # in pods of one rail every group has a leaf of each
        for rail_pods in (False, True) if 1 < shape.rails == shape.last_rails else (False,):
            self._three_tiers(block, shape, SpineRows(rows, spines, most), rail_pods, base)

    def _spine_counts(self, shape: Shape) -> tuple[Ints, Ints]:
        """Row and number of spines, for every number over which the uplinks can be spread."""
        if self.plain and self.fabric.live.joined is None:
            return np.arange(shape.u.size), shape.u
        uplinks, fewest = shape.u.tolist(), fewest_spines(self.fabric, shape.planes)
        # Rules ``striping_is_even``, ``last_group_may_differ``
        is_even = self.fabric.leaf_groups.is_even or shape.has_own_last
        counts = {u: divisors(u) if is_even else range(1, u + 1) for u in set(uplinks)}
        kept = {u: [n for n in all_ if n >= fewest and keeps_pairs(self.fabric, u, n)] for u, all_ in counts.items()}
        rows = [row for row, u in enumerate(uplinks) for _ in kept[u]]
        spines = [count for u in uplinks for count in kept[u]]
        return np.array(rows, dtype=np.int64), np.array(spines, dtype=np.int64)

    def leaf_up_limit(self, stack: Stack, shape: Shape) -> Number:
        """Cages of a leaf left for uplinks."""
        down_ports = self.bounds.reserved(most_endpoints(shape, self.fabric.attached))
        return up_cage_limit(stack.block.down, stack.block.uplinks, down_ports)

    # -- two tiers --------------------------------------------------------------------------------------------

    def _two_tiers(self, block: Block, shape: Shape, base: Floats, most_cost: Floats) -> None:
        down = shape.spine_down
        for stack, _ in self.stacks.above(block, shape, base):
            spine, parts = stack.spine, stack.parts()
            fits = (down <= usable_ports(spine.down, spine.switch)) & (shape.u >= shape.spines)
            cost = base + np.multiply.outer(self.costs.of(spine.switch.item), stack.planes * shape.spines)
            bound = cost + np.multiply.outer(stack.least, stack.planes * shape.uplinks)
            kept = np.flatnonzero(fits & (bound[0] <= most_cost) & self.cutoff.within(bound))
            if kept.size:
                kept = kept[self._meets_demands(parts, shape.take(kept))]
            if kept.size:
                bound[:, kept] = self._with_early(stack, shape.take(kept), bound[:, kept])
                kept = kept[self.cutoff.within(bound[:, kept])]
            if not kept.size:
                continue
            for rows in self._in_turn(stack, shape, bound, kept, cost):
                some = shape.take(rows)
                uplinks = self._uplink_cost(stack, some, spine.down.cages)
                total = self._with_early(stack, some, cost[:, rows] + uplinks)
                self.cutoff.offer(ClosBatch(self.fabric, parts, some, total))

    def _meets_demands(self, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
        """Rows of two tiers that survive failures and may have the free ports and headroom, shape (rows,)."""
        fits = self.survives(parts, shape) & may_fit(self.bounds.problem, self.fabric, parts, shape)
        return fits & has_room(self.fabric, parts, shape) if shape.has_own_last else fits

    def _with_early(self, stack: Stack, shape: Shape, cost: Floats) -> Floats:
        """Add the lower bounds of spines that stages before the last install, and of what moves for spines."""
        cost += self.bounds.moves.of_spines(stack.parts(), shape)
        cost[0] += self.bounds.early.of_spines(stack.parts(), shape)
        return cost

    def survives(self, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
        """Rows that have the bandwidth left after failures that the case asks for, shape (rows,)."""
        endpoints = busiest_leaves(self.fabric, shape)
        return survives(self.fabric, parts, shape, endpoints, self.bounds.problem.server.gpus)

    def _uplink_cost(self, stack: Stack, shape: Shape, spine_cages: Number) -> Floats:
        """Lower bound of the leaves' uplinks, shape (metrics, rows)."""
        need = shape.leaf_spine(
            stack.block.uplinks.lane.ports,
            self.leaf_up_limit(stack, shape),
            stack.spine.down.lane.ports,
            spine_cages,
            last_up_limit(self.bounds, stack.block, shape),
        )
        links = stack.planes * shape.uplinks
        alone, own = self.costs.least(stack.joins, need), self._link_rows(stack, shape)
        return self.bounds.runs.raised(alone, lambda runs: runs.uplinks(own) * links)

    def _pod_uplink_cost(self, stack: Stack, shape: Shape) -> Floats:
        """Lower bound of the uplinks before spines are placed, shape (metrics, rows)."""
        links, rows = stack.planes * shape.uplinks, self._link_rows(stack, shape)
        least = np.multiply.outer(stack.least, links)
        return self.bounds.runs.raised(least, lambda runs: runs.pod_uplinks(rows) * links)

    def _in_turn(self, stack: Stack, shape: Shape, bound: Floats, rows: Ints, beside: Floats) -> Iterator[Ints]:
        """Rows in the parts in which they are to be sized, if they are below the cutoff with spines where they are best
        for the leaves of their pods.

        ``beside``: lower bound of all other costs, shape (metrics, all rows).
        """
        for some in self.bounds.runs.in_turn(bound, rows, self.cutoff.within):
            if self.bounds.runs.differ:
                near = self._pod_uplink_cost(stack, shape.take(some))
                some = some[self.cutoff.within(beside[:, some] + near)]
            if some.size:
                yield some

    def _link_rows(self, stack: Stack, shape: Shape, core: CageUse | None = None) -> LinkRows:
        """Links of leaves to spines for every row of a shape, or of spines to a ``core``."""
        block, spine, problem = stack.block, stack.spine, self.bounds.problem
        uses = (spine.down,) if spine.up is None else (spine.down, spine.up)
        sizes = (
            leaf_size(problem, self.bounds.fabric, block.nic, block.leaf, block.uses, block.protocol),
            size_in_tier(problem, self.bounds.fabric, 1, spine.switch, uses, block.protocol),
        )
        joined = (block.uplinks, spine.down, "leaf-spine") if core is None else (stack.spine_up, core, "spine-core")
        return LinkRows((joined[0].port, joined[1].port, block.protocol, joined[2]), block.nic, shape, sizes)

    def _core_costs(self, stack: Stack) -> CoreCosts:
        """The least costs of a spine's uplink to each of its cores."""
        return core_costs(self.bounds, stack.cores, stack.spine_up.port, stack.block.protocol)

    def _core_links(self, stack: Stack, shape: Shape) -> Floats:
        """Least cost of a spine's uplink to each of its cores, shape (cores, metrics, rows or 1)."""
        links = self._core_costs(stack).links
        if not self.bounds.runs.differ:
            return links
        of_rows = np.broadcast_to(links, (*links.shape[:2], shape.pods.size)).copy()
        for of_core, (_, use, _) in zip(of_rows, stack.cores, strict=True):
            own = self._link_rows(stack, shape, use)
            of_core[:] = self.bounds.runs.raised(of_core, methodcaller("core_links", own))
        return of_rows

    def _worth_their_spines(
        self, block: Block, shape: Shape, tried: SpineRows, base: Floats, pods: Number
    ) -> NDArray[np.bool_]:
        """Rows that may be worth the cost of their spines, all whole, in at least ``pods`` pods; shape (rows,)."""
        links = np.broadcast_to(block.nic.planes * shape.uplinks, np.shape(shape.g))[tried.rows]
        above = least_with_spines(self.bounds, block, links, block.nic.planes * pods * tried.spines)
        return np.asarray(base[0, tried.rows] + above <= np.minimum(tried.most, self.cutoff.limit))

    # -- three tiers ------------------------------------------------------------------------------------------

    def _three_tiers(self, block: Block, shape: Shape, tried: SpineRows, rail_pods: bool, base: Floats) -> None:
        rails = int(shape.rails) if rail_pods else 0
        reach = farthest_reach(self.bounds, block.uplinks.lane.port_mbps, block.protocol)
        fewest, most = self._groups_per_pod(shape, tried.rows, tried.spines, reach, rail_pods)
        pods = ceil_of(shape.groups[tried.rows], np.maximum(most, 1)) * max(1, rails)
        pods = np.maximum(pods, fewest_pods(self.fabric, block, rails))
        worth = (fewest <= most) & self._worth_their_spines(block, shape, tried, base, pods)
        if not worth.any():
            return
        tried, pods = tried.take(worth), pods[worth]
        used, places = np.unique(tried.rows, return_inverse=True)
        shape, base, tried = shape.take(used), base[:, used], tried._replace(rows=places)
        links, spines = (block.nic.planes * shape.uplinks)[places], block.nic.planes * pods * tried.spines
        alone = base[0, places]
        for stack, bound in self.stacks.above(block, shape, base):
            of_spine = float(self.costs.of(stack.spine.switch.item)[0] + stack.upward[0])
            whole = alone + float(stack.least[0]) * links + of_spine * spines
            open_ = np.isfinite(bound[tried.rows]) & (np.maximum(whole, bound[tried.rows]) <= tried.most)
            open_ &= whole <= self.cutoff.limit
            if not open_.any():
                continue
            pod_rows, wide, most_cost = self._pods(stack, shape, tried.take(open_), rail_pods)
            if pod_rows.size:
                self._sized_pods(stack, wide, base[:, pod_rows], most_cost)

    def _pods(self, stack: Stack, shape: Shape, tried: SpineRows, rail_pods: bool) -> tuple[Ints, Shape, Floats]:
        """Every pod size whose leaves fit on the spines, as (row of ``shape``, expanded shape, its most cost)."""
        rows, spines, most_cost = tried
        ports = self.bounds.spine_ports(stack.spine)
        pods = self.bounds.most_pods(stack.spine, stack.block.protocol)
        least, most = self._groups_per_pod(shape, rows, spines, SpineReach(ports, pods), rail_pods)
        if self.plain:
            least = np.maximum(least, most)
        index, per_pod = ranges(least, most)
        from_rows = rows[index]
        wide = replace(shape.take(from_rows), spines=spines[index], groups_per_pod=per_pod, rail_pods=int(rail_pods))
        return from_rows, wide, most_cost[index]

    def _groups_per_pod(
        self, shape: Shape, rows: Ints, spines: Ints, reach: SpineReach, rail_pods: bool
    ) -> tuple[Ints, Ints]:
        """The fewest and the most groups of a pod that spines and cores can reach, each of shape (rows,)."""
        pods_of_a_rail = reach.pods // int(shape.rails) if rail_pods else reach.pods
        leaves = 1 if rail_pods else int(shape.rails)
        groups = shape.groups[rows]
        # ceil(T * leaves * u / S) <= ports (or T * ceil(leaves * u / S)), so T is at most this:
        uplinks = leaves * shape.u[rows]
        most = reach.ports // ceil_of(uplinks, spines) if shape.by_rail else reach.ports * spines // uplinks
        if (
            shape.has_own_last and rail_pods
        ):  # the last group's leaf, beside all others, may need fewer of a spine's ports
            most = np.where(most == groups - 1, groups, most)
        most = np.minimum(most, groups)
        # rails meet in the cores: one pod a rail is enough there, two pods are needed otherwise, or one beside others
        if not (rail_pods and shape.rails >= 2):
            most = np.minimum(most, groups + 1 - self.fabric.fewest_pods)
        # a core has a link to every pod, so T is at least this (and past all groups where it has none to spare):
        least = ceil_of(groups, pods_of_a_rail) if pods_of_a_rail else groups + 1
        return pods_in_service(self.fabric, rail_pods, leaves, *pod_sizes(self.fabric, shape.g[rows], least, most))

    def _sized_pods(self, stack: Stack, shape: Shape, base: Floats, most_cost: Floats) -> None:
        """Add the spine tier, and then cores to rows below the cutoff and their ``most_cost``."""
        spine, up = stack.spine, stack.spine_up
        stack = stack._replace(cores=self.stacks.cores(stack.block, spine))
        fewest = self._fewest_uplinks(stack, shape)
        most = uplinks_that_fit(spine.switch, spine.down, up, shape.spine_down)
        num_spines, links = stack.planes * shape.pods * shape.spines, stack.planes * shape.uplinks
        switches = np.multiply.outer(self.costs.of(spine.switch.item), num_spines)
        upward = self._core_costs(stack).least_at(shape.pods) * (num_spines * fewest)
        bound = base + switches + np.multiply.outer(stack.least, links) + upward
        early_cores = self.bounds.early.of_any_cores(stack.parts(), shape, stack.cores)
        bound = self._with_early(stack, shape, bound)
        bound[0] += early_cores
        widest = self.bounds.most_pods(spine, stack.block.protocol)
        fits = (fewest <= most) & (shape.pods <= widest) & (bound[0] <= most_cost)
        fits &= shape.pods >= self.fabric.fewest_pods
        fits &= has_room(self.fabric, stack.parts(), shape)  # for a differing last group it is known only here
        kept = np.flatnonzero(fits & self.cutoff.within(bound))
        if not kept.size:
            return
        beside = base + switches + upward
        for rows in self._in_turn(stack, shape, bound, kept, beside):
            some = shape.take(rows)
            uplinks = self._uplink_cost(stack, some, down_cage_limit(spine.down, up, fewest[rows]))
            cost = self._with_early(stack, some, base[:, rows] + switches[:, rows] + uplinks)
            with_cores = cost + upward[:, rows]
            with_cores[0] += early_cores[rows]
            inside = np.flatnonzero(self.cutoff.within(with_cores))
            # more uplinks of spines never slow a step
            at_best = self._pods_may_cost(stack, replace(some, x=most[rows]).take(inside))
            inside = inside[with_cores[0, inside] <= at_best]
            if inside.size:
                left = rows[inside]
                self._with_cores(stack, shape.take(left), cost[:, inside], fewest[left], most[left])

    def _fewest_uplinks(self, stack: Stack, shape: Shape) -> Ints:
        """Fewest uplinks of a spine, shape (rows,)."""
        fabric, parts, gpus = self.fabric, stack.parts(), self.bounds.problem.server.gpus
        endpoints = busiest_leaves(fabric, shape)
        fewest = self.bounds.spine_uplinks(shape.spine_down, stack.spine.down, stack.spine_up)
        fewest = np.maximum(fewest, spine_uplinks(fabric, parts, shape, endpoints, gpus))
        return np.maximum(fewest, step_deadline.spine_uplinks(fabric, parts, shape, endpoints.most, gpus))

    def _pods_may_cost(self, stack: Stack, shape: Shape) -> Floats:
        """Most cost of each row at which its step is worth it, whatever cores are above it, shape (rows,)."""
        return step_deadline.pods_may_cost(self.fabric, stack.parts(), shape, self.bounds.problem.server.gpus)

    def _with_cores(self, stack: Stack, shape: Shape, base: Floats, fewest: Ints, most: Ints) -> None:
        """Every number of spine uplinks, core switch and way to join them that stays below the cutoff."""
        num_spines = stack.planes * shape.pods * shape.spines
        links, x = self._core_links(stack, shape), fewest.copy()
        of_cores = links + self._core_costs(stack).shares_at(shape.pods)
        upward = of_cores.min(axis=0, initial=np.inf)
        early = self.bounds.early.of_any_cores(stack.parts(), shape, stack.cores)
        rows = np.arange(x.size)
        while rows.size:
            cost = base[:, rows] + upward[:, rows] * (num_spines[rows] * x)
            cost[0] += early[rows]
            inside = self.cutoff.within(cost) & (x <= most[rows])
            rows, x = rows[inside], x[inside]
            if not rows.size:
                return
            sized = replace(shape.take(rows), x=x)
            timely = np.flatnonzero(cost[0, inside] <= self._pods_may_cost(stack, sized))
            some, spine_links = rows[timely], (num_spines[rows] * x)[timely]
            bounds = base[:, some] + of_cores[:, :, some] * spine_links
            bounds[:, 0] += early[some]
            for place in np.flatnonzero((bounds[:, 0] <= self.cutoff.limit).any(axis=1)).tolist():
                of_links = (links[place][:, some] if links.shape[2] > 1 else links[place]) * spine_links
                self._join_cores(stack, place, sized.take(timely), base[:, some], bounds[place], of_links)
            if self.plain:
                return
            x = x + 1

    def _join_cores(
        self, stack: Stack, place: int, shape: Shape, base: Floats, bound: Floats, least_links: Floats
    ) -> None:
        """Offer networks with the core type at a place. ``bound``, ``least_links``: least cost, (metrics, rows)."""
        spine, up, (core, use, _) = stack.spine, stack.spine_up, stack.cores[place]
        open_ = np.flatnonzero(self.cutoff.within(bound))
        if not open_.size:
            return
        rows, wide = self._core_groups(shape, open_, usable_ports(use, core))
        if rows.size and (self.fabric.resilience or self.fabric.on_free_ports or TWO_CORES in self.fabric.rules.kept):
            kept = enough_cores(self.fabric, wide) & self.survives(stack.parts(core, use), wide)
            kept &= may_fit(self.bounds.problem, self.fabric, stack.parts(core, use), wide)
            rows, wide = rows[kept], wide.take(kept)
        joins = self.bounds.joins(up.port, use.port, "spine-core", stack.block.protocol) if rows.size else ()
        if not joins:
            return
        switches = np.multiply.outer(self.costs.of(core.item), stack.planes * wide.cores)
        switches += self.bounds.moves.of_cores(stack.parts(core, use), wide)
        need = wide.spine_core(up.lane.ports, up_cage_limit(spine.down, up, wide.spine_down), use.lane.ports, use.cages)
        links = self.bounds.runs.raised(self.costs.least(joins, need), lambda runs: least_links[:, rows])
        cost, parts = base[:, rows] + switches + links, stack.parts(core, use)
        cost[0] += self.bounds.early.of_cores(parts, wide)
        self.cutoff.offer(ClosBatch(self.fabric, parts, wide, cost))

    def _core_groups(self, shape: Shape, open_: Ints, core_ports: int) -> tuple[Ints, Shape]:
        """Every (q, m2) with q a divisor of S, m2 of x, and pods x q x m2 core ports at most.

        Rule ``cores_join_pods``: a core has links to all pods.
        """
        rows, qs, m2s = list[int](), list[int](), list[int]()
        for row in open_.tolist():
            spines, x, room = int(shape.spines[row]), int(shape.x[row]), core_ports // int(shape.pods[row])
            room = min(room, 1) if self.plain and self.fabric.live.joined is None else room
            for m2 in divisors(x):
                if m2 > room:
                    break
                for q in divisors(spines):
                    if q * m2 > room:
                        break
                    if keeps_cores(self.fabric, spines // q, x // m2):
                        rows.append(row)
                        qs.append(q)
                        m2s.append(m2)
        index = np.array(rows, dtype=np.int64)
        return index, replace(shape.take(index), q=np.array(qs), m2=np.array(m2s))
