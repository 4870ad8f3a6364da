"""What leaves may cost without uplinks for a step never leaves out a network with that step, and leaves out others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.fabric import FigureDemands
from fabopt.problem.problem import Problem, problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.expansion import Expansion
from fabopt.topology.batch import candidates_in
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.candidates import ClosBatch
from fabopt.topology.clos.share_costs import share_costs
from fabopt.topology.clos.step_deadline import leaves_alone_may_cost
from fabopt.workload.deadline import Blocks, Deadline
from tests.samples.random_cases import generate
from tests.search.test_cost_per_gpu import trains

# networks of a batch that are looked at
SOME = 8


@pytest.mark.parametrize("placement", ["packed", "scattered", {"within": "leaf"}])
@pytest.mark.parametrize(("family", "seed"), [("linear", 2), ("three_tier", 3), ("three_tier", 6), ("rails", 12)])
def test_no_network_has_leaves_that_cost_more_than_its_own_step_lets_them(
    family: str, seed: int, placement: str | dict[str, str]
) -> None:
    parts, content = trains(*generate(family, seed), seed)
    content["workload"]["placement"] = placement
    given = inputs_from_objects(content, parts)
    problem = problem_of(given.case, given.catalog)
    expansion = Expansion(problem, Settings(prune=False), Clock(None), {})
    expanded = expansion.expand(np.zeros(len(expansion.caps) - 1), slack=1e15)
    batches = [one for one in expanded.sizings[0].batches if isinstance(one, ClosBatch) and one.parts.tiers > 1]
    left_out = 0
    for batch in batches:
        for place in range(0, len(batch), len(batch) // SOME + 1):
            cost, leaves = float(batch.cost[0][place]), of_leaves(expansion, batch, place)
            assert leaves <= may_cost(problem, expansion, batch, place, cost) * (1 + 1e-9)
            left_out += leaves > may_cost(problem, expansion, batch, place, 0.8 * cost)
    assert left_out


def of_leaves(expansion: Expansion, batch: ClosBatch, place: int) -> float:
    """What NICs, leaves and servers' links of a network cost at least."""
    parts, shape = batch.parts, batch.shape.row(place)
    bounds = expansion.costs_of(0).bounds(expansion.problem, batch.fabric, False)
    link = bounds.least_link(parts.nic.port, parts.leaf_down.port, "server-leaf", parts.protocol)
    last = parts.of_last.leaf
    below = bounds.of_servers(parts.nic, link)
    below = below + bounds.costs.of(parts.leaf.item) * (parts.nic.planes * (shape.leaves - shape.last_rails))
    return float((below + bounds.costs.of(last.item) * (parts.nic.planes * shape.last_rails))[0])


def may_cost(problem: Problem, expansion: Expansion, batch: ClosBatch, place: int, most: float) -> float:
    """What its leaves may cost, so that all costs so much and a step takes no longer than it does."""
    parts, shape, fabric, gpus = batch.parts, batch.shape.row(place), batch.fabric, problem.server.gpus
    assert problem.pace is not None and parts.leaf_up is not None
    network = candidates_in(problem, batch, place, False)[0].design.step_network(problem.gpus, gpus)
    in_time = FigureDemands(fabric.oversubscription_leaf, deadline=Deadline(problem.pace, problem.pace.step_s(network)))
    bounds = expansion.costs_of(0).bounds(problem, fabric, False)
    costs = share_costs(
        bounds, Block(parts.protocol, parts.tiers, parts.nic, parts.leaf, parts.leaf_down, parts.leaf_up)
    )
    if 1 < shape.rails == shape.last_rails:
        costs = costs.without_pods
    groups = Blocks(parts.nic.injection, np.array([shape.g * gpus]), problem.gpus, parts.reduces)
    return float(leaves_alone_may_cost(replace(fabric, figure_demands=in_time), groups, most, costs)[0])
