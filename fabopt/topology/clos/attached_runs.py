"""Runs of attachments on a floor, measured between the racks of the appliances and of their switches, and the places of
those that stand with switches.

Rule ``attachment-runs``: the links of a fabric's attachments to a tier run as far as the farthest one of them, from any
device of an attachment to any switch that it has a port on. A device without a rack is at the flat distance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fabopt.floor.hosts import StandingDevices, place_hosts
from fabopt.floor.placement import space_in
from fabopt.floor.plan import FloorPlan
from fabopt.floor.racks import Positions, height_m
from fabopt.network.clos_stages import of_cores, of_leaves, of_spines
from fabopt.network.free_ports import HOST_TIERS
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Place
from fabopt.topology.clos.attached import dealt_ports, ports_on_leaves
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Ints
from fabopt.topology.clos.switch_sizes import switch_sizes
from fabopt.units import ceil_decimetres


def with_attached_runs(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> tuple[FabricProblem, ClosNetwork]:
    """A fabric and a Clos in racks with the measured runs of attachments; unchanged where nothing is measured."""
    if not problem.site.measures_attachments or not isinstance(clos.placement, RackPlacement):
        return fabric, clos
    runs_m = attached_runs_m(problem, fabric, clos, clos.placement)
    measured = replace(fabric, runs_m={**fabric.runs_m, **runs_m}, attachments_measured=True)
    return measured, clos._replace(attached_runs_m=tuple(sorted(runs_m.items())))


def with_hosts(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with the devices that stand with its switches in their racks; None if these have no room.

    Of an attachment each device has an equal part of the ports, in their order.
    """
    placement = clos.placement
    if not isinstance(placement, RackPlacement):
        return clos
    of_case, switches = problem.floor.appliances.hosts, _switches_of_ports(fabric, clos, placement)
    hosts = [
        StandingDevices(host, np.split(np.array(own, dtype=np.int64), host.attachment.devices))
        for own, demand in zip(switches, fabric.attachments, strict=True)
        if (host := of_case.get((fabric.name, demand.name))) is not None
    ]
    if not hosts:
        return clos
    sizes = switch_sizes(problem, fabric, clos.parts)
    space = space_in(placement.layout, sizes[0].nics_mw)
    for of_tier, size in zip(placement.positions, sizes, strict=True):
        space = space.without(of_tier.rack, size)
    racks = np.unique(np.concatenate([*_at_first(clos, placement)]))
    places = place_hosts(placement.layout.plan, space, racks, hosts)
    return None if places is None else clos._replace(placement=replace(placement, hosts=places))


def _at_first(clos: ClosNetwork, placement: RackPlacement) -> Iterator[Ints]:
    """Racks of the switches of each tier that the first stage installs."""
    for of_tier, stage_of in zip(placement.positions, (of_leaves, of_spines, of_cores), strict=False):
        is_first = stage_of(placement.numbers, clos.stages, np.arange(len(of_tier.rack))) == 0
        yield of_tier.rack[is_first] if clos.stages else of_tier.rack


def _switches_of_ports(fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement) -> list[list[int]]:
    """The rack of the switch of every port, attachment by attachment."""
    racks = [of_tier.rack.tolist() for of_tier in placement.positions]
    of_ports: list[list[int]] = [[] for _ in fabric.attachments]
    for port in dealt_ports(fabric, clos):
        of_ports[port.owner].append(racks[0][port.leaf])
    for owner, places in enumerate(clos.free):
        of_ports[owner] += [racks[HOST_TIERS.index(tier)][number] for tier, number in places]
    return of_ports


def attached_runs_m(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement
) -> dict[str, float]:
    """Longest run of attachments in metres, by kind of links (``attachment-leaf``, ``attachment-spine``)."""
    appliances = problem.floor.appliances
    in_racks = (*appliances.appliances, *appliances.hosts.values())
    heights = {appliance.key: appliance.attachment.rack_units or 0.0 for appliance in in_racks}
    runs_m: dict[str, float] = {}
    for (kind, owner), switches in _hosts(fabric, clos).items():
        key = fabric.name, fabric.attachments[owner].name
        places = appliances.places.get(key) or placement.hosts.get(key[1], ())
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
