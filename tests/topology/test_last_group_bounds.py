"""What networks with a last group of its own are said to cost at least, before they are sized, is never too much."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fabopt.io.case import inputs_from_objects
from fabopt.problem.problem import problem_of
from fabopt.program.settings import Clock, Settings
from fabopt.search.expansion import Expansion
from fabopt.topology.clos.blocks import Block
from fabopt.topology.clos.bounds import BoundedCosts
from fabopt.topology.clos.candidates import ClosBatch
from fabopt.topology.clos.own_last_groups import LastGroupSizes, least_of_leaves
from fabopt.topology.clos.pod_costs import least_in_pods
from tests.samples.random_cases import generate
from tests.samples.small import Json

# with aligned rails and with others, also with leaves of another type in the last group, and beside attachments
CASES = [
    ("linear", 0),
    ("linear", 2),
    ("linear", 5),
    ("linear", 14),
    ("linear", 17),
    ("rails", 12),
    ("rails", 14),
    ("attached", 1),
]
# the same on three tiers, where all networks are looked at in a second
IN_PODS = [
    ("linear", 5),
    ("linear", 12),
    ("linear", 25),
    ("linear", 26),
    ("linear", 30),
    ("linear", 37),
    ("rails", 11),
    ("attached", 14),
    ("attached", 26),
]


def opened(family: str, seed: int, tiers: int = 2) -> tuple[Json, Json]:
    """A random case whose lengths follow from its groups, so that its sizes fall into spans."""
    catalog, case = generate(family, seed)
    fabric = {**case["fabrics"][0], "groups": "any", "tiers": tiers}
    return catalog, {**case, "fabrics": [fabric], "site": {"servers_per_rack": 1 + seed % 3}}


@pytest.mark.long
def test_no_bound_of_a_span_is_above_its_networks() -> None:
    met: Counter[bool] = Counter()
    exact = 0
    for family, seed in CASES:
        catalog, case = opened(family, seed)
        given = inputs_from_objects(case, catalog)
        expansion = Expansion(problem_of(given.case, given.catalog), Settings(prune=False), Clock(None), {})
        expanded = expansion.expand(np.zeros(len(expansion.caps) - 1), slack=1e15)
        costs = expansion.costs_of(0)
        for batch in expanded.sizings[0].batches:
            if isinstance(batch, ClosBatch) and batch.shape.has_own_last:
                assert batch.fabric.runs.span is not None
                least = bounds_of(batch, expansion, costs)
                assert (least <= batch.cost[0] * (1 + 1e-9)).all(), (family, seed)
                exact += int((least == batch.cost[0]).sum())
                met[batch.parts.last_leaf is not None] += len(batch)
    assert min(met[True], met[False]) > 1000
    assert exact > 10


@pytest.mark.long
def test_pods_bound_no_network_of_three_tiers_above_what_it_costs() -> None:
    met: Counter[bool] = Counter()
    exact = 0
    for family, seed in IN_PODS:
        catalog, case = opened(family, seed, tiers=3)
        given = inputs_from_objects(case, catalog)
        expansion = Expansion(problem_of(given.case, given.catalog), Settings(prune=False), Clock(None), {})
        costs = expansion.costs_of(0)
        for batch in expansion.expand(np.zeros(len(expansion.caps) - 1), slack=1e15).sizings[0].batches:
            if isinstance(batch, ClosBatch):
                least = least_of_three_tiers(batch, expansion, costs)
                assert (least <= batch.cost[0] * (1 + 1e-9)).all(), (family, seed)
                exact += int((least >= batch.cost[0] * (1 - 1e-9)).sum())
                met[batch.shape.has_own_last] += len(batch)
    assert min(met[True], met[False]) > 1000, met
    assert exact > 10


def least_of_three_tiers(batch: ClosBatch, expansion: Expansion, costs: BoundedCosts) -> np.ndarray:
    """What NICs, leaves and links of servers cost at least, and what is above leaves by its pods, shape (rows,)."""
    parts, shape = batch.parts, batch.shape
    assert parts.leaf_up is not None
    bounds = costs.bounds(expansion.problem, batch.fabric, False)
    block = Block(parts.protocol, 3, parts.nic, parts.leaf, parts.leaf_down, parts.leaf_up, parts.last_leaf)
    link = bounds.least_link(parts.nic.port, parts.leaf_down.port, "server-leaf", parts.protocol)
    last = np.broadcast_to(shape.last_rails * shape.has_own_last, np.shape(shape.g))
    leaves = float(costs.of(parts.leaf.item)[0]) * (shape.leaves - last)
    leaves = leaves + float(costs.of(block.of_last.leaf.item)[0]) * last
    of_servers = float(bounds.of_servers(parts.nic, link)[0])
    return np.asarray(of_servers + parts.nic.planes * leaves + least_in_pods(bounds, block, shape))


def bounds_of(batch: ClosBatch, expansion: Expansion, costs: BoundedCosts) -> np.ndarray:
    """The highest bound of each network of a batch, from that of the span to that of its very sizes."""
    parts, shape = batch.parts, batch.shape
    assert parts.leaf_up is not None
    bounds = costs.bounds(expansion.problem, batch.fabric, False)
    block = Block(parts.protocol, 2, parts.nic, parts.leaf, parts.leaf_down, parts.leaf_up)
    place = next(
        place for place, one in enumerate(bounds.lowers(parts.nic.port, parts.protocol))
        if (one.leaf, one.down) == (parts.leaf, parts.leaf_down)
    )  # fmt: skip
    of_all = max(
        bounds.lowest(parts.protocol),
        float(bounds.of_leaves(place, parts.nic, parts.protocol)[0]),
        float(bounds.of_block(block, 2)[0]),
    )
    own = block._replace(last=parts.last_leaf)
    sizes = (LastGroupSizes(int(shape.k), int(shape.own_k), (g,)) for g in np.atleast_1d(shape.g).tolist())
    link = bounds.least_link(parts.nic.port, parts.leaf_down.port, "server-leaf", parts.protocol)
    of_servers = float(bounds.of_servers(parts.nic, link)[0])
    return np.maximum(
        of_all, [of_servers + float(least_of_leaves(bounds, [own], [one]).with_uplinks[0, 0]) for one in sizes]
    )
