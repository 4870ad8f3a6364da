"""Exhaustive search over tori of servers without switches: the truth that the search for them is tested against.

Every box of just so many servers is enumerated with every number of parallel links, its links are walked route by route
to find what the busiest carries, and the cheapest purchase is worked out for each. Nothing of fabopt is imported. Scope
as of ``tests.oracles.brute_direct``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, NamedTuple

from tests.oracles.brute_direct import Network, busiest_share, links_of_cable, neighbours, walked
from tests.oracles.brute_endpoints import Cards, among, injection_gbps, racks_per_group, usable_cards
from tests.oracles.brute_force import Space
from tests.oracles.brute_parts import Item, Json, Mode, Unit, ceil_div, exact
from tests.oracles.brute_purchase import Purchase, buy, terms_of


class Best(NamedTuple):
    """The best design: sums, and what it is (one of several where equals are)."""

    purchase: Purchase
    name: tuple[Any, ...]

    @property
    def sums(self) -> tuple[float, ...]:
        """Cents, milliwatts, rack units, switches and cables."""
        return self.purchase.capex, self.purchase.power, 0, 0, self.purchase.cables


class Ring(NamedTuple):
    """One dimension: side, links of a pair."""

    side: int
    links: int


def boxes(servers: int) -> Iterator[tuple[int, ...]]:
    """Sides in rising order, 3 at least, of two or three dimensions, whose product is the servers."""
    for dimensions in (2, 3):
        for sides in product(range(3, servers + 1), repeat=dimensions):
            if prod(sides) == servers and list(sides) == sorted(sides):
                yield sides


def tori(servers: int, ports: int) -> Iterator[tuple[Ring, ...]]:
    """Every torus whose servers have so many ports, two for a link of a pair in each dimension."""
    for sides in boxes(servers):
        for links in product(range(1, ports // 2 + 1), repeat=len(sides)):
            if 2 * sum(links) == ports:
                yield tuple(Ring(*one) for one in zip(sides, links, strict=True))


def carries(space: Space, cards: Cards, rings: tuple[Ring, ...]) -> bool:
    """Whether bisection and uniform all-to-all are the injection over the ratio at the leaves."""
    wanted = injection_gbps(space.catalog, space.server, cards) * 1000 / space.leaf_ratio
    _, loads = walked("torus", tuple(ring.side for ring in rings))
    flow = min(ring.links * cards.cage.speed / load for ring, load in zip(rings, loads, strict=True))
    spread, cut = flow * (space.servers - 1), Fraction(flow * space.servers, 2)
    return bool(min(spread, cut) / space.server["gpus"] >= wanted)


def reduces(space: Space, cards: Cards, rings: tuple[Ring, ...]) -> bool:
    """Whether one ring of all servers in their order has the all-reduce that is asked for."""
    least = space.fabric.get("min_allreduce_gbps_per_gpu")
    if not least:
        return True
    sides, links = tuple(ring.side for ring in rings), tuple(ring.links for ring in rings)
    torus = Network(("torus", sides, links), space.servers, ())
    steps = {(server, (server + 1) % space.servers): 1 for server in range(space.servers)}
    given = cards.cage.speed / busiest_share(neighbours(torus), steps) / space.server["gpus"]
    injected = injection_gbps(space.catalog, space.server, cards) * 1000
    return bool(min(given, injected) >= exact(least) * 1000 - Fraction(1, 10**6))


def modes_of(space: Space, cards: Cards, ring: Ring) -> list[Mode]:
    """One joining for all links of a dimension, the same part at both ends; a cage has links of one dimension."""
    ports, links = cards.cage.ports, space.servers * ring.links
    if 2 * ring.links % ports:
        return []
    cages = space.servers * 2 * ring.links // ports
    found = []
    for way in space.joiner.join(cards.cage, cards.cage, space.runs["leaf-spine"]):
        each = links_of_cable(way, ports)
        if way.near == way.far and each and ring.links % each == 0:
            items: Counter[Item] = Counter({way.line: links // each})
            if way.near is not None:
                items[way.near] += cages
            found.append(Mode(0, 0, ((1, (Unit(way.key, tuple(items.items()), links // each),)),)))
    return found


def passing(space: Space, protocol: str) -> Iterator[Cards]:
    """Cards that pass on what is for others, with ports in pairs that fill their cages."""
    forwards = {nic["id"] for nic in space.catalog["nics"] if nic.get("forwards")}
    for cards in usable_cards(space.catalog, space.case, space.server, space.fabric, space.item_table):
        of_cages = cards.number * cards.ports if cards.shared else cards.ports
        whole = of_cages % cards.cage.ports == 0 and ceil_div(of_cages, cards.cage.ports) <= cards.cages
        if whole and cards.id in forwards and protocol in cards.protocols:
            yield cards


def solve(catalog: Json, case: Json) -> Best | None:
    """The cheapest torus of servers of a case, None if there is none."""
    space, terms = Space(catalog, case), terms_of(case)
    if racks_per_group(space.fabric) or not among(space.fabric.get("planes", 1), 1):
        return None
    best: Any = None
    for protocol in ("ethernet", "infiniband"):
        if not among(space.fabric.get("protocol", "any"), protocol):
            continue
        space.start(protocol)
        for cards in passing(space, protocol):
            items: Counter[Item] = Counter()
            if not cards.built_in:
                items[cards.id, None] = space.servers * cards.number
            power = sum(space.item_table.power[item] * number for item, number in items.items())
            if space.case.get("include_servers"):
                items[space.server["id"], None] += space.servers
            for rings in tori(space.servers, cards.number * cards.ports):
                if not carries(space, cards, rings) or not reduces(space, cards, rings):
                    continue
                for modes in product(*(modes_of(space, cards, ring) for ring in rings)):
                    purchase = buy(
                        space.item_table, terms, items, power, [one for mode in modes for one in mode.classes]
                    )
                    if purchase is not None:
                        rank = (purchase.value, purchase.capex, purchase.power, purchase.cables)
                        if best is None or rank < best[0]:
                            best = (rank, Best(purchase, (cards, rings)))
    return None if best is None else best[1]
