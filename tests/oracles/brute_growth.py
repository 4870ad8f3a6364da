"""Exhaustive search over growing clusters: the truth that designs with several stages are tested against.

All structures of ``tests.oracles.brute_force`` for the last stage, for each the plans of growth that
docs/formulation/growth.md defines, all links laid out one by one (``tests.oracles.brute_cable_runs``), everything
priced at the stage that buys it. Nothing of fabopt is imported. Scope: as ``brute_force``, without breaks, stock,
supply and limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import Any, NamedTuple

from tests.oracles.brute_cable_runs import Bought, Laying, Link, Plan, Stage, laid, padding_of, purchase, units
from tests.oracles.brute_endpoints import LeafLoad, attachment_ways, leaf_end, num_servers, ratios
from tests.oracles.brute_force import Choice, Space, Structure, ceil_fraction, rack_units, structures
from tests.oracles.brute_free_ports import tier_of
from tests.oracles.brute_growth_free import hosted
from tests.oracles.brute_labour import ends_of, unit_usd
from tests.oracles.brute_parts import Cage, Item, Joining, Json, Mode, ceil_div, exact, whole

KINDS = {"switches": "switch", "nics": "nic", "transceivers": "transceiver", "cables": "cable", "fibres": "fibre"}
KINDS["servers"] = "server"
MOVE: Item = ("moved-cable", None)
# the cost of what cannot be made
NEVER = (10**30,)
DIGITS = Context(prec=60)
# (value, capex, power, cables, capex of each stage): cents, milliwatts, pieces
Cost = tuple[int, ...]


def grown(base: Fraction, months: int) -> Fraction:
    """A yearly factor over some months."""
    power = DIGITS.power(DIGITS.divide(base.numerator, base.denominator), DIGITS.divide(months, 12))
    return base ** (months // 12) if months % 12 == 0 else Fraction(power)


def half_up(value: Fraction) -> int:
    return int(DIGITS.divide(value.numerator, value.denominator).quantize(Decimal(1), rounding=ROUND_HALF_UP))


class Future(NamedTuple):
    """How often growth comes in some way: months of the stages, changes of prices, and the energy of a milliwatt."""

    chance: Fraction
    months: list[int | None]
    changes: Json
    energy: list[Fraction]


def futures(case: Json, finance: Json, energy: Callable[[Json, int], Fraction]) -> Iterator[Future]:
    """All ways in which growth may come: scenarios, or an end with each stage; one where it is certain."""
    stages = case["stages"]
    months = [stage.get("month", 0) for stage in stages]
    for scenario in case.get("scenarios") or ():
        come: list[int | None] = [None] * len(stages)
        for number in range(len(stages) - 1, 0, -1):
            next_one = come[number + 1] if number + 1 < len(stages) else None
            come[number] = scenario.get("months", {}).get(stages[number]["name"], next_one)
        come[0] = months[0]
        dearer = 1 + exact(scenario.get("energy_change", 0))
        worth = [Fraction(0) if month is None else dearer * energy(finance, month) for month in come]
        yield Future(exact(scenario["probability"]), come, scenario.get("price_change", {}), worth)
    left = Fraction(0 if case.get("scenarios") else 1)
    for number in range(len(stages)):
        goes_on = exact(stages[number + 1].get("probability", 1)) if number + 1 < len(stages) else Fraction(0)
        ended = [month if at <= number else None for at, month in enumerate(months)]
        worth = [Fraction(0) if month is None else energy(finance, month) for month in ended]
        yield Future(left * (1 - goes_on), ended, {}, worth)
        left *= goes_on


class Market:
    """What a unit of everything costs at each stage. ``scale``: of values, so that all are whole."""

    def __init__(self, space: GrowthSpace) -> None:
        case, finance = space.case, space.case.get("finance") or {}
        self.metric = case.get("objective", "capex_usd")
        self.months = [stage.get("month", 0) for stage in space.stages]
        self.discount = 1 + exact(finance.get("discount_rate", 0))
        self.decline = finance.get("price_decline") or {}
        self.space = space
        self.kind = {one["id"]: KINDS[kind] for kind in KINDS for one in space.catalog.get(kind, [])}
        self.energy = [self._energy(finance, month) for month in self.months]
        self.futures = list(futures(case, finance, self._energy))
        self.scale = 1
        if self.metric == "tco_usd":
            energy = [worth for future in self.futures for worth in future.energy]
            self.scale = lcm(*(one.denominator for one in (*energy, *(one.chance for one in self.futures)))) ** 2
        self.move = whole((case.get("growth") or {}).get("usd_per_moved_cable", 150), 100)
        self.labour = (case.get("site") or {}).get("labour")
        self.known: dict[tuple[Item, int], Cost] = {}

    def _energy(self, finance: Json, month: int) -> Fraction:
        """Cents, present value, of a milliwatt from a month on: months are paid as they end."""
        hours = exact(finance.get("energy_usd_per_kwh", "0.10")) * exact(finance.get("pue", "1.4")) * 8760 / 12
        each = hours * 100 / 1_000_000
        end = self.months[0] + 12 * exact(finance.get("years", 5))
        total, at = Fraction(0), month
        while at < end:
            share = min(Fraction(1), end - at)
            at += 1
            total += each * share / grown(self.discount, at)
        return total if self.discount == 1 else Fraction(half_up(total * 10**9), 10**9)

    def unit(self, item: Item, stage: int) -> Cost:
        """What one costs that a stage buys."""
        if (item, stage) not in self.known:
            self.known[item, stage] = self._unit(item, stage)
        return self.known[item, stage]

    def work(self, item: Item) -> int:
        """Cents of the labour on one, which no price change touches; none on servers, and no visits."""
        if self.labour is None or (item != MOVE and self.kind[item[0]] == "server"):
            return 0
        of = "moved" if item == MOVE else self.kind[item[0]]
        parts = (one for kind in KINDS for one in self.space.catalog.get(kind, []) if one["id"] == item[0])
        return whole(unit_usd(self.labour, of, ends_of(next(parts, {}))), 100)

    def _unit(self, item: Item, stage: int) -> Cost:
        if item == MOVE:
            kind, cents, power = "other", self.move, 0
        else:
            kind = self.kind[item[0]]
            cents, power = self.space.item_table.least(item), self.space.item_table.power[item]
            cents = half_up(cents * grown(1 - exact(self.decline.get(kind, 0)), self.months[stage]))
        cents += self.work(item)
        value = {"capex_usd": cents, "power_w": power}.get(self.metric)
        if value is None:
            value = int(self.scale * sum(self._worth(item, stage, power, future) for future in self.futures))
        spent = [cents * (stage == at) for at in range(len(self.months))]
        return value, cents, power, int(kind in ("cable", "fibre")), *spent

    def _worth(self, item: Item, stage: int, power: int, future: Future) -> Fraction:
        """What one that a stage buys costs in a future, with its energy, as often as the future comes."""
        month = future.months[stage]
        if month is None:
            return Fraction(0)
        kind = self.kind.get(item[0], "other")
        price = self.move
        if item != MOVE:
            price = half_up(self.space.item_table.least(item) * grown(1 - exact(self.decline.get(kind, 0)), month))
        price = half_up(price * (1 + exact(future.changes.get(kind, 0)))) if stage else price
        paid = half_up(price / grown(self.discount, month)) + half_up(self.work(item) / grown(self.discount, month))
        return future.chance * (paid + power * future.energy[stage])

    def none(self) -> Cost:
        return (0,) * (4 + len(self.months))

    def price(self, bought: Bought) -> Cost:
        total = list(self.none())
        for (item, stage), number in bought.items():
            for at, cost in enumerate(self.unit(item, stage)):
                total[at] += number * cost
        return tuple(total)


def plus(*costs: Cost) -> Cost:
    return NEVER if NEVER in costs else tuple(sum(column) for column in zip(*costs, strict=True))


def lent_from_cages(structure: Structure, plan: Plan) -> bool:
    """Whether cables move between spines whose cages have several ports."""
    lends = any(stage.each > structure.m for stage in plan)
    return lends and structure.spine is not None and structure.spine.down.cage.ports > 1


class GrowthSpace(Space):
    """The space of the last stage. Attachments go to the leaf that has the fewest of them at their ``stage`` (the first
    one, if they say none), one port after the other.
    """

    def __init__(self, catalog: Json, case: Json, kept_rules: tuple[str, ...] = ()) -> None:
        super().__init__(catalog, case, kept_rules)
        if any(self.item_table.special(item) for item in self.item_table.steps) or any(
            (case.get("limits") or {}).values()
        ):
            raise ValueError("the oracle of growth takes plain prices and no limits")
        self.stages: list[Json] = case["stages"]
        self.sizes = [num_servers({"stages": [stage]}, self.server) for stage in self.stages]
        self.ratios = [ratios(case, self.fabric | self._own(stage)) for stage in self.stages]
        self.leaf_ratio, self.spine_ratio = self.ratios[-1]
        self.hosted = [one for one in self.attachments if tier_of(one) != "leaf"]
        self.attachments, self.has_free = [one for one in self.attachments if tier_of(one) == "leaf"], False
        self.lends = (case.get("growth") or {}).get("recabling", "forbid") == "allow"
        self.market = Market(self)

    def _own(self, stage: Json) -> Json:
        """A stage's own ratios; what is left out of them is the fabric's."""
        own = ((stage.get("fabrics") or {}).get(self.fabric["name"]) or {}).get("max_oversubscription")
        if own is None:
            return {}
        if not isinstance(own, dict):
            return {"max_oversubscription": own}
        fallback = self.fabric.get("max_oversubscription")
        if not isinstance(fallback, dict):
            fallback = {"leaf": fallback, "spine": fallback}
        return {"max_oversubscription": {**fallback, **own}}

    def useful(self, found: list[Mode]) -> list[Mode]:
        """All of them: what is dearer today may be cheaper when it is bought."""
        return found

    def loads(self, g: int, per_group: int, k: int, planes: int) -> list[LeafLoad]:
        same = Counter(
            (servers, tuple(attached)) for servers, attached in self.leaves_with(self.last, g, per_group, planes)
        )
        return [LeafLoad(count, *one) for one, count in sorted(same.items())]

    @property
    def last(self) -> int:
        """The number of the last stage."""
        return len(self.sizes) - 1

    def leaves_with(self, number: int, g: int, per_group: int, planes: int) -> list[tuple[int, list[int]]]:
        """(servers, ports of each attachment) of every leaf of a stage: plane by plane, group by group."""
        if len(self.sizes) == 1:
            raise ValueError("one stage is for the other oracle")
        servers = self.sizes[number]
        groups = ceil_div(servers, g)
        all_leaves = [(plane, group) for plane in range(planes) for group in range(groups) for _ in range(per_group)]
        attached = [[0] * len(self.attachments) for _ in all_leaves]
        for stage, size in enumerate(self.sizes[: number + 1]):
            there = [at for at, (_, group) in enumerate(all_leaves) if group * g < size]
            owners = [index for index, one in enumerate(self.attachments) if one.get("stage", 0) == stage]
            for owner in owners:
                for _ in range(self.attachments[owner]["ports"]):
                    attached[min(there, key=lambda at: (sum(attached[at]), at))][owner] += 1
        return [
            (min(g, servers - group * g), on_leaf) for (_, group), on_leaf in zip(all_leaves, attached, strict=True)
        ]


# -- plans ----------------------------------------------------------------------------------------------------------


class Planner:
    """What may stand at each stage of a structure."""

    def __init__(self, space: GrowthSpace, structure: Structure) -> None:
        self.space, self.s = space, structure
        self.rails = structure.leaves // structure.groups
        self.even = structure.tiers > 1 and structure.u % structure.spines_per_pod == 0
        self.cores = structure.x // structure.m2 if structure.m2 else 0
        self.last = Stage(space.sizes[-1], structure.spines_per_pod, self.cores, structure.m)

    def groups(self, number: int) -> int:
        return ceil_div(self.space.sizes[number], self.s.g)

    def uplinks(self, number: int) -> int:
        """Uplinks that the busiest leaf of a stage needs."""
        leaves = self.space.leaves_with(number, self.s.g, self.rails, self.s.planes)
        assert self.s.leaf.up is not None
        speeds = Fraction(self.s.leaf.down.cage.speed, self.s.leaf.up.cage.speed)
        most = self.space.ratios[number][0]
        own = [exact(one["max_oversubscription"]) for one in self.space.attachments if "max_oversubscription" in one]
        needed = [Fraction(1)]
        for servers, attached in leaves:
            needed.append((servers * self.s.k + sum(attached)) * speeds / most)
            if own:
                needed.append(servers * self.s.k * speeds / most + sum(attached) * speeds / min(own))
        return ceil_fraction(max(needed))

    def pod_leaves(self, number: int) -> int:
        groups = self.groups(number)
        if self.s.tiers < 3:
            return groups * self.rails
        return min(groups, self.s.groups_per_pod) * (1 if self.s.pod_of == "rail" else self.rails)

    def pods(self, number: int) -> int:
        blocks = ceil_div(self.groups(number), self.s.groups_per_pod) if self.s.tiers > 2 else 1
        return blocks * (self.rails if self.s.pod_of == "rail" else 1)

    def is_redundant(self, number: int, spines: int, cores: int) -> bool:
        """Whether a stage with so many spines of a pod, and cores of a group, keeps what it has to of the rule."""
        if "two-spines" in self.space.kept_rules and self.s.planes * spines < 2:
            return False
        joined = "two-cores" in self.space.kept_rules and self.s.tiers > 2 and self.pods(number) > 1
        return not joined or self.s.planes * (spines // self.s.q) * cores > 1

    def cores_for(self, number: int, busiest: int, spines: int) -> int:
        """Cores of a group for so many spines of a pod with so many down links each."""
        if self.s.tiers < 3 or self.pods(number) == 1:
            return 0
        assert self.s.spine is not None and self.s.spine.up is not None
        speeds = Fraction(self.s.spine.down.cage.speed, self.s.spine.up.cage.speed)
        cores = ceil_div(max(1, ceil_fraction(busiest * speeds / self.space.ratios[number][1])), self.s.m2)
        return cores if self.is_redundant(number, spines, cores) else max(2, cores)

    def still(self) -> Plan | None:
        """Nothing moves: as few spines and cores as each stage needs, every one with all its links."""
        spines = cores = 0
        stages = []
        for number, servers in enumerate(self.space.sizes):
            if self.s.tiers > 1 and self.groups(number) * self.rails > 1:
                uplinks = self.uplinks(number)
                if uplinks > self.s.u:
                    return None
                together = max(1, self.s.q)
                needed = ceil_div(uplinks, self.s.m * together) * together
                spines = max(spines, needed if self.even else self.s.spines_per_pod)
                while spines < self.s.spines_per_pod and not self.is_redundant(number, spines, self.cores):
                    spines += together
            busiest = ceil_div(self.pod_leaves(number) * self.s.u, self.s.spines_per_pod) if self.s.tiers > 1 else 0
            cores = max(cores, self.cores_for(number, busiest, spines))
            stages.append(Stage(servers, spines, cores, self.s.m))
        return None if cores > self.cores else (*stages[:-1], self.last)

    def plans(self) -> list[Plan]:
        still = self.still()
        if still is None:
            return []
        if not self.space.lends or not self.even:
            return [still]
        plans: list[Plan] = [()]
        for number, stage in enumerate(still):
            plans = [(*plan, way) for plan in plans for way in self.ways(number, stage, plan[-1] if plan else None)]
        others = [plan for plan in dict.fromkeys(plans) if plan != still and self.has_modules(plan)]
        return [still, *others]

    def ways(self, number: int, still: Stage, before: Stage | None) -> list[Stage]:
        """The spines of the plan in which nothing moves, or fewer with more links to each: the fewest for each number
        of links. What is plugged in stays plugged in.
        """
        before, together = before or Stage(0, 0, 0, 0), max(1, self.s.q)
        plugged_in = before.spines * before.each
        most = max(still.spines, ceil_div(plugged_in, self.s.m * together) * together)
        cores = max(before.cores, still.cores)
        found = [still._replace(spines=most, cores=cores)]
        if number == len(self.space.sizes) - 1 or self.groups(number) * self.rails == 1:
            return found
        needed, seen = max(self.uplinks(number), plugged_in), set[int]()
        for spines in range(max(together, before.spines), most):
            each = ceil_div(needed, spines)
            if spines % together or each in seen or each <= self.s.m or spines * each > self.s.u:
                continue
            more = max(cores, self.cores_for(number, self.pod_leaves(number) * each, spines))
            is_redundant = self.is_redundant(number, spines, self.cores)
            if self.holds(self.pod_leaves(number) * each) and is_redundant and more <= self.cores:
                seen.add(each)
                found.append(Stage(still.servers, spines, more, each))
        return found

    @property
    def up_cages(self) -> int:
        """Cages of a spine with uplinks."""
        assert self.s.spine is not None
        return ceil_div(self.s.x, self.s.spine.up.cage.ports) if self.s.spine.up is not None else 0

    def holds(self, down: int) -> bool:
        """Whether a spine has so many ports below beside its uplinks."""
        assert self.s.spine is not None
        return self.s.spine.holds(down, self.s.x, ceil_div(down, self.s.spine.down.cage.ports), self.up_cages)

    def has_modules(self, plan: Plan) -> bool:
        """Whether no stage fills more spine cages than have links by then where links are at last; modules move along.

        Links are put into ports one by one, pod by pod.
        """
        assert self.s.spine is not None
        down = self.s.spine.down
        lanes, cages = down.cage.ports, self.s.spine.product["cages"][down.group]["count"]
        if self.s.spine.up is not None and self.s.spine.up.group == down.group:
            cages -= self.up_cages
        laying = Laying(self.s, plan)
        return lanes == 1 or all(
            len({(pod, spine, port // lanes) for pod, spine, port in now}) <= len(at_last)
            for now, at_last in laying.filled(cages * lanes, lanes)
        )


# -- what it costs --------------------------------------------------------------------------------------------------


@dataclass
class Best:
    """The best design. ``objective``: cents (a Fraction for tco) or milliwatts; ``outlines``: of all designs that cost,
    draw, stand and count the same: cents of each stage, and leaves, spines, cores and moved cables that each has.
    ``designs``: how many were looked at.
    """

    rank: tuple[Any, ...]
    objective: int | Fraction
    capex_cents: int
    power_mw: int
    outlines: set[tuple[Any, ...]] = field(default_factory=set)
    designs: int = 0
    structure: Structure | None = None
    plan: Plan | None = None


class Pricer:
    """The cost of a structure under a plan, kind of links by kind; what is the same again is remembered."""

    def __init__(self, space: GrowthSpace) -> None:
        self.space, self.market = space, space.market
        self.known: dict[Any, Cost] = {}

    def boxes(self, laying: Laying, moves: list[int]) -> Cost:
        s, bought = laying.s, Counter[tuple[Item, int]]()
        for (box, _), stages in zip(s.boxes(), laying.switches(), strict=True):
            bought.update(((box.product["id"], None), stage) for stage in stages)
        if not s.cards.built_in:
            for server in range(self.space.servers):
                bought[(s.cards.id, None), laying.of_server(server)] += s.cards.number
        for stage, number in enumerate(moves):
            bought[MOVE, stage] += number
        return self.market.price(bought)

    def links(self, laying: Laying, choice: Choice) -> Iterator[Cost]:
        """Costs of each kind of links in turn."""
        s = laying.s
        yield self._remembered((s.cards, s.planes, s.g, s.k), choice[0], lambda: self._servers(laying, choice[0]))
        if len(choice) > 1:
            lower = (s.planes, s.g, s.groups, s.leaves, s.u, s.spines_per_pod, s.pod_of, s.groups_per_pod, laying.plan)
            above = self._between(laying.leaf_pairs, s.leaf.up, s.spine, "leaf-spine", lent_from_cages(s, laying.plan))
            yield self._remembered(lower, choice[1], lambda: above(choice[1]))
        if len(choice) > 2:
            assert s.spine is not None
            cores = self._between(laying.core_pairs, s.spine.up, s.core, "spine-core", False)
            yield self._remembered((*lower, s.x, s.q, s.m2), choice[2], lambda: cores(choice[2]))

    def _remembered(self, key: Any, mode: Mode, work: Any) -> Cost:
        if (key, id(mode)) not in self.known:
            self.known[key, id(mode)] = work()
        return self.known[key, id(mode)]

    def _between(self, pairs: Any, up: Any, upper: Any, kind: str, lent: bool) -> Any:
        near, far = up.cage, upper.down.cage
        return lambda mode: self._kind(pairs, near, far, self.space.runs[kind], mode.classes, lent)

    def _kind(self, pairs: Any, near: Cage, far: Cage, run: Fraction, classes: Any, lent: bool = False) -> Cost:
        keys = {unit.key for _, found in classes for unit in found}
        ways = [way for way in self.space.joiner.join(near, far, run) if way.key in keys]
        if lent:
            # modules of several ports are alike, and every link has a cable of its own there
            ways = [way for way in ways if way.shape == "near" or (way.shape == "optics" and way.far_ports == 1)]
            bought = [purchase(laid(pairs(), 1), way, near.ports, far.ports) for way in ways]
            return min((self.market.price(one) for one in bought), default=NEVER)
        whole_cages = near.ports == 1 or far.ports == 1
        if not whole_cages:
            counts = {len(stages) for *_, stages in pairs()}
            whole_cages = near.ports == far.ports and all(count % near.ports == 0 for count in counts)
        if whole_cages:
            return self._mixed(laid(pairs(), 1), ways, near.ports, far.ports)
        assert len(ways) == 1
        links = laid(pairs(), padding_of(ways[0], near.ports))
        return self.market.price(purchase(links, ways[0], near.ports, far.ports))

    def _mixed(self, links: list[Link], ways: list[Joining], near: int, far: int) -> Cost:
        """Every cage takes its cheapest joining."""
        costs = []
        for unit in units(links, near, far):
            costs.append(min(self.market.price(purchase(unit, way, near, far)) for way in ways))
        return plus(*costs)

    # -- servers and attachments ----------------------------------------------------------------------------------

    def _servers(self, laying: Laying, mode: Mode) -> Cost:
        near, far, run = laying.s.cards.cage, laying.s.leaf.down.cage, self.space.runs["server-leaf"]
        attached = [one for one in self.space.attachments if one.get("buys", "both") != "none"]
        if not self.space.attachments:
            return self._kind(laying.server_pairs, near, far, run, mode.classes)
        if far.ports == 1:
            own = self._server_classes(laying)
            servers = self._kind(laying.server_pairs, near, far, run, mode.classes[:own])
            return plus(servers, self._of_attachments(attached, mode.classes[own:]))
        way = self._way(self.space.joiner.join(near, far, run), mode.classes[0][1][0].key)
        logical_fabrics = self._logical_fabrics(laying, way, attached, [one[1][0].key for one in mode.classes[1:]])
        links = laid(laying.server_pairs(), padding_of(way, near.ports))
        return plus(
            self.market.price(
                without_logical_fabrics(
                    purchase(links + logical_fabrics, way, near.ports, far.ports), logical_fabrics, way
                )
            ),
            self.at_first(mode.classes[1:]),
        )

    def _server_classes(self, laying: Laying) -> int:
        cards = laying.s.cards
        if cards.cage.ports == 1:
            return 1
        ports = cards.number * cards.ports if cards.shared else cards.ports
        return len([one for one in divmod(ports, cards.cage.ports) if one])

    def _of_attachments(self, attached: list[Json], classes: Any) -> Cost:
        """Units of attachments, each bought at the stage at which it comes; a later one has single-port cages."""
        if not any("stage" in one for one in attached):
            return self.at_first(classes)
        total = [self.market.none()]
        for one, (number, found) in zip(attached, classes, strict=True):
            at = one.get("stage", 0)
            cost = min(self.market.price(Counter({(item, at): n for item, n in unit.items})) for unit in found)
            total.append(tuple(number * each for each in cost))
        return plus(*total)

    def at_first(self, classes: Any) -> Cost:
        """Units that the first stage buys."""
        total = [self.market.none()]
        for number, found in classes:
            cost = min(self.market.price(Counter({(item, 0): n for item, n in unit.items})) for unit in found)
            total.append(tuple(number * one for one in cost))
        return plus(*total)

    @staticmethod
    def _way(ways: list[Joining], key: Any) -> Joining:
        return next(way for way in ways if way.key == key)

    def _logical_fabrics(self, laying: Laying, way: Joining, attached: list[Json], keys: list[Any]) -> list[Link]:
        """Links of attachments that sit in the last cage of the servers' links on a leaf."""
        s, far = laying.s, laying.s.leaf.down.cage
        head = leaf_end(way, far.ports, False)
        if head.bundle:
            return []
        hosts = dict(zip((one["name"] for one in attached), keys, strict=True))
        rails, logical_fabrics = s.leaves // s.groups, []
        leaves = self.space.leaves_with(self.space.last, s.g, rails, s.planes)
        names = [
            ("leaf", plane, group, rail)
            for plane in range(s.planes)
            for group in range(s.groups)
            for rail in range(rails)
        ]
        order = sorted(
            range(len(self.space.attachments)), key=lambda at: self.space.attachments[at].get("buys", "both") == "none"
        )
        for name, (servers, on_leaf) in zip(names, leaves, strict=True):
            slot = servers * s.k
            for at in order:
                one = self.space.attachments[at]
                if one["name"] in hosts and self._head(one, far, hosts[one["name"]]) != head.head:
                    continue
                for _ in range(on_leaf[at]):
                    if slot % far.ports:
                        logical_fabrics.append(Link(("guest", *name, slot), 0, name, slot, 0, one["name"] in hosts))
                        slot += 1
        return logical_fabrics

    def _head(self, attachment: Json, far: Cage, key: Any) -> Any:
        ways = attachment_ways(far, attachment, self.space.runs["attachment-leaf"], self.space.joiner)
        end = leaf_end(self._way([way for way in ways if way is not None], key), far.ports, True)
        return None if end.bundle else end.head


def without_logical_fabrics(bought: Bought, logical_fabrics: list[Link], way: Joining) -> Bought:
    """What servers take: what guests have at their own end, and the wires that are theirs alone, are their own."""
    left = Counter(bought)
    for _ in logical_fabrics:
        if way.near is not None:
            left[way.near, 0] -= 1
    if way.shape == "single" or (way.shape == "optics" and way.far_ports == 1):
        for logical in logical_fabrics:
            left[way.line, 0] -= logical.bought
    return left


def solve(catalog: Json, case: Json, kept_rules: tuple[str, ...] = ()) -> Best | None:
    """The best growing design of one fabric, None if there is none; ``kept_rules``: as of ``brute_force.solve``."""
    space = GrowthSpace(catalog, case, kept_rules)
    pricer, market = Pricer(space), space.market
    servers = servers_cost(space)
    best: Best | None = None
    designs = 0
    for _, same in groupby(structures(space), key=lambda one: id(one[0])):
        found = list(same)
        structure = found[0][0]
        designs += len(found)
        for plan in Planner(space, structure).plans():
            laying = Laying(structure, plan)
            moves = laying.moves()
            on_free = hosted(space, structure, plan)
            if on_free is None:
                continue
            boxes = plus(pricer.boxes(laying, moves), servers, pricer.at_first(on_free))
            for _, choice in found:
                total = boxes
                for cost in pricer.links(laying, choice):
                    total = plus(total, cost)
                    if total == NEVER or (best is not None and total[0] > best.rank[0]):
                        break
                else:
                    best = better(best, space, structure, plan, total, moves)
    if best is not None:
        best.designs = designs
        best.objective = Fraction(best.rank[0], market.scale) if market.scale > 1 else best.rank[0]
    return best


def servers_cost(space: GrowthSpace) -> Cost:
    """What the servers cost, if they count; the objective power_w is the network's alone."""
    if not space.case.get("include_servers"):
        return space.market.none()
    bought: Bought = Counter()
    before = 0
    for stage, servers in enumerate(space.sizes):
        bought[(space.server["id"], None), stage] += servers - before
        before = servers
    value, capex, _, *rest = space.market.price(bought)
    return 0 if space.market.metric == "power_w" else value, capex, 0, *rest


def better(
    best: Best | None, space: GrowthSpace, structure: Structure, plan: Plan, total: Cost, moves: list[int]
) -> Best:
    value, capex, power, cables, *spent = total
    rank = (value, capex, power, rack_units(structure), structure.switches, cables)
    if best is None or rank < best.rank:
        best = Best(rank, value, capex, power, structure=structure, plan=plan)
    if rank == best.rank:
        counts = tuple(
            tuple(sum(1 for when in stages if when <= number) for number in range(len(plan)))
            for stages in Laying(structure, plan).switches()
        )
        best.outlines.add((tuple(spent), counts, tuple(moves)))
    return best
