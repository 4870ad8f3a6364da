"""Chassis with line cards: each fill is one product, and the cheapest of all is found among them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fabopt.errors import InputError
from fabopt.solution import optimize
from tests.samples.small import Json, assert_proven, bought, case, catalog, comparable, inputs, product, solved, usd

CARD = [{"count": 4, "form_factor": "QSFP-DD", "splits": ["1x400", "2x200"]}]


def chassis(**changes: Any) -> Json:
    """A chassis of two to six line cards of four ports each, cheaper by the port than any box of the catalog."""
    cards = {"fewest": 2, "most": 6, "part_number": "LC-4", "price_usd": 1000.1, "power_w": 50.5}
    return {"id": "acme-c6", "protocol": "ethernet", "part_number": "C6", "rack_units": 10, "power_w": 900,
            "price_usd": 9000.2, "cages": CARD, "line_cards": cards, **changes}  # fmt: skip


def with_chassis(**changes: Any) -> Json:
    """The small catalog with a chassis."""
    content = catalog()
    content["switches"].append(chassis(**changes))
    return content


def by_hand(entry: Json) -> list[Json]:
    """The fills of a chassis, written out one by one."""
    cards = entry["line_cards"]
    fills = []
    for number in range(cards.get("fewest", 1), cards["most"] + 1):
        fill = {key: value for key, value in entry.items() if key not in ("line_cards", "part_number")}
        fill["id"] = f"{entry['id']}+{number}-cards"
        fill["cages"] = [{**cage, "count": number * cage["count"]} for cage in entry["cages"]]
        fill["price_usd"] = round(entry["price_usd"] + number * cards["price_usd"], 2)
        fill["power_w"] = round(entry["power_w"] + number * cards["power_w"], 3)
        fills.append(fill)
    return fills


def test_only_as_many_line_cards_as_are_used() -> None:
    """Nine servers with two ports of 400 Gb/s: 18 of them, and 18 links to spines of which each takes any number."""
    design = solved(case({"nics": ["nic-400"], "nics_per_server": 2}, servers=9), with_chassis())
    assert_proven(design)
    quantities = bought(design)
    fills = {id_: quantities[id_] for id_ in quantities if id_.startswith("acme-c6+")}
    assert fills
    for id_, number in fills.items():
        cards = int(id_.removeprefix("acme-c6+").removesuffix("-cards"))
        row = next(row for row in design.bom if row.id == id_)
        assert (row.part_number, row.quantity) == (f"C6 + {cards} x LC-4", number)
        assert row.unit_price_usd == round(9000.2 + cards * 1000.1, 2)
        assert design.parts[id_]["chassis"] == "acme-c6"
    assert usd(design) < usd(solved(case({"nics": ["nic-400"], "nics_per_server": 2}, servers=9)))


@pytest.mark.long(but=("0", "5"))
@pytest.mark.parametrize("seed", range(6))
def test_as_if_each_fill_were_a_switch(seed: int) -> None:
    dice = random.Random(f"chassis {seed}")
    cards = {"most": dice.randint(2, 6), "price_usd": dice.randint(100, 4000), "power_w": dice.randint(10, 300)}
    entry = chassis(line_cards=cards, price_usd=dice.randint(1000, 30000))
    content = case({"groups": "equal"}, servers=dice.randint(3, 14))
    folded, written = catalog(), catalog()
    folded["switches"].append(entry)
    written["switches"] += by_hand(entry)
    one, other = solved(content, folded), solved(content, written)
    assert_proven(one)
    assert usd(one) == usd(other)
    assert bought(one) == bought(other)


def test_the_name_of_a_chassis_stands_for_all_its_fills() -> None:
    parts = with_chassis()
    named = solved(case({"switches": {"spine": ["acme-c6"]}}, servers=9), parts)
    assert_proven(named)
    assert named.fabrics[0].tiers[1].id.startswith("acme-c6+")
    each = [f"acme-c6+{number}-cards" for number in range(2, 7)]
    assert comparable(named) == comparable(solved(case({"switches": {"spine": each}}, servers=9), parts))
    without = solved(case(servers=9, procurement={"forbidden_parts": ["acme-c6"]}), parts)
    assert not any(id_.startswith("acme-c6") for id_ in bought(without))


def test_breaks_are_by_the_chassis() -> None:
    breaks = [{"from": 1, "usd": 9000}, {"from": 2, "usd": 8000}]
    filled = inputs(case(), with_chassis(price_usd=breaks)).catalog
    fill = next(one for one in filled.switches if one.id == "acme-c6+3-cards")
    assert isinstance(fill.price_usd, tuple)
    assert [(step.from_, step.usd) for step in fill.price_usd] == [(1, 12000.3), (2, 11000.3)]


def test_what_is_not_known_of_a_card_is_not_known_of_a_fill() -> None:
    cards = {"most": 3, "price_usd": None, "power_w": None}
    fill = next(one for one in inputs(case(), with_chassis(line_cards=cards)).catalog.switches if one.chassis)
    assert (fill.price_usd, fill.power_w, fill.part_number) == (None, None, None)


def test_twins_are_filled_alike() -> None:
    """The twin of a chassis, one with a subnet manager, is the one with as many line cards."""
    parts = with_chassis(protocol="infiniband", managed=False, managed_twin="acme-m6")
    parts["switches"].append(chassis(id="acme-m6", protocol="infiniband", managed=True))
    twins = {one.id: one.managed_twin for one in inputs(case(), parts).catalog.switches if one.managed_twin}
    assert twins == {f"acme-c6+{number}-cards": f"acme-m6+{number}-cards" for number in range(2, 7)}


def test_a_price_book_prices_fills() -> None:
    book = {"name": "ours", "prices": {"acme-c6+3-cards": 100}}
    parts = {**with_chassis(), "prices": [book]}
    design = optimize.solve(inputs(case({"tiers": 1}, servers=3, prices=["ours"]), parts), alternatives_s=0)
    assert_proven(design)
    assert bought(design)["acme-c6+3-cards"] == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"line_cards": {"most": 2, "fewest": 3}}, "`fewest` is above `most`: 3 > 2"),
        ({"nos": ["eos"]}, "named by line card"),
        ({"line_cards": {"most": 0}}, "at least 1"),
    ],
)
def test_wrong_line_cards_are_refused(changes: Json, words: str) -> None:
    with pytest.raises(InputError, match=words):
        inputs(case(), with_chassis(**changes))


def test_a_fill_is_told_from_another_product() -> None:
    parts = with_chassis()
    parts["switches"].append({**product(parts, "small"), "id": "acme-c6+2-cards"})
    with pytest.raises(InputError, match="is given twice"):
        inputs(case(), parts)
