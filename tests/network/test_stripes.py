"""Uneven stripes: the worst cut into halves against enumeration, and what two leaves share."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from math import gcd

import numpy as np
import pytest

from fabopt.network.clos_links import ClosNumbers, downlinks_of_spines, leaf_spine
from fabopt.network.graph import stripes
from fabopt.network.graph.stripes import fewest_shared, round_robin, worst_half
from tests.oracles.brute_stripes import worst_by_flow, worst_by_sets

# Leaves, endpoints of each, spines, uplinks, Gb/s of a port and of a link.
SMALL = [
    ([2, 2], 2, 3, (1, 1)),
    ([3, 3, 3], 2, 3, (1, 1)),
    ([3, 3, 2], 3, 4, (1, 1)),
    ([2, 2, 2, 2], 4, 6, (1, 1)),
    ([4, 4, 1], 3, 5, (2, 3)),
    ([3, 3, 3, 3, 3], 2, 3, (1, 1)),
    ([2, 2, 2, 2, 1], 5, 7, (3, 1)),
]


@pytest.mark.parametrize(("hosts", "spines", "uplinks", "mbps"), SMALL)
def test_worst_half_is_that_of_all_halves_by_maximum_flow(
    hosts: list[int], spines: int, uplinks: int, mbps: tuple[int, int]
) -> None:
    links = round_robin(len(hosts), spines, uplinks)
    worst = worst_by_flow(links, hosts, *mbps)
    assert worst_half(links, np.array(hosts), *mbps) == worst
    assert worst_by_sets(links, hosts, *mbps) == worst


def test_by_hand() -> None:
    """Two leaves of 3 ports on two spines, 2 and 1 links, then 1 and 2: they share 1 + 1 of 3 links."""
    links = round_robin(2, 2, 3)
    assert links.tolist() == [[2, 1], [1, 2]]
    assert worst_half(links, np.array([3, 3]), 400, 400) == Fraction(800, 3)
    # four such leaves: like with like is parted from the others, which leaves 4 of 6 links
    assert worst_half(round_robin(4, 2, 3), np.array([3] * 4), 400, 400) == Fraction(800, 3)


@pytest.mark.parametrize("seed", range(40))
def test_worst_half_is_that_of_all_sets_of_leaves(seed: int) -> None:
    rng = random.Random(seed)
    spines, leaves = rng.randint(2, 13), rng.randint(2, 13)
    uplinks = rng.randint(spines, 4 * spines)
    last, full = rng.randint(1, leaves), rng.randint(1, uplinks)
    hosts = [full] * (leaves - last) + [rng.randint(1, full)] * last
    if sum(hosts) > 1:
        mbps = rng.choice([(1, 1), (1, 2), (2, 1), (4, 1), (3, 2)])
        links = round_robin(leaves, spines, uplinks, rng.choice([0, 0, last]))
        assert worst_half(links, np.array(hosts), *mbps) == worst_by_sets(links, hosts, *mbps)


def test_sets_without_a_gap_are_the_worst_for_equal_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """All round-robin stripes of up to 8 spines and 11 leaves, full at 1:1."""
    monkeypatch.setattr(stripes, "MOST_CLASSES", 1)
    for spines, leaves in itertools.product(range(2, 9), range(2, 12)):
        for extra in range(1, spines):
            if gcd(extra, spines) == 1:
                links, hosts = round_robin(leaves, spines, spines + extra), [spines + extra] * leaves
                assert worst_half(links, np.array(hosts), 1, 1) == worst_by_sets(links, hosts, 1, 1)


@pytest.mark.parametrize("seed", range(30))
def test_many_kinds_of_spines_are_never_above_the_worst(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripes, "MOST_CLASSES", 1)
    rng = random.Random(seed)
    spines, leaves = rng.randint(5, 11), rng.randint(4, 12)
    links, full = round_robin(leaves, spines, 2 * spines - 1 - rng.randint(0, spines - 2)), rng.randint(4, 9)
    hosts = [full] * (leaves - 2) + [rng.randint(1, full)] * 2
    assert worst_half(links, np.array(hosts), 1, 1) <= worst_by_sets(links, hosts, 1, 1)


def test_fewest_shared_links() -> None:
    for spines, uplinks in itertools.product(range(1, 12), range(1, 40)):
        if uplinks >= spines:
            links = round_robin(3 * spines, spines, uplinks)
            shared = np.minimum(links[:, np.newaxis], links).sum(axis=2)
            assert fewest_shared(spines, uplinks) <= shared.min()
            base, extra = divmod(uplinks, spines)
            if spines % gcd(extra, spines) == 0 and 2 * extra % spines == 0:
                assert fewest_shared(spines, uplinks) == shared.min()
                assert base * spines <= shared.min()


@pytest.mark.parametrize("by_rail", [False, True])
def test_stripes_are_those_of_the_wiring(by_rail: bool) -> None:
    numbers = ClosNumbers(12, 2, 1, 1, 3, 7, 5, 4, by_rail=by_rail, nics=2, ports_per_nic=1, shared_cages=False)
    wired = np.zeros((int(numbers.leaves), 5), dtype=np.int64)
    links = leaf_spine(numbers, 1)
    np.add.at(wired, (links.a, links.b), 1)
    assert (wired == round_robin(int(numbers.leaves), 5, 7, 2 if by_rail else 0)).all()
    assert (wired.sum(axis=0) == downlinks_of_spines(numbers)).all()
    assert wired.sum(axis=0).max() == numbers.spine_down
    if by_rail:
        assert (wired[0::2] == wired[0]).all() and (wired[1::2] == wired[1]).all()
