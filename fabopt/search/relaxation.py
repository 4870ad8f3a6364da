"""What no Clos of some tiers costs less than, whatever its groups, rails and stripes: a bound by the port.

Every server port pays for its link, and for its share of a leaf with the uplinks that the leaf's endpoints need and all
above them at their best. The least such share of any leaf switch is a bound even of networks whose leaves, groups and
stripes differ, which are not in the space. Whole leaves and spines of a small network cost more than their shares. See
docs/formulation/search.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from fabopt.topology.spans import pods_together

_FAMILIES = ("clos", "rail-only")
# What floating-point sums may be above the exact ones.
_ROUNDING = 1e-9


def relaxed_value(answer: Answer) -> int | None:
    """No networks of as many tiers as those of an answer have a lower objective; None where that is not worked out.

    That is on a floor, of one tier or of other families than a Clos, where switches or logical fabrics count among the
    endpoints, and of the cost of a working GPU. The objective is an integer as ``Optimum.value``.
    """
    problem, value = answer.problem, answer.optimum.value
    if value is None or not _is_relaxed(answer):
        return None
    expansion = Expansion(problem, Settings(), Clock(None), {}, answer.context)
    if len(problem.fabrics) == 1:
        expansion.weigh_up_to(value)
    costs = answer.context.costs_at(problem.offering, expansion.table, expansion.steps)
    least = sum(
        _least(problem, fabric, costs, picked.topology, picked.design.tiers or 0)
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


def _least(problem: Problem, fabric: FabricProblem, costs: BoundedCosts, family: str, tiers: int) -> float:
    """The least of any NICs with any leaf switches under so many tiers, over all sizes of groups."""
    by_nic: dict[tuple[str, NicOption], list[_Equipped]] = {}
    for part, _ in pods_together(problem, replace(fabric, aligned=False, last_group="equal", last_leaf=()), family):
        if tiers in part.tiers:
            for option in _equipped(costs.bounds(problem, part, prune=True), family, tiers):
                by_nic.setdefault((option.protocol, option.nic), []).append(option)
    least = np.inf
    for spans in sorted(by_nic.values(), key=lambda spans: min(option.bound for option in spans)):
        if min(option.bound for option in spans) >= least:
            break
        by_port = min(_under(option, tiers, least) for option in spans)
        if by_port < least:
            whole = of_whole_switches([one.bounds for one in spans], spans[0].protocol, spans[0].nic, tiers)
            least = min(least, max(by_port, whole))
    return least


def _equipped(bounds: Bounds, family: str, tiers: int) -> Iterator[_Equipped]:
    """Ways to equip servers, each with a bound that counts no uplinks."""
    for protocol in bounds.fabric.protocols:
        for nic in bounds.nics(protocol):
            lowers = bounds.lowers(nic.port, protocol, None)
            if nic.topology == family and nic.allows(tiers) and lowers:
                yield _Equipped(float(bounds.of_servers(nic, lowers[0].share)[0]), bounds, protocol, nic, lowers)


def _under(equipped: _Equipped, tiers: int, enough: float) -> float:
    """The least of one way to equip servers, if it is less than ``enough``; else anything that is not."""
    least, (_, bounds, protocol, nic, lowers) = enough, equipped
    for share, leaf, down in lowers:
        if float(bounds.of_servers(nic, share)[0]) >= least:
            break
        for up in leaf.uses:
            block = Block(protocol, tiers, nic, leaf, down, up)
            least = min(least, float(bounds.of_block(block, tiers)[0]))
    return least
