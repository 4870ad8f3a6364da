"""The NICs and switches that a search of a fabric looks at, without those whose place others take."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.dominance import SwitchRivals, undominated_nics
from fabopt.topology.clos.last_leaves import LeavesByPorts, leaves_by_ports
from fabopt.topology.clos.link_bounds import LinkBounds
from fabopt.topology.clos.most_ports import MOST_PORTS, MostPorts
from fabopt.topology.clos.scopes import scope_key
from fabopt.topology.clos.shape import SwitchUse, usable_ports
from fabopt.topology.link_parts import Costs, Floats
from fabopt.topology.remembered import Scope, remembered
from fabopt.units import grouped


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
        self._scopes: dict[tuple[str, ...], Scope] = {}

    def scope(self, runs: tuple[str, ...]) -> Scope:
        """The store of bounds that depend on the runs of these kinds of links, shared by fabrics with equal ones."""
        if runs not in self._scopes:
            most, site = (self.most.on_leaf, self.most.servers_in_last, self.most.on_last), self.problem.site
            racks = site.rack_power_w, site.rack_limits
            self._scopes[runs] = self.costs.scope((self.prune, racks, scope_key(self.problem, self.fabric, runs, most)))
        return self._scopes[runs]

    def nics(self, protocol: str) -> list[NicOption]:
        """Ways to equip servers whose port speed attachments can have too."""
        return self._nics_of(self.fabric.nics.get(protocol, ()))

    @remembered("attachment-leaf")
    def _nics_of(self, all_: tuple[NicOption, ...]) -> list[NicOption]:
        options = list(all_)
        for attachment in self.fabric.attachments:
            speed = attachment.port_mbps
            options = [nic for nic in options if speed in (None, nic.port.lane.port_mbps)]
        keep = self.prune and self.problem.prunes
        return undominated_nics(options, by_injection=self.fabric.figure_demands is not None) if keep else options

    @remembered("attachment-leaf")
    def switches(self, protocol: str, role: str) -> list[SwitchType]:
        """Switch types for a role, without dominated ones."""
        options = list(self.fabric.switches[protocol][role])
        return self._rivals(protocol, role == "leaf").undominated(options) if self.prune else options

    def _rivals(self, protocol: str, of_leaves: bool = False) -> SwitchRivals:
        return SwitchRivals(self.problem, self.fabric, protocol, of_leaves and protocol in self.fabric.last_leaf)

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
        if not self.most.servers_in_last or block.protocol not in self.fabric.last_leaf:
            return []
        alike = self._leaves_by_ports(block.protocol)[block.down.port, block.uplinks.port]
        joined = block.leaf.peers is not None
        return [use for use in alike if use.switch.id != block.leaf.id and (use.switch.peers is not None) == joined]

    @remembered("attachment-leaf")
    def _leaves_by_ports(self, protocol: str) -> LeavesByPorts:
        by_ports = leaves_by_ports(self.switches(protocol, "leaf"))
        return {ports: self._undominated_uses(uses, protocol, of_leaves=True) for ports, uses in by_ports.items()}

    def share_alone(self, switch: SwitchType, down: CageUse, most: int = MOST_PORTS) -> Floats:
        """Cost share of one down port in a switch that has ``most`` of them, tiers above left out, shape (metrics,)."""
        return np.asarray(self.costs.of(switch.item) / min(most, usable_ports(down, switch)))
