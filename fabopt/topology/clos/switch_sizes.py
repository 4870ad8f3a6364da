"""Rack space, power and cable ends of the switches of a Clos."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.floor.airflow import ANY_AIR, HallAir, hall_air
from fabopt.floor.loads import ANY_LOAD, NO_LOAD, RackLoad, load_of, load_of_switch
from fabopt.floor.policies import SwitchSize
from fabopt.floor.rack_rules import NO_LIMIT
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import TIER_ROLES, CageUse, SwitchType, ports_of_groups
from fabopt.problem.attachments import Twin
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.trunk_parts import trunk_parts, units_of_panels
from fabopt.topology.clos.shape import Parts
from fabopt.units import exact, milliwatts

_MODULES: Lookup[LinkTable, tuple[SwitchType, tuple[CageUse, ...], str], int] = Lookup()
_AIRS: Lookup[Problem, None, tuple[HallAir, ...]] = Lookup()
_SIZES: Lookup[Problem, tuple[tuple[SwitchType, ...], tuple[CageUse, ...], str], SwitchSize] = Lookup()


def airs_of(problem: Problem) -> tuple[HallAir, ...]:
    """The ways in which switches may blow on the floor of a problem. Rule ``racks_blow_one_way``."""
    return _AIRS.of(problem, None, _airs_of, problem)


def _airs_of(problem: Problem) -> tuple[HallAir, ...]:
    used = {
        switch.product.id: switch.product
        for fabric in problem.fabrics
        for roles in fabric.switches.values()
        for switches in roles.values()
        for switch in switches
    }
    return hall_air(problem.case, problem.server, (product.airflows for product in used.values()))


def switch_sizes(problem: Problem, fabric: FabricProblem, parts: Parts) -> tuple[SwitchSize, ...]:
    """Rack space of a switch of each tier, from the leaves up."""
    tiers: list[tuple[SwitchType | None, tuple[CageUse | None, ...]]] = [
        (parts.leaf, (parts.leaf_down, parts.leaf_up)),
        (parts.spine, (parts.spine_down, parts.spine_up)),
        (parts.core, (parts.core_down,)),
    ]
    leaf, *above = (
        size_in_tier(problem, fabric, tier, switch, of_tier, parts.protocol)
        for tier, (switch, uses) in enumerate(tiers)
        if switch is not None
        for of_tier in (tuple(use for use in uses if use is not None),)
    )
    return leaf._replace(nics=nics_load(problem, fabric, parts.nic, parts.protocol)), *above


# Kinds of links at a switch of each tier.
_KINDS = (("server-leaf", "leaf-spine"), ("leaf-spine", "spine-core"), ("spine-core",))
_ROUNDED = 1.15


def panels_u(problem: Problem, fabric: FabricProblem, tier: int, uses: tuple[CageUse, ...]) -> float:
    """About the units of the panels for all ports of a switch of a tier (0: leaves) whose links may run through trunks,
    spare legs among them; 0 where panels stand at the ends of rows.
    """
    words = problem.case.trunked_of(fabric.name)
    if not words:
        return 0.0
    ports = sum(use.cages * use.lane.ports for kind, use in zip(_KINDS[tier], uses, strict=False) if kind in words)
    is_beside = ports and not problem.site.runs_are_alike and not problem.floor.ends
    return ports * _UNITS_PER_LINK.of(problem, None, _units_per_link, problem) if is_beside else 0.0


_UNITS_PER_LINK: Lookup[Problem, None, float] = Lookup()


def _units_per_link(problem: Problem) -> float:
    """About the units of the panels that hold a leg for the least. Legs of a route are whole."""
    cheapest = (min(of_parts)[1] for of_parts in _panels(problem))
    return min(cheapest, default=0.0) * (_ROUNDED if problem.case.site.spare_legs else 1.0)


def least_units_per_link(problem: Problem) -> float:
    """The least units that a link takes of any panels, with those of its share of spare legs."""
    return min((units for of_parts in _panels(problem) for _, units in of_parts), default=0.0)


def _panels(problem: Problem) -> Iterator[list[tuple[float, float]]]:
    """What a link takes of the price and of the units of each panel of all parts for trunks."""
    spare, units = exact(problem.case.site.spare_legs), units_of_panels(problem)
    for parts in trunk_parts(problem):
        shares = ((item, float((1 + spare) / (legs * parts.links_per_leg))) for item, legs in parts.panels)
        yield [(item.unit_cents[0] * share, units[item] * share) for item, share in shares]


def leaf_size(
    problem: Problem, fabric: FabricProblem, nic: NicOption, leaf: SwitchType, uses: tuple[CageUse, ...], protocol: str
) -> SwitchSize:
    """Rack space, load and cable ends of a leaf, and the load of NICs of a full rack of servers."""
    size = size_in_tier(problem, fabric, 0, leaf, uses, protocol)
    return size._replace(nics=nics_load(problem, fabric, nic, protocol))


def nics_load(problem: Problem, fabric: FabricProblem, nic: NicOption, protocol: str) -> RackLoad:
    """RackLoad of the NICs bought for a fabric and for logical ones on it in a full rack of servers, with the hungriest
    modules in all their cages, and those of built-in NICs; 0 where no rack has a limit on it. Their heat goes to air.
    """
    if problem.site.most_in_rack == ANY_LOAD:
        return NO_LOAD
    nics = [nic, *(demand.nic for demand in fabric.attachments if demand.nic is not None)]
    used_mw = problem.floor.servers_per_rack * sum(option.most_mw(problem.links, protocol) for option in nics)
    return load_of(used_mw, None, None).limited(problem.site.most_in_rack)


def size_in_tier(
    problem: Problem, fabric: FabricProblem, tier: int, switch: SwitchType, uses: tuple[CageUse, ...], protocol: str
) -> SwitchSize:
    """Rack space of a new switch of a tier (0: leaves), with the panels of its links; beside those in service as the
    hungriest of the products that it may be of, and that of each product there.
    """
    rule, role = fabric.interchangeable, TIER_ROLES[tier]
    beside = None if rule is None else rule.beside.get(role)
    new = (switch,) if beside is None else beside.new or (switch,)
    size = switch_size(problem, new, uses, protocol)
    if beside is not None:
        there = tuple(switch_size(problem, (own,), uses, protocol) for own, _ in beside.standing)
        size = size._replace(there=() if {*there} == {size} else there)
    panels = panels_u(problem, fabric, tier, uses)
    return size._replace(panels_u=panels) if panels else size


def switch_size(
    problem: Problem, products: tuple[SwitchType, ...], uses: tuple[CageUse, ...], protocol: str
) -> SwitchSize:
    """Rack units of a switch, its load with the hungriest modules in all cages of the groups in use, and the ports of
    these (each 0 where no rack has a limit on it). The maker's maximum counts if it is more, and where the switch may
    be of several products with the same ports, or exchanged for its managed twin, the most of any.
    """
    return _SIZES.of(problem, (products, uses, protocol), _switch_size, problem, products, uses, protocol)


def _switch_size(
    problem: Problem, products: tuple[SwitchType, ...], uses: tuple[CageUse, ...], protocol: str
) -> SwitchSize:
    uses = products[0].whole(*uses)
    ends = 0 if problem.site.rack_limits.cable_ends == NO_LIMIT else ports_of_groups(uses)
    most, height_u = problem.site.most_in_rack, float(products[0].product.rack_units)
    size = SwitchSize(height_u, NO_LOAD, ends)
    if most == ANY_LOAD and airs_of(problem) == (ANY_AIR,):
        return size
    rules = (fabric.rules.binding_managers for fabric in problem.fabrics if fabric.rules.binding_managers is not None)
    twins = (rule.twins[one.id] for rule in rules for one in products if one.id in rule.twins)
    switches: list[SwitchType | Twin] = [*products, *twins]
    if airs_of(problem) != (ANY_AIR,):
        known = [frozenset(one.product.airflows) for one in switches if one.product.airflows]
        size = size._replace(airflows=frozenset.intersection(*known) if known else size.airflows)
    if most == ANY_LOAD:
        return size
    links = problem.links
    modules_mw = _MODULES.of(links, (products[0], uses, protocol), _modules_mw, links, uses, protocol)
    power_mw = max(switch.item.power_mw for switch in switches) + modules_mw
    if problem.site.rack_limits.largest_power:
        power_mw = max(power_mw, *(milliwatts(switch.product.power_max_w or 0) for switch in switches))
    loads = (load_of_switch(switch.product, power_mw) for switch in switches)
    load = RackLoad(*(max(amounts) for amounts in zip(*loads, strict=True)))
    return size._replace(load=load.limited(most))


def _modules_mw(links: LinkTable, uses: tuple[CageUse, ...], protocol: str) -> int:
    """Power of the hungriest modules in all cages of the groups in use."""
    cages = {use.group: use for use in uses}
    return sum(use.of_group * links.hungriest_mw(use.port, protocol) for use in cages.values())
