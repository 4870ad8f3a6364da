"""Runs of attachments on a floor, measured between the racks of the appliances and of their switches.

Rule ``attachment-runs``: the links of a fabric's attachments to a tier run as far as the farthest one of them, from any
device of an attachment to any switch that it has a port on. A device without a rack is at the flat distance.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import Positions, height_m
from fabopt.network.free_ports import HOST_TIERS
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Place
from fabopt.topology.clos.attached import ports_on_leaves
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Ints
from fabopt.units import ceil_decimetres


def with_attached_runs(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> tuple[FabricProblem, ClosNetwork]:
    """A fabric and a Clos in racks with the measured runs of attachments; unchanged where nothing is measured."""
    if not problem.site.measures_attachments or not isinstance(clos.placement, RackPlacement):
        return fabric, clos
    runs_m = attached_runs_m(problem, fabric, clos, clos.placement)
    measured = replace(fabric, runs_m={**fabric.runs_m, **runs_m}, attachments_measured=True)
    return measured, clos._replace(attached_runs_m=tuple(sorted(runs_m.items())))


def attached_runs_m(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement
) -> dict[str, float]:
    """Longest run of attachments in metres, by kind of links (``attachment-leaf``, ``attachment-spine``)."""
    appliances = problem.floor.appliances
    heights = {appliance.key: appliance.attachment.rack_units or 0.0 for appliance in appliances.appliances}
    runs_m: dict[str, float] = {}
    for (kind, owner), switches in _hosts(fabric, clos).items():
        key = fabric.name, fabric.attachments[owner].name
        places = appliances.places.get(key, ())
        run_m = problem.site.given[kind]
        if places:
            tier = placement.positions[HOST_TIERS.index("leaf" if kind == "attachment-leaf" else "spine")]
            run_m = _farthest_m(placement.layout.plan, places, heights[key], tier, switches)
        runs_m[kind] = max(run_m, runs_m.get(kind, 0.0))
    return runs_m


def _hosts(fabric: FabricProblem, clos: ClosNetwork) -> dict[tuple[str, int], Ints]:
    """Switches that an attachment has ports on, by (kind of links, attachment index); ports of servers left out."""
    hosts: dict[tuple[str, int], set[int]] = defaultdict(set)
    for leaf, owner in ports_on_leaves(fabric, clos):
        hosts["attachment-leaf", owner].add(leaf)
    for owner, places in enumerate(clos.free):
        for tier, number in places:
            hosts[f"attachment-{tier}", owner].add(number)
    return {
        (kind, owner): np.array(sorted(numbers), dtype=np.int64)
        for (kind, owner), numbers in hosts.items()
        if fabric.attachments[owner].nic is None
    }


def _farthest_m(plan: FloorPlan, places: tuple[Place, ...], units: float, tier: Positions, switches: Ints) -> float:
    """Longest run from any of the appliances to any of the switches, in metres, rounded up to decimetres."""
    racks = np.repeat([plan.rack_index(rack) for rack, _ in places], len(switches))
    heights_m = np.repeat([float(height_m(unit, units)) for _, unit in places], len(switches))
    hosts = np.tile(switches, len(places))
    return ceil_decimetres(float(plan.run_m(racks, heights_m, tier.rack[hosts], tier.height_m[hosts]).max()))
