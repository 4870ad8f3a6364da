"""A lower bound, port by port, on any Clos of given tiers, whatever its groups, rails and stripes.

Every server port pays for its link, and for its share of a leaf with the uplinks that the leaf's endpoints need and all
above them at their best. The least share of any leaf switch bounds even networks of differing leaves, groups and
stripes, which are not in the space. Whole leaves and spines of a small network cost more than their shares. See
docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil
from typing import NamedTuple

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.search.answer import Answer
from fabopt.search.expansion import Expansion
from fabopt.search.whole_switches import of_whole_switches
from fabopt.topology.clos.blocks import Block, Lower
from fabopt.topology.clos.bounds import BoundedCosts, Bounds
from fabopt.topology.clos.shape import most_down_ports, uplinks_needed
from fabopt.topology.link_parts import Floats
from fabopt.topology.spans import pods_together

_FAMILIES = ("clos", "rail-only")
# What floating-point sums may be above the exact ones.
_ROUNDING = 1e-9


def relaxed_value(answer: Answer) -> int | None:
    """A lower bound on the objective of networks with as many tiers as an answer's; None where not computed.

    Not computed on a floor, for one tier or other families than Clos, with counted switches or logical fabrics, and for
    the cost per effective GPU. The objective is an integer as ``Optimum.value``.
    """
    problem, value = answer.problem, answer.optimum.value
    if value is None or not _is_relaxed(answer):
        return None
    expansion = Expansion(problem, Settings(), Clock(None), {}, answer.context)
    if len(problem.fabrics) == 1:
        expansion.weigh_up_to(value)
    costs = answer.context.costs_at(problem.offering, expansion.table, expansion.steps)
    least = sum(
        _least(_Space(problem, fabric, picked.topology, tiers := picked.design.tiers or 0), problem, costs, tiers)
        + _before_the_last(_Space(problem, fabric, picked.topology, tiers), expansion.steps)
        for fabric, (picked, _) in zip(problem.fabrics, answer.picked, strict=True)
    )
    if not np.isfinite(least):
        return None
    # objectives are whole numbers, so none is between the bound and the next one; ``verify`` holds it below the value
    return problem.fixed_objective + ceil((least - expansion.saving) - _ROUNDING * abs(least))


def _is_relaxed(answer: Answer) -> bool:
    problem = answer.problem
    return (
        problem.case.objective != EFFECTIVE
        and problem.site.method == "sizes"
        and not any(fabric.per_switch is not None or fabric.logical_fabrics for fabric in problem.fabrics)
        and all(one.topology in _FAMILIES and (one.design.tiers or 0) > 1 for one, _ in answer.picked)
    )


class _Equipped(NamedTuple):
    """A NIC option in one span of the sizes, with the leaf switches for it, the cheapest share first."""

    bound: float
    bounds: Bounds
    protocol: str
    nic: NicOption
    lowers: list[Lower]


class _Space(NamedTuple):
    """The networks of a family with ``tiers`` tiers, at the last stage of a problem."""

    problem: Problem
    fabric: FabricProblem
    family: str
    tiers: int

    def spans(self) -> Iterator[FabricProblem]:
        """All sizes of groups and pods, with their runs."""
        freed = replace(self.fabric, aligned=False, last_group="equal", last_leaf=())
        return (part for part, _ in pods_together(self.problem, freed, self.family) if self.tiers in part.tiers)


def _before_the_last(space: _Space, steps: Floats) -> float:
    """The least that stages before the last add, each a network at the surcharges over the next stage
    (docs/formulation/growth.md): with its servers, at its ratio, without cores, which one pod does not need.
    """
    total = 0.0
    for stage, step in zip(space.problem.stages, steps, strict=False):
        leaf_ratio, spine_ratio = stage.oversubscription[space.fabric.name]
        fabric = replace(space.fabric, oversubscription_leaf=leaf_ratio, oversubscription_spine=spine_ratio)
        at_stage = replace(space.problem, servers=stage.servers)
        least = _least(space._replace(fabric=fabric), at_stage, BoundedCosts(step[np.newaxis]), 2)
        total += least if np.isfinite(least) else 0.0
    return total


def _least(space: _Space, sized: Problem, costs: BoundedCosts, counted: int) -> float:
    """The least bound of any NICs and leaf switches, with ``counted`` tiers, over all sizes of groups.

    ``sized``: the problem with the stage's servers.
    """
    by_nic: dict[tuple[str, NicOption], list[_Equipped]] = {}
    for part in space.spans():
        for option in _equipped(costs.bounds(sized, part, prune=True), space.family, space.tiers):
            by_nic.setdefault((option.protocol, option.nic), []).append(option)
    least = np.inf
    for spans in sorted(by_nic.values(), key=lambda spans: min(option.bound for option in spans)):
        if sized is not space.problem and any(_may_be_one_leaf(option, space) for option in spans):
            least = min(least, *map(_without_uplinks, spans))
            continue
        if min(option.bound for option in spans) >= least:
            continue
        by_port = min(_under(option, counted, least) for option in spans)
        if by_port < least:
            whole = of_whole_switches([span.bounds for span in spans], spans[0].protocol, spans[0].nic, counted)
            least = min(least, max(by_port, whole))
    return least


def _may_be_one_leaf(equipped: _Equipped, space: _Space) -> bool:
    """Whether one leaf has ports for all servers of a plane and its later uplinks, so that none is needed yet."""
    ports = equipped.bounds.problem.servers * equipped.nic.ports_per_plane
    needed = partial(uplinks_needed, most=space.problem.stages[-1].oversubscription[space.fabric.name][0])
    return any(
        most_down_ports(leaf, down, up, needed) >= ports for _, leaf, down in equipped.lowers for up in leaf.uses
    )


def _without_uplinks(equipped: _Equipped) -> float:
    """The least of NICs, server links and leaves."""
    bounds, nic = equipped.bounds, equipped.nic
    ports = bounds.problem.servers * nic.ports_per_plane
    shares = [
        bounds.least_link(nic.port, down.port, "server-leaf", equipped.protocol) + bounds.share_alone(leaf, down, ports)
        for _, leaf, down in equipped.lowers
    ]
    return min(float(bounds.of_servers(nic, share)[0]) for share in shares)


def _equipped(bounds: Bounds, family: str, tiers: int) -> Iterator[_Equipped]:
    """Options of NICs for servers, each with a bound without uplinks."""
    for protocol in bounds.fabric.protocols:
        for nic in bounds.nics(protocol):
            lowers = bounds.lowers(nic.port, protocol)
            if nic.topology == family and nic.allows(tiers) and lowers:
                yield _Equipped(float(bounds.of_servers(nic, lowers[0].share)[0]), bounds, protocol, nic, lowers)


def _under(equipped: _Equipped, tiers: int, enough: float) -> float:
    """The least bound of one option of NICs, if below ``enough``; else any value not below it."""
    least, (_, bounds, protocol, nic, lowers) = enough, equipped
    for share, leaf, down in lowers:
        if float(bounds.of_servers(nic, share)[0]) >= least:
            break
        for up in leaf.uses:
            block = Block(protocol, tiers, nic, leaf, down, up)
            least = min(least, float(bounds.of_block(block, tiers)[0]))
    return least
