"""The switches that may be above a block, without those that no candidate below the cutoff has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fabopt.parts.latency import slowness, without_figure
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import TIER_ROLES, SwitchType
from fabopt.problem.trunk_parts import least_further_m
from fabopt.problem.vendors import optics_of_switch_vendor, switches_of_one_vendor
from fabopt.schema.procurement import OPTICS
from fabopt.topology.clos.blocks import Block, Stack
from fabopt.topology.clos.bounds import Bounds
from fabopt.topology.clos.joins import joins_of
from fabopt.topology.clos.shape import Shape, SwitchUse
from fabopt.topology.family import Cutoff
from fabopt.topology.latency import path_of
from fabopt.topology.link_parts import Floats
from fabopt.topology.subnet_manager import may_be_managed


class Stacks:
    """Spine switches above blocks, and cores above these. ``base``: cost of leaves, shape (metrics, rows)."""

    def __init__(self, bounds: Bounds, cutoff: Cutoff) -> None:
        self.bounds = bounds
        self.fabric = bounds.fabric
        self.cutoff = cutoff
        self.of_one_vendor = bounds.prune and switches_of_one_vendor(bounds.problem, bounds.fabric)
        self.with_optics = bounds.prune and optics_of_switch_vendor(bounds.problem, bounds.fabric)
        self._cores: dict[tuple[NicOption, SwitchType, SwitchUse], tuple[SwitchUse, ...]] = {}

    def may_be(self, block: Block) -> bool:
        """Whether a block has optics to its servers and a switch above it, where one vendor is wanted or the time of
        paths is limited; known before any size is. Rules ``vendors_are_kept``, ``paths_keep_latency``
        """
        if not self.of_one_vendor and self.fabric.latency is None:
            return True
        if not self._may_be_in_time(block):
            return False
        if not self._has_optics(block, "server-leaf", block.nic.port, block.down.port):
            return False
        return block.tiers == 1 or any(True for _ in self.uppers(block))

    def above(self, block: Block, shape: Shape, base: Floats) -> Iterator[tuple[Stack, Floats]]:
        """Spine switches above the block with which some rows stay below the cutoff, and the lower bound of rows with
        each, infinite past the cutoff, shape (rows,).
        """
        early_uplinks = self.bounds.early.uplinks(block.parts, shape)
        shares = self.bounds.upper_shares(block.uplinks.port, block.protocol, block.tiers)
        early = self.bounds.early.of_uplink_under(block) @ early_uplinks
        # of all at once: that leaves most of them out
        least = base[0] + np.multiply.outer(shares, block.nic.planes * shape.uplinks) + early
        for place, spine in self.uppers(block, least.min(axis=1, initial=np.inf) <= self.cutoff.limit):
            stacked = self._stack(block, spine, shape, base, early[place])
            if stacked is not None:
                yield stacked

    def _stack(
        self, block: Block, spine: SwitchUse, shape: Shape, base: Floats, early: Floats
    ) -> tuple[Stack, Floats] | None:
        """A spine switch above the block, and the lower bound of rows with it, infinite past the cutoff; None if all
        are.

        ``early``: extra cost of uplinks that stages before the last install, shape (rows,), as the returned bound.
        """
        upward = np.zeros(base.shape[0])
        if spine.up is not None:
            upward = self.bounds.core_link(spine.up.port, block.protocol)
        if not np.isfinite(upward[0]):
            return None
        least = self.bounds.least_uplink(block.uplinks.port, spine, block.protocol)
        share = least + self.bounds.spine_share(spine, block.protocol)
        above = np.multiply.outer(share, block.nic.planes * shape.uplinks)
        above[0] += early
        bound = base + above
        inside = self.cutoff.within(bound)
        if not inside.any():
            return None
        joins = self.bounds.joins(block.uplinks.port, spine.down.port, "leaf-spine", block.protocol)
        return (Stack(block, spine, joins, least, upward), np.where(inside, bound[0], np.inf)) if joins else None

    def uppers(self, block: Block, wanted: NDArray[np.bool_] | None = None) -> Iterator[tuple[int, SwitchUse]]:
        """Spine switches that may be above a block, its own where one part number is allowed. ``generations_agree``

        ``wanted``: mask over ``Bounds.uppers``, shape (uppers,); None: all. Each comes with its index there.
        """
        alone = self.bounds.problem.offering.terms.most_part_numbers("switch") == 1
        all_ = self.bounds.uppers(block.uplinks.lane.port_mbps, block.protocol, block.tiers)
        for place in range(len(all_)) if wanted is None else np.flatnonzero(wanted).tolist():
            spine = all_[place]
            own = (not alone or spine.switch.item is block.leaf.item) and self._may_join(block.leaf, spine.switch)
            own = own and self._has_optics(block, "leaf-spine", block.uplinks.port, spine.down.port)
            managed = block.tiers > 2 or self._may_be_managed(block, block.leaf, spine.switch)
            own = own and self._may_be_in_time(block, spine)
            if own and managed and self.fabric.rules.are_of_one_generation(leaf=block.leaf, spine=spine.switch):
                yield place, spine

    def cores(self, block: Block, spine: SwitchUse) -> tuple[SwitchUse, ...]:
        """Core switches that may be above a spine with uplinks and its leaves. Rule ``generations_agree``"""
        looks = block.nic, block.leaf, spine
        if looks not in self._cores:
            self._cores[looks] = tuple(self._cores_of(block, spine))
        return self._cores[looks]

    def _cores_of(self, block: Block, spine: SwitchUse) -> Iterator[SwitchUse]:
        leaf, switch, up = block.leaf, spine.switch, spine.up
        assert up is not None
        for above in self.bounds.cores(up.lane.port_mbps, block.protocol):
            core, use, _ = above
            agree = self.fabric.rules.are_of_one_generation(leaf=leaf, spine=switch, core=core)
            agree = agree and self._may_join(leaf, core) and self._may_be_in_time(block, spine, above)
            agree = agree and self._has_optics(block, "spine-core", up.port, use.port)
            if agree and self._may_be_managed(block, leaf, switch, core):
                yield above

    def _may_join(self, leaf: SwitchType, upper: SwitchType) -> bool:
        """Whether the vendor rule allows a switch above a leaf. ``vendors_are_kept``"""
        return not self.of_one_vendor or upper.item.sold_by.seller == leaf.item.sold_by.seller

    def _has_optics(self, block: Block, kind: str, near: PortType, far: PortType) -> bool:
        """Whether links can be made with optics of the leaf's vendor, where these are wanted. ``vendors_are_kept``"""
        vendor = block.leaf.item.sold_by.seller
        return not self.with_optics or any(
            all(item.sold_by.seller == vendor for item in assembly.items if item.kind in OPTICS)
            for assembly in joins_of(self.bounds.problem, self.fabric, kind, near, far, block.protocol, all_=True)
        )

    def _may_be_in_time(self, block: Block, *above: SwitchUse) -> bool:
        """Whether a round trip over these switches, with the fastest parts on its links, keeps the fabric's limit.
        ``paths_keep_latency``
        """
        limit = self.fabric.latency
        if limit is None:
            return True
        uses = [(block.nic.port, block.down)]
        for below, use in zip((block.up, *(switch.up for switch in above)), above, strict=False):
            assert below is not None
            uses.append((below.port, use.down))
        switches = dict(zip(TIER_ROLES, (block.leaf.product, *(use.switch.product for use in above)), strict=False))
        mbps = min(block.nic.port.lane.port_mbps, *(down.lane.port_mbps for _, down in uses))
        path = path_of(limit, switches, [*switches, *list(switches)[-2::-1]], mbps, None)
        left_ns = path.left_ns(limit.most_ns)
        words = self.bounds.problem.case.trunked_of(self.fabric.name)
        for kind, (near, down) in zip(path.passed, uses, strict=True):
            joins, further_m = self.bounds.joins(near, down.port, kind, block.protocol), 0.0
            if kind in words:  # a jumper, of which the run of leads says nothing, and, where links have to, a trunk
                joins = self.bounds.problem.links.assemblies(near, down.port, 0.0, block.protocol, True, True)
                further_m = least_further_m(self.bounds.problem) if words[kind] == "structured" else 0.0
            fastest = [
                slowness(join.time.steps(join.length_m + further_m, *path.passed[kind])) for join in joins if join.time
            ]
            is_unknown, ns = min(fastest, default=(True, left_ns))
            if is_unknown:
                return False
            left_ns -= ns
        return left_ns >= 0 and not without_figure(path.devices)

    def _may_be_managed(self, block: Block, *switches: SwitchType) -> bool:
        return may_be_managed(self.fabric, self.bounds.problem.servers, block.protocol, block.nic, switches)
