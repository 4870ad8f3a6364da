"""Small floors by brute force: every size, every set of racks for servers, every rack for every switch, every part.

Nothing is imported from the package. It knows enough for the catalogs of ``toy``: servers with built-in single-port
cards, switches with one group of cages, cables, and optics with a connector for every port. Rules are those of
docs/formulation/clos.md and floor.md, written down anew and without bounds.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations, product
from typing import Any

import numpy as np

from tests.oracles.brute_halls import joins_halls, most_servers, power_of, takes
from tests.oracles.brute_rack_losses import left_without_racks, wanted_gbps

Json = dict[str, Any]
UNIT_M, FOOT_M = 0.04445, 0.1
# Places of one size that are worth counting.
MOST_PLACES = 60_000


class TooManyError(Exception):
    """A size has more places than brute force should count."""


def port(split: str) -> tuple[int, int]:
    """(ports of a cage, Gb/s)."""
    ports, speed = split.split("x")
    return int(ports), int(speed)


# -- the floor --------------------------------------------------------------------------------------------------------


class Hall:
    """Racks by (row, position), and the trays between them as a graph of gaps."""

    def __init__(self, floor: Json, rules: Rules | None = None, pins: Json | None = None) -> None:
        self.floor, self.rules, self.pins = floor, rules or Rules(), pins or {}
        self.rows, self.length = floor["rows"], floor["racks_per_row"]
        self.units = floor.get("rack_units", 42)
        self.racks = [(row, at) for row in range(self.rows) for at in range(self.length)]
        self.names = [f"{chr(65 + row)}{at + 1:02d}" for row, at in self.racks]
        shut = {*floor.get("blocked", []), *floor.get("reserved", [])}
        self.usable = [index for index, name in enumerate(self.names) if name not in shut]

    @cached_property
    def tray_m(self) -> np.ndarray:
        """Shortest ways between all racks, by Dijkstra."""
        edges: dict[Any, list[tuple[Any, float]]] = defaultdict(list)

        def join(one: Any, other: Any, metres: float) -> None:
            edges[one].append((other, metres))
            edges[other].append((one, metres))

        pitch = self.floor.get("rack_pitch_m", 0.6)
        across = self.floor.get("rack_depth_m", 1.2) + self.floor.get("aisle_m", 1.2)
        for index, (row, at) in enumerate(self.racks):
            if self.names[index] not in self.floor.get("blocked", []):
                join(index, ("gap", row, at), pitch / 2)
                join(index, ("gap", row, at + 1), pitch / 2)
        for row in range(1, self.rows):
            for gap in self.floor.get("cross_trays", [0, self.length]):
                join(("gap", row - 1, gap), ("gap", row, gap), across)
        table = np.full((len(self.racks),) * 2, np.inf)
        for start in range(len(self.racks)):
            waiting: list[tuple[float, str, Any]] = [(0.0, "", start)]
            done = set()
            while waiting:
                far, _, point = heapq.heappop(waiting)
                if point in done:
                    continue
                done.add(point)
                if isinstance(point, int):
                    table[start, point] = far
                for other, metres in edges[point]:
                    heapq.heappush(waiting, (far + metres, str(other), other))
        return table

    def run_m(self, rack_a: np.ndarray, z_a: np.ndarray, rack_b: np.ndarray, z_b: np.ndarray) -> np.ndarray:
        """Cable between boxes at these heights in these racks."""
        floor = self.floor
        top, drop, slack = (floor.get(key, value) for key, value in
                            (("tray_height_m", 2.6), ("drop_m", 0.3), ("slack_m", 0.5)))  # fmt: skip
        over = (top - z_a) + (top - z_b) + 2 * drop + self.tray_m[rack_a, rack_b]
        laid = np.where(rack_a == rack_b, np.abs(z_a - z_b) + self.rules.side, over)
        return np.maximum(np.maximum(laid + slack, laid + self.rules.spare), laid * (1 + self.rules.share))

    def permitted(self, servers: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """Racks for leaves, and for spines, if these racks hold servers."""
        asked = self.floor.get("network_racks", "any")
        if asked == "any":
            return self.usable, self.usable
        free = [rack for rack in self.usable if rack not in servers]
        if asked == "row":
            own = [rack for rack in free if all(self.racks[rack][0] != self.racks[one][0] for one in servers)]
            return sorted({*own, *servers}), free
        if isinstance(asked, list):
            chosen = [rack for rack in free if self.names[rack] in asked]
        else:
            chosen = [rack for rack in free if self._in_turn(rack, servers, asked)]
        return sorted({*chosen, *servers}), chosen

    def pinned(self, tier: str, racks: list[int]) -> list[int]:
        """The racks that the case names for switches of a tier, or else these."""
        named = self.pins.get(tier)
        return racks if named is None else [rack for rack in self.usable if self.names[rack] in named]

    def server_sets(self, free: list[int], needed: int) -> Iterator[tuple[int, ...]]:
        """Sets of racks for servers, in the order in which they are filled."""
        named = self.floor.get("server_racks")
        if named is None:
            yield from combinations(free, needed)
        elif len(named) >= needed:
            yield tuple(self.names.index(name) for name in named[:needed])

    def _in_turn(self, rack: int, servers: tuple[int, ...], asked: str) -> bool:
        """Whether no server stands nearer the middle (or the end) of the row; of equally near ones the first counts."""
        row, at = self.racks[rack]

        def key(position: int) -> tuple[float, int]:
            away = abs(position + 0.5 - self.length / 2)
            return (round(away if asked == "middle" else -away, 6), position)

        return not any(self.racks[one][0] == row and key(self.racks[one][1]) < key(at) for one in servers)


class Campus(Hall):
    """Racks of several halls in turn, joined by routes from above a rack of one to above a rack of another."""

    def __init__(self, site: Json, rules: Rules) -> None:
        super().__init__(site["halls"][0], rules)
        self.halls, self.routes = [Hall(floor) for floor in site["halls"]], site["routes"]
        self.names = [f"{hall.floor['name']}-{name}" for hall in self.halls for name in hall.names]
        self.racks = [(number, at) for number, hall in enumerate(self.halls) for _, at in hall.racks]
        self.usable = [index for index, name in enumerate(self.names) if self._is_usable(*name.split("-"))]

    def _is_usable(self, hall: str, name: str) -> bool:
        floor = next(one.floor for one in self.halls if one.floor["name"] == hall)
        return name not in floor.get("blocked", [])

    @cached_property
    def tray_m(self) -> np.ndarray:
        """Shortest ways between all racks: those of each hall, then over every route until none gets shorter."""
        table = np.full((len(self.names),) * 2, np.inf)
        start = 0
        for hall in self.halls:
            end = start + len(hall.names)
            table[start:end, start:end] = hall.tray_m
            start = end
        for _ in self.routes:
            for route in self.routes:
                racks = route.get("exits", ["A01", "A01"])
                near, far = (
                    self.names.index(f"{hall}-{rack}") for hall, rack in zip(route["between"], racks, strict=True)
                )
                for one, other in ((near, far), (far, near)):
                    table = np.minimum(table, table[:, one, None] + route["m"] + table[other])
        return table


# -- parts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """One way to make links. ``ports``: links of a wire; ``side``: whose cage has a splitter's single head."""

    near: int
    far: int
    lengths: tuple[tuple[float, int], ...]
    reach_m: float
    ports: int = 1
    side: str = ""

    def cable(self, run_m: float) -> float:
        """Cents of the shortest length that covers a run; infinite if there is none within reach."""
        for metres, price in self.lengths:
            if metres >= run_m - 1e-9:
                return price if metres <= self.reach_m else math.inf
        return math.inf


def cents(part: Json) -> int:
    return round(part["price_usd"] * 100)


def lengths_of(part: Json) -> tuple[tuple[float, int], ...]:
    return tuple(sorted((one["m"], cents(one)) for one in part["lengths"]))


def ways(catalog: Json, near: tuple[str, str], far: tuple[str, str]) -> list[Way]:
    """Everything that joins two cages, (form factor, split) each."""
    (n, speed), (m, other) = port(near[1]), port(far[1])
    found = []
    if speed != other:
        return []
    for cable in catalog["cables"]:
        for one, two in (cable["ends"], cable["ends"][::-1]):
            if (one["form_factor"], one["split"]) == near and (two["form_factor"], two["split"]) == far:
                reach = cable.get("reach_m", math.inf)
                if one.get("count", 1) == two.get("count", 1) == 1:
                    found.append(Way(0, 0, lengths_of(cable), reach, n))
                elif m == 1 and two.get("count", 1) == n:
                    found.append(Way(0, 0, lengths_of(cable), reach, n, "near"))
                elif n == 1 and one.get("count", 1) == m:
                    found.append(Way(0, 0, lengths_of(cable), reach, m, "far"))
    for one in catalog["transceivers"]:
        for two in catalog["transceivers"]:
            if (one["form_factor"], one["split"]) == near and (two["form_factor"], two["split"]) == far:
                for fibre in catalog["fibres"]:
                    found.append(Way(cents(one), cents(two), lengths_of(fibre), min(one["reach_m"], two["reach_m"])))
    return list(dict.fromkeys(found))


# -- sizes ------------------------------------------------------------------------------------------------------------


@dataclass
class Links:
    """Links of a kind: numbers of the boxes at both ends, cages there; ``pair``: links of each pair of boxes."""

    a: list[int] = field(default_factory=list)
    a_cage: list[tuple[int, int]] = field(default_factory=list)
    b: list[int] = field(default_factory=list)
    b_cage: list[tuple[int, int]] = field(default_factory=list)

    def add(self, a: int, a_cage: int, b: int, b_cage: int) -> None:
        self.a.append(a)
        self.a_cage.append((a, a_cage))
        self.b.append(b)
        self.b_cage.append((b, b_cage))


@dataclass
class Size:
    """A candidate: switches of every tier, (product, split down, split up), numbers, and links by kind.

    ``of_leaf``: links of every leaf to each spine; ``of_last``: leaves of a last group that is unlike the others.
    """

    leaf: Json
    spine: Json | None
    leaves: int
    spines: int
    down: str
    up: str
    spine_down: str
    servers: Links
    uplinks: Links
    of_leaf: list[int]
    of_last: int = 0

    @property
    def boxes_cents(self) -> int:
        return self.leaves * cents(self.leaf) + (self.spines * cents(self.spine) if self.spine else 0)


def splits(switch: Json, speed: int | None = None) -> list[str]:
    return [one for one in switch["cages"][0]["splits"] if speed in (None, port(one)[1])]


def most_ports(switch: Json) -> int:
    cage = switch["cages"][0]
    return int(cage["count"] * max(port(one)[0] for one in cage["splits"]))


def sizes(case: Json, catalog: Json) -> Iterator[Size]:
    """Every candidate on one and two tiers."""
    fabric, n = case["fabrics"][0], case["servers"]
    server = catalog["servers"][0]
    rails = server["nics"][0]["count"]
    speed = port(catalog["nics"][0]["cages"][0]["splits"][0])[1]
    tiers = fabric.get("tiers", [1, 2])
    for leaf in catalog["switches"]:
        cages = leaf["cages"][0]["count"]
        for down in splits(leaf, speed):
            per = port(down)[0]
            if 1 in tiers and n * rails <= min(cages * per, most_ports(leaf)):
                yield Size(leaf, None, 1, 0, down, "", "", server_links(n, n, rails, (rails, rails), per), Links(), [0])
            if 2 in tiers:
                for up in splits(leaf):
                    yield from two_tiers(case, catalog, leaf, down, up, rails, speed)


def two_tiers(case: Json, catalog: Json, leaf: Json, down: str, up: str, r: int, speed: int) -> Iterator[Size]:
    fabric, n = case["fabrics"][0], case["servers"]
    cages, most = leaf["cages"][0]["count"], most_ports(leaf)
    (per_down, _), (per_up, fast) = port(down), port(up)

    def fit(d: int, u: int) -> bool:
        carried = u >= max(1, math.ceil(d * speed / (fast * fabric["max_oversubscription"]) - 1e-9))
        return carried and -(-d // per_down) + -(-u // per_up) <= cages and d + u <= most

    divisors = [one for one in range(1, r + 1) if r % one == 0]
    for k, g, of_last in product(divisors, range(1, n + 1), divisors):
        groups = -(-n // g)
        last = n - (groups - 1) * g
        odd = groups > 1 and fabric.get("groups") == "any" and (of_last == k or may_be_alone(case, r, k, of_last))
        if (of_last != k and not odd) or (fabric["rails"] == "aligned" and k > 1 and groups > 1):
            continue
        full, own = (groups - 1) * (r // k), r // of_last
        if full + own < 2:
            continue
        servers = server_links(n, g, r, (k, of_last), per_down)
        for u in (one for one in range(1, most + 1) if fit(g * k, one)):
            for s in (one for one in range(1, u + 1) if u % one == 0):
                ms = [u // s] if of_last == k else []
                ms += [m for m in range(1, most // s + 1) if odd and fit(last * of_last, m * s) and m not in ms]
                for m in ms:
                    of_leaf = [u // s] * full + [m] * own
                    for spine, spine_down in product(catalog["switches"], splits_of(catalog, fast)):
                        if spine_down not in splits(spine, fast):
                            continue
                        per = port(spine_down)[0]
                        if -(-sum(of_leaf) // per) > spine["cages"][0]["count"] or sum(of_leaf) > most_ports(spine):
                            continue
                        yield Size(leaf, spine, full + own, s, down, up, spine_down, servers,
                                   spine_links(of_leaf, s, per_up, per), of_leaf,
                                   own if (m, of_last) != (u // s, k) else 0)  # fmt: skip


def may_be_alone(case: Json, r: int, k: int, of_last: int) -> bool:
    """Whether the last group may have so many ports on a leaf: all, beside others, only if nothing is survived."""
    return of_last != r or k == r or case.get("resilience") == "none"


def splits_of(catalog: Json, speed: int) -> list[str]:
    return sorted({one for switch in catalog["switches"] for one in splits(switch, speed)})


def server_links(n: int, g: int, r: int, ports: tuple[int, int], per: int) -> Links:
    """Card i of a server on leaf i // k of its group; a leaf's ports server by server. ``ports``: k, of the last."""
    links = Links()
    for server in range(n):
        k = ports[server // g == (n - 1) // g]
        for card in range(r):
            leaf = server // g * (r // ports[0]) + card // k
            links.add(server, card, leaf, (server % g * k + card % k) // per)
    return links


def spine_links(of_leaf: list[int], s: int, per_up: int, per_down: int) -> Links:
    """So many links of each leaf to every spine; at a leaf spine by spine, at a spine leaf by leaf."""
    links = Links()
    for leaf, m in enumerate(of_leaf):
        for spine, link in product(range(s), range(m)):
            links.add(leaf, (spine * m + link) // per_up, spine, (sum(of_leaf[:leaf]) + link) // per_down)
    return links


# -- what links cost --------------------------------------------------------------------------------------------------


class Costs:
    """Costs of the links of a kind over given runs, shape (places, links)."""

    def __init__(
        self, catalog: Json, near: tuple[str, str], far: tuple[str, str], links: Links, pairs: Any, cages: Any
    ):
        self.links, self.pairs, self.cages = links, pairs, cages
        self.n, self.m = port(near[1])[0], port(far[1])[0]
        self.ways = ways(catalog, near, far)
        lengths = {one["m"] for kind in ("cables", "fibres") for part in catalog[kind] for one in part["lengths"]}
        self.grid = np.array(sorted(lengths))

    def of(self, run_m: np.ndarray) -> np.ndarray:
        """Least cents of all links, by place."""
        if not self.links.a:
            return np.zeros(len(run_m))
        at = np.searchsorted(self.grid, run_m - 1e-9)
        if min(self.n, self.m) == 1 or (self.n == self.m and not any(one % self.n for one in self.pairs)):
            return self._by_cage(at)
        return self._at_once(at)

    def _cables(self, way: Way) -> np.ndarray:
        """Cents of a way's wire by class, infinite past them."""
        return np.array([*(way.cable(metres) for metres in self.grid), math.inf])

    def _by_cage(self, at: np.ndarray) -> np.ndarray:
        """Each cage of the end with more ports on its own; every wire as long as its own links need."""
        total = np.zeros(len(at))
        both = self.n > 1 and self.m > 1
        cages: dict[tuple[int, int], list[int]] = defaultdict(list)
        for link, cage in enumerate(self.links.a_cage if self.n > 1 else self.links.b_cage):
            cages[cage].append(link)
        for held in cages.values():
            best = np.full(len(at), np.inf)
            for way in self.ways:
                cable = self._cables(way)
                modules = way.near + way.far
                if not both:
                    modules = way.near * (1 if self.n > 1 else len(held)) + way.far * (len(held) if self.n > 1 else 1)
                if way.ports == 1:
                    cost = modules + cable[at[:, held]].sum(axis=1)
                else:
                    cost = modules + cable[at[:, held].max(axis=1)]
                best = np.minimum(best, cost)
            total += best
        return total

    def _at_once(self, at: np.ndarray) -> np.ndarray:
        """One way for all links; straight cables of several ports join one pair of boxes each."""
        best = np.full(len(at), np.inf)
        for way in self.ways:
            cable = self._cables(way)
            if way.ports == 1:
                modules = way.near * len(set(self.links.a_cage)) + way.far * len(set(self.links.b_cage))
                cost = modules + cable[at].sum(axis=1)
            else:
                cost = self._pairs(at, cable, way.ports)
            best = np.minimum(best, cost)
        return best

    def _pairs(self, at: np.ndarray, cable: np.ndarray, ports: int) -> np.ndarray:
        cables: dict[tuple[int, int], list[int]] = defaultdict(list)
        for link, ends in enumerate(zip(self.links.a, self.links.b, strict=True)):
            cables[ends].append(link)
        each = {ends: -(-len(held) // ports) for ends, held in cables.items()}
        for end, limits in zip((0, 1), self.cages, strict=True):
            peers: dict[int, int] = defaultdict(int)
            for ends in cables:
                peers[ends[end]] += each[ends]
            if any(taken > limits[box] for box, taken in peers.items()):
                return np.full(len(at), np.inf)
        return np.asarray(sum(each[ends] * cable[at[:, held].max(axis=1)] for ends, held in cables.items()))


# -- rules of racks ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rules:
    """What a rack keeps at its top, units of cable managers a switch, and the most switches and ports of these."""

    kept: int = 0
    managers: Fraction = Fraction(0)
    switches: float = math.inf
    ends: float = math.inf
    largest: bool = False
    side: float = 0.0
    spare: float = 0.0
    share: float = 0.0
    spread: bool = False
    air: bool = False
    hall_ratio: float = math.inf


def rules_of(case: Json) -> Rules:
    rules = case.get("rules", {})
    spread = rules != "none" and rules.get("rack-spread", True)
    air = rules != "none" and rules.get("airflow", True)
    if rules == "none" or not rules.get("rack-rules", True):
        return Rules(spread=spread, air=air)
    said = {"switches": 20, "manager_units_per_switch": 0.5, "management_units": 1} | case["site"].get("rack_rules", {})
    kept = sum(said.get(f"{what}_units", 0) for what in ("patch_panel", "pdu", "management"))
    return Rules(
        kept, Fraction(str(said["manager_units_per_switch"])), said["switches"] or math.inf,
        said.get("cable_ends") or math.inf, said.get("power") != "typical", said.get("side_m", 0.48),
        said.get("spare_m", 0.3), said.get("spare_fraction", 0.05), spread, air,
    )  # fmt: skip


# -- places -----------------------------------------------------------------------------------------------------------


def cheapest(case: Json, catalog: Json, orders: bool = False, hall_ratio: float = math.inf) -> float | None:
    """Cents of the cheapest design in any place, None if there is none; ``orders``: switches in any order in a rack;
    ``hall_ratio``: the most of what leaves each hall.
    """
    rules, server, without_rack = rules_of(case), catalog["servers"][0], wanted_gbps(case)
    rules = replace(rules, hall_ratio=hall_ratio)
    site, pins = case["site"], case["fabrics"][0].get("racks", {})
    hall = Campus(site, rules) if "halls" in site else Hall(site["floor"], rules, pins)
    per_rack = (hall.units - rules.kept) // server["rack_units"]
    per_rack = case["site"].get("servers_per_rack") or min(per_rack, most_servers(hall.floor, server))
    if not per_rack:
        return None
    needed = -(-case["servers"] // per_rack)
    asked = hall.floor.get("network_racks", "any")
    shut = asked if isinstance(asked, list) else []
    free = [rack for rack in hall.usable if hall.names[rack] not in shut]
    best = math.inf
    for size in sorted(sizes(case, catalog), key=lambda one: one.boxes_cents):
        # parts cost something too, so a size whose switches alone cost as much as a whole design is no better
        if size.boxes_cents >= best:
            break
        for chosen in hall.server_sets(free, needed):
            of_case = (per_rack, case["servers"], orders, rules, without_rack)
            best = min(best, place(hall, catalog, server, size, chosen, *of_case))
    return None if best == math.inf else best


def heat(catalog: Json, switch: Json, used: list[str], largest: bool) -> float:
    """Watts of a switch with the hungriest module in every cage, or ``largest`` what its maker states if more."""
    form = switch["cages"][0]["form_factor"]
    most = [
        max((one["power_w"] for one in catalog["transceivers"] if (one["form_factor"], one["split"]) == (form, split)),
            default=0)
        for split in used
    ]  # fmt: skip
    stated = switch.get("power_max_w", 0) if largest else 0
    return float(max(stated, switch["power_w"] + switch["cages"][0]["count"] * (most[-1] if most else 0)))


def place(
    hall: Hall,
    catalog: Json,
    server: Json,
    size: Size,
    chosen: tuple[int, ...],
    per_rack: int,
    servers: int,
    orders: bool,
    rules: Rules,
    without_rack: float | None = None,
) -> float:
    """The least cost of a size over all racks for its switches, the servers being in some racks.

    ``without_rack``: Gb/s per GPU that are left without any one of them.
    """
    limit = power_of(hall.floor)
    room = np.full(len(hall.racks), hall.units - rules.kept)
    watts = np.full(len(hall.racks), float(limit))
    room[list(chosen)] -= per_rack * server["rack_units"]
    watts[list(chosen)] -= per_rack * server["power_w"]
    switches = [size.leaf] * size.leaves + [size.spine] * size.spines
    heats = [heat(catalog, size.leaf, [one for one in (size.down, size.up) if one], rules.largest)] * size.leaves
    if size.spine:
        heats += [heat(catalog, size.spine, [size.spine_down], rules.largest)] * size.spines
    used = [[one for one in (size.down, size.up) if one]] * size.leaves + [[size.spine_down]] * size.spines
    pairs = zip(switches, used, strict=True)
    ports = [switch["cages"][0]["count"] * max(port(one)[0] for one in splits) for switch, splits in pairs]
    low, high = hall.permitted(chosen)
    if size.spine:
        units = size.spines * size.spine["rack_units"] + math.ceil(size.spines * rules.managers)
        few = sum(room[high]) < units or len(high) * rules.switches < size.spines
        if few or sum(watts[high]) < size.spines * heats[-1]:
            high = sorted({*high, *chosen})
    low, high = hall.pinned("leaf", low), hall.pinned("spine", high)
    if len(low) ** size.leaves * len(high) ** size.spines > MOST_PLACES:
        raise TooManyError
    racks = np.array(list(product(*[low] * size.leaves, *[high] * size.spines)), dtype=int)
    if not len(racks):
        return math.inf
    places = np.arange(servers)
    server_rack = np.array(chosen)[places // per_rack]
    server_z = FOOT_M + (places % per_rack * server["rack_units"] + server["rack_units"] / 2) * UNIT_M
    nic = catalog["nics"][0]["cages"][0]
    near, form = (nic["form_factor"], nic["splits"][0]), size.leaf["cages"][0]["form_factor"]
    low_cost = Costs(catalog, near, (form, size.down), size.servers, [], None)
    above = None
    if size.spine:
        spine = (size.spine["cages"][0]["form_factor"], size.spine_down)
        per_down = port(size.down)[0]
        limits = ([size.leaf["cages"][0]["count"] - -(-one // per_down) for one in busiest(size)],
                  [size.spine["cages"][0]["count"]] * size.spines)  # fmt: skip
        above = Costs(catalog, (form, size.up), spine, size.uplinks, size.of_leaf, limits)
    optics = [one["power_w"] for one in catalog["transceivers"] if (one["form_factor"], one["split"]) == near]
    modules_w = server["nics"][0]["count"] * max(optics, default=0)
    best = math.inf
    for order in permutations(range(len(switches))) if orders else [tuple(range(len(switches)))]:
        heights = stack(hall, racks, switches, heats, ports, room, watts, order, rules)
        a, b = np.array(size.servers.a), np.array(size.servers.b)
        cost = low_cost.of(hall.run_m(server_rack[a], server_z[a], racks[:, b], heights[:, b]))
        if above is not None:
            a, b = np.array(size.uplinks.a), np.array(size.uplinks.b) + size.leaves
            cost = cost + above.of(hall.run_m(racks[:, a], heights[:, a], racks[:, b], heights[:, b]))
        cost = np.where(np.isfinite(heights).all(axis=1), cost, np.inf)
        good = takes(hall, racks, list(chosen), (server, per_rack, modules_w), switches, heats)
        cost = np.where(good, cost, np.inf)
        if rules.spread:
            cost = np.where(apart(size, racks, server_rack), cost, np.inf)
        if rules.hall_ratio < math.inf:
            kinds = [(size.servers, port(size.down)[1], 0)]
            kinds += [(size.uplinks, port(size.up)[1], size.leaves)] if size.spine else []
            cost = np.where(joins_halls(hall.racks, racks, server_rack, kinds, rules.hall_ratio), cost, np.inf)
        if without_rack is not None:
            cost = np.where(left(size, racks, server_rack) >= without_rack - 1e-9, cost, np.inf)
        best = min(best, float(cost.min()) + size.boxes_cents)
    return best


def busiest(size: Size) -> list[int]:
    """Ports of servers on the busiest leaf of each one's kind."""
    ports, full = [size.servers.b.count(leaf) for leaf in range(size.leaves)], size.leaves - size.of_last
    return [max(ports[:full])] * full + [max(ports[full:], default=0)] * size.of_last


def left(size: Size, racks: np.ndarray, server_rack: np.ndarray) -> np.ndarray:
    """Gb/s per GPU that are left without the worst rack, by place."""
    cards = np.array(size.servers.b).reshape(len(server_rack), -1)
    links = (size.of_leaf, port(size.up)[1] if size.spine else 0)
    return left_without_racks(cards, busiest(size), size.spines, links, port(size.down)[1], racks, server_rack)


def apart(size: Size, racks: np.ndarray, server_rack: np.ndarray) -> np.ndarray:
    """Whether no rack has all spines, or all leaves of the same servers unless it has all of these; by place."""
    served: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for leaf in range(size.leaves):
        servers = sorted({a for a, b in zip(size.servers.a, size.servers.b, strict=True) if b == leaf})
        served[tuple(servers)].append(leaf)
    sets = [(leaves, set(server_rack[list(servers)].tolist())) for servers, leaves in served.items()]
    sets.append((list(range(size.leaves, size.leaves + size.spines)), set()))
    good = np.ones(len(racks), dtype=bool)
    for switches, own in sets:
        if len(switches) > 1:
            (home,) = own if len(own) == 1 else (-1,)
            good &= (racks[:, switches] != racks[:, switches[:1]]).any(axis=1) | (racks[:, switches[0]] == home)
    return good


def stack(
    hall: Hall, racks: np.ndarray, switches: list[Any], heats: list[float], ports: list[int], room: np.ndarray,
    watts: np.ndarray, order: tuple[int, ...], rules: Rules,
) -> np.ndarray:  # fmt: skip
    """Height of every switch, racks being filled from the top down in an order; not a number where one is full."""
    heights = np.full(racks.shape, np.nan)
    rows = np.arange(len(racks))
    used, drawn = np.zeros((len(racks), len(hall.racks)), dtype=int), np.zeros((len(racks), len(hall.racks)))
    number, ends = np.zeros_like(used), np.zeros_like(used)
    managers = np.array([math.ceil(count * rules.managers) for count in range(len(switches) + 1)])
    for one in order:
        at = racks[:, one]
        used[rows, at] += switches[one]["rack_units"]
        drawn[rows, at] += heats[one]
        lowest = hall.units - rules.kept - used[rows, at] - managers[number[rows, at]] + 1
        number[rows, at] += 1
        ends[rows, at] += ports[one]
        z = FOOT_M + (lowest - 1 + switches[one]["rack_units"] / 2) * UNIT_M
        fits = (used[rows, at] + managers[number[rows, at]] <= room[at]) & (drawn[rows, at] <= watts[at])
        fits &= (number[rows, at] <= rules.switches) & (ends[rows, at] <= rules.ends)
        heights[:, one] = np.where(fits, z, np.nan)
    return heights


# -- toys -------------------------------------------------------------------------------------------------------------


def toy(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a seeded random small floor, with copper that ends early."""
    dice = random.Random(seed)
    rows = dice.choice([1, 1, 2])
    per_row = dice.choice([2, 3, 4, 5, 6] if rows == 1 else [1, 2, 3])
    floor: Json = {
        "rows": rows, "racks_per_row": per_row, "rack_units": dice.choice([12, 14, 18, 24]), "tray_height_m": 2.2,
        "aisle_m": dice.choice([1.2, 2.0]), "rack_pitch_m": dice.choice([0.6, 0.8, 1.5]),
        "slack_m": dice.choice([0.3, 0.5]), "drop_m": dice.choice([0.1, 0.3]),
    }  # fmt: skip
    names = [f"{chr(65 + row)}{at + 1:02d}" for row in range(rows) for at in range(per_row)]
    if dice.random() < 0.3:
        floor["network_racks"] = dice.choice(["middle", "end", "row", [dice.choice(names)]])
    elif dice.random() < 0.2 and len(names) > 3:
        floor["blocked"] = [dice.choice(names)]
    if dice.random() < 0.3:
        floor["rack_power_w"] = dice.choice([2300, 3000, 4000])
    case = {
        "name": "toy", "server": "box", "servers": dice.choice([2, 3, 4, 4, 5, 6, 7, 8]),
        "fabrics": [{"name": "compute", "rails": dice.choice(["aligned", "any"]), "tiers": dice.choice([[1, 2], [2]]),
                     "min_gbps_per_gpu": 100, "max_oversubscription": dice.choice([1, 1.5, 2])}],
        "site": {"floor": floor}, "resilience": "none", "rules": "none",
    }  # fmt: skip
    return case, toy_catalog(dice)


def toy_with_pins(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a toy that names racks for servers, or for switches of some tiers."""
    case, catalog = toy(seed)
    dice, floor = random.Random(f"pins {seed}"), case["site"]["floor"]
    names = [f"{chr(65 + row)}{at + 1:02d}" for row in range(floor["rows"]) for at in range(floor["racks_per_row"])]
    free = [name for name in names if name not in floor.get("blocked", [])]
    listed = floor.get("network_racks", "any")
    if dice.random() < 0.6 and not isinstance(listed, list):
        floor["server_racks"] = dice.sample(free, dice.randint(max(1, len(free) - 2), len(free)))
    spines = listed if isinstance(listed, list) else free
    racks = {"leaf": dice.sample(free, min(len(free), 2)), "spine": dice.sample(spines, min(len(spines), 2))}
    case["fabrics"][0]["racks"] = {tier: racks[tier] for tier in dice.choice([["leaf"], ["spine"], ["leaf", "spine"]])}
    return case, catalog


def toy_with_rules(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a toy that asks for rules of racks."""
    case, catalog = toy(seed)
    dice = random.Random(seed)
    rules: Json = {
        "switches": dice.choice([1, 2, 3, None]), "manager_units_per_switch": dice.choice([0, 0.5, 0.5, 1, 1.5]),
        "management_units": dice.choice([0, 1, 2]), "cable_ends": dice.choice([None, None, 8, 12]),
        "power": dice.choice(["largest", "largest", "typical"]), "side_m": dice.choice([0, 0.48, 0.48]),
        "spare_m": dice.choice([0, 0.3, 0.6]), "spare_fraction": dice.choice([0, 0.05, 0.2]),
    }  # fmt: skip
    for switch in catalog["switches"]:
        switch["power_max_w"] = dice.choice([200, 400, 800])
    asked = {"rack-rules": True, "rack-spread": dice.random() < 0.5}
    return {**case, "rules": asked, "site": {**case["site"], "rack_rules": rules}}, catalog


def toy_with_halls(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a toy that limits heat to air and weight, of racks and rows, with servers a rack said."""
    case, catalog = toy(seed)
    dice, server, site = random.Random(f"halls {seed}"), catalog["servers"][0], case["site"]
    server |= {"weight_kg": dice.choice([20, 40]), "liquid_share": dice.choice([0, 0, 0.5])}
    for switch in catalog["switches"]:
        switch |= {"weight_kg": dice.choice([5, 10, 25]), "liquid_share": dice.choice([0, 0, 0.8])}
    of_rack = (site["floor"].get("rack_units", 42) - 2) // server["rack_units"]
    site["servers_per_rack"] = of_rack = dice.choice([1, 2, max(1, of_rack - 1)])
    case["servers"] = min(case["servers"], 4)
    rows = site["floor"]["rows"]
    site["floor"]["racks_per_row"] = dice.choice([4, 5] if rows == 1 else [3])
    for key in ("rack_power_w", *(() if dice.random() < 0.5 else ("network_racks", "blocked"))):
        site["floor"].pop(key, None)
    air_w, kg = of_rack * server["power_w"] * (1 - server["liquid_share"]), of_rack * server["weight_kg"]
    keys = {
        "rack_air_w": air_w + dice.choice([50, 150, 400, 700]), "rack_kg": kg + dice.choice([4, 8, 15, 30]),
        "row_air_w": dice.choice([1, 2, 3]) * air_w + dice.choice([100, 300, 600, 1200]),
        "floor_kg_m2": (kg + dice.choice([4, 8, 15, 30])) / 0.72 + 1,
    }  # fmt: skip
    asked = dice.sample(sorted(keys), dice.choice([1, 1, 2]))
    site["floor"] |= {key: round(keys[key], 3) for key in asked}
    return case, catalog


def toy_with_airflows(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a toy with room in racks of servers, and switches that are sold one way, both, or nobody
    knows.
    """
    case, catalog = toy(seed)
    dice = random.Random(f"air {seed}")
    ways = [[], ["port-side-intake"], ["port-side-intake"], ["port-side-exhaust"]]
    for switch in catalog["switches"]:
        switch["airflows"] = dict.fromkeys(dice.choice([*ways, [*ways[1], *ways[3]]]))
    if (side := dice.choice(["rear", "rear", "front", None])) is not None:
        catalog["servers"][0]["ports_side"] = side
    for key in ("network_racks", "blocked", "rack_power_w"):
        case["site"]["floor"].pop(key, None)
    case["site"]["servers_per_rack"] = dice.choice([1, 2])
    case["site"]["floor"] |= {"rows": 1, "racks_per_row": dice.choice([3, 4])}
    case["servers"] = min(case["servers"], 3)
    off = ("rack-rules", "rack-spread", "lengths", "robust-designs", "interchangeable", "subnet-manager")
    return {**case, "rules": {**dict.fromkeys(off, False), "airflow": True}}, catalog


def toy_campus(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a toy with two or three halls of few racks, and fibres that reach from hall to hall."""
    (case, catalog), dice = toy(seed), random.Random(f"campus {seed}")
    shared = {key: value for key, value in case["site"]["floor"].items() if key not in ("network_racks", "blocked")}
    sizes = dice.choice([[1, 2], [2, 1], [2, 2], [2, 3], [1, 1, 2]])
    halls = [
        {**shared, "name": name, "rows": 1, "racks_per_row": racks}
        for name, racks in zip(("EAST", "WEST", "ANNEX"), sizes, strict=False)
    ]
    pairs = [["EAST", "WEST"], *([["ANNEX", "WEST"]] if len(halls) > 2 else [])]
    routes: list[Json] = [{"between": pair, "m": dice.choice([12, 60, 140])} for pair in pairs]
    routes[0]["exits"] = [f"A0{sizes[0]}", "A01"]
    catalog["fibres"][0]["lengths"] += [{"m": m, "price_usd": 5 + m} for m in (50, 100, 300)]
    for optic in catalog["transceivers"]:
        optic["reach_m"] = dice.choice([20, 100, 300])
    per_rack = dice.choice([1, 1, 2])
    case["servers"] = min(case["servers"], max(sizes) * per_rack + dice.choice([0, 1, 1]))
    case["site"] = {"halls": halls, "routes": routes, "servers_per_rack": per_rack}
    return case, catalog


def toy_without_rack(seed: int) -> tuple[Json, Json]:
    """(case, catalog) of a toy with two cards a server and few servers in a rack, that asks what is left without one.

    Catalogs are drawn anew until servers have two cards.
    """
    dice, (case, _) = random.Random(f"rack {seed}"), toy(seed)
    while True:
        catalog = toy_catalog(dice)
        if catalog["servers"][0]["gpus"] == 2:
            break
    racks, of_rack = dice.choice([3, 4, 4]), dice.choice([1, 1, 2])
    units = of_rack * catalog["servers"][0]["rack_units"] + dice.choice([2, 3, 4])
    floor = {**case["site"]["floor"], "rows": 1, "racks_per_row": racks, "rack_units": units}
    for key in ("network_racks", "blocked", "rack_power_w"):
        floor.pop(key, None)
    asked = {"survive": "1 rack", "min_gbps_per_gpu": dice.choice([25, 25, 50, 50, 75])}
    servers = dice.choice([2, 2, 3, 3, 4])
    return {**case, "servers": servers, "site": {"floor": floor}, "resilience": [asked]}, catalog


def toy_catalog(dice: random.Random) -> Json:
    splits_of = [["1x100"], ["1x100"], ["2x100"], ["1x200", "2x100"]]
    switches = [
        {"id": f"switch-{at}", "protocol": "ethernet", "rack_units": dice.choice([1, 1, 2]),
         "power_w": dice.choice([100, 250]), "price_usd": 60 * count + dice.randint(100, 200),
         "cages": [{"count": count, "form_factor": "QSFP", "splits": dice.choice(splits_of)}]}
        for at, count in enumerate(dice.sample([3, 4, 4, 5, 6, 8], 2))
    ]  # fmt: skip
    cards = dice.choice([1, 1, 2])
    box = {"id": "box", "gpus": cards, "nic_slots": 2, "power_w": 900, "rack_units": dice.choice([3, 4]),
           "nics": [{"id": "card", "count": cards}]}  # fmt: skip
    ends = {"card": ("SFP", "1x100"), "one": ("QSFP", "1x100"), "two": ("QSFP", "2x100"), "fast": ("QSFP", "1x200")}
    cables = [
        cable(dice, name, ends[near], ends[far])
        for name, near, far in (("card-one", "card", "one"), ("one-one", "one", "one"), ("fast-fast", "fast", "fast"),
                                ("two-two", "two", "two"), ("card-two", "card", "two"), ("one-two", "one", "two"))
        if dice.random() < 0.85
    ]  # fmt: skip
    optics = [
        {"id": f"optic-{name}", "form_factor": form, "split": split, "standard": f"{port(split)[1]}G-LR",
         "fibre": "smf", "connector": "LC", "connectors": port(split)[0], "reach_m": dice.choice([5, 20, 100]),
         "power_w": dice.choice([5, 20]), "price_usd": dice.randint(60, 160)}
        for name, (form, split) in ends.items()
    ]  # fmt: skip
    return {
        "switches": switches, "servers": [box], "cables": cables, "transceivers": optics,
        "nics": [{"id": "card", "protocols": ["ethernet"], "power_w": 5, "price_usd": 50,
                  "cages": [{"count": 1, "form_factor": "SFP", "splits": ["1x100"]}]}],
        "fibres": [{"id": "fibre", "fibre": "smf", "connectors": ["LC", "LC"],
                    "lengths": [{"m": m, "price_usd": 5 + m} for m in (2, 5, 20)]}],
    }  # fmt: skip


def cable(dice: random.Random, name: str, near: tuple[str, str], far: tuple[str, str]) -> Json:
    """A cable in a few lengths, now and then cheaper in a longer one; a splitter where one end has two ports."""
    ends: list[Json] = [{"form_factor": form, "split": split} for form, split in (near, far)]
    if port(near[1])[0] != port(far[1])[0]:
        ends[0]["count"] = port(far[1])[0]
    metres = sorted(dice.sample([1, 1.5, 2, 3, 4, 5], dice.randint(1, 3)))
    lengths = [{"m": m, "price_usd": round(20 + dice.randint(5, 25) * m)} for m in metres]
    return {"id": name, "medium": "DAC", "power_w": 0, "ends": ends, "lengths": lengths}
