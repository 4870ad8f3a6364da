"""What joins two cages, and what it takes: the parts half of the brute force.

Written from the rules alone; nothing of fabopt is imported. Catalogs and cases are the plain Python of their YAML.
Speeds are integers in Mb/s, money is integer cents, power is integer milliwatts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

Json = dict[str, Any]
Item = tuple[str, Any]  # (id, length in metres or None)
Loads = tuple[tuple[int, int], ...]  # (how many pairs, links of each)
Box = tuple[int, int, Loads]  # (how many such boxes, ports used of each, its pairs with boxes on the other side)


@cache
def exact(number: Any) -> Fraction:
    return Fraction(Decimal(str(number)))


def whole(number: Any, scale: int) -> int:
    """``number * scale`` rounded half up."""
    return int((Decimal(str(number)) * scale).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def ceil_div(a: int, b: int | Fraction) -> int:
    return int(-(-a // b))


def split_of(text: str) -> tuple[int, int]:
    ports, speed = text.split("x")
    return int(ports), whole(speed, 1000)


class Cage(NamedTuple):
    """A cage as it is used, and the box that it belongs to."""

    form_factor: str
    accepts: tuple[str, ...]
    lane: int | None
    ports: int
    speed: int
    vendor: str | None
    works_with: tuple[str, ...]
    qualified: tuple[str, ...] | None


def cage_of(group: Json, split: str, box: Json) -> Cage:
    ports, speed = split_of(split)
    lane = group.get("lane_gbps")
    return Cage(
        group["form_factor"],
        tuple(group.get("accepts", ())),
        None if lane is None else whole(lane, 1000),
        ports,
        speed,
        box.get("vendor"),
        tuple(box.get("works_with", ())),
        box.get("qualified"),
    )


def permitted(catalog: Json, rules: Json, server: str) -> Json:
    """The catalog without what the rules of buying forbid; servers and what is built in are not under them."""
    built_in = {nic["id"] for one in catalog["servers"] if one["id"] == server for nic in one.get("nics", [])}
    kept = dict(catalog)
    for kind in ("switches", "nics", "transceivers", "cables", "fibres"):
        products = catalog.get(kind, [])
        named = [one["id"] for one in products if one["id"] in rules.get("approved_parts", [])]
        asked = "approved_vendors" in rules or bool(named)
        kept[kind] = [
            one
            for one in products
            if one["id"] in built_in
            or (
                one["id"] not in rules.get("forbidden_parts", [])
                and one.get("vendor") not in rules.get("forbidden_vendors", [])
                and (not asked or one["id"] in named or one.get("vendor") in rules.get("approved_vendors", []))
            )
        ]
    for kind in ("switches", "nics"):
        kept[kind] = [with_pairs(one, rules.get("qualified", {}), server, built_in) for one in kept[kind]]
    return kept


def with_pairs(box: Json, pairs: Json, server: str, built_in: set[str]) -> Json:
    """A device with the parts that may be plugged into it, if any list is for it."""
    names = [box["id"], server] if box["id"] in built_in else [box["id"]]
    lists = [set(pairs[name]) for name in names if name in pairs]
    return {**box, "qualified": tuple(set.intersection(*lists))} if lists else box


KIND_WORDS = {
    "switches": "switch",
    "nics": "nic",
    "transceivers": "transceiver",
    "servers": "server",
    "cables": "cable",
    "fibres": "fibre",
}
# Those of which makers have a supply.
KINDS = ("switch", "nic", "transceiver", "cable", "fibre")


def steps_of(sold: Json) -> list[tuple[int, int]]:
    """(first quantity, cents of one) of every price step of what is sold."""
    price = sold["price_usd"]
    steps = price if isinstance(price, list) else [{"from": 1, "usd": price}]
    return [(step["from"], whole(step["usd"], 100)) for step in steps]


def cheapest_award(offers: list[Json], need: int) -> tuple[int, int] | None:
    """(pieces bought, cents) that cover a need at least cost from offers of several vendors, one order of each; None if
    they cannot. All quantities of every offer are walked, vendor by vendor.
    """
    reached: dict[int, tuple[int, int]] = {0: (0, 0)}
    for offer in offers:
        least, pack, steps = offer.get("minimum_order", 1), offer.get("pack_size", 1), steps_of(offer)
        largest = max(need, least, steps[-1][0]) + pack
        sizes = [n for n in range(1, min(largest, offer.get("supply", largest)) + 1) if n >= least and n % pack == 0]
        after = dict(reached)
        for covered, (bought, cents) in reached.items():
            for size in sizes:
                at = min(need, covered + size)
                order = bought + size, cents + size * [usd for start, usd in steps if start <= size][-1]
                if at not in after or (order[1], order[0]) < (after[at][1], after[at][0]):
                    after[at] = order
        reached = after
    return reached.get(need)


class ItemTable:
    """What can be ordered: price steps, terms, stock, supply and power by item; spares by part number."""

    def __init__(self, catalog: Json, rules: Json | None = None) -> None:
        self.rules = rules or {}
        self.kind: dict[Item, str] = {}
        self.vendor: dict[Item, str | None] = {}
        self.terms: dict[Item, Json] = {}
        self.steps: dict[Item, list[tuple[int, int]]] = {}
        self.stock: dict[Item, int] = {}
        self.supply: dict[Item, int] = {}
        self.power: dict[Item, int] = {}
        self.power_known: set[str] = set()
        self.is_special: dict[Item, bool] = {}
        self.costs: dict[tuple[tuple[Item, int], ...], tuple[int, int]] = {}
        self.offers: dict[Item, list[Json]] = {}
        for kind in ("switches", "nics", "transceivers", "servers"):
            for product in catalog.get(kind, []):
                self._add(kind, (product["id"], None), product, product)
        for kind in ("cables", "fibres"):
            for product in catalog.get(kind, []):
                for length in product["lengths"]:
                    self._add(kind, (product["id"], length["m"]), product, length)

    def _add(self, kind: str, item: Item, product: Json, sold: Json) -> None:
        self.kind[item] = KIND_WORDS[kind]
        self.vendor[item] = product.get("vendor")
        if product.get("power_w") is not None:
            self.power_known.add(product["id"])
        self.power[item] = whole(product.get("power_w") or 0, 1000)
        price = sold.get("price_usd")
        if sold.get("offers"):
            self.offers[item] = sold["offers"]
            price = min(usd for offer in sold["offers"] for _, usd in steps_of(offer)) / 100
        if price is None:
            return
        self.terms[item] = sold
        if isinstance(price, list):
            self.steps[item] = [(step["from"], whole(step["usd"], 100)) for step in price]
        else:
            self.steps[item] = [(1, whole(price, 100))]
        if sold.get("stock"):
            self.stock[item] = sold["stock"]
        if sold.get("supply") is not None:
            self.supply[item] = sold["supply"]

    def least(self, item: Item) -> int:
        """The lowest price of one piece, in cents."""
        return min(usd for _, usd in self.steps[item])

    def special(self, item: Item) -> bool:
        """Whether the cost of the item is anything but quantity times price, or its number is limited."""
        if item not in self.is_special:
            self.is_special[item] = self._special(item)
        return self.is_special[item]

    def _special(self, item: Item) -> bool:
        ruled = any(self.kind[item] in self.rules.get(key, {}) for key in ("spares", "max_part_numbers"))
        supplied = self.rules.get("quarterly_supply", {}).get(self.vendor[item])
        ruled = ruled or (self.kind[item] in supplied if isinstance(supplied, dict) else supplied is not None)
        return ruled or not self.is_plain(item)

    def is_plain(self, item: Item) -> bool:
        """Whether every piece of it can be had at one price."""
        sized = any(self.terms[item].get(key, 1) > 1 for key in ("minimum_order", "pack_size"))
        short = item in self.stock or item in self.supply
        return not (item in self.offers or sized or short or len(self.steps[item]) > 1)

    def stands_in(self, longer: Item, shorter: Item) -> bool:
        """Whether a longer piece may be that of other links too, where its part numbers are limited: no cheaper."""
        kind = self.kind[longer]
        counted = kind in self.rules.get("max_part_numbers", {}) and kind not in self.rules.get("spares", {})
        plain = self.is_plain(longer) and self.is_plain(shorter)
        weeks = {self.terms[item].get("lead_time_weeks") for item in (longer, shorter)}
        return counted and plain and len(weeks) == 1 and self.least(longer) >= self.least(shorter)

    def cost(self, item: Item, pieces: int) -> int:
        """Cents of one order, piece by piece."""
        reached = [usd for start, usd in self.steps[item] if start <= pieces]
        if self.terms[item].get("price_breaks") != "incremental":
            return pieces * reached[-1] if pieces else 0
        return sum([usd for start, usd in self.steps[item] if start <= one][-1] for one in range(1, pieces + 1))

    def spares(self, item: Item, used: int) -> int:
        """Pieces kept beside those in use."""
        rule = self.rules.get("spares", {}).get(self.kind[item])
        if rule is None or not used:
            return 0
        share = exact(rule.get("fraction", 0)) * used
        return max(rule.get("minimum", 0), ceil_div(share.numerator, share.denominator))

    def order(self, item: Item, used: int) -> tuple[int, int] | None:
        """(pieces bought, cents) that cover ``used`` and spares at the least cost; None if it cannot be supplied."""
        need = max(0, used + self.spares(item, used) - self.stock.get(item, 0))
        if need == 0:
            return 0, 0
        if item in self.offers:
            return cheapest_award(self.offers[item], need)
        least, pack = self.terms[item].get("minimum_order", 1), self.terms[item].get("pack_size", 1)
        largest = max(need, least, self.steps[item][-1][0]) + pack
        most = self.supply.get(item, largest)
        orders = [n for n in range(need, largest + 1) if n >= least and n % pack == 0 and n <= most]
        return min(((n, self.cost(item, n)) for n in orders), key=lambda order: (order[1], order[0]), default=None)

    def too_many(self, used: Iterable[Item]) -> bool:
        """Whether more part numbers of a kind are in use than there may be."""
        kinds = Counter(self.kind[item] for item in set(used))
        return any(kinds[kind] > most for kind, most in self.rules.get("max_part_numbers", {}).items())

    def over_supply(self, bought: dict[Item, int]) -> bool:
        """Whether more of a maker's parts are bought than come in the first quarter; orders are as large as needed."""
        for vendor, given in self.rules.get("quarterly_supply", {}).items():
            for kind, units in given.items() if isinstance(given, dict) else [(None, given)]:
                most = units[0] if isinstance(units, list) else units
                kinds = KINDS if kind is None else (kind,)
                own = [item for item in bought if self.vendor[item] == vendor and self.kind[item] in kinds]
                if most is not None and sum(bought[item] for item in own) > most:
                    return True
        return False


class Joining(NamedTuple):
    """One way to join two cages.

    ``shape``: single (cable between one-port cages), bundle (cable between two multi-port cages), near or far (splitter
    cable with its single end there), optics, shuffle (optics whose fibre has several connectors at both ends).
    ``near_ports``/``far_ports``: ports that one connector carries; a half where a port takes two.
    """

    key: tuple[tuple[str, ...], Any]
    shape: str
    line: Item
    near: Item | None
    far: Item | None
    near_ports: int | Fraction
    far_ports: int | Fraction

    @property
    def per_fibre(self) -> int | Fraction:
        """Links that one straight fibre carries, or 1."""
        return self.near_ports if self.near_ports == self.far_ports and self.shape != "shuffle" else 1


def same_or_unknown(a: Any, b: Any) -> bool:
    return a is None or b is None or a == b


def vendors_agree(part: Json, cage: Cage) -> bool:
    if cage.qualified is not None and part["id"] not in cage.qualified:
        return False
    works_with, vendor = part.get("works_with") or (), part.get("vendor")
    if works_with and cage.vendor is not None and cage.vendor not in works_with:
        return False
    return not (cage.works_with and vendor is not None and vendor not in cage.works_with)


def form_fits(form_factor: str, cage: Cage) -> bool:
    if form_factor == cage.form_factor or form_factor in cage.accepts:
        return True
    finned_or_flat = {"OSFP-IHS", "OSFP-RHS"}
    if form_factor == "QSFP-DD" and cage.form_factor == "QSFP112-DD":
        return cage.lane in (None, whole(50, 1000))
    if {form_factor, cage.form_factor} == {"QSFP-DD800", "QSFP112-DD"}:
        return True
    return (form_factor == "OSFP" and cage.form_factor in finned_or_flat) or (
        cage.form_factor == "OSFP" and form_factor in finned_or_flat
    )


def lane_of(*parts: Json) -> int | None:
    for part in parts:
        if part.get("lane_gbps") is not None:
            return whole(part["lane_gbps"], 1000)
    return None


def protocol_fits(part: Json, protocol: str) -> bool:
    return not part.get("protocols") or protocol in part["protocols"]


class Joiner:
    """Finds every joining of two cages at a run length."""

    def __init__(self, catalog: Json, item_table: ItemTable, protocol: str) -> None:
        self.item_table = item_table
        usable = [p for p in catalog.get("cables", []) if p["id"] in item_table.power_known]
        self.cables = [p for p in usable if protocol_fits(p, protocol) and not p.get("end_of_life")]
        self.fibres = [p for p in catalog.get("fibres", []) if not p.get("end_of_life")]
        self.optics: list[tuple[Json, str, str]] = []
        for part in catalog.get("transceivers", []):
            bought = (part["id"], None) in item_table.steps and part["id"] in item_table.power_known
            if bought and protocol_fits(part, protocol) and not part.get("end_of_life"):
                standards = {part["split"]: part["standard"]} if "split" in part else part["standards"]
                self.optics += [(part, split, standard) for split, standard in standards.items()]
        self.found: dict[tuple[Cage, Cage, Fraction], list[Joining]] = {}
        self.fitting: dict[Cage, list[tuple[Json, str, Fraction]]] = {}

    def join(self, near: Cage, far: Cage, run: Fraction) -> list[Joining]:
        key = (near, far, run)
        if key not in self.found:
            same_speed = near.speed == far.speed
            ways = self._cable_ways(near, far, run) + self._optics_ways(near, far, run) if same_speed else []
            self.found[key] = list(dict.fromkeys(ways))
        return self.found[key]

    def _lines(self, part: Json, run: Fraction, reaches: Iterable[Any]) -> list[Item]:
        """The shortest priced length that covers the run, if everything reaches that far, and longer ones that may
        stand in for it.
        """
        items = [(part["id"], sold["m"]) for sold in part["lengths"]]
        priced = sorted((one for one in items if one in self.item_table.steps), key=lambda one: exact(one[1]))
        covering = [one for one in priced if exact(one[1]) >= run]
        shortest = covering[:1]
        covering = shortest + [one for one in covering[1:] if self.item_table.stands_in(one, *shortest)]
        least = min((exact(reach) for reach in reaches if reach is not None), default=None)
        return [one for one in covering if least is None or exact(one[1]) <= least]

    def _cable_ways(self, near: Cage, far: Cage, run: Fraction) -> list[Joining]:
        ways = []
        for cable in self.cables:
            if split_of(cable["ends"][0]["split"])[1] != near.speed:
                continue
            if not (vendors_agree(cable, near) and vendors_agree(cable, far)):
                continue
            for line in self._lines(cable, run, [cable.get("reach_m")]):
                for a, b in (cable["ends"], cable["ends"][::-1]):
                    shape = self._cable_shape(cable, a, b, near, far)
                    if shape is not None:
                        ways.append(Joining(((cable["id"],), line[1]), shape, line, None, None, 1, 1))
        return ways

    @staticmethod
    def _cable_shape(cable: Json, a: Json, b: Json, near: Cage, far: Cage) -> str | None:
        if not (form_fits(a["form_factor"], near) and form_fits(b["form_factor"], far)):
            return None
        if split_of(a["split"]) != (near.ports, near.speed) or split_of(b["split"]) != (far.ports, far.speed):
            return None
        lane_a, lane_b = lane_of(a, cable), lane_of(b, cable)
        if not (same_or_unknown(lane_a, near.lane) and same_or_unknown(lane_b, far.lane)):
            return None
        if lane_a is None and lane_b is None and not same_or_unknown(near.lane, far.lane):
            return None
        heads_a, heads_b = a.get("count", 1), b.get("count", 1)
        if heads_a == heads_b == 1:
            return "single" if near.ports == 1 else "bundle"
        if heads_a == 1:
            return "near" if far.ports == 1 and near.ports == heads_b else None
        return "far" if near.ports == 1 and far.ports == heads_a else None

    def _optics_at(self, cage: Cage) -> list[tuple[Json, str, Fraction]]:
        """(transceiver, standard, ports per connector) that fit a cage."""
        if cage not in self.fitting:
            self.fitting[cage] = self._fitting_optics(cage)
        return self.fitting[cage]

    def _fitting_optics(self, cage: Cage) -> list[tuple[Json, str, Fraction]]:
        return [
            (part, standard, Fraction(cage.ports, part.get("connectors", 1)))
            for part, split, standard in self.optics
            if split_of(split) == (cage.ports, cage.speed)
            and form_fits(part["form_factor"], cage)
            and same_or_unknown(lane_of(part), cage.lane)
            and vendors_agree(part, cage)
        ]

    def _optics_ways(self, near: Cage, far: Cage, run: Fraction) -> list[Joining]:
        ways = []
        for a, standard_a, ports_a in self._optics_at(near):
            for b, standard_b, ports_b in self._optics_at(far):
                if standard_a != standard_b or a["fibre"] != b["fibre"]:
                    continue
                for fibre in self.fibres:
                    shape = fibre_shape(fibre, a, ports_a, b, ports_b)
                    if fibre["fibre"] != a["fibre"] or shape is None:
                        continue
                    for line in self._lines(fibre, run, [reach_of(one, fibre) for one in (a, b)]):
                        key = ((a["id"], fibre["id"], b["id"]), line[1])
                        ways.append(Joining(key, shape, line, (a["id"], None), (b["id"], None), ports_a, ports_b))
        return ways

    def half_ways(self, near: Cage, run: Fraction) -> list[Joining]:
        """Joinings to a far side that nothing is known about: a transceiver and any straight fibre that fits it."""
        ways = []
        for a, _, ports_a in self._optics_at(near):
            for fibre in self.fibres:
                (first, heads), (second, tails) = fibre_ends(fibre)
                straight = heads == tails == 1 and a["connector"] in (first, second)
                if not straight or fibre["fibre"] != a["fibre"] or ports_a != 1:
                    continue
                for line in self._lines(fibre, run, [a["reach_m"]]):
                    ways.append(Joining(((a["id"], fibre["id"]), line[1]), "optics", line, (a["id"], None), None, 1, 1))
        return ways


def fibre_ends(fibre: Json) -> list[tuple[str, int]]:
    if "connectors" in fibre:
        return [(connector, 1) for connector in fibre["connectors"]]
    return [(end["connector"], end.get("count", 1)) for end in fibre["ends"]]


def reach_of(module: Json, fibre: Json) -> Fraction:
    """Metres that a module reaches over a fibre with connections inside it."""
    reach = exact(module["reach_m"])
    if None in (module.get("loss_budget_db"), fibre.get("loss_db")):
        return reach
    per_km = exact("0.4") if fibre["fibre"] == "smf" else exact(3)
    return min(reach, (exact(module["loss_budget_db"]) - exact(fibre["loss_db"])) / per_km * 1000)


def fibre_shape(fibre: Json, a: Json, ports_a: Fraction, b: Json, ports_b: Fraction) -> str | None:
    """Which shape of joining a fibre makes between two transceivers."""
    if fibre_fits(fibre, a, ports_a, b, ports_b):
        return "optics"
    ends, wanted = fibre_ends(fibre), [(a["connector"], ports_a), (b["connector"], ports_b)]
    return "shuffle" if ports_a == ports_b > 1 and wanted in (ends, ends[::-1]) else None


def fibre_fits(fibre: Json, a: Json, ports_a: Fraction, b: Json, ports_b: Fraction) -> bool:
    """Straight where both connectors carry as many ports, a breakout where one carries n and the other one."""
    if ports_a == ports_b:
        heads = (1, 1)
    elif ports_b == 1:
        heads = (1, ports_a)
    elif ports_a == 1:
        heads = (ports_b, 1)
    else:
        return False
    wanted = [(a["connector"], heads[0]), (b["connector"], heads[1])]
    ends = fibre_ends(fibre)
    return wanted in (ends, ends[::-1])


class Unit(NamedTuple):
    """One indivisible purchase: its items, at their lowest prices; ``cables`` counts cables and fibres."""

    key: tuple[tuple[str, ...], Any]
    items: tuple[tuple[Item, int], ...]
    cables: int


class Mode(NamedTuple):
    """One way to realise all links of a kind: cages it takes in a box, and for each class of units what each may be."""

    near_cages: int
    far_cages: int
    classes: tuple[tuple[int, tuple[Unit, ...]], ...]


class Kind(NamedTuple):
    """All links of one kind: cages at both ends, the boxes with their loads.

    ``near_limit``: cages that a near box has (None: the caller checks).
    ``at_server``: the near boxes are cards or servers. ``crosses``: whether shuffles may join them: no two ports of a
    card's connector are on one leaf.
    """

    near: Cage
    far: Cage
    run: Fraction
    near_boxes: tuple[Box, ...]
    far_boxes: tuple[Box, ...]
    near_limit: int | None = None
    at_server: bool = False
    crosses: bool = False

    @property
    def links(self) -> int:
        return sum(count * ports for count, ports, _ in self.near_boxes)

    def loads(self) -> set[int]:
        """Links between two boxes: all values that occur."""
        return {links for _, _, pairs in self.near_boxes for number, links in pairs if number}


def bundles(pairs: Loads, size: int | Fraction) -> int:
    """Bundles of at most ``size`` links that one box ends, none shared by two pairs."""
    return sum(number * ceil_div(links, size) for number, links in pairs)


def most(boxes: Iterable[Box], cages: Any) -> int:
    return max((cages(ports, pairs) for count, ports, pairs in boxes if count), default=0)


def unit_with(joining: Joining, near: int, fibres: int, far: int, bought: str = "both") -> Unit:
    """Count the items of one purchase; ``bought: near`` leaves out the far transceivers."""
    items: Counter[Item] = Counter({joining.line: fibres})
    if joining.near is not None:
        items[joining.near] += near
    if joining.far is not None and bought == "both":
        items[joining.far] += far
    return Unit(joining.key, tuple(sorted(items.items(), key=str)), fibres)


def modes(kind: Kind, joiner: Joiner) -> list[Mode]:
    """Every way to realise a kind of links: mixed in whole units where that is allowed, else with one joining."""
    every = joiner.join(kind.near, kind.far, kind.run)
    ways = [way for way in every if way.shape != "shuffle"]
    near_n, far_n = kind.near.ports, kind.far.ports
    if near_n == far_n == 1:
        found = [mixed(kind, [(kind.links, 1)], ways, "")]
    elif far_n == 1:
        found = [mixed(kind, cage_classes(kind.near_boxes, near_n), ways, "near")]
    elif near_n == 1:
        found = [mixed(kind, cage_classes(kind.far_boxes, far_n), ways, "far")]
    elif near_n == far_n and all(links % near_n == 0 for links in kind.loads()):
        found = [mixed(kind, [(kind.links // near_n, near_n)], ways, "both")]
    else:
        found = [alone(kind, way) for way in ways]
    found += [crossed(kind, way, int(way.near_ports)) for way in every if way.shape == "shuffle" and kind.crosses]
    return [mode for mode in found if mode is not None and mode_fits(kind, mode)]


def crossed(kind: Kind, way: Joining, n: int) -> Mode | None:
    """All links of a kind through shuffles of n connectors an end, plugged in one by one.

    Far boxes of a set have links to the same near boxes. These are taken n at a time, and n of their ports: a shuffle
    each. So a far box has a connector for every block of near boxes and every link of it to one of them.
    """
    shuffles, far_cages, far = 0, 0, 0
    in_set = sum(number for number, _ in kind.near_boxes[0][2])
    for count, _, pairs in kind.far_boxes:
        connectors = 0
        for peers, links in pairs:
            blocks = {peer // n for peer in range(peers)}
            plugs = {(block, link) for block in blocks for link in range(links)}
            connectors += len(plugs)
            if kind.at_server:
                whole, rest = divmod(count * len(plugs), n)
                if rest:
                    return None
                shuffles += whole
            else:
                of_block = {(block, port // n) for block in blocks for port in range(in_set * links)}
                shuffles += count // in_set * len(of_block)
        cages = ceil_div(connectors, int(kind.far.ports // n))
        far_cages, far = max(far_cages, cages), far + count * cages
    near = sum(count * ceil_div(ports, kind.near.ports) for count, ports, _ in kind.near_boxes)
    near_cages = most(kind.near_boxes, lambda ports, pairs: ceil_div(ports, kind.near.ports))
    return Mode(near_cages, far_cages, ((1, (unit_with(way, near, shuffles, far),)),))


def mode_fits(kind: Kind, mode: Mode) -> bool:
    return kind.near_limit is None or mode.near_cages <= kind.near_limit


def cage_classes(boxes: Iterable[Box], size: int) -> list[tuple[int, int]]:
    """(cages, ports used of each) of cages with ``size`` ports that are filled one after the other in each box."""
    by_ports: Counter[int] = Counter()
    for count, ports, _ in boxes:
        by_ports[size] += count * (ports // size)
        if ports % size:
            by_ports[ports % size] += count
    return [(cages, ports) for ports, cages in sorted(by_ports.items()) if cages]


def mixed(
    kind: Kind, classes: list[tuple[int, int]], ways: list[Joining], multi: str, bought: str = "both"
) -> Mode | None:
    """Each unit (a cage of the multi-port side, or a bundle, or a link) takes any joining."""
    out = []
    for number, links in classes:
        units = [one for way in ways if (one := unit_of(kind, way, links, multi, bought))]
        if not units:
            return None
        out.append((number, tuple(units)))
    near_cages = most(kind.near_boxes, lambda ports, pairs: ceil_div(ports, kind.near.ports))
    far_cages = most(kind.far_boxes, lambda ports, pairs: ceil_div(ports, kind.far.ports))
    return Mode(near_cages, far_cages, tuple(out))


def unit_of(kind: Kind, way: Joining, links: int, multi: str, bought: str) -> Unit | None:
    """What one unit of ``links`` links takes, None if this joining cannot make it."""
    if way.shape == "near" and kind.at_server and any(load % kind.near.ports for load in kind.loads()):
        return None
    if way.shape != "optics":
        return unit_with(way, 0, 1, 0)
    fibres = ceil_div(links, max(way.near_ports, way.far_ports))
    near, far = {"": (1, 1), "near": (1, links), "far": (links, 1), "both": (1, 1)}[multi]
    return unit_with(way, near, fibres, far, bought)


def alone(kind: Kind, way: Joining) -> Mode:
    """All links of a kind between multi-port cages with one joining."""
    near_cages, far_cages = cages_by(way, kind.near.ports, True), cages_by(way, kind.far.ports, False)
    near = sum(count * near_cages(ports, pairs) for count, ports, pairs in kind.near_boxes)
    far = sum(count * far_cages(ports, pairs) for count, ports, pairs in kind.far_boxes)
    return Mode(
        most(kind.near_boxes, near_cages),
        most(kind.far_boxes, far_cages),
        ((1, (unit_with(way, near, lines(kind, way), far),)),),
    )


def cages_by(way: Joining, size: int, near: bool) -> Any:
    """A function of (ports, pairs) of a box: the cages that it occupies under a joining."""
    if way.shape == "bundle":
        return lambda ports, pairs: bundles(pairs, size)
    if way.per_fibre > 1:
        connectors = size // (way.near_ports if near else way.far_ports)
        return lambda ports, pairs: ceil_div(bundles(pairs, way.per_fibre), connectors)
    return lambda ports, pairs: ceil_div(ports, size)


def lines(kind: Kind, way: Joining) -> int:
    """Cables or fibres that all links of a kind take under one joining."""
    if way.shape == "bundle":
        return sum(count * bundles(pairs, kind.near.ports) for count, _, pairs in kind.near_boxes)
    if way.shape == "far":
        return sum(count * ceil_div(ports, kind.far.ports) for count, ports, _ in kind.far_boxes)
    if way.per_fibre > 1:
        return sum(count * bundles(pairs, way.per_fibre) for count, _, pairs in kind.near_boxes)
    if way.near_ports > 1:
        return sum(count * ceil_div(ports, way.near_ports) for count, ports, _ in kind.near_boxes)
    if way.far_ports > 1:
        return sum(count * ceil_div(ports, way.far_ports) for count, ports, _ in kind.far_boxes)
    return kind.links
