"""Devices of attachments that stand with the switches of a Clos, also those that rule ``appliance-racks`` moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from fabopt.floor.appliances import Appliance, ApplianceKey, StandingDevices, place_hosts, racks_in_use
from fabopt.floor.free_space import FreeSpace
from fabopt.floor.group_runs import classes_of_runs
from fabopt.floor.placement import space_left
from fabopt.floor.rack_rules import FEWEST_RACKS
from fabopt.network.clos_stages import of_cores, of_leaves, of_spines
from fabopt.network.free_ports import HOST_TIERS
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.attached import attached_runs_m, dealt_ports
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Ints
from fabopt.topology.clos.switch_sizes import switch_sizes


def with_hosts(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork | None:
    """A Clos with the devices that stand with its switches in their racks; None if these have no room.

    Of an attachment each device has an equal part of the ports, in their order.
    """
    placement = clos.placement
    if not isinstance(placement, RackPlacement):
        return clos
    hosts = _standing(fabric, clos, placement, problem.floor.appliances.hosts)
    if not hosts:
        return clos
    there = fabric.live.places_of([one.appliance.key[1] for one in hosts])
    new = [one for one in hosts if one.appliance.key[1] not in there]
    places = place_hosts(placement.layout.plan, *_beside_switches(problem, fabric, clos, placement), new) if new else {}
    return None if places is None else clos._replace(placement=replace(placement, hosts={**there, **places}))


def with_appliances(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> ClosNetwork:
    """A Clos with its hosts, and with the devices of every attachment moved to racks of its switches that rule
    ``appliance-racks`` has there: in the order of the case, after the hosts.
    """
    placement = clos.placement
    movable = problem.floor.appliances.movable if isinstance(placement, RackPlacement) else {}
    if not isinstance(placement, RackPlacement) or not movable:
        return clos
    hosts = _standing(fabric, clos, placement, problem.floor.appliances.hosts)
    live = fabric.live.places_of([one.appliance.key[1] for one in hosts])
    there = [one for one in hosts if one.appliance.key[1] not in live]
    plan, (space, racks) = placement.layout.plan, _beside_switches(problem, fabric, clos, placement)
    lengths = _lengths_of_attachments(problem, fabric, clos)
    # Rule ``appliances_stand_with_switches``
    for standing in _standing(fabric, clos, placement, movable):
        key = standing.appliance.key
        apart = racks_in_use((problem.floor.appliances.places[key],))
        places = place_hosts(plan, space, racks, [*there, standing])
        if places is not None and len(racks_in_use((places[key[1]],))) >= min(FEWEST_RACKS, len(apart)):
            moved = clos._replace(placement=replace(placement, hosts={**live, **places}))
            if _lengths_of_attachments(problem, fabric, moved) == lengths:
                clos, there = moved, [*there, standing]
    return clos


def _lengths_of_attachments(problem: Problem, fabric: FabricProblem, clos: ClosNetwork) -> dict[str, int]:
    """The class of lengths of the links of attachments, by kind; empty where nothing is bought by their runs."""
    bought = problem.site.measures_attachments and any(demand.buys != "none" for demand in fabric.attachments)
    if not bought or not isinstance(clos.placement, RackPlacement):
        return {}
    runs_m, lengths_m = attached_runs_m(problem, fabric, clos, clos.placement), problem.item_table.lengths_m
    return {kind: int(classes_of_runs(lengths_m, run_m)) for kind, run_m in runs_m.items()}


def _standing(
    fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement, appliances: Mapping[ApplianceKey, Appliance]
) -> list[StandingDevices]:
    """Those of some appliances that are of a fabric, each device with the racks of its switches."""
    of_ports = _switches_of_ports(fabric, clos, placement)
    return [
        StandingDevices(appliance, np.split(np.array(own, dtype=np.int64), appliance.attachment.devices))
        for own, demand in zip(of_ports, fabric.attachments, strict=True)
        if (appliance := appliances.get((fabric.name, demand.name))) is not None
    ]


def _beside_switches(
    problem: Problem, fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement
) -> tuple[FreeSpace, Ints]:
    """What the switches of a fabric leave in every rack, and the racks that they are in when new devices come: from the
    first stage on, beside those in service from the next one.
    """
    sizes = switch_sizes(problem, fabric, clos.parts)
    space = space_left(placement.layout, placement.numbers, sizes, placement.positions)
    stage = 0 if fabric.live.in_service is None else 1
    return space, np.unique(np.concatenate([*_there_by(stage, clos, placement)]))


def _there_by(stage: int, clos: ClosNetwork, placement: RackPlacement) -> Iterator[Ints]:
    """Racks of the switches of each tier that are installed by a stage."""
    for of_tier, stage_of in zip(placement.positions, (of_leaves, of_spines, of_cores), strict=False):
        is_there = stage_of(placement.numbers, clos.stages, np.arange(len(of_tier.rack))) <= stage
        yield of_tier.rack[is_there] if clos.stages else of_tier.rack


def _switches_of_ports(fabric: FabricProblem, clos: ClosNetwork, placement: RackPlacement) -> list[list[int]]:
    """The rack of the switch of every port, attachment by attachment."""
    racks = [of_tier.rack.tolist() for of_tier in placement.positions]
    of_ports: list[list[int]] = [[] for _ in fabric.attachments]
    for port in dealt_ports(fabric, clos):
        of_ports[port.owner].append(racks[0][port.leaf])
    for owner, places in enumerate(clos.free):
        of_ports[owner] += [racks[HOST_TIERS.index(tier)][number] for tier, number in places]
    return of_ports
