"""Seeded small cases over everything that may be together: role, floor, attachments, stages, topology, a second fabric.

``generate(seed)`` gives a catalog and a case, many of them feasible; the same seed gives the same two.
"""

from __future__ import annotations

from tests.oracles.brute_parts import Json
from tests.samples.random_cases import Dice, a_case, a_catalog, an_attachment

TOPOLOGIES = (["clos"], ["clos", "rail-only"], ["torus"], ["hyperx"], ["dragonfly"], ["any"])
# Ports of management: of a server, and switches and cables for them.
MANAGEMENT: Json = {
    "switches": [
        {"id": f"quiet-{ports}", "protocol": "ethernet", "rack_units": 1, "power_w": 10, "price_usd": price,
         "cages": [{"count": ports, "form_factor": "RJ45", "splits": ["1x1"]}]}
        for ports, price in ((6, 100), (12, 400), (24, 700))
    ],
    "nics": [
        {"id": "bmc", "protocols": ["ethernet"], "power_w": 5, "price_usd": 0,
         "cages": [{"count": 1, "form_factor": "RJ45", "splits": ["1x1"]}]},
    ],
    "cables": [
        {"id": "copper", "medium": "copper", "power_w": 0,
         "ends": [{"form_factor": "RJ45", "split": "1x1"}, {"form_factor": "RJ45", "split": "1x1"}],
         "lengths": [{"m": 3, "price_usd": 2}, {"m": 50, "price_usd": 20}]},
    ],
}  # fmt: skip


def generate(seed: int) -> tuple[Json, Json]:
    """A catalog and a case."""
    dice = Dice(f"site-{seed}")
    catalog = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 8), rich=dice.chance(0.5))
    catalog["servers"][0]["rack_units"] = dice.one([4, 8])
    case = a_case(dice, servers=dice.number(1, 8))
    fabric = case["fabrics"][0]
    fabric.pop("group_by", None)
    distances = case.pop("site", {}).get("distances_m", {})
    fabric |= {"tiers": dice.one(["any", "any", [1, 2], 2, 1]), "role": dice.one(["compute", "storage", "in-band"])}
    if fabric["role"] != "compute":
        catalog["servers"][0].pop("nics", None)
    on_floor, grows = dice.chance(0.6), dice.chance(0.3)
    if dice.chance(0.5):
        fabric["attachments"] = [an_attachment(dice, catalog, at) for at in range(dice.one([1, 1, 2]))]
        if dice.chance(0.4):
            distances["attachment-leaf"] = dice.one([2, 4, 20])
    elif not on_floor and not grows:
        fabric["topologies"] = dice.one(TOPOLOGIES)
    case["site"] = {"servers_per_rack": dice.number(1, 3)} | ({"distances_m": distances} if distances else {})
    if dice.chance(0.3):
        _manage(dice, catalog, case)
    if grows:
        last = case.pop("servers")
        case["stages"] = [
            {"name": "now", "servers": dice.number(1, last)},
            {"name": "then", "month": 12, "servers": last},
        ]
    if on_floor:
        on_a_floor(dice, case)
    return catalog, case | {"name": f"site-{seed}", "catalog": ["./catalog.yaml"]}


def _manage(dice: Dice, catalog: Json, case: Json) -> None:
    """A fabric for management, mostly beside the other."""
    for kind, products in MANAGEMENT.items():
        catalog[kind] += products
    server = catalog["servers"][0]
    server["nics"] = [*server.get("nics", []), {"id": "bmc", "count": 1, "role": "oob"}]
    management = {"name": "management", "role": "oob", "oob": {"pdus": dice.number(0, 3)}}
    case["fabrics"] = [management] if dice.chance(0.2) else [*case["fabrics"], management]


def on_a_floor(dice: Dice, case: Json) -> None:
    """A floor with room for the servers and a rack or more for switches, of lengths that differ."""
    servers, site = case.get("servers") or case["stages"][-1]["servers"], case["site"]
    racks = -(-servers // site["servers_per_rack"]) + dice.number(1, 2)
    rows = dice.one([1, 1, 2, racks])
    floor: Json = {"rows": rows, "racks_per_row": -(-racks // rows), "rack_units": dice.one([24, 28, 42])}
    floor["rack_pitch_m"] = dice.one([0.6, 0.6, 1.2])
    if dice.chance(0.2):
        floor["network_racks"] = dice.one(["middle", "end", ["A01"]])
    if dice.chance(0.1):
        floor["rack_power_w"] = dice.one([2500, 4000])
    site["floor"] = floor
