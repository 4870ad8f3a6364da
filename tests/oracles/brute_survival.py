"""What is left after failures, by trying every one: nothing of fabopt is imported.

Rails that never meet, of one or two tiers, and networks of equal switches, whose links are walked path by path.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

from tests.oracles.brute_endpoints import card_gbps

Pair = tuple[int, int]
# of two switches: links between them, and how long a path over one counts
Rows = dict[Pair, tuple[int, int]]


# -- servers ------------------------------------------------------------------------------------------------------


def server_share(cards: int, ports: int, top: Fraction, lost: Sequence[int]) -> Fraction:
    """Of what a server's cards move (``top`` ports' speed each), what is left without so many ports of each."""
    left = [min(Fraction(ports - gone), top) for gone in lost]
    return sum(left, Fraction(0)) / (cards * top)


def worst_server_share(cards: int, ports: int, top: Fraction, boxes: Sequence[Counter[int]], count: int) -> Fraction:
    """The worst of all ways in which so many leaves, planes or cables fail; ``boxes``: ports of cards on each."""
    shares = []
    for failed in combinations(boxes, min(count, len(boxes))):
        lost: Counter[int] = sum(failed, Counter())
        shares.append(server_share(cards, ports, top, [lost[card] for card in range(cards)]))
    return min(shares)


def leaves_of(cards: int, ports: int, planes: int, k: int) -> list[Counter[int]]:
    """Ports of every card on every leaf of a server whose cards share planes."""
    each = ports // planes
    in_plane = [card for card in range(cards) for _ in range(each)]
    return [Counter(in_plane[at : at + k]) for _ in range(planes) for at in range(0, len(in_plane), k)]


def cables_of(cards: int, ports: int) -> list[Counter[int]]:
    return [Counter([card]) for card in range(cards) for _ in range(ports)]


# -- rails --------------------------------------------------------------------------------------------------------


def rails_left(space: Any, one: Any, injection: Fraction, failed: str, count: int) -> Fraction:
    """Gb/s per GPU that rails of one or two tiers have left. ``one``: a structure of ``tests.oracles.brute_force``."""
    cards, ports = one.cards.number, one.cards.ports
    top = card_gbps(space.catalog, space.server, one.cards) * 1000 / one.cards.cage.speed
    of_card = [Counter([card] * one.k) for card in range(cards) for _ in range(ports // one.k)]
    in_plane = ports // one.card_planes
    planes = [Counter(dict.fromkeys(range(cards), in_plane)) for _ in range(one.card_planes)]
    networks = [Counter([card] * in_plane) for card in range(cards) for _ in range(one.card_planes)]
    boxes = {"leaf": of_card, "switch": of_card, "cable": cables_of(cards, ports)}
    boxes["plane"] = planes if one.topology == "rail-only" else networks
    ways = []
    if failed in boxes:
        own = worst_server_share(cards, ports, top, boxes[failed], count)
        ways.append(own * carried(one, 0))
    if failed in ("spine", "cable", "switch") and one.tiers > 1:
        if failed == "cable":
            ways.append(dealt(one, one.u, count, lambda links: carried(one, links)))
        else:
            ways.append(dealt(one, one.spines_per_pod, count, lambda spines: carried(one, lost_to(one, spines))))
    if not ways:
        ways.append(carried(one, 0))
    return min(min(ways) * injection, Fraction(space.server["scale_up"]["gbps_per_gpu"]))


def lost_to(one: Any, spines: int) -> int:
    """Links of a leaf to the spines that it has most to."""
    links = sorted(one.u // one.spines_per_pod + (at < one.u % one.spines_per_pod) for at in range(one.spines_per_pod))
    return sum(links[len(links) - spines :]) if spines else 0


def carried(one: Any, lost: int) -> Fraction:
    """What the uplinks of a leaf carry of its ports, without some."""
    if one.tiers < 2:
        return Fraction(1)
    return min(Fraction(1), Fraction((one.u - lost) * one.leaf.up.cage.speed, one.down * one.leaf.down.cage.speed))


def dealt(one: Any, most: int, count: int, share: Callable[[int], Fraction]) -> Fraction:
    """Over all ways to deal failures to the networks: what these carry on average."""
    networks, total = one.planes, min(count, most * one.planes)
    ways = [way for way in product(range(min(count, most) + 1), repeat=networks) if sum(way) == total]
    return min(sum((share(lost) for lost in way), Fraction(0)) for way in ways) / networks


# -- networks of equal switches -----------------------------------------------------------------------------------


def rows_of(name: tuple[Any, ...]) -> tuple[int, Rows]:
    """Switches and links of a network of ``tests.oracles.brute_direct`` by its name."""
    return dragonfly(*name[1:]) if name[0] == "dragonfly" else box(*name)


def box(family: str, sides: tuple[int, ...], links: tuple[int, ...]) -> tuple[int, Rows]:
    places = list(product(*map(range, sides)))
    rows: Rows = {}
    for one, other in combinations(range(len(places)), 2):
        differ = [at for at in range(len(sides)) if places[one][at] != places[other][at]]
        if len(differ) == 1:
            at = differ[0]
            step = (places[one][at] - places[other][at]) % sides[at]
            if family == "hyperx" or step in (1, sides[at] - 1):
                rows[one, other] = (links[at], 1)
    return len(places), rows


def dragonfly(a: int, groups: int, local: int, n: int) -> tuple[int, Rows]:
    """Global links of group X go round its switches, first those to group X + 1, then X + 2, and so on."""
    rows: Rows = {}
    for group in range(groups):
        for one, other in combinations(range(a), 2):
            rows[group * a + one, group * a + other] = (local, 1)
    for x, y in combinations(range(groups), 2):
        for link in range(n):
            near = x * a + ((y - x - 1) * n + link) % a
            far = y * a + (((x - y) % groups - 1) * n + link) % a
            links, _ = rows.get((near, far), (0, 3))
            rows[near, far] = (links + 1, 3)
    return a * groups, rows


def loads(switches: Sequence[int], rows: Rows) -> dict[Pair, Fraction] | None:
    """What 1 from every switch to every other one puts on every link's direction, over equal-cost shortest paths."""
    near: dict[int, list[tuple[int, int, int]]] = {one: [] for one in switches}
    for (a, b), (links, length) in rows.items():
        near[a].append((b, links, length))
        near[b].append((a, links, length))
    load: Counter[Pair] = Counter()
    for target in switches:
        away = distances(near, target)
        if len(away) < len(switches):
            return None
        flow = {one: Fraction(one != target) for one in switches}
        for one in sorted(switches, key=lambda at: -away[at]):
            ahead = [(other, links) for other, links, length in near[one] if away[other] + length == away[one]]
            for other, links in ahead:
                sent = flow[one] * links / sum(number for _, number in ahead)
                load[one, other] += sent
                flow[other] += sent
    return dict(load)


def distances(near: dict[int, list[tuple[int, int, int]]], target: int) -> dict[int, int]:
    away: dict[int, int] = {}
    queue = [(0, target)]
    while queue:
        length, one = heapq.heappop(queue)
        if one not in away:
            away[one] = length
            for other, _, step in near[one]:
                heapq.heappush(queue, (length + step, other))
    return away


def flow_of(load: dict[Pair, Fraction], rows: Rows) -> Fraction:
    """What every pair can have, by the busiest direction."""
    return min(rows[min(pair), max(pair)][0] / one for pair, one in load.items() if one)


@cache
def worst_flow(name: tuple[Any, ...], failed: str) -> Fraction | None:
    """The least over all switches, or links, that could fail; None if no switch is left to send to."""
    switches, rows = rows_of(name)
    return min(without_switches(switches, rows) if failed == "leaf" else without_links(switches, rows), default=None)


def without_switches(switches: int, rows: Rows) -> Iterator[Fraction]:
    for gone in range(switches):
        others = [one for one in range(switches) if one != gone]
        left = {pair: row for pair, row in rows.items() if gone not in pair}
        load = loads(others, left)
        if load is None:
            yield Fraction(0)
        elif load:
            yield flow_of(load, left)


def without_links(switches: int, rows: Rows) -> Iterator[Fraction]:
    whole = loads(range(switches), rows)
    assert whole is not None
    for pair, (links, length) in rows.items():
        others = {other: row for other, row in rows.items() if other != pair}
        around = loads(range(switches), others)
        left = others | ({pair: (links - 1, length)} if links > 1 else {})
        if around is None:
            yield flow_of(whole, left) if links > 1 else Fraction(0)
        else:
            share = Fraction(1, links)
            mixed = {
                way: (1 - share) * whole.get(way, Fraction(0)) + share * around.get(way, Fraction(0))
                for way in {*whole, *around}
            }
            yield flow_of(mixed, left)


def direct_left(space: Any, lower: Any, network: Any, injection: Fraction, failed: str, count: int) -> Fraction:
    """Gb/s per GPU. ``lower``, ``network``: of ``tests.oracles.brute_direct``."""
    cards, ports = lower.cards.number, lower.cards.ports
    speed, link = lower.cards.cage.speed, lower.box.up.cage.speed
    top = card_gbps(space.catalog, space.server, lower.cards) * 1000 / speed
    each = ports // lower.planes
    boxes = {
        "leaf": leaves_of(cards, ports, lower.planes, lower.k),
        "plane": [Counter(dict.fromkeys(range(cards), each)) for _ in range(lower.planes)],
        "server": cables_of(cards, ports),
    }
    whole = min(Fraction(1), network.flow * link * network.switches / (2 * lower.most * speed))
    ways = {"switch": ["leaf"], "cable": ["server", "between"]}.get(failed, [failed])
    found = []
    for way in ways:
        share = worst_server_share(cards, ports, top, boxes[way], count) if way in boxes else Fraction(1)
        kept = whole
        if way in ("leaf", "between"):
            flow = worst_flow(network.name, way)
            if flow is not None:
                kept = min(whole, flow * link * (network.switches - (way == "leaf")) / (2 * lower.most * speed))
        found.append(injection * share * kept)
    return min(found)


def wanted_of(fabric: Any) -> Iterator[tuple[str, int, Fraction]]:
    """What must survive: kind, number and least Gb/s per GPU."""
    asked = fabric.get("resilience") or []
    for one in [asked] if isinstance(asked, dict) else asked:
        number, kind = one["survive"].split()
        kind = {"leaves": "leaf", "switches": "switch"}.get(kind, kind.removesuffix("s"))
        yield kind, int(number), Fraction(str(one["min_gbps_per_gpu"]))
