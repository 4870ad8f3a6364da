"""Runs that follow from groups, measured rack by rack: a hall is laid out, and every pair of places is looked at.

Nothing is imported from the package. Rule ``lengths`` (docs/sites.md), written down anew: rows of 16 racks of 48 units
and 41 kW; leaves in the middle of their group's racks, spines of their pod's, cores and attachments of all; switches
are in the upper half of a rack, servers anywhere. Halls of more than one row are full. Cables have 0.5 m and 5 % to
spare, whichever is more.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from tests.oracles.brute_floor import FOOT_M, UNIT_M, Hall, Rules

Json = dict[str, Any]
IN_ROW, UNITS, WATTS = 16, 48, 41_000
KINDS = ("server-leaf", "leaf-spine", "spine-core")


def follow(case: Json) -> bool:
    """Whether a case of the tests leaves lengths to its groups: it says something of the rules then, and not all of
    them itself, those of attachments being those of other links.
    """
    said = {"server-leaf", "leaf-spine", "spine-core"} <= ((case.get("site") or {}).get("distances_m") or {}).keys()
    return "rules" in case and case["rules"] != "none" and case["rules"].get("lengths", True) and not said


ENDPOINTS = ("server-leaf", "attachment-leaf", "attachment-spine")


class GroupLengths:
    """The runs of a case's links by the servers of a group and of a pod."""

    def __init__(self, case: Json, server: Json, servers: int) -> None:
        self.said = (case.get("site") or {}).get("distances_m") or {}
        self.servers = servers
        self.units = server.get("rack_units") or 1
        self.per_rack = per_rack(case, server)

    def run(self, kind: str, servers: int) -> Fraction:
        """Metres that links of a kind run: ``servers`` of a group, of a pod, or of all."""
        if kind == "attachment-leaf" and "server-leaf" in self.said:
            return Fraction(str(self.said.get(kind, self.said["server-leaf"])))
        if kind == "attachment-spine" and kind not in self.said:
            below = self.said.get("attachment-leaf", self.said.get("server-leaf"))
            if below is not None and "leaf-spine" in self.said:
                return max(Fraction(str(below)), Fraction(str(self.said["leaf-spine"])))
        if kind in self.said:
            return Fraction(str(self.said[kind]))
        if kind == "leaf-leaf":
            given = self.said.get("server-leaf")
            if given is None:
                return Fraction(str(longest(min(2, self.racks(servers)), None, 1)))
            return peer_run(Fraction(str(given)))
        racks = self.racks(servers)
        bottom = range(1, UNITS - math.ceil(self.units) + 2) if kind in ENDPOINTS else None
        return Fraction(str(longest(racks, bottom, self.units)))

    def racks(self, servers: int) -> int:
        """Racks that so many servers fill; never more than all do."""
        return math.ceil(min(servers, self.servers) / self.per_rack)


def peer_run(server_leaf: Fraction) -> Fraction:
    """Metres of a peer link where a run of servers is given: never more than between two racks side by side."""
    return min(server_leaf, Fraction(str(longest(2, None, 1))))


def per_rack(case: Json, server: Json) -> int:
    """Servers of a rack."""
    given = (case.get("site") or {}).get("servers_per_rack")
    domain = (server.get("scale_up") or {}).get("domain_gpus", 0) // max(1, server["gpus"])
    if given is not None or domain > 1:
        return int(given or domain)
    if server.get("rack_units") is None and server.get("power_w") is None:
        return 4
    by_units = UNITS // math.ceil(server.get("rack_units") or 1)
    return max(1, int(min(by_units, WATTS // server["power_w"] if server.get("power_w") else by_units)))


@lru_cache(maxsize=1000)
def longest(racks: int, below: range | None, units: float) -> float:
    """From anywhere in so many racks to the upper half of the middle one; ``below``: lowest units of servers.

    In whole decimetres.
    """
    rows = math.ceil(racks / IN_ROW)
    hall = Hall({"rows": rows, "racks_per_row": min(racks, IN_ROW)}, Rules(share=0.05))
    middle = rows // 2 * hall.length + hall.length // 2
    upper = [height(unit, 1) for unit in range(UNITS // 2 + 1, UNITS + 1)]
    lower = upper if below is None else [height(unit, units) for unit in below]
    runs = [
        float(hall.run_m(np.array([rack]), np.array([a]), np.array([middle]), np.array([b]))[0])
        for rack in range(len(hall.racks))
        for a in (min(lower), max(lower))
        for b in (min(upper), max(upper))
    ]
    return math.ceil(round(max(runs) * 10, 6)) / 10


def height(unit: int, units: float) -> float:
    return FOOT_M + (unit - 1 + units / 2) * UNIT_M
