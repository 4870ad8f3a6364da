"""What single switches take with them: against an independent library, and against each loss looked at alone."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from fabopt.network.graph.losses import Holders, Served, cut_switches
from fabopt.network.graph.network import Network, network_of


def some_network(random: np.random.Generator, switches: int, links: int) -> Network:
    a, b = random.integers(0, switches, (2, links))
    apart = a != b
    return network_of(a[apart], b[apart], 1, np.ones(switches, dtype=np.int64), 1)


@pytest.mark.parametrize("seed", range(30))
def test_cut_switches_are_those_of_another_library(seed: int) -> None:
    random = np.random.default_rng(seed)
    network = some_network(random, 12, int(random.integers(6, 24)))
    graph = networkx.Graph(list(zip(network.a.tolist(), network.b.tolist(), strict=True)))
    assert cut_switches(network).tolist() == sorted(networkx.articulation_points(graph))


@pytest.mark.long(but=("0", "6"))
@pytest.mark.parametrize("seed", range(30))
def test_all_switches_at_once_are_as_each_alone(seed: int) -> None:
    """Servers of two NICs with two ports each, every one of them in one network; six attached devices."""
    random = np.random.default_rng(seed)
    network = some_network(random, 10, int(random.integers(12, 30)))
    parts = Served(network, np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)).joined
    largest = np.flatnonzero(parts == np.bincount(parts).argmax())
    switch_of, attached = random.choice(largest, (8, 4)), random.choice(largest, 9)
    devices = Holders(np.sort(np.append(np.arange(6), random.integers(0, 6, 3))), attached)
    served = Served(network, switch_of, np.array([0, 0, 1, 1]), (devices,))
    losses = served.one_by_one()
    for switch in range(network.switches):
        loss = served.after(np.array([switch]))
        assert losses.cut_off[switch] == loss.cut_off.sum()
        assert losses.degraded[switch] == (loss.nics > 0).sum()
        assert losses.nics[switch] == loss.nics.max()
        assert losses.parted[switch] == loss.parted.sum()
        assert losses.devices[0][switch] == loss.devices[0].sum()


def test_rails_under_one_spine() -> None:
    """Four servers on leaves 0 and 1 by a NIC each, under spine 2: without it the rails part, and nobody is cut off."""
    network = network_of([0, 1], [2, 2], 1, [1, 1, 1], 1)
    served = Served(network, np.tile([0, 1], (4, 1)), np.array([0, 1]))
    losses = served.one_by_one()
    assert losses.cut_off.tolist() == [0, 0, 0]
    assert losses.degraded.tolist() == [4, 4, 0]
    assert losses.nics.tolist() == [1, 1, 0]
    assert losses.parted.tolist() == [0, 0, 4]


def test_absent_servers_are_not_counted() -> None:
    """Three servers on leaf 0 and two on leaf 1: with leaf 0 and a server of its own, two are cut off."""
    network = network_of([0, 1], [2, 2], 1, [1, 1, 1], 1)
    served = Served(network, np.array([[0], [0], [0], [1], [1]]), np.array([0]))
    loss = served.after(np.array([0]), np.array([True, False, False, False, False]))
    assert loss.cut_off.tolist() == [False, True, True, False, False]


def test_losing_no_switch_hits_nobody_but_those_who_were_apart() -> None:
    """Two servers on leaf 0, one on leaf 1, under spine 2: nothing is lost, whoever is absent. Where leaf 1 has no link
    its server is outside the largest part, unless it is the only one.
    """
    absent = np.array([True, False, False])
    switch_of = np.array([[0], [0], [1]])
    joined = Served(network_of([0, 1], [2, 2], 1, [1, 1, 1], 1), switch_of, np.array([0]))
    loss = joined.after(np.arange(0), absent)
    assert not loss.cut_off.any() and not loss.nics.any() and not loss.parted.any()
    apart = Served(network_of([0], [2], 1, [1, 1, 1], 1), switch_of, np.array([0]))
    assert apart.after(np.arange(0)).cut_off.tolist() == [False, False, True]
    assert apart.after(np.arange(0), np.array([True, True, False])).cut_off.tolist() == [False, False, False]


def test_lost_links_are_as_those_of_a_fabric_that_never_had_them() -> None:
    """Of random fabrics, most of which stay joined by few of their links: the parts of what is left decide."""
    is_hurt = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        network = some_network(random, 12, int(random.integers(30, 120)))
        served = Served(network, np.arange(12)[:, np.newaxis], np.zeros(1, dtype=np.int64))
        for share in (0.1, 0.5, 0.8):
            rows = np.flatnonzero(random.random(len(network.a)) < share)
            loss, left = served.without_links(rows), network.without(rows)
            graph = networkx.Graph(list(zip(left.a.tolist(), left.b.tolist(), strict=True)))
            graph.add_nodes_from(range(12))
            parts = sorted(map(len, networkx.connected_components(graph)))
            assert loss.cut_off.sum() == 12 - parts[-1]
            is_hurt.append(len(parts) > 1)
    assert 20 < sum(is_hurt) < 100
