"""Spines of two types above sized leaves: every leaf has its links to them in proportion to two weights.

Rule ``spines_may_differ``: with ``spines: mixed``, on two tiers with even stripes. A leaf has a m links to each of the
S_a spines of the first type and b m to each of the S_b of the second, with weights 4 >= a >= b >= 1 that have no common
divisor. Both may be of one model where a > b. See docs/formulation/clos.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import gcd

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.assemblies import Assembly
from fabopt.parts.switches import CageUse
from fabopt.schema.structure import MOST_WEIGHT
from fabopt.topology.clos.blocks import Block, Stack, Upper
from fabopt.topology.clos.candidates import ClosBatch
from fabopt.topology.clos.figure_demands import has_room
from fabopt.topology.clos.joins import common_joins
from fabopt.topology.clos.odd_groups import last_up_limit, with_last_uplinks
from fabopt.topology.clos.redundancy import fewest_spines
from fabopt.topology.clos.shape import Ints, Shape, usable_ports
from fabopt.topology.clos.spines import Spines
from fabopt.topology.link_parts import Floats
from fabopt.topology.remembered import Scope, remembered


class SpinesOfTwoTypes:
    """The ways to put spines of two types above sized leaves that stay below a cutoff."""

    def __init__(self, spines: Spines) -> None:
        self.spines = spines
        self.bounds = spines.bounds
        self.costs = spines.costs
        self.fabric = spines.fabric
        self.cutoff = spines.cutoff

    def expand(self, block: Block, shape: Shape, base: Floats) -> None:
        """Offer every candidate made of these leaves that stays below the cutoff; ``base``: shape (metrics, size)."""
        if block.tiers != 2 or block.protocol not in self.fabric.mixes_spines or self.spines.plain:
            return
        looked_at = self._wanted(block, shape, base)
        may_be = np.asarray(looked_at.any(axis=0) | looked_at.any(axis=1))
        for (row, first), (column, second) in product(self.spines.stacks.uppers(block, may_be), repeat=2):
            stack = self._stack(block, first, second) if looked_at[row, column] else None
            if stack is None:
                continue
            share = np.minimum(*(self.bounds.spine_share(one, block.protocol) for one in (first, second)))
            above = np.multiply.outer(stack.least + share, stack.planes * shape.uplinks)
            open_ = np.flatnonzero(self.cutoff.within(base + above))
            rows, wide = self._sized(stack, second, shape.take(open_)) if open_.size else (open_, shape)
            if rows.size:
                self._offer(stack, second, wide, base[:, open_[rows]])

    def _wanted(self, block: Block, shape: Shape, base: Floats) -> NDArray[np.bool_]:
        """Pairs of ``Bounds.uppers`` with which any row may stay below the cutoff, shape (uppers, uppers)."""
        different, pairs = self._pair_shares(block.uplinks, block.protocol)
        least = (base[0] + np.multiply.outer(different, block.nic.planes * shape.uplinks)).min(axis=1, initial=np.inf)
        return np.asarray(least[pairs] <= self.cutoff.limit)

    def scope(self, runs: tuple[str, ...]) -> Scope:
        """The scope of bounds that depend on these runs, as ``Bounds.scope``."""
        return self.bounds.scope(runs)

    @remembered("leaf-spine", "spine-core")
    def _pair_shares(self, up: CageUse, protocol: str) -> tuple[Floats, Ints]:
        """Different least objectives of a leaf uplink with its share of a spine of a pair of types, infinite without
        parts that join both, shape (different,); and that of each pair of ``Bounds.uppers``, shape (uppers, uppers).
        """
        uppers = self._uppers(up, protocol)
        shares = np.full((len(uppers), len(uppers)), np.inf)
        for (row, first), (column, second) in product(enumerate(uppers), repeat=2):
            joins = self._joins(up, first, second, protocol)
            if joins:
                own, other = (float(self.bounds.spine_share(one, protocol)[0]) for one in (first, second))
                link = self.costs.least_per_link(joins, up.port.ports, first.down.port.ports)
                shares[row, column] = float(link[0]) + min(own, other)
        different, pairs = np.unique(shares, return_inverse=True)
        return different, pairs.reshape(shares.shape)

    def _uppers(self, up: CageUse, protocol: str) -> list[Upper]:
        return self.bounds.uppers(up.lane.port_mbps, protocol, 2)

    def _joins(self, up: CageUse, first: Upper, second: Upper, protocol: str) -> tuple[Assembly, ...]:
        """Parts that join leaves to spines of both types; none where these may not be together."""
        # of one model both are used alike
        if first.down.lane != second.down.lane or (first.switch is second.switch and first.down != second.down):
            return ()
        ports = up.port, first.down.port, second.down.port
        return common_joins(self.bounds.problem, self.fabric, "leaf-spine", ports, protocol)

    def _stack(self, block: Block, first: Upper, second: Upper) -> Stack | None:
        """The first type above the block, joined by parts that join the second too; None if there are none."""
        joins = self._joins(block.uplinks, first, second, block.protocol)
        if not joins:
            return None
        least = self.costs.least_per_link(joins, block.uplinks.port.ports, first.down.port.ports)
        return Stack(block, first, joins, least, np.zeros(least.size))

    def _sized(self, stack: Stack, second: Upper, shape: Shape) -> tuple[Ints, Shape]:
        """Row of the shape and sizes, for every way to deal the uplinks to spines of both types."""
        first, fewest = stack.spine, fewest_spines(self.fabric, stack.planes)
        leaves = shape.leaves - (shape.last_rails if shape.is_odd else 0)
        most = [usable_ports(one.down, one.switch) // leaves for one in (first, second)]
        may_be_equal = first.switch.id < second.switch.id
        ways = [
            spine_counts(u, own, other, may_be_equal)
            for u, own, other in zip(shape.u.tolist(), most[0].tolist(), most[1].tolist(), strict=True)
        ]
        index = np.repeat(np.arange(len(ways)), [len(of_row) for of_row in ways])
        counts = np.concatenate(ways)
        enough = counts[:, 0] + counts[:, 2] >= fewest
        index, (own_spines, _, other_spines, other_links) = index[enough], counts[enough].T
        wide = replace(
            shape.take(index), spines=own_spines + other_spines, other_spines=other_spines, other_links=other_links
        )
        if shape.is_odd and index.size:
            kept, wide = with_last_uplinks(self.bounds, stack.block, wide)
            index = index[kept]
        return index, replace(wide, groups_per_pod=wide.groups)

    def _offer(self, stack: Stack, second: Upper, shape: Shape, base: Floats) -> None:
        parts = replace(stack.parts(), other_spine=second.switch, other_spine_down=second.down)
        links, first = stack.planes * shape.uplinks, stack.spine
        fits = shape.down_of_spine(shape.own_links) <= usable_ports(first.down, first.switch)
        fits &= shape.down_of_spine(shape.other_links) <= usable_ports(second.down, second.switch)
        fits &= self.spines.survives(parts, shape)
        if shape.is_odd:
            fits &= has_room(self.fabric, parts, shape)
        cost = base + np.multiply.outer(self.costs.of(first.switch.item), stack.planes * shape.own_spines)
        cost = cost + np.multiply.outer(self.costs.of(second.switch.item), stack.planes * shape.other_spines)
        kept = np.flatnonzero(fits & self.cutoff.within(cost + np.multiply.outer(stack.least, links)))
        if not kept.size:
            return
        some = shape.take(kept)
        need = some.leaf_spine(
            stack.block.uplinks.lane.ports,
            self.spines.leaf_up_limit(stack, some),
            first.down.lane.ports,
            first.down.cages,
            last_up_limit(self.bounds, stack.block, some),
            second.down.cages,
        )
        self.cutoff.offer(ClosBatch(self.fabric, parts, some, cost[:, kept] + self.costs.least(stack.joins, need)))


@lru_cache(maxsize=4096)
def spine_counts(u: int, most_own: int, most_other: int, may_be_equal: bool) -> Ints:
    """Every way to deal u uplinks to spines of two types, so many links to each spine at the most: spines of the first
    type, links to each of them, spines of the second type and links to each, shape (ways, 4).

    ``may_be_equal``: whether both may have equally many links to each.
    """
    ways = [*_spine_counts(u, most_own, most_other, may_be_equal)]
    return np.array(ways, dtype=np.int64).reshape(-1, 4)


def _spine_counts(u: int, most_own: int, most_other: int, may_be_equal: bool) -> Iterator[tuple[int, int, int, int]]:
    for own_links in range(1, min(u - 1, most_own) + 1):
        for other_links in range(1, min(own_links - (not may_be_equal), most_other) + 1):
            if own_links // gcd(own_links, other_links) > MOST_WEIGHT:
                continue
            for own in range(1, (u - other_links) // own_links + 1):
                other, rest = divmod(u - own * own_links, other_links)
                if not rest:
                    yield own, own_links, other, other_links
