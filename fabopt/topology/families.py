"""The families by name: every one is a line here and one in ``fabopt.schema.topologies``."""

from __future__ import annotations

from functools import cache

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.space import ClosFamily, RailOnlyFamily
from fabopt.topology.family import Family, SpaceRequest, Spaces

# Most cases ask for a Clos alone: what the others are made of is imported where one is asked for.


@cache
def family_of(name: str) -> Family:
    """A family by its name; raises ``KeyError`` for an unknown one."""
    match name:
        case "clos":
            return ClosFamily()
        case "rail-only":
            return RailOnlyFamily()
        case "dragonfly+":
            from fabopt.topology.dragonfly_plus.space import DragonflyPlusFamily

            return DragonflyPlusFamily()
        case "torus":
            from fabopt.topology.direct.lattices import TorusTopology
            from fabopt.topology.server_torus.space import TorusFamily

            return TorusFamily(TorusTopology())
    return _direct_family(name)


def _direct_family(name: str) -> Family:
    from fabopt.topology.direct.dragonfly import DragonflyTopology
    from fabopt.topology.direct.lattices import HyperxTopology
    from fabopt.topology.direct.space import DirectFamily

    topologies = (HyperxTopology(), DragonflyTopology())
    return DirectFamily({topology.name: topology for topology in topologies}[name])


def space_of(problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
    """The spaces of all families of a fabric."""
    spaces = (family_of(name).space(problem, fabric, request) for name in fabric.shapes.topologies)
    return Spaces(tuple(part for space in spaces for part in (space.spaces if isinstance(space, Spaces) else [space])))


def most_servers(problem: Problem) -> int:
    """Upper bound of the servers of any design of a problem, at most its number of servers each, whatever it costs."""
    if not all(map(_has_nics, problem.fabrics)):
        return 0
    return min(
        max((family_of(name).most_servers(problem, fabric) for name in fabric.shapes.topologies), default=0)
        for fabric in problem.fabrics
    )


def _has_nics(fabric: FabricProblem) -> bool:
    return any(map(any, (fabric.nics.values(), fabric.other_nics.by_rules.values())))
