"""Exhaustive search over dragonfly+ networks: every size of group, number of spines and of parallel links.

Global links are dealt one by one, streams of traffic laid on every link by counting, and the cheapest purchase is
worked out for each network. Nothing of fabopt is imported. Scope as of ``tests.oracles.brute_direct``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

from tests.oracles.brute_direct import Best, Lower, Scope, lowers, scope_modes
from tests.oracles.brute_endpoints import among, injection_gbps, server_kind
from tests.oracles.brute_force import Box2, Space, ceil_fraction
from tests.oracles.brute_parts import Item, Json, Kind, Mode, ceil_div
from tests.oracles.brute_purchase import buy, terms_of


class Plus(NamedTuple):
    """One plane: leaves and spines of a group, groups, links of a leaf and a spine, links of two groups.

    ``out``: global links of each spine of a group. In units of one link between leaf and spine, or one global link:
    ``stream``: what the busiest of the former carries if every leaf sends one to each other leaf; ``half``: the same
    of one leaf that sends one in all; ``across``: ordered pairs of leaves that a global link carries.
    """

    size: int
    spines: int
    groups: int
    m: int
    n: int
    out: tuple[int, ...]
    stream: Fraction
    half: Fraction
    across: Fraction

    @property
    def leaves(self) -> int:
        return self.size * self.groups


@cache
def dealt(spines: int, peers: int, n: int) -> tuple[tuple[int, ...], ...]:
    """Links that each spine of a group has to each other group, which come in turn and go round the spines."""
    found = [[0] * spines for _ in range(peers)]
    for link in range(peers * n):
        found[link // n][link % spines] += 1
    return tuple(tuple(one) for one in found)


def network(size: int, spines: int, groups: int, m: int, n: int) -> Plus:
    """A group as all others, by counting what one leaf sends over each of its spines."""
    deal = dealt(spines, groups - 1, n)
    sent = [sum((Fraction(size * peer[spine], n) for peer in deal), Fraction(0)) for spine in range(spines)]
    out = tuple(sum(peer[spine] for peer in deal) for spine in range(spines))
    half = max(Fraction(peer[spine], n) for peer in deal for spine in range(spines))
    return Plus(size, spines, groups, m, n, out, filled(sent, size - 1) / m, half / m, Fraction(size * size, n))


def filled(sent: list[Fraction], more: int) -> Fraction:
    """The most on any spine after so many streams, in any parts, have been added where there is least."""
    level, rest = sorted(sent), Fraction(more)
    for at in range(1, len(level)):
        room = (level[at] - level[0]) * at
        if room >= rest:
            return level[-1]
        rest -= room
        level[:at] = [level[at]] * at
    return level[-1] + rest / len(level)


def shapes(leaves: int, room: int) -> Iterator[tuple[int, int, int]]:
    """(leaves and spines of a group, groups), no group too many."""
    for size in range(2, leaves):
        for spines in range(1, room + 1):
            yield size, spines, ceil_div(leaves, size)


@cache
def networks(size: int, spines: int, groups: int, room: int, spine_room: int) -> tuple[Plus, ...]:
    """Every number of links, with ports enough at all."""
    return tuple(
        network(size, spines, groups, m, n)
        for m in range(1, room // spines + 1)
        for n in range(1, spines * (spine_room - size * m) // (groups - 1) + 1)
    )


def solve(catalog: Json, case: Json) -> Best | None:
    """The cheapest design, None if there is none."""
    space, terms = Space(catalog, case), terms_of(case)
    if terms.power is not None and space.case.get("include_servers"):
        raise ValueError("brute force takes no power limit that counts servers")
    best: Any = None
    for protocol in ("ethernet", "infiniband"):
        if not among(space.fabric.get("protocol", "any"), protocol):
            continue
        space.start(protocol)
        for lower in lowers(space, protocol):
            for items, power, between, units, switches in designs(space, lower):
                fixed = sum(space.item_table.least(item) * number for item, number in items.items())
                if best is not None and terms.value(fixed, power) > best[0][0]:
                    continue  # what is bought whatever joins it costs more already: nothing here is in stock
                for modes, name in between():
                    purchase = buy(
                        space.item_table, terms, items, power, [one for mode in modes for one in mode.classes]
                    )
                    if purchase is not None:
                        rank = (purchase.value, purchase.capex, purchase.power, units, switches, purchase.cables)
                        if best is None or rank < best[0]:
                            best = (rank, Best(purchase, units, switches, name))
    return None if best is None else best[1]


def designs(space: Space, lower: Lower) -> Iterator[Any]:
    """(items, their power, ways to make the links, rack units, switches) of every number of switches."""
    cards, box, planes = lower.cards, lower.box, lower.planes
    assert box.up is not None
    room = box.room(ceil_fraction(Fraction(lower.most) / (1 - space.reserve)))
    for spine in space.boxes("spine", box.up.cage.speed, top=False):
        for shape in shapes(lower.leaves, room):
            counts = ((box, planes * shape[0] * shape[2]), (spine, planes * shape[1] * shape[2]))
            items: Counter[Item] = Counter()
            for switch, count in counts:
                items[switch.product["id"], None] += count
            if not cards.built_in:
                items[cards.id, None] = space.servers * cards.number
            power = sum(space.item_table.power[item] * number for item, number in items.items())
            if space.case.get("include_servers"):
                items[space.server["id"], None] += space.servers
            units = sum(Fraction(str(switch.product.get("rack_units", 1))) * count for switch, count in counts)
            yield items, power, partial(ways, space, lower, spine, shape), units, sum(count for _, count in counts)


def ways(
    space: Space, lower: Lower, spine: Box2, shape: tuple[int, int, int]
) -> Iterator[tuple[tuple[Mode, ...], tuple[Any, ...]]]:
    """All links that carry the demand, every way to make them, and what that is."""
    cards, box = lower.cards, lower.box
    kept = ceil_fraction(Fraction(lower.most) / (1 - space.reserve))
    servers = space.modes(
        server_kind(space.servers, cards, lower.planes, lower.k, lower.loads, box.down.cage, space.runs["server-leaf"])
    )
    for one in networks(*shape, box.room(kept), spine.max_ports) if servers else ():
        if carries(space, lower, spine, one):
            name = (*one[:5], lower.g, lower.k, box.product["id"], spine.product["id"])
            for modes in modes_of(space, lower, spine, one, servers, kept):
                yield modes, name


def modes_of(
    space: Space, lower: Lower, spine: Box2, one: Plus, servers: list[Mode], kept: int
) -> Iterator[tuple[Mode, ...]]:
    """Every way to make all links, as far as cages and ports suffice."""
    box, planes = lower.box, lower.planes
    assert box.up is not None and spine.up is not None
    below = ((planes * one.leaves, one.spines * one.m, ((one.spines, one.m),)),)
    above = ((planes * one.spines * one.groups, one.size * one.m, ((one.size, one.m),)),)
    inside = space.modes(Kind(box.up.cage, spine.down.cage, space.runs["leaf-spine"], below, above))
    outer = Scope("global", one.out * one.groups, 1, one.across)
    outside = space.useful(scope_modes(space, spine, planes, outer))
    out_cages = ceil_div(max(one.out), spine.up.cage.ports)
    for mode, middle in product(servers, inside):
        down_cages = max(mode.far_cages, ceil_div(kept, box.down.cage.ports))
        spine_cages = max(middle.far_cages, ceil_div(one.size * one.m, spine.down.cage.ports))
        if box.holds(kept, one.spines * one.m, down_cages, middle.near_cages) and spine.holds(
            one.size * one.m, max(one.out), spine_cages, out_cages
        ):
            for last in outside:
                yield mode, middle, last


def carries(space: Space, lower: Lower, spine: Box2, one: Plus) -> bool:
    """Whether bisection and uniform all-to-all are the injection over the ratio at the leaves."""
    assert lower.box.up is not None and spine.up is not None
    cards, d = lower.cards, lower.most
    wanted = injection_gbps(space.catalog, space.server, cards) * 1000 / space.leaf_ratio
    up, out = lower.box.up.cage.speed, spine.up.cage.speed
    endpoints = space.servers * cards.number * cards.ports // lower.planes
    of_gpu = Fraction(cards.number * cards.ports, space.server["gpus"])
    flow = min(up / one.stream, out / one.across)
    spread = flow * max(1, endpoints - 1) / (d * d)
    # a half's leaves send to the other half only: each its whole share, or one stream to each leaf
    cut = min(max(up / one.half, up / one.stream * one.leaves / 2), out / one.across * one.leaves / 2) / d
    return cut * of_gpu >= wanted and spread * of_gpu >= wanted
