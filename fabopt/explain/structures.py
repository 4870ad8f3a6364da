"""Conflicts of prescribed structure: each key left open alone, and rail-only networks, where they give a design.

Conflicts of tori of servers: NICs that forward nothing, too few ports, a number of servers that fills no grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from fabopt.explain.demands import changed, with_key
from fabopt.explain.freedoms import ROLES, not_on_sale
from fabopt.explain.what_if import Inquiry, size_of
from fabopt.io.workload import runs_on, with_servers
from fabopt.parts.nic_planes import RAIL_ONLY
from fabopt.problem.fabric import FabricProblem
from fabopt.rules.choices import ATTACHMENTS, FABRIC_CHOICES, SWITCHES, FabricChoice
from fabopt.rules.defaults import PAIR, is_asked_for
from fabopt.schema.base import Strict
from fabopt.schema.case import Case, Fabric
from fabopt.schema.design import Conflict, Number
from fabopt.schema.topologies import refused
from fabopt.topology.direct.lattices import LONGEST_SIDE, SHORTEST_SIDE
from fabopt.topology.server_torus.nics import NODES, has_ports
from fabopt.topology.server_torus.space import lattices_of
from fabopt.units import some


class OpenKey(NamedTuple):
    """A key of a fabric that prescribes structure or products: the case with it open, and its conflict."""

    choice: FabricChoice
    of: Callable[[Case], Case]
    conflict: Conflict


def shape_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of keys of the shape of networks, and of rail-only in place of a Clos."""
    yield from _opened(inquiry, lambda open_key: not open_key.choice.of_products)
    for index, fabric, meant in inquiry.fabrics:
        if fabric.topologies == ("clos",) and not any(refused(inquiry.problem.case, fabric, RAIL_ONLY)):
            limit = f"fabrics.{meant.name}.topologies"
            case = changed(inquiry.case, fabric, topologies=(RAIL_ONLY,))
            # servers may have no rails, or nothing that carries traffic from one to another
            if any(inquiry.problem_of(case).fabrics[index].nics.values()):
                detail = "a network of unconnected rails, over whose domains servers pass traffic on, does"
                yield from inquiry.opened(case, Conflict(limit=limit, value="clos", needed=(RAIL_ONLY,), detail=detail))


def product_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of keys of protocols, NICs and switches."""
    return _opened(inquiry, lambda open_key: open_key.choice.of_products)


def size_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Conflicts of prescribed tiers and groups, which may limit the number of servers."""
    return _opened(inquiry, lambda open_key: open_key.choice.of_sizes)


def one_port_conflicts(inquiry: Inquiry) -> Iterator[Conflict]:
    """Keys of fabrics that a case asks to have their servers on two switches, where no NIC allowed has two ports."""
    why = "no NIC that the case allows gives a server two ports"
    for _, fabric, meant in inquiry.fabrics:
        is_asked = fabric.homing == "pair" or is_asked_for(inquiry.case.rules, PAIR)
        if (
            is_asked
            and meant.leaf_pairs.are_wanted
            and not any(nic.ports_per_server > 1 for nics in meant.nics.values() for nic in nics)
        ):
            for open_key in filter(lambda one: one.choice.of_ports, open_keys(inquiry, fabric)):
                conflict = open_key.conflict.model_copy(update={"detail": f"{why}; {open_key.conflict.detail}"})
                yield from inquiry.opened(open_key.of(inquiry.case), conflict)


def _opened(inquiry: Inquiry, is_wanted: Callable[[OpenKey], bool]) -> Iterator[Conflict]:
    """Conflicts of the wanted keys, where the case with the key open has a design."""
    for _, fabric, _ in inquiry.fabrics:
        for open_key in filter(is_wanted, open_keys(inquiry, fabric)):
            yield from inquiry.opened(open_key.of(inquiry.case), open_key.conflict)


def open_keys(inquiry: Inquiry, fabric: Fabric) -> Iterator[OpenKey]:
    """All keys by which a fabric prescribes its shape or its products."""
    limit = f"fabrics.{fabric.name}"
    for choice in FABRIC_CHOICES:
        key, free, value = choice.key, choice.free, getattr(fabric, choice.key)
        if choice.prescribes(value):
            named = value if key == "nics" and isinstance(value, tuple) else ()
            detail = "; ".join([f"with {key}: {_shown(free)} there is a design", *not_on_sale(inquiry, named)])
            conflict = Conflict(limit=f"{limit}.{key}", value=_shown(value), needed=free, detail=detail)
            yield OpenKey(choice, with_key(fabric, key, free), conflict)
    for role in ROLES:
        ids = getattr(fabric.switches, role)
        if ids != "any":
            detail = "; ".join([f"with any {role} switch there is a design", *not_on_sale(inquiry, ids)])
            conflict = Conflict(limit=f"{limit}.switches.{role}", value=_shown(ids), needed="any", detail=detail)
            yield OpenKey(SWITCHES, partial(_any_switch, name=fabric.name, role=role), conflict)
    if fabric.attachments:
        ports = sum(attachment.ports for attachment in fabric.attachments)
        detail = "without attachments there is a design: their ports do not fit, or no part joins them"
        conflict = Conflict(limit=f"{limit}.attachments", value=ports, needed=(), detail=detail)
        yield OpenKey(ATTACHMENTS, with_key(fabric, "attachments", ()), conflict)


def _any_switch(case: Case, name: str, role: str) -> Case:
    fabric = next(fabric for fabric in case.fabrics if fabric.name == name)
    return changed(case, fabric, switches=fabric.switches.model_copy(update={role: "any"}))


def _shown(value: object) -> Number | str | None:
    if isinstance(value, int | float | str) or value is None:
        return value
    if isinstance(value, Strict):
        return value.model_dump_json(exclude_defaults=True)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


SMALLEST_GRID = SHORTEST_SIDE**2
LARGEST_GRID = LONGEST_SIDE**3
# Grids of so many times the servers are looked at.
MOST_TIMES = 2
RULE = f"the servers of a torus are a grid: the product of two or three sides of {SHORTEST_SIDE} to {LONGEST_SIDE:,}"


def servers_are_points(fabric: FabricProblem) -> bool:
    """Whether a fabric allows only a torus of servers."""
    return fabric.shapes.topologies == ("torus",) and fabric.shapes.torus_nodes == (NODES,)


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

    def may_be(size: int) -> bool:
        return bool(lattices_of(size)) and runs_on(inquiry.case, inquiry.problem.server, size)

    below = filter(may_be, range(min(servers, LARGEST_GRID), SMALLEST_GRID - 1, -1))
    more = max(servers, SMALLEST_GRID)
    above = filter(may_be, range(more, min(LARGEST_GRID, MOST_TIMES * more) + 1))
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
