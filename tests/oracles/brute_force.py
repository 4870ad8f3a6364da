"""Exhaustive search over the design space of one Clos fabric: the truth that the optimizer is tested against.

Plain nested loops over every structure, then the exact cheapest purchase for each; nothing of fabopt is imported.
Scope: one fabric (``ValueError`` for more), Clos only, built-in cards of one entry and one cage group. Small cases:
about a dozen servers, switches of up to sixteen ports, a handful of parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import compress
from typing import Any, NamedTuple

from tests.oracles import brute_nics as nics
from tests.oracles.brute_endpoints import (
    Cards,
    LeafLoad,
    among,
    attachment_speeds_fit,
    endpoint_modes,
    injection_gbps,
    leaf_loads,
    num_servers,
    racks_per_group,
    ratios,
    server_kind,
    usable_cards,
)
from tests.oracles.brute_free_ports import (
    Host,
    counts,
    hosts_of,
    on_each_tier,
    placed,
    spine_links,
    spine_mode,
    tier_of,
)
from tests.oracles.brute_generations import RULE as ONE_GENERATION, is_of_one_generation
from tests.oracles.brute_lengths import GroupLengths, follow, peer_run
from tests.oracles.brute_managers import Exchange, asks, exchanges
from tests.oracles.brute_parts import (
    Box,
    Cage,
    Item,
    ItemTable,
    Joiner,
    Json,
    Kind,
    Mode,
    cage_of,
    ceil_div,
    exact,
    modes,
    permitted,
    split_of,
)
from tests.oracles.brute_purchase import Number, Purchase, Terms, buy, least_of, terms_of, useful_modes
from tests.oracles.brute_redundancy import keeps
from tests.oracles.brute_survival import rails_left, wanted_of


class Side(NamedTuple):
    """One side of a switch: a cage group and its split."""

    group: int
    split: str
    cage: Cage


class Box2(NamedTuple):
    """A switch as it is used: its product, what faces down and what faces up (None at the top)."""

    product: Json
    down: Side
    up: Side | None
    max_ports: int

    def holds(self, down_ports: int, up_ports: int, down_cages: int, up_cages: int) -> bool:
        """Whether the cages and the ASIC carry so many ports and cages of each side."""
        if down_ports + up_ports > self.max_ports:
            return False
        groups = self.product["cages"]
        if self.up is not None and self.up.group == self.down.group:
            return down_cages + up_cages <= groups[self.down.group]["count"]
        if down_cages > groups[self.down.group]["count"]:
            return False
        return self.up is None or up_cages <= groups[self.up.group]["count"]

    def room(self, down_ports: int) -> int:
        """The most uplinks beside so many down ports."""
        assert self.up is not None
        cages = self.product["cages"][self.up.group]["count"]
        if self.up.group == self.down.group:
            cages -= ceil_div(down_ports, self.down.cage.ports)
        return min(cages * self.up.cage.ports, self.max_ports - down_ports)


@dataclass(frozen=True)
class Structure:
    """One point of the design space, apart from parts. Counts are per plane, as in the design file."""

    tiers: int
    cards: Cards
    planes: int
    g: int
    k: int
    groups: int
    leaves: int
    aligned: bool
    leaf: Box2
    down: int
    reserved: int
    u: int = 0
    spine: Box2 | None = None
    spines_per_pod: int = 0
    m: int = 0
    pods: int = 1
    pod_of: str = "groups"
    groups_per_pod: int = 0
    x: int = 0
    core: Box2 | None = None
    q: int = 0
    m2: int = 0
    cores: int = 0
    topology: str = "clos"
    own_rails: bool = False
    twins: Exchange = ()
    # of the endpoints of the busiest leaf, those that count in its ratio
    counted: int = 0
    # 1: the last group is unlike the others; 2: on leaves of another type
    own_last: int = 0

    @property
    def card_planes(self) -> int:
        """Planes that a card has ports in; where rails are networks of their own, no other card is in them."""
        return self.planes // self.cards.number if self.own_rails else self.planes

    def boxes(self) -> list[tuple[Box2, int]]:
        """Every switch with its number over all planes."""
        found = [(self.leaf, self.planes * self.leaves)]
        if self.spine is not None:
            found.append((self.spine, self.planes * self.pods * self.spines_per_pod))
        if self.core is not None:
            found.append((self.core, self.planes * self.cores))
        return found

    def counts(self) -> list[int]:
        """Switches of every tier over all planes."""
        return [count for _, count in self.boxes()]

    @property
    def switches(self) -> int:
        return sum(count for _, count in self.boxes())

    def ids(self) -> tuple[str, ...]:
        tiers = (self.leaf, self.spine, self.core)
        return (self.cards.id, *("" if box is None else box.product["id"] for box in tiers))

    def sides(self) -> list[Side | None]:
        """Leaf down, leaf up, spine down, spine up, core."""
        spine_sides = [None, None] if self.spine is None else [self.spine.down, self.spine.up]
        return [self.leaf.down, self.leaf.up, *spine_sides, None if self.core is None else self.core.down]

    def rank(self) -> tuple[Any, ...]:
        """The part of the tie-break order that is about structure."""
        splits = tuple("" if side is None else side.split for side in self.sides())
        groups = tuple(0 if side is None else side.group for side in self.sides())
        return (
            self.topology,
            self.pods,
            self.m,
            not self.aligned,
            -self.g,
            self.k,
            self.u,
            self.x,
            self.q,
            self.m2,
            self.ids(),
            (self.cards.split, *splits),
            (self.cards.group, *groups),
            self.cards.number,
            self.cards.ports,
            self.planes,
            self.own_rails,
            self.pod_of,
            [-number for _, number in self.twins],
        )


@dataclass(frozen=True)
class Best:
    """The best design. ``bom`` is what is bought; ``ties``: other pod sizes of the same rank up to the parts.

    ``objective``: cents, milliwatts, or for tco a Fraction of cents (exact, not rounded).
    """

    objective: Number
    capex_cents: int
    power_mw: int
    rack_units: Fraction
    switches: int
    cables: int
    structure: Structure
    joinings: tuple[Any, ...]
    bom: dict[Item, int]
    used: dict[Item, int]
    designs: int
    ties: int


class Space:
    """One fabric of a case over a catalog, ready to be walked."""

    def __init__(self, catalog: Json, case: Json, kept_rules: tuple[str, ...] = ()) -> None:
        fabrics = case.get("fabrics") or [{"name": "compute"}]
        if len(fabrics) > 1:
            raise ValueError("brute force takes one fabric")
        rules = case.get("procurement", {})
        catalog = permitted(catalog, rules, case["server"])
        self.catalog, self.case, self.fabric = catalog, case, fabrics[0]
        self.kept_rules = kept_rules
        self.item_table = ItemTable(catalog, rules)
        self.fewest_managers = asks(case) and (2 if case.get("resilience") == "default" else 1)
        self.server = next(one for one in catalog["servers"] if one["id"] == case["server"])
        self.servers = num_servers(case, self.server)
        self.leaf_ratio, self.spine_ratio = ratios(case, self.fabric)
        self.attachments = self.fabric.get("attachments", [])
        self.reserve = exact(self.fabric.get("reserve_ports", 0))
        runs = {"server-leaf": 3, "leaf-spine": 30, "spine-core": 50}
        runs.update((case.get("site") or {}).get("distances_m") or {})
        self.runs = {name: exact(run) for name, run in runs.items() if run is not None}
        self.runs.setdefault("attachment-leaf", self.runs["server-leaf"])
        self.runs.setdefault("leaf-leaf", peer_run(self.runs["server-leaf"]))
        self.runs.setdefault("attachment-spine", max(self.runs["attachment-leaf"], self.runs["leaf-spine"]))
        self.dealt = [one if tier_of(one) == "leaf" else one | {"ports": 0} for one in self.attachments]
        self.has_free = any(tier_of(one) != "leaf" for one in self.attachments)
        self.placing: Any = None
        # modes are told apart by their identity, so none is let go
        self.kept: list[Mode] = []
        self.keeps_dear = False
        self.lengths = GroupLengths(case, self.server, self.servers) if follow(case) else None
        self.run_of: dict[tuple[str, int], Fraction] = {}
        self.even = self.fabric.get("striping", "even") == "even"
        self.by_rail = self.fabric.get("striping") == "rail"
        self.joiner: Any = None
        self.protocol = ""
        self.modes_of: dict[Any, list[Mode]] = {}
        self.boxes_of: dict[Any, list[Box2]] = {}

    def run(self, kind: str, servers: int | None = None) -> Fraction:
        """Metres that links of a kind run: as said, or by the servers of a group or a pod, else of all."""
        if self.lengths is None:
            return self.runs[kind]
        key = (kind, self.servers if servers is None else servers)
        if key not in self.run_of:
            self.run_of[key] = self.lengths.run(*key)
        return self.run_of[key]

    def useful(self, found: list[Mode]) -> list[Mode]:
        """The modes of a kind that can be the best of it."""
        return found if self.keeps_dear else useful_modes(self.item_table, found)

    def loads(self, g: int, per_group: int, k: int, planes: int) -> list[LeafLoad]:
        """The leaves by what is on them."""
        return leaf_loads(self.servers, g, per_group, k, planes, self.dealt)

    def hosts(self, structure: Structure) -> tuple[list[Host], list[Host]] | None:
        """The leaves and spines with all attachments on free ports; None if there are too few free ports."""
        return hosts_of(self, structure)

    def leaf_by_leaf(self, structure: Structure) -> list[tuple[int, list[int]]]:
        """Servers and dealt attachment ports of every leaf, plane by plane."""
        per_group = structure.leaves // structure.groups
        servers = [min(structure.g, self.servers - group * structure.g) for group in range(structure.groups)]
        leaves = [number for number in servers for _ in range(per_group)] * structure.planes
        found = [(number, [0] * len(self.attachments)) for number in leaves]
        order = sorted(range(len(leaves)), key=lambda leaf: leaves[leaf])
        ports = [at for at, one in enumerate(self.dealt) for _ in range(one["ports"])]
        for place, at in enumerate(ports):
            found[order[place % len(order)]][1][at] += 1
        return found

    def start(self, protocol: str) -> None:
        self.protocol = protocol
        self.joiner = Joiner(self.catalog, self.item_table, protocol)

    def modes(self, kind: Kind) -> list[Mode]:
        # a fraction takes long to hash, and is asked for as often as there are structures
        near, far, run, *others = kind
        key = (self.protocol, near, far, run.as_integer_ratio(), *others)
        if key not in self.modes_of:
            self.modes_of[key] = self.useful(modes(kind, self.joiner))
        return self.modes_of[key]

    def tiers(self) -> list[int]:
        return [number for number in (1, 2, 3) if among(self.fabric.get("tiers", "any"), number)]

    def group_sizes(self) -> list[int]:
        racks = racks_per_group(self.fabric)
        if racks:
            return [min(racks * self.case["site"]["servers_per_rack"], self.servers)]
        return list(range(1, self.servers + 1))

    def switches(self, role: str) -> list[Json]:
        allowed = (self.fabric.get("switches") or {}).get(role, "any")
        found = []
        for switch in self.catalog.get("switches", []):
            sold = (switch["id"], None) in self.item_table.steps and switch["id"] in self.item_table.power_known
            current = allowed != "any" or not switch.get("end_of_life")
            if sold and current and among(allowed, switch["id"]) and switch["protocol"] == self.protocol:
                found.append(switch)
        return found

    def boxes(self, role: str, speed: int, top: bool) -> list[Box2]:
        """Switches of a role by down and up sides; ``speed`` is that of the down ports."""
        key = (self.protocol, role, speed, top)
        if key not in self.boxes_of:
            self.boxes_of[key] = self._boxes(role, speed, top)
        return self.boxes_of[key]

    def _boxes(self, role: str, speed: int, top: bool) -> list[Box2]:
        found = []
        for switch in self.switches(role):
            sides = [
                Side(group, split, cage_of(cages, split, switch))
                for group, cages in enumerate(switch["cages"])
                for split in cages["splits"]
            ]
            for down in sides:
                if down.cage.speed == speed:
                    found += [Box2(switch, down, up, max_ports(switch)) for up in ([None] if top else sides)]
        return found


def max_ports(switch: Json) -> int:
    if switch.get("max_ports") is not None:
        return int(switch["max_ports"])
    return sum(cages["count"] * max(split_of(split)[0] for split in cages["splits"]) for cages in switch["cages"])


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


PAIRED = ("storage", "in-band")
Choice = tuple[Mode, ...]
Found = Iterator[tuple[Structure, Choice]]


class Lower(NamedTuple):
    """What all structures above one set of leaves share."""

    space: Space
    base: Structure
    loads: list[LeafLoad]
    server_modes: list[Mode]

    @property
    def leaves_per_group(self) -> int:
        return self.base.leaves // self.base.groups


def structures(space: Space) -> Found:
    """Every structure with equal groups, with every choice of modes for its kinds of links."""
    return structures_of(space, with_planes)


def structures_of(space: Space, below: Below) -> Found:
    """Every structure that ``below`` makes of the cards of a server and their planes."""
    for protocol in ("ethernet", "infiniband"):
        if not among(space.fabric.get("protocol", "any"), protocol):
            continue
        space.start(protocol)
        for cards in usable_cards(space.catalog, space.case, space.server, space.fabric, space.item_table):
            if protocol not in cards.protocols or not attachment_speeds_fit(space.attachments, cards.cage.speed):
                continue
            for division in divisions(space, cards):
                if not nics.keeps_all(space, cards, division):
                    continue
                made = below(space, cards, division)
                kept = (one for one in made if survives(space, one[0]) and is_redundant(space, one[0]))
                yield from ((way, choice) for structure, choice in kept for way in managed(space, structure))


def managed(space: Space, structure: Structure) -> Iterator[Structure]:
    """A structure in every way that its subnets can be managed; as it is where nobody asks."""
    if not space.fewest_managers:
        yield structure
    else:
        for exchange in exchanges(structure, space, space.fewest_managers):
            yield replace(structure, twins=exchange)


def is_redundant(space: Space, structure: Structure) -> bool:
    """Whether a structure keeps all parts of the default rule that the space is bound to."""
    if ONE_GENERATION in space.kept_rules and not is_of_one_generation(structure, space.fabric.get("switches")):
        return False
    others = {rule for rule in space.kept_rules if rule not in (*nics.RULES, ONE_GENERATION)}
    others |= {"pair"} if space.fabric.get("homing") == "pair" else set()
    return all(keeps(structure, rule) for rule in others)


def survives(space: Space, structure: Structure) -> bool:
    """Whether rails of one or two tiers have as much left after failures as the case asks for."""
    wanted = list(wanted_of(space.fabric))
    if wanted and not (structure.own_rails and structure.tiers < 3):
        raise ValueError("brute force knows what is left of rails of one or two tiers only")
    if not wanted:
        return True
    injection = injection_gbps(space.catalog, space.server, structure.cards)
    return all(rails_left(space, structure, injection, kind, number) >= least for kind, number, least in wanted)


class Division(NamedTuple):
    """Networks that share no switch, what they are called, and whether each is of one card only."""

    planes: int
    topology: str
    own_rails: bool


def divisions(space: Space, cards: Cards) -> Iterator[Division]:
    topologies, wanted = space.fabric.get("topologies", ["clos"]), space.fabric.get("planes", 1)
    forwards = rails_can_forward(space, cards)
    for planes in divisors(cards.ports):
        if "clos" in topologies and wanted != "rails" and among(wanted, planes):
            yield Division(planes, "clos", False)
        if "rail-only" in topologies and forwards and among(1 if wanted == "rails" else wanted, planes):
            yield Division(planes * cards.number, "rail-only", True)
    if "clos" in topologies and forwards and (wanted == "rails" or (wanted == "any" and not is_bare(space))):
        yield Division(cards.number, "clos", True)


def is_bare(space: Space) -> bool:
    """Whether the case is of the bare space, in which open planes are numbers only."""
    return bool(space.case.get("rules") == "none")


def rails_can_forward(space: Space, cards: Cards) -> bool:
    """Whether servers have several rails and a scale-up domain that carries what goes from one to another."""
    domain = space.server.get("scale_up")
    if cards.number < 2 or domain is None or domain["domain_gpus"] < space.server["gpus"]:
        return False
    crossing = injection_gbps(space.catalog, space.server, cards) * (cards.number - 1) / cards.number
    return exact(domain["gbps_per_gpu"]) >= crossing


def tiers_of(space: Space, division: Division) -> list[int]:
    """One network a rail is rail-only with one switch or two tiers, else a Clos of several tiers."""
    allowed = {("clos", False): (1, 2, 3), ("clos", True): (2, 3), ("rail-only", True): (1, 2)}[division[1:]]
    return [one for one in space.tiers() if one in allowed]


Below = Callable[[Space, Cards, Division], Found]


def with_planes(space: Space, cards: Cards, division: Division) -> Found:
    tiers = tiers_of(space, division)
    for lower in lowers(space, cards, division):
        yield from with_leaves(lower, tiers)


def lowers(space: Space, cards: Cards, division: Division) -> Iterator[Lower]:
    """Every way to put servers in groups on leaves, with the parts that join them."""
    per_server = cards.number * cards.ports // division.planes
    dual = space.fabric.get("homing") == "dual"
    cards_in_plane = 1 if division.own_rails else cards.number
    if dual and per_server != 2 * cards_in_plane:
        return
    for g in space.group_sizes():
        groups = ceil_div(space.servers, g)
        for k in divisors(cards_in_plane if dual else per_server):
            if space.fabric.get("homing") == "single" and k != per_server:
                continue
            aligned = k == 1 or groups == 1
            if aligned or space.fabric.get("rails", "aligned") == "any":
                leaves = groups * (per_server // k)
                yield from on_leaves(space, cards, division, g, k, groups, leaves, aligned)


def on_leaves(
    space: Space, cards: Cards, division: Division, g: int, k: int, groups: int, leaves: int, aligned: bool
) -> Iterator[Lower]:
    planes, topology, own_rails = division
    loads = space.loads(g, leaves // groups, k, planes)
    down = max(load.servers * k + sum(load.attached) for load in loads)
    reserved = ceil_fraction(down / (1 - space.reserve)) - down
    count = [counts(one) for one in space.attachments]
    counted = max(load.servers * k + sum(compress(load.attached, count)) for load in loads)
    for leaf in space.boxes("leaf", cards.cage.speed, top=False):
        base = Structure(0, cards, planes, g, k, groups, leaves, aligned, leaf, down, reserved)
        base = changed(base, topology=topology, own_rails=own_rails, counted=counted)
        lower = leaf_modes(space, base, loads)
        if lower.server_modes:
            yield lower


def with_leaves(lower: Lower, tiers: list[int]) -> Found:
    leaf = lower.base.leaf
    assert leaf.up is not None
    first_up_side = leaf.up[:2] == (0, leaf.product["cages"][0]["splits"][0])
    if 1 in tiers and (lower.base.leaves == 1 or is_pair(lower)) and first_up_side:
        yield from one_tier(lower)
    if lower.base.leaves >= 2 and (2 in tiers or 3 in tiers):
        yield from with_uplinks(lower, tiers)


def is_pair(lower: Lower) -> bool:
    """Whether all servers are on two switches of one tier, where every server is to be on two, or may be by its role.

    Half of the ports are on each. GPUs that send to each other do so from the ports of one card, so that has both.
    """
    base, space = lower.base, lower.space
    homing, of_role = space.fabric.get("homing"), space.fabric.get("role") in PAIRED
    is_open = of_role and homing in (None, "any") and not is_bare(space)
    is_asked = "pair" in space.kept_rules or homing == "pair" or is_open
    cards = 1 if base.own_rails else base.cards.number
    return is_asked and (base.groups, base.leaves) == (1, 2) and (cards == 1 or of_role)


def leaf_modes(space: Space, base: Structure, loads: list[LeafLoad]) -> Lower:
    cage = base.leaf.down.cage
    dual = space.fabric.get("homing") == "dual"
    run = space.run("server-leaf", base.g)
    kind = server_kind(space.servers, base.cards, base.card_planes, base.k, loads, cage, run, dual)
    return Lower(space, base, loads, useful_on_leaves(space, kind, loads))


def useful_on_leaves(space: Space, kind: Kind, loads: list[LeafLoad]) -> list[Mode]:
    """``modes_on_leaves`` that can be the best, worked out once for leaves that are loaded alike."""
    key = (space.protocol, kind, tuple(loads))
    if key not in space.modes_of:
        space.modes_of[key] = space.useful(modes_on_leaves(space, kind, loads))
    return space.modes_of[key]


def modes_on_leaves(space: Space, kind: Kind, loads: list[LeafLoad]) -> list[Mode]:
    """Ways to realise the servers' links together with those of attachments that have ports on leaves."""
    ports = [sum(load.count * load.attached[at] for load in loads) for at in range(len(space.attachments))]
    there = [number > 0 for number in ports]
    attachments = [one | {"ports": number} for one, number in zip(space.attachments, ports, strict=True) if number]
    own = [load._replace(attached=tuple(compress(load.attached, there))) for load in loads]
    return endpoint_modes(kind, own, attachments, space.run("attachment-leaf"), space.joiner)


def hosting(space: Space, structure: Structure, ways: list[Choice], loads: tuple[int, ...]) -> Found:
    """``fitting``, with attachments on the ports that are free."""
    if not space.has_free:
        yield from fitting(structure, ways, loads)
        return
    space.placing = structure
    places = placed(space, structure)
    if places is None:
        return
    dual = space.fabric.get("homing") == "dual"
    cage, run = structure.leaf.down.cage, space.run("server-leaf", structure.g)
    cards = structure.cards
    kind = server_kind(space.servers, cards, structure.card_planes, structure.k, places.loads, cage, run, dual)
    below = useful_on_leaves(space, kind, places.loads)
    structure = changed(structure, down=places.occupied, counted=places.counted)
    tails = list({tuple(map(id, way[1:])): way[1:] for way in ways}.values())
    for tail in tails:
        if tail:
            with_attached = spine_mode(space, structure, tail[0], places.spines)
            if with_attached is None:
                continue
            space.kept.append(with_attached)
            tail = (with_attached, *tail[1:])
            links = list(spine_links(structure)) * structure.planes
            busiest = max(load + sum(host.own.values()) for load, host in zip(links, places.spines, strict=True))
            loads = (busiest, *loads[1:])
        yield from fitting(structure, [(mode, *tail) for mode in below], loads)


def ceil_fraction(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def changed(base: Structure, **values: Any) -> Structure:
    """A copy with other values; written into it, since the slow way of a frozen class is most of a walk's time."""
    copy = object.__new__(Structure)
    copy.__dict__.update(base.__dict__, **values)
    return copy


def fitting(structure: Structure, ways: list[Choice], loads: tuple[int, ...]) -> Found:
    """Every choice of modes that all cages can hold. ``loads``: most down ports of spines, cores."""
    for choice in ways:
        if holds_all(structure, choice, loads):
            yield structure, choice


def holds_all(structure: Structure, choice: Choice, loads: tuple[int, ...]) -> bool:
    """Whether leaf, spine and core have the cages and ports, whichever of cages and ports asks for more."""
    downs = (structure.down + structure.reserved, *loads)
    ups = (structure.u, structure.x, 0)
    for at, (box, _) in enumerate(structure.boxes()):
        down_cages = max(choice[at].far_cages, ceil_div(downs[at], box.down.cage.ports))
        up_cages = choice[at + 1].near_cages if at + 1 < len(choice) else 0
        if not box.holds(downs[at], ups[at], down_cages, up_cages):
            return False
    return True


def one_tier(lower: Lower) -> Found:
    leaf = lower.base.leaf._replace(up=None)
    structure = changed(lower.base, tiers=1, leaf=leaf)
    yield from hosting(lower.space, structure, [(mode,) for mode in lower.server_modes], ())


def with_uplinks(lower: Lower, tiers: list[int]) -> Found:
    base, space = lower.base, lower.space
    assert base.leaf.up is not None
    up_speed, down_speed = base.leaf.up.cage.speed, base.leaf.down.cage.speed
    for u in range(1, base.leaf.room(base.down + base.reserved) + 1):
        if Fraction(base.counted * down_speed, u * up_speed) > space.leaf_ratio:
            continue
        for spines in range(1, u + 1):
            if space.even and u % spines:
                continue
            above = changed(base, u=u, spines_per_pod=spines, m=u // spines)
            if 2 in tiers:
                yield from two_tiers(lower, above)
            if 3 in tiers:
                yield from three_tiers(lower, above)


def leaf_up_boxes(structure: Structure) -> tuple[Box, ...]:
    more = structure.u % structure.spines_per_pod
    pairs = ((structure.spines_per_pod - more, structure.m), (more, structure.m + 1))
    return ((structure.planes * structure.leaves, structure.u, pairs),)


def spine_down_boxes(structure: Structure, pods: Counter[int], of_rails: int = 0) -> tuple[Box, ...]:
    """Spines with their real down links. ``pods``: how many pods of a plane have so many leaves.

    ``of_rails``: after so many leaves the odd links begin anew; 0: never.
    """
    found = []
    for leaves, number in sorted(pods.items()):
        alike = leaves // (of_rails or leaves)
        low, fuller = divmod(leaves // alike * structure.u, structure.spines_per_pod)
        for load, spines in ((alike * low, structure.spines_per_pod - fuller), (alike * (low + 1), fuller)):
            more = load - leaves * structure.m
            pairs = ((leaves - more, structure.m), (more, structure.m + 1))
            if spines:
                found.append((structure.planes * number * spines, load, pairs))
    return tuple(found)


def two_tiers(lower: Lower, above: Structure) -> Found:
    assert above.leaf.up is not None
    of_rails = lower.leaves_per_group if lower.space.by_rail else 0
    spine_boxes = spine_down_boxes(above, Counter({above.leaves: 1}), of_rails)
    busiest = max(load for _, load, _ in spine_boxes)
    for spine in lower.space.boxes("spine", above.leaf.up.cage.speed, top=True):
        if not spine.holds(busiest, 0, ceil_div(busiest, spine.down.cage.ports), 0):
            continue
        structure = changed(above, tiers=2, spine=spine)
        kind = Kind(
            above.leaf.up.cage, spine.down.cage, lower.space.run("leaf-spine"), leaf_up_boxes(above), spine_boxes,
            crosses=above.u % above.spines_per_pod == 0,
        )  # fmt: skip
        ways: list[Choice] = [(a, b) for a in lower.server_modes for b in lower.space.modes(kind)]
        yield from hosting(lower.space, structure, ways, (busiest,))


def pod_plans(lower: Lower) -> Iterator[tuple[str, int, int, Counter[int]]]:
    """(pod of, groups per pod, pods, how many pods have so many leaves) for one plane."""
    groups, per_group = lower.base.groups, lower.leaves_per_group
    for size in range(1, groups + 1):
        full, rest = divmod(groups, size)
        by_groups = Counter({size * per_group: full})
        by_rail = Counter({size: full * per_group})
        if rest:
            by_groups[rest * per_group] += 1
            by_rail[rest] += per_group
        pods = ceil_div(groups, size)
        # below cores in service one is enough
        fewest = 1 if lower.space.case.get("below_cores") else 2
        if pods >= fewest:
            yield "groups", size, pods, by_groups
        if per_group > 1 and pods * per_group >= 2:
            yield "rail", size, pods * per_group, by_rail


def three_tiers(lower: Lower, above: Structure) -> Found:
    assert above.leaf.up is not None
    space = lower.space
    for pod_of, size, pods, leaves in pod_plans(lower):
        middle = changed(above, tiers=3, pod_of=pod_of, groups_per_pod=size, pods=pods)
        rails = 1 if pod_of == "rail" else lower.leaves_per_group
        spine_boxes = spine_down_boxes(middle, leaves, rails if space.by_rail else 0)
        busiest = max(load for _, load, _ in spine_boxes)
        for spine in space.boxes("spine", above.leaf.up.cage.speed, top=False):
            if not spine.holds(busiest, 1, ceil_div(busiest, spine.down.cage.ports), 1):
                continue
            run = space.run("leaf-spine", size * lower.base.g)
            even = above.u % above.spines_per_pod == 0
            kind = Kind(above.leaf.up.cage, spine.down.cage, run, leaf_up_boxes(above), spine_boxes, crosses=even)
            ways: list[Choice] = [(a, b) for a in lower.server_modes for b in space.modes(kind)]
            if ways:
                yield from with_cores(lower, changed(middle, spine=spine), busiest, ways)


def with_cores(lower: Lower, middle: Structure, busiest: int, ways: list[Choice]) -> Found:
    space, spine = lower.space, middle.spine
    assert spine is not None and spine.up is not None
    for x in range(1, spine.room(busiest) + 1):
        if Fraction(busiest * spine.down.cage.speed, x * spine.up.cage.speed) > space.spine_ratio:
            continue
        for q in divisors(middle.spines_per_pod):
            for m2 in divisors(x):
                yield from core_choices(space, changed(middle, x=x, q=q, m2=m2), busiest, ways)


def core_choices(space: Space, top: Structure, busiest: int, ways: list[Choice]) -> Found:
    assert top.spine is not None and top.spine.up is not None
    per_group = top.x // top.m2
    ports = top.pods * top.q * top.m2
    cores = per_group * top.spines_per_pod // top.q
    near: Box = (top.planes * top.pods * top.spines_per_pod, top.x, ((per_group, top.m2),))
    far: Box = (top.planes * cores, ports, ((top.pods * top.q, top.m2),))
    for core in space.boxes("core", top.spine.up.cage.speed, top=True):
        if not core.holds(ports, 0, ceil_div(ports, core.down.cage.ports), 0):
            continue
        structure = changed(top, core=core, cores=cores)
        kind = Kind(top.spine.up.cage, core.down.cage, space.run("spine-core"), (near,), (far,), crosses=True)
        all_ways = [(*way, mode) for way in ways for mode in space.modes(kind)]
        yield from hosting(space, structure, all_ways, (busiest, ports))


def fixed_items(space: Space, structure: Structure) -> tuple[Counter[Item], int]:
    """Switches, cards and servers to buy, and the power of those in the network."""
    items: Counter[Item] = Counter()
    for box, count in structure.boxes():
        items[box.product["id"], None] += count
    for (box, _), (twin, number) in zip(structure.boxes(), structure.twins, strict=False):
        items[box.product["id"], None] -= number
        items[twin or box.product["id"], None] += number
    items = +items
    if not structure.cards.built_in:
        items[structure.cards.id, None] += space.servers * structure.cards.number
    power = sum(space.item_table.power[item] * count for item, count in items.items())
    if space.case.get("include_servers"):
        items[space.server["id"], None] += space.servers
    return items, power


def rack_units(structure: Structure) -> Fraction:
    return sum((exact(box.product.get("rack_units", 1)) * count for box, count in structure.boxes()), Fraction(0))


class Bounds:
    """Values that no purchase for a structure is below."""

    def __init__(self, space: Space, terms: Terms) -> None:
        self.space, self.terms = space, terms
        item_table = space.item_table
        self.in_stock = sum(item_table.least(item) * count for item, count in item_table.stock.items())
        self.of_mode: dict[int, tuple[Number, int, int]] = {}
        # of the last structure: its choices come one after another
        self.seen: tuple[Structure, bool, int, int] | None = None

    def exact(self) -> bool:
        """Whether the bound is the value itself: nothing couples one purchase with another."""
        plain = not any(self.space.item_table.special(item) for item in self.space.item_table.steps)
        return plain and not self.terms.limited

    def least(self, mode: Mode) -> tuple[Number, int, int]:
        if id(mode) not in self.of_mode:
            self.of_mode[id(mode)] = least_of(self.space.item_table, self.terms, mode.classes)
        return self.of_mode[id(mode)]

    def of_devices(self, structure: Structure) -> tuple[bool, int, int]:
        """Whether devices fit the rack units, their cents at least, and milliwatts."""
        limit = self.terms.rack_units
        items, power = fixed_items(self.space, structure)
        capex = sum(self.space.item_table.least(item) * count for item, count in items.items())
        return limit is None or rack_units(structure) <= limit, capex, power

    def bound(self, structure: Structure, choice: Choice) -> Number | None:
        """A value in the terms' metric; None if some limit cannot be kept."""
        terms = self.terms
        if self.seen is None or self.seen[0] is not structure:
            self.seen = structure, *self.of_devices(structure)
        _, fits, fixed_capex, fixed_power = self.seen
        if not fits:
            return None
        parts = [self.least(mode) for mode in choice]
        capex = sum(part[1] for part in parts) + fixed_capex - self.in_stock
        if terms.budget is not None and capex > terms.budget:
            return None
        if terms.power is not None and sum(part[2] for part in parts) + fixed_power > terms.power:
            return None
        value = sum((part[0] for part in parts), terms.value(fixed_capex, fixed_power))
        return value if terms.metric == "power_w" else value - self.in_stock


Waiting = list[tuple[Number, int, Structure, Choice]]
Walk = Callable[[Space], Found]


def candidates(space: Space, terms: Terms, walk: Walk) -> tuple[Waiting, int]:
    """All that may win, the most promising first, and how many were looked at."""
    bounds = Bounds(space, terms)
    is_exact = bounds.exact()
    waiting: Waiting = []
    designs, lowest = 0, None
    for structure, choice in walk(space):
        designs += 1
        least = bounds.bound(structure, choice)
        if least is None or (lowest is not None and least > lowest):
            continue
        if is_exact:
            lowest = least
        waiting.append((least, designs, structure, choice))
    return sorted(waiting, key=lambda one: one[:2]), designs


def solve(catalog: Json, case: Json, kept_rules: tuple[str, ...] = (), walk: Walk = structures) -> Best | None:
    """The best design of one fabric, None if there is none; ``kept_rules``: default rules, or parts of them, that hold.

    ``walk``: the structures that are looked at.

    Raises ``ValueError`` outside the scope of this module.
    """
    on_tiers = [best_on(catalog, one, kept_rules, walk, tiers) for tiers, one in on_each_tier(case)]
    best = min((one for one in on_tiers if one is not None), key=lambda one: one[0], default=None)
    return None if best is None else replace(best[1], designs=sum(one[1].designs for one in on_tiers if one))


Tiers = tuple[int, ...]


def best_on(
    catalog: Json, case: Json, kept_rules: tuple[str, ...], walk: Walk, tiers: Tiers
) -> tuple[tuple[Any, ...], Best] | None:
    """The best design with all attachments as the case has them, and its rank; ``tiers``: the rank of these."""
    space, terms = Space(catalog, case, kept_rules), terms_of(case)
    servers = space.item_table.power[space.server["id"], None] * space.servers if case.get("include_servers") else 0
    if terms.power is not None:
        terms = terms._replace(power=terms.power - servers)
    waiting, designs = candidates(space, terms, walk)
    best: Any = None
    ties: set[int] = set()
    for least, _, structure, choice in waiting:
        if best is not None and least > best[0][0]:
            break
        items, power = fixed_items(space, structure)
        purchase = buy(space.item_table, terms, items, power, [one for mode in choice for one in mode.classes])
        if purchase is None:
            continue
        rank = full_rank(space, structure, purchase, tiers)
        if best is None or rank[:-1] < best[0][:-1]:
            ties = set()
        if best is None or rank < best[0]:
            best = (rank, structure, purchase)
        if rank[:-1] == best[0][:-1]:
            ties.add(structure.groups_per_pod)
    if best is None:
        return None
    energy = servers * terms.rate if terms.metric == "tco_usd" else 0
    purchase = best[2]._replace(value=best[2].value + energy)
    return best[0], answer(best[1], purchase, designs, len(ties) - 1)


def unevenness(space: Space, structure: Structure) -> tuple[int, int]:
    """Servers that the largest group has more than the smallest, and racks with servers of several groups."""
    group_of = [server // structure.g for server in range(space.servers)]
    sizes = Counter(group_of).values()
    per_rack = space.lengths.per_rack if space.lengths else (space.case.get("site") or {}).get("servers_per_rack")
    groups_in_rack: dict[int, set[int]] = {}
    for server, group in enumerate(group_of if per_rack else ()):
        groups_in_rack.setdefault(server // per_rack, set()).add(group)
    return max(sizes) - min(sizes), sum(len(groups) > 1 for groups in groups_in_rack.values())


def full_rank(space: Space, structure: Structure, purchase: Purchase, tiers: Tiers) -> tuple[Any, ...]:
    return (
        purchase.value,
        purchase.capex,
        structure.own_last,
        purchase.power,
        rack_units(structure),
        structure.switches,
        purchase.cables,
        unevenness(space, structure),
        sum(number > 0 for number in purchase.used.values()),
        structure.rank(),
        tiers,
        purchase.keys,
    )


def answer(structure: Structure, purchase: Purchase, designs: int, ties: int) -> Best:
    return Best(
        purchase.value,
        purchase.capex,
        purchase.power,
        rack_units(structure),
        structure.switches,
        purchase.cables,
        structure,
        purchase.keys,
        {item: number for item, number in purchase.bought.items() if number},
        purchase.used,
        designs,
        ties,
    )
