"""What is claimed to be non-blocking is, for every kind of stripe: by linear program and by maximum flow.

Proportional stripes with one and several links of a pair, a last group of its own, and stripes alike on all leaves of a
rail, each on the graph of what is cabled.
"""

from __future__ import annotations

import random
from typing import Any

import networkx
import numpy as np
import pytest

from fabopt.network.graph.network import Network
from fabopt.schema.design import Design
from tests.oracles.alltoall_program import alltoall_by_program
from tests.samples.small import assert_proven, case, solved
from tests.topology.test_stripes import ONE_NIC, graph_of

HALVES = 20
TWO_SPINES = {"leaf": ["small"], "spine": ["large", "small"]}


def flow(network: Network, senders: list[int], takers: list[int]) -> int:
    """Mb/s from all ports of some leaves to all ports of others, over links that carry as much both ways."""
    graph = networkx.DiGraph()
    for a, b, mbps in zip(network.a.tolist(), network.b.tolist(), network.mbps.tolist(), strict=True):
        for tail, head in ((a, b), (b, a)):
            known = graph.get_edge_data(tail, head, {"capacity": 0})["capacity"]
            graph.add_edge(tail, head, capacity=known + mbps)
    for leaf in senders:
        graph.add_edge("from", leaf, capacity=int(network.hosts[leaf]) * network.port_mbps)
    for leaf in takers:
        graph.add_edge(leaf, "to", capacity=int(network.hosts[leaf]) * network.port_mbps)
    return int(networkx.maximum_flow_value(graph, "from", "to"))


def non_blocking(servers: int, **fabric: Any) -> tuple[Design, Network]:
    """A design of two tiers at 1:1 on switches of eight ports, and the graph of its cables."""
    design = solved(case({"tiers": 2, **ONE_NIC, "max_oversubscription": 1, **fabric}, servers=servers))
    assert_proven(design)
    return design, graph_of(design)[0]


STRIPES: list[tuple[int, dict[str, Any]]] = [
    *((servers, {"striping": "even"}) for servers in (6, 8, 12, 16)),
    *((servers, {"striping": "even", "rails": "any"}) for servers in (7, 12, 15)),
    *((servers, {"groups": "any", "rails": "any"}) for servers in (9, 10, 13, 15)),
    *((servers, {"groups": "any", "striping": striping}) for servers in (13, 14) for striping in ("any", "rail")),
    # leaves of a type of their own, and the last group of the last pod
    (7, {"groups": "any", "rails": "any", "switches": {"leaf": ["large", "small"], "spine": ["small"]}}),
    (19, {"groups": "any", "rails": "any", "tiers": 3}),
]


@pytest.mark.long(but=("16-fabric3", "10-fabric8", "13-fabric9", "15-fabric10", "14-fabric13", "7-fabric15"))
@pytest.mark.parametrize(("servers", "fabric"), STRIPES)
def test_every_traffic_is_carried(servers: int, fabric: dict[str, Any]) -> None:
    """All-to-all over all routings, and random halves of the leaves sending to the others, at the ports' full speed."""
    design, network = non_blocking(servers, **fabric)
    metrics = design.fabrics[0].metrics
    assert metrics.bisection_gbps_per_gpu == metrics.alltoall_gbps_per_gpu == metrics.injection_gbps_per_gpu
    assert alltoall_by_program(network) == pytest.approx(network.port_mbps, rel=1e-9)
    dice = random.Random(servers)
    for _ in range(HALVES):
        leaves = network.with_hosts.tolist()
        dice.shuffle(leaves)
        senders, takers = leaves[: len(leaves) // 2], leaves[len(leaves) // 2 :]
        wanted = min(sum(int(network.hosts[leaf]) for leaf in half) for half in (senders, takers))
        assert flow(network, senders, takers) == wanted * network.port_mbps


@pytest.mark.parametrize("servers", [6, 9, 12])
def test_stripes_by_rail_carry_all_of_a_rail(servers: int) -> None:
    """Every leaf sends to one of its rail at full speed at once: links that both have to a spine carry it alone."""
    design, network = non_blocking(servers, striping="rail")
    fabric = design.fabrics[0]
    assert fabric.metrics.allreduce_gbps_per_gpu == fabric.metrics.injection_gbps_per_gpu
    links = np.zeros((network.switches, network.switches), dtype=np.int64)
    np.add.at(links, (network.a, network.b), network.mbps)
    np.add.at(links, (network.b, network.a), network.mbps)
    for rail in range(fabric.rails):
        leaves = network.with_hosts[rail :: fabric.rails]
        for sender, taker in zip(leaves.tolist(), np.roll(leaves, 1).tolist(), strict=True):
            shared = int(np.minimum(links[sender], links[taker]).sum())
            assert shared >= min(int(network.hosts[leaf]) for leaf in (sender, taker)) * network.port_mbps
