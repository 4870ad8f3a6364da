"""The floor under an answer: by hand, under everything that is cheaper outside its space, and where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from fabopt.io.case import read_inputs
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples.adapter import run
from tests.samples.random_cases import generate
from tests.samples.small import case as small_case
from tests.samples.small import solved as small_solved
from tests.solution.test_brute_force import cable, cage, case, catalog, switch

Json = dict[str, Any]
# What tests' cables cost over 3 and 30 m, and what rounding may add.
SERVER_LINK, UPLINK, CENT = 10, 20, 0.01


def test_by_hand() -> None:
    """The example of docs/formulation.md: six servers.

    A link above costs 185.15, and with a port of `four` as spine 125 more: 310.15. Two servers on `four` have two of
    them: (500 + 620.30) / 2 = 560.15 a port; three on `six`: 900 / 3 + 310.15 = 610.15. With NIC and copper,
    6 x (149.50 + 38.45 + 560.15) = 4488.60.
    """
    design = optimize.solve(read_inputs(ROOT / "docs/formulation/example-case.yaml"), alternatives_s=0)
    assert design.objective.floor == 4488.60


FREEDOMS: list[Json] = [
    {"rails": "any"},
    {"striping": "any"},
    {"striping": "rail"},
    {"rails": "any", "striping": "any"},
]


@pytest.mark.parametrize("family", ["linear", "three_tier", "rails", "limited"])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_rails_and_stripes_are_below(family: str, seed: int) -> None:
    parts, wanted = generate(family, seed)
    kept = run(parts, wanted)
    if kept["status"] != "optimal" or len(kept["fabrics"][0]["tiers"]) == 1:
        return
    tiers = len(kept["fabrics"][0]["tiers"])
    assert kept["objective"]["floor"] <= kept["objective"]["value"]
    for freedom in FREEDOMS:
        other = run(parts, {**wanted, "fabrics": [{**wanted["fabrics"][0], **freedom, "tiers": tiers}]})
        assert kept["objective"]["floor"] <= other["objective"]["value"]


def leaves_of_groups(servers: int, ports: int) -> Iterator[list[int]]:
    """Server ports of all leaves, for groups of one size and an odd last one, each with ports of its own on a leaf."""
    for size in range(1, servers + 1):
        full, rest = divmod(servers, size)
        for k, odd in product([one for one in (1, 2, 4) if ports % one == 0], repeat=2):
            last = [rest * odd] * (ports // odd) if rest else []
            yield [size * k] * (ports // k) * full + last


@pytest.mark.parametrize("servers", range(3, 12))
@pytest.mark.parametrize("leaf_ports", [(4, 6), (8, 6), (6, 10)])
def test_no_odd_groups_and_mixed_leaves_are_below(servers: int, leaf_ports: tuple[int, int]) -> None:
    """All groups of one size but the last, any ports of a server on a leaf, each leaf of the switch that suits it."""
    prices = {ports: 400 + 110 * ports for ports in leaf_ports}
    parts = catalog(
        switches=[switch(f"s{ports}", cage(ports, "1x100"), usd=price) for ports, price in prices.items()],
        cables=[cable("c", "1x100", "1x100")],
    )
    found = run(parts, case(servers, {"tiers": 2, "rails": "any", "nics_per_server": 2}))
    if found["status"] != "optimal":
        return
    nics = sum(row["total_usd"] for row in found["bom"] if row["kind"] == "nic")
    spine_port = min(price / ports for ports, price in prices.items())
    cheapest = float("inf")
    for leaves in leaves_of_groups(servers, 2):
        costs = [[price for ports, price in prices.items() if 2 * down <= ports] for down in leaves]
        if all(costs):
            total = nics + sum(map(min, costs)) + sum(leaves) * (SERVER_LINK + UPLINK + spine_port)
            assert found["objective"]["floor"] <= total + CENT
            cheapest = min(cheapest, total)
    assert cheapest < 1.2 * found["objective"]["floor"]


def test_a_floor_above_the_value_is_refused() -> None:
    design = small_solved(small_case({"tiers": 2}, servers=5))
    assert design.objective.floor is not None
    raised = design.objective.model_copy(update={"floor": float(design.objective.value or 0) + 1})
    wrong = design.model_copy(update={"objective": raised})
    assert "status_is_honest" in [check.name for check in verify(wrong) if not check.ok]


@pytest.mark.parametrize("objective", ["tco_usd", "power_w"])
def test_other_objectives_have_one(objective: str) -> None:
    design = small_solved({**small_case({"tiers": 2}, servers=5), "objective": objective})
    floor, value = design.objective.floor, design.objective.value
    assert floor is not None and value is not None
    assert 0 < floor <= value


@pytest.mark.parametrize("fabric", [{"tiers": 1}, {"topologies": ["torus"]}])
def test_some_have_none(fabric: Json) -> None:
    design: Design = small_solved(small_case({"tiers": "any", **fabric}, servers=3))
    assert design.status == "optimal"
    assert design.objective.floor is None
