"""Why a case must have a design: one of another case that has to keep more.

Nothing of fabopt is imported. ``wider`` gives cases that have a design if a case has one; ``flat`` a case without a
floor whose design can stand on the floor of another if ``stands``.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping

from tests.oracles.brute_parts import Json

# What a fabric may ask for, and what is never less.
LOOSEST: Json = {
    "tiers": "any", "planes": "any", "rails": "any", "striping": "any", "nics": "any", "nics_per_server": "any",
    "reserve_ports": 0, "attachments": [], "protocol": "any", "max_oversubscription": 50, "min_gbps_per_gpu": 1,
}  # fmt: skip


def wider(case: Json) -> Iterator[tuple[str, Json]]:
    """(what is different, a case that asks for less or has more to choose from), one thing at a time."""
    for at, fabric in enumerate(case["fabrics"]):
        for key, value in LOOSEST.items():
            if key in fabric and fabric[key] != value:
                yield f"{fabric['name']}.{key}", _with(case, at, key, value)
        attachments = fabric.get("attachments", [])
        for number in range(len(attachments) if len(attachments) > 1 else 0):
            kept = attachments[:number] + attachments[number + 1 :]
            yield f"{fabric['name']}.attachments[{number}]", _with(case, at, "attachments", kept)
        if "site" not in case or "floor" not in case["site"]:
            yield f"{fabric['name']}.topologies", _with(case, at, "topologies", ["any"])
        if len(case["fabrics"]) > 1 and fabric.get("role") == "oob":
            yield "fewer fabrics", case | {"fabrics": [one for one in case["fabrics"] if one is not fabric]}
    if "stages" in case:
        last = {key: value for key, value in case.items() if key != "stages"}
        yield "stages", last | {"servers": case["stages"][-1]["servers"]}
    if "limits" in case:
        yield "limits", {key: value for key, value in case.items() if key != "limits"}
    yield from _roomier(case)


def _roomier(case: Json) -> Iterator[tuple[str, Json]]:
    """The same on a floor with another rack in every row, higher racks, more power, and switches anywhere."""
    floor = case.get("site", {}).get("floor")
    for key, value in _more_room(floor or {}).items():
        yield f"floor.{key}", case | {"site": case["site"] | {"floor": (floor or {}) | {key: value}}}


def _more_room(floor: Json) -> Json:
    if not floor:
        return {}
    room: Json = {"racks_per_row": floor["racks_per_row"] + 1, "rack_units": floor["rack_units"] + 6}
    if "rack_power_w" in floor:
        room["rack_power_w"] = floor["rack_power_w"] * 2
    if "network_racks" in floor:
        room["network_racks"] = "any"
    return room


def _with(case: Json, at: int, key: str, value: object) -> Json:
    changed = copy.deepcopy(case)
    changed["fabrics"][at][key] = value
    return changed


def plain(case: Json) -> Json:
    """A case without default rules, which has a design if and only if the case has one: they are given up for one."""
    return case | {"rules": "none", "resilience": "none"}


def alone(case: Json) -> Iterator[Json]:
    """A case of each fabric but that of management."""
    for fabric in case["fabrics"]:
        if fabric.get("role") != "oob":
            yield case | {"fabrics": [fabric]}


def managed(case: Json, switches: int) -> Json | None:
    """A case of the fabric of management alone, with strips for the switches of the others; None without it."""
    for fabric in case["fabrics"]:
        if fabric.get("role") == "oob":
            strips = {"pdus": fabric["oob"]["pdus"] + switches}
            return case | {"fabrics": [fabric | {"oob": strips}]}
    return None


def flat(case: Json) -> Json:
    """A case on a floor without it, every run as long as the longest that the floor has."""
    site = {key: value for key, value in case["site"].items() if key != "floor"}
    longest = longest_run_m(case["site"]["floor"])
    distances = site.get("distances_m", {})
    attached = distances.get("attachment-leaf", distances.get("server-leaf", 3))
    runs = dict.fromkeys(("server-leaf", "leaf-spine", "spine-core"), longest)
    return case | {"site": site | {"distances_m": runs | {"attachment-leaf": attached}}}


def longest_run_m(floor: Json) -> float:
    """No run between two devices of a floor without blocked racks is longer.

    Down to the floor from the tray at both ends, along the whole row to its end and back, and across all rows.
    """
    height, drop, slack = floor.get("tray_height_m", 2.6), floor.get("drop_m", 0.3), floor.get("slack_m", 0.5)
    along = 2 * floor["racks_per_row"] * floor.get("rack_pitch_m", 0.6)
    across = (floor["rows"] - 1) * (floor.get("rack_depth_m", 1.2) + floor.get("aisle_m", 1.2))
    return math.ceil(2 * (height + drop) + slack + along + across)


def stands(case: Json, catalog: Json, switches: Mapping[str, int]) -> bool:
    """Whether all switches (by id) of a design fit one rack that no server needs, on a floor without other rules."""
    floor, per_rack = case["site"]["floor"], case["site"]["servers_per_rack"]
    if {"rack_power_w", "network_racks", "blocked", "reserved"} & set(floor):
        return False
    servers = case.get("servers") or case["stages"][-1]["servers"]
    free = floor["rows"] * floor["racks_per_row"] - -(-servers // per_rack)
    units = {one["id"]: math.ceil(one.get("rack_units", 1)) for one in catalog["switches"]}
    return free > 0 and sum(units[one] * count for one, count in switches.items()) <= floor["rack_units"]
