"""Random small cases that list several servers, and the case of each server alone, as a user would write it."""

from __future__ import annotations

import copy
from typing import Any

from tests.samples.random_cases import FAMILIES, Dice, generate

Json = dict[str, Any]
# Those of rails want two NICs of every server, or are refused.
DRAWN = tuple(family for family in FAMILIES if family != "rails")


def listed(seed: int) -> tuple[Json, Json]:
    """A catalog with two or three servers, and a case that lists them with GPUs, limits and stages."""
    dice = Dice(f"servers-{seed}")
    catalog, case = generate(dice.one(DRAWN), seed)
    box = catalog["servers"][0]
    for number in range(dice.one([1, 2])):
        other = {**copy.deepcopy(box), "id": f"box-{number}", "gpus": dice.one([1, 2, 3, 4])}
        # near enough that networks decide, or so far that the price alone does
        other["price_usd"] = round(box["price_usd"] * other["gpus"] / box["gpus"] * dice.one([0.5, 0.97, 1, 1.02, 2]))
        if "nics" not in other or dice.chance(0.5):
            other.pop("nics", None)
            other["nic_slots"] = dice.one([1, 2, 3])
        catalog["servers"].insert(dice.number(0, len(catalog["servers"])), other)
    gpus = case.pop("servers") * box["gpus"] + dice.one([0, 0, 1])
    case["server"] = [server["id"] for server in catalog["servers"]]
    if dice.chance(0.3) and not case["fabrics"][0].get("attachments"):
        sizes = sorted({max(1, gpus // 2), gpus})
        case["stages"] = [{"name": f"stage-{at}", "month": 12 * at, "gpus": size} for at, size in enumerate(sizes)]
        if len(sizes) > 1 and dice.chance(0.3):
            case |= {"objective": "tco_usd"}
            case["stages"][1]["probability"] = 0.5
    else:
        case["gpus"] = gpus
    if case.get("objective") == "power_w":
        case["objective"] = "capex_usd"
    case.pop("include_servers", None)
    if dice.chance(0.2):
        case["include_servers"] = False
    if dice.chance(0.3):
        case["rules"] = {}
    return catalog, case


def single(catalog: Json, case: Json, server: str) -> Json:
    """The case of one of the listed servers, written by hand: GPUs in whole servers, and servers that count."""
    size = next(one["gpus"] for one in catalog["servers"] if one["id"] == server)
    content = {"include_servers": True, **copy.deepcopy(case), "server": server}
    for place in (content, *content.get("stages", ())):
        if "gpus" in place:
            place["gpus"] = -(-place["gpus"] // size) * size
    return content
