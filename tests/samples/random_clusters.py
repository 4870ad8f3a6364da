"""Random cases over the reference catalog: every shipped server, and any of the keys that a case may have.

``python -m tests.samples.random_clusters SEED`` prints one.
"""

from __future__ import annotations

import copy
import random
import sys
from typing import Any

import yaml

from fabopt.io.library import data_folder

Json = dict[str, Any]

SERVERS = sorted(path.stem for path in (data_folder("catalogs") / "reference" / "servers").glob("*.yaml"))
SIZES = (2, 3, 5, 8, 9, 16, 17, 24, 31, 33, 48, 64, 65, 96, 127, 128, 200, 256, 320, 500, 1000, 1536, 3000)
PROFILES = ("pretraining", "mixed", "fine-tuning", "inference")
FAMILIES = (["any"], ["rail-only"], ["dragonfly"], ["dragonfly+"], ["hyperx"], ["torus"], ["clos", "rail-only"])
RULES = (
    "lengths", "nic-pairing", "one-generation", "rack-rules", "rack-spread", "subnet-manager", "interchangeable",
)  # fmt: skip
KINDS = ("switch", "nic", "transceiver", "cable", "fibre")


class Dice(random.Random):
    """Chance, with a word for what happens now and then: in some cases seldom, so that few keys meet."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self.spice = self.choice((0.3, 0.6, 1.0))

    def now_and_then(self, share: float) -> bool:
        return self.random() < share * self.spice


def generate(seed: int, most_servers: int = 3000) -> Json:
    """A random case of at most so many servers; some have no design."""
    dice = Dice(f"cluster {seed}")
    case: Json = {"name": f"random-{seed}", "server": dice.choice(SERVERS)}
    sizes = [size for size in SIZES if size <= most_servers]
    size = dice.choice(sizes)
    case.update(_sizes(dice, size))
    if dice.now_and_then(0.7):
        case["workload"] = {"profile": dice.choice(PROFILES)}
    case["fabrics"] = [_compute(dice, "stages" in case), *_others(dice)]
    if dice.now_and_then(0.4):
        case["site"] = _site(dice, size)
    if dice.now_and_then(0.25):
        case["rules"] = dice.choice(["none", {dice.choice(RULES): False}, {dice.choice(RULES): True}])
    if dice.now_and_then(0.2):
        case["resilience"] = "none"
    if dice.now_and_then(0.3):
        case["limits"] = _limits(dice, size)
    if dice.now_and_then(0.25):
        case["objective"] = dice.choice(["tco_usd", "power_w"])
    if dice.now_and_then(0.4):
        case["procurement"] = _procurement(dice)
    if dice.now_and_then(0.2):
        case["charges"] = _charges(dice)
    if dice.now_and_then(0.1):
        case["price_basis"] = dice.choice([["list", "street"], ["list", "street", "estimate"], ["list", "derived"]])
    if dice.now_and_then(0.15):
        case["prices"] = [dice.choice(["street-2026", "compatible-2026", "oem-2026"])]
    if dice.now_and_then(0.1):
        case["have"] = {"nvidia-qm9790": dice.choice([1, 2, 7]), "nvidia-mfp7e10": {10: 40}}
    if dice.now_and_then(0.25):
        case["finance"] = _finance(dice)
    if dice.now_and_then(0.1):
        case["include_servers"] = True
    if dice.now_and_then(0.1):
        case["only_orderable"] = True
    return _consistent(case)


def _consistent(case: Json) -> Json:
    """Drop what a case would be refused for, but for what depends on the server."""
    if any("probability" in stage for stage in case.get("stages", ())):
        case["objective"] = "tco_usd"
    site = case.get("site", {})
    if "nvl72" in case["server"]:
        site.pop("servers_per_rack", None)
    if "floor" not in site and "servers_per_rack" not in site:
        case["fabrics"][0].pop("group_by", None)
    on_a_floor = "floor" in site
    for fabric in case["fabrics"][1:]:
        if fabric.get("separation") == "logical" and (on_a_floor or "stages" in case):
            fabric["separation"] = "any"
        for attachment in fabric.get("attachments", ()):
            attachment["name"] = f"{fabric['name']}-{attachment['name']}"
        if fabric.get("separation") in ("logical", "shared"):
            fabric.pop("protocol", None)
    return case


def _sizes(dice: Dice, size: int) -> Json:
    """How many servers, at once or in stages."""
    if size < 4 or not dice.now_and_then(0.4):
        return {"servers": size}
    first = max(2, size // dice.choice([2, 3, 4]))
    sizes = sorted({first, size} if dice.now_and_then(0.7) else {first, (first + size) // 2, size})
    stages = [{"name": f"stage-{i}", "month": 9 * i, "servers": n} for i, n in enumerate(sizes)]
    found: Json = {"stages": stages}
    if dice.now_and_then(0.2):
        stages[-1]["probability"] = 0.5
    elif dice.now_and_then(0.3):
        found["growth"] = {"recabling": "allow"}
    if dice.now_and_then(0.3):
        found["start"] = "2026-11"
    return found


def _compute(dice: Dice, grows: bool) -> Json:
    fabric: Json = {"name": "compute"}
    choices: Json = {
        "protocol": (0.45, ["ethernet", "infiniband"]),
        "min_gbps_per_gpu": (0.4, [25, 50, 100, 200, 400]),
        "tiers": (0.3, [1, 2, 3, [1, 2], [2, 3]]),
        "rails": (0.2, ["any"]),
        "planes": (0.2, [2, [1, 2], "any", "rails"]),
        "striping": (0.2, ["rail", "any"]),
        "groups": (0.15, ["equal"]),
        "homing": (0.05, ["dual"]),
        "nics_per_server": (0.15, [1, 2, 4, 8]),
        "reserve_ports": (0.1, [0.05, 0.1, 0.25]),
        "max_oversubscription": (0.25, [1, 1.34, 2, 4, {"leaf": 1, "spine": 3}]),
        "min_bisection_gbps_per_gpu": (0.08, [20, 50, 100]),
        "max_switch_hops": (0.08, [1, 3]),
        "group_by": (0.06, ["rack", {"racks": 2}]),
        "resilience": (
            0.2,
            [
                "none",
                {"survive": "1 leaf", "min_gbps_per_gpu": 10},
                ["default", {"survive": "1 spine", "min_gbps_per_gpu": 20}],
                {"survive": "2 spine", "min_gbps_per_gpu": 10},
            ],
        ),
    }
    for key, (share, values) in choices.items():
        if dice.now_and_then(share):
            fabric[key] = dice.choice(values)
    if dice.now_and_then(0.05 if grows else 0.25):
        fabric["topologies"] = dice.choice(FAMILIES)
    if dice.now_and_then(0.25):
        fabric["attachments"] = [_attachment(dice)]
    return fabric


def _attachment(dice: Dice) -> Json:
    kind = dice.choice(["management", "endpoint", "storage"])
    boxes = dice.choice([1, 2, 4])
    found: Json = {"name": f"{kind}-nodes", "kind": kind, "ports": boxes * dice.choice([1, 2]), "boxes": boxes}
    found["buys"] = dice.choice(["none", "near"])
    if kind == "management" and dice.now_and_then(0.3):
        found["tier"] = dice.choice(["leaf", "spine", "any"])
    if dice.now_and_then(0.3):
        found.update(rack_units=2, power_w=800)
    return found


def _others(dice: Dice) -> list[Json]:
    fabrics: list[Json] = []
    if dice.now_and_then(0.3):
        fabric: Json = {"name": "storage", "role": "storage"}
        if dice.now_and_then(0.5):
            fabric["protocol"] = dice.choice(["ethernet", "infiniband"])
        if dice.now_and_then(0.3):
            fabric["storage"] = {"checkpoint_gb": 4000, "checkpoint_window_s": 60, "loading_gbps_per_gpu": 1}
        if dice.now_and_then(0.3):
            fabric["separation"] = dice.choice(["any", "shared", "logical"])
        if dice.now_and_then(0.3):
            fabric["attachments"] = [_attachment(dice)]
        fabrics.append(fabric)
    if dice.now_and_then(0.3):
        fabric = {"name": "in-band", "role": "in-band", "protocol": "ethernet"}
        if dice.now_and_then(0.3):
            fabric["separation"] = dice.choice(["any", "shared", "logical"])
        if dice.now_and_then(0.3):
            fabric["attachments"] = [
                {"name": "firewalls", "ports": 4, "boxes": 2, "buys": "none", "rack_units": 1, "power_w": 600}
            ]
        fabrics.append(fabric)
    if dice.now_and_then(0.25):
        fabric = {"name": "oob", "role": "oob"}
        if dice.now_and_then(0.3):
            fabric["oob"] = {"ports_per_switch": dice.choice([1, 2]), "pdus_per_rack": dice.choice([0, 2])}
        fabrics.append(fabric)
    return fabrics


def _site(dice: Dice, size: int) -> Json:
    site: Json = {}
    each = dice.choice([1, 2, 4])
    if dice.now_and_then(0.5):
        site["servers_per_rack"] = each
    if dice.now_and_then(0.5):
        rows = dice.choice([1, 2, 3, 4, 6])
        racks = size // each + dice.choice([2, 4, 12])
        floor: Json = {"rows": rows, "racks_per_row": max(2, -(-racks // rows))}
        if dice.now_and_then(0.3):
            floor["network_racks"] = dice.choice(["middle", "end", "row"])
        if dice.now_and_then(0.2):
            floor["blocked"] = ["A02"]
        if dice.now_and_then(0.2):
            floor["reserved"] = ["A01"]
        if dice.now_and_then(0.2):
            floor["rack_power_w"] = dice.choice([25000, 45000, 130000])
        if dice.now_and_then(0.2):
            floor["rack_units"] = dice.choice([42, 52])
        site["floor"] = floor
    elif dice.now_and_then(0.5):
        site["distances_m"] = {"server-leaf": dice.choice([2, 3, 10]), "leaf-spine": dice.choice([10, 30, 60])}
    if dice.now_and_then(0.2):
        site["rack_rules"] = dice.choice([{"airflow": "port-side-exhaust"}, {"feeds": 1}, {"management_units": 2}])
    return site


def _limits(dice: Dice, size: int) -> Json:
    gpus = 8 * size
    return dice.choice(
        [
            {"budget_usd": gpus * dice.choice([300, 800, 1500, 3000])},
            {"power_w": gpus * dice.choice([10, 30, 60])},
            {"rack_units": max(2, gpus // dice.choice([8, 16, 32]))},
            {"yearly_budget_usd": gpus * dice.choice([500, 1500])},
            {"quarterly_budget_usd": [gpus * 1200, gpus * 800]},
        ]
    )


def _procurement(dice: Dice) -> Json:
    kind = dice.choice(KINDS)
    return dice.choice(
        [
            {"approved_vendors": ["NVIDIA"]},
            {"approved_vendors": {"switch": ["NVIDIA", "Arista"], "transceiver": ["NVIDIA", "FS"]}},
            {"forbidden_vendors": ["NVIDIA"]},
            {"approved_asics": ["Broadcom"]},
            {"forbidden_asics": ["Tomahawk 5"]},
            {"single_vendor": {"compute": dice.choice(["switches", "optics", "both"])}},
            {"max_vendors": {kind: dice.choice([1, 2])}},
            {"min_sources": {dice.choice(["switch", "transceiver"]): 2}},
            {"max_part_numbers": {kind: dice.choice([1, 2, 4])}},
            {"spares": {kind: {"fraction": 0.02, "minimum": 1, "per": dice.choice(["sku", "site"])}}},
            {"quarterly_supply": {"NVIDIA": {"switch": dice.choice([2, 16, 64])}}},
            {"order_from_month": -6},
        ]
    )


def _charges(dice: Dice) -> list[Json]:
    return dice.choice(
        [
            [{"name": "support", "what": "support", "percent": 8, "kinds": ["switch"], "yearly": True}],
            [{"name": "freight", "what": "freight", "percent": 2}, {"name": "vat", "what": "tax", "percent": 19}],
            [{"name": "licence", "what": "licence", "usd": 1500, "kinds": ["switch"], "asics": ["Tomahawk 5"]}],
            [{"name": "install", "what": "installation", "usd": 20000, "per": "fabric"}],
            [{"name": "agent", "what": "licence", "usd": 90, "per": "server", "protocol": "ethernet"}],
        ]
    )


def _finance(dice: Dice) -> Json:
    return dice.choice(
        [
            {"discount_rate": 0.08, "price_decline": {"transceiver": 0.15, "switch": 0.05}},
            {"energy_usd_per_kwh": 0.25, "pue": 1.2, "years": 6},
            {"payment": {"on_order": 0.3, "on_delivery": 0.6, "on_acceptance": 0.1}},
            {"currency": "EUR", "rates": {"EUR": {"usd": 1.09, "date": "2026-11-02"}}},
            {"residual": 0.1, "depreciation_years": 4},
        ]
    )


# A fabric's keys that one case may leave free which another one has set.
FREE: Json = {
    "tiers": "any",
    "protocol": "any",
    "nics_per_server": "any",
    "rails": "any",
    "striping": "any",
    "planes": "any",
    "min_gbps_per_gpu": 5,
    "reserve_ports": 0,
}
DROPPED = ("limits", "procurement", "price_basis", "only_orderable")


def relaxed(case: Json) -> tuple[Json, str, Json]:
    """A case without what gives way where no design keeps it, what of it is relaxed, and the case with that relaxed:
    a limit or rule of buying that it has, or else a key of a fabric.
    """
    dice = Dice(f"relaxed {case['name']}")
    bare = copy.deepcopy(case) | {"rules": "none", "resilience": "none"}
    for fabric in bare["fabrics"]:
        fabric.pop("resilience", None)
    dropped = [key for key in DROPPED if key in case and "order_from_month" not in case[key]]
    key = dice.choice(dropped or list(FREE))
    wider = copy.deepcopy(bare)
    if dropped:
        del wider[key]
    else:
        wider["fabrics"][0][key] = FREE[key]
    return bare, key, wider


if __name__ == "__main__":
    print(yaml.safe_dump(generate(int(sys.argv[1])), sort_keys=False))
