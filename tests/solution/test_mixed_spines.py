"""Fabrics with spines of two types: optimum, figures, failures, wiring, words, and what is refused."""

from __future__ import annotations

import copy
import os
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.output.space import space_line
from fabopt.output.terminal.families import links_of
from fabopt.schema.design import Design
from fabopt.verify import verify
from fabopt.wiring.build import wiring_of
from tests.oracles import brute_mixed_spines
from tests.oracles.brute_proportional import Asked, Parts, Switch, least_usd
from tests.samples.adapter import differences, outline, outline_of_best, run
from tests.samples.prices import case_of, catalog_of
from tests.samples.random_cases import generate
from tests.samples.small import Json, assert_proven, case, solved
from tests.solution.test_last_group import capex

MORE_SEEDS = int(os.environ.get("FABOPT_ORACLE_SEEDS", "1"))
ONE_NIC = {"nics": ["nic-400"], "nics_per_server": 2}


def mixed(servers: int, parts: Json | None = None, **fabric: Any) -> Design:
    """Servers of two ports of 400 Gb/s on switches of eight and twelve."""
    return solved(case({"groups": "equal", "spines": "mixed", **ONE_NIC, **fabric}, servers=servers), parts)


def spines_of(design: Design) -> tuple[tuple[int, int], ...]:
    """(Spines, links of a leaf to each) of both types; nothing where they are of one."""
    both = design.fabrics[0].clos.mixed_spines
    return () if both is None else tuple(zip(both.spines, both.links_per_pair, strict=True))


def test_by_hand() -> None:
    """Nine servers in threes: six leaves of 3 + 3 ports, whose 18 uplinks a switch of 12 ports and one of 8 take.

    Of one type they are three of 8, $16,000 each; so they are $24,000 and $16,000.
    """
    design, alike = mixed(9), mixed(9, spines="one-type")
    assert_proven(design)
    assert spines_of(design) == ((1, 2), (1, 1))
    assert (capex(design), capex(alike)) == (189280, 197280)
    tier = design.fabrics[0].tiers[1]
    assert tier.other is not None
    assert (tier.id, tier.count, tier.down_ports) == ("large", 2, 12)
    assert (tier.other.id, tier.other.count, tier.other.down_ports) == ("small", 1, 6)
    assert {row.id: row.quantity for row in design.bom if row.kind == "switch"} == {"small": 7, "large": 1}
    assert design.totals is not None
    assert design.totals.switches == 8
    assert design.totals.rack_units == 9
    assert alike.fabrics[0].tiers[1].other is None


def random_prices(seed: int) -> tuple[Parts, Asked]:
    """A few switches at random prices, and servers that ask for them."""
    draw = random.Random(seed)
    ports = sorted(draw.sample(range(4, 17), draw.choice((2, 3))))
    switches = tuple(Switch(one, one * draw.randint(60, 140) + draw.randint(0, 400)) for one in ports)
    parts = Parts(switches, 50, draw.choice((10, 40, 90)))
    servers, own_ports, ratio = draw.randint(3, 40), draw.choice((1, 2)), Fraction(draw.choice((1, 1, 1, 2)))
    return parts, Asked(servers, own_ports, ratio, draw.random() < 0.5, draw.random() < 0.5, mixed=True)


# of both kinds of seeds in several: with spines of two types as the best, beside a last group of its own too
@pytest.mark.parametrize("seed", [0, 17, 18, 21, 23, 26, 1, 2])
def test_every_proportional_network_is_looked_at(seed: int) -> None:
    """Up to 40 servers: every g, k, leaf, u, last group, S_a, S_b, types and weights, by plain loops."""
    for number in range(seed, seed + 100 * MORE_SEEDS, 100):
        parts, asked = random_prices(number)
        design = run(catalog_of(parts), case_of(asked))
        best = least_usd(parts, asked)
        assert (design["totals"]["capex_usd"] if design["totals"] else None) == best
        assert [check for check in design["checks"] if not check["ok"]] == []
        if seed > 2 and number < 100:
            assert "mixed_spines" in design["fabrics"][0]["structure"]


@pytest.mark.long("linear-2")
@pytest.mark.parametrize(("family", "seed"), [("linear", 2), ("rails", 4), ("planes", 3)])
def test_brute_force_agrees(family: str, seed: int) -> None:
    """Small random catalogs with cages of several ports, optics and splitters; ties included."""
    for number in range(seed, seed + 100 * MORE_SEEDS, 100):
        parts, content = generate(family, number)
        fabric = {key: value for key, value in content["fabrics"][0].items() if key != "group_by"}
        fabric |= {"groups": "equal", "spines": "mixed", "tiers": 2, "rails": "any" if number % 2 else "aligned"}
        sized = {key: value for key, value in content.items() if key not in ("gpus", "stages")}
        wanted = {**sized, "servers": 5 + number % 7, "fabrics": [fabric], "rules": "none"}
        best = brute_mixed_spines.solve(copy.deepcopy(parts), copy.deepcopy(wanted))
        theirs = run(copy.deepcopy(parts), copy.deepcopy(wanted))
        told = differences(None if best is None else outline_of_best(best), outline(theirs))
        if best is not None and isinstance(best.structure, brute_mixed_spines.MixedStructure):
            own = theirs["fabrics"][0]["structure"]["mixed_spines"]
            assert own["links_per_pair"] == [best.structure.own_m, best.structure.m]
            assert own["spines"][1] == best.structure.other_spines
            told = {key: value for key, value in told.items() if key not in ("ids", "sides", "counts")}
        assert told == {}
        assert [check for check in theirs["checks"] if not check["ok"]] == []


@pytest.mark.parametrize("servers", [5, 9, 10, 13])
@pytest.mark.parametrize("groups", ["equal", "any"])
def test_more_choice_never_costs_more(servers: int, groups: str) -> None:
    """One type is among two, and the floor under every claim is under them too."""
    both, alike = (mixed(servers, groups=groups, spines=spines) for spines in ("mixed", "one-type"))
    assert_proven(both)
    assert capex(both) <= capex(alike)
    assert both.objective.floor is not None
    assert both.objective.floor <= capex(both)
    if not spines_of(both):
        assert both.fabrics == alike.fabrics


def test_pruned_and_unpruned_agree() -> None:
    """Without leaving out what others dominate the design is the same."""
    parts, asked = random_prices(26)
    found = [solved(case_of(asked), catalog_of(parts), prune=prune) for prune in (True, False)]
    assert found[0].fabrics == found[1].fabrics
    assert spines_of(found[0])


def test_a_last_group_of_its_own_has_its_links_in_the_same_proportion() -> None:
    design = mixed(9, groups="any")
    assert_proven(design)
    last = design.fabrics[0].clos.last_group
    assert last is not None
    (own, links), (other, other_links) = spines_of(design)
    assert last.up_ports * other_links == last.links_per_pair * (own * links + other * other_links)
    assert capex(design) <= min(capex(mixed(9)), capex(mixed(9, groups="any", spines="one-type")))


def test_one_model_serves_as_both_types() -> None:
    """Three uplinks of a leaf on two equal switches, two of them on the first: three switches would be dearer."""
    small = {"switches": {"leaf": "any", "spine": ["small", "lean"]}}
    design = mixed(6, max_oversubscription=1, min_gbps_per_gpu=200, **small)
    assert_proven(design)
    parts, asked = random_prices(18)
    fabric = run(catalog_of(parts), case_of(asked))["fabrics"][0]
    tier = fabric["tiers"][1]
    assert tier["id"] == tier["other"]["id"]
    assert fabric["structure"]["mixed_spines"]["weights"] == [3, 2]


def test_the_heavier_spine_is_the_worse_loss() -> None:
    """Of 3 uplinks for 3 ports two are lost with the first spine, and all with both."""
    design = mixed(9)
    left = {(row.failed, row.count): row.gbps_per_gpu for row in design.fabrics[0].failures}
    assert left["spine", 1] == pytest.approx(200 / 3, abs=1e-6)
    survived = mixed(9, resilience=[{"survive": "1 spine", "min_gbps_per_gpu": 100}])
    assert_proven(survived)
    left = {(row.failed, row.count): row.gbps_per_gpu for row in survived.fabrics[0].failures}
    assert left["spine", 1] >= 100


def test_two_spines_are_enough_for_redundancy() -> None:
    """One of each type is above every leaf."""
    design = mixed(9, resilience="default")
    assert_proven(design)
    assert sum(count for count, _ in spines_of(design)) >= 2
    rules = {row.rule: row.kept for row in design.fabrics[0].redundancy}
    assert rules["two-spines"]


def test_the_port_map_has_both_types() -> None:
    """Every leaf has two cables to the first spine and one to the second, which are of their products."""
    design = mixed(9)
    wiring = wiring_of(design)
    devices = wiring.devices
    products = {name: product for name, product, role in zip(devices.name, devices.product, devices.role, strict=True)
                if role == "spine"}  # fmt: skip
    assert products == {"compute-spine-001": "large", "compute-spine-002": "small"}
    pairs = Counter(
        (devices.name[a], devices.name[b])
        for a, b in zip(wiring.links.a.tolist(), wiring.links.b.tolist(), strict=True)
        if devices.role[b] == "spine"
    )
    assert {links for (_, spine), links in pairs.items() if spine == "compute-spine-001"} == {2}
    assert {links for (_, spine), links in pairs.items() if spine == "compute-spine-002"} == {1}


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"spines": (2, 0)}, "spines_may_differ"),
        ({"spines": (1, 2)}, "spines_may_differ"),
        ({"weights": (4, 2)}, "spines_may_differ"),
        ({"weights": (1, 2)}, "spines_may_differ"),
        ({"links_per_pair": (1, 2)}, "spines_may_differ"),
        ({"links_per_pair": (3, 1)}, "spines_may_differ"),
    ],
)
def test_what_is_wrong_of_the_structure_is_noticed(changes: Json, check: str) -> None:
    design = mixed(9)
    fabric = design.fabrics[0]
    assert fabric.clos.mixed_spines is not None
    both = fabric.clos.mixed_spines.model_copy(update=changes)
    wrong = fabric.model_copy(update={"structure": fabric.clos.model_copy(update={"mixed_spines": both})})
    assert check in failed(design, wrong)


@pytest.mark.parametrize(
    "changes",
    [{"id": "large"}, {"id": "lean"}, {"count": 2}, {"down_ports": 8}, {"up_ports": 1}, {"reserved_ports": 1}],
)
def test_what_is_wrong_of_the_tier_is_noticed(changes: Json) -> None:
    design = mixed(9)
    fabric = design.fabrics[0]
    tier = fabric.tiers[1]
    assert tier.other is not None
    other = tier.model_copy(update={"other": tier.other.model_copy(update=changes)})
    assert failed(design, fabric.model_copy(update={"tiers": (fabric.tiers[0], other)}))


def test_both_halves_of_it_have_to_be_there() -> None:
    design = mixed(9)
    fabric = design.fabrics[0]
    alike = fabric.tiers[1].model_copy(update={"other": None})
    assert failed(design, fabric.model_copy(update={"tiers": (fabric.tiers[0], alike)}))
    plain = fabric.clos.model_copy(update={"mixed_spines": None})
    assert "tiers_match_case" in failed(design, fabric.model_copy(update={"structure": plain}))


def failed(design: Design, fabric: Any) -> set[str]:
    """What fails where a fabric is another."""
    return {check.name for check in verify(design.model_copy(update={"fabrics": (fabric,)})) if not check.ok}


def test_it_has_to_be_allowed() -> None:
    design = mixed(9)
    content = copy.deepcopy(design.case.content)
    del content["fabrics"][0]["spines"]
    refused = design.model_copy(update={"case": design.case.model_copy(update={"content": content})})
    assert "spines_may_differ" in {check.name for check in verify(refused) if not check.ok}


def test_one_type_by_name_is_refused() -> None:
    """With both keys."""
    with pytest.raises(InputError, match=r"fabrics\[0\]\.spines: .*`fabrics\[0\]\.switches\.spine` names one"):
        mixed(9, switches={"spine": ["large"]})
    assert mixed(9, switches={"spine": ["large", "small"]}).status == "optimal"


def test_words() -> None:
    design = mixed(9)
    fabric = design.fabrics[0]
    assert "2 links from each leaf to each of 1, 1 to each of the other 1 of 2 spines" in links_of(
        fabric.structure, fabric
    )
    assert "one switch type a tier (on two tiers spines of two that take the same parts)" in space_line(design)
    assert "spines of two" not in space_line(mixed(9, spines="one-type"))
    assert "no spines of two with `striping: any`" in space_line(mixed(9, striping="any"))


@pytest.mark.parametrize(
    ("fabric", "changes"),
    [
        ({"striping": "rail"}, {}),
        ({"tiers": 3}, {}),
        ({"attachments": [{"name": "monitor", "buys": "none", "ports": 1, "tier": "any"}]}, {}),
        ({}, {"stages": [{"name": "first", "month": 0, "servers": 4}, {"name": "last", "month": 6, "servers": 9}]}),
    ],
)
def test_where_it_is_not_looked_at_spines_are_alike(fabric: Json, changes: Json) -> None:
    """And the answer is that of one type."""
    wanted = {"groups": "equal", **ONE_NIC, **fabric}
    both, alike = (
        solved(case({**wanted, "spines": spines}, **({"servers": 9} | changes))) for spines in ("mixed", "one-type")
    )
    assert both.fabrics == alike.fabrics
    if both.fabrics:
        assert_proven(both)
