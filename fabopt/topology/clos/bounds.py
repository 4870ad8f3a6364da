"""Lower bounds of the cost of networks made of some hardware, worked out once for a fabric at some weights.

The cost of a Clos separates by tier: a server port pays for its share of a leaf, a leaf's uplink for its share of a
spine, a spine's uplink for its share of a core. Every minimum here is over a superset of what a real candidate can
have, and is taken for each metric on its own. See docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.blocks import Block, Lower, SpineShares, spine_shares
from fabopt.topology.clos.hardware import Hardware, Saving, ScopedCosts
from fabopt.topology.clos.joins import attaches, fewest_together
from fabopt.topology.clos.move_bounds import MoveBounds
from fabopt.topology.clos.shape import (
    Ints,
    SwitchUse,
    most_down_ports,
    most_peers,
    uplinks_needed,
    uplinks_that_fit,
    usable_ports,
)
from fabopt.topology.clos.stage_bounds import EarlyCosts
from fabopt.topology.link_parts import Floats, scaled_ceil
from fabopt.topology.remembered import remembered
from fabopt.units import Number


class BoundedCosts(ScopedCosts):
    """Sums of item weights as ``Costs``, with the bounds of every fabric at these weights, each made once.

    ``table`` has shape (metrics, items), ``steps`` shape (stages - 1, items).
    """

    def __init__(self, table: Floats, steps: Floats | None = None) -> None:
        super().__init__(table, steps)
        self._bounds: dict[tuple[FabricProblem, bool], Bounds] = {}

    def bounds(self, problem: Problem, fabric: FabricProblem, prune: bool) -> Bounds:
        """The bounds of a fabric; ``prune``: without hardware that other hardware dominates."""
        if (fabric, prune) not in self._bounds:
            self._bounds[fabric, prune] = Bounds(problem, fabric, self, prune)
        return self._bounds[fabric, prune]

    def forget_bounds(self) -> None:
        """Drop the bounds of fabrics that will not be searched again."""
        self._bounds.clear()
        self._scopes.clear()


class Bounds(Hardware):
    """Bounds of one fabric at some weights; ``costs`` weighs items by metric, row 0 being the objective.

    Arrays of costs have shape (metrics,), infinite where nothing can be made at all; numbers of uplinks have the shape
    of the down links that they are for.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: BoundedCosts, prune: bool) -> None:
        super().__init__(problem, fabric, costs, prune)
        self._ratio = float(fabric.ratios.leaf)
        self.early = EarlyCosts(problem, fabric, costs, self.uppers)
        self.moves = MoveBounds(problem, fabric, costs)

    # -- leaves below servers ------------------------------------------------------------------------------------

    @remembered("server-leaf", "attachment-leaf", "attachment-spine")
    def lowers(self, port: PortType, protocol: str, of_last: bool = False) -> list[Lower]:
        """Leaf switches that take a server's port, the cheapest share first; ``of_last``: for a last group."""
        uses = self._leaf_uses(port.lane.port_mbps, protocol, of_last)
        ports = {down.port for _, _, down in uses}
        links = {
            far: self.least_link(port, far, "server-leaf", protocol) for far in ports if self._attaches(far, protocol)
        }
        joined = {far: link for far, link in links.items() if np.isfinite(link[0])}
        lowers = [Lower(joined[down.port] + share, leaf, down) for share, leaf, down in uses if down.port in joined]
        return sorted(
            (lower for lower in lowers if np.isfinite(lower.share[0])), key=lambda lower: float(lower.share[0])
        )

    @remembered("server-leaf", "attachment-leaf")
    def _leaf_uses(self, port_mbps: int, protocol: str, of_last: bool) -> list[Lower]:
        """Leaf switches for server ports of a speed, each with its cost share of a port, the link left out."""
        most = self.most.on_last if of_last else self.most.on_leaf
        share = self.share_alone if self.fabric.runs.may_be_alike else partial(self._share_of_two_tiers, protocol)
        uses = ((leaf, down) for leaf in self.switches(protocol, "leaf") for down in leaf.uses)
        return [Lower(share(*use, most), *use) for use in uses if use[1].lane.port_mbps == port_mbps]

    @remembered("leaf-spine", "spine-core")
    def _share_of_two_tiers(self, protocol: str, leaf: SwitchType, down: CageUse, most: int) -> Floats:
        """Least cost share of an endpoint in a leaf with up to ``most`` endpoints, any uplinks, and its spines."""
        shares = [self._leaf_share(leaf, down, up, protocol, 2, most) for up in leaf.uses]
        return np.asarray(np.min(shares, axis=0))

    def _attaches(self, leaf_port: PortType, protocol: str) -> bool:
        """Whether parts join every attachment that buys some to such ports of leaves, or to some of spines."""
        hosts = {"leaf": (leaf_port,), "spine": self._spine_ports(leaf_port.lane.port_mbps, protocol)}
        return all(attaches(self.problem, self.fabric, demand, hosts, protocol) for demand in self.fabric.attachments)

    @remembered("attachment-leaf")
    def _spine_ports(self, port_mbps: int, protocol: str) -> set[PortType]:
        """The ports of a speed that spines have."""
        ports = {use.port for spine in self.switches(protocol, "spine") for use in spine.uses}
        return {port for port in ports if port.lane.port_mbps == port_mbps}

    # -- least needs, and limits of ports ------------------------------------------------------------------------

    def leaf_uplinks(self, down_links: Number, down: CageUse, up: CageUse) -> Ints:
        """Fewest uplinks of a leaf for ``down_links`` endpoints."""
        return uplinks_needed(down_links, down, up, self.fabric.ratios.leaf)

    def fewest_uplinks(self, block: Block) -> float:
        """Lower bound of the uplinks of all leaves of a block together."""
        mbps = self.problem.servers * block.nic.ports_per_server * block.down.lane.port_mbps
        return mbps / (self._ratio * block.uplinks.lane.port_mbps)

    def spine_uplinks(self, down_links: Number, down: CageUse, up: CageUse) -> Ints:
        """Fewest uplinks of a spine for ``down_links`` down links."""
        return uplinks_needed(down_links, down, up, self.fabric.ratios.spine)

    def reserved(self, endpoints: Number) -> Number:
        """Down ports of a switch with ``endpoints`` in use and the fabric's reserve free. Rule ``reserve_is_kept``."""
        free = 1 - self.fabric.reserve
        return scaled_ceil(endpoints, free.denominator, free.numerator)

    @remembered()
    def leaf_ports(self, leaf: SwitchType, down: CageUse, up: CageUse) -> int:
        """Most down ports of a leaf whose uplinks still fit beside them."""
        return most_down_ports(leaf, down, up, self.leaf_uplinks)

    @remembered()
    def spine_ports(self, spine: SwitchUse) -> int:
        """Most down ports of a spine whose uplinks, if any, still fit beside them."""
        if spine.up is None:
            return usable_ports(spine.down, spine.switch)
        return most_down_ports(spine.switch, spine.down, spine.up, self.spine_uplinks)

    def most_groups(self, up: PortType, protocol: str, tiers: int, rails: int) -> int:
        """Most server groups that these uplinks can join: one link from every leaf to every spine of its pod, one from
        every pod to every core of a group.
        """
        return max(
            (max(ports // rails * pods, ports * (pods // rails) if tiers == 3 else 0)
             for ports, pods in self._reach(up, protocol, tiers)),
            default=0,
        )  # fmt: skip

    @remembered("leaf-spine", "spine-core")
    def _reach(self, up: PortType, protocol: str, tiers: int) -> set[tuple[int, int]]:
        """Pairs (leaves that a spine can take, pods that its cores can take), of all spines for such uplinks, without
        those that another one exceeds.
        """
        pairs = {
            pair
            for port in {spine.down.port for spine in self.uppers(up.lane.port_mbps, protocol, tiers)}
            if (together := fewest_together(self.problem, self.fabric, "leaf-spine", up, port, protocol))
            for pair in self._reach_through(port, together, protocol, tiers)
        }
        return {
            (ports, pods)
            for ports, pods in pairs
            if not any((ports, pods) != other and ports <= other[0] and pods <= other[1] for other in pairs)
        }

    @remembered("spine-core")
    def _reach_through(self, port: PortType, together: int, protocol: str, tiers: int) -> set[tuple[int, int]]:
        """Such pairs of all spines with one kind of port downwards; ``together``: ports of a spine for one leaf."""
        spines = (spine for spine in self.uppers(port.lane.port_mbps, protocol, tiers) if spine.down.port is port)
        return {(self._leaves_of_spine(spine, together), self.most_pods(spine, protocol)) for spine in spines}

    def _leaves_of_spine(self, spine: SwitchUse, together: int) -> int:
        """Most leaves of a spine. Where cables carry several links some ports may be idle and need no uplinks."""
        return self.spine_ports(spine) if together == 1 else most_peers(spine.down, spine.switch, together)

    def most_pods(self, spine: SwitchUse, protocol: str) -> int:
        """Most pods of a plane that one core above such spines joins; 1 below three tiers."""
        return 1 if spine.up is None else self._pods_of_cores(spine.up.port, protocol)

    @remembered("spine-core")
    def _pods_of_cores(self, up: PortType, protocol: str) -> int:
        peers = (
            most_peers(use, core, together)
            for core, use, _ in self.cores(up.lane.port_mbps, protocol)
            if (together := fewest_together(self.problem, self.fabric, "spine-core", up, use.port, protocol))
        )
        return max(peers, default=0)

    # -- bounds -----------------------------------------------------------------------------------------------

    def of_servers(self, nic: NicOption, share: Floats) -> Floats:
        """Cost of all servers' NICs and port shares, shape of ``share``."""
        nics = self.costs.of(nic.item) * nic.nics_per_server
        return np.asarray(self.problem.servers * (nics + nic.ports_per_server * share.T).T)

    def lowest(self, protocol: str) -> float:
        """Lower bound of the cost of every network, from NICs, server links and leaves."""
        return self._lowest_with(tuple(self.nics(protocol)), protocol)

    @remembered("server-leaf", "attachment-leaf")
    def _lowest_with(self, all_: tuple[NicOption, ...], protocol: str) -> float:
        nics = [nic for nic in all_ if self.lowers(nic.port, protocol)]
        leasts = (self.of_leaves(0, nic, protocol) for nic in nics)
        return min((float(least[0]) for least in leasts), default=np.inf)

    @remembered("server-leaf", "attachment-leaf")
    def of_leaves(self, place: int, nic: NicOption, protocol: str) -> Floats:
        """Lower bound of NICs, server links and leaves, the leaf type being that at a place of ``lowers``."""
        lower = self.lowers(nic.port, protocol)[place]
        return self.of_servers(nic, lower.share) + self._last_saving(nic, protocol).beside(lower.share)

    @remembered("server-leaf", "attachment-leaf")
    def _last_saving(self, nic: NicOption, protocol: str) -> Saving:
        """Most that a last group's leaves, of any type, can save."""
        differ = self.fabric.runs.span is not None or protocol in self.fabric.leaf_groups.last.own_leaf
        lowers = self.lowers(nic.port, protocol, True) if differ and self.most.servers_in_last else []
        return Saving(lowers, nic, self.most.servers_in_last)

    def of_block(self, block: Block, tiers: int) -> Floats:
        """Lower bound of a block's cost, the lowest ``tiers`` tiers counted (2 or more), with any last group."""
        return self._of_block(block, tiers, self._last_may_differ(block))

    def _last_may_differ(self, block: Block) -> bool:
        return bool(self.most.servers_in_last) and block.tiers in self.fabric.tiers_of_own_last

    @remembered("server-leaf", "leaf-spine", "spine-core", "attachment-leaf")
    def _of_block(self, block: Block, tiers: int, last_may_differ: bool) -> Floats:
        share = self.port_share(block, tiers, self.most.on_leaf)
        return self.of_servers(block.nic, share) + self.saving(block, tiers).beside(share)

    def saving(self, block: Block, tiers: int) -> Saving:
        """Most that a last group of a block can save, the lowest ``tiers`` tiers counted (2 or more)."""
        if not self._last_may_differ(block):
            return Saving([], block.nic, 0)
        looks = block.nic, block.protocol, block.down.port, block.uplinks.port, tiers
        differs = block.protocol in self.fabric.leaf_groups.last.own_leaf
        return self._saving_under(*looks) if differs else self._saving_of([block], tiers)

    @remembered("server-leaf", "leaf-spine", "spine-core", "attachment-leaf")
    def _saving_under(self, nic: NicOption, protocol: str, down: PortType, up: PortType, tiers: int) -> Saving:
        """Most that a last group can save on any leaf type with such cages, ``tiers`` tiers counted."""
        uses = self.leaves_with(protocol, down, up)
        return self._saving_of([Block(protocol, tiers, nic, *use) for use in uses], tiers)

    def _saving_of(self, lasts: Sequence[Block], tiers: int) -> Saving:
        shares = [self.port_share(last, tiers, self.most.on_last) for last in lasts]
        lowers = [Lower(share, last.leaf, last.down) for share, last in zip(shares, lasts, strict=True)]
        return Saving(lowers, lasts[0].nic, self.most.servers_in_last)

    def port_share(self, block: Block, tiers: int, most: Number) -> Floats:
        """Least cost of a server port's link and its share of a leaf with ``most`` such ports and everything above.

        Shape (metrics, *most).
        """
        link = self.least_link(block.nic.port, block.down.port, "server-leaf", block.protocol)
        share = self._leaf_share(block.leaf, block.down, block.uplinks, block.protocol, tiers, most)
        return np.asarray((link + share.T).T)

    def _leaf_share(
        self, leaf: SwitchType, down: CageUse, up: CageUse, protocol: str, tiers: int, most: Number
    ) -> Floats:
        """Least cost share of an endpoint in a leaf with up to ``most`` endpoints, its uplinks and everything above."""
        shares = self._leaf_shares(leaf, down, up, protocol, tiers)
        return np.asarray(shares[:, np.minimum(most, shares.shape[1]) - 1])

    @remembered("leaf-spine", "spine-core")
    def _leaf_shares(self, leaf: SwitchType, down: CageUse, up: CageUse, protocol: str, tiers: int) -> Floats:
        return self._shares(leaf, down, up, self.leaf_uplinks, self.above(up.port, protocol, tiers))

    @remembered("leaf-spine", "spine-core")
    def above(self, up: PortType, protocol: str, tiers: int) -> Floats:
        """Least cost of one leaf uplink with its link, spine share and cores' share, shape (metrics,)."""
        spines, shares, _, _ = self._spine_shares(up.lane.port_mbps, protocol, tiers, self.runs.differ)
        best, alone = np.full(len(shares), np.inf), self.above_each(up, protocol, tiers, self.runs.differ)
        for place in np.argsort(alone[0], kind="stable").tolist():
            if alone[0, place] >= best[0] and len(best) == 1:
                break
            if (alone[:, place] < best).any():
                best = np.minimum(best, self.least_uplink(up, spines[place], protocol) + shares[:, place])
        return best

    @remembered("leaf-spine", "spine-core")
    def above_each(self, up: PortType, protocol: str, tiers: int, differ: bool) -> Floats:
        """Lower bound of an uplink's cost with each spine and the cores above, in any racks, (metrics, spines)."""
        _, shares, ports, port_of = self._spine_shares(up.lane.port_mbps, protocol, tiers, differ)
        links = np.array([self.least_link(up, port, "leaf-spine", protocol) for port in ports])
        return shares + links[port_of].T if ports else shares

    @remembered("spine-core")
    def _spine_shares(self, port_mbps: int, protocol: str, tiers: int, differ: bool) -> SpineShares:
        """Least cost share of a down link in spines with cores, by cage type, or by spine where runs ``differ``."""
        shares: dict[Hashable, tuple[SwitchUse, Floats]] = {}
        for spine in self.uppers(port_mbps, protocol, tiers):
            looks = spine if differ else spine.down.port
            _, best = shares.get(looks, (spine, np.full(self.costs.table.shape[0], np.inf)))
            if (self.share_alone(spine.switch, spine.down) < best).any():
                shares[looks] = spine, np.minimum(best, self.spine_share(spine, protocol))
        return spine_shares(self.costs.table.shape[0], shares.values())

    @remembered("leaf-spine", "spine-core")
    def upper_shares(self, up: PortType, protocol: str, tiers: int) -> Floats:
        """Least objective of a leaf uplink and its share of each of ``uppers`` and cores, shape (uppers,)."""
        uppers = self.uppers(up.lane.port_mbps, protocol, tiers)
        links = (self.least_uplink(up, spine, protocol) for spine in uppers)
        return np.array([float((link + self.spine_share(spine, protocol))[0])
                         for link, spine in zip(links, uppers, strict=True)])  # fmt: skip

    @remembered("spine-core")
    def spine_share(self, spine: SwitchUse, protocol: str) -> Floats:
        """Least cost share of one down link in a spine, its uplinks and cores."""
        if spine.up is None:
            return self.share_alone(spine.switch, spine.down)
        upward = self.core_link(spine.up.port, protocol)
        return np.asarray(self._shares(spine.switch, spine.down, spine.up, self.spine_uplinks, upward)[:, -1])

    def _shares(
        self, switch: SwitchType, down: CageUse, up: CageUse, needed: Callable[..., Ints], upward: Floats
    ) -> Floats:
        """Least cost share of a port in a switch and its uplinks (``upward`` each), with 1, up to 2, ... ports."""
        ports = np.arange(1, usable_ports(down, switch) + 1)
        need = needed(ports, down, up)
        cost = self.costs.of(switch.item)[:, np.newaxis] + np.multiply.outer(upward, need)
        cost = np.where(need <= uplinks_that_fit(switch, down, up, ports), cost, np.inf)
        return np.asarray(np.minimum.accumulate(cost / ports, axis=1))

    @remembered("spine-core")
    def core_link(self, up: PortType, protocol: str) -> Floats:
        """Least cost of one spine uplink with its core share."""
        best = np.full(self.costs.table.shape[0], np.inf)
        for core, down, _ in self.cores(up.lane.port_mbps, protocol):
            share = self.share_alone(core, down)
            if (share < best).any():
                best = np.minimum(best, self.least_link(up, down.port, "spine-core", protocol) + share)
        return best
