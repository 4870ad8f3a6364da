"""Seeded small cases of everything that may be together: one to four fabrics of any roles, each with attachments of any
kind or a family of any kind, in stages or at once, on a floor or over given lengths, with default rules or without.

``generate(seed)`` gives a catalog and a case, many of them feasible; the same seed gives the same two.
"""

from __future__ import annotations

from tests.oracles.brute_parts import Json, split_of
from tests.samples.lengths import USUAL
from tests.samples.random_cases import Dice, a_case, a_catalog, an_attachment
from tests.samples.random_sites import MANAGEMENT, on_a_floor

# Which fabrics a case has, by role; those of management alone too.
ROLES = (
    ["compute"], ["storage"], ["oob"], ["compute", "storage"], ["compute", "oob"], ["storage", "in-band"],
    ["compute", "storage", "oob"], ["compute", "storage", "in-band", "oob"],
)  # fmt: skip
TOPOLOGIES = (
    ["clos", "rail-only"], ["torus"], ["hyperx"], ["dragonfly"], ["dragonfly+"], ["clos", "hyperx"], ["any"],
)  # fmt: skip
KINDS: tuple[Json, ...] = ({}, {}, {"kind": "management"}, {"kind": "storage"}, {"tier": "spine"}, {"tier": "any"})


def generate(seed: int) -> tuple[Json, Json]:
    """A catalog and a case."""
    dice = Dice(f"network-{seed}")
    roles = dice.one(ROLES)
    catalog = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 8), rich=dice.chance(0.5))
    server = catalog["servers"][0]
    server |= {"rack_units": dice.one([4, 8]), "nic_slots": 2 * len(roles)}
    if roles[0] != "compute" or len(roles) > 1:
        server.pop("nics", None)
    on_floor, grows = dice.chance(0.5), dice.chance(0.25)
    case = a_case(dice, servers=dice.number(1, 7))
    fabrics = [_fabric(dice, catalog, role, on_floor, grows) for role in roles if role != "oob"]
    if "oob" in roles:
        fabrics.append(_management(dice, catalog))
    lengths = case.get("site", {}).get("distances_m", USUAL)
    case |= {"fabrics": fabrics, "site": {"servers_per_rack": dice.number(1, 3)}}
    case["site"] |= {} if on_floor else {"distances_m": lengths}
    case |= {"rules": "none"} if dice.chance(0.5) else {}
    case["resilience"] = dice.one(["none", "default"])
    if grows:
        last = case.pop("servers")
        first = {"name": "now", "servers": dice.number(1, last)}
        case["stages"] = [first, {"name": "then", "month": 12, "servers": last}]
    if on_floor:
        on_a_floor(dice, case)
    return catalog, case | {"name": f"network-{seed}", "catalog": ["./catalog.yaml"]}


def _fabric(dice: Dice, catalog: Json, role: str, on_floor: bool, grows: bool) -> Json:
    fabric: Json = a_case(dice, servers=1)["fabrics"][0]
    fabric.pop("group_by", None)
    fabric |= {"name": role, "role": role, "tiers": dice.one(["any", "any", [1, 2], 2, 1])}
    if dice.chance(0.4):
        fabric["attachments"] = [
            _attachment(dice, catalog, at, grows) | {"name": f"{role}-{at}"} for at in range(dice.one([1, 1, 2]))
        ]
    elif not on_floor and not grows and dice.chance(0.5):
        fabric["topologies"] = dice.one(TOPOLOGIES)
    return fabric


def _attachment(dice: Dice, catalog: Json, at: int, grows: bool) -> Json:
    """Devices that may be on free ports, of clusters that do not grow, have cages of one port."""
    attachment = an_attachment(dice, catalog, at) | (dice.one(KINDS) if not grows else {})
    free = "tier" in attachment or attachment.get("kind") == "management"
    if free and split_of(attachment.get("split", "1x100"))[0] > 1:
        attachment["split"] = f"1x{split_of(attachment['split'])[1] // 1000}"
    return attachment


def _management(dice: Dice, catalog: Json) -> Json:
    for kind, products in MANAGEMENT.items():
        catalog[kind] += products
    server = catalog["servers"][0]
    server["nics"] = [*server.get("nics", []), {"id": "bmc", "count": 1, "role": "oob"}]
    return {
        "name": "management",
        "role": "oob",
        "tiers": dice.one(["any", [1, 2], 1, 2]),
        "oob": {"pdus": dice.number(0, 3)},
    }
