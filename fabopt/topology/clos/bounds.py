"""What nothing made of some hardware can cost less than, worked out once for a fabric at some weights.

The cost of a Clos separates by tier: a server port pays for its share of a leaf, a leaf's uplink for its share of a
spine, a spine's uplink for its share of a core. Every minimum here is over a superset of what a real candidate can
have, and is taken for each metric on its own. See docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property

import numpy as np

from fabopt.floor.arrangements import Anywhere, InLayout
from fabopt.floor.length_classes import classes_of_runs
from fabopt.parts.assemblies import Assembly
from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.blocks import Block, Lower, Upper
from fabopt.topology.clos.dominance import undominated_nics, undominated_switches
from fabopt.topology.clos.floor_bounds import LayoutBounds, SpreadBounds
from fabopt.topology.clos.joins import attachment_joins, fewest_together, joins_of, run_of, runs_differ, server_joins
from fabopt.topology.clos.last_leaves import most_saved, other_leaves
from fabopt.topology.clos.run_bounds import FlatBounds, RunBounds
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
from fabopt.topology.link_parts import Costs, Floats, scaled_ceil
from fabopt.topology.remembered import Scope, remembered
from fabopt.units import Number

# More ports than any switch has.
MOST_PORTS = 2**31


class BoundedCosts(Costs):
    """Sums of item weights as ``Costs``, with the bounds of every fabric at these weights, each made once.

    ``table`` has shape (metrics, items), ``steps`` shape (stages - 1, items).
    """

    def __init__(self, table: Floats, steps: Floats | None = None) -> None:
        super().__init__(table, steps)
        self._bounds: dict[tuple[FabricProblem, bool], Bounds] = {}
        self._scopes: dict[Hashable, Scope] = {}

    def bounds(self, problem: Problem, fabric: FabricProblem, prune: bool) -> Bounds:
        """The bounds of a fabric; ``prune``: without hardware that other hardware beats."""
        if (fabric, prune) not in self._bounds:
            self._bounds[fabric, prune] = Bounds(problem, fabric, self, prune)
        return self._bounds[fabric, prune]

    def scope(self, hardware: Hashable) -> Scope:
        """What bounds follow from at these weights, told apart by the hardware and its runs."""
        return self._scopes.setdefault(hardware, Scope())

    def forget_bounds(self) -> None:
        """Let go of the bounds of fabrics that will not be looked at again."""
        self._bounds.clear()
        self._scopes.clear()


class Bounds:
    """Bounds of one fabric at some weights; ``costs`` weighs items by metric, row 0 being the objective.

    Arrays of costs have shape (metrics,), infinite where nothing can be made at all; numbers of uplinks have the shape
    of the down links that they are for.
    """

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: BoundedCosts, prune: bool) -> None:
        self.problem = problem
        self.fabric = fabric
        self.costs = costs
        self.prune = prune
        self.early = EarlyCosts(problem, fabric, costs)
        self._scopes: dict[tuple[str, ...], Scope] = {}
        self.runs = self._run_bounds()

    def _run_bounds(self) -> RunBounds:
        match self.fabric.arrangement:
            case InLayout(layout, "measured"):
                return LayoutBounds(self.problem, layout, self.links_by_class)
            case Anywhere("spread"):
                return SpreadBounds(self.problem, self.fabric, self.links_by_class)
            case _:
                return FlatBounds(self.fabric.runs_m, self.link_at)

    def scope(self, runs: tuple[str, ...]) -> Scope:
        """What bounds follow from that depend on the runs of these kinds: shared with fabrics that have equal ones."""
        if runs not in self._scopes:
            self._scopes[runs] = self._scope(runs)
        return self._scopes[runs]

    def _scope(self, runs: tuple[str, ...]) -> Scope:
        of_servers = "server-leaf" in runs
        if of_servers and not self.problem.site.runs_are_alike:
            # where leaves are is the fabric's own, so what depends on servers' links is too
            return Scope()
        lengths = tuple(
            (self.problem.links.length_on_sale_m(self.fabric.runs_m[run]), runs_differ(self.problem, self.fabric, run))
            for run in runs
        )
        below = "attachment-leaf" in runs
        hardware = self.fabric.hardware if below else self.fabric.hardware_above_leaves
        return self.costs.scope((self.prune, hardware, runs, lengths, self.most_on_leaf if of_servers else None))

    # -- what there is ----------------------------------------------------------------------------------------

    @remembered("attachment-leaf")
    def nics(self, protocol: str) -> list[NicOption]:
        """Ways to equip servers, at a speed that the attachments can have too."""
        options = list(self.fabric.nics.get(protocol, ()))
        for attachment in self.fabric.attachments:
            speed = attachment.port_mbps
            options = [one for one in options if speed in (None, one.port.lane.port_mbps)]
        keep = self.prune and self.problem.prunes
        return undominated_nics(options, by_injection=self.fabric.figure_demands is not None) if keep else options

    @remembered()
    def switches(self, protocol: str, role: str, without: str | None = None) -> list[SwitchType]:
        """Switches for a role, but one, without those that others beat."""
        options = [one for one in self.fabric.switches[protocol][role] if one.id != without]
        timed = self.fabric.figure_demands is not None and self.fabric.figure_demands.deadline is not None
        return undominated_switches(options, self.fabric, timed) if self.prune else options

    @remembered("server-leaf", "attachment-leaf")
    def lowers(self, port: PortType, protocol: str, without: str | None) -> list[Lower]:
        """Leaf switches but one that take a server's port, the cheapest share first."""
        uses = self._leaf_uses(port.lane.port_mbps, protocol, without)
        ports = {down.port for _, _, down in uses if self._attaches(down.port, protocol)}
        links = {far: self.least_link(port, far, "server-leaf", protocol) for far in ports}
        joined = {far: link for far, link in links.items() if np.isfinite(link[0])}
        lowers = [Lower(joined[down.port] + share, leaf, down) for share, leaf, down in uses if down.port in joined]
        return sorted(lowers, key=lambda one: float(one.share[0]))

    @remembered("server-leaf", "attachment-leaf")
    def _leaf_uses(self, port_mbps: int, protocol: str, without: str | None) -> list[Lower]:
        """Leaf switches but one for server ports of a speed, with their share alone."""
        return [
            Lower(self._share_alone(leaf, down, self.most_on_leaf), leaf, down)
            for leaf in self.switches(protocol, "leaf", without)
            for down in leaf.uses
            if down.lane.port_mbps == port_mbps
        ]

    @remembered("attachment-leaf")
    def _attaches(self, down: PortType, protocol: str) -> bool:
        """Whether parts join every attachment that buys some to such a leaf cage."""
        return all(
            one.buys == "none" or attachment_joins(self.problem, self.fabric, one, down, protocol)
            for one in self.fabric.attachments
            if one.tier == "leaf"
        )

    @remembered()
    def uppers(self, port_mbps: int, protocol: str, tiers: int) -> list[Upper]:
        """Spine switches for leaf uplinks of a speed, the cheapest share first."""
        uppers = [
            Upper(spine, down, up)
            for spine in self.switches(protocol, "spine")
            for down in spine.uses
            if down.lane.port_mbps == port_mbps
            for up in (spine.uses if tiers == 3 else (None,))
        ]
        return sorted(uppers, key=lambda one: float(self._share_alone(one.switch, one.down)[0]))

    @remembered()
    def cores(self, port_mbps: int, protocol: str) -> list[tuple[SwitchType, CageUse]]:
        """Core switches for spine uplinks of a speed."""
        return [
            (core, down)
            for core in self.switches(protocol, "core")
            for down in core.uses
            if down.lane.port_mbps == port_mbps
        ]

    # -- links ------------------------------------------------------------------------------------------------

    def joins(self, near: PortType, far: PortType, kind: str, protocol: str) -> tuple[Assembly, ...]:
        """Assemblies of a kind of link, over its run."""
        return joins_of(self.problem, self.fabric, kind, near, far, protocol)

    def server_joins(self, nic: NicOption, down: CageUse, k: int, protocol: str) -> tuple[Assembly, ...]:
        """Assemblies between servers and leaves that suit ``k`` ports on one leaf."""
        return server_joins(self.problem, self.fabric, nic, down.port, k, protocol)

    def least_link(self, near: PortType, far: PortType, kind: str, protocol: str) -> Floats:
        """The least that a link costs, its share of what it has in common with others included."""
        if kind == "server-leaf":
            return self.runs.server_link(near, far, protocol)
        return self.link_at(near, far, run_of(self.fabric, kind), protocol, kind)

    def link_at(self, near: PortType, far: PortType, run_m: float, protocol: str, kind: str = "server-leaf") -> Floats:
        """The least that a link over a run (or, where runs differ, a longer one) costs; infinite past all on sale."""
        longer = runs_differ(self.problem, self.fabric, kind)
        key, known = (near, far, run_m, protocol, longer), self.costs.least_links
        least = known.get(key)
        if least is None and longer:
            length_class = int(classes_of_runs(self.problem.item_table.lengths_m, run_m))
            least = known[key] = np.asarray(self.links_by_class(near, far, protocol)[:, length_class])
        elif least is None:
            joins = self.problem.links.assemblies(near, far, run_m, protocol) if np.isfinite(run_m) else ()
            least = known[key] = self.costs.least_per_link(joins, near.ports, far.ports)
        return least

    def links_by_class(self, near: PortType, far: PortType, protocol: str) -> Floats:
        """The least that a link costs over a run of each length class or a longer one, shape (metrics, classes + 1);
        infinite past all on sale.
        """
        key, known = (near, far, protocol), self.costs.least_by_class
        if key not in known:
            assemblies = self.problem.links.in_all_lengths(*key)
            ports = (near.ports, far.ports)
            known[key] = self.costs.least_from_class(assemblies, self.problem.item_table.lengths_m, *ports)
        return known[key]

    # -- what is needed, and what fits ------------------------------------------------------------------------

    def leaf_uplinks(self, down_links: Number, down: CageUse, up: CageUse) -> Ints:
        """Fewest uplinks of a leaf for so many endpoints."""
        return uplinks_needed(down_links, down, up, self.fabric.oversubscription_leaf)

    def spine_uplinks(self, down_links: Number, down: CageUse, up: CageUse) -> Ints:
        """Fewest uplinks of a spine for so many down links."""
        return uplinks_needed(down_links, down, up, self.fabric.oversubscription_spine)

    def reserved(self, endpoints: Number) -> Number:
        """Down ports such that the fabric's reserve of them stays free. Rule ``reserve_is_kept``."""
        free = 1 - self.fabric.reserve
        return scaled_ceil(endpoints, free.denominator, free.numerator)

    @remembered()
    def leaf_ports(self, leaf: SwitchType, down: CageUse, up: CageUse) -> int:
        """Most down ports of a leaf beside which the uplinks that they need still fit."""
        return most_down_ports(leaf, down, up, self.leaf_uplinks)

    @remembered()
    def spine_ports(self, spine: Upper) -> int:
        """Most down ports of a spine, as those of a leaf."""
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
        """Leaves that a spine can take, and pods that its cores can."""
        return {
            (self._leaves_of_spine(spine, together), self.most_pods(spine, protocol))
            for spine in self.uppers(up.lane.port_mbps, protocol, tiers)
            if (together := fewest_together(self.problem, self.fabric, "leaf-spine", up, spine.down.port, protocol))
        }

    def _leaves_of_spine(self, spine: Upper, together: int) -> int:
        """Leaves that a spine can take; where cables carry several links some ports may be idle and need no uplinks."""
        return self.spine_ports(spine) if together == 1 else most_peers(spine.down, spine.switch, together)

    def most_pods(self, spine: Upper, protocol: str) -> int:
        """Most pods of a plane above whose spines some core still reaches them all; 1 below three tiers."""
        return 1 if spine.up is None else self._pods_of_cores(spine.up.port, protocol)

    @remembered("spine-core")
    def _pods_of_cores(self, up: PortType, protocol: str) -> int:
        peers = (
            most_peers(use, core, together)
            for core, use in self.cores(up.lane.port_mbps, protocol)
            if (together := fewest_together(self.problem, self.fabric, "spine-core", up, use.port, protocol))
        )
        return max(peers, default=0)

    # -- bounds -----------------------------------------------------------------------------------------------

    def of_servers(self, nic: NicOption, share: Floats) -> Floats:
        """The cost of all servers' NICs and of the share that each of their ports has."""
        nics = self.costs.of(nic.item) * nic.nics_per_server
        return np.asarray(self.problem.servers * (nics + nic.ports_per_server * share))

    @remembered("server-leaf", "attachment-leaf")
    def lowest(self, protocol: str, port_mbps: int | None, without: str | None) -> float:
        """No network costs less, whatever is above its leaves; of NICs of one speed, without one type of leaf."""
        nics = [nic for nic in self.nics(protocol) if port_mbps in (None, nic.port.lane.port_mbps)]
        lowers = ((nic, self.lowers(nic.port, protocol, without)) for nic in nics)
        return min((float(self.of_servers(nic, first[0].share)[0]) for nic, first in lowers if first), default=np.inf)

    def of_block(self, block: Block, tiers: int) -> Floats:
        """The least that anything made of a block costs, even if only so many of its tiers (2 at least) counted.

        Of one with a type of leaf for the last group only what has it, else whatever that has.
        """
        lasts = self.last_leaves(block, None) if block.last is None else [block.last]
        lowers = [
            Lower(self._port_share(one, tiers), one.leaf, one.down)
            for one in (block, *(block._replace(last=last).of_last for last in lasts))
        ]
        return self.of_servers(block.nic, lowers[0].share) + most_saved(self.problem.servers, block.nic, lowers)

    def _port_share(self, block: Block, tiers: int) -> Floats:
        """The least of a server port's link, and of its share of a leaf and all above."""
        link = self.least_link(block.nic.port, block.down.port, "server-leaf", block.protocol)
        most = self.most_on_leaf
        return link + self._leaf_share(block.leaf, block.down, block.uplinks, block.protocol, tiers, most)

    @remembered("attachment-leaf")
    def last_leaves(self, block: Block, without: str | None) -> list[SwitchUse]:
        """Other types of leaf for the last group of a block, whose cages look to parts as the block's do, but one."""
        covered = block.tiers == 2 and block.protocol in self.fabric.last_leaf
        return other_leaves(block, self.switches(block.protocol, "leaf", without)) if covered else []

    def _share_alone(self, switch: SwitchType, down: CageUse, most: int = MOST_PORTS) -> Floats:
        """The least share of a switch that one down port, of ``most``, can have, what is above left aside."""
        return np.asarray(self.costs.of(switch.item) / min(most, usable_ports(down, switch)))

    @cached_property
    def most_on_leaf(self) -> int:
        """No leaf has more ports of servers, in the sizes of groups that are looked at."""
        if self.fabric.span is None:
            return MOST_PORTS
        most = min(self.problem.servers, self.fabric.span.group[1])
        nics = (one for options in self.fabric.nics.values() for one in options)
        # Rule ``rails_are_aligned``
        alone = self.fabric.aligned and most < self.problem.servers and not self.fabric.may_be_odd
        return most * (1 if alone else max((nic.ports_per_plane for nic in nics), default=1))

    @remembered("leaf-spine", "spine-core")
    def _leaf_share(self, leaf: SwitchType, down: CageUse, up: CageUse, protocol: str, tiers: int, most: int) -> Floats:
        """The least share of a leaf, its uplinks and all above them that one endpoint of at most so many can have."""
        return self._share(leaf, down, up, self.leaf_uplinks, self.above(up.port, protocol, tiers), most)

    @remembered("leaf-spine", "spine-core")
    def above(self, up: PortType, protocol: str, tiers: int) -> Floats:
        """The least that one leaf uplink costs with everything above it: link, spine share, cores' share."""
        best = np.full(self.costs.table.shape[0], np.inf)
        for down, share in self._spine_shares(up.lane.port_mbps, protocol, tiers).items():
            if (share < best).any():
                best = np.minimum(best, self.least_link(up, down, "leaf-spine", protocol) + share)
        return best

    @remembered("spine-core")
    def _spine_shares(self, port_mbps: int, protocol: str, tiers: int) -> dict[PortType, Floats]:
        """The least share of any spine, and all above it, that a down link can have, by the cage that it is in."""
        shares: dict[PortType, Floats] = {}
        for spine in self.uppers(port_mbps, protocol, tiers):
            best = shares.get(spine.down.port, np.full(self.costs.table.shape[0], np.inf))
            if (self._share_alone(spine.switch, spine.down) < best).any():
                shares[spine.down.port] = np.minimum(best, self.spine_share(spine, protocol))
        return shares

    @remembered("spine-core")
    def spine_share(self, spine: Upper, protocol: str) -> Floats:
        """The least share of a spine, its uplinks and cores that one down link can have."""
        if spine.up is None:
            return self._share_alone(spine.switch, spine.down)
        upward = self.core_link(spine.up.port, protocol)
        return self._share(spine.switch, spine.down, spine.up, self.spine_uplinks, upward)

    def _share(
        self,
        switch: SwitchType,
        down: CageUse,
        up: CageUse,
        needed: Callable[..., Ints],
        upward: Floats,
        most: int = MOST_PORTS,
    ) -> Floats:
        """The least over all numbers of down ports up to one: switch and uplinks at ``upward`` each, by the port."""
        ports = np.arange(1, min(most, usable_ports(down, switch)) + 1)
        need = needed(ports, down, up)
        cost = self.costs.of(switch.item)[:, np.newaxis] + np.multiply.outer(upward, need)
        cost = np.where(need <= uplinks_that_fit(switch, down, up, ports), cost, np.inf)
        return np.asarray((cost / ports).min(axis=1))

    @remembered("spine-core")
    def core_link(self, up: PortType, protocol: str) -> Floats:
        """The least that one spine uplink costs with its core share."""
        best = np.full(self.costs.table.shape[0], np.inf)
        for core, down in self.cores(up.lane.port_mbps, protocol):
            share = self._share_alone(core, down)
            if (share < best).any():
                best = np.minimum(best, self.least_link(up, down.port, "spine-core", protocol) + share)
        return best
