"""Figures on explicit graphs: against brute force and networkx on small ones, against published ones."""

from __future__ import annotations

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import yaml

from fabopt.network.graph.alltoall import alltoall
from fabopt.network.graph.bisection import bisection
from fabopt.network.graph.distances import components, hopping, host_links, link_counts, path_lengths
from fabopt.network.graph.loads import arc_loads, uniform_loads
from fabopt.network.graph.matching import heaviest_assignment
from fabopt.network.graph.network import Network, network_of
from fabopt.network.graph.permutation import matched_links, permutation_bound
from fabopt.network.graph.ring import ring_rate
from tests.oracles import closed_forms, graph_generators as generators
from tests.oracles.alltoall_program import alltoall_by_program, uniform
from tests.oracles.closed_forms import Form
from tests.oracles.graph_generators import MBPS
from tests.paths import PUBLISHED

DIRECT_NETWORKS = yaml.safe_load((PUBLISHED / "direct-networks.yaml").read_text())
BALANCED, DEEPSEEK, LEONARDO, BOUNDS = (each["cases"] for each in DIRECT_NETWORKS)
FAT_TREES = yaml.safe_load((PUBLISHED / "fat-trees.yaml").read_text())[0]["cases"]
CLOSE = 1e-9


def random_network(seed: int, transit: int = 2) -> Network:
    """A connected network of 6 switches with endpoints and some without, links of different capacity."""
    rng = np.random.default_rng(seed)
    size = 6 + transit
    tree = [(at, int(rng.integers(at))) for at in range(1, size)]
    more = [pair for pair in itertools.combinations(range(size), 2) if rng.random() < 0.3]
    a, b = np.array(tree + more).T
    hosts = [*rng.integers(1, 5, 6).tolist(), *([0] * transit)]
    return network_of(a, b, rng.integers(1, 5, len(a)) * 100, hosts, 100)


def as_graph(network: Network) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(network.switches))
    for a, b, mbps, length in zip(network.a, network.b, network.mbps, network.length, strict=True):
        graph.add_edge(int(a), int(b), capacity=int(mbps), length=int(length))
    return graph


SEEDS = range(12)
SMALL = {
    "dragonfly": generators.dragonfly(4, 2, 2),
    "dragonfly-crowded": generators.dragonfly(4, 3, 2),
    "dragonfly-few-groups": generators.dragonfly(4, 4, 2, 6),
    "dragonfly+": generators.dragonfly_plus(5, 4, 4, 4, 1),
    "torus": generators.torus((3, 5), 2),
    "hyperx": generators.hyperx((3, 4), 6, (2, 1)),
    "leaf-spine": generators.leaf_spine(6, 2, 8, 2),
    "fat-tree": generators.fat_tree(4, 3),
    **{f"random-{seed}": random_network(seed) for seed in SEEDS},
}
EACH_SMALL = pytest.mark.parametrize("network", SMALL.values(), ids=SMALL)


# -- distances ----------------------------------------------------------------------------------------------------


@EACH_SMALL
def test_distances_are_those_of_networkx(network: Network) -> None:
    graph, counts = as_graph(network), link_counts(network)
    for one, found in nx.all_pairs_shortest_path_length(graph):
        assert counts[one].tolist() == [found[other] for other in range(network.switches)]
    lengths = path_lengths(network, np.arange(network.switches))
    for one, found in nx.all_pairs_dijkstra_path_length(graph, weight="length"):
        assert lengths[one].tolist() == [found[other] for other in range(network.switches)]


def test_parts_that_are_not_joined() -> None:
    network = network_of([0, 2], [1, 3], 100, [1, 1, 1, 1, 1], 100)
    assert components(network).tolist() == [0, 0, 1, 1, 2]
    assert link_counts(network)[0].tolist() == [0, 1, -1, -1, -1]
    with pytest.raises(ValueError, match="cannot reach"):
        host_links(network, network.with_hosts)
    with pytest.raises(ValueError, match="cannot reach"):
        arc_loads(network, np.ones((5, 5)))


def test_links_of_two_switches_are_one_row() -> None:
    network = network_of([0, 1, 1], [1, 0, 2], [100, 200, 50], [1, 1, 1], 100)
    assert (network.a.tolist(), network.b.tolist(), network.mbps.tolist()) == ([0, 1], [1, 2], [300, 50])
    assert network.capacity == 350


@pytest.mark.parametrize(("a", "b", "message"), [(0, 0, "to itself"), (0, 9, "not there")])
def test_links_that_lead_nowhere(a: int, b: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network_of([a], [b], 100, [1, 1], 100)


# -- closed forms against the graph -------------------------------------------------------------------------------

FORMS: dict[str, tuple[Network, Form]] = {}
for leaves, spines, hosts, links in [(2, 1, 3, 1), (4, 4, 4, 1), (6, 2, 8, 2), (5, 3, 7, 1)]:
    FORMS[f"leaf-spine-{leaves}-{spines}-{hosts}-{links}"] = (
        generators.leaf_spine(leaves, spines, hosts, links),
        closed_forms.leaf_spine(leaves, spines, hosts, links, MBPS, MBPS),
    )
for radix, tiers in [(4, 2), (8, 2), (4, 3), (6, 3)]:
    FORMS[f"fat-tree-{radix}-{tiers}"] = generators.fat_tree(radix, tiers), closed_forms.fat_tree(radix, tiers, MBPS)
for sides, hosts, links in [((4,), 1, 1), ((7,), 2, 1), ((3, 3), 1, 1), ((4, 4), 1, 1), ((6, 6), 1, 1), ((3, 5), 2, 1),
                            ((4, 8), 2, 2), ((3, 4, 4), 2, 1), ((4, 4, 4), 4, 3)]:  # fmt: skip
    FORMS[f"torus-{sides}-{hosts}-{links}"] = (
        generators.torus(sides, hosts, links),
        closed_forms.torus(sides, hosts, links, MBPS, MBPS),
    )
for sides, hosts, each in [((4, 4), 4, (1, 1)), ((4, 8), 8, (1, 1)), ((3, 4), 6, (2, 1)), ((3, 4, 5), 6, (2, 1, 1)),
                           ((6,), 4, (1,)), ((5, 1), 3, (1, 1)), ((3, 3), 2, (1, 2))]:  # fmt: skip
    FORMS[f"hyperx-{sides}-{hosts}-{each}"] = (
        generators.hyperx(sides, hosts, each),
        closed_forms.hyperx(sides, hosts, each, MBPS, MBPS),
    )
for a, p, h in [(4, 2, 2), (4, 3, 2), (6, 3, 3), (3, 2, 1), (2, 3, 2), (6, 1, 2)]:
    FORMS[f"dragonfly-{a}-{p}-{h}"] = (
        generators.dragonfly(a, p, h),
        closed_forms.dragonfly(a, p, h, a * h + 1, 1, MBPS, MBPS),
    )
for groups, leaves, spines, hosts, far in [(5, 4, 4, 4, 1), (5, 4, 4, 6, 2), (4, 3, 3, 5, 3), (3, 2, 4, 8, 1)]:
    FORMS[f"dragonfly+-{groups}-{leaves}-{spines}-{hosts}-{far}"] = (
        generators.dragonfly_plus(groups, leaves, spines, hosts, far),
        closed_forms.dragonfly_plus(groups, leaves, spines, hosts, far, MBPS, MBPS),
    )
EACH_FORM = pytest.mark.parametrize(("network", "form"), FORMS.values(), ids=FORMS)


@EACH_FORM
def test_forms_count_what_is_there(network: Network, form: Form) -> None:
    assert form.switches == network.switches
    assert form.endpoints == network.endpoints
    assert form.links * MBPS == network.capacity
    assert form.hops == int(host_links(network, network.with_hosts).max()) + 1


@EACH_FORM
def test_worst_permutation_is_that_of_the_graph(network: Network, form: Form) -> None:
    assert permutation_bound(network) == form.permutation


@EACH_FORM
def test_alltoall_is_that_of_the_graph(network: Network, form: Form) -> None:
    found = alltoall(network)
    if any(one.startswith("alltoall") for one in form.bounds):
        # minimal paths only: a routing, and so a rate that can be had
        assert form.alltoall is not None
        assert form.alltoall <= found.lower * (1 + CLOSE)
    elif form.alltoall is not None:
        assert found.is_exact
        assert found.lower == pytest.approx(float(form.alltoall), rel=CLOSE)


@EACH_FORM
def test_bisection_is_that_of_the_graph(network: Network, form: Form) -> None:
    found = bisection(network, alltoall(network).lower)
    if any(one.startswith("bisection") for one in form.bounds):
        assert form.bisection is not None
        assert found.lower <= float(form.bisection) * (1 + CLOSE)
    elif form.bisection is not None:
        assert found.lower * (1 - CLOSE) <= float(form.bisection) <= found.upper * (1 + CLOSE)
        if found.is_exact:
            assert found.lower == pytest.approx(float(form.bisection), rel=CLOSE)


# -- published ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [*BALANCED, *DEEPSEEK], ids=lambda row: f"a{row['a']}-h{row['h']}")
def test_published_dragonflies(row: dict[str, int]) -> None:
    form = closed_forms.dragonfly(row["a"], row["p"], row["h"], row["groups"], 1, MBPS, MBPS)
    assert (form.switches, form.endpoints, form.links) == (row["switches"], row["endpoints"], row["switch_links"])
    network = generators.dragonfly(row["a"], row["p"], row["h"], row["groups"])
    assert (network.switches, network.endpoints) == (row["switches"], row["endpoints"])
    assert network.capacity == row["switch_links"] * MBPS


@pytest.mark.parametrize("row", FAT_TREES, ids=lambda row: row["name"])
def test_published_fat_trees(row: dict[str, int]) -> None:
    """A plane is a network of its own."""
    form, planes = closed_forms.fat_tree(64, 3 if row["name"] == "three-tier" else 2, MBPS), row.get("planes", 1)
    figures = (form.switches, form.endpoints, form.links)
    assert tuple(planes * one for one in figures) == (row["switches"], row["endpoints"], row["switch_links"])


def test_published_dragonfly_plus() -> None:
    """Leonardo: every spine reaches each of 22 other cells, so every pair of cells has 18 links."""
    row = LEONARDO[0]
    cells, leaves, spines = row["cells"], row["leaf_per_cell"], row["spine_per_cell"]
    network = generators.dragonfly_plus(
        cells, leaves, spines, row["leaf_down_100g"], row["spine_up"], mbps=200_000, port_mbps=100_000
    )
    size = leaves + spines
    cell_a, cell_b = network.a // size, network.b // size
    pairs = np.unique(np.stack([cell_a, cell_b])[:, cell_a != cell_b], axis=1, return_counts=True)
    assert len(pairs[1]) == cells * (cells - 1) // 2
    assert set(pairs[1].tolist()) == {row["links_per_cell_pair"]}
    ratio = row["leaf_down_100g"] * 100 / (row["leaf_up_200g"] * 200)
    assert round(ratio, 2) == row["leaf_oversubscription"]
    found = alltoall(network)
    form = closed_forms.dragonfly_plus(cells, leaves, spines, 40, 22, 200_000, 100_000)
    assert found.is_exact
    assert found.lower == pytest.approx(float(form.alltoall or 0), rel=CLOSE)


EXAMPLES = [(row["family"], name, value) for row in BOUNDS for name, value in row["examples"].items()]


@pytest.mark.parametrize(("family", "name", "value"), EXAMPLES)
def test_published_worst_permutations(family: str, name: str, value: float) -> None:
    """Rounded as published: three decimals, four for dragonflies."""
    sides = [int(side) for side in name.split("_")[0].split("x")]
    if family == "dragonfly":
        network = generators.dragonfly(2 * sides[0], sides[0], sides[0])
    elif family == "torus":
        network = generators.torus(sides, 1)
    else:
        network = generators.hyperx(sides, int(name.split("T")[1]))
    assert float(permutation_bound(network) / MBPS) == pytest.approx(value, abs=5e-4)


# -- worst permutation ----------------------------------------------------------------------------------------------


@EACH_SMALL
def test_heaviest_matching_is_that_of_networkx(network: Network) -> None:
    """Through classes of twins, through equal counts of antipodes, one by one: the same as a program of its own."""
    hosts = network.hosts[network.with_hosts]
    weights = host_links(network, network.with_hosts).astype(np.int64) * np.minimum.outer(hosts, hosts)
    graph = nx.Graph()
    size = len(hosts)
    graph.add_weighted_edges_from((("out", i), ("in", j), int(weights[i, j])) for i in range(size) for j in range(size))
    best = nx.max_weight_matching(graph, maxcardinality=True)
    heaviest = sum(graph.edges[edge]["weight"] for edge in best)
    assert matched_links(network) == heaviest == heaviest_assignment(weights)


def test_one_switch_has_no_matching() -> None:
    network = network_of([], [], [], [8], 100)
    assert permutation_bound(network) == 100
    assert alltoall(network).is_exact
    with pytest.raises(ValueError, match="no halves"):
        bisection(network)


# -- all-to-all -----------------------------------------------------------------------------------------------------


@pytest.mark.long(but_every=3)
@EACH_SMALL
def test_linear_program_is_between_the_bounds(network: Network) -> None:
    found, exact = alltoall(network), alltoall_by_program(network)
    assert found.lower * (1 - 1e-6) <= exact <= found.upper * (1 + 1e-6)
    if found.is_exact:
        assert exact == pytest.approx(found.lower, rel=1e-6)


@EACH_SMALL
def test_loads_carry_all_traffic(network: Network) -> None:
    """Every unit takes one shortest path: loads x lengths are demand x distance."""
    rng = np.random.default_rng(1)
    demand = rng.random((network.switches, network.switches))
    np.fill_diagonal(demand, 0)
    loads = arc_loads(network, demand)
    lengths = path_lengths(network, np.arange(network.switches))
    assert float(loads @ network.arcs.length) == pytest.approx(float((demand * lengths).sum()), rel=1e-9)


TWINS = {
    **SMALL,
    "two-pods": generators.three_tiers(2, 3, 2, 2, 5),
    "ragged": network_of([0, 1, 2, 3, 0, 1, 2, 3], [4] * 4 + [5] * 4, 100, [3, 3, 3, 1, 0, 0], 100),
}


@pytest.mark.parametrize("network", TWINS.values(), ids=TWINS)
def test_twins_carry_what_switches_carry_one_by_one(network: Network) -> None:
    one_by_one = arc_loads(network, uniform(network))
    assert uniform_loads(network) == pytest.approx(one_by_one)
    assert sum(network.twins.size) == len(network.with_hosts)


def test_leaves_of_a_pod_are_twins() -> None:
    twins = TWINS["two-pods"].twins
    assert (twins.classes, twins.size.tolist(), twins.place.tolist()) == (2, [3, 3], [0, 0, 0, 1, 1, 1])
    ragged = TWINS["ragged"].twins
    assert (ragged.size.tolist(), ragged.other.tolist()) == ([3, 1], [1, 3])


@EACH_SMALL
def test_hopping_is_that_of_networkx(network: Network) -> None:
    found, lengths = hopping(network), dict(nx.all_pairs_shortest_path_length(as_graph(network)))
    pairs = [(i, j) for i in network.with_hosts for j in network.with_hosts]
    assert found.most == max(lengths[i][j] for i, j in pairs) + 1
    assert found.links == sum(lengths[i][j] * network.hosts[i] * network.hosts[j] for i, j in pairs)


def test_adversary_of_minimal_routing() -> None:
    """Every group sends to the next one: minimal paths have one global link for a p endpoints.

    Kim et al., ISCA 2008, section 4.2: throughput 1 / (a p) of the links' speed, where the bound of any routing is 5/6.
    """
    a, p, h = 4, 2, 2
    network = generators.dragonfly(a, p, h)
    demand = np.zeros((network.switches, network.switches))
    for switch in range(network.switches):
        demand[switch, (switch + a) % network.switches] = p
    busiest = (arc_loads(network, demand) / network.arcs.mbps).max()
    assert 1 / busiest == pytest.approx(MBPS / (a * p))


def test_adversaries_of_minimal_routing_on_lattices() -> None:
    """Tornado, three of eight steps around each ring: m w / (T (ceil(k/2) - 1)). Along lines of a HyperX: K w / T."""
    ring = generators.torus((8,), 2)
    demand = np.roll(2.0 * np.eye(8), 3, axis=1)
    assert 1 / (arc_loads(ring, demand) / ring.arcs.mbps).max() == pytest.approx(MBPS / (2 * (4 - 1)))
    line = generators.hyperx((5,), 4, (2,))
    demand = np.roll(4.0 * np.eye(5), 1, axis=1)
    assert 1 / (arc_loads(line, demand) / line.arcs.mbps).max() == pytest.approx(2 * MBPS / 4)


# -- bisection --------------------------------------------------------------------------------------------------------


def brute_bisection(network: Network) -> float:
    """The least cut over all halves, each by networkx's minimum cut."""
    at = network.with_hosts.tolist()
    least = float("inf")
    for half in itertools.combinations(at, len(at) // 2):
        graph = as_graph(network)
        for switch in at:
            graph.add_edge("from" if switch in half else "to", switch)
        cut, _ = nx.minimum_cut(graph, "from", "to")
        inside = sum(int(network.hosts[switch]) for switch in half)
        least = min(least, cut / min(inside, network.endpoints - inside))
    return min(float(network.port_mbps), least)


@pytest.mark.parametrize("name", ["fat-tree", "leaf-spine"])
def test_bisection_with_transit(name: str) -> None:
    """Two tiers (spines take their own side) and three (maximum flows)."""
    network = SMALL[name]
    found = bisection(network)
    assert found.is_exact
    assert found.lower == pytest.approx(brute_bisection(network))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("transit", [0, 2])
def test_bisection_of_random_networks(seed: int, transit: int) -> None:
    """With equal endpoints all halves are looked at; with unequal ones the bounds hold the best even cut."""
    made = random_network(seed, transit)
    hosts = np.where(made.hosts > 0, 3, 0)
    even = network_of(made.a, made.b, made.mbps, hosts, 100)
    exact = bisection(even)
    assert exact.is_exact
    assert exact.lower == pytest.approx(brute_bisection(even))


@pytest.mark.parametrize("seed", SEEDS)
def test_spectral_bound_is_below_the_best_cut(seed: int) -> None:
    made = random_network(seed, 2)
    even = network_of(made.a, made.b, made.mbps, np.where(made.hosts > 0, 3, 0), 100)
    exact = bisection(even)
    found = bisection(even, alltoall(even).lower, most_halves=0)
    assert found.lower <= exact.lower * (1 + CLOSE)
    assert found.upper >= exact.upper * (1 - CLOSE)


# -- rings ------------------------------------------------------------------------------------------------------------


def test_ring_within_leaves_and_across() -> None:
    """Four leaves of three endpoints, one uplink each of a third of the speed: one of three sends upwards."""
    network = generators.leaf_spine(4, 1, 3, 1, mbps=100, port_mbps=300)
    along = np.repeat(np.arange(4), 3)[np.newaxis]
    assert ring_rate(network, along) == 100
    assert ring_rate(network, np.zeros((2, 5), dtype=np.int64)) == 300
    # the worst order: every step leaves its leaf, three out of each
    assert ring_rate(network, np.tile(np.arange(4), 3)[np.newaxis]) == pytest.approx(100 / 3)


# -- families ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "ports"), [(9, 8), (5, 8), (5, 10), (6, 8), (6, 7), (3, 2), (2, 5), (1, 4)])
def test_global_links_are_even(groups: int, ports: int) -> None:
    """No port twice; as many links to every other group, to within one for ports that are left over."""
    rows = generators.global_links(groups, ports)
    ends = [(int(g), int(q)) for row in rows for g, q in (row[:2], row[2:])]
    assert len(set(ends)) == len(ends)
    assert all(0 <= q < ports for _, q in ends)
    assert (rows[:, 0] != rows[:, 2]).all()
    pairs = {frozenset((i, j)): 0 for i, j in itertools.combinations(range(groups), 2)}
    for one, _, other, _ in rows.tolist():
        pairs[frozenset((one, other))] += 1
    if groups > 1:
        assert max(pairs.values()) - min(pairs.values()) <= 1
        free = groups * ports - 2 * len(rows)
        # a port stays free only where an odd number of them is left over in an odd number of groups
        assert free == (groups if (ports % (groups - 1)) % 2 and groups % 2 else 0)


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="side of 2"):
        generators.torus((4, 2), 1)
    with pytest.raises(ValueError, match="10 groups need 9 global ports each, and have 8"):
        generators.dragonfly(4, 2, 2, 10)


def test_rails_do_not_meet() -> None:
    """Each rail is a network of one switch: nothing limits its own traffic."""
    rails = generators.rail_only(8, 64)
    assert len(rails) == 8
    assert {alltoall(one).lower for one in rails} == {MBPS}
    assert {permutation_bound(one) for one in rails} == {Fraction(MBPS)}
