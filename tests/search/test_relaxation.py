"""The floor under an answer: by hand, under everything that is cheaper outside its space, and where there is none."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from fabopt.io.case import inputs_from_objects, read_inputs
from fabopt.schema.design import Design
from fabopt.search.relaxation import _least_cover
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples import random_growth
from tests.samples.bare import bare
from tests.samples.growth_samples import eight, grown, solved as grown_solved
from tests.samples.random_cases import generate
from tests.samples.small import case as small_case, solved as small_solved
from tests.solution.test_brute_force import cable, cage, case, catalog, switch

Json = dict[str, Any]
# What tests' cables cost over 3 and 30 m, and what rounding may add.
SERVER_LINK, UPLINK, CENT = 10, 20, 0.01


def run(parts: Json, wanted: Json) -> Json:
    """The content of a design of the bare space, with its floor, which files do not have."""
    design = optimize.solve(inputs_from_objects(bare(wanted), parts), alternatives_s=0)
    content = design.model_dump(by_alias=True, mode="json")
    content["objective"]["floor"] = design.objective.floor
    return content


def test_by_hand() -> None:
    """The example of docs/formulation.md: six servers.

    NICs and copper cost 6 x (149.50 + 38.45) = 1127.70. Three `four` take two servers each, for 1500, as two `six` take
    three each for 1800; six links above cost 6 x 185.15 = 1110.90, and one `six`, which takes them, 900. By the port
    it would be less: a share of a `four` as spine is 125 a link, 750 in all.
    """
    design = optimize.solve(read_inputs(ROOT / "docs/formulation/example-case.yaml"), alternatives_s=0)
    assert design.objective.floor == 4638.60


def test_stages_before_the_last_count_at_what_they_cost_above_it() -> None:
    """Half of what eight servers on two leaves and a spine cost, and half of what four on one leaf do: the optimum.

    4040 and 1440. Five servers take a second leaf from the start, so that uplinks and a spine count then, too: 5 x 130
    and three switches.
    """
    sizes, floors = ((4, 8), (5, 8)), []
    for first, last in sizes:
        wanted = grown(first, last, objective="tco_usd", finance={"energy_usd_per_kwh": 0})
        wanted["stages"][-1]["probability"] = 0.5
        design = grown_solved(eight(), wanted)
        assert design.objective.value is not None and design.objective.floor is not None
        assert design.objective.floor <= design.objective.value
        floors.append(design.objective.floor)
    assert floors == [2740, 0.5 * 4040 + 0.5 * 3650]


@pytest.mark.long("501")
@pytest.mark.parametrize("seed", [501, 502])
def test_no_growth_that_may_end_is_below(seed: int) -> None:
    """Whatever its rails and stripes."""
    parts, wanted = random_growth.generate("staged", seed)
    wanted["objective"] = "tco_usd"
    for stage in wanted["stages"][1:]:
        stage["probability"] = 0.3
    kept = grown_solved(parts, wanted)
    if kept.objective.floor is None:
        return
    tiers = len(kept.fabrics[0].tiers)
    other = grown_solved(parts, {**wanted, "fabrics": [{**wanted["fabrics"][0], **FREEDOMS[-1], "tiers": tiers}]})
    assert kept.objective.value is not None and kept.objective.floor <= kept.objective.value
    assert other.objective.value is not None and kept.objective.floor <= other.objective.value


FREEDOMS: list[Json] = [
    {"rails": "any"},
    {"striping": "any"},
    {"striping": "rail"},
    {"rails": "any", "striping": "any"},
]


@pytest.mark.long("0-limited", "4-rails")
@pytest.mark.long(but_every=3)
@pytest.mark.long("4-limited", "2-three_tier", "0-linear")
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


def least_cover(prices: dict[int, int], ports: int) -> int:
    """The least that switches of two sizes cost which have so many ports together."""
    (few, cheap), (many, dear) = prices.items()
    numbers = range(ports + 1)
    return min(a * cheap + b * dear for a, b in product(numbers, repeat=2) if a * few + b * many >= ports)


def cover_by_loops(switches: list[tuple[int, int]], total: int) -> float:
    """The least that any number of switches cost which carry so much together."""
    if total <= 0:
        return 0
    return min((cost + cover_by_loops(switches, total - carries) for carries, cost in switches), default=float("inf"))


@pytest.mark.parametrize("seed", range(20))
def test_covers_by_loops(seed: int) -> None:
    dice = random.Random(seed)
    switches = [(dice.randint(3, 12), dice.randint(1, 30)) for _ in range(dice.randint(0, 4))]
    total = dice.randint(0, 20)
    assert _least_cover(switches, total) == cover_by_loops(switches, total)


def test_a_cover_of_many_small_switches_takes_no_loop_over_all_sums() -> None:
    """12 and 25 of 4 Gb/s beside 12,800: what uplinks of 1,024 servers came to in a floor of the shipped switches."""
    switches = [(10, 30.0), (12, 36.0), (25, 31.0), (12_800, 2_000.0)]
    began = time.process_time()
    assert _least_cover(switches, 819_200) == 64 * 2_000.0
    assert _least_cover(switches, 819_201) == 64 * 2_000.0 + 30
    assert time.process_time() - began < 1


def leaves_of_groups(servers: int, ports: int) -> Iterator[list[int]]:
    """Server ports of all leaves, for groups of one size and an odd last one, each with ports of its own on a leaf."""
    for size in range(1, servers + 1):
        full, rest = divmod(servers, size)
        for k, odd in product([one for one in (1, 2, 4) if ports % one == 0], repeat=2):
            last = [rest * odd] * (ports // odd) if rest else []
            yield [size * k] * (ports // k) * full + last


@pytest.mark.long(but=("leaf_ports0-3", "leaf_ports1-9", "leaf_ports2-4"))
@pytest.mark.parametrize("servers", range(3, 12))
@pytest.mark.parametrize("leaf_ports", [(4, 6), (8, 6), (6, 10)])
def test_no_odd_groups_and_mixed_leaves_are_below(servers: int, leaf_ports: tuple[int, int]) -> None:
    """All groups of one size but the last, any ports of a server on a leaf, each leaf of the switch that suits it,
    under as few spines as have their uplinks, which the floor comes near to.
    """
    prices = {ports: 400 + 110 * ports for ports in leaf_ports}
    parts = catalog(
        switches=[switch(f"s{ports}", cage(ports, "1x100"), usd=price) for ports, price in prices.items()],
        cables=[cable("c", "1x100", "1x100")],
    )
    found = run(parts, case(servers, {"tiers": 2, "rails": "any", "nics_per_server": 2}))
    if found["status"] != "optimal":
        return
    nics = sum(row["total_usd"] for row in found["bom"] if row["kind"] == "nic")
    cheapest = float("inf")
    for leaves in leaves_of_groups(servers, 2):
        costs = [[price for ports, price in prices.items() if 2 * down <= ports] for down in leaves]
        if all(costs):
            spines = least_cover(prices, sum(leaves))
            total = nics + sum(map(min, costs)) + sum(leaves) * (SERVER_LINK + UPLINK) + spines
            assert found["objective"]["floor"] <= total + CENT
            cheapest = min(cheapest, total)
    assert cheapest < 1.1 * found["objective"]["floor"]


def every_choice_of_leaves(costs: dict[int, int], ports: int, most: int) -> Iterator[int]:
    """What leaves with at most so many ports each cost that have this many together, each in turn."""
    if not ports:
        yield 0
    for own in range(1, min(most, ports) + 1):
        if own in costs:
            yield from (costs[own] + rest for rest in every_choice_of_leaves(costs, ports - own, own))


@pytest.mark.long(but=("4", "6"))
@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, 6])
def test_whole_switches_by_loops(seed: int) -> None:
    """The least of all leaves of whatever ports, each of the switch that suits it, under whole spines."""
    dice = random.Random(seed)
    sizes = sorted(dice.sample(range(4, 13), 2))
    prices = {ports: ports * dice.randint(60, 140) + dice.randint(0, 300) for ports in sizes}
    ratio, servers = dice.choice((1, 1, 2)), dice.randint(5, 9)
    parts = catalog(
        switches=[switch(f"s{ports}", cage(ports, "1x100"), usd=price) for ports, price in prices.items()],
        cables=[cable("c", "1x100", "1x100")],
    )
    asked = {"tiers": 2, "rails": "any", "groups": "any", "nics_per_server": 2, "max_oversubscription": ratio}
    found, ports = run(parts, case(servers, asked)), 2 * servers
    nics = sum(row["total_usd"] for row in found["bom"] if row["kind"] == "nic")
    costs = {}
    for down in range(1, max(sizes)):
        up = -(-down // ratio)
        of_switch = [price + SERVER_LINK * down + UPLINK * up for size, price in prices.items() if down + up <= size]
        costs |= {down: min(of_switch)} if of_switch else {}
    least = min(every_choice_of_leaves(costs, ports, ports)) + least_cover(prices, -(-ports // ratio))
    floor = found["objective"]["floor"]
    assert nics + least - CENT < floor <= found["objective"]["value"]
    assert ratio > 1 or floor < nics + least + CENT


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
