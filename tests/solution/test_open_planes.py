"""``planes: any``: it is the cheapest of all numbers and of rails as planes, and says which of them cost the same."""

from __future__ import annotations

import copy
import random
from math import inf
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.io.case import read_inputs
from fabopt.io.keys import with_change
from fabopt.schema.design import Design
from fabopt.solution import optimize
from fabopt.verify import verify
from tests.samples.adapter import run
from tests.samples.small import solved
from tests.solution.test_brute_force import best, cage, card, case, catalog, server, switch
from tests.topology.test_rails import design, parts

Json = dict[str, Any]
RAILS = "planes that are rails"


def open_planes(seed: int) -> tuple[Json, Json]:
    """Switches of two sizes whose ports often cost the same, so that numbers of planes do; a card or two."""
    dice = random.Random(f"open planes {seed}")
    of_port = dice.choice([250, 250, 230])
    switches = []
    for ports in sorted(dice.sample([4, 6, 8, 12, 16], 2)):
        usd = (of_port if dice.random() < 0.7 else dice.randint(150, 300)) * ports
        switches.append(switch(f"switch-{ports}", cage(ports, "1x100"), usd=usd, watts=dice.choice([25 * ports, 100])))
    cards = [
        card("card", cage(dice.choice([1, 2, 4]), "1x100"), usd=dice.choice([100, 100, 150])),
        card("other", cage(dice.choice([1, 2]), "1x100"), usd=50),
    ]
    domain = {"domain_gpus": 2, "gbps_per_gpu": dice.choice([50, 100, 400])}
    boxes = server(nic_slots=dice.choice([1, 2, 2, 4]), gpus=dice.choice([1, 1, 2]), scale_up=domain)
    fabric: Json = {"min_gbps_per_gpu": dice.choice([100, 200, 200, 400]), "planes": "any"}
    fabric["max_oversubscription"] = dice.choice([1, 1, 2])
    if dice.random() < 0.4:
        fabric["tiers"] = dice.choice([1, 2, [1, 2]])
    wanted = case(dice.randint(2, 9), fabric)
    if dice.random() < 0.5:
        wanted["resilience"] = "default"
    return catalog(switches=switches, nics=cards[: dice.choice([1, 2])], servers=boxes), wanted


def with_planes(sold: Json, wanted: Json, planes: object) -> Json:
    """The proven answer with one value of the key."""
    wanted = copy.deepcopy(wanted)
    wanted["fabrics"][0]["planes"] = planes
    found = run(copy.deepcopy(sold), wanted)
    assert found["status"] in ("optimal", "infeasible")
    assert [check for check in found["checks"] if not check["ok"]] == []
    return found


def cost(answer: Json) -> float:
    return inf if answer["status"] == "infeasible" else float(answer["objective"]["value"])


@pytest.mark.long(but=("0", "56"))
@pytest.mark.parametrize("seed", range(64))
def test_any_is_the_cheapest_of_all_and_tells_its_equals(seed: int) -> None:
    """Numbers that no card has are refused, so those of the cards are asked one by one, and rails where they can be."""
    sold, wanted = open_planes(seed)
    answer = with_planes(sold, wanted, "any")
    ports = {one["cages"][0]["count"] for one in sold["nics"]}
    alone: dict[object, float] = {
        number: cost(with_planes(sold, wanted, number))
        for number in (1, 2, 4)
        if any(count % number == 0 for count in ports)
    }
    domain, box = sold["servers"][0]["scale_up"], sold["servers"][0]
    crossing = wanted["fabrics"][0]["min_gbps_per_gpu"] / 2
    tiers = wanted["fabrics"][0].get("tiers")
    if box["nic_slots"] > 1 and domain["gbps_per_gpu"] >= crossing and tiers != 1:
        alone["rails"] = cost(with_planes(sold, wanted, "rails"))
    assert cost(answer) == min(alone.values())
    equal = [planes for planes, usd in alone.items() if usd == cost(answer) < inf]
    told = [note for note in answer["notes"] if "cost the same" in note]
    assert len(told) == (len(equal) > 1)
    for note in told:
        named = note.partition(": ")[2].partition(" cost")[0].replace(RAILS, "rails").replace(" planes", "")
        assert set(named.replace(" plane", "").split(" and ")) == set(map(str, equal))
    if answer["fabrics"]:
        (fabric,) = answer["fabrics"]
        assert ("rails" if fabric.get("own_rails") else fabric["planes"]) in equal


@pytest.mark.long(but=("12", "28"))
@pytest.mark.parametrize("seed", range(40))
def test_open_planes_agree_with_brute_force(seed: int) -> None:
    """All numbers and rails as planes, of a few servers; the bare space has numbers only."""
    sold, wanted = open_planes(seed)
    wanted["servers"] = min(wanted["servers"], 5)
    wanted.pop("resilience", None)
    if seed % 3 == 0:
        wanted["rules"] = "none"
    best(sold, wanted)


OPEN = case(5, {"planes": "any", "min_gbps_per_gpu": 200, "tiers": 2})


def made(content: Json = OPEN) -> Design:
    return design(copy.deepcopy(content))


def test_rails_as_planes_are_among_them() -> None:
    """Ten ports are too many for two tiers of switches of four, and five of each of two rails are not."""
    found = made()
    fabric = found.fabrics[0]
    assert (fabric.topology, fabric.planes, fabric.own_rails, found.status) == ("clos", 2, True, "optimal")
    assert found.totals is not None and found.totals.capex_usd == 11_340
    assert design(case(5, {"planes": "rails", "min_gbps_per_gpu": 200})).fabrics[0].own_rails is False


def test_the_bare_space_has_numbers_of_planes_only() -> None:
    assert solved({**OPEN, "rules": "none", "resilience": "none"}, parts()).status == "infeasible"


def test_domains_that_carry_nothing_leave_numbers_only_and_no_note() -> None:
    found = design(OPEN, parts(gbps=99))
    assert found.status == "infeasible" and not any("rails of its own" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"own_rails": False}, "planes_are_disjoint"),
        ({"own_rails": True, "topology": "rail-only", "planes": 1, "rails": 2}, "tiers_match_case"),
    ],
)
def test_what_planes_are_is_checked(change: Json, rule: str) -> None:
    found = made()
    fabric = found.fabrics[0].model_copy(update=change)
    assert rule in {check.name for check in verify(found.model_copy(update={"fabrics": (fabric,)})) if not check.ok}


def test_rails_that_are_not_asked_for_are_refused() -> None:
    """The same file, of a case that says another number or rails by name."""
    found = made()
    for planes in (2, "rails"):
        content = copy.deepcopy(found.case.content)
        content["fabrics"][0]["planes"] = planes
        other = found.model_copy(update={"case": found.case.model_copy(update={"content": content})})
        assert "tiers_match_case" in {check.name for check in verify(other) if not check.ok}


# Shipped cases at sizes of seconds, with cards of one port, two, and up to eight.
SHIPPED = {"roce-lab-200g": 4, "twin-plane-1024-gpus": 16, "b300-xdr-576": 9, "cluster-256-roce": 16}


@pytest.mark.long
@pytest.mark.usefixtures("unadvised")
@pytest.mark.parametrize("name", SHIPPED)
def test_any_is_the_cheapest_of_all_in_shipped_cases(name: str) -> None:
    """Over the whole catalog, InfiniBand and Ethernet, of the designs that keep all default rules."""
    case = with_change(read_inputs(name), {"servers": SHIPPED[name], "fabrics.compute.protocol": "any"})

    def dollars(planes: object) -> float:
        try:
            found = optimize.solve(with_change(case, {"fabrics.compute.planes": planes}), alternatives_s=0)
        except InputError:  # rails that servers cannot keep apart
            return inf
        assert found.status in ("optimal", "infeasible") and all(check.ok for check in found.checks)
        return inf if found.objective.value is None or found.rules_left_out else float(found.objective.value)

    alone = [dollars(planes) for planes in (1, 2, 4, 8, "rails")]
    assert dollars("any") == min(alone) < inf
