"""Conflicts of tori of servers: NICs that forward nothing, too few ports, a number of servers that fills no grid."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.explain.what_if import Inquiry, size_of, with_servers
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.design import Conflict
from fabopt.topology.direct.lattices import LONGEST_SIDE
from fabopt.topology.direct.torus import SHORTEST_SIDE
from fabopt.topology.server_torus.nics import NODES, has_ports
from fabopt.topology.server_torus.sides import lattices_of
from fabopt.units import some

SMALLEST_GRID = SHORTEST_SIDE**2
LARGEST_GRID = LONGEST_SIDE**3
RULE = f"the servers of a torus are a grid: the product of two or three sides of {SHORTEST_SIDE} to {LONGEST_SIDE:,}"


def servers_are_points(fabric: FabricProblem) -> bool:
    """Whether a fabric allows only a torus of servers."""
    return fabric.topologies == ("torus",) and fabric.torus_nodes == (NODES,)


def torus_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of fabrics that allow only a torus of servers."""
    for fabric in inquiry.problem.fabrics:
        if servers_are_points(fabric):
            without_nic = _nics(inquiry, fabric)
            if without_nic is not None:
                yield without_nic
            elif not lattices_of(inquiry.problem.servers):
                yield _size(inquiry)
                return


def _nics(inquiry: Inquiry, fabric: FabricProblem) -> Conflict | None:
    """No NIC passes on, or none has the ports; None if some NIC would do."""
    limit = f"fabrics.{fabric.name}.nics"
    passing = sorted(nic.id for nic in inquiry.problem.catalog.nics if nic.forwards)
    options = [nic for nics in fabric.nics.values() for nic in nics if nic.forwards]
    if not options:
        known = f"those that do: {', '.join(passing)}" if passing else "no NIC of the catalog does"
        rule = "servers joined to each other take NICs that pass on what is for others (`forwards: true`)"
        detail = f"{rule}; {known}" + (
            ", but the case, the protocol or the bandwidth rules them out" if passing else ""
        )
        return Conflict(limit=limit, value=", ".join(passing) or None, needed=None, detail=detail)
    if any(map(has_ports, options)):
        return None
    most = max(nic.ports_per_server for nic in options)
    rule = "each of two or three dimensions takes two ports of a server or more, in pairs that fill their cages"
    return Conflict(
        limit=limit, value=some(most, "port"), needed="4 ports", detail=f"{rule}; the NICs have {most} at the most"
    )


def _size(inquiry: Inquiry) -> Conflict:
    """The conflict of size: the nearest numbers of servers that fill a grid, and the nearer one with a design."""
    servers = inquiry.problem.servers
    wanted = size_of(inquiry, servers)
    inquiry.tell(wanted.limit)
    below = filter(lattices_of, range(min(servers, LARGEST_GRID), SMALLEST_GRID - 1, -1))
    above = filter(lattices_of, range(max(servers, SMALLEST_GRID), LARGEST_GRID + 1))
    near = [size for size in (next(below, None), next(above, None)) if size is not None]
    near.sort(key=lambda size: abs(size - servers))
    needed = inquiry.first_with_design((size, with_servers(inquiry.case, size)) for size in near)
    shown = " or ".join(f"{size:,} = {_sides(size)}" for size in near)
    needs = None if needed is None else size_of(inquiry, needed).number
    return Conflict(limit=wanted.limit, value=wanted.number, needed=needs, detail=f"{RULE}; nearest are {shown}")


def _sides(servers: int) -> str:
    """The most cubic grid of a number of servers, in words."""
    sides = min(lattices_of(servers), key=lambda sides: (sides[-1] - sides[0], sides))
    return " x ".join(map(str, sides))
