"""The fewest switches of any design of a fabric, for the management ports of out-of-band fabrics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

from fabopt.problem.fabric import FabricProblem
from fabopt.problem.out_of_band import ByStage
from fabopt.problem.problem import Problem
from fabopt.search.context import Context
from fabopt.topology.clos.shape import usable_ports
from fabopt.topology.server_torus.nics import forwarding_nics
from fabopt.units import ceil_div, ceil_of


def with_fewest(problem: Problem, context: Context, fabric: FabricProblem) -> FabricProblem:
    """An out-of-band fabric with ports for the fewest switches of any design; other fabrics unchanged."""
    others = [one for one in problem.fabrics if one.name != fabric.name]
    if fabric.per_switch is None:
        return fabric
    # before the last stage every fabric has one at least
    total = (*[len(others)] * (len(problem.stages) - 1), sum(fewest_switches(problem, other) for other in others))
    own = fewest_own_switches(problem, context, fabric, total)
    return context.numbered(fabric, plus(total, (*[1] * (len(total) - 1), own)))


def fewest_own_switches(problem: Problem, context: Context, fabric: FabricProblem, others: ByStage) -> int:
    """Lower bound on the switches of an out-of-band fabric, given the switches of the other fabrics by stage.

    Its own switches take management ports too, so the count is raised until it no longer grows; 1 where it would grow
    without end (``has_no_end``).
    """
    own, more = 1, 0
    while own > more and not has_no_end(fabric):
        numbered = context.numbered(fabric, plus(others, (*[1] * (len(others) - 1), own)))
        own, more = max(own, fewest_switches(problem, numbered)), own
    return own


def has_no_end(fabric: FabricProblem) -> bool:
    """Whether every leaf of an out-of-band fabric has ports for itself at most, so that no number
    of leaves is enough.
    """
    return fabric.per_switch is not None and max(_rooms(fabric), default=0) <= fabric.per_switch.per_switch


def fewest_switches(problem: Problem, fabric: FabricProblem) -> int:
    """No design of a fabric has fewer switches: leaves by their ports, and a spine where a Clos has no single tier."""
    if "torus" in fabric.shapes.topologies and any(forwarding_nics(problem, fabric)):
        return 0
    ports = min((one.ports_per_server for many in fabric.nics.values() for one in many), default=0)
    room = max(_rooms(fabric), default=1)
    leaves = max(1, int(ceil_of(problem.servers * ports + fabric.attachment_ports, room)))
    flat = 1 in fabric.shapes.tiers or fabric.shapes.have_direct
    return leaves if flat else max(2, leaves) + 1


def _rooms(fabric: FabricProblem) -> Iterator[int]:
    """Ports of leaves at the speeds of NICs."""
    speeds = {one.port.lane.port_mbps for many in fabric.nics.values() for one in many}
    uses = ((use, leaf) for roles in fabric.switches.values() for leaf in roles["leaf"] for use in leaf.uses)
    yield from (usable_ports(use, leaf) for use, leaf in uses if use.lane.port_mbps in speeds)


def own_numbers(problem: Problem, fabric: FabricProblem, last: int) -> Iterator[ByStage]:
    """Possible numbers of switches of an out-of-band fabric by stage, ``last`` at the last one.

    Leaves are a multiple of the groups at each stage, for groups of g servers; other switches never decrease. At the
    stage of what is in service they are as many as there.
    """
    sizes = problem.sizes
    if not sizes:
        yield (last,)
        return
    for groups in {tuple(ceil_div(size, g) for size in sizes) for g in range(1, sizes[-1] + 1)}:
        for leaves in range(1, last // groups[-1] + 1):
            above = last - leaves * groups[-1]
            for others in combinations_with_replacement(range(above + 1), len(sizes) - 1):
                own = plus(tuple(leaves * group for group in groups), (*others, above))
                if in_service(fabric) in (0, own[0]):
                    yield own


def in_service(fabric: FabricProblem) -> int:
    """Switches of a fabric in service; 0 without a base."""
    there = fabric.live.in_service
    return 0 if there is None else sum(tier.count for tier in there.fabric.tiers)


def plus(numbers: ByStage, more: ByStage) -> ByStage:
    """Numbers of both together, stage by stage."""
    return tuple(a + b for a, b in zip(numbers, more, strict=True))
