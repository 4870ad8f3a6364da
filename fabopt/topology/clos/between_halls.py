"""Rule ``halls_carry_demand``: what leaves each of several halls, against the endpoints on its smaller side; and the
fibres that this, or the ratios of its tiers, take at least.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from fabopt.floor.fill import strands_of
from fabopt.network.expand import links_of_clos
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.base import parse_split
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.placement import RackPlacement
from fabopt.topology.clos.shape import Parts, Shape

TWO = 2
# What floating point may be off by.
ROUNDING = 1e-9
# Fibres of a cable that is sold with its ends on.
PAIR_OF_FIBRES = 2


def joins_halls(fabric: FabricProblem, clos: ClosNetwork) -> bool:
    """Whether enough links leave every hall; True where the case has no limit for them."""
    most = fabric.ratios.hall
    if most is None or not isinstance(clos.placement, RackPlacement):
        return True
    return all(inside <= most * leaving for inside, leaving in _mbps_of_halls(clos, clos.placement))


def ratio_of_halls(clos: ClosNetwork) -> Fraction | None:
    """The least limit that a placed network keeps; None where endpoints of a hall have no link out of it."""
    assert isinstance(clos.placement, RackPlacement)
    sides = [(inside, leaving) for inside, leaving in _mbps_of_halls(clos, clos.placement) if inside]
    if any(not leaving for _, leaving in sides):
        return None
    return max((inside / leaving for inside, leaving in sides), default=Fraction(0))


def _mbps_of_halls(clos: ClosNetwork, placement: RackPlacement) -> list[tuple[int, Fraction]]:
    """Mb/s of the endpoints on the smaller side of each hall's boundary, and of the links that cross it."""
    plan, parts = placement.layout.plan, clos.parts
    halls = int(plan.hall_of.max(initial=0)) + 1
    leaving = [0] * halls
    speeds = {"server-leaf": parts.nic.port.lane.port_mbps}
    if parts.leaf_up is not None:
        speeds["leaf-spine"] = parts.leaf_up.lane.port_mbps
    if parts.spine_up is not None:
        speeds["spine-core"] = parts.spine_up.lane.port_mbps
    for kind, mbps in speeds.items():
        links, (below, above) = links_of_clos(placement.numbers, kind, 1), placement.ends(kind)
        near, far = plan.hall_of[below.rack[links.a]], plan.hall_of[above.rack[links.b]]
        crossing = near != far
        counts = np.bincount(near[crossing], minlength=halls) + np.bincount(far[crossing], minlength=halls)
        leaving = [so_far + mbps * int(count) for so_far, count in zip(leaving, counts, strict=True)]
    servers = np.bincount(plan.hall_of[placement.layout.server_rack], minlength=halls).tolist()
    of_server = parts.nic.ports_per_server * parts.nic.port.lane.port_mbps
    return [
        (min(own, sum(servers) - own) * of_server, Fraction(out)) for own, out in zip(servers, leaving, strict=True)
    ]


def fibres_needed(problem: Problem) -> dict[str, int]:
    """Fibres that no design has fewer of on the routes out of a hall together, by hall; halls that need none left out.

    Mb/s that leave at least, by the servers that the other halls have no racks for, over the most Mb/s that a fibre of
    any part for the shortest route carries. Any servers of a Clos can send to as many others what its ratios leave of
    their ports, all at once, so that no cut through it carries less for the servers on its smaller side.
    """
    needed = dict[str, Fraction]()
    for hall, inside in zip(problem.case.site.halls, _fewest_inside(problem), strict=True):
        least_m = min((route.m for route in problem.case.site.routes if hall.name in route.between), default=0.0)
        for fabric in problem.fabrics if inside > 0 else ():
            ratio, rate = _ratio_between_halls(problem, fabric), _mbps_of_a_fibre(problem, fabric, least_m)
            if ratio is not None and rate:
                nics = (nic for of_protocol in fabric.nics.values() for nic in of_protocol)
                of_server = min((nic.ports_per_server * nic.port.lane.port_mbps for nic in nics), default=0)
                leaving = inside * of_server / ratio
                needed[hall.name] = needed.get(hall.name, Fraction(0)) + leaving / rate
    return {hall: ceil(fibres) for hall, fibres in needed.items()}


def _ratio_between_halls(problem: Problem, fabric: FabricProblem) -> Fraction | None:
    """The most oversubscription of what leaves a hall that any limit of a fabric allows; None where there is none."""
    limits = [fabric.ratios.hall]
    if fabric.shapes.topologies == ("clos",) and len(problem.stages) == 1 and fabric.live.in_service is None:
        of_tiers = (fabric.ratios.leaf, fabric.ratios.spine)[: max(fabric.shapes.tiers) - 1]
        limits.append(prod(of_tiers, start=Fraction(1)))
    return min((limit for limit in limits if limit is not None), default=None)


def _fewest_inside(problem: Problem) -> list[int]:
    """Servers that the smaller side of each hall's boundary has at least."""
    site = problem.floor
    plan, halls = site.plan, len(problem.case.site.halls)
    racks = np.flatnonzero(plan.usable) if plan.server_racks is None else plan.server_racks
    room = (np.bincount(plan.hall_of[racks], minlength=halls) * site.servers_per_rack).tolist()
    ends = ((max(0, problem.servers - sum(room) + own), min(own, problem.servers)) for own in room)
    return [min(min(number, problem.servers - number) for number in both) for both in ends]


def may_join_halls(problem: Problem, fabric: FabricProblem, parts: Parts, shape: Shape) -> NDArray[np.bool_]:
    """Mask of the sizes of which enough links may leave every hall, wherever switches stand, shape (rows,).

    Where fabrics are spread over halls only links to the highest tier leave, of two halls half of them but for an odd
    switch.
    """
    # Rule ``halls_carry_demand``
    most, planes = fabric.ratios.hall, parts.nic.planes
    if most is None or parts.leaf_up is None:
        return np.ones(np.size(shape.g), dtype=np.bool_)
    site, of_servers = problem.case.site, problem.servers * parts.nic.ports_per_server * parts.nic.port.lane.port_mbps
    kinds, switches = [of_servers, planes * shape.uplinks * parts.leaf_up.lane.port_mbps], shape.spines
    if parts.spine_up is not None:
        of_spines = planes * shape.pods * shape.spines * shape.x
        kinds, switches = [*kinds, of_spines * parts.spine_up.lane.port_mbps], planes * shape.cores
    leaving = np.asarray(kinds[-1] if site.spread == "halls" else sum(kinds), dtype=float)
    in_two = site.spread == "halls" and len(site.halls) == TWO
    if in_two and fabric.live.in_service is None and not np.any(shape.is_uneven):
        leaving = leaving * (switches + switches % TWO) / (TWO * switches)
    inside = max(_fewest_inside(problem)) * of_servers / problem.servers
    return np.asarray(leaving * float(most) >= inside * (1 - ROUNDING))


def _mbps_of_a_fibre(problem: Problem, fabric: FabricProblem, run_m: float) -> Fraction:
    """The most Mb/s that a fibre of any part carries between devices of a fabric over a run; of cables that are sold
    with their ends on, which count as a pair, those of the larger end.
    """
    rates = [Fraction(0)]
    for protocol in fabric.protocols:
        of_tiers = fabric.switches.get(protocol, {}).values()
        ports = {use.port for switches in of_tiers for switch in switches for use in switch.uses}
        ports |= {nic.port for nic in fabric.nics.get(protocol, ())}
        for module in (module for port in ports for module in problem.links.modules(port, protocol, True)):
            lane, product = parse_split(module.split), module.product
            if product.reach_m >= run_m:
                strands = product.connectors * strands_of(product.connector)
                rates.append(Fraction(lane.ports * lane.port_mbps, strands))
    for cable in problem.catalog.cables:
        if any(length.m >= run_m for length in cable.lengths):
            lanes = [(parse_split(end.split), end.count) for end in cable.ends]
            rates.append(Fraction(max(lane.ports * lane.port_mbps * count for lane, count in lanes), PAIR_OF_FIBRES))
    return max(rates)
