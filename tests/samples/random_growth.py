"""Seeded small cases of growing clusters for the oracle of growth: the cases of ``random_cases``, in stages."""

from __future__ import annotations

from tests.oracles.brute_parts import Json
from tests.samples.bare import bare
from tests.samples.random_cases import Dice, a_case, a_catalog, an_attachment, linear, three_tier

FAMILIES = (
    "staged", "moving", "moving_twins", "staged_attached", "staged_three_tier", "staged_ratios", "staged_hosted",
)  # fmt: skip


def generate(family: str, seed: int) -> tuple[Json, Json]:
    """A catalog and a case of a family; the same seed gives the same two."""
    dice = Dice(f"{family}-{seed}")
    makers = {
        "staged": staged,
        "moving": moving,
        "moving_twins": moving_twins,
        "staged_attached": staged_attached,
        "staged_ratios": staged_ratios,
        "staged_three_tier": staged_three_tier,
        "staged_hosted": staged_hosted,
    }
    catalog, case = makers[family](dice)
    case["name"] = f"{family.replace('_', '-')}-{seed}"
    case["catalog"] = ["./catalog.yaml"]
    return catalog, case


def staged(dice: Dice) -> tuple[Json, Json]:
    """One or two tiers."""
    catalog, case = linear(dice)
    case["fabrics"][0]["tiers"] = dice.one([[1, 2], 2, 2])
    grow(dice, case, dice.number(4, 12))
    return catalog, case


def moving(dice: Dice) -> tuple[Json, Json]:
    """Spines of single ports whose prices fall steeply, and cables that may be moved for little."""
    catalog = a_catalog(dice, switches=2, cages=(6, 9), tiny=True)
    for switch in catalog["switches"]:
        cage = switch["cages"][0]
        cage["splits"] = [split for split in cage["splits"] if split.startswith("1x")] or ["1x100"]
    case = a_case(dice, servers=1)
    case["fabrics"][0] |= {"tiers": 2, "rails": "aligned", "striping": "even"}
    grow(dice, case, dice.number(6, 12))
    case["growth"] = {"recabling": "allow", "usd_per_moved_cable": dice.one([0, 1, 5.5])}
    case["finance"] = {"price_decline": {"switch": dice.one([0.5, 0.9])}}
    return catalog, case


def moving_twins(dice: Dice) -> tuple[Json, Json]:
    """Cages of two ports, joined by modules with a fibre for each (or sometimes other cables), that may be moved."""
    form = {"form_factor": "QSFP56"}
    switches = []
    for at in range(dice.number(1, 2)):
        price, count = dice.price(500, 3000), dice.number(3, 6)
        cage = {"count": count, "splits": dice.one([["2x100"], ["2x100"], ["1x100", "2x100"]])} | form
        part = {"id": f"switch-{at}", "protocol": "ethernet", "price_usd": price, "power_w": 100, "cages": [cage]}
        switches.append(part)
    module = {"standard": "100G-DR", "fibre": "smf", "connector": "LC", "reach_m": 100, "power_w": 1} | form
    modules = [{"id": "one", "split": "1x100", "price_usd": dice.price(20, 60)} | module]
    for at in range(dice.one([1, 1, 2])):
        price = dice.price(30, 90)
        modules.append({"id": f"twin-{at}", "split": "2x100", "connectors": 2, "price_usd": price} | module)
    fibre = {"fibre": "smf", "ends": [{"connector": "LC", "count": 1}] * 2}
    fibres = [{"id": "fibre", "lengths": [{"m": 50, "price_usd": dice.price(5, 20)}]} | fibre]
    nic = {"id": "nic", "protocols": ["ethernet"], "price_usd": 100, "power_w": 10}
    cables = []
    if dice.chance(0.3):
        ends = [{"split": "2x100"} | form, {"split": dice.one(["1x100", "2x100"])} | form]
        if ends[1]["split"] == "1x100":
            ends[1]["count"] = 2
        lengths = [{"m": 50, "price_usd": 30}]
        cables.append({"id": "copper", "medium": "DAC", "ends": ends, "power_w": 0, "lengths": lengths})
    catalog = {
        "switches": switches, "transceivers": modules, "cables": cables, "fibres": fibres,
        "nics": [nic | {"cages": [{"count": 1, "splits": ["1x100"]} | form]}],
        "servers": [{"id": "box", "gpus": 1, "nic_slots": dice.one([1, 2]), "price_usd": 5000, "power_w": 700}],
    }  # fmt: skip
    fabric = {"name": "compute", "min_gbps_per_gpu": 50, "max_oversubscription": dice.one([1, 1, 1.5]), "tiers": 2}
    case: Json = {"server": "box", "servers": 1, "fabrics": [fabric], "objective": dice.one(["capex_usd", "tco_usd"])}
    grow(dice, case, dice.number(6, 14))
    case["growth"] = {"recabling": "allow", "usd_per_moved_cable": dice.one([0, 1, 5.5])}
    case["finance"] = {"price_decline": {"switch": dice.one([0.5, 0.9])}}
    return catalog, bare(case)


def staged_attached(dice: Dice) -> tuple[Json, Json]:
    """Attachments, which are there from the first stage on."""
    catalog = a_catalog(dice, switches=dice.number(1, 2), cages=(3, 6))
    case = a_case(dice, servers=1)
    fabric = case["fabrics"][0]
    fabric |= {"tiers": [1, 2], "attachments": [an_attachment(dice, catalog, at) for at in range(dice.one([1, 1, 2]))]}
    if dice.chance(0.3):
        fabric["reserve_ports"] = dice.one([0.1, 0.25])
    grow(dice, case, dice.number(3, 7))
    return catalog, case


def staged_ratios(dice: Dice) -> tuple[Json, Json]:
    """Attachments with a ratio of their own."""
    catalog, case = staged_attached(dice)
    case["fabrics"][0]["attachments"][0]["max_oversubscription"] = dice.one([0.5, 1, 1.5])
    return catalog, case


def staged_hosted(dice: Dice) -> tuple[Json, Json]:
    """Attachments on free ports, outside the ratio, in cages of one port; some beside one that is on leaves."""
    catalog, case = dice.one([moving, moving, three_tier])(dice)
    for switch in catalog["switches"]:
        for cage in switch["cages"]:
            cage["splits"] = [split for split in cage["splits"] if split.startswith("1x")] or ["1x100"]
    if "stages" not in case:
        grow(dice, case, dice.number(3, 7))
    attachments = [an_attachment(dice, catalog, at) for at in range(dice.one([1, 1, 2]))]
    for attachment in attachments:
        attachment |= {"ports": dice.number(1, 3)} | dice.one([{"kind": "management"}, *on_free_ports()])
        if "split" in attachment:
            attachment["split"] = f"1x{attachment['split'].split('x')[1]}"
    case["fabrics"][0]["attachments"] = attachments
    return catalog, case


def on_free_ports() -> list[Json]:
    """Tiers of free ports outside the ratio."""
    return [{"tier": tier, "counts_in_ratio": False} for tier in ("spine", "any")]


def staged_three_tier(dice: Dice) -> tuple[Json, Json]:
    """Pods that open one after the other."""
    catalog, case = three_tier(dice)
    grow(dice, case, dice.number(3, 7))
    return catalog, case


def grow(dice: Dice, case: Json, servers: int) -> None:
    """Put a case in stages, with limits of their own, prices that fall and cables that may be moved."""
    del case["servers"]
    sizes = sorted(dice.number(1, servers) for _ in range(dice.one([1, 1, 2])))
    months = sorted(dice.one([0, 3, 6, 12, 18]) for _ in range(len(sizes) + 1))
    case["stages"] = [
        {"name": f"stage-{at}", "month": month, "servers": size}
        for at, (month, size) in enumerate(zip(months, [*sizes, servers], strict=True))
    ]
    for stage in case["stages"]:
        if dice.chance(0.3):
            stage["fabrics"] = {"compute": {"max_oversubscription": dice.one([1, 2, 3, {"leaf": 2}, {"spine": 3}])}}
    if dice.chance(0.5):
        case["growth"] = {"recabling": "allow", "usd_per_moved_cable": dice.one([0, 1, 5.5, 20, 150])}
    if dice.chance(0.7):
        kinds = dice.some(("switch", "nic", "transceiver", "cable", "fibre", "server"), 1, 4)
        finance = case.setdefault("finance", {})
        finance["price_decline"] = {kind: dice.one([0.05, 0.15, 0.5, 0.9]) for kind in kinds}
    if dice.chance(0.3):
        case.setdefault("finance", {})["discount_rate"] = dice.one([0.04, 0.1])
