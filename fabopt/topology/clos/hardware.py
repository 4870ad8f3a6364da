"""The NICs that a search of a fabric looks at, and the switches without those whose place others take."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import product

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.blocks import Block, Lower
from fabopt.topology.clos.dominance import SwitchRivals
from fabopt.topology.clos.link_bounds import LinkBounds
from fabopt.topology.clos.scopes import scope_key
from fabopt.topology.clos.shape import Ints, SwitchUse, usable_ports
from fabopt.topology.link_parts import Costs, Floats
from fabopt.topology.remembered import Scope, Scopes, remembered
from fabopt.topology.spans import group_sizes
from fabopt.units import ceil_of, grouped

# -- leaves of a differing last group: the types on offer, and the cost that such leaves can save ---------------------


# by the cages' ports, down and up
LeavesByPorts = Mapping[tuple[PortType, PortType], list[SwitchUse]]


def leaves_by_ports(switches: Sequence[SwitchType]) -> LeavesByPorts:
    """Uses of switches by the kinds of their ports, down and up, as parts see them."""
    uses = ((switch, *ends) for switch in switches for ends in product(switch.uses, switch.up_uses))
    return grouped(((down.port, up.port), SwitchUse(switch, down, up)) for switch, down, up in uses)


def most_in_last_group(fabric: FabricProblem, servers: int) -> int:
    """Most servers of a differing last group, over the group sizes of the fabric; 0 if there is none."""
    if not fabric.last_may_differ:
        return 0
    if fabric.runs.span is None:  # of two groups the smaller one
        return servers // 2
    g = group_sizes(fabric, servers - 1)
    return int((servers - (ceil_of(servers, g) - 1) * g).max(initial=0))


class Saving:
    """Cost that a last group of at most ``most_servers`` can save on some leaves; it fits on one leaf of each rail."""

    def __init__(self, lowers: Sequence[Lower], nic: NicOption, most_servers: int) -> None:
        self._shares = np.array([lower.share for lower in lowers])
        on_leaf = [min(most_servers, usable_ports(lower.down, lower.leaf)) for lower in lowers]
        self._ports = np.array(on_leaf)[:, np.newaxis] * nic.ports_per_server

    def beside(self, share: Floats) -> Floats:
        """Most that is saved where a port of the other groups has cost ``share``, as an addend: 0 or less.

        Shape of ``share``, (metrics,) or (metrics, sizes).
        """
        if not self._shares.size:
            return np.zeros_like(share)
        can_be = np.isfinite(share[0])
        saved = self._ports * (self._shares - np.where(can_be, share, 0.0).T[..., np.newaxis, :])
        return np.where(can_be, saved.min(axis=-2, initial=0.0).T, 0.0)


# -- upper bounds of servers' ports on a leaf, over the group sizes of a fabric ---------------------------------------


# More ports than any switch has.
MOST_PORTS = 2**31


class MostPorts:
    """Upper bounds of servers' ports on leaves of one fabric."""

    def __init__(self, fabric: FabricProblem, servers: int) -> None:
        self._fabric = fabric
        self._servers = servers

    @cached_property
    def on_leaf(self) -> int:
        """Most server ports of a leaf, a differing last group left out."""
        if self._fabric.runs.span is None:
            return MOST_PORTS
        return int(
            self.in_groups(np.array(min(self._servers - self._fabric.last_may_differ, self._fabric.runs.span.group[1])))
        )

    def in_groups(self, g: Ints) -> Ints:
        """Most server ports of a leaf of a group of ``g`` servers, a differing last group left out, shape of ``g``."""
        # Rule ``rails_are_aligned``
        alone = self._fabric.leaf_groups.aligned & (g < self._servers)
        return np.asarray(np.where(alone, g, g * self._together))

    @cached_property
    def servers_in_last(self) -> int:
        """Most servers of a differing last group; 0: there is none."""
        return most_in_last_group(self._fabric, self._servers)

    @cached_property
    def on_last(self) -> int:
        """Most server ports of a leaf of a differing last group."""
        return self.servers_in_last * self._together

    @cached_property
    def _together(self) -> int:
        """Most ports of one server on a leaf."""
        nics = (option for options in self._fabric.nics.values() for option in options)
        return max((nic.ports_per_plane for nic in nics), default=1)


# -- hardware ---------------------------------------------------------------------------------------------------------


class ScopedCosts(Costs):
    """Sums of item weights as ``Costs``, with the stores of what follows from them and from some hardware.

    ``table`` has shape (metrics, items), ``steps`` shape (stages - 1, items).
    """

    def __init__(self, table: Floats, steps: Floats | None = None) -> None:
        super().__init__(table, steps)
        self._scopes: dict[Hashable, Scope] = {}

    def scope(self, hardware: Hashable) -> Scope:
        """The store of bounds at these weights that share ``hardware``, a key of hardware and runs."""
        return self._scopes.setdefault(hardware, Scope())


class Hardware(LinkBounds):
    """The NICs and switches of one fabric and their cost shares at some weights; ``prune``: without dominated ones."""

    costs: ScopedCosts

    def __init__(self, problem: Problem, fabric: FabricProblem, costs: ScopedCosts, prune: bool) -> None:
        super().__init__(problem, fabric, costs)
        self.prune = prune
        self.most = MostPorts(fabric, problem.servers)
        self.scopes = Scopes(self._scope)

    def _scope(self, runs: tuple[str, ...]) -> Scope:
        """The store of bounds that depend on the runs of these kinds of links, shared by fabrics with equal ones."""
        most, site = (self.most.on_leaf, self.most.servers_in_last, self.most.on_last), self.problem.site
        racks = site.most_in_rack, site.most_without_servers, site.rack_limits
        return self.costs.scope((self.prune, racks, scope_key(self.problem, self.fabric, runs, most)))

    def nics(self, protocol: str) -> list[NicOption]:
        """Ways to equip servers whose port speed attachments can have too."""
        speeds = {attachment.port_mbps for attachment in self.fabric.attachments} - {None}
        return [nic for nic in self.fabric.nics.get(protocol, ()) if speeds <= {nic.port.lane.port_mbps}]

    @remembered("attachment-leaf")
    def switches(self, protocol: str, role: str) -> list[SwitchType]:
        """Switch types for a role, without dominated ones."""
        options = list(self.fabric.switches[protocol][role])
        return self._rivals(protocol, role == "leaf").undominated(options) if self.prune else options

    def _rivals(self, protocol: str, of_leaves: bool = False) -> SwitchRivals:
        return SwitchRivals(
            self.problem, self.fabric, protocol, of_leaves and protocol in self.fabric.leaf_groups.last.own_leaf
        )

    def _undominated_uses(self, uses: list[SwitchUse], protocol: str, of_leaves: bool = False) -> list[SwitchUse]:
        return self._rivals(protocol, of_leaves).undominated_uses(uses) if self.prune else uses

    def up_uses(self, leaf: SwitchType, down: CageUse, protocol: str) -> list[CageUse]:
        """Uses of a leaf's cages for uplinks beside those for servers, without those with which another leaf is as
        good.
        """
        return self._up_uses(protocol, down.lane.port_mbps).get((leaf, down), [])

    @remembered("attachment-leaf")
    def _up_uses(self, protocol: str, port_mbps: int) -> Mapping[tuple[SwitchType, CageUse], list[CageUse]]:
        uses = [
            SwitchUse(leaf, down, up)
            for leaf in self.switches(protocol, "leaf")
            for down in leaf.uses
            for up in leaf.up_uses
            if down.lane.port_mbps == port_mbps
        ]
        return grouped(
            ((leaf, down), up)
            for leaf, down, up in self._undominated_uses(uses, protocol, of_leaves=True)
            if up is not None
        )

    @remembered()
    def uppers(self, port_mbps: int, protocol: str, tiers: int) -> list[SwitchUse]:
        """Spine switches for leaf uplinks of a speed, the cheapest share first."""
        uses = [
            SwitchUse(spine, down, up)
            for spine in self.switches(protocol, "spine")
            for down in spine.uses
            if down.lane.port_mbps == port_mbps
            for up in (spine.uses if tiers == 3 else (None,))
        ]
        uppers = self._undominated_uses(uses, protocol)
        return sorted(uppers, key=lambda upper: float(self.share_alone(upper.switch, upper.down)[0]))

    @remembered()
    def cores(self, port_mbps: int, protocol: str) -> list[SwitchUse]:
        """Core switches for spine uplinks of a speed."""
        cores = (SwitchUse(core, down) for core in self.switches(protocol, "core") for down in core.uses)
        return self._undominated_uses([core for core in cores if core.down.lane.port_mbps == port_mbps], protocol)

    def last_leaves(self, block: Block) -> list[SwitchUse]:
        """Other leaf types for the last group of a block, whose cages take the same parts as the block's."""
        if not self.most.servers_in_last or block.protocol not in self.fabric.leaf_groups.last.own_leaf:
            return []
        alike = self.leaves_with(block.protocol, block.down.port, block.uplinks.port)
        joined = block.leaf.peers is not None
        return [use for use in alike if use.switch.id != block.leaf.id and (use.switch.peers is not None) == joined]

    @remembered("attachment-leaf")
    def _leaves_by_ports(self, protocol: str) -> LeavesByPorts:
        return leaves_by_ports(self.switches(protocol, "leaf"))

    @remembered("attachment-leaf")
    def leaves_with(self, protocol: str, down: PortType, up: PortType) -> list[SwitchUse]:
        """Uses of leaves with such cages, down and up, without those with which another one is as good."""
        return self._undominated_uses(self._leaves_by_ports(protocol)[down, up], protocol, of_leaves=True)

    def share_alone(self, switch: SwitchType, down: CageUse, most: int = MOST_PORTS) -> Floats:
        """Cost share of one down port in a switch that has ``most`` of them, tiers above left out, shape (metrics,)."""
        return np.asarray(self.costs.of(switch.item) / min(most, usable_ports(down, switch)))
