"""A second formulation of one- and two-tier fabrics that states the structure itself in CP-SAT.

Counts (g, G, k, r, u, m, S, cards, ports, planes) are integer variables, their products multiplication constraints,
what is chosen (card, switch, split, way to join) booleans, and cost is the objective. No candidate is listed anywhere,
so it shares no search with fabopt; only the rules of what joins two cages are those of the brute force.

Scope: one fabric, capex, tiers 1 and 2, aligned rails, even striping, no attachments, no breaks, stock, supply or
limits. Outside of it ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from ortools.sat.python import cp_model

from tests.oracles.brute_endpoints import among, card_gbps, cards_of, demand_gbps, num_servers, racks_per_group, ratios
from tests.oracles.brute_parts import (
    Cage,
    ItemTable,
    Joiner,
    Joining,
    Json,
    Kind,
    cage_of,
    ceil_div,
    exact,
    split_of,
    unit_of,
)

MOST_PORTS = 1024
MOST_CENTS = 10**13
Var = Any


class Use(NamedTuple):
    """A cage group of a product with one split: ``pick`` is whether it is the one used."""

    product: Json
    group: int
    split: str
    cage: Cage
    count: int
    pick: Var


class Way(NamedTuple):
    """One way to realise all links between two cages.

    Mixed (``joining`` is None): ``units[j]`` is the least cost of a cage with j links, or ``bundle_cents`` that of a
    bundle of a cage's links. Else all links take one joining. ``whole_cages``: only where a cage's links keep together.
    """

    near: Cage
    far: Cage
    pick: Var
    units: dict[int, int]
    bundle_cents: int = 0
    joining: Joining | None = None
    whole_cages: bool = False


class Boxes:
    """``number`` boxes with ``ports`` used ports each on one side; which split is used decides how cages fill.

    ``full`` cages of a box are filled, ``part[j]`` says that one more holds j ports.
    """

    def __init__(self, model: Direct, name: str, ports: Var, number: Var, most: int) -> None:
        self.ports, self.number = ports, number
        cp = model.cp
        self.full = cp.new_int_var(0, MOST_PORTS, f"{name}.full")
        self.part = {j: cp.new_bool_var(f"{name}.part{j}") for j in range(1, most)}
        cp.add(sum(self.part.values()) <= 1)
        self.all_full = model.product(f"{name}.all_full", number, self.full)
        self.all_part = {}
        for j, pick in self.part.items():
            self.all_part[j] = cp.new_int_var(0, MOST_PORTS**2, f"{name}.all_part{j}")
            cp.add(self.all_part[j] == number).only_enforce_if(pick)
            cp.add(self.all_part[j] == 0).only_enforce_if(~pick)

    def fill(self, model: Direct, size: int, when: Var) -> None:
        """Cages of ``size`` ports are used."""
        cp = model.cp
        held = size * self.full + sum(j * pick for j, pick in self.part.items())
        cp.add(self.ports == held).only_enforce_if(when)
        for j, pick in self.part.items():
            if j >= size:
                cp.add(pick == 0).only_enforce_if(when)

    def units(self, cents: dict[int, int], size: int) -> Var:
        """Cost of all cages where one with j used ports costs ``cents[j]``."""
        return self.all_full * cents[size] + sum(
            number * cents.get(j, 0) for j, number in self.all_part.items() if j < size
        )

    @property
    def cages(self) -> Var:
        """Occupied cages of one box."""
        return self.full + sum(self.part.values())


class Direct:
    """The model of one fabric under one protocol."""

    def __init__(self, catalog: Json, case: Json, protocol: str) -> None:
        self.catalog, self.case, self.protocol = catalog, case, protocol
        self.fabric = (case.get("fabrics") or [{"name": "compute"}])[0]
        self.cp = cp_model.CpModel()
        self.item_table = ItemTable(catalog)
        self.joiner = Joiner(catalog, self.item_table, protocol)
        self.server = next(one for one in catalog["servers"] if one["id"] == case["server"])
        self.servers = num_servers(case, self.server)
        runs = {"server-leaf": 3, "leaf-spine": 30} | ((case.get("site") or {}).get("distances_m") or {})
        self.runs = {name: exact(run) for name, run in runs.items() if run is not None}
        self.counts: dict[str, Var] = {}
        self.cost: list[Var] = []
        self._choices()
        if not (self.cards and self.leaf_down):
            self.cp.add_bool_or([])
            return
        self.most_boxes = self._most_boxes()
        self._sizes()
        self._switches()
        self._speeds()
        self._server_links()
        self._spine_links()
        self._redundant()
        self.cp.minimize(sum(self.cost))

    # -- small words ----------------------------------------------------------------------------------------------

    def count(self, name: str, low: int, high: int) -> Var:
        self.counts[name] = self.cp.new_int_var(low, high, name)
        return self.counts[name]

    def product(self, name: str, *factors: Var, most: int = MOST_PORTS**2) -> Var:
        """A new variable that is the product of others."""
        at = factors[0]
        for step, factor in enumerate(factors[1:]):
            made = self.cp.new_int_var(0, most, f"{name}.{step}")
            self.cp.add_multiplication_equality(made, [at, factor])
            at = made
        return at

    def either(self, name: str, picks: Iterable[Var]) -> Var:
        """Whether any of some choices, of which at most one is made, is made."""
        found = self.cp.new_bool_var(name)
        self.cp.add(sum(picks) == found)
        return found

    def both(self, name: str, a: Var, b: Var) -> Var:
        found = self.cp.new_bool_var(name)
        self.cp.add_bool_and([a, b]).only_enforce_if(found)
        self.cp.add_bool_or([~a, ~b, found])
        return found

    def _most_boxes(self) -> int:
        """More leaves than there are ports of servers are never used, nor more spines than uplinks of all leaves."""
        per_card = max(use.count * use.cage.ports for use in self.cards)
        if self.built_in and self.built_in.shared:
            per_card = ceil_div(per_card, self.built_in.number)
        cards = self.built_in.number if self.built_in else max(1, self.server.get("nic_slots", 0))
        self.most_card_ports, self.most_server_ports = per_card, per_card * cards
        self.most_switch_ports = max(most_ports(use.product) for use in self.leaf_down + self.leaf_up + self.spine_down)
        return max(1, self.servers * self.most_server_ports)

    # -- choices --------------------------------------------------------------------------------------------------

    def _choices(self) -> None:
        self.two_tiers = self.cp.new_bool_var("two_tiers")
        self.cards = self._card_uses()
        speeds = {use.cage.speed for use in self.cards}
        self.leaf_down = self._switch_uses("leaf", "leaf.down", speeds)
        self.leaf_up = self._switch_uses("leaf", "leaf.up", None)
        self.spine_down = self._switch_uses("spine", "spine", {use.cage.speed for use in self.leaf_up})
        self.cp.add_exactly_one([use.pick for use in self.cards])
        self.cp.add_exactly_one([use.pick for use in self.leaf_down])
        self.cp.add(sum(use.pick for use in self.leaf_up) == self.two_tiers)
        self.cp.add(sum(use.pick for use in self.spine_down) == self.two_tiers)
        for name in {use.product["id"] for use in self.leaf_up}:
            down = sum(use.pick for use in self.leaf_down if use.product["id"] == name)
            self.cp.add(sum(use.pick for use in self.leaf_up if use.product["id"] == name) <= down)
        for number, allowed in ((1, ~self.two_tiers), (2, self.two_tiers)):
            if not among(self.fabric.get("tiers", "any"), number):
                self.cp.add_bool_and([~allowed])

    def _card_uses(self) -> list[Use]:
        """Cards by cage group and split; how many cards and ports are used is decided by variables."""
        found: dict[Any, Any] = {}
        for cards in cards_of(self.catalog, self.server, self.fabric, self.item_table):
            if self.protocol in cards.protocols:
                found.setdefault((cards.id, cards.group, cards.split), cards)
        self.built_in = next((cards for cards in found.values() if cards.built_in), None)
        nics = {nic["id"]: nic for nic in self.catalog["nics"]}
        return [
            Use(nics[cards.id], cards.group, cards.split, cards.cage, cards.cages, self.cp.new_bool_var(f"card.{key}"))
            for key, cards in found.items()
        ]

    def _switch_uses(self, role: str, name: str, speeds: set[int] | None) -> list[Use]:
        allowed = (self.fabric.get("switches") or {}).get(role, "any")
        found = []
        for box in self.catalog["switches"]:
            sold = (box["id"], None) in self.item_table.steps and box["id"] in self.item_table.power_known
            current = allowed != "any" or not box.get("end_of_life")
            if not (sold and current and among(allowed, box["id"]) and box["protocol"] == self.protocol):
                continue
            for group, cages in enumerate(box["cages"]):
                for split in cages["splits"]:
                    if speeds is None or split_of(split)[1] in speeds:
                        pick = self.cp.new_bool_var(f"{name}.{box['id']}.{group}.{split}")
                        found.append(Use(box, group, split, cage_of(cages, split, box), cages["count"], pick))
        return found

    # -- structure ------------------------------------------------------------------------------------------------

    def _sizes(self) -> None:
        cp, most = self.cp, self.servers
        self._card_sizes()
        self.g, self.groups = self.count("g", 1, most), self.count("G", 1, most)
        before_last = self.product("before_last", self.groups - 1, self.g)
        cp.add(before_last + self.g >= most)
        cp.add(before_last <= most - 1)
        racks = racks_per_group(self.fabric)
        if racks:
            cp.add(self.g == min(racks * self.case["site"]["servers_per_rack"], most))
        self.k, self.per_group = self.count("k", 1, self.most_server_ports), self.count("r", 1, self.most_server_ports)
        cp.add_multiplication_equality(self.per_server, [self.k, self.per_group])
        one_group = cp.new_bool_var("one_group")
        cp.add(self.groups == 1).only_enforce_if(one_group)
        cp.add(self.groups >= 2).only_enforce_if(~one_group)
        cp.add(self.k == 1).only_enforce_if(~one_group)
        self.leaves = self.product("L", self.groups, self.per_group)
        cp.add(self.leaves >= 2).only_enforce_if(self.two_tiers)
        cp.add(self.leaves == 1).only_enforce_if(~self.two_tiers)
        self.last_leaves = self.product("last_leaves", self.planes, self.per_group)
        self.all_leaves = self.count("leaves", 1, self.most_boxes)
        cp.add_multiplication_equality(self.all_leaves, [self.planes, self.leaves])
        self.down = self.product("d", self.g, self.k)
        last = cp.new_int_var(1, most, "last")
        cp.add(last == most - before_last)
        self.down_last = self.product("d_last", last, self.k)
        self._reserve()
        self._uplinks()

    def _card_sizes(self) -> None:
        cp, slots = self.cp, max(1, self.server.get("nic_slots", 0))
        built_in = self.built_in
        self.most_cards = number = built_in.number if built_in else slots
        self.number = self.count("cards", built_in.number if built_in else 1, number)
        self.card_ports, self.planes, in_plane = (
            self.count(name, 1, self.most_card_ports) for name in ("p", "planes", "ports_in_plane")
        )
        cp.add_multiplication_equality(self.card_ports, [self.planes, in_plane])
        self.per_server = self.count("R", 1, self.most_server_ports)
        cp.add_multiplication_equality(self.per_server, [self.number, in_plane])
        self.in_plane = in_plane
        self.server_ports = self.product("server_ports", self.number, self.card_ports)
        for values, variable in (
            (self.fabric.get("planes", 1), self.planes),
            (self.fabric.get("nics_per_server", "any"), self.number),
        ):
            if values != "any":
                domain = list(values) if isinstance(values, list) else [values]
                cp.add_allowed_assignments([variable], [[value] for value in domain])
        for use in self.cards:
            self._card_limits(use)

    def _card_limits(self, use: Use) -> None:
        """Ports and bandwidth of the card that is used, and its price."""
        cp, ports = self.cp, use.count * use.cage.ports
        if self.built_in:
            all_ports = ports // self.built_in.number if self.built_in.shared else ports
            cp.add(self.card_ports == all_ports).only_enforce_if(use.pick)
        else:
            cp.add(self.card_ports <= ports).only_enforce_if(use.pick)
            self.cost.append(self._bought(use.product["id"], self.number, use.pick, self.servers))
        fewest = [self._fewest_ports(use, number) for number in range(1, self.most_cards + 1)]
        least = cp.new_int_var(0, MOST_PORTS + 1, f"least.{use.product['id']}.{use.split}")
        cp.add_element(self.number - 1, fewest, least)
        cp.add(self.card_ports >= least).only_enforce_if(use.pick)

    def _fewest_ports(self, use: Use, number: int) -> int:
        """Ports of each of so many cards that give every GPU its demand; more than there are where a slot does not."""
        gpus = self.server["gpus"]
        shared = gpus % number and number % gpus
        need = demand_gbps(self.case, self.fabric) * 1000 * (-(-gpus // number) if shared else Fraction(gpus, number))
        limit = self._card_limit_mbps(use)
        held_back = limit is not None and limit < need
        return MOST_PORTS + 1 if held_back else min(MOST_PORTS + 1, ceil(need / use.cage.speed))

    def _card_limit_mbps(self, use: Use) -> Any:
        """What one card delivers at most through its slot, in Mb/s: that of a card with ports without end."""
        if not (self.server.get("pcie") and use.product.get("pcie")):
            return None
        for cards in cards_of(self.catalog, self.server, self.fabric, self.item_table):
            if cards.id == use.product["id"]:
                endless = cards._replace(ports=10**9, number=1)
                return card_gbps(self.catalog, self.server, endless) * 1000
        return None

    def _bought(self, name: str, number: Var, pick: Var, times: int = 1) -> Var:
        """Cents of ``number * times`` pieces if ``pick``, else 0."""
        pieces = self.cp.new_int_var(0, MOST_PORTS**2, f"bought.{name}")
        self.cp.add(pieces == number).only_enforce_if(pick)
        self.cp.add(pieces == 0).only_enforce_if(~pick)
        return pieces * (times * self.item_table.least((name, None)))

    def _reserve(self) -> None:
        """D is the least integer with D (1 - reserve) >= d."""
        share = 1 - exact(self.fabric.get("reserve_ports", 0))
        self.with_reserve = self.count("D", 1, self.most_switch_ports)
        self.cp.add(share.numerator * self.with_reserve >= share.denominator * self.down)

    def _uplinks(self) -> None:
        cp = self.cp
        self.u, self.m, self.spines = (self.count(name, 0, self.most_switch_ports) for name in ("u", "m", "S"))
        cp.add_multiplication_equality(self.u, [self.m, self.spines])
        cp.add(self.u >= 1).only_enforce_if(self.two_tiers)
        for variable in (self.u, self.m, self.spines):
            cp.add(variable == 0).only_enforce_if(~self.two_tiers)
        self.spine_ports = self.product("spine_ports", self.leaves, self.m)
        self.all_spines = self.count("spines", 0, self.most_boxes)
        cp.add_multiplication_equality(self.all_spines, [self.planes, self.spines])

    def _switches(self) -> None:
        """Prices, ASIC ports and cages. The cages of a side are at least what ports and joinings ask for."""
        cp = self.cp
        self.down_cages, self.up_cages, self.spine_cages = (
            cp.new_int_var(0, self.most_switch_ports, name) for name in ("down_cages", "up_cages", "spine_cages")
        )
        self.leaf_box = {name: self._box(name, self.leaf_down, self.all_leaves) for name in ids(self.leaf_down)}
        for name in ids(self.spine_down):
            self._box(name, self.spine_down, self.all_spines)
        for use in self.leaf_down:
            cp.add(use.cage.ports * self.down_cages >= self.with_reserve).only_enforce_if(use.pick)
            cp.add(self.down_cages <= use.count).only_enforce_if(use.pick)
            cp.add(self.with_reserve + self.u <= most_ports(use.product)).only_enforce_if(use.pick)
        for use in self.leaf_up:
            cp.add(use.cage.ports * self.up_cages >= self.u).only_enforce_if(use.pick)
            cp.add(self.up_cages <= use.count).only_enforce_if(use.pick)
            for down in self.leaf_down:
                if (down.product["id"], down.group) == (use.product["id"], use.group):
                    cp.add(self.down_cages + self.up_cages <= use.count).only_enforce_if([use.pick, down.pick])
        for use in self.spine_down:
            cp.add(use.cage.ports * self.spine_cages >= self.spine_ports).only_enforce_if(use.pick)
            cp.add(self.spine_cages <= use.count).only_enforce_if(use.pick)
            cp.add(self.spine_ports <= most_ports(use.product)).only_enforce_if(use.pick)

    def _box(self, name: str, uses: list[Use], number: Var) -> Var:
        pick = self.either(f"box.{name}", [use.pick for use in uses if use.product["id"] == name])
        self.cost.append(self._bought(name, number, pick))
        return pick

    def _speeds(self) -> None:
        """Ports that face each other have one speed; uplinks carry their share of what comes from below."""
        leaf_ratio, _ = ratios(self.case, self.fabric)
        down = self._by_speed("down", self.leaf_down)
        up = self._by_speed("up", self.leaf_up)
        card, spine = self._by_speed("card", self.cards), self._by_speed("spine", self.spine_down)
        for first, second in ((card, down), (up, spine)):
            for speed in set(first) | set(second):
                self.cp.add(first.get(speed, 0) == second.get(speed, 0))
        for v, down_pick in down.items():
            for w, up_pick in up.items():
                carried = leaf_ratio.numerator * w * self.u
                needed = leaf_ratio.denominator * v * self.down
                self.cp.add(needed <= carried).only_enforce_if([down_pick, up_pick])

    def _by_speed(self, name: str, uses: list[Use]) -> dict[int, Var]:
        return {
            speed: self.either(f"{name}.{speed}", [use.pick for use in uses if use.cage.speed == speed])
            for speed in {use.cage.speed for use in uses}
        }

    # -- links ----------------------------------------------------------------------------------------------------

    def ways(self, name: str, near: list[Use], far: list[Use], run: Any, needed: Var) -> list[Way]:
        """Every way to join a near cage to a far one; exactly one is picked if ``needed``, that of the cages picked."""
        near_picks = self._by_cage(f"{name}.near", near)
        far_picks = self._by_cage(f"{name}.far", far)
        found: list[Way] = []
        for a, a_pick in near_picks.items():
            for b, b_pick in far_picks.items():
                for way in self._ways_between(name, a, b, run):
                    self.cp.add_implication(way.pick, a_pick)
                    self.cp.add_implication(way.pick, b_pick)
                    found.append(way)
        self.cp.add(sum(way.pick for way in found) == needed)
        return found

    def _by_cage(self, name: str, uses: list[Use]) -> dict[Cage, Var]:
        return {
            cage: self.either(f"{name}.{at}", [use.pick for use in uses if use.cage == cage])
            for at, cage in enumerate(dict.fromkeys(use.cage for use in uses))
        }

    def _ways_between(self, name: str, a: Cage, b: Cage, run: Any) -> list[Way]:
        joinings = self.joiner.join(a, b, run)
        if not joinings:
            return []
        sides = {(True, True): "", (False, True): "near", (True, False): "far", (False, False): "both"}
        multi = sides[a.ports == 1, b.ports == 1]
        pick = self.cp.new_bool_var
        if multi != "both":
            return self._mixed_ways(name, a, b, joinings, multi)
        found = [Way(a, b, pick(f"{name}.alone"), {}, joining=one) for one in joinings]
        if a.ports == b.ports:
            cents = self._cheapest(Kind(a, b, run, (), ()), joinings, a.ports, "both")
            if cents is not None:
                found.append(Way(a, b, pick(f"{name}.bundles"), {}, cents, whole_cages=True))
        return found

    def _mixed_ways(self, name: str, a: Cage, b: Cage, joinings: list[Joining], multi: str) -> list[Way]:
        """One way for all joinings; where a splitter sits at a server, another one that has it and a condition."""
        size, kind = max(a.ports, b.ports), Kind(a, b, exact(0), (), ())
        plain = [one for one in joinings if not (name == "server" and one.shape == "near")]
        found = []
        for some in [plain] if plain == joinings else [plain, joinings]:
            units = {j: self._cheapest(kind, some, j, multi) for j in range(1, size + 1)}
            known = {j: cents for j, cents in units.items() if cents is not None}
            if size in known:
                pick = self.cp.new_bool_var(f"{name}.mixed")
                found.append(Way(a, b, pick, known, whole_cages=len(some) > len(plain)))
        return found

    def _cheapest(self, kind: Kind, joinings: list[Joining], links: int, multi: str) -> int | None:
        """Cents of the cheapest unit of so many links."""
        units = [unit for one in joinings if (unit := unit_of(kind, one, links, multi, "both")) is not None]
        costs = [sum(number * self.item_table.least(item) for item, number in unit.items) for unit in units]
        return min(costs, default=None)

    def _server_links(self) -> None:
        cp = self.cp
        ways = self.ways("server", self.cards, self.leaf_down, self.runs["server-leaf"], 1)
        most = max(use.cage.ports for use in self.cards + self.leaf_down)
        near_number, near_ports = self.servers * self.number, self.card_ports
        if self.built_in and self.built_in.shared:
            near_number, near_ports = cp.new_constant(self.servers), self.server_ports
        boxes = cp.new_int_var(1, MOST_PORTS**2, "near_boxes")
        cp.add(boxes == near_number)
        near = [Boxes(self, "card", near_ports, boxes, most)]
        others = self.product("other_leaves", self.last_leaves, self.groups - 1)
        far = [
            Boxes(self, "leaf", self.down, others, most),
            Boxes(self, "last_leaf", self.down_last, self.last_leaves, most),
        ]
        for use in self.cards:
            near[0].fill(self, use.cage.ports, use.pick)
            cp.add(near[0].cages <= use.count).only_enforce_if(use.pick)
        for use in self.leaf_down:
            for one in far:
                one.fill(self, use.cage.ports, use.pick)
        links = self.servers * self.server_ports
        pair = self._links_of_a_card_on_a_leaf()

        def near_room(way: Way, cages: Var) -> None:
            for use in self.cards:
                if use.cage == way.near:
                    cp.add(cages <= use.count).only_enforce_if([way.pick, use.pick])

        self._cost_of("server", ways, near, far, links, pair, near_room, self.down_cages)

    def _links_of_a_card_on_a_leaf(self) -> Var:
        """x: a common divisor of k and a card's ports of a plane (a larger one never costs more)."""
        cp = self.cp
        pair = self.count("x", 1, self.most_server_ports)
        times = self.count("leaves_of_a_pair", 1, self.most_server_ports)
        cp.add_multiplication_equality(self.k, [pair, times])
        if not (self.built_in and self.built_in.shared):
            cp.add_multiplication_equality(self.in_plane, [pair, self.count("x_rest", 1, self.most_server_ports)])
        return pair

    def _spine_links(self) -> None:
        ways = self.ways("spine", self.leaf_up, self.spine_down, self.runs["leaf-spine"], self.two_tiers)
        most = max((use.cage.ports for uses in (self.leaf_up, self.spine_down) for use in uses), default=1)
        near = [Boxes(self, "leaf_up", self.u, self.all_leaves, most)]
        far = [Boxes(self, "spine", self.spine_ports, self.all_spines, most)]
        for use in self.leaf_up:
            near[0].fill(self, use.cage.ports, use.pick)
        for use in self.spine_down:
            far[0].fill(self, use.cage.ports, use.pick)
        links = self.spine_links = self.product("spine_links", self.all_leaves, self.u)

        def near_room(way: Way, cages: Var) -> None:
            self.cp.add(cages <= self.up_cages).only_enforce_if(way.pick)

        self._cost_of("spine", ways, near, far, links, self.m, near_room, self.spine_cages)

    def _redundant(self) -> None:
        """Sums over all switches, implied by the rest, that let the bound see how many switches the ports need."""
        cp, server_links = self.cp, self.servers * self.server_ports
        for use in self.leaf_down:
            most = min(use.count * use.cage.ports, most_ports(use.product))
            cp.add(most * self.all_leaves >= server_links).only_enforce_if(use.pick)
        for use in self.spine_down:
            most = min(use.count * use.cage.ports, most_ports(use.product))
            cp.add(most * self.all_spines >= self.spine_links).only_enforce_if(use.pick)
        ratio, _ = ratios(self.case, self.fabric)
        for down in self.leaf_down:
            for up in self.leaf_up:
                if down.product["id"] != up.product["id"]:
                    continue
                v, w, picks = down.cage.speed, up.cage.speed, [down.pick, up.pick]
                carried, needed = ratio.numerator * w * self.spine_links, ratio.denominator * v * server_links
                cp.add(needed <= carried).only_enforce_if(picks)
                most = most_ports(down.product)
                cp.add(server_links + self.spine_links <= most * self.all_leaves).only_enforce_if(picks)

    def _cost_of(
        self,
        name: str,
        ways: list[Way],
        near: list[Boxes],
        far: list[Boxes],
        links: Var,
        pair: Var,
        near_room: Callable[[Way, Var], None],
        far_cages: Var,
    ) -> None:
        """Cents of all links of a kind: at least what the picked way takes."""
        cp = self.cp
        cents = cp.new_int_var(0, MOST_CENTS, f"{name}.cents")
        self.cost.append(cents)
        cables = {}
        for way in ways:
            size = max(way.near.ports, way.far.ports)
            if way.whole_cages:
                self._divides(size, pair, way.pick)
            if way.joining is None and way.units:
                side = near if way.near.ports > 1 else far
                total = links * way.units[1] if size == 1 else sum(one.units(way.units, size) for one in side)
                cp.add(cents >= total).only_enforce_if(way.pick)
            elif way.joining is None:
                cp.add(size * cents >= links * way.bundle_cents).only_enforce_if(way.pick)
            elif bundle_size(way) > 1:
                if bundle_size(way) not in cables:
                    cables[bundle_size(way)] = Cables(self, name, bundle_size(way), pair, near, far)
                self._cost_of_bundles(way, cables[bundle_size(way)], cents, near_room, far_cages)
            else:
                cp.add(cents >= self._cost_alone(way, near, far, links)).only_enforce_if(way.pick)

    def _divides(self, size: int, number: Var, when: Var) -> None:
        times = self.cp.new_int_var(0, MOST_PORTS, "times")
        self.cp.add(number == size * times).only_enforce_if(when)

    def _cost_alone(self, way: Way, near: list[Boxes], far: list[Boxes], links: Var) -> Var:
        """Multi-port cages at both ends, links that need not keep together: a module in every occupied cage."""
        one = way.joining
        assert one is not None and one.near is not None and one.far is not None
        ends = []
        for side, cage, part, per_cable in (
            (near, way.near, one.near, one.near_ports),
            (far, way.far, one.far, one.far_ports),
        ):
            cents = self.item_table.least(part)
            cable = self.item_table.least(one.line) if per_cable > 1 else 0
            units = {j: cents + ceil_div(j, per_cable) * cable for j in range(1, cage.ports + 1)}
            ends.append(sum(boxes.units(units, cage.ports) for boxes in side))
        single = links * self.item_table.least(one.line) if one.near_ports == one.far_ports == 1 else 0
        return sum(ends) + single

    def _cost_of_bundles(
        self, way: Way, cables: Cables, cents: Var, near_room: Callable[[Way, Var], None], far_cages: Var
    ) -> None:
        """Cables or fibres that keep to one pair of boxes; the cages that they take must be there."""
        one, cp = way.joining, self.cp
        assert one is not None
        total = cables.all * self.item_table.least(one.line)
        for at, (cage, part, per_cable) in enumerate(
            ((way.near, one.near, one.near_ports), (way.far, one.far, one.far_ports))
        ):
            connectors = 1 if one.shape == "bundle" else cage.ports // per_cable
            cages, boxes = cables.cages(self, at, connectors)
            if part is not None:
                total = total + sum(boxes) * self.item_table.least(part)
            if at == 0:
                near_room(way, cages[0])
            else:
                cp.add(cages[0] <= far_cages).only_enforce_if(way.pick)
        cp.add(cents >= total).only_enforce_if(way.pick)


class Cables:
    """Wires of at most ``size`` links between two boxes, none shared by two pairs: per box, and in all."""

    def __init__(self, model: Direct, name: str, size: int, pair: Var, near: list[Boxes], far: list[Boxes]) -> None:
        cp = model.cp
        self.name, self.sides = f"{name}.wires{size}", (near, far)
        per_pair = cp.new_int_var(0, MOST_PORTS, f"{self.name}.pair")
        cp.add(size * per_pair >= pair)
        self.per_box: list[list[Var]] = []
        for at, side in enumerate(self.sides):
            self.per_box.append([])
            for index, boxes in enumerate(side):
                peers = cp.new_int_var(0, MOST_PORTS, f"{self.name}.{at}.{index}.peers")
                cp.add_multiplication_equality(boxes.ports, [peers, pair])
                self.per_box[at].append(model.product(f"{self.name}.{at}.{index}", peers, per_pair))
        self.all = model.product(f"{self.name}.all", near[0].number, self.per_box[0][0])
        self.made: dict[tuple[int, int], tuple[list[Var], list[Var]]] = {}

    def cages(self, model: Direct, at: int, connectors: int) -> tuple[list[Var], list[Var]]:
        """(cages of a box, cages of all such boxes), for each kind of boxes of a side."""
        key = (at, connectors)
        if key not in self.made:
            found: tuple[list[Var], list[Var]] = ([], [])
            for boxes, cables in zip(self.sides[at], self.per_box[at], strict=True):
                cages = model.cp.new_int_var(0, MOST_PORTS, f"{self.name}.{key}")
                model.cp.add(connectors * cages >= cables)
                found[0].append(cages)
                found[1].append(model.product(f"{self.name}.{key}.all", boxes.number, cages))
            self.made[key] = found
        return self.made[key]


def bundle_size(way: Way) -> int:
    """Links that one wire of the way takes between the same two boxes, 1 if they may part."""
    assert way.joining is not None
    return way.near.ports if way.joining.shape == "bundle" else way.joining.per_fibre


def ids(uses: list[Use]) -> list[str]:
    return list(dict.fromkeys(use.product["id"] for use in uses))


def most_ports(box: Json) -> int:
    if box.get("max_ports") is not None:
        return int(box["max_ports"])
    return sum(cages["count"] * max(split_of(split)[0] for split in cages["splits"]) for cages in box["cages"])


def is_shuffle(fibre: Json) -> bool:
    """Whether an assembly has several connectors at both ends, so that one line is no longer one pair of modules."""
    return all(end.get("count", 1) > 1 for end in fibre.get("ends", [{}]))


def check_scope(catalog: Json, case: Json) -> None:
    """Raise ``ValueError`` for what this formulation does not say."""
    fabrics = case.get("fabrics") or [{}]
    fabric, item_table = fabrics[0], ItemTable(catalog)
    outside = {
        "several fabrics": len(fabrics) > 1,
        "objective": case.get("objective", "capex_usd") != "capex_usd",
        "limits": any(value is not None for value in (case.get("limits") or {}).values()),
        "attachments": bool(fabric.get("attachments")),
        "rails": fabric.get("rails", "aligned") != "aligned",
        "striping": fabric.get("striping", "even") != "even",
        "tiers": among(fabric.get("tiers", "any"), 3),
        "include_servers": bool(case.get("include_servers")),
        "shuffles": any(is_shuffle(fibre) for fibre in catalog.get("fibres", ())),
        "breaks, stock or supply": any(item_table.special(item) for item in item_table.steps),
    }
    if any(outside.values()):
        raise ValueError(f"outside the direct formulation: {[name for name, is_so in outside.items() if is_so]}")


def solve_direct(
    catalog: Json, case: Json, time_limit_s: float, workers: int = 1
) -> tuple[str, int | None, dict[str, int]]:
    """(status, cents, counts) of the cheapest design; status is optimal, feasible, infeasible or unknown.

    The limit is for each protocol that is tried. Raises ``ValueError`` outside the scope of the module.
    """
    check_scope(catalog, case)
    fabric = (case.get("fabrics") or [{}])[0]
    statuses, best, counts = [], None, {}
    for protocol in ("ethernet", "infiniband"):
        if not among(fabric.get("protocol", "any"), protocol):
            continue
        status, cents, found = solve_protocol(catalog, case, protocol, time_limit_s, workers)
        statuses.append(status)
        if cents is not None and (best is None or cents < best):
            best, counts = cents, found
    if all(status in ("optimal", "infeasible") for status in statuses):
        return ("infeasible" if best is None else "optimal"), best, counts
    return ("unknown" if best is None else "feasible"), best, counts


def solve_protocol(
    catalog: Json, case: Json, protocol: str, time_limit_s: float, workers: int
) -> tuple[str, int | None, dict[str, int]]:
    model = Direct(catalog, case, protocol)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = time_limit_s
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = 1
    status = solver.solve(model.cp)
    words = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "feasible", cp_model.INFEASIBLE: "infeasible"}
    if status == cp_model.MODEL_INVALID:
        raise AssertionError(model.cp.validate())
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return words.get(status, "unknown"), None, {}
    counts = {name: solver.value(variable) for name, variable in model.counts.items()}
    return words[status], round(solver.objective_value), counts
