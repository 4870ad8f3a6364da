"""Notes on the loss of a power feed: power supplies that the catalog leaves open."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.problem.problem import Problem
from fabopt.schema.design import Design
from fabopt.schema.resilience import FEED, survives_loss_of


def feed_notes(problem: Problem, design: Design) -> Iterator[str]:
    """A note that two power supplies are assumed where unknown, if the loss of a feed must be survived."""
    case = problem.case
    asked = {fabric.name for fabric in case.fabrics if survives_loss_of(case.resilience_of(fabric), FEED)}
    if not asked or not design.fabrics:
        return
    supplies = {switch.id: switch.power_supplies for switch in problem.catalog.switches}
    supplies[problem.server.id] = problem.server.power_supplies
    used = {row.id for fabric in design.fabrics if fabric.name in asked for tier in fabric.tiers for row in tier.types}
    unknown = sorted(one for one in (*used, problem.server.id) if supplies.get(one) is None)
    if unknown:
        told = f"the catalog does not say how many power supplies {', '.join(unknown)} have"
        yield f"`survive: 1 feed`: {told}: two are assumed, one on each feed of the rack"
