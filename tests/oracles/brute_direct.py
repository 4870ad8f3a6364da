"""Exhaustive search over networks of equal switches: the truth that HyperX, torus and dragonfly are tested against.

Every network of the family is enumerated with every number of parallel links, its links are walked route by route to
find what the busiest carries, and the cheapest purchase is worked out for each. Nothing of fabopt is imported. Scope as
of ``tests.oracles.brute_force``; attachments are on free ports, outside the ratio.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from math import prod
from typing import Any, NamedTuple

from tests.oracles.brute_endpoints import (
    Cards,
    LeafLoad,
    among,
    attachment_speeds_fit,
    injection_gbps,
    server_kind,
    usable_cards,
)
from tests.oracles.brute_force import Box2, Space, ceil_fraction, divisors
from tests.oracles.brute_free_ports import cages_of_attachments, on_equals, own_classes
from tests.oracles.brute_parts import Item, Joining, Json, Mode, Unit, ceil_div, exact
from tests.oracles.brute_purchase import Purchase, buy, terms_of
from tests.oracles.brute_survival import direct_left, wanted_of

Coordinates = tuple[int, ...]
MOST_DIMENSIONS = 3
SHORTEST_RING = 3


class Scope(NamedTuple):
    """Links of one kind: ports of every switch, links of a joined pair, ordered pairs of switches on the busiest."""

    name: str
    ports: tuple[int, ...]
    each: int
    load: Fraction


class Network(NamedTuple):
    """One plane: numbers that name it, and its links."""

    name: tuple[Any, ...]
    switches: int
    scopes: tuple[Scope, ...]

    @property
    def flow(self) -> Fraction:
        return min(1 / scope.load for scope in self.scopes)


# -- networks -----------------------------------------------------------------------------------------------------


@cache
def networks(family: str, leaves: int, room: int) -> tuple[Network, ...]:
    """Every network of a family in which no side, or group, is more than the leaves need."""
    if family == "dragonfly":
        return tuple(dragonflies(leaves, room))
    shortest, dimensions = (2, range(1, MOST_DIMENSIONS + 1)) if family == "hyperx" else (SHORTEST_RING, range(2, 4))
    return tuple(
        network
        for number in dimensions
        for sides in rising(number, shortest, max(leaves, shortest))
        if prod(sides) >= leaves
        and not any(
            prod(sides) // side * (side - 1) >= leaves for side in sides if family == "hyperx" or side > shortest
        )
        for network in boxes(family, sides, room)
    )


def rising(number: int, lowest: int, highest: int) -> Iterator[Coordinates]:
    """Sides in rising order, the first of which leave no room below the highest for more than twice as much."""
    if number == 0:
        yield ()
        return
    for side in range(lowest, highest + 1):
        for others in rising(number - 1, side, max(side, ceil_div(highest, side)) if number > 1 else highest):
            yield (side, *others)


def boxes(family: str, sides: Coordinates, room: int) -> Iterator[Network]:
    fewest = sum(side - 1 if family == "hyperx" else 2 for side in sides)
    if fewest > room:
        return
    ports, loads = walked(family, sides)
    most = [room // one for one in ports]
    for links in product(*(range(1, one + 1) for one in most)):
        if sum(one * m for one, m in zip(ports, links, strict=True)) <= room:
            scopes = tuple(
                Scope(f"dim-{at}", (one * m,) * prod(sides), m, load / m)
                for at, (one, m, load) in enumerate(zip(ports, links, loads, strict=True), 1)
            )
            yield Network((family, sides, links), prod(sides), scopes)


@cache
def walked(family: str, sides: Coordinates) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Ports of a switch and load of the busiest link in each dimension, of single links, by walking every route."""
    load: list[Counter[Any]] = [Counter() for _ in sides]
    for start in product(*map(range, sides)):
        for end in product(*map(range, sides)):
            here = list(start)
            for at, side in enumerate(sides):
                for share, steps in ways(family, here[at], end[at], side):
                    for one, other in steps:
                        before, after = list(here), list(here)
                        before[at], after[at] = one, other
                        load[at][tuple(before), tuple(after)] += share
                here[at] = end[at]
    ports = tuple((side - 1) if family == "hyperx" else 2 for side in sides)
    return ports, tuple(Fraction(max(one.values())) for one in load)


def ways(family: str, start: int, end: int, side: int) -> list[tuple[Fraction, list[tuple[int, int]]]]:
    """(share, steps) of the shortest ways along a line."""
    if start == end:
        return []
    if family == "hyperx":
        return [(Fraction(1), [(start, end)])]
    forth = [((start + i) % side, (start + i + 1) % side) for i in range((end - start) % side)]
    back = [((start - i) % side, (start - i - 1) % side) for i in range((start - end) % side)]
    if len(forth) == len(back):
        return [(Fraction(1, 2), forth), (Fraction(1, 2), back)]
    return [(Fraction(1), min(forth, back, key=len))]


def dragonflies(leaves: int, room: int) -> Iterator[Network]:
    """The load of a local link is bounded as if both its ends had the most global links of any switch."""
    for a in range(2, room + 2):
        for groups in range(2, leaves + 1):
            if a * groups < leaves or a * (groups - 1) >= leaves:
                continue
            for local in range(1, room // (a - 1) + 1):
                for n in range(1, a * room // (groups - 1) + 1):
                    outside = n * (groups - 1)
                    out = [outside // a + (at < outside % a) for at in range(a)]
                    if (a - 1) * local + out[0] <= room:
                        load = (1 + Fraction(2 * a * out[0], n)) / local
                        inner = Scope("local", ((a - 1) * local,) * (a * groups), local, load)
                        outer = Scope("global", tuple(out * groups), 1, Fraction(a * a, n))
                        yield Network(("dragonfly", a, groups, local, n), a * groups, (inner, outer))


# -- designs ------------------------------------------------------------------------------------------------------


class Best(NamedTuple):
    """The best design: sums, and what it is (one of several where equals are)."""

    purchase: Purchase
    rack_units: Fraction
    switches: int
    name: tuple[Any, ...]

    @property
    def sums(self) -> tuple[float, ...]:
        """Cents, milliwatts, rack units, switches and cables."""
        return self.purchase.capex, self.purchase.power, self.rack_units, self.switches, self.purchase.cables


class Lower(NamedTuple):
    """A way to stand servers on switches of one type."""

    cards: Cards
    planes: int
    g: int
    k: int
    leaves: int
    loads: list[LeafLoad]
    box: Box2

    @property
    def most(self) -> int:
        return max(load.servers for load in self.loads) * self.k


def solve(catalog: Json, case: Json, family: str) -> Best | None:
    """The cheapest design of a family, None if there is none."""
    space, terms = Space(catalog, case), terms_of(case)
    if terms.power is not None and space.case.get("include_servers"):
        raise ValueError("brute force takes no power limit that counts servers")
    best: Any = None
    for protocol in ("ethernet", "infiniband"):
        if not among(space.fabric.get("protocol", "any"), protocol):
            continue
        space.start(protocol)
        for lower in lowers(space, protocol):
            for items, power, between, units, switches, network, name in designs(space, lower, family):
                fixed = sum(space.item_table.least(item) * number for item, number in items.items())
                if best is not None and terms.value(fixed, power) > best[0][0]:
                    continue  # what is bought whatever joins it costs more already: nothing here is in stock
                if not survives(space, lower, network):
                    continue
                for modes in between():
                    purchase = buy(
                        space.item_table, terms, items, power, [one for mode in modes for one in mode.classes]
                    )
                    if purchase is not None:
                        rank = (purchase.value, purchase.capex, purchase.power, units, switches, purchase.cables)
                        if best is None or rank < best[0]:
                            best = (rank, Best(purchase, units, switches, name))
    return None if best is None else best[1]


def lowers(space: Space, protocol: str) -> Iterator[Lower]:
    for cards in usable_cards(space.catalog, space.case, space.server, space.fabric, space.item_table):
        for planes in divisors(cards.ports):
            if protocol not in cards.protocols or not among(space.fabric.get("planes", 1), planes):
                continue
            if not attachment_speeds_fit(space.attachments, cards.cage.speed):
                continue
            per_server = cards.number * cards.ports // planes
            for g, k in product(space.group_sizes()[::-1], divisors(per_server)):
                groups = ceil_div(space.servers, g)
                if k > 1 and groups > 1 and space.fabric.get("rails", "aligned") == "aligned":
                    continue
                leaves = groups * (per_server // k)
                if leaves >= 2:
                    loads = space.loads(g, per_server // k, k, planes)
                    for box in space.boxes("leaf", cards.cage.speed, top=False):
                        yield Lower(cards, planes, g, k, leaves, loads, box)


def designs(space: Space, lower: Lower, family: str) -> Iterator[Any]:
    """(items, their power, ways to make the links, rack units, switches, network, name) of all that is possible."""
    cards, box, planes = lower.cards, lower.box, lower.planes
    assert box.up is not None
    kept = ceil_fraction(Fraction(lower.most) / (1 - space.reserve))
    room = box.room(kept)
    servers = space.modes(
        server_kind(space.servers, cards, planes, lower.k, lower.loads, box.down.cage, space.runs["server-leaf"])
    )
    if room < 1 or not servers:
        return
    for network in networks(family, lower.leaves, room):
        if not carries(space, lower, network) or not reduces(space, lower, network):
            continue
        count = planes * network.switches
        items: Counter[Item] = Counter({(box.product["id"], None): count})
        if not cards.built_in:
            items[cards.id, None] = space.servers * cards.number
        power = sum(space.item_table.power[item] * number for item, number in items.items())
        if space.case.get("include_servers"):
            items[space.server["id"], None] += space.servers
        units = Fraction(str(box.product.get("rack_units", 1))) * count
        name = (*network.name, lower.g, lower.k, box.product["id"])
        yield items, power, partial(modes_of, space, lower, network, servers, kept), units, count, network, name


def modes_of(
    space: Space, lower: Lower, network: Network, servers: list[Mode], kept: int
) -> Iterator[tuple[Mode, ...]]:
    """Every way to make all links, as far as cages and ports suffice."""
    box = lower.box
    assert box.up is not None
    between = [space.useful(scope_modes(space, box, lower.planes, scope)) for scope in network.scopes]
    up_cages = sum(ceil_div(max(scope.ports), box.up.cage.ports) for scope in network.scopes)
    most = sum(max(scope.ports) for scope in network.scopes)
    of_plane = [load.servers * lower.k for load in lower.loads for _ in range(load.count // lower.planes)]
    of_plane = sorted(of_plane, reverse=True) + [0] * (network.switches - lower.leaves)
    ports, lanes = of_plane * lower.planes, box.down.cage.ports
    hosts = on_equals(space, box, ports, kept - lower.most, (most, up_cages))
    if hosts is None:
        return
    attached = own_classes(space, box.down.cage, hosts, space.run("attachment-leaf"))
    if attached is None:
        return
    there = [
        (ceil_div(own + kept - lower.most, lanes) - ceil_div(kept, lanes), cages)
        for own, cages in zip(ports, cages_of_attachments(hosts), strict=True)
        if own
    ]
    for mode in servers:
        down_cages = max(mode.far_cages, ceil_div(kept, lanes), *(mode.far_cages + less + own for less, own in there))
        if box.holds(kept, most, down_cages, up_cages):
            for chosen in product(*between):
                yield (mode, *chosen, Mode(0, 0, attached))


def carries(space: Space, lower: Lower, network: Network) -> bool:
    """Whether bisection and all-to-all are the injection over the ratio at the leaves, and what else is asked for."""
    assert lower.box.up is not None
    cards, d = lower.cards, lower.most
    injection = injection_gbps(space.catalog, space.server, cards) * 1000
    flow = network.flow * lower.box.up.cage.speed
    endpoints = space.servers * cards.number * cards.ports // lower.planes
    of_gpu = Fraction(cards.number * cards.ports, space.server["gpus"])
    cut = flow * network.switches / (2 * d) * of_gpu
    spread = flow * max(1, endpoints - 1) / (d * d) * of_gpu
    most = space.fabric.get("max_switch_hops")
    if most is not None and longest(network, lower.leaves) > most:
        return False
    return all(
        rate >= injection / space.leaf_ratio and min(rate, injection) >= 1000 * exact(space.fabric.get(key, 0))
        for rate, key in ((cut, "min_bisection_gbps_per_gpu"), (spread, "min_alltoall_gbps_per_gpu"))
    )


def longest(network: Network, used: int) -> int:
    """Switches on the longest shortest path between two of the first ``used`` switches."""
    if network.name[0] != "dragonfly":
        family, sides, _ = network.name
        if family == "torus" and set(sides) == {SHORTEST_RING}:
            points = list(product(*map(range, sides)))[:used]
            return 1 + max(sum(a != b for a, b in zip(*pair, strict=True)) for pair in combinations(points, 2))
        return 1 + sum(1 if family == "hyperx" else side // 2 for side in sides)
    near = joined(*(int(network.name[at]) for at in (1, 2, 4)))
    return max(farthest(near, start, used) for start in range(used))


def joined(a: int, groups: int, n: int) -> dict[int, set[int]]:
    """Neighbours in a dragonfly. Global links of a group go round its switches, those to the next group first."""
    near = {at: {at // a * a + other for other in range(a)} for at in range(a * groups)}
    ends = {
        (group, (group + step) % groups): [group * a + ((step - 1) * n + link) % a for link in range(n)]
        for group in range(groups)
        for step in range(1, groups)
    }
    for (group, other), here in ends.items():
        for one, far in zip(here, ends[other, group], strict=True):
            near[one].add(far)
    return near


def farthest(near: dict[int, set[int]], start: int, used: int) -> int:
    """Switches on the way to the farthest used switch."""
    reached, steps = {start}, 1
    while not reached.issuperset(range(used)):
        reached = reached.union(*(near[one] for one in reached))
        steps += 1
    return steps


def survives(space: Space, lower: Lower, network: Network) -> bool:
    """Whether as much is left after failures as the case asks for."""
    injection = injection_gbps(space.catalog, space.server, lower.cards)
    return all(
        direct_left(space, lower, network, injection, kind, number) >= least
        for kind, number, least in wanted_of(space.fabric)
    )


def reduces(space: Space, lower: Lower, network: Network) -> bool:
    """Whether rings have the all-reduce that is asked for: every port sends to the same one of the next server."""
    least = space.fabric.get("min_allreduce_gbps_per_gpu")
    if not least:
        return True
    assert lower.box.up is not None
    cards, per_plane = lower.cards, lower.cards.number * lower.cards.ports // lower.planes
    at = [
        [server // lower.g * (per_plane // lower.k) + port // lower.k for server in range(space.servers)]
        for port in range(per_plane)
    ]
    steps = Counter((one, other) for ring in at for one, other in zip(ring, ring[1:] + ring[:1], strict=True))
    busiest = busiest_share(neighbours(network), {pair: n for pair, n in steps.items() if pair[0] != pair[1]})
    port_mbps = Fraction(cards.cage.speed)
    rate = min(port_mbps, lower.box.up.cage.speed / busiest) if busiest else port_mbps
    given = rate * cards.number * cards.ports / space.server["gpus"]
    injected = injection_gbps(space.catalog, space.server, cards) * 1000
    return bool(min(given, injected) >= Fraction(str(least)) * 1000 - Fraction(1, 10**6))


def neighbours(network: Network) -> dict[int, Counter[int]]:
    """Links of every switch to each other one."""
    found: dict[int, Counter[int]] = {one: Counter() for one in range(network.switches)}
    for one, other in links_between(network):
        found[one][other] += 1
        found[other][one] += 1
    return found


def links_between(network: Network) -> Iterator[tuple[int, int]]:
    """Every link once."""
    if network.name[0] == "dragonfly":
        yield from dragonfly_links(*network.name[1:])
        return
    family, sides, links = network.name
    for start in product(*map(range, sides)):
        for at, side in enumerate(sides):
            ahead = [(start[at] + 1) % side] if family == "torus" else range(start[at] + 1, side)
            for place in ahead:
                end = (*start[:at], place, *start[at + 1 :])
                yield from [(number(sides, start), number(sides, end))] * links[at]


def number(sides: Coordinates, at: Coordinates) -> int:
    """The first coordinate runs fastest."""
    return sum(one * prod(sides[:place]) for place, one in enumerate(at))


def dragonfly_links(a: int, groups: int, local: int, n: int) -> Iterator[tuple[int, int]]:
    """Global links of a group go round its switches, first those to the next group, then to the one after it."""
    for group in range(groups):
        for one in range(a):
            for other in range(one + 1, a):
                yield from [(group * a + one, group * a + other)] * local
        for ahead in range(1, groups):
            other = (group + ahead) % groups
            for link in range(n) if group < other else ():
                near, far = (ahead - 1) * n + link, (groups - ahead - 1) * n + link
                yield group * a + near % a, other * a + far % a


def busiest_share(near: dict[int, Counter[int]], demand: dict[tuple[int, int], int]) -> Fraction:
    """Load of the busiest link, where at every switch traffic is shared among all links that lead nearer to its end."""
    load: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for end in {end for _, end in demand}:
        away, edge = {end: 0}, [end]
        while edge:
            edge = [
                b for a in edge for b in near[a] if away.setdefault(b, away[a] + 1) == away[a] + 1 and b not in edge
            ]
            edge = list(dict.fromkeys(edge))
        flow = Counter({start: Fraction(n) for (start, to), n in demand.items() if to == end})
        for here in sorted(away, key=lambda one: -away[one]):
            onward = {b: links for b, links in near[here].items() if away[b] == away[here] - 1}
            for b, links in onward.items():
                sent = flow[here] * Fraction(links, sum(onward.values()))
                load[here, b] += sent
                flow[b] += sent
    return max((carried / near[a][b] for (a, b), carried in load.items()), default=Fraction(0))


def scope_modes(space: Space, box: Box2, planes: int, scope: Scope) -> list[Mode]:
    """One joining for all links of a scope, the same part at both ends; wires of several links are full."""
    assert box.up is not None
    cage = box.up.cage
    run = space.runs["spine-core" if scope.name == "global" else "leaf-spine"]
    links = planes * sum(scope.ports) // 2
    cages = planes * sum(ceil_div(ports, cage.ports) for ports in scope.ports)
    found = []
    for way in space.joiner.join(cage, cage, run):
        each = links_of_cable(way, cage.ports)
        if way.near == way.far and each and scope.each % each == 0:
            items: Counter[Item] = Counter({way.line: links // each})
            if way.near is not None:
                items[way.near] += cages
            found.append(Mode(0, 0, ((1, (Unit(way.key, tuple(items.items()), links // each),)),)))
    return found


def links_of_cable(way: Joining, ports: int) -> int:
    """Links of one wire between two equal cages; 0 for splitters."""
    if way.shape == "bundle":
        return ports
    if way.shape == "single":
        return 1
    return way.near_ports if way.shape == "optics" and way.near_ports == way.far_ports else 0
