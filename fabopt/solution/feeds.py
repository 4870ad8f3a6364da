"""What an answer says of the loss of a feed of power: what carries it, and what the catalog leaves open."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.problem.problem import Problem
from fabopt.schema.design import Design
from fabopt.schema.resilience import FEED, survives_loss_of


def feed_notes(problem: Problem, design: Design) -> Iterator[str]:
    """That two power supplies are assumed of servers and switches of which it is not known, where a feed is lost."""
    case = problem.case
    asked = {fabric.name for fabric in case.fabrics if survives_loss_of(case.resilience_of(fabric), FEED)}
    if not asked or not design.fabrics:
        return
    supplies = {one.id: one.power_supplies for one in problem.catalog.switches}
    supplies[problem.server.id] = problem.server.power_supplies
    used = {row.id for fabric in design.fabrics if fabric.name in asked for tier in fabric.tiers for row in tier.types}
    unknown = sorted(one for one in (*used, problem.server.id) if supplies.get(one) is None)
    if unknown:
        told = f"the catalog does not say how many power supplies {', '.join(unknown)} have"
        yield f"`survive: 1 feed`: {told}: two are assumed, one on each feed of the rack"
