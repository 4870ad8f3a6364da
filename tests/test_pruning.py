"""Leaving candidates and parts out early never changes the design."""

from __future__ import annotations

import pytest

from tests.small import Json, assert_proven, bought, case, catalog, comparable, product, solved


def both(content: Json, parts: Json) -> dict[str, int]:
    """What is bought, the same with pruning and without."""
    pruned, whole = solved(content, parts), solved(content, parts, prune=False)
    assert_proven(pruned)
    assert_proven(whole)
    assert comparable(pruned) == comparable(whole)
    return bought(pruned)


@pytest.mark.parametrize(
    "content",
    [
        case(),
        case(servers=5),
        case({"tiers": 1}, servers=4),
        case({"tiers": 3, "max_oversubscription": 2}, servers=6),
        case({"rails": "any", "striping": "any"}, servers=7),
        case({"planes": "any", "min_gbps_per_gpu": 100}, servers=6),
        case(objective="power_w"),
        case(objective="tco_usd", servers=9),
        case({"attachments": [{"name": "gate", "ports": 3, "form_factor": "QSFP112", "split": "1x400"}]}, servers=7),
    ],
    ids=["plain", "ragged", "one-tier", "three-tiers", "free", "planes", "power", "tco", "attached"],
)
def test_same_design(content: Json) -> None:
    both(content, catalog())


def test_limits_that_bind() -> None:
    """Power and rack units cut the cheapest designs off, so dearer ones must have stayed."""
    cheapest = solved(case(servers=9))
    assert cheapest.totals is not None
    found = both(case(servers=9, limits={"power_w": cheapest.totals.power_w - 1}), catalog())
    assert found != bought(cheapest)
    both(case(servers=9, limits={"rack_units": cheapest.totals.rack_units + 1, "power_w": 6000}), catalog())


def test_switch_that_wins_on_stock() -> None:
    """``lean`` loses at list price; with all of them in store it costs nothing."""
    assert "lean" not in both(case(), catalog())
    parts = catalog()
    product(parts, "lean")["stock"] = 100
    found = both(case(), parts)
    assert not {"small", "large"} & set(found)


def test_part_that_wins_on_stock() -> None:
    """``dr4`` is dearer and otherwise equal for the price; twenty in store are used before any is bought."""
    assert "dr4" not in both(case(), catalog())
    parts = catalog()
    product(parts, "dr4")["stock"] = 20
    used = solved(case(), parts)
    both(case(), parts)
    assert sum(part.quantity for row in used.fabrics[0].links for part in row.parts if part.id == "dr4") == 20


def test_part_that_wins_on_a_break() -> None:
    """``dr4`` is dearer by the piece; from thirty pieces on it is cheaper than its rival."""
    parts = catalog()
    product(parts, "dr4")["price_usd"] = [{"from": 1, "usd": 700}, {"from": 30, "usd": 450}]
    found = both(case(), parts)
    assert found["dr4"] >= 30
    assert "dr4-hot" not in found


def test_switch_that_wins_on_a_break() -> None:
    """``lean`` costs more by the piece; from five on it is the cheapest."""
    parts = catalog()
    product(parts, "lean")["price_usd"] = [{"from": 1, "usd": 19000}, {"from": 5, "usd": 9000}]
    assert both(case(), parts)["lean"] >= 5


def test_switch_that_wins_on_supply() -> None:
    """The cheap transceiver runs out: the rest is the dearer one, or fewer are needed."""
    parts = catalog()
    product(parts, "dr4-hot")["supply"] = 10
    product(parts, "aoc")["supply"] = 0
    assert both(case(), parts)["dr4-hot"] <= 10
