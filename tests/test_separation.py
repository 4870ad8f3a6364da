"""How fabrics are kept apart: logical ones against an enumeration, the choice by cost, rules, refusals, mutations."""

from __future__ import annotations

from typing import Any

import pytest

from fabopt.schema.design import Design
from tests.brute_logical import least
from tests.brute_parts import Json
from tests.random_cases import Dice, a_catalog
from tests.small import catalog, solved

WAYS = ("physical", "logical", "shared")


def parts(**server: Any) -> Json:
    """The small catalog with a cheaper card, so that there is a choice."""
    content = catalog()
    content["nics"].append({
        "id": "nic-400-b", "protocols": ["ethernet"], "pcie": {"generation": 5, "lanes": 16}, "power_w": 10,
        "price_usd": 800, "cages": [{"count": 1, "form_factor": "QSFP112", "splits": ["1x400"]}],
    })  # fmt: skip
    content["servers"][0] |= server
    return content


def case(separation: str = "logical", compute: Json | None = None, servers: int = 6, **storage: Any) -> Json:
    """Six servers with 200 Gb/s a GPU of computing at 1:1, and 50 of storage at 2:1."""
    host = {"name": "compute", "min_gbps_per_gpu": 200, "max_oversubscription": 1, "tiers": 2, **(compute or {})}
    guest = {"name": "storage", "role": "storage", "min_gbps_per_gpu": 50, "max_oversubscription": 2, **storage}
    return {
        "name": "apart", "server": "gpu-4", "servers": servers, "fabrics": [host, guest | {"separation": separation}],
    }  # fmt: skip


def random_pair(seed: int) -> tuple[Json, Json]:
    """A small catalog and a case of two fabrics on it; prices do not depend on quantities."""
    dice = Dice(f"separation-{seed}")
    content = a_catalog(dice, switches=dice.number(1, 2), cages=(4, 8))
    content["servers"][0] |= {"nic_slots": dice.one([2, 3])}
    host: Json = {
        "name": "compute", "min_gbps_per_gpu": dice.one([10, 25, 50]), "tiers": dice.one([[1, 2], 2]),
        "max_oversubscription": dice.one([1, 1.5, 2, {"leaf": 1, "spine": 3}]),
    }  # fmt: skip
    guest: Json = {
        "name": "storage", "role": "storage", "separation": "logical", "min_gbps_per_gpu": dice.one([5, 10, 25]),
        "max_oversubscription": dice.one([1, 1.34, 3, 5]),
    }  # fmt: skip
    if dice.chance(0.4):
        guest["attachments"] = [{"name": "nodes", "ports": dice.number(1, 3), "buys": "none"}]
        if dice.chance(0.5):
            guest["attachments"][0]["max_oversubscription"] = 1
    if dice.chance(0.2):
        host["attachments"] = [{"name": "gateways", "ports": dice.number(1, 2), "buys": "none"}]
    content_case = {"name": f"pair-{seed}", "server": "box", "servers": dice.number(2, 5), "fabrics": [host, guest]}
    return content, content_case


def capex_cents(design: Design) -> int | None:
    return None if design.totals is None else round(design.totals.capex_usd * 100)


# -- logical ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_logical_is_the_least_of_all_designs(seed: int) -> None:
    content, wanted = random_pair(seed)
    design = solved(wanted, content)
    truth = least(content, wanted)
    assert (design.status, capex_cents(design)) == (("infeasible" if truth is None else "optimal"), truth)
    assert all(check.ok for check in design.checks), [check for check in design.checks if not check.ok]
