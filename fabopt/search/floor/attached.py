"""Runs and room of the attachments of one candidate, for many places of its switches."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fabopt.floor.appliances import Appliance, may_hold
from fabopt.floor.free_space import FreeSpace
from fabopt.floor.plan import FloorPlan
from fabopt.floor.policies import SwitchSize
from fabopt.floor.racks import Floats, Positions
from fabopt.network.free_ports import HostTier, spread_over_racks
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.site import RUNS_OF_ATTACHMENTS
from fabopt.topology.clos.attached import with_attached_runs
from fabopt.topology.clos.devices_in_racks import with_hosts
from fabopt.topology.clos.free_ports import kinds_of_hosts, with_free_ports
from fabopt.topology.clos.network import ClosNetwork


class AttachedPlaces:
    """The attachments of a candidate. ``clos``: before its switches are placed."""

    def __init__(self, problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> None:
        self._problem, self._fabric, self._clos = problem, fabric, clos

    @cached_property
    def hosts(self) -> tuple[Appliance, ...]:
        """Devices that stand with the switches."""
        return tuple(one for one in self._problem.floor.appliances.hosts.values() if one.fabric == self._fabric.name)

    def may_stand(self, plan: FloorPlan, space: FreeSpace, size: SwitchSize, positions: tuple[Positions, ...]) -> bool:
        """Whether racks may hold the hosts; ``space``: below the topmost tier, whose switches are of ``size``."""
        if not self.hosts:
            return True
        racks = np.concatenate([of_tier.rack for of_tier in positions])
        return may_hold(plan, space.without(positions[-1].rack, size), racks, self.hosts)

    @cached_property
    def buys_measured(self) -> bool:
        """Whether parts are bought for runs that follow from where switches are."""
        return self._problem.site.measures_attachments and any(
            demand.buys != "none" for demand in self._fabric.attachments
        )

    def runs_m(self, clos: ClosNetwork) -> Floats | None:
        """Runs in metres by kind with the switches in their racks; shape (kinds,); None if some have no port, or hosts
        no room.
        """
        placed = self._with_ports(clos)
        placed = None if placed is None else with_hosts(self._problem, self._fabric, placed)
        if placed is None:
            return None
        runs_m = dict(with_attached_runs(self._problem, self._fabric, placed)[1].attached_runs_m)
        return np.array([runs_m.get(kind, 0.0) for kind in RUNS_OF_ATTACHMENTS])

    def _with_ports(self, clos: ClosNetwork) -> ClosNetwork | None:
        """The placed candidate with the switches of all ports; None if there are too few free ones.

        Ports that are dealt over all leaves decide which others are free, and depend on racks themselves.
        """
        if any(demand.is_dealt for demand in self._fabric.attachments):
            return with_free_ports(self._problem, self._fabric, clos)
        dealt, kinds = self._dealt
        if dealt is None:
            return None
        racks = clos.placement.racks_of_hosts if self._fabric.live.in_service is None else {}
        return clos._replace(free=tuple(spread_over_racks(dealt.free, racks, kinds)) if racks else dealt.free)

    @cached_property
    def _dealt(self) -> tuple[ClosNetwork | None, dict[HostTier, list[tuple[int, ...]]]]:
        """The candidate with its ports before switches that are alike change places, and keys of those alike."""
        return with_free_ports(self._problem, self._fabric, self._clos), kinds_of_hosts(self._fabric, self._clos)
