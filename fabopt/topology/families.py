"""The families that are designed, by name: every one is a line here and one in ``fabopt.schema.topologies``."""

from __future__ import annotations

from collections.abc import Mapping

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.topology.clos.family import ClosFamily, RailOnlyFamily
from fabopt.topology.direct.dragonfly import DragonflyTopology
from fabopt.topology.direct.family import DirectFamily
from fabopt.topology.direct.hyperx import HyperxTopology
from fabopt.topology.direct.torus import TorusTopology
from fabopt.topology.dragonfly_plus.family import DragonflyPlusFamily
from fabopt.topology.family import Family, SpaceRequest, Spaces
from fabopt.topology.server_torus.family import TorusFamily

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        ClosFamily(),
        RailOnlyFamily(),
        DirectFamily(HyperxTopology()),
        TorusFamily(TorusTopology()),
        DirectFamily(DragonflyTopology()),
        DragonflyPlusFamily(),
    )
}


def space_of(problem: Problem, fabric: FabricProblem, request: SpaceRequest) -> Spaces:
    """The spaces of all families of a fabric that have a part in what is wanted."""
    wanted = (name for name in fabric.topologies if request.restriction.allows(name))
    spaces = (FAMILIES[name].space(problem, fabric, request) for name in wanted)
    return Spaces(tuple(part for space in spaces for part in (space.spaces if isinstance(space, Spaces) else [space])))


def most_servers(problem: Problem) -> int:
    """No design of a problem, with its number of servers or fewer, has more servers than this, whatever it costs."""
    if not all(map(_has_nics, problem.fabrics)):
        return 0
    return min(
        max(FAMILIES[name].most_servers(problem, fabric) for name in fabric.topologies) for fabric in problem.fabrics
    )


def _has_nics(fabric: FabricProblem) -> bool:
    return any(map(any, (fabric.nics.values(), fabric.unpaired_nics.values())))
