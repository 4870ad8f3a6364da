"""Random catalogs with managed switches and their twins, and designs held against the oracle's, twins included."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

from tests.oracles.brute_force import Best
from tests.samples.adapter import differences, outline, outline_of_best

Json = dict[str, Any]


def with_managed_switches(parts: Json, seed: int) -> Json:
    """A catalog for InfiniBand with one switch that has a managed twin, dearer or cheaper; some others are managed."""
    dice = random.Random(seed)
    parts = copy.deepcopy(parts)
    for one in (*parts["nics"], *parts["transceivers"], *parts["cables"]):
        one["protocols"] = ["infiniband"]
    paired = dice.choice(parts["switches"])
    for one in list(parts["switches"]):
        one["protocol"] = "infiniband"
        one["managed"] = one is not paired and dice.random() < 0.3
        if one is not paired:
            continue
        one["managed_twin"] = f"{one['id']}-twin"
        twin = copy.deepcopy(one) | {"id": one["managed_twin"], "managed": True}
        del twin["managed_twin"]
        for key in ("stock", "supply", "minimum_order", "pack_size"):
            twin.pop(key, None)
        if isinstance(twin.get("price_usd"), int | float):
            twin["price_usd"] = round(twin["price_usd"] * dice.choice((0.8, 1, 1.1, 1.5)), 2)
        if twin.get("power_w") is not None:
            twin["power_w"] = round(twin["power_w"] * dice.choice((0.9, 1, 1.2)), 1)
        if dice.random() < 0.2:
            twin["stock"] = 1
        parts["switches"].append(twin)
    return parts


def _as_bought(found: Json | None, twins: Sequence[tuple[str, int]]) -> Json | None:
    """An outline that names the twin of a tier whose switches are all exchanged, which is a design of its own."""
    if found is None:
        return None
    card_id, *tiers = found["ids"]
    for place, (twin, number) in enumerate(twins):
        if number and number == found["counts"][place]:
            tiers[place] = twin
    return found | {"ids": (card_id, *tiers)}


def _twins_by_tier(design: Json) -> list[tuple[str, int]]:
    managers = design["fabrics"][0]["subnet_manager"] if design["fabrics"] else {"twins": []}
    twins = {twin["role"]: (twin["id"], twin["count"]) for twin in managers["twins"]}
    return [twins.get(role, ("", 0)) for role in ("leaf", "spine", "core")]


def assert_managed_alike(best: Best | None, theirs: Json, only: Sequence[str] = ()) -> None:
    """Cost, structure, bill and twins, or ``only`` some figures, are those of the brute force, every check passes, and
    every subnet is managed.
    """
    expected = None if best is None else _as_bought(outline_of_best(best), best.structure.twins)
    differ = differences(expected, _as_bought(outline(theirs), _twins_by_tier(theirs)))
    assert {key: values for key, values in differ.items() if not only or key in only} == {}
    assert [check for check in theirs["checks"] if not check["ok"]] == []
    assert best is None or theirs["fabrics"][0]["subnet_manager"]["kept"]
