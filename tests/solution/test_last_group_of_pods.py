"""Three tiers whose last leaf group, in the last pod, has leaves, ports on a leaf and uplinks of its own."""

from __future__ import annotations

import os
import random
from fractions import Fraction

import pytest

from fabopt.schema.design import Design
from tests.oracles.brute_proportional import Asked, Parts, Switch, least_usd
from tests.samples.prices import case_of, catalog_of
from tests.samples.small import Json, assert_proven, solved
from tests.solution.test_last_group import assert_all_to_all, capex, failed

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))


def three_tiers(seed: int) -> tuple[Parts, Asked]:
    """A few small switches at random prices, and servers that ask for three tiers."""
    draw = random.Random(seed)
    switches = tuple(
        Switch(ports, ports * draw.randint(60, 140) + draw.randint(0, 400))
        for ports in sorted(draw.sample(range(3, 9), draw.choice((2, 3))))
    )
    parts = Parts(switches, 50, uplink := draw.choice((10, 40, 90)), uplink + draw.choice((0, 30)))
    servers, ports, ratio = draw.randint(3, 16), draw.choice((1, 2)), Fraction(draw.choice((1, 1, 2)))
    return parts, Asked(servers, ports, ratio, draw.random() < 0.5, True, tiers=3)


def on_three_tiers(seed: int) -> Design:
    parts, asked = three_tiers(seed)
    return solved(case_of(asked), catalog_of(parts))


# a last group of its own that fills its pod or does not, with leaves of another type or not, in pods of one rail, none
@pytest.mark.long(but=("1", "54"))
@pytest.mark.parametrize("seed", [1, 28, 54, 57, 102, 42])
def test_every_network_of_three_tiers_is_looked_at(seed: int) -> None:
    """Every g, k, leaf, u, S, last group, pods, spine, x, q, m2, core by plain loops."""
    for number in range(seed, seed + 100 * MORE_SEEDS, 100):
        parts, asked = three_tiers(number)
        design, best = on_three_tiers(number), least_usd(parts, asked)
        if best is None:
            assert design.status == "infeasible"
            continue
        assert_proven(design)
        assert capex(design) == best
        if number == seed:
            assert design.fabrics[0].clos.last_group is not None


@pytest.mark.parametrize("seed", [28, 54, 57, 102])
def test_figures_of_three_tiers_are_those_of_the_graph(seed: int) -> None:
    """All-to-all by a linear program over all routings, whatever is the bottleneck."""
    assert_all_to_all(on_three_tiers(seed))


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"servers": 2}, "last_group_may_differ"),
        ({"up_ports": 2}, "links_close"),
        ({"leaves": 2}, "last_group_may_differ"),
    ],
)
def test_what_is_wrong_on_three_tiers_is_noticed(changes: Json, check: str) -> None:
    assert check in failed(on_three_tiers(102), **changes)


def test_pods_of_one_rail_have_as_many_leaves_of_the_last_group() -> None:
    """A file cannot have all ports of its servers on one leaf there, which would be in one of the rails' pods."""
    design = on_three_tiers(54)
    assert design.fabrics[0].clos.pod_of == "rail"
    assert "last_group_may_differ" in failed(design, ports_per_server_per_leaf=2)
