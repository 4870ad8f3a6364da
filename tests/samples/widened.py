"""Random cases of every family, each narrowed and widened by one key: a superset of a space is never dearer.

Under default rules both are compared with the same parts of them: where not all that one keeps the other does, with all
of them off. ``python -m tests.samples.widened 500`` looks at so many pairs.
"""

from __future__ import annotations

import copy
import random
import sys
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, NamedTuple

from tests.oracles.brute_parts import split_of
from tests.samples import random_cases, random_growth, random_sites
from tests.samples.adapter import run

Json = dict[str, Any]
# Changes a catalog and a case; of a narrowing and a widening both are applied to the same two.
Change = Callable[[Json, Json], object]

SEVERAL, SITES = "several", "sites"
FAMILIES = (*random_cases.FAMILIES, *random_growth.FAMILIES, SITES, SEVERAL)
SECONDS = 30
TIERS = ("leaf", "spine", "core")
DIRECT = ("hyperx", "torus", "dragonfly", "dragonfly+")


class UnprovenError(Exception):
    """Time was over before a cost was proven."""


class Widening(NamedTuple):
    """A key by its name, with a narrow and a wide value of it."""

    name: str
    narrow: Change
    wide: Change


class Answer(NamedTuple):
    """The objective, infinite without a design, and which parts of default rules it keeps and does not keep."""

    cost: float
    standing: frozenset[tuple[str, str, bool]]


class Pair(NamedTuple):
    """A narrow and a wide case with their catalogs."""

    name: str
    narrow: tuple[Json, Json]
    wide: tuple[Json, Json]

    def costs(self, time_limit_s: float | None = None) -> tuple[float, float]:
        """What both cost under the same rules."""
        narrow, wide = (answer(*one, time_limit_s) for one in (self.narrow, self.wide))
        if wide.cost > narrow.cost and narrow.standing != wide.standing:
            narrow, wide = (answer(*without_rules(*one), time_limit_s) for one in (self.narrow, self.wide))
        return narrow.cost, wide.cost


def a_pair(family: str, seed: int) -> Pair:
    """A random case of a family and something of it narrow and wide; default rules hold in some."""
    dice = random.Random(f"wider {family} {seed}")
    catalog, case = _generate(family, seed)
    if family in random_cases.FAMILIES and dice.random() < 0.25:
        _managed(dice, catalog, case)
    elif dice.random() < 0.5:
        case["rules"] = "none"
    elif dice.random() < 0.5:
        case["resilience"] = "default"
    for fabric in case["fabrics"]:
        for key, values in (("groups", ["any"]), ("rails", ["any"]), ("striping", ["any"])):
            if dice.random() < 0.15:
                fabric.setdefault(key, dice.choice(values))
    chosen = dice.choice(sorted(widenings(dice, catalog, case), key=lambda one: one.name))
    pairs = []
    for change in (chosen.narrow, chosen.wide):
        other = copy.deepcopy((catalog, case))
        change(*other)
        pairs.append(other)
    return Pair(chosen.name, *pairs)


def _generate(family: str, seed: int) -> tuple[Json, Json]:
    if family == SITES:
        return random_sites.generate(seed)
    if family == SEVERAL:
        return _several(seed)
    makers = random_cases if family in random_cases.FAMILIES else random_growth
    return makers.generate(family, seed)


def _managed(dice: random.Random, catalog: Json, case: Json) -> None:
    """Everything for InfiniBand, and default rules: some switches manage subnets of a size, or are told not to."""
    for one in (*catalog["nics"], *catalog["transceivers"], *catalog["cables"]):
        one["protocols"] = ["infiniband"]
    for one in catalog["switches"]:
        one |= {"protocol": "infiniband", "managed": dice.random() < 0.4}
        if one["managed"] and dice.random() < 0.5:
            one["max_managed_nodes"] = dice.choice([2, 4, 8, 16])
    case["rules"] = {"lengths": False}
    for fabric in case["fabrics"]:
        fabric["protocol"] = "infiniband"


def _several(seed: int) -> tuple[Json, Json]:
    """Two fabrics of their own NICs, some with attachments, limits, or both."""
    dice = random_cases.Dice(f"several {seed}")
    catalog, case = random_cases.generate(dice.one(["linear", "attached", "hosted", "three_tier"]), seed)
    catalog["servers"][0].pop("nics", None)
    catalog["servers"][0]["nic_slots"] = dice.one([2, 3, 4])
    first = case["fabrics"][0]
    second = copy.deepcopy(first) | {"name": "other", "role": dice.one(["storage", "in-band"])}
    for attachment in second.get("attachments", ()):
        attachment["name"] += "-other"
    case["servers"] = min(case["servers"], 5)
    case["fabrics"] = [first, second]
    return catalog, case


# -- what may be wider --------------------------------------------------------------------------------------------


def widenings(dice: random.Random, catalog: Json, case: Json) -> Iterator[Widening]:
    """Everything of a case that can be narrow and wide."""
    at = dice.randrange(len(case["fabrics"]))
    fabric = case["fabrics"][at]
    yield from _keys_of_fabric(dice, fabric, at)
    yield from _topologies(dice, catalog, case, at)
    yield from _attachments(dice, catalog, case, at)
    yield from _lists(dice, catalog, case, at)
    yield from _products(dice, catalog)
    yield from _limits(dice, case)
    yield from _site(case)


def _set(at: int, key: str, narrow: Any, wide: Any) -> Widening:
    """A key of a fabric with two values; None: it is left out."""

    def changed(value: Any) -> Change:
        def change(_: Json, case: Json) -> None:
            fabric = case["fabrics"][at]
            fabric.pop(key, None)
            if value is not None:
                fabric[key] = value

        return change

    return Widening(f"fabrics[{at}].{key}: {narrow} -> {wide}", changed(narrow), changed(wide))


def _keys_of_fabric(dice: random.Random, fabric: Json, at: int) -> Iterator[Widening]:
    yield _set(at, "groups", "equal", "any")
    if "group_by" in fabric:
        yield _set(at, "group_by", fabric["group_by"], None)
    else:
        yield _set(at, "rails", "aligned", "any")
        yield _set(at, "striping", "even", "any")
    tiers = dice.choice([1, 2, 3])
    yield _set(at, "tiers", tiers, sorted({tiers, dice.choice([1, 2, 3])}))
    yield _set(at, "tiers", tiers, "any")
    planes = dice.choice([1, 2])
    yield _set(at, "planes", planes, "any")
    yield _set(at, "planes", planes, [1, 2])
    ratio = dice.choice([1, 1.2, 2])
    yield _set(at, "max_oversubscription", ratio, ratio * dice.choice([1.1, 1.5, 2]))
    yield _set(at, "min_gbps_per_gpu", 25, dice.choice([10, 20, 24.9]))
    yield _set(at, "reserve_ports", 0.25, dice.choice([0, 0.1]))
    number = dice.choice([1, 2])
    yield _set(at, "nics_per_server", number, dice.choice(["any", [1, 2]]))
    yield _set(at, "protocol", fabric.get("protocol") or dice.choice(["ethernet", "infiniband"]), "any")
    yield _set(at, "max_switch_hops", 3, dice.choice([None, 5]))
    if fabric.get("planes") != "rails":
        yield _set(at, "topologies", ["clos"], ["any"])


def _topologies(dice: random.Random, catalog: Json, case: Json, at: int) -> Iterator[Widening]:
    fabric = case["fabrics"][at]
    own = {"attachments", "group_by", "planes", "nics_per_server"} & set(fabric)
    if own or {"stages", "floor"} & {*case, *case.get("site", {})} or fabric.get("role") == "oob":
        return
    direct = dice.choice(DIRECT)
    yield _set(at, "topologies", [direct], sorted({direct, dice.choice(("clos", *DIRECT))}))
    yield _set(at, "topologies", [direct], ["any"])
    if "scale_up" in catalog["servers"][0] and catalog["servers"][0].get("nic_slots") == 2:
        yield _set(at, "topologies", ["rail-only"], ["clos", "rail-only"])


def _attachments(dice: random.Random, catalog: Json, case: Json, at: int) -> Iterator[Widening]:
    """The tier of an attachment, of one that is there or a host of managers; fewer attachments."""
    fabric = case["fabrics"][at]
    if "stages" in case or fabric.get("role") == "oob":
        return
    host: Json = {"name": "host", "kind": "management", "ports": dice.choice([1, 2, 3]), "buys": "none"}
    if dice.random() < 0.6:
        cage = dice.choice(dice.choice(catalog["nics"])["cages"])
        speed = split_of(dice.choice(cage["splits"]))[1] // 1000
        host |= {"buys": dice.choice(["both", "near"]), "form_factor": cage["form_factor"], "split": f"1x{speed}"}
    own = [one for one in fabric.get("attachments", []) if not _is_of_leaves(one)]
    for attachment in [host, *own]:
        for tier in ("leaf", "spine"):
            yield _tier(at, attachment, tier)
    if own:
        yield _set(
            at, "attachments", fabric["attachments"], [one for one in fabric["attachments"] if one is not own[0]]
        )


def _is_of_leaves(attachment: Json) -> bool:
    return "max_oversubscription" in attachment or split_of(attachment.get("split", "1x100"))[0] > 1


def _tier(at: int, attachment: Json, tier: str) -> Widening:
    def placed(on: str) -> Change:
        def change(_: Json, case: Json) -> None:
            fabric = case["fabrics"][at]
            others = [one for one in fabric.get("attachments", []) if one["name"] != attachment["name"]]
            fabric["attachments"] = [*others, attachment | {"tier": on}]

        return change

    return Widening(f"attachments.tier: {tier} -> any", placed(tier), placed("any"))


def _lists(dice: random.Random, catalog: Json, case: Json, at: int) -> Iterator[Widening]:
    """Switches and NICs that a case names."""
    fabric = case["fabrics"][at]
    switches, nics = ([one["id"] for one in catalog[kind]] for kind in ("switches", "nics"))
    if switches:
        tier, one = dice.choice(TIERS), dice.choice(switches)
        more = sorted({one, *dice.sample(switches, dice.randrange(1, len(switches) + 1))})
        for wide in (more, "any"):
            given = {key: ids for key, ids in fabric.get("switches", {}).items() if key != tier}
            yield _set(at, "switches", given | {tier: [one]}, given | {tier: wide})
    if nics and not catalog["servers"][0].get("nics"):
        one = dice.choice(nics)
        yield _set(at, "nics", [one], sorted({one, *dice.sample(nics, dice.randrange(1, len(nics) + 1))}))
        yield _set(at, "nics", [one], "any")


def _products(dice: random.Random, catalog: Json) -> Iterator[Widening]:
    """A product more, stock, supply, slots."""

    def nothing(_: Json, __: Json) -> None:
        return None

    for kind in ("switches", "nics", "transceivers", "cables"):
        if not catalog[kind]:
            continue
        other = copy.deepcopy(dice.choice(catalog[kind])) | {"id": f"more-{kind}"}
        _varied(dice, other)
        yield Widening(
            f"a product more: {kind}", nothing, lambda wide, _, kind=kind, other=other: wide[kind].append(other)
        )
        index, number = dice.randrange(len(catalog[kind])), dice.choice([1, 2, 5])
        if kind in ("switches", "nics", "transceivers"):
            yield Widening(
                f"stock of {kind}",
                nothing,
                lambda wide, _, kind=kind, index=index, number=number: wide[kind][index].update(
                    stock=wide[kind][index].get("stock", 0) + number
                ),
            )
            yield Widening(
                f"supply of {kind}",
                lambda narrow, _, kind=kind, index=index, number=number: narrow[kind][index].update(supply=number),
                lambda wide, _, kind=kind, index=index, number=number: wide[kind][index].update(supply=number + 2),
            )
    slots = catalog["servers"][0].get("nic_slots")
    if slots is not None:
        yield Widening("slots", nothing, lambda wide, _: wide["servers"][0].update(nic_slots=slots + 1))


def _varied(dice: random.Random, product: Json) -> None:
    """A product at another price, of other size or power."""
    factor = dice.choice([0.7, 0.95, 1, 1.05, 1.4])
    for sold in [product, *product.get("lengths", ())]:
        price = sold.get("price_usd")
        if isinstance(price, int | float):
            sold["price_usd"] = round(price * factor, 2)
        for key in ("stock", "supply", "minimum_order", "pack_size", "price_breaks"):
            sold.pop(key, None)
    if dice.random() < 0.5 and "count" in product.get("cages", [{}])[0] and product["id"] == "more-switches":
        product["cages"][0]["count"] += dice.choice([-1, 1, 2, 4])
        product["cages"][0]["count"] = max(1, product["cages"][0]["count"])
        product.pop("max_ports", None)
    if dice.random() < 0.3 and "power_w" in product and product["power_w"] is not None:
        product["power_w"] = round(product["power_w"] * dice.choice([0.5, 1.2]), 1)


def _limits(dice: random.Random, case: Json) -> Iterator[Widening]:
    """Money, power, units; rules of buying."""
    limits = case.get("limits", {})
    for key, value in limits.items():
        factor = dice.choice([1.0001, 1.02, 1.3])
        yield Widening(
            f"limits.{key}",
            lambda _, __: None,
            lambda _, wide, key=key, value=value, factor=factor: wide["limits"].update({key: value * factor}),
        )
    for key in case.get("procurement", {}):
        yield Widening(f"procurement.{key}", lambda _, __: None, lambda _, wide, key=key: wide["procurement"].pop(key))


def _site(case: Json) -> Iterator[Widening]:
    """A rack more, a unit more a rack."""
    floor = case.get("site", {}).get("floor")
    if floor is None:
        return
    for key in ("racks_per_row", "rack_units", "rack_power_w"):
        if key in floor and not case["site"].get("network_racks"):
            yield Widening(
                f"site.floor.{key}",
                lambda _, __: None,
                lambda _, wide, key=key: wide["site"]["floor"].update({key: wide["site"]["floor"][key] + 1}),
            )


# -- what they cost -----------------------------------------------------------------------------------------------


def without_rules(catalog: Json, case: Json) -> tuple[Json, Json]:
    """The same without default rules and redundancy."""
    other = copy.deepcopy(case)
    for fabric in other["fabrics"]:
        fabric.pop("resilience", None)
    return catalog, other | {"rules": "none", "resilience": "none"}


def answer(catalog: Json, case: Json, time_limit_s: float | None = None) -> Answer:
    """The objective, proven, with what is kept of default rules."""
    design = run(copy.deepcopy(catalog), copy.deepcopy(case), time_limit_s=time_limit_s)
    if design["status"] not in ("optimal", "infeasible"):
        raise UnprovenError(design["status"])
    failed = [check for check in design["checks"] if not check["ok"]]
    assert failed == [], failed
    if design["status"] == "infeasible":
        return Answer(inf, frozenset())
    return Answer(float(design["objective"]["value"]), frozenset(standing(design)))


def standing(design: Json) -> Iterator[tuple[str, str, bool]]:
    """What of default rules each fabric of a design keeps and does not keep, as far as its file says it."""
    for fabric in design["fabrics"]:
        yield from ((fabric["name"], one["rule"], one["kept"]) for one in fabric.get("redundancy", ()))
        if managers := fabric.get("subnet_manager"):
            yield fabric["name"], "subnet-manager", bool(managers["kept"])
    for note in design["notes"]:
        if "not kept" in note:
            yield note.split(":")[0], note.split("`")[1] if "`" in note else note, False


def main(pairs: int, first: int = 0) -> int:
    """Look at so many pairs, from a seed on; how many of them are dearer when wider."""
    dearer = unproven = 0
    for number in range(pairs):
        family, seed = FAMILIES[number % len(FAMILIES)], first + number // len(FAMILIES)
        pair = a_pair(family, seed)
        try:
            narrow, wide = pair.costs(SECONDS)
        except UnprovenError:
            unproven += 1
            print(f"{family}, seed {seed}: {pair.name}: not proven", flush=True)
            continue
        except Exception as error:  # a refused case says what is wrong with it
            print(f"{family}, seed {seed}: {pair.name}: {type(error).__name__} {str(error)[:160]}", flush=True)
            continue
        if wide > narrow:
            dearer += 1
            print(f"{family}, seed {seed}: {pair.name}: {narrow} -> {wide}", flush=True)
    print(f"{pairs} pairs, {dearer} dearer when wider, {unproven} not proven in {SECONDS} s")
    return dearer


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
