"""A lower bound, port by port, on any Clos of given tiers, whatever its groups, rails and stripes.

Every server port pays for its link, and for its share of a leaf with the uplinks that the leaf's endpoints need and all
above them at their best. The least share of any leaf switch bounds even networks of differing leaves, groups and
stripes, which are not in the space. Whole leaves and spines of a small network cost more than their shares. See
docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import ceil, gcd
from typing import NamedTuple

import numpy as np

from fabopt.parts.nics import NicOption
from fabopt.parts.port_types import PortType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.program.settings import Clock, Settings
from fabopt.schema.case import EFFECTIVE
from fabopt.search.answer import Answer
from fabopt.search.expansion import Expansion
from fabopt.topology.clos.blocks import Block, Lower
from fabopt.topology.clos.bounds import BoundedCosts, Bounds
from fabopt.topology.clos.shape import most_down_ports, uplinks_needed, uplinks_that_fit, usable_ports
from fabopt.topology.link_parts import Floats
from fabopt.topology.spans import pods_together
from fabopt.units import grouped

# -- A lower bound on whole leaves and spines of a network, for any groups and stripes --------------------------------


# Of more server ports a switch is a small part of the whole, and is looked at by the port alone.
MOST_WEIGHED = 10_000
# The least that an uplink of a leaf costs in a span.
Upward = Callable[[Bounds, PortType], float]


def of_whole_switches(spans: Sequence[Bounds], protocol: str, nic: NicOption, tiers: int) -> float:
    """The least objective of all servers' NICs, links and switches, of groups in any of these spans; 0 if too large.

    Of two tiers the dearer of two bounds: leaves with a share of a spine by the port, and with spines that are whole.
    """
    bounds, ports = spans[0], spans[0].problem.servers * nic.ports_per_plane
    if ports > MOST_WEIGHED:
        return 0.0
    upward: list[Upward] = [lambda one, up: float(one.above(up, protocol, tiers)[0])]
    if tiers == 2:
        upward.append(lambda one, up: _uplink(one, protocol, up))
    network, *alone = (_least_sum(costs, ports) for costs in _of_leaves(spans, protocol, nic, upward))
    if alone:
        network = max(network, alone[0] + _of_spines(bounds, protocol, nic))
    nics = float(bounds.costs.of(nic.item)[0]) * nic.nics_per_server
    return bounds.problem.servers * nics + nic.planes * network


def _of_leaves(spans: Sequence[Bounds], protocol: str, nic: NicOption, upward: Sequence[Upward]) -> Floats:
    """The least of a leaf with 1, 2, ... ports of servers, the links of these and its uplinks, at each cost ``upward``
    of an uplink, shape (costs, ports).
    """
    least = np.full((len(upward), 1), np.inf)
    for bounds in spans:
        of_uplink = cache(lambda up, bounds=bounds: np.array([[cost(bounds, up)] for cost in upward]))
        for _, leaf, down in bounds.lowers(nic.port, protocol):
            numbers = np.arange(1, min(bounds.most.on_leaf, usable_ports(down, leaf)) + 1)
            link = float(bounds.least_link(nic.port, down.port, "server-leaf", protocol)[0])
            below = float(bounds.costs.of(leaf.item)[0]) + link * numbers
            least = np.pad(least, ((0, 0), (0, max(0, numbers.size - least.shape[1]))), constant_values=np.inf)
            for up in leaf.uses:
                need = bounds.leaf_uplinks(numbers, down, up)
                fits = need <= uplinks_that_fit(leaf, down, up, numbers)
                cost = np.where(fits, below + need * of_uplink(up.port), np.inf)
                least[:, : numbers.size] = np.minimum(least[:, : numbers.size], cost)
    return least


def _uplink(bounds: Bounds, protocol: str, up: PortType) -> float:
    """Least cost of a leaf's uplink to any spine, without the spine."""
    spines = {spine.down.port for spine in bounds.uppers(up.lane.port_mbps, protocol, 2)}
    return min((float(bounds.least_link(up, down, "leaf-spine", protocol)[0]) for down in spines), default=np.inf)


def _of_spines(bounds: Bounds, protocol: str, nic: NicOption) -> float:
    """Least cost of spines of any types whose ports together carry the uplink bandwidth of a network's leaves."""
    speeds = {up.lane.port_mbps for leaf in bounds.switches(protocol, "leaf") for up in leaf.uses}
    carries = [
        (usable_ports(spine.down, spine.switch) * speed, float(bounds.costs.of(spine.switch.item)[0]))
        for speed in speeds
        for spine in bounds.uppers(speed, protocol, 2)
    ]
    passed = Fraction(bounds.problem.servers * nic.ports_per_plane * nic.port.lane.port_mbps)
    unit = gcd(*(mbps for mbps, _ in carries))
    least = ceil(passed / bounds.fabric.ratios.leaf / max(1, unit))
    return _least_cover({(mbps // unit, cost) for mbps, cost in carries}, least)


def _least_cover(switches: Iterable[tuple[int, float]], total: int) -> float:
    """Least cost of switches, given as (capacity, cost), with a total capacity of at least ``total``."""
    useful: list[tuple[int, float]] = []
    for carries, cost in sorted(switches, reverse=True):  # one that carries more serves for less, too
        if not useful or cost < useful[-1][1]:
            useful.append((carries, cost))
    exactly = np.full(total + 1 + max((carries for carries, _ in useful), default=0), np.inf)
    exactly[0] = 0.0
    for carries, cost in useful:
        exactly = _with_any_number(exactly, carries, cost)
    return float(exactly[total:].min())


def _with_any_number(least: Floats, carries: int, cost: float) -> Floats:
    """The least cost of sums 0, 1, ... if a switch may be added any number of times, shape (sums,)."""
    rounds = -(-least.size // carries)
    padded = np.pad(least, (0, rounds * carries - least.size), constant_values=np.inf).reshape(rounds, carries)
    spent = (cost * np.arange(rounds))[:, np.newaxis]
    return np.asarray((np.minimum.accumulate(padded - spent, axis=0) + spent).ravel()[: least.size])


def _least_sum(costs: Floats, total: int) -> float:
    """Least cost of integers from 1 on with a sum of ``total``, at ``costs`` of 1, 2, ..., shape (numbers,)."""
    least = np.zeros(total + 1)
    for part in range(1, total + 1):
        most = min(part, costs.size)
        least[part] = (costs[:most] + least[part - most : part][::-1]).min()
    return float(least[total])


# -- A lower bound, port by port, on any Clos of given tiers, whatever its groups, rails and stripes ------------------


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
        groups = replace(self.fabric.leaf_groups.with_equal(), aligned=False)
        freed = replace(self.fabric, leaf_groups=groups)
        return (part for part, _ in pods_together(self.problem, freed, self.family) if self.tiers in part.shapes.tiers)


def _before_the_last(space: _Space, steps: Floats) -> float:
    """The least that stages before the last add, each a network at the surcharges over the next stage
    (docs/formulation/growth.md): with its servers, at its ratio, without cores, which one pod does not need.
    """
    total = 0.0
    for stage, step in zip(space.problem.stages, steps, strict=False):
        leaf, spine = stage.oversubscription[space.fabric.name]
        fabric = replace(space.fabric, ratios=replace(space.fabric.ratios, leaf=leaf, spine=spine))
        at_stage = replace(space.problem, servers=stage.servers)
        least = _least(space._replace(fabric=fabric), at_stage, BoundedCosts(step[np.newaxis]), 2)
        total += least if np.isfinite(least) else 0.0
    return total


def _least(space: _Space, sized: Problem, costs: BoundedCosts, counted: int) -> float:
    """The least bound of any NICs and leaf switches, with ``counted`` tiers, over all sizes of groups.

    ``sized``: the problem with the stage's servers.
    """
    by_nic = grouped(
        ((option.protocol, option.nic), option)
        for part in space.spans()
        for option in _equipped(costs.bounds(sized, part, prune=True), space.family, space.tiers)
    )
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
