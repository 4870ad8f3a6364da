"""Who is joined to whom among equal switches: published sizes, and figures that routes on the graph bear out."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import yaml

from fabopt.network.direct_links import Dragonfly, DragonflyPlus, HyperX, Mesh, SpineMesh, Torus, slots_of
from fabopt.topology.direct.dragonfly import DragonflyTopology, longest_path
from fabopt.topology.direct.lattices import HyperxTopology, TorusTopology, smallest_sides
from fabopt.topology.direct.networks import DirectNetworks, Load, moore_mean
from tests.paths import PUBLISHED

FOLDER = PUBLISHED
KIM, DEEPSEEK, *_ = yaml.safe_load((FOLDER / "direct-networks.yaml").read_text())
SMALL: list[tuple[Any, tuple[int, ...], Mesh]] = [
    (HyperxTopology(), (5, 0, 0, 2, 0, 0), HyperX((5,), (2,))),
    (HyperxTopology(), (2, 3, 4, 1, 2, 1), HyperX((2, 3, 4), (1, 2, 1))),
    (TorusTopology(), (3, 4, 0, 1, 2, 0), Torus((3, 4), (1, 2))),
    (TorusTopology(), (3, 3, 5, 1, 1, 1), Torus((3, 3, 5), (1, 1, 1))),
    (DragonflyTopology(), (4, 9, 1, 8), Dragonfly(4, 9, 1, 8)),
    (DragonflyTopology(), (3, 4, 2, 6), Dragonfly(3, 4, 2, 6)),
    (DragonflyTopology(), (4, 3, 1, 6), Dragonfly(4, 3, 1, 6)),
    (DragonflyTopology(), (2, 2, 1, 5), Dragonfly(2, 2, 1, 5)),
]


def links_of(mesh: Mesh) -> Counter[tuple[int, int]]:
    """Links of every joined pair of switches."""
    found: Counter[tuple[int, int]] = Counter()
    for scope in mesh.scopes:
        pairs = mesh.pairs(scope)
        found.update((min(a, b), max(a, b)) for a, b in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))
    return found


@pytest.mark.parametrize("row", [*KIM["cases"], *DEEPSEEK["cases"]], ids=lambda row: f"{row['groups']}-groups")
def test_published_dragonflies(row: dict[str, int]) -> None:
    """Kim et al. 2008, and table 3 of the DeepSeek-V3 paper, whose 511 groups have two links more than they need."""
    mesh = Dragonfly(row["a"], row["groups"], 1, row["a"] * row["h"])
    assert mesh.switches == row["switches"]
    assert mesh.switches * row["p"] == row["endpoints"]
    assert sum(len(mesh.pairs(scope).a) for scope in mesh.scopes) == row["switch_links"]
    ends = mesh.pairs("global")
    assert set(np.bincount(np.concatenate([*ends])).tolist()) == {row["h"]}


@pytest.mark.parametrize(("leaves", "spines", "groups", "links", "outside"), [
    (18, 18, 23, 1, 396), (2, 3, 4, 2, 7), (4, 2, 2, 1, 5), (3, 1, 5, 2, 8),
])  # fmt: skip
def test_dragonfly_plus_joins_leaves_within_and_spines_between(
    leaves: int, spines: int, groups: int, links: int, outside: int
) -> None:
    """Leaves of all groups come first. Spines have floor or ceil of t/S global links, pairs of groups of t/(G - 1)."""
    mesh = DragonflyPlus(leaves, links, SpineMesh(spines, groups, outside))
    first = leaves * groups
    inside, between = mesh.pairs("leaf-spine"), mesh.pairs("global")
    assert set(Counter(zip(inside.a.tolist(), inside.b.tolist(), strict=True)).values()) == {links}
    assert (inside.a // leaves == (inside.b - first) // spines).all() and inside.b.max() == mesh.switches - 1
    assert len(inside.a) == groups * leaves * spines * links
    ends = np.concatenate([*between]) - first
    each = np.bincount(ends, minlength=spines * groups)
    assert ends.min() >= 0 and {*each.tolist()} <= {outside // spines, -(-outside // spines)}
    pairs = Counter(tuple(sorted(one)) for one in zip(*((end - first) // spines for end in between), strict=True))
    assert len(pairs) == groups * (groups - 1) // 2
    assert {*pairs.values()} <= {outside // (groups - 1), -(-outside // (groups - 1))}


def test_hyperx_joins_those_that_differ_in_one_coordinate() -> None:
    # 2 x 3: switch = x + 2 y. One link in x, two in y.
    links = links_of(HyperX((2, 3), (1, 2)))
    assert links == {(0, 1): 1, (2, 3): 1, (4, 5): 1, (0, 2): 2, (0, 4): 2, (2, 4): 2, (1, 3): 2, (1, 5): 2, (3, 5): 2}


def test_torus_joins_neighbours_round_the_ring() -> None:
    links = links_of(Torus((3, 4), (1, 1)))
    assert len(links) == 24 and set(links.values()) == {1}
    assert (0, 2) in links and (0, 9) in links and (0, 6) not in links


@pytest.mark.parametrize(
    ("topology", "numbers", "mesh"), SMALL, ids=lambda one: str(one) if isinstance(one, tuple) else ""
)
def test_hops_are_those_of_the_graph(topology: Any, numbers: tuple[int, ...], mesh: Mesh) -> None:
    assert topology.hops(np.array(numbers), mesh.switches) == longest_path(mesh, range(mesh.switches), mesh.switches)


def test_hops_are_between_switches_with_servers() -> None:
    """Two groups of two with one link between their first ones: only the fourth switch is three links from another."""
    numbers = np.array((2, 2, 1, 1))
    assert (DragonflyTopology().hops(numbers, 3), DragonflyTopology().hops(numbers, 4)) == (3, 4)


@pytest.mark.parametrize("a", [2, 3, 4, 5])
def test_hops_without_some_of_the_last_group(a: int) -> None:
    """By arithmetic or from the first group alone they are those of all pairs, whatever of the last group is used."""
    for groups, n in product(range(2, 8), range(1, a + 3)):
        numbers = (a, groups, 1, n * (groups - 1))
        mesh = Dragonfly(*numbers)
        for used in range(mesh.switches - a + 1, mesh.switches + 1):
            assert DragonflyTopology().hops(np.array(numbers), used) == longest_path(mesh, range(used), used), numbers


@pytest.mark.parametrize(
    ("topology", "numbers", "mesh"), SMALL, ids=lambda one: str(one) if isinstance(one, tuple) else ""
)
def test_every_cut_carries_the_flow_across(topology: Any, numbers: tuple[int, ...], mesh: Mesh) -> None:
    """Between x switches and the others run at least ``flow x (Q - x)`` links: what bisection is derived from."""
    flow, count = topology.flow(np.array(numbers)), mesh.switches
    links = links_of(mesh)
    sets = [set(range(size)) for size in range(1, count)]
    for step in range(2, count):
        sets.append(set(range(0, count, step)))
    if count <= 12:
        sets += [set(one) for size in range(1, count // 2 + 1) for one in combinations(range(count), size)]
    for inside in sets:
        across = sum(each for (a, b), each in links.items() if (a in inside) != (b in inside))
        assert across >= flow * len(inside) * (count - len(inside)), inside


@pytest.mark.parametrize("sides", [(4,), (2, 4), (3, 4), (2, 2, 4)])
def test_hyperx_with_an_even_side_reaches_its_bound(sides: tuple[int, ...]) -> None:
    """Half of the longest even side is a cut of just ``flow Q^2 / 4`` links: the bisection is exact."""
    mesh = HyperX(sides, (2,) * len(sides) if len(sides) == 1 else (3, *(1,) * (len(sides) - 1)))
    numbers = np.array([*sides, *(0,) * (3 - len(sides)), *mesh.links, *(0,) * (3 - len(sides))])
    flow = HyperxTopology().flow(numbers)
    at = min(range(len(sides)), key=lambda one: mesh.links[one] * sides[one])
    stride = int(np.prod(sides[:at]))
    half = {one for one in range(mesh.switches) if one // stride % sides[at] < sides[at] // 2}
    across = sum(each for (a, b), each in links_of(mesh).items() if (a in half) != (b in half))
    if sides[at] % 2 == 0:
        assert across == flow * Fraction(mesh.switches**2, 4)


@pytest.mark.parametrize("numbers", [(4, 9, 1, 8), (3, 4, 1, 6), (2, 5, 1, 4), (3, 3, 1, 4), (4, 5, 1, 8)])
def test_dragonfly_routes_load_no_link_more(numbers: tuple[int, ...]) -> None:
    """All pairs of switches over local, global, local, spread over all links of two groups: loads <= 1 / flow.

    The global links carry just a^2 / n; a local link no more than its bound, and that where all switches have as many.
    """
    a, groups, _, outside = numbers
    mesh = Dragonfly(*numbers)
    ends = mesh.pairs("global")
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for one, other in zip(ends.a.tolist(), ends.b.tolist(), strict=True):
        between.setdefault((one // a, other // a), []).append((one, other))
        between.setdefault((other // a, one // a), []).append((other, one))
    local: dict[tuple[int, int], Fraction] = {}
    outer: Counter[Any] = Counter()
    for start in range(mesh.switches):
        for end in range(mesh.switches):
            ways = between.get((start // a, end // a), [(start, start)])
            for number, (out, back) in enumerate(ways):
                for pair in ((start, out), (back, end)):
                    if pair[0] != pair[1]:
                        local[pair] = local.get(pair, Fraction(0)) + Fraction(1, len(ways))
                if start // a != end // a:
                    outer[start // a, end // a, number] += Fraction(1, len(ways))
    n = outside // (groups - 1)
    assert set(outer.values()) == {Fraction(a * a, n)}
    bound = 1 + Fraction(2 * a * -(-outside // a), n)
    assert max(local.values()) <= bound
    if outside % a == 0:
        assert max(local.values()) == bound
    assert DragonflyTopology().flow(np.array(numbers)) == min(Fraction(n, a * a), 1 / bound)


def test_uneven_groups_differ_by_one_link() -> None:
    links = links_of(Dragonfly(2, 6, 1, 7))
    groups: Counter[tuple[int, int]] = Counter()
    for (a, b), each in links.items():
        if a // 2 != b // 2:
            groups[a // 2, b // 2] += each
    assert sorted(groups.values()) == [1] * 9 + [2] * 6
    with pytest.raises(ValueError, match="cannot be joined evenly"):
        Dragonfly(2, 5, 1, 5).pairs("global")


@pytest.mark.parametrize("mesh", [one for *_, one in SMALL])
def test_slots_are_used_once(mesh: Mesh) -> None:
    for scope in mesh.scopes:
        pairs = mesh.pairs(scope)
        slots = slots_of(pairs)
        ends = list(zip([*pairs.a, *pairs.b], [*slots.a, *slots.b], strict=True))
        assert len(set(ends)) == len(ends)
        for switch, most in Counter(one for one, _ in ends).items():
            assert {slot for one, slot in ends if one == switch} == set(range(most))


def test_boxes_are_no_longer_than_needed() -> None:
    # 2 x 3 and 3 x 3 hold 5, but 3 x 3 would with a side less; 1 to 3 dimensions of 7: 7; 2 x 4, 3 x 3; 2 x 2 x 2.
    assert smallest_sides(5, 2, 2, 99).tolist() == [[2, 3]]
    assert smallest_sides(7, 1, 2, 99).tolist() == [[7]]
    assert smallest_sides(7, 2, 2, 99).tolist() == [[2, 4], [3, 3]]
    assert smallest_sides(7, 3, 2, 99).tolist() == [[2, 2, 2]]
    assert smallest_sides(7, 2, 2, 3).tolist() == [[3, 3]]
    assert smallest_sides(10, 2, 3, 2).tolist() == []


@pytest.mark.parametrize(
    ("topology", "leaves"), [(HyperxTopology(), 12), (TorusTopology(), 12), (DragonflyTopology(), 12)]
)
def test_networks_carry_what_they_have_to(topology: Any, leaves: int) -> None:
    """By the search's arrays as by the exact figures, with the ports and links of the graph."""
    load = Load(4, 48, Fraction(1, 2), Fraction(1, 2))
    net: DirectNetworks = topology.nets(leaves, load, 24, (2,))
    assert len(net)
    for at in range(len(net)):
        numbers = net.numbers[at]
        mesh, flow = topology.mesh(numbers), topology.flow(numbers)
        assert flow * mesh.switches / (2 * 4) >= Fraction(1, 2)
        assert flow * 47 / 16 >= Fraction(1, 2)
        for column, scope in enumerate(topology.scopes(numbers)):
            pairs = mesh.pairs(scope)
            ports = np.bincount(np.concatenate([*pairs]), minlength=mesh.switches)
            assert len(pairs.a) == net.links[at, column]
            assert ports.max() == net.most_ports[at, column]
            assert (-(-ports // 2)).sum() == net.cages(2)[at, column]


@pytest.mark.parametrize(
    ("topology", "numbers", "mesh"), SMALL, ids=lambda one: str(one) if isinstance(one, tuple) else ""
)
def test_mean_distance_is_a_bound(topology: Any, numbers: tuple[int, ...], mesh: Mesh) -> None:
    links = links_of(mesh)
    near: dict[int, set[int]] = {}
    for a, b in links:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    total = 0
    for source in range(mesh.switches):
        seen, edge, steps = {source}, {source}, 0
        while edge:
            steps += 1
            edge = {b for a in edge for b in near[a]} - seen
            seen |= edge
            total += steps * len(edge)
    mean = total / mesh.switches**2
    ports = max(len(one) for one in near.values())
    for bound in (topology.mean_distance, moore_mean):
        assert bound(np.array([mesh.switches]), np.array([ports]))[0] <= mean + 1e-9


def test_links_are_exact_however_large_the_numbers_are() -> None:
    """Products past 64 bits: ceil(2 d b number / (Q of)) and ceil(d^2 a number / ((E - 1) of)) of whole numbers."""
    cut, spread = Fraction(10**9 + 7, 10**9 + 9), Fraction(10**9 + 21, 10**9 + 33)
    load = Load(20, 10**6 + 1, cut, spread)
    switches, number, of = 10**6, 10**6 * 1024**2, 2 * 1024
    expected = max(-(-40 * cut * number // (switches * of)), -(-(20**2) * spread * number // (10**6 * of)))
    assert load.links(np.array([switches]), np.array([number]), np.array([of])).tolist() == [expected]
