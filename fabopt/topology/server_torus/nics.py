"""NICs that a torus of servers can be made of, asked where nothing else of such a torus is."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem

# What fabopt.schema.case calls the points of a torus.
NODES = "servers"


def forwarding_nics(problem: Problem, fabric: FabricProblem) -> Iterator[tuple[str, NicOption]]:
    """NICs, with their protocol, that a torus of servers may be made of; none where a case asks for what a torus lacks.

    It lacks ports for more servers or kept free, racks whose servers share switches, switches that reduce, and figures
    after failures.
    """
    figure_demands, needs = fabric.figure_demands, problem.needs
    reduces = needs is not None and needs.fabric == fabric.name and needs.in_network_reduction
    if NODES not in fabric.shapes.torus_nodes or fabric.reserve or fabric.leaf_groups.servers is not None or reduces:
        return
    if (
        fabric.resilience
        or fabric.leaf_pairs.homing not in (None, "any")
        or fabric.attachments
        or fabric.per_switch
        or (figure_demands is not None and figure_demands.headroom)
    ):
        return
    for protocol in fabric.protocols:
        for nic in fabric.nics[protocol]:
            # Rule ``cards_pass_on``: they forward traffic for other servers, over all ports of their cages
            if nic.forwards and nic.planes == 1 and not nic.apart and has_ports(nic):
                yield protocol, nic


def has_ports(nic: NicOption) -> bool:
    """Whether a server has ports for two dimensions, in pairs, and all cages in use are full."""
    return nic.ports_per_server >= 4 and nic.ports_per_server % 2 == 0 and not nic.partial_ports
