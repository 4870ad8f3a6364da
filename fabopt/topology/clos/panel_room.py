"""Room in the racks of a Clos for the panels of its links through trunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from fabopt.floor.layouts import Layout
from fabopt.floor.placement import place
from fabopt.parts.items import Item
from fabopt.parts.lookup import Lookup
from fabopt.parts.trunks import TrunkedKind
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.trunk_parts import units_of_panels
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Ints, Parts, Shape
from fabopt.topology.clos.switch_sizes import least_units_per_link, switch_sizes
from fabopt.topology.clos.trunked import LinksBetween

_UNITS: Lookup[Problem, None, dict[Item, int]] = Lookup()
_LEAST: Lookup[Problem, None, float] = Lookup()
# Decimals of units, so that no error of a fraction makes one more.
ROUNDED = 6


def units_for_panels(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> Ints | None:
    """Units of every rack that nothing of a fabric fills but panels, shape (racks,); None where they are not counted.

    Of several fabrics each counts what is its own, so a rack may still lack room for the panels of all.
    """
    placement = clos.placement
    if not isinstance(placement, RackPlacement) or not problem.floor.panels_fit:
        return None
    layout, limits, rules = placement.layout, problem.floor.plan.limits, problem.case.site.rack_rules
    plan, server = layout.plan, layout.server_size
    kept = limits.kept_units - min(limits.kept_units, rules.patch_panel_units)
    per_server = np.ceil(server.height_u) if not server.is_whole else plan.floor.rack_units
    left = plan.floor.rack_units - kept - layout.servers_in_rack * int(per_server)
    switches = np.zeros(len(plan), dtype=np.int64)
    for of_tier, size in zip(placement.positions, switch_sizes(problem, fabric, clos.parts), strict=True):
        there = np.bincount(of_tier.rack, minlength=len(plan))
        left, switches = left - there * size.units, switches + there
    racks = problem.floor.appliances
    for appliance in (*racks.hosts.values(), *racks.appliances):
        places = placement.hosts.get(appliance.key[1], ()) if appliance.fabric == fabric.name else ()
        np.subtract.at(left, plan.indices(rack for rack, _ in places), appliance.units)
    return np.asarray(left - limits.managers(switches))


def lack_room(problem: Problem, left: Ints | None, kinds: Iterable[LinksBetween]) -> bool:
    """Whether some rack has too few units for the panels of some kinds of links, whatever their trunks and panels are;
    ``left``: as of ``have_room``, shape (racks,).
    """
    if left is None:
        return False
    least, taken = _LEAST.of(problem, None, least_units_per_link, problem), np.zeros(len(left))
    for between in kinds:
        links = np.bincount(between.racks.ravel(), np.tile(between.links[:, -1], 2), minlength=len(left))
        taken += np.ceil(np.round(links * least, ROUNDED))
        if (taken > np.maximum(left, 0)).any():
            return True
    return False


def have_room(problem: Problem, left: Ints | None, kinds: Iterable[TrunkedKind]) -> bool:
    """Whether every rack has units for the panels of some kinds of links. Rule ``panels_fit_racks``

    ``left``: units for panels, shape (racks,); None: they are not counted.
    """
    if left is None:
        return True
    units, taken = _UNITS.of(problem, None, units_of_panels, problem), np.zeros_like(left)
    for trunking in (kind.trunking for kind in kinds):
        heights = [sum(units[item] * count for _, item, count in pieces) for pieces in trunking.panels.pieces]
        taken[trunking.racks] += np.array(heights)[trunking.panels.of_row]
    return bool((taken <= np.maximum(left, 0)).all())


def differs_with_panels(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape, layout: Layout) -> bool:
    """Whether the switches of a candidate stand in other racks of a layout where they leave room for their panels."""
    of = numbers_of(parts.nic, shape), switch_sizes(problem, fabric, parts)
    plain, roomy = place(layout, *of), place(replace(layout, keeps_panels=True), *of)
    if plain is None or roomy is None:
        return plain is not roomy
    return any((own.rack != other.rack).any() for own, other in zip(plain, roomy, strict=True))
