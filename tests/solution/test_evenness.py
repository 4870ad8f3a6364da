"""Ties: of designs that cost and use the same, equal groups come first, then whole racks, then few part numbers.

As in ``tests.solution.test_brute_force``: every answer is that of the oracle too, which has the same order of ties.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.brute_force import Best
from tests.solution.test_brute_force import best, cable, cage, case, catalog, switch

Json = dict[str, Any]
SAME = "the same devices, joined by other parts: {} part numbers for {}"


def two_tiers(servers: int, ratio: int, site: Json | None = None, **kinds: Any) -> Best:
    """The best design with switches of eight ports; a leaf of g servers has g / ratio uplinks, rounded up."""
    parts = catalog(switches=[switch("switch", cage(8, "1x100"))], **kinds)
    found = best(parts, case(servers, {"tiers": 2, "max_oversubscription": ratio}, **({"site": site} if site else {})))
    assert found is not None
    return found


def test_groups_are_equal() -> None:
    # 4 + 2 and 3 + 3 servers both have two uplinks a leaf
    assert two_tiers(6, 2).structure.g == 3


def test_groups_are_nearly_equal() -> None:
    # 4 + 3, 5 + 2 and 6 + 1 servers all have two uplinks a leaf
    assert two_tiers(7, 3).structure.g == 4


@pytest.mark.parametrize("per_rack", (2, 5, 6))
def test_equal_groups_come_before_whole_racks(per_rack: int) -> None:
    # 4 + 3 servers share a rack of any of these sizes; 5 + 2 and 6 + 1 would not with 5 and 6, nor 4 + 3 with 4
    assert two_tiers(7, 3, {"servers_per_rack": per_rack}).structure.g == 4


def cords(usd: float) -> list[Json]:
    """Cable "a" is too short for spines; "b" (20 USD) does everywhere."""
    lengths = {"a": {"m": 3, "price_usd": usd}, "b": {"m": 30, "price_usd": 20}}
    return [cable(name, "1x100", "1x100") | {"lengths": [length]} for name, length in lengths.items()]


def test_part_numbers_are_few() -> None:
    assert {name for name, _ in two_tiers(6, 2, cables=cords(20)).bom if name in ("a", "b")} == {"b"}
    assert {name for name, _ in two_tiers(6, 2, cables=cords(19)).bom if name in ("a", "b")} == {"a", "b"}
