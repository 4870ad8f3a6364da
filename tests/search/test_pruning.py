"""Leaving candidates and parts out early never changes the design."""

from __future__ import annotations

import pytest

from fabopt.problem.problem import problem_of
from tests.samples.small import Json, assert_proven, bought, case, catalog, comparable, inputs, product, solved

ONE_CARD = {"nics": ["nic-400"], "nics_per_server": 2}
FEW_SWITCHES = {"leaf": ["lean", "small"], "spine": ["small"], "core": ["small"]}


def both(content: Json, parts: Json) -> dict[str, int]:
    """What is bought, the same with pruning and without."""
    pruned, whole = solved(content, parts), solved(content, parts, prune=False)
    assert_proven(pruned)
    assert_proven(whole)
    assert comparable(pruned) == comparable(whole)
    return bought(pruned)


def pinned(content: Json) -> Json:
    """The same with one card, so that the whole program stays small."""
    content["fabrics"][0] |= ONE_CARD
    return content


@pytest.mark.long("any-tiers")
@pytest.mark.long("plain")
@pytest.mark.long("ragged", "tco", "three-tiers", "free", "power")
@pytest.mark.parametrize(
    "content",
    [
        case(servers=4),
        case(servers=5),
        case({"tiers": 1}, servers=4),
        case({"tiers": [1, 2]}, servers=3),
        case({"tiers": 3, "max_oversubscription": 2, "switches": FEW_SWITCHES, **ONE_CARD}, servers=4),
        case({"rails": "any", "striping": "any", **ONE_CARD}, servers=4),
        case({"max_oversubscription": 3}, servers=4, objective="power_w"),
        case(servers=4, objective="tco_usd"),
        case({"attachments": [{"name": "gate", "ports": 3, "form_factor": "QSFP112", "split": "1x400"}]}, servers=3),
    ],
    ids=["plain", "ragged", "one-tier", "any-tiers", "three-tiers", "free", "power", "tco", "attached"],
)
def test_same_design(content: Json) -> None:
    both(content, catalog())


def test_limits_that_bind() -> None:
    """Power and rack units cut the cheapest designs off, so dearer ones must have stayed."""
    content, parts = pinned(case()), catalog()
    product(parts, "large")["rack_units"] = 4
    cheapest = solved(content, parts)
    assert cheapest.totals is not None
    for key in ("power_w", "rack_units"):
        limits = {key: getattr(cheapest.totals, key) - 1}
        assert both({**content, "limits": limits}, parts) != bought(cheapest)


@pytest.mark.long
def test_switch_that_wins_on_stock() -> None:
    """``lean`` loses at list price; with enough of them in store they cost nothing."""
    content = pinned(case(servers=4))
    assert "lean" not in both(content, catalog())
    parts = catalog()
    product(parts, "lean")["stock"] = 100
    assert not {"small", "large"} & set(both(content, parts))


def test_part_that_wins_on_stock() -> None:
    """``dr4`` is the dearer of two that fit alike; those in store are used before any other is bought."""
    content = pinned(case(servers=4))
    plain = both(content, catalog())
    assert "dr4" not in plain
    parts = catalog()
    product(parts, "dr4")["stock"] = 6
    assert both(content, parts)["dr4-hot"] == plain["dr4-hot"] - 6


def test_part_that_wins_on_a_break() -> None:
    """``dr4`` is dearer by the piece; from twelve pieces on it is cheaper than its rival."""
    parts = catalog()
    product(parts, "dr4")["price_usd"] = [{"from": 1, "usd": 700}, {"from": 12, "usd": 450}]
    found = both(pinned(case(servers=4)), parts)
    assert found["dr4"] >= 12
    assert "dr4-hot" not in found


def test_switch_that_wins_on_a_break() -> None:
    """``lean`` costs more by the piece; from three on it is the cheapest."""
    parts = catalog()
    product(parts, "lean")["price_usd"] = [{"from": 1, "usd": 19000}, {"from": 3, "usd": 9000}]
    assert both(pinned(case(servers=4)), parts)["lean"] >= 3


def test_part_that_wins_on_supply() -> None:
    """The cheap transceiver runs out, and no cable may be bought: the rest is the dearer one."""
    content = pinned(case(servers=4))
    parts = catalog()
    product(parts, "dr4-hot")["supply"] = 10
    parts["cables"] = [one for one in parts["cables"] if one["id"] != "aoc"]
    found = both(content, parts)
    assert found["dr4-hot"] <= 10
    assert found["dr4"] > 0


def twin(parts: Json, kind: str, product_id: str, **changes: object) -> None:
    """Add a product that fits wherever another one does."""
    parts[kind].append({**product(parts, product_id), "id": f"{product_id}-twin", **changes})


@pytest.mark.long
def test_twin_that_is_never_cheaper_is_left_out_whatever_the_quantity() -> None:
    """Breaks at other quantities; the twin is dearer at every one of them, until it is not at one."""
    steps = [{"from": 1, "usd": 600}, {"from": 12, "usd": 500}]
    dear = [{"from": 1, "usd": 650}, {"from": 9, "usd": 620}, {"from": 30, "usd": 501}]
    parts = catalog()
    product(parts, "dr4-hot")["price_usd"] = steps
    twin(parts, "transceivers", "dr4-hot", price_usd=dear)
    twin(parts, "switches", "small", price_usd=[{"from": 1, "usd": 17000}, {"from": 3, "usd": 16500}])
    content = pinned(case(servers=4))
    offering = problem_of(inputs(content, parts).case, inputs(content, parts).catalog).item_table
    assert offering.item("dr4-hot-twin") is None and offering.item("small-twin") is None
    plain = both(content, parts)
    assert "dr4-hot-twin" not in plain
    parts["transceivers"][-1]["price_usd"] = [{"from": 1, "usd": 650}, {"from": 9, "usd": 400}]
    assert both(content, parts)["dr4-hot-twin"] >= 9


def test_twin_that_is_needed_is_kept() -> None:
    """A dearer twin is needed beside one that is short, and where the case names it."""
    parts = catalog()
    product(parts, "dr4-hot")["supply"] = 10
    twin(parts, "transceivers", "dr4-hot", price_usd=610)
    parts["cables"] = [one for one in parts["cables"] if one["id"] != "aoc"]
    assert both(pinned(case(servers=4)), parts)["dr4-hot-twin"] > 0
    parts = catalog()
    twin(parts, "nics", "nic-400", price_usd=[{"from": 1, "usd": 1600}, {"from": 100, "usd": 1550}])
    named = case({"nics": ["nic-400-twin"], "nics_per_server": 2}, servers=4)
    assert both(named, parts)["nic-400-twin"] == 8
