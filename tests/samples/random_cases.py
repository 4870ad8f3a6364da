"""Seeded small catalogs and cases that reach every rule of the design space, most of them feasible.

``generate(family, seed)`` gives the plain Python of a catalog and a case; the same seed gives the same two.
"""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

from tests.oracles.brute_force import Best, solve
from tests.oracles.brute_parts import Json, split_of
from tests.samples.bare import bare

FAMILIES = (
    "linear", "limited", "procurement", "ruled", "attached", "three_tier", "rails", "planes", "hosted", "hosted_high",
)  # fmt: skip
FORMS = ("QSFP56", "QSFP-DD", "OSFP")
STANDARDS = {100: "100G-DR", 200: "200G-DR2"}
VENDORS = ("acme", "bolt")
LENGTHS = (3, 5, 30, 50)


class Dice:
    """A random source with the few throws that the generators need."""

    def __init__(self, seed: int | str) -> None:
        self.random = random.Random(seed)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def one(self, choices: Any) -> Any:
        return self.random.choice(list(choices))

    def some(self, choices: Any, low: int, high: int) -> list[Any]:
        choices = list(choices)
        number = min(len(choices), self.number(low, high))
        kept = set(self.random.sample(range(len(choices)), number))
        return [choice for at, choice in enumerate(choices) if at in kept]

    def price(self, low: int, high: int) -> float:
        """Dollars; often a round figure, so that ties occur, else with odd cents."""
        if self.chance(0.4):
            return round((low + high) / 2 / 10) * 10 or 1
        return self.number(low * 100, high * 100) / 100


def generate(family: str, seed: int) -> tuple[Json, Json]:
    """A catalog and a case of a family, the caller's own."""
    return copy.deepcopy(_generated(family, seed))


@cache
def _generated(family: str, seed: int) -> tuple[Json, Json]:
    dice = Dice(f"{family}-{seed}")
    makers = {
        "linear": linear,
        "limited": limited,
        "procurement": procurement,
        "ruled": ruled,
        "attached": attached,
        "three_tier": three_tier,
        "rails": rails,
        "planes": planes,
        "hosted": hosted,
        "hosted_high": hosted_high,
    }
    catalog, case = makers[family](dice)
    case["name"] = f"{family.replace('_', '-')}-{seed}"
    case["catalog"] = ["./catalog.yaml"]
    if family in ("procurement", "ruled"):  # their truth has one product a tier
        case["rules"] = {**case["rules"], "interchangeable": False}
    return catalog, case


def linear(dice: Dice) -> tuple[Json, Json]:
    """No limits: every class of units takes its cheapest joining."""
    catalog = a_catalog(dice, switches=dice.number(1, 3), cages=(3, 9))
    case = a_case(dice, servers=dice.number(1, 10))
    case["fabrics"][0]["tiers"] = dice.one([[1, 2], 2])
    return catalog, case


def feasible(dice: Dice) -> tuple[Json, Json, Best | None]:
    """A catalog and a case with its cheapest design, mostly feasible: a few throws are allowed."""
    for _ in range(3):
        catalog = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 5), rich=True)
        case = a_case(dice, servers=dice.number(1, 5))
        case["objective"] = "capex_usd"
        case["fabrics"][0]["tiers"] = dice.one([[1, 2], 2])
        best = solve(catalog, case)
        if best is not None:
            break
    return catalog, case, best


def limited(dice: Dice) -> tuple[Json, Json]:
    """Limits near the optimum without them."""
    catalog, case, cheap = feasible(dice)
    case["objective"] = dice.one(["capex_usd", "capex_usd", "power_w", "tco_usd"])
    cool = solve(catalog, case | {"objective": "power_w"})
    if cheap is None or cool is None:
        return catalog, case
    limits: Json = {}
    servers = servers_mw(catalog, case)
    if case["objective"] != "capex_usd" or dice.chance(0.1):
        limits["budget_usd"] = dice.number(cheap.capex_cents, max(cheap.capex_cents, cool.capex_cents)) / 100
    if case["objective"] != "power_w" or dice.chance(0.1):
        limits["power_w"] = (servers + dice.number(cool.power_mw, max(cool.power_mw, cheap.power_mw))) / 1000
    if dice.chance(0.2):
        limits["rack_units"] = float(max(0, cheap.rack_units - dice.one([0, 0, 1])))
    if dice.chance(0.1):
        limits = {name: value * 0.97 for name, value in limits.items()}
    case["limits"] = limits
    return catalog, case


def procurement(dice: Dice) -> tuple[Json, Json]:
    """Breaks, stock and supply on things that the plain optimum buys, near the quantities that it buys."""
    catalog, case, best = feasible(dice)
    if best is None:
        return catalog, case
    case["objective"] = dice.one(["capex_usd"] * 4 + ["power_w", "tco_usd"])
    bought = sorted(best.bom.items(), key=str)
    others = [(item, dice.number(1, 8)) for item in all_items(catalog) if item not in best.bom]
    for item, quantity in dice.some(bought, 1, 2) + dice.some(others, 0, 1):
        make_special(dice, catalog, item, quantity)
    if dice.chance(0.2):
        drawn = int(best.power_mw * dice.number(95, 110) / 100)
        case["limits"] = {"power_w": (servers_mw(catalog, case) + drawn) / 1000}
    return catalog, case


def ruled(dice: Dice) -> tuple[Json, Json]:
    """Order sizes, breaks of both sorts, spares, few part numbers and forbidden vendors, near what is bought."""
    catalog, case, best = feasible(dice)
    if best is None:
        return catalog, case
    for item, quantity in dice.some(sorted(best.bom.items(), key=str), 1, 2):
        make_special(dice, catalog, item, quantity)
        sold = sold_of(catalog, item)
        if dice.chance(0.5):
            sold["price_breaks"] = "incremental"
        if dice.chance(0.5):
            sold["pack_size"] = dice.number(2, 4)
        if dice.chance(0.5):
            sold["minimum_order"] = dice.number(1, quantity + 2) * sold.get("pack_size", 1)
    rules: Json = {}
    kinds = ("switch", "transceiver", "cable")
    if dice.chance(0.5):
        rules["max_part_numbers"] = {dice.one(kinds): dice.number(1, 2)}
    if dice.chance(0.5):
        rules["spares"] = {dice.one(kinds): {"fraction": dice.one([0, 0.1, 0.25]), "minimum": dice.number(1, 2)}}
    if dice.chance(0.3):
        vendor = dice.one(VENDORS)
        if any(one.get("vendor") == vendor for kind in catalog.values() if isinstance(kind, list) for one in kind):
            rules["forbidden_vendors"] = [vendor]
    case["procurement"] = rules
    case["objective"] = dice.one(["capex_usd"] * 3 + ["tco_usd"])
    return catalog, case


def servers_mw(catalog: Json, case: Json) -> int:
    """Power of the servers, if the case counts it."""
    return 1000 * catalog["servers"][0]["power_w"] * case["servers"] if case.get("include_servers") else 0


def all_items(catalog: Json) -> list[Any]:
    """(id, length) of everything with a price except servers."""
    found: list[Any] = []
    for kind in ("switches", "nics", "transceivers"):
        found += [(product["id"], None) for product in catalog[kind] if product.get("price_usd") is not None]
    for kind in ("cables", "fibres"):
        for product in catalog[kind]:
            found += [(product["id"], one["m"]) for one in product["lengths"] if one.get("price_usd") is not None]
    return found


def make_special(dice: Dice, catalog: Json, item: Any, quantity: int) -> None:
    """Give one item a break, a stock or a supply near a quantity."""
    sold = sold_of(catalog, item)
    if dice.chance(0.5):
        price = sold["price_usd"]
        start = max(2, quantity + dice.number(-2, 3))
        sold["price_usd"] = [{"from": 1, "usd": price}, {"from": start, "usd": round(price * 0.6, 2)}]
        if dice.chance(0.3):
            sold["price_usd"].append({"from": start + dice.number(1, 4), "usd": round(price * 0.5, 2)})
    if dice.chance(0.4):
        sold["stock"] = dice.number(0, quantity + 1)
    if dice.chance(0.4):
        sold["supply"] = max(0, quantity + dice.number(-3, 2))


def sold_of(catalog: Json, item: Any) -> Json:
    """What carries the price of an item: its product, or the length."""
    sold: Json = next(
        product for kind in catalog.values() if isinstance(kind, list) for product in kind if product["id"] == item[0]
    )
    return sold if item[1] is None else next(one for one in sold["lengths"] if one["m"] == item[1])


def attached(dice: Dice) -> tuple[Json, Json]:
    """Other endpoints on the leaves, and ports kept free."""
    catalog = a_catalog(dice, switches=dice.number(1, 3), cages=(3, 8))
    case = a_case(dice, servers=dice.number(1, 7))
    fabric = case["fabrics"][0]
    fabric["tiers"] = [1, 2]
    if dice.chance(0.4):
        fabric["reserve_ports"] = dice.one([0.1, 0.2, 0.25, 0.5])
    fabric["attachments"] = [an_attachment(dice, catalog, at) for at in range(dice.one([1, 1, 2]))]
    if dice.chance(0.4):
        case.setdefault("site", {}).setdefault("distances_m", {})["attachment-leaf"] = dice.one([2, 4, 20])
    return catalog, case


def an_attachment(dice: Dice, catalog: Json, at: int) -> Json:
    """Speeds are those of a card of the catalog, so that one may fit."""
    nic = dice.one(catalog["nics"])
    cage = dice.one(nic["cages"])
    split = dice.one(cage["splits"])
    attachment: Json = {"name": f"extra-{at}", "ports": dice.number(1, 5), "buys": dice.one(["both", "near", "none"])}
    if attachment["buys"] == "both" or dice.chance(0.5):
        attachment |= {"form_factor": cage["form_factor"], "split": split}
    elif dice.chance(0.5):
        attachment["gbps"] = split_of(split)[1] // 1000
    return attachment


def hosted(dice: Dice) -> tuple[Json, Json]:
    """Attachments of every kind and tier, on leaves and spines."""
    catalog, case = attached(dice)
    of_kinds(dice, case)
    return catalog, case


def hosted_high(dice: Dice) -> tuple[Json, Json]:
    """The same under switches so small that three tiers are needed, or at least tried."""
    catalog, case = three_tier(dice)
    attachment = an_attachment(dice, catalog, 0)
    case["fabrics"][0]["attachments"] = [attachment | {"ports": dice.number(1, 3)}]
    of_kinds(dice, case)
    return catalog, case


def of_kinds(dice: Dice, case: Json) -> None:
    """Give attachments kinds and tiers; those that may be on free ports have cages of one port."""
    for attachment in case["fabrics"][0]["attachments"]:
        attachment |= dice.one([{"kind": "management"}, {"tier": "spine"}, {"tier": "any"}, {"kind": "storage"}, {}])
        if dice.chance(0.4):
            attachment["counts_in_ratio"] = dice.chance(0.5)
        free = attachment.get("tier") or attachment.get("kind") == "management"
        if free and split_of(attachment.get("split", "1x100"))[0] > 1:
            attachment["split"] = f"1x{split_of(attachment['split'])[1] // 1000}"


def three_tier(dice: Dice) -> tuple[Json, Json]:
    """Switches so small that three tiers are needed, or at least tried."""
    catalog = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 6), tiny=True)
    case = a_case(dice, servers=dice.number(3, 9))
    case["fabrics"][0] |= {"tiers": dice.one([3, 3, 3, "any"]), "rails": "aligned"}
    return catalog, case


def rails(dice: Dice) -> tuple[Json, Json]:
    """Rails that are networks of their own, alone or beside a Clos, over scale-up domains that mostly carry them."""
    catalog = a_catalog(dice, switches=1, cages=(3, 6))
    case = a_case(dice, servers=dice.number(1, 5))
    fabric, server = case["fabrics"][0], catalog["servers"][0]
    fabric |= {"tiers": dice.one([[1, 2], 1, 2, "any"]), "min_gbps_per_gpu": 10}
    if dice.chance(0.8):
        fabric["topologies"] = dice.one([["rail-only"], ["rail-only"], ["clos", "rail-only"]])
    else:
        fabric |= {"planes": "rails", "tiers": 2}
    fabric.pop("nics_per_server", None)
    server["nic_slots"] = 2
    if dice.chance(0.8):
        server.pop("nics", None)
    elif "nics" in server:
        server["nics"][0]["count"] = 2
    domain = server["gpus"] * dice.one([1, 1, 2])
    server["scale_up"] = {"domain_gpus": domain, "gbps_per_gpu": dice.one([50, 100, 3600, 3600])}
    return catalog, case


def planes(dice: Dice) -> tuple[Json, Json]:
    """Cards whose ports may be split over several planes."""
    catalog = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 6))
    case = a_case(dice, servers=dice.number(1, 6))
    case["fabrics"][0] |= {"tiers": dice.one([[1, 2], 2]), "planes": dice.one(["any", [1, 2, 4], 2, 4])}
    return catalog, case


def a_case(dice: Dice, servers: int) -> Json:
    fabric: Json = {"name": "compute", "min_gbps_per_gpu": dice.one([10, 10, 25, 50])}
    fabric["max_oversubscription"] = dice.one([1, 1, 1.5, 2, 3, {"leaf": 1.2}, {"leaf": 2, "spine": 3}])
    if dice.chance(0.35):
        fabric["planes"] = dice.one(["any", "any", 2, [1, 2]])
    if dice.chance(0.3):
        fabric["rails"] = "any"
    if dice.chance(0.3):
        fabric["striping"] = "any"
    if dice.chance(0.07):
        fabric["protocol"] = dice.one(["ethernet", "infiniband"])
    if dice.chance(0.15):
        fabric["nics_per_server"] = dice.one([1, 2, [1, 2]])
    case: Json = {"server": "box", "servers": servers, "fabrics": [fabric]}
    if dice.chance(0.1):
        del fabric["max_oversubscription"]
        case["workload"] = {"profile": dice.one(["mixed", "fine-tuning", "inference"])}
    if dice.chance(0.08):
        size = dice.number(1, 4)
        fabric["group_by"], case["site"] = ({"racks": 2} if size == 1 else "rack"), {"servers_per_rack": size}
    if dice.chance(0.3):
        case.setdefault("site", {})["distances_m"] = {
            "server-leaf": dice.one([2, 3, 5]),
            "leaf-spine": dice.one([4, 30]),
            "spine-core": dice.one([25, 50]),
        }
    case["objective"] = dice.one(["capex_usd"] * 4 + ["power_w", "tco_usd"])
    if case["objective"] == "tco_usd" and dice.chance(0.5):
        case["finance"] = {"energy_usd_per_kwh": 0.31, "pue": 1.25, "years": 3}
    if dice.chance(0.1):
        case["include_servers"] = True
    return bare(case)


def a_catalog(dice: Dice, switches: int, cages: tuple[int, int], tiny: bool = False, rich: bool = False) -> Json:
    protocols = dice.one([["ethernet"]] * 4 + [["infiniband"]] * 2 + [["ethernet", "infiniband"]])
    forms = dice.some(FORMS, 1, dice.one([1, 2]))
    speeds = dice.one([[100], [200], [100, 200]])
    catalog: Json = {"switches": [], "nics": [], "transceivers": [], "cables": [], "fibres": [], "servers": []}
    for at in range(switches):
        catalog["switches"].append(a_switch(dice, at, dice.one(protocols), forms, speeds, cages, tiny))
    for at in range(1 if tiny else dice.number(1, 2)):
        offered = {split_of(split)[1] // 1000 for _, split in ends_in(catalog)}
        catalog["nics"].append(a_nic(dice, at, protocols, forms, sorted(offered), tiny))
    catalog["servers"].append(a_server(dice, catalog, forms, tiny))
    if dice.chance(0.1):
        catalog["facts"] = {"pcie_x16_gbps": {4: 240}}
    add_parts(dice, catalog, rich)
    return catalog


def splits_of(dice: Dice, speeds: list[int], most: int) -> list[str]:
    all_splits = [f"{ports}x{speed}" for speed in speeds for ports in (1, 2, 4) if ports <= most]
    return dice.some(all_splits, 1, 2 if most < 4 else 3)


def a_cage(dice: Dice, count: int, forms: list[str], splits: list[str]) -> Json:
    cage: Json = {"count": count, "form_factor": dice.one(forms), "splits": splits}
    if dice.chance(0.15):
        cage["accepts"] = dice.some([form for form in FORMS if form != cage["form_factor"]], 1, 2)
    if dice.chance(0.1):
        cage["lane_gbps"] = dice.one([50, 100, 100, 100])
    return cage


def a_switch(
    dice: Dice, at: int, protocol: str, forms: list[str], speeds: list[int], cages: tuple[int, int], tiny: bool
) -> Json:
    switch: Json = {"id": f"switch-{at}", "protocol": protocol, "cages": []}
    for _ in range(1 if tiny else dice.one([1, 1, 2])):
        most = dice.one([1, 1, 2] if tiny else [1, 2, 2, 4])
        splits = splits_of(dice, speeds, most)
        widest = max(split_of(split)[0] for split in splits)
        count = max(2, dice.number(*cages) // (2 if widest == 4 else 1))
        switch["cages"].append(a_cage(dice, count, forms, splits))
    ports = sum(cage["count"] * max(split_of(split)[0] for split in cage["splits"]) for cage in switch["cages"])
    switch |= {"price_usd": dice.price(40 * ports, 120 * ports), "power_w": dice.number(200, 4000) / 10}
    if dice.chance(0.2):
        switch["max_ports"] = dice.number(max(2, ports - 3), ports)
    if dice.chance(0.4):
        switch["rack_units"] = dice.one([1, 2, 3])
    if dice.chance(0.3):
        switch["vendor"] = dice.one(VENDORS)
    if dice.chance(0.05):
        switch["end_of_life"] = True
    return switch


def a_nic(dice: Dice, at: int, protocols: list[str], forms: list[str], speeds: list[int], tiny: bool) -> Json:
    count, most = (dice.one([1, 1, 2]), 1) if tiny or dice.chance(0.5) else (dice.one([1, 1, 2]), 2)
    nic: Json = {
        "id": f"nic-{at}",
        "protocols": dice.some(protocols, 1, 2),
        "cages": [a_cage(dice, count, forms, splits_of(dice, speeds, most))],
        "price_usd": dice.price(100, 400),
        "power_w": dice.number(50, 250) / 10,
    }
    if dice.chance(0.3):
        nic["pcie"] = {"generation": dice.one([3, 4, 5]), "lanes": dice.one([8, 16])}
    if dice.chance(0.2):
        nic["vendor"] = dice.one(VENDORS)
    return nic


def a_server(dice: Dice, catalog: Json, forms: list[str], tiny: bool) -> Json:
    server: Json = {
        "id": "box",
        "gpus": dice.one([1, 2, 2, 4]),
        "nic_slots": dice.one([1, 2, 2]),
        "price_usd": 1000,
        "power_w": 700,
    }
    if dice.chance(0.4):
        server["pcie"] = {"generation": dice.one([4, 5]), "lanes": 16}
    if not tiny and dice.chance(0.15):
        built_in: Json = {"id": "nic-0", "count": dice.number(1, 2)}
        if dice.chance(0.5):
            cage = dict(catalog["nics"][0]["cages"][0], count=dice.number(1, 2))
            built_in["cages"] = [cage]
        server["nics"] = [built_in]
    return server


def ends_in(catalog: Json) -> list[tuple[str, str]]:
    """(form factor, split) of every cage of the catalog."""
    boxes = catalog["switches"] + catalog["nics"]
    found = {(cage["form_factor"], split) for box in boxes for cage in box["cages"] for split in cage["splits"]}
    return sorted(found)


def add_parts(dice: Dice, catalog: Json, rich: bool) -> None:
    """Optics, fibres and cables; ``rich``: at least two optics for every cage, so that they can be traded."""
    ends = ends_in(catalog)
    for form, split in ends:
        for _ in range(dice.one([2, 2, 3] if rich else [1, 1, 1, 1, 2, 2]) if dice.chance(0.9) else 0):
            catalog["transceivers"].append(a_transceiver(dice, len(catalog["transceivers"]), form, split))
    if dice.chance(0.6):
        add_plain_parts(dice, catalog)
    kinds = [("LC", 1, "LC", 1), ("MPO", 1, "MPO", 1), ("LC", 1, "MPO", 1), ("MPO", 1, "LC", 2), ("MPO", 1, "LC", 4)]
    for a, heads_a, b, heads_b in kinds:
        if dice.chance(0.9):
            catalog["fibres"].append(a_fibre(dice, len(catalog["fibres"]), a, heads_a, b, heads_b))
    if dice.chance(0.3):
        catalog["fibres"].append(a_fibre(dice, len(catalog["fibres"]), "LC", 1, "LC", 1))
    pairs = [(a, b) for a in ends for b in ends if a <= b and split_of(a[1])[1] == split_of(b[1])[1]]
    for near, far in dice.some(pairs, 0, 5):
        add_cable(dice, catalog, near, far)


def add_plain_parts(dice: Dice, catalog: Json) -> None:
    """One-port-a-connector optics for every cage and one fibre for all, so that everything of a speed can be joined."""
    for form, split in ends_in(catalog):
        plain: Json = {"id": f"plain-{form.lower()}-{split}", "form_factor": form, "fibre": "smf", "connector": "LC"}
        ports, speed = split_of(split)
        plain |= {"splits": [split], "standards": {split: STANDARDS[speed // 1000]}, "connectors": ports}
        plain |= {"reach_m": 100, "power_w": dice.number(10, 120) / 10, "price_usd": dice.price(40, 120)}
        catalog["transceivers"].append(plain)
    catalog["fibres"].append(
        {"id": "plain-fibre", "fibre": "smf", "connectors": ["LC", "LC"], "lengths": [{"m": 50, "price_usd": 30.01}]}
    )


def a_transceiver(dice: Dice, at: int, form: str, split: str) -> Json:
    ports, speed = split_of(split)
    connectors = dice.one([1, ports])
    part: Json = {
        "id": f"optic-{at}",
        "form_factor": form,
        "split": split,
        "standard": STANDARDS[speed // 1000],
        "fibre": "smf" if dice.chance(0.96) else "mmf",
        "connector": "LC" if connectors == ports else "MPO",
        "connectors": connectors,
        "reach_m": dice.one([100] * 8 + [30, 10]),
        "power_w": dice.number(10, 120) / 10,
        "price_usd": dice.price(20, 100),
    }
    if dice.chance(0.1):
        part["lane_gbps"] = dice.one([50, 100])
    if dice.chance(0.1):
        part["protocols"] = dice.some(["ethernet", "infiniband"], 1, 2)
    if dice.chance(0.1):
        part["works_with"] = dice.some(VENDORS, 1, 2)
    if dice.chance(0.04):
        del part["power_w"]
    return part


def some_lengths(dice: Dice, lengths: Any, low: int, high: int) -> list[Json]:
    found = []
    for metres in lengths:
        found.append({"m": metres, "price_usd": round(dice.price(low, high) + metres, 2)})
        if dice.chance(0.05):
            del found[-1]["price_usd"]
    return found


def a_fibre(dice: Dice, at: int, a: str, heads_a: int, b: str, heads_b: int) -> Json:
    fibre: Json = {"id": f"fibre-{at}", "fibre": "smf" if dice.chance(0.96) else "mmf"}
    if heads_a == heads_b == 1:
        fibre["connectors"] = [a, b]
    else:
        fibre["ends"] = [{"connector": a, "count": heads_a}, {"connector": b, "count": heads_b}]
    fibre["lengths"] = some_lengths(dice, [*dice.some(LENGTHS[:-1], 1, 3), LENGTHS[-1]], 5, 25)
    return fibre


def add_cable(dice: Dice, catalog: Json, near: tuple[str, str], far: tuple[str, str]) -> None:
    """A straight cable between equal splits, a splitter between a split and single ports; nothing else exists."""
    (near_ports, _), (far_ports, _) = split_of(near[1]), split_of(far[1])
    ends: list[Json] = [{"form_factor": form, "split": split} for form, split in (near, far)]
    if near_ports != far_ports:
        if min(near_ports, far_ports) > 1:
            return
        ends[near_ports > 1]["count"] = max(near_ports, far_ports)
    cable: Json = {"id": f"cable-{len(catalog['cables'])}", "medium": "DAC", "ends": ends}
    cable["lengths"] = some_lengths(dice, dice.some(LENGTHS, 1, 3), 10, 90)
    cable["power_w"] = dice.one([0, 0, 0.1, 2.5])
    if dice.chance(0.1):
        cable["lane_gbps"] = dice.one([50, 100])
    if dice.chance(0.1):
        cable["reach_m"] = dice.one([3, 5, 30])
    if dice.chance(0.1):
        cable["works_with"] = dice.some(VENDORS, 1, 1)
    catalog["cables"].append(cable)
