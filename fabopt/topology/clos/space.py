"""The Clos candidates of a fabric whose least cost is below a cutoff, found without building the others.

The cost of a Clos separates by tier, so a block (NIC, leaf switch, use of its cages) is bounded from below before any
of its sizes is looked at, a size before any spine, a spine before any core. Blocks are expanded in the order of their
bound; the cutoff falls to the least cost met. Candidates that are cut cost more than the cutoff by their bound, so that
the caller can prove that nothing cheaper was left out. See docs/formulation/search.md.

The folded Clos, and rail-only networks of them, as families.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.vendors import tiers_that_do, vendors_that_do
from fabopt.topology.clos.between_halls import may_join_halls
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.candidates import on_each_tier
from fabopt.topology.clos.in_service import goes_on
from fabopt.topology.clos.leaves import Leaves
from fabopt.topology.clos.most_servers import most_servers_of
from fabopt.topology.clos.moves import may_keep
from fabopt.topology.clos.redundancy import ports_on_switch
from fabopt.topology.clos.shape import usable_ports
from fabopt.topology.clos.share_costs import fewest_of_all_spines, least_with_spines
from fabopt.topology.clos.step_deadline import in_time
from fabopt.topology.clos.stripes import figures_are_met
from fabopt.topology.family import ANYTHING, AnyBatch, Cutoff, Restriction, Sizing, SpaceRequest, Spaces
from fabopt.topology.link_parts import Floats
from fabopt.topology.spans import pods_together
from fabopt.units import ceil_of


class _Bounded(NamedTuple):
    """A block and a lower bound of everything made of it."""

    bound: float
    block: Block


class _Queued(NamedTuple):
    """A block in the queue. ``level``: tiers that its bound counts; ``next``: iterator over the blocks of its NIC.

    ``number`` orders blocks of equal bound and level. ``leaves``: the part of the space that it is expanded in, once
    its bound is that part's.
    """

    bound: float
    level: int
    number: int
    block: Block
    next: Iterator[_Bounded]
    leaves: Leaves | None = None

    @property
    def has_uplinks_only(self) -> bool:
        """Whether the block differs from its parent only by the use of cages for uplinks."""
        return self.level == 1 and self.block.up is not None


class ClosSpace:
    """The Clos candidates of one fabric of a problem.

    ``costs`` weighs items by metric: row 0 is the objective, the others those that ``caps`` limits, shape (metrics,).
    ``parts``: the same fabric in its spans, no run of which is shorter; empty: the fabric itself.
    """

    def __init__(
        self,
        problem: Problem,
        fabric: FabricProblem,
        costs: BoundedCosts,
        caps: Floats,
        restriction: Restriction = ANYTHING,
        prune: bool = True,
        should_stop: Callable[[int], bool] = lambda work: False,
        parts: Sequence[FabricProblem] = (),
    ) -> None:
        self.problem = problem
        self.fabric = fabric
        self.caps = caps
        self.restriction = restriction
        self.prune = prune
        self.should_stop = should_stop
        self.bounds = costs.bounds(problem, fabric, prune)
        self.parts = [costs.bounds(problem, part, prune) for part in parts] or [self.bounds]
        # what the least uplinks cost, by all that it follows from: blocks by the hundred have it in common
        self._uplinks: dict[tuple[PortType, str, int, int, int], float] = {}

    def search(self, slack: float = 0.0, sizing: Sizing | None = None, ties: bool = True) -> Sizing:
        """Every candidate that costs at most the least cost met plus ``slack``; ``sizing``: of other spaces, added to.

        Without ``ties`` the search ends once no candidate can cost less than the least met.
        """
        cutoff = Cutoff(self.caps, slack, self.prune, sizing, self._admits, self.should_stop)
        if self.fabric.runs.span is None or self.lowest_bound <= cutoff.limit:
            leaves = [Leaves(bounds, cutoff, False) for bounds in self.parts]
            self._expand_all(cutoff, leaves, ties=ties)
        return cutoff.close()

    @property
    def lowest_bound(self) -> float:
        """Lower bound of every candidate's objective; infinite if there is none."""
        return min(map(self.bounds.lowest, self.fabric.protocols), default=np.inf)

    def any_candidate(self) -> Sizing:
        """Some candidate: first among those with the fewest links, then among all."""
        for plain in (True, False):
            cutoff = Cutoff(self.caps, 0.0, self.prune, None, self._admits, self.should_stop)
            parts = [Leaves(bounds, cutoff, plain) for bounds in self.parts]
            self._expand_all(cutoff, parts, first=True)
            if cutoff.sizing.batches or cutoff.sizing.stopped or not any(leaves.sizes_met for leaves in parts):
                break
        return cutoff.close()

    @property
    def _admits(self) -> Callable[[AnyBatch], NDArray[np.bool_]] | None:
        """Mask over a batch of candidates that keep the vendor rules, are fast enough and have their figures; None
        where sizes alone tell.
        """
        fabric, gpus = self.fabric, self.problem.server.gpus
        of_vendors = vendors_that_do(self.problem, fabric) if self.prune else None
        timed = fabric.figure_demands is not None and fabric.figure_demands.deadline is not None
        striped = not fabric.leaf_groups.is_even and bool(fabric.figure_demands or fabric.resilience)
        there, servers = fabric.live.in_service, self.problem.first_servers
        moving, base = fabric.live.moving, self.problem.case.base
        in_halls = fabric.ratios.hall is not None
        if not timed and not striped and of_vendors is None and there is None and moving is None and not in_halls:
            return None

        def admits(batch: AnyBatch) -> NDArray[np.bool_]:
            if of_vendors is not None and not of_vendors(batch.parts.vendors):
                return np.zeros(len(batch), dtype=np.bool_)
            stays = True if there is None else goes_on(there.fabric, batch.parts, batch.shape, servers)
            if moving is not None and base is not None:
                stays = may_keep(fabric, base, batch.parts, batch.shape)
            stays = stays & may_join_halls(self.problem, fabric, batch.parts, batch.shape)
            return in_time(fabric, batch, gpus) & figures_are_met(fabric, batch, gpus) & stays

        return admits

    def _expand_all(self, cutoff: Cutoff, parts: Sequence[Leaves], first: bool = False, ties: bool = True) -> None:
        """Expand blocks, the lowest bound first, until it is past the cutoff; with ``first``, until a candidate is met.

        ``ties``: as for ``search``.
        """
        numbers = count()
        queue: list[_Queued] = []
        for blocks in self._nics(cutoff):
            _push(queue, blocks, numbers)
        while queue:
            queued = heapq.heappop(queue)
            if queued.bound > cutoff.limit or (first and cutoff.sizing.batches):
                return
            if not ties and queued.bound >= cutoff.sizing.least:
                return
            if not queued.has_uplinks_only and self.should_stop(1):
                cutoff.sizing.stopped = True
                return
            if queued.block.up is None and queued.level == 1:
                _push(queue, queued.next, numbers)
            # blocks past the cutoff are not queued, since it only falls
            limit = cutoff.limit
            for level, tighter, block, leaves in self._finer(queued, parts):
                if cutoff.possible(tighter) and tighter[0] <= min(limit, self._most_worth(block)):
                    later = max(queued.bound, float(tighter[0]))
                    heapq.heappush(queue, _Queued(later, level, next(numbers), block, queued.next, leaves))

    def _finer(self, queued: _Queued, parts: Sequence[Leaves]) -> Iterator[tuple[int, Floats, Block, Leaves | None]]:
        """Parts of a block, each with its level and bound, by its uplinks and then by spans; none once it is expanded.

        At every step after the first, the bound counts a tier more, and in a layout of a floor the servers' runs by
        group size.
        """
        block, level = queued.block, queued.level
        if queued.bound > self._most_worth(block):
            return
        has_uplinks = block.tiers == 1 or block.up is not None
        if parts[0].plain or level == block.tiers == 1 or queued.leaves is not None:
            for leaves in parts if queued.leaves is None else [queued.leaves]:
                for finer in [block] if has_uplinks else self._blocks_with_uplinks(block):
                    leaves.expand(finer)
        elif not has_uplinks:
            yield from ((1, *finer, None) for finer in self._with_uplinks(queued, parts[0]))
        elif level < block.tiers:
            yield level + 1, self._tighter(block, level, queued.bound), block, None
        elif len(parts) == 1 and not self.bounds.runs.differ:
            parts[0].expand(block)
        elif len(parts) == 1:
            yield level + 1, parts[0].least_in_layout(block), block, parts[0]
        else:
            yield from ((level + 1, leaves.bounds.of_block(block, level), block, leaves) for leaves in parts)

    def _blocks_with_uplinks(self, block: Block) -> list[Block]:
        return [block._replace(up=up) for up in self.bounds.up_uses(block.leaf, block.down, block.protocol)]

    def _with_uplinks(self, queued: _Queued, leaves: Leaves) -> Iterator[tuple[Floats, Block]]:
        """A block with each use of its leaves' cages for uplinks, and a lower bound of its cost."""
        limit = leaves.cutoff.limit
        for finer in self._blocks_with_uplinks(queued.block):
            least = queued.bound + self._least_uplinks(finer, limit - queued.bound)
            least += self.bounds.early.of_uplinks(finer)
            if not least > limit and leaves.may_reach(finer):
                yield np.array([least, *self.caps[1:]]), finer

    def _most_worth(self, block: Block) -> float:
        """Most cost at which a network with the NICs of a block is worth its step, at the best bandwidth."""
        demands = self.fabric.figure_demands
        if demands is None or demands.deadline is None:
            return np.inf
        reduces = block.leaf.product.reduces
        return demands.deadline.most_cost_at(block.nic.injection, self.problem.gpus, reduces)

    def _least_uplinks(self, block: Block, most: float) -> float:
        """Lower bound of the leaf uplinks that the ratio asks for, with all tiers above; only that for any racks where
        it is above ``most`` already.
        """
        if not self.fabric.runs.may_be_alike:  # there a bound of leaves alone has them already
            return 0.0
        nic = block.nic
        ports_mbps = nic.ports_per_server * nic.port.lane.port_mbps
        key = block.uplinks.port, block.protocol, block.tiers, nic.planes, ports_mbps
        if key not in self._uplinks:
            links = self.bounds.fewest_uplinks(block)
            looks = block.uplinks.port, block.protocol, block.tiers, self.bounds.runs.differ
            in_any_rack = self.bounds.above_each(*looks)[0].min(initial=np.inf)
            if in_any_rack * links > most:
                return float(in_any_rack * links)
            self._uplinks[key] = self._least_of_uplinks(block, links)
        return self._uplinks[key]

    def _least_of_uplinks(self, block: Block, links: float) -> float:
        above = float(self.bounds.above(block.uplinks.port, block.protocol, block.tiers)[0]) * links
        if block.tiers < 3:
            return above
        spines = fewest_of_all_spines(self.bounds, block)
        return max(above, float(least_with_spines(self.bounds, block, links, spines)))

    def _early_leaves(self, block: Block) -> float:
        """Lower bound of the extra cost of NICs, leaves and server links that stages before the last install."""
        return self.bounds.early.of_block(block, self.bounds.most.on_leaf)

    def _tighter(self, block: Block, level: int, bound: float) -> Floats:
        """A bound that counts one more tier of a block; ``bound``: without that tier."""
        tighter = self.bounds.of_block(block, level + 1)
        tighter = tighter + self.bounds.moves.of_block(block)
        early = self._early_leaves(block) + self.bounds.early.of_uplinks(block)
        return np.concatenate([np.maximum(tighter[:1] + early, bound), tighter[1:]])

    def _nics(self, cutoff: Cutoff) -> Iterator[Iterator[_Bounded]]:
        """The blocks of every NIC on every number of tiers."""
        for tiers in tiers_that_do(self.problem, self.fabric) if self.prune else self.fabric.shapes.tiers:
            for protocol in self.fabric.protocols:
                for nic in self.bounds.nics(protocol):
                    if self.restriction.topology in (None, nic.topology) and nic.allows(tiers):
                        yield self._blocks(cutoff, protocol, tiers, nic)

    def _blocks(self, cutoff: Cutoff, protocol: str, tiers: int, nic: NicOption) -> Iterator[_Bounded]:
        """A NIC's blocks, the lowest bound first, uplinks not counted; a lazy iterator."""
        blocks = self._blocks_by_share(cutoff, protocol, tiers, nic)
        # leaves whose share is the least at last may not be at other stages, or beside what moves
        is_rising = not self.bounds.early.stages and not self.bounds.moves.may_move
        yield from blocks if is_rising else sorted(blocks, key=lambda bounded: bounded.bound)

    def _blocks_by_share(self, cutoff: Cutoff, protocol: str, tiers: int, nic: NicOption) -> Iterator[_Bounded]:
        """A NIC's blocks, in the order of their leaves' least share at the last stage."""
        fewest_ports = self._ports_of_one_tier(nic) if tiers == 1 else 1
        for place, (share, leaf, down) in enumerate(self.bounds.lowers(nic.port, protocol)):
            if usable_ports(down, leaf) >= fewest_ports and (tiers > 1 or leaf.stands_alone):
                bounds = self.bounds
                least = bounds.of_leaves(place, nic, protocol) if tiers > 1 else bounds.of_servers(nic, share)
                block = Block(protocol, tiers, nic, leaf, down)
                least = least + bounds.moves.of_block(block)
                if cutoff.possible(least):
                    yield _Bounded(float(least[0]) + self._early_leaves(block), block)

    def _ports_of_one_tier(self, nic: NicOption) -> int:
        """Fewest down ports of the leaf of a one-tier network: for every endpoint of its plane, or half of them."""
        k = min(ports_on_switch(self.fabric, nic), default=nic.ports_per_plane)
        attached = ceil_of(self.fabric.attachment_ports, nic.planes * (nic.ports_per_plane // k))
        return int(self.bounds.reserved(self.problem.servers * k + attached))


def _push(queue: list[_Queued], blocks: Iterator[_Bounded], numbers: Iterator[int]) -> None:
    """Queue the next of a NIC's blocks, if there is one."""
    for bound, block in blocks:
        heapq.heappush(queue, _Queued(bound, 1, next(numbers), block, blocks))
        return


class ClosFamily:
    """One, two or three tiers; every leaf reaches every spine of its pod, every pod every core."""

    name = "clos"

    def space(self, problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
        """The Clos candidates of a fabric, by tiers; of several spans the one with the lowest bound first, and spaces
        with a differing last group after all others.
        """
        part = replace(request.restriction, topology=self.name)
        wanted = request._replace(restriction=part)
        spaces = [
            ClosSpace(problem, variant, *wanted, parts=parts)
            for placed in on_each_tier(problem, fabric)
            for variant, parts in pods_together(problem, placed, self.name)
        ]
        alike, differing = (
            [space for space in spaces if space.fabric.runs.may_be_alike is first] for first in (True, False)
        )
        if len(alike) > 1:
            alike.sort(key=lambda space: space.lowest_bound)
        return Spaces((*alike, *differing))

    def most_servers(self, problem: Problem, fabric: FabricProblem) -> int:
        """Most servers of a Clos, by arithmetic: see ``fabopt.topology.clos.most_servers``."""
        return most_servers_of(problem, fabric)


class RailOnlyFamily(ClosFamily):
    """A Clos of one or two tiers for each rail; no path through switches leads from one rail to another.

    Its candidates differ from other Clos by how ports are dealt over networks: ``NicOption.apart``.
    """

    name = "rail-only"
