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
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.candidates import ClosBatch
from fabopt.topology.clos.share_costs import fewest_of_all_spines, least_with_spines, share_costs
from fabopt.topology.clos.step_deadline import leaves_alone_may_cost
from fabopt.topology.family import candidates_in
from fabopt.workload.deadline import Blocks, Deadline
from tests.samples.random_cases import generate
from tests.search.test_cost_per_gpu import trains

# networks of a batch that are looked at
SOME = 8
# random three tiers with pods of one rail whose spines have few uplinks
RAILS_APART = (10, 17, 20)


@pytest.mark.long(but=("three_tier-3-placement2",))
@pytest.mark.parametrize("placement", ["packed", "scattered", {"within": "leaf"}])
@pytest.mark.parametrize(("family", "seed"), [("linear", 2), ("three_tier", 3), ("three_tier", 6), ("rails", 12)])
def test_no_network_has_leaves_that_cost_more_than_its_own_step_lets_them(
    family: str, seed: int, placement: str | dict[str, str]
) -> None:
    expansion, batches = networks_of(family, seed, placement)
    problem = expansion.problem
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


def may_cost(
    problem: Problem, expansion: Expansion, batch: ClosBatch, place: int, most: float, rail_pods: int | None = None
) -> float:
    """What its leaves may cost, so that all costs so much and a step takes no longer than it does.

    ``rail_pods``: how many rails have pods of their own; None: as the network has them.
    """
    parts, shape, fabric, gpus = batch.parts, batch.shape.row(place), batch.fabric, problem.server.gpus
    assert problem.pace is not None
    network = candidates_in(problem, batch, place, False)[0].design.step_network(problem.gpus, gpus)
    in_time = FigureDemands(fabric.ratios.leaf, deadline=Deadline(problem.pace, problem.pace.step_s(network)))
    bounds = expansion.costs_of(0).bounds(problem, fabric, False)
    rails = rails_apart(batch, place) if rail_pods is None else rail_pods
    costs = share_costs(bounds, block_of(batch), rails)
    groups = Blocks(parts.nic.injection, np.array([shape.g * gpus]), problem.gpus, parts.reduces)
    return float(leaves_alone_may_cost(replace(fabric, figure_demands=in_time), groups, most, costs)[0])


def rails_apart(batch: ClosBatch, place: int) -> int:
    """How many rails of a network have pods of their own, if they have."""
    shape = batch.shape.row(place)
    return int(shape.rails) if shape.rail_pods else 0


def block_of(batch: ClosBatch) -> Block:
    parts = batch.parts
    return Block(parts.protocol, parts.tiers, parts.nic, parts.leaf, parts.leaf_down, parts.leaf_up)


@pytest.mark.long("rails-12")
@pytest.mark.parametrize(("family", "seed"), [("linear", 2), ("three_tier", 3), ("three_tier", 6), ("rails", 12)])
def test_no_network_costs_less_than_its_leaves_with_whole_spines(family: str, seed: int) -> None:
    expansion, batches = networks_of(family, seed)
    is_tight = False
    for batch in batches:
        bounds = expansion.costs_of(0).bounds(expansion.problem, batch.fabric, False)
        for place in range(0, len(batch), len(batch) // SOME + 1):
            shape, block = batch.shape.row(place), block_of(batch)
            links, spines = shape.planes * shape.uplinks, shape.planes * shape.pods * shape.spines
            fewest = fewest_of_all_spines(bounds, block, rails_apart(batch, place))
            assert fewest <= spines
            is_tight |= fewest == spines
            above = float(batch.cost[0][place]) - of_leaves(expansion, batch, place)
            for number in (fewest, spines):
                assert float(least_with_spines(bounds, block, int(links), int(number))) <= above * (1 + 1e-9)
    assert is_tight


def test_pods_of_one_rail_may_have_leaves_that_others_may_not_have() -> None:
    """Such a pod may hold all servers, and then its uplinks carry nothing, however few they are."""
    left_out = 0
    for seed in RAILS_APART:
        expansion, batches = networks_of("three_tier", seed)
        for batch in batches:
            with_fewest = np.argsort(np.broadcast_to(batch.shape.x, len(batch)), kind="stable")
            apart = with_fewest[np.broadcast_to(batch.shape.rail_pods, len(batch))[with_fewest] > 0]
            for place in apart[:SOME].tolist():
                if not candidates_in(expansion.problem, batch, place, False):
                    continue
                cost, leaves = float(batch.cost[0][place]), of_leaves(expansion, batch, place)
                assert leaves <= may_cost(expansion.problem, expansion, batch, place, cost) * (1 + 1e-9)
                left_out += leaves > may_cost(expansion.problem, expansion, batch, place, cost, 0) * (1 + 1e-9)
    assert left_out


def networks_of(
    family: str, seed: int, placement: str | dict[str, str] = "scattered"
) -> tuple[Expansion, list[ClosBatch]]:
    """All networks of more than one tier of a random case with a model."""
    parts, content = trains(*generate(family, seed), seed)
    content["workload"]["placement"] = placement
    given = inputs_from_objects(content, parts)
    problem = problem_of(given.case, given.catalog)
    expansion = Expansion(problem, Settings(prune=False), Clock(None), {})
    expanded = expansion.expand(np.zeros(len(expansion.caps) - 1), slack=1e15)
    return expansion, [one for one in expanded.sizings[0].batches if isinstance(one, ClosBatch) and one.parts.tiers > 1]
