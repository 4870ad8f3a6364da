"""Rack space, power and cable ends of the switches of a Clos."""

from __future__ import annotations

from fabopt.floor.policies import SwitchSize
from fabopt.floor.rack_rules import NO_LIMIT
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.problem.subnet_manager import Twin
from fabopt.topology.clos.shape import Parts
from fabopt.units import milliwatts

_POWERED: Lookup[LinkTable, tuple[SwitchType, tuple[CageUse, ...], str], SwitchSize] = Lookup()


def switch_sizes(problem: Problem, fabric: FabricProblem, parts: Parts) -> tuple[SwitchSize, ...]:
    """Rack space of a switch of each tier, from the leaves up."""
    tiers: list[tuple[SwitchType | None, tuple[CageUse | None, ...]]] = [
        (parts.leaf, (parts.leaf_down, parts.leaf_up)),
        (parts.spine, (parts.spine_down, parts.spine_up)),
        (parts.core, (parts.core_down,)),
    ]
    leaf, *above = (
        switch_size(problem, switch, tuple(use for use in uses if use is not None), parts.protocol)
        for switch, uses in tiers
        if switch is not None
    )
    return leaf._replace(nics_mw=nics_mw(problem, fabric, parts.nic, parts.protocol)), *above


def leaf_size(
    problem: Problem, fabric: FabricProblem, nic: NicOption, leaf: SwitchType, uses: tuple[CageUse, ...], protocol: str
) -> SwitchSize:
    """Rack space, power and cable ends of a leaf, and NIC power of a full rack of servers."""
    size = switch_size(problem, leaf, uses, protocol)
    return size._replace(nics_mw=nics_mw(problem, fabric, nic, protocol))


def nics_mw(problem: Problem, fabric: FabricProblem, nic: NicOption, protocol: str) -> int:
    """Power that the NICs bought for a fabric and for logical ones on it take in a full rack of servers, with the
    hungriest modules in all their cages, and those of built-in NICs; 0 where no rack has a limit on it.
    """
    if problem.site.rack_power_w is None:
        return 0
    nics = [nic, *(demand.nic for demand in fabric.attachments if demand.nic is not None)]
    return problem.floor.servers_per_rack * sum(option.most_mw(problem.links, protocol) for option in nics)


def switch_size(problem: Problem, switch: SwitchType, uses: tuple[CageUse, ...], protocol: str) -> SwitchSize:
    """Rack units of a switch, its power with the hungriest modules in all cages of the groups in use, and the ports of
    these (each 0 where no rack has a limit on it). The maker's maximum counts if it is more, and where the switch may
    be exchanged for its managed twin the hungrier of both.
    """
    uses = switch.whole(*uses)
    ends = 0 if problem.site.rack_limits.cable_ends == NO_LIMIT else _cable_ends(uses)
    if problem.site.rack_power_w is None:
        return SwitchSize(float(switch.product.rack_units), 0, ends)
    links = problem.links
    size = _POWERED.of(links, (switch, uses, protocol), _powered, links, switch, uses, protocol)
    rules = (fabric.binding_managers for fabric in problem.fabrics if fabric.binding_managers is not None)
    switches: list[SwitchType | Twin] = [switch, *(rule.twins[switch.id] for rule in rules if switch.id in rule.twins)]
    modules_mw = size.power_mw - switch.item.power_mw
    power_mw = max(switch.item.power_mw for switch in switches) + modules_mw
    if problem.site.rack_limits.largest_power:
        power_mw = max(power_mw, *(milliwatts(switch.product.power_max_w or 0) for switch in switches))
    return size._replace(power_mw=power_mw, cable_ends=ends)


def _cable_ends(uses: tuple[CageUse, ...]) -> int:
    """Ports of the groups of cages in use."""
    ports: dict[int, int] = {}
    for use in uses:
        ports[use.group] = max(ports.get(use.group, 0), use.of_group * use.lane.ports)
    return sum(ports.values())


def _powered(links: LinkTable, switch: SwitchType, uses: tuple[CageUse, ...], protocol: str) -> SwitchSize:
    cages = {use.group: use for use in uses}
    modules_mw = 0
    for use in cages.values():
        modules_mw += use.of_group * links.hungriest_mw(use.port, protocol)
    return SwitchSize(float(switch.product.rack_units), switch.item.power_mw + modules_mw)
