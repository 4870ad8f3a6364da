"""Ties of several fabrics, whatever is minimized: all sums of the documented order are those of each fabric alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.samples.adapter import run
from tests.samples.random_cases import Dice, generate

Json = dict[str, Any]
OBJECTIVES = ("capex_usd", "power_w", "tco_usd", "capex_usd")
SEEDS = 60


def two_fabrics(seed: int) -> tuple[Json, Json]:
    """Two fabrics whose NICs nothing but slots joins, and of these there are enough."""
    dice = Dice(f"ties {seed}")
    catalog, case = generate(dice.one(["linear", "attached"]), seed)
    catalog["servers"][0] |= {"nic_slots": 8}
    catalog["servers"][0].pop("nics", None)
    for key in ("limits", "procurement", "include_servers", "charges"):
        case.pop(key, None)
    first = case["fabrics"][0] | {"nics_per_server": dice.one([1, 2])}
    second = {key: value for key, value in first.items() if key != "attachments"}
    case["fabrics"] = [first, second | {"name": "other", "role": "storage", "tiers": dice.one([1, "any"])}]
    case["servers"] = min(case["servers"], 6)
    return catalog, case | {"objective": OBJECTIVES[seed % len(OBJECTIVES)]}


def sums(design: Json) -> list[float] | None:
    """Objective, capex, power, units, switches and cables, in the order in which they decide."""
    if design["status"] == "infeasible":
        return None
    assert design["status"] == "optimal" and all(check["ok"] for check in design["checks"])
    names = ("capex_usd", "power_w", "rack_units", "switches", "cables")
    return [design["objective"]["value"], *(design["totals"][name] for name in names)]


@pytest.mark.long(but=("5",))
@pytest.mark.parametrize("seed", range(SEEDS), ids=str)
def test_two_fabrics_are_tied_as_each_is_alone(seed: int) -> None:
    catalog, case = two_fabrics(seed)
    together = sums(run(catalog, case))
    alone = [sums(run(catalog, case | {"fabrics": [fabric]})) for fabric in case["fabrics"]]
    if together is None:
        assert None in alone
        return
    added = [sum(column) for column in zip(*(one for one in alone if one is not None), strict=True)]
    assert None not in alone and together == pytest.approx(added, abs=0.02)
